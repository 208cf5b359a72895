/* What the benchmarks share: a batch long enough to time, the median of several batches, one line for each result. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCHES = 9 };

static int rank, size;

static void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Microseconds that one call of `once` takes, on rank 0: the number of calls in a batch is doubled until a batch takes
 * 20 ms, which also warms up; then the median of BATCHES batches. Every rank calls this with the same arguments. */
static double measure(void (*once)(int bytes), int bytes) {
    double took[BATCHES];
    long calls = 1;
    for (;;) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (long i = 0; i < calls; i++) once(bytes);
        int enough = MPI_Wtime() - start >= 0.02;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (enough) break;
        calls *= 2;
    }
    for (int b = 0; b < BATCHES; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        for (long i = 0; i < calls; i++) once(bytes);
        took[b] = (MPI_Wtime() - start) / (double)calls * 1e6;
    }
    qsort(took, BATCHES, sizeof took[0], ascending);
    return took[BATCHES / 2];
}

/* A buffer whose pages are there. */
static char *buffer(size_t bytes) {
    char *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    memset(p, 1, bytes);
    return p;
}

static const char *amount(int bytes) {
    static char text[32];
    if (bytes >= 1 << 20) snprintf(text, sizeof text, "%d MiB", bytes >> 20);
    else if (bytes >= 1 << 10) snprintf(text, sizeof text, "%d KiB", bytes >> 10);
    else snprintf(text, sizeof text, "%d B", bytes);
    return text;
}

static void result(const char *what, int bytes, double value, const char *unit) {
    if (rank) return;
    if (bytes < 0) printf("%s\t%.4g\t%s\n", what, value, unit);
    else printf("%s %s\t%.4g\t%s\n", what, amount(bytes), value, unit);
    fflush(stdout);
}
