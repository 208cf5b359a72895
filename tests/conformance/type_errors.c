/* ranks: 1 */
/* MPI-5.0 5.1, 5.2, 5.3: what the constructors, the procedures on datatypes and pack and unpack refuse, with its class. */
#include "check.h"

static int two[] = { 1, 1 }, less[] = { 1, -1 }, none[] = { 0, 0 };
static MPI_Aint at[] = { 0, 8 };

/* A refused constructor leaves no type; classes differ among implementations, so only those that the standard's words name. */
#define REFUSED(call)                                                                            \
    do {                                                                                         \
        int refused_ = (call), class_ = MPI_SUCCESS;                                             \
        CHECK(refused_ != MPI_SUCCESS, "%s is taken", #call);                                    \
        MPI_Error_class(refused_, &class_);                                                      \
        CHECK(class_ == MPI_ERR_ARG || class_ == MPI_ERR_COUNT || class_ == MPI_ERR_TYPE,        \
              "%s gave error class %d", #call, class_);                                          \
    } while (0)

static void constructors(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL, types[] = { MPI_INT, MPI_DATATYPE_NULL };
    FAILS(MPI_ERR_TYPE, MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_dup(MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_vector(1, 1, 1, MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_hvector(1, 1, 1, MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_indexed(2, two, none, MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_hindexed(2, two, at, MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_indexed_block(2, 1, none, MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_hindexed_block(2, 1, at, MPI_DATATYPE_NULL, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_struct(2, two, at, types, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 8, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_contiguous(-1, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_vector(-1, 1, 1, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_indexed(-1, two, none, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_create_struct(-1, two, at, types, &t));
    REFUSED(MPI_Type_vector(1, -1, 1, MPI_INT, &t));
    REFUSED(MPI_Type_create_hvector(1, -1, 1, MPI_INT, &t));
    REFUSED(MPI_Type_indexed(2, less, none, MPI_INT, &t));
    REFUSED(MPI_Type_create_hindexed(2, less, at, MPI_INT, &t));
    REFUSED(MPI_Type_create_indexed_block(2, -1, none, MPI_INT, &t));
    REFUSED(MPI_Type_create_hindexed_block(2, -1, at, MPI_INT, &t));
    types[1] = MPI_DOUBLE;
    REFUSED(MPI_Type_create_struct(2, less, at, types, &t));
}

static void arrays(void)
{
    MPI_Datatype t;
    int sizes[] = { 4, 5 }, parts[] = { 2, 3 }, starts[] = { 1, 1 }, wide[] = { 2, 6 }, late[] = { 3, 1 }, early[] = { -1, 0 };
    int kinds[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC }, odd[] = { MPI_DISTRIBUTE_BLOCK, 99 };
    int args[] = { MPI_DISTRIBUTE_DFLT_DARG, 2 }, few[] = { 1, 2 }, grid[] = { 2, 2 };
    REFUSED(MPI_Type_create_subarray(2, sizes, wide, starts, MPI_ORDER_C, MPI_INT, &t));
    REFUSED(MPI_Type_create_subarray(2, sizes, parts, late, MPI_ORDER_C, MPI_INT, &t));
    REFUSED(MPI_Type_create_subarray(2, sizes, parts, early, MPI_ORDER_C, MPI_INT, &t));
    REFUSED(MPI_Type_create_subarray(2, sizes, parts, starts, 1, MPI_INT, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DATATYPE_NULL, &t));
    REFUSED(MPI_Type_create_darray(4, 4, 2, sizes, kinds, args, grid, MPI_ORDER_C, MPI_INT, &t));
    REFUSED(MPI_Type_create_darray(4, -1, 2, sizes, kinds, args, grid, MPI_ORDER_C, MPI_INT, &t));
    REFUSED(MPI_Type_create_darray(4, 0, 2, sizes, odd, args, grid, MPI_ORDER_C, MPI_INT, &t));
    REFUSED(MPI_Type_create_darray(4, 0, 2, sizes, kinds, few, grid, MPI_ORDER_C, MPI_INT, &t));
    REFUSED(MPI_Type_create_darray(4, 0, 2, sizes, kinds, args, grid, 1, MPI_INT, &t));
}

static void objects(void)
{
    MPI_Datatype t = MPI_DATATYPE_NULL;
    MPI_Aint a, b;
    int n = 0, v = 0, w = 0, position = 0;
    char buffer[64], name[MPI_MAX_OBJECT_NAME];
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&t));
    FAILS(MPI_ERR_TYPE, MPI_Type_free(&t));
    FAILS(MPI_ERR_TYPE, MPI_Type_size(MPI_DATATYPE_NULL, &n));
    FAILS(MPI_ERR_TYPE, MPI_Type_get_extent(MPI_DATATYPE_NULL, &a, &b));
    FAILS(MPI_ERR_TYPE, MPI_Type_get_true_extent(MPI_DATATYPE_NULL, &a, &b));
    FAILS(MPI_ERR_TYPE, MPI_Type_set_name(MPI_DATATYPE_NULL, "x"));
    t = MPI_INT;
    CHECK(MPI_Type_free(&t) != MPI_SUCCESS, "MPI_INT can be freed");
    OK(MPI_Type_commit(&t)); /* does nothing */
    /* What is not committed cannot communicate (5.1.9), but can be asked about, be made into others, and be freed. */
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
    FAILS(MPI_ERR_TYPE, MPI_Send(buffer, 1, t, 0, 0, MPI_COMM_SELF));
    FAILS(MPI_ERR_TYPE, MPI_Recv(buffer, 1, t, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_TYPE, MPI_Bcast(buffer, 1, t, 0, MPI_COMM_SELF));
    FAILS(MPI_ERR_TYPE, MPI_Pack(buffer, 1, t, buffer + 32, 32, &position, MPI_COMM_SELF));
    OK(MPI_Type_size(t, &n));
    SAME(n, 8, "size of a type that is not committed");
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_commit(&t)); /* again */
    /* Pack and unpack. */
    OK(MPI_Pack_size(1, MPI_INT, MPI_COMM_SELF, &n));
    CHECK(n >= 4, "pack_size of an int is %d", n);
    FAILS(MPI_ERR_COUNT, MPI_Pack(&v, -1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_SELF));
    FAILS(MPI_ERR_COMM, MPI_Pack(&v, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_NULL));
    FAILS(MPI_ERR_TYPE, MPI_Pack(&v, 1, MPI_DATATYPE_NULL, buffer, sizeof buffer, &position, MPI_COMM_SELF));
    CHECK(MPI_Pack(&v, 1, MPI_INT, buffer, 3, &position, MPI_COMM_SELF) != MPI_SUCCESS, "an int in three bytes");
    SAME(position, 0, "position after a failure");
    FAILS(MPI_ERR_COUNT, MPI_Unpack(buffer, 4, &position, &w, -1, MPI_INT, MPI_COMM_SELF));
    FAILS(MPI_ERR_COMM, MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &n));
    FAILS(MPI_ERR_COUNT, MPI_Pack_size(-1, MPI_INT, MPI_COMM_SELF, &n));
    /* A name that is too long is cut, and ends. */
    char longer[3 * MPI_MAX_OBJECT_NAME];
    memset(longer, 'n', sizeof longer);
    longer[sizeof longer - 1] = 0;
    OK(MPI_Type_set_name(t, longer));
    OK(MPI_Type_get_name(t, name, &n));
    SAME(n, MPI_MAX_OBJECT_NAME - 1, "length of a name that was cut");
    SAME(strlen(name), n, "length of a name that was cut");
    OK(MPI_Type_set_name(t, ""));
    OK(MPI_Type_get_name(t, name, &n));
    SAME(n, 0, "a name taken away");
    OK(MPI_Type_free(&t));
    CHECK(t == MPI_DATATYPE_NULL, "a freed handle");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    constructors();
    arrays();
    objects();
    return check_end();
}
