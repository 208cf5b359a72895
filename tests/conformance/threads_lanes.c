/* ranks: 1 2 4 timeout: 300 */
/* MPI-5.0 11.6 MPI and Threads: threads in communicators of their own, requests of several communicators, progress for each other */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, COMMS = 9, LARGE = 300000 };

static MPI_Comm comms[COMMS];
static int next, previous;

static void together(void *(*f)(void *))
{
    pthread_t t[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, f, (void *)i) == 0, "no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
}

/* Wildcards and order in a communicator while other threads flood theirs with the same tags. */
static void *wildcards(void *arg)
{
    MPI_Comm comm = comms[(int)(intptr_t)arg];
    for (int round = 0; round < 40; round++) {
        int out[20], in[20];
        MPI_Request send[20];
        for (int i = 0; i < 20; i++) {
            out[i] = (int)(intptr_t)arg * 1000000 + round * 1000 + i;
            OK(MPI_Isend(&out[i], 1, MPI_INT, next, i % 3, comm, &send[i]));
        }
        for (int i = 0; i < 20; i++) {
            MPI_Status status;
            OK(MPI_Recv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
            SAME(in[i], out[i], "order with wildcards");
            SAME(status.MPI_SOURCE, previous, "source of a wildcard");
            SAME(status.MPI_TAG, i % 3, "tag of a wildcard");
        }
        OK(MPI_Waitall(20, send, MPI_STATUSES_IGNORE));
    }
    return NULL;
}

/* Each thread's requests are of all communicators; its tag keeps its messages apart. */
static void *across(void *arg)
{
    int me = (int)(intptr_t)arg, tag = 10 + me;
    int *out = check_alloc(COMMS * sizeof(int)), *in = check_alloc(COMMS * sizeof(int));
    for (int round = 0; round < 60; round++) {
        MPI_Request send[COMMS], receive[COMMS];
        MPI_Status statuses[COMMS];
        int seen[COMMS] = {0}, done = 0, index, indices[COMMS], count, flag;
        for (int i = 0; i < COMMS; i++) {
            out[i] = me * 10000 + round * 100 + i, in[i] = -1;
            OK(MPI_Irecv(&in[i], 1, MPI_INT, previous, tag, comms[i], &receive[i]));
        }
        for (int k = 0; k < COMMS; k++) {
            int i = (k * 5 + round) % COMMS;
            OK((round + k) % 2 ? MPI_Issend(&out[i], 1, MPI_INT, next, tag, comms[i], &send[i])
                               : MPI_Isend(&out[i], 1, MPI_INT, next, tag, comms[i], &send[i]));
        }
        switch (round % 5) {
        case 0:
            OK(MPI_Waitall(COMMS, receive, statuses));
            for (int i = 0; i < COMMS; i++)
                SAME(statuses[i].MPI_TAG, tag, "status of waitall");
            break;
        case 1:
            for (int i = 0; i < COMMS; i++) {
                OK(MPI_Waitany(COMMS, receive, &index, MPI_STATUS_IGNORE));
                CHECK(index >= 0 && index < COMMS && !seen[index]++, "waitany gave %d", index);
            }
            OK(MPI_Waitany(COMMS, receive, &index, MPI_STATUS_IGNORE));
            SAME(index, MPI_UNDEFINED, "waitany of null requests");
            break;
        case 2:
            while (done < COMMS) {
                OK(MPI_Waitsome(COMMS, receive, &count, indices, MPI_STATUSES_IGNORE));
                CHECK(count > 0, "waitsome gave %d", count);
                for (int i = 0; i < count; i++)
                    CHECK(!seen[indices[i]]++, "waitsome gave %d twice", indices[i]);
                done += count;
            }
            break;
        case 3:
            do
                OK(MPI_Testall(COMMS, receive, &flag, MPI_STATUSES_IGNORE));
            while (!flag);
            break;
        case 4:
            while (done < COMMS) {
                OK(MPI_Testsome(COMMS, receive, &count, indices, MPI_STATUSES_IGNORE));
                done += count;
                OK(MPI_Testany(COMMS, receive, &index, &flag, MPI_STATUS_IGNORE));
                done += flag && index != MPI_UNDEFINED;
            }
            break;
        }
        for (int i = 0; i < COMMS; i++) {
            SAME(in[i], out[i], "message of one of many communicators");
            CHECK(receive[i] == MPI_REQUEST_NULL, "request %d is left", i);
        }
        OK(MPI_Waitall(COMMS, send, MPI_STATUSES_IGNORE));
    }
    free(out);
    free(in);
    return NULL;
}

/* Threads of one communicator share its messages by matched probes: each message is received once. */
static atomic_long sum, got;
static void *probing(void *arg)
{
    enum { EACH = 100 };
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < EACH; i++) {
        int out = me * EACH + i, in;
        MPI_Request send;
        MPI_Message message;
        OK(MPI_Isend(&out, 1, MPI_INT, next, 7, comms[1], &send));
        OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comms[1], &message, MPI_STATUS_IGNORE));
        if (i % 2) {
            OK(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        } else {
            MPI_Request r;
            OK(MPI_Imrecv(&in, 1, MPI_INT, &message, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        atomic_fetch_add(&sum, in);
        atomic_fetch_add(&got, 1);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    return NULL;
}

/* Communicators are made and used by all threads at once, each from its own. */
static void *making(void *arg)
{
    MPI_Comm parent = comms[(int)(intptr_t)arg];
    for (int round = 0; round < 12; round++) {
        MPI_Comm copies[3];
        MPI_Request request;
        OK(MPI_Comm_dup(parent, &copies[0]));
        OK(MPI_Comm_split(copies[0], rank % 2, rank, &copies[1]));
        OK(MPI_Comm_idup(parent, &copies[2], &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < 3; i++) {
            int n, one = 1, all = 0, in = -1;
            MPI_Request r;
            OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, copies[i]));
            OK(MPI_Comm_size(copies[i], &n));
            SAME(all, n, "allreduce of a new communicator");
            OK(MPI_Comm_rank(copies[i], &one));
            OK(MPI_Irecv(&in, 1, MPI_INT, (one + n - 1) % n, 3, copies[i], &r));
            OK(MPI_Send(&one, 1, MPI_INT, (one + 1) % n, 3, copies[i]));
            /* Freed while the receive is under way: MPI-5.0 7.4.3. */
            OK(MPI_Comm_free(&copies[i]));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            SAME(in, (one + n - 1) % n, "message of a communicator that is freed");
        }
    }
    return NULL;
}

/* A thread that is blocked in one communicator moves the large message of another, whose owner makes no MPI call. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t told = PTHREAD_COND_INITIALIZER;
static int woken;

static void *blocked(void *arg)
{
    int v = -1;
    OK(MPI_Recv(&v, 1, MPI_INT, previous, 1, comms[*(int *)arg], MPI_STATUS_IGNORE));
    SAME(v, 4711, "what the blocked thread waits for");
    pthread_mutex_lock(&mutex);
    woken = 1;
    pthread_cond_signal(&told);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void progress(int mine, int other)
{
    char *large = check_alloc(LARGE), *in = check_alloc(LARGE);
    int v = 4711;
    pthread_t t;
    MPI_Request receive, send;
    memset(large, rank + 1, LARGE);
    woken = 0;
    OK(MPI_Irecv(in, LARGE, MPI_CHAR, previous, 0, comms[other], &receive));
    CHECK(pthread_create(&t, NULL, blocked, &mine) == 0, "no thread");
    /* Completes only when the receiver's blocked thread has moved it: then that thread is let go. */
    OK(MPI_Issend(large, LARGE, MPI_CHAR, next, 0, comms[other], &send));
    if (rank % 2 == 0) {
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        OK(MPI_Send(&v, 1, MPI_INT, next, 1, comms[mine]));
    }
    pthread_mutex_lock(&mutex);
    while (!woken)
        pthread_cond_wait(&told, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(t, NULL);
    if (rank % 2) {
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        OK(MPI_Send(&v, 1, MPI_INT, next, 1, comms[mine]));
    }
    OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
    for (int i = 0; i < LARGE; i++)
        SAME(in[i], previous + 1, "the large message");
    free(large);
    free(in);
}

/* A thread waits for requests of several communicators that another thread's message to the own process completes. */
static void *feeding(void *arg)
{
    (void)arg;
    for (int i = 0; i < 200; i++) {
        int v = i;
        OK(MPI_Recv(NULL, 0, MPI_INT, rank, 2, comms[0], MPI_STATUS_IGNORE));
        OK(MPI_Send(&v, 1, MPI_INT, rank, 3, comms[i % COMMS]));
    }
    return NULL;
}

static void fed(void)
{
    pthread_t t;
    MPI_Request r[COMMS];
    int in[COMMS];
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Irecv(&in[i], 1, MPI_INT, rank, 3, comms[i], &r[i]));
    CHECK(pthread_create(&t, NULL, feeding, NULL) == 0, "no thread");
    for (int i = 0; i < 200; i++) {
        int index;
        OK(MPI_Send(NULL, 0, MPI_INT, rank, 2, comms[0]));
        OK(MPI_Waitany(COMMS, r, &index, MPI_STATUS_IGNORE));
        SAME(index, i % COMMS, "the communicator that got a message");
        SAME(in[index], i, "the message");
        OK(MPI_Irecv(&in[index], 1, MPI_INT, rank, 3, comms[index], &r[index]));
    }
    pthread_join(t, NULL);
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Cancel(&r[i]));
        OK(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
    }
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    if (provided < MPI_THREAD_MULTIPLE) {
        OK(MPI_Finalize());
        return 77;
    }
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    next = (rank + 1) % size, previous = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[0]));
    for (int i = 1; i < COMMS; i++)
        OK(MPI_Comm_dup(comms[i - 1], &comms[i]));
    together(wildcards);
    together(across);
    together(probing);
    SAME(atomic_load(&got), THREADS * 100, "messages that were probed");
    SAME(atomic_load(&sum), (long)THREADS * 100 * (THREADS * 100 - 1) / 2, "their sum");
    together(making);
    if (size > 1)
        for (int i = 0; i < 8; i++)
            progress(i % COMMS, (i * 3 + 1) % COMMS);
    fed();
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_free(&comms[i]));
    if (rank == 0)
        puts("ok");
    OK(MPI_Finalize());
    return 0;
}
