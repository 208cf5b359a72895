/* ranks: 1 2 4 */
/* MPI-5.0 8 with MPI_THREAD_MULTIPLE: threads that make, ask, use and free topologies at the same time */
#include "check.h"
#include <pthread.h>

#define THREADS 4
#define ROUNDS 25

static MPI_Comm comms[THREADS];
static MPI_Comm shared;

static void ask(MPI_Comm grid)
{
    int dims[2], periods[2], at[2], r, me, from, to;
    OK(MPI_Comm_rank(grid, &me));
    OK(MPI_Cart_get(grid, 2, dims, periods, at));
    SAME(dims[0] * dims[1], size, "dims");
    OK(MPI_Cart_rank(grid, at, &r));
    SAME(r, me, "own rank");
    OK(MPI_Cart_shift(grid, 0, dims[0], &from, &to));
    SAME(from == me && to == me, 1, "once round");
}

static void *work(void *arg)
{
    int t = (int)(intptr_t)arg;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm grid, graph, copy;
        MPI_Request requests[2];
        int dims[2] = { 0, 0 }, periods[2] = { 1, 1 }, next = (rank + 1 + t) % size, before = (rank + size * THREADS - 1 - t) % size;
        int mine[4], got[4], sent = rank * 1000 + t * 100 + round, received = -1, me;
        OK(MPI_Dims_create(size, 2, dims));
        OK(MPI_Cart_create(comms[t], 2, dims, periods, round % 2, &grid));
        OK(MPI_Comm_dup(grid, &copy));
        OK(MPI_Comm_free(&grid));
        OK(MPI_Comm_rank(copy, &me));
        ask(copy);
        ask(shared);
        for (int s = 0; s < 4; s++)
            mine[s] = me * 4 + s;
        OK(MPI_Dist_graph_create_adjacent(comms[t], 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
        OK(MPI_Ineighbor_alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, copy, &requests[0]));
        OK(MPI_Ineighbor_allgather(&sent, 1, MPI_INT, &received, 1, MPI_INT, graph, &requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        SAME(received, before * 1000 + t * 100 + round, "from the rank before");
        for (int s = 0; s < 4; s++) {
            int from, to;
            OK(MPI_Cart_shift(copy, s / 2, 1, &from, &to));
            SAME(got[s], (s % 2 ? to : from) * 4 + (s ^ 1), "a block of the grid");
        }
        received = -1;
        OK(MPI_Neighbor_allgather(&sent, 1, MPI_INT, &received, 1, MPI_INT, graph));
        SAME(received, before * 1000 + t * 100 + round, "again");
        OK(MPI_Comm_free(&graph));
        OK(MPI_Comm_free(&copy));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level, dims[2] = { 0, 0 };
    pthread_t threads[THREADS];
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level < MPI_THREAD_MULTIPLE)
        return 77;
    OK(MPI_Dims_create(size, 2, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){ 1, 1 }, 0, &shared));
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t) == 0, "no thread");
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_free(&comms[t]));
    OK(MPI_Comm_free(&shared));
    return check_end();
}
