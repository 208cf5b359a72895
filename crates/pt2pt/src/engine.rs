//! The engine's state, its lock, and how a thread waits.
use crate::large::{Copy, Late, MIDDLE, Timed};
use crate::matching::{Held, Posted};
use crate::ranks::{Enrolled, Ranks};
use crate::request::{Outcome, Phase, ReqId, Requests};
use crate::span::Span;
use oxmpi_base::{Error, Result};
use oxmpi_ring::doorbell::Fence;
use oxmpi_ring::wait::{Cores, Evidence, Step, Waiter};
use oxmpi_transport::wire::{Context, Kind, Rts};
use oxmpi_transport_shm::choice::{Choice, Way};
use oxmpi_transport_shm::link::{Incoming, Outgoing};
use oxmpi_transport_shm::node::{Node, Sleeper};
use oxmpi_transport_shm::single::Run;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

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
}

/// All we keep for one peer process.
#[derive(Default)]
pub(crate) struct Peer {
    pub out: Option<Outgoing>,
    pub waiting: VecDeque<Waiting>,
    /// Send requests whose chunks are being pushed.
    pub pushing: VecDeque<u32>,
    pub inbound: Vec<Inbound>,
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

pub struct State {
    pub(crate) me: u32,
    pub(crate) node: Option<Node>,
    pub(crate) peers: Vec<Peer>,
    /// Incoming rings, with their peers, in order of arrival.
    pub(crate) incoming: Vec<(u32, Incoming)>,
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
    /// The way that the next announced message of a middle size class tries.
    pub(crate) next_way: [Option<Way>; MIDDLE],
    /// Announced messages that are sent after all if the receiver does not come.
    pub(crate) late: Vec<Late>,
    /// Room for lists of runs.
    pub(crate) runs: Vec<Run>,
    /// Rings ever accepted; those that were closed after an error are no longer in `incoming`.
    pub(crate) accepted: usize,
    /// Completions and arrivals, for waking other threads.
    pub(crate) events: u64,
}

/// A vector with holes.
pub(crate) struct Slots<T> {
    all: Vec<Option<T>>,
    free: Vec<u32>,
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

/// The one progress engine of a process.
pub struct Engine {
    /// MPI_THREAD_MULTIPLE: calls may come from several threads at once.
    threads: AtomicBool,
    lock: Mutex<()>,
    state: UnsafeCell<State>,
    sleeper: Option<Sleeper>,
    cores: Cores,
    fence: Fence,
    evidence: Evidence,
}

// SAFETY: `state` is only reached through `enter`, which holds the lock when several threads may call; with one thread at a time
// (levels below MULTIPLE) the program itself serialises, as MPI-5.0 11.6.2 obliges it to.
unsafe impl Sync for Engine {}
// SAFETY: nothing in the state is bound to a thread.
unsafe impl Send for Engine {}

impl Engine {
    /// `me` of `size` processes; `node` is None for a singleton.
    pub fn new(me: usize, size: usize, node: Option<Node>, threads: bool) -> Engine {
        let sleeper = node.as_ref().map(Node::sleeper);
        let cores = node.as_ref().map_or(Cores::Dedicated, |n| n.cores);
        let fence = node.as_ref().map_or(Fence::Both, Node::fence);
        let order = node.as_ref().map_or(Vec::new(), |n| n.allowed().to_vec());
        let state = State {
            me: me as u32,
            node,
            peers: (0..size).map(|_| Peer::default()).collect(),
            incoming: Vec::new(),
            backlog: Vec::new(),
            requests: Requests::default(),
            enrolled: Enrolled::default(),
            posted: Posted::default(),
            held: Held::default(),
            early: Slots { all: Vec::new(), free: Vec::new() },
            copies: Vec::new(),
            choice: Choice::new(order),
            next_way: [None; MIDDLE],
            late: Vec::new(),
            runs: Vec::new(),
            accepted: 0,
            events: 0,
        };
        Engine {
            threads: AtomicBool::new(threads),
            lock: Mutex::new(()),
            state: UnsafeCell::new(state),
            sleeper,
            cores,
            fence,
            evidence: Evidence::default(),
        }
    }

    pub fn shares_cores(&self) -> bool {
        self.cores == Cores::Shared
    }

    /// Runs `f` on the state, alone. `f` must not call back into the engine. What `f` finishes wakes threads that wait for it.
    #[inline]
    pub fn enter<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        if !self.threads.load(Ordering::Relaxed) {
            // SAFETY: see `Sync`: one thread at a time.
            return f(unsafe { &mut *self.state.get() });
        }
        self.enter_locked(|s| {
            let before = s.events;
            let r = f(s);
            if s.events != before {
                s.wake_threads();
            }
            r
        })
    }

    fn enter_locked<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        let _guard: MutexGuard<'_, ()> = self.lock.lock().unwrap_or_else(|e| e.into_inner());
        // SAFETY: the lock is held.
        f(unsafe { &mut *self.state.get() })
    }

