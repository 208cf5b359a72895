//! A ring with one producer and one consumer, in lines of 64 bytes, with the flag inside the line.
//!
//! A message takes `k = ceil((8 + len) / 64)` contiguous lines. Its first eight bytes are the header word:
//! `kind | aux << 8 | len << 32`, kind never 0; it is stored last, with Release, and polled with Acquire. A message up
//! to 56 bytes so costs the transfer of one cache line. Where a message does not fit before the end, a
//! [`SKIP`] header fills the rest.
//!
//! Invariants: the header word of a line that may become the start of a message is 0 until the producer
//! publishes; the consumer restores this for every line it consumed before it hands them back through
//! `head`. The producer writes only lines in `[tail, head + n)`.
//!
//! The consumer treats the header as untrusted: a length that does not fit is [`Corrupt`], never followed.
use crate::sync::*;

/// Kind of the filler before the end of the ring; consumed here, never shown.
pub const SKIP: u8 = 0xff;

/// The peer wrote a header that this ring cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt(pub u64);

/// Makes a header word.
#[inline]
pub fn word(kind: u8, aux: u32, len: usize) -> u64 {
    debug_assert!(kind != 0 && aux < 1 << 24 && len <= u32::MAX as usize);
    kind as u64 | (aux as u64) << 8 | (len as u64) << 32
}
#[inline]
pub fn kind_of(word: u64) -> u8 {
    word as u8
}
#[inline]
pub fn aux_of(word: u64) -> u32 {
    (word >> 8) as u32 & 0xff_ffff
}
#[inline]
pub fn len_of(word: u64) -> usize {
    (word >> 32) as usize
}
/// Lines that a message of `len` payload bytes takes.
#[inline]
pub fn lines_for(len: usize) -> usize {
    (len + 8).div_ceil(LINE)
}

/// Where a ring lives: `lines` cells and the consumer's position.
#[derive(Clone, Copy)]
pub struct Place {
    lines: *const Line,
    n: usize,
    head: *const AtomicU64,
}

// SAFETY: the pointed-to memory is shared by design and only touched through atomics or, for payload
// bytes, by the side that owns them under the protocol of this module.
unsafe impl Send for Place {}

impl Place {
    /// # Safety
    /// `lines` points to `n` lines and `head` to a counter; both zero at creation, valid (and mapped) for as long
    /// as a [`Producer`] or [`Consumer`] made from this place lives, and used by at most one of each.
    pub unsafe fn new(lines: *const Line, n: usize, head: *const AtomicU64) -> Place {
        assert!(n > 0);
        Place { lines, n, head }
    }
    #[inline]
    fn header(&self, i: usize) -> &AtomicU64 {
        debug_assert!(i < self.n);
        // SAFETY: `i < n`, and `new`'s contract.
        unsafe { &(*self.lines.add(i)).header }
    }
    #[inline]
    fn head(&self) -> &AtomicU64 {
        // SAFETY: `new`'s contract.
        unsafe { &*self.head }
    }
}

/// The payload of a message inside the ring.
#[cfg(not(loom))]
impl Place {
    /// Address of the payload of the message that starts at line `i`.
    #[inline]
    fn payload(&self, i: usize) -> *mut u8 {
        // SAFETY: inside the lines of `new`'s contract.
        unsafe { (self.lines.add(i) as *mut u8).add(8) }
    }
    #[inline]
    fn clear(&self, i: usize, lines: usize) {
        for j in i..i + lines {
            self.header(j).store(0, Ordering::Relaxed);
        }
    }
}

/// Sends into a ring.
pub struct Producer {
    place: Place,
    /// Lines ever written, modulo nothing; `tail - head` are in use.
    tail: u64,
    /// `tail % n`, kept to spare the division.
    at: usize,
    /// The last position of the consumer that was looked at.
    seen_head: u64,
}

impl Producer {
    pub fn new(place: Place) -> Producer {
        Producer { place, tail: 0, at: 0, seen_head: 0 }
    }

    #[inline]
    fn room(&mut self, lines: usize) -> bool {
        let n = self.place.n as u64;
        if self.tail + lines as u64 - self.seen_head <= n {
            return true;
        }
        // A peer may write anything here: a position outside what we sent counts as "nothing consumed".
        let head = self.place.head().load(Ordering::Acquire);
        if head > self.seen_head && head <= self.tail {
            self.seen_head = head;
        }
        self.tail + lines as u64 - self.seen_head <= n
    }

