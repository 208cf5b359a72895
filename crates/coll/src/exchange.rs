//! The messages of one collective call: an endpoint, a tag and the first error.
//!
//! Invariant: a failed message is remembered and the pattern goes on, so that ranks that did nothing wrong
//! are not left waiting; [`Exchange::finish`] returns the first failure. What a rank passes on after
//! a failure is worth nothing, so a rank without one looks at the end whether there was any: that is what aborted ranks cause.
use crate::buffer::{Data, Segments, Temp, copy};
use crate::link::{Endpoint, Req};
use crate::reduction::Reduction;
use crate::steps::Steps;
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
    #[inline]
    pub fn finish(self) -> Result<()> {
        match self.first.into_inner() {
            None => self.ep.check_aborted(),
            Some(e) => Err(e),
        }
    }
}

impl Steps for Exchange<'_> {
    type Req = Req;
    type Room = Temp;

    #[inline]
    fn rank(&self) -> usize {
        self.ep.rank()
    }
    #[inline]
    fn size(&self) -> usize {
        self.ep.size()
    }
    #[inline]
    fn send(&self, d: Data, dest: usize) {
        self.note(self.ep.send(d.buf, d.count, d.dt, dest, self.tag));
    }
    #[inline]
    fn recv(&self, d: Data, source: usize) -> bool {
        self.note(self.ep.recv(d.buf, d.count, d.dt, source, self.tag)).is_some()
    }
    #[inline]
    fn isend(&self, d: Data, dest: usize) -> Option<Req> {
        self.note(self.ep.isend(d.buf, d.count, d.dt, dest, self.tag))
    }
    #[inline]
    fn irecv(&self, d: Data, source: usize) -> Option<Req> {
        self.note(self.ep.irecv(d.buf, d.count, d.dt, source, self.tag))
    }
    #[inline]
    fn wait(&self, req: Option<Req>) -> bool {
        req.is_some_and(|r| self.note(self.ep.wait(r)).is_some())
    }
    #[inline]
    fn wait_all(&self, reqs: &mut Vec<Req>) {
        if !reqs.is_empty() {
            self.note(self.ep.wait_all(std::mem::take(reqs)));
        }
    }
    #[inline]
    fn sendrecv(&self, s: Data, dest: usize, r: Data, source: usize) -> bool {
        let done = self.ep.sendrecv(s.buf, s.count, s.dt, dest, r.buf, r.count, r.dt, source, self.tag);
        self.note(done).is_some()
    }
    #[inline]
    fn apply(&self, op: &Reduction, input: Buf, inout: Buf, count: usize) {
        if count > 0 {
            self.note((op.apply)(input.as_ptr(), inout.as_mut_ptr(), count));
        }
    }
    #[inline]
    fn copy(&self, src: Data, dst: Data) {
        copy(src, dst);
    }
    #[inline]
    fn typed(&self, like: Data, count: usize) -> Result<Temp> {
        Temp::typed(like.dt, count)
    }
    #[inline]
    fn bytes(&self, n: usize) -> Result<Temp> {
        Temp::bytes(n)
    }
    #[inline]
    fn load(&self, s: &mut Segments, _whole: Data, i: usize) {
        s.load(i);
    }
    #[inline]
    fn store(&self, s: &mut Segments, _whole: Data, i: usize) {
        s.store(i);
    }
}
