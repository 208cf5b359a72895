/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.14 Correctness: a long random sequence of collectives on overlapping communicators */
#include "check.h"

/* Collectives of different communicators follow each other without barriers, between point-to-point messages
 * with wildcards: neither may take the other's messages. All ranks draw the same sequence. */
enum { COMMS = 4, ROUNDS = 300, MOST = 3000 };

static MPI_Comm comms[COMMS];
static int in[MOST * 64], out[MOST * 64];

static int value(int r, int i, int round) { return r * 31 + i * 7 + round; }

static void one(MPI_Comm comm, int kind, int count, int root_draw, int round)
{
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    int root = root_draw % n;
    for (int i = 0; i < count * n; i++)
        in[i] = value(me, i, round), out[i] = -1;
    switch (kind) {
    case 0:
        OK(MPI_Bcast(in, count, MPI_INT, root, comm));
        for (int i = 0; i < count; i++)
            SAME(in[i], value(root, i, round), "bcast");
        break;
    case 1:
        OK(MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < count; i++)
            SAME(out[i], n * value(0, i, round) + 31 * n * (n - 1) / 2, "allreduce");
        break;
    case 2:
        OK(MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, comm));
        for (int i = 0; i < count * n; i++)
            SAME(out[i], value(i / (count ? count : 1), i % (count ? count : 1), round), "allgather");
        break;
    case 3:
        OK(MPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT, comm));
        for (int i = 0; i < count * n; i++)
            SAME(out[i], value(i / count, me * count + i % count, round), "alltoall");
        break;
    case 4:
        OK(MPI_Gather(in, count, MPI_INT, out, count, MPI_INT, root, comm));
        for (int i = 0; me == root && i < count * n; i++)
            SAME(out[i], value(i / count, i % count, round), "gather");
        break;
    case 5:
        OK(MPI_Scan(in, out, count, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < count; i++)
            SAME(out[i], (me + 1) * value(0, i, round) + 31 * me * (me + 1) / 2, "scan");
        break;
    case 6:
        OK(MPI_Reduce(in, out, count, MPI_INT, MPI_MAX, root, comm));
        for (int i = 0; me == root && i < count; i++)
            SAME(out[i], value(n - 1, i, round), "reduce");
        break;
    case 7:
        OK(MPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, root, comm));
        for (int i = 0; i < count; i++)
            SAME(out[i], value(root, me * count + i, round), "scatter");
        break;
    case 8:
        OK(MPI_Reduce_scatter_block(in, out, count, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < count; i++)
            SAME(out[i], n * value(0, me * count + i, round) + 31 * n * (n - 1) / 2, "reduce_scatter_block");
        break;
    default:
        OK(MPI_Barrier(comm));
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    comms[0] = MPI_COMM_WORLD;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &comms[3]));
    uint64_t state = 4711;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request send;
        int token = round, got = -1, kind = check_random(&state) % 10, count = check_random(&state) % 40 + 1;
        if (check_random(&state) % 16 == 0)
            count = check_random(&state) % MOST + 1;
        MPI_Comm comm = comms[check_random(&state) % COMMS];
        int root = check_random(&state);
        OK(MPI_Isend(&token, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, &send));
        one(comm, kind, count, root, round);
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        SAME(got, round, "a point-to-point message next to collectives");
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    for (int i = 1; i < COMMS; i++)
        OK(MPI_Comm_free(&comms[i]));
    return check_end();
}
