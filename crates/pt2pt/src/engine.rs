//! The engine's lanes, their locks, and how a thread waits.
//!
//! A lane is an engine of its own: requests, matching, queues and rings, under a lock that only MPI_THREAD_MULTIPLE takes. A communicator
//! lives in one lane, which its context says ([`Context::lane`]), so matching, wildcards and order never cross lanes, and threads in
//! communicators of different lanes meet nowhere but at the doorbell. A lane comes into being when it is first entered, or when a peer
//! has connected to it; until then it costs nothing.
//!
//! # Progress
//! A thread that waits polls the lanes it waits for at every turn, all others at every [`OTHERS`]th turn (of any call: the lane counts them)
//! and before each sleep: a blocked call moves the pending operations of all lanes. Other lanes are only tried: one whose lock is
//! held is being looked after by its holder. Before a sleep that is not enough, since the holder may have polled too early, so a thread that
//! found a lock held does not sleep this time.
//!
//! # Waking
//! All threads and lanes of a process share one doorbell, so a peer's ring wakes whoever sleeps. Threads wake each other by the same bell:
//! *whatever a waiting thread looks at is changed under the lock of a lane of its, and after the lock has been released the bell is rung,
//! if anyone sleeps.* A sleeper counts itself at the bell, then looks at each of its lanes under that lane's lock, then sleeps
//! unless the bell has been rung since. If the change came before its look, it sees the change; if after, the lock has carried its count
//! to the other thread, which rings. So nothing is lost, also when the sleeper has several lanes, and the price where nobody sleeps is one load.
use crate::counts::{self, Counts};
use crate::large::{Copy, Late, MIDDLE, Timed};
use crate::matching::{Held, Posted};
use crate::progress::Sweep;
use crate::ranks::{Enrolled, Ranks};
use crate::request::{Outcome, Phase, ReqId, Requests};
use crate::span::Span;
use crate::work::Works;
use oxmpi_base::{Error, Result};
use oxmpi_ring::doorbell::Fence;
use oxmpi_ring::wait::{Cores, Evidence, Step, Waiter};
use oxmpi_transport::wire::{Context, Kind, LANES, Rts};
use oxmpi_transport_shm::choice::{Choice, Way};
use oxmpi_transport_shm::heap::Heap;
use oxmpi_transport_shm::link::{Incoming, Outgoing};
use oxmpi_transport_shm::node::{Node, Sleeper};
use oxmpi_transport_shm::single::Run;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

/// A message that came before its receive.
pub(crate) enum Early {
    /// All of it; the sender's request if it waits for an Ack.
    Whole { bytes: Vec<u8>, ack: Option<(u32, u64)> },
    /// Still arriving: `got` of `bytes.len()`.
    Arriving { bytes: Vec<u8>, got: u64, peer: u32 },
    /// The data waits at the sender.
    Announced { peer: u32, rts: Rts },
    /// A send of this process to itself that waits.
    Local { request: u32 },
}

/// Where the chunks of one message go.
pub(crate) struct Inbound {
    pub send: u64,
    pub expect: u64,
    pub got: u64,
    pub to: Target,
    /// To learn how fast this way is.
    pub timed: Option<Timed>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Request(u32),
    Early(u32),
}

/// A frame that found no room.
pub(crate) enum Waiting {
    Control {
        kind: Kind,
        ctx: Context,
        bytes: [u8; 48],
        len: usize,
    },
    /// The first frame of this send request.
    Send(u32),
    /// Partitions that are ready (`part`).
    Partitions(crate::part::PartId),
}

/// All we keep for one peer process.
#[derive(Default)]
pub(crate) struct Peer {
    pub out: Option<Outgoing>,
    pub waiting: VecDeque<Waiting>,
    /// Send requests whose chunks are being pushed.
    pub pushing: VecDeque<u32>,
    pub inbound: Vec<Inbound>,
    /// The turn (see `State::turns`) in which it last took a message that had been announced.
    pub heard: u64,
    /// Where its ring is in `State::incoming`, and one; 0: nowhere.
    pub ring: u32,
    /// In `State::backlog`.
    pub listed: bool,
    /// Closed after an error.
    pub lost: bool,
}

/// How frames reach a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Route {
    /// This process.
    Loopback,
    /// A rank of this node, by its index in the segment.
    Shm(u32),
}

