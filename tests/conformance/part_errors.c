/* ranks: 1 2 */
/* MPI-5.0 4.2: what is erroneous in partitioned communication is refused, and what was going on goes on */
#include "check.h"

int main(int argc, char **argv)
{
    int v[8] = { 0 }, in[8] = { 0 }, list[3] = { 1, 2, 1 }, flag, class;
    MPI_Request send, receive, plain, persistent, request = MPI_REQUEST_NULL;
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Info none = MPI_INFO_NULL;
    MPI_Datatype uncommitted;
    check_begin(&argc, &argv);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    OK(MPI_Comm_set_errhandler(w, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));

    FAILS(MPI_ERR_ARG, MPI_Psend_init(v, 0, 1, MPI_INT, next, 1, w, none, &request));
    FAILS(MPI_ERR_ARG, MPI_Precv_init(v, -1, 1, MPI_INT, previous, 1, w, none, &request));
    FAILS(MPI_ERR_COUNT, MPI_Psend_init(v, 1, -1, MPI_INT, next, 1, w, none, &request));
    FAILS(MPI_ERR_COUNT, MPI_Psend_init_c(v, 1 << 30, (MPI_Count)1 << 40, MPI_INT, next, 1, w, none, &request));
    FAILS(MPI_ERR_RANK, MPI_Psend_init(v, 1, 1, MPI_INT, size, 1, w, none, &request));
    FAILS(MPI_ERR_RANK, MPI_Precv_init(v, 1, 1, MPI_INT, MPI_ANY_SOURCE, 1, w, none, &request));
    FAILS(MPI_ERR_TAG, MPI_Precv_init(v, 1, 1, MPI_INT, previous, MPI_ANY_TAG, w, none, &request));
    FAILS(MPI_ERR_TAG, MPI_Psend_init(v, 1, 1, MPI_INT, next, -8, w, none, &request));
    FAILS(MPI_ERR_TYPE, MPI_Psend_init(v, 1, 1, MPI_DATATYPE_NULL, next, 1, w, none, &request));
    FAILS(MPI_ERR_COMM, MPI_Psend_init(v, 1, 1, MPI_INT, next, 1, MPI_COMM_NULL, none, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Psend_init(NULL, 1, 1, MPI_INT, next, 1, w, none, &request));
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    FAILS(MPI_ERR_TYPE, MPI_Precv_init(v, 1, 1, uncommitted, previous, 1, w, none, &request));
    OK(MPI_Type_free(&uncommitted));

    OK(MPI_Psend_init_c(v, 4, 2, MPI_INT, next, 1, w, none, &send));
    OK(MPI_Precv_init_c(in, 2, 4, MPI_INT, previous, 1, w, none, &receive));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, send));                    /* not started */
    FAILS(MPI_ERR_REQUEST, MPI_Cancel(&send));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 8; i++)
            v[i] = rank + round * 10 + i, in[i] = -1;
        OK(MPI_Start(&send));
        FAILS(MPI_ERR_REQUEST, MPI_Start(&send));
        OK(MPI_Start(&receive));
        FAILS(MPI_ERR_REQUEST, MPI_Start(&receive));
        FAILS(MPI_ERR_ARG, MPI_Pready(4, send));
        FAILS(MPI_ERR_ARG, MPI_Pready(-1, send));
        FAILS(MPI_ERR_ARG, MPI_Pready_range(2, 4, send));
        FAILS(MPI_ERR_ARG, MPI_Pready_list(3, list, send));         /* one of them twice: none is marked */
        FAILS(MPI_ERR_ARG, MPI_Pready_list(-1, list, send));
        FAILS(MPI_ERR_ARG, MPI_Pready_list(2, NULL, send));
        FAILS(MPI_ERR_REQUEST, MPI_Pready(0, receive));
        FAILS(MPI_ERR_REQUEST, MPI_Pready(0, MPI_REQUEST_NULL));
        FAILS(MPI_ERR_REQUEST, MPI_Parrived(send, 0, &flag));
        FAILS(MPI_ERR_ARG, MPI_Parrived(receive, 2, &flag));
        FAILS(MPI_ERR_ARG, MPI_Parrived(receive, -1, &flag));
        OK(MPI_Pready(1, send));
        FAILS(MPI_ERR_ARG, MPI_Pready(1, send));                    /* twice */
        FAILS(MPI_ERR_ARG, MPI_Pready_range(0, 3, send));
        FAILS(MPI_ERR_REQUEST, MPI_Request_free(&send));            /* active */
        FAILS(MPI_ERR_REQUEST, MPI_Cancel(&receive));
        CHECK(send != MPI_REQUEST_NULL, "a refused request_free took the handle");
        OK(MPI_Pready(0, send));
        OK(MPI_Pready_range(2, 3, send));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_REQUEST, MPI_Pready(0, send));                /* no longer started */
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        for (int i = 0; i < 8; i++)
            SAME(in[i], previous + round * 10 + i, "data beside refused calls");
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, send));

    /* Other requests have no partitions. */
    OK(MPI_Irecv(in, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &plain));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, plain));
    FAILS(MPI_ERR_REQUEST, MPI_Parrived(plain, 0, &flag));
    OK(MPI_Send(v, 1, MPI_INT, 0, 3, MPI_COMM_SELF));
    OK(MPI_Wait(&plain, MPI_STATUS_IGNORE));
    OK(MPI_Send_init(v, 1, MPI_INT, 0, 3, MPI_COMM_SELF, &persistent));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, persistent));
    FAILS(MPI_ERR_REQUEST, MPI_Parrived(persistent, 0, &flag));
    OK(MPI_Request_free(&persistent));

    /* Buffers of different size: both sides learn it when they complete. */
    for (int longer = 0; longer < 2; longer++) {
        OK(MPI_Psend_init(v, 2, longer ? 3 : 1, MPI_INT, next, 2, w, none, &send));
        OK(MPI_Precv_init(in, 2, 2, MPI_INT, previous, 2, w, none, &receive));
        OK(MPI_Start(&send));
        OK(MPI_Start(&receive));
        OK(MPI_Pready_range(0, 1, send));
        int code = MPI_Wait(&receive, MPI_STATUS_IGNORE);
        OK(MPI_Error_class(code, &class));
        CHECK(class != MPI_SUCCESS, "a receive of another size than its send");
        code = MPI_Wait(&send, MPI_STATUS_IGNORE);
        OK(MPI_Error_class(code, &class));
        CHECK(class != MPI_SUCCESS, "a send of another size than its receive");
        OK(MPI_Request_free(&send));
        OK(MPI_Request_free(&receive));
    }
    OK(MPI_Comm_set_errhandler(w, MPI_ERRORS_ARE_FATAL));
    return check_end();
}
