//! The bytes of messages that are longer than a line, between one producer and one consumer: an area used round and round, in pieces
//! that begin at cache lines and are contiguous.
//!
//! The producer fills a piece and announces its length through a ring message, whose Release publishes the bytes. Where the piece lies
//! is not said: both sides compute it from the lengths so far (a piece that would cross the end starts at 0 instead), so there is no position
//! of a peer's to trust. The consumer only reads there; it counts in `done` what it has read, skipped ends included, and
//! publishes that when its owner likes.
//!
//! Invariant: `done <= sent <= done + size`. A piece has at most half of `size` bytes, so that it finds room in an empty area wherever that
//! begins.
use crate::sync::*;

/// Where the next piece lies and how much came before it: the same at both sides after the same lengths.
#[derive(Clone, Copy)]
struct Walk {
    size: usize,
    at: usize,
    count: u64,
}

impl Walk {
    fn new(size: usize) -> Walk {
        assert!(size.is_multiple_of(2 * LINE) && size > 0);
        Walk { size, at: 0, count: 0 }
    }
    /// Start of the next piece, and the walk after it.
    #[inline]
    fn next(&self, len: usize) -> (usize, Walk) {
        debug_assert!(len <= self.size / 2);
        let need = len.next_multiple_of(LINE);
        let (start, skipped) = if self.at + need > self.size { (0, self.size - self.at) } else { (self.at, 0) };
        (start, Walk { at: start + need, count: self.count + (skipped + need) as u64, ..*self })
    }
}

/// The producer's side.
pub struct Sender {
    done: *const AtomicU64,
    walk: Walk,
    seen_done: u64,
}

// SAFETY: `done` is an atomic in shared memory.
unsafe impl Send for Sender {}

impl Sender {
    /// # Safety
    /// `done` is zero at creation and valid while this lives; one sender and one receiver use it.
    pub unsafe fn new(done: *const AtomicU64, size: usize) -> Sender {
        Sender { done, walk: Walk::new(size), seen_done: 0 }
    }
    #[inline]
    fn fits(&self, end: u64) -> bool {
        end - self.seen_done <= self.walk.size as u64
    }
    #[inline]
    fn room(&mut self, end: u64) -> bool {
        self.fits(end) || self.look(end)
    }
    #[cold]
    fn look(&mut self, end: u64) -> bool {
        // SAFETY: `new`'s contract. A count outside what was sent is a peer's nonsense and gives no room.
        let done = unsafe { &*self.done }.load(Ordering::Acquire);
        if done > self.seen_done && done <= self.walk.count {
            self.seen_done = done;
        }
        self.fits(end)
    }
    /// Offset of `len` free bytes, which are ours until [`Sender::commit`].
    #[inline]
    pub fn free(&mut self, len: usize) -> Option<usize> {
        let (start, after) = self.walk.next(len);
        self.room(after.count).then_some(start)
    }
    /// Whether pieces of `len` bytes in all would find room one after the other, whatever they skip.
    #[inline]
    pub fn has_room(&mut self, len: usize, pieces: usize) -> bool {
        // At most one end is skipped, and less of it than a piece has; each piece is rounded up.
        self.room(self.walk.count + (2 * len + pieces * LINE) as u64)
    }
    /// The piece from `free` has been announced.
    #[inline]
    pub fn commit(&mut self, len: usize) {
        self.walk = self.walk.next(len).1;
    }
}

/// The consumer's side.
pub struct Receiver {
    done: *const AtomicU64,
    walk: Walk,
    given: u64,
}

// SAFETY: as for `Sender`.
unsafe impl Send for Receiver {}

impl Receiver {
    /// # Safety
    /// as [`Sender::new`].
    pub unsafe fn new(done: *const AtomicU64, size: usize) -> Receiver {
        Receiver { done, walk: Walk::new(size), given: 0 }
    }
    /// Offset of the piece of `len` bytes that is next; the caller has checked that `len` is at most half the size.
    #[inline]
    pub fn next(&self, len: usize) -> usize {
        self.walk.next(len).0
    }
    /// The piece has been copied out; its bytes are owed to the producer.
    #[inline]
    pub fn pop(&mut self, len: usize) {
        self.walk = self.walk.next(len).1;
    }
    /// Bytes read and not handed back.
    #[inline]
    pub fn owed(&self) -> usize {
        (self.walk.count - self.given) as usize
    }
    #[inline]
    pub fn hand_back(&mut self) {
        self.given = self.walk.count;
        // SAFETY: `new`'s contract.
        unsafe { &*self.done }.store(self.given, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn area(size: usize) -> (Sender, Receiver, &'static AtomicU64) {
        let done: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
        // SAFETY: leaked, one of each.
        unsafe { (Sender::new(done, size), Receiver::new(done, size), done) }
    }

    #[test]
    fn a_count_that_makes_no_sense_gives_no_room() {
        let (mut s, _, done) = area(256);
        for _ in 0..2 {
            assert!(s.free(128).is_some());
            s.commit(128);
        }
        for nonsense in [257, 1 << 40, u64::MAX] {
            done.store(nonsense, Ordering::Relaxed);
            assert_eq!(s.free(1), None);
        }
    }

    proptest::proptest! {
        /// Pieces in flight never overlap, both sides agree where they lie, and an empty area takes any piece.
        #[test]
        fn pieces_are_disjoint_and_agreed(steps in proptest::collection::vec((0u8..4, 1usize..2048), 1..400)) {
            let (mut s, mut r, _) = area(4096);
            let mut flying: std::collections::VecDeque<(usize, usize)> = Default::default();
            // Read and not handed back: still not the producer's.
            let mut owed: Vec<(usize, usize)> = Vec::new();
            for (what, len) in steps {
                match what {
                    0 | 1 => {
                        let sure = s.has_room(len, 1);
                        match s.free(len) {
                            Some(at) => {
                                proptest::prop_assert!(at % LINE == 0 && at + len <= 4096);
                                for (b, l) in flying.iter().chain(&owed) {
                                    proptest::prop_assert!(at + len <= *b || b + l <= at);
                                }
                                s.commit(len);
                                flying.push_back((at, len));
                            }
                            None => {
                                proptest::prop_assert!(!sure, "room was promised");
                                proptest::prop_assert!(!flying.is_empty() || !owed.is_empty(), "an empty area takes any");
                            }
                        }
                    }
                    2 => if let Some((at, len)) = flying.pop_front() {
                        proptest::prop_assert_eq!(r.next(len), at);
                        r.pop(len);
                        owed.push((at, len));
                    },
                    _ => {
                        r.hand_back();
                        owed.clear();
                    }
                }
            }
        }
    }
}
