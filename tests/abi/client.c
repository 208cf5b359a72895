/* What clients of mpi.h do at compile time, in the common subset of C89 and C++. */
#include <mpi.h>

#if MPI_VERSION < 5 || MPI_ANY_SOURCE >= 0 || !defined(MPI_T_CB_REQUIRE_NONE) || MPI_ABI_VERSION != 1
#error constants are usable by the preprocessor
#endif

/* Static storage is initialised from handle constants. */
static const MPI_Comm world = MPI_COMM_WORLD;
static const MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_LONG_LONG_INT, MPI_C_COMPLEX };
static MPI_Comm_copy_attr_function *copy = MPI_COMM_DUP_FN;
static MPI_Copy_function *old_copy = MPI_DUP_FN;

const char *class_name(int error_class);
void fatal(MPI_Comm *comm, int *code, ...);
void sum(void *in, void *inout, int *len, MPI_Datatype *type);
void sum_large(void *in, void *inout, MPI_Count *len, MPI_Datatype *type);
int uses(void *buffer, int n);

const char *class_name(int error_class)
{
    switch (error_class) {
    case MPI_SUCCESS: return "success";
    case MPI_ERR_TRUNCATE: return "truncate";
    case MPI_ERR_LASTCODE: return "last";
    case MPI_UNDEFINED: return "undefined";
    default: return "other";
    }
}

int uses(void *buffer, int n)
{
    int ranges[1][3] = { { 0, 1, 1 } };
    int counts[2] = { 1, 1 }, displacements[2] = { 0, 1 };
    MPI_Status status, statuses[2];
    MPI_Request requests[2] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Errhandler handler;
    MPI_Group group;
    MPI_Op op;
    MPI_T_cb_safety safety = MPI_T_CB_REQUIRE_THREAD_SAFE;

    status.MPI_SOURCE = MPI_ANY_SOURCE;
    status.MPI_TAG = MPI_ANY_TAG;
    status.MPI_ERROR = MPI_SUCCESS;
    MPI_Init(0, 0);
    MPI_Pcontrol(1);
    MPI_Pcontrol(2, "more", n);
    MPI_Comm_create_errhandler(fatal, &handler);
    MPI_Op_create(sum, 1, &op);
    MPI_Op_create_c(sum_large, 1, &op);
    MPI_Group_range_incl(MPI_GROUP_EMPTY, 1, ranges, &group);
    MPI_Recv(buffer, n, types[0], 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, n, types[0], 0, 0, world, &status);
    MPI_Waitall(2, requests, statuses);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, counts, displacements, types[1], world);
    PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer, counts, displacements, types[1], world);
    MPI_Comm_spawn("program", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, world, 0, MPI_ERRCODES_IGNORE);
    return MPI_Comm_f2c(MPI_Comm_c2f(world)) == world && MPI_Type_f2c(MPI_Type_c2f(types[1])) == types[1]
        && copy != MPI_COMM_NULL_COPY_FN && old_copy != MPI_NULL_COPY_FN && safety != MPI_T_CB_REQUIRE_NONE;
}
