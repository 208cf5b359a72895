//! `crates/abi/src/gen/`: one line per entry point, by chapter, and the list of modules.
use super::signatures::{core_return, core_type, ident};
use super::spec::{Dir, Param, Passed, Procedure, Spec};
use std::fmt::Write;

const HEAD: &str = "Generated from spec/ by `cargo xtask codegen`: do not edit.";

/// Kinds that carry an error handler, in the order in which an error looks for one.
const OBJECTS: [(&str, &str, &str); 5] = [
    ("COMMUNICATOR", "Comm", "MPI_COMM_NULL"),
    ("WINDOW", "Win", "MPI_WIN_NULL"),
    ("FILE", "File", "MPI_FILE_NULL"),
    ("SESSION", "Session", "MPI_SESSION_NULL"),
    ("REQUEST", "Request", "MPI_REQUEST_NULL"),
];

pub fn files(spec: &Spec) -> Vec<(String, String)> {
    let dir = "crates/abi/src/gen";
    let mut out = vec![];
    let mut list = format!("//! The entry points, by chapter of the standard.\n//! {HEAD}\n");
    for chapter in spec.chapters() {
        writeln!(list, "mod {chapter};").unwrap();
        out.push((format!("{dir}/{chapter}.rs"), chapter_file(spec, chapter)));
    }
    out.push((format!("{dir}/mod.rs"), list));
    out
}

fn chapter_file(spec: &Spec, chapter: &str) -> String {
    let mut text = format!("//! Entry points of chapter `{chapter}`.\n//! {HEAD}\nuse crate::entry::*;\n");
    if spec.chapter(chapter).any(|p| p.exception.is_none() && !p.is_conversion()) {
        writeln!(text, "use oxmpi_mpi::{chapter};").unwrap();
    }
    text.push('\n');
    for p in spec.chapter(chapter) {
        for (symbol, large) in p.symbols() {
            text.push_str(&entry(spec, p, &symbol, large));
        }
    }
    text
}

/// One macro line: both names, the C parameters, the error object or return type, and the core call.
fn entry(spec: &Spec, p: &Procedure, symbol: &str, large: bool) -> String {
    let params: Vec<String> = p
        .params_of(large)
        .filter(|q| spec.kinds[&q.kind].passed != Passed::Varargs)
        .map(|q| format!("{}: {}", ident(&q.name), entry_type(spec, q, large)))
        .collect();
    let head = format!("{symbol} P{symbol}({})", params.join(", "));
    if p.is_conversion() {
        let ret = &spec.kinds[&p.ret].core.trim_start_matches("handle::");
        let arg = ident(&p.params[0].name);
        let body = if *ret == "i32" { format!("to_int({arg})") } else { format!("from_int({arg})") };
        return format!("value! {{ {head} -> {ret}, {body} }}\n");
    }
    if p.exception.is_some() {
        return match p.chapter.as_str() {
            "tool" => format!("value! {{ {head} -> i32, MPI_T_ERR_NOT_SUPPORTED }}\n"),
            _ => format!("entry! {{ {head}\n    [{}], unsupported(\"{symbol}\") }}\n", object(p)),
        };
    }
    let mut args: Vec<String> = p
        .params
        .iter()
        .filter(|q| spec.kinds[&q.kind].passed != Passed::Varargs)
        .map(|q| core_argument(spec, q, large))
        .collect();
    if p.wants_large() {
        args.push(large.to_string());
    }
    let call = format!("{}::{}({})", p.chapter, p.core_name(), args.join(", "));
    match core_return(spec, p) {
        Some(ret) => format!("value! {{ {head}\n    -> {ret}, {call} }}\n"),
        None if p.chapter == "tool" => format!("value! {{ {head}\n    -> i32, class_of({call}) }}\n"),
        None => format!("entry! {{ {head}\n    [{}], {call} }}\n", object(p)),
    }
}

/// The type of the C parameter: the views of `base::args` have the layout of what C passes.
fn entry_type(spec: &Spec, p: &Param, large: bool) -> String {
    let kind = &spec.kinds[&p.kind];
    let wide = |c: &str| if c == "int" { "i32" } else { "i64" };
    if kind.core == "count" {
        let t = wide(if large { kind.c_large.as_deref().unwrap_or(&kind.c) } else { &kind.c });
        return match (p.dir, &p.length) {
            (Dir::In, None) => t.into(),
            (_, None) => format!("Out<{t}>"),
            (_, Some(_)) => format!("Arr<{t}>"),
        };
    }
    core_type(spec, p)
}

fn core_argument(spec: &Spec, p: &Param, large: bool) -> String {
    let name = ident(&p.name);
    let (have, want) = (entry_type(spec, p, large), core_type(spec, p));
    let absent = p.large_only && !large;
    match (want.as_str(), have.as_str()) {
        ("OutCount", _) if absent => "OutCount::Wide(absent())".into(),
        ("i64", _) if absent => "0".into(),
        (w, _) if absent && w.starts_with("Arr<") => "absent_array()".into(),
        ("i64", "i32") => format!("i64::from({name})"),
        ("OutCount", "Out<i32>") => format!("OutCount::Int({name})"),
        ("OutCount", _) => format!("OutCount::Wide({name})"),
        ("Counts", "Arr<i32>") => format!("Counts::Int({name})"),
        ("Counts", _) => format!("Counts::Wide({name})"),
        _ => name.into(),
    }
}

/// Whose error handler is run: MPI-5.0 9.3.
fn object(p: &Procedure) -> String {
    for (kind, name, null) in OBJECTS {
        let found = p.params.iter().find(|q| q.kind == kind && q.dir != Dir::Out && q.length.is_none());
        if let Some(q) = found {
            let arg = ident(&q.name);
            return match q.dir {
                Dir::In => format!("ErrObject::{name}({arg})"),
                _ => format!("ErrObject::{name}(held({arg}, {null}))"),
            };
        }
    }
    // What makes an object with an error handler reports to that one (MPI-5.0 7.4.2, 11.3.1).
    let handler = p.params.iter().find(|q| q.kind == "ERRHANDLER" && q.dir == Dir::In);
    let made = p.params.iter().find_map(|q| OBJECTS.iter().find(|o| o.0 == q.kind && q.dir == Dir::Out));
    match (handler, made) {
        (Some(h), Some((_, name, _))) => format!("ErrObject::New(Kind::{name}, {})", ident(&h.name)),
        _ => "ErrObject::None".into(),
    }
}
