//! Collectives on intercommunicators (MPI-5.0 6.2.3 and the paragraphs of each operation): two groups that share no process.
//!
//! What one group has to do among itself (combine, gather, pass on) is an ordinary collective of its own [`Team`]; what crosses goes
//! between the two first ranks where one message carries the whole of a group, and between all pairs where each pair has data of its own.
//! Local and crossing messages share a context: the groups are disjoint and messages match by process.
//!
//! The rooted operations exist once for each of the three roles: the root (`to_`, `from_` all of the other group), the ranks of the
//! other group, and those of the root's own group, which do nothing at all and have no function here.
//!
//! Invariants: as of the crate: a failed message does not stop the pattern. Nothing here is used by intracommunicators.
//! Known gaps: simple algorithms; the data of a whole group passes through one rank.
use crate::buffer::{Data, Temp, bytes, copy, nothing};
use crate::exchange::Exchange;
use crate::link::{Datatype, Endpoint};
use crate::reduction::Reduction;
use crate::steps::Steps;
use crate::tags;
use crate::team::Team;
use crate::{barrier as local_barrier, bcast as local_bcast, gather as local_gather, reduce as local_reduce};
use oxmpi_base::{Result, args::Buf};

/// The two groups, as one process sees them.
pub struct Inter<'a> {
    pub local: &'a Team,
    /// Its rank is that of this process in the local group, its ranks are those of the remote one.
    pub remote: &'a Endpoint,
}

impl Inter<'_> {
    fn leads(&self) -> bool {
        self.local.rank() == 0
    }
    /// The first ranks of both groups exchange.
    fn swap(&self, x: &Exchange, mine: Data, theirs: Data) {
        if self.leads() {
            x.sendrecv(mine, 0, theirs, 0);
        }
    }
}

/// Whether the calling rank of a rooted operation has data of its own, and with whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The root: it deals with all of the other group.
    Root,
    /// A rank of the other group: it deals with this rank, the root.
    Of(usize),
}

/// No rank leaves before all of the other group have entered (and, here, all of its own).
pub fn barrier(c: &Inter) -> Result<()> {
    let entered = local_barrier(c.local);
    let x = Exchange::new(c.remote, tags::BARRIER);
    x.note(entered);
    c.swap(&x, nothing(), nothing());
    x.note(local_barrier(c.local));
    x.finish()
}

pub fn bcast(c: &Inter, buf: Buf, count: usize, dt: &Datatype, role: Role) -> Result<()> {
    let x = Exchange::new(c.remote, tags::BCAST);
    let data = Data::new(buf, count, dt);
    match role {
        Role::Root => x.send(data, 0),
        Role::Of(root) => {
            if c.leads() {
                x.recv(data, root);
            }
            x.note(local_bcast(c.local, buf, count, dt, 0));
        }
    }
    x.finish()
}

/// The root of a gather: block `r` comes from rank `r` of the other group.
pub fn from_all<'a>(c: &Inter, at: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let x = Exchange::new(c.remote, tags::GATHER);
    let mut all: Vec<_> = (0..x.size()).filter_map(|r| x.irecv(at(r), r)).collect();
    x.wait_all(&mut all);
    x.finish()
}

/// Another group's rank in a gather.
pub fn to_root(c: &Inter, own: Data, root: usize) -> Result<()> {
    let x = Exchange::new(c.remote, tags::GATHER);
    x.send(own, root);
    x.finish()
}

/// The root of a scatter: block `r` goes to rank `r` of the other group.
pub fn to_all<'a>(c: &Inter, at: impl Fn(usize) -> Data<'a>) -> Result<()> {
    let x = Exchange::new(c.remote, tags::SCATTER);
    let mut all: Vec<_> = (0..x.size()).filter_map(|r| x.isend(at(r), r)).collect();
    x.wait_all(&mut all);
    x.finish()
}

/// Another group's rank in a scatter.
pub fn from_root(c: &Inter, own: Data, root: usize) -> Result<()> {
    let x = Exchange::new(c.remote, tags::SCATTER);
    x.recv(own, root);
    x.finish()
}

/// Every rank gets the blocks of the other group: gathered there, sent over, passed on.
pub fn allgather(
    c: &Inter,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
) -> Result<()> {
    let (n, all) = (c.local.size(), rcount * c.remote.size());
    let x = Exchange::new(c.remote, tags::ALLGATHER);
    let mut temp = Temp::typed(sdt, if c.leads() { scount * n } else { 0 })?;
    let mine = Data::new(temp.buf(), scount * n, sdt);
    x.note(local_gather(c.local, sbuf, scount, sdt, mine.buf, scount, sdt, 0));
    c.swap(&x, mine, Data::new(rbuf, all, rdt));
    x.note(local_bcast(c.local, rbuf, all, rdt, 0));
    x.finish()
}

