//! Collectives on intercommunicators (MPI-5.0 chapter 6, the paragraphs on intercommunicators): who has to say what, and the checks; once
//! for the blocking, the nonblocking and the persistent forms.
//!
//! The ranks of one group give each other's data to the other group. Rooted operations: the root says MPI_ROOT, the rest of its group
//! MPI_PROC_NULL (nothing else is significant there), the other group the root's rank. MPI_IN_PLACE has no meaning anywhere.
use super::nonblocking::Making;
use super::{Comm, SOMEWHERE, address, addresses, counts, data, typed, types};
use crate::op;
use oxmpi_base::args::{Arr, Buf, Counts};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_coll::Data;
use oxmpi_coll::inter::{self, Inter, Role, Task};
use oxmpi_datatype::Datatype;

/// What becomes of a task: it is done, or a request of it is made.
pub(super) trait Taker {
    fn comm(&self) -> &Comm;
    fn take(self, task: Task) -> Result<()>;
    /// The same, where elements of a type are combined.
    fn take_combining(self, task: Task, d: &super::Data, datatype: handle::Datatype, op: handle::Op) -> Result<()>;

    fn both(&self) -> Result<Inter<'_>> {
        let c = self.comm();
        c.inter().ok_or_else(|| Error::new(MPI_ERR_INTERN, format!("{} is no intercommunicator", c.describe())))
    }
    /// Ranks of the other group.
    fn others(&self) -> usize {
        self.comm().size()
    }
    /// None: this rank has no part in the operation.
    fn role(&self, root: i32) -> Result<Option<Role>> {
        let n = self.others();
        Ok(match root {
            MPI_ROOT => Some(Role::Root),
            MPI_PROC_NULL => None,
            r if r >= 0 && (r as usize) < n => Some(Role::Of(r as usize)),
            r => {
                let (who, last) = (self.comm().describe(), n - 1);
                bail!(
                    MPI_ERR_ROOT,
                    "root {r} is neither MPI_ROOT, MPI_PROC_NULL nor a rank of the remote group of {who}, whose ranks are 0 to {last}"
                )
            }
        })
    }
}

/// A blocking call.
pub(super) struct Now<'a>(pub &'a Comm);

impl Taker for Now<'_> {
    fn comm(&self) -> &Comm {
        self.0
    }
    fn take(self, task: Task) -> Result<()> {
        inter::at_once(&self.both()?, &task, None)
    }
    fn take_combining(self, task: Task, d: &super::Data, datatype: handle::Datatype, op: handle::Op) -> Result<()> {
        let both = self.both()?;
        op::with_reduction(op, d.dt(), datatype, |r| inter::at_once(&both, &task, Some(r)))
    }
}

impl Taker for Making {
    fn comm(&self) -> &Comm {
        Making::comm(self)
    }
    fn take(self, task: Task) -> Result<()> {
        self.between(None, |local, remote| inter::record(local, remote, &task, None))
    }
    fn take_combining(self, task: Task, d: &super::Data, datatype: handle::Datatype, op: handle::Op) -> Result<()> {
        let combine = d.combine(op, datatype)?;
        let recorded = combine.for_recording();
        self.between(Some(combine), |local, remote| inter::record(local, remote, &task, Some(&recorded)))
    }
}

/// All of `n` blocks.
fn blocks<'a>(n: usize, at: impl Fn(usize) -> Data<'a>) -> Vec<Data<'a>> {
    (0..n).map(at).collect()
}

/// Equal blocks.
fn equal(buf: Buf, count: usize, dt: &Datatype, n: usize) -> Vec<Data<'_>> {
    blocks(n, |r| Data::new(buf, count, dt).blocks(r, 1))
}

/// Blocks by counts and displacements in elements.
fn placed<'a>(buf: Buf, counts: &Counts, displs: &Counts, dt: &'a Datatype, n: usize) -> Vec<Data<'a>> {
    blocks(n, |r| Data::new(buf, 0, dt).at(displs.get(r) as isize, counts.get(r) as usize))
}

#[cold]
pub(super) fn barrier(t: impl Taker) -> Result<()> {
    t.take(Task::Barrier)
}

#[cold]
pub(super) fn bcast(t: impl Taker, buf: Buf, count: i64, dt: handle::Datatype, root: i32) -> Result<()> {
    let Some(role) = t.role(root)? else { return t.take(Task::Nothing) };
    let d = data(buf, count, dt)?;
    t.take(Task::Bcast(Data::new(buf, d.count, d.dt()), role))
}

