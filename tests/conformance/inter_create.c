/* ranks: 2 3 4 5 8 */
/* MPI-5.0 7.6 Inter-Communication: constructors, accessors, duplicates, subsets, splits, merges */
#include "inter.h"

static void compare(MPI_Comm a, MPI_Comm b, int want, const char *what)
{
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    SAME(result, want, what);
}

static void duplicates(const Inter *c)
{
    MPI_Comm dup, third;
    MPI_Request request;
    OK(MPI_Comm_dup(c->comm, &dup));
    inter_works(dup, c, "a duplicate");
    compare(dup, c->comm, MPI_CONGRUENT, "a duplicate");
    compare(dup, dup, MPI_IDENT, "with itself");
    compare(dup, MPI_COMM_WORLD, MPI_UNEQUAL, "with an intracommunicator");
    compare(c->local, dup, MPI_UNEQUAL, "the local group with the intercommunicator");
    OK(MPI_Comm_idup(dup, &third, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    inter_works(third, c, "an idup");
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_dup_with_info(third, MPI_INFO_NULL, &dup));
    inter_works(dup, c, "a duplicate whose parents were freed");
    OK(MPI_Comm_free(&third));
    OK(MPI_Comm_disconnect(&dup));
    CHECK(dup == MPI_COMM_NULL, "disconnect leaves the handle");
}

/* The group that says high comes second. */
static void merges(const Inter *c)
{
    for (int high = 0; high < 2; high++) {
        MPI_Comm merged;
        int mine = c->side ^ high, n, r, flag = 1;
        OK(MPI_Intercomm_merge(c->comm, mine, &merged));
        OK(MPI_Comm_size(merged, &n));
        OK(MPI_Comm_rank(merged, &r));
        SAME(n, size, "size after merge");
        SAME(r, c->rank + (mine ? c->remote : 0), "rank after merge");
        OK(MPI_Comm_test_inter(merged, &flag));
        SAME(flag, 0, "merge gives an intracommunicator");
        int sum = 0;
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
        SAME(sum, size * (size - 1) / 2, "allreduce after merge");
        OK(MPI_Comm_free(&merged));
        /* Both say the same: the order is not said, but each group is in one piece and in its order. */
        OK(MPI_Intercomm_merge(c->comm, high, &merged));
        int all[64];
        OK(MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, merged));
        int first = all[0] == c->members[0][0] ? 0 : 1, at = 0;
        for (int s = 0; s < 2; s++)
            for (int i = 0; i < c->n[first ^ s]; i++)
                SAME(all[at++], c->members[first ^ s][i], "order after merge");
        OK(MPI_Comm_free(&merged));
    }
}

/* Colors that one group lacks, and keys that reverse. */
static void splits(const Inter *c)
{
    MPI_Comm part;
    int n, m, r;
    OK(MPI_Comm_split(c->comm, c->rank % 2, -c->rank, &part));
    int mine = (c->size + (c->rank % 2 == 0)) / 2, theirs = (c->remote + (c->rank % 2 == 0)) / 2;
    if (theirs == 0) {
        CHECK(part == MPI_COMM_NULL, "a split with no remote member gave a communicator");
    } else {
        OK(MPI_Comm_size(part, &n));
        OK(MPI_Comm_remote_size(part, &m));
        OK(MPI_Comm_rank(part, &r));
        SAME(n, mine, "size of a split");
        SAME(m, theirs, "remote size of a split");
        SAME(r, mine - 1 - c->rank / 2, "rank in a split");
        int all[64], last = rank;
        OK(MPI_Allgather(&last, 1, MPI_INT, all, 1, MPI_INT, part));
        for (int i = 0; i < m; i++)
            SAME(all[i], c->members[c->other][2 * (theirs - 1 - i) + c->rank % 2], "remote ranks of a split");
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split(c->comm, c->rank == 0 ? 3 : MPI_UNDEFINED, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (c->rank != 0), "a split of the first ranks");
    if (part != MPI_COMM_NULL) {
        int got = -1;
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, part, MPI_STATUS_IGNORE));
        SAME(got, c->members[c->other][0], "the other first rank");
        OK(MPI_Comm_free(&part));
    }
    /* Nobody of group 1 has this color. */
    OK(MPI_Comm_split(c->comm, c->side, 0, &part));
    CHECK(part == MPI_COMM_NULL, "a split by sides gave a communicator");
}

