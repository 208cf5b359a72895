//! What a schedule of `coll` needs of the engine: messages in a communicator's collective context that are started and looked at without
//! waiting, many of them in one entry of their lane.
use crate::endpoint::{Endpoint, check};
use crate::engine::{Engine, State};
use crate::matching::Pattern;
use crate::ranks::Ranks;
use crate::recv::Received;
use crate::request::ReqId;
use crate::send::Mode;
use crate::span::Span;
use crate::work::Work;
use oxmpi_base::Result;
use oxmpi_base::args::Buf;
use oxmpi_datatype::Datatype;
use oxmpi_transport::wire::Context;
use std::sync::Arc;

/// The ranks of a communicator and their collective context; it outlives the communicator's handle.
#[derive(Clone)]
pub struct Channel {
    engine: &'static Engine,
    ctx: Context,
    ranks: Arc<Ranks>,
}

/// A message under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending(ReqId);

impl Pending {
    pub fn lane(self) -> usize {
        self.0.lane()
    }
}

/// A lane, entered.
pub struct Inside<'a>(&'a mut State);

impl Endpoint {
    pub fn channel(&self) -> Channel {
        Channel { engine: self.engine, ctx: self.ctx(), ranks: self.ranks.clone() }
    }
}

impl Channel {
    /// The engine's lane of all messages here.
    pub fn lane(&self) -> usize {
        self.ctx.lane()
    }
    /// Runs `f` in a lane, alone. `f` must not come back to the engine.
    #[inline]
    pub fn enter<R>(&self, lane: usize, f: impl FnOnce(&mut Inside) -> R) -> R {
        self.engine.enter(lane, |s| f(&mut Inside(s)))
    }
    /// `work` has begun: the communicator is in use until it ends.
    pub fn begin(&self) {
        self.engine.enter(self.lane(), |s| s.keep(&self.ranks));
    }
    /// Before or after `begin`: the engine advances `work` from now on.
    pub fn undertake(&self, work: Arc<dyn Work>) {
        self.engine.undertake(work);
    }
    /// An error if one of the ranks was aborted (see [`Endpoint::check_aborted`]).
    pub fn check_aborted(&self) -> Result<()> {
        self.engine.check_aborted(&self.ranks)
    }
    /// Work has ended: `f` makes that known to those who look, and those who sleep are woken.
    pub fn conclude(&self, f: impl FnOnce()) {
        self.engine.enter(self.lane(), |s| {
            f();
            s.retire(&self.ranks);
        });
    }
}

impl Inside<'_> {
    /// None: it is complete.
    #[inline]
    pub fn isend(
        &mut self,
        c: &Channel,
        buf: Buf,
        count: usize,
        dt: &Datatype,
        dest: usize,
        tag: i32,
    ) -> Result<Option<Pending>> {
        let sent = self.0.send(c.ctx, c.ranks.proc_of(dest), tag, Span::new(buf, count, dt), Mode::Standard)?;
        Ok(sent.map(Pending))
    }
    #[inline]
    pub fn irecv(
        &mut self,
        c: &Channel,
        buf: Buf,
        count: usize,
        dt: &Datatype,
        source: usize,
        tag: i32,
    ) -> Result<Option<Pending>> {
        let want = Pattern { ctx: c.ctx, source: c.ranks.proc_of(source) as i32, tag };
        match self.0.recv(want, Span::new(buf, count, dt))? {
            Received::Done(o) => check(o).map(|_| None),
            Received::Pending(id) => Ok(Some(Pending(id))),
        }
    }
    /// How a message ended, which is then forgotten; None while it is under way.
    #[inline]
    pub fn finish(&mut self, p: Pending) -> Option<Result<()>> {
        self.0.finish(p.0).map(|o| check(o).map(|_| ()))
    }
}
