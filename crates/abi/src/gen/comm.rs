//! Entry points of chapter `comm`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::comm;

entry! { MPI_Comm_compare PMPI_Comm_compare(comm1: Comm, comm2: Comm, result: Out<i32>)
    [ErrObject::Comm(comm1)], comm::comm_compare(comm1, comm2, result) }
entry! { MPI_Comm_create PMPI_Comm_create(comm: Comm, group: Group, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], comm::comm_create(comm, group, newcomm) }
entry! { MPI_Comm_create_from_group PMPI_Comm_create_from_group(group: Group, stringtag: Str, info: Info, errhandler: Errhandler, newcomm: Out<Comm>)
    [ErrObject::New(Kind::Comm, errhandler)], comm::comm_create_from_group(group, stringtag, info, errhandler, newcomm) }
entry! { MPI_Comm_create_group PMPI_Comm_create_group(comm: Comm, group: Group, tag: i32, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], comm::comm_create_group(comm, group, tag, newcomm) }
entry! { MPI_Comm_disconnect PMPI_Comm_disconnect(comm: Out<Comm>)
    [ErrObject::Comm(held(comm, MPI_COMM_NULL))], comm::comm_disconnect(comm) }
entry! { MPI_Comm_dup PMPI_Comm_dup(comm: Comm, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], comm::comm_dup(comm, newcomm) }
entry! { MPI_Comm_dup_with_info PMPI_Comm_dup_with_info(comm: Comm, info: Info, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], comm::comm_dup_with_info(comm, info, newcomm) }
entry! { MPI_Comm_free PMPI_Comm_free(comm: Out<Comm>)
    [ErrObject::Comm(held(comm, MPI_COMM_NULL))], comm::comm_free(comm) }
value! { MPI_Comm_fromint PMPI_Comm_fromint(comm: i32) -> Comm, from_int(comm) }
entry! { MPI_Comm_get_info PMPI_Comm_get_info(comm: Comm, info_used: Out<Info>)
    [ErrObject::Comm(comm)], comm::comm_get_info(comm, info_used) }
entry! { MPI_Comm_get_name PMPI_Comm_get_name(comm: Comm, comm_name: OutStr, resultlen: Out<i32>)
    [ErrObject::Comm(comm)], comm::comm_get_name(comm, comm_name, resultlen) }
entry! { MPI_Comm_get_parent PMPI_Comm_get_parent(parent: Out<Comm>)
    [ErrObject::None], comm::comm_get_parent(parent) }
entry! { MPI_Comm_group PMPI_Comm_group(comm: Comm, group: Out<Group>)
    [ErrObject::Comm(comm)], comm::comm_group(comm, group) }
entry! { MPI_Comm_idup PMPI_Comm_idup(comm: Comm, newcomm: Out<Comm>, request: Out<Request>)
    [ErrObject::Comm(comm)], comm::comm_idup(comm, newcomm, request) }
entry! { MPI_Comm_idup_with_info PMPI_Comm_idup_with_info(comm: Comm, info: Info, newcomm: Out<Comm>, request: Out<Request>)
    [ErrObject::Comm(comm)], comm::comm_idup_with_info(comm, info, newcomm, request) }
entry! { MPI_Comm_rank PMPI_Comm_rank(comm: Comm, rank: Out<i32>)
    [ErrObject::Comm(comm)], comm::comm_rank(comm, rank) }
entry! { MPI_Comm_remote_group PMPI_Comm_remote_group(comm: Comm, group: Out<Group>)
    [ErrObject::Comm(comm)], comm::comm_remote_group(comm, group) }
entry! { MPI_Comm_remote_size PMPI_Comm_remote_size(comm: Comm, size: Out<i32>)
    [ErrObject::Comm(comm)], comm::comm_remote_size(comm, size) }
entry! { MPI_Comm_set_info PMPI_Comm_set_info(comm: Comm, info: Info)
    [ErrObject::Comm(comm)], comm::comm_set_info(comm, info) }
entry! { MPI_Comm_set_name PMPI_Comm_set_name(comm: Comm, comm_name: Str)
    [ErrObject::Comm(comm)], comm::comm_set_name(comm, comm_name) }
entry! { MPI_Comm_size PMPI_Comm_size(comm: Comm, size: Out<i32>)
    [ErrObject::Comm(comm)], comm::comm_size(comm, size) }
entry! { MPI_Comm_split PMPI_Comm_split(comm: Comm, color: i32, key: i32, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], comm::comm_split(comm, color, key, newcomm) }
entry! { MPI_Comm_split_type PMPI_Comm_split_type(comm: Comm, split_type: i32, key: i32, info: Info, newcomm: Out<Comm>)
    [ErrObject::Comm(comm)], comm::comm_split_type(comm, split_type, key, info, newcomm) }
entry! { MPI_Comm_test_inter PMPI_Comm_test_inter(comm: Comm, flag: Out<i32>)
    [ErrObject::Comm(comm)], comm::comm_test_inter(comm, flag) }
value! { MPI_Comm_toint PMPI_Comm_toint(comm: Comm) -> i32, to_int(comm) }
entry! { MPI_Intercomm_create PMPI_Intercomm_create(local_comm: Comm, local_leader: i32, peer_comm: Comm, remote_leader: i32, tag: i32, newintercomm: Out<Comm>)
    [ErrObject::Comm(local_comm)], comm::intercomm_create(local_comm, local_leader, peer_comm, remote_leader, tag, newintercomm) }
entry! { MPI_Intercomm_create_from_groups PMPI_Intercomm_create_from_groups(local_group: Group, local_leader: i32, remote_group: Group, remote_leader: i32, stringtag: Str, info: Info, errhandler: Errhandler, newintercomm: Out<Comm>)
    [ErrObject::New(Kind::Comm, errhandler)], comm::intercomm_create_from_groups(local_group, local_leader, remote_group, remote_leader, stringtag, info, errhandler, newintercomm) }
entry! { MPI_Intercomm_merge PMPI_Intercomm_merge(intercomm: Comm, high: i32, newintracomm: Out<Comm>)
    [ErrObject::Comm(intercomm)], comm::intercomm_merge(intercomm, high, newintracomm) }
