//! `cargo xtask layers`: the house order of ARCHITECTURE.md, held against `cargo metadata`. A crate may
//! depend only on crates that stand before it; an edge that goes the other way needs a reason here.
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::process::Command;

/// The order of the house, lowest first.
const ORDER: [&str; 15] = [
    "sys",
    "ring",
    "base",
    "datatype",
    "accel",
    "transport",
    "transport-shm",
    "transport-ofi",
    "pmi",
    "pt2pt",
    "coll",
    "mpi",
    "io",
    "abi",
    "launch",
];

/// Crates that may not use each other although one stands before the other.
const APART: [(&str, &str, &str); 1] =
    [("base", "ring", "both rest on sys alone: queues know no error classes, and error classes no queues")];

/// Upward edges that are allowed all the same: from, to, reason.
const EXCEPTIONS: [(&str, &str, &str); 0] = [];

pub fn run(_args: &[String]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(crate::codegen::root())
        .output()
        .context("running cargo metadata")?;
    ensure!(out.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&out.stderr));
    let edges = edges(&serde_json::from_slice(&out.stdout)?)?;
    let wrong = wrong(&edges);
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    println!("layers: {} dependencies, all downward", edges.len());
    Ok(())
}

/// A dependency between two crates of the house; tests may reach wherever they need.
type Edge = (String, String);

fn house(package: &str) -> Option<&str> {
    package.strip_prefix("oxmpi-")
}

/// Edges between crates under `crates/`, test-only dependencies left out.
fn edges(metadata: &Value) -> Result<Vec<Edge>> {
    let packages = metadata["packages"].as_array().context("cargo metadata has no packages")?;
    let mut edges = vec![];
    for package in packages {
        let manifest = package["manifest_path"].as_str().unwrap_or_default();
        let Some(from) = package["name"].as_str().and_then(house) else { continue };
        if !manifest.ends_with(&format!("crates/{from}/Cargo.toml")) {
            continue;
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            if dependency["kind"] == "dev" {
                continue;
            }
            if let Some(to) = dependency["name"].as_str().and_then(house) {
                edges.push((from.to_string(), to.to_string()));
            }
        }
        ensure!(place(from).is_some(), "crate {from} has no place in the house; give it one in xtask/src/layers.rs");
    }
    Ok(edges)
}

fn place(name: &str) -> Option<usize> {
    ORDER.iter().position(|n| *n == name)
}

/// One sentence per edge that breaks the order, and per exception that no edge needs any more.
fn wrong(edges: &[Edge]) -> Vec<String> {
    let excepted = |e: &Edge| EXCEPTIONS.iter().any(|(from, to, _)| *from == e.0 && *to == e.1);
    let mut out = vec![];
    for edge in edges.iter().filter(|e| !excepted(e)) {
        let (from, to) = edge;
        let apart = APART.iter().find(|(a, b, _)| (a, b) == (&from.as_str(), &to.as_str()));
        match (place(from), place(to)) {
            _ if apart.is_some() => out.push(format!("{from} -> {to}: these stand apart ({})", apart.unwrap().2)),
            (Some(f), Some(t)) if t < f => {}
            (Some(_), Some(_)) => out.push(format!(
                "{from} -> {to}: an upward dependency; {to} stands above {from} in the house (xtask/src/layers.rs)"
            )),
            _ => out.push(format!("{from} -> {to}: {to} has no place in the house (xtask/src/layers.rs)")),
        }
    }
    for (from, to, _) in EXCEPTIONS {
        if !edges.iter().any(|e| e.0 == from && e.1 == to) {
            out.push(format!("{from} -> {to}: the exception in xtask/src/layers.rs is not needed any more"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn package(name: &str, dependencies: &[(&str, Option<&str>)]) -> Value {
        let list: Vec<Value> = dependencies.iter().map(|(n, kind)| json!({ "name": n, "kind": kind })).collect();
        let folder = name.trim_start_matches("oxmpi-");
        json!({ "name": name, "manifest_path": format!("repo/crates/{folder}/Cargo.toml"), "dependencies": list })
    }

    fn complaints(packages: Vec<Value>) -> Vec<String> {
        wrong(&edges(&json!({ "packages": packages })).unwrap())
    }

    #[test]
    fn downward_edges_pass() {
        let packages = vec![
            package("oxmpi-pt2pt", &[("oxmpi-ring", None), ("libc", None)]),
            package("oxmpi-base", &[("oxmpi-sys", None)]),
        ];
        assert_eq!(complaints(packages), Vec::<String>::new());
    }

    #[test]
    fn a_seeded_upward_edge_is_named() {
        let found = complaints(vec![package("oxmpi-ring", &[("oxmpi-sys", None), ("oxmpi-pt2pt", None)])]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("ring -> pt2pt: an upward dependency"), "{}", found[0]);
    }

    #[test]
    fn a_build_dependency_counts_and_a_test_dependency_does_not() {
        let up = |kind| complaints(vec![package("oxmpi-sys", &[("oxmpi-base", kind)])]).len();
        assert_eq!((up(Some("build")), up(Some("dev"))), (1, 0));
    }

    #[test]
    fn ring_and_base_stand_apart() {
        assert_eq!(complaints(vec![package("oxmpi-base", &[("oxmpi-ring", None)])]).len(), 1);
        assert_eq!(complaints(vec![package("oxmpi-ring", &[("oxmpi-base", None)])]).len(), 1);
    }

    #[test]
    fn a_crate_without_a_place_is_refused() {
        assert!(edges(&json!({ "packages": [package("oxmpi-attic", &[])] })).is_err());
    }
}
