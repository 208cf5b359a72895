/* 8 B messages in windows of 64 from the threads of rank 0 to those of rank 1, at MPI_THREAD_MULTIPLE, each pair of threads in
 * a communicator of its own: all messages of all threads by time. Arguments: numbers of threads. */
#include "common.h"
#include <pthread.h>

enum { WINDOW = 64, MOST = 16 };

static MPI_Comm comm[MOST];
static long windows;

static void *work(void *arg) {
    MPI_Comm mine = comm[(intptr_t)arg];
    MPI_Request request[WINDOW];
    double data[WINDOW] = {0};
    for (long w = 0; w < windows; w++) {
        int done = 0;
        if (rank == 0) {
            for (int i = 0; i < WINDOW; i++) MPI_Isend(&data[i], 1, MPI_DOUBLE, 1, 1, mine, &request[i]);
            MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
            MPI_Recv(&done, 1, MPI_INT, 1, 2, mine, MPI_STATUS_IGNORE);
        } else {
            for (int i = 0; i < WINDOW; i++) MPI_Irecv(&data[i], 1, MPI_DOUBLE, 0, 1, mine, &request[i]);
            MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
            MPI_Send(&done, 1, MPI_INT, 0, 2, mine);
        }
    }
    return NULL;
}

static int threads;

/* Threads are started and joined within the time: a batch is long enough for that not to count. */
static double run(long n) {
    pthread_t other[MOST];
    windows = n;
    double start = now();
    for (intptr_t t = 1; t < threads; t++) pthread_create(&other[t], NULL, work, (void *)t);
    work((void *)0);
    for (int t = 1; t < threads; t++) pthread_join(other[t], NULL);
    return span(start, now());
}

int main(int argc, char **argv) {
    int provided;
    const char *ms = getenv("BENCH_MS");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (ms) budget = atof(ms) / 1000;
    if (provided != MPI_THREAD_MULTIPLE) {
        if (rank == 0) fprintf(stderr, "MPI_THREAD_MULTIPLE is not provided\n");
        MPI_Finalize();
        return 1;
    }
    for (int t = 0; t < MOST; t++) MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]);
    for (int i = 1; i < argc && size == 2; i++) {
        double took, rates[3];
        long n = 1;
        char name[64];
        threads = atoi(argv[i]);
        if (threads < 1 || threads > MOST) continue;
        run(1);
        while ((took = run(n)) < budget / 5) n *= 2;
        for (int b = 0; b < 3; b++) rates[b] = (double)(n * WINDOW * threads) / run(n) / 1e6;
        snprintf(name, sizeof name, "message rate, %d thread%s a rank", threads, threads > 1 ? "s" : "");
        result(name, 8, median(rates, 3), "M/s");
    }
    for (int t = 0; t < MOST; t++) MPI_Comm_free(&comm[t]);
    MPI_Finalize();
    return 0;
}
