//! The process's place in its job, and who uses it: the World Model and sessions (MPI-5.0 11.2, 11.3).
//!
//! The engine is started by the first of them and stays for the life of the process, since the launcher's descriptors can be taken
//! once and peers map its memory. It *runs* while at least one instance (MPI_Init to MPI_Finalize, or a session) lives; without one, every
//! procedure that needs it refuses. The launcher is told when the first instance begins and when the last one has ended, as often as that happens.
//!
//! # Threads
//! Each instance has a thread level of its own. The engine and the handle tables take locks when
//! * one of them is at MPI_THREAD_MULTIPLE, or there is a progress thread, or
//! * there are several, and one is at MPI_THREAD_SERIALIZED or they were begun by different threads: each is called by one thread at a time,
//!   but two of them may be called at once.
//!
//! What has begun to take locks goes on until the last instance has ended. The change while another thread is inside MPI is the engine's
//! (`Engine::admit_threads`) and the tables' (`table::set_concurrent`).
//!
//! [`INSTANCES`] is the lock of all this; it is never taken on the way of a message, nothing is called with it that takes another lock of this crate,
//! and nobody waits for other processes with it: a tool's function that is called meanwhile may need it.
use crate::comm::Comm;
use crate::{attr, comm, config, env, errhan, group, inform, progress, table};
use oxmpi_base::consts::*;
use oxmpi_base::handle::Handle;
use oxmpi_base::{Error, Result, bail};
use oxmpi_pmi::Control;
use oxmpi_pt2pt::Engine;
use oxmpi_transport_shm::node::Node;
use oxmpi_transport_shm::segment::Segment;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::ThreadId;

/// What the start of the engine found.
pub struct World {
    pub engine: Engine,
    pub rank: usize,
    pub size: usize,
    pub appnum: Option<i32>,
    /// The ranks that run the same program of an MPMD command line; None for a singleton.
    pub same_program: Option<Range<usize>>,
    /// Whether every rank of the job is on this node.
    pub one_node: bool,
    pub universe: Option<usize>,
    pub control: Option<Control>,
}

/// Where the World Model stands between MPI_Init and MPI_Finalize.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Phase {
    Before = 0,
    Running = 1,
    After = 2,
}

/// Who uses the engine.
struct Instance {
    id: u32,
    level: i32,
    /// The thread that began it.
    thread: ThreadId,
}

struct Instances {
    all: Vec<Instance>,
    /// The number of the session made last.
    last: u32,
    /// How many have begun; it may wrap.
    begun: u32,
}

/// The instance that is the World Model; sessions count from 1.
pub const WORLD_MODEL: u32 = 0;

static PHASE: AtomicU8 = AtomicU8::new(0);
static WORLD: Cell = Cell(UnsafeCell::new(MaybeUninit::uninit()));
/// `WORLD` has been written; it never changes again.
static STARTED: AtomicBool = AtomicBool::new(false);
/// An instance lives: then `WORLD` has been written, too.
static RUNNING: AtomicBool = AtomicBool::new(false);
/// The same, and false while events wait for a tool's functions. So who begins a procedure finds out by the look that it takes anyway: the short
/// ways are closed then ([`short`]), and the general ones deliver ([`engine_attended`]).
static SHORT: AtomicBool = AtomicBool::new(false);
static INSTANCES: Mutex<Instances> = Mutex::new(Instances { all: Vec::new(), last: WORLD_MODEL, begun: 0 });

/// Where the world is: a place that the compiler knows, so that who asks for the engine pays one look at `RUNNING`.
struct Cell(UnsafeCell<MaybeUninit<World>>);

// SAFETY: written once, under the lock of `INSTANCES`, before `STARTED` and `RUNNING` say so; only read then.
unsafe impl Sync for Cell {}

impl Cell {
    /// # Safety
    /// `STARTED` or `RUNNING` has been seen true.
    #[inline(always)]
    unsafe fn get(&self) -> &World {
        // SAFETY: the caller's promise: it has been written, and nobody writes again.
        unsafe { (*self.0.get()).assume_init_ref() }
    }
}

fn instances() -> MutexGuard<'static, Instances> {
    INSTANCES.lock().unwrap_or_else(|e| e.into_inner())
}

/// Of the World Model.
pub fn phase() -> Phase {
    match PHASE.load(Ordering::Acquire) {
        0 => Phase::Before,
        1 => Phase::Running,
        _ => Phase::After,
    }
}

/// Events wait: the next procedure delivers them. May be called under any lock.
pub(crate) fn attention() {
    // Before the engine runs and after that, whoever queues an event delivers it.
    SHORT.store(false, Ordering::Relaxed);
}

