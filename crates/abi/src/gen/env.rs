//! Entry points of chapter `env`.
//! Generated from spec/ by `cargo xtask codegen`: do not edit.
use crate::entry::*;
use oxmpi_mpi::env;

entry! { MPI_Abort PMPI_Abort(comm: Comm, errorcode: i32)
    [ErrObject::Comm(comm)], env::abort(comm, errorcode) }
entry! { MPI_Alloc_mem PMPI_Alloc_mem(size: i64, info: Info, baseptr: Buf)
    [ErrObject::None], env::alloc_mem(size, info, baseptr) }
entry! { MPI_Finalize PMPI_Finalize()
    [ErrObject::None], env::finalize() }
entry! { MPI_Finalized PMPI_Finalized(flag: Out<i32>)
    [ErrObject::None], env::finalized(flag) }
entry! { MPI_Free_mem PMPI_Free_mem(base: Buf)
    [ErrObject::None], env::free_mem(base) }
entry! { MPI_Get_hw_resource_info PMPI_Get_hw_resource_info(hw_info: Out<Info>)
    [ErrObject::None], env::get_hw_resource_info(hw_info) }
entry! { MPI_Get_library_version PMPI_Get_library_version(version: OutStr, resultlen: Out<i32>)
    [ErrObject::None], env::get_library_version(version, resultlen) }
entry! { MPI_Get_processor_name PMPI_Get_processor_name(name: OutStr, resultlen: Out<i32>)
    [ErrObject::None], env::get_processor_name(name, resultlen) }
entry! { MPI_Get_version PMPI_Get_version(version: Out<i32>, subversion: Out<i32>)
    [ErrObject::None], env::get_version(version, subversion) }
entry! { MPI_Init PMPI_Init(argc: Out<i32>, argv: Buf)
    [ErrObject::None], env::init(argc, argv) }
entry! { MPI_Init_thread PMPI_Init_thread(argc: Out<i32>, argv: Buf, required: i32, provided: Out<i32>)
    [ErrObject::None], env::init_thread(argc, argv, required, provided) }
entry! { MPI_Initialized PMPI_Initialized(flag: Out<i32>)
    [ErrObject::None], env::initialized(flag) }
entry! { MPI_Is_thread_main PMPI_Is_thread_main(flag: Out<i32>)
    [ErrObject::None], env::is_thread_main(flag) }
entry! { MPI_Pcontrol PMPI_Pcontrol(level: i32)
    [ErrObject::None], env::pcontrol(level) }
entry! { MPI_Query_thread PMPI_Query_thread(provided: Out<i32>)
    [ErrObject::None], env::query_thread(provided) }
value! { MPI_Wtick PMPI_Wtick()
    -> f64, env::wtick() }
value! { MPI_Wtime PMPI_Wtime()
    -> f64, env::wtime() }
