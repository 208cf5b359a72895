/* ranks: 1 2 3 */
/* MPI-5.0 5.2 Pack and Unpack, 5.1.11 Decoding of received counts, 3.2.5 Return Status, 5.1.5 Address functions */
#include "check.h"

static int next, previous;

static void pack_and_unpack(void)
{
    char buffer[1000];
    int position = 0, bytes = 0, more = 0, ints[6] = { 1, 2, 3, 4, 5, 6 }, got[6] = { 0 };
    double d = 2.5, e = 0;
    MPI_Datatype every_second;
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &every_second));
    OK(MPI_Type_commit(&every_second));
    OK(MPI_Pack_size(1, every_second, MPI_COMM_WORLD, &bytes));
    CHECK(bytes >= 12, "pack_size of 3 ints is %d", bytes);
    OK(MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &more));
    OK(MPI_Pack(ints, 1, every_second, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(&d, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK(position > 0 && position <= bytes + more, "packed %d bytes, more than pack_size's %d", position, bytes + more);
    int end = position;
    position = 0;
    OK(MPI_Unpack(buffer, end, &position, got, 3, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Unpack(buffer, end, &position, &e, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    SAME(position, end, "position after unpacking all");
    CHECK(got[0] == 1 && got[1] == 3 && got[2] == 5 && e == 2.5, "unpacked %d %d %d %g", got[0], got[1], got[2], e);

    /* Packed data travels as MPI_PACKED; a typed receive takes it too. */
    MPI_Status status;
    char theirs[1000];
    int count = -1, typed[3] = { 0 };
    OK(MPI_Sendrecv(buffer, end, MPI_PACKED, next, 1, theirs, sizeof theirs, MPI_PACKED, previous, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_PACKED, &count));
    SAME(count, end, "size of a packed message");
    position = 0;
    memset(got, 0, sizeof got);
    OK(MPI_Unpack(theirs, count, &position, got, 1, every_second, MPI_COMM_WORLD));
    CHECK(got[0] == 1 && got[1] == 0 && got[2] == 3 && got[4] == 5, "unpacked into a vector: %d %d %d %d", got[0], got[1],
          got[2], got[4]);
    position = 0;
    OK(MPI_Pack(ints, 3, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    OK(MPI_Sendrecv(buffer, position, MPI_PACKED, next, 2, typed, 3, MPI_INT, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(typed[0] == 1 && typed[1] == 2 && typed[2] == 3, "packed data received as ints: %d %d %d", typed[0], typed[1], typed[2]);
    OK(MPI_Type_free(&every_second));
}

/* Half an element: get_count is MPI_UNDEFINED, get_elements counts basic elements. */
static void received_counts(void)
{
    MPI_Datatype pair, mixed;
    int lengths[] = { 1, 1 }, out[5] = { 1, 2, 3, 4, 5 }, in[10], n = -1;
    MPI_Aint displs[] = { 0, 8 };
    MPI_Datatype kinds[] = { MPI_INT, MPI_DOUBLE };
    MPI_Status status;
    MPI_Count large = -1;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Sendrecv(out, 5, MPI_INT, next, 1, in, 5, pair, previous, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, pair, &n));
    SAME(n, MPI_UNDEFINED, "get_count of two and a half elements");
    OK(MPI_Get_elements(&status, pair, &n));
    SAME(n, 5, "get_elements");
    OK(MPI_Get_elements_c(&status, pair, &large));
    SAME(large, 5, "get_elements_c");
    OK(MPI_Get_count(&status, MPI_INT, &n));
    SAME(n, 5, "get_count as ints");
    OK(MPI_Get_count_c(&status, MPI_INT, &large));
    SAME(large, 5, "get_count_c as ints");
    OK(MPI_Sendrecv(out, 4, MPI_INT, next, 2, in, 5, pair, previous, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, pair, &n));
    SAME(n, 2, "get_count of whole elements");
    OK(MPI_Sendrecv(out, 0, MPI_INT, next, 3, in, 5, pair, previous, 3, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, pair, &n));
    SAME(n, 0, "get_count of an empty message");
    OK(MPI_Type_free(&pair));

    /* int and double: an element and the int of the next are three basic elements. */
    char packed[100], target[100];
    int position = 0;
    double d = 1.5;
    OK(MPI_Pack(&out[0], 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(&d, 1, MPI_DOUBLE, packed, sizeof packed, &position, MPI_COMM_WORLD));
    OK(MPI_Pack(&out[1], 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD));
    OK(MPI_Type_create_struct(2, lengths, displs, kinds, &mixed));
    OK(MPI_Type_commit(&mixed));
    OK(MPI_Sendrecv(packed, position, MPI_PACKED, next, 4, target, 2, mixed, previous, 4, MPI_COMM_WORLD, &status));
    OK(MPI_Get_elements(&status, mixed, &n));
    SAME(n, 3, "get_elements of a struct");
    OK(MPI_Get_count(&status, mixed, &n));
    SAME(n, MPI_UNDEFINED, "get_count of part of a struct");
    OK(MPI_Type_free(&mixed));

    /* A status filled by hand (13.3). */
    OK(MPI_Status_set_elements(&status, MPI_INT, 9));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    SAME(n, 9, "status_set_elements");
    OK(MPI_Status_set_cancelled(&status, 1));
    OK(MPI_Test_cancelled(&status, &n));
    SAME(n, 1, "status_set_cancelled");
}

static void addresses(void)
{
    int v[10];
    MPI_Aint a, b;
    OK(MPI_Get_address(&v[1], &a));
    OK(MPI_Get_address(&v[7], &b));
    SAME(MPI_Aint_diff(b, a), 24, "aint_diff");
    SAME(MPI_Aint_add(a, 24), b, "aint_add");
    CHECK((void *)a == (void *)&v[1], "get_address is not the address");
}

/* Absolute addresses in one datatype, sent from and received at MPI_BOTTOM. */
static void bottom(void)
{
    int a = rank + 1, b[3] = { rank + 2, rank + 3, rank + 4 }, c = -1, d[3] = { -1, -1, -1 }, lengths[] = { 1, 3 };
    MPI_Aint at[2];
    MPI_Datatype out, in, kinds[] = { MPI_INT, MPI_INT };
    OK(MPI_Get_address(&a, &at[0]));
    OK(MPI_Get_address(b, &at[1]));
    OK(MPI_Type_create_struct(2, lengths, at, kinds, &out));
    OK(MPI_Get_address(&c, &at[0]));
    OK(MPI_Get_address(d, &at[1]));
    OK(MPI_Type_create_struct(2, lengths, at, kinds, &in));
    OK(MPI_Type_commit(&out));
    OK(MPI_Type_commit(&in));
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, out, next, 6, MPI_BOTTOM, 1, in, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(c == previous + 1 && d[0] == previous + 2 && d[1] == previous + 3 && d[2] == previous + 4,
          "message at MPI_BOTTOM: %d %d %d %d", c, d[0], d[1], d[2]);
    /* Within one process, too, where both sides are MPI_BOTTOM. */
    c = -1;
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, out, rank, 7, MPI_BOTTOM, 1, in, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    SAME(c, rank + 1, "self message at MPI_BOTTOM");
    OK(MPI_Type_free(&out));
    OK(MPI_Type_free(&in));
}

/* A layout of many small pieces, long enough for every way to send. */
static void long_layout(int pieces)
{
    MPI_Datatype t;
    size_t bytes = (size_t)pieces * 12;
    int *out = check_alloc(bytes), *in = check_alloc(bytes);
    OK(MPI_Type_vector(pieces, 1, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    for (int i = 0; i < pieces * 3; i++)
        out[i] = rank + i, in[i] = -1;
    for (int form = 0; form < 3; form++) {
        /* Typed to typed, typed to plain, plain to typed. */
        MPI_Datatype st = form == 2 ? MPI_INT : t, rt = form == 1 ? MPI_INT : t;
        OK(MPI_Sendrecv(out, form == 2 ? pieces : 1, st, next, form, in, form == 1 ? pieces : 1, rt, previous, form,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < pieces; i++)
            SAME(in[form == 1 ? i : 3 * i], previous + (form == 2 ? i : 3 * i), "long layout");
    }
    OK(MPI_Type_free(&t));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    static const int pieces[] = { 1, 10, 1000, 1023, 1025, 2049, 8193, 20000, 300000, 1000000 };
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    pack_and_unpack();
    received_counts();
    addresses();
    bottom();
    for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++)
        long_layout(pieces[k]);
    return check_end();
}
