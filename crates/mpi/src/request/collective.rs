//! Requests of nonblocking and persistent collectives (MPI-5.0 6.12, 6.13): a schedule, and whether the program still has to hear of its end.
//!
//! MPI-5.0 6.12: such a request can be neither cancelled nor freed while it is active; an inactive persistent one can be freed.
use super::{OBJECTS, Object};
use crate::comm::Comm;
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_coll::schedule::Schedule;
use oxmpi_pt2pt::{Outcome, Work};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};

/// Persistent, and not started.
const IDLE: u8 = 0;
const STARTING: u8 = 1;
const STARTED: u8 = 2;
/// Not persistent, and completed.
const OVER: u8 = 3;

pub(crate) struct Collective {
    pub(super) comm: Arc<Comm>,
    pub(super) schedule: Arc<Schedule>,
    pub(super) persistent: bool,
    phase: AtomicU8,
}

/// What a look at one finds.
pub(super) enum Look {
    /// Inactive.
    Idle,
    Pending,
    Done(Outcome),
    /// Another call has completed it.
    Over,
}

impl Collective {
    /// A handle for `schedule`, which is not under way yet.
    pub(crate) fn publish(comm: Arc<Comm>, schedule: Arc<Schedule>, persistent: bool) -> Result<handle::Request> {
        let phase = AtomicU8::new(if persistent { IDLE } else { STARTED });
        OBJECTS.insert(Arc::new(Object::Collective(Collective { comm, schedule, persistent, phase })))
    }

    /// MPI_Start.
    pub(super) fn start(&self) -> Result<()> {
        if !self.persistent {
            bail!(MPI_ERR_REQUEST, "only a persistent request can be started; this one is of a nonblocking operation");
        }
        if self.phase.compare_exchange(IDLE, STARTING, SeqCst, SeqCst).is_err() {
            let why = Error::new(MPI_ERR_REQUEST, "the persistent request is active already; complete it first");
            return Err(why.on(handle::Comm(self.comm.ranks.owner())));
        }
        self.schedule.start();
        self.phase.store(STARTED, SeqCst);
        Ok(())
    }

    /// Advances it and tells how it stands. No lock is held: the program's functions may be called.
    pub(super) fn look(&self, consume: bool) -> Look {
        match self.phase.load(SeqCst) {
            IDLE => return Look::Idle,
            STARTING => return Look::Pending,
            OVER => return Look::Over,
            _ => {}
        }
        self.schedule.advance();
        if self.schedule.active() {
            return Look::Pending;
        }
        let error = self.schedule.error().map_or(MPI_SUCCESS, |e| e.class);
        if consume {
            let next = if self.persistent { IDLE } else { OVER };
            if self.phase.compare_exchange(STARTED, next, SeqCst, SeqCst).is_err() {
                return if self.persistent { Look::Idle } else { Look::Over };
            }
        }
        Look::Done(Outcome { error, ..Outcome::SENT })
    }

    /// Whether MPI_Request_free may let it go.
    pub(super) fn may_be_freed(&self) -> Result<()> {
        if self.phase.load(SeqCst) == IDLE {
            return Ok(());
        }
        bail!(
            MPI_ERR_REQUEST,
            "the request of {} is active and cannot be freed; complete it by a wait or test",
            self.schedule.name()
        )
    }

    /// MPI_Cancel.
    pub(super) fn cancel(&self) -> Result<()> {
        bail!(MPI_ERR_REQUEST, "the request of {} cannot be cancelled; complete it", self.schedule.name())
    }
}

/// How a failed one is explained.
pub(super) fn failed(class: i32) -> Error {
    let what = match class {
        MPI_ERR_TRUNCATE => {
            "a message of a nonblocking collective operation is longer than the receive buffer; counts or types differ between ranks"
        }
        MPI_ERR_NO_MEM => {
            "a nonblocking operation found no memory, or no context for a new communicator; free communicators that are not used"
        }
        _ => "a message of a nonblocking collective operation failed",
    };
    Error::new(class, what)
}
