//! The process's place in the world: the engine and the job, from MPI_Init to MPI_Finalize (MPI-5.0 chapter 11).
use crate::comm::Comm;
use oxmpi_base::consts::*;
use oxmpi_base::handle::Handle;
use oxmpi_base::{Error, Result};
use oxmpi_pmi::Control;
use oxmpi_pt2pt::Engine;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;

/// What MPI_Init found.
pub struct World {
    pub engine: Engine,
    pub rank: usize,
    pub size: usize,
    pub appnum: Option<i32>,
    pub universe: Option<usize>,
    pub control: Option<Control>,
    pub thread_level: i32,
    pub main_thread: ThreadId,
}

/// Where the process stands between MPI_Init and MPI_Finalize.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Phase {
    Before = 0,
    Running = 1,
    After = 2,
}

static PHASE: AtomicU8 = AtomicU8::new(0);
static WORLD: OnceLock<World> = OnceLock::new();

/// In `PHASE`: MPI runs, and events wait for a tool's functions. So who begins a procedure finds out by the look that it takes anyway: the short
/// ways are closed then ([`running`]), and the general ones deliver ([`engine_attended`]).
const ATTENTION: u8 = 3;

pub fn phase() -> Phase {
    match PHASE.load(Ordering::Acquire) {
        0 => Phase::Before,
        1 | ATTENTION => Phase::Running,
        _ => Phase::After,
    }
}

/// Events wait: the next procedure delivers them. May be called under any lock.
pub(crate) fn attention() {
    // Before MPI_Init and after MPI_Finalize whoever queues an event delivers it.
    let _only_if_running =
        PHASE.compare_exchange(Phase::Running as u8, ATTENTION, Ordering::Relaxed, Ordering::Relaxed);
}

/// Delivers what waits, if anything does.
#[cold]
#[inline(never)]
pub(crate) fn attend() {
    let running = PHASE.compare_exchange(ATTENTION, Phase::Running as u8, Ordering::Acquire, Ordering::Relaxed);
    if running.is_ok() {
        crate::tool::deliver();
    }
}

pub(crate) fn set_phase(p: Phase) {
    PHASE.store(p as u8, Ordering::Release);
}

/// Keeps what MPI_Init made, for the life of the process.
pub(crate) fn install(w: World) -> Result<&'static World> {
    WORLD.set(w).map_err(|_| Error::new(MPI_ERR_OTHER, "MPI is already initialized; call MPI_Init once"))?;
    world()
}

#[cold]
fn not_running() -> Error {
    match phase() {
        Phase::After => Error::new(MPI_ERR_OTHER, "this procedure was called after MPI_Finalize"),
        _ => Error::new(
            MPI_ERR_OTHER,
            "this procedure was called before MPI_Init; call MPI_Init or MPI_Init_thread first",
        ),
    }
}

/// The engine while MPI runs and nothing is to be done before: for the short ways, which leave everything else to the general ones.
#[inline(always)]
pub(crate) fn running() -> Option<&'static Engine> {
    match PHASE.load(Ordering::Relaxed) == Phase::Running as u8 {
        true => WORLD.get().map(|w| &w.engine),
        false => None,
    }
}

/// The world while MPI runs. (No call on the way, so that nobody's arguments have to survive one.)
#[inline]
pub fn world() -> Result<&'static World> {
    if PHASE.load(Ordering::Relaxed) == Phase::Running as u8
        && let Some(w) = WORLD.get()
    {
        return Ok(w);
    }
    WORLD.get().filter(|_| phase() != Phase::After).ok_or_else(not_running)
}

/// The engine while MPI runs.
#[inline]
pub fn engine() -> Result<&'static Engine> {
    world().map(|w| &w.engine)
}

/// As [`engine`], for a procedure that begins: events that wait are delivered first.
#[inline]
pub fn engine_attended() -> Result<&'static Engine> {
    match running() {
        Some(e) => Ok(e),
        None => {
            attend();
            engine()
        }
    }
}

/// The world whatever the phase, for messages and for abort.
pub fn any_world() -> Option<&'static World> {
    WORLD.get()
}

/// Binds MPI_COMM_WORLD and MPI_COMM_SELF.
pub(crate) fn bind_predefined(world: Arc<Comm>, own: Arc<Comm>) {
    for (h, c) in [(MPI_COMM_WORLD, world), (MPI_COMM_SELF, own)] {
        c.ranks.set_owner(h.raw());
        crate::comm::table().bind(h, c);
    }
}
