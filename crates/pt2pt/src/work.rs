//! Work that goes on beside messages: what other crates give the engine to bring forward whenever any thread makes progress
//! (schedules of nonblocking collectives, MPI-5.0 6.12).
//!
//! Invariants:
//! * A piece of work is advanced outside the engine, with no lock of ours held: it may enter lanes and call the program's functions.
//! * Work that several threads find at once is advanced by one of them; [`Work::advance`] sees to it that what the others have seen
//!   is looked at by that one.
//! * Nobody sleeps before all work has been advanced after his last look at the rings; work that ends, ends under the lock of a lane that
//!   its waiters wait for ([`crate::Channel::conclude`]), so the engine's rule for waking holds for it.
//! * With no work under way all this costs one relaxed load in a place that is reached every few turns; with some, every turn of a call that
//!   makes progress reaches it.
use crate::engine::Engine;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

/// What an attempt to advance gave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Nothing,
    Moved,
    /// There is nothing left to do.
    Over,
}

pub trait Work: Send + Sync {
    /// Does all that can be done without waiting.
    fn advance(&self) -> Step;
    /// Whether nothing is left to do: then the engine forgets it.
    fn over(&self) -> bool;
    /// The engine's note that it knows this work: false in new work.
    fn listed(&self) -> &AtomicBool;
}

/// The work under way in a process.
#[derive(Default)]
pub(crate) struct Works {
    /// How many there are.
    number: AtomicUsize,
    /// With one thread: the engine's events when all work was last advanced. Without a new one nothing can have changed.
    seen: AtomicU64,
    list: Mutex<List>,
}

#[derive(Default)]
struct List {
    all: Vec<Arc<dyn Work>>,
    /// How often some were taken out, which moves others to other places.
    removals: u64,
}

impl Works {
    #[inline(always)]
    pub fn any(&self) -> bool {
        self.number.load(Relaxed) != 0
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Whether it is the first.
    fn add(&self, work: Arc<dyn Work>) -> bool {
        let mut l = self.list();
        // Work that was over and has been begun anew may still be here.
        if !work.listed().swap(true, Relaxed) {
            l.all.push(work);
        }
        self.number.swap(l.all.len(), Relaxed) == 0
    }

    /// Whether nothing is left.
    fn remove_over(&self) -> bool {
        let mut l = self.list();
        l.all.retain(|w| {
            let stays = !w.over();
            w.listed().store(stays, Relaxed);
            stays
        });
        l.removals += 1;
        self.number.store(l.all.len(), Relaxed);
        l.all.is_empty()
    }

    /// Advances all of it: whether anything moved, and whether something is over.
    fn advance(&self) -> (bool, bool) {
        let (mut moved, mut any_over, mut i) = (false, false, 0);
        let removals = self.list().removals;
        loop {
            let Some(w) = self.list().all.get(i).cloned() else { break };
            match w.advance() {
                Step::Nothing => {}
                Step::Moved => moved = true,
                Step::Over => any_over = true,
            }
            i += 1;
        }
        // Another thread has taken some out meanwhile, so one may have been passed over: there has to be another look.
        moved |= self.list().removals != removals;
        (moved, any_over)
    }
}

impl Engine {
    /// From now on `work` is advanced whenever this process makes progress, until it is over.
    pub fn undertake(&self, work: Arc<dyn Work>) {
        if self.works.add(work) && !self.threads() {
            self.every_turn_is_due(true);
        }
        self.works.seen.store(u64::MAX, Relaxed);
    }

    /// Advances all work under way, as every call that makes progress does.
    pub fn advance_works(&self) -> bool {
        self.works.any() && self.advance_some()
    }

    #[inline(never)]
    fn advance_some(&self) -> bool {
        if !self.threads() {
            let events = self.events();
            if self.works.seen.swap(events, Relaxed) == events {
                return false;
            }
        }
        let (moved, any_over) = self.works.advance();
        if any_over && self.works.remove_over() && !self.threads() {
            self.every_turn_is_due(false);
        }
        moved
    }
}
