/* ranks: 1 2 4 */
/* MPI-5.0 3.10 Send-Receive: nonblocking forms; 3.6 Buffered mode: flush */
#include "check.h"

static int next, previous;

/* What a ring of exchanges of `count` ints gives: status of the receive, data of the neighbour. */
static void received(const int *in, int count, const MPI_Status *status, int tag, const char *what)
{
    int got = -1;
    SAME(status->MPI_SOURCE, previous, what);
    SAME(status->MPI_TAG, tag, what);
    OK(MPI_Get_count(status, MPI_INT, &got));
    SAME(got, count, what);
    for (int i = 0; i < count; i++)
        SAME(in[i], previous * 7 + i, what);
}

static void fill(int *v, int count)
{
    for (int i = 0; i < count; i++)
        v[i] = rank * 7 + i;
}

/* From one element to what no transport sends eagerly. */
static void sizes(void)
{
    for (int count = 0; count < 600000; count = count * 9 + 1) {
        int *out = check_alloc((count + 5) * sizeof(int)), *in = check_alloc((count + 5) * sizeof(int));
        MPI_Request request;
        MPI_Status status;
        fill(out, count);
        memset(in, 0, (count + 5) * sizeof(int));
        OK(MPI_Isendrecv(out, count, MPI_INT, next, 3, in, count + 5, MPI_INT, previous, 3, MPI_COMM_WORLD, &request));
        CHECK(request != MPI_REQUEST_NULL, "isendrecv gives MPI_REQUEST_NULL");
        OK(MPI_Wait(&request, &status));
        CHECK(request == MPI_REQUEST_NULL, "a completed isendrecv is not MPI_REQUEST_NULL");
        received(in, count, &status, 3, "isendrecv");
        fill(in, count);
        OK(MPI_Isendrecv_replace(in, count, MPI_INT, next, 4, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
        int flag = 0;
        while (!flag)
            OK(MPI_Test(&request, &flag, &status));
        received(in, count, &status, 4, "isendrecv_replace");
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* any source and any tag: nothing of the next round yet */
        free(out);
        free(in);
    }
}

/* Many at once, completed by each of the forms; large ones, so that the sends are under way for a while. */
static void forms(void)
{
    enum { N = 6, COUNT = 50000 };
    int *out = check_alloc(COUNT * sizeof(int)), *in = check_alloc(N * COUNT * sizeof(int));
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int indices[N], index, count, flag;
    fill(out, COUNT);
    for (int form = 0; form < 6; form++) {
        for (int i = 0; i < N; i++)
            OK(MPI_Isendrecv(out, COUNT, MPI_INT, next, i, in + i * COUNT, COUNT, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]));
        if (form == 0) {
            OK(MPI_Waitall(N, requests, statuses));
        } else if (form == 1) {
            for (flag = 0; !flag;)
                OK(MPI_Testall(N, requests, &flag, statuses));
        } else if (form == 2 || form == 3) {
            for (int k = 0; k < N; k += flag) {
                MPI_Status status;
                if (form == 2) {
                    OK(MPI_Waitany(N, requests, &index, &status));
                    flag = 1;
                } else {
                    OK(MPI_Testany(N, requests, &index, &flag, &status));
                }
                if (flag)
                    statuses[index] = status;
            }
        } else {
            MPI_Status some[N];
            for (int k = 0; k < N; k += count) {
                if (form == 4)
                    OK(MPI_Waitsome(N, requests, &count, indices, some));
                else
                    OK(MPI_Testsome(N, requests, &count, indices, some));
                for (int c = 0; c < count; c++)
                    statuses[indices[c]] = some[c];
            }
        }
        for (int i = 0; i < N; i++) {
            CHECK(requests[i] == MPI_REQUEST_NULL, "form %d: a completed request is not MPI_REQUEST_NULL", form);
            received(in + i * COUNT, COUNT, &statuses[i], i, "isendrecv in an array");
        }
    }
    free(out);
    free(in);
}

/* Complete only when both halves are: the receive is not there before the neighbour sends. */
static void halves(void)
{
    enum { COUNT = 100000 };
    int *out = check_alloc(COUNT * sizeof(int)), *in = check_alloc(COUNT * sizeof(int)), flag = 1;
    MPI_Request request;
    MPI_Status status;
    fill(out, COUNT);
    OK(MPI_Isendrecv(out, COUNT, MPI_INT, next, 1, in, COUNT, MPI_INT, previous, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Request_get_status(request, &flag, &status));
    SAME(flag, 0, "isendrecv whose message was not sent");
    OK(MPI_Recv(in, COUNT, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    memset(in, 0, COUNT * sizeof(int));
    OK(MPI_Test(&request, &flag, &status));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SAME(flag, 0, "isendrecv whose send alone is done");
    OK(MPI_Ssend(out, COUNT, MPI_INT, next, 2, MPI_COMM_WORLD));
    for (flag = 0; !flag;)
        OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(request != MPI_REQUEST_NULL, "request_get_status freed the request");
    received(in, COUNT, &status, 2, "request_get_status of isendrecv");
    OK(MPI_Wait(&request, &status));
    received(in, COUNT, &status, 2, "wait after request_get_status");

    /* A request that is let go: both halves finish by themselves. */
    memset(in, 0, COUNT * sizeof(int));
    OK(MPI_Isendrecv(out, COUNT, MPI_INT, next, 5, in, COUNT, MPI_INT, previous, 6, MPI_COMM_WORLD, &request));
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL, "request_free leaves the handle");
    int *other = check_alloc(COUNT * sizeof(int));
    OK(MPI_Sendrecv(out, COUNT, MPI_INT, next, 6, other, COUNT, MPI_INT, previous, 5, MPI_COMM_WORLD, &status));
    received(other, COUNT, &status, 5, "send of a freed request");
    volatile int *last = in;
    while (last[COUNT - 1] != previous * 7 + COUNT - 1)
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    free(other);
    free(out);
    free(in);
}

static void corners(void)
{
    MPI_Request request;
    MPI_Status status;
    int v = rank, got = -1, count = -1;
    OK(MPI_Isendrecv(&v, 1, MPI_INT, MPI_PROC_NULL, 1, &got, 1, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    SAME(status.MPI_SOURCE, MPI_PROC_NULL, "isendrecv with nobody");
    SAME(status.MPI_TAG, MPI_ANY_TAG, "isendrecv with nobody");
    OK(MPI_Get_count(&status, MPI_INT, &count));
    SAME(count, 0, "isendrecv with nobody");
    SAME(got, -1, "isendrecv with nobody");
    OK(MPI_Isendrecv_replace(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    SAME(v, rank, "isendrecv_replace with nobody");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_RANK, MPI_Isendrecv(&v, 1, MPI_INT, size, 1, &got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_TAG, MPI_Isendrecv(&v, 1, MPI_INT, 0, -5, &got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_COUNT, MPI_Isendrecv_replace(&v, -1, MPI_INT, 0, 1, 0, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* A flush is complete when the buffered messages have left; then the whole buffer is free again. */
static void flushes(void)
{
    enum { COUNT = 60000, BYTES = COUNT * (int)sizeof(int) };
    int *out = check_alloc(BYTES), *in = check_alloc(BYTES), room = BYTES + MPI_BSEND_OVERHEAD, flag = 0;
    void *buffer = check_alloc(room), *detached = NULL;
    MPI_Request request, receive;
    MPI_Status status;
    fill(out, COUNT);
    OK(MPI_Buffer_attach(buffer, room));
    OK(MPI_Buffer_flush());
    for (int round = 0; round < 4; round++) {
        OK(MPI_Bsend(out, COUNT, MPI_INT, next, round, MPI_COMM_WORLD));
        OK(MPI_Irecv(in, COUNT, MPI_INT, previous, round, MPI_COMM_WORLD, &receive));
        if (round % 2) {
            OK(MPI_Buffer_flush());
        } else {
            OK(MPI_Buffer_iflush(&request));
            for (flag = 0; !flag;)
                OK(MPI_Test(&request, &flag, &status));
            CHECK(request == MPI_REQUEST_NULL, "a completed flush is not MPI_REQUEST_NULL");
        }
        OK(MPI_Wait(&receive, &status));
        received(in, COUNT, &status, round, "buffered message");
    }
    OK(MPI_Buffer_detach(&detached, &room));
    CHECK(detached == buffer, "detach gives another buffer");
    free(buffer);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    sizes();
    forms();
    halves();
    corners();
    flushes();
    return check_end();
}
