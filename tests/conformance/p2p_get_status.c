/* ranks: 1 2 4 */
/* MPI-5.0 3.7.6 MPI_Request_get_status and its forms for any, all and some; 3.7.3, 3.9 null, inactive and active
 * requests; 3.2.5, 3.8.4, 13.3 setting and reading statuses */
#include "check.h"

static int next, previous;

static void empty(const MPI_Status *s, const char *what)
{
    int count = -1, cancelled = -1;
    SAME(s->MPI_SOURCE, MPI_ANY_SOURCE, what);
    SAME(s->MPI_TAG, MPI_ANY_TAG, what);
    OK(MPI_Get_count(s, MPI_INT, &count));
    SAME(count, 0, what);
    OK(MPI_Test_cancelled(s, &cancelled));
    SAME(cancelled, 0, what);
}

/* Null and inactive requests only. */
static void nothing_active(void)
{
    int v = 0, flag = -1, index = -1, count = -1, indices[3];
    MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL };
    MPI_Status s[3], one;
    OK(MPI_Recv_init(&v, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Request_get_status(r[1], &flag, &one));
    SAME(flag, 1, "get_status of an inactive request");
    empty(&one, "get_status of an inactive request");
    OK(MPI_Request_get_status_any(3, r, &index, &flag, &one));
    CHECK(flag && index == MPI_UNDEFINED, "get_status_any without an active request: %d, %d", flag, index);
    empty(&one, "get_status_any without an active request");
    OK(MPI_Request_get_status_all(3, r, &flag, s));
    SAME(flag, 1, "get_status_all without an active request");
    for (int i = 0; i < 3; i++)
        empty(&s[i], "get_status_all without an active request");
    OK(MPI_Request_get_status_some(3, r, &count, indices, s));
    SAME(count, MPI_UNDEFINED, "get_status_some without an active request");
    OK(MPI_Request_get_status_any(0, NULL, &index, &flag, &one));
    CHECK(flag && index == MPI_UNDEFINED, "get_status_any of an empty list");
    OK(MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE));
    SAME(flag, 1, "get_status_all of an empty list");
    OK(MPI_Request_free(&r[1]));
}

