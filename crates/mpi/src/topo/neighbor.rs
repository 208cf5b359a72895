//! Neighbourhood collectives (MPI-5.0 8.6): arguments checked, then one call into `coll`.
//!
//! Counts, displacements and types have an element for each neighbour, also for those of a grid that are MPI_PROC_NULL; what belongs to
//! one of these is not looked at in a buffer.
#![allow(clippy::too_many_arguments)] // the standard's argument lists
use super::{Kind, any};
use crate::coll::{SOMEWHERE, addresses, comm_of, counts, data, typed, types};
use crate::comm::Comm;
use crate::datatype::byte;
use oxmpi_base::args::{Arr, Buf, Counts};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_coll::Neighbors;
use oxmpi_datatype::Datatype;

/// The neighbours of the calling process.
fn neighbors(c: &Comm) -> Result<Neighbors<'_>> {
    let t = any(c)?;
    if let Kind::Graph(g) = &t.kind
        && let Some((v, u)) = g.one_sided_edge()
    {
        bail!(
            MPI_ERR_TOPOLOGY,
            "the graph of {} is not symmetric: {v} and {u} name each other a different number of times; a distributed graph can have \
             edges of one direction",
            c.describe()
        );
    }
    let grid = matches!(t.kind, Kind::Cart(_));
    Ok(Neighbors { sources: &t.sources, destinations: &t.destinations, grid })
}

/// A buffer without a neighbour to go to or come from may be a null pointer.
fn used(buf: Buf, neighbors: &[i32]) -> Buf {
    let idle = neighbors.iter().all(|r| *r == MPI_PROC_NULL) && !buf.is_in_place();
    if idle { SOMEWHERE } else { buf }
}

/// The buffer, counts and displacements of one side of a vector form.
fn side(buf: Buf, n: &Counts, displs: &Counts, kind: handle::Datatype, neighbors: &[i32]) -> Result<Datatype> {
    let dt = typed(kind)?;
    if !neighbors.is_empty() {
        counts(used(buf, neighbors), n, Some(displs), neighbors.len(), &dt)?;
    }
    Ok(dt)
}

/// The same with a type for each neighbour.
fn sides(
    buf: Buf,
    n: &Counts,
    displs: &Counts,
    kinds: Arr<handle::Datatype>,
    neighbors: &[i32],
) -> Result<Vec<Datatype>> {
    if neighbors.is_empty() {
        return Ok(Vec::new());
    }
    counts(SOMEWHERE, n, Some(displs), neighbors.len(), byte())?;
    let dts = types(kinds, n, neighbors.len())?;
    addresses(used(buf, neighbors), n, displs, &dts)?;
    Ok(dts)
}

pub fn neighbor_allgather(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    let who = neighbors(&c)?;
    let s = data(used(sendbuf, who.destinations), sendcount, sendtype)?;
    let r = data(used(recvbuf, who.sources), recvcount, recvtype)?;
    oxmpi_coll::neighbor_allgather(&c.endpoint, who, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt())
}

pub fn neighbor_allgatherv(
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
    let who = neighbors(&c)?;
    let s = data(used(sendbuf, who.destinations), sendcount, sendtype)?;
    let rdt = side(recvbuf, &recvcounts, &displs, recvtype, who.sources)?;
    oxmpi_coll::neighbor_allgatherv(&c.endpoint, who, sendbuf, s.count, s.dt(), recvbuf, &recvcounts, &displs, &rdt)
}

pub fn neighbor_alltoall(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    let who = neighbors(&c)?;
    let s = data(used(sendbuf, who.destinations), sendcount, sendtype)?;
    let r = data(used(recvbuf, who.sources), recvcount, recvtype)?;
    oxmpi_coll::neighbor_alltoall(&c.endpoint, who, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt())
}

pub fn neighbor_alltoallv(
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
    let who = neighbors(&c)?;
    let sdt = side(sendbuf, &sendcounts, &sdispls, sendtype, who.destinations)?;
    let rdt = side(recvbuf, &recvcounts, &rdispls, recvtype, who.sources)?;
    oxmpi_coll::neighbor_alltoallv(
        &c.endpoint,
        who,
        sendbuf,
        &sendcounts,
        &sdispls,
        &sdt,
        recvbuf,
        &recvcounts,
        &rdispls,
        &rdt,
    )
}

pub fn neighbor_alltoallw(
    sendbuf: Buf,
    sendcounts: Counts,
    sdispls: Arr<i64>,
    sendtypes: Arr<handle::Datatype>,
    recvbuf: Buf,
    recvcounts: Counts,
    rdispls: Arr<i64>,
    recvtypes: Arr<handle::Datatype>,
    comm: handle::Comm,
) -> Result<()> {
    let c = comm_of(comm)?;
    let who = neighbors(&c)?;
    let (sdispls, rdispls) = (Counts::Wide(sdispls), Counts::Wide(rdispls));
    let sdts = sides(sendbuf, &sendcounts, &sdispls, sendtypes, who.destinations)?;
    let rdts = sides(recvbuf, &recvcounts, &rdispls, recvtypes, who.sources)?;
    oxmpi_coll::neighbor_alltoallw(
        &c.endpoint,
        who,
        sendbuf,
        &sendcounts,
        &sdispls,
        &sdts,
        recvbuf,
        &recvcounts,
        &rdispls,
        &rdts,
    )
}
