//! This rank among the ranks of its node: connecting on first use, ringing, sleeping, single copy.
use crate::choice::{Distance, Mechanism};
use crate::heap::{Block, Heap, Place};
use crate::layout::PAGE;
use crate::link::{Incoming, Outgoing};
use crate::segment::Segment;
use crate::single::{Exposed, Piece, Run, Single, publish};
use oxmpi_base::consts::MPI_ERR_NO_MEM;
use oxmpi_base::{Error, Result};
use oxmpi_ring::doorbell::Fence;
use oxmpi_ring::sync::LINE;
use oxmpi_ring::wait::Cores;
use oxmpi_sys::memory::Mapping;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Longest sleep without looking around.
const NAP: Duration = Duration::from_millis(500);

/// Transfers that two sides can share at a time.
const TICKETS: usize = PAGE / LINE;

/// Names a counter (low bits) and one use of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket(pub u32);

impl Ticket {
    const MASK: u32 = 0x7fff_ffff;
}

pub struct Node {
    segment: Segment,
    pub me: usize,
    pub cores: Cores,
    fence: Fence,
    seen_arrivals: u32,
    single: Single,
    /// First block of our area: peers find it there.
    tickets: Option<Block>,
    free_tickets: Vec<Ticket>,
    peer_tickets: Vec<Option<Mapping>>,
    place: u64,
    heap: Arc<Heap>,
    /// Bits of size classes; see `prefer`.
    announced: u32,
}

impl Node {
    /// Takes rank `me`'s place in the segment.
    pub fn join(segment: Segment, me: usize) -> Node {
        let n = segment.layout.n;
        let membarrier = oxmpi_sys::membarrier::register().is_ok();
        publish(&segment.control(me).identity);
        // A process that could not register is not reached by the sleepers' barriers: it fences for itself.
        let fence = if segment.asymmetric_fence && membarrier { Fence::Sleeper } else { Fence::Both };
        let cores = if segment.shared_cores { Cores::Shared } else { Cores::Dedicated };
        let heap = Arc::new(segment.heap(me));
        let tickets = heap.allocate_hidden(PAGE).ok();
        debug_assert!(tickets.as_ref().is_none_or(|t| t.place().offset == 0));
        let single = Single::new(heap.clone(), n, Mechanism::ALL.to_vec());
        Node {
            me,
            cores,
            fence,
            seen_arrivals: 0,
            single,
            tickets,
            free_tickets: (0..TICKETS as u32).rev().map(Ticket).collect(),
            peer_tickets: (0..n).map(|_| None).collect(),
            place: 0,
            announced: 0,
            heap,
            segment,
        }
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
        let map = self.segment.map_pair(self.me, peer).map_err(|e| no_map(peer, e))?;
        let word = &self.segment.bitmap(peer)[self.me / 64];
        word.fetch_or(1 << (self.me % 64), Ordering::Release);
        self.segment.control(peer).arrivals.count.fetch_add(1, Ordering::Release);
        Ok(Outgoing::new(map))
    }

    /// Whether a peer has connected since the last `take_arrivals`.
    #[inline]
    pub fn arrivals_pending(&self) -> bool {
        self.segment.control(self.me).arrivals.count.load(Ordering::Acquire) != self.seen_arrivals
    }

    /// Calls `each` for every peer whose bit is set; the caller knows which of them are new.
    pub fn take_arrivals(&mut self, mut each: impl FnMut(usize)) {
        self.seen_arrivals = self.segment.control(self.me).arrivals.count.load(Ordering::Acquire);
        for (w, word) in self.segment.bitmap(self.me).iter().enumerate() {
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
        Ok(Incoming::new(self.segment.map_pair(peer, self.me).map_err(|e| no_map(peer, e))?))
    }

    /// Wakes `peer` if it sleeps; to be called after something was published for it.
    #[inline]
    pub fn ring(&self, peer: usize) {
        self.segment.control(peer).bell.ring(self.fence);
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

    /// Who fences between publishing and looking for sleepers.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// What a thread needs to sleep outside the engine's lock.
    pub fn sleeper(&self) -> Sleeper {
        Sleeper { bell: &self.segment.control(self.me).bell, asymmetric: self.segment.asymmetric_fence }
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
        let slot = t.0 as usize & (TICKETS - 1);
        let base = if of == self.me {
            self.tickets.as_ref()?.base()
        } else {
            let known = &mut self.peer_tickets[of];
            if known.is_none() {
                *known = self.heap.map(Place { rank: of as u32, offset: 0 }, PAGE).ok();
            }
            known.as_ref()?.base()
        };
        // SAFETY: the page holds TICKETS lines, is mapped for the life of this node, and only used as atomics.
        Some(unsafe { base.cast::<AtomicU64>().byte_add(slot * LINE).as_ref() })
    }
    /// A counter of ours for one transfer, at zero.
    pub fn take_ticket(&mut self) -> Option<Ticket> {
        let last = self.free_tickets.pop()?;
        let t = Ticket(last.0.wrapping_add(TICKETS as u32) & Ticket::MASK);
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
            self.segment.control(self.me).identity.announced.store(self.announced, Ordering::Relaxed);
        }
    }
    /// Whether `peer` would rather have a message of this class announced than sent at once.
    pub fn prefers_announced(&self, peer: usize, class: usize) -> bool {
        self.segment.control(peer).identity.announced.load(Ordering::Relaxed) >> class & 1 != 0
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
    bell: *const oxmpi_ring::doorbell::Doorbell,
    asymmetric: bool,
}

impl Sleeper {
    /// Sleeps until rung, unless `ready`.
    pub fn sleep(&self, ready: impl FnOnce() -> bool) {
        let barrier = || {
            std::sync::atomic::fence(Ordering::SeqCst);
            !self.asymmetric || oxmpi_sys::membarrier::global().is_ok()
        };
        // SAFETY: the bell lies in the segment's front, which stays mapped for the life of the process.
        unsafe { &*self.bell }.sleep(barrier, ready, NAP);
    }
}

fn no_map(peer: usize, e: std::io::Error) -> Error {
    Error::new(MPI_ERR_NO_MEM, format!("cannot map the shared memory of the pair with rank {peer}: {e}"))
}
