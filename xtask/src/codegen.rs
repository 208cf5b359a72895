//! `cargo xtask codegen [--check | --check-abi [LIBRARY] | --signatures [CHAPTER]]`: reads `spec/` and writes the checked-in
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

pub use exports::names as exported_names;
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
        ["--check-abi", libraries @ ..] => check_abi(libraries),
        _ => bail!("usage: cargo xtask codegen [--check | --check-abi [LIBRARY] | --signatures [CHAPTER]]"),
    }
}

/// The header as compilers see it and, where one is given, the library that was built.
fn check_abi(libraries: &[&str]) -> Result<()> {
    crate::abi_check::check_header()?;
    for library in libraries {
        crate::abi_check::check_library(Path::new(library))?;
        crate::abi_check::check_calls(Path::new(library))?;
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> Spec {
        Spec::load(&root().join("spec")).unwrap()
    }

    fn chapter_text(spec: &Spec, chapter: &str) -> String {
        let wanted = format!("crates/abi/src/gen/{chapter}.rs");
        outputs(spec).into_iter().find(|(path, _)| *path == wanted).unwrap().1
    }

    #[test]
    fn checked_in_files_follow_from_the_tables() {
        check(&root(), &outputs(&spec())).unwrap();
    }

    #[test]
    fn an_exception_is_all_that_keeps_an_entry_from_the_core() {
        let mut spec = spec();
        let accumulate = spec.procedures.iter_mut().find(|p| p.name == "MPI_Accumulate").unwrap();
        accumulate.exception = Some(spec::Exception { clause: "12.3".into(), reason: "seeded".into() });
        let text = chapter_text(&spec, "rma");
        assert!(text.contains("[ErrObject::Win(win)], unsupported(\"MPI_Accumulate_c\")"));
        assert!(!text.contains("rma::accumulate("));

        spec.procedures.iter_mut().find(|p| p.name == "MPI_Accumulate").unwrap().exception = None;
        let text = chapter_text(&spec, "rma");
        assert_eq!(text.matches("rma::accumulate(").count(), 2);
        assert!(signatures::render(&spec, Some("rma")).unwrap().contains("pub fn accumulate(origin_addr: Buf"));
    }

    #[test]
    fn twins_widen_into_one_core_function() {
        let text = chapter_text(&spec(), "coll");
        assert!(text.contains("coll::bcast(buffer, i64::from(count), datatype, root, comm)"));
        assert!(text.contains("coll::bcast(buffer, count, datatype, root, comm)"));
        assert!(text.contains("Counts::Int(displs)") && text.contains("Counts::Wide(displs)"));
    }

    #[test]
    fn both_names_of_every_symbol_are_exported_once() {
        let names = exported_names(&spec());
        assert_eq!(names.len(), 2 * 664);
        assert!(names.windows(2).all(|w| w[0] < w[1]));
    }
}
