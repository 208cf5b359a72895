/* ranks: 1 2 timeout: 60 */
/* MPI-5.0 7.7.2, 11.6.1: threads set, delete and copy attributes of one communicator at once. The delete callback is called once for each
 * value, and never for one that a copy callback is looking at. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { SETTERS = 2, VALUES = 200000, DUPS = 300, MOST = SETTERS * VALUES + DUPS + 1 };

static MPI_Comm comm;
static int key;
static atomic_int next = 1, deletions[MOST], copies_now[MOST], wrong;

static int copy(MPI_Comm old, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)old, (void)keyval, (void)extra;
    intptr_t v = (intptr_t)in;
    atomic_fetch_add(&copies_now[v], 1);
    if (atomic_load(&deletions[v]))
        wrong = 1;
    *(void **)out = (void *)(intptr_t)atomic_fetch_add(&next, 1);
    *flag = 1;
    atomic_fetch_sub(&copies_now[v], 1);
    return MPI_SUCCESS;
}

static int erase(MPI_Comm of, int keyval, void *value, void *extra)
{
    (void)of, (void)keyval, (void)extra;
    if (atomic_fetch_add(&deletions[(intptr_t)value], 1))
        wrong = 2;
    if (atomic_load(&copies_now[(intptr_t)value]))
        wrong = 3;
    return MPI_SUCCESS;
}

static void *setter(void *arg)
{
    for (int i = 0; i < VALUES; i++)
        OK(MPI_Comm_set_attr(comm, key, (void *)(intptr_t)atomic_fetch_add(&next, 1)));
    return arg;
}

static void *deleter(void *arg)
{
    for (int i = 0; i < VALUES; i++) {
        void *value;
        int there;
        OK(MPI_Comm_get_attr(comm, key, &value, &there));
        CHECK(!there || ((intptr_t)value > 0 && (intptr_t)value < MOST), "the attribute is %p", value);
        OK(MPI_Comm_delete_attr(comm, key));
    }
    return arg;
}

static void *duplicator(void *arg)
{
    for (int i = 0; i < DUPS; i++) {
        MPI_Comm other;
        OK(MPI_Comm_dup(comm, &other));
        OK(MPI_Comm_free(&other));
    }
    return arg;
}

int main(int argc, char **argv)
{
    int provided;
    void *(*work[])(void *) = { setter, setter, deleter, duplicator };
    enum { THREADS = sizeof work / sizeof *work };
    pthread_t threads[THREADS];
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return 77;
    }
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_keyval(copy, erase, &key, NULL));
    for (int t = 0; t < THREADS; t++)
        CHECK(pthread_create(&threads[t], NULL, work[t], NULL) == 0, "no thread");
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
    CHECK(wrong != 1, "a copy callback was called for a value that was deleted");
    CHECK(wrong != 2, "a value was deleted twice");
    CHECK(wrong != 3, "a value was deleted while it was being copied");
    for (int v = 1; v < atomic_load(&next); v++)
        SAME(deletions[v], 1, "deletions of a value");
    return check_end();
}
