/* ranks: 1 2 4 */
/* MPI-5.0 5.3 Canonical Pack and Unpack, 14.5.2 External Data Representation: "external32" */
#include "check.h"
#include <stddef.h>

static char rep[] = "external32";

/* `count` elements are these bytes, there and back. */
static void exactly(const void *value, int count, MPI_Datatype type, const unsigned char *want, int bytes, const char *what)
{
    unsigned char buffer[128], back[128];
    MPI_Aint size = -1, position = 3;
    MPI_Aint lb, extent;
    OK(MPI_Type_get_extent(type, &lb, &extent));
    OK(MPI_Pack_external_size(rep, count, type, &size));
    SAME(size, bytes, what);
    memset(buffer, 0xee, sizeof buffer);
    OK(MPI_Pack_external(rep, value, count, type, buffer, sizeof buffer, &position));
    SAME(position, 3 + bytes, what);
    for (int i = 0; i < bytes; i++)
        CHECK(buffer[3 + i] == want[i], "%s: byte %d is %02x, not %02x", what, i, buffer[3 + i], want[i]);
    CHECK(buffer[2] == 0xee && buffer[3 + bytes] == 0xee, "%s: bytes around are changed", what);
    position = 3;
    memset(back, 0, sizeof back);
    OK(MPI_Unpack_external(rep, buffer, 3 + bytes, &position, back, count, type));
    SAME(position, 3 + bytes, what);
    CHECK(count == 0 || memcmp(back, value, count * extent) == 0, "%s: it does not come back", what);
}

#define EXACTLY(count, type, value, ...)                                                     \
    do {                                                                                     \
        const unsigned char want_[] = { __VA_ARGS__ };                                       \
        exactly(value, count, type, want_, sizeof want_, #type);                             \
    } while (0)

static void basic_types(void)
{
    EXACTLY(2, MPI_INT, ((int[]){ 1, -2 }), 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xfe);
    EXACTLY(1, MPI_SHORT, ((short[]){ 0x1234 }), 0x12, 0x34);
    EXACTLY(3, MPI_CHAR, "abc", 'a', 'b', 'c');
    EXACTLY(1, MPI_LONG, ((long[]){ -3 }), 0xff, 0xff, 0xff, 0xfd);
    EXACTLY(1, MPI_UNSIGNED_LONG, ((unsigned long[]){ 0xfedcba98u }), 0xfe, 0xdc, 0xba, 0x98);
    EXACTLY(1, MPI_LONG_LONG, ((long long[]){ 0x0102030405060708 }), 1, 2, 3, 4, 5, 6, 7, 8);
    EXACTLY(1, MPI_UINT16_T, ((uint16_t[]){ 0xabcd }), 0xab, 0xcd);
    EXACTLY(1, MPI_FLOAT, ((float[]){ 1.5f }), 0x3f, 0xc0, 0, 0);
    EXACTLY(1, MPI_DOUBLE, ((double[]){ -2.0 }), 0xc0, 0, 0, 0, 0, 0, 0, 0);
    EXACTLY(1, MPI_C_BOOL, ((unsigned char[]){ 1 }), 1);
    EXACTLY(2, MPI_BYTE, ((unsigned char[]){ 9, 8 }), 9, 8);
    EXACTLY(1, MPI_C_DOUBLE_COMPLEX, ((double[]){ 1.0, -2.0 }), 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0);
    EXACTLY(1, MPI_2INT, ((int[]){ 1, 2 }), 0, 0, 0, 1, 0, 0, 0, 2);
    exactly(NULL, 0, MPI_INT, NULL, 0, "nothing");
}

/* Derived types, holes and large counts; native data is not touched between the elements. */
static void derived(void)
{
    enum { N = 20000 };
    struct row {
        short s;
        double d;
        char c[3];
    } *out = check_alloc(N * sizeof *out), *in = check_alloc(N * sizeof *in);
    MPI_Datatype row, resized, basics[] = { MPI_SHORT, MPI_DOUBLE, MPI_CHAR };
    int lengths[] = { 1, 1, 3 };
    MPI_Aint places[] = { offsetof(struct row, s), offsetof(struct row, d), offsetof(struct row, c) }, bytes = 0, position = 0;
    MPI_Count large = 0, at = 0;
    OK(MPI_Type_create_struct(3, lengths, places, basics, &row));
    OK(MPI_Type_create_resized(row, 0, sizeof(struct row), &resized));
    OK(MPI_Type_commit(&resized));
    memset(in, 0x55, N * sizeof *in);
    for (int i = 0; i < N; i++) {
        out[i].s = (short)(i - rank);
        out[i].d = i * 0.25 + rank;
        memcpy(out[i].c, "xyz", 3);
    }
    OK(MPI_Pack_external_size(rep, N, resized, &bytes));
    SAME(bytes, N * 13, "size of rows");
    OK(MPI_Pack_external_size_c(rep, N, resized, &large));
    SAME(large, N * 13, "size of rows");
    unsigned char *buffer = check_alloc(bytes), *twin = check_alloc(bytes);
    OK(MPI_Pack_external(rep, out, N, resized, buffer, bytes, &position));
    SAME(position, bytes, "position after rows");
    OK(MPI_Pack_external_c(rep, out, N, resized, twin, large, &at));
    SAME(at, large, "position after rows");
    CHECK(memcmp(buffer, twin, bytes) == 0, "the two forms pack differently");
    at = 0;
    OK(MPI_Unpack_external_c(rep, buffer, large, &at, in, N, resized));
    for (int i = 0; i < N; i++) {
        CHECK(in[i].s == out[i].s && in[i].d == out[i].d && !memcmp(in[i].c, "xyz", 3), "row %d does not come back", i);
        SAME(((unsigned char *)&in[i])[3], 0x55, "a hole of a row");
    }
    /* Packed data travels as bytes and is unpacked elsewhere. */
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    OK(MPI_Sendrecv(buffer, (int)bytes, MPI_BYTE, next, 0, twin, (int)bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    position = 0;
    OK(MPI_Unpack_external(rep, twin, bytes, &position, in, N, resized));
    SAME(in[9].s, 9 - previous, "a row of the neighbour");
    free(buffer);
    free(twin);
    free(out);
    free(in);
    OK(MPI_Type_free(&row));
    OK(MPI_Type_free(&resized));
}

static void refusals(void)
{
    int v = 1;
    char buffer[16];
    MPI_Aint position = 0, size;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK(MPI_Pack_external_size("external64", 1, MPI_INT, &size) != MPI_SUCCESS, "an unknown representation is taken");
    CHECK(MPI_Pack_external(rep, &v, 1, MPI_INT, buffer, 3, &position) != MPI_SUCCESS, "four bytes packed into three");
    SAME(position, 0, "position after a failure");
    CHECK(MPI_Unpack_external(rep, buffer, 3, &position, &v, 1, MPI_INT) != MPI_SUCCESS, "four bytes unpacked from three");
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    basic_types();
    derived();
    refusals();
    return check_end();
}
