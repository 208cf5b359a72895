/* ranks: 2 4 */
/* MPI-5.0 11.3.1: MPI_Session_init is local. Rank 0 uses a session by itself, the others have none, or not at the same time. */
#include "check.h"

int main(void)
{
    /* Which one this process is can only be known from a session. */
    MPI_Session s;
    MPI_Group world;
    MPI_Comm c;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &world));
    OK(MPI_Group_rank(world, &rank));
    OK(MPI_Group_size(world, &size));
    OK(MPI_Group_free(&world));
    OK(MPI_Session_finalize(&s));
    if (rank > 0 && rank % 2)
        return 0; /* never anything else */
    for (int k = 0; k < 3; k++) {
        MPI_Group self;
        int me = rank, got = -1;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
        OK(MPI_Group_from_session_pset(s, "mpi://SELF", &self));
        OK(MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
        OK(MPI_Group_free(&self));
        OK(MPI_Sendrecv(&me, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, c, MPI_STATUS_IGNORE));
        SAME(got, rank, "from myself");
        OK(MPI_Comm_free(&c));
        OK(MPI_Session_finalize(&s));
    }
    if (rank == 0)
        printf("ok\n");
    return 0;
}
