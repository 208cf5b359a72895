/*
 * Procedures that MPICH's test programs call by names that MPI-3.0 removed (MPI-5.0 17.1), or by the names that MPICH gave them before
 * the standard took them (9.5), by means of those of today. `cargo xtask suite mpich` includes this file in each program.
 */
#ifndef OXMPI_MPICH_NAMES_H
#define OXMPI_MPICH_NAMES_H
#include <mpi.h>

static inline int MPI_Address(void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}

static inline int MPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype old, MPI_Datatype *made)
{
    return MPI_Type_create_hvector(count, length, stride, old, made);
}

static inline int MPI_Type_hindexed(int count, const int lengths[], const MPI_Aint at[], MPI_Datatype old, MPI_Datatype *made)
{
    return MPI_Type_create_hindexed(count, lengths, at, old, made);
}

static inline int MPI_Type_struct(int count, const int lengths[], const MPI_Aint at[], const MPI_Datatype old[], MPI_Datatype *made)
{
    return MPI_Type_create_struct(count, lengths, at, old, made);
}

static inline int MPI_Type_lb(MPI_Datatype type, MPI_Aint *lb)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(type, lb, &extent);
}

static inline int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(type, &lb, extent);
}

static inline int MPI_Type_ub(MPI_Datatype type, MPI_Aint *ub)
{
    MPI_Aint lb, extent;
    int err = MPI_Type_get_extent(type, &lb, ub ? &extent : 0);
    if (err == MPI_SUCCESS)
        *ub = lb + extent;
    return err;
}

static inline int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *made)
{
    return MPI_Comm_create_errhandler(function, made);
}

static inline int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler)
{
    return MPI_Comm_set_errhandler(comm, handler);
}

static inline int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler)
{
    return MPI_Comm_get_errhandler(comm, handler);
}

static inline int MPIX_Delete_error_class(int errorclass)
{
    return MPI_Remove_error_class(errorclass);
}

static inline int MPIX_Delete_error_code(int errorcode)
{
    return MPI_Remove_error_code(errorcode);
}

static inline int MPIX_Delete_error_string(int errorcode)
{
    return MPI_Remove_error_string(errorcode);
}
#endif
