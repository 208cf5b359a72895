//! Reduce, allreduce, reduce-scatter and the scans.
//!
//! A rank combines what it needs itself, from the highest rank down: `acc = x[r] op acc` with `x[r]` where rank `r` offers it. So lower
//! ranks stand first, nothing is copied to be combined, and all ranks that combine the same elements do it in the same order.
//!
//! Short vectors: everybody reads everything, one round. Longer ones: rank `i` combines part `i`, then the parts are read from their
//! ranks, two rounds; through the buffers in chunks, or by single copy from the vectors themselves.
use crate::blocks;
use crate::buffer::{Data, Temp, copy};
use crate::link::Endpoint;
use crate::reduction::{Reduction, Vectors};
use crate::select::{self, Shared};
use crate::shared::region::Region;
use crate::shared::round::{At, Round, get, packed, put, run};
use crate::steps::Steps;
use crate::tags;
use oxmpi_base::{Result, args::Buf};
use oxmpi_ring::slots::INLINE;
use std::ops::Range;

/// Elements are combined in pieces of so many bytes: the sum stays in the nearest caches.
const PIECE: usize = 16 * 1024;

pub fn allreduce(ep: &Endpoint, r: &Region, v: Vectors, op: &Reduction) -> Result<()> {
    run(ep, r, tags::ALLREDUCE, |c| {
        let Some(out) = v.out else { return Ok(()) };
        let bytes = v.input.bytes();
        match select::shared_allreduce(bytes, c.n(), r) {
            Shared::Buffers => {
                let s = r.begin();
                c.offer(s, v.input)?;
                fold(c, 0..c.n(), 0..out.count, out, op, false, |rank| offered(c, rank, s, bytes))?;
                if out.count > 0 {
                    c.seen_all(s);
                }
                c.done(s);
                Ok(())
            }
            Shared::Vectors => c.rounds(1, || allreduce_whole(c, v, out, op)),
            Shared::DirectParts => c.rounds(2, || allreduce_direct(c, v, out, op)),
            Shared::Parts => {
                let n = 2 * v.chunks(r.room()).count() as u64;
                c.rounds(n, || v.chunks(r.room()).try_for_each(|v| allreduce_parts(c, v, op)))
            }
        }
    })
}

/// Every rank combines everything, from the vectors themselves.
fn allreduce_whole(c: &Round, v: Vectors, out: Data, op: &Reduction) -> Result<()> {
    let (bytes, me) = (v.input.bytes(), c.me());
    let mut aside = Temp::bytes(if v.in_place { bytes } else { 0 })?;
    let input = if v.in_place {
        put(v.input, aside.buf().as_mut_ptr());
        aside.buf().as_ptr()
    } else {
        packed(v.input, &mut aside)?
    };
    let s = c.r.begin();
    c.offer_address(s, input, bytes)?;
    fold(c, 0..c.n(), 0..out.count, out, op, true, |rank| {
        if rank == me { Ok(Some(At::Memory(input))) } else { offered(c, rank, s, bytes) }
    })?;
    c.seen_all(s);
    c.done(s);
    c.all_done(s)
}

fn allreduce_parts(c: &Round, v: Vectors, op: &Reduction) -> Result<()> {
    let Some(out) = v.out else { return Ok(()) };
    let (bytes, n) = (v.input.bytes(), c.n());
    let part = |rank: usize| blocks::even(out.count, n, rank);
    let own = out.part(part(c.me()));
    let first = c.r.begin();
    c.offer(first, v.input)?;
    c.meet(first)?;
    fold(c, 0..n, part(c.me()), own, op, false, |rank| offered(c, rank, first, bytes))?;
    let second = c.r.begin();
    c.offer(second, own)?;
    spread(c, out, second)
}

fn allreduce_direct(c: &Round, v: Vectors, out: Data, op: &Reduction) -> Result<()> {
    let part = blocks::even(out.count, c.n(), c.me());
    let own = out.part(part.clone());
    reduce_part(c, v, part, own, op)?;
    let mut result = Temp::bytes(0)?;
    let second = c.r.begin();
    c.offer_address(second, packed(own, &mut result)?, own.bytes())?;
    spread(c, out, second)?;
    // The others read from `out`.
    c.all_done(second)
}

/// Every rank offers its part of `out`: the others' parts come in. The part of a rank is overwritten only when that rank has published,
/// and so has read what it needs of an input in place.
fn spread(c: &Round, out: Data, s: u64) -> Result<()> {
    for rank in c.others() {
        let o = c.seen(rank, s)?;
        c.fetch(rank, o.at, o.len, out.part(blocks::even(out.count, c.n(), rank)));
    }
    c.seen_all(s);
    c.done(s);
    Ok(())
}

