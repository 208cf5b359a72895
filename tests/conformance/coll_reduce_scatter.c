/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.10 Reduce-Scatter */
#include "reduce_scatter.h"

/* With an operation that commutes, around the sizes where algorithms change. */
static void sums(int count)
{
    size_t bytes = (size_t)count * size * sizeof(unsigned);
    unsigned *in = check_alloc(bytes), *out = check_alloc(bytes), ranks = (unsigned)size * (unsigned)(size + 1) / 2;
    int counts[64];
    for (int i = 0; i < count * size; i++)
        in[i] = (unsigned)i * (unsigned)(rank + 1);
    OK(MPI_Reduce_scatter_block(in, out, count, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        SAME(out[i], (unsigned)(rank * count + i) * ranks, "reduce_scatter_block of sums");
    for (int r = 0; r < size; r++)
        counts[r] = count + (r == 0) - (r == size - 1);
    int first = rank * count + (rank > 0);
    memcpy(out, in, bytes);
    OK(MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < counts[rank]; i++)
        SAME(out[i], (unsigned)(first + i) * ranks, "reduce_scatter of sums in place");
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    type = dense_type();
    reduce_scatter_all();
    static const int counts[] = { 1, 50, 255, 256, 257, 2047, 2049, 4096, 4097, 100000 };
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        sums(counts[k]);
    OK(MPI_Type_free(&type));
    return check_end();
}
