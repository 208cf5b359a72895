//! Schedules: nonblocking and persistent collectives (MPI-5.0 6.12, 6.13).
//!
//! A schedule is a small [`Program`] per rank: start a send, start a receive, wait for one of them, copy, combine. It is made by running
//! an algorithm of this crate on a [`Recorder`], which writes its [steps](crate::steps::Steps) down instead of taking them; so there is one
//! text of each algorithm, and rank order, in-place rules and choice by size are those of the blocking forms. A [`Schedule`] runs
//! its program, once or (persistent) again and again, whenever any call of the process makes progress ([`oxmpi_pt2pt::Work`]).
//!
//! # Adding another form
//! Inter-communicators and neighborhoods are other programs: make a [`Recorder`] for the communicator (and [`Recorder::beside`] for a
//! second group of ranks, such as the remote one), call any function that takes `&impl Steps` on it, and [`Recorder::finish`].
//!
//! # Invariants
//! * A schedule has a tag of its own, which all ranks agree on because they start collectives of a communicator in one order (MPI-5.0
//!   6.12); persistent ones, made in one order too, have tags from another range that outlast many runs. So schedules never
//!   meet each other, blocking collectives (small tags) or the program's messages (another context).
//! * Messages of a pair of ranks are started in the program's order, as in the blocking form.
//! * The program's functions and copies run with no lock of the engine held. One thread at a time runs a schedule; what another thread saw
//!   meanwhile is looked at by the one that runs (`again`).
//! * A failed message does not stop a program: the other ranks get what they wait for, the first error is kept, the operation is not
//!   applied any more; who has no error of its own looks at the end whether a rank was aborted, as in [`crate::exchange`]. Temporary memory is zeroed, so nothing unwritten is ever sent.
//! * A communicator is in use while a schedule runs, also after its handle was freed.
//!
//! Known gaps: messages only, no shared slots; what a message waits for is also waited for by all steps behind it.
mod program;
mod record;
mod run;

pub use program::{Combine, Program};
pub use record::Recorder;
pub use run::Schedule;
