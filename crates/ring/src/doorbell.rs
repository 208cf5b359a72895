//! How a process sleeps until a peer has something for it, without a fence on the peer's fast path.
//!
//! The sleeper reads `word`, counts itself in `sleepers`, issues a barrier that reaches every peer (membarrier), polls once
//! more, and only then sleeps on `word`. A peer publishes its data and then looks at `sleepers`: with the barrier in
//! between, either the peer sees the sleeper or the sleeper's last poll sees the data. Where membarrier does not exist
//! both sides use a full fence ([`Fence::Both`]).
//!
//! Invariants: `word` only grows, and grows before each wake, so that a wake that comes between the last poll and the futex call is
//! seen by the kernel. All sleepers of an owner are woken: several threads may sleep for different things. Room in a ring is
//! rung for like data: the producer marks itself starved before it sleeps, the consumer looks at the mark after it made room.
use crate::sync::*;

/// Lives in shared memory, zero at creation.
#[repr(C, align(64))]
pub struct Doorbell {
    word: AtomicU32,
    sleepers: AtomicU32,
}

/// Who pays for the store-load order between data and `sleepers`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fence {
    /// The sleeper, by membarrier: peers only need a compiler fence.
    Sleeper,
    /// Both, by a full fence each.
    Both,
}

impl Doorbell {
    #[cfg(loom)]
    pub fn new() -> Doorbell {
        Doorbell { word: AtomicU32::new(0), sleepers: AtomicU32::new(0) }
    }

    /// To be called after data for the owner has been published.
    #[inline]
    pub fn ring(&self, fence_by: Fence) {
        self.order(fence_by);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.wake();
        }
    }

    #[inline]
    fn order(&self, fence_by: Fence) {
        #[cfg(not(loom))]
        match fence_by {
            Fence::Sleeper => compiler_fence(Ordering::SeqCst),
            Fence::Both => fence(Ordering::SeqCst),
        }
        #[cfg(loom)]
        {
            // loom has no membarrier; a fence on both sides is the weaker-to-prove equivalent.
            let _ = fence_by;
            fence(Ordering::SeqCst);
        }
    }

    /// Wakes the owner unconditionally.
    #[cold]
    pub fn wake(&self) {
        self.word.fetch_add(1, Ordering::Release);
        #[cfg(not(loom))]
        oxmpi_sys::futex::wake_all(&self.word);
    }

    /// Sleeps unless `ready` says, after the barrier, that there is something to do. `limit` bounds the sleep. `barrier`
    /// is the sleeper's half of the fence; false from it (no barrier to be had) turns the sleep into a short nap. The result says
    /// whether the sleep ended by its limit: with the protocol kept, nothing was published before then.
    #[cfg(not(loom))]
    pub fn sleep(
        &self,
        barrier: impl FnOnce() -> bool,
        ready: impl FnOnce() -> bool,
        limit: std::time::Duration,
    ) -> bool {
        let seen = self.word.load(Ordering::Acquire);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let limit = if barrier() { limit } else { std::time::Duration::from_millis(1) };
        let overslept = !ready() && !oxmpi_sys::futex::wait(&self.word, seen, Some(limit));
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        overslept
    }

    /// The loom form: the futex is a loop on the word.
    #[cfg(loom)]
    pub fn sleep(&self, ready: impl FnOnce() -> bool) {
        let seen = self.word.load(Ordering::Acquire);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if !ready() {
            while self.word.load(Ordering::Acquire) == seen {
                loom::thread::yield_now();
            }
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }
}
