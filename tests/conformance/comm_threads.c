/* ranks: 1 2 3 4 timeout: 300 */
/* MPI-5.0 7.4.2, 7.6, 11.6: threads that make communicators at once; their messages never meet */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60 };

static MPI_Comm comms[THREADS];
static MPI_Group world;

/* A message around the ring and a sum, with values that no other communicator has. */
static void works(MPI_Comm comm, int salt, const char *what)
{
    int n, r, got = -1, sum = 0;
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_rank(comm, &r));
    int v = salt + r;
    OK(MPI_Sendrecv(&v, 1, MPI_INT, (r + 1) % n, 3, &got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    SAME(got, salt + (r + n - 1) % n, what);
    OK(MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, comm));
    SAME(sum, n * salt + n * (n - 1) / 2, what);
}

/* Each thread duplicates, splits and frees below a communicator of its own. */
static void *duplicate(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm dup, part, later;
        MPI_Request request;
        OK(MPI_Comm_dup(comms[me], &dup));
        works(dup, 1000 * me + 10000 * i, "dup in a thread");
        OK(MPI_Comm_idup(dup, &later, &request));
        OK(MPI_Comm_split(dup, rank % 2, 0, &part));
        works(part, 1000 * me + 10000 * i + 1, "split in a thread");
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&dup));
        works(later, 1000 * me + 10000 * i + 2, "idup in a thread");
        OK(MPI_Comm_free(&part));
        OK(MPI_Comm_free(&later));
    }
    return NULL;
}

/* All threads on one parent: the tags tell the calls apart. */
static void *with_tags(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm made;
        MPI_Group some = world;
        int last = size - 1;
        if (i % 2 && size > 1)
            OK(MPI_Group_excl(world, 1, &last, &some));
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, some, me, &made));
        CHECK((made == MPI_COMM_NULL) == (some != world && rank == last), "create_group of thread %d", me);
        if (made != MPI_COMM_NULL) {
            works(made, 1000 * me + 10000 * i, "create_group in a thread");
            OK(MPI_Comm_free(&made));
        }
        if (some != world)
            OK(MPI_Group_free(&some));
    }
    return NULL;
}

/* Intercommunicators between the first rank and the others, by one peer communicator with different tags. */
static void *between(void *arg)
{
    int me = (int)(intptr_t)arg;
    if (size < 2)
        return NULL;
    MPI_Comm part;
    OK(MPI_Comm_split(comms[me], rank == 0, 0, &part));
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm inter, merged;
        int v = rank + 100 * me + 1000 * i, sum = -1, want = 0;
        OK(MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, rank == 0, me, &inter));
        OK(MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, inter));
        for (int r = rank == 0; r < (rank == 0 ? size : 1); r++)
            want += r + 100 * me + 1000 * i;
        SAME(sum, want, "allreduce between groups in a thread");
        OK(MPI_Intercomm_merge(inter, rank != 0, &merged));
        works(merged, 1000 * me + 10000 * i, "merge in a thread");
        OK(MPI_Comm_free(&merged));
        OK(MPI_Comm_free(&inter));
    }
    OK(MPI_Comm_free(&part));
    return NULL;
}

/* Without any parent: the strings tell the calls apart. */
static void *with_strings(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm made;
        char tag[32];
        snprintf(tag, sizeof tag, "thread %d", me);
        OK(MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made));
        works(made, 1000 * me + 10000 * i, "create_from_group in a thread");
        OK(MPI_Comm_free(&made));
    }
    return NULL;
}

static void at_once(void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work, (void *)(intptr_t)t) == 0, "no thread %d", t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    at_once(duplicate);
    at_once(with_tags);
    at_once(between);
    at_once(with_strings);
    OK(MPI_Group_free(&world));
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_free(&comms[t]));
    return check_end();
}
