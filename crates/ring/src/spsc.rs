//! A ring with one producer and one consumer, in lines of 64 bytes, with the flag inside the line.
//!
//! A message is one line: the header word `kind | aux << 8 | mark << 24 | turn << 26 | len << 32`, then [`INSIDE`] bytes. The
//! header is stored last, with Release, and polled with Acquire, so a message costs the transfer of one cache line. What is
//! longer lies elsewhere (`crate::bulk`) and is announced by a line; `len` is for the user, this module does not read it.
//!
//! `mark` is 1 and 2 in turn, changing with every lap, so that what an earlier lap left is not taken for a message: the consumer
//! never writes to a line. It counts what it has read in `head`, which [`Consumer::hand_back`] publishes when the owner
//! likes; until then the producer sees those lines as in use.
//!
//! A ring begins with its first `first` lines, which is what touches memory. A producer that once found it full goes on past them at the end of
//! its lap, and uses all `n` from then on. `turn` in the last message of a lap says that the next one is at line 0.
//!
//! Invariants: the first word of every line is 0 or a header; the producer writes line `tail` only while `tail - head` is below the
//! number of lines in use; it never goes back to fewer lines, so a mark is at most one lap old.
//!
//! The consumer treats the header as untrusted: one without a kind, or without `turn` at the end, is [`Corrupt`].
use crate::sync::*;

/// Bytes of a message inside its line.
pub const INSIDE: usize = LINE - 8;

/// So many lines ahead of the next one a producer asks for the line that it will write then.
const AHEAD: usize = 6;

const MARK: u64 = 3 << 24;
const FIRST_MARK: u64 = 1 << 24;
const TURN: u64 = 1 << 26;

/// The peer wrote a header that this ring cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrupt(pub u64);

/// Makes a header word.
#[inline]
pub fn word(kind: u8, aux: u16, len: usize) -> u64 {
    debug_assert!(kind != 0 && len <= u32::MAX as usize);
    kind as u64 | (aux as u64) << 8 | (len as u64) << 32
}

/// Where a ring lives: `n` lines and the consumer's position.
#[derive(Clone, Copy)]
pub struct Place {
    lines: *const Line,
    first: usize,
    n: usize,
    head: *const AtomicU64,
}

// SAFETY: the pointed-to memory is shared by design and only touched through atomics or, for payload
// bytes, by the side that owns them under the protocol of this module.
unsafe impl Send for Place {}

impl Place {
    /// A ring that begins with `first` of its `n` lines.
    ///
    /// # Safety
    /// `lines` points to `n` lines and `head` to a counter; both zero at creation, valid (and mapped) for as long
    /// as a [`Producer`] or [`Consumer`] made from this place lives, and used by at most one of each.
    pub unsafe fn new(lines: *const Line, first: usize, n: usize, head: *const AtomicU64) -> Place {
        assert!(first > 0 && first <= n);
        Place { lines, first, n, head }
    }
    #[inline]
    fn line<'a>(&self, i: usize) -> &'a Line {
        debug_assert!(i < self.n);
        // SAFETY: `i < n`, and `new`'s contract: valid for as long as the ring's ends, which keep the reference to themselves.
        unsafe { &*self.lines.add(i) }
    }
    #[inline]
    fn head(&self) -> &AtomicU64 {
        // SAFETY: `new`'s contract.
        unsafe { &*self.head }
    }
}

/// Sends into a ring.
pub struct Producer {
    place: Place,
    /// Lines ever written; `tail - head` are in use.
    tail: u64,
    /// The last position of the consumer that was looked at.
    seen_head: u64,
    /// Where line number `tail` is.
    at: usize,
    /// Lines in use: `first` or `n`.
    limit: usize,
    mark: u64,
    /// It was full once: the next lap is longer.
    crowded: bool,
}

impl Producer {
    pub fn new(place: Place) -> Producer {
        Producer { place, tail: 0, seen_head: 0, at: 0, limit: place.first, mark: FIRST_MARK, crowded: false }
    }

    /// Whether a message would be taken now.
    #[inline]
    pub fn has_room(&mut self) -> bool {
        self.tail - self.seen_head < self.limit as u64 || self.look()
    }
    /// Whether `lines` messages would be taken now.
    #[inline]
    pub fn has_room_for(&mut self, lines: usize) -> bool {
        let fits = |p: &Producer| p.tail + lines as u64 - p.seen_head <= p.limit as u64;
        fits(self) || (self.look() && fits(self))
    }

    #[cold]
    fn look(&mut self) -> bool {
        // A peer may write anything here: a position outside what we sent counts as "nothing consumed".
        let head = self.place.head().load(Ordering::Acquire);
        if head > self.seen_head && head <= self.tail {
            self.seen_head = head;
        }
        let room = self.tail - self.seen_head < self.limit as u64;
        self.crowded |= !room;
        room
    }

