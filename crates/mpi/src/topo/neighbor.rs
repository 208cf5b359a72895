//! Neighbourhood collectives, blocking, nonblocking and persistent (MPI-5.0 8.6 to 8.8): arguments checked, then one call into `coll`.
//!
//! Counts, displacements and types have an element for each neighbour, also for those of a grid that are MPI_PROC_NULL; what belongs to
//! one of these is not looked at in a buffer.
#![allow(clippy::too_many_arguments)] // the standard's argument lists
use super::{Found, Kind, Topology, any};
use crate::coll::{Making, SOMEWHERE, addresses, comm_of, counts, data, typed, types};
use crate::comm::Comm;
use crate::datatype::byte;
use oxmpi_base::args::{Arr, Buf, Counts, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_coll::{Data as Block, Neighbors};
use oxmpi_datatype::Datatype;
use std::sync::Arc;

/// The topology of a communicator, fit for these procedures.
fn hood(c: &Comm) -> Result<Arc<Topology>> {
    any(c)?;
    let t = c.topology.get().expect("it was just looked at").clone();
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
    Ok(t)
}

impl Topology {
    /// The neighbours of the calling process.
    fn neighbors(&self) -> Neighbors<'_> {
        let grid = matches!(self.kind, Kind::Cart(_));
        Neighbors { sources: &self.sources, destinations: &self.destinations, grid }
    }
}

/// What a procedure does with the blocks of its neighbours: exchange them now, or make a request that does.
trait Way {
    fn comm(&self) -> &Comm;
    fn run<'a, 'b>(
        self,
        who: Neighbors,
        from: impl Fn(usize) -> Block<'a>,
        to: impl Fn(usize) -> Block<'b>,
    ) -> Result<()>;
}

struct AtOnce(Found);

impl Way for AtOnce {
    fn comm(&self) -> &Comm {
        &self.0
    }
    fn run<'a, 'b>(
        self,
        who: Neighbors,
        from: impl Fn(usize) -> Block<'a>,
        to: impl Fn(usize) -> Block<'b>,
    ) -> Result<()> {
        oxmpi_coll::neighbor_exchange(&self.0.endpoint, who, from, to)
    }
}

impl Way for Making {
    fn comm(&self) -> &Comm {
        Making::comm(self)
    }
    fn run<'a, 'b>(
        self,
        who: Neighbors,
        from: impl Fn(usize) -> Block<'a>,
        to: impl Fn(usize) -> Block<'b>,
    ) -> Result<()> {
        self.with(None, |x| {
            oxmpi_coll::neighbor_steps(x, who, from, to);
            Ok(())
        })
    }
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

/// The three forms of a procedure, from one body, which gets the way, the communicator and its topology.
macro_rules! forms {
    ($($blocking:ident, $single:ident $single_name:literal, $init:ident $init_name:literal
       ($($arg:ident: $ty:ty),*) |$way:ident, $who:ident| $body:block)*) => { $(
        pub fn $blocking($($arg: $ty,)* comm: handle::Comm) -> Result<()> {
            let $way = AtOnce(comm_of(comm)?);
            let hood = hood($way.comm())?;
            let $who = hood.neighbors();
            $body
        }
        pub fn $single($($arg: $ty,)* comm: handle::Comm, request: Out<handle::Request>) -> Result<()> {
            let $way = Making::of(comm, None, request, $single_name)?;
            let hood = hood($way.comm())?;
            let $who = hood.neighbors();
            $body
        }
        pub fn $init(
            $($arg: $ty,)*
            comm: handle::Comm,
            info: handle::Info,
            request: Out<handle::Request>,
        ) -> Result<()> {
            let $way = Making::of(comm, Some(info), request, $init_name)?;
            let hood = hood($way.comm())?;
            let $who = hood.neighbors();
            $body
        }
    )* };
}

type Type = handle::Datatype;

forms! {
    neighbor_allgather, ineighbor_allgather "MPI_Ineighbor_allgather",
    neighbor_allgather_init "MPI_Neighbor_allgather_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type, recvbuf: Buf, recvcount: i64, recvtype: Type
    ) |way, who| {
        let s = data(used(sendbuf, who.destinations), sendcount, sendtype)?;
        let r = data(used(recvbuf, who.sources), recvcount, recvtype)?;
        let (from, to) = (Block::new(sendbuf, s.count, s.dt()), Block::new(recvbuf, r.count, r.dt()));
        way.run(who, |_| from, |k| to.blocks(k, 1))
    }

