/* ranks: 1 2 4 singleton */
/* MPI-5.0 11.3.1 and 11.6.2 thread levels of sessions: sessions that begin in other threads, with higher levels, while the main thread
 * communicates at MPI_THREAD_FUNNELED and must not notice. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 6, MESSAGES = 300 };

static atomic_int over;

static void ring(MPI_Comm comm, int seed)
{
    int me, n, out[20], in[20];
    MPI_Datatype three;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Type_contiguous(20, MPI_INT, &three));
    OK(MPI_Type_commit(&three));
    for (int k = 0; k < MESSAGES; k++) {
        MPI_Request r;
        for (int i = 0; i < 20; i++)
            out[i] = me + seed * 1000 + k * 7 + i;
        OK(MPI_Irecv(in, 1, three, (me + n - 1) % n, k % 5, comm, &r));
        OK(MPI_Send(out, 1, three, (me + 1) % n, k % 5, comm));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        for (int i = 0; i < 20; i++)
            SAME(in[i], (me + n - 1) % n + seed * 1000 + k * 7 + i, "from the left");
        if (k % 50 == 0) {
            int sum = -1;
            OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
            SAME(sum, n * (n - 1) / 2, "sum");
        }
    }
    OK(MPI_Type_free(&three));
}

static void *worker(void *number)
{
    int t = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        char tag[40];
        MPI_Session s;
        MPI_Info info, used;
        MPI_Group group;
        MPI_Comm c;
        int length = 40, flag;
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
        OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
        OK(MPI_Info_free(&info));
        /* 11.6.2: what others have asked for may limit what is granted; then there is nothing to try. */
        OK(MPI_Session_get_info(s, &used));
        OK(MPI_Info_get_string(used, "thread_level", &length, tag, &flag));
        OK(MPI_Info_free(&used));
        if (flag && strcmp(tag, "MPI_THREAD_MULTIPLE") == 0) {
            OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
            snprintf(tag, sizeof tag, "thread %d, round %d", t, round);
            OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
            OK(MPI_Group_free(&group));
            ring(c, t + 1);
            OK(MPI_Comm_free(&c));
        }
        OK(MPI_Session_finalize(&s));
    }
    atomic_fetch_add(&over, 1);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(provided >= MPI_THREAD_FUNNELED, "level %d", provided);
    MPI_Comm dup;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    for (intptr_t t = 0; t < THREADS; t++)
        if (pthread_create(&threads[t], NULL, worker, (void *)t))
            return 77;
    /* The same number of turns at every rank. */
    int mine, all = 0;
    while (all < THREADS * size) {
        ring(dup, 0);
        mine = atomic_load(&over);
        OK(MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    OK(MPI_Query_thread(&mine));
    SAME(mine, provided, "the level of the World Model");
    OK(MPI_Comm_free(&dup));
    OK(MPI_Finalize());
    if (rank == 0)
        printf("ok\n");
    return 0;
}
