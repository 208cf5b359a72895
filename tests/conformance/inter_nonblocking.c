/* ranks: 2 3 4 5 8 */
/* MPI-5.0 6.12, 6.13: the collectives of inter_coll.c between two groups, in turn nonblocking and persistent */
#include <mpi.h>

static int check_calls;

static int check_wait(int code, MPI_Request *request)
{
    return code ? code : MPI_Wait(request, MPI_STATUS_IGNORE);
}

static int check_runs(int code, MPI_Request *request)
{
    /* The second run gives the same again. */
    for (int i = 0; i < 2 && !code; i++) {
        code = MPI_Start(request);
        if (!code)
            code = MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    return code ? code : MPI_Request_free(request);
}

#define EITHER(nonblocking, persistent, ...)                                             \
    (check_calls++ % 2 ? check_wait(nonblocking(__VA_ARGS__, &check_request), &check_request) \
                       : check_runs(persistent(__VA_ARGS__, MPI_INFO_NULL, &check_request), &check_request))

static MPI_Request check_request;

#define MPI_Barrier(...) EITHER(MPI_Ibarrier, MPI_Barrier_init, __VA_ARGS__)
#define MPI_Bcast(...) EITHER(MPI_Ibcast, MPI_Bcast_init, __VA_ARGS__)
#define MPI_Gather(...) EITHER(MPI_Igather, MPI_Gather_init, __VA_ARGS__)
#define MPI_Gatherv(...) EITHER(MPI_Igatherv, MPI_Gatherv_init, __VA_ARGS__)
#define MPI_Scatter(...) EITHER(MPI_Iscatter, MPI_Scatter_init, __VA_ARGS__)
#define MPI_Scatterv(...) EITHER(MPI_Iscatterv, MPI_Scatterv_init, __VA_ARGS__)
#define MPI_Allgather(...) EITHER(MPI_Iallgather, MPI_Allgather_init, __VA_ARGS__)
#define MPI_Allgatherv(...) EITHER(MPI_Iallgatherv, MPI_Allgatherv_init, __VA_ARGS__)
#define MPI_Alltoall(...) EITHER(MPI_Ialltoall, MPI_Alltoall_init, __VA_ARGS__)
#define MPI_Alltoallv(...) EITHER(MPI_Ialltoallv, MPI_Alltoallv_init, __VA_ARGS__)
#define MPI_Alltoallw(...) EITHER(MPI_Ialltoallw, MPI_Alltoallw_init, __VA_ARGS__)
#define MPI_Reduce(...) EITHER(MPI_Ireduce, MPI_Reduce_init, __VA_ARGS__)
#define MPI_Allreduce(...) EITHER(MPI_Iallreduce, MPI_Allreduce_init, __VA_ARGS__)
#define MPI_Reduce_scatter(...) EITHER(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, __VA_ARGS__)
#define MPI_Reduce_scatter_block(...) EITHER(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, __VA_ARGS__)

#include "inter_coll.c"
