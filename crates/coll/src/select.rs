//! Which algorithm a collective uses: the one table of thresholds, with reasons.
//!
//! Invariant: every function depends only on values that are equal at all ranks of a call: the ranks `n`,
//! bytes of the type signature, element counts where the standard makes them equal, commutativity. Layout,
//! addresses and local state never enter; ranks that chose differently would wait for each other for ever.
//!
//! The numbers come from one shared-memory node, where a short message costs about 0.2 us a hop, copies run
//! at about 10 GB/s, and messages from 32 KiB on are copied by both sides at once. Known gap: they are not
//! measured between nodes. Those that a user may set are control variables; they are `same_everywhere`, and read once a
//! call, so that all ranks see one value.

use crate::reduction::Vectors;
use crate::shared::region::Region;
use oxmpi_ring::slots::INLINE;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Long reductions run over the vector in chunks of this many bytes: temporaries stay below it, and what one
/// step wrote is still in the last-level cache when the next one reads it.
pub const REDUCE_CHUNK: usize = 8 * MIB;
/// The same for scans, whose doubling moves the whole vector in each step: smaller chunks let ranks that
/// finished one go on with the next.
pub const SCAN_CHUNK: usize = 256 * KIB;
/// How many messages in each direction a rank has outstanding in a many-to-many pattern.
pub const WINDOW: usize = 32;

/// Whether a block of `bytes` that one rank offers goes through shared memory.
pub fn shared(bytes: usize, r: &Region) -> bool {
    bytes <= INLINE || bytes <= r.room() || r.direct
}
/// The same for an all-to-all of blocks of `block` bytes: in place, what is read must not be overwritten meanwhile, so it must be copied.
pub fn shared_all(block: usize, n: usize, in_place: bool, r: &Region) -> bool {
    let all = block.saturating_mul(n);
    all <= INLINE || all <= r.room() || (r.direct && !in_place)
}
/// Scans: each rank reads all lower ones, which is too much for long vectors.
pub fn shared_scan(bytes: usize, n: usize, r: &Region) -> bool {
    bytes <= INLINE || (bytes <= r.room() && bytes.saturating_mul(n) <= 256 * KIB)
}

/// From which size on the own block of an exchange of all with all is read directly and not copied to the buffer first. Between two ranks
/// both directions go on at once and a system call pays early (16 KiB: 1.9 us against 3.6); where more ranks share cores, the second
/// wait that it needs costs more than the copy.
pub fn direct_from(n: usize) -> usize {
    if n == 2 { 4 * KIB } else { usize::MAX }
}

/// Where data flows one way between two ranks, what fits a frame is better off as a message, whose parts are read while others are
/// still written (4 KiB: 0.9 us against 1.2).
pub fn one_frame(bytes: usize, n: usize) -> bool {
    n == 2 && bytes > INLINE && bytes <= 4 * KIB
}
/// Two ranks copy a long block together when it is a message (1 MiB: 22 us against 54).
const TOGETHER: usize = 32 * KIB;

pub fn shared_bcast(bytes: usize, n: usize, r: &Region) -> bool {
    shared(bytes, r) && (n > 2 || bytes <= INLINE)
}
pub fn shared_scatter(block: usize, n: usize, r: &Region) -> bool {
    shared(block.saturating_mul(n), r) && !one_frame(block, n) && (n > 2 || block <= TOGETHER)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Gather {
    Messages,
    /// The root reads what the others offer.
    Read,
    /// The others write to the root's memory, all at once and while the root copies its own block (4 ranks on 2 cores, 64 KiB: 6.6 us
    /// against 14; 2 ranks, 1 MiB: 66 against 93).
    Written,
}

pub fn gather(block: usize, n: usize, r: &Region) -> Gather {
    if one_frame(block, n) {
        Gather::Messages
    } else if r.direct && block > 2 * KIB {
        Gather::Written
    } else if block <= INLINE || block <= r.room() {
        Gather::Read
    } else {
        Gather::Messages
    }
}

/// How ranks that share memory combine vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shared {
    /// Whoever wants the result combines all vectors itself, from the slots or buffers, a buffer's length at a time: one round each,
    /// in which the others are ahead.
    Buffers,
    /// The same from the vectors themselves by single copy, in one round.
    Vectors,
    /// Each rank combines a part, from buffers.
    Parts,
    /// Each rank combines a part, from the vectors themselves.
    DirectParts,
}

