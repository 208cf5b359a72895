/* What matching costs, on rank 1. Arguments: posted, unexpected or late, then depths or (late) sizes.
 *
 * posted: so many receives wait on distinct tags, and the messages come in the opposite order; time for each message from
 *   the word to go until all are in.
 * unexpected: so many messages on distinct tags are there, and are received in the opposite order; time for each receive.
 * late: one message has been announced, and something sent after it received, before its own receive is called; time of
 *   that receive (median). */
#include "common.h"

static MPI_Request *request;
static char *bytes8, *data;
static double spent;
static long repeated;

static void posted(int depth) {
    int go = 0;
    if (rank == 0) {
        MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = depth; i > 0; i--) MPI_Send(bytes8, 8, MPI_BYTE, 1, i, MPI_COMM_WORLD);
        MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 1; i <= depth; i++)
            MPI_Irecv(bytes8 + 8 * i, 8, MPI_BYTE, 0, i, MPI_COMM_WORLD, &request[i - 1]);
        double start = now();
        MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Waitall(depth, request, MPI_STATUSES_IGNORE);
        spent += now() - start;
        MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    repeated++;
}

static void unexpected(int depth) {
    int go = 0;
    if (rank == 0) {
        for (int i = 1; i <= depth; i++) MPI_Send(bytes8, 8, MPI_BYTE, 1, i, MPI_COMM_WORLD);
        MPI_Send(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double start = now();
        for (int i = depth; i > 0; i--)
            MPI_Recv(bytes8 + 8 * i, 8, MPI_BYTE, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        spent += now() - start;
        MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    repeated++;
}

enum { SAMPLES = 2000 };
static double sample[SAMPLES];

static void late(int bytes) {
    int go = 0;
    if (rank == 0) {
        MPI_Request sending;
        MPI_Isend(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &sending);
        MPI_Send(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Wait(&sending, MPI_STATUS_IGNORE);
        MPI_Recv(&go, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double start = now();
        MPI_Recv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sample[repeated % SAMPLES] = now() - start;
        MPI_Send(&go, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    repeated++;
}

/* What rank 1 found, at rank 0. */
static double from_one(double value) {
    if (rank == 1) MPI_Send(&value, 1, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&value, 1, MPI_DOUBLE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 2; i < argc && size == 2; i++) {
        int n = atoi(argv[i]);
        spent = 0;
        repeated = 0;
        if (!strcmp(argv[1], "late")) {
            data = buffer((size_t)n);
            measure(late, n);
            int samples = repeated < SAMPLES ? (int)repeated : SAMPLES;
            result("late receive", n, from_one(rank == 1 ? median(sample, samples) * 1e6 : 0), "us");
            free(data);
            continue;
        }
        int first = !strcmp(argv[1], "posted");
        char name[64];
        bytes8 = buffer(8 * ((size_t)n + 1));
        request = malloc((size_t)n * sizeof *request);
        measure(first ? posted : unexpected, n);
        snprintf(name, sizeof name, "%d %s, for each message", n, first ? "posted receives" : "unexpected messages");
        result(name, -1, from_one(spent / (double)repeated / n * 1e6), "us");
        free(request);
        free(bytes8);
    }
    MPI_Finalize();
    return 0;
}
