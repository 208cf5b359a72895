//! `crates/base/src/consts.rs`: the constants as Rust, for the core.
use super::spec::{Constant, Spec};

const HEAD: &str = "\
//! Constants of the MPI-5.0 standard ABI (appendix A and the ABI chapter), under their standard names.
//! Generated from spec/constants.tsv by `cargo xtask codegen`: do not edit.
#![allow(missing_docs)]
use crate::handle::*;

";

pub fn file(spec: &Spec) -> (String, String) {
    let lines: String = spec.constants.iter().filter_map(|c| line(spec, c)).collect();
    ("crates/base/src/consts.rs".into(), format!("{HEAD}{lines}"))
}

/// The Rust type a constant has, `None` where the core has no use for it.
fn rust_type(spec: &Spec, c: &Constant) -> Option<String> {
    Some(match c.c_type.as_str() {
        "alias" => {
            let of = spec.constants.iter().find(|o| o.name == c.value)?;
            return rust_type(spec, of);
        }
        "int" | "MPI_T_cb_safety" | "MPI_T_source_order" => "i32".into(),
        "MPI_Offset" => "i64".into(),
        t if t.ends_with('*') || t.starts_with("MPI_T_") => "usize".into(),
        handle => handle.trim_start_matches("MPI_").into(),
    })
}

fn line(spec: &Spec, c: &Constant) -> Option<String> {
    let t = rust_type(spec, c)?;
    let value = match t.as_str() {
        _ if c.c_type == "alias" => c.value.clone(),
        "i32" | "i64" | "usize" => c.value.clone(),
        handle => format!("{handle}({})", c.value),
    };
    Some(format!("pub const {}: {t} = {value};\n", c.name))
}
