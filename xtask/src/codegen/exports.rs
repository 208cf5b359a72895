//! `crates/abi/exports.txt`: every name the library exports, and no other.
//!
//! Not a version script: rustc passes one of its own, and linkers take no second. The list is what the
//! built library is held against (`abi_check`).
use super::spec::Spec;

pub fn file(spec: &Spec) -> (String, String) {
    let mut out = String::from("# Generated from spec/ by `cargo xtask codegen`: do not edit.\n");
    for name in names(spec) {
        out.push_str(&name);
        out.push('\n');
    }
    ("crates/abi/exports.txt".into(), out)
}

/// Every exported name, sorted.
pub fn names(spec: &Spec) -> Vec<String> {
    let mut names: Vec<String> =
        spec.procedures.iter().flat_map(|p| p.symbols()).flat_map(|(s, _)| [format!("P{s}"), s]).collect();
    names.sort();
    names
}
