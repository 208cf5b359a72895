//! SIGNATURES FIRST: bodies arrive soon. What the collectives use of the point-to-point engine.
#![allow(unused)]
use oxmpi_base::{Result, args::Buf};
use oxmpi_datatype::Datatype;

/// One communicator's collective context, as the algorithms see it: ranks are communicator ranks.
/// Messages of a context match in order and never meet the user's point-to-point messages.
pub struct Endpoint { _p: () }

/// An outstanding operation.
#[must_use]
pub struct Req { _p: () }

impl Endpoint {
    pub fn rank(&self) -> usize { todo!() }
    pub fn size(&self) -> usize { todo!() }
    pub fn send(&self, buf: Buf, count: usize, dt: &Datatype, dest: usize, tag: i32) -> Result<()> { todo!() }
    /// Returns the bytes received; more than the buffer holds is MPI_ERR_TRUNCATE.
    pub fn recv(&self, buf: Buf, count: usize, dt: &Datatype, source: usize, tag: i32) -> Result<u64> { todo!() }
    pub fn isend(&self, buf: Buf, count: usize, dt: &Datatype, dest: usize, tag: i32) -> Result<Req> { todo!() }
    pub fn irecv(&self, buf: Buf, count: usize, dt: &Datatype, source: usize, tag: i32) -> Result<Req> { todo!() }
    pub fn wait(&self, req: Req) -> Result<()> { todo!() }
    /// Waits for all, also after an error; returns the first error.
    pub fn wait_all(&self, reqs: Vec<Req>) -> Result<()> { todo!() }
    #[allow(clippy::too_many_arguments)]
    pub fn sendrecv(&self, sbuf: Buf, scount: usize, sdt: &Datatype, dest: usize, rbuf: Buf, rcount: usize, rdt: &Datatype, source: usize, tag: i32) -> Result<u64> { todo!() }
    /// Raw bytes, for internal exchanges.
    pub fn send_bytes(&self, data: &[u8], dest: usize, tag: i32) -> Result<()> { todo!() }
    pub fn recv_bytes(&self, data: &mut [u8], source: usize, tag: i32) -> Result<usize> { todo!() }
}
