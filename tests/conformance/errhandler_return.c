/* ranks: 1 2 */
/* MPI-5.0 9.3.1 Error Handlers for Communicators: the handler's second argument is "the error code to be returned by
 * the MPI routine that raised the error" */
#include "check.h"

static int told;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    told = *code;
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Comm dup;
    int v = 0;
    check_begin(&argc, &argv);
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_set_errhandler(dup, handler));
    OK(MPI_Errhandler_free(&handler));
    int returned = MPI_Send(&v, 1, MPI_INT, 0, -5, dup);
    CHECK(told != MPI_SUCCESS, "the handler was not called");
    SAME(returned, told, "code returned after the handler");
    OK(MPI_Comm_free(&dup));
    return check_end();
}
