/* ranks: 1 2 3 4 */
/* MPI-5.0 4.2.1: what partitioned operations match: the order of the initialisations, never other point-to-point
 * operations; MPI_PROC_NULL; requests that are never started */
#include "check.h"

static int next, previous;

static MPI_Request sender(int *v, int partitions, int count, int tag, MPI_Comm comm)
{
    MPI_Request r;
    OK(MPI_Psend_init(v, partitions, count, MPI_INT, next, tag, comm, MPI_INFO_NULL, &r));
    return r;
}

static MPI_Request receiver(int *v, int partitions, int count, int tag, MPI_Comm comm)
{
    MPI_Request r;
    OK(MPI_Precv_init(v, partitions, count, MPI_INT, previous, tag, comm, MPI_INFO_NULL, &r));
    return r;
}

/* One envelope, several operations: the order of the initialisations, not that of the starts. */
static void order(void)
{
    enum { N = 6 };
    int out[N][4], in[N][4];
    MPI_Request requests[2 * N];
    for (int k = 0; k < N; k++)
        if (k % 2)
            requests[k] = receiver(in[k], 2, 2, 3, MPI_COMM_WORLD), requests[N + k] = sender(out[k], 4, 1, 3, MPI_COMM_WORLD);
        else
            requests[N + k] = sender(out[k], 4, 1, 3, MPI_COMM_WORLD), requests[k] = receiver(in[k], 2, 2, 3, MPI_COMM_WORLD);
    for (int round = 0; round < 4; round++) {
        for (int k = 0; k < N; k++)
            for (int i = 0; i < 4; i++)
                out[k][i] = rank * 1000 + round * 100 + k * 10 + i, in[k][i] = -1;
        for (int k = 0; k < N; k++)
            OK(MPI_Start(&requests[round % 2 ? N - 1 - k : k]));
        for (int k = N - 1; k >= 0; k--) {
            MPI_Request *send = &requests[N + (round / 2 ? N - 1 - k : k)];
            OK(MPI_Start(send));
            OK(MPI_Pready_range(0, 3, *send));
        }
        OK(MPI_Waitall(2 * N, requests, MPI_STATUSES_IGNORE));
        for (int k = 0; k < N; k++)
            for (int i = 0; i < 4; i++)
                SAME(in[k][i], previous * 1000 + round * 100 + k * 10 + i, "order of initialisation");
    }
    for (int k = 0; k < 2 * N; k++)
        OK(MPI_Request_free(&requests[k]));
}

/* Ordinary messages of the same envelope pass by; wildcards and probes do not see partitioned ones. */
static void apart(void)
{
    int part_out = rank + 50, part_in = -1, out = rank, in = -1, flag = 1;
    MPI_Request send = sender(&part_out, 1, 1, 4, MPI_COMM_WORLD), receive = receiver(&part_in, 1, 1, 4, MPI_COMM_WORLD), any;
    MPI_Status status;
    OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any));
    OK(MPI_Start(&receive));
    OK(MPI_Start(&send));
    OK(MPI_Pready(0, send));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    SAME(part_in, previous + 50, "partitioned message");
    OK(MPI_Test(&any, &flag, &status));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SAME(flag, 0, "an ordinary receive of any message");
    OK(MPI_Send(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD));
    OK(MPI_Wait(&any, &status));
    SAME(in, previous, "ordinary message beside a partitioned one");
    OK(MPI_Barrier(MPI_COMM_WORLD));

    /* The other way round: a started partitioned receive takes no ordinary message. */
    part_in = -1;
    OK(MPI_Start(&receive));
    OK(MPI_Send(&out, 1, MPI_INT, next, 4, MPI_COMM_WORLD));
    OK(MPI_Recv(&in, 1, MPI_INT, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
    SAME(flag, 0, "a partitioned receive to which an ordinary message was sent");
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    SAME(flag, 0, "probe for a partitioned message");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Start(&send));
    OK(MPI_Pready(0, send));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    SAME(part_in, previous + 50, "partitioned message");
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
}

