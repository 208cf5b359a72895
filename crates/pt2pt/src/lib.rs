//! Point-to-point: requests, matching, eager and rendezvous protocols, the progress engine (MPI-5.0 chapter 3).
//!
//! Peers are process indices here; communicators and their ranks are the `mpi` crate's. The way of a message: [`engine::Engine`]
//! enters the lane of the communicator (and takes its lock, if there is one), `send` writes a frame or queues, `progress` polls, `matching` finds the receive, the
//! copy lands, the request completes. Nothing calls back up.
//!
//! Invariants: below MPI_THREAD_MULTIPLE an immediate small send takes no lock, allocates nothing and makes no system call;
//! the user's callbacks never run inside the engine; frames to one peer leave a lane in the order of the calls.
//! Known gaps: while one thread of a process sleeps, every message to that process rings its bell, also one that another thread is awake for;
//! a ring that is corrupt closes the way to its process in its lane only.
mod alone;
mod channel;
mod direct;
pub mod endpoint;
pub mod engine;
mod large;
pub mod matching;
mod progress;
pub mod ranks;
mod recv;
mod report;
pub mod request;
mod send;
mod serve;
pub mod shared;
pub mod span;
mod work;

pub use channel::{Channel, Inside, Pending};
pub use endpoint::{Endpoint, Req};
pub use engine::{Engine, Lanes, State};
pub use matching::{ANY_SOURCE, ANY_TAG, Pattern};
pub use ranks::Ranks;
pub use recv::{Message, Received};
pub use request::{Outcome, ReqId};
pub use send::Mode;
pub use serve::PROGRESS_THREAD;
pub use span::Span;
pub use work::{Step, Work};

/// The control variables of this crate.
pub static VARIABLES: &[&oxmpi_base::config::Variable] =
    &[send::EAGER_LIMIT.variable(), serve::PROGRESS_THREAD.variable()];
