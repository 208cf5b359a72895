//! The collectives as steps, by messages alone: what a schedule is made of. The arguments are those of the blocking forms; counts and
//! displacements are used up when a function returns, buffers and datatypes go into the steps.
use crate::buffer::Data;
use crate::link::Datatype;
use crate::reduction::{Reduction, Vectors};
use crate::schedule::Recorder;
use crate::select;
use crate::steps::Steps;
use oxmpi_base::{
    Result,
    args::{Buf, Counts},
};

fn unless_in_place<'a>(in_place: bool, d: Data<'a>) -> Option<Data<'a>> {
    (!in_place).then_some(d)
}

pub fn barrier(x: &Recorder) -> Result<()> {
    crate::barrier::with(x, select::barrier(x.size(), x.shares_cores()));
    Ok(())
}

pub fn bcast(x: &impl Steps, buf: Buf, count: usize, dt: &Datatype, root: usize) -> Result<()> {
    crate::bcast::steps(x, Data::new(buf, count, dt), root)
}

pub fn gather(
    x: &impl Steps,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
    root: usize,
) -> Result<()> {
    let is_root = x.rank() == root;
    let own = unless_in_place(is_root && sbuf.is_in_place(), Data::new(sbuf, scount, sdt));
    crate::gather::steps(x, own, is_root.then(|| Data::new(rbuf, rcount, rdt)), root)
}

pub fn gatherv(
    x: &impl Steps,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcounts: &Counts,
    displs: &Counts,
    rdt: &Datatype,
    root: usize,
) -> Result<()> {
    let own = unless_in_place(x.rank() == root && sbuf.is_in_place(), Data::new(sbuf, scount, sdt));
    let base = Data::new(rbuf, 0, rdt);
    crate::gather::steps_v(x, own, |r| base.at(displs.get(r) as isize, rcounts.get(r) as usize), root);
    Ok(())
}

pub fn scatter(
    x: &impl Steps,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
    root: usize,
) -> Result<()> {
    let is_root = x.rank() == root;
    let own = unless_in_place(is_root && rbuf.is_in_place(), Data::new(rbuf, rcount, rdt));
    crate::scatter::steps(x, own, is_root.then(|| Data::new(sbuf, scount, sdt)), root)
}

pub fn scatterv(
    x: &impl Steps,
    sbuf: Buf,
    scounts: &Counts,
    displs: &Counts,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
    root: usize,
) -> Result<()> {
    let own = unless_in_place(x.rank() == root && rbuf.is_in_place(), Data::new(rbuf, rcount, rdt));
    let base = Data::new(sbuf, 0, sdt);
    crate::scatter::steps_v(x, own, |r| base.at(displs.get(r) as isize, scounts.get(r) as usize), root);
    Ok(())
}

pub fn allgather(
    x: &impl Steps,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
) -> Result<()> {
    let own = unless_in_place(sbuf.is_in_place(), Data::new(sbuf, scount, sdt));
    crate::allgather::steps(x, own, Data::new(rbuf, rcount, rdt))
}

pub fn allgatherv(
    x: &impl Steps,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcounts: &Counts,
    displs: &Counts,
    rdt: &Datatype,
) -> Result<()> {
    let own = unless_in_place(sbuf.is_in_place(), Data::new(sbuf, scount, sdt));
    let base = Data::new(rbuf, 0, rdt);
    crate::allgatherv::steps(x, own, |r| base.at(displs.get(r) as isize, rcounts.get(r) as usize))
}

pub fn alltoall(
    x: &impl Steps,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
) -> Result<()> {
    let from = unless_in_place(sbuf.is_in_place(), Data::new(sbuf, scount, sdt));
    crate::alltoall::steps(x, from, Data::new(rbuf, rcount, rdt))
}

pub fn alltoallv(
    x: &impl Steps,
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
    let from = |r: usize| from.at(sdispls.get(r) as isize, scounts.get(r) as usize);
    let to = |r: usize| to.at(rdispls.get(r) as isize, rcounts.get(r) as usize);
    crate::alltoallv::steps(x, (!sbuf.is_in_place()).then_some(from), to)
}

pub fn alltoallw(
    x: &impl Steps,
    sbuf: Buf,
    scounts: &Counts,
    sdispls: &Counts,
    sdts: &[&Datatype],
    rbuf: Buf,
    rcounts: &Counts,
    rdispls: &Counts,
    rdts: &[&Datatype],
) -> Result<()> {
    let from = |r: usize| Data::new(sbuf.offset(sdispls.get(r) as isize), scounts.get(r) as usize, sdts[r]);
    let to = |r: usize| Data::new(rbuf.offset(rdispls.get(r) as isize), rcounts.get(r) as usize, rdts[r]);
    crate::alltoallv::steps(x, (!sbuf.is_in_place()).then_some(from), to)
}

pub fn reduce(
    x: &impl Steps,
    sbuf: Buf,
    rbuf: Buf,
    count: usize,
    dt: &Datatype,
    op: &Reduction,
    root: usize,
) -> Result<()> {
    crate::reduce::steps(x, Vectors::new(sbuf, rbuf, count, dt, x.rank() == root), op, root)
}

pub fn allreduce(x: &impl Steps, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction) -> Result<()> {
    crate::allreduce::steps(x, Vectors::new(sbuf, rbuf, count, dt, true), op)
}

pub fn scan(x: &impl Steps, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction) -> Result<()> {
    crate::scan::steps(x, Vectors::new(sbuf, rbuf, count, dt, true), op, true)
}

/// The receive buffer of rank 0 is not touched.
pub fn exscan(x: &impl Steps, sbuf: Buf, rbuf: Buf, count: usize, dt: &Datatype, op: &Reduction) -> Result<()> {
    crate::scan::steps(x, Vectors::new(sbuf, rbuf, count, dt, true), op, false)
}

pub fn reduce_scatter_block(
    x: &impl Steps,
    sbuf: Buf,
    rbuf: Buf,
    rcount: usize,
    dt: &Datatype,
    op: &Reduction,
) -> Result<()> {
    let starts = crate::reduce_scatter::starts((0..x.size()).map(|_| rcount));
    crate::reduce_scatter::steps(x, Vectors::new(sbuf, rbuf, starts[x.size()], dt, true), &starts, op)
}

pub fn reduce_scatter(
    x: &impl Steps,
    sbuf: Buf,
    rbuf: Buf,
    rcounts: &Counts,
    dt: &Datatype,
    op: &Reduction,
) -> Result<()> {
    let starts = crate::reduce_scatter::starts((0..x.size()).map(|r| rcounts.get(r) as usize));
    crate::reduce_scatter::steps(x, Vectors::new(sbuf, rbuf, starts[x.size()], dt, true), &starts, op)
}
