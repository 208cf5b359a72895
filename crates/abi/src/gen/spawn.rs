//! Entry points of chapter `spawn`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;

entry! { MPI_Close_port PMPI_Close_port(port_name: Str)
    [ErrObject::None], unsupported("MPI_Close_port") }
entry! { MPI_Comm_accept PMPI_Comm_accept(port_name: Str, info: Info, root: i32, comm: Comm, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], unsupported("MPI_Comm_accept") }
entry! { MPI_Comm_connect PMPI_Comm_connect(port_name: Str, info: Info, root: i32, comm: Comm, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], unsupported("MPI_Comm_connect") }
entry! { MPI_Comm_join PMPI_Comm_join(fd: i32, intercomm: Out<Comm>)
    [ErrObject::None], unsupported("MPI_Comm_join") }
entry! { MPI_Comm_spawn PMPI_Comm_spawn(command: Str, argv: Buf, maxprocs: i32, info: Info, root: i32, comm: Comm, intercomm: Out<Comm>, array_of_errcodes: Arr<i32>)
    [ErrObject::Comm(comm)], unsupported("MPI_Comm_spawn") }
entry! { MPI_Comm_spawn_multiple PMPI_Comm_spawn_multiple(count: i32, array_of_commands: Buf, array_of_argv: Buf, array_of_maxprocs: Arr<i32>, array_of_info: Arr<Info>, root: i32, comm: Comm, intercomm: Out<Comm>, array_of_errcodes: Arr<i32>)
    [ErrObject::Comm(comm)], unsupported("MPI_Comm_spawn_multiple") }
entry! { MPI_Lookup_name PMPI_Lookup_name(service_name: Str, info: Info, port_name: OutStr)
    [ErrObject::None], unsupported("MPI_Lookup_name") }
entry! { MPI_Open_port PMPI_Open_port(info: Info, port_name: OutStr)
    [ErrObject::None], unsupported("MPI_Open_port") }
entry! { MPI_Publish_name PMPI_Publish_name(service_name: Str, info: Info, port_name: Str)
    [ErrObject::None], unsupported("MPI_Publish_name") }
entry! { MPI_Unpublish_name PMPI_Unpublish_name(service_name: Str, info: Info, port_name: Str)
    [ErrObject::None], unsupported("MPI_Unpublish_name") }
