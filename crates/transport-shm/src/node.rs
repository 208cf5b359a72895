//! This rank among the ranks of its node: connecting on first use, ringing, sleeping, single copy.
use crate::attach::{Exposure, Xpmem};
use crate::choice::{Distance, Mechanism};
use crate::heap::{Block, Heap, Place};
use crate::layout::PAGE;
use crate::link::{Incoming, Outgoing};
use crate::segment::Segment;
use crate::single::{Exposed, Piece, Run, Single, allowed, publish};
use oxmpi_base::consts::MPI_ERR_NO_MEM;
use oxmpi_base::{Error, Result};
use oxmpi_ring::doorbell::Fence;
use oxmpi_ring::sync::LINE;
use oxmpi_ring::wait::{Cores, Evidence, Seats};
use oxmpi_sys::memory::Mapping;
use oxmpi_transport::wire::LANES;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Longest sleep without looking around.
const NAP: Duration = Duration::from_millis(500);

/// Transfers that two sides can share at a time in one lane: each has a page of counters.
const TICKETS: usize = PAGE / LINE;

/// Names a counter (low bits) and one use of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub u32);

impl Ticket {
    const MASK: u32 = 0x7fff_ffff;
}

fn tickets_of(lane: usize) -> Vec<Ticket> {
    (0..TICKETS as u32).rev().map(|t| Ticket(lane as u32 * TICKETS as u32 + t)).collect()
}

pub struct Node {
    segment: Arc<Segment>,
    pub me: usize,
    /// The lane whose rings are connected and accepted here.
    lane: usize,
    pub cores: Cores,
    fence: Fence,
    seen_arrivals: u32,
    single: Single,
    /// First block of our area, for all lanes: peers find it there.
    tickets: Option<Arc<Block>>,
    free_tickets: Vec<Ticket>,
    peer_tickets: Vec<Option<Mapping>>,
    place: u64,
    heap: Arc<Heap>,
    /// Bits of size classes; see `prefer`.
    announced: u32,
}

impl Node {
    /// Takes rank `me`'s place in the segment; this is its lane 0.
    pub fn join(segment: Segment, me: usize) -> Node {
        let n = segment.layout.n;
        let membarrier = oxmpi_sys::membarrier::register().is_ok();
        let xpmem = Xpmem::open().map(Arc::new);
        publish(&segment.control(me).identity, xpmem.as_ref().map_or(0, |x| x.segid()));
        // A process that could not register is not reached by the sleepers' barriers: it fences for itself.
        let fence = if segment.asymmetric_fence && membarrier { Fence::Sleeper } else { Fence::Both };
        let cores = if segment.shared_cores { Cores::Shared } else { Cores::Dedicated };
        let heap = Arc::new(segment.heap(me));
        let tickets = heap.allocate_hidden(LANES * PAGE).ok().map(Arc::new);
        debug_assert!(tickets.as_ref().is_none_or(|t| t.place().offset == 0));
        let single = Single::new(heap.clone(), xpmem, n, allowed().unwrap_or_default());
        Node {
            me,
            lane: 0,
            cores,
            fence,
            seen_arrivals: 0,
            single,
            tickets,
            free_tickets: tickets_of(0),
            peer_tickets: (0..n).map(|_| None).collect(),
            place: 0,
            announced: 0,
            heap,
            segment: Arc::new(segment),
        }
    }

    /// The same rank in another lane: what it finds out is its own, so that lanes share nothing that changes.
    pub fn in_lane(&self, lane: usize) -> Node {
        let n = self.size();
        Node {
            lane,
            seen_arrivals: 0,
            single: self.single.in_lane(),
            tickets: self.tickets.clone(),
            free_tickets: tickets_of(lane),
            peer_tickets: (0..n).map(|_| None).collect(),
            place: 0,
            announced: 0,
            heap: self.heap.clone(),
            segment: self.segment.clone(),
            ..*self
        }
    }

    /// Whether any peer has ever connected to us in this lane.
    #[inline]
    pub fn was_reached(&self, lane: usize) -> bool {
        self.arrivals(self.me, lane).load(Ordering::Acquire) != 0
    }

    fn arrivals(&self, rank: usize, lane: usize) -> &AtomicU32 {
        &self.segment.control(rank).arrivals.count[lane]
    }

    /// Shared memory that this rank gives out.
    pub fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    pub fn size(&self) -> usize {
        self.segment.layout.n
    }

    /// Opens the way to `peer` and tells it to poll us.
    pub fn connect(&self, peer: usize) -> Result<Outgoing> {
        let map = self.segment.map_pair(self.me, peer, self.lane).map_err(|e| no_map(peer, e))?;
        let word = &self.segment.bitmap(peer, self.lane)[self.me / 64];
        word.fetch_or(1 << (self.me % 64), Ordering::Release);
        self.arrivals(peer, self.lane).fetch_add(1, Ordering::Release);
        Ok(Outgoing::new(map))
    }

