/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 3.7 Nonblocking Communication: completion of one, any, all, some; 3.7.6 status without freeing;
 * 3.8.4 Cancel of a receive */
#include "check.h"

enum { N = 40 };

static int next, previous;
static int out[N][N], in[N][N];
static MPI_Request requests[2 * N];

/* N receives from the left and N sends to the right, of different sizes and tags. */
static void start(int round)
{
    for (int i = 0; i < N; i++) {
        for (int k = 0; k < N; k++)
            out[i][k] = rank * 1000 + round * 50 + i + k, in[i][k] = -1;
        OK(MPI_Irecv(in[i], N, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = N - 1; i >= 0; i--)
        OK(MPI_Isend(out[i], i, MPI_INT, next, i, MPI_COMM_WORLD, &requests[N + i]));
}

/* The status and the data of request `i`. */
static void finished(int round, int i, const MPI_Status *status, const char *what)
{
    int count = -1;
    CHECK(requests[i] == MPI_REQUEST_NULL, "%s: a completed request is not MPI_REQUEST_NULL", what);
    if (i >= N)
        return;
    SAME(status->MPI_SOURCE, previous, what);
    SAME(status->MPI_TAG, i, what);
    OK(MPI_Get_count(status, MPI_INT, &count));
    SAME(count, i, what);
    for (int k = 0; k < N; k++)
        SAME(in[i][k], k < i ? previous * 1000 + round * 50 + i + k : -1, what);
}

static void all(void)
{
    MPI_Status statuses[2 * N];
    start(0);
    OK(MPI_Waitall(2 * N, requests, statuses));
    for (int i = 0; i < 2 * N; i++)
        finished(0, i, &statuses[i], "waitall");
    start(1);
    int flag = 0;
    while (!flag)
        OK(MPI_Testall(2 * N, requests, &flag, statuses));
    for (int i = 0; i < 2 * N; i++)
        finished(1, i, &statuses[i], "testall");
    flag = 0;
    OK(MPI_Testall(2 * N, requests, &flag, statuses));
    SAME(flag, 1, "testall of null requests");
    SAME(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE, "empty status");
    SAME(statuses[0].MPI_TAG, MPI_ANY_TAG, "empty status");
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
}

static void any(void)
{
    MPI_Status status;
    int index = -1, seen[2 * N] = { 0 }, flag;
    start(2);
    for (int k = 0; k < 2 * N; k++) {
        OK(MPI_Waitany(2 * N, requests, &index, &status));
        CHECK(index >= 0 && index < 2 * N && !seen[index]++, "waitany returned index %d again", index);
        finished(2, index, &status, "waitany");
    }
    OK(MPI_Waitany(2 * N, requests, &index, &status));
    SAME(index, MPI_UNDEFINED, "waitany of null requests");
    memset(seen, 0, sizeof seen);
    start(3);
    for (int k = 0; k < 2 * N;) {
        flag = 0;
        OK(MPI_Testany(2 * N, requests, &index, &flag, &status));
        if (!flag) {
            SAME(index, MPI_UNDEFINED, "testany without a completion");
            continue;
        }
        CHECK(index >= 0 && index < 2 * N && !seen[index]++, "testany returned index %d again", index);
        finished(3, index, &status, "testany");
        k++;
    }
    flag = 0;
    OK(MPI_Testany(2 * N, requests, &index, &flag, &status));
    CHECK(flag && index == MPI_UNDEFINED, "testany of null requests gives flag %d, index %d", flag, index);
}

static void some(int testing)
{
    MPI_Status statuses[2 * N];
    int indices[2 * N], seen[2 * N] = { 0 }, count;
    start(4 + testing);
    for (int k = 0; k < 2 * N; k += count) {
        count = -1;
        if (testing)
            OK(MPI_Testsome(2 * N, requests, &count, indices, statuses));
        else
            OK(MPI_Waitsome(2 * N, requests, &count, indices, statuses));
        CHECK(count >= (testing ? 0 : 1) && k + count <= 2 * N, "some: %d of %d completed", count, 2 * N - k);
        for (int c = 0; c < count; c++) {
            CHECK(!seen[indices[c]]++, "some: index %d again", indices[c]);
            finished(4 + testing, indices[c], &statuses[c], testing ? "testsome" : "waitsome");
        }
    }
    OK(MPI_Waitsome(2 * N, requests, &count, indices, statuses));
    SAME(count, MPI_UNDEFINED, "waitsome of null requests");
    OK(MPI_Testsome(2 * N, requests, &count, indices, statuses));
    SAME(count, MPI_UNDEFINED, "testsome of null requests");
}

static void get_status(void)
{
    MPI_Request receive, send;
    MPI_Status status;
    int v = rank, got = -1, flag = 1, count;
    OK(MPI_Irecv(&got, 1, MPI_INT, previous, 77, MPI_COMM_WORLD, &receive));
    OK(MPI_Request_get_status(receive, &flag, &status));
    SAME(flag, 0, "request_get_status of a receive whose send was not started") ;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Isend(&v, 1, MPI_INT, next, 77, MPI_COMM_WORLD, &send));
    do
        OK(MPI_Request_get_status(receive, &flag, &status));
    while (!flag);
    CHECK(receive != MPI_REQUEST_NULL, "request_get_status freed the request");
    SAME(got, previous, "request_get_status: data");
    SAME(status.MPI_SOURCE, previous, "request_get_status: source");
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    SAME(count, 1, "wait after request_get_status: count");
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Request_get_status(MPI_REQUEST_NULL, &flag, &status));
    SAME(flag, 1, "request_get_status of MPI_REQUEST_NULL");
}

