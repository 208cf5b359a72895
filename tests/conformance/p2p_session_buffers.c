/* ranks: 1 2 4 */
/* MPI-5.0 3.6, 11.3: buffers of sessions: which sends use them, beside those of communicators and of the process */
#include "check.h"

enum { COUNT = 40000, BYTES = COUNT * (int)sizeof(int), ROOM = BYTES + MPI_BSEND_OVERHEAD };

static int *out, *in;

static MPI_Comm from(MPI_Session session, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    return comm;
}

static void take(int tag, MPI_Comm comm, int previous)
{
    memset(in, 0, BYTES);
    OK(MPI_Recv(in, COUNT, MPI_INT, previous, tag, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < COUNT; i++)
        SAME(in[i], previous + tag + i, "message through a session's buffer");
}

static int bsend(int tag, MPI_Comm comm, int next)
{
    for (int i = 0; i < COUNT; i++)
        out[i] = rank + tag + i;
    int code = MPI_Bsend(out, COUNT, MPI_INT, next, tag, comm), class;
    MPI_Error_class(code, &class);
    memset(out, 0, BYTES);
    return class;
}

int main(void)
{
    void *mine[3], *got = NULL;
    MPI_Count large = -1;
    int bytes = -1;
    MPI_Session one, two;
    MPI_Request flush;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &one));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &two));
    MPI_Comm a = from(one, "a"), b = from(one, "b"), c = from(two, "c"), dup;
    MPI_Comm_rank(a, &rank);
    MPI_Comm_size(a, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    out = check_alloc(BYTES);
    in = check_alloc(BYTES);
    for (int k = 0; k < 3; k++)
        mine[k] = check_alloc(ROOM);

    FAILS(MPI_ERR_BUFFER, MPI_Session_flush_buffer(one));
    FAILS(MPI_ERR_BUFFER, MPI_Session_iflush_buffer(one, &flush));
    FAILS(MPI_ERR_BUFFER, MPI_Session_detach_buffer(one, &got, &bytes));
    SAME(bsend(0, a, next), MPI_ERR_BUFFER, "a buffered send without any buffer");

    /* The session's buffer serves what is derived from it, also by duplication, and nothing else. */
    OK(MPI_Session_attach_buffer(one, mine[0], ROOM));
    FAILS(MPI_ERR_BUFFER, MPI_Session_attach_buffer(one, MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Comm_dup(a, &dup));
    SAME(bsend(1, dup, next), MPI_SUCCESS, "a send with the session's buffer");
    take(1, dup, previous);
    OK(MPI_Session_flush_buffer(one));
    SAME(bsend(2, b, next), MPI_SUCCESS, "another communicator of the session");
    SAME(bsend(3, c, next), MPI_ERR_BUFFER, "a communicator of another session");
    take(2, b, previous);
    OK(MPI_Session_iflush_buffer(one, &flush));
    OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));

    /* Communicator before session before process; full is full. */
    OK(MPI_Comm_attach_buffer(a, mine[1], ROOM));
    OK(MPI_Buffer_attach(mine[2], ROOM));
    SAME(bsend(4, a, next), MPI_SUCCESS, "the communicator's buffer");
    SAME(bsend(5, b, next), MPI_SUCCESS, "the session's buffer");
    SAME(bsend(6, c, next), MPI_SUCCESS, "the process's buffer");
    take(4, a, previous);
    take(5, b, previous);
    take(6, c, previous);
    OK(MPI_Comm_detach_buffer(a, &got, &bytes));
    CHECK(got == mine[1] && bytes == ROOM, "detach from a communicator");
    OK(MPI_Session_detach_buffer_c(one, &got, &large));
    CHECK(got == mine[0] && large == ROOM, "detach from a session");
    OK(MPI_Buffer_detach(&got, &bytes));
    CHECK(got == mine[2], "detach from the process");

    /* What is still buffered when the session ends arrives. */
    OK(MPI_Session_attach_buffer(two, MPI_BUFFER_AUTOMATIC, 0));
    MPI_Request receive;
    OK(MPI_Irecv(in, COUNT, MPI_INT, previous, 7, c, &receive));
    SAME(bsend(7, c, next), MPI_SUCCESS, "automatic buffering of a session");
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    SAME(in[COUNT - 1], previous + 7 + COUNT - 1, "automatic buffering of a session");
    OK(MPI_Comm_free(&c));
    OK(MPI_Session_finalize(&two));
    OK(MPI_Barrier(a));
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_free(&b));
    OK(MPI_Comm_free(&a));
    OK(MPI_Session_finalize(&one));
    for (int k = 0; k < 3; k++)
        free(mine[k]);
    free(out);
    free(in);
    if (rank == 0)
        printf("ok\n");
    return 0;
}
