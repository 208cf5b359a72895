//! Entry points of chapter `attr`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::attr;

entry! { MPI_Attr_delete PMPI_Attr_delete(comm: Comm, keyval: i32)
    [ErrObject::Comm(comm)], attr::attr_delete(comm, keyval) }
entry! { MPI_Attr_get PMPI_Attr_get(comm: Comm, keyval: i32, attribute_val: Buf, flag: Out<i32>)
    [ErrObject::Comm(comm)], attr::attr_get(comm, keyval, attribute_val, flag) }
entry! { MPI_Attr_put PMPI_Attr_put(comm: Comm, keyval: i32, attribute_val: usize)
    [ErrObject::Comm(comm)], attr::attr_put(comm, keyval, attribute_val) }
entry! { MPI_Comm_create_keyval PMPI_Comm_create_keyval(comm_copy_attr_fn: FnPtr, comm_delete_attr_fn: FnPtr, comm_keyval: Out<i32>, extra_state: usize)
    [ErrObject::None], attr::comm_create_keyval(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state) }
entry! { MPI_Comm_delete_attr PMPI_Comm_delete_attr(comm: Comm, comm_keyval: i32)
    [ErrObject::Comm(comm)], attr::comm_delete_attr(comm, comm_keyval) }
entry! { MPI_Comm_free_keyval PMPI_Comm_free_keyval(comm_keyval: Out<i32>)
    [ErrObject::None], attr::comm_free_keyval(comm_keyval) }
entry! { MPI_Comm_get_attr PMPI_Comm_get_attr(comm: Comm, comm_keyval: i32, attribute_val: Buf, flag: Out<i32>)
    [ErrObject::Comm(comm)], attr::comm_get_attr(comm, comm_keyval, attribute_val, flag) }
entry! { MPI_Comm_set_attr PMPI_Comm_set_attr(comm: Comm, comm_keyval: i32, attribute_val: usize)
    [ErrObject::Comm(comm)], attr::comm_set_attr(comm, comm_keyval, attribute_val) }
entry! { MPI_Keyval_create PMPI_Keyval_create(copy_fn: FnPtr, delete_fn: FnPtr, keyval: Out<i32>, extra_state: usize)
    [ErrObject::None], attr::keyval_create(copy_fn, delete_fn, keyval, extra_state) }
entry! { MPI_Keyval_free PMPI_Keyval_free(keyval: Out<i32>)
    [ErrObject::None], attr::keyval_free(keyval) }
entry! { MPI_Type_create_keyval PMPI_Type_create_keyval(type_copy_attr_fn: FnPtr, type_delete_attr_fn: FnPtr, type_keyval: Out<i32>, extra_state: usize)
    [ErrObject::None], attr::type_create_keyval(type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state) }
entry! { MPI_Type_delete_attr PMPI_Type_delete_attr(datatype: Datatype, type_keyval: i32)
    [ErrObject::None], attr::type_delete_attr(datatype, type_keyval) }
entry! { MPI_Type_free_keyval PMPI_Type_free_keyval(type_keyval: Out<i32>)
    [ErrObject::None], attr::type_free_keyval(type_keyval) }
entry! { MPI_Type_get_attr PMPI_Type_get_attr(datatype: Datatype, type_keyval: i32, attribute_val: Buf, flag: Out<i32>)
    [ErrObject::None], attr::type_get_attr(datatype, type_keyval, attribute_val, flag) }
entry! { MPI_Type_set_attr PMPI_Type_set_attr(datatype: Datatype, type_keyval: i32, attribute_val: usize)
    [ErrObject::None], attr::type_set_attr(datatype, type_keyval, attribute_val) }
entry! { MPI_Win_create_keyval PMPI_Win_create_keyval(win_copy_attr_fn: FnPtr, win_delete_attr_fn: FnPtr, win_keyval: Out<i32>, extra_state: usize)
    [ErrObject::None], attr::win_create_keyval(win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state) }
entry! { MPI_Win_delete_attr PMPI_Win_delete_attr(win: Win, win_keyval: i32)
    [ErrObject::Win(win)], unsupported("MPI_Win_delete_attr") }
entry! { MPI_Win_free_keyval PMPI_Win_free_keyval(win_keyval: Out<i32>)
    [ErrObject::None], attr::win_free_keyval(win_keyval) }
entry! { MPI_Win_get_attr PMPI_Win_get_attr(win: Win, win_keyval: i32, attribute_val: Buf, flag: Out<i32>)
    [ErrObject::Win(win)], unsupported("MPI_Win_get_attr") }
entry! { MPI_Win_set_attr PMPI_Win_set_attr(win: Win, win_keyval: i32, attribute_val: usize)
    [ErrObject::Win(win)], unsupported("MPI_Win_set_attr") }
