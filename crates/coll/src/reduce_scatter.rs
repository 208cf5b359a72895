//! MPI_Reduce_scatter_block and MPI_Reduce_scatter (MPI-5.0 6.10).
//!
//! In place, the input vector lies in `rbuf` and the result goes to its beginning; the rest is left as it was.
use crate::buffer::Data;
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::pairwise::pairwise;
use crate::reduce;
use crate::reduction::{Reduction, Vectors};
use crate::scatter::deal;
use crate::select::{self, Reduce, ReduceScatter};
use crate::shared::reductions;
use crate::steps::{Room, Steps};
use crate::tags;
use crate::team::Team;
use oxmpi_base::{
    Result,
    args::{Buf, Counts},
};

pub fn reduce_scatter_block(
    ep: &Team,
    sbuf: Buf,
    rbuf: Buf,
    rcount: usize,
    dt: &Datatype,
    op: &Reduction,
) -> Result<()> {
    let starts = starts((0..ep.size()).map(|_| rcount));
    run(ep, sbuf, rbuf, &starts, dt, op)
}

pub fn reduce_scatter(ep: &Team, sbuf: Buf, rbuf: Buf, rcounts: &Counts, dt: &Datatype, op: &Reduction) -> Result<()> {
    let starts = starts((0..ep.size()).map(|r| rcounts.get(r) as usize));
    run(ep, sbuf, rbuf, &starts, dt, op)
}

/// `starts[r]..starts[r + 1]` are the elements of rank `r`.
fn run(ep: &Team, sbuf: Buf, rbuf: Buf, starts: &[usize], dt: &Datatype, op: &Reduction) -> Result<()> {
    let x = Exchange::new(ep, tags::REDUCE_SCATTER);
    let v = Vectors::new(sbuf, rbuf, starts[ep.size()], dt, true);
    if ep.size() == 1 {
        v.keep_now();
    } else if let Some(r) = ep.region()?
        && v.input.bytes() > 0
        && select::shared(v.input.bytes(), r)
    {
        return reductions::reduce_scatter(ep, r, v, starts, op);
    } else {
        steps(&x, v, starts, op)?;
    }
    x.finish()
}

/// The reduction by messages.
pub fn steps(x: &impl Steps, v: Vectors, starts: &[usize], op: &Reduction) -> Result<()> {
    if x.size() == 1 {
        v.keep(x);
    } else if v.input.bytes() > 0 {
        with(x, select::reduce_scatter(v.input.bytes(), x.size(), op.commutative), v, starts, op)?;
    }
    Ok(())
}

/// Where each rank's elements begin, and where the last one's end.
pub fn starts(counts: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut all = vec![0usize];
    for k in counts {
        all.push(all[all.len() - 1].saturating_add(k));
    }
    all
}

/// `v.out` begins where this rank's part of the result goes.
pub fn with(x: &impl Steps, algorithm: ReduceScatter, v: Vectors, starts: &[usize], op: &Reduction) -> Result<()> {
    let Some(out) = v.out else { return Ok(()) };
    let me = x.rank();
    let own = out.part(0..starts[me + 1] - starts[me]);
    match algorithm {
        ReduceScatter::Halving => halving(x, v.input, own, starts, op),
        ReduceScatter::ReduceScatterv => through_rank_0(x, v.input, own, starts, op),
        ReduceScatter::Pairwise => {
            // In place, the output lies over parts that are still to be sent.
            let mut temp = x.typed(own, if v.in_place { own.count } else { 0 })?;
            let sum = if v.in_place { Data { buf: temp.buf(), ..own } } else { own };
            pairwise(x, |r| v.input.part(starts[r]..starts[r + 1]), Some(sum), op)?;
            if v.in_place {
                x.copy(sum, own);
            }
            Ok(())
        }
    }
}

/// Partners at distance n/2, n/4, ... split the run of ranks whose parts they hold. Combines ranks that are
/// not neighbors: for operations that commute.
fn halving(x: &impl Steps, input: Data, own: Data, starts: &[usize], op: &Reduction) -> Result<()> {
    let (me, n) = (x.rank(), x.size());
    let (mut sum_mem, mut in_mem) = (x.typed(input, input.count)?, x.typed(input, input.count)?);
    let (sum, arriving) = (Data { buf: sum_mem.buf(), ..input }, Data { buf: in_mem.buf(), ..input });
    let mut have = input;
    let mut distance = n / 2;
    while distance > 0 {
        let partner = me ^ distance;
        let run = |r: usize| {
            let first = r & !(distance - 1);
            starts[first]..starts[first + distance]
        };
        let (give, keep) = (have.part(run(partner)), run(me));
        let first_step = distance == n / 2;
        let theirs = if first_step { sum } else { arriving }.part(keep.clone());
        let arrived = x.sendrecv(give, partner, theirs, partner);
        if first_step {
            x.apply(op, have.part(keep.clone()).buf, theirs.buf, if arrived { keep.len() } else { 0 });
        } else if arrived {
            x.apply(op, theirs.buf, sum.part(keep.clone()).buf, keep.len());
        }
        have = sum;
        distance /= 2;
    }
    x.copy(have.part(starts[me]..starts[me + 1]), own);
    Ok(())
}

fn through_rank_0(x: &impl Steps, input: Data, own: Data, starts: &[usize], op: &Reduction) -> Result<()> {
    let me = x.rank();
    let mut temp = x.typed(input, if me == 0 { input.count } else { 0 })?;
    let whole = Data { buf: temp.buf(), ..input };
    let v = Vectors { input, out: (me == 0).then_some(whole), in_place: false };
    reduce::with(x, Reduce::Binomial, v, op, 0)?;
    if me == 0 {
        x.copy(whole.part(0..starts[1]), own);
        deal(x, |r| whole.part(starts[r]..starts[r + 1]), 0, || ());
    } else if own.bytes() > 0 {
        x.recv(own, 0);
    }
    Ok(())
}
