/* ranks: 1 2 4 */
/* MPI-5.0 3.2.5, 3.7, 3.8.2, 7.4.3: the status's MPI_ERROR, a freed communicator's pending receive, handlers of matched
 * receives, counts that nothing holds */
#include "check.h"

static int heard;

static void hear(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    heard++;
}

/* Only MPI_ERR_IN_STATUS makes MPI_ERROR meaningful; otherwise it stays as it was. */
static void error_field(void)
{
    int a = 1, b = 0;
    MPI_Request q[2];
    MPI_Status s[2];
    s[0].MPI_ERROR = s[1].MPI_ERROR = 777;
    OK(MPI_Irecv(&b, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &q[0]));
    OK(MPI_Isend(&a, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &q[1]));
    OK(MPI_Waitall(2, q, s));
    SAME(s[0].MPI_ERROR, 777, "MPI_ERROR after a successful MPI_Waitall");
    SAME(b, 1, "self message");
}

/* A receive outlives its communicator; no later communicator's message may land in it. */
static void freed_communicator(void)
{
    enum { MANY = 1500 };
    MPI_Comm old;
    MPI_Request pending;
    int in = -1, out = 7, x;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &old));
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 3, old, &pending));
    MPI_Request sent;
    OK(MPI_Issend(&out, 1, MPI_INT, 0, 4, old, &sent));
    MPI_Request other;
    OK(MPI_Irecv(&x, 1, MPI_INT, 0, 4, old, &other));
    OK(MPI_Cancel(&pending));
    OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 5, old, &pending));
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    OK(MPI_Isend(&out, 1, MPI_INT, 0, 6, old, &sent));
    OK(MPI_Irecv(&x, 1, MPI_INT, 0, 6, old, &other));
    OK(MPI_Comm_free(&old));
    CHECK(old == MPI_COMM_NULL, "MPI_Comm_free leaves MPI_COMM_NULL");
    for (int i = 0; i < MANY; i++) {
        MPI_Comm c;
        MPI_Request r, s;
        int y = -1, me = i;
        OK(MPI_Comm_dup(MPI_COMM_SELF, &c));
        OK(MPI_Irecv(&y, 1, MPI_INT, 0, 5, c, &r));
        OK(MPI_Isend(&me, 1, MPI_INT, 0, 5, c, &s));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
        SAME(y, i, "message of a later communicator");
        OK(MPI_Comm_free(&c));
    }
    SAME(in, -1, "receive on the freed communicator");
    OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    SAME(x, 7, "message on the freed communicator");
    OK(MPI_Cancel(&pending));
    OK(MPI_Wait(&pending, MPI_STATUS_IGNORE));
}

/* The error of a matched receive goes to the handler of the communicator that the message came on. */
static void matched_receive_handler(void)
{
    MPI_Comm c;
    MPI_Errhandler h;
    MPI_Message m;
    MPI_Request s;
    int out[4] = { 1, 2, 3, 4 }, in = 0, class;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    OK(MPI_Comm_create_errhandler(hear, &h));
    OK(MPI_Comm_set_errhandler(c, h));
    OK(MPI_Errhandler_free(&h));
    OK(MPI_Isend(out, 4, MPI_INT, rank, 9, c, &s));
    OK(MPI_Mprobe(rank, 9, c, &m, MPI_STATUS_IGNORE));
    (void)MPI_Error_class(MPI_Mrecv(&in, 1, MPI_INT, &m, MPI_STATUS_IGNORE), &class);
    SAME(heard, 1, "calls of the communicator's handler");
    SAME(in, 1, "what fits of a truncated message");
    OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&c));
}

static void impossible_count(void)
{
    MPI_Request q = MPI_REQUEST_NULL;
    double x = 0;
    int class;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Error_class(MPI_Isend_c(&x, ((MPI_Count)1 << 61) + 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &q), &class));
    SAME(class, MPI_ERR_COUNT, "2^61 + 1 doubles");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    error_field();
    freed_communicator();
    matched_receive_handler();
    impossible_count();
    return check_end();
}
