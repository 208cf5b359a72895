//! Entry points of chapter `errhan`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::errhan;

entry! { MPI_Add_error_class PMPI_Add_error_class(errorclass: Out<i32>)
    [ErrObject::None], errhan::add_error_class(errorclass) }
entry! { MPI_Add_error_code PMPI_Add_error_code(errorclass: i32, errorcode: Out<i32>)
    [ErrObject::None], errhan::add_error_code(errorclass, errorcode) }
entry! { MPI_Add_error_string PMPI_Add_error_string(errorcode: i32, string: Str)
    [ErrObject::None], errhan::add_error_string(errorcode, string) }
entry! { MPI_Comm_call_errhandler PMPI_Comm_call_errhandler(comm: Comm, errorcode: i32)
    [ErrObject::Comm(comm)], errhan::comm_call_errhandler(comm, errorcode) }
entry! { MPI_Comm_create_errhandler PMPI_Comm_create_errhandler(comm_errhandler_fn: FnPtr, errhandler: Out<Errhandler>)
    [ErrObject::None], errhan::comm_create_errhandler(comm_errhandler_fn, errhandler) }
entry! { MPI_Comm_get_errhandler PMPI_Comm_get_errhandler(comm: Comm, errhandler: Out<Errhandler>)
    [ErrObject::Comm(comm)], errhan::comm_get_errhandler(comm, errhandler) }
entry! { MPI_Comm_set_errhandler PMPI_Comm_set_errhandler(comm: Comm, errhandler: Errhandler)
    [ErrObject::Comm(comm)], errhan::comm_set_errhandler(comm, errhandler) }
entry! { MPI_Errhandler_free PMPI_Errhandler_free(errhandler: Out<Errhandler>)
    [ErrObject::None], errhan::errhandler_free(errhandler) }
value! { MPI_Errhandler_fromint PMPI_Errhandler_fromint(errhandler: i32) -> Errhandler, from_int(errhandler) }
value! { MPI_Errhandler_toint PMPI_Errhandler_toint(errhandler: Errhandler) -> i32, to_int(errhandler) }
entry! { MPI_Error_class PMPI_Error_class(errorcode: i32, errorclass: Out<i32>)
    [ErrObject::None], errhan::error_class(errorcode, errorclass) }
entry! { MPI_Error_string PMPI_Error_string(errorcode: i32, string: OutStr, resultlen: Out<i32>)
    [ErrObject::None], errhan::error_string(errorcode, string, resultlen) }
entry! { MPI_File_call_errhandler PMPI_File_call_errhandler(fh: File, errorcode: i32)
    [ErrObject::File(fh)], unsupported("MPI_File_call_errhandler") }
entry! { MPI_File_create_errhandler PMPI_File_create_errhandler(file_errhandler_fn: FnPtr, errhandler: Out<Errhandler>)
    [ErrObject::None], errhan::file_create_errhandler(file_errhandler_fn, errhandler) }
entry! { MPI_File_get_errhandler PMPI_File_get_errhandler(file: File, errhandler: Out<Errhandler>)
    [ErrObject::File(file)], unsupported("MPI_File_get_errhandler") }
entry! { MPI_File_set_errhandler PMPI_File_set_errhandler(file: File, errhandler: Errhandler)
    [ErrObject::File(file)], unsupported("MPI_File_set_errhandler") }
entry! { MPI_Remove_error_class PMPI_Remove_error_class(errorclass: i32)
    [ErrObject::None], errhan::remove_error_class(errorclass) }
entry! { MPI_Remove_error_code PMPI_Remove_error_code(errorcode: i32)
    [ErrObject::None], errhan::remove_error_code(errorcode) }
entry! { MPI_Remove_error_string PMPI_Remove_error_string(errorcode: i32)
    [ErrObject::None], errhan::remove_error_string(errorcode) }
entry! { MPI_Session_call_errhandler PMPI_Session_call_errhandler(session: Session, errorcode: i32)
    [ErrObject::Session(session)], errhan::session_call_errhandler(session, errorcode) }
entry! { MPI_Session_create_errhandler PMPI_Session_create_errhandler(session_errhandler_fn: FnPtr, errhandler: Out<Errhandler>)
    [ErrObject::None], errhan::session_create_errhandler(session_errhandler_fn, errhandler) }
entry! { MPI_Session_get_errhandler PMPI_Session_get_errhandler(session: Session, errhandler: Out<Errhandler>)
    [ErrObject::Session(session)], errhan::session_get_errhandler(session, errhandler) }
entry! { MPI_Session_set_errhandler PMPI_Session_set_errhandler(session: Session, errhandler: Errhandler)
    [ErrObject::Session(session)], errhan::session_set_errhandler(session, errhandler) }
entry! { MPI_Win_call_errhandler PMPI_Win_call_errhandler(win: Win, errorcode: i32)
    [ErrObject::Win(win)], unsupported("MPI_Win_call_errhandler") }
entry! { MPI_Win_create_errhandler PMPI_Win_create_errhandler(win_errhandler_fn: FnPtr, errhandler: Out<Errhandler>)
    [ErrObject::None], errhan::win_create_errhandler(win_errhandler_fn, errhandler) }
entry! { MPI_Win_get_errhandler PMPI_Win_get_errhandler(win: Win, errhandler: Out<Errhandler>)
    [ErrObject::Win(win)], unsupported("MPI_Win_get_errhandler") }
entry! { MPI_Win_set_errhandler PMPI_Win_set_errhandler(win: Win, errhandler: Errhandler)
    [ErrObject::Win(win)], unsupported("MPI_Win_set_errhandler") }
