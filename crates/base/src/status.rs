//! The status object of the standard ABI (MPI-5.0 3.2.5 and the ABI chapter): 32 bytes.
use crate::consts::*;

/// `MPI_Status`. The five reserved words hold the byte count (two words) and the cancelled flag.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct Status {
    pub MPI_SOURCE: i32,
    pub MPI_TAG: i32,
    pub MPI_ERROR: i32,
    internal: [i32; 5],
}

const _: () = assert!(size_of::<Status>() == 32);

impl Status {
    /// MPI-5.0 3.7.3: the empty status.
    pub const EMPTY: Status =
        Status { MPI_SOURCE: MPI_ANY_SOURCE, MPI_TAG: MPI_ANY_TAG, MPI_ERROR: MPI_SUCCESS, internal: [0; 5] };
    /// MPI-5.0 3.10: what a receive from MPI_PROC_NULL returns.
    pub const PROC_NULL: Status = Status { MPI_SOURCE: MPI_PROC_NULL, ..Status::EMPTY };

    pub fn new(source: i32, tag: i32, bytes: u64) -> Status {
        let mut s = Status { MPI_SOURCE: source, MPI_TAG: tag, MPI_ERROR: MPI_SUCCESS, internal: [0; 5] };
        s.set_bytes(bytes);
        s
    }
    /// The same with another MPI_ERROR.
    pub fn with_error(self, class: i32) -> Status {
        Status { MPI_ERROR: class, ..self }
    }
    /// Bytes of packed data the message carried.
    pub fn bytes(&self) -> u64 {
        (self.internal[0] as u32 as u64) | ((self.internal[1] as u32 as u64) << 32)
    }
    pub fn set_bytes(&mut self, bytes: u64) {
        self.internal[0] = bytes as u32 as i32;
        self.internal[1] = (bytes >> 32) as u32 as i32;
    }
    pub fn cancelled(&self) -> bool {
        self.internal[2] != 0
    }
    pub fn set_cancelled(&mut self, flag: bool) {
        self.internal[2] = flag as i32;
    }
}
