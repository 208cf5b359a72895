/* ranks: 2 3 4 */
/* MPI-5.0 6.8: MPI_Alltoall in place, of blocks from a few bytes to many, several times on one communicator; a communicator that is freed as soon as
 * its last collective has returned. */
#include "check.h"

static void exchange(MPI_Comm comm, int n, int round)
{
    int *data = malloc(sizeof(int) * (size_t)n * (size_t)size);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < n; i++)
            data[to * n + i] = ((rank * 10 + to) * 100 + round) * 1000 + i % 1000;
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, n, MPI_INT, comm));
    for (int from = 0; from < size; from++)
        for (int i = 0; i < n; i++)
            CHECK(data[from * n + i] == ((from * 10 + rank) * 100 + round) * 1000 + i % 1000,
                  "block of %d from %d, round %d: element %d is %d", n, from, round, i, data[from * n + i]);
    free(data);
}

int main(int argc, char **argv)
{
    static const int sizes[] = {1, 12, 300, 1100, 2048, 4000, 5000, 20000};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int round = 0; round < 6; round++)
            exchange(MPI_COMM_WORLD, sizes[k], round);
    for (int i = 0; i < 60; i++) {
        MPI_Comm dup;
        double in[9000], out[9000];
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
        for (int j = 0; j < 9000; j++)
            in[j] = rank + j;
        for (int round = 0; round < 4; round++)
            OK(MPI_Allreduce(in, out, 9000, MPI_DOUBLE, MPI_SUM, dup));
        CHECK(out[8999] == size * 8999.0 + size * (size - 1) / 2.0, "the sum is %g", out[8999]);
        OK(MPI_Comm_free(&dup));
    }
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
