/* ranks: 1 2 3 4 6 8 */
/* MPI-5.0 8.6 to 8.8 Neighbourhood collectives on grids: borders, periodic dimensions of one and two ranks, all forms */
#include "check.h"

#define MAX 8
#define BLOCK 5

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* Completes what a form has started; persistent requests are started twice. */
static void complete(int form, MPI_Request *request)
{
    if (form == BLOCKING)
        return;
    if (form == PERSISTENT)
        OK(MPI_Start(request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (form == PERSISTENT) {
        OK(MPI_Start(request));
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(request));
    }
    CHECK(*request == MPI_REQUEST_NULL, "a request is left");
}

/* Block s of a rank goes to the neighbour in direction s, which gets it in slot s ^ 1. */
static int value(int from, int s, int i) { return from * 1000 + s * 10 + i; }

static int neighbor(MPI_Comm grid, int s)
{
    int from, to;
    OK(MPI_Cart_shift(grid, s / 2, 1, &from, &to));
    return s % 2 ? to : from;
}

static void verify(MPI_Comm grid, const int *got, int n, int alltoall, const char *what, int form)
{
    for (int s = 0; s < n; s++)
        for (int i = 0; i < BLOCK; i++) {
            int peer = neighbor(grid, s), want = peer == MPI_PROC_NULL ? -1 : value(peer, alltoall ? s ^ 1 : 0, i);
            CHECK(got[s * BLOCK + i] == want, "%s, form %d: slot %d element %d is %d, not %d", what, form, s, i,
                  got[s * BLOCK + i], want);
        }
}

static void all(MPI_Comm grid, int n, int form)
{
    int me, from[MAX * BLOCK], to[MAX * BLOCK], counts[MAX], displs[MAX];
    MPI_Aint bytes[MAX];
    MPI_Datatype types[MAX];
    MPI_Request request = MPI_REQUEST_NULL;
    OK(MPI_Comm_rank(grid, &me));
    for (int s = 0; s < n; s++) {
        counts[s] = BLOCK;
        displs[s] = s * BLOCK;
        bytes[s] = s * BLOCK * sizeof(int);
        types[s] = MPI_INT;
        for (int i = 0; i < BLOCK; i++)
            from[s * BLOCK + i] = value(me, s, i);
    }
    if (n == 0)
        for (int i = 0; i < BLOCK; i++)
            from[i] = value(me, 0, i);

#define RUN(alltoall, name, ...)                                                                                  \
    do {                                                                                                          \
        memset(to, 0xff, sizeof to);                                                                              \
        if (form == BLOCKING)                                                                                     \
            OK(MPI_Neighbor_##name(__VA_ARGS__, grid));                                                           \
        else if (form == NONBLOCKING)                                                                             \
            OK(MPI_Ineighbor_##name(__VA_ARGS__, grid, &request));                                                \
        else                                                                                                      \
            OK(MPI_Neighbor_##name##_init(__VA_ARGS__, grid, MPI_INFO_NULL, &request));                           \
        complete(form, &request);                                                                                 \
        verify(grid, to, n, alltoall, #name, form);                                                               \
    } while (0)

    RUN(0, allgather, from, BLOCK, MPI_INT, to, BLOCK, MPI_INT);
    RUN(0, allgatherv, from, BLOCK, MPI_INT, to, counts, displs, MPI_INT);
    RUN(1, alltoall, from, BLOCK, MPI_INT, to, BLOCK, MPI_INT);
    RUN(1, alltoallv, from, counts, displs, MPI_INT, to, counts, displs, MPI_INT);
    RUN(1, alltoallw, from, counts, bytes, types, to, counts, bytes, types);
}

static void grid(int n, const int *dims, const int *periods)
{
    MPI_Comm grid;
    OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, 0, &grid));
    if (grid == MPI_COMM_NULL)
        return;
    for (int form = 0; form < FORMS; form++)
        all(grid, 2 * n, form);
    OK(MPI_Comm_free(&grid));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int n = 0; n <= 3; n++)
        for (int mask = 0; mask < 1 << n; mask++) {
            int dims[3] = { 0 }, periods[3], other[3] = { 1, 1, 1 };
            for (int i = 0; i < n; i++)
                periods[i] = mask >> i & 1;
            if (n > 0)
                OK(MPI_Dims_create(size, n, dims));
            grid(n, dims, periods);
            if (n > 0) {
                /* Dimensions of one and two. */
                other[0] = size >= 2 ? 2 : 1;
                if (n > 1)
                    other[n - 1] = size >= 4 ? 2 : 1;
                grid(n, other, periods);
            }
        }
    return check_end();
}
