/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 7.4 Communicator Management, 7.8 Naming Objects */
#include "check.h"

/* Size, own rank, and a message and a collective among the members. */
static void works(MPI_Comm comm, int want_size, int want_rank, const char *what)
{
    int n = -1, r = -1, sum = -1, got = -1;
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_rank(comm, &r));
    SAME(n, want_size, what);
    SAME(r, want_rank, what);
    OK(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, comm));
    SAME(sum, n * (n - 1) / 2, what);
    OK(MPI_Sendrecv(&r, 1, MPI_INT, (r + 1) % n, 0, &got, 1, MPI_INT, (r + n - 1) % n, 0, comm, MPI_STATUS_IGNORE));
    SAME(got, (r + n - 1) % n, what);
}

static void compare(MPI_Comm a, MPI_Comm b, int want, const char *what)
{
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    SAME(result, want, what);
}

static void duplicates(void)
{
    MPI_Comm dup, with_info;
    MPI_Info info;
    int flag = 1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    works(dup, size, rank, "dup");
    compare(dup, MPI_COMM_WORLD, MPI_CONGRUENT, "compare with a duplicate");
    compare(dup, dup, MPI_IDENT, "compare with itself");
    OK(MPI_Comm_test_inter(dup, &flag));
    SAME(flag, 0, "test_inter");
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
    OK(MPI_Comm_dup_with_info(dup, info, &with_info));
    works(with_info, size, rank, "dup_with_info");
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_get_info(with_info, &info));
    CHECK(info != MPI_INFO_NULL, "comm_get_info gave MPI_INFO_NULL");
    OK(MPI_Comm_set_info(with_info, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&dup));
    CHECK(dup == MPI_COMM_NULL, "comm_free leaves the handle");
    works(with_info, size, rank, "a duplicate whose parent was freed");
    OK(MPI_Comm_free(&with_info));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
    works(dup, 1, 0, "dup of MPI_COMM_SELF");
    OK(MPI_Comm_free(&dup));
}

static void splits(void)
{
    MPI_Comm comm;
    /* By parity, in descending order of world ranks. */
    int n = (size + (rank % 2 == 0)) / 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm));
    works(comm, n, n - 1 - rank / 2, "split by parity");
    OK(MPI_Comm_free(&comm));
    /* Equal keys: in the order of the old ranks. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, 7, 0, &comm));
    works(comm, size, rank, "split with equal keys");
    compare(comm, MPI_COMM_WORLD, MPI_CONGRUENT, "compare with a split of all");
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, 1, -rank, &comm));
    compare(comm, MPI_COMM_WORLD, size == 1 ? MPI_CONGRUENT : MPI_SIMILAR, "compare with a reversed split");
    OK(MPI_Comm_free(&comm));
    /* Some take no part. */
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 3, 100, &comm));
    if (rank == 0) {
        CHECK(comm == MPI_COMM_NULL, "split with MPI_UNDEFINED does not give MPI_COMM_NULL");
    } else {
        compare(comm, MPI_COMM_WORLD, MPI_UNEQUAL, "compare with a part");
        works(comm, size - 1, rank - 1, "split without rank 0");
        OK(MPI_Comm_free(&comm));
    }
    int same_node = -1, mine = -1;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &comm));
    OK(MPI_Comm_size(comm, &same_node));
    OK(MPI_Comm_rank(comm, &mine));
    works(comm, same_node, mine, "split_type shared");
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_UNDEFINED, rank, MPI_INFO_NULL, &comm));
    CHECK(comm == MPI_COMM_NULL, "split_type with MPI_UNDEFINED does not give MPI_COMM_NULL");
}