    /// Makes sure `lines` contiguous free lines lie at `at`, writing a filler if needed.
    #[inline]
    fn reserve(&mut self, lines: usize) -> bool {
        let left = self.place.n - self.at;
        if lines <= left {
            return self.room(lines);
        }
        if lines > self.place.n || !self.room(left) {
            return false;
        }
        self.place.header(self.at).store(word(SKIP, 0, left * LINE - 8), Ordering::Release);
        self.advance(left);
        self.room(lines)
    }

    /// Whether a message of `len` bytes would be taken now.
    #[inline]
    pub fn has_room(&mut self, len: usize) -> bool {
        self.reserve(lines_for(len))
    }

    #[inline]
    fn advance(&mut self, lines: usize) {
        self.tail += lines as u64;
        self.at += lines;
        if self.at == self.place.n {
            self.at = 0;
        }
    }

    /// Publishes a message of `len` bytes which `fill` writes in place; false when the ring is full (`fill` was not
    /// called; at most a filler was published). `fill` gets a pointer valid for writes of `len` bytes.
    #[cfg(not(loom))]
    #[inline]
    pub fn push(&mut self, kind: u8, aux: u32, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let lines = lines_for(len);
        if !self.reserve(lines) {
            return false;
        }
        fill(self.place.payload(self.at));
        self.place.header(self.at).store(word(kind, aux, len), Ordering::Release);
        self.advance(lines);
        true
    }

    /// The loom form: payload bytes are all `value`; bytes in header places are stored as data would be.
    #[cfg(loom)]
    pub fn push(&mut self, kind: u8, aux: u32, len: usize, value: u8) -> bool {
        let lines = lines_for(len);
        if !self.reserve(lines) {
            return false;
        }
        for j in self.at..self.at + lines {
            // SAFETY: `reserve` gave these lines to us.
            let line = unsafe { &*self.place.lines.add(j) };
            line.rest.with_mut(|p| unsafe { (*p).fill(value) });
            if j > self.at {
                line.header.store(u64::from_ne_bytes([value; 8]), Ordering::Relaxed);
            }
        }
        self.place.header(self.at).store(word(kind, aux, len), Ordering::Release);
        self.advance(lines);
        true
    }
}

/// A message at the front of a ring, until [`Consumer::pop`].
#[derive(Clone, Copy, Debug)]
pub struct Front {
    pub word: u64,
    lines: usize,
    at: usize,
}

