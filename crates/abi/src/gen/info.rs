//! Entry points of chapter `info`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::info;

entry! { MPI_Info_create PMPI_Info_create(info: Out<Info>)
    [ErrObject::None], info::info_create(info) }
entry! { MPI_Info_create_env PMPI_Info_create_env(argc: i32, argv: Buf, info: Out<Info>)
    [ErrObject::None], info::info_create_env(argc, argv, info) }
entry! { MPI_Info_delete PMPI_Info_delete(info: Info, key: Str)
    [ErrObject::None], info::info_delete(info, key) }
entry! { MPI_Info_dup PMPI_Info_dup(info: Info, newinfo: Out<Info>)
    [ErrObject::None], info::info_dup(info, newinfo) }
entry! { MPI_Info_free PMPI_Info_free(info: Out<Info>)
    [ErrObject::None], info::info_free(info) }
value! { MPI_Info_fromint PMPI_Info_fromint(info: i32) -> Info, from_int(info) }
entry! { MPI_Info_get PMPI_Info_get(info: Info, key: Str, valuelen: i32, value: OutStr, flag: Out<i32>)
    [ErrObject::None], info::info_get(info, key, valuelen, value, flag) }
entry! { MPI_Info_get_nkeys PMPI_Info_get_nkeys(info: Info, nkeys: Out<i32>)
    [ErrObject::None], info::info_get_nkeys(info, nkeys) }
entry! { MPI_Info_get_nthkey PMPI_Info_get_nthkey(info: Info, n: i32, key: OutStr)
    [ErrObject::None], info::info_get_nthkey(info, n, key) }
entry! { MPI_Info_get_string PMPI_Info_get_string(info: Info, key: Str, buflen: Out<i32>, value: OutStr, flag: Out<i32>)
    [ErrObject::None], info::info_get_string(info, key, buflen, value, flag) }
entry! { MPI_Info_get_valuelen PMPI_Info_get_valuelen(info: Info, key: Str, valuelen: Out<i32>, flag: Out<i32>)
    [ErrObject::None], info::info_get_valuelen(info, key, valuelen, flag) }
entry! { MPI_Info_set PMPI_Info_set(info: Info, key: Str, value: Str)
    [ErrObject::None], info::info_set(info, key, value) }
value! { MPI_Info_toint PMPI_Info_toint(info: Info) -> i32, to_int(info) }
