//! Entry points of chapter `rma`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;

entry! { MPI_Accumulate PMPI_Accumulate(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, op: Op, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Accumulate") }
entry! { MPI_Accumulate_c PMPI_Accumulate_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, op: Op, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Accumulate_c") }
entry! { MPI_Compare_and_swap PMPI_Compare_and_swap(origin_addr: Buf, compare_addr: Buf, result_addr: Buf, datatype: Datatype, target_rank: i32, target_disp: i64, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Compare_and_swap") }
entry! { MPI_Fetch_and_op PMPI_Fetch_and_op(origin_addr: Buf, result_addr: Buf, datatype: Datatype, target_rank: i32, target_disp: i64, op: Op, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Fetch_and_op") }
entry! { MPI_Get PMPI_Get(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Get") }
entry! { MPI_Get_c PMPI_Get_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Get_c") }
entry! { MPI_Get_accumulate PMPI_Get_accumulate(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, result_addr: Buf, result_count: i32, result_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, op: Op, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Get_accumulate") }
entry! { MPI_Get_accumulate_c PMPI_Get_accumulate_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, result_addr: Buf, result_count: i64, result_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, op: Op, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Get_accumulate_c") }
entry! { MPI_Put PMPI_Put(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Put") }
entry! { MPI_Put_c PMPI_Put_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Put_c") }
entry! { MPI_Raccumulate PMPI_Raccumulate(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, op: Op, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Raccumulate") }
entry! { MPI_Raccumulate_c PMPI_Raccumulate_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, op: Op, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Raccumulate_c") }
entry! { MPI_Rget PMPI_Rget(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Rget") }
entry! { MPI_Rget_c PMPI_Rget_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Rget_c") }
entry! { MPI_Rget_accumulate PMPI_Rget_accumulate(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, result_addr: Buf, result_count: i32, result_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, op: Op, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Rget_accumulate") }
entry! { MPI_Rget_accumulate_c PMPI_Rget_accumulate_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, result_addr: Buf, result_count: i64, result_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, op: Op, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Rget_accumulate_c") }
entry! { MPI_Rput PMPI_Rput(origin_addr: Buf, origin_count: i32, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i32, target_datatype: Datatype, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Rput") }
entry! { MPI_Rput_c PMPI_Rput_c(origin_addr: Buf, origin_count: i64, origin_datatype: Datatype, target_rank: i32, target_disp: i64, target_count: i64, target_datatype: Datatype, win: Win, request: Out<Request>)
    [ErrObject::Win(win)], unsupported("MPI_Rput_c") }
entry! { MPI_Win_allocate PMPI_Win_allocate(size: i64, disp_unit: i32, info: Info, comm: Comm, baseptr: Buf, win: Out<Win>)
    [ErrObject::Comm(comm)], unsupported("MPI_Win_allocate") }
entry! { MPI_Win_allocate_c PMPI_Win_allocate_c(size: i64, disp_unit: i64, info: Info, comm: Comm, baseptr: Buf, win: Out<Win>)
    [ErrObject::Comm(comm)], unsupported("MPI_Win_allocate_c") }
entry! { MPI_Win_allocate_shared PMPI_Win_allocate_shared(size: i64, disp_unit: i32, info: Info, comm: Comm, baseptr: Buf, win: Out<Win>)
    [ErrObject::Comm(comm)], unsupported("MPI_Win_allocate_shared") }
entry! { MPI_Win_allocate_shared_c PMPI_Win_allocate_shared_c(size: i64, disp_unit: i64, info: Info, comm: Comm, baseptr: Buf, win: Out<Win>)
    [ErrObject::Comm(comm)], unsupported("MPI_Win_allocate_shared_c") }
entry! { MPI_Win_attach PMPI_Win_attach(win: Win, base: Buf, size: i64)
    [ErrObject::Win(win)], unsupported("MPI_Win_attach") }
entry! { MPI_Win_complete PMPI_Win_complete(win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_complete") }
entry! { MPI_Win_create PMPI_Win_create(base: Buf, size: i64, disp_unit: i32, info: Info, comm: Comm, win: Out<Win>)
    [ErrObject::Comm(comm)], unsupported("MPI_Win_create") }
entry! { MPI_Win_create_c PMPI_Win_create_c(base: Buf, size: i64, disp_unit: i64, info: Info, comm: Comm, win: Out<Win>)
    [ErrObject::Comm(comm)], unsupported("MPI_Win_create_c") }
entry! { MPI_Win_create_dynamic PMPI_Win_create_dynamic(info: Info, comm: Comm, win: Out<Win>)
    [ErrObject::Comm(comm)], unsupported("MPI_Win_create_dynamic") }
entry! { MPI_Win_detach PMPI_Win_detach(win: Win, base: Buf)
    [ErrObject::Win(win)], unsupported("MPI_Win_detach") }
entry! { MPI_Win_fence PMPI_Win_fence(assert: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_fence") }
entry! { MPI_Win_flush PMPI_Win_flush(rank: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_flush") }
entry! { MPI_Win_flush_all PMPI_Win_flush_all(win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_flush_all") }
entry! { MPI_Win_flush_local PMPI_Win_flush_local(rank: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_flush_local") }
entry! { MPI_Win_flush_local_all PMPI_Win_flush_local_all(win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_flush_local_all") }
entry! { MPI_Win_free PMPI_Win_free(win: Out<Win>)
    [ErrObject::Win(held(win, MPI_WIN_NULL))], unsupported("MPI_Win_free") }
value! { MPI_Win_fromint PMPI_Win_fromint(win: i32) -> Win, from_int(win) }
entry! { MPI_Win_get_group PMPI_Win_get_group(win: Win, group: Out<Group>)
    [ErrObject::Win(win)], unsupported("MPI_Win_get_group") }
entry! { MPI_Win_get_info PMPI_Win_get_info(win: Win, info_used: Out<Info>)
    [ErrObject::Win(win)], unsupported("MPI_Win_get_info") }
entry! { MPI_Win_get_name PMPI_Win_get_name(win: Win, win_name: OutStr, resultlen: Out<i32>)
    [ErrObject::Win(win)], unsupported("MPI_Win_get_name") }
entry! { MPI_Win_lock PMPI_Win_lock(lock_type: i32, rank: i32, assert: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_lock") }
entry! { MPI_Win_lock_all PMPI_Win_lock_all(assert: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_lock_all") }
entry! { MPI_Win_post PMPI_Win_post(group: Group, assert: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_post") }
entry! { MPI_Win_set_info PMPI_Win_set_info(win: Win, info: Info)
    [ErrObject::Win(win)], unsupported("MPI_Win_set_info") }
entry! { MPI_Win_set_name PMPI_Win_set_name(win: Win, win_name: Str)
    [ErrObject::Win(win)], unsupported("MPI_Win_set_name") }
entry! { MPI_Win_shared_query PMPI_Win_shared_query(win: Win, rank: i32, size: Out<i64>, disp_unit: Out<i32>, baseptr: Buf)
    [ErrObject::Win(win)], unsupported("MPI_Win_shared_query") }
entry! { MPI_Win_shared_query_c PMPI_Win_shared_query_c(win: Win, rank: i32, size: Out<i64>, disp_unit: Out<i64>, baseptr: Buf)
    [ErrObject::Win(win)], unsupported("MPI_Win_shared_query_c") }
entry! { MPI_Win_start PMPI_Win_start(group: Group, assert: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_start") }
entry! { MPI_Win_sync PMPI_Win_sync(win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_sync") }
entry! { MPI_Win_test PMPI_Win_test(win: Win, flag: Out<i32>)
    [ErrObject::Win(win)], unsupported("MPI_Win_test") }
value! { MPI_Win_toint PMPI_Win_toint(win: Win) -> i32, to_int(win) }
entry! { MPI_Win_unlock PMPI_Win_unlock(rank: i32, win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_unlock") }
entry! { MPI_Win_unlock_all PMPI_Win_unlock_all(win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_unlock_all") }
entry! { MPI_Win_wait PMPI_Win_wait(win: Win)
    [ErrObject::Win(win)], unsupported("MPI_Win_wait") }
