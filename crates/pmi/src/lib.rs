//! Wire-up as a client: what a process learns from whoever started it, and what it tells back.
//!
//! [`connect`] reads the environment that oxmpi's `mpirun` sets (names in [`env`]) and checks all of it:
//! numbers and their ranges, and that the two inherited descriptors are the very objects that `mpirun` made
//! (each variable names descriptor and inode). The messages on the control socket are in [`message`].
//!
//! Without that environment the process is a singleton, rank 0 of 1, unless a resource manager says that it
//! is one task of several: then it is an error, since N singletons in place of one job of N help nobody.
//!
//! A program that a rank starts with fork and exec inherits the variables but not the descriptors. It is a
//! singleton when an ancestor is the rank that took them (they are CLOEXEC there). It is an error when the
//! descriptors were lost in a wrapper that never called MPI_Init.
//!
//! Standard: MPI-5.0 11.2 (process models), 11.10.3 (singleton), 11.2.1 (MPI_UNIVERSE_SIZE), 9.5 (MPI_APPNUM).
//! Known gaps: PMIx, PMI-2, PMI-1 and rendezvous without a launcher are recognised, not spoken.
mod connect;
pub mod env;
pub mod message;

pub use connect::{Job, connect};

use message::Message;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The rank's end of its socket to `mpirun`. Keep it open until the process ends: its end of file before
/// [`Control::finalized`] is how `mpirun` learns that a rank left without MPI_Finalize, and children of this
/// process recognise through it that they are not ranks.
#[derive(Debug)]
pub struct Control {
    fd: OwnedFd,
}

impl Control {
    pub fn new(fd: OwnedFd) -> Control {
        Control { fd }
    }

    fn send(&self, message: &Message) -> io::Result<()> {
        oxmpi_sys::fd::send(self.fd.as_fd(), &message.encode(), true).map(drop)
    }

    /// MPI is initialised in process `pid`. From here on, leaving without [`Control::finalized`] is an error.
    pub fn hello(&self, pid: i32) -> io::Result<()> {
        self.send(&Message::Hello { pid })
    }

    /// Sessions are all of MPI that is initialised now in process `pid`. Unlike MPI_Init that says nothing about the other ranks.
    pub fn session(&self, pid: i32) -> io::Result<()> {
        self.send(&Message::Session { pid })
    }

    /// MPI_Finalize is complete, or the last session has ended, and nothing of MPI is left. What begins again says so.
    pub fn finalized(&self) -> io::Result<()> {
        self.send(&Message::Finalized)
    }

    /// Asks `mpirun` to end the job with `code`. Returns once the request is on its way; the caller then ends
    /// its process, and `mpirun` kills the others and whatever is left of this one.
    pub fn abort(&self, code: i32, text: &str) -> io::Result<()> {
        self.send(&Message::Abort { code, text: text.into() })
    }
}

impl AsFd for Control {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
