//! The messages of one collective call: an endpoint, a tag and the first error.
//!
//! Invariant: a failed message is remembered and the pattern goes on, so that ranks that did nothing wrong
//! are not left waiting; [`Exchange::finish`] returns the first failure.
use crate::buffer::{Data, copy};
use crate::link::{Endpoint, Req};
use crate::reduction::Reduction;
use oxmpi_base::{Error, Result, args::Buf};
use std::cell::RefCell;

pub struct Exchange<'a> {
    ep: &'a Endpoint,
    tag: i32,
    first: RefCell<Option<Error>>,
}

impl<'a> Exchange<'a> {
    pub fn new(ep: &'a Endpoint, tag: i32) -> Exchange<'a> {
        Exchange { ep, tag, first: RefCell::new(None) }
    }
    pub fn rank(&self) -> usize {
        self.ep.rank()
    }
    pub fn size(&self) -> usize {
        self.ep.size()
    }
    /// Whether `r` is a success; keeps the error otherwise.
    pub fn note<T>(&self, r: Result<T>) -> Option<T> {
        match r {
            Ok(v) => Some(v),
            Err(e) => {
                self.first.borrow_mut().get_or_insert(e);
                None
            }
        }
    }
    pub fn finish(self) -> Result<()> {
        match self.first.into_inner() {
            None => Ok(()),
            Some(e) => Err(e),
        }
    }
    pub fn send(&self, d: Data, dest: usize) {
        self.note(self.ep.send(d.buf, d.count, d.dt, dest, self.tag));
    }
    /// False when the data did not arrive whole.
    pub fn recv(&self, d: Data, source: usize) -> bool {
        self.note(self.ep.recv(d.buf, d.count, d.dt, source, self.tag)).is_some()
    }
    pub fn isend(&self, d: Data, dest: usize) -> Option<Req> {
        self.note(self.ep.isend(d.buf, d.count, d.dt, dest, self.tag))
    }
    pub fn irecv(&self, d: Data, source: usize) -> Option<Req> {
        self.note(self.ep.irecv(d.buf, d.count, d.dt, source, self.tag))
    }
    pub fn wait(&self, req: Option<Req>) -> bool {
        req.is_some_and(|r| self.note(self.ep.wait(r)).is_some())
    }
    pub fn wait_all(&self, reqs: &mut Vec<Req>) {
        if !reqs.is_empty() {
            self.note(self.ep.wait_all(std::mem::take(reqs)));
        }
    }
    /// Both at once: neither message waits for the other.
    pub fn sendrecv(&self, s: Data, dest: usize, r: Data, source: usize) -> bool {
        let done = self.ep.sendrecv(s.buf, s.count, s.dt, dest, r.buf, r.count, r.dt, source, self.tag);
        self.note(done).is_some()
    }
    /// `inout = input op inout` on `count` elements: `input` belongs to lower ranks than `inout`.
    pub fn apply(&self, op: &Reduction, input: Buf, inout: Buf, count: usize) {
        if count > 0 {
            self.note((op.apply)(input.as_ptr(), inout.as_mut_ptr(), count));
        }
    }
    /// `low = low op high` with `high` as scratch; where the operation commutes no copy is needed.
    pub fn apply_into_low(&self, op: &Reduction, low: Data, high: Data) {
        if op.commutative {
            self.apply(op, high.buf, low.buf, low.count);
        } else {
            self.apply(op, low.buf, high.buf, low.count);
            copy(high, low);
        }
    }
}
