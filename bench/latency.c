/* One message and its answer between ranks 0 and 1. Arguments: static or fresh, then sizes.
 *
 * static: the same bytes again and again; half the time of both ways.
 * fresh: each side writes every word of its buffer before it sends, and reads every word that it received. "latency fresh" is
 *   the median time from before MPI_Send to after MPI_Recv on the other side, by the clock that both read: writing and
 *   reading are outside. "latency fresh, with writing and reading" is half the time of both ways, with all of that inside. */
#include "common.h"

enum { SAMPLES = 4000 };

static char *out, *in;
static double sent[SAMPLES], received[SAMPLES], before[SAMPLES];
static uint64_t seed;

static void ping_pong(int bytes) {
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void fill(int bytes) {
    uint64_t *words = (uint64_t *)out;
    seed++;
    for (int i = 0; i < bytes / 8; i++) words[i] = seed + (uint64_t)i;
}

/* Both sides count up together, so each knows what must have come. */
static void look(int bytes, uint64_t expected) {
    const uint64_t *words = (const uint64_t *)in;
    uint64_t n = (uint64_t)bytes / 8, sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += words[i];
    if (sum != n * expected + n * (n - 1) / 2) wrong("a message", bytes);
}

static long at;

static void fresh(int bytes) {
    long i = at++ % SAMPLES;
    if (rank == 0) {
        fill(bytes);
        sent[i] = now();
        MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        received[i] = now();
        look(bytes, seed);
    } else if (rank == 1) {
        MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        received[i] = now();
        look(bytes, seed + 1);
        fill(bytes);
        sent[i] = now();
        MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void fresh_latency(int bytes) {
    at = 0;
    double whole = measure(fresh, bytes) / 2;
    int n = at < SAMPLES ? (int)at : SAMPLES;
    MPI_Sendrecv(sent, n, MPI_DOUBLE, 1 - rank, 2, before, n, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) before[i] = received[i] - before[i];
    double mine = median(before, n) * 1e6, other = 0;
    MPI_Sendrecv(&mine, 1, MPI_DOUBLE, 1 - rank, 2, &other, 1, MPI_DOUBLE, 1 - rank, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    result("latency fresh", bytes, (mine + other) / 2, "us");
    result("latency fresh, with writing and reading", bytes, whole, "us");
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int renew = argc > 1 && !strcmp(argv[1], "fresh");
    for (int i = 2; i < argc && size == 2; i++) {
        int bytes = atoi(argv[i]);
        out = buffer((size_t)bytes);
        in = buffer((size_t)bytes);
        if (renew) fresh_latency(bytes);
        else result("latency", bytes, measure(ping_pong, bytes) / 2, "us");
        free(out);
        free(in);
    }
    MPI_Finalize();
    return 0;
}
