//! Entry points of chapter `abi_info`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::abi_info;

entry! { MPI_Abi_get_fortran_booleans PMPI_Abi_get_fortran_booleans(logical_size: i32, logical_true: Buf, logical_false: Buf, is_set: Out<i32>)
    [ErrObject::None], abi_info::abi_get_fortran_booleans(logical_size, logical_true, logical_false, is_set) }
entry! { MPI_Abi_get_fortran_info PMPI_Abi_get_fortran_info(info: Out<Info>)
    [ErrObject::None], abi_info::abi_get_fortran_info(info) }
entry! { MPI_Abi_get_info PMPI_Abi_get_info(info: Out<Info>)
    [ErrObject::None], abi_info::abi_get_info(info) }
entry! { MPI_Abi_get_version PMPI_Abi_get_version(abi_major: Out<i32>, abi_minor: Out<i32>)
    [ErrObject::None], abi_info::abi_get_version(abi_major, abi_minor) }
entry! { MPI_Abi_set_fortran_booleans PMPI_Abi_set_fortran_booleans(logical_size: i32, logical_true: Buf, logical_false: Buf)
    [ErrObject::None], abi_info::abi_set_fortran_booleans(logical_size, logical_true, logical_false) }
entry! { MPI_Abi_set_fortran_info PMPI_Abi_set_fortran_info(info: Info)
    [ErrObject::None], abi_info::abi_set_fortran_info(info) }
