/* ranks: 1 2 3 4 */
/* MPI-5.0 11.6 MPI and Threads: MPI_THREAD_MULTIPLE */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 400 };

static MPI_Comm comms[THREADS];
static int next, previous;

/* Each thread goes around the ring on its own tag, with messages of its own sizes. */
static void *on_tags(void *arg)
{
    int me = (int)(intptr_t)arg;
    int *out = check_alloc(20000 * sizeof(int)), *in = check_alloc(20000 * sizeof(int));
    for (int round = 0; round < ROUNDS; round++) {
        int count = round % 50 == 49 ? 20000 : (round * 7 + me) % 300, got = -1;
        MPI_Request request;
        MPI_Status status;
        for (int i = 0; i < count; i++)
            out[i] = rank + me * 100 + round + i, in[i] = -1;
        if (round % 2) {
            OK(MPI_Isend(out, count, MPI_INT, next, me, MPI_COMM_WORLD, &request));
            OK(MPI_Recv(in, count, MPI_INT, previous, me, MPI_COMM_WORLD, &status));
        } else {
            MPI_Request receive;
            OK(MPI_Irecv(in, count, MPI_INT, MPI_ANY_SOURCE, me, MPI_COMM_WORLD, &receive));
            OK(MPI_Isend(out, count, MPI_INT, next, me, MPI_COMM_WORLD, &request));
            OK(MPI_Wait(&receive, &status));
        }
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Get_count(&status, MPI_INT, &got));
        SAME(got, count, "message of a thread: count");
        for (int i = 0; i < count; i++)
            SAME(in[i], previous + me * 100 + round + i, "message of a thread: data");
    }
    free(out);
    free(in);
    return NULL;
}

/* Each thread has a communicator to itself: collectives and probes run at once. */
static void *on_comms(void *arg)
{
    int me = (int)(intptr_t)arg;
    MPI_Comm comm = comms[me];
    for (int round = 0; round < ROUNDS / 8; round++) {
        int v = rank + me * round, sum = 0, want = 0, got = -1;
        MPI_Request request;
        MPI_Message message;
        OK(MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, comm));
        for (int r = 0; r < size; r++)
            want += r + me * round;
        SAME(sum, want, "allreduce of a thread");
        OK(MPI_Isend(&v, 1, MPI_INT, next, 0, comm, &request));
        OK(MPI_Mprobe(MPI_ANY_SOURCE, 0, comm, &message, MPI_STATUS_IGNORE));
        OK(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        SAME(got, previous + me * round, "matched receive of a thread");
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (round % 10 == 0) {
            MPI_Comm dup;
            OK(MPI_Comm_dup(comm, &dup));
            OK(MPI_Barrier(dup));
            OK(MPI_Comm_free(&dup));
        }
    }
    return NULL;
}

/* One thread receives what another sends in the same process: a blocked thread does not block the others. */
static void *receiver(void *arg)
{
    int v = -1;
    OK(MPI_Recv(&v, 1, MPI_INT, rank, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    *(int *)arg = v;
    return NULL;
}

static void in_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, body, (void *)(intptr_t)t) == 0, "no thread %d", t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

int main(int argc, char **argv)
{
    int provided = -1, queried = -2, is_main = 0, got = -1, v = 31;
    pthread_t thread;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    OK(MPI_Query_thread(&queried));
    SAME(queried, provided, "query_thread");
    OK(MPI_Is_thread_main(&is_main));
    SAME(is_main, 1, "is_thread_main");
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    if (provided == MPI_THREAD_MULTIPLE) {
        for (int t = 0; t < THREADS; t++)
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
        in_threads(on_tags);
        in_threads(on_comms);
        CHECK(pthread_create(&thread, NULL, receiver, &got) == 0, "no thread");
        OK(MPI_Ssend(&v, 1, MPI_INT, rank, 50, MPI_COMM_WORLD));
        pthread_join(thread, NULL);
        SAME(got, 31, "message between threads");
        for (int t = 0; t < THREADS; t++)
            OK(MPI_Comm_free(&comms[t]));
    }
    return check_end();
}
