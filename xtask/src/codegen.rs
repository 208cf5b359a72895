//! `cargo xtask codegen [--check] [--signatures [CHAPTER]]`: reads `spec/` and writes the checked-in
//! files that follow from it; `--check` writes nothing and fails naming every file that has drifted.
//!
//! Invariant: an output depends on `spec/` alone, so that deleting a line of `spec/exceptions` and
//! running this command is all it takes to make an entry point call the core.
mod consts;
mod coverage;
mod entries;
mod exports;
mod header;
mod signatures;
mod spec;

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

pub use spec::Spec;

/// The root of the repository this xtask was built from.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_path_buf()
}

/// Every generated file: path below the root, content.
fn outputs(spec: &Spec) -> Vec<(String, String)> {
    let mut files = entries::files(spec);
    files.extend([consts::file(spec), coverage::file(spec), exports::file(spec), header::file(spec)]);
    files
}

pub fn run(args: &[String]) -> Result<()> {
    let root = root();
    let spec = Spec::load(&root.join("spec"))?;
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        [] => write(&root, &outputs(&spec)),
        ["--check"] => check(&root, &outputs(&spec)),
        ["--signatures"] => {
            print!("{}", signatures::render(&spec, None)?);
            Ok(())
        }
        ["--signatures", chapter] => {
            print!("{}", signatures::render(&spec, Some(chapter))?);
            Ok(())
        }
        _ => bail!("usage: cargo xtask codegen [--check | --signatures [CHAPTER]]"),
    }
}

fn write(root: &Path, files: &[(String, String)]) -> Result<()> {
    for (path, text) in files {
        let path = root.join(path);
        if std::fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::write(&path, text)?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

fn check(root: &Path, files: &[(String, String)]) -> Result<()> {
    let drifted: Vec<&str> = files
        .iter()
        .filter(|(path, text)| std::fs::read_to_string(root.join(path)).ok().as_deref() != Some(text))
        .map(|(path, _)| path.as_str())
        .collect();
    if !drifted.is_empty() {
        bail!("these files differ from what spec/ says; run `cargo xtask codegen`:\n  {}", drifted.join("\n  "));
    }
    Ok(())
}
