/* 5 sends by every rank but the last, 3 allreduces by all, and collectives that a library may build on either. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, size, x = 1, y;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 5; i++) {
        if (rank > 0) MPI_Recv(&y, 1, MPI_INT, rank - 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank < size - 1) MPI_Send(&x, 1, MPI_INT, rank + 1, i, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; i++) MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_free(&dup);
    MPI_Finalize();
    return y != size;
}