impl Front {
    #[inline]
    pub fn kind(&self) -> u8 {
        kind_of(self.word)
    }
    #[inline]
    pub fn aux(&self) -> u32 {
        aux_of(self.word)
    }
    #[inline]
    pub fn len(&self) -> usize {
        len_of(self.word)
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Receives from a ring.
pub struct Consumer {
    place: Place,
    head: u64,
    at: usize,
}

impl Consumer {
    pub fn new(place: Place) -> Consumer {
        Consumer { place, head: 0, at: 0 }
    }

    /// The message at the front, if one is there.
    #[inline]
    pub fn front(&mut self) -> Result<Option<Front>, Corrupt> {
        loop {
            let w = self.place.header(self.at).load(Ordering::Acquire);
            if w == 0 {
                return Ok(None);
            }
            let lines = lines_for(len_of(w));
            if kind_of(w) == 0 || lines > self.place.n - self.at {
                return Err(Corrupt(w));
            }
            let front = Front { word: w, lines, at: self.at };
            if kind_of(w) != SKIP {
                return Ok(Some(front));
            }
            self.release(&front, 1);
        }
    }

    /// Pointer to the front message's payload, valid for reads of `front.len()` bytes until `pop`. The peer can
    /// still write there: copy out, then check, then use.
    #[cfg(not(loom))]
    #[inline]
    pub fn payload(&self, front: &Front) -> *const u8 {
        self.place.payload(front.at)
    }

    /// The loom form: all payload bytes, header places included.
    #[cfg(loom)]
    pub fn payload(&self, front: &Front) -> Vec<u8> {
        let mut all = Vec::new();
        for j in front.at..front.at + front.lines {
            // SAFETY: published to us by the Acquire in `front`.
            let line = unsafe { &*self.place.lines.add(j) };
            if j > front.at {
                all.extend(line.header.load(Ordering::Relaxed).to_ne_bytes());
            }
            line.rest.with(|p| all.extend(unsafe { *p }));
        }
        all.truncate(front.len());
        all
    }

    /// Hands the front message's lines back.
    #[inline]
    pub fn pop(&mut self, front: Front) {
        debug_assert_eq!(front.at, self.at);
        let lines = front.lines;
        self.release(&front, lines);
    }

    #[inline]
    fn release(&mut self, front: &Front, dirty: usize) {
        #[cfg(not(loom))]
        self.place.clear(front.at, dirty);
        #[cfg(loom)]
        for j in front.at..front.at + dirty {
            self.place.header(j).store(0, Ordering::Relaxed);
        }
        self.head += front.lines as u64;
        self.at += front.lines;
        if self.at == self.place.n {
            self.at = 0;
        }
        self.place.head().store(self.head, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ring(n: usize) -> (Producer, Consumer) {
        // SAFETY: all-zero bytes are valid lines; leaked, so valid for ever.
        let lines: &'static [Line] = Vec::leak((0..n).map(|_| unsafe { std::mem::zeroed() }).collect());
        let head: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
        // SAFETY: leaked memory, one producer and one consumer.
        let place = unsafe { Place::new(lines.as_ptr(), n, head) };
        (Producer::new(place), Consumer::new(place))
    }

    fn send(p: &mut Producer, kind: u8, data: &[u8]) -> bool {
        // SAFETY: `fill`'s pointer is valid for `data.len()` bytes.
        p.push(kind, 7, data.len(), |to| unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) })
    }
    fn receive(c: &mut Consumer) -> Option<(u8, Vec<u8>)> {
        let f = c.front().unwrap()?;
        // SAFETY: valid until pop.
        let v = unsafe { std::slice::from_raw_parts(c.payload(&f), f.len()) }.to_vec();
        let k = f.kind();
        assert_eq!(f.aux(), 7);
        c.pop(f);
        Some((k, v))
    }

    #[test]
    fn wraps_with_every_length() {
        let (mut p, mut c) = ring(13);
        for round in 0..2000usize {
            let data: Vec<u8> = (0..(round * 37) % 700).map(|i| (i + round) as u8 | 1).collect();
            while !send(&mut p, (round % 200) as u8 + 1, &data) {
                assert_eq!(receive(&mut c), None, "only a filler may be in the way");
            }
            assert_eq!(receive(&mut c), Some(((round % 200) as u8 + 1, data)));
            assert_eq!(receive(&mut c), None);
        }
    }

    #[test]
    fn full_ring_refuses_and_recovers() {
        let (mut p, mut c) = ring(4);
        assert!((0..4).all(|_| send(&mut p, 1, &[0xee; 56])));
        assert!(!send(&mut p, 1, &[]));
        receive(&mut c).unwrap();
        assert!(send(&mut p, 2, &[1]));
        assert!(!send(&mut p, 2, &[1]));
        assert!(!send(&mut p, 2, &[0; 300]));
    }

    #[test]
    fn corrupt_length_is_an_error() {
        let (mut p, mut c) = ring(4);
        assert!(send(&mut p, 1, &[0; 8]));
        c.place.header(0).store(word(1, 0, 1 << 20), Ordering::Relaxed);
        assert!(c.front().is_err());
    }

    proptest::proptest! {
        /// Against a VecDeque: any interleaving of pushes and pops.
        #[test]
        fn behaves_as_a_queue(n in 2usize..40, steps in proptest::collection::vec((proptest::bool::ANY, 0usize..1500), 1..400)) {
            let (mut p, mut c) = ring(n);
            let mut model = std::collections::VecDeque::new();
            for (i, (push, len)) in steps.into_iter().enumerate() {
                if push {
                    let data = vec![i as u8 | 0x80; len];
                    if send(&mut p, 3, &data) {
                        model.push_back(data);
                    } else if model.is_empty() && lines_for(len) <= n {
                        // Only an unread filler can be in the way of an empty ring.
                        proptest::prop_assert_eq!(receive(&mut c), None);
                        proptest::prop_assert!(send(&mut p, 3, &data));
                        model.push_back(data);
                    }
                } else {
                    proptest::prop_assert_eq!(receive(&mut c).map(|m| m.1), model.pop_front());
                }
            }
        }
    }

    #[test]
    fn two_threads_keep_order_and_bytes() {
        let (mut p, mut c) = ring(31);
        std::thread::scope(|s| {
            s.spawn(move || {
                for i in 0..20_000u32 {
                    let data = vec![i as u8; (i as usize * 13) % 900];
                    while !send(&mut p, 1, &data) {
                        std::thread::yield_now();
                    }
                }
            });
            for i in 0..20_000u32 {
                let got = loop {
                    match receive(&mut c) {
                        Some(m) => break m.1,
                        None => std::thread::yield_now(),
                    }
                };
                assert_eq!(got, vec![i as u8; (i as usize * 13) % 900]);
            }
        });
    }
}
