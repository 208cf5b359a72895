/* ranks: 2 3 4 5 8 */
/* MPI-5.0 3.4 Communication Modes, 3.5 Semantics (order), 3.6 Buffer Allocation and Usage */
#include "check.h"

/* Partners: rank 2k and 2k + 1; an odd one out at the end has none. */
static int partner, lower;

/* 3.5 Order: messages of one sender with one envelope do not overtake, whatever their size and mode. */
static void order(void)
{
    enum { MESSAGES = 300, MOST = 20000 };
    uint64_t state = 99;
    int *buf = check_alloc(MOST * sizeof(int));
    for (int i = 0; i < MESSAGES; i++) {
        int count = 1 + check_random(&state) % (i % 10 == 0 ? MOST : 50);
        if (lower) {
            for (int k = 0; k < count; k++)
                buf[k] = i + k;
            if (i % 3 == 0)
                OK(MPI_Ssend(buf, count, MPI_INT, partner, 7, MPI_COMM_WORLD));
            else
                OK(MPI_Send(buf, count, MPI_INT, partner, 7, MPI_COMM_WORLD));
        } else {
            MPI_Status status;
            int got;
            OK(MPI_Recv(buf, MOST, MPI_INT, i % 2 ? partner : MPI_ANY_SOURCE, i % 5 ? 7 : MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            OK(MPI_Get_count(&status, MPI_INT, &got));
            SAME(got, count, "order: count");
            SAME(status.MPI_SOURCE, partner, "order: source");
            SAME(status.MPI_TAG, 7, "order: tag");
            for (int k = 0; k < count; k++)
                SAME(buf[k], i + k, "order: data");
        }
    }
    free(buf);
}

/* Different tags may be received in any order. */
static void tags(void)
{
    int v[10];
    MPI_Request send[10];
    for (int i = 0; i < 10; i++) {
        v[i] = i * i;
        if (lower)
            OK(MPI_Isend(&v[i], 1, MPI_INT, partner, i, MPI_COMM_WORLD, &send[i]));
    }
    if (lower)
        OK(MPI_Waitall(10, send, MPI_STATUSES_IGNORE));
    for (int i = 9; !lower && i >= 0; i--) {
        int got = -1;
        OK(MPI_Recv(&got, 1, MPI_INT, partner, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        SAME(got, i * i, "tags received backwards");
    }
}

/* 3.4: a synchronous send is not complete before the matching receive has started. The receiver posts it only
 * after it got a message that is sent after testing the synchronous send. */
static void synchronous(int count)
{
    int *buf = check_alloc((count + 1) * sizeof(int)), done = 0, go = 0;
    MPI_Request request;
    for (int i = 0; i < count; i++)
        buf[i] = lower ? i : -1;
    if (lower) {
        OK(MPI_Issend(buf, count, MPI_INT, partner, 1, MPI_COMM_WORLD, &request));
        for (int i = 0; i < 1000; i++) {
            OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
            CHECK(!done, "issend of %d ints was complete before the receive was posted", count);
        }
        OK(MPI_Send(&go, 1, MPI_INT, partner, 2, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(request == MPI_REQUEST_NULL, "a completed request is not MPI_REQUEST_NULL");
    } else {
        OK(MPI_Recv(&go, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(buf, count, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < count; i++)
            SAME(buf[i], i, "issend data");
    }
    free(buf);
}

/* A blocking synchronous send returns after the receive has started: what the receiver did before arrives. */
static void synchronous_blocking(void)
{
    int v = 42, flag = 0, note = 0;
    if (lower) {
        OK(MPI_Ssend(&v, 1, MPI_INT, partner, 1, MPI_COMM_WORLD));
        while (!flag)
            OK(MPI_Iprobe(partner, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&note, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        SAME(note, 5, "note");
    } else {
        note = 5;
        OK(MPI_Send(&note, 1, MPI_INT, partner, 2, MPI_COMM_WORLD));
        OK(MPI_Recv(&v, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        SAME(v, 42, "ssend data");
    }
}

/* 3.4: a ready send, to a receive that is known to be posted. */
static void ready(int count)
{
    int *buf = check_alloc((count + 1) * sizeof(int)), go = 0;
    MPI_Request request;
    for (int i = 0; i < count; i++)
        buf[i] = lower ? i * 3 : -1;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        if (!lower) {
            OK(MPI_Irecv(buf, count, MPI_INT, partner, 4, MPI_COMM_WORLD, &request));
            OK(MPI_Send(&go, 1, MPI_INT, partner, 5, MPI_COMM_WORLD));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            for (int i = 0; i < count; i++)
                SAME(buf[i], i * 3, "ready send data");
        } else {
            OK(MPI_Recv(&go, 1, MPI_INT, partner, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            if (nonblocking) {
                OK(MPI_Irsend(buf, count, MPI_INT, partner, 4, MPI_COMM_WORLD, &request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            } else {
                OK(MPI_Rsend(buf, count, MPI_INT, partner, 4, MPI_COMM_WORLD));
            }
        }
    }
    free(buf);
}

/* 3.6: buffered sends complete without a receive; both partners send first. Detach waits for delivery. */
static void buffered(void)
{
    enum { MESSAGES = 20, COUNT = 5000 };
    int pack, *out = check_alloc(COUNT * sizeof(int)), *in = check_alloc(COUNT * sizeof(int));
    OK(MPI_Pack_size(COUNT, MPI_INT, MPI_COMM_WORLD, &pack));
    int bytes = MESSAGES * (pack + MPI_BSEND_OVERHEAD), detached = 0;
    void *space = check_alloc(bytes), *got = NULL;
    OK(MPI_Buffer_attach(space, bytes));
    for (int round = 0; round < 3; round++) {
        for (int m = 0; m < MESSAGES; m++) {
            for (int i = 0; i < COUNT; i++)
                out[i] = round + m + i + rank;
            if (m % 2) {
                MPI_Request request;
                OK(MPI_Ibsend(out, COUNT, MPI_INT, partner, m, MPI_COMM_WORLD, &request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            } else {
                OK(MPI_Bsend(out, COUNT, MPI_INT, partner, m, MPI_COMM_WORLD));
            }
        }
        memset(out, 0xff, COUNT * sizeof(int));
        for (int m = MESSAGES - 1; m >= 0; m--) {
            OK(MPI_Recv(in, COUNT, MPI_INT, partner, m, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            for (int i = 0; i < COUNT; i++)
                SAME(in[i], round + m + i + partner, "buffered data");
        }
        /* Room is free again once the partner has everything: tell each other. */
        OK(MPI_Buffer_detach(&got, &detached));
        CHECK(got == space && detached == bytes, "detach returned %p and %d, not %p and %d", got, detached, space, bytes);
        OK(MPI_Buffer_attach(space, bytes));
    }
    OK(MPI_Buffer_detach(&got, &detached));
    free(space);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    partner = rank ^ 1;
    lower = rank < partner;
    if (partner < size) {
        order();
        tags();
        synchronous(0);
        synchronous(1);
        synchronous(1000);
        synchronous(100000);
        synchronous_blocking();
        ready(0);
        ready(10);
        ready(200000);
        buffered();
    }
    return check_end();
}
