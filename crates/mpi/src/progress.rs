//! The progress thread, where the user asked for one (`pt2pt_progress_thread`): it lives while MPI runs.
//!
//! With it the library takes its locks as at MPI_THREAD_MULTIPLE; the level that the program was told stays what it asked for, since
//! its own threads have no more rights than before. All signals are blocked in it: handlers of the program run in the program's threads.
use crate::world::World;
use oxmpi_base::consts::MPI_ERR_OTHER;
use oxmpi_base::{Error, Result};
use oxmpi_sys::signal::{self, SigSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

static THREAD: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);
static STOP: AtomicBool = AtomicBool::new(false);

/// Whether there is to be one in a world of so many processes: alone, everything is complete when its call returns.
pub(crate) fn wanted(size: usize) -> bool {
    oxmpi_pt2pt::PROGRESS_THREAD.get() && size > 1
}

pub(crate) fn begin(w: &'static World) -> Result<()> {
    let failed = |why: std::io::Error| {
        let way_out =
            "raise the limit on threads (ulimit -u, the control group's pids.max) or set pt2pt_progress_thread=no";
        Error::new(MPI_ERR_OTHER, format!("the progress thread cannot be started: {why}; {way_out}"))
    };
    let before = signal::block(&SigSet::all()).map_err(failed)?;
    STOP.store(false, Ordering::Release);
    let thread = std::thread::Builder::new().name("oxmpi-progress".into()).spawn(|| {
        if let Err(why) = w.engine.serve(&STOP) {
            eprintln!(
                "oxmpi: process {}: the progress thread ends: {}; calls of the program still make progress",
                w.rank, why.message
            );
        }
    });
    signal::set_mask(&before).map_err(failed)?;
    *THREAD.lock().unwrap_or_else(|e| e.into_inner()) = Some(thread.map_err(failed)?);
    Ok(())
}

/// Waits for its end.
pub(crate) fn end(w: &World) {
    let Some(thread) = THREAD.lock().unwrap_or_else(|e| e.into_inner()).take() else { return };
    w.engine.end_service(&STOP);
    // It does not panic: a panic would have ended the process.
    let _ = thread.join();
}
