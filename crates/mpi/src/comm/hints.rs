//! The info of a communicator (MPI-5.0 7.4.4): promises that a program makes about its use.
//!
//! The hints below are known; they are kept, reported with their current value, and passed to nobody by MPI_Comm_dup (as of MPI-4.0).
//! All of them allow the library something that it does not do: messages never overtake and wildcards always work, so a promise
//! changes nothing. Other keys, and values that are neither "true" nor "false", are ignored, which shows in what
//! MPI_Comm_get_info returns.
//!
//! The kinds of memory (11.4.3) that the communicator can be used with are those of its session or of the World Model; a promise to use some
//! of them only is kept and reported.
//!
//! Known gaps: none of the hints makes anything faster.
use super::{Comm, get};
use crate::info::{self, Info};
use crate::session::{self, MEMORY_KINDS, MEMORY_PROMISE};
use oxmpi_base::args::Out;
use oxmpi_base::{Result, handle};

/// Hints that are either true or false, and false by default.
const ASSERTIONS: [&str; 5] = [
    "mpi_assert_no_any_tag",
    "mpi_assert_no_any_source",
    "mpi_assert_exact_length",
    "mpi_assert_allow_overtaking",
    "mpi_assert_strict_persistent_collective_ordering",
];

/// The hints of a new communicator.
pub(super) fn defaults() -> Info {
    let info = Info::new();
    for key in ASSERTIONS {
        info.set(key.as_bytes(), b"false").expect("a short key and value");
    }
    info
}

impl Comm {
    /// Takes what is known of `new`; hints that it does not have stay as they are.
    pub(crate) fn take_hints(&self, new: &Info) -> Result<()> {
        let held = self.info.lock().unwrap_or_else(|e| e.into_inner());
        for (key, value) in new.snapshot() {
            let known = ASSERTIONS.iter().any(|a| a.as_bytes() == &*key);
            let promise =
                &*key == MEMORY_PROMISE.as_bytes() && std::str::from_utf8(&value).is_ok_and(session::knows_memory);
            if promise || (known && matches!(&*value, b"true" | b"false")) {
                held.set(&key, &value)?;
            }
        }
        Ok(())
    }
}

pub fn comm_set_info(comm: handle::Comm, info: handle::Info) -> Result<()> {
    get(comm)?.take_hints(&*info::get(info)?)
}

pub fn comm_get_info(comm: handle::Comm, info_used: Out<handle::Info>) -> Result<()> {
    let c = get(comm)?;
    let copy = c.info.lock().unwrap_or_else(|e| e.into_inner()).duplicate();
    copy.set(MEMORY_KINDS.as_bytes(), session::memory_kinds_of(c.group.origin()).as_bytes())?;
    info_used.set(info::insert(copy)?)
}
