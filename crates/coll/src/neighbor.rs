//! Neighbourhood collectives (MPI-5.0 8.6 to 8.8): each rank talks to its neighbours only, and all its messages are under way at once.
//!
//! Messages between two ranks match in order, so which block meets which slot is decided by the order in which sends and receives start.
//! On graphs both go through the lists of neighbours. On a grid the block that leaves in the negative direction arrives from the positive
//! one, so the receives of a dimension start in the other order: where both neighbours are one rank (periodic dimensions of one or two
//! ranks) this is the whole difference.
//!
//! Blocks without data are left out; both sides know, as their signatures are equal.
use crate::buffer::Data;
use crate::exchange::Exchange;
use crate::steps::Steps;
use crate::tags;
use crate::team::Team;
use oxmpi_base::Result;

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
    fn incoming(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        let slots = (0..self.sources.len()).map(move |i| if self.grid { i ^ 1 } else { i });
        slots.filter_map(move |k| Some((k, usize::try_from(self.sources[k]).ok()?)))
    }
    /// Slot and rank in the order in which sends start.
    fn outgoing(self) -> impl Iterator<Item = (usize, usize)> + 'a {
        self.destinations.iter().enumerate().filter_map(|(k, r)| Some((k, usize::try_from(*r).ok()?)))
    }
}

/// The block of slot k goes out from `from(k)` and comes into `to(k)`.
pub fn neighbor_steps<'a, 'b>(
    x: &impl Steps,
    who: Neighbors,
    from: impl Fn(usize) -> Data<'a>,
    to: impl Fn(usize) -> Data<'b>,
) {
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
}

/// The same at once.
pub fn neighbor_exchange<'a, 'b>(
    ep: &Team,
    who: Neighbors,
    from: impl Fn(usize) -> Data<'a>,
    to: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    let x = Exchange::new(ep, tags::NEIGHBOR);
    neighbor_steps(&x, who, from, to);
    x.finish()
}