static void subsets(const Inter *c)
{
    MPI_Group local, some;
    MPI_Comm part;
    int last = c->size - 1;
    OK(MPI_Comm_group(c->comm, &local));
    OK(MPI_Group_incl(local, 1, &last, &some));
    OK(MPI_Comm_create(c->comm, some, &part));
    CHECK((part == MPI_COMM_NULL) == (c->rank != last), "comm_create with the last ranks");
    if (part != MPI_COMM_NULL) {
        int got = -1;
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, part, MPI_STATUS_IGNORE));
        SAME(got, c->members[c->other][c->remote - 1], "the other last rank");
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Group_free(&some));
    OK(MPI_Comm_create(c->comm, c->side ? local : MPI_GROUP_EMPTY, &part));
    CHECK(part == MPI_COMM_NULL, "comm_create with an empty group gave a communicator");
    OK(MPI_Group_free(&local));
}

/* An intercommunicator serves as the peer communicator of another one. */
static void by_peer(const Inter *c)
{
    MPI_Comm again;
    OK(MPI_Intercomm_create(c->local, 0, c->comm, 0, 3, &again));
    inter_works(again, c, "an intercommunicator by an intercommunicator");
    compare(again, c->comm, MPI_CONGRUENT, "the same groups");
    OK(MPI_Comm_free(&again));
}

static void from_groups(const Inter *c)
{
    MPI_Group local, remote;
    MPI_Comm made;
    OK(MPI_Comm_group(c->comm, &local));
    OK(MPI_Comm_remote_group(c->comm, &remote));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Intercomm_create_from_groups(local, c->size - 1, remote, c->remote - 1, "test/from_groups", MPI_INFO_NULL,
                                            MPI_ERRORS_RETURN, &made));
        inter_works(made, c, "from groups");
        OK(MPI_Comm_free(&made));
    }
    made = MPI_COMM_WORLD;
    OK(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, remote, 0, "test/empty", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        &made));
    CHECK(made == MPI_COMM_NULL, "from an empty group");
    OK(MPI_Group_free(&local));
    OK(MPI_Group_free(&remote));
}

static void attributes(const Inter *c)
{
    int key, flag = 0, *tag_ub = NULL;
    void *value = NULL;
    MPI_Comm dup;
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(c->comm, key, (void *)12));
    OK(MPI_Comm_dup(c->comm, &dup));
    OK(MPI_Comm_get_attr(dup, key, &value, &flag));
    CHECK(flag && value == (void *)12, "an attribute of a duplicate");
    OK(MPI_Comm_get_attr(dup, MPI_TAG_UB, &tag_ub, &flag));
    CHECK(flag && *tag_ub >= 32767, "MPI_TAG_UB");
    OK(MPI_Comm_free(&dup));
    OK(MPI_Comm_delete_attr(c->comm, key));
    OK(MPI_Comm_free_keyval(&key));
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    OK(MPI_Comm_get_name(c->comm, name, &length));
    SAME(length, 0, "the name of a new intercommunicator");
    OK(MPI_Comm_set_name(c->comm, "between"));
    OK(MPI_Comm_get_name(c->comm, name, &length));
    CHECK(length == 7 && strcmp(name, "between") == 0, "the name is \"%s\"", name);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int shape = 0; shape < SHAPES; shape++) {
        Inter c = inter_make(shape);
        inter_works(c.comm, &c, "a new intercommunicator");
        duplicates(&c);
        merges(&c);
        splits(&c);
        subsets(&c);
        by_peer(&c);
        from_groups(&c);
        attributes(&c);
        inter_free(&c);
    }
    return check_end();
}
