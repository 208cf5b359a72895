/* ranks: 1 2 4 */
/* MPI-5.0 4.2, 4.3, 11.6: several threads mark partitions ready, several ask for those that have arrived */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, EACH = 24, PARTITIONS = THREADS * EACH, MOST = 2000 };

static int next, previous, count, round_now, shared;
static int *out, *in;
static MPI_Request send, receive;
static pthread_barrier_t meet;

static int value(int owner, int i)
{
    return owner * 31 + round_now * 7 + i;
}

/* Fills and marks every THREADS-th partition, then waits for those of its range. */
static void *work(void *arg)
{
    int me = (int)(intptr_t)arg, flag;
    for (int k = 0; k < EACH; k++) {
        int p = k * THREADS + me;
        for (int i = p * count; i < (p + 1) * count; i++)
            out[i] = value(rank, i);
        if (k % 3 == 2 && shared) {
            OK(MPI_Pready_range(p, p, send));
        } else {
            OK(MPI_Pready(p, send));
        }
    }
    int half = PARTITIONS / 2; /* the receiver has half as many */
    for (int p = me * half / THREADS; p < (me + 1) * half / THREADS; p++) {
        for (flag = 0; !flag;)
            OK(MPI_Parrived(receive, p, &flag));
        for (int i = p * 2 * count; i < (p + 1) * 2 * count; i++)
            SAME(in[i], value(previous, i), "partition seen by a thread");
    }
    pthread_barrier_wait(&meet);
    return NULL;
}

static void *waiter(void *arg)
{
    /* Sleeps in a wait while others mark the partitions. */
    OK(MPI_Wait(arg, MPI_STATUS_IGNORE));
    return NULL;
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 9, 500, MOST };
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        OK(MPI_Finalize());
        return 77;
    }
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    out = check_alloc(PARTITIONS * MOST * sizeof(int));
    in = check_alloc(PARTITIONS * MOST * sizeof(int));
    CHECK(pthread_barrier_init(&meet, NULL, THREADS) == 0, "pthread_barrier_init");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        count = counts[c];
        OK(MPI_Psend_init(out, PARTITIONS, count, MPI_INT, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
        OK(MPI_Precv_init(in, PARTITIONS / 2, 2 * count, MPI_INT, previous, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
        for (round_now = 0; round_now < 12; round_now++) {
            pthread_t threads[THREADS], waits;
            shared = round_now % 2;
            memset(in, 0xff, PARTITIONS * count * sizeof(int));
            OK(MPI_Start(&receive));
            OK(MPI_Start(&send));
            if (shared)
                CHECK(pthread_create(&waits, NULL, waiter, &send) == 0, "pthread_create");
            for (int t = 0; t < THREADS; t++)
                CHECK(pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t) == 0, "pthread_create");
            for (int t = 0; t < THREADS; t++)
                CHECK(pthread_join(threads[t], NULL) == 0, "pthread_join");
            OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
            if (shared)
                CHECK(pthread_join(waits, NULL) == 0, "pthread_join");
            else
                OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        }
        OK(MPI_Request_free(&send));
        OK(MPI_Request_free(&receive));
    }
    pthread_barrier_destroy(&meet);
    free(out);
    free(in);
    return check_end();
}