/// What one lane holds.
pub struct State {
    pub(crate) me: u32,
    pub(crate) lane: usize,
    pub(crate) node: Option<Node>,
    pub(crate) peers: Vec<Peer>,
    /// Incoming rings, with their peers, in order of arrival.
    pub(crate) incoming: Vec<(u32, Incoming)>,
    pub(crate) sweep: Sweep,
    /// Peers with something in `waiting` or `pushing`.
    pub(crate) backlog: Vec<u32>,
    pub(crate) requests: Requests,
    pub(crate) enrolled: Enrolled,
    pub(crate) posted: Posted,
    pub(crate) held: Held,
    pub(crate) early: Slots<Early>,
    /// Transfers by single copy that this process has a part in.
    pub(crate) copies: Vec<Copy>,
    pub(crate) choice: Choice,
    /// Turns of progress with announcements that may be late.
    pub(crate) turns: u64,
    /// When the last large message was complete.
    pub(crate) last_done: u64,
    /// The way that the next announced message of a middle size class tries.
    pub(crate) next_way: [Option<Way>; MIDDLE],
    /// Announced messages that are sent after all if the receiver does not come.
    pub(crate) late: Vec<Late>,
    /// Memory of send requests that is lent by KNEM.
    pub(crate) lent: Vec<(u32, oxmpi_transport_shm::attach::Exposure)>,
    /// Room for lists of runs.
    pub(crate) runs: Vec<Run>,
    /// Rings ever accepted; those that were closed after an error are no longer in `incoming`.
    pub(crate) accepted: usize,
    /// Partitioned operations; None while there never was one.
    pub(crate) parts: Option<Box<crate::part::Parts>>,
    /// Sends that their receivers were asked to forget (`cancel`).
    pub(crate) retracting: Vec<ReqId>,
    /// Completions and arrivals, for waking other threads.
    pub(crate) events: u64,
    /// Turns of waiting and testing threads; see [`OTHERS`].
    rounds: u32,
    pub(crate) counts: &'static Counts,
    /// With one thread: the other lanes and the work under way are due when these bits of the turns are 0.
    others_mask: u32,
}

/// A vector with holes.
pub(crate) struct Slots<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { all: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub fn put(&mut self, v: T) -> u32 {
        match self.free.pop() {
            Some(i) => {
                self.all[i as usize] = Some(v);
                i
            }
            None => {
                self.all.push(Some(v));
                (self.all.len() - 1) as u32
            }
        }
    }
    pub fn take(&mut self, i: u32) -> T {
        self.free.push(i);
        self.all[i as usize].take().expect("a held message is taken once")
    }
    pub fn at(&mut self, i: u32) -> &mut T {
        self.all[i as usize].as_mut().expect("a held message is present")
    }
    /// The first for which `f` gives something.
    pub fn find<R>(&self, f: impl Fn(&T) -> Option<R>) -> Option<(u32, R)> {
        self.all.iter().enumerate().find_map(|(i, e)| Some((i as u32, f(e.as_ref()?)?)))
    }
}

/// Turns from one look at the other lanes to the next: with one thread, and with several, whose lanes are mostly looked after by others
/// (a look takes cache lines from the thread that works there).
const OTHERS: (u32, u32) = (16, 128);
const _: () = assert!(OTHERS.0.is_power_of_two());

/// Tries for a lock before the thread sleeps for it, and pauses between two.
const SPINS: u32 = 64;
const PAUSES: u32 = 16;

/// Not nearer than two cache lines (which are fetched together) to the next.
#[repr(align(128))]
pub(crate) struct Lane {
    lock: Mutex<()>,
    /// A thread works here without the lock; see `alone`.
    pub busy: AtomicBool,
    pub state: UnsafeCell<Option<State>>,
}

/// Receives that wait for a message, messages that wait for a receive, and the most there have been of each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Queues {
    pub posted: u64,
    pub posted_most: u64,
    pub held: u64,
    pub held_most: u64,
}

/// A set of lanes, one bit each.
pub type Lanes = u32;

fn each(lanes: Lanes) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |lane| lanes & 1 << lane != 0)
}

/// The lanes of a process share a word of preferences for the middle size classes.
const _: () = assert!(MIDDLE <= u32::BITS as usize / LANES);

/// In [`Engine`]'s `general`: calls may come from several threads at once (MPI_THREAD_MULTIPLE, or several sessions).
pub(crate) const THREADS: u32 = 1;
/// In `general`: a tool counts messages.
pub(crate) const COUNTED: u32 = 2;

/// The one progress engine of a process.
pub struct Engine {
    /// Why not all calls may take the shortest way: [`THREADS`], [`COUNTED`].
    pub(crate) general: AtomicU32,
    /// Lanes whose state exists.
    open: AtomicU32,
    pub(crate) me: usize,
    size: usize,
    /// From which each lane makes its own.
    node: Option<Node>,
    sleeper: Option<Sleeper>,
    /// What `Node::aborts` was at the last look.
    seen_aborts: AtomicU32,
    pub(crate) cores: Cores,
    fence: Fence,
    pub(crate) evidence: Evidence,
    pub(crate) works: Works,
    pub(crate) lanes: [Lane; LANES],
}

