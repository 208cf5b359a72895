//! Neighbourhood collectives (MPI-5.0 8.6 and 8.7): each rank talks to its neighbours only, and all its messages are under way at once.
//!
//! Messages between two ranks match in order, so which block meets which slot is decided by the order in which sends and receives start.
//! On graphs both go through the lists of neighbours. On a grid the block that leaves in the negative direction arrives from the positive
//! one, so the receives of a dimension start in the other order: where both neighbours are one rank (periodic dimensions of one or two
//! ranks) this is the whole difference.
//!
//! Neighbours without data are left out; both sides know, as their signatures are equal.
use crate::buffer::Data;
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::tags;
use crate::team::Team;
use oxmpi_base::{
    Result,
    args::{Buf, Counts},
};

/// The neighbours of a rank, slot by slot; negative (MPI_PROC_NULL) where there is none.
#[derive(Clone, Copy)]
pub struct Neighbors<'a> {
    pub sources: &'a [i32],
    pub destinations: &'a [i32],
    /// The slots 2d and 2d + 1 are the two directions of dimension d.
    pub grid: bool,
}

impl<'a> Neighbors<'a> {
    /// Slot and rank in the order in which receives start.
    pub fn incoming(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        let slots = (0..self.sources.len()).map(move |i| if self.grid { i ^ 1 } else { i });
        slots.filter_map(move |k| Some((k, usize::try_from(self.sources[k]).ok()?)))
    }
    /// Slot and rank in the order in which sends start.
    pub fn outgoing(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.destinations.iter().enumerate().filter_map(|(k, r)| Some((k, usize::try_from(*r).ok()?)))
    }
}

fn exchange<'a, 'b>(
    ep: &Team,
    who: Neighbors,
    from: impl Fn(usize) -> Data<'a>,
    to: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    let x = Exchange::new(ep, tags::NEIGHBOR);
    let mut pending = Vec::with_capacity(who.sources.len() + who.destinations.len());
    for (slot, source) in who.incoming() {
        let d = to(slot);
        if d.bytes() > 0 {
            pending.extend(x.irecv(d, source));
        }
    }
    for (slot, dest) in who.outgoing() {
        let d = from(slot);
        if d.bytes() > 0 {
            pending.extend(x.isend(d, dest));
        }
    }
    x.wait_all(&mut pending);
    x.finish()
}

/// One block goes to all destinations; the blocks that arrive are `rcount` elements each.
pub fn neighbor_allgather(
    ep: &Team,
    who: Neighbors,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
) -> Result<()> {
    let (from, to) = (Data::new(sbuf, scount, sdt), Data::new(rbuf, rcount, rdt));
    exchange(ep, who, |_| from, |k| to.blocks(k, 1))
}

/// Displacements in units of the type's extent.
pub fn neighbor_allgatherv(
    ep: &Team,
    who: Neighbors,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcounts: &Counts,
    rdispls: &Counts,
    rdt: &Datatype,
) -> Result<()> {
    let (from, to) = (Data::new(sbuf, scount, sdt), Data::new(rbuf, 0, rdt));
    exchange(ep, who, |_| from, |k| to.at(rdispls.get(k) as isize, rcounts.get(k) as usize))
}

/// A block of `scount` elements for each destination.
pub fn neighbor_alltoall(
    ep: &Team,
    who: Neighbors,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
) -> Result<()> {
    let (from, to) = (Data::new(sbuf, scount, sdt), Data::new(rbuf, rcount, rdt));
    exchange(ep, who, |k| from.blocks(k, 1), |k| to.blocks(k, 1))
}

/// Displacements in units of the types' extents.
pub fn neighbor_alltoallv(
    ep: &Team,
    who: Neighbors,
    sbuf: Buf,
    scounts: &Counts,
    sdispls: &Counts,
    sdt: &Datatype,
    rbuf: Buf,
    rcounts: &Counts,
    rdispls: &Counts,
    rdt: &Datatype,
) -> Result<()> {
    let (from, to) = (Data::new(sbuf, 0, sdt), Data::new(rbuf, 0, rdt));
    let from = |k: usize| from.at(sdispls.get(k) as isize, scounts.get(k) as usize);
    exchange(ep, who, from, |k| to.at(rdispls.get(k) as isize, rcounts.get(k) as usize))
}

/// Displacements in bytes, a type for each slot.
pub fn neighbor_alltoallw(
    ep: &Team,
    who: Neighbors,
    sbuf: Buf,
    scounts: &Counts,
    sdispls: &Counts,
    sdts: &[Datatype],
    rbuf: Buf,
    rcounts: &Counts,
    rdispls: &Counts,
    rdts: &[Datatype],
) -> Result<()> {
    let from = |k: usize| Data::new(sbuf.offset(sdispls.get(k) as isize), scounts.get(k) as usize, &sdts[k]);
    let to = |k: usize| Data::new(rbuf.offset(rdispls.get(k) as isize), rcounts.get(k) as usize, &rdts[k]);
    exchange(ep, who, from, to)
}
