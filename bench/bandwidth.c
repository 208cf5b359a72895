/* 64 messages at a time from rank 0 to rank 1, answered by one of 4 bytes. Arguments: sizes. */
#include "common.h"

enum { WINDOW = 64 };

static char *data;

static void window(int bytes) {
    MPI_Request request[WINDOW];
    int done = 0;
    if (rank == 0) {
        for (int i = 0; i < WINDOW; i++) MPI_Isend(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        MPI_Recv(&done, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < WINDOW; i++) MPI_Irecv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        MPI_Send(&done, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        int bytes = atoi(argv[i]);
        data = buffer(bytes);
        double us = measure(window, bytes);
        if (bytes < 1024) result("message rate", bytes, WINDOW / us, "M/s");
        else result("bandwidth", bytes, (double)bytes * WINDOW / us / 1000, "GB/s");
        free(data);
    }
    MPI_Finalize();
    return 0;
}
