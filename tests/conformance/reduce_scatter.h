/* MPI_Reduce_scatter_block and MPI_Reduce_scatter of matrices, on the datatype that a program chooses. */
#ifndef REDUCE_SCATTER_H
#define REDUCE_SCATTER_H
#include "reduce.h"

static MPI_Datatype type;
static MPI_Op op;

static void blocks(int count, int in_place)
{
    Matrix *in = check_alloc((size_t)count * size * sizeof *in), *out = check_alloc(count * sizeof *out);
    for (int i = 0; i < count * size; i++)
        in[i] = matrix_of(rank, i);
    for (int i = 0; i < count; i++)
        out[i] = blank();
    Matrix *result = in_place ? in : out;
    OK(MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : (void *)in, result, count, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        verify(result + i, i, product(0, size - 1, rank * count + i), "reduce_scatter_block");
    free(in);
    free(out);
}

static void parts(uint64_t seed, int most, int in_place)
{
    int counts[64] = { 0 }, first = 0, total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = check_random(&seed) % 3 ? (int)(check_random(&seed) % most) : 0;
        first += r < rank ? counts[r] : 0;
        total += counts[r];
    }
    Matrix *in = check_alloc(total * sizeof *in), *out = check_alloc(counts[rank] * sizeof *out);
    for (int i = 0; i < total; i++)
        in[i] = matrix_of(rank, i);
    for (int i = 0; i < counts[rank]; i++)
        out[i] = blank();
    Matrix *result = in_place ? in : out;
    OK(MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : (void *)in, result, counts, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < counts[rank]; i++)
        verify(result + i, i, product(0, size - 1, first + i), "reduce_scatter");
    free(in);
    free(out);
}

static void reduce_scatter_all(void)
{
    static const int counts[] = { 0, 1, 2, 5, 100, 1000, 5000 };
    OK(MPI_Op_create(multiply, 0, &op));
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int in_place = 0; in_place < 2; in_place++)
            blocks(counts[k], in_place);
    for (int seed = 0; seed < 12; seed++)
        parts(seed, seed < 8 ? 20 : 3000, seed % 2);
    OK(MPI_Op_free(&op));
}
#endif