    /// Publishes a message whose [`INSIDE`] bytes `fill` writes in place; false when the ring is full (`fill` was not called).
    #[inline]
    pub fn push(&mut self, kind: u8, aux: u16, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        if !self.has_room() {
            return false;
        }
        let line = self.place.line(self.at);
        line.write(fill);
        let header = word(kind, aux, len) | self.mark;
        self.tail += 1;
        self.at += 1;
        if self.at == self.limit {
            self.end_of_lap(header);
        } else {
            line.header.store(header, Ordering::Release);
        }
        crate::hint::pass_on(line);
        let ahead = self.at + AHEAD;
        if ahead < self.limit {
            crate::hint::will_write(self.place.line(ahead) as *const Line as *const u8, LINE);
        }
        true
    }

    #[cold]
    fn end_of_lap(&mut self, header: u64) {
        let line = self.place.line(self.at - 1);
        if self.crowded && self.limit < self.place.n {
            self.limit = self.place.n;
            line.header.store(header, Ordering::Release);
        } else {
            self.at = 0;
            self.mark ^= MARK;
            line.header.store(header | TURN, Ordering::Release);
        }
    }
}

/// A message at the front of a ring, until [`Consumer::pop`].
#[derive(Clone, Copy, Debug)]
pub struct Front {
    pub word: u64,
}

