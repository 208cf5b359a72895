//! Nonblocking and persistent collectives (MPI-5.0 6.12, 6.13): arguments checked as those of the blocking forms, then a schedule.
//!
//! Counts, displacements and lists of types are used up here; buffers stay the program's until the operation completes; types and
//! operations may be freed at once. Intercommunicators are handed over to [`inter`](super::inter).
use super::*;
use crate::info;
use crate::request::Collective;
use oxmpi_base::args::Out;
use oxmpi_coll::plan;
use oxmpi_coll::schedule::{Combine, Recorder, Schedule};

/// What a procedure makes: the request of one run that begins now, or (persistent) of many that MPI_Start begins.
pub(crate) struct Making {
    comm: Found,
    name: &'static str,
    persistent: bool,
    request: Out<handle::Request>,
}

impl Making {
    /// For a procedure without or (persistent) with an info argument.
    pub(crate) fn of(
        comm: handle::Comm,
        info: Option<handle::Info>,
        request: Out<handle::Request>,
        name: &'static str,
    ) -> Result<Making> {
        let comm = comm_of(comm)?;
        if let Some(i) = info {
            // No hint is known; a handle that names none is refused.
            info::optional(i)?;
        }
        // A null pointer is refused before anything starts.
        request.set(MPI_REQUEST_NULL)?;
        Ok(Making { comm, name, persistent: info.is_some(), request })
    }
    pub(crate) fn comm(&self) -> &Comm {
        &self.comm
    }
    /// Makes the schedule of what `steps` does.
    pub(crate) fn with(self, combine: Option<Combine>, steps: impl FnOnce(&Recorder) -> Result<()>) -> Result<()> {
        let x = Recorder::new(&self.comm.endpoint, self.persistent);
        steps(&x)?;
        let schedule = Schedule::new(x.finish(self.name, combine));
        let h = Collective::publish(self.comm.to_arc(), schedule.clone(), self.persistent)?;
        self.request.set(h)?;
        if !self.persistent {
            schedule.start();
        }
        Ok(())
    }
    /// Makes the schedule of an operation between two groups, from steps in each direction.
    pub(crate) fn between(
        self,
        combine: Option<Combine>,
        steps: impl FnOnce(&Recorder, &Recorder) -> Result<()>,
    ) -> Result<()> {
        let c = self.comm.to_arc();
        let Some(both) = c.inter() else { return comm::refuse_intra(&c) };
        let persistent = self.persistent;
        self.with(combine, |x| steps(x, &x.beside(both.remote, persistent)))
    }
    /// The same, for a reduction of elements of `d`.
    fn reducing(
        self,
        op: handle::Op,
        d: &Data,
        datatype: handle::Datatype,
        steps: impl FnOnce(&Recorder, &oxmpi_coll::Reduction) -> Result<()>,
    ) -> Result<()> {
        let combine = d.combine(op, datatype)?;
        let recorded = combine.for_recording();
        self.with(Some(combine), |x| steps(x, &recorded))
    }
}

impl super::Data {
    /// What combines elements of this type.
    pub(super) fn combine(&self, op: handle::Op, datatype: handle::Datatype) -> Result<Combine> {
        let t = match &self.kind {
            Some(t) => t.to_arc(),
            None => datatype::get_committed(datatype)?.to_arc(),
        };
        op::combine(op, t, datatype)
    }
}

/// Both forms of a collective, from one body.
macro_rules! forms {
    ($($single:ident $single_name:literal, $init:ident $init_name:literal
       ($($arg:ident: $ty:ty),*) |$m:ident, $c:ident| $body:block)*) => { $(
        pub fn $single($($arg: $ty,)* comm: handle::Comm, request: Out<handle::Request>) -> Result<()> {
            let $m = Making::of(comm, None, request, $single_name)?;
            let $c = $m.comm();
            $body
        }
        pub fn $init(
            $($arg: $ty,)*
            comm: handle::Comm,
            info: handle::Info,
            request: Out<handle::Request>,
        ) -> Result<()> {
            let $m = Making::of(comm, Some(info), request, $init_name)?;
            let $c = $m.comm();
            $body
        }
    )* };
}

type Type = handle::Datatype;
type Op = handle::Op;