/* Waiting for nothing, and a request that is freed instead of waited for (3.7.3). */
static void corners(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0, v = 5, got = 0;
    OK(MPI_Wait(&request, &status));
    SAME(status.MPI_SOURCE, MPI_ANY_SOURCE, "status of waiting for MPI_REQUEST_NULL");
    OK(MPI_Test(&request, &flag, &status));
    SAME(flag, 1, "test of MPI_REQUEST_NULL");
    OK(MPI_Isend(&v, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &request));
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL, "request_free leaves the handle");
    OK(MPI_Recv(&got, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(got, 5, "message of a freed request");
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* A cancelled receive takes no message; a completed one is not cancelled. */
static void cancel(void)
{
    MPI_Request request;
    MPI_Status status;
    int v = rank, got = -1, cancelled = -1;
    for (int i = 0; i < 50; i++) {
        OK(MPI_Irecv(&got, 1, MPI_INT, i % 2 ? previous : MPI_ANY_SOURCE, i % 3 ? 55 : MPI_ANY_TAG, MPI_COMM_WORLD, &request));
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Test_cancelled(&status, &cancelled));
        SAME(cancelled, 1, "cancel of an unmatched receive");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Irecv(&got, 1, MPI_INT, previous, 55, MPI_COMM_WORLD, &request));
    OK(MPI_Send(&v, 1, MPI_INT, next, 55, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    SAME(cancelled, 0, "test_cancelled of an ordinary receive");
    SAME(got, previous, "message after cancelled receives");
}

/* More messages than any queue holds arrive before the first is received; newest tag first, then in order. */
static void flood(void)
{
    enum { MESSAGES = 10000 };
    int *v = check_alloc(MESSAGES * sizeof(int)), last = -1;
    MPI_Request *sends = check_alloc(MESSAGES * sizeof *sends), end;
    for (int i = 0; i < MESSAGES; i++) {
        v[i] = i;
        OK(MPI_Isend(&v[i], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &sends[i]));
    }
    OK(MPI_Isend(&rank, 1, MPI_INT, next, 2, MPI_COMM_WORLD, &end));
    OK(MPI_Recv(&last, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(last, previous, "the message behind a flood");
    for (int i = 0; i < MESSAGES; i++) {
        OK(MPI_Recv(&last, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        SAME(last, i, "flood in order");
    }
    OK(MPI_Wait(&end, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(MESSAGES, sends, MPI_STATUSES_IGNORE));
    free(v);
    free(sends);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    all();
    any();
    some(0);
    some(1);
    get_status();
    corners();
    cancel();
    flood();
    return check_end();
}
