//! `include/mpi.h`: the C and C++ header of the standard ABI.
//!
//! Everything that can be listed comes from the tables; what is fixed (the status, the integer types,
//! the Fortran conversions) is written here.
use super::spec::{Constant, Dir, Param, Passed, Procedure, Spec};
use std::fmt::Write;

/// Handle types; the structs behind them are never defined.
pub const HANDLES: [&str; 11] =
    ["Comm", "Datatype", "Errhandler", "File", "Group", "Info", "Message", "Op", "Request", "Session", "Win"];
const TOOL_HANDLES: [&str; 6] =
    ["enum", "cvar_handle", "pvar_handle", "pvar_session", "event_instance", "event_registration"];
const ENUMS: [&str; 2] = ["MPI_T_cb_safety", "MPI_T_source_order"];

pub fn file(spec: &Spec) -> (String, String) {
    let mut out = HEAD.to_string();
    types(spec, &mut out);
    out.push_str("\n/* Callbacks. */\n");
    for (p, large) in spec.callbacks.iter().flat_map(|p| p.symbols().map(move |(_, large)| (p, large))) {
        let ret = &spec.kinds[&p.ret].c;
        declare(spec, &mut out, p, large, &format!("typedef {ret} ({})", p.symbol(large)));
    }
    out.push_str("\n/* Constants. */\n");
    for c in &spec.constants {
        writeln!(out, "#define {} {}", c.name, constant(c)).unwrap();
    }
    for (prefix, title) in
        [("", "Procedures."), ("P", "The same procedures under the names of the profiling interface.")]
    {
        writeln!(out, "\n/* {title} */").unwrap();
        for (p, large) in spec.procedures.iter().flat_map(|p| p.symbols().map(move |(_, large)| (p, large))) {
            let ret = &spec.kinds[&p.ret].c;
            declare(spec, &mut out, p, large, &format!("{ret} {prefix}{}", p.symbol(large)));
        }
    }
    fortran(&mut out);
    out.push_str(TAIL);
    ("include/mpi.h".into(), out)
}

fn types(spec: &Spec, out: &mut String) {
    out.push_str("\n/* Handles: pointers to structures that no program sees. */\n");
    for h in HANDLES {
        writeln!(out, "typedef struct MPI_ABI_{h} *MPI_{h};").unwrap();
    }
    for h in TOOL_HANDLES {
        writeln!(out, "typedef struct MPI_ABI_T_{h} *MPI_T_{h};").unwrap();
    }
    out.push_str("\n/* Enumerations of the tool interface. */\n");
    for e in ENUMS {
        let members = spec.constants.iter().filter(|c| c.c_type == e);
        let members: Vec<String> = members.map(|c| format!("    {} = {}", c.name, c.value)).collect();
        writeln!(out, "typedef enum {e} {{\n{}\n}} {e};", members.join(",\n")).unwrap();
    }
}

/// The replacement text of a constant's macro.
fn constant(c: &Constant) -> String {
    match c.c_type.as_str() {
        // Plain numbers, so that the preprocessor can compare them.
        "int" if c.value.starts_with('-') => format!("({})", c.value),
        "int" => c.value.clone(),
        "alias" => c.value.clone(),
        // Names of enumerators; as macros too, so that `#ifdef` finds them.
        e if ENUMS.contains(&e) => c.name.clone(),
        t => format!("(({t}){})", c.value),
    }
}

/// `HEAD(parameters);`, wrapped.
fn declare(spec: &Spec, out: &mut String, p: &Procedure, large: bool, head: &str) {
    let params: Vec<String> = p.params_of(large).map(|q| parameter(spec, q, large)).collect();
    let mut line = format!("{head}(");
    if params.is_empty() {
        line.push_str("void");
    }
    for (i, text) in params.iter().enumerate() {
        let end = if i + 1 < params.len() { "," } else { "" };
        let gap = if line.ends_with('(') { "" } else { " " };
        if line.len() + gap.len() + text.len() + 2 > 100 {
            out.push_str(&line);
            out.push('\n');
            line = format!("        {text}{end}");
        } else {
            line.push_str(&format!("{gap}{text}{end}"));
        }
    }
    writeln!(out, "{line});").unwrap();
}

