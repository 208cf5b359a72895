/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 3.9 Persistent Communication Requests */
#include "check.h"

enum { COUNT = 3000, ROUNDS = 30 };

static int next, previous;

/* Sends of each mode and a receive, started again and again with new data in the same buffers. */
static void rounds(void)
{
    int *out[3], *in[3];
    MPI_Request requests[6];
    for (int m = 0; m < 3; m++) {
        out[m] = check_alloc(COUNT * sizeof(int));
        in[m] = check_alloc(COUNT * sizeof(int));
        OK(MPI_Recv_init(in[m], COUNT, MPI_INT, m == 1 ? MPI_ANY_SOURCE : previous, m, MPI_COMM_WORLD, &requests[m]));
    }
    OK(MPI_Send_init(out[0], COUNT, MPI_INT, next, 0, MPI_COMM_WORLD, &requests[3]));
    OK(MPI_Ssend_init(out[1], COUNT / 2, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[4]));
    OK(MPI_Send_init(out[2], 0, MPI_INT, next, 2, MPI_COMM_WORLD, &requests[5]));
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Status statuses[6];
        int got;
        for (int m = 0; m < 3; m++)
            for (int i = 0; i < COUNT; i++)
                out[m][i] = rank * 10 + m + i * round, in[m][i] = -1;
        if (round % 2) {
            OK(MPI_Startall(6, requests));
        } else {
            for (int k = 5; k >= 0; k--)
                OK(MPI_Start(&requests[k]));
        }
        OK(MPI_Waitall(6, requests, statuses));
        for (int m = 0; m < 3; m++) {
            int count = m == 0 ? COUNT : m == 1 ? COUNT / 2 : 0;
            CHECK(requests[m] != MPI_REQUEST_NULL, "waiting freed a persistent request");
            SAME(statuses[m].MPI_SOURCE, previous, "persistent receive: source");
            OK(MPI_Get_count(&statuses[m], MPI_INT, &got));
            SAME(got, count, "persistent receive: count");
            for (int i = 0; i < COUNT; i++)
                SAME(in[m][i], i < count ? previous * 10 + m + i * round : -1, "persistent receive: data");
        }
    }
    for (int k = 0; k < 6; k++) {
        OK(MPI_Request_free(&requests[k]));
        CHECK(requests[k] == MPI_REQUEST_NULL, "request_free leaves the handle");
    }
    for (int m = 0; m < 3; m++)
        free(out[m]), free(in[m]);
}

/* 3.7.3, 3.9: an inactive request is complete, with an empty status, and is not a null request. */
static void inactive(void)
{
    int v = 0, flag = 0, index = 0;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Recv_init(&v, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    SAME(status.MPI_SOURCE, MPI_ANY_SOURCE, "wait for an inactive request");
    OK(MPI_Test(&request, &flag, &status));
    SAME(flag, 1, "test of an inactive request");
    OK(MPI_Waitany(1, &request, &index, &status));
    SAME(index, MPI_UNDEFINED, "waitany of inactive requests");
    CHECK(request != MPI_REQUEST_NULL, "an inactive request was freed");
    OK(MPI_Request_free(&request));
}

/* A persistent send meets an ordinary receive, and a started receive can be cancelled. */
static void mixed(void)
{
    int out = rank, in = -1, cancelled = -1;
    MPI_Request send, receive;
    MPI_Status status;
    OK(MPI_Send_init(&out, 1, MPI_INT, next, 11, MPI_COMM_WORLD, &send));
    OK(MPI_Start(&send));
    OK(MPI_Recv(&in, 1, MPI_INT, previous, 11, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(in, previous, "ordinary receive of a persistent send");
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&send));
    OK(MPI_Recv_init(&in, 1, MPI_INT, previous, 12, MPI_COMM_WORLD, &receive));
    OK(MPI_Start(&receive));
    OK(MPI_Cancel(&receive));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    SAME(cancelled, 1, "cancel of a started persistent receive");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Start(&receive));
    OK(MPI_Send(&out, 1, MPI_INT, next, 12, MPI_COMM_WORLD));
    OK(MPI_Wait(&receive, &status));
    SAME(in, previous, "persistent receive after a cancelled round");
    OK(MPI_Request_free(&receive));
}

/* Buffered and ready. */
static void modes(void)
{
    int out = rank + 5, in = -1, bytes = 10000, detached;
    void *space = check_alloc(bytes), *back;
    MPI_Request buffered, ready, receive;
    OK(MPI_Buffer_attach(space, bytes));
    OK(MPI_Bsend_init(&out, 1, MPI_INT, next, 21, MPI_COMM_WORLD, &buffered));
    OK(MPI_Start(&buffered));
    OK(MPI_Wait(&buffered, MPI_STATUS_IGNORE));
    OK(MPI_Recv(&in, 1, MPI_INT, previous, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(in, previous + 5, "persistent buffered send");
    OK(MPI_Request_free(&buffered));
    OK(MPI_Buffer_detach(&back, &detached));
    free(space);
    OK(MPI_Recv_init(&in, 1, MPI_INT, previous, 22, MPI_COMM_WORLD, &receive));
    OK(MPI_Rsend_init(&out, 1, MPI_INT, next, 22, MPI_COMM_WORLD, &ready));
    in = -1;
    OK(MPI_Start(&receive));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Start(&ready));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&ready, MPI_STATUS_IGNORE));
    SAME(in, previous + 5, "persistent ready send");
    OK(MPI_Request_free(&receive));
    OK(MPI_Request_free(&ready));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    rounds();
    inactive();
    mixed();
    modes();
    return check_end();
}
