/* ranks: 1 2 4 6 8 */
/* MPI-5.0 8.5.1, 8.5.5, 8.5.6 Cartesian topologies: construction, inquiry, shifts, partitions, duplicates */
#include "check.h"

#define MAX 6

static int product(const int *dims, int n)
{
    int p = 1;
    for (int i = 0; i < n; i++)
        p *= dims[i];
    return p;
}

/* Row-major: the last coordinate varies fastest. */
static void place(int r, const int *dims, int n, int *at)
{
    for (int i = n - 1; i >= 0; i--) {
        at[i] = r % dims[i];
        r /= dims[i];
    }
}

static int shifted(const int *dims, const int *periods, int n, int from, int d, int disp)
{
    int at[MAX], to, r = 0;
    place(from, dims, n, at);
    to = at[d] + disp;
    if (!periods[d] && (to < 0 || to >= dims[d]))
        return MPI_PROC_NULL;
    at[d] = ((to % dims[d]) + dims[d]) % dims[d];
    for (int i = 0; i < n; i++)
        r = r * dims[i] + at[i];
    return r;
}

static void inquire(MPI_Comm grid, const int *dims, const int *periods, int n)
{
    int status, count, me, nodes, got_dims[MAX], got_periods[MAX], at[MAX], want[MAX], r;
    OK(MPI_Topo_test(grid, &status));
    SAME(status, MPI_CART, "MPI_Topo_test");
    OK(MPI_Cartdim_get(grid, &count));
    SAME(count, n, "MPI_Cartdim_get");
    OK(MPI_Comm_rank(grid, &me));
    OK(MPI_Comm_size(grid, &nodes));
    SAME(nodes, product(dims, n), "size of the grid");
    OK(MPI_Cart_get(grid, MAX, got_dims, got_periods, at));
    place(me, dims, n, want);
    for (int i = 0; i < n; i++) {
        SAME(got_dims[i], dims[i], "dims");
        SAME(!!got_periods[i], !!periods[i], "periods");
        SAME(at[i], want[i], "own coordinates");
    }
    for (int other = 0; other < nodes; other++) {
        OK(MPI_Cart_coords(grid, other, MAX, at));
        place(other, dims, n, want);
        for (int i = 0; i < n; i++)
            SAME(at[i], want[i], "coordinates");
        for (int i = 0; i < n; i++)
            if (periods[i])
                at[i] += (other % 3 - 1) * dims[i];
        OK(MPI_Cart_rank(grid, at, &r));
        SAME(r, other, "MPI_Cart_rank, periodic coordinates outside");
    }
    for (int d = 0; d < n; d++)
        for (int disp = -5; disp <= 5; disp++) {
            int from = 77, to = 77;
            OK(MPI_Cart_shift(grid, d, disp, &from, &to));
            SAME(to, shifted(dims, periods, n, me, d, disp), "destination of a shift");
            SAME(from, shifted(dims, periods, n, me, d, -disp), "source of a shift");
        }
}

static void partitions(MPI_Comm grid, const int *dims, const int *periods, int n)
{
    int me, at[MAX];
    OK(MPI_Comm_rank(grid, &me));
    place(me, dims, n, at);
    for (int mask = 0; mask < 1 << n; mask++) {
        int keep[MAX], sub_dims[MAX], sub_periods[MAX], sub_at[MAX], k = 0, sub_rank, want = 0;
        MPI_Comm sub;
        for (int i = 0; i < n; i++) {
            keep[i] = mask >> i & 1;
            if (keep[i]) {
                sub_dims[k] = dims[i];
                sub_periods[k] = periods[i];
                sub_at[k++] = at[i];
            }
        }
        OK(MPI_Cart_sub(grid, keep, &sub));
        CHECK(sub != MPI_COMM_NULL, "MPI_Cart_sub gave MPI_COMM_NULL");
        inquire(sub, sub_dims, sub_periods, k);
        OK(MPI_Comm_rank(sub, &sub_rank));
        for (int i = 0; i < k; i++)
            want = want * sub_dims[i] + sub_at[i];
        SAME(sub_rank, want, "rank in a partition");
        /* Its members differ in the kept coordinates only. */
        int sum = 0, rest = 0, nodes = product(sub_dims, k);
        for (int i = 0; i < n; i++)
            if (!keep[i])
                rest = rest * dims[i] + at[i];
        OK(MPI_Allreduce(&rest, &sum, 1, MPI_INT, MPI_SUM, sub));
        SAME(sum, rest * nodes, "a partition's other coordinates");
        OK(MPI_Comm_free(&sub));
    }
}

static void grid(int n, const int *dims, const int *periods, int reorder)
{
    MPI_Comm grid, copy, copies[2], split;
    int status, nodes = product(dims, n), newrank = 77;
    OK(MPI_Cart_map(MPI_COMM_WORLD, n, dims, periods, &newrank));
    OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, reorder, &grid));
    if (!reorder)
        SAME(grid != MPI_COMM_NULL, rank < nodes, "who is in the grid");
    else
        SAME(grid != MPI_COMM_NULL, newrank != MPI_UNDEFINED, "MPI_Cart_map and who is in the grid");
    if (grid == MPI_COMM_NULL)
        return;
    int me, sum;
    OK(MPI_Comm_rank(grid, &me));
    SAME(me, reorder ? newrank : rank, "rank in the grid");
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, grid));
    SAME(sum, nodes * (nodes - 1) / 2, "sum of the ranks");
    inquire(grid, dims, periods, n);
    partitions(grid, dims, periods, n);
    /* Duplicates have the topology, others do not. */
    MPI_Request request;
    OK(MPI_Comm_dup(grid, &copies[0]));
    OK(MPI_Comm_idup(grid, &copies[1], &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++) {
        inquire(copies[i], dims, periods, n);
        OK(MPI_Comm_free(&copies[i]));
    }
    OK(MPI_Comm_dup_with_info(grid, MPI_INFO_NULL, &copy));
    OK(MPI_Comm_split(grid, 0, 0, &split));
    OK(MPI_Comm_free(&grid));
    inquire(copy, dims, periods, n);
    OK(MPI_Topo_test(split, &status));
    SAME(status, MPI_UNDEFINED, "MPI_Topo_test of a split communicator");
    OK(MPI_Comm_free(&split));
    OK(MPI_Comm_free(&copy));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int status;
    OK(MPI_Topo_test(MPI_COMM_WORLD, &status));
    SAME(status, MPI_UNDEFINED, "MPI_Topo_test of MPI_COMM_WORLD");
    for (int reorder = 0; reorder < 2; reorder++)
        for (int n = 0; n <= 4; n++)
            for (int mask = 0; mask < 1 << n; mask++) {
                int dims[MAX] = { 0 }, periods[MAX], smaller[MAX] = { 1, 1, 1, 1 };
                for (int i = 0; i < n; i++)
                    periods[i] = (mask >> i & 1) * 5;
                if (n > 0)
                    OK(MPI_Dims_create(size, n, dims));
                grid(n, dims, periods, reorder);
                /* Not all ranks, and the long dimension last. */
                if (n > 0) {
                    smaller[n - 1] = size > 2 ? size - 1 : 1;
                    grid(n, smaller, periods, reorder);
                }
            }
    return check_end();
}
