/* ranks: 1 2 3 4 */
/* MPI-5.0 6.12, 6.13, 3.7: requests of collectives beside others; what may be freed meanwhile; what is refused */
#include "check.h"

static int get_extent_failed;

/* Uses the datatype it is given, as a function of the program may. */
static void sum(void *in, void *inout, int *n, MPI_Datatype *t)
{
    MPI_Aint lb, extent = 0;
    if (MPI_Type_get_extent(*t, &lb, &extent) != MPI_SUCCESS || extent != 12)
        get_extent_failed = 1;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[3 * i] += ((int *)in)[3 * i];
}

static void mixed(void)
{
    int a = rank, total = -1, token = rank, got = -1, left = (rank + size - 1) % size, right = (rank + 1) % size, flag = 0;
    MPI_Request r[6];
    MPI_Status s[6];
    OK(MPI_Iallreduce(&a, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Irecv(&got, 1, MPI_INT, left, 3, MPI_COMM_WORLD, &r[1]));
    r[2] = MPI_REQUEST_NULL;
    OK(MPI_Isend(&token, 1, MPI_INT, right, 3, MPI_COMM_WORLD, &r[3]));
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &r[4]));
    OK(MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[5]));
    OK(MPI_Waitall(6, r, s));
    SAME(total, size * (size - 1) / 2, "allreduce");
    SAME(got, left, "a message");
    SAME(s[1].MPI_SOURCE, left, "its status");
    for (int i = 0; i < 5; i++)
        CHECK(r[i] == MPI_REQUEST_NULL, "request %d is not null", i);
    CHECK(r[5] != MPI_REQUEST_NULL, "a persistent request stays");
    /* An inactive one is complete with an empty status. */
    OK(MPI_Test(&r[5], &flag, &s[0]));
    SAME(flag, 1, "test of an inactive request");
    SAME(s[0].MPI_SOURCE, MPI_ANY_SOURCE, "its status");
    OK(MPI_Start(&r[5]));
    do
        OK(MPI_Request_get_status(r[5], &flag, MPI_STATUS_IGNORE));
    while (!flag);
    CHECK(r[5] != MPI_REQUEST_NULL, "a look leaves the request");
    OK(MPI_Wait(&r[5], MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r[5]));
    CHECK(r[5] == MPI_REQUEST_NULL, "a freed request is null");
}

static void persistent_many(void)
{
    enum { N = 5 };
    MPI_Request r[N];
    int in[N], out[N];
    for (int i = 0; i < N; i++)
        OK(MPI_Allreduce_init(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < N; i++)
            in[i] = rank + i * 100 + round, out[i] = -1;
        OK(MPI_Startall(N, r));
        OK(MPI_Waitall(N, r, MPI_STATUSES_IGNORE));
        for (int i = 0; i < N; i++)
            SAME(out[i], size * (size - 1) / 2 + size * (i * 100 + round), "a persistent allreduce");
    }
    for (int i = 0; i < N; i++)
        OK(MPI_Request_free(&r[i]));
}

/* Everything but the buffers may go while the operation runs. */
static void freed_meanwhile(void)
{
    MPI_Datatype t;
    MPI_Op op;
    MPI_Comm comm;
    MPI_Request r[2];
    int in[300], out[300];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_create_resized(MPI_INT, 0, 12, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Op_create(sum, 1, &op));
    for (int i = 0; i < 300; i++)
        in[i] = rank + i, out[i] = -7;
    OK(MPI_Ireduce(in, out, 100, t, op, size - 1, comm, &r[0]));
    OK(MPI_Ibcast(in + 1, 99, t, 0, comm, &r[1]));
    OK(MPI_Type_free(&t));
    OK(MPI_Op_free(&op));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 300; i++) {
        if (rank == size - 1)
            SAME(out[i], i % 3 ? -7 : size * (size - 1) / 2 + size * i, "a reduction whose type is freed");
        SAME(in[i], i % 3 == 1 && i < 298 ? i : rank + i, "a broadcast beside it");
    }
    SAME(get_extent_failed, 0, "the datatype that a reduction function gets");
}

static void refused(void)
{
    int a = 1, b = 2;
    MPI_Request r = MPI_REQUEST_NULL;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ROOT, MPI_Ibcast(&a, 1, MPI_INT, size, comm, &r));
    FAILS(MPI_ERR_ROOT, MPI_Bcast_init(&a, 1, MPI_INT, -5, comm, MPI_INFO_NULL, &r));
    FAILS(MPI_ERR_COUNT, MPI_Ibcast(&a, -1, MPI_INT, 0, comm, &r));
    FAILS(MPI_ERR_TYPE, MPI_Ibcast(&a, 1, MPI_DATATYPE_NULL, 0, comm, &r));
    FAILS(MPI_ERR_OP, MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_OP_NULL, comm, &r));
    FAILS(MPI_ERR_OP, MPI_Allreduce_init(&a, &b, 1, MPI_FLOAT, MPI_BAND, comm, MPI_INFO_NULL, &r));
    FAILS(MPI_ERR_BUFFER, MPI_Iallreduce(NULL, &b, 1, MPI_INT, MPI_SUM, comm, &r));
    FAILS(MPI_ERR_COMM, MPI_Ibarrier(MPI_COMM_NULL, &r));
    CHECK(r == MPI_REQUEST_NULL, "a refused operation leaves no request");
    /* Active requests can be neither freed nor cancelled; they go on. */
    OK(MPI_Iallreduce(&a, &b, 1, MPI_INT, MPI_SUM, comm, &r));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&r));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&r));
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    SAME(b, size, "a collective whose request could not be freed");
    OK(MPI_Allreduce_init(&a, &b, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r));
    OK(MPI_Start(&r));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&r));
    FAILS(MPI_ERR_REQUEST, MPI_Request_free(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&r));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* Who has too little room hears of it; the others end. */
static void truncated(void)
{
    if (size < 2)
        return;
    MPI_Comm comm;
    MPI_Request r;
    int a[4] = {rank, rank, rank, rank};
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Ibcast(a, rank == size - 1 ? 2 : 4, MPI_INT, 0, comm, &r));
    if (rank == size - 1) {
        FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK(r == MPI_REQUEST_NULL, "a failed operation is over");
    } else {
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        SAME(a[3], 0, "a broadcast beside a truncated one");
    }
    OK(MPI_Barrier(comm));
    MPI_Status s[2];
    MPI_Request two[2];
    OK(MPI_Ibcast(a, rank == size - 1 ? 1 : 4, MPI_INT, 0, comm, &two[0]));
    OK(MPI_Ibarrier(comm, &two[1]));
    if (rank == size - 1) {
        FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, two, s));
        int class;
        MPI_Error_class(s[0].MPI_ERROR, &class);
        SAME(class, MPI_ERR_TRUNCATE, "the status of the failed operation");
        SAME(s[1].MPI_ERROR, MPI_SUCCESS, "the status of the other one");
    } else {
        OK(MPI_Waitall(2, two, s));
    }
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    mixed();
    persistent_many();
    freed_meanwhile();
    refused();
    truncated();
    return check_end();
}
