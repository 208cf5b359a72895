/* ranks: 1 2 */
/* MPI-5.0 3.5 Semantics: messages of a process to itself, on MPI_COMM_WORLD and MPI_COMM_SELF */
#include "check.h"

static void to_self(MPI_Comm comm, int me, int count, int send_first)
{
    int *out = check_alloc((count + 1) * sizeof(int)), *in = check_alloc((count + 1) * sizeof(int)), got = -1;
    MPI_Request send, receive;
    MPI_Status status;
    for (int i = 0; i < count; i++)
        out[i] = i * 3, in[i] = -1;
    if (send_first)
        OK(MPI_Isend(out, count, MPI_INT, me, 1, comm, &send));
    OK(MPI_Irecv(in, count, MPI_INT, send_first ? me : MPI_ANY_SOURCE, 1, comm, &receive));
    if (!send_first)
        OK(MPI_Issend(out, count, MPI_INT, me, 1, comm, &send));
    OK(MPI_Wait(&receive, &status));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, MPI_INT, &got));
    SAME(got, count, "self message: count");
    SAME(status.MPI_SOURCE, me, "self message: source");
    for (int i = 0; i < count; i++)
        SAME(in[i], i * 3, "self message: data");
    OK(MPI_Irecv(in, count, MPI_INT, me, 2, comm, &receive));
    OK(MPI_Send(out, count, MPI_INT, me, 2, comm));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(in, count, MPI_INT, me, 2, comm, &receive));
    OK(MPI_Ssend(out, count, MPI_INT, me, 2, comm));
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    memset(in, 0, count * sizeof(int));
    OK(MPI_Sendrecv(out, count, MPI_INT, me, 3, in, count, MPI_INT, me, 3, comm, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, count * sizeof(int)) == 0, "sendrecv with oneself");
    free(out);
    free(in);
}

/* Each communicator is a world of its own (6.2, 7.1): the same envelope on another one does not match. */
static void communicators(void)
{
    MPI_Comm dup;
    MPI_Request requests[3];
    int a = 1, b = 2, c = 3, got = 0;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    OK(MPI_Isend(&a, 1, MPI_INT, 0, 4, MPI_COMM_SELF, &requests[0]));
    OK(MPI_Isend(&b, 1, MPI_INT, 0, 4, dup, &requests[1]));
    OK(MPI_Isend(&c, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, &requests[2]));
    OK(MPI_Recv(&got, 1, MPI_INT, rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(got, 3, "message on MPI_COMM_WORLD");
    OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup, MPI_STATUS_IGNORE));
    SAME(got, 2, "message on a duplicate of MPI_COMM_SELF");
    OK(MPI_Recv(&got, 1, MPI_INT, 0, 4, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    SAME(got, 1, "message on MPI_COMM_SELF");
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Comm_free(&dup));
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 1000, 20000, 1000000 };
    check_begin(&argc, &argv);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int first = 0; first < 2; first++) {
            to_self(MPI_COMM_WORLD, rank, counts[k], first);
            to_self(MPI_COMM_SELF, 0, counts[k], first);
        }
    communicators();
    return check_end();
}
