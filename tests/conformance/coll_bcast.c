/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.3 Barrier Synchronization, 6.4 Broadcast */
#include "check.h"

static int pattern(int root, int i) { return root * 1000003 + i * 7 + 1; }

static void contiguous(int count, int root)
{
    int *buf = check_alloc((count + 2) * sizeof(int));
    for (int i = 0; i < count + 2; i++)
        buf[i] = rank == root && i < count ? pattern(root, i) : -1;
    OK(MPI_Bcast(buf, count, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++)
        CHECK(buf[i] == pattern(root, i), "bcast of %d ints from %d: element %d is %d", count, root, i, buf[i]);
    CHECK(buf[count] == -1 && buf[count + 1] == -1, "bcast of %d ints from %d wrote past the end", count, root);
    free(buf);
}

/* The root sends every second int, the others receive into every third, or into contiguous memory: only the
 * type signature has to agree. */
static void signatures(int count, int root)
{
    int stride = rank == root ? 2 : rank % 2 ? 3 : 1;
    int *buf = check_alloc((size_t)(count + 1) * stride * sizeof(int));
    MPI_Datatype type;
    OK(MPI_Type_vector(count, 1, stride, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < (count + 1) * stride; i++)
        buf[i] = rank == root && i % stride == 0 ? pattern(root, i / stride) : -1;
    OK(MPI_Bcast(buf, 1, type, root, MPI_COMM_WORLD));
    for (int i = 0; i < count * stride; i++) {
        int want = i % stride == 0 ? pattern(root, i / stride) : -1;
        CHECK(buf[i] == want, "strided bcast of %d from %d: int %d is %d, not %d", count, root, i, buf[i], want);
    }
    OK(MPI_Type_free(&type));
    free(buf);
}

int main(int argc, char **argv)
{
    /* Around 16 KiB, 512 KiB, multiples of segments, and a few MiB. */
    static const int counts[] = { 0, 1, 2, 3, 100, 4095, 4096, 4097, 5001, 65536, 131071, 131072, 131073, 400000, 1048577 };
    check_begin(&argc, &argv);
    for (int i = 0; i < 20; i++)
        OK(MPI_Barrier(MPI_COMM_WORLD));
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int root = 0; root < size; root += counts[k] > 5000 && size > 2 ? size - 1 : 1)
            contiguous(counts[k], root);
    for (int root = 0; root < size; root++)
        signatures(33, root);
    signatures(6000, size - 1);
    signatures(200000, size / 2);
    /* Many in a row, with changing roots: no message of one call may serve another. */
    for (int i = 0; i < 200; i++) {
        int v = rank == i % size ? i : -1;
        OK(MPI_Bcast(&v, 1, MPI_INT, i % size, MPI_COMM_WORLD));
        SAME(v, i, "bcast in a row");
    }
    /* MPI_BOTTOM with absolute addresses. */
    {
        double x[3] = { -1, -1, -1 };
        MPI_Aint at;
        MPI_Datatype type;
        int three = 3;
        MPI_Datatype base = MPI_DOUBLE;
        if (rank == 0)
            x[0] = 1.5, x[1] = 2.5, x[2] = 3.5;
        OK(MPI_Get_address(x, &at));
        OK(MPI_Type_create_struct(1, &three, &at, &base, &type));
        OK(MPI_Type_commit(&type));
        OK(MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD));
        CHECK(x[0] == 1.5 && x[1] == 2.5 && x[2] == 3.5, "bcast at MPI_BOTTOM gave %g %g %g", x[0], x[1], x[2]);
        OK(MPI_Type_free(&type));
    }
    return check_end();
}
