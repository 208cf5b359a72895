//! Collectives through memory that all ranks of a communicator map: one round of publishing and reading for most of them.
//!
//! In a round ranks *offer* data in their slots ([`oxmpi_ring::slots`]): short data in the line of the flag, more in a buffer beside it, long
//! data as an address that the others read directly (single copy), and what allows neither as a message. The slot says which, so a reader
//! follows the writer's choice, and selection by size needs nothing but what all ranks know. Each rank waits once in a round, which is what
//! counts where ranks share cores.
//!
//! Invariants:
//! * All ranks count the same rounds: every rank that makes a call through shared memory takes part in all its rounds.
//! * A rank is done with a round ([`round::Round::done`]) when it needs nothing any more that another rank offered in it.
//! * Lengths and addresses found in a slot are clipped to the reader's buffer or read by the kernel, never trusted.
//!
//! Known gaps: ranks of one node; no cooperation of both sides in a single copy (two ranks with long data use messages, which do).
pub mod movement;
pub mod reductions;
pub mod region;
pub mod round;
