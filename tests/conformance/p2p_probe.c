/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 3.2.4 Blocking Receive (wildcards), 3.8 Probe and Cancel, 3.10 Null Processes */
#include "check.h"

static int next, previous;

/* Everybody sends to rank 0, which takes messages as they come and uses the status. */
static void wildcards(void)
{
    enum { EACH = 25 };
    for (int i = 0; rank != 0 && i < EACH; i++) {
        int v[2] = { rank, i };
        OK(MPI_Send(v, 2, MPI_INT, 0, 100 + i % 3, MPI_COMM_WORLD));
    }
    int seen[64][3] = { { 0 } };
    for (int m = 0; rank == 0 && m < (size - 1) * EACH; m++) {
        int v[2];
        MPI_Status status;
        OK(MPI_Recv(v, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        SAME(status.MPI_SOURCE, v[0], "source of a wildcard receive");
        SAME(status.MPI_TAG, 100 + v[1] % 3, "tag of a wildcard receive");
        int *last = &seen[v[0]][v[1] % 3];
        CHECK(v[1] >= *last, "message %d of rank %d came after message %d with the same tag", v[1], v[0], *last);
        *last = v[1];
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    /* By source in descending order, then by tag. */
    for (int tag = 0; rank != 0 && tag < 3; tag++)
        OK(MPI_Send(&tag, 1, MPI_INT, 0, tag, MPI_COMM_WORLD));
    for (int r = size - 1; rank == 0 && r > 0; r--)
        for (int tag = 2; tag >= 0; tag--) {
            int v = -1;
            OK(MPI_Recv(&v, 1, MPI_INT, r, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            SAME(v, tag, "receive by source and tag");
        }
}

/* Blocking and nonblocking probes tell the size; the receive that follows gets that message. */
static void probes(int count, int blocking)
{
    int *out = check_alloc((count + 1) * sizeof(int)), *in, got = -1, flag = 0;
    MPI_Status status, received;
    MPI_Request request;
    for (int i = 0; i < count; i++)
        out[i] = rank + i;
    OK(MPI_Isend(out, count, MPI_INT, next, 33, MPI_COMM_WORLD, &request));
    if (blocking)
        OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    else
        while (!flag)
            OK(MPI_Iprobe(previous, 33, MPI_COMM_WORLD, &flag, &status));
    SAME(status.MPI_SOURCE, previous, "probe: source");
    SAME(status.MPI_TAG, 33, "probe: tag");
    OK(MPI_Get_count(&status, MPI_INT, &got));
    SAME(got, count, "probe: count");
    in = check_alloc((got + 1) * sizeof(int));
    OK(MPI_Recv(in, got, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &received));
    OK(MPI_Get_count(&received, MPI_INT, &got));
    SAME(got, count, "receive after probe: count");
    for (int i = 0; i < count; i++)
        SAME(in[i], previous + i, "receive after probe: data");
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(out);
    free(in);
}

/* 3.8.2, 3.8.3: a matched message is out of reach of other receives. */
static void matched(int count, int blocking, int nonblocking_receive)
{
    int *out = check_alloc((count + 1) * sizeof(int)), *in = check_alloc((count + 1) * sizeof(int)), second = -1;
    int flag = 0, got = -1, marker = rank + 1000;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Request sends[2], request;
    for (int i = 0; i < count; i++)
        out[i] = rank * 2 + i;
    OK(MPI_Isend(out, count, MPI_INT, next, 9, MPI_COMM_WORLD, &sends[0]));
    OK(MPI_Isend(&marker, 1, MPI_INT, next, 9, MPI_COMM_WORLD, &sends[1]));
    if (blocking)
        OK(MPI_Mprobe(previous, 9, MPI_COMM_WORLD, &message, &status));
    else
        while (!flag)
            OK(MPI_Improbe(MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, &flag, &message, &status));
    CHECK(message != MPI_MESSAGE_NULL, "a matching probe left MPI_MESSAGE_NULL");
    OK(MPI_Get_count(&status, MPI_INT, &got));
    SAME(got, count, "matching probe: count");
    /* The second message has the same envelope and is now first. */
    OK(MPI_Recv(&second, 1, MPI_INT, previous, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(second, previous + 1000, "the message behind a matched one");
    if (nonblocking_receive) {
        OK(MPI_Imrecv(in, count, MPI_INT, &message, &request));
        OK(MPI_Wait(&request, &status));
    } else {
        OK(MPI_Mrecv(in, count, MPI_INT, &message, &status));
    }
    CHECK(message == MPI_MESSAGE_NULL, "a matched receive left the message handle");
    SAME(status.MPI_SOURCE, previous, "matched receive: source");
    OK(MPI_Get_count(&status, MPI_INT, &got));
    SAME(got, count, "matched receive: count");
    for (int i = 0; i < count; i++)
        SAME(in[i], previous * 2 + i, "matched receive: data");
    OK(MPI_Waitall(2, sends, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
}

static void nothing_there(void)
{
    int flag = 1;
    MPI_Message message;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    SAME(flag, 0, "iprobe without a message");
    flag = 1;
    OK(MPI_Improbe(MPI_ANY_SOURCE, 12345, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
    SAME(flag, 0, "improbe without a message");
}

static void null_status(const MPI_Status *status, const char *what)
{
    int count = -1;
    SAME(status->MPI_SOURCE, MPI_PROC_NULL, what);
    SAME(status->MPI_TAG, MPI_ANY_TAG, what);
    OK(MPI_Get_count(status, MPI_INT, &count));
    SAME(count, 0, what);
}

/* 3.10: communication with MPI_PROC_NULL has no effect and completes at once. */
static void null_process(void)
{
    int v = 17, flag = 0;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message = MPI_MESSAGE_NULL;
    OK(MPI_Send(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Ssend(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Rsend(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status));
    null_status(&status, "recv from MPI_PROC_NULL");
    SAME(v, 17, "the buffer of a receive from MPI_PROC_NULL");
    OK(MPI_Issend(&v, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&v, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, &status));
    null_status(&status, "irecv from MPI_PROC_NULL");
    OK(MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
    null_status(&status, "probe of MPI_PROC_NULL");
    OK(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status));
    SAME(flag, 1, "iprobe of MPI_PROC_NULL");
    null_status(&status, "iprobe of MPI_PROC_NULL");
    OK(MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status));
    CHECK(message == MPI_MESSAGE_NO_PROC, "mprobe of MPI_PROC_NULL does not give MPI_MESSAGE_NO_PROC");
    OK(MPI_Mrecv(&v, 1, MPI_INT, &message, &status));
    CHECK(message == MPI_MESSAGE_NULL, "mrecv of MPI_MESSAGE_NO_PROC leaves the handle");
    null_status(&status, "mrecv of MPI_MESSAGE_NO_PROC");
    /* A chain: each end talks to nobody. */
    int got = -1, up = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, down = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, up, 2, &got, 1, MPI_INT, down, 2, MPI_COMM_WORLD, &status));
    SAME(got, rank - 1, "shift along a chain");
    if (rank == 0)
        null_status(&status, "sendrecv from MPI_PROC_NULL");
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 100, 5000, 50000, 500000 };
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    wildcards();
    nothing_there();
    null_process();
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int form = 0; form < 4; form++) {
            probes(counts[k], form & 1);
            matched(counts[k], form & 1, form & 2);
        }
    return check_end();
}
