/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.8 All-to-All Scatter/Gather */
#include "check.h"

static int pattern(int from, int to, int i) { return (from * 64 + to) * 10007 + i; }

static void alltoall(int count, int in_place)
{
    size_t bytes = (size_t)count * size * sizeof(int);
    int *from = check_alloc(bytes), *to = check_alloc(bytes);
    memset(to, 0xff, bytes);
    for (int i = 0; i < count * size; i++) {
        from[i] = pattern(rank, i / count, i % count);
        if (in_place)
            to[i] = from[i];
    }
    if (in_place)
        OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, to, count, MPI_INT, MPI_COMM_WORLD));
    else
        OK(MPI_Alltoall(from, count, MPI_INT, to, count, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < count * size; i++)
        CHECK(to[i] == pattern(i / count, rank, i % count), "alltoall of %d (in place %d): element %d from %d is %d", count,
              in_place, i % count, i / count, to[i]);
    free(from);
    free(to);
}

/* How much a has for b; in-place exchanges need symmetry. */
static int volume(int a, int b, int seed, int symmetric)
{
    uint64_t s = symmetric ? (uint64_t)(a + b) * 1000 + a * b + seed : (uint64_t)a * 1000 + b * 7 + seed;
    unsigned v = check_random(&s);
    return v % 4 == 0 ? 0 : (int)(v / 4 % (seed % 3 == 2 ? 20000 : 60));
}

static int layout(int *counts, int *displs, int seed, int sending, int symmetric)
{
    int total = 0;
    for (int r = size - 1; r >= 0; r--) {
        counts[r] = sending ? volume(rank, r, seed, symmetric) : volume(r, rank, seed, symmetric);
        displs[r] = total;
        total += counts[r] + r % 2;
    }
    return total;
}

static void fill(int *buf, const int *counts, const int *displs)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            buf[displs[r] + i] = pattern(rank, r, i);
}

static void verify(const int *buf, const int *counts, const int *displs, const char *what)
{
    for (int r = 0; r < size; r++)
        for (int i = 0; i < counts[r]; i++)
            CHECK(buf[displs[r] + i] == pattern(r, rank, i), "%s: element %d from %d is %d", what, i, r, buf[displs[r] + i]);
}

static void vector_form(int seed)
{
    int sc[64], sd[64], rc[64], rd[64];
    int st = layout(sc, sd, seed, 1, 0), rt = layout(rc, rd, seed, 0, 0);
    int *from = check_alloc(st * sizeof(int)), *to = check_alloc(rt * sizeof(int));
    memset(to, 0xff, rt * sizeof(int));
    fill(from, sc, sd);
    OK(MPI_Alltoallv(from, sc, sd, MPI_INT, to, rc, rd, MPI_INT, MPI_COMM_WORLD));
    verify(to, rc, rd, "alltoallv");
    free(from);
    free(to);
    int *both = check_alloc((layout(sc, sd, seed, 1, 1) + 1) * sizeof(int));
    fill(both, sc, sd);
    OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, both, sc, sd, MPI_INT, MPI_COMM_WORLD));
    verify(both, sc, sd, "alltoallv in place");
    free(both);
}

/* Byte displacements; even partners get ints, odd ones a vector of every second int. */
static void w_form(int seed, int in_place)
{
    int sc[64], sd[64], rc[64], rd[64];
    MPI_Datatype st[64], rt[64], every_second;
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &every_second));
    OK(MPI_Type_commit(&every_second));
    int stotal = layout(sc, sd, seed, 1, in_place), rtotal = layout(rc, rd, seed, 0, in_place);
    int *from = check_alloc((2 * stotal + 2) * sizeof(int)), *to = check_alloc((2 * rtotal + 2) * sizeof(int));
    int stride[64];
    for (int r = 0; r < size; r++) {
        st[r] = MPI_INT;
        stride[r] = (r + rank) % 2 ? 2 : 1;
        rt[r] = stride[r] == 2 ? every_second : MPI_INT;
        for (int i = 0; i < sc[r]; i++)
            from[sd[r] + i] = pattern(rank, r, i);
        sd[r] *= sizeof(int);
        rd[r] *= 2 * sizeof(int);
        for (int i = 0; in_place && i < rc[r]; i++)
            *(int *)((char *)to + rd[r] + i * stride[r] * sizeof(int)) = pattern(rank, r, i);
    }
    if (in_place)
        OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, to, rc, rd, rt, MPI_COMM_WORLD));
    else
        OK(MPI_Alltoallw(from, sc, sd, st, to, rc, rd, rt, MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < rc[r]; i++) {
            int got = *(int *)((char *)to + rd[r] + i * stride[r] * sizeof(int));
            CHECK(got == pattern(r, rank, i), "alltoallw (in place %d): element %d from %d is %d", in_place, i, r, got);
        }
    OK(MPI_Type_free(&every_second));
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    /* Around 128 bytes and 32 KiB a block. */
    static const int counts[] = { 0, 1, 2, 31, 32, 33, 1000, 8191, 8193, 60000 };
    check_begin(&argc, &argv);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int in_place = 0; in_place < 2; in_place++)
            alltoall(counts[k], in_place);
    for (int seed = 0; seed < 9; seed++) {
        vector_form(seed);
        w_form(seed, 0);
        w_form(seed, 1);
    }
    return check_end();
}
