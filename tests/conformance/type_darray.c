/* ranks: 1 2 4 */
/* MPI-5.0 5.1.4 Distributed Array Datatype Constructor: every distribution against its definition, in both orders, and
 * messages that put an array together from its parts. */
#include "check.h"

enum { MOST = 3, CELLS = 4096 };

struct dim {
    int gsize, distrib, darg, psize;
};

/* Who owns index `i` of a dimension: a coordinate of the process grid. */
static int owner(const struct dim *d, int i)
{
    int block = d->darg;
    if (d->distrib == MPI_DISTRIBUTE_NONE)
        return 0;
    if (block == MPI_DISTRIBUTE_DFLT_DARG)
        block = d->distrib == MPI_DISTRIBUTE_BLOCK ? (d->gsize + d->psize - 1) / d->psize : 1;
    return i / block % d->psize;
}

/* The cells of process `who`, in the order of the array's memory. */
static int definition(const struct dim *dims, int n, int order, int who, int *cells)
{
    int coords[MOST], total = 1, found = 0, rest = who;
    for (int d = n - 1; d >= 0; d--) {
        coords[d] = rest % dims[d].psize;
        rest /= dims[d].psize;
        total *= dims[d].gsize;
    }
    for (int cell = 0; cell < total; cell++) {
        int left = cell, mine = 1;
        for (int k = 0; k < n; k++) {
            int d = order == MPI_ORDER_C ? n - 1 - k : k;
            mine &= owner(&dims[d], left % dims[d].gsize) == coords[d];
            left /= dims[d].gsize;
        }
        if (mine)
            cells[found++] = cell;
    }
    return found;
}

static MPI_Datatype make(const struct dim *dims, int n, int order, int who, MPI_Datatype old, int large)
{
    int g[MOST], distribs[MOST], dargs[MOST], p[MOST], processes = 1;
    MPI_Count wide[MOST];
    MPI_Datatype t;
    for (int d = 0; d < n; d++) {
        wide[d] = g[d] = dims[d].gsize;
        distribs[d] = dims[d].distrib;
        dargs[d] = dims[d].darg;
        processes *= p[d] = dims[d].psize;
    }
    if (large)
        OK(MPI_Type_create_darray_c(processes, who, n, wide, distribs, dargs, p, order, old, &t));
    else
        OK(MPI_Type_create_darray(processes, who, n, g, distribs, dargs, p, order, old, &t));
    OK(MPI_Type_commit(&t));
    return t;
}

static void check(const struct dim *dims, int n, int order, MPI_Datatype old, int bytes, int extent, int large)
{
    static int cells[CELLS];
    static unsigned char array[CELLS * 16], packed[CELLS * 16];
    static char seen[CELLS];
    int processes = 1, total = 1;
    for (int d = 0; d < n; d++)
        processes *= dims[d].psize, total *= dims[d].gsize;
    CHECK(total <= CELLS, "the test is too large");
    for (int i = 0; i < total * extent; i++)
        array[i] = (unsigned char)(i * 37 + i / 251);
    memset(seen, 0, sizeof seen);
    for (int who = 0; who < processes; who++) {
        MPI_Datatype t = make(dims, n, order, who, old, large);
        int owned = definition(dims, n, order, who, cells), size_, position = 0;
        MPI_Aint lb, all, true_lb, true_extent;
        OK(MPI_Type_size(t, &size_));
        SAME(size_, owned * bytes, "size of a part");
        OK(MPI_Type_get_extent(t, &lb, &all));
        CHECK(lb == 0 && all == (MPI_Aint)total * extent, "bounds of a part: %ld, %ld", (long)lb, (long)all);
        OK(MPI_Type_get_true_extent(t, &true_lb, &true_extent));
        if (owned > 0) {
            SAME(true_lb, cells[0] * extent, "true lower bound of a part");
            SAME(true_lb + true_extent, cells[owned - 1] * extent + bytes, "true upper bound of a part");
        }
        OK(MPI_Pack(array, 1, t, packed, sizeof packed, &position, MPI_COMM_SELF));
        for (int i = 0; i < owned; i++) {
            CHECK(!memcmp(packed + i * bytes, array + cells[i] * extent, bytes),
                  "process %d of %d, %d dimensions, order %d: element %d is not cell %d", who, processes, n, order, i, cells[i]);
            SAME(seen[cells[i]]++, 0, "a cell with two owners");
        }
        OK(MPI_Type_free(&t));
    }
    for (int i = 0; i < total; i++)
        SAME(seen[i], 1, "a cell without owner");
}

