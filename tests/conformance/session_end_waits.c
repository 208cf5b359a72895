/* ranks: 2 timeout: 60 */
/* MPI-5.0 11.3.1, 3.6, 15.3.8: while the last session's end waits for what is buffered to leave, a tool's function is called and reads a
 * variable, and another thread begins a session; the peer takes the messages only when both have happened. Does not apply without
 * MPI_THREAD_MULTIPLE or without the event type unexpected_message and the variable unexpected_queue. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MESSAGES = 8, BYTES = 1 << 20 };

static char data[BYTES];
static MPI_T_pvar_session tool;
static MPI_T_pvar_handle held;
static atomic_int told, read_code = -1;

static MPI_Session begin(const char *name, MPI_Comm *comm)
{
    MPI_Session s;
    MPI_Info info;
    MPI_Group g;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &g));
    OK(MPI_Comm_create_from_group(g, name, MPI_INFO_NULL, MPI_ERRORS_RETURN, comm));
    OK(MPI_Group_free(&g));
    return s;
}

static void callback(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)instance, (void)registration, (void)safety, (void)user_data;
    unsigned long long n;
    atomic_store(&read_code, MPI_T_pvar_read(tool, held, &n));
    atomic_store(&told, 1);
}

static void *second(void *arg)
{
    MPI_Comm comm;
    while (!atomic_load(&told))
        usleep(1000);
    MPI_Session s = begin("second", &comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&s));
    return arg;
}

int main(void)
{
    MPI_Comm comm;
    int level, event, variable, count, code = 0;
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    if (MPI_T_event_get_index("unexpected_message", &event) != MPI_SUCCESS ||
        MPI_T_pvar_get_index("unexpected_queue", MPI_T_PVAR_CLASS_LEVEL, &variable) != MPI_SUCCESS)
        return 77;
    MPI_Session s = begin("first", &comm);
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    if (rank == 0) {
        pthread_t thread;
        MPI_T_event_registration r;
        OK(MPI_T_pvar_session_create(&tool));
        OK(MPI_T_pvar_handle_alloc(tool, variable, NULL, &held, &count));
        OK(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &r));
        OK(MPI_Buffer_attach(malloc(MESSAGES * (BYTES + MPI_BSEND_OVERHEAD)), MESSAGES * (BYTES + MPI_BSEND_OVERHEAD)));
        for (int i = 0; i < MESSAGES; i++)
            OK(MPI_Bsend(data, BYTES, MPI_CHAR, 1, 0, comm));
        CHECK(pthread_create(&thread, NULL, second, NULL) == 0, "no thread");
        OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL, callback));
        OK(MPI_Send(&code, 1, MPI_INT, 1, 1, comm));
        OK(MPI_Session_finalize(&s));
        pthread_join(thread, NULL);
        SAME(read_code, MPI_SUCCESS, "a variable that is read while the session ends");
        printf("ok\n");
    } else {
        OK(MPI_Recv(&code, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
        OK(MPI_Send(&code, 1, MPI_INT, 0, 2, comm)); /* nobody receives it: an event at rank 0 */
        MPI_Comm other;
        MPI_Session t = begin("second", &other);
        for (int i = 0; i < MESSAGES; i++)
            OK(MPI_Recv(data, BYTES, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&other));
        OK(MPI_Session_finalize(&t));
        OK(MPI_Session_finalize(&s));
    }
    OK(MPI_T_finalize());
    return 0;
}