pub fn shared_reduce(bytes: usize, n: usize, shares_cores: bool, r: &Region) -> Shared {
    if !r.direct || bytes <= 4 * KIB {
        Shared::Buffers
    } else if n == 2 {
        // Longer ones are copied to buffers by one rank while the other combines (1 MiB: 95 us against 120).
        if bytes <= 512 * KIB { Shared::Vectors } else { Shared::Buffers }
    } else if bytes <= 32 * KIB || (shares_cores && n <= 16) {
        // Where ranks share cores, fewer waits win (4 ranks on 2 cores, 64 KiB: 13 us against 25).
        Shared::Buffers
    } else {
        Shared::DirectParts
    }
}
/// Reductions of any length go through the buffers in chunks, if an element finds room.
pub fn shared_reduction(v: &Vectors, r: &Region) -> bool {
    v.input.bytes() <= INLINE || v.input.dt.size() <= r.room()
}

pub fn shared_allreduce(bytes: usize, n: usize, r: &Region) -> Shared {
    if bytes <= INLINE {
        Shared::Buffers
    } else if r.direct && n == 2 && bytes > 4 * KIB {
        // Both combine all: twice the arithmetic in half the rounds (16 KiB: 2.3 us against 4.1, 64 KiB: 5.7 against 11).
        Shared::Vectors
    } else if bytes.saturating_mul(n) <= 32 * KIB && bytes <= r.room() {
        Shared::Buffers
    } else if r.direct && bytes > 64 * KIB {
        Shared::DirectParts
    } else {
        Shared::Parts
    }
}
/// Whether the vectors of a reduce-scatter, `bytes` long in all, are read where they are.
pub fn direct_reduce_scatter(bytes: usize, n: usize, r: &Region) -> bool {
    let fits = bytes <= INLINE || bytes <= r.room();
    !fits || (r.direct && n == 2 && bytes > 8 * KIB)
}
/// How much of a vector is read at once by single copy: what is combined next is then still in the second-level cache.
pub const DIRECT_PIECE: usize = 128 * KIB;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Barrier {
    /// The fewest hops where every rank runs at once.
    Dissemination,
    /// In to rank 0 and out again: a rank waits once instead of log2(n) times.
    Central,
}

