//! MPI_Alltoall (MPI-5.0 6.8): Bruck, windows of outstanding messages, or pairwise exchange.
use crate::alltoallv::{in_place, pairwise, window};
use crate::buffer::{Data, bytes};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::select::{self, Alltoall};
use crate::shared::movement;
use crate::steps::{Room, Steps};
use crate::tags;
use crate::team::Team;
use oxmpi_base::{Result, args::Buf};

pub fn alltoall(
    ep: &Team,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
) -> Result<()> {
    let x = Exchange::new(ep, tags::ALLTOALL);
    let to = Data::new(rbuf, rcount, rdt);
    if to.bytes() == 0 {
        return Ok(());
    }
    let in_place_here = sbuf.is_in_place();
    if let Some(r) = ep.region()?
        && select::shared_all(to.bytes(), ep.size(), in_place_here, r)
    {
        return movement::alltoall(ep, r, (!in_place_here).then(|| Data::new(sbuf, scount, sdt)), to);
    }
    steps(&x, (!in_place_here).then(|| Data::new(sbuf, scount, sdt)), to)?;
    x.finish()
}

/// The all-to-all by messages; in place without `from`.
pub fn steps(x: &impl Steps, from: Option<Data>, to: Data) -> Result<()> {
    match from {
        _ if to.bytes() == 0 => Ok(()),
        None => in_place(x, |r| to.blocks(r, 1)),
        Some(from) => with(x, select::alltoall(to.bytes(), x.size()), from, to),
    }
}

/// `from` and `to` are the blocks of rank 0.
pub fn with(x: &impl Steps, algorithm: Alltoall, from: Data, to: Data) -> Result<()> {
    match algorithm {
        Alltoall::Bruck => bruck(x, from, to)?,
        Alltoall::Window => window(x, |r| from.blocks(r, 1), |r| to.blocks(r, 1)),
        Alltoall::Pairwise => pairwise(x, |r| from.blocks(r, 1), |r| to.blocks(r, 1)),
    }
    Ok(())
}

/// Block i of the work area starts as the one for rank me + i. In round k, all blocks whose index has bit k
/// travel 2^k ranks up: in the end block i has travelled i ranks and came from rank me - i.
fn bruck(x: &impl Steps, from: Data, to: Data) -> Result<()> {
    let (me, n, block) = (x.rank(), x.size(), to.bytes());
    let mut work_mem = x.bytes(n * block)?;
    let mut out_mem = x.bytes(n.div_ceil(2) * block)?;
    let mut in_mem = x.bytes(n.div_ceil(2) * block)?;
    let work = bytes(work_mem.buf(), n * block);
    let (outgoing, incoming) = (bytes(out_mem.buf(), 0), bytes(in_mem.buf(), 0));
    x.copy(from.blocks(me, n - me), work.part(0..(n - me) * block));
    x.copy(from.blocks(0, me), work.part((n - me) * block..n * block));
    let nth = |d: Data<'static>, i: usize| d.part(i * block..(i + 1) * block);
    let mut bit = 1;
    while bit < n {
        let moving = || (0..n).filter(|i| i & bit != 0).enumerate();
        moving().for_each(|(k, i)| x.copy(nth(work, i), nth(outgoing, k)));
        let len = moving().count() * block;
        if x.sendrecv(outgoing.part(0..len), (me + bit) % n, incoming.part(0..len), (me + n - bit) % n) {
            moving().for_each(|(k, i)| x.copy(nth(incoming, k), nth(work, i)));
        }
        bit *= 2;
    }
    (0..n).for_each(|i| x.copy(nth(work, i), to.blocks((me + n - i) % n, 1)));
    Ok(())
}
