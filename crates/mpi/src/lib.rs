//! The chapters of the standard, one module each. Procedures are named as in `spec/procedures.tsv`;
//! the `abi` crate calls them after decoding the C arguments (see ARCHITECTURE.md).
pub mod attr;
mod callback;
pub mod comm;
pub mod datatype;
mod errcode;
pub mod errhan;
pub mod group;
pub mod info;
pub mod table;
