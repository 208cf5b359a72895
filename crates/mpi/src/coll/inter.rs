//! Blocking collectives on intercommunicators (MPI-5.0 chapter 6, the paragraphs on intercommunicators): who has to say what, and the checks.
//!
//! The ranks of one group give each other's data to the other group. Rooted operations: the root says MPI_ROOT, the rest of its group
//! MPI_PROC_NULL (nothing else is significant there), the other group the root's rank. MPI_IN_PLACE has no meaning anywhere.
use super::{Comm, SOMEWHERE, address, addresses, counts, data, typed, types};
use crate::op;
use oxmpi_base::args::{Arr, Buf, Counts};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_coll::Data;
use oxmpi_coll::inter::{self, Inter, Pairs, Role};
use oxmpi_datatype::Datatype;

/// None: this rank has no part in the operation.
fn role(c: &Comm, both: &Inter, root: i32) -> Result<Option<Role>> {
    let n = both.remote.size();
    Ok(match root {
        MPI_ROOT => Some(Role::Root),
        MPI_PROC_NULL => None,
        r if r >= 0 && (r as usize) < n => Some(Role::Of(r as usize)),
        r => {
            let who = c.describe();
            bail!(
                MPI_ERR_ROOT,
                "root {r} is neither MPI_ROOT, MPI_PROC_NULL nor a rank of the remote group of {who}, whose ranks are 0 to {}",
                n - 1
            )
        }
    })
}

/// Block `r` of equal blocks.
fn block(buf: Buf, count: usize, dt: &Datatype, r: usize) -> Data<'_> {
    Data::new(buf, count, dt).blocks(r, 1)
}

/// Block `r` of an array of counts and displacements in elements.
fn placed<'a>(buf: Buf, counts: &Counts, displs: &Counts, dt: &'a Datatype, r: usize) -> Data<'a> {
    Data::new(buf, 0, dt).at(displs.get(r) as isize, counts.get(r) as usize)
}

/// As `placed`, with displacements in bytes.
fn placed_at<'a>(buf: Buf, counts: &Counts, displs: &Counts, dt: &'a Datatype, r: usize) -> Data<'a> {
    Data::new(buf.offset(displs.get(r) as isize), counts.get(r) as usize, dt)
}

#[cold]
pub(super) fn bcast(c: &Comm, both: &Inter, buf: Buf, count: i64, dt: handle::Datatype, root: i32) -> Result<()> {
    let Some(role) = role(c, both, root)? else { return Ok(()) };
    let d = data(buf, count, dt)?;
    inter::bcast(both, buf, d.count, d.dt(), role)
}

/// A buffer argument: address, count, type.
pub(super) type Block = (Buf, i64, handle::Datatype);

#[cold]
pub(super) fn gather(c: &Comm, both: &Inter, send: Block, recv: Block, root: i32) -> Result<()> {
    match role(c, both, root)? {
        None => Ok(()),
        Some(Role::Root) => {
            let d = data(recv.0, recv.1, recv.2)?;
            inter::from_all(both, |r| block(recv.0, d.count, d.dt(), r))
        }
        Some(Role::Of(root)) => {
            let d = data(send.0, send.1, send.2)?;
            inter::to_root(both, Data::new(send.0, d.count, d.dt()), root)
        }
    }
}

#[cold]
pub(super) fn gatherv(
    c: &Comm,
    both: &Inter,
    send: Block,
    recvbuf: Buf,
    recvcounts: Counts,
    displs: Counts,
    recvtype: handle::Datatype,
    root: i32,
) -> Result<()> {
    match role(c, both, root)? {
        None => Ok(()),
        Some(Role::Root) => {
            let dt = typed(recvtype)?;
            counts(recvbuf, &recvcounts, Some(&displs), both.remote.size(), &dt)?;
            inter::from_all(both, |r| placed(recvbuf, &recvcounts, &displs, &dt, r))
        }
        Some(Role::Of(root)) => {
            let d = data(send.0, send.1, send.2)?;
            inter::to_root(both, Data::new(send.0, d.count, d.dt()), root)
        }
    }
}

#[cold]
pub(super) fn scatter(c: &Comm, both: &Inter, send: Block, recv: Block, root: i32) -> Result<()> {
    match role(c, both, root)? {
        None => Ok(()),
        Some(Role::Root) => {
            let d = data(send.0, send.1, send.2)?;
            inter::to_all(both, |r| block(send.0, d.count, d.dt(), r))
        }
        Some(Role::Of(root)) => {
            let d = data(recv.0, recv.1, recv.2)?;
            inter::from_root(both, Data::new(recv.0, d.count, d.dt()), root)
        }
    }
}

#[cold]
pub(super) fn scatterv(
    c: &Comm,
    both: &Inter,
    sendbuf: Buf,
    sendcounts: Counts,
    displs: Counts,
    sendtype: handle::Datatype,
    recv: Block,
    root: i32,
) -> Result<()> {
    match role(c, both, root)? {
        None => Ok(()),
        Some(Role::Root) => {
            let dt = typed(sendtype)?;
            counts(sendbuf, &sendcounts, Some(&displs), both.remote.size(), &dt)?;
            inter::to_all(both, |r| placed(sendbuf, &sendcounts, &displs, &dt, r))
        }
        Some(Role::Of(root)) => {
            let d = data(recv.0, recv.1, recv.2)?;
            inter::from_root(both, Data::new(recv.0, d.count, d.dt()), root)
        }
    }
}