    /// Makes progress until `check` gives something. The thread spins, yields and sleeps by the wait policy.
    #[inline]
    pub fn wait<R>(&self, mut check: impl FnMut(&mut State) -> Option<R>) -> Result<R> {
        let mut waiter = Waiter::new(self.evidence.cores(self.cores));
        loop {
            let (moved, found) = self.turn(&mut check)?;
            if let Some(r) = found {
                return Ok(r);
            }
            if moved {
                waiter = Waiter::new(self.evidence.cores(self.cores));
                continue;
            }
            match waiter.step(&self.evidence) {
                Step::Poll => std::hint::spin_loop(),
                Step::Yield => oxmpi_sys::yield_now(),
                Step::Sleep => {
                    if let Some(r) = self.sleep(&mut check)? {
                        return Ok(r);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn turn<R>(&self, check: &mut impl FnMut(&mut State) -> Option<R>) -> Result<(bool, Option<R>)> {
        if !self.threads.load(Ordering::Relaxed) {
            return self.enter(|s| Ok((s.progress()?, check(s))));
        }
        self.enter_locked(|s| {
            // What is found now has been an event of an earlier turn.
            if let Some(r) = check(s) {
                return Ok((false, Some(r)));
            }
            let before = s.events;
            let moved = s.progress()?;
            let found = check(s);
            // More happened than this thread takes: it may be what another one sleeps for.
            if s.events - before > found.is_some() as u64 {
                s.wake_threads();
            }
            Ok((moved, found))
        })
    }

    /// How a thread should wait now.
    #[inline]
    pub(crate) fn cores_now(&self) -> Cores {
        self.evidence.cores(self.cores)
    }
    pub(crate) fn evidence(&self) -> &Evidence {
        &self.evidence
    }
    /// Between publishing something and looking whether anybody sleeps.
    #[inline]
    pub(crate) fn order(&self) {
        match self.fence {
            Fence::Sleeper => std::sync::atomic::compiler_fence(Ordering::SeqCst),
            Fence::Both => std::sync::atomic::fence(Ordering::SeqCst),
        }
    }
    /// One round of progress; whether anything moved.
    #[inline]
    pub(crate) fn poll_once(&self) -> Result<bool> {
        self.turn(&mut |_| None::<()>).map(|(moved, _)| moved)
    }

    #[cold]
    pub(crate) fn sleep<R>(&self, check: &mut impl FnMut(&mut State) -> Option<R>) -> Result<Option<R>> {
        let Some(sleeper) = &self.sleeper else {
            // Alone in the world: only another thread of this process can help.
            std::thread::sleep(std::time::Duration::from_micros(200));
            return Ok(None);
        };
        self.enter(State::hurry);
        let mut result = Ok(None);
        sleeper.sleep(|| match self.turn(check) {
            Ok((moved, found)) => {
                let awake = moved || found.is_some();
                result = Ok(found);
                awake
            }
            Err(e) => {
                result = Err(e);
                true
            }
        });
        result
    }

    /// One round of progress, for tests and probes.
    pub fn poll(&self) -> Result<()> {
        self.turn(&mut |_| None::<()>).map(|_| ())
    }

    /// Waits for a request and frees it.
    #[inline]
    pub fn wait_request(&self, id: ReqId) -> Result<Outcome> {
        self.wait(|s| s.finish(id)).inspect_err(|_| self.enter(|s| s.abandon(id)))
    }
}

impl State {
    pub fn me(&self) -> u32 {
        self.me
    }
    pub fn size(&self) -> usize {
        self.peers.len()
    }
    pub fn route(&self, proc: u32) -> Route {
        if proc == self.me { Route::Loopback } else { Route::Shm(proc) }
    }

    /// The shared memory that this process gives out; None for a singleton.
    pub fn heap(&self) -> Option<Arc<oxmpi_transport_shm::heap::Heap>> {
        self.node.as_ref().map(|n| n.heap().clone())
    }

    fn wake_threads(&self) {
        if let Some(n) = &self.node {
            n.ring(self.me as usize);
        }
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
    /// As `finish`; `f` gets the outcome and the communicator that `tag_user` left.
    #[inline]
    pub fn finish_with<R>(&mut self, id: ReqId, f: impl FnOnce(&Outcome, Option<&Ranks>) -> R) -> Option<R> {
        let r = self.peek_with(id, f)?;
        self.free(id.index());
        Some(r)
    }
    /// As `peek`, likewise.
    #[inline]
    pub fn peek_with<R>(&mut self, id: ReqId, f: impl FnOnce(&Outcome, Option<&Ranks>) -> R) -> Option<R> {
        let out = self.peek(id)?;
        let user = self.requests.at(id.index()).user;
        Some(f(&out, user.and_then(|i| self.enrolled.get(i))))
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
    /// The name of the request at `index` if the low bits of its generation are these.
    #[inline]
    pub fn request_at(&mut self, index: u32, generation: u32, mask: u32) -> Option<ReqId> {
        self.requests.named(index, generation, mask)
    }
    /// Nobody will ask for this request (MPI_Request_free): it is freed when it is done.
    pub fn detach(&mut self, id: ReqId) {
        if self.finish(id).is_none()
            && let Some(r) = self.requests.get(id)
        {
            r.detached = true;
        }
    }
    /// The caller gives up, and its buffer may go: a receive drops what comes, a send goes on from a copy.
    #[cold]
    fn abandon(&mut self, id: ReqId) {
        self.cancel(id);
        if let Some(r) = self.requests.get(id)
            && r.phase == Phase::Active
        {
            let copy = if r.peer.is_some() { r.span.to_owned() } else { None };
            r.span = copy.map_or(Span::empty(), Span::Owned);
        }
        self.detach(id);
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
    /// Whether everything given to the transport has left this process.
    pub fn drained(&self) -> bool {
        self.backlog.is_empty()
    }

    pub(crate) fn any_lost(&self) -> bool {
        self.incoming.len() < self.accepted
    }

    pub(crate) fn intern(&self, what: String) -> Error {
        Error::new(oxmpi_base::consts::MPI_ERR_INTERN, what)
    }
}
