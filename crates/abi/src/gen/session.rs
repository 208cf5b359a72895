//! Entry points of chapter `session`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::session;

entry! { MPI_Group_from_session_pset PMPI_Group_from_session_pset(session: Session, pset_name: Str, newgroup: Out<Group>)
    [ErrObject::Session(session)], session::group_from_session_pset(session, pset_name, newgroup) }
entry! { MPI_Session_finalize PMPI_Session_finalize(session: Out<Session>)
    [ErrObject::Session(held(session, MPI_SESSION_NULL))], session::session_finalize(session) }
value! { MPI_Session_fromint PMPI_Session_fromint(session: i32) -> Session, from_int(session) }
entry! { MPI_Session_get_info PMPI_Session_get_info(session: Session, info_used: Out<Info>)
    [ErrObject::Session(session)], session::session_get_info(session, info_used) }
entry! { MPI_Session_get_nth_pset PMPI_Session_get_nth_pset(session: Session, info: Info, n: i32, pset_len: Out<i32>, pset_name: OutStr)
    [ErrObject::Session(session)], session::session_get_nth_pset(session, info, n, pset_len, pset_name) }
entry! { MPI_Session_get_num_psets PMPI_Session_get_num_psets(session: Session, info: Info, npset_names: Out<i32>)
    [ErrObject::Session(session)], session::session_get_num_psets(session, info, npset_names) }
entry! { MPI_Session_get_pset_info PMPI_Session_get_pset_info(session: Session, pset_name: Str, info: Out<Info>)
    [ErrObject::Session(session)], session::session_get_pset_info(session, pset_name, info) }
entry! { MPI_Session_init PMPI_Session_init(info: Info, errhandler: Errhandler, session: Out<Session>)
    [ErrObject::New(Kind::Session, errhandler)], session::session_init(info, errhandler, session) }
value! { MPI_Session_toint PMPI_Session_toint(session: Session) -> i32, to_int(session) }
