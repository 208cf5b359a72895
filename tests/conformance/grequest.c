/* ranks: 1 2 4 */
/* MPI-5.0 13.2 Generalized Requests: all ways to complete one, alone and among others, and from another thread */
#include "check.h"
#include <pthread.h>

/* What a generalized request of the tests knows, and what was called. */
struct state {
    int queries, frees, cancels, complete_at_cancel;
    int query_code, free_code, cancel_code;
    MPI_Request request;
};

static int query(void *extra, MPI_Status *status)
{
    struct state *s = extra;
    int flag = -1;
    s->queries++;
    SAME(s->frees, 0, "query after free");
    OK(MPI_Status_set_elements(status, MPI_INT, 5));
    OK(MPI_Status_set_cancelled(status, s->cancels > 0));
    status->MPI_SOURCE = 17;
    status->MPI_TAG = 18;
    /* A callback may call MPI. */
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    SAME(flag, 0, "iprobe in a callback");
    return s->query_code;
}

static int release(void *extra)
{
    struct state *s = extra;
    int v = s->frees, got = -1;
    s->frees++;
    OK(MPI_Sendrecv(&v, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    SAME(got, v, "message in a callback");
    return s->free_code;
}

static int cancel(void *extra, int complete)
{
    struct state *s = extra;
    s->cancels++;
    s->complete_at_cancel = complete;
    if (!complete && !s->cancel_code)
        OK(MPI_Grequest_complete(s->request));
    return s->cancel_code;
}

static void start(struct state *s)
{
    memset(s, 0, sizeof *s);
    OK(MPI_Grequest_start(query, release, cancel, s, &s->request));
}

static void finished(const struct state *s, MPI_Request request, const MPI_Status *status, const char *what)
{
    int count = -1;
    CHECK(request == MPI_REQUEST_NULL, "%s: the handle is not MPI_REQUEST_NULL", what);
    SAME(s->frees, 1, what);
    SAME(status->MPI_SOURCE, 17, what);
    SAME(status->MPI_TAG, 18, what);
    OK(MPI_Get_count(status, MPI_INT, &count));
    SAME(count, 5, what);
}

static void alone(void)
{
    struct state s;
    MPI_Status status;
    int flag = 1, cancelled = -1;
    start(&s);
    OK(MPI_Test(&s.request, &flag, &status));
    SAME(flag, 0, "test before completion");
    OK(MPI_Request_get_status(s.request, &flag, &status));
    SAME(flag, 0, "request_get_status before completion");
    SAME(s.queries, 0, "query before completion");
    OK(MPI_Grequest_complete(s.request));
    OK(MPI_Request_get_status(s.request, &flag, &status));
    SAME(flag, 1, "request_get_status after completion");
    SAME(status.MPI_SOURCE, 17, "request_get_status");
    SAME(s.frees, 0, "request_get_status frees");
    status.MPI_ERROR = 4711;
    MPI_Request mine = s.request;
    OK(MPI_Wait(&mine, &status));
    finished(&s, mine, &status, "wait");
    SAME(status.MPI_ERROR, 4711, "wait writes MPI_ERROR");
    SAME(s.queries, 2, "queries");

    start(&s);
    OK(MPI_Grequest_complete(s.request));
    OK(MPI_Wait(&s.request, MPI_STATUS_IGNORE));
    CHECK(s.queries == 1 && s.frees == 1, "without a status: %d queries, %d frees", s.queries, s.frees);

    /* The cancel function completes the request. */
    start(&s);
    OK(MPI_Cancel(&s.request));
    SAME(s.complete_at_cancel, 0, "cancel of one that is not complete");
    OK(MPI_Cancel(&s.request));
    CHECK(s.cancels == 2 && s.complete_at_cancel != 0, "cancel of one that is complete");
    OK(MPI_Test(&s.request, &flag, &status));
    SAME(flag, 1, "test of a cancelled one");
    OK(MPI_Test_cancelled(&status, &cancelled));
    SAME(cancelled, 1, "test_cancelled");
    finished(&s, s.request, &status, "test");
}

/* Free and complete in both orders; the free function runs in the second of the two. */
static void let_go(void)
{
    struct state s;
    MPI_Request mine;
    start(&s);
    mine = s.request;
    OK(MPI_Request_free(&mine));
    CHECK(mine == MPI_REQUEST_NULL, "request_free leaves the handle");
    SAME(s.frees, 0, "free function before completion");
    OK(MPI_Grequest_complete(s.request));
    SAME(s.frees, 1, "free function at completion");
    start(&s);
    OK(MPI_Grequest_complete(s.request));
    SAME(s.frees, 0, "free function at completion of one that is not freed");
    OK(MPI_Request_free(&s.request));
    CHECK(s.frees == 1 && s.queries == 0, "request_free of a complete one: %d frees, %d queries", s.frees, s.queries);
}

/* In arrays with ordinary and null requests. */
static void in_arrays(void)
{
    enum { N = 5 };
    for (int form = 0; form < 6; form++) {
        struct state s[2];
        MPI_Request r[N];
        MPI_Status statuses[N], status;
        int in = -1, out = 41, index, flag, count, indices[N], left = 4;
        start(&s[0]);
        start(&s[1]);
        r[0] = s[0].request;
        r[1] = MPI_REQUEST_NULL;
        OK(MPI_Irecv(&in, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &r[2]));
        OK(MPI_Isend(&out, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &r[3]));
        r[4] = s[1].request;
        if (form == 1) {
            OK(MPI_Testall(N, r, &flag, statuses));
            SAME(flag, 0, "testall before completion");
        }
        OK(MPI_Grequest_complete(r[4]));
        OK(MPI_Grequest_complete(r[0]));
        if (form == 0)
            OK(MPI_Waitall(N, r, statuses));
        if (form == 1)
            for (flag = 0; !flag;)
                OK(MPI_Testall(N, r, &flag, statuses));
        while (form > 1 && left > 0) {
            flag = 1;
            count = 0;
            if (form == 2)
                OK(MPI_Waitany(N, r, &index, &status));
            else if (form == 3)
                OK(MPI_Testany(N, r, &index, &flag, &status));
            else if (form == 4)
                OK(MPI_Waitsome(N, r, &count, indices, statuses));
            else
                OK(MPI_Testsome(N, r, &count, indices, statuses));
            if (form < 4 && flag) {
                count = 1;
                indices[0] = index;
                statuses[0] = status;
            }
            left -= count;
            MPI_Status found[N];
            memcpy(found, statuses, sizeof found);
            for (int c = 0; c < count; c++)
                if (indices[c] == 0 || indices[c] == 4)
                    finished(&s[indices[c] / 4], r[indices[c]], &found[c], "in an array");
        }
        if (form < 2) {
            finished(&s[0], r[0], &statuses[0], "all");
            finished(&s[1], r[4], &statuses[4], "all");
        }
        SAME(in, 41, "message among generalized requests");
        CHECK(s[0].queries == 1 && s[1].queries == 1, "form %d: %d and %d queries", form, s[0].queries, s[1].queries);
        for (int i = 0; i < N; i++)
            CHECK(r[i] == MPI_REQUEST_NULL, "form %d: request %d is left", form, i);
    }
}

/* What a callback returns is what the call returns; in an array it is in the status. */
static void codes(void)
{
    struct state s;
    MPI_Status status;
    int code, class;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    start(&s);
    s.free_code = code;
    OK(MPI_Grequest_complete(s.request));
    SAME(MPI_Wait(&s.request, &status), code, "code of the free function");
    CHECK(s.request == MPI_REQUEST_NULL && s.queries == 1, "a request whose free function failed");
    start(&s);
    s.cancel_code = code;
    SAME(MPI_Cancel(&s.request), code, "code of the cancel function");
    s.cancel_code = 0;
    OK(MPI_Cancel(&s.request));
    s.free_code = code;
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(1, &s.request, &status));
    SAME(status.MPI_ERROR, code, "code in a status");
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(MPI_REQUEST_NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void *completer(void *arg)
{
    struct state *s = arg;
    int go = 0;
    /* By now the main thread may sleep in its wait, or not have come to it. */
    OK(MPI_Recv(&go, 1, MPI_INT, 0, 8, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Grequest_complete(s->request));
    return NULL;
}

/* A wait ends when another thread completes the request. */
static void from_another_thread(void)
{
    for (int round = 0; round < 300; round++) {
        struct state s;
        pthread_t thread;
        MPI_Status status;
        int index = -1, go = 1;
        start(&s);
        CHECK(pthread_create(&thread, NULL, completer, &s) == 0, "no thread");
        OK(MPI_Send(&go, 1, MPI_INT, 0, 8, MPI_COMM_SELF));
        MPI_Request mine[2] = { MPI_REQUEST_NULL, s.request };
        if (round % 3 == 0)
            OK(MPI_Wait(&mine[1], &status));
        else if (round % 3 == 1)
            OK(MPI_Waitany(2, mine, &index, &status));
        else {
            MPI_Status all[2];
            OK(MPI_Waitall(2, mine, all));
            status = all[1];
        }
        pthread_join(thread, NULL);
        finished(&s, mine[1], &status, "completed by a thread");
    }
}

int main(int argc, char **argv)
{
    int provided = -1;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    alone();
    let_go();
    in_arrays();
    codes();
    if (provided == MPI_THREAD_MULTIPLE)
        from_another_thread();
    return check_end();
}
