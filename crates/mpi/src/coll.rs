//! Collective procedures (MPI-5.0 chapter 6): arguments checked, then one call into the algorithms; [`nonblocking`] has the forms that
//! do not wait.
//!
//! Arguments that are significant at the root only are looked at there only. Each procedure hands an intercommunicator over to
//! [`inter`](self::inter) before it looks at anything else.
#![allow(clippy::too_many_arguments)] // the standard's argument lists
mod inter;
mod nonblocking;

use crate::comm::{self, Comm};
use crate::datatype::{self, TypeRef, byte};
use crate::{check, op, world};
use inter::Now;
use oxmpi_base::args::{Arr, Buf, Counts};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_datatype::Datatype;

pub use crate::op::reduce_local;
pub use nonblocking::*;

pub(crate) type Found = crate::table::Ref<'static, handle::Comm, Comm>;

#[inline(always)]
pub(crate) fn comm_of(h: handle::Comm) -> Result<Found> {
    if world::short().is_none() {
        return attended_comm_of(h);
    }
    comm::get(h)
}

#[cold]
fn attended_comm_of(h: handle::Comm) -> Result<Found> {
    world::attended()?;
    comm::get(h)
}

fn root_of(c: &Comm, root: i32) -> Result<usize> {
    // Negative ones are large as unsigned numbers.
    if root as u32 as usize >= c.size() {
        bail!(MPI_ERR_ROOT, "root {root} is not a rank of {}, which has ranks 0 to {}", c.describe(), c.size() - 1);
    }
    Ok(root as usize)
}

/// A checked buffer: count, type, address.
pub(crate) struct Data {
    pub(crate) count: usize,
    /// None: MPI_BYTE.
    kind: Option<TypeRef>,
}

impl Data {
    #[inline]
    pub(crate) fn dt(&self) -> &Datatype {
        self.kind.as_ref().map_or_else(|| byte(), |t| &t.dt)
    }
}

pub(crate) fn data(buf: Buf, count: i64, h: handle::Datatype) -> Result<Data> {
    let d = Data { count: oxmpi_base::args::count(count)?, kind: Some(datatype::get_committed(h)?) };
    address(buf, d.count > 0, d.dt())?;
    Ok(d)
}

/// An address that passes the check, for buffers that are not significant.
pub(crate) const SOMEWHERE: Buf = Buf(64 as *mut _);

pub(crate) fn address(buf: Buf, any: bool, dt: &Datatype) -> Result<()> {
    if buf.addr() == 0 && any && dt.size() > 0 && dt.true_lb() == 0 && check::on() {
        bail!(MPI_ERR_BUFFER, "a buffer is a null pointer though its count is not zero");
    }
    if buf.addr() == MPI_IN_PLACE && check::on() {
        bail!(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed for this buffer");
    }
    Ok(())
}

/// As `data`, for the buffer that may be MPI_IN_PLACE, whose count and type are then ignored.
fn data_or_in_place(buf: Buf, count: i64, h: handle::Datatype) -> Result<Data> {
    if buf.is_in_place() { Ok(nothing()) } else { data(buf, count, h) }
}

/// For arguments that are not significant here.
fn nothing() -> Data {
    Data { count: 0, kind: None }
}

/// Count and displacement arrays of `n` elements, no count negative.
pub(crate) fn counts(buf: Buf, counts: &Counts, displs: Option<&Counts>, n: usize, dt: &Datatype) -> Result<()> {
    if counts.is_null() || displs.is_some_and(|d| d.is_null()) {
        bail!(MPI_ERR_ARG, "an array of counts or displacements is a null pointer");
    }
    if !check::on() {
        return Ok(());
    }
    let mut any = false;
    for i in 0..n {
        let k = counts.get(i);
        if k < 0 {
            bail!(MPI_ERR_COUNT, "count {i} of the array is {k}; a count must not be negative");
        }
        any |= k > 0;
    }
    address(buf, any, dt)
}

pub(crate) fn typed(h: handle::Datatype) -> Result<Datatype> {
    Ok(datatype::get_committed(h)?.dt.clone())
}

pub fn barrier(comm: handle::Comm) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::barrier(Now(&c));
    }
    oxmpi_coll::barrier(&c.endpoint)
}

pub fn bcast(buffer: Buf, count: i64, datatype: handle::Datatype, root: i32, comm: handle::Comm) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::bcast(Now(&c), buffer, count, datatype, root);
    }
    let root = root_of(&c, root)?;
    let d = data(buffer, count, datatype)?;
    oxmpi_coll::bcast(&c.endpoint, buffer, d.count, d.dt(), root)
}

pub fn gather(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    root: i32,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::gather(Now(&c), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root);
    }
    let root = root_of(&c, root)?;
    let (s, r) = if c.rank == root {
        (data_or_in_place(sendbuf, sendcount, sendtype)?, data(recvbuf, recvcount, recvtype)?)
    } else {
        (data(sendbuf, sendcount, sendtype)?, nothing())
    };
    oxmpi_coll::gather(&c.endpoint, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt(), root)
}

