/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.11 Scan */
#include "reduce.h"

static MPI_Datatype type;
static MPI_Op op;

static void scans(int count, int in_place)
{
    Matrix *in = check_alloc(count * sizeof *in), *out = check_alloc(count * sizeof *out);
    for (int i = 0; i < count; i++) {
        in[i] = matrix_of(rank, i);
        out[i] = in_place ? in[i] : blank();
    }
    OK(MPI_Scan(in_place ? MPI_IN_PLACE : (void *)in, out, count, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        verify(out + i, i, product(0, rank, i), "scan");
        out[i] = in_place ? in[i] : blank();
    }
    OK(MPI_Exscan(in_place ? MPI_IN_PLACE : (void *)in, out, count, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        if (rank > 0)
            verify(out + i, i, product(0, rank - 1, i), "exscan");
        else if (in_place)
            verify(out + i, i, matrix_of(0, i), "exscan in place at rank 0, which is left alone");
    }
    free(in);
    free(out);
}

/* The same with an operation that commutes, on long vectors. */
static void sums(int count)
{
    unsigned *in = check_alloc(count * sizeof *in), *out = check_alloc(count * sizeof *out);
    unsigned below = (unsigned)(rank + 1) * (unsigned)(rank + 2) / 2;
    for (int i = 0; i < count; i++)
        in[i] = (unsigned)i * (unsigned)(rank + 1);
    OK(MPI_Scan(in, out, count, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        SAME(out[i], (unsigned)i * below, "scan of sums");
    OK(MPI_Exscan(in, out, count, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; rank > 0 && i < count; i++)
        SAME(out[i], (unsigned)i * (below - (unsigned)rank - 1), "exscan of sums");
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 5, 100, 1000, 5000 };
    check_begin(&argc, &argv);
    type = gap_type();
    OK(MPI_Op_create(multiply, 0, &op));
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int in_place = 0; in_place < 2; in_place++)
            scans(counts[k], in_place);
    scans(30000, 1);
    sums(1);
    sums(5000);
    sums(65537);
    sums(600000);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&type));
    return check_end();
}
