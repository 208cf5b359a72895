//! What the members of a group tell each other round by round: slots of one cache line, each written by one member and read by all.
//!
//! A member has several slots and uses them in turn: round `r` goes to slot `r % depth`. It may publish round `r` when every reader is
//! done with round `r - depth`. A reader tells so by its [`Mark`], or by publishing a later round itself. Rounds count from 1 and never
//! wrap. What a slot says comes from another process: readers check it before they use it.
//! This module is one of the crate's homes of `unsafe`; loom checks the protocol (`tests/loom.rs`).
use crate::sync::{AtomicU64, Ordering};
#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// Bytes that travel in the line of the flag.
pub const INLINE: usize = 48;

/// One line: the round that was published last, a word about it, and bytes.
#[repr(C, align(64))]
pub struct Slot {
    round: AtomicU64,
    info: AtomicU64,
    data: UnsafeCell<[u8; INLINE]>,
}

// SAFETY: the bytes are written by the owner only before it publishes a round and read only after the round was seen; the protocol
// above keeps the two apart.
unsafe impl Sync for Slot {}
// SAFETY: plain memory.
unsafe impl Send for Slot {}

impl Slot {
    #[cfg(loom)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Slot {
        Slot { round: AtomicU64::new(0), info: AtomicU64::new(0), data: UnsafeCell::new([0; INLINE]) }
    }
    /// For the owner: `fill` writes up to [`INLINE`] bytes, then everything that was written before is visible to who sees `round`.
    #[inline]
    pub fn publish(&self, round: u64, info: u64, fill: impl FnOnce(*mut u8)) {
        #[cfg(not(loom))]
        fill(self.data.get().cast());
        #[cfg(loom)]
        self.data.with_mut(|p| fill(p.cast()));
        self.info.store(info, Ordering::Relaxed);
        self.round.store(round, Ordering::Release);
    }
    /// Fetches the line: for a reader who will want it soon and whose owner is ahead.
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        // SAFETY: a hint; it reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(self).cast())
        }
    }
    /// The round that was published last.
    #[inline]
    pub fn round(&self) -> u64 {
        self.round.load(Ordering::Acquire)
    }
    #[inline]
    pub fn info(&self) -> u64 {
        self.info.load(Ordering::Relaxed)
    }
    /// The bytes of a round that has been seen, until this reader says it is done with it.
    #[inline]
    pub fn read<R>(&self, f: impl FnOnce(*const u8) -> R) -> R {
        #[cfg(not(loom))]
        return f(self.data.get().cast());
        #[cfg(loom)]
        self.data.with(|p| f(p.cast()))
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Slot>() == 64);

/// The last round that its owner is done with.
#[repr(C, align(64))]
pub struct Mark(AtomicU64);

impl Mark {
    #[cfg(loom)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Mark {
        Mark(AtomicU64::new(0))
    }
    #[inline]
    pub fn set(&self, round: u64) {
        self.0.store(round, Ordering::Release);
    }
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
