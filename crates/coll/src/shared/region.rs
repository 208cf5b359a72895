//! The shared memory of a communicator: layout, setting up, taking down.
//!
//! ```text
//! asleep, broken | mark of each rank | slots of rank 0, 1, ... | buffers of rank 0, 1, ... (page-aligned)
//! ```
//! Where a rank leaves a call before its last round, it no longer counts as the others do: the region is broken, every rank that waits or
//! calls later gets an error, and nobody waits for ever.
//!
//! Touched pages are what counts: slots are few where ranks are many, and buffers exist up to [`MOST_WITH_BUFFERS`] ranks.
//! One of this crate's homes of `unsafe`.
use crate::allreduce;
use crate::bcast;
use crate::buffer::{Data, byte, bytes};
use crate::exchange::Exchange;
use crate::link::{Endpoint, Memory};
use crate::reduction::{Reduction, Vectors};
use crate::select::{Bcast, Reduce};
use crate::tags;
use oxmpi_base::{Result, args::Buf};
use oxmpi_ring::slots::{Mark, Slot};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};

const LINE: usize = 64;
const PAGE: usize = 4096;
/// Buffers of a rank, used in turn: one is filled while others are read.
pub const BUFFERS: u64 = 2;
/// With more ranks only what fits a slot goes through shared memory.
const MOST_WITH_BUFFERS: usize = 64;
/// Where every rank has a core, so many ranks are better off with a tree of messages than with looking at each other's slots.
const MOST_DEDICATED: usize = 32;
const MOST: usize = 256;

/// Whether a communicator is to have shared memory; the same at all ranks.
pub fn wanted(ep: &Endpoint) -> bool {
    let n = ep.size();
    n >= 2 && n <= if ep.shares_cores() { MOST } else { MOST_DEDICATED }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Layout {
    /// Slots of a rank.
    depth: usize,
    /// Bytes of a buffer.
    room: usize,
    slots: usize,
    buffers: usize,
    total: usize,
}

fn layout(n: usize) -> Layout {
    let depth = (1024 / n).clamp(4, 64);
    let room = if n <= MOST_WITH_BUFFERS { (512 * 1024 / n).clamp(8 * 1024, 32 * 1024) / PAGE * PAGE } else { 0 };
    let slots = LINE * (1 + n);
    let buffers = (slots + n * depth * LINE).next_multiple_of(PAGE);
    Layout { depth, room, slots, buffers, total: buffers + n * BUFFERS as usize * room }
}

pub struct Region {
    memory: Option<Memory>,
    base: *mut u8,
    layout: Layout,
    n: usize,
    me: usize,
    /// The round begun last.
    round: AtomicU64,
    /// Bytes that this rank has put into its buffers.
    buffered: AtomicU64,
    /// All ranks are known to be done with the rounds up to this.
    known: AtomicU64,
    /// Every rank can read the memory of every other.
    pub direct: bool,
}

// SAFETY: what `base` points to is used through atomics and by the protocol of the slots.
unsafe impl Send for Region {}
// SAFETY: as above; the program makes one call on a communicator at a time (MPI-5.0 6.14).
unsafe impl Sync for Region {}

impl Region {
    fn new(memory: Memory, layout: Layout, n: usize, me: usize, direct: bool) -> Region {
        let base = memory.base();
        assert!(memory.len() >= layout.total && base.addr().is_multiple_of(LINE));
        let (round, buffered, known) = Default::default();
        Region { memory: Some(memory), base, layout, n, me, round, buffered, known, direct }
    }
    pub fn asleep(&self) -> &AtomicU32 {
        // SAFETY: the first line of the mapped memory; zero is valid.
        unsafe { &*(self.base as *const AtomicU32) }
    }
    #[inline]
    pub fn mark(&self, rank: usize) -> &Mark {
        assert!(rank < self.n);
        // SAFETY: inside the memory by the layout; an atomic word, zero is valid.
        unsafe { &*(self.base.add(LINE) as *const Mark).add(rank) }
    }
    /// Some rank is out of step.
    fn flag(&self) -> &AtomicU32 {
        // SAFETY: in the first line of the mapped memory, behind `asleep`; zero is valid.
        unsafe { &*(self.base as *const AtomicU32).add(1) }
    }
    /// Ends the use of the region, at this rank now and at the others when they look.
    #[cold]
    pub fn break_down(&self) {
        self.round.store(self.rounds().next_multiple_of(LOOK_ROUND) | BROKEN, Relaxed);
        self.mark(self.me).set(BROKEN);
        self.flag().store(1, SeqCst);
    }
    pub fn is_broken(&self) -> bool {
        self.flag().load(Relaxed) != 0
    }
    #[inline]
    pub fn slot(&self, rank: usize, round: u64) -> &Slot {
        assert!(rank < self.n);
        let at = rank * self.layout.depth + round as usize % self.layout.depth;
        // SAFETY: inside the memory by the layout; zero is valid.
        unsafe { &*(self.base.add(self.layout.slots) as *const Slot).add(at) }
    }
    /// The buffer of `rank` that goes with `round`: [`Region::room`] bytes.
    #[inline]
    pub fn buffer(&self, rank: usize, round: u64) -> *mut u8 {
        assert!(rank < self.n);
        let at = rank * BUFFERS as usize + (round % BUFFERS) as usize;
        self.base.wrapping_add(self.layout.buffers + at * self.layout.room)
    }
    /// Bytes of a buffer; 0 where there are none.
    #[inline]
    pub fn room(&self) -> usize {
        self.layout.room
    }
    #[inline]
    pub fn depth(&self) -> u64 {
        self.layout.depth as u64
    }
    /// The number of a new round.
    #[inline]
    pub fn begin(&self) -> u64 {
        let r = self.round.load(Relaxed) + 1;
        self.round.store(r, Relaxed);
        r
    }
    pub fn current(&self) -> u64 {
        self.round.load(Relaxed)
    }
    /// Rounds so far.
    pub fn rounds(&self) -> u64 {
        self.current() & !BROKEN
    }
    pub fn buffered(&self) -> u64 {
        self.buffered.load(Relaxed)
    }
    /// One call on a communicator at a time, so no locked instruction.
    #[inline]
    pub fn count_buffered(&self, n: usize) {
        self.buffered.store(self.buffered.load(Relaxed).wrapping_add(n as u64), Relaxed);
    }
    #[inline]
    pub fn known(&self) -> u64 {
        self.known.load(Relaxed)
    }
    #[inline]
    pub fn learn(&self, round: u64) {
        if round > self.known.load(Relaxed) {
            self.known.store(round, Relaxed);
        }
    }
    /// Whether no other rank looks here any more. (One that is done with the last round may still wait for others' marks.)
    fn over(&self) -> bool {
        (0..self.n).all(|r| r == self.me || self.mark(r).get() == GONE)
    }
}

/// In the round of a rank that is out of step, which counts no further.
const BROKEN: u64 = 1 << 63;
/// Rounds between two looks at everything else; the round of a broken region is one in which to look.
pub const LOOK_ROUND: u64 = 32;

/// The mark of a rank that has let go of the region; also done with every round.
const GONE: u64 = u64::MAX;

/// Memory of freed communicators that a slower rank may still use: it must not serve another one yet.
static FADING: Mutex<Vec<Region>> = Mutex::new(Vec::new());

fn fading() -> std::sync::MutexGuard<'static, Vec<Region>> {
    FADING.lock().unwrap_or_else(|e| e.into_inner())
}

