/* ranks: 1 2 3 5 */
/* MPI-5.0 6.9 to 6.12: absolute addresses under reductions, arguments that are not significant, null buffers */
#include "check.h"

/* int elements wherever the datatype says they are */
static void add(void *in, void *inout, int *len, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_true_extent(*type, &lb, &extent);
    for (int i = 0; i < *len; i++)
        *(int *)((char *)inout + lb) += *(int *)((char *)in + lb);
}

static void absolute_addresses(void)
{
    static int x;
    int one = 1;
    MPI_Aint at;
    MPI_Datatype t;
    MPI_Op op;
    OK(MPI_Get_address(&x, &at));
    OK(MPI_Type_create_hindexed(1, &one, &at, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Op_create(add, 1, &op));
    int sum = size * (size + 1) / 2;
    /* The address may differ between ranks: the type signature is what has to match. */
    x = rank + 1;
    OK(MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, t, op, MPI_COMM_WORLD));
    SAME(x, sum, "allreduce at MPI_BOTTOM");
    x = rank + 1;
    OK(MPI_Scan(MPI_IN_PLACE, MPI_BOTTOM, 1, t, op, MPI_COMM_WORLD));
    SAME(x, (rank + 1) * (rank + 2) / 2, "scan at MPI_BOTTOM");
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&t));
}

static void not_significant(void)
{
    int a = rank + 1, b = -1;
    OK(MPI_Exscan(&a, rank ? &b : NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    SAME(b, rank ? rank * (rank + 1) / 2 : -1, "exscan without a receive buffer at rank 0");
}

static int class_of(int code)
{
    int class = -1;
    OK(MPI_Error_class(code, &class));
    return class;
}

static void null_buffers(void)
{
    int a[1] = { 1 }, b[1], one[1] = { 1 }, zero[1] = { 0 };
    MPI_Datatype types[1] = { MPI_INT };
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    SAME(class_of(MPI_Reduce_scatter(a, NULL, one, MPI_INT, MPI_SUM, MPI_COMM_SELF)), MPI_ERR_BUFFER, "reduce_scatter");
    SAME(class_of(MPI_Alltoallw(NULL, one, zero, types, b, one, zero, types, MPI_COMM_SELF)), MPI_ERR_BUFFER, "alltoallw");
    SAME(class_of(MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_SELF)), MPI_ERR_BUFFER, "bcast");
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    absolute_addresses();
    not_significant();
    null_buffers();
    return check_end();
}