/// One round in which all offer their whole inputs for single copy: elements `part` are combined into `acc`, which may lie over them.
/// The inputs are in use until the next round of the others.
fn reduce_part(c: &Round, v: Vectors, part: Range<usize>, acc: Data, op: &Reduction) -> Result<u64> {
    let (bytes, size) = (v.input.bytes(), v.input.dt.size());
    let mut whole = Temp::bytes(0)?;
    let input = packed(v.input, &mut whole)?;
    let s = c.r.begin();
    c.offer_address(s, input, bytes)?;
    let mut aside;
    let mut own = input;
    if v.in_place && v.input.dense_bytes().is_some() {
        let n = part.len() * size;
        aside = Temp::bytes(n)?;
        let at = aside.buf().as_mut_ptr();
        get(input.wrapping_add(part.start * size), n, crate::buffer::bytes(Buf(at.cast()), n));
        own = at.cast_const().wrapping_sub(part.start * size);
    }
    fold(c, 0..c.n(), part, acc, op, true, |rank| {
        if rank == c.me() { Ok(Some(At::Memory(own))) } else { offered(c, rank, s, bytes) }
    })?;
    c.done(s);
    if whole.buf().as_ptr() == input {
        // A packed copy must stay until all have read it.
        c.all_done(s)?;
    }
    Ok(s)
}

pub fn reduce(ep: &Endpoint, r: &Region, v: Vectors, op: &Reduction, root: usize) -> Result<()> {
    run(ep, r, tags::REDUCE, |c| {
        let bytes = v.input.bytes();
        if bytes <= INLINE {
            return reduce_flat::<false>(c, v, op, root);
        }
        match select::shared_reduce(bytes, c.n(), ep.shares_cores(), r) {
            Shared::DirectParts => c.rounds(2, || reduce_direct(c, v, op, root)),
            Shared::Vectors => reduce_flat::<true>(c, v, op, root),
            Shared::Buffers | Shared::Parts => {
                let chunks = || v.chunks(r.room().max(INLINE));
                c.rounds(chunks().count() as u64, || chunks().try_for_each(|v| reduce_flat::<false>(c, v, op, root)))
            }
        }
    })
}

/// The root combines all; `DIRECT` from the vectors themselves.
fn reduce_flat<const DIRECT: bool>(c: &Round, v: Vectors, op: &Reduction, root: usize) -> Result<()> {
    let bytes = v.input.bytes();
    let s = c.r.begin();
    let Some(out) = v.out else {
        if !DIRECT {
            c.offer(s, v.input)?;
            c.done(s);
            return Ok(());
        }
        let mut whole = Temp::bytes(0)?;
        c.offer_address(s, packed(v.input, &mut whole)?, bytes)?;
        c.done(s);
        return c.is_done(root, s);
    };
    let mut aside = Temp::bytes(0)?;
    let own = if v.in_place {
        aside = Temp::bytes(bytes)?;
        let at = aside.buf();
        put(v.input, at.as_mut_ptr());
        at.as_ptr()
    } else {
        packed(v.input, &mut aside)?
    };
    let me = c.me();
    fold(c, 0..c.n(), 0..out.count, out, op, DIRECT, |rank| {
        if rank == me {
            return Ok(Some(At::Memory(own)));
        }
        c.look_ahead(rank, s);
        offered(c, rank, s, bytes)
    })?;
    c.done(s);
    Ok(())
}

fn reduce_direct(c: &Round, v: Vectors, op: &Reduction, root: usize) -> Result<()> {
    let count = v.input.count;
    let part = |rank: usize| blocks::even(count, c.n(), rank);
    let mine = part(c.me());
    let mut room = Temp::typed(v.input.dt, if v.out.is_some() { 0 } else { mine.len() })?;
    let acc = match v.out {
        Some(out) => out.part(mine.clone()),
        None => Data { buf: room.buf(), count: mine.len(), ..v.input },
    };
    reduce_part(c, v, mine, acc, op)?;
    let s = c.r.begin();
    let mut result = Temp::bytes(0)?;
    c.offer_address(s, packed(acc, &mut result)?, acc.bytes())?;
    if let Some(out) = v.out {
        for rank in c.others() {
            let o = c.seen(rank, s)?;
            c.fetch(rank, o.at, o.len, out.part(part(rank)));
        }
        c.seen_all(s);
        c.done(s);
        return Ok(());
    }
    // All have read the input when they offer their parts.
    c.meet(s)?;
    c.done(s);
    c.is_done(root, s)
}

