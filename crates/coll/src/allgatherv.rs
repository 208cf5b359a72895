//! MPI_Allgatherv (MPI-5.0 6.7): Bruck on packed blocks for short vectors, a ring for long ones.
//!
//! Known gap: a ring with one block much longer than the others waits for it in every step; long blocks are
//! not cut, because counts (but not bytes) may differ between ranks.
use crate::allgather::ring;
use crate::buffer::{Data, bytes};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::select::{self, Allgather};
use crate::shared::movement;
use crate::steps::{Room, Steps};
use crate::tags;
use crate::team::Team;
use oxmpi_base::{
    Result,
    args::{Buf, Counts},
};

/// `displs` in units of the extent of `rdt`.
pub fn allgatherv(
    ep: &Team,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcounts: &Counts,
    displs: &Counts,
    rdt: &Datatype,
) -> Result<()> {
    let x = Exchange::new(ep, tags::ALLGATHERV);
    let n = ep.size();
    let base = Data::new(rbuf, 0, rdt);
    let at = |r: usize| base.at(displs.get(r) as isize, rcounts.get(r) as usize);
    let own = (!sbuf.is_in_place()).then(|| Data::new(sbuf, scount, sdt));
    if let Some(r) = ep.region()? {
        let largest = (0..n).map(|r| rcounts.get(r) as usize).max().unwrap_or(0);
        if select::shared(largest.saturating_mul(rdt.size()), r) {
            return movement::allgather(ep, r, tags::ALLGATHERV, own, at);
        }
    }
    steps(&x, own, at)?;
    x.finish()
}

/// The allgatherv by messages; `own` is not yet in its place, which `at` gives.
pub fn steps<'a>(x: &impl Steps, own: Option<Data>, at: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let n = x.size();
    if let Some(own) = own {
        x.copy(own, at(x.rank()));
    }
    if n > 1 {
        let total = (0..n).map(|r| at(r).bytes()).fold(0, usize::saturating_add);
        with(x, select::allgatherv(total, n), at)?;
    }
    Ok(())
}

/// `at` gives the block of a rank; each rank's own block is already in its place.
pub fn with<'a>(x: &impl Steps, algorithm: Allgather, at: impl Fn(usize) -> Data<'a>) -> Result<()> {
    match algorithm {
        Allgather::Bruck | Allgather::Doubling => bruck(x, at)?,
        Allgather::Ring => ring(x, at),
    }
    Ok(())
}

/// As for equal blocks; where the block of rank me + i begins is a prefix sum.
fn bruck<'a>(x: &impl Steps, at: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let (me, n) = (x.rank(), x.size());
    let mut starts = Vec::with_capacity(n + 1);
    starts.push(0);
    for i in 0..n {
        starts.push(starts[i] + at((me + i) % n).bytes());
    }
    let mut temp = x.bytes(starts[n])?;
    let blocks = bytes(temp.buf(), starts[n]);
    x.copy(at(me), blocks.part(0..starts[1]));
    let mut have = 1;
    while have < n {
        let more = have.min(n - have);
        let (below, above) = ((me + n - have) % n, (me + have) % n);
        x.sendrecv(blocks.part(0..starts[more]), below, blocks.part(starts[have]..starts[have + more]), above);
        have += more;
    }
    for i in 1..n {
        x.copy(blocks.part(starts[i]..starts[i + 1]), at((me + i) % n));
    }
    Ok(())
}
