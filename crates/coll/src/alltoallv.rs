//! MPI_Alltoallv and MPI_Alltoallw (MPI-5.0 6.8), and the exchanges they share with MPI_Alltoall.
//!
//! Counts are known to the two ranks of a pair only, so nothing can be selected by size; blocks without
//! data are not sent (both ranks of the pair know).
use crate::blocks::meeting;
use crate::buffer::{Data, bytes};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::shared::movement;
use crate::steps::{Room, Steps};
use crate::team::Team;
use crate::{select, tags};
use oxmpi_base::{
    Result,
    args::{Buf, Counts},
};

/// Displacements in units of the types' extents. The send arguments are not looked at when `sbuf` is
/// MPI_IN_PLACE.
pub fn alltoallv(
    ep: &Team,
    sbuf: Buf,
    scounts: &Counts,
    sdispls: &Counts,
    sdt: &Datatype,
    rbuf: Buf,
    rcounts: &Counts,
    rdispls: &Counts,
    rdt: &Datatype,
) -> Result<()> {
    let to = Data::new(rbuf, 0, rdt);
    let to = |r: usize| to.at(rdispls.get(r) as isize, rcounts.get(r) as usize);
    if sbuf.is_in_place() {
        return exchange(ep, None::<fn(usize) -> Data<'static>>, to);
    }
    let from = Data::new(sbuf, 0, sdt);
    exchange(ep, Some(|r: usize| from.at(sdispls.get(r) as isize, scounts.get(r) as usize)), to)
}

/// Displacements in bytes, a type for each rank. The send arguments are not looked at when `sbuf` is
/// MPI_IN_PLACE.
pub fn alltoallw(
    ep: &Team,
    sbuf: Buf,
    scounts: &Counts,
    sdispls: &Counts,
    sdts: &[&Datatype],
    rbuf: Buf,
    rcounts: &Counts,
    rdispls: &Counts,
    rdts: &[&Datatype],
) -> Result<()> {
    let to = |r: usize| Data::new(rbuf.offset(rdispls.get(r) as isize), rcounts.get(r) as usize, rdts[r]);
    if sbuf.is_in_place() {
        return exchange(ep, None::<fn(usize) -> Data<'static>>, to);
    }
    let from = |r: usize| Data::new(sbuf.offset(sdispls.get(r) as isize), scounts.get(r) as usize, sdts[r]);
    exchange(ep, Some(from), to)
}

fn exchange<'a, 'b>(ep: &Team, from: Option<impl Fn(usize) -> Data<'a>>, to: impl Fn(usize) -> Data<'b>) -> Result<()> {
    let region = ep.region()?.filter(|r| r.room() > 0);
    let x = Exchange::new(ep, tags::ALLTOALLV);
    match (from, region) {
        (Some(from), Some(r)) => return movement::alltoallv(ep, r, from, to),
        (from, _) => steps(&x, from, to)?,
    }
    x.finish()
}

/// The exchange by messages; in place without `from`.
pub fn steps<'a, 'b>(
    x: &impl Steps,
    from: Option<impl Fn(usize) -> Data<'a>>,
    to: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    match from {
        Some(from) => window(x, from, to),
        None => in_place(x, to)?,
    }
    Ok(())
}

/// All messages at once, a window at a time, starting from different partners at each rank. Receives of a
/// window are posted before its sends, and a window's sends meet the same window of the receivers.
pub fn window<'a, 'b>(x: &impl Steps, from: impl Fn(usize) -> Data<'a>, to: impl Fn(usize) -> Data<'b>) {
    let (me, n) = (x.rank(), x.size());
    x.copy(from(me), to(me));
    let mut pending = Vec::new();
    for first in (1..n).step_by(select::WINDOW) {
        let steps = first..(first + select::WINDOW).min(n);
        for i in steps.clone() {
            let source = (me + n - i) % n;
            let d = to(source);
            if d.bytes() > 0 {
                pending.extend(x.irecv(d, source));
            }
        }
        for i in steps {
            let dest = (me + i) % n;
            let d = from(dest);
            if d.bytes() > 0 {
                pending.extend(x.isend(d, dest));
            }
        }
        x.wait_all(&mut pending);
    }
}

/// One partner at a time in each direction; equal blocks, none empty.
pub fn pairwise<'a, 'b>(x: &impl Steps, from: impl Fn(usize) -> Data<'a>, to: impl Fn(usize) -> Data<'b>) {
    let (me, n) = (x.rank(), x.size());
    x.copy(from(me), to(me));
    for i in 1..n {
        let (dest, source) = if n.is_power_of_two() { (me ^ i, me ^ i) } else { ((me + i) % n, (me + n - i) % n) };
        x.sendrecv(from(dest), dest, to(source), source);
    }
}

/// Disjoint pairs of ranks exchange their blocks, round by round; the outgoing block steps aside first, so
/// the memory needed is that of the largest block.
pub fn in_place<'a>(x: &impl Steps, at: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let (me, n) = (x.rank(), x.size());
    let largest = (0..n).filter(|&r| r != me).map(|r| at(r).bytes()).max().unwrap_or(0);
    let mut temp = x.bytes(largest)?;
    let aside = temp.buf();
    for round in 0..n {
        let partner = meeting(me, round, n);
        let block = at(partner);
        if partner != me && block.bytes() > 0 {
            let outgoing = bytes(aside, block.bytes());
            x.copy(block, outgoing);
            x.sendrecv(outgoing, partner, block, partner);
        }
    }
    Ok(())
}
