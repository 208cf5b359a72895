//! Entry points of chapter `coll`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::coll;

entry! { MPI_Allgather PMPI_Allgather(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::allgather(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm) }
entry! { MPI_Allgather_c PMPI_Allgather_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
entry! { MPI_Allgather_init PMPI_Allgather_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::allgather_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, info, request) }
entry! { MPI_Allgather_init_c PMPI_Allgather_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::allgather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
entry! { MPI_Allgatherv PMPI_Allgatherv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::allgatherv(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, comm) }
entry! { MPI_Allgatherv_c PMPI_Allgatherv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::allgatherv(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, comm) }
entry! { MPI_Allgatherv_init PMPI_Allgatherv_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::allgatherv_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, comm, info, request) }
entry! { MPI_Allgatherv_init_c PMPI_Allgatherv_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::allgatherv_init(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, comm, info, request) }
entry! { MPI_Allreduce PMPI_Allreduce(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::allreduce(sendbuf, recvbuf, i64::from(count), datatype, op, comm) }
entry! { MPI_Allreduce_c PMPI_Allreduce_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::allreduce(sendbuf, recvbuf, count, datatype, op, comm) }
entry! { MPI_Allreduce_init PMPI_Allreduce_init(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::allreduce_init(sendbuf, recvbuf, i64::from(count), datatype, op, comm, info, request) }
entry! { MPI_Allreduce_init_c PMPI_Allreduce_init_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request) }
entry! { MPI_Alltoall PMPI_Alltoall(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::alltoall(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm) }
entry! { MPI_Alltoall_c PMPI_Alltoall_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm) }
entry! { MPI_Alltoall_init PMPI_Alltoall_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::alltoall_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, info, request) }
entry! { MPI_Alltoall_init_c PMPI_Alltoall_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::alltoall_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, info, request) }
entry! { MPI_Alltoallv PMPI_Alltoallv(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::alltoallv(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtype, comm) }
entry! { MPI_Alltoallv_c PMPI_Alltoallv_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtype: Datatype, comm: Comm)
    [ErrObject::Comm(comm)], coll::alltoallv(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtype, comm) }
entry! { MPI_Alltoallv_init PMPI_Alltoallv_init(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::alltoallv_init(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtype, comm, info, request) }
entry! { MPI_Alltoallv_init_c PMPI_Alltoallv_init_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtype: Datatype, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::alltoallv_init(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtype, comm, info, request) }
entry! { MPI_Alltoallw PMPI_Alltoallw(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtypes: Arr<Datatype>, comm: Comm)
    [ErrObject::Comm(comm)], coll::alltoallw(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtypes, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtypes, comm) }
entry! { MPI_Alltoallw_c PMPI_Alltoallw_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm)
    [ErrObject::Comm(comm)], coll::alltoallw(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtypes, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtypes, comm) }