impl Drop for Region {
    fn drop(&mut self) {
        if self.memory.as_ref().is_some_and(|m| !m.is_owner()) {
            self.mark(self.me).set(GONE);
        }
        if self.memory.as_ref().is_some_and(Memory::is_owner) && !self.over() {
            let (memory, base, layout) = (self.memory.take(), self.base, self.layout);
            let round = AtomicU64::new(self.round.load(Relaxed));
            let (buffered, known) = Default::default();
            let gone = Region { memory, base, layout, n: self.n, me: self.me, round, buffered, known, direct: false };
            fading().push(gone);
        }
    }
}

/// Rank 0 allocates, the others map, and all agree on whether all could. None: this communicator stays with messages.
pub fn establish(ep: &Endpoint) -> Result<Option<Region>> {
    let (me, n) = (ep.rank(), ep.size());
    let x = Exchange::new(ep, tags::SHARED);
    let l = layout(n);
    let mut memory = None;
    let mut place = [0u64; 3];
    if me == 0 {
        // What is over by now is freed, outside of the lock.
        let over: Vec<Region> = fading().extract_if(.., |r| r.over()).collect();
        drop(over);
        match ep.allocate(l.total) {
            Ok(m) => {
                let p = m.place();
                place = [1, p[0], p[1]];
                memory = Some(m);
            }
            Err(why) => refuse(n, me, &why),
        }
    }
    let words = Buf(place.as_mut_ptr().cast());
    bcast::with(&x, Bcast::Binomial, bytes(words, size_of_val(&place)), 0)?;
    if me != 0 && place[0] == 1 {
        match ep.map([place[1], place[2]], l.total) {
            Ok(m) => memory = Some(m),
            Err(why) => refuse(n, me, &why),
        }
    }
    let direct = memory.is_some() && n <= MOST_WITH_BUFFERS && (0..n).all(|r| ep.reads_directly(r));
    let mut all = [memory.is_some() as u8, direct as u8];
    // SAFETY: the collective passes two valid bytes on each side.
    let least = |a: *const u8, b: *mut u8, n: usize| unsafe {
        (0..n).for_each(|i| *b.add(i) = (*b.add(i)).min(*a.add(i)));
        Ok(())
    };
    let op = Reduction { commutative: true, apply: &least, apply3: None };
    let flags = Data::new(Buf(all.as_mut_ptr().cast()), all.len(), byte());
    let v = Vectors { input: flags, out: Some(flags), in_place: true };
    allreduce::with(&x, Reduce::Binomial, v, &op)?;
    x.finish()?;
    Ok(memory.filter(|_| all[0] == 1).map(|m| Region::new(m, l, n, me, all[1] == 1)))
}

#[cold]
fn refuse(n: usize, me: usize, why: &str) {
    eprintln!(
        "oxmpi: rank {me} of a communicator of {n}: its collectives use messages instead of shared memory: {why}"
    );
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn layouts_are_small_and_aligned() {
        for n in 2..=MOST {
            let l = layout(n);
            assert!(l.buffers.is_multiple_of(PAGE) && l.slots + n * l.depth * LINE <= l.buffers);
            assert!(l.buffers <= 256 * 1024, "{n} ranks touch {} bytes for short messages", l.buffers);
            assert!(l.total - l.buffers <= 2 << 20);
        }
    }
}