pub fn gatherv(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcounts: Counts,
    displs: Counts,
    recvtype: handle::Datatype,
    root: i32,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::gatherv(Now(&c), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root);
    }
    let root = root_of(&c, root)?;
    let (s, rdt) = if c.rank == root {
        let rdt = typed(recvtype)?;
        counts(recvbuf, &recvcounts, Some(&displs), c.size(), &rdt)?;
        (data_or_in_place(sendbuf, sendcount, sendtype)?, rdt)
    } else {
        (data(sendbuf, sendcount, sendtype)?, byte().clone())
    };
    oxmpi_coll::gatherv(&c.endpoint, sendbuf, s.count, s.dt(), recvbuf, &recvcounts, &displs, &rdt, root)
}

pub fn scatter(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    root: i32,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::scatter(Now(&c), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root);
    }
    let root = root_of(&c, root)?;
    let (s, r) = if c.rank == root {
        (data(sendbuf, sendcount, sendtype)?, data_or_in_place(recvbuf, recvcount, recvtype)?)
    } else {
        (nothing(), data(recvbuf, recvcount, recvtype)?)
    };
    oxmpi_coll::scatter(&c.endpoint, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt(), root)
}

pub fn scatterv(
    sendbuf: Buf,
    sendcounts: Counts,
    displs: Counts,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    root: i32,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::scatterv(Now(&c), (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root);
    }
    let root = root_of(&c, root)?;
    let (sdt, r) = if c.rank == root {
        let sdt = typed(sendtype)?;
        counts(sendbuf, &sendcounts, Some(&displs), c.size(), &sdt)?;
        (sdt, data_or_in_place(recvbuf, recvcount, recvtype)?)
    } else {
        (byte().clone(), data(recvbuf, recvcount, recvtype)?)
    };
    oxmpi_coll::scatterv(&c.endpoint, sendbuf, &sendcounts, &displs, &sdt, recvbuf, r.count, r.dt(), root)
}

pub fn allgather(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::allgather(Now(&c), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    }
    let (s, r) = (data_or_in_place(sendbuf, sendcount, sendtype)?, data(recvbuf, recvcount, recvtype)?);
    oxmpi_coll::allgather(&c.endpoint, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt())
}

pub fn allgatherv(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcounts: Counts,
    displs: Counts,
    recvtype: handle::Datatype,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::allgatherv(Now(&c), (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    }
    let (s, rdt) = (data_or_in_place(sendbuf, sendcount, sendtype)?, typed(recvtype)?);
    counts(recvbuf, &recvcounts, Some(&displs), c.size(), &rdt)?;
    oxmpi_coll::allgatherv(&c.endpoint, sendbuf, s.count, s.dt(), recvbuf, &recvcounts, &displs, &rdt)
}

pub fn alltoall(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::alltoall(Now(&c), (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
    }
    let (s, r) = (data_or_in_place(sendbuf, sendcount, sendtype)?, data(recvbuf, recvcount, recvtype)?);
    oxmpi_coll::alltoall(&c.endpoint, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt())
}

pub fn alltoallv(
    sendbuf: Buf,
    sendcounts: Counts,
    sdispls: Counts,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcounts: Counts,
    rdispls: Counts,
    recvtype: handle::Datatype,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::alltoallv(
            Now(&c),
            (sendbuf, sendcounts, sdispls, sendtype),
            (recvbuf, recvcounts, rdispls, recvtype),
        );
    }
    let rdt = typed(recvtype)?;
    counts(recvbuf, &recvcounts, Some(&rdispls), c.size(), &rdt)?;
    let sdt = if sendbuf.is_in_place() {
        byte().clone()
    } else {
        let sdt = typed(sendtype)?;
        counts(sendbuf, &sendcounts, Some(&sdispls), c.size(), &sdt)?;
        sdt
    };
    oxmpi_coll::alltoallv(&c.endpoint, sendbuf, &sendcounts, &sdispls, &sdt, recvbuf, &recvcounts, &rdispls, &rdt)
}

/// The types of an alltoallw argument; a type with a zero count may be anything.
pub(crate) fn types(a: Arr<handle::Datatype>, counts: &Counts, n: usize) -> Result<Vec<Datatype>> {
    let handles = a.slice(n)?;
    (0..n).map(|i| if counts.get(i) == 0 { Ok(byte().clone()) } else { typed(handles[i]) }).collect()
}

/// MPI_BOTTOM is fine where displacements or types lead away from it.
pub(crate) fn addresses(buf: Buf, counts: &Counts, displs: &Counts, dts: &[Datatype]) -> Result<()> {
    (0..dts.len()).try_for_each(|i| address(buf, counts.get(i) > 0 && displs.get(i) == 0, &dts[i]))
}

pub fn alltoallw(
    sendbuf: Buf,
    sendcounts: Counts,
    sdispls: Counts,
    sendtypes: Arr<handle::Datatype>,
    recvbuf: Buf,
    recvcounts: Counts,
    rdispls: Counts,
    recvtypes: Arr<handle::Datatype>,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::alltoallw(
            Now(&c),
            (sendbuf, sendcounts, sdispls, sendtypes),
            (recvbuf, recvcounts, rdispls, recvtypes),
        );
    }
    let n = c.size();
    counts(SOMEWHERE, &recvcounts, Some(&rdispls), n, byte())?;
    let rdts = types(recvtypes, &recvcounts, n)?;
    addresses(recvbuf, &recvcounts, &rdispls, &rdts)?;
    let sdts = if sendbuf.is_in_place() {
        vec![byte().clone(); n]
    } else {
        counts(SOMEWHERE, &sendcounts, Some(&sdispls), n, byte())?;
        let sdts = types(sendtypes, &sendcounts, n)?;
        addresses(sendbuf, &sendcounts, &sdispls, &sdts)?;
        sdts
    };
    let (s, r): (Vec<&Datatype>, Vec<&Datatype>) = (sdts.iter().collect(), rdts.iter().collect());
    oxmpi_coll::alltoallw(&c.endpoint, sendbuf, &sendcounts, &sdispls, &s, recvbuf, &recvcounts, &rdispls, &r)
}