    neighbor_allgatherv, ineighbor_allgatherv "MPI_Ineighbor_allgatherv",
    neighbor_allgatherv_init "MPI_Neighbor_allgatherv_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type,
        recvbuf: Buf, recvcounts: Counts, displs: Counts, recvtype: Type
    ) |way, who| {
        let s = data(used(sendbuf, who.destinations), sendcount, sendtype)?;
        let rdt = side(recvbuf, &recvcounts, &displs, recvtype, who.sources)?;
        let (from, to) = (Block::new(sendbuf, s.count, s.dt()), Block::new(recvbuf, 0, &rdt));
        way.run(who, |_| from, |k| to.at(displs.get(k) as isize, recvcounts.get(k) as usize))
    }

    neighbor_alltoall, ineighbor_alltoall "MPI_Ineighbor_alltoall",
    neighbor_alltoall_init "MPI_Neighbor_alltoall_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type, recvbuf: Buf, recvcount: i64, recvtype: Type
    ) |way, who| {
        let s = data(used(sendbuf, who.destinations), sendcount, sendtype)?;
        let r = data(used(recvbuf, who.sources), recvcount, recvtype)?;
        let (from, to) = (Block::new(sendbuf, s.count, s.dt()), Block::new(recvbuf, r.count, r.dt()));
        way.run(who, |k| from.blocks(k, 1), |k| to.blocks(k, 1))
    }

    neighbor_alltoallv, ineighbor_alltoallv "MPI_Ineighbor_alltoallv",
    neighbor_alltoallv_init "MPI_Neighbor_alltoallv_init" (
        sendbuf: Buf, sendcounts: Counts, sdispls: Counts, sendtype: Type,
        recvbuf: Buf, recvcounts: Counts, rdispls: Counts, recvtype: Type
    ) |way, who| {
        let sdt = side(sendbuf, &sendcounts, &sdispls, sendtype, who.destinations)?;
        let rdt = side(recvbuf, &recvcounts, &rdispls, recvtype, who.sources)?;
        let (from, to) = (Block::new(sendbuf, 0, &sdt), Block::new(recvbuf, 0, &rdt));
        way.run(
            who,
            |k| from.at(sdispls.get(k) as isize, sendcounts.get(k) as usize),
            |k| to.at(rdispls.get(k) as isize, recvcounts.get(k) as usize),
        )
    }

    neighbor_alltoallw, ineighbor_alltoallw "MPI_Ineighbor_alltoallw",
    neighbor_alltoallw_init "MPI_Neighbor_alltoallw_init" (
        sendbuf: Buf, sendcounts: Counts, sdispls: Arr<i64>, sendtypes: Arr<Type>,
        recvbuf: Buf, recvcounts: Counts, rdispls: Arr<i64>, recvtypes: Arr<Type>
    ) |way, who| {
        let (sdispls, rdispls) = (Counts::Wide(sdispls), Counts::Wide(rdispls));
        let sdts = sides(sendbuf, &sendcounts, &sdispls, sendtypes, who.destinations)?;
        let rdts = sides(recvbuf, &recvcounts, &rdispls, recvtypes, who.sources)?;
        way.run(
            who,
            |k| Block::new(sendbuf.offset(sdispls.get(k) as isize), sendcounts.get(k) as usize, &sdts[k]),
            |k| Block::new(recvbuf.offset(rdispls.get(k) as isize), recvcounts.get(k) as usize, &rdts[k]),
        )
    }
}