    /// Whether a peer has connected since the last `take_arrivals`.
    #[inline]
    pub fn arrivals_pending(&self) -> bool {
        self.arrivals(self.me, self.lane).load(Ordering::Acquire) != self.seen_arrivals
    }

    /// Calls `each` for every peer whose bit is set; the caller knows which of them are new.
    pub fn take_arrivals(&mut self, mut each: impl FnMut(usize)) {
        self.seen_arrivals = self.arrivals(self.me, self.lane).load(Ordering::Acquire);
        for (w, word) in self.segment.bitmap(self.me, self.lane).iter().enumerate() {
            let mut bits = word.load(Ordering::Acquire);
            while bits != 0 {
                let peer = w * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if peer < self.segment.layout.n {
                    each(peer);
                }
            }
        }
    }

    /// What was taken could not be accepted: it is pending again.
    pub fn look_again(&mut self) {
        self.seen_arrivals = self.seen_arrivals.wrapping_sub(1);
    }

    /// Maps what `peer` sends.
    pub fn accept(&self, peer: usize) -> Result<Incoming> {
        Ok(Incoming::new(self.segment.map_pair(peer, self.me, self.lane).map_err(|e| no_map(peer, e))?))
    }

    /// Wakes `peer` if it sleeps; to be called after something was published for it.
    #[inline]
    pub fn ring(&self, peer: usize) {
        self.segment.control(peer).bell.ring(self.fence);
    }

    /// Changes when ranks are aborted.
    #[inline]
    pub fn aborts(&self) -> u32 {
        self.segment.aborts().load(Ordering::Acquire)
    }
    /// Where [`Node::aborts`] looks.
    pub fn aborts_word(&self) -> &AtomicU32 {
        self.segment.aborts()
    }
    pub fn is_aborted(&self, rank: usize) -> bool {
        self.segment.control(rank).identity.aborted.load(Ordering::Acquire) != 0
    }

    /// After frames of `peer` have been consumed: wakes it if it waits for room.
    #[inline]
    pub fn feed(&self, peer: usize, ring: &Incoming) {
        match self.fence {
            Fence::Sleeper => std::sync::atomic::compiler_fence(Ordering::SeqCst),
            Fence::Both => std::sync::atomic::fence(Ordering::SeqCst),
        }
        if ring.producer_starved() {
            self.ring(peer);
        }
    }

    /// What this rank finds out about its cores, with the help of the others'.
    pub fn evidence(&self) -> Evidence {
        // SAFETY: the seats lie in the segment's front, which stays mapped for the life of the process.
        let seats: &'static Seats = unsafe { &*(self.segment.seats() as *const Seats) };
        Evidence::among(seats, self.me)
    }
    /// Who fences between publishing and looking for sleepers.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// What a thread needs to sleep outside the engine's lock.
    pub fn sleeper(&self) -> Sleeper {
        Sleeper { segment: self.segment.clone(), me: self.me }
    }