/// Where ranks share cores a wait costs a switch of processes, so fewer waits win: measured with 8 and 16 ranks on 2 cores, 9 and
/// 24 us against 14 and 47. Whether they share is a fact of the job, the same for all its ranks.
pub fn barrier(n: usize, shared_cores: bool) -> Barrier {
    if shared_cores && (5..=64).contains(&n) { Barrier::Central } else { Barrier::Dissemination }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bcast {
    /// log2(n) whole messages on the longest path: best while a message costs latency, not copying.
    Binomial,
    /// Every rank gets one n-th, then all pass their parts around: each byte crosses each rank about twice,
    /// and nobody sends the whole more than once.
    ScatterAllgather,
    /// A chain of segments of this many bytes: each byte crosses each rank once, and the fill time of the
    /// chain is paid back when there are many segments.
    Chain { segment: usize },
}

oxmpi_base::control! {
    /// MPI_Bcast of up to this many bytes sends the whole message down a binomial tree; longer ones are cut into parts or
    /// into segments that follow each other through a chain. All ranks need the same value.
    pub static BCAST_TREE_MAX: Size =
        Size::new("coll_bcast_tree_max", 16 << 10, 0..=1 << 30).same_everywhere();
}

pub fn bcast(bytes: usize, n: usize) -> Bcast {
    if n <= 2 || bytes as u64 <= BCAST_TREE_MAX.get() {
        Bcast::Binomial
    } else if bytes < 512 * KIB && bytes >= 256 * n {
        Bcast::ScatterAllgather
    } else if bytes < 512 * KIB {
        Bcast::Binomial
    } else {
        // 128 KiB is where both-sided copies reach full speed; the chain wants segments >> ranks.
        Bcast::Chain { segment: 128 * KIB }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rooted {
    /// Blocks travel through inner nodes of a tree: fewer messages at the root.
    Binomial,
    /// Root and rank directly: each byte is copied once.
    Linear,
}

/// Gather and scatter of blocks of `block` bytes.
pub fn rooted(block: usize, n: usize) -> Rooted {
    // A tree halves the root's messages again and again but copies each block log2(n) times; with few ranks
    // or blocks that fill a message the root is better off alone.
    if n > 4 && block <= 2 * KIB { Rooted::Binomial } else { Rooted::Linear }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Allgather {
    /// log2(n) exchanges of doubling size, in place; powers of two only.
    Doubling,
    /// The same for any n, through a rotated copy.
    Bruck,
    /// n-1 exchanges of one block with the neighbors: no byte is copied twice at a rank.
    Ring,
}

pub fn allgather(total: usize, n: usize) -> Allgather {
    // Doubling moves the same bytes as the ring in fewer, larger steps, so it stays ahead until messages are
    // large enough that neighbors' caches matter more than step counts. Bruck pays two more copies.
    if n.is_power_of_two() && (n == 2 || total <= 512 * KIB) {
        Allgather::Doubling
    } else if total <= 64 * KIB {
        Allgather::Bruck
    } else {
        Allgather::Ring
    }
}

/// As [`allgather`], for blocks of unequal sizes (no doubling: displacements may leave gaps).
pub fn allgatherv(total: usize, n: usize) -> Allgather {
    if n > 2 && total <= 32 * KIB { Allgather::Bruck } else { Allgather::Ring }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Alltoall {
    /// log2(n) messages of n/2 blocks each: when a block costs less than a message.
    Bruck,
    /// All messages outstanding at once, [`WINDOW`] at a time: hides latency.
    Window,
    /// One partner at a time: long messages gain nothing from concurrency and fight for memory bandwidth.
    Pairwise,
}

pub fn alltoall(block: usize, n: usize) -> Alltoall {
    if n >= 8 && block <= 128 {
        Alltoall::Bruck
    } else if block <= 32 * KIB {
        Alltoall::Window
    } else {
        Alltoall::Pairwise
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduce {
    /// Whole vectors up a binomial tree.
    Binomial,
    /// Recursive halving (Rabenseifner): each rank reduces one n-th; powers of two only.
    Halving,
    /// Each rank gets its n-th from everybody directly: the same bytes in n-1 messages, any n.
    Pairwise,
}

/// Reduce and allreduce: `count` elements, `bytes` in all. For allreduce, `Binomial` means recursive doubling.
pub fn reduce(bytes: usize, count: usize, n: usize) -> Reduce {
    // Splitting sends each byte about twice instead of log2(n) times and spreads the arithmetic; it costs
    // twice the messages, so a part must be worth a message.
    if bytes <= 16 * KIB || count < n || bytes < 512 * n {
        Reduce::Binomial
    } else if n.is_power_of_two() {
        Reduce::Halving
    } else {
        Reduce::Pairwise
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReduceScatter {
    /// Recursive halving by distance: log2(n) exchanges. Combines ranks that are not neighbors, so the
    /// operation must commute; powers of two only.
    Halving,
    /// Reduce to rank 0, then scatter: log2(n) steps for any n and any order.
    ReduceScatterv,
    /// Every block straight to its owner: each byte is sent once, in n-1 messages; keeps rank order.
    Pairwise,
}

pub fn reduce_scatter(bytes: usize, n: usize, commutative: bool) -> ReduceScatter {
    if n == 2 || bytes > 64 * KIB {
        ReduceScatter::Pairwise
    } else if commutative && n.is_power_of_two() {
        ReduceScatter::Halving
    } else if n <= 8 && bytes > 8 * KIB {
        ReduceScatter::Pairwise
    } else {
        ReduceScatter::ReduceScatterv
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn power_of_two_algorithms_are_chosen_for_powers_of_two_only() {
        for n in 2..80usize {
            for shift in 0..26 {
                let b = 1usize << shift;
                if !n.is_power_of_two() {
                    assert_ne!(allgather(b, n), Allgather::Doubling);
                    assert_ne!(reduce(b, b, n), Reduce::Halving);
                    assert_ne!(reduce_scatter(b, n, true), ReduceScatter::Halving);
                }
                assert_ne!(reduce_scatter(b, n, false), ReduceScatter::Halving);
                assert_eq!(reduce(b, n - 1, n), Reduce::Binomial, "no part is empty");
            }
        }
    }

    #[test]
    fn two_ranks_never_go_through_a_third_copy() {
        for shift in 0..26 {
            assert_eq!(bcast(1 << shift, 2), Bcast::Binomial);
            assert_eq!(allgather(1 << shift, 2), Allgather::Doubling);
        }
    }
}
