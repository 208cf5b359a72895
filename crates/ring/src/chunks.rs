//! A fixed set of chunks between one producer and one consumer, used in turn.
//!
//! The producer fills chunk `sent % n` and announces it through a ring message, whose Release publishes the bytes; the
//! consumer copies them out and then counts the chunk as done. Invariant: `done <= sent <= done + n`.
use crate::sync::*;

/// The producer's side.
pub struct Sender {
    done: *const AtomicU64,
    n: u64,
    sent: u64,
    seen_done: u64,
}

// SAFETY: `done` is an atomic in shared memory.
unsafe impl Send for Sender {}

impl Sender {
    /// # Safety
    /// `done` is zero at creation and valid while this lives; one sender and one receiver use it.
    pub unsafe fn new(done: *const AtomicU64, n: u64) -> Sender {
        Sender { done, n, sent: 0, seen_done: 0 }
    }
    /// Index of a free chunk, which is then ours until [`Sender::commit`].
    #[inline]
    pub fn free(&mut self) -> Option<usize> {
        if self.sent - self.seen_done == self.n {
            // SAFETY: `new`'s contract.
            let done = unsafe { &*self.done }.load(Ordering::Acquire);
            if done > self.seen_done && done <= self.sent {
                self.seen_done = done;
            }
        }
        (self.sent - self.seen_done < self.n).then_some((self.sent % self.n) as usize)
    }
    /// The chunk from `free` has been announced.
    #[inline]
    pub fn commit(&mut self) {
        self.sent += 1;
    }
}

/// The consumer's side.
pub struct Receiver {
    done: *const AtomicU64,
    n: u64,
    taken: u64,
}

// SAFETY: as for `Sender`.
unsafe impl Send for Receiver {}

impl Receiver {
    /// # Safety
    /// as [`Sender::new`].
    pub unsafe fn new(done: *const AtomicU64, n: u64) -> Receiver {
        Receiver { done, n, taken: 0 }
    }
    /// Index of the chunk that the next announcement speaks of.
    #[inline]
    pub fn next(&self) -> usize {
        (self.taken % self.n) as usize
    }
    /// Its bytes have been copied out.
    #[inline]
    pub fn release(&mut self) {
        self.taken += 1;
        // SAFETY: `new`'s contract.
        unsafe { &*self.done }.store(self.taken, Ordering::Release);
    }
}
