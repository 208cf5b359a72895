//! The entry points, by chapter of the standard.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
mod abi_info;
mod attr;
mod coll;
mod comm;
mod datatype;
mod env;
mod errhan;
mod group;
mod info;
mod io;
mod op;
mod part;
mod pt2pt;
mod request;
mod rma;
mod session;
mod spawn;
mod tool;
mod topo;
