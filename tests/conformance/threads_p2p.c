/* ranks: 1 2 3 4 */
/* MPI-5.0 3.8.2, 3.7.5, 11.6: threads that probe and receive the same messages, wait for sets of requests of their own,
 * cancel, send buffered and free, all in one communicator */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, MESSAGES = 300, LONGEST = 9000 };

static int next, previous;
static atomic_int taken, seen[THREADS * MESSAGES];

static int length(int id)
{
    return id % 40 == 39 ? LONGEST : id % 97;
}

/* All threads send to the right; all take what comes from the left, whoever it was for, by four procedures. */
static void *mprobes(void *arg)
{
    int me = (int)(intptr_t)arg, *out = check_alloc(LONGEST * sizeof(int)), *in = check_alloc(LONGEST * sizeof(int));
    for (int k = 0; k < MESSAGES; k++) {
        int id = me * MESSAGES + k, flag = 0, count = -1;
        MPI_Request send, receive;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Status status;
        out[0] = id;
        for (int i = 1; i <= length(id); i++)
            out[i] = id + i;
        OK(MPI_Isend(out, 1 + length(id) % LONGEST, MPI_INT, next, 7, MPI_COMM_WORLD, &send));
        while (k % 2 && !flag)
            OK(MPI_Improbe(previous, 7, MPI_COMM_WORLD, &flag, &message, &status));
        if (k % 2 == 0)
            OK(MPI_Mprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &message, &status));
        OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK(count >= 1 && count <= LONGEST, "a probed message of %d ints", count);
        if (k % 3) {
            OK(MPI_Mrecv(in, count, MPI_INT, &message, &status));
        } else {
            OK(MPI_Imrecv(in, count, MPI_INT, &message, &receive));
            OK(MPI_Wait(&receive, &status));
        }
        CHECK(message == MPI_MESSAGE_NULL, "a matched receive leaves the message");
        SAME(count, 1 + length(in[0]) % LONGEST, "count of a matched message");
        for (int i = 1; i < count; i++)
            SAME(in[i], in[0] + i, "data of a matched message");
        SAME(atomic_fetch_add(&seen[in[0]], 1), 0, "a message was received twice");
        atomic_fetch_add(&taken, 1);
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    free(out);
    free(in);
    return NULL;
}

/* Sets of requests that are disjoint, completed by forms that differ, with one that is cancelled in each. */
static void *sets(void *arg)
{
    enum { N = 12, ROUNDS = 60 };
    int me = (int)(intptr_t)arg, out[N], in[N + 1], index, count, indices[2 * N + 1], flag;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request r[2 * N + 1];
        MPI_Status s[2 * N + 1], one;
        int left = 2 * N + 1, cancelled = 0;
        for (int i = 0; i < N; i++) {
            out[i] = rank * 1000 + me * 100 + round + i;
            in[i] = -1;
            OK(MPI_Irecv(&in[i], 1, MPI_INT, previous, me * N + i, MPI_COMM_WORLD, &r[i]));
        }
        OK(MPI_Irecv(&in[N], 1, MPI_INT, MPI_ANY_SOURCE, 5000 + me, MPI_COMM_WORLD, &r[2 * N]));
        for (int i = N - 1; i >= 0; i--)
            OK(MPI_Isend(&out[i], 1, MPI_INT, next, me * N + i, MPI_COMM_WORLD, &r[N + i]));
        OK(MPI_Cancel(&r[2 * N]));
        while (left > 0) {
            switch ((round + me) % 4) {
            case 0:
                OK(MPI_Waitany(2 * N + 1, r, &index, &one));
                count = 1, indices[0] = index, s[0] = one;
                break;
            case 1:
                OK(MPI_Waitsome(2 * N + 1, r, &count, indices, s));
                break;
            case 2:
                OK(MPI_Testany(2 * N + 1, r, &index, &flag, &one));
                count = flag, indices[0] = index, s[0] = one;
                break;
            default:
                OK(MPI_Waitall(2 * N + 1, r, s));
                count = 2 * N + 1;
                for (int i = 0; i < count; i++)
                    indices[i] = i;
            }
            for (int c = 0; c < count; c++)
                if (indices[c] == 2 * N)
                    OK(MPI_Test_cancelled(&s[c], &cancelled));
                else if (indices[c] < N)
                    SAME(s[c].MPI_TAG, me * N + indices[c], "tag in a thread's set");
            left -= count;
        }
        SAME(cancelled, 1, "the receive that was cancelled");
        for (int i = 0; i < N; i++)
            SAME(in[i], previous * 1000 + me * 100 + round + i, "message of a thread's set");
    }
    return NULL;
}

/* Buffered sends of all threads go through one buffer, which two of them flush. */
static void *buffered(void *arg)
{
    int me = (int)(intptr_t)arg, *out = check_alloc(LONGEST * sizeof(int)), *in = check_alloc(LONGEST * sizeof(int));
    for (int round = 0; round < 60; round++) {
        MPI_Request receive, flush = MPI_REQUEST_NULL;
        for (int i = 0; i < LONGEST; i++)
            out[i] = rank + me + round + i;
        OK(MPI_Irecv(in, LONGEST, MPI_INT, previous, 100 + me, MPI_COMM_WORLD, &receive));
        OK(MPI_Bsend(out, LONGEST, MPI_INT, next, 100 + me, MPI_COMM_WORLD));
        if (me == 0)
            OK(MPI_Buffer_flush());
        if (me == 1)
            OK(MPI_Buffer_iflush(&flush));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
        for (int i = 0; i < LONGEST; i++)
            SAME(in[i], previous + me + round + i, "buffered message of a thread");
    }
    free(out);
    free(in);
    return NULL;
}

static void in_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, body, (void *)(intptr_t)t) == 0, "pthread_create");
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_join(threads[t], NULL) == 0, "pthread_join");
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int provided, bytes;
    void *got;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        OK(MPI_Finalize());
        return 77;
    }
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    in_threads(mprobes);
    SAME(taken, THREADS * MESSAGES, "messages received by all threads");
    in_threads(sets);
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    in_threads(buffered);
    OK(MPI_Buffer_detach(&got, &bytes));
    return check_end();
}
