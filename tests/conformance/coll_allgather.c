/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.7 Gather-to-all */
#include "check.h"

static int pattern(int owner, int i) { return owner * 100003 + i * 3 + 1; }

static void allgather(int count, int in_place)
{
    int *own = check_alloc(count * sizeof(int)), *all = check_alloc((size_t)count * size * sizeof(int));
    memset(all, 0xff, (size_t)count * size * sizeof(int));
    for (int i = 0; i < count; i++) {
        own[i] = pattern(rank, i);
        if (in_place)
            all[rank * count + i] = own[i];
    }
    if (in_place)
        OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, MPI_COMM_WORLD));
    else
        OK(MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < count * size; i++)
        CHECK(all[i] == pattern(i / count, i % count), "allgather of %d (in place %d): element %d of rank %d is %d", count,
              in_place, i % count, i / count, all[i]);
    free(own);
    free(all);
}

static void allgatherv(uint64_t seed, int most, int in_place)
{
    int counts[64] = { 0 }, displs[64] = { 0 }, total = 0;
    for (int r = size - 1; r >= 0; r--) {
        counts[r] = check_random(&seed) % 3 ? (int)(check_random(&seed) % most) : 0;
        displs[r] = total + 1;
        total += counts[r] + 1 + r % 2;
    }
    int *all = check_alloc((total + 1) * sizeof(int)), *own = check_alloc(counts[rank] * sizeof(int));
    for (int i = 0; i <= total; i++)
        all[i] = -1;
    for (int i = 0; i < counts[rank]; i++)
        own[i] = pattern(rank, i);
    if (in_place) {
        memcpy(all + displs[rank], own, counts[rank] * sizeof(int));
        OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
    } else {
        OK(MPI_Allgatherv(own, counts[rank], MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD));
    }
    int covered = 0, guards = 0;
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++, covered++)
            CHECK(all[displs[r] + i] == pattern(r, i), "allgatherv (in place %d): element %d of rank %d is %d", in_place, i,
                  r, all[displs[r] + i]);
    for (int i = 0; i <= total; i++)
        guards += all[i] == -1;
    SAME(guards, total + 1 - covered, "gaps of allgatherv left alone");
    free(all);
    free(own);
}

/* Every rank gathers columns of a matrix, sending contiguous memory or a strided row. */
static void columns(int rows)
{
    MPI_Datatype column, resized, spread;
    OK(MPI_Type_vector(rows, 1, size, MPI_INT, &column));
    OK(MPI_Type_create_resized(column, 0, sizeof(int), &resized));
    OK(MPI_Type_commit(&resized));
    OK(MPI_Type_vector(rows, 1, 2, MPI_INT, &spread));
    OK(MPI_Type_commit(&spread));
    int *own = check_alloc(2 * rows * sizeof(int)), *matrix = check_alloc((size_t)rows * size * sizeof(int));
    int stride = rank % 2 ? 2 : 1;
    for (int i = 0; i < rows; i++)
        own[i * stride] = pattern(rank, i);
    if (stride == 2)
        OK(MPI_Allgather(own, 1, spread, matrix, 1, resized, MPI_COMM_WORLD));
    else
        OK(MPI_Allgather(own, rows, MPI_INT, matrix, 1, resized, MPI_COMM_WORLD));
    for (int i = 0; i < rows * size; i++)
        CHECK(matrix[i] == pattern(i % size, i / size), "columns: row %d column %d is %d", i / size, i % size, matrix[i]);
    /* In columns, by allgatherv with displacements in units of the resized extent. */
    int counts[64], displs[64];
    for (int r = 0; r < size; r++)
        counts[r] = 1, displs[r] = size - 1 - r;
    if (stride == 2)
        OK(MPI_Allgatherv(own, 1, spread, matrix, counts, displs, resized, MPI_COMM_WORLD));
    else
        OK(MPI_Allgatherv(own, rows, MPI_INT, matrix, counts, displs, resized, MPI_COMM_WORLD));
    for (int i = 0; i < rows * size; i++)
        CHECK(matrix[i] == pattern(size - 1 - i % size, i / size), "columns by allgatherv: row %d column %d is %d",
              i / size, i % size, matrix[i]);
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&resized));
    OK(MPI_Type_free(&spread));
    free(own);
    free(matrix);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 5, 1000, 2048, 4096, 4097, 16384, 40000, 262145 };
    check_begin(&argc, &argv);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int in_place = 0; in_place < 2; in_place++)
            allgather(counts[k], in_place);
    for (int seed = 0; seed < 10; seed++) {
        allgatherv(seed, 50, seed % 2);
        allgatherv(seed, 5000, seed % 2);
    }
    allgatherv(77, 300000, 0);
    columns(4);
    columns(3000);
    return check_end();
}
