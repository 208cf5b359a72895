/* ranks: 1 timeout: 60 */
/* MPI-5.0 15.3.8: a callback is not called after the free callback of its registration, nor after the last MPI_T_finalize; registrations come
 * and go while other threads make events. Does not apply without MPI_THREAD_MULTIPLE or without the type error_raised. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ROUNDS = 20000 };

static MPI_T_event_registration both[2];
static int freed[2], told[2], type;
static atomic_int begun, ended, over;

static void is_freed(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)registration, (void)safety;
    *(int *)user_data = 1;
}

/* Whichever of the two is called first frees the other. */
static void frees_other(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)instance, (void)registration, (void)safety;
    int me = (int)(intptr_t)user_data;
    CHECK(!freed[me], "a callback was called after the free callback of its registration");
    told[me]++;
    if (!freed[!me])
        OK(MPI_T_event_handle_free(both[!me], &freed[!me], is_freed));
}

static void raise_error(void)
{
    int n;
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &n));
}

static void frees_within(void)
{
    for (int i = 0; i < 2; i++) {
        OK(MPI_T_event_handle_alloc(type, NULL, MPI_INFO_NULL, &both[i]));
        OK(MPI_T_event_register_callback(both[i], MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, (void *)(intptr_t)i, frees_other));
    }
    raise_error();
    raise_error();
    SAME(freed[0] + freed[1], 1, "registrations that were freed");
    SAME(told[0] + told[1], 2, "calls");
    OK(MPI_T_event_handle_free(both[freed[0]], NULL, NULL));
}

static void nothing(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)instance, (void)registration, (void)safety, (void)user_data;
}

static void *raises(void *arg)
{
    while (!atomic_load(&over))
        raise_error();
    return arg;
}

/* Neither thread waits for the other for ever. */
static void come_and_go(void)
{
    pthread_t other;
    CHECK(pthread_create(&other, NULL, raises, NULL) == 0, "no thread");
    for (int i = 0; i < ROUNDS; i++) {
        MPI_T_event_registration r;
        OK(MPI_T_event_handle_alloc(type, NULL, MPI_INFO_NULL, &r));
        OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, nothing));
        OK(MPI_T_event_handle_free(r, NULL, NULL));
    }
    atomic_store(&over, 1);
    pthread_join(other, NULL);
}

static void lasts(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)instance, (void)registration, (void)safety, (void)user_data;
    atomic_store(&begun, 1);
    usleep(50000); /* so that MPI_T_finalize is there before the end; nothing is decided by it */
    atomic_store(&ended, 1);
}

static void *raises_once(void *arg)
{
    raise_error();
    return arg;
}

static void finalize_waits(void)
{
    pthread_t other;
    MPI_T_event_registration r;
    OK(MPI_T_event_handle_alloc(type, NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, lasts));
    CHECK(pthread_create(&other, NULL, raises_once, NULL) == 0, "no thread");
    while (!atomic_load(&begun))
        usleep(100);
    OK(MPI_T_finalize());
    CHECK(atomic_load(&ended), "a callback was running when MPI_T_finalize returned");
    pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
    int provided, level;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    if (provided < MPI_THREAD_MULTIPLE || level < MPI_THREAD_MULTIPLE || MPI_T_event_get_index("error_raised", &type) != MPI_SUCCESS) {
        MPI_Finalize();
        return 77;
    }
    /* Errors without an object of their own are those of MPI_COMM_SELF. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    frees_within();
    come_and_go();
    finalize_waits();
    return check_end();
}
