/* A profiling tool: counts the calls of MPI_Send and MPI_Allreduce, and says how many there were at MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

static int sends, allreduces;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
    sends++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Allreduce(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    allreduces++;
    return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Finalize(void) {
    int rank, size, all[2], mine[2] = {sends, allreduces};
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (!rank) printf("pmpi: %d ranks, %d sends, %d allreduces\n", size, all[0], all[1]);
    fflush(stdout);
    return PMPI_Finalize();
}
