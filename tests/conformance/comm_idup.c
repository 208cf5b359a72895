/* ranks: 1 2 4 */
/* MPI-5.0 7.4.2 Communicator Constructors: MPI_Comm_idup, MPI_Comm_idup_with_info */
#include "check.h"

enum { N = 10 };

static int copies, deletes;

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

/* A message and a collective, apart from those of every other communicator. */
static void works(MPI_Comm comm, int mark)
{
    int result = -1, sum = -1, out = rank + mark, in = -1;
    OK(MPI_Comm_compare(comm, MPI_COMM_WORLD, &result));
    SAME(result, MPI_CONGRUENT, "compare with the duplicate");
    OK(MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE));
    SAME(in, (rank + size - 1) % size + mark, "message on the duplicate");
    OK(MPI_Allreduce(&mark, &sum, 1, MPI_INT, MPI_SUM, comm));
    SAME(sum, mark * size, "collective on the duplicate");
}

/* Many at once, among other collectives and messages; completed in another order. */
static void many(void)
{
    MPI_Comm dups[N];
    MPI_Request requests[N];
    int v = rank;
    for (int i = 0; i < N; i++) {
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &dups[i], &requests[i]));
        if (i % 3 == 1) {
            MPI_Comm other;
            OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
            works(other, 1000);
            OK(MPI_Comm_free(&other));
        }
        if (i % 3 == 2)
            OK(MPI_Bcast(&v, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    }
    for (int i = N - 1; i >= N / 2; i--) {
        OK(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        works(dups[i], i);
    }
    OK(MPI_Waitall(N, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < N; i++) {
        works(dups[i], i);
        OK(MPI_Comm_free(&dups[i]));
    }
}

/* It does not wait: rank 0, from whom everything comes in any implementation or to whom it goes, calls only after it has heard
 * from the others, who have called by then. */
static void does_not_wait(void)
{
    MPI_Comm dup;
    MPI_Request request;
    int v = 1, flag = 0;
    if (rank == 0)
        for (int i = 1; i < size; i++)
            OK(MPI_Recv(&v, 1, MPI_INT, i, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request));
    if (rank != 0)
        OK(MPI_Send(&v, 1, MPI_INT, 0, 5, MPI_COMM_WORLD));
    /* By get_status; then the communicator can be used. */
    while (!flag)
        OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
    works(dup, 7);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    works(dup, 8);
    OK(MPI_Comm_free(&dup));
}

/* Attributes are those of the time of the call; info is the parent's, or what was given. */
static void attributes(void)
{
    MPI_Comm dup;
    MPI_Request request;
    MPI_Info info;
    int keyval, flag = 0;
    char place[4], *value = NULL;
    OK(MPI_Comm_create_keyval(copy, delete, &keyval, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, place));
    OK(MPI_Comm_idup(MPI_COMM_WORLD, &dup, &request));
    SAME(copies, 1, "copy callbacks");
    OK(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, place + 3));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_get_attr(dup, keyval, &value, &flag));
    CHECK(flag && value == place + 1, "attribute of the duplicate");
    deletes = 0;
    OK(MPI_Comm_free(&dup));
    SAME(deletes, 1, "delete callbacks");
    OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval));
    OK(MPI_Comm_free_keyval(&keyval));

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &dup, &request));
    OK(MPI_Info_free(&info));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    works(dup, 3);
    OK(MPI_Comm_free(&dup));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    many();
    does_not_wait();
    attributes();
    return check_end();
}
