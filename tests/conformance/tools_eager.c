/* ranks: 2 timeout: 60 */
/* MPI-5.0 15.3.6, 15.3.7: a control variable that is written takes effect, and a performance variable shows it. The variables are
 * those of one implementation, pt2pt_eager_limit and pending_operations; the test does not apply where they are not there. */
#include "check.h"

enum { SHORT = 8 << 10, LONG = 64 << 10, DATA = 1, TOKEN = 2 };

static MPI_T_cvar_handle limit;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle pending;

static void set_limit(unsigned long long bytes)
{
    unsigned long long now = 0;
    OK(MPI_T_cvar_write(limit, &bytes));
    OK(MPI_T_cvar_read(limit, &now));
    SAME(now, bytes, "pt2pt_eager_limit");
}

static unsigned long long operations(void)
{
    unsigned long long n = 99;
    OK(MPI_T_pvar_read(session, pending, &n));
    return n;
}

int main(int argc, char **argv)
{
    static char data[LONG];
    int provided, at, count, flag;
    MPI_Request request;
    check_begin(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    if (MPI_T_cvar_get_index("pt2pt_eager_limit", &at) != MPI_SUCCESS) {
        printf("there is no variable pt2pt_eager_limit here\n");
        MPI_Finalize();
        return 77;
    }
    OK(MPI_T_cvar_handle_alloc(at, NULL, &limit, &count));
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_index("pending_operations", MPI_T_PVAR_CLASS_LEVEL, &at));
    OK(MPI_T_pvar_handle_alloc(session, at, NULL, &pending, &count));

    if (rank == 0) {
        /* More than the limit: it cannot complete before the receive, which waits for the token. */
        set_limit(4096);
        SAME(operations(), 0, "nothing has begun");
        OK(MPI_Isend(data, SHORT, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &request));
        for (int i = 0; i < 1000; i++) {
            OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
            CHECK(!flag, "a send of %d bytes completed without its receive", SHORT);
        }
        SAME(operations(), 1, "a send waits");
        OK(MPI_Send(NULL, 0, MPI_BYTE, 1, TOKEN, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        SAME(operations(), 0, "all is done");
        /* Less than the limit: it completes, though the receive waits for the token that follows. */
        set_limit(1 << 20);
        OK(MPI_Send(data, LONG, MPI_BYTE, 1, DATA, MPI_COMM_WORLD));
        OK(MPI_Send(NULL, 0, MPI_BYTE, 1, TOKEN, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(data, SHORT, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(data, LONG, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_T_finalize());
    return check_end();
}