impl Front {
    #[inline]
    pub fn kind(&self) -> u8 {
        self.word as u8
    }
    #[inline]
    pub fn aux(&self) -> u16 {
        (self.word >> 8) as u16
    }
    #[inline]
    pub fn len(&self) -> usize {
        (self.word >> 32) as usize
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Receives from a ring.
pub struct Consumer {
    place: Place,
    at: usize,
    mark: u64,
    head: u64,
    owed: u32,
}

impl Consumer {
    pub fn new(place: Place) -> Consumer {
        Consumer { place, at: 0, mark: FIRST_MARK, head: 0, owed: 0 }
    }

    /// The message at the front, if one is there.
    #[inline]
    pub fn front(&self) -> Result<Option<Front>, Corrupt> {
        let word = self.place.line(self.at).header.load(Ordering::Acquire);
        if word & MARK != self.mark {
            return Ok(None);
        }
        if word as u8 == 0 || (word & TURN == 0 && self.at + 1 == self.place.n) {
            return Err(Corrupt(word));
        }
        Ok(Some(Front { word }))
    }

    /// Pointer to the [`INSIDE`] bytes of the front message, valid until `hand_back`. The peer can still write there: copy
    /// out, then check, then use.
    #[cfg(not(loom))]
    #[inline]
    pub fn payload(&self) -> *const u8 {
        self.place.line(self.at).payload()
    }
    /// The loom form.
    #[cfg(loom)]
    pub fn payload(&self) -> [u8; INSIDE] {
        // SAFETY: published to us by the Acquire in `front`.
        self.place.line(self.at).rest.with(|p| unsafe { *p })
    }

    /// The front message has been read; its line is owed to the producer.
    #[inline]
    pub fn pop(&mut self, front: Front) {
        if front.word & TURN == 0 {
            self.at += 1;
        } else {
            self.at = 0;
            self.mark ^= MARK;
        }
        self.head += 1;
        self.owed += 1;
    }

    /// Lines that have been read and not handed back.
    #[inline]
    pub fn owed(&self) -> usize {
        self.owed as usize
    }
    /// Hands back all that is owed.
    #[inline]
    pub fn hand_back(&mut self) {
        self.owed = 0;
        self.place.head().store(self.head, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ring(first: usize, n: usize) -> (Producer, Consumer) {
        // SAFETY: all-zero bytes are valid lines; leaked, so valid for ever.
        let lines: &'static [Line] = Vec::leak((0..n).map(|_| unsafe { std::mem::zeroed() }).collect());
        let head: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
        // SAFETY: leaked memory, one producer and one consumer.
        let place = unsafe { Place::new(lines.as_ptr(), first, n, head) };
        (Producer::new(place), Consumer::new(place))
    }

    fn send(p: &mut Producer, value: u64) -> bool {
        // SAFETY: `fill`'s pointer is valid for INSIDE bytes and 8-aligned.
        p.push(1, value as u16, value as usize & 0xffff, |to| unsafe { (to as *mut [u64; 7]).write([value; 7]) })
    }
    fn receive(c: &mut Consumer) -> Option<u64> {
        let f = c.front().unwrap()?;
        // SAFETY: valid until handed back.
        let v = unsafe { (c.payload() as *const [u64; 7]).read() };
        assert_eq!((f.kind(), f.aux(), f.len()), (1, v[0] as u16, v[0] as usize & 0xffff));
        assert_eq!(v, [v[0]; 7]);
        c.pop(f);
        Some(v[0])
    }

    #[test]
    fn full_ring_refuses_until_lines_are_handed_back() {
        let (mut p, mut c) = ring(4, 4);
        assert!((0..4).all(|i| send(&mut p, i)));
        assert!(!send(&mut p, 4));
        assert_eq!(receive(&mut c), Some(0));
        assert!(!send(&mut p, 4), "read, but not handed back");
        c.hand_back();
        assert!(send(&mut p, 4) && !send(&mut p, 5));
        assert!((1..5).all(|i| receive(&mut c) == Some(i)));
        assert_eq!(receive(&mut c), None);
    }

    #[test]
    fn stays_small_unless_it_was_full_then_uses_all() {
        let (mut p, mut c) = ring(4, 9);
        for i in 0..100 {
            assert!(send(&mut p, i) && p.at < 4);
            assert_eq!(receive(&mut c), Some(i));
            c.hand_back();
        }
        while send(&mut p, 7) {}
        while receive(&mut c).is_some() {}
        c.hand_back();
        let mut held = 0;
        for i in 0..200 {
            while send(&mut p, 1000 + i) {
                held += 1;
            }
            assert!(receive(&mut c).is_some());
            c.hand_back();
            held -= 1;
        }
        assert_eq!((p.limit, held), (9, 8));
    }

    #[test]
    fn corrupt_headers_are_errors_or_nothing() {
        let (mut p, mut c) = ring(4, 4);
        assert!(send(&mut p, 1));
        c.place.line(0).header.store(FIRST_MARK, Ordering::Relaxed);
        assert!(c.front().is_err(), "no kind");
        c.place.line(0).header.store(word(1, 0, 1), Ordering::Relaxed);
        assert!(c.front().unwrap().is_none(), "no mark");
        c.place.line(0).header.store(word(1, 0, 1) | MARK, Ordering::Relaxed);
        assert!(c.front().unwrap().is_none(), "both marks");
        // A turn where none should be only moves this reader.
        c.place.line(0).header.store(word(1, 0, 1) | FIRST_MARK | TURN, Ordering::Relaxed);
        let f = c.front().unwrap().unwrap();
        c.pop(f);
        assert!(c.front().unwrap().is_none());
        // None where one must be would lead past the end.
        let (_, mut c) = ring(2, 2);
        for i in 0..2 {
            c.place.line(i).header.store(word(1, 0, 1) | FIRST_MARK, Ordering::Relaxed);
        }
        let f = c.front().unwrap().unwrap();
        c.pop(f);
        assert!(c.front().is_err());
    }

    #[test]
    fn a_position_that_makes_no_sense_gives_no_room() {
        let (mut p, c) = ring(2, 2);
        assert!(send(&mut p, 1) && send(&mut p, 2));
        for nonsense in [3, 1 << 40, u64::MAX] {
            c.place.head().store(nonsense, Ordering::Relaxed);
            assert!(!send(&mut p, 3));
        }
    }

    proptest::proptest! {
        /// Against a VecDeque: any interleaving of pushes, pops and hand-backs.
        #[test]
        fn behaves_as_a_queue(
            first in 1usize..12,
            more in 0usize..20,
            steps in proptest::collection::vec(0u8..5, 1..600),
        ) {
            let (mut p, mut c) = ring(first, first + more);
            let mut model = std::collections::VecDeque::new();
            for (i, step) in steps.into_iter().enumerate() {
                match step {
                    0 | 1 => {
                        let used = model.len() + c.owed();
                        let taken = send(&mut p, i as u64);
                        proptest::prop_assert!(taken || used >= first, "refused with {used} lines in use");
                        proptest::prop_assert!(!taken || used < first + more);
                        if taken {
                            model.push_back(i as u64);
                        }
                    }
                    2 | 3 => proptest::prop_assert_eq!(receive(&mut c), model.pop_front()),
                    _ => c.hand_back(),
                }
            }
        }
    }

    #[test]
    fn two_threads_keep_order_and_bytes() {
        let (mut p, mut c) = ring(5, 31);
        std::thread::scope(|s| {
            s.spawn(move || {
                for i in 0..20_000 {
                    while !send(&mut p, i) {
                        std::thread::yield_now();
                    }
                }
            });
            for i in 0..20_000 {
                let got = loop {
                    match receive(&mut c) {
                        Some(v) => break v,
                        None => {
                            c.hand_back();
                            std::thread::yield_now();
                        }
                    }
                };
                assert_eq!(got, i);
                if c.owed() > 3 {
                    c.hand_back();
                }
            }
        });
    }
}