pub fn reduce(
    sendbuf: Buf,
    recvbuf: Buf,
    count: i64,
    datatype: handle::Datatype,
    op: handle::Op,
    root: i32,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::reduce(Now(&c), sendbuf, recvbuf, count, datatype, op, root);
    }
    let root = root_of(&c, root)?;
    let d = if c.rank == root {
        data_or_in_place(sendbuf, count, datatype)?;
        data(recvbuf, count, datatype)?
    } else {
        data(sendbuf, count, datatype)?
    };
    op::with_reduction(op, d.dt(), datatype, |r| {
        oxmpi_coll::reduce(&c.endpoint, sendbuf, recvbuf, d.count, d.dt(), r, root)
    })
}

macro_rules! reductions {
    ($($name:ident),*) => { $(
        pub fn $name(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: handle::Datatype, op: handle::Op, comm: handle::Comm) -> Result<()> {
            let c = comm_of(comm)?;
            if c.remote.is_some() {
                return inter::$name(Now(&c), sendbuf, recvbuf, count, datatype, op);
            }
            data_or_in_place(sendbuf, count, datatype)?;
            let d = data(recvbuf, count, datatype)?;
            op::with_reduction(op, d.dt(), datatype, |r| {
                oxmpi_coll::$name(&c.endpoint, sendbuf, recvbuf, d.count, d.dt(), r)
            })
        }
    )* };
}
reductions!(allreduce, reduce_scatter_block);

/// MPI-5.0 6.11: there is no order across two groups.
#[cold]
fn no_scan(c: &Comm) -> Result<()> {
    bail!(MPI_ERR_COMM, "{} was given; scans exist on intracommunicators only", c.describe())
}

pub fn scan(
    sendbuf: Buf,
    recvbuf: Buf,
    count: i64,
    datatype: handle::Datatype,
    op: handle::Op,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return no_scan(&c);
    }
    data_or_in_place(sendbuf, count, datatype)?;
    let d = data(recvbuf, count, datatype)?;
    op::with_reduction(op, d.dt(), datatype, |r| oxmpi_coll::scan(&c.endpoint, sendbuf, recvbuf, d.count, d.dt(), r))
}

/// MPI-5.0 6.11.2: rank 0's recvbuf is not significant.
pub fn exscan(
    sendbuf: Buf,
    recvbuf: Buf,
    count: i64,
    datatype: handle::Datatype,
    op: handle::Op,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return no_scan(&c);
    }
    data_or_in_place(sendbuf, count, datatype)?;
    let significant = c.rank > 0 || sendbuf.is_in_place();
    let d = data(if significant { recvbuf } else { SOMEWHERE }, count, datatype)?;
    op::with_reduction(op, d.dt(), datatype, |r| oxmpi_coll::exscan(&c.endpoint, sendbuf, recvbuf, d.count, d.dt(), r))
}

pub fn reduce_scatter(
    sendbuf: Buf,
    recvbuf: Buf,
    recvcounts: Counts,
    datatype: handle::Datatype,
    op: handle::Op,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    if c.remote.is_some() {
        return inter::reduce_scatter(Now(&c), sendbuf, recvbuf, recvcounts, datatype, op);
    }
    let dt = typed(datatype)?;
    counts(if sendbuf.is_in_place() { recvbuf } else { sendbuf }, &recvcounts, None, c.size(), &dt)?;
    address(recvbuf, recvcounts.get(c.rank) > 0, &dt)?;
    op::with_reduction(op, &dt, datatype, |r| {
        oxmpi_coll::reduce_scatter(&c.endpoint, sendbuf, recvbuf, &recvcounts, &dt, r)
    })
}
