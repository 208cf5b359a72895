//! Where things lie in the segment. All of it is computed from the number of ranks.
use oxmpi_ring::doorbell::Doorbell;
use oxmpi_ring::sync::LINE;
use oxmpi_ring::wait::Seats;
use oxmpi_transport::wire::LANES;
use std::sync::atomic::{AtomicU32, AtomicU64};

pub const PAGE: usize = 4096;
/// "oxmpi" and the version of this layout.
pub const MAGIC: u64 = 0x6f78_6d70_6900_0003;
/// More ranks than this on one node are refused.
pub const MAX_RANKS: usize = 4096;

/// Lines of a pair's ring: with the two lines before them they fill 32 KiB. It begins with those of the first page, so that pairs
/// which exchange a little touch one page.
pub const RING_LINES: usize = 510;
pub const FIRST_LINES: usize = PAGE / LINE - 2;
/// Bytes for what is longer than a line.
pub const BULK: usize = 128 * 1024;
/// Longest piece of a message that travels in pieces.
pub const CHUNK: usize = 16 * 1024;
/// Bytes of one ordered pair.
pub const PAIR: usize = 2 * LINE + RING_LINES * LINE + BULK;
const _: () = assert!(PAIR.is_multiple_of(PAGE));

/// The first page.
#[repr(C, align(64))]
pub struct Header {
    pub magic: AtomicU64,
    pub ranks: AtomicU32,
    /// 1 where ranks outnumber the cores they may use.
    pub shared_cores: AtomicU32,
    /// 1 where membarrier works on this system, so that senders need no fence.
    pub asymmetric_fence: AtomicU32,
    /// How often ranks were marked as aborted ([`Identity::aborted`]).
    pub aborts: AtomicU32,
}

/// One per rank.
#[repr(C, align(64))]
pub struct Control {
    /// Rung by peers.
    pub bell: Doorbell,
    /// Written once by the owner, before anything is sent.
    pub identity: Identity,
    /// Counts, for each lane, bits that peers set in the owner's row of the first-use bitmap.
    pub arrivals: Arrivals,
}

#[repr(C, align(64))]
pub struct Identity {
    pub pid: AtomicU32,
    /// Address, in the owner's memory, of a `u64` that holds `probe_value`: target of the single-copy probe.
    pub probe_address: AtomicU64,
    pub probe_value: AtomicU64,
    /// What the owner shares by XPMEM; 0 where it cannot.
    pub xpmem: AtomicU64,
    /// Where the owner runs; see `Node::distance`.
    pub place: AtomicU64,
    /// Size classes (bits) in which the owner prefers announcements to messages sent at once.
    pub announced: AtomicU32,
    /// 1: the rank was aborted with others, while the job goes on. The launcher writes it.
    pub aborted: AtomicU32,
}

#[repr(C, align(64))]
pub struct Arrivals {
    pub count: [AtomicU32; LANES],
}

/// First two lines of a pair.
#[repr(C, align(64))]
pub struct PairHead {
    /// Written by the consumer: lines and bytes that it has handed back.
    pub head: AtomicU64,
    pub bulk_done: AtomicU64,
}

#[repr(C, align(64))]
pub struct PairTail {
    /// Written by the producer: it waits for room; ring its bell when some is made.
    pub starved: AtomicU32,
}

const _: () =
    assert!(size_of::<Control>() == 3 * LINE && size_of::<PairHead>() == LINE && size_of::<PairTail>() == LINE);

fn round(x: usize, to: usize) -> usize {
    x.div_ceil(to) * to
}

/// Byte offsets for `n` ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub n: usize,
    /// Of the [`Seats`].
    pub seats: usize,
    pub controls: usize,
    pub bitmaps: usize,
    /// Words of one rank's bitmap.
    pub bitmap_words: usize,
    pub pairs: usize,
    /// The ranks' areas of the heap; see [`crate::heap`].
    pub areas: u64,
    pub total: u64,
}

impl Layout {
    pub fn new(n: usize) -> Layout {
        let seats = PAGE;
        let controls = seats + size_of::<Seats>();
        let bitmaps = controls + n * size_of::<Control>();
        let bitmap_words = round(n.div_ceil(64), LINE / 8);
        let pairs = round(bitmaps + LANES * n * bitmap_words * 8, PAGE);
        let areas = pairs as u64 + (LANES * n * n) as u64 * PAIR as u64;
        let total = areas + n as u64 * crate::heap::AREA;
        Layout { n, seats, controls, bitmaps, bitmap_words, pairs, areas, total }
    }
    /// Offset of the bitmap of those that send to `to` in `lane`.
    pub fn bitmap(&self, to: usize, lane: usize) -> usize {
        self.bitmaps + (lane * self.n + to) * self.bitmap_words * 8
    }
    /// Offset of the ring from `from` to `to` in `lane`. A lane that nobody uses touches no page.
    pub fn pair(&self, from: usize, to: usize, lane: usize) -> u64 {
        self.pairs as u64 + ((lane * self.n + to) * self.n + from) as u64 * PAIR as u64
    }
}