/// A buffer argument: address, count, type.
pub(super) type Block = (Buf, i64, handle::Datatype);

#[cold]
pub(super) fn gather(t: impl Taker, send: Block, recv: Block, root: i32) -> Result<()> {
    match t.role(root)? {
        None => t.take(Task::Nothing),
        Some(Role::Root) => {
            let d = data(recv.0, recv.1, recv.2)?;
            let n = t.others();
            t.take(Task::FromAll(equal(recv.0, d.count, d.dt(), n)))
        }
        Some(Role::Of(root)) => {
            let d = data(send.0, send.1, send.2)?;
            t.take(Task::ToRoot(Data::new(send.0, d.count, d.dt()), root))
        }
    }
}

/// One side of a call with counts: buffer, counts, displacements, type.
pub(super) type Vector = (Buf, Counts, Counts, handle::Datatype);

#[cold]
pub(super) fn gatherv(t: impl Taker, send: Block, recv: Vector, root: i32) -> Result<()> {
    match t.role(root)? {
        None => t.take(Task::Nothing),
        Some(Role::Root) => {
            let (n, dt) = (t.others(), typed(recv.3)?);
            counts(recv.0, &recv.1, Some(&recv.2), n, &dt)?;
            t.take(Task::FromAll(placed(recv.0, &recv.1, &recv.2, &dt, n)))
        }
        Some(Role::Of(root)) => {
            let d = data(send.0, send.1, send.2)?;
            t.take(Task::ToRoot(Data::new(send.0, d.count, d.dt()), root))
        }
    }
}

#[cold]
pub(super) fn scatter(t: impl Taker, send: Block, recv: Block, root: i32) -> Result<()> {
    match t.role(root)? {
        None => t.take(Task::Nothing),
        Some(Role::Root) => {
            let d = data(send.0, send.1, send.2)?;
            let n = t.others();
            t.take(Task::ToAll(equal(send.0, d.count, d.dt(), n)))
        }
        Some(Role::Of(root)) => {
            let d = data(recv.0, recv.1, recv.2)?;
            t.take(Task::FromRoot(Data::new(recv.0, d.count, d.dt()), root))
        }
    }
}

#[cold]
pub(super) fn scatterv(t: impl Taker, send: Vector, recv: Block, root: i32) -> Result<()> {
    match t.role(root)? {
        None => t.take(Task::Nothing),
        Some(Role::Root) => {
            let (n, dt) = (t.others(), typed(send.3)?);
            counts(send.0, &send.1, Some(&send.2), n, &dt)?;
            t.take(Task::ToAll(placed(send.0, &send.1, &send.2, &dt, n)))
        }
        Some(Role::Of(root)) => {
            let d = data(recv.0, recv.1, recv.2)?;
            t.take(Task::FromRoot(Data::new(recv.0, d.count, d.dt()), root))
        }
    }
}

#[cold]
pub(super) fn allgather(t: impl Taker, send: Block, recv: Block) -> Result<()> {
    let (s, r) = (data(send.0, send.1, send.2)?, data(recv.0, recv.1, recv.2)?);
    t.take(Task::Allgather(Data::new(send.0, s.count, s.dt()), Data::new(recv.0, r.count, r.dt())))
}

#[cold]
pub(super) fn allgatherv(t: impl Taker, send: Block, recv: Vector) -> Result<()> {
    let (n, s, dt) = (t.others(), data(send.0, send.1, send.2)?, typed(recv.3)?);
    counts(recv.0, &recv.1, Some(&recv.2), n, &dt)?;
    let to = blocks(n, |_| Data::new(send.0, s.count, s.dt()));
    t.take(Task::Pairs(to, placed(recv.0, &recv.1, &recv.2, &dt, n)))
}

#[cold]
pub(super) fn alltoall(t: impl Taker, send: Block, recv: Block) -> Result<()> {
    let (n, s, r) = (t.others(), data(send.0, send.1, send.2)?, data(recv.0, recv.1, recv.2)?);
    t.take(Task::Pairs(equal(send.0, s.count, s.dt(), n), equal(recv.0, r.count, r.dt(), n)))
}

