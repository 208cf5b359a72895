/* An associative operation that does not commute: the product of 2x2 matrices of unsigned ints, on derived
 * datatypes with and without gaps; and what the ranks contribute. */
#ifndef REDUCE_H
#define REDUCE_H
#include "check.h"

typedef struct {
    unsigned a, b;
    unsigned gap;
    unsigned c, d;
    unsigned tail;
} Matrix;

enum { GAP = 0xABCDEF };

static Matrix times(Matrix x, Matrix y)
{
    Matrix r = { x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, GAP, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d, GAP };
    return r;
}

/* invec is the left operand: inoutvec[i] = invec[i] op inoutvec[i] (6.9.5). */
static void multiply(void *invec, void *inoutvec, int *len, MPI_Datatype *type)
{
    Matrix *in = invec, *inout = inoutvec;
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    CHECK(extent == (MPI_Aint)sizeof(Matrix), "the operation got a datatype of extent %lld", (long long)extent);
    for (int i = 0; i < *len; i++) {
        Matrix r = times(in[i], inout[i]);
        inout[i].a = r.a, inout[i].b = r.b, inout[i].c = r.c, inout[i].d = r.d;
    }
}

static Matrix matrix_of(int owner, int i)
{
    Matrix m = { (unsigned)owner + 1, (unsigned)i + 2, GAP, 3u * (unsigned)owner + 1, (unsigned)(owner * i) + 5, GAP };
    return m;
}

/* The product over ranks first..last. */
__attribute__((unused)) static Matrix product(int first, int last, int i)
{
    Matrix m = matrix_of(first, i);
    for (int r = first + 1; r <= last; r++)
        m = times(m, matrix_of(r, i));
    return m;
}

static Matrix blank(void)
{
    Matrix m = { GAP, GAP, GAP, GAP, GAP, GAP };
    return m;
}

static void verify(const Matrix *got, int i, Matrix want, const char *what)
{
    CHECK(memcmp(got, &want, sizeof want) == 0,
          "%s: element %d is (%u %u %u %u, gaps %x %x), not (%u %u %u %u, gaps %x %x)", what, i, got->a, got->b, got->c,
          got->d, got->gap, got->tail, want.a, want.b, want.c, want.d, want.gap, want.tail);
}

/* The whole struct. */
__attribute__((unused)) static MPI_Datatype dense_type(void)
{
    MPI_Datatype type;
    OK(MPI_Type_contiguous(6, MPI_UNSIGNED, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

/* The four numbers without the gaps. */
__attribute__((unused)) static MPI_Datatype gap_type(void)
{
    MPI_Datatype pairs, type;
    OK(MPI_Type_vector(2, 2, 3, MPI_UNSIGNED, &pairs));
    OK(MPI_Type_create_resized(pairs, 0, sizeof(Matrix), &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&pairs));
    return type;
}
#endif
