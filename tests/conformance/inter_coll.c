/* ranks: 2 3 4 5 8 */
/* MPI-5.0 6.2.3 and the paragraphs on intercommunicators of 6.3 to 6.10: all collectives between two groups */
#include "inter.h"
#include "reduce.h"

enum { LONG = 40000 };

static int value(int world, int i) { return world * 1000003 + i * 7 + 1; }

/* Who is the root in turn: every rank of either side. */
static int root_of(const Inter *c, int side, int r)
{
    if (c->side != side)
        return r;
    return c->rank == r ? MPI_ROOT : MPI_PROC_NULL;
}

static void barriers(const Inter *c)
{
    /* Nobody leaves before all of the other group have come: a message sent before is there after. */
    for (int i = 0; i < 5; i++) {
        int flag = 0, got = -1;
        if (c->rank == 0)
            OK(MPI_Send(&i, 1, MPI_INT, c->remote - 1, 1, c->comm));
        OK(MPI_Barrier(c->comm));
        if (c->rank == c->size - 1) {
            while (!flag)
                OK(MPI_Iprobe(0, 1, c->comm, &flag, MPI_STATUS_IGNORE));
            OK(MPI_Recv(&got, 1, MPI_INT, 0, 1, c->comm, MPI_STATUS_IGNORE));
            SAME(got, i, "a message before a barrier");
        }
    }
}

static void rooted(const Inter *c, int count)
{
    int most = c->size > c->remote ? c->size : c->remote;
    int *own = check_alloc(count * sizeof(int)), *all = check_alloc((size_t)count * (most + 1) * sizeof(int) + 64);
    int counts[64], displs[64];
    for (int side = 0; side < 2; side++)
        for (int r = 0; r < c->n[side]; r++) {
            int root = root_of(c, side, r), i_am = root == MPI_ROOT, world = c->members[side][r];
            int null = root == MPI_PROC_NULL;
            void *nothing = NULL;
            /* Broadcast. */
            for (int i = 0; i < count; i++)
                own[i] = i_am ? value(rank, i) : -1;
            OK(MPI_Bcast(null ? nothing : own, null ? 0 : count, MPI_INT, root, c->comm));
            for (int i = 0; i < count && !null; i++)
                CHECK(own[i] == value(world, i), "bcast of %d by %d of side %d: element %d is %d", count, r, side, i, own[i]);
            /* Gather. */
            for (int i = 0; i < count; i++)
                own[i] = value(rank, i);
            memset(all, 0xff, (size_t)count * most * sizeof(int));
            OK(MPI_Gather(i_am || null ? nothing : own, i_am || null ? 0 : count, MPI_INT,
                          i_am ? all : nothing, i_am ? count : 0, MPI_INT, root, c->comm));
            for (int i = 0; i_am && i < count * c->remote; i++)
                CHECK(all[i] == value(c->members[c->other][i / count], i % count), "gather: element %d is %d", i, all[i]);
            /* Gatherv: rank k sends count - k elements, in descending places. */
            int total = 0;
            for (int k = c->remote - 1; i_am && k >= 0; k--) {
                counts[k] = count > k ? count - k : 0;
                displs[k] = total;
                total += counts[k];
            }
            memset(all, 0xff, (size_t)count * most * sizeof(int));
            OK(MPI_Gatherv(own, count > c->rank ? count - c->rank : 0, MPI_INT, all, counts, displs, MPI_INT, root, c->comm));
            for (int k = 0; i_am && k < c->remote; k++)
                for (int i = 0; i < counts[k]; i++)
                    CHECK(all[displs[k] + i] == value(c->members[c->other][k], i), "gatherv: element %d of %d", i, k);
            /* Scatter. */
            for (int i = 0; i_am && i < count * c->remote; i++)
                all[i] = value(c->members[c->other][i / count], i % count) + 5;
            memset(own, 0xff, count * sizeof(int));
            OK(MPI_Scatter(i_am ? all : nothing, i_am ? count : 0, MPI_INT, own, count, MPI_INT, root,
                           c->comm));
            for (int i = 0; i < count; i++)
                CHECK(own[i] == (i_am || null ? -1 : value(rank, i) + 5), "scatter: element %d is %d", i, own[i]);
            /* Scatterv. */
            for (int k = 0; i_am && k < c->remote; k++)
                for (int i = 0; i < counts[k]; i++)
                    all[displs[k] + i] = value(c->members[c->other][k], i) + 9;
            memset(own, 0xff, count * sizeof(int));
            OK(MPI_Scatterv(all, counts, displs, MPI_INT, own, count, MPI_INT, root, c->comm));
            for (int i = 0; i < count; i++)
                CHECK(own[i] == (i_am || null || i >= count - c->rank ? -1 : value(rank, i) + 9), "scatterv: element %d", i);
            /* Reduce: in place has no meaning, the root contributes nothing. */
            for (int i = 0; i < count; i++) {
                own[i] = rank + i;
                all[i] = -1;
            }
            OK(MPI_Reduce(i_am || null ? nothing : own, i_am ? all : nothing, null ? 0 : count, MPI_INT,
                          MPI_SUM, root, c->comm));
            int sum = 0;
            for (int k = 0; k < c->remote; k++)
                sum += c->members[c->other][k];
            for (int i = 0; i_am && i < count; i++)
                CHECK(all[i] == sum + i * c->remote, "reduce: element %d is %d", i, all[i]);
        }
    free(own);
    free(all);
}

