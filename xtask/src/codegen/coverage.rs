//! `docs/coverage.md`: what is implemented, by chapter, and what is not and why.
use super::spec::{Procedure, Spec};
use std::collections::BTreeMap;
use std::fmt::Write;

const HEAD: &str = "\
# Coverage of MPI-5.0

Generated from spec/ by `cargo xtask codegen`: do not edit. A procedure counts once, whether or not it has a `_c` twin.
A procedure that is not implemented exists all the same and raises MPI_ERR_UNSUPPORTED_OPERATION.

| chapter | procedures | implemented | not yet |
|---|---:|---:|---:|
";

pub fn file(spec: &Spec) -> (String, String) {
    let mut out = HEAD.to_string();
    let (mut all, mut missing) = (0, 0);
    for chapter in spec.chapters() {
        let n = spec.chapter(chapter).count();
        let not = spec.chapter(chapter).filter(|p| p.exception.is_some()).count();
        writeln!(out, "| {chapter} | {n} | {} | {not} |", n - not).unwrap();
        (all, missing) = (all + n, missing + not);
    }
    writeln!(out, "| **all** | **{all}** | **{}** | **{missing}** |", all - missing).unwrap();
    out.push_str("\n## Not yet implemented\n");
    for chapter in spec.chapters() {
        // One paragraph per reason: the clause, the reason, the names.
        let mut by_reason: BTreeMap<(&str, &str), Vec<&Procedure>> = BTreeMap::new();
        for p in spec.chapter(chapter) {
            if let Some(e) = &p.exception {
                by_reason.entry((&e.clause, &e.reason)).or_default().push(p);
            }
        }
        if !by_reason.is_empty() {
            writeln!(out, "\n### {chapter}").unwrap();
        }
        for ((clause, reason), procedures) in by_reason {
            let names: Vec<String> = procedures.iter().map(|p| format!("`{}`", p.name)).collect();
            writeln!(out, "- {clause}, {reason}: {}", names.join(", ")).unwrap();
        }
    }
    ("docs/coverage.md".into(), out)
}
