//! A thread of the library that makes progress for the program (control variable `pt2pt_progress_thread`).
//!
//! It is one more thread that waits, for all lanes and all work: it polls, yields and sleeps by the same policy as others, so it sleeps on the
//! process's doorbell while nothing comes. It needs the engine to take its locks, whatever the program's own thread level.
use crate::engine::Engine;
use oxmpi_base::Result;
use std::sync::atomic::{AtomicBool, Ordering};

oxmpi_base::control! {
    /// Whether each process has a thread that makes progress, so that messages and nonblocking collectives go on while the
    /// program computes and calls nothing. It costs locks in every call, time on the processor that the program could use, and
    /// latency; reduction functions of the program may be called from it.
    pub static PROGRESS_THREAD: Switch = Switch::new("pt2pt_progress_thread", false);
}

impl Engine {
    /// Makes progress for everything until `stop` is set by [`Engine::end_service`]. Only where locks are taken.
    pub fn serve(&self, stop: &AtomicBool) -> Result<()> {
        self.wait_among(1, || {
            self.advance_works();
            // The lanes that others use come and go; those whose lock is held are looked after.
            let looked = self.others(1, false).map(|_| ());
            if stop.load(Ordering::Acquire) || looked.is_err() { Some(looked) } else { None }
        })?
    }

    /// Sets `stop` and wakes who serves.
    pub fn end_service(&self, stop: &AtomicBool) {
        self.enter(0, |s| {
            stop.store(true, Ordering::Release);
            s.stir();
        });
    }
}
