/* 64 messages at a time from rank 0 to rank 1, answered by one of 4 bytes. Arguments: one, both or fresh, then sizes.
 *
 * one, both: in one direction, in both at once. All messages of a window share one buffer, as is usual in such benchmarks.
 * fresh: in one direction, every message from and to a buffer of its own (at most 32 MiB of them: fewer messages at a time
 *   then); the sender writes each before it sends it, the receiver reads them all, and both count in the time. */
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

static int window;
static uint64_t seed;

static void fresh(int bytes) {
    int done = 0;
    uint64_t words = (uint64_t)bytes / 8, sum = 0;
    seed++;
    if (rank == 0) {
        for (int i = 0; i < window; i++) {
            uint64_t *to = (uint64_t *)(out + (size_t)i * (size_t)bytes);
            for (uint64_t w = 0; w < words; w++) to[w] = seed + w;
            MPI_Isend(to, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request[i]);
        }
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        MPI_Recv(&done, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        for (int i = 0; i < window; i++)
            MPI_Irecv(in + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        const uint64_t *from = (const uint64_t *)in;
        for (uint64_t w = 0; w < words * (uint64_t)window; w++) sum += from[w];
        if (sum != (uint64_t)window * (words * seed + words * (words - 1) / 2)) wrong("a window", bytes);
        MPI_Send(&done, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    const char *what = argc > 1 ? argv[1] : "";
    int both = !strcmp(what, "both"), renew = !strcmp(what, "fresh");
    for (int i = 2; i < argc && size == 2; i++) {
        int bytes = atoi(argv[i]);
        window = renew && (32 << 20) / bytes < WINDOW ? (32 << 20) / bytes : WINDOW;
        out = buffer((size_t)bytes * (size_t)(renew ? window : 1));
        in = buffer((size_t)bytes * (size_t)(renew ? window : 1));
        double us = measure(both ? both_ways : renew ? fresh : one_way, bytes);
        double messages = both ? 2 * WINDOW : window;
        const char *how = both ? ", both ways" : renew ? " fresh, with writing and reading" : "";
        char name[64];
        snprintf(name, sizeof name, "%s%s", bytes < 1024 ? "message rate" : "bandwidth", how);
        if (bytes < 1024) result(name, bytes, messages / us, "M/s");
        else result(name, bytes, bytes * messages / us / 1000, "GB/s");
        free(out);
        free(in);
    }
    MPI_Finalize();
    return 0;
}