/* Tags and communicators keep operations apart. */
static void envelopes(void)
{
    int out[4], in[4];
    MPI_Comm dup;
    MPI_Request r[8];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    for (int k = 0; k < 4; k++)
        out[k] = rank * 10 + k, in[k] = -1, r[k] = sender(&out[k], 1, 1, k % 2, k / 2 ? dup : MPI_COMM_WORLD);
    for (int k = 3; k >= 0; k--)
        r[4 + k] = receiver(&in[k], 1, 1, k % 2, k / 2 ? dup : MPI_COMM_WORLD);
    OK(MPI_Comm_free(&dup)); /* the operations keep what they need */
    OK(MPI_Startall(8, r));
    for (int k = 0; k < 4; k++)
        OK(MPI_Pready(0, r[k]));
    OK(MPI_Waitall(8, r, MPI_STATUSES_IGNORE));
    for (int k = 0; k < 4; k++)
        SAME(in[k], previous * 10 + k, "envelope of a partitioned operation");
    for (int k = 0; k < 8; k++)
        OK(MPI_Request_free(&r[k]));
}

/* Never started, freed before and after the other side was made; what comes next meets what comes next. */
static void unused(void)
{
    for (int round = 0; round < 20; round++) {
        int nothing[2] = { 0 }, out = rank + round, in = -1;
        MPI_Request send, receive;
        if (round % 2) {
            receive = receiver(nothing, 2, 1, 9, MPI_COMM_WORLD);
            OK(MPI_Request_free(&receive));
            OK(MPI_Barrier(MPI_COMM_WORLD));
            send = sender(nothing, 2, 1, 9, MPI_COMM_WORLD);
            OK(MPI_Request_free(&send));
        } else {
            send = sender(nothing, 1, 2, 9, MPI_COMM_WORLD);
            OK(MPI_Request_free(&send));
            OK(MPI_Barrier(MPI_COMM_WORLD));
            receive = receiver(nothing, 2, 1, 9, MPI_COMM_WORLD);
            OK(MPI_Request_free(&receive));
        }
        send = sender(&out, 1, 1, 9, MPI_COMM_WORLD);
        receive = receiver(&in, 1, 1, 9, MPI_COMM_WORLD);
        OK(MPI_Start(&send));
        OK(MPI_Pready(0, send));
        OK(MPI_Start(&receive));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        SAME(in, previous + round, "after operations that were never started");
        OK(MPI_Request_free(&send));
        OK(MPI_Request_free(&receive));
    }
}

static void nobody(void)
{
    int v[6] = { 7, 7, 7, 7, 7, 7 }, flag = 0, count = -1;
    MPI_Request send, receive;
    MPI_Status status;
    OK(MPI_Psend_init(v, 3, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(v, 2, 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&send));
        OK(MPI_Start(&receive));
        OK(MPI_Parrived(receive, 1, &flag));
        SAME(flag, 1, "partition from MPI_PROC_NULL");
        OK(MPI_Wait(&receive, &status));
        SAME(status.MPI_SOURCE, MPI_PROC_NULL, "source");
        SAME(status.MPI_TAG, MPI_ANY_TAG, "tag");
        OK(MPI_Get_count(&status, MPI_INT, &count));
        SAME(count, 0, "count from MPI_PROC_NULL");
        OK(MPI_Pready_range(0, 1, send));
        OK(MPI_Pready(2, send));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        SAME(v[5], 7, "buffer of a receive from MPI_PROC_NULL");
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
    SAME(flag, 1, "MPI_Parrived of MPI_REQUEST_NULL");
}

/* Neither MPI_Start nor MPI_Pready waits for the receiver; the receiver may come much later. */
static void late_receiver(void)
{
    enum { COUNT = 200000 };
    int *out = check_alloc(COUNT * sizeof(int)), *in = check_alloc(COUNT * sizeof(int)), note = 0;
    MPI_Request send, receive;
    for (int i = 0; i < COUNT; i++)
        out[i] = rank + i;
    send = sender(out, 10, COUNT / 10, 2, MPI_COMM_WORLD);
    OK(MPI_Start(&send));
    for (int i = 9; i >= 0; i--)
        OK(MPI_Pready(i, send));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, next, 6, &note, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    receive = receiver(in, 4, COUNT / 4, 2, MPI_COMM_WORLD);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Start(&receive));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        SAME(in[i], previous + i, "late receiver");
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    order();
    apart();
    envelopes();
    unused();
    nobody();
    late_receiver();
    return check_end();
}