fn parameter(spec: &Spec, p: &Param, large: bool) -> String {
    let kind = &spec.kinds[&p.kind];
    let name = &p.name;
    if kind.passed == Passed::Varargs {
        return "...".into();
    }
    if kind.passed == Passed::Triple {
        return format!("{} {name}[][3]", kind.c);
    }
    let t = spec.c_type(p, large);
    match t.split_once('*') {
        // GCC takes MPI_UNWEIGHTED, a constant address, for an array without elements, and warns; not so for a pointer.
        Some((base, "")) if kind.passed == Passed::Value && p.length.is_some() && p.kind != "WEIGHT" => {
            format!("{base} {name}[]")
        }
        Some((base, more)) => format!("{base} *{more}{name}"),
        None => {
            debug_assert_eq!(p.dir, Dir::In);
            format!("{t} {name}")
        }
    }
}

/// The Fortran conversions, which the ABI has as `toint` and `fromint` alone. MPI-5.0 2.6.4 lets them be macros, and 15.2.1 asks for
/// the names of the profiling interface even then.
fn fortran(out: &mut String) {
    out.push_str(FORTRAN_HEAD);
    for p in ["", "P"] {
        for h in HANDLES {
            let short = if h == "Datatype" { "Type" } else { h };
            writeln!(
                out,
                "OXMPI_INLINE MPI_Fint {p}MPI_{short}_c2f(MPI_{h} handle)\n{{\n    \
                 return (MPI_Fint){p}MPI_{short}_toint(handle);\n}}\n\
                 OXMPI_INLINE MPI_{h} {p}MPI_{short}_f2c(MPI_Fint handle)\n{{\n    \
                 return {p}MPI_{short}_fromint((int)handle);\n}}"
            )
            .unwrap();
        }
        for (name, from, to) in [
            ("c2f", ("MPI_Status", "c_status"), ("MPI_Fint", "f_status")),
            ("f2c", ("MPI_Fint", "f_status"), ("MPI_Status", "c_status")),
            ("c2f08", ("MPI_Status", "c_status"), ("MPI_F08_status", "f08_status")),
            ("f082c", ("MPI_F08_status", "f08_status"), ("MPI_Status", "c_status")),
            ("f2f08", ("MPI_Fint", "f_status"), ("MPI_F08_status", "f08_status")),
            ("f082f", ("MPI_F08_status", "f08_status"), ("MPI_Fint", "f_status")),
        ] {
            writeln!(
                out,
                "OXMPI_INLINE int {p}MPI_Status_{name}(const {} *{}, {} *{})\n{{\n    \
                 return oxmpi_copy_status_((const int *){}, (int *){});\n}}",
                from.0, from.1, to.0, to.1, from.1, to.1
            )
            .unwrap();
        }
    }
    out.push_str("#endif /* MPI_ABI_STRICT */\n");
}

const HEAD: &str = r#"/*
 * mpi.h: MPI-5.0, standard ABI. Part of oxmpi.
 * Generated from spec/ by `cargo xtask codegen`: do not edit.
 *
 * A program compiled with this header runs on every library that provides libmpi_abi.so.1.
 * Define MPI_ABI_STRICT to see nothing that is outside the standard ABI; without it, MPI_Fint and the
 * c2f/f2c conversions are here as inline functions.
 */
#ifndef OXMPI_MPI_H
#define OXMPI_MPI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Integers that hold addresses, counts and file offsets. */
typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;
typedef int64_t MPI_Offset;

typedef struct MPI_Status {
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
    int MPI_internal[5];
} MPI_Status;
"#;

const FORTRAN_HEAD: &str = r#"
#ifndef MPI_ABI_STRICT
#if defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
#define OXMPI_INLINE static inline
#elif defined(__GNUC__)
#define OXMPI_INLINE static __inline__
#else
#define OXMPI_INLINE static
#endif

/* Fortran INTEGER as compilers have it by default, and conversions between C and Fortran. */
typedef int MPI_Fint;
typedef struct MPI_F08_status {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[5];
} MPI_F08_status;

/* Names that MPI-2 gave to these types. */
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;

/* All three forms of a status are the same MPI_F_STATUS_SIZE integers. */
OXMPI_INLINE int oxmpi_copy_status_(const int *from, int *to)
{
    int i;
    if (!from || !to)
        return MPI_ERR_ARG;
    for (i = 0; i < MPI_F_STATUS_SIZE; i++)
        to[i] = from[i];
    return MPI_SUCCESS;
}
"#;

const TAIL: &str = r#"
#ifdef __cplusplus
}
#endif

#endif /* OXMPI_MPI_H */
"#;