/* Each rank sends its part, as ints, to rank 0, which receives it into place. */
static void together(int order)
{
    struct dim dims[2] = { { 13, MPI_DISTRIBUTE_CYCLIC, 2, size }, { 7, MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_DFLT_DARG, 1 } };
    int cells[91], whole[91], mine[91], n = definition(dims, 2, order, rank, cells);
    for (int i = 0; i < n; i++)
        mine[i] = 1000 + cells[i];
    memset(whole, 0, sizeof whole);
    MPI_Request request;
    OK(MPI_Isend(mine, n, MPI_INT, 0, 0, MPI_COMM_WORLD, &request));
    for (int who = 0; rank == 0 && who < size; who++) {
        MPI_Datatype t = make(dims, 2, order, who, MPI_INT, 0);
        MPI_Status status;
        int got;
        OK(MPI_Recv(whole, 1, t, who, 0, MPI_COMM_WORLD, &status));
        OK(MPI_Get_elements(&status, t, &got));
        SAME(got, definition(dims, 2, order, who, cells), "elements of a part");
        OK(MPI_Type_free(&t));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; rank == 0 && i < 91; i++)
        SAME(whole[i], 1000 + i, "the array put together");
}

int main(int argc, char **argv)
{
    static const int kinds[] = { MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC };
    uint64_t seed = 11;
    check_begin(&argc, &argv);
    MPI_Datatype gap;
    OK(MPI_Type_create_resized(MPI_SHORT, 0, 6, &gap));
    /* One dimension in full. */
    for (int g = 1; g < 12; g++)
        for (int p = 1; p < 6; p++)
            for (int k = 0; k < 3; k++)
                for (int darg = 0; darg < 6; darg++) {
                    struct dim d = { g, kinds[k], darg ? darg : MPI_DISTRIBUTE_DFLT_DARG, k == 0 ? 1 : p };
                    if (k == 1 && darg && darg * p < g)
                        continue;
                    for (int order = 0; order < 2; order++)
                        check(&d, 1, order ? MPI_ORDER_C : MPI_ORDER_FORTRAN, MPI_INT, 4, 4, darg & 1);
                }
    /* More dimensions at random. */
    for (int round = 0; round < 400; round++) {
        struct dim dims[MOST];
        int n = 2 + (int)(check_random(&seed) % 2);
        for (int d = 0; d < n; d++) {
            int k = (int)(check_random(&seed) % 3), g = 1 + (int)(check_random(&seed) % 9), p = 1 + (int)(check_random(&seed) % 3);
            int darg = (int)(check_random(&seed) % 5);
            if (k == 1 && darg && darg * p < g)
                darg = g;
            dims[d] = (struct dim){ g, kinds[k], darg ? darg : MPI_DISTRIBUTE_DFLT_DARG, k == 0 ? 1 : p };
        }
        int with_gaps = round % 2;
        check(dims, n, round % 4 < 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, with_gaps ? gap : MPI_DOUBLE, with_gaps ? 2 : 8,
              with_gaps ? 6 : 8, round % 3 == 0);
    }
    OK(MPI_Type_free(&gap));
    together(MPI_ORDER_C);
    together(MPI_ORDER_FORTRAN);
    return check_end();
}
