/* 64 messages at a time from rank 0 to rank 1, answered by one of 4 bytes; and the same in both directions at once.
 * Arguments: one or both, then sizes. All messages of a window share one buffer, as is usual in such benchmarks. */
#include "common.h"

enum { WINDOW = 64 };

static char *out, *in;
static MPI_Request request[2 * WINDOW];

static void one_way(int bytes) {
    int done = 0;
    if (rank == 0) {
        for (int i = 0; i < WINDOW; i++) MPI_Isend(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        MPI_Recv(&done, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < WINDOW; i++) MPI_Irecv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        MPI_Send(&done, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

static void both_ways(int bytes) {
    int done = 0, seen, other = 1 - rank;
    for (int i = 0; i < WINDOW; i++) MPI_Irecv(in, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request[i]);
    for (int i = 0; i < WINDOW; i++) MPI_Isend(out, bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, &request[WINDOW + i]);
    MPI_Waitall(2 * WINDOW, request, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(&done, 1, MPI_INT, other, 2, &seen, 1, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int both = argc > 1 && !strcmp(argv[1], "both");
    for (int i = 2; i < argc && size == 2; i++) {
        int bytes = atoi(argv[i]);
        out = buffer((size_t)bytes);
        in = buffer((size_t)bytes);
        double us = measure(both ? both_ways : one_way, bytes);
        double messages = both ? 2 * WINDOW : WINDOW;
        if (bytes < 1024) result(both ? "message rate, both ways" : "message rate", bytes, messages / us, "M/s");
        else result(both ? "bandwidth, both ways" : "bandwidth", bytes, bytes * messages / us / 1000, "GB/s");
        free(out);
        free(in);
    }
    MPI_Finalize();
    return 0;
}