#[cold]
pub(super) fn allgather(both: &Inter, send: Block, recv: Block) -> Result<()> {
    let (s, r) = (data(send.0, send.1, send.2)?, data(recv.0, recv.1, recv.2)?);
    inter::allgather(both, send.0, s.count, s.dt(), recv.0, r.count, r.dt())
}

#[cold]
pub(super) fn allgatherv(
    both: &Inter,
    send: Block,
    recvbuf: Buf,
    recvcounts: Counts,
    displs: Counts,
    recvtype: handle::Datatype,
) -> Result<()> {
    let (s, dt) = (data(send.0, send.1, send.2)?, typed(recvtype)?);
    counts(recvbuf, &recvcounts, Some(&displs), both.remote.size(), &dt)?;
    let own = |_| Data::new(send.0, s.count, s.dt());
    inter::pairs(both, Pairs::Allgatherv, own, |r| placed(recvbuf, &recvcounts, &displs, &dt, r))
}

#[cold]
pub(super) fn alltoall(both: &Inter, send: Block, recv: Block) -> Result<()> {
    let (s, r) = (data(send.0, send.1, send.2)?, data(recv.0, recv.1, recv.2)?);
    let to = |i| block(send.0, s.count, s.dt(), i);
    inter::pairs(both, Pairs::Alltoall, to, |i| block(recv.0, r.count, r.dt(), i))
}

/// One side of an alltoallv: buffer, counts, displacements, type.
pub(super) type Vector = (Buf, Counts, Counts, handle::Datatype);

#[cold]
pub(super) fn alltoallv(both: &Inter, send: Vector, recv: Vector) -> Result<()> {
    let n = both.remote.size();
    let (sdt, rdt) = (typed(send.3)?, typed(recv.3)?);
    counts(send.0, &send.1, Some(&send.2), n, &sdt)?;
    counts(recv.0, &recv.1, Some(&recv.2), n, &rdt)?;
    let to = |i| placed(send.0, &send.1, &send.2, &sdt, i);
    inter::pairs(both, Pairs::Alltoallv, to, |i| placed(recv.0, &recv.1, &recv.2, &rdt, i))
}

/// One side of an alltoallw.
pub(super) type Typed = (Buf, Counts, Counts, Arr<handle::Datatype>);

#[cold]
pub(super) fn alltoallw(both: &Inter, send: Typed, recv: Typed) -> Result<()> {
    let n = both.remote.size();
    let check = |side: &Typed| -> Result<Vec<Datatype>> {
        if side.0.is_in_place() {
            bail!(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed on an intercommunicator");
        }
        counts(SOMEWHERE, &side.1, Some(&side.2), n, super::byte())?;
        let dts = types(side.3, &side.1, n)?;
        addresses(side.0, &side.1, &side.2, &dts)?;
        Ok(dts)
    };
    let (sdts, rdts) = (check(&send)?, check(&recv)?);
    let to = |i: usize| placed_at(send.0, &send.1, &send.2, &sdts[i], i);
    inter::pairs(both, Pairs::Alltoallv, to, |i: usize| placed_at(recv.0, &recv.1, &recv.2, &rdts[i], i))
}

#[cold]
pub(super) fn reduce(
    c: &Comm,
    both: &Inter,
    sendbuf: Buf,
    recvbuf: Buf,
    count: i64,
    datatype: handle::Datatype,
    op: handle::Op,
    root: i32,
) -> Result<()> {
    let Some(role) = role(c, both, root)? else { return Ok(()) };
    let d = data(if role == Role::Root { recvbuf } else { sendbuf }, count, datatype)?;
    op::with_reduction(op, d.dt(), datatype, |r| inter::reduce(both, sendbuf, recvbuf, d.count, d.dt(), r, role))
}

#[cold]
pub(super) fn allreduce(
    both: &Inter,
    sendbuf: Buf,
    recvbuf: Buf,
    count: i64,
    datatype: handle::Datatype,
    op: handle::Op,
) -> Result<()> {
    data(sendbuf, count, datatype)?;
    let d = data(recvbuf, count, datatype)?;
    op::with_reduction(op, d.dt(), datatype, |r| inter::allreduce(both, sendbuf, recvbuf, d.count, d.dt(), r))
}

#[cold]
pub(super) fn reduce_scatter_block(
    both: &Inter,
    sendbuf: Buf,
    recvbuf: Buf,
    recvcount: i64,
    datatype: handle::Datatype,
    op: handle::Op,
) -> Result<()> {
    data(sendbuf, recvcount, datatype)?;
    let d = data(recvbuf, recvcount, datatype)?;
    op::with_reduction(op, d.dt(), datatype, |r| inter::reduce_scatter(both, sendbuf, recvbuf, |_| d.count, d.dt(), r))
}

#[cold]
pub(super) fn reduce_scatter(
    both: &Inter,
    sendbuf: Buf,
    recvbuf: Buf,
    recvcounts: Counts,
    datatype: handle::Datatype,
    op: handle::Op,
) -> Result<()> {
    let dt = typed(datatype)?;
    counts(sendbuf, &recvcounts, None, both.local.size(), &dt)?;
    address(recvbuf, recvcounts.get(both.local.rank()) > 0, &dt)?;
    op::with_reduction(op, &dt, datatype, |r| {
        inter::reduce_scatter(both, sendbuf, recvbuf, |i| recvcounts.get(i) as usize, &dt, r)
    })
}
