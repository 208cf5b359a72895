/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.9.2 Predefined Reduction Operations, 6.9.4 MINLOC and MAXLOC, 6.9.7 MPI_Reduce_local */
#include "check.h"
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

enum { N = 7 };

/* What a rank contributes: small enough that 16 ranks overflow nothing in a signed char. */
static int plain(int r, int i) { return (r + i) % 5 - 1; }
static int factor(int r, int i) { return (r + i) % 4 ? 1 : 2; }

/* Allreduce and reduce_local of one operation on one C type against the loop over ranks. */
#define TEST(T, TYPE, OP, VALUE, COMBINE)                                                                        \
    do {                                                                                                         \
        T in[N], out[N], local[N];                                                                               \
        for (int i = 0; i < N; i++)                                                                              \
            in[i] = (T)VALUE(rank, i), local[i] = (T)VALUE(rank + 1, i);                                         \
        OK(MPI_Allreduce(in, out, N, TYPE, OP, MPI_COMM_WORLD));                                                 \
        OK(MPI_Reduce_local(in, local, N, TYPE, OP));                                                            \
        for (int i = 0; i < N; i++) {                                                                            \
            T a = (T)VALUE(0, i), b;                                                                             \
            for (int r = 1; r < size; r++)                                                                       \
                b = (T)VALUE(r, i), a = (T)(COMBINE);                                                            \
            CHECK(out[i] == a, "%s on %s: element %d is not what the loop over ranks gives", #OP, #TYPE, i);     \
            a = (T)VALUE(rank, i), b = (T)VALUE(rank + 1, i), a = (T)(COMBINE);                                  \
            CHECK(local[i] == a, "MPI_Reduce_local of %s on %s: element %d differs", #OP, #TYPE, i);             \
        }                                                                                                        \
    } while (0)

#define ARITHMETIC(T, TYPE)                          \
    TEST(T, TYPE, MPI_SUM, plain, a + b);            \
    TEST(T, TYPE, MPI_PROD, factor, a *b);
#define ORDERED(T, TYPE)                             \
    TEST(T, TYPE, MPI_MIN, plain, b < a ? b : a);    \
    TEST(T, TYPE, MPI_MAX, plain, b > a ? b : a);
#define BITWISE(T, TYPE)                             \
    TEST(T, TYPE, MPI_BAND, plain, a &b);            \
    TEST(T, TYPE, MPI_BOR, plain, a | b);            \
    TEST(T, TYPE, MPI_BXOR, plain, a ^ b);
#define LOGICAL(T, TYPE)                             \
    TEST(T, TYPE, MPI_LAND, plain, a &&b);           \
    TEST(T, TYPE, MPI_LOR, plain, a || b);           \
    TEST(T, TYPE, MPI_LXOR, plain, !a != !b);
#define INTEGER(T, TYPE)     \
    ARITHMETIC(T, TYPE)      \
    ORDERED(T, TYPE)         \
    BITWISE(T, TYPE)         \
    LOGICAL(T, TYPE)

static void integers(void)
{
    INTEGER(signed char, MPI_SIGNED_CHAR)
    INTEGER(unsigned char, MPI_UNSIGNED_CHAR)
    INTEGER(short, MPI_SHORT)
    INTEGER(unsigned short, MPI_UNSIGNED_SHORT)
    INTEGER(int, MPI_INT)
    INTEGER(unsigned, MPI_UNSIGNED)
    INTEGER(long, MPI_LONG)
    INTEGER(unsigned long, MPI_UNSIGNED_LONG)
    INTEGER(long long, MPI_LONG_LONG)
    INTEGER(long long, MPI_LONG_LONG_INT)
    INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG)
}

static void sized_integers(void)
{
    INTEGER(int8_t, MPI_INT8_T)
    INTEGER(int16_t, MPI_INT16_T)
    INTEGER(int32_t, MPI_INT32_T)
    INTEGER(int64_t, MPI_INT64_T)
    INTEGER(uint8_t, MPI_UINT8_T)
    INTEGER(uint16_t, MPI_UINT16_T)
    INTEGER(uint32_t, MPI_UINT32_T)
    INTEGER(uint64_t, MPI_UINT64_T)
}

static void others(void)
{
    ARITHMETIC(float, MPI_FLOAT)
    ORDERED(float, MPI_FLOAT)
    ARITHMETIC(double, MPI_DOUBLE)
    ORDERED(double, MPI_DOUBLE)
    ARITHMETIC(long double, MPI_LONG_DOUBLE)
    ORDERED(long double, MPI_LONG_DOUBLE)
    ARITHMETIC(float complex, MPI_C_COMPLEX)
    ARITHMETIC(float complex, MPI_C_FLOAT_COMPLEX)
    ARITHMETIC(double complex, MPI_C_DOUBLE_COMPLEX)
    ARITHMETIC(long double complex, MPI_C_LONG_DOUBLE_COMPLEX)
    LOGICAL(bool, MPI_C_BOOL)
    BITWISE(unsigned char, MPI_BYTE)
    ARITHMETIC(MPI_Aint, MPI_AINT)
    ORDERED(MPI_Aint, MPI_AINT)
    BITWISE(MPI_Aint, MPI_AINT)
    ARITHMETIC(MPI_Offset, MPI_OFFSET)
    ORDERED(MPI_Offset, MPI_OFFSET)
    BITWISE(MPI_Offset, MPI_OFFSET)
    ARITHMETIC(MPI_Count, MPI_COUNT)
    ORDERED(MPI_Count, MPI_COUNT)
    BITWISE(MPI_Count, MPI_COUNT)
}

/* Complex products that are not real. */
static void complex_products(void)
{
    double complex z = (rank % 2 ? 1.0 : 2.0) + (rank % 3) * I, got, want = 1;
    OK(MPI_Allreduce(&z, &got, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        want *= (r % 2 ? 1.0 : 2.0) + (r % 3) * I;
    CHECK(creal(got) == creal(want) && cimag(got) == cimag(want), "complex product is %g%+gi, not %g%+gi", creal(got),
          cimag(got), creal(want), cimag(want));
}

/* Ties go to the smaller index (6.9.4). The pair is laid out as the C struct. */
#define LOCATION(T, TYPE)                                                                                             \
    do {                                                                                                              \
        struct {                                                                                                      \
            T value;                                                                                                  \
            int index;                                                                                                \
        } in[N], low[N], high[N];                                                                                     \
        for (int i = 0; i < N; i++)                                                                                   \
            in[i].value = (T)plain(rank * 3, i), in[i].index = 100 - rank;                                            \
        OK(MPI_Allreduce(in, low, N, TYPE, MPI_MINLOC, MPI_COMM_WORLD));                                              \
        OK(MPI_Allreduce(in, high, N, TYPE, MPI_MAXLOC, MPI_COMM_WORLD));                                             \
        for (int i = 0; i < N; i++) {                                                                                 \
            int lowest = 0, highest = 0;                                                                              \
            for (int r = 1; r < size; r++) {                                                                          \
                lowest = plain(r * 3, i) <= plain(lowest * 3, i) ? r : lowest;                                        \
                highest = plain(r * 3, i) >= plain(highest * 3, i) ? r : highest;                                     \
            }                                                                                                         \
            CHECK(low[i].value == (T)plain(lowest * 3, i) && low[i].index == 100 - lowest,                            \
                  "MPI_MINLOC on %s: element %d has index %d, not %d", #TYPE, i, low[i].index, 100 - lowest);         \
            CHECK(high[i].value == (T)plain(highest * 3, i) && high[i].index == 100 - highest,                        \
                  "MPI_MAXLOC on %s: element %d has index %d, not %d", #TYPE, i, high[i].index, 100 - highest);       \
        }                                                                                                             \
    } while (0)

static void locations(void)
{
    LOCATION(float, MPI_FLOAT_INT);
    LOCATION(double, MPI_DOUBLE_INT);
    LOCATION(long, MPI_LONG_INT);
    LOCATION(int, MPI_2INT);
    LOCATION(short, MPI_SHORT_INT);
    LOCATION(long double, MPI_LONG_DOUBLE_INT);
}

/* 6.9.2 allows each operation on some kinds of types only. */
static void refused(void)
{
    double d[2] = { 0, 0 }, e[2] = { 0, 0 };
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_OP, MPI_Allreduce(d, e, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(d, e, 1, MPI_C_COMPLEX, MPI_MAX, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(d, e, 1, MPI_INT, MPI_MINLOC, MPI_COMM_WORLD));
    FAILS(MPI_ERR_OP, MPI_Allreduce(d, e, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    integers();
    sized_integers();
    others();
    complex_products();
    locations();
    refused();
    return check_end();
}