/* Of each kind one: nothing is freed, and asking again gives the same. */
static void of_all_kinds(void)
{
    enum { N = 6 };
    int out[3] = { rank, rank + 1, rank + 2 }, in[3] = { -1, -1, -1 }, flag = -1, index, count, indices[N], token = 0, heard;
    MPI_Request r[N];
    MPI_Status s[N], one;
    OK(MPI_Irecv(&in[0], 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &r[0]));
    r[1] = MPI_REQUEST_NULL;
    OK(MPI_Recv_init(&in[1], 1, MPI_INT, previous, 2, MPI_COMM_WORLD, &r[2]));
    OK(MPI_Start(&r[2]));
    OK(MPI_Precv_init(&in[2], 1, 1, MPI_INT, previous, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[3]));
    OK(MPI_Start(&r[3]));
    OK(MPI_Psend_init(&out[2], 1, 1, MPI_INT, next, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[4]));
    OK(MPI_Start(&r[4]));
    OK(MPI_Send_init(&out[0], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &r[5])); /* inactive */
    for (int again = 0; again < 3; again++) {
        OK(MPI_Request_get_status_all(N, r, &flag, s));
        SAME(flag, 0, "get_status_all before anything is sent");
        OK(MPI_Request_get_status_any(N, r, &index, &flag, &one));
        CHECK(!flag && index == MPI_UNDEFINED, "get_status_any before anything is sent: %d, %d", flag, index);
        OK(MPI_Request_get_status_some(N, r, &count, indices, s));
        SAME(count, 0, "get_status_some before anything is sent");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Send(&out[1], 1, MPI_INT, next, 2, MPI_COMM_WORLD));
    for (int again = 0; again < 3; again++) {
        do
            OK(MPI_Request_get_status_any(N, r, &index, &flag, &one));
        while (!flag);
        SAME(index, 2, "get_status_any: the persistent receive");
        SAME(one.MPI_TAG, 2, "get_status_any: the persistent receive");
        OK(MPI_Request_get_status_some(N, r, &count, indices, s));
        CHECK(count == 1 && indices[0] == 2, "get_status_some: %d requests", count);
        SAME(s[0].MPI_SOURCE, previous, "get_status_some: the persistent receive");
    }
    OK(MPI_Sendrecv(&token, 1, MPI_INT, previous, 9, &heard, 1, MPI_INT, next, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Pready(0, r[4]));
    OK(MPI_Start(&r[5]));
    do
        OK(MPI_Request_get_status_all(N, r, &flag, s));
    while (!flag);
    OK(MPI_Request_get_status_all(N, r, &flag, MPI_STATUSES_IGNORE));
    SAME(flag, 1, "get_status_all again");
    SAME(s[0].MPI_TAG, 1, "get_status_all: the receive");
    empty(&s[1], "get_status_all: the null request");
    SAME(s[3].MPI_TAG, 3, "get_status_all: the partitioned receive");
    OK(MPI_Request_get_status_some(N, r, &count, indices, s));
    SAME(count, 5, "get_status_some: all that are active");
    for (int i = 0; i < N; i++)
        CHECK((r[i] == MPI_REQUEST_NULL) == (i == 1), "get_status freed request %d", i);
    OK(MPI_Waitall(N, r, s));
    CHECK(r[0] == MPI_REQUEST_NULL && r[2] != MPI_REQUEST_NULL, "waitall after get_status");
    SAME(s[2].MPI_TAG, 2, "waitall after get_status");
    for (int i = 0; i < 3; i++)
        SAME(in[i], previous + i, "data of what get_status had found");
    for (int i = 2; i < N; i++)
        OK(MPI_Request_free(&r[i]));
}

/* Persistent: Start of an active request is an error, and leaves it going. */
static void started_twice(void)
{
    int v = rank, in = -1, class;
    MPI_Request r[2];
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Recv_init(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Ssend_init(&v, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Start(&r[0]));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&r[0]));
    OK(MPI_Start(&r[1]));
    int code = MPI_Startall(2, r);
    OK(MPI_Error_class(code, &class));
    SAME(class, MPI_ERR_REQUEST, "startall of active requests");
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    SAME(in, previous, "after a refused start");
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
    MPI_Request plain;
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 6, MPI_COMM_SELF, &plain));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&plain));
    OK(MPI_Cancel(&plain));
    OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    plain = MPI_REQUEST_NULL;
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&plain));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&plain));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* What is set is what is read. */
static void fields(void)
{
    MPI_Status s;
    MPI_Count large = -1;
    int v = -1, n = -1;
    memset(&s, 0, sizeof s);
    OK(MPI_Status_set_source(&s, 17));
    OK(MPI_Status_set_tag(&s, 18));
    OK(MPI_Status_set_error(&s, MPI_ERR_TRUNCATE));
    OK(MPI_Status_set_elements(&s, MPI_DOUBLE, 9));
    OK(MPI_Status_set_cancelled(&s, 1));
    OK(MPI_Status_get_source(&s, &v));
    CHECK(v == 17 && s.MPI_SOURCE == 17, "source");
    OK(MPI_Status_get_tag(&s, &v));
    CHECK(v == 18 && s.MPI_TAG == 18, "tag");
    OK(MPI_Status_get_error(&s, &v));
    CHECK(v == MPI_ERR_TRUNCATE && s.MPI_ERROR == MPI_ERR_TRUNCATE, "error");
    OK(MPI_Test_cancelled(&s, &v));
    CHECK(v != 0, "cancelled");
    OK(MPI_Get_elements(&s, MPI_DOUBLE, &n));
    SAME(n, 9, "elements");
    OK(MPI_Get_count(&s, MPI_DOUBLE, &n));
    SAME(n, 9, "count");
    OK(MPI_Status_set_cancelled(&s, 0));
    OK(MPI_Test_cancelled(&s, &v));
    SAME(v, 0, "cancelled and back");
    OK(MPI_Get_elements(&s, MPI_DOUBLE, &n));
    SAME(n, 9, "elements after set_cancelled");
    OK(MPI_Status_set_elements_c(&s, MPI_BYTE, (MPI_Count)3 << 31));
    OK(MPI_Get_count_c(&s, MPI_BYTE, &large));
    SAME(large, (MPI_Count)3 << 31, "large count");
    OK(MPI_Get_count(&s, MPI_BYTE, &n));
    SAME(n, MPI_UNDEFINED, "a count that fits no int");
    OK(MPI_Test_cancelled(&s, &v));
    SAME(v, 0, "cancelled after a large count");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    nothing_active();
    of_all_kinds();
    started_twice();
    fields();
    return check_end();
}
