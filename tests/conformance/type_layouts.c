/* ranks: 1 2 3 4 */
/* MPI-5.0 5.1 Derived Datatypes: constructors, extents, bounds, and messages of each layout.
 * Extents here are multiples of the alignment; type_padding.c has the others. */
#include "check.h"
#include <stddef.h>

enum { BYTES = 8192 };

static int next, previous;
static unsigned char memory[BYTES], packed[BYTES], back[BYTES];

/* What a type must be: size, bounds, true bounds. */
static void bounds(MPI_Datatype t, long size_, long lb, long extent, long true_lb, long true_extent, const char *what)
{
    int bytes;
    MPI_Count large;
    MPI_Aint a, b;
    OK(MPI_Type_size(t, &bytes));
    SAME(bytes, size_, what);
    OK(MPI_Type_size_c(t, &large));
    SAME(large, size_, what);
    OK(MPI_Type_get_extent(t, &a, &b));
    SAME(a, lb, what);
    SAME(b, extent, what);
    OK(MPI_Type_get_true_extent(t, &a, &b));
    SAME(a, true_lb, what);
    SAME(b, true_extent, what);
}

static unsigned char byte_of(int owner, int i) { return (unsigned char)(owner * 91 + i * 17 + 5); }

/* Sends `count` elements of `t` as this type and receives them as bytes, and the other way round. `offsets` lists
 * the bytes of the elements in type map order, relative to the origin at byte 2048 of `memory`. */