/// `starts[r]..starts[r + 1]` are the elements of rank `r`; `out` is where this rank's go.
pub fn reduce_scatter(ep: &Endpoint, r: &Region, v: Vectors, starts: &[usize], op: &Reduction) -> Result<()> {
    run(ep, r, tags::REDUCE_SCATTER, |c| {
        let Some(out) = v.out else { return Ok(()) };
        let (bytes, me) = (v.input.bytes(), c.me());
        let part = starts[me]..starts[me + 1];
        let own = out.part(0..part.len());
        if !select::direct_reduce_scatter(bytes, c.n(), r) {
            let s = r.begin();
            c.offer(s, v.input)?;
            fold(c, 0..c.n(), part, own, op, false, |rank| offered(c, rank, s, bytes))?;
            c.done(s);
            return Ok(());
        }
        c.rounds(1, || {
            // In place, the output lies over parts that others still read.
            let mut temp = Temp::typed(own.dt, if v.in_place { own.count } else { 0 })?;
            let sum = if v.in_place { Data { buf: temp.buf(), ..own } } else { own };
            let s = reduce_part(c, Vectors { in_place: false, ..v }, part, sum, op)?;
            c.done(s);
            c.all_done(s)?;
            if v.in_place {
                copy(sum, own);
            }
            Ok(())
        })
    })
}

/// `inclusive` is MPI_Scan; the output of rank 0 is not touched otherwise.
pub fn scan(ep: &Endpoint, r: &Region, v: Vectors, op: &Reduction, inclusive: bool) -> Result<()> {
    run(ep, r, if inclusive { tags::SCAN } else { tags::EXSCAN }, |c| {
        let Some(out) = v.out else { return Ok(()) };
        let bytes = v.input.bytes();
        let s = r.begin();
        c.offer(s, v.input)?;
        let upto = c.me() + inclusive as usize;
        fold(c, 0..upto, 0..out.count, out, op, false, |rank| offered(c, rank, s, bytes))?;
        c.done(s);
        Ok(())
    })
}

/// Where `rank` offers a vector of `bytes` bytes; none if it is of another length.
#[inline]
fn offered(c: &Round, rank: usize, s: u64, bytes: usize) -> Result<Option<At>> {
    let o = c.seen(rank, s)?;
    if o.len != bytes {
        c.too_long(rank, o.len, bytes);
        return Ok(None);
    }
    Ok(Some(o.at))
}

/// Combines elements `range` of the vectors that `source` finds into `acc`; `direct` where they are read by single copy.
#[inline]
fn fold(
    c: &Round,
    ranks: Range<usize>,
    range: Range<usize>,
    acc: Data,
    op: &Reduction,
    direct: bool,
    source: impl Fn(usize) -> Result<Option<At>>,
) -> Result<()> {
    let (size, dt) = (acc.dt.size(), acc.dt);
    if range.is_empty() || ranks.is_empty() {
        return Ok(());
    }
    let dense = dt.dense();
    let three = op.apply3.filter(|_| dense.is_some());
    let piece = (if direct { select::DIRECT_PIECE } else { PIECE } / size.max(1)).clamp(1, range.len());
    let mut stage = Temp::bytes(if direct { piece * size } else { 0 })?;
    let mut typed = Temp::typed(dt, if dense.is_none() { piece } else { 0 })?;
    for at in blocks::chunks(range.len(), piece) {
        let (to, from, len) = (acc.part(at.clone()), (range.start + at.start) * size, at.len() * size);
        // The first vector waits for the second one where the operation takes both and a place for the result.
        let (mut begun, mut held) = (false, None);
        for rank in ranks.clone().rev() {
            let Some(x) = source(rank)? else { continue };
            let x = x.plus(from);
            if !begun {
                match x {
                    At::Memory(p) if three.is_some() => held = Some(p),
                    _ => c.fetch(rank, x, len, to),
                }
                begun = true;
                continue;
            }
            let bytes = match x {
                At::Memory(p) => p,
                At::Remote(there, offset) => {
                    let p = stage.buf().as_mut_ptr();
                    // SAFETY: `stage` has room for a piece.
                    if !unsafe { c.read_raw(rank, there, offset, p, len) } {
                        continue;
                    }
                    p
                }
                At::Message => continue,
            };
            if let (Some(high), Some(f), Some(offset)) = (held.take(), three, dense) {
                f(bytes.wrapping_offset(-offset), high.wrapping_offset(-offset), to.buf.as_mut_ptr(), at.len());
                continue;
            }
            let input = match dense {
                Some(offset) => bytes.wrapping_offset(-offset),
                None => {
                    let room = Data { buf: typed.buf(), count: at.len(), dt };
                    get(bytes, len, room);
                    room.buf.as_ptr()
                }
            };
            c.x.apply(op, Buf(input.cast_mut().cast()), to.buf, at.len());
        }
        if let Some(only) = held {
            get(only, len, to);
        }
    }
    Ok(())
}
