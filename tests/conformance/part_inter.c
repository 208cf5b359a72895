/* ranks: 2 3 4 */
/* MPI-5.0 3.2.4, 3.6, 3.8.4, 4.2.1 on intercommunicators: ranks are those of the remote group */
#include "check.h"

int main(int argc, char **argv)
{
    enum { COUNT = 30000 };
    MPI_Comm half, inter;
    check_begin(&argc, &argv);
    int upper = rank >= size / 2, remote = -1, mine, flag, bytes;
    OK(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half));
    OK(MPI_Comm_rank(half, &mine));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 3, &inter));
    OK(MPI_Comm_remote_size(inter, &remote));
    /* The first of each side talk to the last of the other. */
    int *out = check_alloc(COUNT * sizeof(int)), *in = check_alloc(COUNT * sizeof(int));
    MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
    MPI_Status status;
    int local = size - remote, sends = mine == 0, receives = mine == local - 1;
    for (int round = 0; round < 4; round++) {
        if (sends && round == 0)
            OK(MPI_Psend_init(out, 6, COUNT / 6, MPI_INT, remote - 1, 1, inter, MPI_INFO_NULL, &send));
        if (receives && round == 0)
            OK(MPI_Precv_init(in, 4, COUNT / 4, MPI_INT, 0, 1, inter, MPI_INFO_NULL, &receive));
        for (int i = 0; i < COUNT; i++)
            out[i] = upper * 100 + round + i, in[i] = -1;
        if (receives)
            OK(MPI_Start(&receive));
        if (sends) {
            OK(MPI_Start(&send));
            OK(MPI_Pready_range(0, 5, send));
        }
        if (receives) {
            for (flag = 0; !flag;)
                OK(MPI_Parrived(receive, 3, &flag));
            OK(MPI_Wait(&receive, &status));
            SAME(status.MPI_SOURCE, 0, "source in the remote group");
            for (int i = 0; i < COUNT; i++)
                SAME(in[i], !upper * 100 + round + i, "partitions between groups");
        }
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    }
    if (sends)
        OK(MPI_Request_free(&send));
    if (receives)
        OK(MPI_Request_free(&receive));

    /* Buffered sends, with a buffer of the intercommunicator. */
    void *got;
    OK(MPI_Comm_attach_buffer(inter, MPI_BUFFER_AUTOMATIC, 0));
    if (sends)
        OK(MPI_Bsend(out, COUNT, MPI_INT, remote - 1, 2, inter));
    if (receives) {
        OK(MPI_Recv(in, COUNT, MPI_INT, MPI_ANY_SOURCE, 2, inter, &status));
        SAME(status.MPI_SOURCE, 0, "source of a buffered message");
    }
    OK(MPI_Comm_detach_buffer(inter, &got, &bytes));
    /* A synchronous send that nobody receives. */
    if (sends) {
        OK(MPI_Issend(out, COUNT, MPI_INT, remote - 1, 4, inter, &send));
        OK(MPI_Cancel(&send));
        OK(MPI_Wait(&send, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        SAME(flag, 1, "a synchronous send that completed without a receive");
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    free(out);
    free(in);
    return check_end();
}
