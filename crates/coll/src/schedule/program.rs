//! What a schedule does at one rank, written down.
use crate::buffer::{Block, Data, byte};
use crate::link::{Channel, Datatype};
use crate::reduction::Reduction;
use oxmpi_base::consts::MPI_ERR_INTERN;
use oxmpi_base::{Error, Result, args::Buf};

/// Elements in memory.
pub(super) struct Piece {
    pub buf: Buf,
    pub count: usize,
    /// None: plain bytes.
    dt: Option<Datatype>,
}

impl Piece {
    pub fn of(d: Data) -> Piece {
        match d.dense_bytes() {
            Some(b) => Piece { buf: b.buf, count: b.count, dt: None },
            None => Piece { buf: d.buf, count: d.count, dt: Some(d.dt.clone()) },
        }
    }
    pub fn dt(&self) -> &Datatype {
        self.dt.as_ref().unwrap_or_else(|| byte())
    }
    pub fn data(&self) -> Data<'_> {
        Data::new(self.buf, self.count, self.dt())
    }
}

pub(super) enum Op {
    /// Starts a message; `slot` is its name until it has been waited for.
    Send {
        what: Piece,
        to: u32,
        side: u8,
        slot: u32,
    },
    Receive {
        what: Piece,
        from: u32,
        side: u8,
        slot: u32,
    },
    Wait {
        slot: u32,
    },
    Copy {
        from: Piece,
        to: Piece,
    },
    /// Bytes from position `at` of the packed stream of `whole`.
    Pack {
        whole: Piece,
        at: usize,
        to: Buf,
        len: usize,
    },
    Unpack {
        from: Buf,
        len: usize,
        whole: Piece,
        at: usize,
    },
    /// `inout = input op inout`.
    Apply {
        input: Buf,
        inout: Buf,
        count: usize,
    },
}

/// `inout[i] = input[i] op inout[i]` for so many elements.
type Apply = dyn Fn(*const u8, *mut u8, usize) -> Result<()> + Send + Sync;

/// The operation of a reduction, for as long as the schedule lives.
pub struct Combine {
    pub commutative: bool,
    pub apply: Box<Apply>,
}

/// A group of ranks that the schedule talks with.
pub(super) struct Side {
    pub channel: Channel,
    pub tag: i32,
}

impl Combine {
    /// The operation for an algorithm that is written down, which never applies it.
    pub fn for_recording(&self) -> Reduction<'static> {
        fn never(_: *const u8, _: *mut u8, _: usize) -> Result<()> {
            Err(Error::new(MPI_ERR_INTERN, "an operation was applied while a schedule was written down"))
        }
        Reduction { commutative: self.commutative, apply: &never, apply3: None }
    }
}

/// The steps of a schedule at one rank.
pub struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) slots: usize,
    pub(super) sides: Vec<Side>,
    pub(super) combine: Option<Combine>,
    /// Temporary memory.
    pub(super) _blocks: Vec<Block>,
    /// The procedure, for messages.
    pub(super) name: &'static str,
}

// SAFETY: addresses of the program's buffers, which stay valid until the operation is complete (MPI-5.0 6.12), and of our own blocks; one
// thread at a time uses them, under the lock of the schedule's run.
unsafe impl Send for Program {}
// SAFETY: a program is not changed while it runs; see above for what its addresses name.
unsafe impl Sync for Program {}
