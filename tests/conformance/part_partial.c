/* ranks: 1 2 3 4 */
/* MPI-5.0 4.2.2, advice to implementors: a partition that has arrived is known before the others are ready; more than the
 * standard obliges to */
#include "check.h"

static int next, previous;

static int value(int owner, int round, long i)
{
    return owner * 1000003 + round * 101 + (int)i;
}

/* Each partition by itself: what has arrived is known before the others are ready. */
static void one_by_one(int partitions, int count)
{
    int *out = check_alloc((partitions * count + 1) * sizeof(int)), *in = check_alloc((partitions * count + 1) * sizeof(int)), flag;
    MPI_Request send, receive;
    OK(MPI_Psend_init(out, partitions, count, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, partitions, count, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&receive));
        OK(MPI_Start(&send));
        for (int p = 0; p < partitions; p++) {
            for (int i = 0; i < count; i++)
                out[p * count + i] = value(rank, round, p + i);
            OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Parrived(receive, p, &flag));
            SAME(flag, 0, "MPI_Parrived of a partition that nobody has marked");
            OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Pready(p, send));
            for (flag = 0; !flag;)
                OK(MPI_Parrived(receive, p, &flag));
            for (int i = 0; i < count; i++)
                SAME(in[p * count + i], value(previous, round, p + i), "one partition of many");
            if (p + 1 < partitions) {
                OK(MPI_Test(&receive, &flag, MPI_STATUS_IGNORE));
                SAME(flag, 0, "test of a receive of which partitions are missing");
                OK(MPI_Test(&send, &flag, MPI_STATUS_IGNORE));
                SAME(flag, 0, "test of a send of which partitions are not ready");
                OK(MPI_Request_get_status(send, &flag, MPI_STATUS_IGNORE));
                SAME(flag, 0, "request_get_status of a send of which partitions are not ready");
            }
        }
        OK(MPI_Request_get_status(receive, &flag, MPI_STATUS_IGNORE));
        SAME(flag, 1, "request_get_status of a receive of which all has arrived");
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    one_by_one(5, 0);
    one_by_one(5, 1);
    one_by_one(70, 3);
    one_by_one(3, 3000);
    one_by_one(3, 300000);
    return check_end();
}
