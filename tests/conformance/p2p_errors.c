/* ranks: 1 2 4 */
/* MPI-5.0 9.3 Error Handling, 9.4 Error Codes and Classes: refused arguments and truncated messages, with
 * MPI_ERRORS_RETURN; 3.2.5 and 3.7.5 errors in statuses */
#include "check.h"

static int next, previous;

/* A message longer than the buffer: the class, nothing written past the end, and the next message is whole. */
static void truncated(int count)
{
    int *out = check_alloc((count + 1) * sizeof(int)), *in = check_alloc((count + 1) * sizeof(int));
    MPI_Request send;
    for (int i = 0; i < count; i++)
        out[i] = i, in[i] = -1;
    for (int form = 0; form < 3; form++) {
        OK(MPI_Isend(out, count, MPI_INT, next, 1, MPI_COMM_WORLD, &send));
        if (form == 1)
            OK(MPI_Probe(previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (form == 2) {
            MPI_Request receive;
            OK(MPI_Irecv(in, count / 2, MPI_INT, previous, 1, MPI_COMM_WORLD, &receive));
            FAILS(MPI_ERR_TRUNCATE, MPI_Wait(&receive, MPI_STATUS_IGNORE));
        } else {
            FAILS(MPI_ERR_TRUNCATE, MPI_Recv(in, count / 2, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        for (int i = count / 2; i < count; i++)
            SAME(in[i], -1, "memory behind a truncated receive");
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    OK(MPI_Sendrecv(out, count, MPI_INT, next, 2, in, count, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; i++)
        SAME(in[i], i, "the message after a truncated one");
    free(out);
    free(in);
}

/* 3.7.5: with several requests, MPI_ERR_IN_STATUS, and the statuses say which. */
static void in_status(void)
{
    int out[3][4] = { { 1, 2, 3, 4 }, { 5, 6, 7, 8 }, { 9, 10, 11, 12 } }, in[3][4] = { { 0 } }, class;
    MPI_Request requests[6];
    MPI_Status statuses[6];
    for (int i = 0; i < 3; i++)
        OK(MPI_Irecv(in[i], i == 1 ? 2 : 4, MPI_INT, previous, i, MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < 3; i++)
        OK(MPI_Isend(out[i], 4, MPI_INT, next, i, MPI_COMM_WORLD, &requests[3 + i]));
    int code = MPI_Waitall(6, requests, statuses);
    OK(MPI_Error_class(code, &class));
    SAME(class, MPI_ERR_IN_STATUS, "class of waitall with one failure");
    for (int i = 0; i < 6; i++) {
        /* MPI_ERR_PENDING: neither failed nor completed. */
        while (statuses[i].MPI_ERROR == MPI_ERR_PENDING) {
            OK(MPI_Wait(&requests[i], &statuses[i]));
            statuses[i].MPI_ERROR = MPI_SUCCESS;
        }
        OK(MPI_Error_class(statuses[i].MPI_ERROR, &class));
        SAME(class, i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS, "MPI_ERROR in a status of waitall");
    }
    for (int i = 0; i < 4; i++)
        CHECK(in[0][i] == i + 1 && in[2][i] == i + 9, "the other receives of a failed waitall: element %d", i);
}

static void refused(void)
{
    int v = 0, flag;
    MPI_Request request, null = MPI_REQUEST_NULL;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Datatype uncommitted;
    FAILS(MPI_ERR_RANK, MPI_Send(&v, 1, MPI_INT, size, 0, world));
    FAILS(MPI_ERR_RANK, MPI_Send(&v, 1, MPI_INT, -77, 0, world));
    FAILS(MPI_ERR_RANK, MPI_Recv(&v, 1, MPI_INT, size, 0, world, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_RANK, MPI_Send(&v, 1, MPI_INT, MPI_ANY_SOURCE, 0, world));
    FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, -77, world));
    FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, MPI_ANY_TAG, world));
    FAILS(MPI_ERR_COUNT, MPI_Send(&v, -1, MPI_INT, 0, 0, world));
    FAILS(MPI_ERR_COUNT, MPI_Irecv(&v, -1, MPI_INT, 0, 0, world, &request));
    FAILS(MPI_ERR_TYPE, MPI_Send(&v, 1, MPI_DATATYPE_NULL, 0, 0, world));
    FAILS(MPI_ERR_COMM, MPI_Send(&v, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&v, 1, MPI_INT, size, world));
    FAILS(MPI_ERR_ROOT, MPI_Bcast(&v, 1, MPI_INT, -1, world));
    FAILS(MPI_ERR_REQUEST, MPI_Start(&null));
    FAILS(MPI_ERR_ARG, MPI_Comm_rank(world, NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &v));
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    FAILS(MPI_ERR_TYPE, MPI_Send(&v, 1, uncommitted, MPI_PROC_NULL, 0, world));
    OK(MPI_Type_free(&uncommitted));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&uncommitted));
    /* Nothing of this was sent. */
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, MPI_STATUS_IGNORE));
    SAME(flag, 0, "a refused send left a message");
}

static int calls, seen_class;
static MPI_Comm seen_comm;

static void note(MPI_Comm *comm, int *code, ...)
{
    calls++;
    seen_comm = *comm;
    MPI_Error_class(*code, &seen_class);
}

/* 9.3.1: the handler of the communicator is called with it and the code (errhandler_return.c tests what the call
 * returns then). */
static void handlers(void)
{
    MPI_Errhandler mine, got;
    MPI_Comm dup, other;
    int v = 0;
    OK(MPI_Comm_create_errhandler(note, &mine));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_get_errhandler(dup, &got));
    CHECK(got == MPI_ERRORS_RETURN, "a duplicate does not have its parent's error handler");
    OK(MPI_Comm_set_errhandler(dup, mine));
    OK(MPI_Errhandler_free(&mine));
    CHECK(mine == MPI_ERRHANDLER_NULL, "errhandler_free leaves the handle");
    MPI_Send(&v, 1, MPI_INT, 0, -5, dup);
    CHECK(calls == 1 && seen_comm == dup && seen_class == MPI_ERR_TAG, "handler: %d calls, class %d", calls, seen_class);
    OK(MPI_Comm_call_errhandler(dup, MPI_ERR_OTHER)); /* 9.5: MPI_SUCCESS once the handler has returned */
    CHECK(calls == 2 && seen_class == MPI_ERR_OTHER, "call_errhandler: %d calls, class %d", calls, seen_class);
    /* An error of another communicator does not call it. */
    FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    SAME(calls, 2, "calls of the handler of another communicator");
    OK(MPI_Comm_split(dup, 0, rank, &other));
    MPI_Send(&v, -1, MPI_INT, 0, 5, other);
    CHECK(calls == 3 && seen_comm == other, "a split communicator does not inherit the handler");
    OK(MPI_Comm_get_errhandler(dup, &got));
    OK(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(other, got));
    OK(MPI_Errhandler_free(&got));
    MPI_Send(&v, -1, MPI_INT, 0, 5, other);
    SAME(calls, 4, "calls of a handler that was got and set again");
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_free(&other));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    truncated(2);
    truncated(100);
    truncated(5000);
    truncated(500000);
    in_status();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    refused();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    handlers();
    return check_end();
}
