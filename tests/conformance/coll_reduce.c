/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.9 Global Reduction Operations: MPI_Reduce, MPI_Allreduce; user-defined operations (6.9.5) */
#include "reduce.h"

static MPI_Datatype type;
static MPI_Op op;

static void matrices(int count, int root, int in_place)
{
    Matrix *in = check_alloc(count * sizeof *in), *out = check_alloc(count * sizeof *out);
    int here = in_place && rank == root;
    for (int i = 0; i < count; i++) {
        in[i] = matrix_of(rank, i);
        out[i] = here ? in[i] : blank();
    }
    OK(MPI_Reduce(here ? MPI_IN_PLACE : (void *)in, rank == root ? out : NULL, count, type, op, root, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        verify(in + i, i, matrix_of(rank, i), "input of reduce");
        verify(out + i, i, rank == root ? product(0, size - 1, i) : blank(),
               "reduce of matrices");
        out[i] = in_place ? in[i] : blank();
    }
    OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : (void *)in, out, count, type, op, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        verify(out + i, i, product(0, size - 1, i), "allreduce of matrices");
    }
    free(in);
    free(out);
}

static long contribution(int r, int i) { return (long)r * 3 + i % 1009 - 500; }

static long total(int i)
{
    long t = 0;
    for (int r = 0; r < size; r++)
        t += contribution(r, i);
    return t;
}

static void sums(int count, int root, int in_place)
{
    long *in = check_alloc(count * sizeof *in), *out = check_alloc((count + 1) * sizeof *out);
    int here = in_place && rank == root;
    for (int i = 0; i < count; i++) {
        in[i] = contribution(rank, i);
        out[i] = here ? in[i] : -77;
    }
    out[count] = -99;
    OK(MPI_Reduce(here ? MPI_IN_PLACE : (void *)in, out, count, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        long want = rank == root ? total(i) : -77;
        CHECK(out[i] == want, "reduce of %d to %d (in place %d): element %d is %ld, not %ld", count, root, in_place, i,
              out[i], want);
        out[i] = in_place ? in[i] : -77;
    }
    OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : (void *)in, out, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        CHECK(out[i] == total(i), "allreduce of %d (in place %d): element %d is %ld, not %ld", count, in_place, i, out[i],
              total(i));
    CHECK(out[count] == -99, "allreduce of %d wrote past the end", count);
    free(in);
    free(out);
}

/* Ranks agree on the bits of a sum that depends on the order of its terms. */
static void reproducible(int count)
{
    double *x = check_alloc(count * sizeof *x), *root_has = check_alloc(count * sizeof *x);
    uint64_t state = 17 + (uint64_t)rank;
    for (int i = 0; i < count; i++)
        x[i] = ((double)check_random(&state) - 1e9) / (1 << (check_random(&state) % 30));
    OK(MPI_Allreduce(MPI_IN_PLACE, x, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    memcpy(root_has, x, count * sizeof *x);
    OK(MPI_Bcast(root_has, count, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    CHECK(memcmp(x, root_has, count * sizeof *x) == 0, "allreduce of %d doubles differs between ranks", count);
    free(x);
    free(root_has);
}

static void larger_in(void *invec, void *inoutvec, MPI_Count *len, MPI_Datatype *t)
{
    int *in = invec, *inout = inoutvec;
    CHECK(*t == MPI_INT, "the large-count operation got another datatype");
    for (MPI_Count i = 0; i < *len; i++)
        inout[i] = in[i] > inout[i] ? in[i] : inout[i];
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 2, 7, 8, 9, 100, 2047, 2048, 2049, 10000, 65537, 300000 };
    check_begin(&argc, &argv);
    type = gap_type();
    OK(MPI_Op_create(multiply, 0, &op));
    int commutes = 7;
    OK(MPI_Op_commutative(op, &commutes));
    SAME(commutes, 0, "MPI_Op_commutative of a user operation");
    OK(MPI_Op_commutative(MPI_SUM, &commutes));
    SAME(commutes, 1, "MPI_Op_commutative of MPI_SUM");
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int root = 0; root < size; root += counts[k] > 10 && size > 2 ? size - 1 : 1)
            for (int in_place = counts[k] > 10 && root == 0; in_place < 2; in_place++) {
                sums(counts[k], root, in_place);
                if (counts[k] <= 10000)
                    matrices(counts[k], root, in_place);
            }
    reproducible(1);
    reproducible(1000);
    reproducible(50000);
    MPI_Op large;
    OK(MPI_Op_create_c(larger_in, 1, &large));
    int v = rank * 5, most = -1;
    OK(MPI_Allreduce(&v, &most, 1, MPI_INT, large, MPI_COMM_WORLD));
    SAME(most, 5 * (size - 1), "MPI_Op_create_c");
    OK(MPI_Op_free(&large));
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL, "MPI_Op_free leaves the handle");
    OK(MPI_Type_free(&type));
    return check_end();
}