forms! {
    ibarrier "MPI_Ibarrier", barrier_init "MPI_Barrier_init" () |m, c| {
        if c.remote.is_some() {
            return inter::barrier(m);
        }
        m.with(None, plan::barrier)
    }

    ibcast "MPI_Ibcast", bcast_init "MPI_Bcast_init" (buffer: Buf, count: i64, datatype: Type, root: i32) |m, c| {
        if c.remote.is_some() {
            return inter::bcast(m, buffer, count, datatype, root);
        }
        let root = root_of(c, root)?;
        let d = data(buffer, count, datatype)?;
        m.with(None, |x| plan::bcast(x, buffer, d.count, d.dt(), root))
    }

    igather "MPI_Igather", gather_init "MPI_Gather_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type, recvbuf: Buf, recvcount: i64, recvtype: Type, root: i32
    ) |m, c| {
        if c.remote.is_some() {
            return inter::gather(m, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root);
        }
        let root = root_of(c, root)?;
        let (s, r) = if c.rank == root {
            (data_or_in_place(sendbuf, sendcount, sendtype)?, data(recvbuf, recvcount, recvtype)?)
        } else {
            (data(sendbuf, sendcount, sendtype)?, nothing())
        };
        m.with(None, |x| plan::gather(x, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt(), root))
    }

    igatherv "MPI_Igatherv", gatherv_init "MPI_Gatherv_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type,
        recvbuf: Buf, recvcounts: Counts, displs: Counts, recvtype: Type, root: i32
    ) |m, c| {
        if c.remote.is_some() {
            return inter::gatherv(m, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root);
        }
        let root = root_of(c, root)?;
        let (s, rdt) = if c.rank == root {
            let rdt = typed(recvtype)?;
            counts(recvbuf, &recvcounts, Some(&displs), c.size(), &rdt)?;
            (data_or_in_place(sendbuf, sendcount, sendtype)?, rdt)
        } else {
            (data(sendbuf, sendcount, sendtype)?, byte().clone())
        };
        m.with(None, |x| plan::gatherv(x, sendbuf, s.count, s.dt(), recvbuf, &recvcounts, &displs, &rdt, root))
    }

    iscatter "MPI_Iscatter", scatter_init "MPI_Scatter_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type, recvbuf: Buf, recvcount: i64, recvtype: Type, root: i32
    ) |m, c| {
        if c.remote.is_some() {
            return inter::scatter(m, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root);
        }
        let root = root_of(c, root)?;
        let (s, r) = if c.rank == root {
            (data(sendbuf, sendcount, sendtype)?, data_or_in_place(recvbuf, recvcount, recvtype)?)
        } else {
            (nothing(), data(recvbuf, recvcount, recvtype)?)
        };
        m.with(None, |x| plan::scatter(x, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt(), root))
    }

    iscatterv "MPI_Iscatterv", scatterv_init "MPI_Scatterv_init" (
        sendbuf: Buf, sendcounts: Counts, displs: Counts, sendtype: Type,
        recvbuf: Buf, recvcount: i64, recvtype: Type, root: i32
    ) |m, c| {
        if c.remote.is_some() {
            return inter::scatterv(m, (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root);
        }
        let root = root_of(c, root)?;
        let (sdt, r) = if c.rank == root {
            let sdt = typed(sendtype)?;
            counts(sendbuf, &sendcounts, Some(&displs), c.size(), &sdt)?;
            (sdt, data_or_in_place(recvbuf, recvcount, recvtype)?)
        } else {
            (byte().clone(), data(recvbuf, recvcount, recvtype)?)
        };
        m.with(None, |x| plan::scatterv(x, sendbuf, &sendcounts, &displs, &sdt, recvbuf, r.count, r.dt(), root))
    }

    iallgather "MPI_Iallgather", allgather_init "MPI_Allgather_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type, recvbuf: Buf, recvcount: i64, recvtype: Type
    ) |m, c| {
        if c.remote.is_some() {
            return inter::allgather(m, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        }
        let (s, r) = (data_or_in_place(sendbuf, sendcount, sendtype)?, data(recvbuf, recvcount, recvtype)?);
        m.with(None, |x| plan::allgather(x, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt()))
    }

    iallgatherv "MPI_Iallgatherv", allgatherv_init "MPI_Allgatherv_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type,
        recvbuf: Buf, recvcounts: Counts, displs: Counts, recvtype: Type
    ) |m, c| {
        if c.remote.is_some() {
            return inter::allgatherv(m, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
        }
        let (s, rdt) = (data_or_in_place(sendbuf, sendcount, sendtype)?, typed(recvtype)?);
        counts(recvbuf, &recvcounts, Some(&displs), c.size(), &rdt)?;
        m.with(None, |x| plan::allgatherv(x, sendbuf, s.count, s.dt(), recvbuf, &recvcounts, &displs, &rdt))
    }

    ialltoall "MPI_Ialltoall", alltoall_init "MPI_Alltoall_init" (
        sendbuf: Buf, sendcount: i64, sendtype: Type, recvbuf: Buf, recvcount: i64, recvtype: Type
    ) |m, c| {
        if c.remote.is_some() {
            return inter::alltoall(m, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype));
        }
        let (s, r) = (data_or_in_place(sendbuf, sendcount, sendtype)?, data(recvbuf, recvcount, recvtype)?);
        m.with(None, |x| plan::alltoall(x, sendbuf, s.count, s.dt(), recvbuf, r.count, r.dt()))
    }

    ialltoallv "MPI_Ialltoallv", alltoallv_init "MPI_Alltoallv_init" (
        sendbuf: Buf, sendcounts: Counts, sdispls: Counts, sendtype: Type,
        recvbuf: Buf, recvcounts: Counts, rdispls: Counts, recvtype: Type
    ) |m, c| {
        if c.remote.is_some() {
            return inter::alltoallv(m, (sendbuf, sendcounts, sdispls, sendtype), (recvbuf, recvcounts, rdispls, recvtype));
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
        m.with(None, |x| {
            plan::alltoallv(x, sendbuf, &sendcounts, &sdispls, &sdt, recvbuf, &recvcounts, &rdispls, &rdt)
        })
    }

    ialltoallw "MPI_Ialltoallw", alltoallw_init "MPI_Alltoallw_init" (
        sendbuf: Buf, sendcounts: Counts, sdispls: Counts, sendtypes: Arr<Type>,
        recvbuf: Buf, recvcounts: Counts, rdispls: Counts, recvtypes: Arr<Type>
    ) |m, c| {
        if c.remote.is_some() {
            return inter::alltoallw(m, (sendbuf, sendcounts, sdispls, sendtypes), (recvbuf, recvcounts, rdispls, recvtypes));
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
        m.with(None, |x| {
            plan::alltoallw(x, sendbuf, &sendcounts, &sdispls, &s, recvbuf, &recvcounts, &rdispls, &r)
        })
    }

    ireduce "MPI_Ireduce", reduce_init "MPI_Reduce_init" (
        sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Type, op: Op, root: i32
    ) |m, c| {
        if c.remote.is_some() {
            return inter::reduce(m, sendbuf, recvbuf, count, datatype, op, root);
        }
        let root = root_of(c, root)?;
        let d = if c.rank == root {
            data_or_in_place(sendbuf, count, datatype)?;
            data(recvbuf, count, datatype)?
        } else {
            data(sendbuf, count, datatype)?
        };
        m.reducing(op, &d, datatype, |x, r| plan::reduce(x, sendbuf, recvbuf, d.count, d.dt(), r, root))
    }

    iallreduce "MPI_Iallreduce", allreduce_init "MPI_Allreduce_init" (
        sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Type, op: Op
    ) |m, c| {
        if c.remote.is_some() {
            return inter::allreduce(m, sendbuf, recvbuf, count, datatype, op);
        }
        data_or_in_place(sendbuf, count, datatype)?;
        let d = data(recvbuf, count, datatype)?;
        m.reducing(op, &d, datatype, |x, r| plan::allreduce(x, sendbuf, recvbuf, d.count, d.dt(), r))
    }

    iscan "MPI_Iscan", scan_init "MPI_Scan_init" (
        sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Type, op: Op
    ) |m, c| {
        if c.remote.is_some() {
            return no_scan(c);
        }
        data_or_in_place(sendbuf, count, datatype)?;
        let d = data(recvbuf, count, datatype)?;
        m.reducing(op, &d, datatype, |x, r| plan::scan(x, sendbuf, recvbuf, d.count, d.dt(), r))
    }

    iexscan "MPI_Iexscan", exscan_init "MPI_Exscan_init" (
        sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Type, op: Op
    ) |m, c| {
        if c.remote.is_some() {
            return no_scan(c);
        }
        data_or_in_place(sendbuf, count, datatype)?;
        // MPI-5.0 6.11.2: rank 0's recvbuf is not significant.
        let significant = c.rank > 0 || sendbuf.is_in_place();
        let d = data(if significant { recvbuf } else { SOMEWHERE }, count, datatype)?;
        m.reducing(op, &d, datatype, |x, r| plan::exscan(x, sendbuf, recvbuf, d.count, d.dt(), r))
    }

    ireduce_scatter_block "MPI_Ireduce_scatter_block", reduce_scatter_block_init "MPI_Reduce_scatter_block_init" (
        sendbuf: Buf, recvbuf: Buf, recvcount: i64, datatype: Type, op: Op
    ) |m, c| {
        if c.remote.is_some() {
            return inter::reduce_scatter_block(m, sendbuf, recvbuf, recvcount, datatype, op);
        }
        data_or_in_place(sendbuf, recvcount, datatype)?;
        let d = data(recvbuf, recvcount, datatype)?;
        m.reducing(op, &d, datatype, |x, r| plan::reduce_scatter_block(x, sendbuf, recvbuf, d.count, d.dt(), r))
    }

    ireduce_scatter "MPI_Ireduce_scatter", reduce_scatter_init "MPI_Reduce_scatter_init" (
        sendbuf: Buf, recvbuf: Buf, recvcounts: Counts, datatype: Type, op: Op
    ) |m, c| {
        if c.remote.is_some() {
            return inter::reduce_scatter(m, sendbuf, recvbuf, recvcounts, datatype, op);
        }
        let d = Data { count: 0, kind: Some(datatype::get_committed(datatype)?) };
        counts(if sendbuf.is_in_place() { recvbuf } else { sendbuf }, &recvcounts, None, c.size(), d.dt())?;
        address(recvbuf, recvcounts.get(c.rank) > 0, d.dt())?;
        m.reducing(op, &d, datatype, |x, r| plan::reduce_scatter(x, sendbuf, recvbuf, &recvcounts, d.dt(), r))
    }
}
