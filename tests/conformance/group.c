/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 7.3 Group Management */
#include "check.h"

static MPI_Group world;

static void is(MPI_Group g, int n, const int *members, const char *what)
{
    int got = -1, mine = -5, want = MPI_UNDEFINED, mapped[64], all[64];
    OK(MPI_Group_size(g, &got));
    SAME(got, n, what);
    for (int i = 0; i < n; i++) {
        all[i] = i;
        if (members[i] == rank)
            want = i;
    }
    OK(MPI_Group_rank(g, &mine));
    SAME(mine, want, what);
    OK(MPI_Group_translate_ranks(g, n, all, world, mapped));
    for (int i = 0; i < n; i++)
        SAME(mapped[i], members[i], what);
}

static void same(MPI_Group a, MPI_Group b, int want, const char *what)
{
    int result = -1;
    OK(MPI_Group_compare(a, b, &result));
    SAME(result, want, what);
}

/* Sets in the order the standard prescribes: union appends, intersection and difference keep the first's order. */
static void sets(void)
{
    int even[64], third[64], n = 0, m = 0, want[64], k = 0;
    MPI_Group a, b, c;
    for (int r = size - 1; r >= 0; r--)
        if (r % 2 == 0)
            even[n++] = r;
    for (int r = 0; r < size; r++)
        if (r % 3 == 0)
            third[m++] = r;
    OK(MPI_Group_incl(world, n, even, &a));
    OK(MPI_Group_incl(world, m, third, &b));
    is(a, n, even, "incl in descending order");
    is(b, m, third, "incl");
    OK(MPI_Group_union(a, b, &c));
    for (int i = 0; i < n; i++)
        want[k++] = even[i];
    for (int i = 0; i < m; i++)
        if (third[i] % 2)
            want[k++] = third[i];
    is(c, k, want, "union");
    OK(MPI_Group_free(&c));
    CHECK(c == MPI_GROUP_NULL, "group_free leaves the handle");
    OK(MPI_Group_intersection(a, b, &c));
    k = 0;
    for (int i = 0; i < n; i++)
        if (even[i] % 3 == 0)
            want[k++] = even[i];
    is(c, k, want, "intersection");
    OK(MPI_Group_free(&c));
    OK(MPI_Group_difference(a, b, &c));
    k = 0;
    for (int i = 0; i < n; i++)
        if (even[i] % 3)
            want[k++] = even[i];
    is(c, k, want, "difference");
    same(c, MPI_GROUP_EMPTY, k ? MPI_UNEQUAL : MPI_IDENT, "compare with the empty group");
    if (k)
        OK(MPI_Group_free(&c));
    OK(MPI_Group_free(&a));
    OK(MPI_Group_free(&b));
}

static void ranges(void)
{
    int up[][3] = { { 0, size - 1, 2 } }, down[][3] = { { size - 1, 0, -1 } }, want[64], k = 0, one[] = { size / 2 };
    MPI_Group a, b;
    OK(MPI_Group_range_incl(world, 1, up, &a));
    for (int r = 0; r < size; r += 2)
        want[k++] = r;
    is(a, k, want, "range_incl");
    OK(MPI_Group_free(&a));
    OK(MPI_Group_range_incl(world, 1, down, &a));
    for (int r = 0; r < size; r++)
        want[r] = size - 1 - r;
    is(a, size, want, "range_incl downwards");
    same(a, world, size == 1 ? MPI_IDENT : MPI_SIMILAR, "compare with the reversed group");
    OK(MPI_Group_free(&a));
    OK(MPI_Group_excl(world, 1, one, &a));
    k = 0;
    for (int r = 0; r < size; r++)
        if (r != size / 2)
            want[k++] = r;
    is(a, k, want, "excl");
    OK(MPI_Group_range_excl(world, 1, up, &b));
    k = 0;
    for (int r = 1; r < size; r += 2)
        want[k++] = r;
    is(b, k, want, "range_excl");
    if (a != MPI_GROUP_EMPTY)
        OK(MPI_Group_free(&a));
    if (b != MPI_GROUP_EMPTY)
        OK(MPI_Group_free(&b));
    OK(MPI_Group_excl(world, 0, NULL, &a));
    same(a, world, MPI_IDENT, "excl of nothing");
    OK(MPI_Group_free(&a));
}

static void translation(void)
{
    MPI_Group self;
    int mine[] = { 0, MPI_PROC_NULL }, got[2] = { -7, -7 }, mapped = -7;
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    OK(MPI_Group_translate_ranks(self, 2, mine, world, got));
    SAME(got[0], rank, "translate from MPI_COMM_SELF");
    SAME(got[1], MPI_PROC_NULL, "translate MPI_PROC_NULL");
    for (int r = 0; r < size; r++) {
        OK(MPI_Group_translate_ranks(world, 1, &r, self, &mapped));
        SAME(mapped, r == rank ? 0 : MPI_UNDEFINED, "translate to MPI_COMM_SELF");
    }
    OK(MPI_Group_free(&self));
    int n = -1;
    OK(MPI_Group_size(MPI_GROUP_EMPTY, &n));
    SAME(n, 0, "size of the empty group");
    OK(MPI_Group_rank(MPI_GROUP_EMPTY, &n));
    SAME(n, MPI_UNDEFINED, "rank in the empty group");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    sets();
    ranges();
    translation();
    OK(MPI_Group_free(&world));
    return check_end();
}