/// Delivers what waits, if anything does.
#[cold]
#[inline(never)]
pub(crate) fn attend() {
    if RUNNING.load(Ordering::Acquire) && !SHORT.swap(true, Ordering::AcqRel) {
        crate::tool::deliver();
    }
}

pub(crate) fn set_phase(p: Phase) {
    PHASE.store(p as u8, Ordering::Release);
}

#[cold]
fn not_running() -> Error {
    let text = match (phase(), any_world()) {
        (Phase::After, _) => "this procedure was called after MPI_Finalize, and no session is initialized",
        (_, Some(_)) => {
            "this procedure was called after the last session was finalized; call MPI_Session_init or MPI_Init first"
        }
        _ => "this procedure was called before MPI_Init; call MPI_Init, MPI_Init_thread or MPI_Session_init first",
    };
    Error::new(MPI_ERR_OTHER, text)
}

/// The engine while MPI runs and nothing is to be done before: for the short ways, which leave everything else to the general ones.
#[inline(always)]
pub(crate) fn short() -> Option<&'static Engine> {
    if !SHORT.load(Ordering::Acquire) {
        return None;
    }
    // SAFETY: it runs.
    Some(unsafe { &WORLD.get().engine })
}

/// The world while MPI runs.
#[inline]
pub fn world() -> Result<&'static World> {
    if RUNNING.load(Ordering::Acquire) {
        // SAFETY: it runs.
        return Ok(unsafe { WORLD.get() });
    }
    Err(not_running())
}

/// Whether MPI runs, for a procedure that begins: events that wait are delivered first.
#[inline]
pub fn attended() -> Result<()> {
    if short().is_none() {
        attend();
        world()?;
    }
    Ok(())
}

/// The engine while MPI runs.
#[inline]
pub fn engine() -> Result<&'static Engine> {
    world().map(|w| &w.engine)
}

/// As [`engine`], for a procedure that begins: events that wait are delivered first.
#[inline]
pub fn engine_attended() -> Result<&'static Engine> {
    match short() {
        Some(e) => Ok(e),
        None => {
            attend();
            engine()
        }
    }
}

/// The world whatever the phase, for messages and for abort.
pub fn any_world() -> Option<&'static World> {
    // SAFETY: it has started.
    STARTED.load(Ordering::Acquire).then(|| unsafe { WORLD.get() })
}

/// Starts the engine, without locks. Under the lock of `INSTANCES`, once.
fn start() -> Result<&'static World> {
    errhan::set_abort_hook(env::abort_job);
    config::load()?;
    let job = oxmpi_pmi::connect()?;
    let node = match job.segment {
        Some(fd) => {
            oxmpi_transport_shm::single::allowed()?;
            Some(Node::join(Segment::open(fd, job.size)?, job.rank))
        }
        None => None,
    };
    group::set_my_proc(job.rank as u32);
    let w = World {
        engine: Engine::new(job.rank, job.size, node, false),
        rank: job.rank,
        size: job.size,
        appnum: job.appnum,
        same_program: job.same_program,
        one_node: job.local_size == job.size,
        universe: job.universe_size,
        control: job.control,
    };
    errhan::set_request_hook(crate::request::comm_of);
    errhan::set_rank_known(true);
    attr::set_predefined(MPI_TAG_UB, comm::TAG_UB);
    // SAFETY: the only thread here, by the lock; nobody reads before `STARTED`.
    unsafe { (*WORLD.0.get()).write(w) };
    STARTED.store(true, Ordering::Release);
    crate::measures::tell_engine();
    any_world().ok_or_else(not_running)
}

fn launcher_gone(e: std::io::Error) -> Error {
    Error::new(MPI_ERR_OTHER, format!("the launcher does not answer on the control socket: {e}"))
}

/// Begins the World Model, at this thread level.
pub fn begin_world(level: i32) -> Result<&'static World> {
    if phase() != Phase::Before {
        bail!(MPI_ERR_OTHER, "MPI was initialized before; MPI_Init can be called once in a process");
    }
    let mut i = instances();
    if i.all.iter().any(|x| x.id == WORLD_MODEL) {
        bail!(MPI_ERR_OTHER, "another thread is in MPI_Init; MPI_Init can be called once in a process");
    }
    begin(&mut i, WORLD_MODEL, level)
}

/// Begins a session at this thread level; returns its number.
pub fn begin_session(level: i32) -> Result<u32> {
    let mut i = instances();
    let Some(id) = i.last.checked_add(1) else {
        bail!(MPI_ERR_NO_MEM, "all numbers for sessions have been given out");
    };
    begin(&mut i, id, level)?;
    i.last = id;
    Ok(id)
}

