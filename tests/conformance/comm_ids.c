/* ranks: 1 2 3 timeout: 300 */
/* MPI-5.0 7.1.2, 7.4.2: contexts serve again, and messages of different communicators never meet. COMM_IDS=1000000 makes as many
 * duplicates. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

enum { WINDOW = 24 };

typedef struct {
    MPI_Comm comm;
    int id, got;
    MPI_Request request;
} Live;

/* Each live communicator has a receive posted that takes anything; its message is sent just before it is freed. */
static void end(Live *l)
{
    int n, r;
    MPI_Status status;
    OK(MPI_Comm_size(l->comm, &n));
    OK(MPI_Comm_rank(l->comm, &r));
    OK(MPI_Send(&l->id, 1, MPI_INT, (r + 1) % n, l->id % 100, l->comm));
    OK(MPI_Wait(&l->request, &status));
    SAME(l->got, l->id, "a message in a duplicate");
    SAME(status.MPI_TAG, l->id % 100, "the tag of a message in a duplicate");
    SAME(status.MPI_SOURCE, (r + n - 1) % n, "the source of a message in a duplicate");
    OK(MPI_Comm_free(&l->comm));
}

static void begin(Live *l, MPI_Comm parent, int id)
{
    OK(MPI_Comm_dup(parent, &l->comm));
    l->id = id;
    l->got = -1;
    OK(MPI_Irecv(&l->got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, l->comm, &l->request));
}

static void churn(int times)
{
    Live live[WINDOW];
    int got[2] = { -1, -1 };
    MPI_Request request[2];
    /* One lives through it all, and a receive outlives another that is freed now. */
    MPI_Comm whole, freed;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &whole));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &freed));
    OK(MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, whole, &request[0]));
    OK(MPI_Irecv(&got[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, freed, &request[1]));
    for (int i = 0; i < times; i++) {
        Live *l = &live[i % WINDOW];
        if (i >= WINDOW)
            end(l);
        begin(l, i % 3 ? MPI_COMM_WORLD : whole, i);
        /* Meanwhile each makes some of its own. */
        if (i % 5 == rank) {
            Live own;
            begin(&own, MPI_COMM_SELF, -i);
            own.id = i;
            end(&own);
        }
    }
    for (int i = times > WINDOW ? times - WINDOW : 0; i < times; i++)
        end(&live[i % WINDOW]);
    int flag = 1;
    for (int k = 0; k < 2; k++) {
        OK(MPI_Test(&request[k], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "a receive in an old communicator took the message %d of another", got[k]);
    }
    OK(MPI_Comm_free(&freed));
    for (int i = 0; i < times / 10; i++) {
        begin(&live[0], MPI_COMM_WORLD, i);
        end(&live[0]);
    }
    OK(MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "a receive in a freed communicator took the message %d of another", got[1]);
    int mine = 7 + rank;
    OK(MPI_Send(&mine, 1, MPI_INT, (rank + 1) % size, 0, whole));
    OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    SAME(got[0], 7 + (rank + size - 1) % size, "the message of a communicator that lived on");
    OK(MPI_Comm_free(&whole));
    OK(MPI_Cancel(&request[1]));
    OK(MPI_Wait(&request[1], MPI_STATUS_IGNORE));
}

/* Splits, whose leaders change, among the duplicates. */
static void splits(int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Comm part, sub;
        int n, sum = 0, want = 0;
        OK(MPI_Comm_split(MPI_COMM_WORLD, (rank + i) % 2, i % 2 ? rank : -rank, &part));
        OK(MPI_Comm_dup(part, &sub));
        OK(MPI_Comm_size(sub, &n));
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, sub));
        for (int r = rank % 2; r < size; r += 2)
            want += r;
        SAME(sum, want, "allreduce in a duplicate of a split");
        OK(MPI_Comm_free(&part));
        OK(MPI_Comm_free(&sub));
    }
}

/* Communicators that a session leaves behind: their numbers, many at once, serve again. */
static void sessions(int rounds, int each)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm all, copy;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        OK(MPI_Comm_create_from_group(group, "left behind", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all));
        OK(MPI_Group_free(&group));
        for (int k = 0; k < each; k++)
            OK(MPI_Comm_dup(all, &copy));
        OK(MPI_Session_finalize(&session));
        /* What each has told has arrived before the next round begins. */
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    const char *asked = getenv("COMM_IDS");
    int times = asked ? atoi(asked) : 8000;
    /* Where it is known, this makes numbers come again after so many. */
    if (!asked)
        setenv("OXMPI_TEST_CONTEXTS", "3000", 1);
    check_begin(&argc, &argv);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    OK(MPI_Get_library_version(library, &length));
    /* Another library may need them freed. */
    if (!strncmp(library, "oxmpi", 5))
        sessions(6, 1300);
    churn(times);
    splits(times / 10);
    return check_end();
}
