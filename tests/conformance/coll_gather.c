/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.5 Gather, 6.6 Scatter */
#include "check.h"

static int pattern(int owner, int i) { return owner * 100003 + i * 3 + 1; }

static void gather(int count, int root, int in_place)
{
    int *own = check_alloc(count * sizeof(int)), *all = check_alloc((size_t)count * size * sizeof(int));
    for (int i = 0; i < count; i++)
        own[i] = pattern(rank, i);
    memset(all, 0xff, (size_t)count * size * sizeof(int));
    if (in_place && rank == root) {
        memcpy(all + (size_t)rank * count, own, count * sizeof(int));
        OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, root, MPI_COMM_WORLD));
    } else if (rank == root) {
        OK(MPI_Gather(own, count, MPI_INT, all, count, MPI_INT, root, MPI_COMM_WORLD));
    } else {
        /* Not significant here. */
        OK(MPI_Gather(own, count, MPI_INT, NULL, -1, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    }
    for (int i = 0; rank == root && i < count * size; i++)
        CHECK(all[i] == pattern(i / count, i % count), "gather of %d to %d (in place %d): element %d of rank %d is %d",
              count, root, in_place, i % count, i / count, all[i]);
    free(own);
    free(all);
}

static void scatter(int count, int root, int in_place)
{
    int *own = check_alloc(count * sizeof(int)), *all = check_alloc((size_t)count * size * sizeof(int));
    for (int i = 0; i < count * size; i++)
        all[i] = pattern(i / count, i % count);
    memset(own, 0xff, count * sizeof(int));
    if (in_place && rank == root) {
        OK(MPI_Scatter(all, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
        for (int i = 0; i < count * size; i++)
            CHECK(all[i] == pattern(i / count, i % count), "scatter in place changed element %d of the send buffer", i);
    } else {
        if (rank == root)
            OK(MPI_Scatter(all, count, MPI_INT, own, count, MPI_INT, root, MPI_COMM_WORLD));
        else
            OK(MPI_Scatter(NULL, -1, MPI_DATATYPE_NULL, own, count, MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < count; i++)
            CHECK(own[i] == pattern(rank, i), "scatter of %d from %d: element %d is %d", count, root, i, own[i]);
    }
    free(own);
    free(all);
}

/* Uneven counts, gaps, blocks in descending order of displacement. */
static void vector_forms(int root, unsigned seed, int in_place)
{
    int counts[64] = { 0 }, displs[64] = { 0 }, total = 0;
    uint64_t state = seed;
    for (int r = size - 1; r >= 0; r--) {
        counts[r] = check_random(&state) % 4 ? check_random(&state) % 700 : 0;
        displs[r] = total + 1;
        total += counts[r] + 1 + r % 2;
    }
    int *all = check_alloc((total + 1) * sizeof(int)), *own = check_alloc(counts[rank] * sizeof(int));
    for (int i = 0; i < counts[rank]; i++)
        own[i] = pattern(rank, i);
    for (int i = 0; i <= total; i++)
        all[i] = -1;
    if (rank == root && in_place) {
        memcpy(all + displs[rank], own, counts[rank] * sizeof(int));
        OK(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, root, MPI_COMM_WORLD));
    } else {
        OK(MPI_Gatherv(own, counts[rank], MPI_INT, rank == root ? all : NULL, rank == root ? counts : NULL,
                       rank == root ? displs : NULL, MPI_INT, root, MPI_COMM_WORLD));
    }
    if (rank == root) {
        int covered = 0;
        for (int r = 0; r < size; r++)
            for (int i = 0; i < counts[r]; i++, covered++)
                CHECK(all[displs[r] + i] == pattern(r, i), "gatherv to %d: element %d of rank %d is %d", root, i, r,
                      all[displs[r] + i]);
        int guards = 0;
        for (int i = 0; i <= total; i++)
            guards += all[i] == -1;
        SAME(guards, total + 1 - covered, "gaps of gatherv left alone");
    }
    memset(own, 0xff, counts[rank] * sizeof(int));
    if (rank == root && in_place) {
        OK(MPI_Scatterv(all, counts, displs, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD));
    } else {
        OK(MPI_Scatterv(rank == root ? all : NULL, rank == root ? counts : NULL, rank == root ? displs : NULL, MPI_INT,
                        own, counts[rank], MPI_INT, root, MPI_COMM_WORLD));
        for (int i = 0; i < counts[rank]; i++)
            CHECK(own[i] == pattern(rank, i), "scatterv from %d: element %d is %d", root, i, own[i]);
    }
    free(all);
    free(own);
}

/* Columns of a matrix: the extent of the type is one element, its span is the whole matrix (6.5, example). */
static void columns(int root)
{
    enum { ROWS = 5 };
    MPI_Datatype column, resized;
    OK(MPI_Type_vector(ROWS, 1, size, MPI_INT, &column));
    OK(MPI_Type_create_resized(column, 0, sizeof(int), &resized));
    OK(MPI_Type_commit(&resized));
    int own[ROWS], *matrix = check_alloc(ROWS * size * sizeof(int));
    for (int i = 0; i < ROWS; i++)
        own[i] = pattern(rank, i);
    OK(MPI_Gather(own, ROWS, MPI_INT, matrix, 1, resized, root, MPI_COMM_WORLD));
    for (int i = 0; rank == root && i < ROWS * size; i++)
        CHECK(matrix[i] == pattern(i % size, i / size), "gathered columns: row %d column %d is %d", i / size, i % size,
              matrix[i]);
    memset(own, 0, sizeof own);
    OK(MPI_Scatter(matrix, 1, resized, own, ROWS, MPI_INT, root, MPI_COMM_WORLD));
    for (int i = 0; i < ROWS; i++)
        CHECK(own[i] == pattern(rank, i), "scattered column: row %d is %d", i, own[i]);
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&resized));
    free(matrix);
}

int main(int argc, char **argv)
{
    static const int counts[] = { 0, 1, 3, 511, 512, 513, 9000, 100000 };
    check_begin(&argc, &argv);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int root = 0; root < size; root += counts[k] > 600 && size > 2 ? size - 1 : 1)
            for (int in_place = 0; in_place < 2; in_place++) {
                gather(counts[k], root, in_place);
                scatter(counts[k], root, in_place);
            }
    for (int root = 0; root < size; root++) {
        columns(root);
        for (unsigned seed = 0; seed < 6; seed++)
            vector_forms(root, seed, seed % 2);
    }
    return check_end();
}