/// Data of its own for each pair: `to(r)` goes to rank `r` of the other group, `from(r)` comes from there. Empty blocks travel too: the sides
/// need not agree on who sends nothing by looking at their own counts.
pub fn pairs<'a, 'b>(
    c: &Inter,
    tag: Pairs,
    to: impl Fn(usize) -> Data<'a>,
    from: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    let tag = match tag {
        Pairs::Allgatherv => tags::ALLGATHERV,
        Pairs::Alltoall => tags::ALLTOALL,
        Pairs::Alltoallv => tags::ALLTOALLV,
    };
    let x = Exchange::new(c.remote, tag);
    let (me, n) = (x.rank(), x.size());
    let mut all: Vec<_> = (0..n).filter_map(|r| x.irecv(from(r), r)).collect();
    // Beginning at different ranks, so that nobody is everybody's first.
    all.extend((0..n).map(|i| (me + i) % n).filter_map(|r| x.isend(to(r), r)));
    x.wait_all(&mut all);
    x.finish()
}

/// Which operation [`pairs`] serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pairs {
    Allgatherv,
    Alltoall,
    Alltoallv,
}

/// The other group's part: combined in rank order there, and sent to the root by its first rank.
pub fn reduce(c: &Inter, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction, role: Role) -> Result<()> {
    let x = Exchange::new(c.remote, tags::REDUCE);
    match role {
        Role::Root => {
            x.recv(Data::new(rbuf, count, dt), 0);
        }
        Role::Of(root) => {
            let mut temp = Temp::typed(dt, if c.leads() { count } else { 0 })?;
            let sum = Data::new(temp.buf(), count, dt);
            x.note(local_reduce(c.local, sbuf, sum.buf, count, dt, op, 0));
            if c.leads() {
                x.send(sum, root);
            }
        }
    }
    x.finish()
}

/// Every rank gets what the other group combined.
pub fn allreduce(c: &Inter, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction) -> Result<()> {
    let x = Exchange::new(c.remote, tags::ALLREDUCE);
    let mut temp = Temp::typed(dt, if c.leads() { count } else { 0 })?;
    let sum = Data::new(temp.buf(), count, dt);
    x.note(local_reduce(c.local, sbuf, sum.buf, count, dt, op, 0));
    c.swap(&x, sum, Data::new(rbuf, count, dt));
    x.note(local_bcast(c.local, rbuf, count, dt, 0));
    x.finish()
}

/// What the other group combined is cut into the blocks of this one; `counts` are those of the local ranks, and their sum is equal in both
/// groups.
pub fn reduce_scatter(
    c: &Inter,
    sbuf: Buf,
    rbuf: Buf,
    counts: impl Fn(usize) -> usize,
    dt: &Datatype,
    op: &Reduction,
) -> Result<()> {
    let n = c.local.size();
    let total = (0..n).map(&counts).sum();
    let x = Exchange::new(c.remote, tags::REDUCE_SCATTER);
    let room = if c.leads() { total } else { 0 };
    let (mut ours, mut theirs) = (Temp::typed(dt, room)?, Temp::typed(dt, room)?);
    let (sum, result) = (Data::new(ours.buf(), total, dt), Data::new(theirs.buf(), total, dt));
    x.note(local_reduce(c.local, sbuf, sum.buf, total, dt, op, 0));
    c.swap(&x, sum, result);
    let inside = Exchange::new(c.local, tags::REDUCE_SCATTER);
    let own = Data::new(rbuf, counts(c.local.rank()), dt);
    if c.leads() {
        let mut at = own.count;
        copy(result.part(0..own.count), own);
        for r in 1..n {
            inside.send(result.part(at..at + counts(r)), r);
            at += counts(r);
        }
    } else {
        inside.recv(own, 0);
    }
    x.finish().and(inside.finish())
}

/// Bytes of every rank of both groups, as many of each rank: those of the local group and those of the remote one.
pub fn tell_all(c: &Inter, mine: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let each = mine.len();
    let (mut local, mut remote) = (vec![0u8; each * c.local.size()], vec![0u8; each * c.remote.size()]);
    let byte = crate::buffer::byte();
    let at = |v: &mut Vec<u8>| Buf(v.as_mut_ptr().cast());
    let own = Buf(mine.as_ptr().cast_mut().cast());
    let told = crate::allgather(c.local, own, each, byte, at(&mut local), each, byte);
    let x = Exchange::new(c.remote, tags::ALLGATHER);
    x.note(told);
    let (ours, theirs) = (bytes(at(&mut local), local.len()), bytes(at(&mut remote), remote.len()));
    c.swap(&x, ours, theirs);
    x.note(local_bcast(c.local, theirs.buf, theirs.count, byte, 0));
    x.finish()?;
    Ok((local, remote))
}

/// Bytes of the first rank of each group, to all of the other; the lengths may differ, but have to be known.
pub fn tell_other(c: &Inter, mine: &[u8], theirs: &mut [u8]) -> Result<()> {
    let x = Exchange::new(c.remote, tags::BCAST);
    let all = bytes(Buf(theirs.as_mut_ptr().cast()), theirs.len());
    c.swap(&x, bytes(Buf(mine.as_ptr().cast_mut().cast()), mine.len()), all);
    x.note(local_bcast(c.local, all.buf, all.count, all.dt, 0));
    x.finish()
}
