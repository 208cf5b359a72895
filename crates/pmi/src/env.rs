//! The variables through which `mpirun` tells a rank its place, and the descriptor notation.
//!
//! | variable | value |
//! |---|---|
//! | `OXMPI_RANK`, `OXMPI_SIZE` | rank in and size of MPI_COMM_WORLD |
//! | `OXMPI_LOCAL_RANK`, `OXMPI_LOCAL_SIZE` | the same among the ranks of this host |
//! | `OXMPI_APPNUM` | which program of an MPMD command line, from 0 |
//! | `OXMPI_APP_FIRST`, `OXMPI_APP_SIZE` | the first rank that runs this program, and how many do |
//! | `OXMPI_UNIVERSE_SIZE` | slots of the job's hosts, at least the size |
//! | `OXMPI_JOBID` | random number of the job |
//! | `OXMPI_SEGMENT_FD` | `fd:inode` of the shared memory of this host's ranks |
//! | `OXMPI_CONTROL_FD` | `fd:inode` of the socket to `mpirun` |
//!
//! The inode makes a stale variable harmless: a number that means another file by now is not taken.
use std::os::fd::RawFd;

pub const RANK: &str = "OXMPI_RANK";
pub const SIZE: &str = "OXMPI_SIZE";
pub const LOCAL_RANK: &str = "OXMPI_LOCAL_RANK";
pub const LOCAL_SIZE: &str = "OXMPI_LOCAL_SIZE";
pub const APPNUM: &str = "OXMPI_APPNUM";
pub const APP_FIRST: &str = "OXMPI_APP_FIRST";
pub const APP_SIZE: &str = "OXMPI_APP_SIZE";
pub const UNIVERSE_SIZE: &str = "OXMPI_UNIVERSE_SIZE";
pub const JOBID: &str = "OXMPI_JOBID";
pub const SEGMENT_FD: &str = "OXMPI_SEGMENT_FD";
pub const CONTROL_FD: &str = "OXMPI_CONTROL_FD";

/// All of them.
pub const ALL: [&str; 11] =
    [RANK, SIZE, LOCAL_RANK, LOCAL_SIZE, APPNUM, APP_FIRST, APP_SIZE, UNIVERSE_SIZE, JOBID, SEGMENT_FD, CONTROL_FD];

/// A descriptor number together with the inode of what it must refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    pub number: RawFd,
    pub inode: u64,
}

impl std::fmt::Display for Named {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.number, self.inode)
    }
}

impl std::str::FromStr for Named {
    type Err = String;
    fn from_str(s: &str) -> Result<Named, String> {
        let (number, inode) = s.split_once(':').ok_or("not of the form FD:INODE")?;
        let number: RawFd = decimal(number).ok_or("the descriptor is not a number")?;
        if number <= 2 {
            return Err("the descriptor is one of standard input, output and error".into());
        }
        Ok(Named { number, inode: decimal(inode).ok_or("the inode is not a number")? })
    }
}

/// Digits only: no sign, no space, no overflow.
pub fn decimal<T: std::str::FromStr>(s: &str) -> Option<T> {
    s.bytes().all(|b| b.is_ascii_digit()).then(|| s.parse().ok()).flatten()
}
