/* Half the time of a message and its answer between ranks 0 and 1, from the same buffers every time. Arguments: sizes. */
#include "common.h"

static char *out, *in;

static void ping_pong(int bytes) {
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        int bytes = atoi(argv[i]);
        out = buffer(bytes);
        in = buffer(bytes);
        result("latency", bytes, measure(ping_pong, bytes) / 2, "us");
        free(out);
        free(in);
    }
    MPI_Finalize();
    return 0;
}
