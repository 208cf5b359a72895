/* What the benchmarks share: how long something is repeated, the clock, one line for each figure.
 *
 * A line is NAME, BYTES, VALUE, UNIT, separated by tabs; BYTES is - where there is no size. Everything is standard MPI, and
 * everything runs on one node, so that all ranks read the same clock. The environment's BENCH_MS says how many milliseconds
 * one figure may take (100 unless told), the same for every MPI. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 5 };

static int rank, size;
static double budget = 0.1;

static void begin(int *argc, char ***argv) {
    const char *ms = getenv("BENCH_MS");
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (ms) budget = atof(ms) / 1000;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int n) {
    qsort(values, (size_t)n, sizeof *values, ascending);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* Seconds from the first rank's start to the last rank's end, known to all. */
static double span(double start, double end) {
    double mine[2] = {-start, end}, all[2];
    MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return all[0] + all[1];
}

static double batch(void (*once)(int bytes), int bytes, long calls) {
    double start = now();
    for (long i = 0; i < calls; i++) once(bytes);
    return span(start, now());
}

/* How many calls make a batch, and how many batches there are: a few calls first, which also warm up, then as many as fit
 * into the budget, but at least one. Every rank comes to the same answer. */
static long calibrate(void (*once)(int bytes), int bytes, int *batches) {
    long calls = 1;
    batch(once, bytes, 1);
    double took;
    while ((took = batch(once, bytes, calls)) < budget / 10) calls *= 2;
    double each = took / (double)calls;
    *batches = BATCHES;
    if (each * BATCHES > budget) *batches = each > budget ? 1 : (int)(budget / each);
    calls = (long)(budget / *batches / each);
    return calls > 0 ? calls : 1;
}

/* Microseconds that one call of `once` takes until it has ended on all ranks, when many follow one another: the median of
 * the batches. Every rank calls this with the same arguments. */
static double measure(void (*once)(int bytes), int bytes) {
    double took[BATCHES];
    int batches;
    long calls = calibrate(once, bytes, &batches);
    for (int b = 0; b < batches; b++) took[b] = batch(once, bytes, calls) / (double)calls * 1e6;
    return median(took, batches);
}

/* A buffer whose pages are there. */
static char *buffer(size_t bytes) {
    char *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096 + 4096);
    if (!p) {
        fprintf(stderr, "no memory for a buffer of %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    memset(p, 0, bytes);
    return p;
}

static void result(const char *what, int bytes, double value, const char *unit) {
    if (rank) return;
    if (bytes < 0) printf("%s\t-\t%.5g\t%s\n", what, value, unit);
    else printf("%s\t%d\t%.5g\t%s\n", what, bytes, value, unit);
    fflush(stdout);
}

/* Ends the job: the data did not arrive. */
static void wrong(const char *what, int bytes) {
    fprintf(stderr, "rank %d: %s of %d bytes brought wrong data\n", rank, what, bytes);
    MPI_Abort(MPI_COMM_WORLD, 1);
}
#endif
