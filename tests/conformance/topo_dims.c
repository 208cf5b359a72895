/* ranks: 1 */
/* MPI-5.0 8.5.2 MPI_Dims_create */
#include "check.h"

/* The least difference between the largest and the smallest of k factors of n, none below low; smallest is the first one. */
static long best(long n, int k, long low, long smallest)
{
    if (k == 1)
        return n >= low ? n - (smallest ? smallest : n) : 1L << 40;
    long least = 1L << 40;
    for (long d = low; d * d <= n || d == 1; d++) {
        if (n % d)
            continue;
        long found = best(n / d, k - 1, d, smallest ? smallest : d);
        if (found < least)
            least = found;
    }
    return least;
}

static void balanced(int n, int k)
{
    int dims[8] = { 0 };
    long product = 1;
    OK(MPI_Dims_create(n, k, dims));
    for (int i = 0; i < k; i++) {
        CHECK(dims[i] >= 1 && (i == 0 || dims[i] <= dims[i - 1]), "%d in %d: dims[%d] is %d", n, k, i, dims[i]);
        product *= dims[i];
    }
    SAME(product, n, "product of the dimensions");
    long least = best(n, k, 1, 0);
    CHECK(dims[0] - dims[k - 1] == least, "%d in %d: %d to %d, but a difference of %ld is possible", n, k, dims[k - 1], dims[0],
          least);
}

static void fixed(int n, int k, const int *given, const int *want)
{
    int dims[8];
    memcpy(dims, given, k * sizeof(int));
    OK(MPI_Dims_create(n, k, dims));
    for (int i = 0; i < k; i++)
        CHECK(dims[i] == want[i], "%d in %d: dims[%d] is %d, not %d", n, k, i, dims[i], want[i]);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int n = 1; n <= 1500; n++)
        for (int k = 1; k <= 5; k++)
            balanced(n, k);
    for (int n = 1 << 16; n < (1 << 16) + 40; n++)
        for (int k = 2; k <= 4; k++)
            balanced(n, k);
    /* The table of the standard, and more dimensions that are given. */
    fixed(6, 2, (int[]){ 0, 0 }, (int[]){ 3, 2 });
    fixed(7, 2, (int[]){ 0, 0 }, (int[]){ 7, 1 });
    fixed(6, 3, (int[]){ 0, 3, 0 }, (int[]){ 2, 3, 1 });
    fixed(96, 4, (int[]){ 0, 2, 0, 3 }, (int[]){ 4, 2, 4, 3 });
    fixed(64, 3, (int[]){ 0, 16, 0 }, (int[]){ 2, 16, 2 });
    fixed(12, 2, (int[]){ 3, 4 }, (int[]){ 3, 4 });
    fixed(12, 3, (int[]){ 0, 1, 0 }, (int[]){ 4, 1, 3 });
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    int dims[3] = { 0, 3, 0 };
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(7, 3, dims));
    SAME(dims[0] + dims[2], 0, "dimensions after an error");
    FAILS(MPI_ERR_DIMS, MPI_Dims_create(6, 3, ((int[]){ 0, -3, 0 })));
    return check_end();
}
