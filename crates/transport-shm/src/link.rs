//! The two directions of one pair: an outgoing and an incoming ring, each with its area for what is longer than a line.
//!
//! A frame of up to [`INSIDE_MAX`] bytes is one line. A longer one is a line with the envelope, and the bytes in the area. Pieces of a
//! message that was announced (Data frames) lie in the area too, each with its length in the frame.
//!
//! What has been read is handed back late ([`Incoming::hand_back`]): when much is owed, or when there is nothing else to do, and always
//! before the process sleeps.
use crate::layout::*;
use oxmpi_ring::bulk::{Receiver, Sender};
use oxmpi_ring::spsc::{Consumer, Corrupt, Front, INSIDE, Place, Producer};
use oxmpi_ring::sync::{LINE, Line};
use oxmpi_ring::{bytes, hint};
use oxmpi_sys::memory::Mapping;
use oxmpi_transport::wire::{Context, ENVELOPE, INLINE_MAX, Kind};
use std::sync::atomic::Ordering;

/// Payload that lies in the line itself.
pub const INSIDE_MAX: usize = INSIDE - ENVELOPE;
/// Longest payload of a frame: a message and the name of its request.
const FRAME_MAX: usize = INLINE_MAX + 16;
const _: () = assert!(FRAME_MAX <= BULK / 2 && CHUNK <= BULK / 2);
/// Debts that are paid at once.
const LINES_OWED: usize = FIRST_LINES / 4;
const BYTES_OWED: usize = BULK / 4;
/// Bytes of a long frame that are fetched as soon as it is seen, or asked for before it is written.
const EARLY: usize = 1024;

fn place(m: &Mapping) -> Place {
    assert!(m.len() == PAIR);
    let base = m.base().as_ptr();
    // SAFETY: the mapping holds PAIR bytes laid out as `layout` says, zero at creation; each pair is mapped by its one
    // producer process and its one consumer process, and the owner keeps the mapping beside the ring's ends.
    unsafe {
        let lines = base.add(2 * LINE) as *const Line;
        Place::new(lines, FIRST_LINES, RING_LINES, &(*(base as *const PairHead)).head)
    }
}

fn head(m: &Mapping) -> &PairHead {
    // SAFETY: first line of the pair; atomics only.
    unsafe { m.base().cast::<PairHead>().as_ref() }
}
fn tail(m: &Mapping) -> &PairTail {
    // SAFETY: second line of the pair; atomics only.
    unsafe { m.base().byte_add(LINE).cast::<PairTail>().as_ref() }
}
/// The area; valid for BULK bytes.
fn bulk(m: &Mapping) -> *mut u8 {
    // SAFETY: inside the pair by the layout.
    unsafe { m.base().as_ptr().add(2 * LINE + RING_LINES * LINE) }
}

/// To a peer.
pub struct Outgoing {
    ring: Producer,
    bulk: Sender,
    area: *mut u8,
    map: Mapping,
}

// SAFETY: `area` points into `map`.
unsafe impl Send for Outgoing {}

impl Outgoing {
    pub fn new(map: Mapping) -> Outgoing {
        // SAFETY: the counter lies in `map`, which lives as long as this.
        let sender = unsafe { Sender::new(&head(&map).bulk_done, BULK) };
        Outgoing { ring: Producer::new(place(&map)), bulk: sender, area: bulk(&map), map }
    }

    /// A frame of one line: `len <= INSIDE_MAX` bytes which `fill` writes, or a longer one whose bytes are in the area.
    #[inline(always)]
    fn line(&mut self, kind: Kind, ctx: Context, tag: i32, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        let envelope = ctx.0 as u32 as u64 | (tag as u32 as u64) << 32;
        self.ring.push(kind as u8, (ctx.0 >> 32) as u16, len, |p| {
            // SAFETY: `p` is valid for INSIDE bytes and 8-aligned (it follows a header word).
            unsafe {
                (p as *mut u64).write(envelope);
                fill(p.add(ENVELOPE));
            }
        })
    }

    /// Sends a frame of `len` bytes after the envelope, written by `fill`; false when there is no room.
    #[inline]
    pub fn push(&mut self, kind: Kind, ctx: Context, tag: i32, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        debug_assert!(len <= FRAME_MAX);
        if len <= INSIDE_MAX {
            return self.line(kind, ctx, tag, len, fill);
        }
        let Some(p) = self.free_chunk(len).filter(|_| self.ring.has_room()) else { return false };
        hint::will_write(p, len.min(EARLY));
        fill(p);
        self.commit_chunk(len);
        self.line(kind, ctx, tag, len, |_| ())
    }

    /// A frame that is only bytes.
    #[inline]
    pub fn push_bytes(&mut self, kind: Kind, ctx: Context, tag: i32, data: &[u8]) -> bool {
        // SAFETY: `data` is valid for its length.
        unsafe { self.push_run(kind, ctx, tag, data.as_ptr(), data.len()) }
    }

