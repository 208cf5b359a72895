//! Requests that stand for several operations of the engine (MPI_Isendrecv, MPI-5.0 3.10; MPI_Buffer_iflush, 3.6), or for one with
//! something to do afterwards (MPI_Comm_idup, 7.4.2). Complete when all of them are.
//!
//! Invariant: the mutex comes before the engine, whose lanes are entered with the mutex held; nobody takes it inside the engine.
use super::{OBJECTS, Object};
use crate::comm::Duplicate;
use oxmpi_base::consts::*;
use oxmpi_base::{Result, handle};
use oxmpi_pt2pt::{Engine, Lanes, Outcome, Ranks, ReqId};
use std::sync::{Arc, Mutex, MutexGuard};

struct Parts {
    /// The operation that gives the status, until it is done.
    first: Option<ReqId>,
    outcome: Outcome,
    /// The others, as long as they are under way.
    rest: Vec<ReqId>,
    /// A wait or test has taken it.
    over: bool,
}

pub(crate) struct Compound {
    pub(super) ranks: Option<Arc<Ranks>>,
    /// The operations of `rest` are freed here; otherwise they are only watched.
    owned: bool,
    parts: Mutex<Parts>,
    /// The communicator that is ready when all is done.
    pub(super) duplicate: Option<Arc<Duplicate>>,
}

/// What a look at a compound request finds.
pub(super) enum Look {
    Pending,
    Done(Outcome),
    /// Another call has completed it.
    Over,
}

impl Compound {
    /// A receive under way (`first`) or done with `outcome`, and a send under way.
    pub(crate) fn exchange(ranks: Arc<Ranks>, first: Option<ReqId>, outcome: Outcome, send: ReqId) -> Compound {
        let parts = Mutex::new(Parts { first, outcome, rest: vec![send], over: false });
        Compound { ranks: Some(ranks), owned: true, parts, duplicate: None }
    }

    /// Complete when none of these, which belong to another, is under way.
    pub(crate) fn watch(rest: Vec<ReqId>) -> Compound {
        let parts = Mutex::new(Parts { first: None, outcome: Outcome::SENT, rest, over: false });
        Compound { ranks: None, owned: false, parts, duplicate: None }
    }

    /// The receive that brings a communicator what it needs.
    pub(crate) fn duplication(ranks: Arc<Ranks>, receive: ReqId, duplicate: Arc<Duplicate>) -> Compound {
        let parts = Parts { first: Some(receive), outcome: Outcome::SENT, rest: Vec::new(), over: false };
        Compound { ranks: Some(ranks), owned: true, parts: Mutex::new(parts), duplicate: Some(duplicate) }
    }

    /// Gives it a handle.
    pub(crate) fn publish(self) -> Result<handle::Request> {
        OBJECTS.insert(Arc::new(Object::Compound(self)))
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The lanes of what is under way.
    pub(super) fn lanes(&self) -> Lanes {
        let p = self.parts();
        p.first.iter().chain(&p.rest).fold(0, |all, id| all | 1 << id.lane())
    }

    pub(super) fn look(&self, e: &Engine, consume: bool) -> Look {
        let p = &mut *self.parts();
        if p.over {
            return Look::Over;
        }
        if let Some(id) = p.first {
            let Some(o) = e.enter(id.lane(), |s| s.finish(id)) else { return Look::Pending };
            p.first = None;
            // The procedure that makes a communicator has no status to give.
            p.outcome = if self.duplicate.is_some() { Outcome { error: o.error, ..Outcome::SENT } } else { o };
        }
        let owned = self.owned;
        p.rest.retain(|&id| {
            e.enter(id.lane(), |s| match if owned { s.finish(id) } else { s.peek(id) } {
                None => !s.over(id),
                Some(o) => {
                    if p.outcome.error == MPI_SUCCESS {
                        p.outcome.error = o.error;
                    }
                    false
                }
            })
        });
        if !p.rest.is_empty() {
            return Look::Pending;
        }
        p.over = consume;
        Look::Done(p.outcome)
    }

    /// MPI_Cancel: a receive that has not matched is withdrawn; everything else goes on.
    pub(super) fn cancel(&self, e: &Engine) {
        if let Some(id) = self.parts().first
            && self.duplicate.is_none()
        {
            e.enter(id.lane(), |s| s.cancel(id));
        }
    }

    /// MPI_Request_free: the operations finish by themselves. False where that cannot be, since the result would be lost.
    pub(super) fn let_go(&self, e: &Engine) -> bool {
        if self.duplicate.is_some() {
            return false;
        }
        let p = &mut *self.parts();
        p.over = true;
        if self.owned {
            p.first.take().into_iter().chain(p.rest.drain(..)).for_each(|id| e.enter(id.lane(), |s| s.detach(id)));
        }
        true
    }
}