/* From groups: collective over the parent, or over the group alone. */
static void groups(void)
{
    MPI_Group world, half, got;
    MPI_Comm comm, alone;
    int n = (size + 1) / 2, range[][3] = { { n - 1, 0, -1 } }, result = -1;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, range, &half));
    OK(MPI_Comm_create(MPI_COMM_WORLD, half, &comm));
    if (rank < n) {
        works(comm, n, n - 1 - rank, "comm_create");
        OK(MPI_Comm_group(comm, &got));
        OK(MPI_Group_compare(got, half, &result));
        SAME(result, MPI_IDENT, "group of a created communicator");
        OK(MPI_Group_free(&got));
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, half, 17, &alone));
        works(alone, n, n - 1 - rank, "comm_create_group");
        compare(alone, comm, MPI_CONGRUENT, "compare by group");
        OK(MPI_Comm_free(&alone));
        OK(MPI_Comm_free(&comm));
    } else {
        CHECK(comm == MPI_COMM_NULL, "comm_create gave a communicator outside of its group");
    }
    OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
    CHECK(comm == MPI_COMM_NULL, "comm_create with the empty group gave a communicator");
    /* Disjoint groups in one call. */
    int low[][3] = { { 0, n - 1, 1 } }, high[][3] = { { n, size - 1, 1 } };
    OK(MPI_Group_free(&half));
    if (rank < n)
        OK(MPI_Group_range_incl(world, 1, low, &half));
    else
        OK(MPI_Group_range_incl(world, 1, high, &half));
    OK(MPI_Comm_create(MPI_COMM_WORLD, half, &comm));
    works(comm, rank < n ? n : size - n, rank < n ? rank : rank - n, "comm_create of two halves");
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&half));
    OK(MPI_Group_free(&world));
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    MPI_Comm dup;
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14, "MPI_COMM_WORLD is called %s (%d)", name, length);
    OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
    CHECK(strcmp(name, "MPI_COMM_SELF") == 0, "MPI_COMM_SELF is called %s", name);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_get_name(dup, name, &length));
    CHECK(length == 0 && name[0] == 0, "a new communicator is called %s", name);
    OK(MPI_Comm_set_name(dup, "a name"));
    OK(MPI_Comm_get_name(dup, name, &length));
    CHECK(strcmp(name, "a name") == 0 && length == 6, "the communicator is called %s", name);
    OK(MPI_Comm_free(&dup));
}

/* Messages of one communicator are not seen on another, with equal ranks and tags. */
static void isolation(void)
{
    enum { COMMS = 8 };
    MPI_Comm comms[COMMS];
    MPI_Request sends[COMMS];
    int values[COMMS], got;
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_dup(i % 2 ? comms[i - 1] : MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < COMMS; i++) {
        values[i] = 100 + i;
        OK(MPI_Isend(&values[i], 1, MPI_INT, (rank + 1) % size, 5, comms[i], &sends[i]));
    }
    for (int i = COMMS - 1; i >= 0; i--) {
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], MPI_STATUS_IGNORE));
        SAME(got, 100 + i, "message on its communicator");
    }
    OK(MPI_Waitall(COMMS, sends, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_free(&comms[i]));
}

/* Identifiers are used again: more communicators over time than there are identifiers in any implementation. */
static void many(void)
{
    MPI_Comm comm, held[20];
    for (int i = 0; i < 20; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &held[i]));
    for (int i = 0; i < 700; i++) {
        if (i % 3)
            OK(MPI_Comm_dup(i % 2 ? held[i % 20] : MPI_COMM_SELF, &comm));
        else
            OK(MPI_Comm_split(MPI_COMM_WORLD, rank & 1, rank, &comm));
        if (i % 100 == 0) {
            int n, r;
            OK(MPI_Comm_size(comm, &n));
            OK(MPI_Comm_rank(comm, &r));
            works(comm, n, r, "one of many");
        }
        OK(MPI_Comm_free(&comm));
    }
    for (int i = 0; i < 3000; i++) {
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        OK(MPI_Comm_free(&comm));
    }
    for (int i = 0; i < 20; i++) {
        works(held[i], size, rank, "held");
        OK(MPI_Comm_free(&held[i]));
    }
}

/* 7.4.3: freeing waits for pending communication. */
static void freed_early(void)
{
    MPI_Comm comm;
    MPI_Request requests[2];
    int out = rank, in = -1;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 1, comm, &requests[0]));
    OK(MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 1, comm, &requests[1]));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    SAME(in, (rank + size - 1) % size, "message of a freed communicator");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    works(MPI_COMM_WORLD, size, rank, "MPI_COMM_WORLD");
    works(MPI_COMM_SELF, 1, 0, "MPI_COMM_SELF");
    compare(MPI_COMM_WORLD, MPI_COMM_SELF, size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL, "compare world and self");
    duplicates();
    splits();
    groups();
    names();
    isolation();
    freed_early();
    many();
    return check_end();
}
