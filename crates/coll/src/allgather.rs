//! MPI_Allgather (MPI-5.0 6.7).
//!
//! Blocks are sent from and received into `rbuf` with the receive type; types may differ between ranks,
//! the bytes of a block do not.
use crate::buffer::{Data, bytes};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::select::{self, Allgather};
use crate::shared::movement;
use crate::steps::{Room, Steps};
use crate::tags;
use crate::team::Team;
use oxmpi_base::{Result, args::Buf};

pub fn allgather(
    ep: &Team,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
) -> Result<()> {
    let x = Exchange::new(ep, tags::ALLGATHER);
    let all = Data::new(rbuf, rcount, rdt);
    let own = (!sbuf.is_in_place()).then(|| Data::new(sbuf, scount, sdt));
    if let Some(r) = ep.region()?
        && all.bytes() > 0
        && select::shared(all.bytes(), r)
    {
        return movement::allgather(ep, r, tags::ALLGATHER, own, |r| all.blocks(r, 1));
    }
    steps(&x, own, all)?;
    x.finish()
}

/// The allgather by messages; `own` is not yet in its place.
pub fn steps(x: &impl Steps, own: Option<Data>, all: Data) -> Result<()> {
    let n = x.size();
    if let Some(own) = own {
        x.copy(own, all.blocks(x.rank(), 1));
    }
    if n > 1 && all.bytes() > 0 {
        with(x, select::allgather(all.bytes() * n, n), all)?;
    }
    Ok(())
}

/// `all` is the block of rank 0; each rank's own block is already in its place.
pub fn with(x: &impl Steps, algorithm: Allgather, all: Data) -> Result<()> {
    match algorithm {
        Allgather::Doubling => doubling(x, all),
        Allgather::Bruck => bruck(x, all)?,
        Allgather::Ring => ring(x, |r| all.blocks(r, 1)),
    }
    Ok(())
}

fn doubling(x: &impl Steps, all: Data) {
    let me = x.rank();
    let mut have = 1;
    while have < x.size() {
        let partner = me ^ have;
        let (mine, theirs) = (me & !(have - 1), partner & !(have - 1));
        x.sendrecv(all.blocks(mine, have), partner, all.blocks(theirs, have), partner);
        have *= 2;
    }
}

/// Packed blocks in the order me, me + 1, ...: each round doubles how many there are, from the rank that far
/// above.
fn bruck(x: &impl Steps, all: Data) -> Result<()> {
    let (me, n, block) = (x.rank(), x.size(), all.bytes());
    let mut temp = x.bytes(n * block)?;
    let blocks = bytes(temp.buf(), n * block);
    x.copy(all.blocks(me, 1), blocks.part(0..block));
    let mut have = 1;
    while have < n {
        let more = have.min(n - have);
        let (below, above) = ((me + n - have) % n, (me + have) % n);
        x.sendrecv(blocks.part(0..more * block), below, blocks.part(have * block..(have + more) * block), above);
        have += more;
    }
    x.copy(blocks.part(block..(n - me) * block), all.blocks(me + 1, n - me - 1));
    x.copy(blocks.part((n - me) * block..n * block), all.blocks(0, me));
    Ok(())
}

/// Each rank passes on to the right what came from the left, its own block first. `at` gives the block of a
/// rank; empty blocks are not sent.
pub fn ring<'a>(x: &impl Steps, at: impl Fn(usize) -> Data<'a>) {
    let (me, n) = (x.rank(), x.size());
    let (left, right) = ((me + n - 1) % n, (me + 1) % n);
    for step in 0..n - 1 {
        let (have, want) = (at((me + n - step) % n), at((me + n - step - 1) % n));
        match (have.bytes() > 0, want.bytes() > 0) {
            (true, true) => {
                x.sendrecv(have, right, want, left);
            }
            (true, false) => x.send(have, right),
            (false, true) => {
                x.recv(want, left);
            }
            (false, false) => {}
        }
    }
}
