//! Generalized requests (MPI-5.0 13.2): the program says when they are complete, and what their status is.
//!
//! Invariants: a callback runs with neither the engine's lock nor a mutex of ours held, so it may call MPI; the free function runs once,
//! after the query function. A request that is freed before it is complete keeps its handle in the table, because
//! MPI_Grequest_complete will name it; whichever of the two comes second ends it.
//!
//! Known gaps: callbacks registered from Fortran get C arguments; the Fortran bindings must wrap them.
use super::{Named, OBJECTS, Object, named};
use crate::{callback, world};
use oxmpi_base::args::{FnPtr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, Status, bail, handle};
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

/// Generalized requests belong to no communicator; those who wait for them wait in this lane.
pub(super) const LANE: usize = 0;
/// The program has called MPI_Grequest_complete.
const COMPLETE: u8 = 1;
/// The program has called MPI_Request_free.
const FREED: u8 = 2;
/// A wait or test has taken it.
const TAKEN: u8 = 4;

pub(super) struct General {
    query: FnPtr,
    free: FnPtr,
    cancel: FnPtr,
    extra: usize,
    state: AtomicU8,
}

/// What a look at a generalized request finds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Pending,
    Complete,
    /// Another call has completed it.
    Over,
}

impl General {
    pub(super) fn look(&self, consume: bool) -> Look {
        let before = self.state.load(SeqCst);
        if before & COMPLETE == 0 {
            return Look::Pending;
        }
        let before = if consume { self.state.fetch_or(TAKEN, SeqCst) } else { before };
        if before & TAKEN == 0 { Look::Complete } else { Look::Over }
    }

    /// The status by the query function, and its code.
    pub(super) fn query(&self) -> (Status, i32) {
        let mut status = Status::EMPTY;
        let code = match self.query.0 {
            0 => MPI_SUCCESS,
            _ => callback::grequest_query(self.query, self.extra, &mut status),
        };
        (status, code)
    }

    /// Runs the free function; returns its code.
    pub(super) fn free(&self) -> i32 {
        if self.free.0 == 0 { MPI_SUCCESS } else { callback::grequest_free(self.free, self.extra) }
    }

    /// MPI_Cancel.
    pub(super) fn cancel(&self) -> Result<()> {
        let complete = self.state.load(SeqCst) & COMPLETE != 0;
        match self.cancel.0 {
            0 => Ok(()),
            _ => code("cancel", callback::grequest_cancel(self.cancel, self.extra, complete)),
        }
    }

    /// MPI_Request_free of `h`, which names this.
    pub(super) fn let_go(&self, h: handle::Request) -> Result<()> {
        let before = self.state.fetch_or(FREED, SeqCst);
        if before & FREED != 0 {
            bail!(MPI_ERR_REQUEST, "the generalized request was freed before");
        }
        if before & COMPLETE != 0 { self.end(h) } else { Ok(()) }
    }

    fn end(&self, h: handle::Request) -> Result<()> {
        let freed = code("free", self.free());
        OBJECTS.remove(h)?;
        freed
    }
}

/// The code of a callback as the result of the procedure that called it.
pub(super) fn code(which: &str, code: i32) -> Result<()> {
    match code {
        MPI_SUCCESS => Ok(()),
        _ => Err(Error::new(code, format!("the {which} function of a generalized request returned {code}"))),
    }
}

pub fn grequest_start(
    query_fn: FnPtr,
    free_fn: FnPtr,
    cancel_fn: FnPtr,
    extra_state: usize,
    request: Out<handle::Request>,
) -> Result<()> {
    world::engine()?;
    if request.is_null() {
        return request.set(MPI_REQUEST_NULL);
    }
    let state = AtomicU8::new(0);
    let general = General { query: query_fn, free: free_fn, cancel: cancel_fn, extra: extra_state, state };
    request.set(OBJECTS.insert(Object::General(general).into())?)
}

pub fn grequest_complete(request: handle::Request) -> Result<()> {
    let e = world::engine()?;
    let n = named(e, request)?;
    let Named::Object(h, object) = &n else { bail!(MPI_ERR_REQUEST, "{NOT_GENERAL}") };
    let Object::General(g) = &**object else { bail!(MPI_ERR_REQUEST, "{NOT_GENERAL}") };
    // Inside the engine, in the lane where others wait for it, which wakes them.
    let before = e.enter(LANE, |s| {
        let before = g.state.fetch_or(COMPLETE, SeqCst);
        s.stir();
        before
    });
    if before & COMPLETE != 0 {
        bail!(MPI_ERR_REQUEST, "the generalized request is complete already");
    }
    if before & FREED != 0 { g.end(*h) } else { Ok(()) }
}

const NOT_GENERAL: &str = "only a request made by MPI_Grequest_start can be completed by MPI_Grequest_complete";