fn begin(i: &mut Instances, id: u32, level: i32) -> Result<&'static World> {
    let w = match any_world() {
        Some(w) => w,
        None => start()?,
    };
    let thread = std::thread::current().id();
    i.all.push(Instance { id, level, thread });
    i.begun = i.begun.wrapping_add(1);
    let begun = (|| {
        let locks = needs_locks(&i.all) || progress::wanted(w.size);
        if i.all.len() == 1 {
            // Nobody else is inside: nobody has a right to call.
            w.engine.set_threads(locks);
            table::set_concurrent(locks);
        } else if locks {
            w.engine.admit_threads()?;
            table::become_concurrent();
        }
        if i.all.len() == 1 && progress::wanted(w.size) {
            progress::begin(w)?;
        }
        match &w.control {
            Some(c) if id == WORLD_MODEL => c.hello(oxmpi_sys::pid()).map_err(launcher_gone),
            Some(c) if i.all.len() == 1 => c.session(oxmpi_sys::pid()).map_err(launcher_gone),
            _ => Ok(()),
        }
    })();
    if let Err(e) = begun {
        if i.all.len() == 1 {
            progress::end(w);
        }
        i.all.pop();
        return Err(e);
    }
    RUNNING.store(true, Ordering::Release);
    SHORT.store(true, Ordering::Release);
    if i.all.len() == 1 {
        inform::at_init(w);
    }
    Ok(w)
}

fn needs_locks(all: &[Instance]) -> bool {
    let several = all.len() > 1;
    all.iter().any(|i| match i.level {
        MPI_THREAD_MULTIPLE => true,
        MPI_THREAD_SERIALIZED => several,
        _ => i.thread != all[0].thread,
    })
}

/// Ends the World Model or a session. The last one lets out everything that was sent, and tells the launcher.
pub fn end(id: u32) -> Result<()> {
    let mut done = Ok(());
    let mut flushed_at = None;
    let (mut i, at) = loop {
        let i = instances();
        let Some(at) = i.all.iter().position(|x| x.id == id) else {
            bail!(MPI_ERR_SESSION, "this session has ended already");
        };
        // What has begun since may have left something behind.
        if i.all.len() > 1 || flushed_at == Some(i.begun) {
            break (i, at);
        }
        flushed_at = Some(i.begun);
        drop(i);
        if let Some(w) = any_world() {
            done = done.and(crate::buffer::empty_all(&w.engine)).and(w.engine.drain());
        }
    };
    let last = i.all.len() == 1;
    if last && let Some(w) = any_world() {
        crate::buffer::forget_all(&w.engine);
        progress::end(w);
        inform::at_finalize(w);
        RUNNING.store(false, Ordering::Release);
        SHORT.store(false, Ordering::Release);
        table::set_concurrent(true);
        if let Some(c) = &w.control {
            done = done.and(c.finalized().map_err(launcher_gone));
        }
    }
    i.all.remove(at);
    if id == WORLD_MODEL
        && !last
        && let Some(c) = any_world().and_then(|w| w.control.as_ref())
    {
        done = done.and(c.session(oxmpi_sys::pid()).map_err(launcher_gone));
    }
    done
}

/// The level of the World Model while it runs, else the highest of the sessions (MPI-5.0 11.6.2).
pub fn thread_level() -> Option<i32> {
    let i = instances();
    let world = i.all.iter().find(|x| x.id == WORLD_MODEL).map(|x| x.level);
    world.or_else(|| i.all.iter().map(|x| x.level).max())
}

/// Whether the calling thread began the World Model, or, where there are only sessions, one of those.
pub fn is_main_thread() -> bool {
    let (i, me) = (instances(), std::thread::current().id());
    match i.all.iter().find(|x| x.id == WORLD_MODEL) {
        Some(w) => w.thread == me,
        None => i.all.iter().any(|x| x.thread == me),
    }
}

/// Whether no other thread can be inside MPI now, or locks are taken: so that the calling thread, which may be a tool's, can look at
/// the engine.
pub fn can_look() -> bool {
    // Without the lock: a tool's function may ask that is called by the progress thread, for whose end `end` waits.
    if any_world().is_some_and(|w| w.engine.has_threads()) {
        return true;
    }
    let me = std::thread::current().id();
    let i = instances();
    !i.all.is_empty() && i.all.iter().all(|x| x.level < MPI_THREAD_SERIALIZED && x.thread == me)
}

/// Binds MPI_COMM_WORLD and MPI_COMM_SELF.
pub(crate) fn bind_predefined(world: Arc<Comm>, own: Arc<Comm>) {
    for (h, c) in [(MPI_COMM_WORLD, world), (MPI_COMM_SELF, own)] {
        c.ranks.set_owner(h.raw());
        crate::comm::table().bind(h, c);
    }
}
