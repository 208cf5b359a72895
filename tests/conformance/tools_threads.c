/* ranks: 1 2 timeout: 60 */
/* MPI-5.0 15.3.4, 15.3.8: tools and MPI procedures from several threads at once. Every event is told once, by one thread at a time; handles of
 * each thread count for themselves. Does not apply without MPI_THREAD_MULTIPLE or without the types error_raised and sent_self_messages. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4, ERRORS = 150, MESSAGES = 300 };

static int told, inside, overlapped, wrong_code;

static void callback(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)registration, (void)safety, (void)user_data;
    int code = -1;
    if (__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) != 1)
        __atomic_store_n(&overlapped, 1, __ATOMIC_SEQ_CST);
    if (MPI_T_event_read(instance, 0, &code) != MPI_SUCCESS || code != MPI_ERR_TAG)
        wrong_code = 1;
    told++;
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
}

static MPI_Comm comms[THREADS];
static unsigned long long counted[THREADS];

static void *work(void *arg)
{
    int me = *(int *)arg, at, count, v = me, w = -1;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_index("sent_self_messages", MPI_T_PVAR_CLASS_COUNTER, &at));
    OK(MPI_T_pvar_handle_alloc(session, at, NULL, &handle, &count));
    OK(MPI_T_pvar_start(session, handle));
    for (int i = 0; i < MESSAGES; i++) {
        OK(MPI_Sendrecv(&v, 1, MPI_INT, 0, 1, &w, 1, MPI_INT, 0, 1, comms[me], MPI_STATUS_IGNORE));
        SAME(w, me, "what came");
        if (i < ERRORS)
            FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, -5, comms[me]));
        if (i % 50 == 0) {
            OK(MPI_T_pvar_stop(session, handle));
            OK(MPI_T_pvar_start(session, handle));
        }
    }
    OK(MPI_T_pvar_read(session, handle, &counted[me]));
    OK(MPI_T_pvar_session_free(&session));
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, at, ids[THREADS];
    pthread_t threads[THREADS];
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int level;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    if (provided < MPI_THREAD_MULTIPLE || level < MPI_THREAD_MULTIPLE || MPI_T_event_get_index("error_raised", &at) != MPI_SUCCESS) {
        MPI_Finalize();
        return 77;
    }
    MPI_T_event_registration r;
    OK(MPI_T_event_handle_alloc(at, NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, callback));
    for (int t = 0; t < THREADS; t++) {
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[t]));
        OK(MPI_Comm_set_errhandler(comms[t], MPI_ERRORS_RETURN));
    }
    for (int t = 0; t < THREADS; t++) {
        ids[t] = t;
        CHECK(pthread_create(&threads[t], NULL, work, &ids[t]) == 0, "no thread");
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    SAME(told, THREADS * ERRORS, "events told");
    CHECK(!overlapped && !wrong_code, "callbacks overlapped: %d, wrong codes: %d", overlapped, wrong_code);
    for (int t = 0; t < THREADS; t++) {
        CHECK(counted[t] >= MESSAGES, "thread %d counted %llu messages of %d", t, counted[t], MESSAGES);
        OK(MPI_Comm_free(&comms[t]));
    }
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    OK(MPI_T_finalize());
    return check_end();
}
