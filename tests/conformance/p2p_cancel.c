/* ranks: 1 2 4 */
/* MPI-5.0 3.8.4 Cancel, 3.2.5: a marked operation is either cancelled or complete, never both; what comes after it is whole */
#include "check.h"

static int next, previous;

/* Sends that are marked before the receiver looks: what was not cancelled arrives, what was does not. */
static void sends(int count, int mode)
{
    int *out = check_alloc((count + 1) * sizeof(int)), *in = check_alloc((count + 1) * sizeof(int)), cancelled = -1, other = -1, flag;
    MPI_Request send, persistent = MPI_REQUEST_NULL;
    MPI_Status status;
    for (int i = 0; i < count; i++)
        out[i] = rank + i, in[i] = -1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (mode == 0)
        OK(MPI_Isend(out, count, MPI_INT, next, 1, MPI_COMM_WORLD, &send));
    else if (mode == 1)
        OK(MPI_Issend(out, count, MPI_INT, next, 1, MPI_COMM_WORLD, &send));
    else {
        OK(MPI_Ssend_init(out, count, MPI_INT, next, 1, MPI_COMM_WORLD, &persistent));
        OK(MPI_Start(&persistent));
        send = persistent;
    }
    OK(MPI_Cancel(&send));
    OK(MPI_Cancel(&send)); /* marked twice is marked */
    OK(MPI_Wait(&send, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled == 0 || cancelled == 1, "test_cancelled gives %d", cancelled);
    memset(out, 0x55, count * sizeof(int)); /* the buffer is free either way */
    OK(MPI_Sendrecv(&cancelled, 1, MPI_INT, next, 2, &other, 1, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(previous, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    if (other) {
        SAME(flag, 0, "a cancelled message is there");
    } else {
        OK(MPI_Recv(in, count, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < count; i++)
            SAME(in[i], previous + i, "message that was not cancelled");
    }
    if (persistent != MPI_REQUEST_NULL) {
        /* The next round of a cancelled persistent send is an ordinary one. */
        MPI_Request receive;
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody probes any more */
        for (int i = 0; i < count; i++)
            out[i] = rank + 2 * i;
        OK(MPI_Irecv(in, count, MPI_INT, previous, 1, MPI_COMM_WORLD, &receive));
        OK(MPI_Start(&persistent));
        OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&receive, &status));
        OK(MPI_Test_cancelled(&status, &cancelled));
        SAME(cancelled, 0, "the round after a cancelled one");
        for (int i = 0; i < count; i++)
            SAME(in[i], previous + 2 * i, "the round after a cancelled one");
        OK(MPI_Request_free(&persistent));
    }
    free(out);
    free(in);
}

/* One that has matched cannot be cancelled; the sender marks it while the receiver copies. */
static void matched(int count)
{
    int *out = check_alloc(count * sizeof(int)), *in = check_alloc(count * sizeof(int)), cancelled = -1, token = 0, go = 0;
    MPI_Request send, receive;
    MPI_Status status;
    for (int i = 0; i < count; i++)
        out[i] = rank - i, in[i] = -1;
    OK(MPI_Irecv(in, count, MPI_INT, previous, 3, MPI_COMM_WORLD, &receive));
    OK(MPI_Sendrecv(&token, 1, MPI_INT, previous, 4, &go, 1, MPI_INT, next, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Issend(out, count, MPI_INT, next, 3, MPI_COMM_WORLD, &send));
    OK(MPI_Cancel(&send));
    MPI_Request both[2] = { send, receive };
    MPI_Status statuses[2];
    OK(MPI_Waitall(1, both, statuses));
    OK(MPI_Test_cancelled(&statuses[0], &cancelled));
    OK(MPI_Sendrecv(&cancelled, 1, MPI_INT, next, 5, &go, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (go) /* cancelled before the receive saw it */
        OK(MPI_Cancel(&both[1]));
    OK(MPI_Wait(&both[1], &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    SAME(cancelled, go, "a receive and its send");
    for (int i = 0; i < count && !go; i++)
        SAME(in[i], previous - i, "message that was marked after it had matched");
    free(out);
    free(in);
}

/* In MPI_COMM_SELF everything is local: a large message that nobody has received is cancelled or kept whole. */
static void self(void)
{
    enum { COUNT = 100000 };
    int *out = check_alloc(COUNT * sizeof(int)), *in = check_alloc(COUNT * sizeof(int)), cancelled, flag;
    MPI_Request send;
    MPI_Status status;
    MPI_Message message;
    for (int i = 0; i < COUNT; i++)
        out[i] = i;
    OK(MPI_Issend(out, COUNT, MPI_INT, 0, 1, MPI_COMM_SELF, &send));
    OK(MPI_Cancel(&send));
    OK(MPI_Wait(&send, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    OK(MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    SAME(flag, !cancelled, "a cancelled message to oneself");
    if (flag)
        OK(MPI_Recv(in, COUNT, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    /* A message that MPI_Mprobe has taken has matched. */
    OK(MPI_Issend(out, COUNT, MPI_INT, 0, 2, MPI_COMM_SELF, &send));
    OK(MPI_Mprobe(0, 2, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE));
    OK(MPI_Cancel(&send));
    OK(MPI_Mrecv(in, COUNT, MPI_INT, &message, &status));
    OK(MPI_Wait(&send, &status));
    OK(MPI_Test_cancelled(&status, &cancelled));
    SAME(cancelled, 0, "a message that has matched");
    SAME(in[COUNT - 1], COUNT - 1, "a message that has matched");
    free(out);
    free(in);
}

/* Many in flight, every other one marked; order among the rest. */
static void mixed(void)
{
    enum { N = 60, COUNT = 20000 };
    int *out = check_alloc(N * COUNT * sizeof(int)), *in = check_alloc(COUNT * sizeof(int));
    int cancelled[N], others[N], flag;
    MPI_Request sends[N];
    MPI_Status statuses[N];
    for (int k = 0; k < N; k++) {
        for (int i = 0; i < COUNT; i++)
            out[k * COUNT + i] = rank + k + i;
        OK(MPI_Issend(out + k * COUNT, k % 3 ? COUNT : 3, MPI_INT, next, 6, MPI_COMM_WORLD, &sends[k]));
    }
    for (int k = 0; k < N; k += 2)
        OK(MPI_Cancel(&sends[k]));
    for (int k = 0; k < N; k += 2) {
        OK(MPI_Wait(&sends[k], &statuses[k]));
        OK(MPI_Test_cancelled(&statuses[k], &cancelled[k]));
    }
    for (int k = 1; k < N; k += 2)
        cancelled[k] = 0;
    OK(MPI_Sendrecv(cancelled, N, MPI_INT, next, 7, others, N, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int k = 0; k < N; k++) {
        if (others[k])
            continue;
        OK(MPI_Recv(in, COUNT, MPI_INT, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < (k % 3 ? COUNT : 3); i++)
            SAME(in[i], previous + k + i, "order of what was not cancelled");
    }
    for (int k = 1; k < N; k += 2)
        OK(MPI_Wait(&sends[k], MPI_STATUS_IGNORE));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    SAME(flag, 0, "something is left");
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 1000, 5000, 20000, 300000 };
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int mode = 0; mode < 3; mode++)
            for (int again = 0; again < 5; again++)
                sends(counts[k], mode);
    for (size_t k = 1; k < sizeof counts / sizeof *counts; k++)
        for (int again = 0; again < 10; again++)
            matched(counts[k]);
    self();
    mixed();
    return check_end();
}