// SAFETY: a lane's `state` is only reached with its lock, when several threads may call, or through `alone`: with one thread at
// a time (levels below MULTIPLE) the program itself serialises, as MPI-5.0 11.6.2 obliges it to. `node` is never changed.
unsafe impl Sync for Engine {}
// SAFETY: nothing in the state is bound to a thread.
unsafe impl Send for Engine {}

/// What an operation gets that needs a process which was aborted.
#[cold]
pub(crate) fn aborted(proc: u32) -> Error {
    Error::new(
        oxmpi_base::consts::MPI_ERR_PROC_ABORTED,
        format!("process {proc} was aborted (MPI_ERRORS_ABORT on a communicator of its), and this operation needs it"),
    )
}

/// Lets others run.
fn give_way() {
    counts::YIELDS.fetch_add(1, Ordering::Relaxed);
    oxmpi_sys::yield_now();
}

/// What one turn of a waiting thread gave.
struct Turn<R> {
    moved: bool,
    found: Option<R>,
    /// It is time to look at the other lanes.
    due: bool,
}

/// What a look at the other lanes gave.
pub(crate) struct Others {
    moved: bool,
    /// A lane could not be looked at.
    held: bool,
}

/// How a turn takes a lock that another thread holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Busy {
    /// It waits for it, and looks at every ring: the last look before a sleep.
    Wait,
    /// It does nothing: the other one makes progress.
    Pass,
}

impl Engine {
    /// `me` of `size` processes; `node` is None for a singleton.
    pub fn new(me: usize, size: usize, node: Option<Node>, threads: bool) -> Engine {
        Engine {
            general: AtomicU32::new(if threads { THREADS } else { 0 }),
            open: AtomicU32::new(0),
            me,
            size,
            sleeper: node.as_ref().map(Node::sleeper),
            cores: node.as_ref().map_or(Cores::Dedicated, |n| n.cores),
            fence: node.as_ref().map_or(Fence::Both, Node::fence),
            evidence: node.as_ref().map(Node::evidence).unwrap_or_default(),
            seen_aborts: AtomicU32::new(0),
            node,
            works: Works::default(),
            lanes: [(); LANES].map(|()| Lane {
                lock: Mutex::new(()),
                busy: AtomicBool::new(false),
                state: UnsafeCell::new(None),
            }),
        }
    }

    /// Whether a tool counts messages (see `counts`).
    pub fn watch(&self, on: bool) {
        match on {
            true => self.general.fetch_or(COUNTED, Ordering::SeqCst),
            false => self.general.fetch_and(!COUNTED, Ordering::SeqCst),
        };
    }

    pub fn shares_cores(&self) -> bool {
        self.cores == Cores::Shared
    }

    /// After a test that found nothing: where cores are shared, lets others run now and then.
    pub fn breathe(&self) {
        if self.evidence.idle(self.cores) {
            oxmpi_sys::yield_now();
        }
    }

    #[inline]
    pub(crate) fn threads(&self) -> bool {
        self.has_threads()
    }

    /// Lane 0, where everything is below MPI_THREAD_MULTIPLE, is found by a branch that is foreseen, so that nothing there waits until the
    /// communicator has said its lane.
    #[inline(always)]
    pub(crate) fn lane(&self, lane: usize) -> &Lane {
        if lane.is_multiple_of(LANES) { &self.lanes[0] } else { self.other_lane(lane) }
    }
    /// Not inlined: it would become arithmetic again.
    #[inline(never)]
    fn other_lane(&self, lane: usize) -> &Lane {
        &self.lanes[lane % LANES]
    }