    pub fn allowed(&self) -> &[Mechanism] {
        self.single.allowed()
    }
    /// Single copy, for asking and copying.
    pub fn single(&mut self) -> &mut Single {
        &mut self.single
    }
    /// The mechanisms (a bit each) by which `there` in `peer`'s memory is reached.
    #[inline]
    pub fn open(&mut self, peer: usize, there: &Exposed) -> u8 {
        self.single.open(peer, &self.segment.control(peer).identity, there)
    }
    /// See [`Single::lend`].
    pub fn lend(&mut self, peer: usize, at: *mut u8, len: usize) -> Option<Exposure> {
        self.single.lend(peer, &self.segment.control(peer).identity, at, len)
    }
    /// Whether this mechanism reaches it.
    pub fn can(&mut self, m: Mechanism, peer: usize, there: &Exposed) -> bool {
        self.open(peer, there) >> m as u8 & 1 != 0
    }
    /// See [`Single::copy`].
    ///
    /// # Safety
    /// as there.
    #[must_use]
    pub unsafe fn copy(&mut self, peer: usize, piece: &Piece, local: &mut [Run]) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.single.copy(peer, &self.segment.control(peer).identity, piece, local) }
    }

    /// The counter behind a ticket of rank `of`; None where it cannot be mapped.
    fn ticket(&mut self, of: usize, t: Ticket) -> Option<&AtomicU64> {
        let slot = t.0 as usize % (LANES * TICKETS);
        let base = if of == self.me {
            self.tickets.as_ref()?.base()
        } else {
            let known = &mut self.peer_tickets[of];
            if known.is_none() {
                *known = self.heap.map(Place { rank: of as u32, offset: 0 }, LANES * PAGE).ok();
            }
            known.as_ref()?.base()
        };
        // SAFETY: the pages hold LANES * TICKETS lines, are mapped for the life of this node, and only used as atomics.
        Some(unsafe { base.cast::<AtomicU64>().byte_add(slot * LINE).as_ref() })
    }
    /// A counter of ours for one transfer, at zero.
    pub fn take_ticket(&mut self) -> Option<Ticket> {
        let last = self.free_tickets.pop()?;
        let t = Ticket(last.0.wrapping_add((LANES * TICKETS) as u32) & Ticket::MASK);
        self.ticket(self.me, t)?.store((t.0 as u64) << 32, Ordering::Release);
        Some(t)
    }
    /// The transfer is over for this side. A peer that has not heard of it yet finds another generation in the counter.
    pub fn give_ticket(&mut self, t: Ticket) {
        self.free_tickets.push(t);
    }
    /// Whether claims are possible.
    pub fn has_ticket(&mut self, of: usize, t: Ticket) -> bool {
        self.ticket(of, t).is_some()
    }
    /// Takes one of `pieces` pieces, if one is left and the transfer is still that of the ticket.
    pub fn claim(&mut self, of: usize, t: Ticket, pieces: u64) -> bool {
        self.ticket(of, t).is_some_and(|c| {
            let step = |w: u64| (w >> 32 == t.0 as u64 && (w as u32 as u64) < pieces).then(|| w + 1);
            // A look first: the line need not be owned to see that nothing is left.
            step(c.load(Ordering::Acquire)).is_some()
                && c.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).is_ok()
        })
    }
    /// No more claims from now on, provided that at most `unless` were made; returns how many were.
    pub fn close_ticket(&mut self, of: usize, t: Ticket, unless: u32) -> Option<u32> {
        let step =
            |w: u64| (w >> 32 == t.0 as u64 && w as u32 <= unless).then_some((t.0 as u64) << 32 | u32::MAX as u64);
        self.ticket(of, t)?.fetch_update(Ordering::AcqRel, Ordering::Acquire, step).ok().map(|w| w as u32)
    }

    /// Tells the peers how messages of the middle size class `class` had better be sent to us.
    pub fn prefer(&mut self, class: usize, announced: bool) {
        if self.announced >> class & 1 != announced as u32 {
            self.announced ^= 1 << class;
            let bit = 1 << class_bit(class, self.lane);
            self.segment.control(self.me).identity.announced.fetch_xor(bit, Ordering::Relaxed);
        }
    }
    /// Whether `peer` would rather have a message of this class announced than sent at once.
    pub fn prefers_announced(&self, peer: usize, class: usize) -> bool {
        self.segment.control(peer).identity.announced.load(Ordering::Relaxed) >> class_bit(class, self.lane) & 1 != 0
    }

    /// How far `peer` is, as far as both have said where they run.
    pub fn distance(&mut self, peer: usize) -> Distance {
        if self.place == 0 {
            self.place = place_here();
            self.segment.control(self.me).identity.place.store(self.place, Ordering::Relaxed);
        }
        let theirs = self.segment.control(peer).identity.place.load(Ordering::Relaxed);
        let (same_cache, same_socket) = (theirs as u32 == self.place as u32, theirs >> 32 == self.place >> 32);
        match (theirs, self.place) {
            (0, _) => Distance::Cache,
            (UNBOUND, _) | (_, UNBOUND) => Distance::Node,
            _ if same_cache => Distance::Cache,
            _ if same_socket => Distance::Socket,
            _ => Distance::Node,
        }
    }
}

/// Where a lane's preference for a class stands in the word that all lanes share.
fn class_bit(class: usize, lane: usize) -> usize {
    lane * (u32::BITS as usize / LANES) + class
}

/// A place that spans several sockets.
const UNBOUND: u64 = u64::MAX;

/// Last-level cache (low half) and socket (high half) that all our processors share, each one more than the number of its first
/// processor.
fn place_here() -> u64 {
    let Ok(cpus) = oxmpi_sys::affinity::allowed_cpus() else { return UNBOUND };
    let root = std::path::Path::new("/");
    let first_of = |file: &str| oxmpi_sys::affinity::first_of_group(&cpus, file, root).map_or(0, |c| c as u64 + 1);
    let socket = first_of("topology/package_cpus_list");
    match (socket, first_of("cache/index3/shared_cpu_list")) {
        (0, _) => UNBOUND,
        // No such cache, or several of them: never equal to another rank's.
        (s, 0) => s << 32 | u32::MAX as u64,
        (s, c) => s << 32 | c,
    }
}

/// See [`Node::sleeper`].
pub struct Sleeper {
    segment: Arc<Segment>,
    me: usize,
}

impl Sleeper {
    /// Sleeps until rung, unless `ready`.
    pub fn sleep(&self, ready: impl FnOnce() -> bool) {
        let barrier = || {
            std::sync::atomic::fence(Ordering::SeqCst);
            !self.segment.asymmetric_fence || oxmpi_sys::membarrier::global().is_ok()
        };
        self.segment.control(self.me).bell.sleep(barrier, ready, NAP);
    }

    /// Wakes threads of this process that sleep, for something that was done under a lock which they take before they sleep: so
    /// the lock has ordered it, and no fence is needed.
    #[inline]
    pub fn wake(&self) {
        self.segment.control(self.me).bell.ring(Fence::Sleeper);
    }
}

fn no_map(peer: usize, e: std::io::Error) -> Error {
    Error::new(MPI_ERR_NO_MEM, format!("cannot map the shared memory of the pair with rank {peer}: {e}"))
}
