//! Entry points of chapter `session`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;

entry! { MPI_Group_from_session_pset PMPI_Group_from_session_pset(session: Session, pset_name: Str, newgroup: Out<Group>)
    [ErrObject::Session(session)], unsupported("MPI_Group_from_session_pset") }
entry! { MPI_Session_finalize PMPI_Session_finalize(session: Out<Session>)
    [ErrObject::Session(held(session, MPI_SESSION_NULL))], unsupported("MPI_Session_finalize") }
value! { MPI_Session_fromint PMPI_Session_fromint(session: i32) -> Session, from_int(session) }
entry! { MPI_Session_get_info PMPI_Session_get_info(session: Session, info_used: Out<Info>)
    [ErrObject::Session(session)], unsupported("MPI_Session_get_info") }
entry! { MPI_Session_get_nth_pset PMPI_Session_get_nth_pset(session: Session, info: Info, n: i32, pset_len: Out<i32>, pset_name: OutStr)
    [ErrObject::Session(session)], unsupported("MPI_Session_get_nth_pset") }
entry! { MPI_Session_get_num_psets PMPI_Session_get_num_psets(session: Session, info: Info, npset_names: Out<i32>)
    [ErrObject::Session(session)], unsupported("MPI_Session_get_num_psets") }
entry! { MPI_Session_get_pset_info PMPI_Session_get_pset_info(session: Session, pset_name: Str, info: Out<Info>)
    [ErrObject::Session(session)], unsupported("MPI_Session_get_pset_info") }
entry! { MPI_Session_init PMPI_Session_init(info: Info, errhandler: Errhandler, session: Out<Session>)
    [ErrObject::None], unsupported("MPI_Session_init") }
value! { MPI_Session_toint PMPI_Session_toint(session: Session) -> i32, to_int(session) }
