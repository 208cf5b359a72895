/* ranks: 1 */
/* MPI-5.0 5.1.13 Decoding a Datatype: envelope and contents of every constructor, in both forms, and the type made again. */
#include "check.h"

enum { ROOM = 64 };

struct contents {
    MPI_Count ni, na, nc, nd;
    int combiner, ints[ROOM];
    MPI_Aint places[ROOM];
    MPI_Count counts[ROOM];
    MPI_Datatype types[ROOM];
};

/* By the large form, which takes every type. */
static struct contents decode(MPI_Datatype t)
{
    struct contents c;
    memset(&c, 0, sizeof c);
    OK(MPI_Type_get_envelope_c(t, &c.ni, &c.na, &c.nc, &c.nd, &c.combiner));
    CHECK(c.ni <= ROOM && c.na <= ROOM && c.nc <= ROOM && c.nd <= ROOM, "an envelope of %lld, %lld, %lld, %lld",
          (long long)c.ni, (long long)c.na, (long long)c.nc, (long long)c.nd);
    if (c.combiner != MPI_COMBINER_NAMED)
        OK(MPI_Type_get_contents_c(t, c.ni, c.na, c.nc, c.nd, c.ints, c.places, c.counts, c.types));
    return c;
}

static void release(struct contents *c)
{
    for (MPI_Count i = 0; i < c->nd; i++) {
        MPI_Count ni, na, nc, nd;
        int combiner;
        OK(MPI_Type_get_envelope_c(c->types[i], &ni, &na, &nc, &nd, &combiner));
        if (combiner != MPI_COMBINER_NAMED)
            OK(MPI_Type_free(&c->types[i]));
    }
}

/* Exactly these arguments. `ints`, `places` and `counts` end where their numbers say. */
static void expect(MPI_Datatype t, int combiner, int ni, const int *ints, int na, const MPI_Aint *places, int nc,
                   const MPI_Count *counts, int nd, const MPI_Datatype *types, const char *what)
{
    struct contents c = decode(t);
    CHECK(c.combiner == combiner && c.ni == ni && c.na == na && c.nc == nc && c.nd == nd,
          "%s: combiner %d with %lld, %lld, %lld, %lld", what, c.combiner, (long long)c.ni, (long long)c.na, (long long)c.nc,
          (long long)c.nd);
    for (int i = 0; i < ni; i++)
        SAME(c.ints[i], ints[i], what);
    for (int i = 0; i < na; i++)
        SAME(c.places[i], places[i], what);
    for (int i = 0; i < nc; i++)
        SAME(c.counts[i], counts[i], what);
    for (int i = 0; i < nd; i++)
        CHECK(c.types[i] == types[i], "%s: type %d is another one", what, i);
    release(&c);
    if (nc == 0) {
        /* The plain form says the same. */
        int a, b, d, k, small[ROOM];
        MPI_Aint at[ROOM];
        MPI_Datatype old[ROOM];
        OK(MPI_Type_get_envelope(t, &a, &b, &d, &k));
        CHECK(a == ni && b == na && d == nd && k == combiner, "%s: the plain envelope differs", what);
        OK(MPI_Type_get_contents(t, ROOM, ROOM, ROOM, small, at, old));
        for (int i = 0; i < ni; i++)
            SAME(small[i], ints[i], what);
        for (int i = 0; i < na; i++)
            SAME(at[i], places[i], what);
    }
    OK(MPI_Type_free(&t));
}

