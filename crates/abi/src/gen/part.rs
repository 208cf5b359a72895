//! Entry points of chapter `part`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::part;

entry! { MPI_Parrived PMPI_Parrived(request: Request, partition: i32, flag: Out<i32>)
    [ErrObject::Request(request)], part::parrived(request, partition, flag) }
entry! { MPI_Pready PMPI_Pready(partition: i32, request: Request)
    [ErrObject::Request(request)], part::pready(partition, request) }
entry! { MPI_Pready_list PMPI_Pready_list(length: i32, array_of_partitions: Arr<i32>, request: Request)
    [ErrObject::Request(request)], part::pready_list(length, array_of_partitions, request) }
entry! { MPI_Pready_range PMPI_Pready_range(partition_low: i32, partition_high: i32, request: Request)
    [ErrObject::Request(request)], part::pready_range(partition_low, partition_high, request) }
entry! { MPI_Precv_init PMPI_Precv_init(buf: Buf, partitions: i32, count: i32, datatype: Datatype, source: i32, tag: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], part::precv_init(buf, partitions, i64::from(count), datatype, source, tag, comm, info, request) }
entry! { MPI_Precv_init_c PMPI_Precv_init_c(buf: Buf, partitions: i32, count: i64, datatype: Datatype, source: i32, tag: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], part::precv_init(buf, partitions, count, datatype, source, tag, comm, info, request) }
entry! { MPI_Psend_init PMPI_Psend_init(buf: Buf, partitions: i32, count: i32, datatype: Datatype, dest: i32, tag: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], part::psend_init(buf, partitions, i64::from(count), datatype, dest, tag, comm, info, request) }
entry! { MPI_Psend_init_c PMPI_Psend_init_c(buf: Buf, partitions: i32, count: i64, datatype: Datatype, dest: i32, tag: i32, comm: Comm, info: Info, request: Out<Request>)
    [ErrObject::Comm(comm)], part::psend_init(buf, partitions, count, datatype, dest, tag, comm, info, request) }
