//! MPI_Reduce_scatter_block and MPI_Reduce_scatter (MPI-5.0 6.10).
//!
//! In place, the input vector lies in `rbuf` and the result goes to its beginning; the rest is left as it was.
use crate::buffer::{Data, Temp, copy};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::pairwise::pairwise;
use crate::reduce;
use crate::reduction::{Reduction, Vectors};
use crate::scatter::deal;
use crate::select::{self, Reduce, ReduceScatter};
use crate::shared::reductions;
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
    let starts: Vec<usize> = (0..=ep.size()).map(|r| r.saturating_mul(rcount)).collect();
    run(ep, sbuf, rbuf, &starts, dt, op)
}

pub fn reduce_scatter(ep: &Team, sbuf: Buf, rbuf: Buf, rcounts: &Counts, dt: &Datatype, op: &Reduction) -> Result<()> {
    let mut starts = vec![0usize];
    for r in 0..ep.size() {
        starts.push(starts[r].saturating_add(rcounts.get(r) as usize));
    }
    run(ep, sbuf, rbuf, &starts, dt, op)
}

/// `starts[r]..starts[r + 1]` are the elements of rank `r`.
fn run(ep: &Team, sbuf: Buf, rbuf: Buf, starts: &[usize], dt: &Datatype, op: &Reduction) -> Result<()> {
    let x = Exchange::new(ep, tags::REDUCE_SCATTER);
    let v = Vectors::new(sbuf, rbuf, starts[ep.size()], dt, true);
    if ep.size() == 1 {
        v.keep();
    } else if let Some(r) = ep.region()?
        && v.input.bytes() > 0
        && select::shared(v.input.bytes(), r)
    {
        return reductions::reduce_scatter(ep, r, v, starts, op);
    } else if v.input.bytes() > 0 {
        with(&x, select::reduce_scatter(v.input.bytes(), ep.size(), op.commutative), v, starts, op)?;
    }
    x.finish()
}

/// `v.out` begins where this rank's part of the result goes.
pub fn with(x: &Exchange, algorithm: ReduceScatter, v: Vectors, starts: &[usize], op: &Reduction) -> Result<()> {
    let Some(out) = v.out else { return Ok(()) };
    let me = x.rank();
    let own = out.part(0..starts[me + 1] - starts[me]);
    match algorithm {
        ReduceScatter::Halving => halving(x, v.input, own, starts, op),
        ReduceScatter::ReduceScatterv => through_rank_0(x, v.input, own, starts, op),
        ReduceScatter::Pairwise => {
            // In place, the output lies over parts that are still to be sent.
            let mut temp = Temp::typed(own.dt, if v.in_place { own.count } else { 0 })?;
            let sum = if v.in_place { Data { buf: temp.buf(), ..own } } else { own };
            pairwise(x, |r| v.input.part(starts[r]..starts[r + 1]), Some(sum), op)?;
            if v.in_place {
                copy(sum, own);
            }
            Ok(())
        }
    }
}

/// Partners at distance n/2, n/4, ... split the run of ranks whose parts they hold. Combines ranks that are
/// not neighbors: for operations that commute.
fn halving(x: &Exchange, input: Data, own: Data, starts: &[usize], op: &Reduction) -> Result<()> {
    let (me, n) = (x.rank(), x.size());
    let (mut sum_mem, mut in_mem) = (Temp::typed(input.dt, input.count)?, Temp::typed(input.dt, input.count)?);
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
    copy(have.part(starts[me]..starts[me + 1]), own);
    Ok(())
}

fn through_rank_0(x: &Exchange, input: Data, own: Data, starts: &[usize], op: &Reduction) -> Result<()> {
    let me = x.rank();
    let mut temp = Temp::typed(input.dt, if me == 0 { input.count } else { 0 })?;
    let whole = Data { buf: temp.buf(), ..input };
    let v = Vectors { input, out: (me == 0).then_some(whole), in_place: false };
    reduce::with(x, Reduce::Binomial, v, op, 0)?;
    if me == 0 {
        copy(whole.part(0..starts[1]), own);
        deal(x, |r| whole.part(starts[r]..starts[r + 1]), 0, || ());
    } else if own.bytes() > 0 {
        x.recv(own, 0);
    }
    Ok(())
}
