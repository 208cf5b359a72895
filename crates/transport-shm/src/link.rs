//! The two directions of one pair: an outgoing and an incoming ring with their chunks.
use crate::layout::*;
use oxmpi_ring::chunks::{Receiver, Sender};
use oxmpi_ring::spsc::{Consumer, Corrupt, Front, Place, Producer};
use oxmpi_ring::sync::{LINE, Line};
use oxmpi_sys::memory::Mapping;
use oxmpi_transport::wire::{Context, ENVELOPE, INLINE_MAX, Kind};
use std::sync::atomic::Ordering;

fn place(m: &Mapping) -> Place {
    assert!(m.len() == PAIR);
    let base = m.base().as_ptr();
    // SAFETY: the mapping holds PAIR bytes laid out as `layout` says, zero at creation; each pair is mapped by its one
    // producer process and its one consumer process, and the owner keeps the mapping beside the ring's ends.
    unsafe { Place::new(base.add(2 * LINE) as *const Line, RING_LINES, &(*(base as *const PairHead)).head) }
}

fn head(m: &Mapping) -> &PairHead {
    // SAFETY: first line of the pair; atomics only.
    unsafe { m.base().cast::<PairHead>().as_ref() }
}
fn tail(m: &Mapping) -> &PairTail {
    // SAFETY: second line of the pair; atomics only.
    unsafe { m.base().byte_add(LINE).cast::<PairTail>().as_ref() }
}
fn chunk(m: &Mapping, i: usize) -> *mut u8 {
    assert!(i < CHUNKS);
    // SAFETY: inside the pair by the layout.
    unsafe { m.base().as_ptr().add(2 * LINE + RING_LINES * LINE + i * CHUNK) }
}

/// To a peer.
pub struct Outgoing {
    ring: Producer,
    chunks: Sender,
    map: Mapping,
}

impl Outgoing {
    pub fn new(map: Mapping) -> Outgoing {
        // SAFETY: the counter lies in `map`, which lives as long as this.
        let chunks = unsafe { Sender::new(&head(&map).chunks_done, CHUNKS as u64) };
        Outgoing { ring: Producer::new(place(&map)), chunks, map }
    }

    /// Sends a frame of `len <= INLINE_MAX + 16` bytes after the envelope, written by `fill`; false when there is no room.
    #[inline]
    pub fn push(&mut self, kind: Kind, ctx: Context, tag: i32, len: usize, fill: impl FnOnce(*mut u8)) -> bool {
        debug_assert!(len <= INLINE_MAX + 16);
        let envelope = ctx.0 as u32 as u64 | (tag as u32 as u64) << 32;
        self.ring.push(kind as u8, (ctx.0 >> 32) as u32 & 0xffff, len + ENVELOPE, |p| {
            // SAFETY: `p` is valid for `len + ENVELOPE` bytes and 8-aligned (it follows a header word).
            unsafe {
                (p as *mut u64).write(envelope);
                fill(p.add(ENVELOPE));
            }
        })
    }

    /// A frame that is only bytes.
    #[inline]
    pub fn push_bytes(&mut self, kind: Kind, ctx: Context, tag: i32, bytes: &[u8]) -> bool {
        self.push(kind, ctx, tag, bytes.len(), |p| {
            // SAFETY: `p` is valid for `bytes.len()` bytes.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), p, bytes.len()) }
        })
    }

    /// Whether a control frame would find room now.
    #[inline]
    pub fn room(&mut self) -> bool {
        self.ring.has_room(64 - 8)
    }

    /// A free chunk of CHUNK bytes, ours until `commit_chunk`.
    #[inline]
    pub fn free_chunk(&mut self) -> Option<*mut u8> {
        self.chunks.free().map(|i| chunk(&self.map, i))
    }
    /// The chunk was announced by a Data frame.
    pub fn commit_chunk(&mut self) {
        self.chunks.commit();
    }

    /// Tells the consumer whether we wait for room.
    pub fn set_starved(&self, starved: bool) {
        tail(&self.map).starved.store(starved as u32, Ordering::Relaxed);
    }
}

/// A decoded envelope with the payload's place in the ring.
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
    chunks: Receiver,
    map: Mapping,
}

impl Incoming {
    pub fn new(map: Mapping) -> Incoming {
        // SAFETY: as in `Outgoing::new`.
        let chunks = unsafe { Receiver::new(&head(&map).chunks_done, CHUNKS as u64) };
        Incoming { ring: Consumer::new(place(&map)), chunks, map }
    }

    /// The next frame, if one is there. Valid until `pop`.
    #[inline]
    pub fn front(&mut self) -> Result<Option<Frame>, Corrupt> {
        let Some(front) = self.ring.front()? else { return Ok(None) };
        let Some(kind) = Kind::from_u8(front.kind()) else { return Err(Corrupt(front.word)) };
        let len = front.len();
        if !(ENVELOPE..=ENVELOPE + INLINE_MAX + 16).contains(&len) {
            return Err(Corrupt(front.word));
        }
        let p = self.ring.payload(&front);
        // SAFETY: `p` is valid for `len >= 8` bytes and 8-aligned; read once.
        let envelope = unsafe { (p as *const u64).read_volatile() };
        Ok(Some(Frame {
            kind,
            ctx: Context(envelope & 0xffff_ffff | ((front.aux() & 0xffff) as u64) << 32),
            tag: (envelope >> 32) as u32 as i32,
            // SAFETY: inside the payload.
            payload: unsafe { p.add(ENVELOPE) },
            len: len - ENVELOPE,
            front,
        }))
    }
    #[inline]
    pub fn pop(&mut self, frame: Frame) {
        self.ring.pop(frame.front);
    }
    /// The chunk that the next Data frame speaks of: CHUNK readable bytes until `release_chunk`.
    pub fn chunk(&self) -> *const u8 {
        chunk(&self.map, self.chunks.next())
    }
    pub fn release_chunk(&mut self) {
        self.chunks.release();
    }
    /// Whether the producer waits for room.
    #[inline]
    pub fn producer_starved(&self) -> bool {
        tail(&self.map).starved.load(Ordering::Relaxed) != 0
    }
}