static void messages(MPI_Datatype t, int count, const int *offsets, int bytes, const char *what)
{
    enum { ORIGIN = 2048 };
    int got = -1;
    MPI_Status status;
    MPI_Request request;
    for (int i = 0; i < BYTES; i++)
        memory[i] = byte_of(rank, i);
    OK(MPI_Isend(memory + ORIGIN, count, t, next, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(packed, BYTES, MPI_BYTE, previous, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, MPI_BYTE, &got));
    SAME(got, bytes, what);
    for (int i = 0; i < bytes; i++)
        CHECK(packed[i] == byte_of(previous, ORIGIN + offsets[i]), "%s: byte %d of the message is not byte %d of the memory",
              what, i, offsets[i]);
    /* Back: packed bytes into the layout; all other bytes stay. */
    memcpy(back, memory, BYTES);
    for (int i = 0; i < bytes; i++)
        packed[i] = byte_of(rank, 7 * i + 3);
    OK(MPI_Isend(packed, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(memory + ORIGIN, count, t, previous, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_count(&status, t, &got));
    SAME(got, bytes ? count : 0, what);
    for (int i = 0; i < bytes; i++)
        back[ORIGIN + offsets[i]] = byte_of(previous, 7 * i + 3);
    for (int i = 0; i < BYTES; i++)
        CHECK(memory[i] == back[i], "%s: received layout differs at byte %d", what, i - ORIGIN);
    /* Both sides typed. */
    memcpy(back, memory, BYTES);
    unsigned char theirs[BYTES];
    OK(MPI_Sendrecv(memory, BYTES, MPI_BYTE, next, 3, theirs, BYTES, MPI_BYTE, previous, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Isend(back + ORIGIN, count, t, next, 4, MPI_COMM_WORLD, &request));
    OK(MPI_Recv(memory + ORIGIN, count, t, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < bytes; i++)
        CHECK(memory[ORIGIN + offsets[i]] == theirs[ORIGIN + offsets[i]], "%s: typed on both sides: byte %d", what, i);
}

/* Appends the bytes of `n` ints at `at`. */
static int ints(int *offsets, int done, int at, int n)
{
    for (int i = 0; i < 4 * n; i++)
        offsets[done++] = at + i;
    return done;
}

static MPI_Datatype committed(MPI_Datatype t)
{
    OK(MPI_Type_commit(&t));
    return t;
}

static void vectors(void)
{
    MPI_Datatype t;
    int offsets[BYTES], n = 0;
    OK(MPI_Type_contiguous(5, MPI_INT, &t));
    bounds(committed(t), 20, 0, 20, 0, 20, "contiguous");
    messages(t, 3, offsets, ints(offsets, 0, 0, 15), "contiguous");
    OK(MPI_Type_free(&t));
    CHECK(t == MPI_DATATYPE_NULL, "type_free leaves the handle");

    OK(MPI_Type_vector(3, 2, 5, MPI_INT, &t));
    bounds(committed(t), 24, 0, 48, 0, 48, "vector");
    n = 0;
    for (int e = 0; e < 2; e++)
        for (int b = 0; b < 3; b++)
            n = ints(offsets, n, e * 48 + b * 20, 2);
    messages(t, 2, offsets, n, "vector");
    OK(MPI_Type_free(&t));

    OK(MPI_Type_vector(4, 1, -3, MPI_INT, &t));
    bounds(committed(t), 16, -36, 40, -36, 40, "vector of negative stride");
    n = 0;
    for (int b = 0; b < 4; b++)
        n = ints(offsets, n, -12 * b, 1);
    messages(t, 1, offsets, n, "vector of negative stride");
    OK(MPI_Type_free(&t));

    OK(MPI_Type_create_hvector(3, 2, 10, MPI_INT, &t));
    bounds(committed(t), 24, 0, 28, 0, 28, "hvector");
    n = 0;
    for (int b = 0; b < 3; b++)
        n = ints(offsets, n, 10 * b, 2);
    messages(t, 1, offsets, n, "hvector");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_vector(0, 2, 5, MPI_INT, &t));
    bounds(committed(t), 0, 0, 0, 0, 0, "empty vector");
    messages(t, 3, offsets, 0, "empty vector");
    OK(MPI_Type_free(&t));
}

static void indexed(void)
{
    MPI_Datatype t;
    int offsets[BYTES], n = 0, lengths[] = { 2, 0, 1, 3 }, displs[] = { 4, 100, 0, 8 };
    OK(MPI_Type_indexed(4, lengths, displs, MPI_INT, &t));
    bounds(committed(t), 24, 0, 44, 0, 44, "indexed");
    for (int e = 0; e < 2; e++) {
        n = ints(offsets, n, e * 44 + 16, 2);
        n = ints(offsets, n, e * 44, 1);
        n = ints(offsets, n, e * 44 + 32, 3);
    }
    messages(t, 2, offsets, n, "indexed");
    OK(MPI_Type_free(&t));

    MPI_Aint bytes[] = { 21, 3, 51, -9 };
    OK(MPI_Type_create_hindexed(4, lengths, bytes, MPI_INT, &t));
    bounds(committed(t), 24, -9, 64, -9, 64, "hindexed");
    n = 0;
    for (int e = 0; e < 2; e++) {
        n = ints(offsets, n, e * 64 + 21, 2);
        n = ints(offsets, n, e * 64 + 51, 1);
        n = ints(offsets, n, e * 64 - 9, 3);
    }
    messages(t, 2, offsets, n, "hindexed");
    OK(MPI_Type_free(&t));

    int starts[] = { 9, 3, 0 };
    OK(MPI_Type_create_indexed_block(3, 2, starts, MPI_INT, &t));
    bounds(committed(t), 24, 0, 44, 0, 44, "indexed_block");
    n = 0;
    for (int b = 0; b < 3; b++)
        n = ints(offsets, n, 4 * starts[b], 2);
    messages(t, 1, offsets, n, "indexed_block");
    OK(MPI_Type_free(&t));

    MPI_Aint hstarts[] = { 101, 1, 40 };
    OK(MPI_Type_create_hindexed_block(3, 1, hstarts, MPI_INT, &t));
    bounds(committed(t), 12, 1, 104, 1, 104, "hindexed_block");
    n = 0;
    for (int b = 0; b < 3; b++)
        n = ints(offsets, n, (int)hstarts[b], 1);
    messages(t, 1, offsets, n, "hindexed_block");
    OK(MPI_Type_free(&t));
}

static void structs(void)
{
    struct part {
        char c;
        double d;
        short s[3];
    };
    MPI_Datatype t, array, kinds[] = { MPI_CHAR, MPI_DOUBLE, MPI_SHORT };
    int offsets[BYTES], n = 0, lengths[] = { 1, 1, 3 };
    MPI_Aint displs[] = { offsetof(struct part, c), offsetof(struct part, d), offsetof(struct part, s) };
    OK(MPI_Type_create_struct(3, lengths, displs, kinds, &t));
    OK(MPI_Type_create_resized(t, 0, sizeof(struct part), &array));
    bounds(committed(array), 15, 0, sizeof(struct part), 0, offsetof(struct part, s) + 6, "struct");
    for (int e = 0; e < 3; e++) {
        int base = e * (int)sizeof(struct part);
        offsets[n++] = base;
        for (int i = 0; i < 8; i++)
            offsets[n++] = base + (int)offsetof(struct part, d) + i;
        for (int i = 0; i < 6; i++)
            offsets[n++] = base + (int)offsetof(struct part, s) + i;
    }
    messages(array, 3, offsets, n, "struct");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&array));
}

static void resized(void)
{
    MPI_Datatype t, shrunk, nested;
    int offsets[BYTES], n = 0;
    /* Columns interleave: the extent is one int, the span is 3 rows of 4. */
    OK(MPI_Type_vector(3, 1, 4, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 4, &shrunk));
    bounds(committed(shrunk), 12, 0, 4, 0, 36, "resized to less");
    for (int e = 0; e < 4; e++)
        for (int r = 0; r < 3; r++)
            n = ints(offsets, n, e * 4 + r * 16, 1);
    messages(shrunk, 4, offsets, n, "resized to less");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&shrunk));
    /* A lower bound below the data; vectors of it. */
    OK(MPI_Type_create_resized(MPI_INT, -8, 20, &t));
    bounds(committed(t), 4, -8, 20, 0, 4, "resized with a lower bound");
    OK(MPI_Type_vector(2, 2, 3, t, &nested));
    bounds(committed(nested), 16, -8, 100, 0, 84, "vector of resized");
    n = 0;
    for (int e = 0; e < 2; e++)
        for (int b = 0; b < 2; b++)
            for (int i = 0; i < 2; i++)
                n = ints(offsets, n, e * 100 + b * 60 + i * 20, 1);
    messages(nested, 2, offsets, n, "vector of resized");
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&nested));
}

