//! Working in a lane without its lock, and the change to locks while that goes on (MPI-5.0 11.6.2: thread levels of sessions).
//!
//! Below MPI_THREAD_MULTIPLE one thread at a time is inside, and no lock is taken. A session that needs locks may begin while another
//! thread is inside: MPI_Session_init may be called by any thread at any time. So a thread that works without the lock says so in the lane
//! (`busy`), then looks whether locks are needed by now; who brings the locks says so (`threads`), then waits until no lane is busy.
//!
//! Invariant: *one of the two sees the other.* Each stores, then loads. The thread inside has no fence between the two, as it is on the way
//! of every message; who brings the locks has `membarrier` between its own, which is one for every thread of the process. So either the thread
//! inside finds `threads` and takes the lock, or its `busy` is seen, and waited for. It is busy for the time of one step, never while it sleeps.
//!
//! Going back to no locks is for when nobody may call: no session and no World Model lives.
//! Known gaps: where the system refuses membarrier, locks cannot be brought in while something runs without; the error says how to do without.
use crate::engine::{Engine, Lane, State};
use oxmpi_base::consts::MPI_ERR_OTHER;
use oxmpi_base::{Error, Result};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{Ordering, compiler_fence};
use std::time::Duration;

/// Between two looks at a lane that is busy.
const PAUSE: Duration = Duration::from_micros(50);

/// The state of a lane where no other thread is.
pub(crate) struct Alone<'a> {
    lane: &'a Lane,
    state: &'a mut State,
}

impl Deref for Alone<'_> {
    type Target = State;
    #[inline(always)]
    fn deref(&self) -> &State {
        self.state
    }
}

impl DerefMut for Alone<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut State {
        self.state
    }
}

impl Drop for Alone<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lane.busy.store(false, Ordering::Release);
    }
}

impl Engine {
    /// The state of `lane`, if locks are not needed. The caller has no other reference to it.
    #[inline(always)]
    pub(crate) fn alone(&self, lane: usize) -> Option<Alone<'_>> {
        let at = self.lane(lane);
        at.busy.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        if self.threads.load(Ordering::Acquire) {
            at.busy.store(false, Ordering::Relaxed);
            return None;
        }
        // SAFETY: one thread at a time below MPI_THREAD_MULTIPLE (see `Sync` of the engine), and none that takes the lock while this lane is busy.
        let state = unsafe { self.state_of(at, lane) };
        Some(Alone { lane: at, state })
    }

    /// Whether calls may come from several threads at once.
    pub fn has_threads(&self) -> bool {
        self.threads.load(Ordering::Relaxed)
    }

    /// Whether calls may come from several threads at once, while nobody is inside and none may come.
    pub fn set_threads(&self, yes: bool) {
        self.threads.store(yes, Ordering::SeqCst);
    }

    /// Calls may come from several threads at once from now on, also while one is inside.
    pub fn admit_threads(&self) -> Result<()> {
        if self.threads.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        if let Err(e) = oxmpi_sys::membarrier::own_threads() {
            self.threads.store(false, Ordering::SeqCst);
            return Err(Error::new(
                MPI_ERR_OTHER,
                format!(
                    "MPI runs here at a lower thread level, and that cannot be changed while it runs, because membarrier(2) fails: {e}; \
                     ask for MPI_THREAD_MULTIPLE in the first MPI_Init_thread or MPI_Session_init"
                ),
            ));
        }
        for lane in &self.lanes {
            while lane.busy.load(Ordering::Acquire) {
                std::thread::sleep(PAUSE);
            }
        }
        Ok(())
    }
}
