/* ranks: 1 2 */
/* MPI-5.0 15.3.7: variables that are bound to a communicator, read by another thread below MPI_THREAD_MULTIPLE, and after the communicator is
 * gone. Does not apply without the variables coll_shared_rounds, sent_self_messages and live_communicators. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

static MPI_T_pvar_session session;
static MPI_T_pvar_handle bound, counter;
static MPI_Comm comm;
static int of_comm, of_all;
static atomic_int over;

static unsigned long long number(MPI_T_pvar_handle h)
{
    unsigned long long n = 77;
    OK(MPI_T_pvar_read(session, h, &n));
    return n;
}

/* A tool's thread: it cannot look at communicators while another thread may change them. */
static void *look(void *arg)
{
    MPI_T_pvar_handle other;
    unsigned long long n;
    int count;
    do {
        SAME(MPI_T_pvar_read(session, bound, &n), MPI_T_ERR_NOT_ACCESSIBLE, "another thread at MPI_THREAD_FUNNELED");
        SAME(MPI_T_pvar_handle_alloc(session, of_comm, &comm, &other, &count), MPI_T_ERR_NOT_ACCESSIBLE, "another thread");
    } while (!atomic_load(&over));
    return arg;
}

static void other_thread(void)
{
    pthread_t tool;
    int r;
    CHECK(pthread_create(&tool, NULL, look, NULL) == 0, "no thread");
    for (int i = 0; i < 200000; i++)
        OK(MPI_Comm_rank(comm, &r));
    atomic_store(&over, 1);
    pthread_join(tool, NULL);
    number(bound); /* this thread can */
}

static void gone(void)
{
    int v = 0, w, count, at;
    MPI_T_pvar_handle live;
    OK(MPI_T_pvar_get_index("live_communicators", MPI_T_PVAR_CLASS_LEVEL, &at));
    OK(MPI_T_pvar_handle_alloc(session, at, NULL, &live, &count));
    SAME(number(live), 1, "communicators");
    OK(MPI_Comm_free(&comm));
    SAME(number(live), 0, "communicators after the last was freed");
    SAME(MPI_T_pvar_start(session, bound), MPI_T_ERR_NOT_ACCESSIBLE, "a variable of a communicator that was freed");
    /* The other handle is started all the same. */
    CHECK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES) != MPI_SUCCESS, "one handle could not be started");
    OK(MPI_Sendrecv(&v, 1, MPI_INT, rank, 0, &w, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(number(counter), 1, "messages to itself");
    CHECK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES) != MPI_SUCCESS, "one handle could not be reset");
    SAME(number(counter), 0, "messages to itself after a reset");
}

int main(int argc, char **argv)
{
    int provided, level, count;
    setenv("OXMPI_PT2PT_PROGRESS_THREAD", "no", 1); /* with it there are locks, and every thread can look */
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    if (provided != MPI_THREAD_FUNNELED || level < MPI_THREAD_MULTIPLE ||
        MPI_T_pvar_get_index("coll_shared_rounds", MPI_T_PVAR_CLASS_COUNTER, &of_comm) != MPI_SUCCESS) {
        MPI_Finalize();
        return 77;
    }
    OK(MPI_T_pvar_get_index("sent_self_messages", MPI_T_PVAR_CLASS_COUNTER, &of_all));
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_T_pvar_handle_alloc(session, of_comm, &comm, &bound, &count));
    OK(MPI_T_pvar_handle_alloc(session, of_all, NULL, &counter, &count));
    other_thread();
    gone();
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return check_end();
}
