/* ranks: 1 2 4 timeout: 300 */
/* MPI-5.0 11.6.2, 6.12: collectives and messages started in one thread and completed in another, of several communicators at once */
#include "check.h"
#include <pthread.h>

/* Half of the threads start collectives and messages in a communicator of their own each; the other half complete what they are given by
 * them, so that requests are started in one thread, waited for in another and advanced in any. */
enum { PAIRS = 3, ROUNDS = 300, BATCH = 6, N = 600 };

struct pair {
    MPI_Comm comm;
    MPI_Request requests[BATCH];
    MPI_Op op;
    int in[BATCH][N], out[BATCH][N], round, number;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int full;
};

/* Composition of x -> a x + b: order matters. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *t)
{
    (void)t;
    unsigned *a = in, *b = inout;
    for (int i = 0; i + 1 < *len; i += 2) {
        unsigned x = a[i] * b[i], y = a[i] * b[i + 1] + a[i + 1];
        b[i] = x, b[i + 1] = y;
    }
}

static int value(int r, int i, const struct pair *p) { return r * 5 + i + p->round * 3 + p->number + 1; }

static void hand_over(struct pair *p, int full)
{
    pthread_mutex_lock(&p->lock);
    p->full = full;
    pthread_cond_broadcast(&p->changed);
    while (p->full == full)
        pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *starts(void *arg)
{
    struct pair *p = arg;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (p->round = 0; p->round < ROUNDS; p->round++) {
        int k = p->round % 4 == 0 ? N : 2;
        for (int b = 0; b < BATCH; b++)
            for (int i = 0; i < k; i++)
                p->in[b][i] = value(rank, i, p), p->out[b][i] = rank == p->round % size ? value(rank, i, p) : -1;
        OK(MPI_Iallreduce(p->in[0], p->out[0], k, MPI_INT, MPI_SUM, p->comm, &p->requests[0]));
        OK(MPI_Ibcast(p->out[1], k, MPI_INT, p->round % size, p->comm, &p->requests[1]));
        OK(MPI_Irecv(p->out[2], k, MPI_INT, left, 9, p->comm, &p->requests[2]));
        OK(MPI_Iscan(p->in[3], p->out[3], k, MPI_INT, p->op, p->comm, &p->requests[3]));
        OK(MPI_Isend(p->in[2], k, MPI_INT, right, 9, p->comm, &p->requests[4]));
        OK(MPI_Ibarrier(p->comm, &p->requests[5]));
        hand_over(p, 1);
    }
    return NULL;
}

static void *completes(void *arg)
{
    struct pair *p = arg;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&p->lock);
        while (!p->full)
            pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        int k = round % 4 == 0 ? N : 2, flag = 0, left = (rank + size - 1) % size;
        if (round % 3 == 0)
            for (int b = BATCH - 1; b >= 0; b--)
                OK(MPI_Wait(&p->requests[b], MPI_STATUS_IGNORE));
        else if (round % 3 == 1)
            OK(MPI_Waitall(BATCH, p->requests, MPI_STATUSES_IGNORE));
        else
            while (!flag)
                OK(MPI_Testall(BATCH, p->requests, &flag, MPI_STATUSES_IGNORE));
        for (int i = 0; i < k; i++) {
            SAME(p->out[0][i], size * value(0, i, p) + 5 * size * (size - 1) / 2, "allreduce");
            SAME(p->out[1][i], value(round % size, i, p), "bcast");
            SAME(p->out[2][i], value(left, i, p), "a message");
            unsigned x = 1, y = 0;
            for (int r = rank; r >= 0; r--)
                y = (unsigned)value(r, i & ~1, p) * y + (unsigned)value(r, i | 1, p), x *= (unsigned)value(r, i & ~1, p);
            SAME(p->out[3][i], (int)(i & 1 ? y : x), "scan");
        }
        pthread_mutex_lock(&p->lock);
        p->full = 0;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    if (level < MPI_THREAD_MULTIPLE)
        return 77;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static struct pair pairs[PAIRS];
    pthread_t threads[PAIRS][2];
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].number = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &pairs[i].comm));
        OK(MPI_Op_create(compose, 0, &pairs[i].op));
        pthread_mutex_init(&pairs[i].lock, NULL);
        pthread_cond_init(&pairs[i].changed, NULL);
    }
    for (int i = 0; i < PAIRS; i++) {
        pthread_create(&threads[i][0], NULL, starts, &pairs[i]);
        pthread_create(&threads[i][1], NULL, completes, &pairs[i]);
    }
    for (int i = 0; i < PAIRS; i++) {
        pthread_join(threads[i][0], NULL);
        pthread_join(threads[i][1], NULL);
    }
    for (int i = 0; i < PAIRS; i++) {
        OK(MPI_Op_free(&pairs[i].op));
        OK(MPI_Comm_free(&pairs[i].comm));
    }
    return check_end();
}
