//! Queues, flags and wait policies that live in shared memory. No I/O, no policy about messages.
//!
//! Invariants: every structure here has exactly the writers its type says; what a peer wrote is read once,
//! checked, and then used. Under `--cfg loom` the same code runs on loom's types ([`sync`]).
pub mod bulk;
pub mod bytes;
pub mod doorbell;
pub mod hint;
pub mod slots;
pub mod spsc;
pub mod sync;
pub mod wait;
