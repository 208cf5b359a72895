//! Partitioned communication (MPI-5.0 chapter 4): arguments checked; the operation is the engine's (`oxmpi_pt2pt::part`).
//!
//! Known gaps: no info key means anything.
use crate::comm;
use crate::pt2pt::{Peer, dest_of, send_tag, source_of, span_of_type};
use crate::request::{Partitioned, with_partitioned};
use crate::{datatype, info, world};
use oxmpi_base::args::{Arr, Buf, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_pt2pt::{PartId, Span};

/// All partitions of an operation, checked.
fn whole(buf: Buf, partitions: i32, count: i64, dt: handle::Datatype) -> Result<Span> {
    if partitions <= 0 {
        bail!(MPI_ERR_ARG, "the number of partitions is {partitions}; there must be one or more");
    }
    if count < 0 {
        bail!(MPI_ERR_COUNT, "count is {count}; a count must not be negative");
    }
    let dt = datatype::get_committed(dt)?;
    match count.checked_mul(partitions as i64) {
        Some(n) => span_of_type(buf, n, &dt.dt),
        None => {
            bail!(MPI_ERR_COUNT, "{partitions} partitions of {count} elements are more than an address space holds")
        }
    }
}

/// The process behind a checked peer.
fn process(peer: Peer) -> Option<u32> {
    match peer {
        Peer::Null => None,
        Peer::Proc(p) => Some(p as u32),
    }
}

#[allow(clippy::too_many_arguments)]
pub fn psend_init(
    buf: Buf,
    partitions: i32,
    count: i64,
    datatype: handle::Datatype,
    dest: i32,
    tag: i32,
    comm: handle::Comm,
    info: handle::Info,
    request: Out<handle::Request>,
) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    let to = process(dest_of(&c, dest)?);
    send_tag(tag)?;
    info::optional(info)?;
    let span = whole(buf, partitions, count, datatype)?;
    request.set(MPI_REQUEST_NULL)?;
    let id: PartId = e.enter(c.lane(), |s| s.part_send(c.ctx(), to, tag, span, partitions as u32))?;
    request.set(Partitioned { comm: c.to_arc(), id, partitions, sends: true }.publish()?)
}

#[allow(clippy::too_many_arguments)]
pub fn precv_init(
    buf: Buf,
    partitions: i32,
    count: i64,
    datatype: handle::Datatype,
    source: i32,
    tag: i32,
    comm: handle::Comm,
    info: handle::Info,
    request: Out<handle::Request>,
) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    if source == MPI_ANY_SOURCE {
        bail!(MPI_ERR_RANK, "a partitioned receive names its source; MPI_ANY_SOURCE is not allowed");
    }
    if tag == MPI_ANY_TAG {
        bail!(MPI_ERR_TAG, "a partitioned receive names its tag; MPI_ANY_TAG is not allowed");
    }
    let from = process(source_of(&c, source)?);
    send_tag(tag)?;
    info::optional(info)?;
    let span = whole(buf, partitions, count, datatype)?;
    request.set(MPI_REQUEST_NULL)?;
    let id: PartId = e.enter(c.lane(), |s| s.part_recv(c.ctx(), from, tag, span, partitions as u32))?;
    request.set(Partitioned { comm: c.to_arc(), id, partitions, sends: false }.publish()?)
}

fn exists(p: &Partitioned, partition: i32) -> Result<u32> {
    if (0..p.partitions).contains(&partition) {
        return Ok(partition as u32);
    }
    bail!(MPI_ERR_ARG, "partition {partition} does not exist; the request has partitions 0 to {}", p.partitions - 1)
}

pub fn pready(partition: i32, request: handle::Request) -> Result<()> {
    pready_range(partition, partition, request)
}

/// Nothing where `partition_low` is more than `partition_high`.
pub fn pready_range(partition_low: i32, partition_high: i32, request: handle::Request) -> Result<()> {
    let e = world::engine()?;
    with_partitioned(e, request, true, |p| {
        let (low, high) = (exists(p, partition_low)?, exists(p, partition_high)?);
        let which = [(low, (high + 1).saturating_sub(low))];
        e.enter(p.comm.lane(), |s| s.part_ready(p.id, which.into_iter()))
    })
}

pub fn pready_list(length: i32, array_of_partitions: Arr<i32>, request: handle::Request) -> Result<()> {
    let e = world::engine()?;
    with_partitioned(e, request, true, |p| {
        let Ok(n) = usize::try_from(length) else {
            bail!(MPI_ERR_ARG, "the length of the list of partitions is {length}; it must not be negative");
        };
        let list = array_of_partitions.slice(n)?;
        list.iter().try_for_each(|k| exists(p, *k).map(drop))?;
        e.enter(p.comm.lane(), |s| s.part_ready(p.id, list.iter().map(|k| (*k as u32, 1))))
    })
}

/// True for MPI_REQUEST_NULL and where the receive is not active (MPI-5.0 4.2.2).
pub fn parrived(request: handle::Request, partition: i32, flag: Out<i32>) -> Result<()> {
    let e = world::engine()?;
    if request == MPI_REQUEST_NULL {
        return flag.set(1);
    }
    with_partitioned(e, request, false, |p| {
        let k = exists(p, partition)?;
        let arrived = |s: &mut oxmpi_pt2pt::State| s.part_arrived(p.id, k);
        let mut yes = e.enter(p.comm.lane(), arrived)?;
        if !yes {
            e.poll(p.comm.lane())?;
            yes = e.enter(p.comm.lane(), arrived)?;
        }
        if !yes {
            e.breathe();
        }
        flag.set(yes as i32)
    })
}