static void all_to_all(const Inter *c, int count)
{
    int *own = check_alloc((size_t)count * c->remote * sizeof(int)), *all = check_alloc((size_t)count * c->remote * sizeof(int));
    int scounts[64], sdispls[64], rcounts[64], rdispls[64], bytes_s[64], bytes_r[64];
    MPI_Datatype types[64];
    for (int i = 0; i < count * c->remote; i++) {
        own[i] = value(rank, i);
        all[i] = -1;
    }
    OK(MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, c->comm));
    for (int i = 0; i < count * c->remote; i++)
        CHECK(all[i] == value(c->members[c->other][i / count], i % count), "allgather of %d: element %d is %d", count, i, all[i]);
    /* Rank k of a group sends count - k elements to each. */
    int total = 0;
    for (int k = c->remote - 1; k >= 0; k--) {
        rcounts[k] = count > k ? count - k : 0;
        rdispls[k] = total;
        total += rcounts[k];
    }
    memset(all, 0xff, (size_t)count * c->remote * sizeof(int));
    OK(MPI_Allgatherv(own, count > c->rank ? count - c->rank : 0, MPI_INT, all, rcounts, rdispls, MPI_INT, c->comm));
    for (int k = 0; k < c->remote; k++)
        for (int i = 0; i < rcounts[k]; i++)
            CHECK(all[rdispls[k] + i] == value(c->members[c->other][k], i), "allgatherv of %d: element %d of %d", count, i, k);
    /* Data in one direction only. */
    memset(all, 0xff, (size_t)count * c->remote * sizeof(int));
    OK(MPI_Allgather(own, c->side ? count : 0, MPI_INT, all, c->side ? 0 : count, MPI_INT, c->comm));
    for (int i = 0; i < count * c->remote; i++)
        CHECK(all[i] == (c->side ? -1 : value(c->members[1][i / count], i % count)), "allgather one way: element %d", i);

    OK(MPI_Alltoall(own, count, MPI_INT, all, count, MPI_INT, c->comm));
    for (int i = 0; i < count * c->remote; i++)
        CHECK(all[i] == value(c->members[c->other][i / count], c->rank * count + i % count), "alltoall: element %d", i);
    for (int k = 0; k < c->remote; k++) {
        /* What rank a of side 0 and rank b of side 1 exchange, both ways: (a + b) % 3 less than count. */
        int n = count - (c->rank + k) % 3;
        scounts[k] = rcounts[k] = n > 0 ? n : 0;
        sdispls[k] = k * count;
        rdispls[k] = (c->remote - 1 - k) * count;
        bytes_s[k] = sdispls[k] * (int)sizeof(int);
        bytes_r[k] = rdispls[k] * (int)sizeof(int);
        types[k] = MPI_INT;
    }
    for (int w = 0; w < 2; w++) {
        memset(all, 0xff, (size_t)count * c->remote * sizeof(int));
        if (w)
            OK(MPI_Alltoallw(own, scounts, bytes_s, types, all, rcounts, bytes_r, types, c->comm));
        else
            OK(MPI_Alltoallv(own, scounts, sdispls, MPI_INT, all, rcounts, rdispls, MPI_INT, c->comm));
        for (int k = 0; k < c->remote; k++)
            for (int i = 0; i < count; i++) {
                int want = i < rcounts[k] ? value(c->members[c->other][k], c->rank * count + i) : -1;
                CHECK(all[rdispls[k] + i] == want, "alltoall%c: element %d from %d", w ? 'w' : 'v', i, k);
            }
    }
    free(own);
    free(all);
}

