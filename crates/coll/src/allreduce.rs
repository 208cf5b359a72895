//! MPI_Allreduce (MPI-5.0 6.9.6): recursive doubling for short vectors, reduce-scatter and allgather for long
//! ones.
//!
//! Every rank gets the same bits: short vectors are combined lower ranks first at both partners of each
//! exchange, each part of a long one is computed at one rank.
use crate::allgather::ring;
use crate::blocks::{self, Fold};
use crate::buffer::Data;
use crate::exchange::Exchange;
use crate::halving;
use crate::link::Datatype;
use crate::pairwise::pairwise;
use crate::reduction::{Reduction, Vectors};
use crate::select::{self, Reduce};
use crate::shared::reductions;
use crate::steps::{Room, Steps};
use crate::tags;
use crate::team::Team;
use oxmpi_base::{Result, args::Buf};

pub fn allreduce(ep: &Team, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction) -> Result<()> {
    let vectors = Vectors::new(sbuf, rbuf, count, dt, true);
    if ep.size() == 1 {
        vectors.keep_now();
        return Ok(());
    }
    if let Some(r) = ep.region()?
        && select::shared_reduction(&vectors, r)
    {
        return reductions::allreduce(ep, r, vectors, op);
    }
    let x = Exchange::new(ep, tags::ALLREDUCE);
    steps(&x, vectors, op)?;
    x.finish()
}

/// The reduction by messages.
pub fn steps(x: &impl Steps, vectors: Vectors, op: &Reduction) -> Result<()> {
    if x.size() == 1 {
        vectors.keep(x);
        return Ok(());
    }
    for v in vectors.chunks(select::REDUCE_CHUNK) {
        with(x, select::reduce(v.input.bytes(), v.input.count, x.size()), v, op)?;
    }
    Ok(())
}

pub fn with(x: &impl Steps, algorithm: Reduce, v: Vectors, op: &Reduction) -> Result<()> {
    let Some(out) = v.out else { return Ok(()) };
    match algorithm {
        Reduce::Binomial => doubling(x, v, out, op)?,
        Reduce::Halving => {
            halving::reduce_parts(x, v.input, (!v.in_place).then_some(out), op)?;
            halving::spread_parts(x, out);
        }
        Reduce::Pairwise => {
            let (me, n) = (x.rank(), x.size());
            let part = |r: usize| out.part(blocks::even(out.count, n, r));
            let input = |r: usize| v.input.part(blocks::even(out.count, n, r));
            pairwise(x, input, (!v.in_place).then(|| part(me)), op)?;
            ring(x, part);
        }
    }
    Ok(())
}

/// Partners at distance 1, 2, 4, ... exchange all they have. Ranks beyond a power of two hand their vector to
/// a neighbor first and get the result from it.
fn doubling(x: &impl Steps, v: Vectors, out: Data, op: &Reduction) -> Result<()> {
    let n = x.size();
    let (number, guest) = match blocks::fold(x.rank(), n) {
        Fold::Resting(host) => {
            x.send(v.input, host);
            x.recv(out, host);
            return Ok(());
        }
        Fold::Active { number, guest } => (number, guest),
    };
    v.keep(x);
    let mut temp = x.typed(out, out.count)?;
    let (mut sum, mut theirs) = (out, Data { buf: temp.buf(), ..out });
    if let Some(g) = guest
        && x.recv(theirs, g)
    {
        x.apply(op, theirs.buf, sum.buf, sum.count);
    }
    let (active, _) = blocks::power_of_two(n);
    let mut mask = 1;
    while mask < active {
        let partner = blocks::unfold(number ^ mask, n);
        if x.sendrecv(sum, partner, theirs, partner) {
            if number & mask != 0 {
                x.apply(op, theirs.buf, sum.buf, sum.count);
            } else {
                x.apply(op, sum.buf, theirs.buf, sum.count);
                std::mem::swap(&mut sum, &mut theirs);
            }
        }
        mask *= 2;
    }
    if let Some(g) = guest {
        x.send(sum, g);
    }
    if sum.buf != out.buf {
        x.copy(sum, out);
    }
    Ok(())
}
