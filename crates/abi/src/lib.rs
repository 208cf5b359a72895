//! `libmpi_abi.so.1`: the C entry points of the MPI-5.0 standard ABI (chapter 20).
//!
//! Translation only. An entry turns C arguments into the views of `oxmpi_base::args`, makes one call
//! into `oxmpi_mpi`, and hands an error to the error handler of its object. No algorithm, no loop, no
//! lock, and no call of an exported name, so that PMPI tools work by link order and by preloading.
//!
//! The entries themselves are generated (`gen/`, see spec/README.md); [`entry`] is what they share.
mod entry;
#[rustfmt::skip]
#[path = "gen/mod.rs"]
mod generated;