    /// The state of `lane`.
    ///
    /// # Safety
    /// No other thread is in this lane, and this thread holds no other reference to its state.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn state(&self, lane: usize) -> &mut State {
        // SAFETY: the caller's promise.
        unsafe { self.state_of(self.lane(lane), lane) }
    }
    /// As `state`, where the lane has been looked up.
    ///
    /// # Safety
    /// As for `state`.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn state_of<'a>(&self, at: &'a Lane, lane: usize) -> &'a mut State {
        // SAFETY: the caller's promise.
        match unsafe { &mut *at.state.get() } {
            Some(s) => s,
            empty => self.open_in(empty, lane),
        }
    }

    /// Not inlined: a state takes room on the stack while it is made.
    #[cold]
    #[inline(never)]
    fn open_in<'a>(&self, empty: &'a mut Option<State>, lane: usize) -> &'a mut State {
        empty.insert(self.open(lane % LANES))
    }

    #[cold]
    pub(crate) fn open(&self, lane: usize) -> State {
        self.open.fetch_or(1 << lane, Ordering::Release);
        let mut s = State::new(self.me, self.size, lane, self.node.as_ref().map(|n| n.in_lane(lane)));
        s.close_aborted();
        s
    }

    fn lock(&self, lane: usize) -> MutexGuard<'_, ()> {
        // Held for a fraction of a microsecond as a rule, so going to sleep for it costs more than waiting, and makes its holder call the system.
        for _ in 0..SPINS {
            if let Some(g) = self.try_lock(lane) {
                return g;
            }
            (0..PAUSES).for_each(|_| std::hint::spin_loop());
        }
        self.lane(lane).lock.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn try_lock(&self, lane: usize) -> Option<MutexGuard<'_, ()>> {
        match self.lane(lane).lock.try_lock() {
            Ok(g) => Some(g),
            Err(TryLockError::Poisoned(e)) => Some(e.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Wakes threads of this process that sleep; after the lock of the lane that has changed was released.
    #[inline]
    fn wake_threads(&self) {
        if let Some(s) = &self.sleeper {
            s.wake();
        }
    }

    /// Runs `f` on the state of a lane, alone. `f` must not call back into the engine. What `f` finishes wakes threads that wait for it.
    #[inline]
    pub fn enter<R>(&self, lane: usize, f: impl FnOnce(&mut State) -> R) -> R {
        if let Some(mut s) = self.alone(lane) {
            return f(&mut s);
        }
        let guard = self.lock(lane);
        // SAFETY: the lock is held.
        let s = unsafe { self.state(lane) };
        let before = s.events;
        let r = f(s);
        let stirred = s.events != before;
        drop(guard);
        if stirred {
            self.wake_threads();
        }
        r
    }

    /// Makes progress until `check` gives something, which depends on `lane` alone. The thread spins, yields and sleeps by the wait policy.
    #[inline]
    pub fn wait<R>(&self, lane: usize, mut check: impl FnMut(&mut State) -> Option<R>) -> Result<R> {
        self.wait_by(1 << lane, |busy| self.turn(lane, busy, &mut check))
    }

    /// As `wait`, for what depends on several lanes: `check` is called outside the engine and enters them itself.
    pub fn wait_among<R>(&self, home: Lanes, mut check: impl FnMut() -> Option<R>) -> Result<R> {
        self.wait_by(home, |busy| {
            let mut all = Turn { moved: false, found: None, due: false };
            for lane in each(home) {
                let t = self.turn(lane, busy, &mut |_| None::<()>)?;
                all.moved |= t.moved;
                all.due |= t.due;
            }
            all.found = check();
            Ok(all)
        })
    }

    #[inline(always)]
    fn wait_by<R>(&self, home: Lanes, mut turn: impl FnMut(Busy) -> Result<Turn<R>>) -> Result<R> {
        let mut waiter = Waiter::new(&self.evidence, self.cores);
        let mut again = false;
        loop {
            let t = turn(Busy::Pass)?;
            if let Some(r) = t.found {
                if t.due {
                    // An error there is found again by the next who looks.
                    let _ = self.others(home, false);
                }
                return Ok(r);
            }
            if t.due || again {
                // A large copy there goes on at the next turn; among threads, its own.
                again = self.others(home, false)?.moved && !self.threads();
            }
            if t.moved {
                waiter = Waiter::new(&self.evidence, self.cores);
                continue;
            }
            match waiter.step() {
                Step::Poll => std::hint::spin_loop(),
                Step::Yield => give_way(),
                Step::Sleep => {
                    if let Some(r) = self.sleep(home, &mut turn)? {
                        return Ok(r);
                    }
                }
            }
        }
    }

    /// One round of progress in `lane`, with a look at what `check` finds.
    #[inline(always)]
    fn turn<R>(&self, lane: usize, busy: Busy, check: &mut impl FnMut(&mut State) -> Option<R>) -> Result<Turn<R>> {
        if let Some(mut s) = self.alone(lane) {
            let s: &mut State = &mut s;
            let due = s.next_round();
            if busy == Busy::Wait {
                s.look_everywhere();
            }
            return Ok(Turn { moved: s.progress()?, found: check(s), due });
        }
        self.locked_turn(lane, busy, check)
    }

    fn locked_turn<R>(
        &self,
        lane: usize,
        busy: Busy,
        check: &mut impl FnMut(&mut State) -> Option<R>,
    ) -> Result<Turn<R>> {
        let guard = match busy {
            Busy::Wait => self.lock(lane),
            Busy::Pass => match self.try_lock(lane) {
                Some(g) => g,
                None => return Ok(Turn { moved: false, found: None, due: false }),
            },
        };
        // SAFETY: the lock is held.
        let s = unsafe { self.state(lane) };
        s.rounds = s.rounds.wrapping_add(1);
        let due = s.rounds.is_multiple_of(OTHERS.1) || self.works.any();
        // What is found now has been an event of an earlier turn.
        if let Some(r) = check(s) {
            return Ok(Turn { moved: false, found: Some(r), due });
        }
        if busy == Busy::Wait {
            s.look_everywhere();
        }
        let before = s.events;
        let moved = s.progress();
        let found = check(s);
        // More happened than this thread takes: it may be what another one sleeps for.
        let stirred = s.events - before > found.is_some() as u64;
        drop(guard);
        if stirred {
            self.wake_threads();
        }
        Ok(Turn { moved: moved?, found, due })
    }

    /// Work is under way, or no more: with it every turn looks at it, so that any call of the program brings it forward.
    #[cold]
    pub(crate) fn every_turn_is_due(&self, yes: bool) {
        let mask = if yes { 0 } else { OTHERS.0 - 1 };
        each(self.open.load(Ordering::Acquire)).for_each(|lane| self.enter(lane, |s| s.others_mask = mask));
    }
    /// Completions and arrivals in all lanes so far; with one thread.
    pub(crate) fn events(&self) -> u64 {
        each(self.open.load(Ordering::Relaxed)).map(|lane| self.enter(lane, |s| s.events)).sum()
    }

    /// Whether any lane but this one is in use, or work is under way.
    pub(crate) fn has_others(&self, lane: usize) -> bool {
        let open = self.open.load(Ordering::Relaxed);
        self.works.any()
            || each(!(1 << lane)).any(|l| open & 1 << l != 0 || self.node.as_ref().is_some_and(|n| n.was_reached(l)))
    }

    /// Progress in all lanes but `home`, then of all work; the last one before a sleep looks at every ring.
    #[inline(never)]
    pub(crate) fn others(&self, home: Lanes, last: bool) -> Result<Others> {
        self.see_aborted();
        oxmpi_base::event::attend_waiting();
        let open = self.open.load(Ordering::Acquire);
        let mut all = Others { moved: false, held: false };
        for lane in each(!home) {
            let in_use = open & 1 << lane != 0 || self.node.as_ref().is_some_and(|n| n.was_reached(lane));
            if !in_use {
                continue;
            }
            if let Some(mut s) = self.alone(lane) {
                if last {
                    s.look_everywhere();
                }
                all.moved |= s.progress()?;
                continue;
            }
            let Some(guard) = self.try_lock(lane) else {
                all.held = true;
                continue;
            };
            // SAFETY: the lock is held.
            let s = unsafe { self.state(lane) };
            if last {
                s.look_everywhere();
            }
            let before = s.events;
            let moved = s.progress();
            let stirred = s.events != before;
            drop(guard);
            if stirred {
                self.wake_threads();
            }
            all.moved |= moved?;
        }
        all.moved |= self.advance_works();
        Ok(all)
    }

    /// Where this process is among others; the same for all lanes.
    #[inline]
    pub(crate) fn node(&self) -> Option<&Node> {
        self.node.as_ref()
    }
    /// Between publishing something and looking whether anybody sleeps.
    #[inline]
    pub(crate) fn order(&self) {
        match self.fence {
            Fence::Sleeper => std::sync::atomic::compiler_fence(Ordering::SeqCst),
            Fence::Both => std::sync::atomic::fence(Ordering::SeqCst),
        }
    }
    /// Waits until `ready`, which looks at shared memory that peers write; a thread that sleeps counts itself in `asleep`. The flags are looked at
    /// more often than the rings.
    pub(crate) fn wait_until(
        &self,
        lane: usize,
        ranks: &Ranks,
        asleep: &AtomicU32,
        ready: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let mut turn = |busy| self.turn(lane, busy, &mut |_| ready().then_some(()));
        let mut waiter = Waiter::new(&self.evidence, self.cores);
        loop {
            let t = turn(Busy::Pass)?;
            if t.found.is_some() {
                return Ok(());
            }
            if t.due {
                self.others(1 << lane, false)?;
            }
            if t.moved {
                waiter = Waiter::new(&self.evidence, self.cores);
                continue;
            }
            match waiter.step() {
                Step::Poll => {}
                Step::Yield => give_way(),
                Step::Sleep => {
                    asleep.fetch_add(1, Ordering::SeqCst);
                    let found = self.sleep(1 << lane, &mut turn);
                    asleep.fetch_sub(1, Ordering::Relaxed);
                    if found?.is_some() {
                        return Ok(());
                    }
                    self.check_aborted(ranks)?;
                }
            }
        }
    }

    #[cold]
    fn sleep<R>(&self, home: Lanes, turn: &mut impl FnMut(Busy) -> Result<Turn<R>>) -> Result<Option<R>> {
        let Some(sleeper) = &self.sleeper else {
            // Alone in the world: only another thread of this process can help.
            oxmpi_base::event::attend_waiting();
            std::thread::sleep(std::time::Duration::from_micros(200));
            return Ok(None);
        };
        oxmpi_base::event::attend_waiting();
        each(self.open.load(Ordering::Acquire)).for_each(|lane| self.enter(lane, State::hurry));
        let mut result = Ok(None);
        let mut slept_from = 0;
        sleeper.sleep(|| {
            let looked = turn(Busy::Wait).and_then(|t| {
                let awake = t.moved || t.found.is_some() || self.see_aborted() || {
                    let o = self.others(home, true)?;
                    o.moved || o.held
                };
                Ok((t.found, awake))
            });
            match looked {
                Ok((found, awake)) => {
                    result = Ok(found);
                    if !awake {
                        slept_from = oxmpi_sys::clock::nanos();
                    }
                    awake
                }
                Err(e) => {
                    result = Err(e);
                    true
                }
            }
        });
        if slept_from != 0 {
            counts::SLEEPS.fetch_add(1, Ordering::Relaxed);
            counts::SLEPT_NS.fetch_add(oxmpi_sys::clock::nanos() - slept_from, Ordering::Relaxed);
        }
        result
    }

    /// One round of progress in `lane`, and now and then in the others; for tests and probes.
    pub fn poll(&self, lane: usize) -> Result<()> {
        let t = self.turn(lane, Busy::Pass, &mut |_| None::<()>)?;
        if t.due { self.others(1 << lane, false).map(|_| ()) } else { Ok(()) }
    }

    /// As `poll`, and what `check` finds in the lane after that.
    #[inline]
    pub fn look<R>(&self, lane: usize, mut check: impl FnMut(&mut State) -> Option<R>) -> Result<Option<R>> {
        let Some(mut s) = self.alone(lane) else {
            self.poll(lane)?;
            return Ok(self.enter(lane, check));
        };
        let due = s.next_round();
        s.progress()?;
        let found = check(&mut s);
        drop(s);
        if due {
            let looked = self.others(1 << lane, false);
            // What was found has been taken; an error there is found again by the next who looks.
            if found.is_none() {
                looked?;
            }
        }
        Ok(found)
    }

    /// As `poll`, in all these lanes.
    pub fn poll_among(&self, home: Lanes) -> Result<()> {
        each(home).try_for_each(|lane| self.poll(lane))
    }

    /// Waits for a request and frees it.
    #[inline]
    pub fn wait_request(&self, id: ReqId) -> Result<Outcome> {
        let lane = id.lane();
        self.wait(lane, |s| s.finish(id)).inspect_err(|_| self.enter(lane, |s| s.abandon(id)))
    }

    /// The shared memory that this process gives out; None for a singleton.
    pub fn heap(&self) -> Option<Arc<Heap>> {
        self.node.as_ref().map(|n| n.heap().clone())
    }

    /// What this process uses with each peer, of all lanes in use.
    pub fn report(&self) -> String {
        each(self.open.load(Ordering::Acquire)).map(|lane| self.enter(lane, State::report)).collect()
    }

    /// Operations of this process that have not completed.
    pub fn pending(&self) -> usize {
        each(self.open.load(Ordering::Acquire)).map(|lane| self.enter(lane, |s| s.pending())).sum()
    }

    /// How many receives and messages wait for each other.
    pub fn queues(&self) -> Queues {
        self.sum_queues(State::queues)
    }
    /// The same for one communicator, without the most there have been.
    pub fn queues_of(&self, ctx: Context) -> Queues {
        self.enter(ctx.lane(), |s| s.queues_of(ctx))
    }
    fn sum_queues(&self, f: impl Fn(&mut State) -> Queues) -> Queues {
        each(self.open.load(Ordering::Acquire)).map(|lane| self.enter(lane, &f)).fold(Queues::default(), |a, b| {
            Queues {
                posted: a.posted + b.posted,
                posted_most: a.posted_most + b.posted_most,
                held: a.held + b.held,
                held_most: a.held_most + b.held_most,
            }
        })
    }

    /// Ends the wait for ranks that were aborted since the last look; true if there were any. Not from inside a lane.
    fn see_aborted(&self) -> bool {
        let Some(now) = self.node.as_ref().map(Node::aborts) else { return false };
        if self.seen_aborts.load(Ordering::Relaxed) == now {
            return false;
        }
        self.seen_aborts.store(now, Ordering::Relaxed);
        each(self.open.load(Ordering::Acquire)).for_each(|lane| self.enter(lane, State::close_aborted));
        true
    }
    /// Not 0 once ranks were aborted.
    pub(crate) fn aborts(&'static self) -> &'static AtomicU32 {
        static NEVER: AtomicU32 = AtomicU32::new(0);
        self.node.as_ref().map_or(&NEVER, Node::aborts_word)
    }
    /// One of these processes was aborted: who, as an error.
    pub fn check_aborted(&self, ranks: &Ranks) -> Result<()> {
        let Some(n) = self.node.as_ref().filter(|n| n.aborts() != 0) else { return Ok(()) };
        match ranks.procs().iter().find(|p| n.is_aborted(**p as usize)) {
            Some(p) => Err(aborted(*p)),
            None => Ok(()),
        }
    }

    /// Waits until everything that was given to the transport has left this process.
    pub fn drain(&self) -> Result<()> {
        let open = self.open.load(Ordering::Acquire);
        self.wait_among(open, || each(open).all(|lane| self.enter(lane, |s| s.drained())).then_some(()))
    }
}

impl State {
    fn new(me: usize, size: usize, lane: usize, node: Option<Node>) -> State {
        let order = node.as_ref().map_or(Vec::new(), |n| n.allowed().to_vec());
        State {
            me: me as u32,
            lane,
            node,
            peers: (0..size).map(|_| Peer::default()).collect(),
            incoming: Vec::new(),
            sweep: Sweep::default(),
            backlog: Vec::new(),
            requests: Requests::new(lane),
            enrolled: Enrolled::default(),
            posted: Posted::default(),
            held: Held::default(),
            early: Slots::default(),
            copies: Vec::new(),
            choice: Choice::new(order),
            turns: 0,
            last_done: 0,
            next_way: [None; MIDDLE],
            late: Vec::new(),
            lent: Vec::new(),
            runs: Vec::new(),
            accepted: 0,
            parts: None,
            retracting: Vec::new(),
            events: 0,
            rounds: 0,
            counts: Counts::of_lane(),
            others_mask: OTHERS.0 - 1,
        }
    }
    pub fn me(&self) -> u32 {
        self.me
    }
    pub fn size(&self) -> usize {
        self.peers.len()
    }
    pub fn route(&self, proc: u32) -> Route {
        if proc == self.me { Route::Loopback } else { Route::Shm(proc) }
    }

    /// Something has changed that other threads may wait for.
    pub fn stir(&mut self) {
        self.events += 1;
    }

    /// The outcome of a finished request, without freeing it.
    #[inline]
    pub fn peek(&mut self, id: ReqId) -> Option<Outcome> {
        match self.requests.get(id) {
            Some(r) if r.phase == Phase::Done => Some(r.outcome),
            _ => None,
        }
    }
    /// Whether the request is done or no longer exists.
    pub fn over(&mut self, id: ReqId) -> bool {
        self.requests.get(id).is_none_or(|r| r.phase == Phase::Done)
    }
    /// The outcome of a finished request, which is freed.
    #[inline]
    pub fn finish(&mut self, id: ReqId) -> Option<Outcome> {
        let out = self.peek(id)?;
        self.free(id.index());
        Some(out)
    }
    /// As `finish` (`consume`) or `peek`; `f` gets the outcome and the communicator that `tag_user` left.
    #[inline(always)]
    pub fn look_with<R>(
        &mut self,
        id: ReqId,
        consume: bool,
        f: impl FnOnce(&Outcome, Option<&Ranks>) -> R,
    ) -> Option<R> {
        let out = self.peek(id)?;
        let user = self.requests.at(id.index()).user;
        let r = f(&out, user.and_then(|i| self.enrolled.get(i)));
        if consume {
            self.free(id.index());
        }
        Some(r)
    }
    /// Remembers the communicator a request belongs to; it must be enrolled.
    #[inline]
    pub fn tag_user(&mut self, id: ReqId, ranks: &Ranks) {
        if let Some(r) = self.requests.get(id) {
            r.user = Some(self.enrolled.add_use(ranks));
        }
    }
    /// The raw handle of the communicator of a request that is under way or done.
    pub fn owner_of(&mut self, id: ReqId) -> Option<usize> {
        let user = self.requests.get(id)?.user?;
        self.enrolled.get(user).map(Ranks::owner)
    }
    /// Before requests may refer to a communicator.
    pub fn enroll(&mut self, ranks: &Arc<Ranks>) {
        self.enrolled.enroll(ranks);
    }
    /// The communicator is gone; requests that refer to it keep what they need.
    pub fn retire(&mut self, ranks: &Ranks) {
        self.events += 1;
        let place = ranks.place();
        self.enrolled.drop_use(place);
    }
    /// Whether no request refers to the communicator any more.
    pub fn quiet(&self, ranks: &Ranks) -> bool {
        self.enrolled.uses(ranks) == 1
    }
    /// One more, or one less, reference that is no request (a matched message).
    pub fn keep(&mut self, ranks: &Ranks) {
        self.enrolled.add_use(ranks);
    }
    #[inline]
    fn free(&mut self, i: u32) {
        if let Some(u) = self.requests.at(i).user {
            self.enrolled.drop_use(u);
        }
        self.requests.free(i);
    }
    /// A request that is done from the start.
    pub fn completed(&mut self, outcome: Outcome) -> ReqId {
        let i = self.requests.start(Span::empty(), crate::Pattern { ctx: Context(0), source: 0, tag: 0 });
        self.complete(i, outcome);
        self.requests.id(i)
    }
    /// The name of the request of this number if the low bits of its generation are these.
    #[inline]
    pub fn request_at(&mut self, number: u32, generation: u32, mask: u32) -> Option<ReqId> {
        self.requests.named(number, generation, mask)
    }
    /// Nobody will ask for this request (MPI_Request_free): it is freed when it is done.
    pub fn detach(&mut self, id: ReqId) {
        if self.finish(id).is_none()
            && let Some(r) = self.requests.get(id)
        {
            r.detached = true;
        }
    }
    /// The caller gives up, and its buffer may go: a receive drops what comes, a send goes on from a copy. Where a single copy is under way the
    /// buffer stays in use: the peer cannot be called back.
    #[cold]
    pub fn abandon(&mut self, id: ReqId) {
        self.cancel(id);
        let copying = self.copying(id.index());
        if let Some(r) = self.requests.get(id)
            && r.phase == Phase::Active
            && !copying
        {
            let copy = if r.peer.is_some() { r.span.to_owned() } else { None };
            r.span = copy.map_or(Span::empty(), Span::Owned);
        }
        self.detach(id);
    }
    /// Counts a turn; whether it is one in which the other lanes and the work under way are due. With one thread.
    #[inline(always)]
    fn next_round(&mut self) -> bool {
        self.rounds = self.rounds.wrapping_add(1);
        self.rounds & self.others_mask == 0
    }
    /// Marks done.
    #[inline]
    pub(crate) fn complete(&mut self, i: u32, outcome: Outcome) {
        self.events += 1;
        let r = self.requests.at(i);
        r.outcome = outcome;
        r.phase = Phase::Done;
        if r.detached || matches!(r.span, Span::Owned(_)) {
            r.span = Span::empty();
        }
        if r.detached {
            self.free(i);
        }
    }
    /// Operations of this process that have not completed.
    pub fn pending(&self) -> usize {
        self.requests.active()
    }
    fn queues(&mut self) -> Queues {
        let (p, h) = (&self.posted, &self.held);
        let n = |n: usize| n as u64;
        Queues { posted: n(p.len()), posted_most: n(p.most()), held: n(h.len()), held_most: n(h.most()) }
    }
    fn queues_of(&mut self, ctx: Context) -> Queues {
        let of = |c: Context| c == ctx;
        let (posted, held) = (self.requests.posted(of) as u64, self.held.count(of) as u64);
        Queues { posted, held, ..Queues::default() }
    }
    /// Whether everything given to the transport has left this process.
    pub fn drained(&self) -> bool {
        self.backlog.is_empty()
    }

    pub(crate) fn any_lost(&self) -> bool {
        self.incoming.len() < self.accepted
    }

    /// Closes the way to those who were aborted.
    pub(crate) fn close_aborted(&mut self) {
        let Some(node) = self.node.as_ref().filter(|n| n.aborts() != 0) else { return };
        let gone: Vec<u32> =
            (0..self.peers.len() as u32).filter(|p| *p != self.me && node.is_aborted(*p as usize)).collect();
        for p in gone.into_iter().filter(|p| !self.peers[*p as usize].lost).collect::<Vec<_>>() {
            self.close_for(p, oxmpi_base::consts::MPI_ERR_PROC_ABORTED);
        }
    }
    /// Why no message that this pattern accepts will come, where that is known.
    pub fn gone(&self, want: crate::Pattern, ranks: &Ranks) -> Option<Error> {
        if !self.any_lost() {
            return None;
        }
        let is_lost = |p: &&u32| self.peers[**p as usize].lost;
        let one = [want.source as u32];
        let of = if want.source >= 0 { &one[..] } else { ranks.procs() };
        of.iter().find(is_lost).map(|p| self.lost(*p))
    }
    /// The way to or from `peer` is closed: why, as an error.
    #[cold]
    pub(crate) fn lost(&self, peer: u32) -> Error {
        match self.node.as_ref().is_some_and(|n| n.is_aborted(peer as usize)) {
            true => aborted(peer),
            false => self.intern(format!("the way to and from process {peer} was closed after an error")),
        }
    }

    pub(crate) fn intern(&self, what: String) -> Error {
        Error::new(oxmpi_base::consts::MPI_ERR_INTERN, what)
    }
}
