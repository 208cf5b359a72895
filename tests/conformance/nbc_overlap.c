/* ranks: 2 3 4 */
/* MPI-5.0 6.12, 3.8.3: calls that have nothing to do with a collective bring it forward; shown by the order of events, not by time */
#include "check.h"

enum { N = 1 << 20 };
static int in[N], out[N];

static void begin(int kind, MPI_Request *r)
{
    for (int i = 0; i < N; i++)
        in[i] = rank + i, out[i] = kind == 1 && rank == size - 1 ? 5 * i : -1;
    if (kind == 0)
        OK(MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r));
    else if (kind == 1)
        OK(MPI_Ibcast(out, N, MPI_INT, size - 1, MPI_COMM_WORLD, r));
    else
        OK(MPI_Ireduce(in, out, N, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD, r));
}

static void verify(int kind)
{
    for (int i = 0; i < N; i++) {
        if (kind == 0 || (kind == 2 && rank == size - 1))
            SAME(out[i], size * (size - 1) / 2 + size * i, "a reduction");
        else if (kind == 1)
            SAME(out[i], 5 * i, "a broadcast");
    }
}

static volatile double work;

static void compute(void)
{
    for (int i = 0; i < 2000; i++)
        work += i * 0.5;
}

/* Rank 0 never touches the request of the collective until all others have completed theirs, which tell it by messages. It learns of these
 * by calls of one kind only. Most collectives cannot end at the others before rank 0 has done its part of 4 MiB: so those calls did it. */
static void by_other_calls(int kind, int how)
{
    MPI_Request r, message;
    begin(kind, &r);
    if (rank == 0) {
        for (int from = 1; from < size; from++) {
            int flag = 0, got, source = from, tag = 7 + how;
            if (how != 2)
                OK(MPI_Irecv(&got, 1, MPI_INT, source, tag, MPI_COMM_WORLD, &message));
            switch (how) {
            case 0:
                while (!flag) {
                    compute();
                    OK(MPI_Test(&message, &flag, MPI_STATUS_IGNORE));
                }
                break;
            case 1: OK(MPI_Wait(&message, MPI_STATUS_IGNORE)); break;
            default:
                while (!flag) {
                    compute();
                    OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                }
                OK(MPI_Recv(&got, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            }
        }
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Send(&rank, 1, MPI_INT, 0, 7 + how, MPI_COMM_WORLD));
    }
    verify(kind);
}

/* The same with a blocking collective of another communicator, which others enter only when they have completed theirs. */
static void by_a_blocking_collective(int kind, MPI_Comm other)
{
    MPI_Request r;
    begin(kind, &r);
    if (rank != 0)
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(other));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    verify(kind);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm other;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    for (int kind = 0; kind < 3; kind++) {
        for (int how = 0; how < 3; how++)
            by_other_calls(kind, how);
        for (int round = 0; round < 4; round++)
            by_a_blocking_collective(kind, other);
    }
    OK(MPI_Comm_free(&other));
    return check_end();
}
