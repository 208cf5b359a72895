//! MPI_Reduce (MPI-5.0 6.9.1): binomial tree, or reduce-scatter and gather for long vectors.
//!
//! The result of one call does not depend on timing: partial results are combined in a fixed order.
use crate::blocks;
use crate::buffer::Data;
use crate::exchange::Exchange;
use crate::gather::collect;
use crate::halving;
use crate::link::Datatype;
use crate::pairwise::pairwise;
use crate::reduction::{Reduction, Vectors};
use crate::select::{self, Reduce};
use crate::shared::reductions;
use crate::steps::{Room, Steps};
use crate::team::Team;
use crate::{tags, tree};
use oxmpi_base::{Result, args::Buf};

/// `rbuf` is looked at only at the root, where `sbuf` may be MPI_IN_PLACE.
pub fn reduce(ep: &Team, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction, root: usize) -> Result<()> {
    let vectors = Vectors::new(sbuf, rbuf, count, dt, ep.rank() == root);
    if ep.size() == 1 {
        vectors.keep_now();
        return Ok(());
    }
    if let Some(r) = ep.region()?
        && select::shared_reduction(&vectors, r)
        && !select::one_frame(vectors.input.bytes(), ep.size())
    {
        return reductions::reduce(ep, r, vectors, op, root);
    }
    let x = Exchange::new(ep, tags::REDUCE);
    steps(&x, vectors, op, root)?;
    x.finish()
}

/// The reduction by messages.
pub fn steps(x: &impl Steps, vectors: Vectors, op: &Reduction, root: usize) -> Result<()> {
    if x.size() == 1 {
        vectors.keep(x);
        return Ok(());
    }
    for v in vectors.chunks(select::REDUCE_CHUNK) {
        with(x, select::reduce(v.input.bytes(), v.input.count, x.size()), v, op, root)?;
    }
    Ok(())
}

/// `v.out` is present at the root exactly.
pub fn with(x: &impl Steps, algorithm: Reduce, v: Vectors, op: &Reduction, root: usize) -> Result<()> {
    match algorithm {
        Reduce::Binomial => binomial(x, v, op, root),
        Reduce::Halving => halve_and_gather(x, v, op, root),
        Reduce::Pairwise => pairwise_and_gather(x, v, op, root),
    }
}

/// Whole vectors up a tree of consecutive ranks. Rank order matters to operations that do not commute: their
/// tree is rooted at rank 0, which hands the result on.
fn binomial(x: &impl Steps, v: Vectors, op: &Reduction, root: usize) -> Result<()> {
    let (me, n) = (x.rank(), x.size());
    let top = if op.commutative { root } else { 0 };
    let out_here = if me == top { v.out } else { None };
    let (mut mem_a, mut mem_b) = (x.bytes(0)?, x.bytes(0)?);
    let node = tree::node(me, top, n);
    let children = tree::distances(node, n).count();
    if children > 0 {
        mem_a = x.typed(v.input, v.input.count)?;
    }
    if children > 1 && out_here.is_none() {
        mem_b = x.typed(v.input, v.input.count)?;
    }
    let room = Data { buf: mem_a.buf(), ..v.input };
    let other = out_here.unwrap_or(Data { buf: mem_b.buf(), ..v.input });
    let end_in_other = out_here.is_some() && !v.in_place;
    let sum = climb(x, v, op, top, room, other, end_in_other);
    if me != top {
        x.send(sum, tree::rank(tree::parent(node), top, n));
    } else if let Some(out) = v.out {
        if sum.buf != out.buf {
            x.copy(sum, out);
        }
    } else {
        x.send(sum, root);
    }
    if let (true, Some(out)) = (me != top, v.out) {
        x.recv(out, top);
    }
    Ok(())
}

/// Combines the input with the children's vectors and returns where the sum is: the input itself (no
/// children), `room`, or `other`. Each child's vector arrives in the buffer that holds no sum and is the
/// higher-ranked operand, so it also takes the sum: nothing is copied. `other` comes into play with the second
/// child, or so that the sum ends in it.
fn climb<'a>(
    x: &impl Steps,
    v: Vectors<'a>,
    op: &Reduction,
    top: usize,
    room: Data<'a>,
    other: Data<'a>,
    end_in_other: bool,
) -> Data<'a> {
    let n = x.size();
    let node = tree::node(x.rank(), top, n);
    let children = tree::distances(node, n).count();
    let mut sum = v.input;
    let first_in_other = end_in_other && children % 2 == 1;
    let (mut free, mut next) = if first_in_other { (other, room) } else { (room, other) };
    for d in tree::distances(node, n) {
        if x.recv(free, tree::rank(node + d, top, n)) {
            x.apply(op, sum.buf, free.buf, free.count);
            sum = free;
            std::mem::swap(&mut free, &mut next);
        }
    }
    sum
}

/// Temporary room for the elements of `v` from `first` on, as a vector whose element 0 does not exist.
fn shifted<'a>(temp: &mut impl Room, v: &Vectors<'a>, first: usize) -> Data<'a> {
    let at = Data { buf: temp.buf(), ..v.input };
    at.at(-(first as isize), v.input.count)
}

fn halve_and_gather(x: &impl Steps, v: Vectors, op: &Reduction, root: usize) -> Result<()> {
    let (me, n, count) = (x.rank(), x.size(), v.input.count);
    let kept = blocks::even_run(count, n, halving::parts(me, 2, n));
    let mut temp = x.typed(v.input, if v.out.is_some() { 0 } else { kept.len() })?;
    let acc = v.out.unwrap_or_else(|| shifted(&mut temp, &v, kept.start));
    halving::reduce_parts(x, v.input, (!v.in_place).then_some(acc), op)?;
    let part = |r: usize| acc.part(blocks::even_run(count, n, halving::parts(r, n, n)));
    gather_parts(x, part, root);
    Ok(())
}

fn pairwise_and_gather(x: &impl Steps, v: Vectors, op: &Reduction, root: usize) -> Result<()> {
    let (me, n, count) = (x.rank(), x.size(), v.input.count);
    let own = blocks::even(count, n, me);
    let mut temp = x.typed(v.input, if v.out.is_some() { 0 } else { own.len() })?;
    let acc = v.out.unwrap_or_else(|| shifted(&mut temp, &v, own.start));
    let part = |r: usize| acc.part(blocks::even(count, n, r));
    let input = |r: usize| v.input.part(blocks::even(count, n, r));
    pairwise(x, input, (!v.in_place).then(|| part(me)), op)?;
    gather_parts(x, part, root);
    Ok(())
}

fn gather_parts<'a>(x: &impl Steps, part: impl Fn(usize) -> Data<'a>, root: usize) {
    if x.rank() == root {
        collect(x, part, root);
    } else if part(x.rank()).bytes() > 0 {
        x.send(part(x.rank()), root);
    }
}
