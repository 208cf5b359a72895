/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 7.4.2 MPI_Comm_split_type: shared memory, guided by hardware or resource, unguided */
#define _GNU_SOURCE
#include <sched.h>
#include "check.h"

static MPI_Comm split(MPI_Comm parent, int type, const char *key, const char *value)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Info info = MPI_INFO_NULL;
    if (key) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPI_Comm_split_type(parent, type, -rank, info, &comm));
    if (key)
        OK(MPI_Info_free(&info));
    return comm;
}

static void all_reversed(MPI_Comm comm, const char *what)
{
    int n = -1, r = -1;
    CHECK(comm != MPI_COMM_NULL, "%s gave MPI_COMM_NULL", what);
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_rank(comm, &r));
    SAME(n, size, what);
    SAME(r, size - 1 - rank, what);
    OK(MPI_Comm_free(&comm));
}

static void null(MPI_Comm comm, const char *what)
{
    CHECK(comm == MPI_COMM_NULL, "%s gave a communicator", what);
}

/* Every program runs on one node here. */
static void shared(void)
{
    static const char *const key = "mpi_hw_resource_type";
    all_reversed(split(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, NULL, NULL), "shared");
    all_reversed(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, key, "mpi_shared_memory"), "guided by mpi_shared_memory");
    all_reversed(split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, key, "mpi_shared_memory"), "resource guided");
    null(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, NULL, NULL), "guided by nothing");
    null(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "other", "x"), "guided by another key");
    null(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, key, "no such resource"), "guided by an unknown resource");
    null(split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, NULL, NULL), "resource guided by nothing");
    null(split(MPI_COMM_WORLD, MPI_UNDEFINED, NULL, NULL), "MPI_UNDEFINED");
    /* Some take no part. */
    MPI_Comm comm;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, rank ? MPI_COMM_TYPE_SHARED : MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm));
    CHECK((comm == MPI_COMM_NULL) == (rank == 0), "shared without rank 0");
    if (comm != MPI_COMM_NULL) {
        int n;
        OK(MPI_Comm_size(comm, &n));
        SAME(n, size - 1, "shared without rank 0");
        OK(MPI_Comm_free(&comm));
    }
}

static void psets(void)
{
    int n;
    all_reversed(split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), "mpi://WORLD");
    MPI_Comm self = split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
    CHECK(self != MPI_COMM_NULL, "mpi://SELF gave MPI_COMM_NULL");
    OK(MPI_Comm_size(self, &n));
    SAME(n, 1, "mpi://SELF");
    OK(MPI_Comm_free(&self));
    null(split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "no such set"), "an unknown set");
    all_reversed(split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "MPI://world"), "MPI://world");
    /* Sets of different names with a process in common: nobody meets who asks for another one. */
    MPI_Comm part = split(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", rank ? "mpi://WORLD" : "mpi://SELF");
    OK(MPI_Comm_size(part, &n));
    SAME(n, rank ? size - 1 : 1, "two sets at once");
    OK(MPI_Comm_free(&part));
}

/* A process is in one of the groups, so a set of one process has nobody in the other. */
static void psets_of_two_groups(void)
{
    if (size < 2)
        return;
    MPI_Comm half, both;
    int n, m;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &both));
    null(split(both, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), "mpi://SELF of two groups");
    MPI_Comm all = split(both, MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD");
    CHECK(all != MPI_COMM_NULL, "mpi://WORLD of two groups gave MPI_COMM_NULL");
    OK(MPI_Comm_size(all, &n));
    OK(MPI_Comm_remote_size(all, &m));
    SAME(n + m, size, "mpi://WORLD of two groups");
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_free(&both));
    OK(MPI_Comm_free(&half));
}

/* Each rank runs on one processor, so those on the same one are together. */
static void bound(void)
{
    cpu_set_t allowed, one;
    int cpus[1024], n = 0, all[64], together = 0, got;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    for (int c = 0; c < CPU_SETSIZE && n < 1024; c++)
        if (CPU_ISSET(c, &allowed))
            cpus[n++] = c;
    int mine = cpus[rank % n];
    CPU_ZERO(&one);
    CPU_SET(mine, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return;
    OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        together += all[r] == mine;
    MPI_Comm comm = split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
    CHECK(comm != MPI_COMM_NULL, "a rank on one processor is in no hwloc://PU");
    OK(MPI_Comm_size(comm, &got));
    SAME(got, together, "ranks on one processor");
    OK(MPI_Comm_free(&comm));
    all_reversed(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://Machine"), "the machine");

    /* Down the levels: each part is smaller than the whole, and says by what it was cut. */
    MPI_Comm parent, part;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
    for (int level = 0;; level++) {
        int whole, flag = 0, length = 64;
        char name[64] = "";
        MPI_Info info;
        OK(MPI_Info_create(&info));
        OK(MPI_Comm_size(parent, &whole));
        OK(MPI_Comm_split_type(parent, MPI_COMM_TYPE_HW_UNGUIDED, rank, info, &part));
        if (part == MPI_COMM_NULL) {
            SAME(whole, together, "what cannot be cut any more");
            OK(MPI_Info_free(&info));
            break;
        }
        OK(MPI_Comm_size(part, &got));
        CHECK(got < whole, "an unguided split of %d has %d ranks", whole, got);
        OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &length, name, &flag));
        CHECK(flag && name[0], "an unguided split does not say by what it cut");
        OK(MPI_Info_free(&info));
        OK(MPI_Comm_free(&part));
        /* An info object that cannot be written to is an error of that process alone. */
        OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
        OK(MPI_Comm_rank(parent, &got));
        if (got == 0) {
            CHECK(MPI_Comm_split_type(parent, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_ENV, &part) != MPI_SUCCESS, "MPI_INFO_ENV was written to");
            CHECK(part == MPI_COMM_NULL, "a communicator after an error");
        } else {
            OK(MPI_Comm_split_type(parent, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &part));
            OK(MPI_Comm_free(&part));
        }
        OK(MPI_Comm_split_type(parent, MPI_COMM_TYPE_HW_UNGUIDED, rank, MPI_INFO_NULL, &part));
        OK(MPI_Comm_free(&parent));
        parent = part;
        CHECK(level < 20, "there is no end of levels");
    }
    OK(MPI_Comm_free(&parent));
    sched_setaffinity(0, sizeof allowed, &allowed);
}

static void errors(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* errors on MPI_COMM_NULL */
    FAILS(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_WORLD, 12345, 0, MPI_INFO_NULL, &comm));
    FAILS(MPI_ERR_COMM, MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    shared();
    psets();
    psets_of_two_groups();
    bound();
    errors();
    return check_end();
}