    /// The same for `len` bytes at `from`.
    ///
    /// # Safety
    /// `from` is valid for reads of `len` bytes.
    #[inline]
    pub unsafe fn push_run(&mut self, kind: Kind, ctx: Context, tag: i32, from: *const u8, len: usize) -> bool {
        if len <= INSIDE_MAX {
            // SAFETY: the caller's promise; a line holds `len` bytes.
            return self.line(kind, ctx, tag, len, |p| unsafe { bytes::copy(from, p, len) });
        }
        debug_assert!(len <= FRAME_MAX);
        let Some(p) = self.free_chunk(len).filter(|_| self.ring.has_room()) else { return false };
        // SAFETY: as above, and the area's free piece holds `len` bytes.
        unsafe { bytes::into_lines(from, p, len) };
        self.commit_chunk(len);
        self.line(kind, ctx, tag, len, |_| ())
    }

    /// Whether a control frame would find room now.
    #[inline]
    pub fn room(&mut self) -> bool {
        self.ring.has_room()
    }
    /// Whether `pieces` chunks of `len` bytes in all would find room now, each with its frame, and one frame more.
    #[inline]
    pub fn room_for(&mut self, len: usize, pieces: usize) -> bool {
        self.ring.has_room_for(pieces + 1) && self.bulk.has_room(len, pieces)
    }

    /// `len <= CHUNK` free bytes, ours until `commit_chunk`.
    #[inline]
    pub fn free_chunk(&mut self, len: usize) -> Option<*mut u8> {
        let at = self.bulk.free(len)?;
        // SAFETY: `at + len` is inside the area.
        Some(unsafe { self.area.add(at) })
    }
    /// The chunk is announced next.
    #[inline]
    pub fn commit_chunk(&mut self, len: usize) {
        self.bulk.commit(len);
    }

    /// Tells the consumer whether we wait for room.
    pub fn set_starved(&self, starved: bool) {
        tail(&self.map).starved.store(starved as u32, Ordering::Relaxed);
    }
}

/// A decoded envelope with the payload's place.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub kind: Kind,
    pub ctx: Context,
    pub tag: i32,
    /// Payload after the envelope.
    pub payload: *const u8,
    pub len: usize,
    front: Front,
}

/// From a peer.
pub struct Incoming {
    ring: Consumer,
    bulk: Receiver,
    area: *const u8,
    map: Mapping,
}

// SAFETY: `area` points into `map`.
unsafe impl Send for Incoming {}

impl Incoming {
    pub fn new(map: Mapping) -> Incoming {
        // SAFETY: as in `Outgoing::new`.
        let receiver = unsafe { Receiver::new(&head(&map).bulk_done, BULK) };
        Incoming { ring: Consumer::new(place(&map)), bulk: receiver, area: bulk(&map), map }
    }

    /// The next frame, if one is there. Valid until `pop`.
    #[inline]
    pub fn front(&self) -> Result<Option<Frame>, Corrupt> {
        let Some(front) = self.ring.front()? else { return Ok(None) };
        let Some(kind) = Kind::from_u8(front.kind()) else { return Err(Corrupt(front.word)) };
        let len = front.len();
        let line = self.ring.payload();
        let payload = if len <= INSIDE_MAX {
            // SAFETY: a line has ENVELOPE + INSIDE_MAX bytes after its header.
            unsafe { line.add(ENVELOPE) }
        } else if len <= FRAME_MAX {
            let p = self.chunk(len);
            hint::will_read(p, len.min(EARLY));
            p
        } else {
            return Err(Corrupt(front.word));
        };
        // SAFETY: the line's first eight bytes after the header, 8-aligned; read once.
        let envelope = unsafe { (line as *const u64).read_volatile() };
        let ctx = Context(envelope & 0xffff_ffff | (front.aux() as u64) << 32);
        Ok(Some(Frame { kind, ctx, tag: (envelope >> 32) as u32 as i32, payload, len, front }))
    }
    /// The frame has been read.
    #[inline]
    pub fn pop(&mut self, frame: Frame) {
        if frame.len > INSIDE_MAX {
            self.bulk.pop(frame.len);
        }
        self.ring.pop(frame.front);
    }
    /// The `len <= CHUNK` bytes that a Data frame speaks of, readable until handed back.
    #[inline]
    pub fn chunk(&self, len: usize) -> *const u8 {
        debug_assert!(len <= CHUNK);
        // SAFETY: the area computes the place, which is inside.
        unsafe { self.area.add(self.bulk.next(len)) }
    }
    #[inline]
    pub fn release_chunk(&mut self, len: usize) {
        self.bulk.pop(len);
    }

    /// Whether anything that was read has not been handed back.
    #[inline]
    pub fn owes(&self) -> bool {
        self.ring.owed() != 0
    }
    /// Whether that is so much, or so much needed, that it should not wait.
    #[inline]
    pub fn owes_much(&self) -> bool {
        self.ring.owed() >= LINES_OWED || self.bulk.owed() >= BYTES_OWED || self.producer_starved()
    }
    /// Gives the producer all room back. Whoever calls this looks at `producer_starved` next (`Node::feed`).
    #[inline]
    pub fn hand_back(&mut self) {
        self.bulk.hand_back();
        self.ring.hand_back();
    }
    /// Whether the producer waits for room.
    #[inline]
    pub fn producer_starved(&self) -> bool {
        tail(&self.map).starved.load(Ordering::Relaxed) != 0
    }
}