#[cold]
pub(super) fn alltoallv(t: impl Taker, send: Vector, recv: Vector) -> Result<()> {
    let n = t.others();
    let (sdt, rdt) = (typed(send.3)?, typed(recv.3)?);
    counts(send.0, &send.1, Some(&send.2), n, &sdt)?;
    counts(recv.0, &recv.1, Some(&recv.2), n, &rdt)?;
    let from = placed(recv.0, &recv.1, &recv.2, &rdt, n);
    t.take(Task::Pairs(placed(send.0, &send.1, &send.2, &sdt, n), from))
}

/// One side of an alltoallw, with displacements in bytes.
pub(super) type Typed = (Buf, Counts, Counts, Arr<handle::Datatype>);

#[cold]
pub(super) fn alltoallw(t: impl Taker, send: Typed, recv: Typed) -> Result<()> {
    let n = t.others();
    let check = |side: &Typed| -> Result<Vec<Datatype>> {
        address(side.0, false, super::byte())?;
        counts(SOMEWHERE, &side.1, Some(&side.2), n, super::byte())?;
        let dts = types(side.3, &side.1, n)?;
        addresses(side.0, &side.1, &side.2, &dts)?;
        Ok(dts)
    };
    let (sdts, rdts) = (check(&send)?, check(&recv)?);
    fn at<'a>(side: &Typed, dts: &'a [Datatype]) -> Vec<Data<'a>> {
        blocks(dts.len(), |i| Data::new(side.0.offset(side.2.get(i) as isize), side.1.get(i) as usize, &dts[i]))
    }
    t.take(Task::Pairs(at(&send, &sdts), at(&recv, &rdts)))
}

#[cold]
pub(super) fn reduce(
    t: impl Taker,
    sendbuf: Buf,
    recvbuf: Buf,
    count: i64,
    datatype: handle::Datatype,
    op: handle::Op,
    root: i32,
) -> Result<()> {
    let Some(role) = t.role(root)? else { return t.take(Task::Nothing) };
    let d = data(if role == Role::Root { recvbuf } else { sendbuf }, count, datatype)?;
    let at = |buf| Data::new(buf, d.count, d.dt());
    t.take_combining(Task::Reduce(at(sendbuf), at(recvbuf), role), &d, datatype, op)
}

#[cold]
pub(super) fn allreduce(
    t: impl Taker,
    sendbuf: Buf,
    recvbuf: Buf,
    count: i64,
    datatype: handle::Datatype,
    op: handle::Op,
) -> Result<()> {
    data(sendbuf, count, datatype)?;
    let d = data(recvbuf, count, datatype)?;
    let at = |buf| Data::new(buf, d.count, d.dt());
    t.take_combining(Task::Allreduce(at(sendbuf), at(recvbuf)), &d, datatype, op)
}

#[cold]
pub(super) fn reduce_scatter_block(
    t: impl Taker,
    sendbuf: Buf,
    recvbuf: Buf,
    recvcount: i64,
    datatype: handle::Datatype,
    op: handle::Op,
) -> Result<()> {
    data(sendbuf, recvcount, datatype)?;
    let d = data(recvbuf, recvcount, datatype)?;
    let counts = vec![d.count; t.both()?.local.size()];
    scattering(t, sendbuf, recvbuf, counts, &d, datatype, op)
}

#[cold]
pub(super) fn reduce_scatter(
    t: impl Taker,
    sendbuf: Buf,
    recvbuf: Buf,
    recvcounts: Counts,
    datatype: handle::Datatype,
    op: handle::Op,
) -> Result<()> {
    let d = super::Data { count: 0, kind: Some(crate::datatype::get_committed(datatype)?) };
    let (n, me) = (t.both()?.local.size(), t.comm().rank);
    counts(sendbuf, &recvcounts, None, n, d.dt())?;
    address(recvbuf, recvcounts.get(me) > 0, d.dt())?;
    let counts = (0..n).map(|i| recvcounts.get(i) as usize).collect();
    scattering(t, sendbuf, recvbuf, counts, &d, datatype, op)
}

fn scattering(
    t: impl Taker,
    sendbuf: Buf,
    recvbuf: Buf,
    counts: Vec<usize>,
    d: &super::Data,
    datatype: handle::Datatype,
    op: handle::Op,
) -> Result<()> {
    let input = Data::new(sendbuf, counts.iter().sum(), d.dt());
    let own = Data::new(recvbuf, counts[t.comm().rank], d.dt());
    t.take_combining(Task::ReduceScatter(input, own, counts), d, datatype, op)
}