entry! { MPI_Alltoallw_init PMPI_Alltoallw_init(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtypes: Arr<Datatype>, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::alltoallw_init(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtypes, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtypes, comm, info, request) }
entry! { MPI_Alltoallw_init_c PMPI_Alltoallw_init_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::alltoallw_init(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtypes, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtypes, comm, info, request) }
entry! { MPI_Barrier PMPI_Barrier(comm: Comm)
    [ErrObject::Comm(comm)], coll::barrier(comm) }
entry! { MPI_Barrier_init PMPI_Barrier_init(comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::barrier_init(comm, info, request) }
entry! { MPI_Bcast PMPI_Bcast(buffer: Buf, count: i32, datatype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::bcast(buffer, i64::from(count), datatype, root, comm) }
entry! { MPI_Bcast_c PMPI_Bcast_c(buffer: Buf, count: i64, datatype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::bcast(buffer, count, datatype, root, comm) }
entry! { MPI_Bcast_init PMPI_Bcast_init(buffer: Buf, count: i32, datatype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::bcast_init(buffer, i64::from(count), datatype, root, comm, info, request) }
entry! { MPI_Bcast_init_c PMPI_Bcast_init_c(buffer: Buf, count: i64, datatype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::bcast_init(buffer, count, datatype, root, comm, info, request) }
entry! { MPI_Exscan PMPI_Exscan(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::exscan(sendbuf, recvbuf, i64::from(count), datatype, op, comm) }
entry! { MPI_Exscan_c PMPI_Exscan_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::exscan(sendbuf, recvbuf, count, datatype, op, comm) }
entry! { MPI_Exscan_init PMPI_Exscan_init(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::exscan_init(sendbuf, recvbuf, i64::from(count), datatype, op, comm, info, request) }
entry! { MPI_Exscan_init_c PMPI_Exscan_init_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::exscan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request) }
entry! { MPI_Gather PMPI_Gather(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::gather(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm) }
entry! { MPI_Gather_c PMPI_Gather_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) }
entry! { MPI_Gather_init PMPI_Gather_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::gather_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm, info, request) }
entry! { MPI_Gather_init_c PMPI_Gather_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::gather_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
entry! { MPI_Gatherv PMPI_Gatherv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::gatherv(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, root, comm) }
entry! { MPI_Gatherv_c PMPI_Gatherv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::gatherv(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, root, comm) }
entry! { MPI_Gatherv_init PMPI_Gatherv_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::gatherv_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, root, comm, info, request) }
entry! { MPI_Gatherv_init_c PMPI_Gatherv_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::gatherv_init(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, root, comm, info, request) }
entry! { MPI_Iallgather PMPI_Iallgather(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iallgather(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, request) }
entry! { MPI_Iallgather_c PMPI_Iallgather_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
entry! { MPI_Iallgatherv PMPI_Iallgatherv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iallgatherv(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, comm, request) }
entry! { MPI_Iallgatherv_c PMPI_Iallgatherv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iallgatherv(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, comm, request) }
entry! { MPI_Iallreduce PMPI_Iallreduce(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iallreduce(sendbuf, recvbuf, i64::from(count), datatype, op, comm, request) }
entry! { MPI_Iallreduce_c PMPI_Iallreduce_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request) }
entry! { MPI_Ialltoall PMPI_Ialltoall(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ialltoall(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, comm, request) }
entry! { MPI_Ialltoall_c PMPI_Ialltoall_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, request) }
entry! { MPI_Ialltoallv PMPI_Ialltoallv(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ialltoallv(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtype, comm, request) }
entry! { MPI_Ialltoallv_c PMPI_Ialltoallv_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtype: Datatype, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ialltoallv(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtype, comm, request) }
entry! { MPI_Ialltoallw PMPI_Ialltoallw(sendbuf: Buf, sendcounts: Arr<i32>, sdispls: Arr<i32>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i32>, rdispls: Arr<i32>, recvtypes: Arr<Datatype>, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ialltoallw(sendbuf, Counts::Int(sendcounts), Counts::Int(sdispls), sendtypes, recvbuf, Counts::Int(recvcounts), Counts::Int(rdispls), recvtypes, comm, request) }
entry! { MPI_Ialltoallw_c PMPI_Ialltoallw_c(sendbuf: Buf, sendcounts: Arr<i64>, sdispls: Arr<i64>, sendtypes: Arr<Datatype>, recvbuf: Buf, recvcounts: Arr<i64>, rdispls: Arr<i64>, recvtypes: Arr<Datatype>, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ialltoallw(sendbuf, Counts::Wide(sendcounts), Counts::Wide(sdispls), sendtypes, recvbuf, Counts::Wide(recvcounts), Counts::Wide(rdispls), recvtypes, comm, request) }
entry! { MPI_Ibarrier PMPI_Ibarrier(comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ibarrier(comm, request) }
entry! { MPI_Ibcast PMPI_Ibcast(buffer: Buf, count: i32, datatype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ibcast(buffer, i64::from(count), datatype, root, comm, request) }
entry! { MPI_Ibcast_c PMPI_Ibcast_c(buffer: Buf, count: i64, datatype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ibcast(buffer, count, datatype, root, comm, request) }
entry! { MPI_Iexscan PMPI_Iexscan(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iexscan(sendbuf, recvbuf, i64::from(count), datatype, op, comm, request) }
entry! { MPI_Iexscan_c PMPI_Iexscan_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iexscan(sendbuf, recvbuf, count, datatype, op, comm, request) }
entry! { MPI_Igather PMPI_Igather(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::igather(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm, request) }
entry! { MPI_Igather_c PMPI_Igather_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
entry! { MPI_Igatherv PMPI_Igatherv(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i32>, displs: Arr<i32>, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::igatherv(sendbuf, i64::from(sendcount), sendtype, recvbuf, Counts::Int(recvcounts), Counts::Int(displs), recvtype, root, comm, request) }
entry! { MPI_Igatherv_c PMPI_Igatherv_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcounts: Arr<i64>, displs: Arr<i64>, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::igatherv(sendbuf, sendcount, sendtype, recvbuf, Counts::Wide(recvcounts), Counts::Wide(displs), recvtype, root, comm, request) }
entry! { MPI_Ireduce PMPI_Ireduce(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ireduce(sendbuf, recvbuf, i64::from(count), datatype, op, root, comm, request) }
entry! { MPI_Ireduce_c PMPI_Ireduce_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ireduce(sendbuf, recvbuf, count, datatype, op, root, comm, request) }
entry! { MPI_Ireduce_scatter PMPI_Ireduce_scatter(sendbuf: Buf, recvbuf: Buf, recvcounts: Arr<i32>, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ireduce_scatter(sendbuf, recvbuf, Counts::Int(recvcounts), datatype, op, comm, request) }
entry! { MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c(sendbuf: Buf, recvbuf: Buf, recvcounts: Arr<i64>, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ireduce_scatter(sendbuf, recvbuf, Counts::Wide(recvcounts), datatype, op, comm, request) }
entry! { MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block(sendbuf: Buf, recvbuf: Buf, recvcount: i32, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ireduce_scatter_block(sendbuf, recvbuf, i64::from(recvcount), datatype, op, comm, request) }
entry! { MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c(sendbuf: Buf, recvbuf: Buf, recvcount: i64, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm, request) }
entry! { MPI_Iscan PMPI_Iscan(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iscan(sendbuf, recvbuf, i64::from(count), datatype, op, comm, request) }
entry! { MPI_Iscan_c PMPI_Iscan_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iscan(sendbuf, recvbuf, count, datatype, op, comm, request) }
entry! { MPI_Iscatter PMPI_Iscatter(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iscatter(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm, request) }
entry! { MPI_Iscatter_c PMPI_Iscatter_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
entry! { MPI_Iscatterv PMPI_Iscatterv(sendbuf: Buf, sendcounts: Arr<i32>, displs: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iscatterv(sendbuf, Counts::Int(sendcounts), Counts::Int(displs), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm, request) }
entry! { MPI_Iscatterv_c PMPI_Iscatterv_c(sendbuf: Buf, sendcounts: Arr<i64>, displs: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::iscatterv(sendbuf, Counts::Wide(sendcounts), Counts::Wide(displs), sendtype, recvbuf, recvcount, recvtype, root, comm, request) }
entry! { MPI_Reduce PMPI_Reduce(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::reduce(sendbuf, recvbuf, i64::from(count), datatype, op, root, comm) }
entry! { MPI_Reduce_c PMPI_Reduce_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::reduce(sendbuf, recvbuf, count, datatype, op, root, comm) }
entry! { MPI_Reduce_init PMPI_Reduce_init(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::reduce_init(sendbuf, recvbuf, i64::from(count), datatype, op, root, comm, info, request) }
entry! { MPI_Reduce_init_c PMPI_Reduce_init_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::reduce_init(sendbuf, recvbuf, count, datatype, op, root, comm, info, request) }
entry! { MPI_Reduce_local PMPI_Reduce_local(inbuf: Buf, inoutbuf: Buf, count: i32, datatype: Datatype, op: Op)
    [ErrObject::None], coll::reduce_local(inbuf, inoutbuf, i64::from(count), datatype, op) }
entry! { MPI_Reduce_local_c PMPI_Reduce_local_c(inbuf: Buf, inoutbuf: Buf, count: i64, datatype: Datatype, op: Op)
    [ErrObject::None], coll::reduce_local(inbuf, inoutbuf, count, datatype, op) }
entry! { MPI_Reduce_scatter PMPI_Reduce_scatter(sendbuf: Buf, recvbuf: Buf, recvcounts: Arr<i32>, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::reduce_scatter(sendbuf, recvbuf, Counts::Int(recvcounts), datatype, op, comm) }
entry! { MPI_Reduce_scatter_c PMPI_Reduce_scatter_c(sendbuf: Buf, recvbuf: Buf, recvcounts: Arr<i64>, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::reduce_scatter(sendbuf, recvbuf, Counts::Wide(recvcounts), datatype, op, comm) }
entry! { MPI_Reduce_scatter_block PMPI_Reduce_scatter_block(sendbuf: Buf, recvbuf: Buf, recvcount: i32, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::reduce_scatter_block(sendbuf, recvbuf, i64::from(recvcount), datatype, op, comm) }
entry! { MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c(sendbuf: Buf, recvbuf: Buf, recvcount: i64, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::reduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op, comm) }
entry! { MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init(sendbuf: Buf, recvbuf: Buf, recvcount: i32, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::reduce_scatter_block_init(sendbuf, recvbuf, i64::from(recvcount), datatype, op, comm, info, request) }
entry! { MPI_Reduce_scatter_block_init_c PMPI_Reduce_scatter_block_init_c(sendbuf: Buf, recvbuf: Buf, recvcount: i64, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::reduce_scatter_block_init(sendbuf, recvbuf, recvcount, datatype, op, comm, info, request) }
entry! { MPI_Reduce_scatter_init PMPI_Reduce_scatter_init(sendbuf: Buf, recvbuf: Buf, recvcounts: Arr<i32>, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::reduce_scatter_init(sendbuf, recvbuf, Counts::Int(recvcounts), datatype, op, comm, info, request) }
entry! { MPI_Reduce_scatter_init_c PMPI_Reduce_scatter_init_c(sendbuf: Buf, recvbuf: Buf, recvcounts: Arr<i64>, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::reduce_scatter_init(sendbuf, recvbuf, Counts::Wide(recvcounts), datatype, op, comm, info, request) }
entry! { MPI_Scan PMPI_Scan(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::scan(sendbuf, recvbuf, i64::from(count), datatype, op, comm) }
entry! { MPI_Scan_c PMPI_Scan_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm)
    [ErrObject::Comm(comm)], coll::scan(sendbuf, recvbuf, count, datatype, op, comm) }
entry! { MPI_Scan_init PMPI_Scan_init(sendbuf: Buf, recvbuf: Buf, count: i32, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::scan_init(sendbuf, recvbuf, i64::from(count), datatype, op, comm, info, request) }
entry! { MPI_Scan_init_c PMPI_Scan_init_c(sendbuf: Buf, recvbuf: Buf, count: i64, datatype: Datatype, op: Op, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::scan_init(sendbuf, recvbuf, count, datatype, op, comm, info, request) }
entry! { MPI_Scatter PMPI_Scatter(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::scatter(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm) }
entry! { MPI_Scatter_c PMPI_Scatter_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm) }
entry! { MPI_Scatter_init PMPI_Scatter_init(sendbuf: Buf, sendcount: i32, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::scatter_init(sendbuf, i64::from(sendcount), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm, info, request) }
entry! { MPI_Scatter_init_c PMPI_Scatter_init_c(sendbuf: Buf, sendcount: i64, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::scatter_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
entry! { MPI_Scatterv PMPI_Scatterv(sendbuf: Buf, sendcounts: Arr<i32>, displs: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::scatterv(sendbuf, Counts::Int(sendcounts), Counts::Int(displs), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm) }
entry! { MPI_Scatterv_c PMPI_Scatterv_c(sendbuf: Buf, sendcounts: Arr<i64>, displs: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm)
    [ErrObject::Comm(comm)], coll::scatterv(sendbuf, Counts::Wide(sendcounts), Counts::Wide(displs), sendtype, recvbuf, recvcount, recvtype, root, comm) }
entry! { MPI_Scatterv_init PMPI_Scatterv_init(sendbuf: Buf, sendcounts: Arr<i32>, displs: Arr<i32>, sendtype: Datatype, recvbuf: Buf, recvcount: i32, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::scatterv_init(sendbuf, Counts::Int(sendcounts), Counts::Int(displs), sendtype, recvbuf, i64::from(recvcount), recvtype, root, comm, info, request) }
entry! { MPI_Scatterv_init_c PMPI_Scatterv_init_c(sendbuf: Buf, sendcounts: Arr<i64>, displs: Arr<i64>, sendtype: Datatype, recvbuf: Buf, recvcount: i64, recvtype: Datatype, root: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], coll::scatterv_init(sendbuf, Counts::Wide(sendcounts), Counts::Wide(displs), sendtype, recvbuf, recvcount, recvtype, root, comm, info, request) }
