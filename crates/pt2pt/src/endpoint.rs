//! A communicator's collective context, as the algorithms of `coll` see it: ranks instead of process indices.
use crate::engine::Engine;
use crate::matching::Pattern;
use crate::ranks::Ranks;
use crate::recv::Received;
use crate::request::{Outcome, ReqId};
use crate::send::Mode;
use crate::span::Span;
use oxmpi_base::args::Buf;
use oxmpi_base::consts::{MPI_ERR_TRUNCATE, MPI_SUCCESS};
use oxmpi_base::{Error, Result};
use oxmpi_datatype::Datatype;
use oxmpi_transport::wire::Context;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed},
};

/// Messages of one context match in order and never meet those of another.
pub struct Endpoint {
    pub(crate) engine: &'static Engine,
    ctx: AtomicU64,
    rank: usize,
    pub(crate) ranks: Arc<Ranks>,
    /// Of the engine.
    aborts: &'static AtomicU32,
}

/// An outstanding operation; `None` when it completed at once.
#[must_use]
pub struct Req(Option<ReqId>);

pub(crate) fn check(o: Outcome) -> Result<u64> {
    match o.error {
        MPI_SUCCESS => Ok(o.bytes),
        MPI_ERR_TRUNCATE => Err(Error::new(
            MPI_ERR_TRUNCATE,
            "a message of a collective operation is longer than the receive buffer; counts or types differ between ranks",
        )),
        e => Err(Error::new(e, "a message of a collective operation failed")),
    }
}

impl Endpoint {
    /// Rank `rank` of `ranks`, talking in `ctx`.
    pub fn new(engine: &'static Engine, ctx: Context, rank: usize, ranks: Arc<Ranks>) -> Endpoint {
        Endpoint { engine, ctx: AtomicU64::new(ctx.0), rank, ranks, aborts: engine.aborts() }
    }
    /// Gives it another context, before the first message.
    pub fn set_context(&self, ctx: Context) {
        self.ctx.store(ctx.0, Relaxed);
    }
    /// The engine's lane of this communicator.
    #[inline]
    pub(crate) fn lane(&self) -> usize {
        self.ctx().lane()
    }
    #[inline]
    pub(crate) fn ctx(&self) -> Context {
        Context(self.ctx.load(Relaxed))
    }
    #[inline]
    pub fn rank(&self) -> usize {
        self.rank
    }
    #[inline]
    pub fn size(&self) -> usize {
        self.ranks.len()
    }
    /// Whether the ranks of this job outnumber the cores they run on; the same at every rank.
    pub fn shares_cores(&self) -> bool {
        self.engine.shares_cores()
    }

    /// An error if one of the ranks was aborted. What others have sent since may be made of what they got from it, or did not get: who fails because
    /// of it has seen that before it sends on, so whoever has received that sees it, too.
    #[inline]
    pub fn check_aborted(&self) -> Result<()> {
        if self.aborts.load(Acquire) == 0 { Ok(()) } else { self.who_was_aborted() }
    }
    #[cold]
    #[inline(never)]
    fn who_was_aborted(&self) -> Result<()> {
        self.engine.check_aborted(&self.ranks)
    }

    /// A round of progress for everything else of this process.
    pub fn progress(&self) -> Result<()> {
        self.engine.poll(self.lane())
    }

    fn start_send(&self, span: Span, dest: usize, tag: i32) -> Result<Req> {
        let to = self.ranks.proc_of(dest);
        let ctx = self.ctx();
        self.engine.enter(ctx.lane(), |s| s.send(ctx, to, tag, span, Mode::Standard)).map(Req)
    }
    fn start_recv(&self, span: Span, source: usize, tag: i32) -> Result<std::result::Result<Outcome, ReqId>> {
        let want = Pattern { ctx: self.ctx(), source: self.ranks.proc_of(source) as i32, tag };
        Ok(match self.engine.enter(want.ctx.lane(), |s| s.recv(want, span))? {
            Received::Done(o) => Ok(o),
            Received::Pending(id) => Err(id),
        })
    }

    pub fn send(&self, buf: Buf, count: usize, dt: &Datatype, dest: usize, tag: i32) -> Result<()> {
        let r = self.start_send(Span::new(buf, count, dt), dest, tag)?;
        self.wait(r)
    }
    /// Returns the bytes received; more than the buffer holds is MPI_ERR_TRUNCATE.
    pub fn recv(&self, buf: Buf, count: usize, dt: &Datatype, source: usize, tag: i32) -> Result<u64> {
        match self.start_recv(Span::new(buf, count, dt), source, tag)? {
            Ok(o) => check(o),
            Err(id) => check(self.engine.wait_request(id)?),
        }
    }
    pub fn isend(&self, buf: Buf, count: usize, dt: &Datatype, dest: usize, tag: i32) -> Result<Req> {
        self.start_send(Span::new(buf, count, dt), dest, tag)
    }
    pub fn irecv(&self, buf: Buf, count: usize, dt: &Datatype, source: usize, tag: i32) -> Result<Req> {
        match self.start_recv(Span::new(buf, count, dt), source, tag)? {
            Ok(o) => check(o).map(|_| Req(None)),
            Err(id) => Ok(Req(Some(id))),
        }
    }
    pub fn wait(&self, req: Req) -> Result<()> {
        match req.0 {
            Some(id) => check(self.engine.wait_request(id)?).map(|_| ()),
            None => Ok(()),
        }
    }
    /// Waits for all, also after an error; returns the first error.
    pub fn wait_all(&self, reqs: Vec<Req>) -> Result<()> {
        let mut first = Ok(());
        for r in reqs {
            let done = self.wait(r);
            first = first.and(done);
        }
        first
    }
    #[allow(clippy::too_many_arguments)]
    pub fn sendrecv(
        &self,
        sbuf: Buf,
        scount: usize,
        sdt: &Datatype,
        dest: usize,
        rbuf: Buf,
        rcount: usize,
        rdt: &Datatype,
        source: usize,
        tag: i32,
    ) -> Result<u64> {
        // What the other side waits for goes out, also where nothing will come.
        let recv = self.start_recv(Span::new(rbuf, rcount, rdt), source, tag);
        let sent = self.isend(sbuf, scount, sdt, dest, tag).and_then(|r| self.wait(r));
        let got = match recv {
            Ok(Ok(o)) => check(o),
            Ok(Err(id)) => self.engine.wait_request(id).and_then(check),
            Err(e) => Err(e),
        };
        sent.and(got)
    }
    /// Raw bytes, for internal exchanges.
    pub fn send_bytes(&self, data: &[u8], dest: usize, tag: i32) -> Result<()> {
        let r = self.start_send(Span::bytes(data), dest, tag)?;
        self.wait(r)
    }
    pub fn recv_bytes(&self, data: &mut [u8], source: usize, tag: i32) -> Result<usize> {
        let span = Span::Dense { at: data.as_mut_ptr(), len: data.len() };
        match self.start_recv(span, source, tag)? {
            Ok(o) => check(o).map(|n| n as usize),
            Err(id) => check(self.engine.wait_request(id)?).map(|n| n as usize),
        }
    }
}
