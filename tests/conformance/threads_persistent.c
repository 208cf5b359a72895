/* ranks: 1 2 */
/* MPI-5.0 3.9, 11.6: one thread starts and completes persistent requests while another asks for their status */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

static MPI_Request requests[2];
static atomic_int stop;

static void *ask(void *unused)
{
    (void)unused;
    while (!atomic_load(&stop)) {
        int flag;
        OK(MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE));
        OK(MPI_Request_get_status(requests[1], &flag, MPI_STATUS_IGNORE));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, in = 0, out = 0;
    pthread_t t;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    if (provided < MPI_THREAD_MULTIPLE) {
        OK(MPI_Finalize());
        return 77;
    }
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &requests[1]));
    CHECK(pthread_create(&t, NULL, ask, NULL) == 0, "pthread_create");
    for (int i = 1; i <= 20000; i++) {
        out = i;
        OK(MPI_Start(&requests[0]));
        OK(MPI_Start(&requests[1]));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
        SAME(in, i, "persistent message");
    }
    atomic_store(&stop, 1);
    CHECK(pthread_join(t, NULL) == 0, "pthread_join");
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    return check_end();
}
