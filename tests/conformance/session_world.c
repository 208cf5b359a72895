/* ranks: 1 2 4 singleton */
/* MPI-5.0 11.3 with 11.2: the World Model and sessions in every order: a session before MPI_Init, across it, across MPI_Finalize, after it. */
#include "check.h"

static MPI_Session begin(void)
{
    MPI_Session s = MPI_SESSION_NULL;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    return s;
}

static MPI_Comm make(MPI_Session session, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    return comm;
}

static void state(int initialized, int finalized)
{
    int flag;
    OK(MPI_Initialized(&flag));
    SAME(flag, initialized, "initialized");
    OK(MPI_Finalized(&flag));
    SAME(flag, finalized, "finalized");
}

static void traffic(MPI_Comm comm)
{
    for (int k = 0; k < 4; k++) {
        int me, n, got = -1, sum = -1;
        OK(MPI_Comm_rank(comm, &me));
        OK(MPI_Comm_size(comm, &n));
        OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, k, &got, 1, MPI_INT, (me + n - 1) % n, k, comm, MPI_STATUS_IGNORE));
        SAME(got, (me + n - 1) % n, "from the left");
        OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
        SAME(sum, n * (n - 1) / 2, "sum");
    }
}

int main(void)
{
    state(0, 0);
    /* One that is over before MPI_Init. */
    MPI_Session first = begin();
    MPI_Comm c = make(first, "first");
    traffic(c);
    OK(MPI_Comm_free(&c));
    OK(MPI_Session_finalize(&first));
    state(0, 0);

    /* One across MPI_Init. */
    MPI_Session across = begin();
    MPI_Comm early = make(across, "across");
    OK(MPI_Comm_rank(early, &rank));
    OK(MPI_Comm_size(early, &size));
    traffic(early);
    OK(MPI_Init(NULL, NULL));
    state(1, 0);
    int me, n, result;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &n));
    CHECK(me == rank && n == size, "mpi://WORLD has me as %d of %d, MPI_COMM_WORLD as %d of %d", rank, size, me, n);
    traffic(MPI_COMM_WORLD);
    traffic(early);
    /* The same string and processes at the same time, in another session. */
    MPI_Session over = begin();
    MPI_Comm late = make(over, "across"), world;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_compare(late, early, &result));
    SAME(result, MPI_CONGRUENT, "compare communicators of two sessions");
    traffic(late);
    traffic(world);
    /* Messages of the one do not meet receives of the other. */
    int a = 1, b = 2, got = 0;
    MPI_Request r[2];
    OK(MPI_Isend(&a, 1, MPI_INT, rank, 0, early, &r[0]));
    OK(MPI_Isend(&b, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &r[1]));
    OK(MPI_Recv(&got, 1, MPI_INT, rank, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(got, 2, "message of MPI_COMM_WORLD");
    OK(MPI_Recv(&got, 1, MPI_INT, rank, MPI_ANY_TAG, early, MPI_STATUS_IGNORE));
    SAME(got, 1, "message of the session");
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));

    OK(MPI_Comm_free(&early));
    OK(MPI_Session_finalize(&across));
    state(1, 0);
    traffic(MPI_COMM_WORLD);
    traffic(world);
    OK(MPI_Comm_free(&world));
    /* One across MPI_Finalize. */
    OK(MPI_Finalize());
    state(1, 1);
    traffic(late);
    OK(MPI_Comm_free(&late));
    OK(MPI_Session_finalize(&over));
    state(1, 1);

    /* And after everything has ended. */
    for (int k = 0; k < 3; k++) {
        MPI_Session last = begin();
        c = make(last, "last");
        traffic(c);
        OK(MPI_Comm_disconnect(&c));
        OK(MPI_Session_finalize(&last));
    }
    state(1, 1);
    if (rank == 0)
        printf("ok\n");
    return 0;
}