static void reductions(const Inter *c, int count)
{
    /* Both groups need the same total for reduce_scatter. */
    int total = count * c->size * c->remote;
    int *own = check_alloc((size_t)total * sizeof(int)), *out = check_alloc((size_t)total * sizeof(int)), sum = 0, counts[64];
    for (int i = 0; i < total; i++) {
        own[i] = rank + i;
        out[i] = -1;
    }
    for (int k = 0; k < c->remote; k++)
        sum += c->members[c->other][k];
    OK(MPI_Allreduce(own, out, count, MPI_INT, MPI_SUM, c->comm));
    for (int i = 0; i < count; i++)
        CHECK(out[i] == sum + i * c->remote, "allreduce of %d: element %d is %d", count, i, out[i]);
    int each = count * c->remote, first = c->rank * each;
    OK(MPI_Reduce_scatter_block(own, out, each, MPI_INT, MPI_SUM, c->comm));
    for (int i = 0; i < each; i++)
        CHECK(out[i] == sum + (first + i) * c->remote, "reduce_scatter_block of %d: element %d is %d", each, i, out[i]);
    /* The last rank gets what the others have less. */
    for (int k = 0; k < c->size; k++)
        counts[k] = k == c->size - 1 ? total - (c->size - 1) * (each / 2) : each / 2;
    first = c->rank * (each / 2);
    memset(out, 0xff, (size_t)total * sizeof(int));
    OK(MPI_Reduce_scatter(own, out, counts, MPI_INT, MPI_SUM, c->comm));
    for (int i = 0; i < counts[c->rank]; i++)
        CHECK(out[i] == sum + (first + i) * c->remote, "reduce_scatter of %d: element %d is %d", counts[c->rank], i, out[i]);
    free(own);
    free(out);
}

/* An operation that does not commute, on a type with gaps: the remote group's ranks in order. */
static void in_order(const Inter *c)
{
    enum { N = 9 };
    Matrix own[N], out[N], want[N];
    MPI_Op op;
    MPI_Datatype type = gap_type();
    OK(MPI_Op_create(multiply, 0, &op));
    for (int i = 0; i < N; i++) {
        own[i] = matrix_of(rank, i);
        want[i] = matrix_of(c->members[c->other][0], i);
        for (int k = 1; k < c->remote; k++)
            want[i] = times(want[i], matrix_of(c->members[c->other][k], i));
    }
    for (int i = 0; i < N; i++)
        out[i] = blank();
    OK(MPI_Allreduce(own, out, N, type, op, c->comm));
    for (int i = 0; i < N; i++)
        verify(&out[i], i, want[i], "allreduce in order");
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < N; i++)
            out[i] = blank();
        int root = root_of(c, side, 0);
        OK(MPI_Reduce(own, out, N, type, op, root, c->comm));
        for (int i = 0; root == MPI_ROOT && i < N; i++)
            verify(&out[i], i, want[i], "reduce in order");
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
}

/* A program's messages with any tag and source are not taken for those of the collectives. */
static void beside_messages(const Inter *c)
{
    int got = -1, sum = -1, want = 0;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c->comm, &request));
    for (int i = 0; i < 10; i++)
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, c->comm));
    for (int k = 0; k < c->remote; k++)
        want += c->members[c->other][k];
    SAME(sum, want, "allreduce beside a wildcard receive");
    if (c->rank == 0)
        for (int k = 0; k < c->remote; k++)
            OK(MPI_Send(&rank, 1, MPI_INT, k, 99, c->comm));
    OK(MPI_Wait(&request, &status));
    SAME(status.MPI_SOURCE, 0, "source of a wildcard receive");
    SAME(status.MPI_TAG, 99, "tag of a wildcard receive");
    SAME(got, c->members[c->other][0], "a wildcard receive");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int shape = 0; shape < SHAPES; shape++) {
        Inter c = inter_make(shape);
        barriers(&c);
        rooted(&c, 0);
        rooted(&c, 3);
        rooted(&c, LONG);
        all_to_all(&c, 1);
        all_to_all(&c, 5);
        all_to_all(&c, LONG / 8);
        reductions(&c, 1);
        reductions(&c, 700);
        in_order(&c);
        beside_messages(&c);
        inter_free(&c);
    }
    return check_end();
}