#define LIST(T, ...) ((T[]){ __VA_ARGS__ })
#define NUMBER(T, ...) ((int)(sizeof(LIST(T, __VA_ARGS__)) / sizeof(T)))
#define PLAIN(t, combiner, nd, types, ...) \
    expect(t, combiner, NUMBER(int, __VA_ARGS__), LIST(int, __VA_ARGS__), 0, NULL, 0, NULL, nd, types, #combiner)
#define LARGE(t, combiner, nd, types, ...) \
    expect(t, combiner, 0, NULL, 0, NULL, NUMBER(MPI_Count, __VA_ARGS__), LIST(MPI_Count, __VA_ARGS__), nd, types, #combiner " (large)")

static const MPI_Datatype old[] = { MPI_INT, MPI_DOUBLE };

static void plain_forms(void)
{
    MPI_Datatype t;
    int two[] = { 2, 1 }, at[] = { 0, 5 };
    MPI_Aint places[] = { 8, 64 };
    OK(MPI_Type_dup(MPI_INT, &t));
    expect(t, MPI_COMBINER_DUP, 0, NULL, 0, NULL, 0, NULL, 1, old, "dup");
    OK(MPI_Type_contiguous(3, MPI_INT, &t));
    PLAIN(t, MPI_COMBINER_CONTIGUOUS, 1, old, 3);
    OK(MPI_Type_contiguous(0, MPI_INT, &t));
    PLAIN(t, MPI_COMBINER_CONTIGUOUS, 1, old, 0);
    OK(MPI_Type_vector(3, 2, -5, MPI_INT, &t));
    PLAIN(t, MPI_COMBINER_VECTOR, 1, old, 3, 2, -5);
    OK(MPI_Type_create_hvector(3, 2, -50, MPI_INT, &t));
    expect(t, MPI_COMBINER_HVECTOR, 2, LIST(int, 3, 2), 1, LIST(MPI_Aint, -50), 0, NULL, 1, old, "hvector");
    OK(MPI_Type_indexed(2, two, at, MPI_INT, &t));
    PLAIN(t, MPI_COMBINER_INDEXED, 1, old, 2, 2, 1, 0, 5);
    OK(MPI_Type_create_hindexed(2, two, places, MPI_INT, &t));
    expect(t, MPI_COMBINER_HINDEXED, 3, LIST(int, 2, 2, 1), 2, places, 0, NULL, 1, old, "hindexed");
    OK(MPI_Type_create_indexed_block(2, 3, at, MPI_INT, &t));
    PLAIN(t, MPI_COMBINER_INDEXED_BLOCK, 1, old, 2, 3, 0, 5);
    OK(MPI_Type_create_hindexed_block(2, 3, places, MPI_INT, &t));
    expect(t, MPI_COMBINER_HINDEXED_BLOCK, 2, LIST(int, 2, 3), 2, places, 0, NULL, 1, old, "hindexed_block");
    OK(MPI_Type_create_struct(2, two, places, old, &t));
    expect(t, MPI_COMBINER_STRUCT, 3, LIST(int, 2, 2, 1), 2, places, 0, NULL, 2, old, "struct");
    OK(MPI_Type_create_resized(MPI_INT, -4, 32, &t));
    expect(t, MPI_COMBINER_RESIZED, 0, NULL, 2, LIST(MPI_Aint, -4, 32), 0, NULL, 1, old, "resized");
    OK(MPI_Type_create_subarray(2, LIST(int, 6, 7), LIST(int, 2, 3), LIST(int, 1, 4), MPI_ORDER_FORTRAN, MPI_INT, &t));
    PLAIN(t, MPI_COMBINER_SUBARRAY, 1, old, 2, 6, 7, 2, 3, 1, 4, MPI_ORDER_FORTRAN);
    OK(MPI_Type_create_darray(6, 5, 2, LIST(int, 8, 9), LIST(int, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC),
                              LIST(int, MPI_DISTRIBUTE_DFLT_DARG, 2), LIST(int, 2, 3), MPI_ORDER_C, MPI_INT, &t));
    PLAIN(t, MPI_COMBINER_DARRAY, 1, old, 6, 5, 2, 8, 9, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2,
          2, 3, MPI_ORDER_C);
}

/* Counts and displacements are large counts; what stays an int (ranks, orders ...) is one. */
static void large_forms(void)
{
    MPI_Datatype t;
    MPI_Count two[] = { 2, 1 }, at[] = { 0, (MPI_Count)5 << 32 };
    OK(MPI_Type_contiguous_c((MPI_Count)1 << 33, MPI_INT, &t));
    LARGE(t, MPI_COMBINER_CONTIGUOUS, 1, old, (MPI_Count)1 << 33);
    OK(MPI_Type_vector_c(3, 2, 5, MPI_INT, &t));
    LARGE(t, MPI_COMBINER_VECTOR, 1, old, 3, 2, 5);
    OK(MPI_Type_create_hvector_c(3, 2, 50, MPI_INT, &t));
    LARGE(t, MPI_COMBINER_HVECTOR, 1, old, 3, 2, 50);
    OK(MPI_Type_indexed_c(2, two, at, MPI_INT, &t));
    LARGE(t, MPI_COMBINER_INDEXED, 1, old, 2, 2, 1, 0, (MPI_Count)5 << 32);
    OK(MPI_Type_create_hindexed_c(2, two, at, MPI_INT, &t));
    LARGE(t, MPI_COMBINER_HINDEXED, 1, old, 2, 2, 1, 0, (MPI_Count)5 << 32);
    OK(MPI_Type_create_indexed_block_c(2, 3, at, MPI_INT, &t));
    LARGE(t, MPI_COMBINER_INDEXED_BLOCK, 1, old, 2, 3, 0, (MPI_Count)5 << 32);
    OK(MPI_Type_create_hindexed_block_c(2, 3, at, MPI_INT, &t));
    LARGE(t, MPI_COMBINER_HINDEXED_BLOCK, 1, old, 2, 3, 0, (MPI_Count)5 << 32);
    OK(MPI_Type_create_struct_c(2, two, at, old, &t));
    LARGE(t, MPI_COMBINER_STRUCT, 2, old, 2, 2, 1, 0, (MPI_Count)5 << 32);
    OK(MPI_Type_create_resized_c(MPI_INT, -4, 32, &t));
    LARGE(t, MPI_COMBINER_RESIZED, 1, old, -4, 32);
    OK(MPI_Type_create_subarray_c(2, LIST(MPI_Count, 6, 7), LIST(MPI_Count, 2, 3), LIST(MPI_Count, 1, 4), MPI_ORDER_C, MPI_INT, &t));
    expect(t, MPI_COMBINER_SUBARRAY, 2, LIST(int, 2, MPI_ORDER_C), 0, NULL, 6, LIST(MPI_Count, 6, 7, 2, 3, 1, 4), 1, old,
           "subarray (large)");
    OK(MPI_Type_create_darray_c(6, 5, 2, LIST(MPI_Count, 8, 9), LIST(int, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC),
                                LIST(int, MPI_DISTRIBUTE_DFLT_DARG, 2), LIST(int, 2, 3), MPI_ORDER_C, MPI_INT, &t));
    expect(t, MPI_COMBINER_DARRAY, 10,
           LIST(int, 6, 5, 2, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG, 2, 2, 3, MPI_ORDER_C), 0, NULL, 2,
           LIST(MPI_Count, 8, 9), 1, old, "darray (large)");
}

/* A component comes as a new handle of a type like it; the original may be gone. */
static void components(void)
{
    MPI_Datatype inner, outer, found[1];
    MPI_Aint lb, extent;
    int none[2], size_;
    OK(MPI_Type_vector(2, 1, 3, MPI_INT, &inner));
    OK(MPI_Type_contiguous(2, inner, &outer));
    OK(MPI_Type_free(&inner));
    OK(MPI_Type_get_contents(outer, 1, 0, 1, none, NULL, found));
    SAME(none[0], 2, "count of a contiguous type");
    OK(MPI_Type_free(&outer));
    OK(MPI_Type_get_extent(found[0], &lb, &extent));
    OK(MPI_Type_size(found[0], &size_));
    CHECK(lb == 0 && extent == 16 && size_ == 8, "a component is another type: extent %ld, size %d", (long)extent, size_);
    PLAIN(found[0], MPI_COMBINER_VECTOR, 1, old, 2, 1, 3);
}

static void refusals(void)
{
    MPI_Datatype t, found[2];
    MPI_Aint places[2];
    int ints[8], ni, na, nd, combiner;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Type_get_envelope(MPI_INT, &ni, &na, &nd, &combiner));
    CHECK(ni == 0 && na == 0 && nd == 0 && combiner == MPI_COMBINER_NAMED, "the envelope of MPI_INT");
    CHECK(MPI_Type_get_contents(MPI_INT, 8, 2, 2, ints, places, found) != MPI_SUCCESS, "the contents of MPI_INT");
    FAILS(MPI_ERR_TYPE, MPI_Type_get_envelope(MPI_DATATYPE_NULL, &ni, &na, &nd, &combiner));
    FAILS(MPI_ERR_TYPE, MPI_Type_get_contents(MPI_DATATYPE_NULL, 8, 2, 2, ints, places, found));
    OK(MPI_Type_vector(3, 2, 5, MPI_INT, &t));
    CHECK(MPI_Type_get_contents(t, 2, 0, 1, ints, places, found) != MPI_SUCCESS, "three integers in room for two");
    CHECK(MPI_Type_get_contents(t, 3, 0, 0, ints, places, found) != MPI_SUCCESS, "a type in room for none");
    OK(MPI_Type_free(&t));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    plain_forms();
    large_forms();
    components();
    refusals();
    return check_end();
}
