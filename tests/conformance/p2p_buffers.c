/* ranks: 1 2 3 4 */
/* MPI-5.0 3.6 Buffer Allocation and Usage: buffers of communicators and of the process, automatic buffering, which of
 * them a send uses, detach and flush, and what is erroneous */
#include "check.h"

enum { COUNT = 50000, BYTES = COUNT * (int)sizeof(int), ROOM = BYTES + MPI_BSEND_OVERHEAD };

static int next, previous;
static int *out, *in;

static void fill(int seed)
{
    for (int i = 0; i < COUNT; i++)
        out[i] = rank * 3 + seed + i, in[i] = -1;
}

static void take(int tag, int seed, MPI_Comm comm)
{
    OK(MPI_Recv(in, COUNT, MPI_INT, previous, tag, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        SAME(in[i], previous * 3 + seed + i, "buffered message");
}

/* One message fits the process's buffer and two that of the communicator; neither helps out the other. */
static void levels(void)
{
    void *process = check_alloc(ROOM), *own = check_alloc(2 * ROOM), *got = NULL;
    MPI_Count large = -1;
    MPI_Comm dup;
    int bytes = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    OK(MPI_Comm_attach_buffer(dup, own, 2 * ROOM));
    OK(MPI_Buffer_attach_c(process, ROOM));
    fill(1);
    OK(MPI_Bsend(out, COUNT, MPI_INT, next, 1, dup));
    OK(MPI_Bsend(out, COUNT, MPI_INT, next, 2, dup));
    OK(MPI_Bsend(out, COUNT, MPI_INT, next, 3, MPI_COMM_WORLD));
    memset(out, 0, BYTES);
    take(3, 1, MPI_COMM_WORLD);
    take(2, 1, dup);
    take(1, 1, dup);
    /* Each detach waits for what is in its buffer. */
    OK(MPI_Comm_detach_buffer_c(dup, &got, &large));
    CHECK(got == own && large == 2 * ROOM, "detach gives %p and %lld", got, (long long)large);
    /* Now the communicator uses the process's. */
    fill(2);
    OK(MPI_Buffer_flush());
    OK(MPI_Bsend(out, COUNT, MPI_INT, next, 4, dup));
    take(4, 2, dup);
    OK(MPI_Buffer_detach(&got, &bytes));
    CHECK(got == process && bytes == ROOM, "detach gives %p and %d", got, bytes);
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, COUNT, MPI_INT, next, 5, dup));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_flush_buffer(dup));
    OK(MPI_Comm_free(&dup));
    free(process);
    free(own);
}

/* A full buffer refuses, whatever another level could take; a flush makes it empty. */
static void full(void)
{
    void *own = check_alloc(ROOM), *process = check_alloc(4 * ROOM), *got;
    int bytes;
    MPI_Request flush;
    MPI_Comm dup;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    OK(MPI_Comm_set_errhandler(dup, MPI_ERRORS_RETURN));
    OK(MPI_Comm_attach_buffer_c(dup, own, ROOM));
    OK(MPI_Buffer_attach(process, 4 * ROOM));
    for (int round = 0; round < 4; round++) {
        MPI_Request receive;
        for (int i = 0; i < COUNT; i++)
            out[i] = i + round, in[i] = -1;
        OK(MPI_Bsend(out, COUNT, MPI_INT, 0, 1, dup));
        FAILS(MPI_ERR_BUFFER, MPI_Bsend(out, COUNT + 1, MPI_INT, 0, 2, dup));
        OK(MPI_Irecv(in, COUNT, MPI_INT, 0, 1, dup, &receive));
        if (round % 2) {
            OK(MPI_Comm_flush_buffer(dup));
        } else {
            OK(MPI_Comm_iflush_buffer(dup, &flush));
            OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
        }
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        SAME(in[COUNT - 1], COUNT - 1 + round, "message that was flushed");
    }
    OK(MPI_Comm_detach_buffer(dup, &got, &bytes));
    OK(MPI_Buffer_detach(&got, &bytes));
    OK(MPI_Comm_free(&dup));
    free(own);
    free(process);
}

/* Any number of messages; a flush that is started waits for them alone. */
static void automatic(void)
{
    enum { N = 30 };
    void *got = NULL;
    int bytes = 0;
    MPI_Request flush;
    MPI_Comm dup;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    for (int level = 0; level < 2; level++) {
        if (level)
            OK(MPI_Comm_attach_buffer(dup, MPI_BUFFER_AUTOMATIC, -5)); /* the size says nothing */
        else
            OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
        fill(5);
        for (int k = 0; k < N; k++)
            OK(MPI_Bsend(out, COUNT, MPI_INT, next, k, dup));
        if (level)
            OK(MPI_Comm_iflush_buffer(dup, &flush));
        else
            OK(MPI_Buffer_iflush(&flush));
        for (int k = N - 1; k >= 0; k--)
            take(k, 5, dup);
        OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
        if (level)
            OK(MPI_Comm_detach_buffer(dup, &got, &bytes));
        else
            OK(MPI_Buffer_detach(&got, &bytes));
        CHECK(got == MPI_BUFFER_AUTOMATIC, "detach of automatic buffering gives %p", got);
    }
    OK(MPI_Comm_free(&dup));
}

/* The buffer goes with its communicator, and what is in it still arrives. */
static void freed(void)
{
    void *own = check_alloc(ROOM);
    MPI_Comm dup;
    MPI_Request receive;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_attach_buffer(dup, own, ROOM));
    fill(6);
    OK(MPI_Irecv(in, COUNT, MPI_INT, previous, 1, dup, &receive));
    OK(MPI_Bsend(out, COUNT, MPI_INT, next, 1, dup));
    memset(out, 0, BYTES);
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Comm_disconnect(&dup));
    free(own);
    for (int i = 0; i < COUNT; i++)
        SAME(in[i], previous * 3 + 6 + i, "message of a disconnected communicator");
}

static void erroneous(void)
{
    char space[1000], other[1000];
    void *got;
    int bytes;
    MPI_Request flush;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_detach_buffer(MPI_COMM_WORLD, &got, &bytes));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_detach(&got, &bytes));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_flush_buffer(MPI_COMM_WORLD));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &flush));
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_flush());
    FAILS(MPI_ERR_BUFFER, MPI_Buffer_iflush(&flush));
    FAILS(MPI_ERR_ARG, MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, -1));
    FAILS(MPI_ERR_COMM, MPI_Comm_attach_buffer(MPI_COMM_NULL, space, 1));
    OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, space, sizeof space));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_attach_buffer(MPI_COMM_WORLD, other, sizeof other));
    FAILS(MPI_ERR_BUFFER, MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Comm_attach_buffer(MPI_COMM_SELF, other, sizeof other)); /* another communicator is another level */
    OK(MPI_Comm_detach_buffer(MPI_COMM_SELF, &got, &bytes));
    CHECK(got == other, "detach gives the buffer of another communicator");
    OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &got, &bytes));
    CHECK(got == space && bytes == sizeof space, "detach");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    out = check_alloc(BYTES + sizeof(int));
    in = check_alloc(BYTES);
    levels();
    full();
    automatic();
    freed();
    erroneous();
    free(out);
    free(in);
    return check_end();
}