static void subarray(int order)
{
    MPI_Datatype t;
    int sizes[] = { 5, 6, 4 }, subsizes[] = { 2, 3, 2 }, starts[] = { 1, 2, 1 }, offsets[BYTES], n = 0;
    OK(MPI_Type_create_subarray(3, sizes, subsizes, starts, order, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    MPI_Aint lb, extent;
    OK(MPI_Type_get_extent(t, &lb, &extent));
    CHECK(lb == 0 && extent == 480, "subarray: bounds %lld, %lld", (long long)lb, (long long)extent);
    for (int e = 0; e < 2; e++)
        for (int slow = 0; slow < 2; slow++)
            for (int mid = 0; mid < 3; mid++)
                for (int fast = 0; fast < 2; fast++) {
                    /* The dimension that varies fastest is the last in C, the first in Fortran. */
                    int i = ((1 + slow) * 6 + 2 + mid) * (order == MPI_ORDER_C ? 4 : 5) + 1 + fast;
                    n = ints(offsets, n, e * 480 + 4 * i, 1);
                }
    messages(t, 2, offsets, n, order == MPI_ORDER_C ? "subarray in C order" : "subarray in Fortran order");
    OK(MPI_Type_free(&t));
}

/* A type lives on in types made of it and in pending messages after it is freed. */
static void freed_early(void)
{
    MPI_Datatype inner, outer;
    MPI_Request requests[2];
    int out[12], in[12];
    for (int i = 0; i < 12; i++)
        out[i] = rank + i, in[i] = -1;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &inner));
    OK(MPI_Type_contiguous(3, inner, &outer));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_commit(&outer));
    OK(MPI_Irecv(in, 1, outer, previous, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, 1, outer, next, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Type_free(&outer));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    /* The extent of the vector is 3 ints. */
    for (int i = 0; i < 12; i++)
        SAME(in[i], i < 9 && (i % 3 == 0 || i % 3 == 2) ? previous + i : -1, "message of freed types");
}

static void dup_and_names(void)
{
    MPI_Datatype t, d;
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    /* Table 3.2: MPI_C_FLOAT_COMPLEX and MPI_LONG_LONG are the synonyms. */
    OK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length));
    CHECK(strcmp(name, "MPI_C_COMPLEX") == 0, "MPI_C_FLOAT_COMPLEX is called %s", name);
    OK(MPI_Type_get_name(MPI_LONG_LONG, name, &length));
    CHECK(strcmp(name, "MPI_LONG_LONG_INT") == 0, "MPI_LONG_LONG is called %s", name);
    OK(MPI_Type_get_name(MPI_DOUBLE, name, &length));
    CHECK(strcmp(name, "MPI_DOUBLE") == 0 && length == 10, "MPI_DOUBLE is called %s", name);
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
    OK(MPI_Type_get_name(t, name, &length));
    CHECK(length == 0 && name[0] == 0, "a new type is called %s", name);
    OK(MPI_Type_set_name(t, "my type"));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_dup(t, &d)); /* committed as its parent is */
    OK(MPI_Type_get_name(t, name, &length));
    CHECK(strcmp(name, "my type") == 0 && length == 7, "the type is called %s", name);
    OK(MPI_Type_free(&t));
    int offsets[BYTES], n = ints(offsets, 0, 0, 1);
    bounds(d, 8, 0, 12, 0, 12, "dup");
    messages(d, 1, offsets, ints(offsets, n, 8, 1), "dup");
    OK(MPI_Type_free(&d));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    vectors();
    indexed();
    structs();
    resized();
    subarray(MPI_ORDER_C);
    subarray(MPI_ORDER_FORTRAN);
    freed_early();
    dup_and_names();
    return check_end();
}
