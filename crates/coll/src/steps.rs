//! What an algorithm does at one rank, step after step: every algorithm of this crate that moves messages is written once, against
//! [`Steps`]. [`Exchange`](crate::exchange::Exchange) takes the steps at once, which is a blocking collective;
//! [`Recorder`](crate::schedule::Recorder) writes them down, which makes the schedule of a nonblocking or persistent one.
//!
//! So an algorithm must not look at data, and what it does must not depend on whether a message failed in any way that matters when
//! none does: while steps are written down, all of them succeed.
use crate::buffer::{Data, Segments, Temp};
use crate::reduction::Reduction;
use oxmpi_base::{Result, args::Buf};

/// Temporary memory; do not move it after [`Room::buf`].
pub trait Room {
    /// The origin of element 0.
    fn buf(&mut self) -> Buf;
}

impl Room for Temp {
    fn buf(&mut self) -> Buf {
        Temp::buf(self)
    }
}

pub trait Steps {
    /// An operation that was started.
    type Req;
    type Room: Room;

    fn rank(&self) -> usize;
    fn size(&self) -> usize;
    fn send(&self, d: Data, dest: usize);
    /// False when the data did not arrive whole.
    fn recv(&self, d: Data, source: usize) -> bool;
    fn isend(&self, d: Data, dest: usize) -> Option<Self::Req>;
    fn irecv(&self, d: Data, source: usize) -> Option<Self::Req>;
    fn wait(&self, req: Option<Self::Req>) -> bool;
    fn wait_all(&self, reqs: &mut Vec<Self::Req>);
    /// Both at once: neither message waits for the other.
    fn sendrecv(&self, s: Data, dest: usize, r: Data, source: usize) -> bool;
    /// `inout = input op inout` on `count` elements: `input` belongs to lower ranks than `inout`.
    fn apply(&self, op: &Reduction, input: Buf, inout: Buf, count: usize);
    /// Copies the elements of `src` over those of `dst`: equal type signatures, disjoint memory.
    fn copy(&self, src: Data, dst: Data);
    /// Room for `count` elements of the type of `like`.
    fn typed(&self, like: Data, count: usize) -> Result<Self::Room>;
    /// Room for `n` bytes.
    fn bytes(&self, n: usize) -> Result<Self::Room>;
    /// Brings segment `i` of `whole`, which `s` was made for, from the user's memory; in ascending order.
    fn load(&self, s: &mut Segments<Self::Room>, whole: Data, i: usize);
    /// Takes segment `i` to the user's memory; in ascending order.
    fn store(&self, s: &mut Segments<Self::Room>, whole: Data, i: usize);

    /// `low = low op high` with `high` as scratch; where the operation commutes no copy is needed.
    #[inline]
    fn apply_into_low(&self, op: &Reduction, low: Data, high: Data) {
        if op.commutative {
            self.apply(op, high.buf, low.buf, low.count);
        } else {
            self.apply(op, low.buf, high.buf, low.count);
            self.copy(high, low);
        }
    }
}
