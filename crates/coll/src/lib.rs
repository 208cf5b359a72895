//! Collective operations (MPI-5.0 chapter 6), one module each, over the point-to-point engine's collective context: blocking ones, and
//! by the same algorithms schedules of nonblocking and persistent ones ([`schedule`], [`plan`]). Those on intercommunicators are in [`inter`].
//!
//! Invariants:
//! * Ranks are communicator ranks; nothing here knows about nodes, transports or handles.
//! * An algorithm is chosen from values that are the same at every rank (ranks, bytes of the type
//!   signature, commutativity), never from the layout of a buffer: see [`select`](crate::select).
//! * Every combination of two partial results puts the lower ranks' value first, also for commutative
//!   operations. So one order is right for both, and every rank of an allreduce holds the same bits even
//!   where an operation is not bitwise commutative (NaN, signed zeros, user functions).
//! * A failed message does not stop a pattern: the other ranks get what they wait for, and the first error
//!   is returned at the end ([`exchange`](crate::exchange)). Only MPI_ERR_NO_MEM returns at once.
//! * Arguments that the standard calls not significant at a rank are not looked at there; the caller passes
//!   any value of the right type.
//! * Where the ranks share memory, [`shared`](crate::shared) does what fits it; messages do the rest.
//! * Raw memory is touched in [`buffer`](crate::buffer) and [`shared`](crate::shared) only.
//!
//! Known gaps: arguments are taken as checked by the caller; a program whose ranks disagree about
//! the bytes of a message gets MPI_ERR_TRUNCATE where one algorithm runs everywhere and may hang elsewhere.
#![allow(clippy::too_many_arguments)] // the standard's argument lists

mod allgather;
mod allgatherv;
mod allreduce;
mod alltoall;
mod alltoallv;
mod barrier;
mod bcast;
mod blocks;
mod buffer;
mod exchange;
mod gather;
mod halving;
pub mod inter;
mod link;
mod neighbor;
mod pairwise;
pub mod plan;
mod reduce;
mod reduce_scatter;
mod reduction;
mod scan;
mod scatter;
pub mod schedule;
mod select;
mod shared;
pub mod steps;
mod tags;
mod team;
#[cfg(test)]
mod tests;
mod tree;

pub use allgather::allgather;
pub use allgatherv::allgatherv;
pub use allreduce::allreduce;
pub use alltoall::alltoall;
pub use alltoallv::{alltoallv, alltoallw};
pub use barrier::barrier;
pub use bcast::bcast;
pub use buffer::Data;
pub use gather::{gather, gatherv};
pub use neighbor::{Neighbors, neighbor_exchange, neighbor_steps};
pub use reduce::reduce;
pub use reduce_scatter::{reduce_scatter, reduce_scatter_block};
pub use reduction::Reduction;
pub use scan::{exscan, scan};
pub use scatter::{scatter, scatterv};
pub use team::Team;

/// The control variables of this crate.
pub static VARIABLES: &[&oxmpi_base::config::Variable] = &[select::BCAST_TREE_MAX.variable()];
