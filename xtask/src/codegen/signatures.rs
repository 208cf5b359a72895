//! The functions the `mpi` crate must provide, as compilable Rust with `todo!()` bodies.
use super::spec::{Dir, Param, Passed, Procedure, Spec};
use anyhow::{Result, ensure};
use std::fmt::Write;

const HEAD: &str = "\
// What oxmpi-abi calls in oxmpi-mpi: one function per procedure that is not in spec/exceptions, in the
// module of its chapter. Printed by `cargo xtask codegen --signatures [CHAPTER]`; each module below can be
// copied as a skeleton. To leave one out for now, add its line to spec/exceptions/CHAPTER.tsv and run
// `cargo xtask codegen`; to take one in, delete the line and run it again.
//
// A doc line names the procedure, the array lengths the standard gives and what is written.
// MPI_X_toint and MPI_X_fromint are done in abi itself (the handle value is the integer).
// On Err, abi calls `errhan::raise(object, error)` and returns its value; the object is the first
// communicator, window, file or session parameter, else the request (its value before the call), else
// None. Chapter tool returns the error's class directly.
";

/// Parameter names that Rust reserves.
pub fn ident(name: &str) -> &str {
    match name {
        "type" => "type_",
        "ref" => "ref_",
        "in" => "in_",
        other => other,
    }
}

/// The type of a core function's parameter.
pub fn core_type(spec: &Spec, p: &Param) -> String {
    let kind = &spec.kinds[&p.kind];
    let core = kind.core.trim_start_matches("handle::");
    let array = p.length.is_some();
    let single_in = p.dir == Dir::In && !array;
    match core {
        "Str" if p.dir == Dir::In => "Str".into(),
        "Str" => "OutStr".into(),
        "Buf" | "FnPtr" => core.into(),
        "usize" if kind.passed == Passed::Pointer => if p.dir == Dir::In { "usize" } else { "Buf" }.into(),
        "count" if single_in => "i64".into(),
        "count" if array => "Counts".into(),
        "count" => "OutCount".into(),
        "Status" if array => "Arr<Status>".into(),
        "Status" => "Out<Status>".into(),
        _ if kind.passed == Passed::Triple || array => format!("Arr<{core}>"),
        _ if single_in => core.into(),
        _ => format!("Out<{core}>"),
    }
}

/// What the core function returns: `None` for `Result<()>`.
pub fn core_return(spec: &Spec, p: &Procedure) -> Option<String> {
    let kind = &spec.kinds[&p.ret];
    (p.ret != "ERROR_CODE").then(|| kind.core.trim_start_matches("handle::").to_string())
}

fn describe(p: &Procedure) -> String {
    let names: Vec<String> = p.symbols().map(|(s, _)| s).collect();
    let notes: Vec<String> = p
        .params
        .iter()
        .filter_map(|q| {
            let length = q.length.as_ref().map(|l| format!("[{l}]")).unwrap_or_default();
            let dir = match q.dir {
                Dir::In => "",
                Dir::Out => " out",
                Dir::InOut => " inout",
            };
            (!length.is_empty() || q.dir != Dir::In).then(|| format!("{}{length}{dir}", q.name))
        })
        .collect();
    let colon = if notes.is_empty() { "" } else { ": " };
    format!("{}{colon}{}", names.join(", "), notes.join(", "))
}

fn function(spec: &Spec, p: &Procedure) -> String {
    let mut args: Vec<String> = p
        .params
        .iter()
        .filter(|q| spec.kinds[&q.kind].passed != Passed::Varargs)
        .map(|q| format!("{}: {}", ident(&q.name), core_type(spec, q)))
        .collect();
    if p.wants_large() {
        args.push("large: bool".into());
    }
    let ret = core_return(spec, p).unwrap_or_else(|| "Result<()>".into());
    format!("    /// {}\n    pub fn {}({}) -> {ret} {{ todo!() }}\n", describe(p), p.core_name(), args.join(", "))
}

pub fn render(spec: &Spec, chapter: Option<&str>) -> Result<String> {
    if let Some(c) = chapter {
        let known: Vec<&str> = spec.chapters().into_iter().collect();
        ensure!(known.contains(&c), "{c} is not a chapter; these are: {}", known.join(" "));
    }
    let mut out = HEAD.to_string();
    out.push_str("#![allow(unused_imports, unused_variables)]\n");
    for name in spec.chapters() {
        if chapter.is_some_and(|c| c != name) {
            continue;
        }
        let wanted = |p: &&Procedure| p.exception.is_none() && !p.is_conversion();
        if spec.chapter(name).filter(wanted).count() == 0 && name != "errhan" {
            continue;
        }
        write!(out, "\npub mod {name} {{\n    use oxmpi_base::{{Error, Result, Status, args::*, handle::*}};\n")?;
        if name == "errhan" {
            out.push_str(
                "\n    /// Whose error handler an error goes to.\n    pub enum ErrObject { Comm(Comm), Win(Win), \
                 File(File), Session(Session), Request(Request), New(Kind, Errhandler), None }\n    /// Runs the error handler; the value is \
                 what the C procedure returns.\n    pub fn raise(object: ErrObject, error: Error) -> i32 { todo!() }\n",
            );
        }
        for p in spec.chapter(name).filter(wanted) {
            out.push('\n');
            out.push_str(&function(spec, p));
        }
        out.push_str("}\n");
    }
    Ok(out)
}
