/* ranks: 1 2 */
/* MPI-5.0 3.2.2, 6.9.2, 6.9.4, 19.1.9, A.1: all predefined datatypes: sizes, names, which operations take them, and how to find
 * them by class and size or by value and index. */
#include "check.h"
#include <complex.h>

/* Kinds of types that 6.9.2 names. */
enum { C_INT = 1, F_INT = 2, REAL = 4, BOOL = 8, COMPLEX = 16, BYTES = 32, MULTI = 64, PAIR = 128, OTHER = 256 };

#define T(handle, size, kind) { handle, #handle, size, kind }
static const struct type {
    MPI_Datatype handle;
    const char *name;
    int size, kind;
} types[] = {
    T(MPI_SIGNED_CHAR, 1, C_INT), T(MPI_UNSIGNED_CHAR, 1, C_INT), T(MPI_SHORT, sizeof(short), C_INT),
    T(MPI_UNSIGNED_SHORT, sizeof(short), C_INT), T(MPI_INT, sizeof(int), C_INT), T(MPI_UNSIGNED, sizeof(int), C_INT),
    T(MPI_LONG, sizeof(long), C_INT), T(MPI_UNSIGNED_LONG, sizeof(long), C_INT), T(MPI_LONG_LONG, 8, C_INT),
    T(MPI_UNSIGNED_LONG_LONG, 8, C_INT), T(MPI_INT8_T, 1, C_INT), T(MPI_INT16_T, 2, C_INT), T(MPI_INT32_T, 4, C_INT),
    T(MPI_INT64_T, 8, C_INT), T(MPI_UINT8_T, 1, C_INT), T(MPI_UINT16_T, 2, C_INT), T(MPI_UINT32_T, 4, C_INT),
    T(MPI_UINT64_T, 8, C_INT), T(MPI_AINT, sizeof(MPI_Aint), MULTI), T(MPI_OFFSET, sizeof(MPI_Offset), MULTI),
    T(MPI_COUNT, sizeof(MPI_Count), MULTI), T(MPI_FLOAT, 4, REAL), T(MPI_DOUBLE, 8, REAL),
    T(MPI_LONG_DOUBLE, sizeof(long double), REAL), T(MPI_C_BOOL, 1, BOOL), T(MPI_BYTE, 1, BYTES),
    T(MPI_C_FLOAT_COMPLEX, 8, COMPLEX), T(MPI_C_DOUBLE_COMPLEX, 16, COMPLEX),
    T(MPI_C_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double), COMPLEX), T(MPI_CHAR, 1, OTHER), T(MPI_WCHAR, sizeof(wchar_t), OTHER),
    T(MPI_PACKED, 1, OTHER), T(MPI_FLOAT_INT, 8, PAIR), T(MPI_DOUBLE_INT, 12, PAIR), T(MPI_LONG_INT, 12, PAIR), T(MPI_2INT, 8, PAIR),
    T(MPI_SHORT_INT, 6, PAIR), T(MPI_LONG_DOUBLE_INT, sizeof(long double) + 4, PAIR),
    /* Fortran's: where there is no such kind, MPI_Type_size says 0 or MPI_UNDEFINED, and nothing else is asked. */
    T(MPI_INTEGER, 4, F_INT), T(MPI_REAL, 4, REAL), T(MPI_DOUBLE_PRECISION, 8, REAL), T(MPI_COMPLEX, 8, COMPLEX),
    T(MPI_DOUBLE_COMPLEX, 16, COMPLEX), T(MPI_LOGICAL, 4, BOOL), T(MPI_CHARACTER, 1, OTHER), T(MPI_INTEGER1, 1, F_INT),
    T(MPI_INTEGER2, 2, F_INT), T(MPI_INTEGER4, 4, F_INT), T(MPI_INTEGER8, 8, F_INT), T(MPI_INTEGER16, 16, F_INT), T(MPI_REAL2, 2, REAL),
    T(MPI_REAL4, 4, REAL), T(MPI_REAL8, 8, REAL), T(MPI_REAL16, 16, REAL), T(MPI_COMPLEX4, 4, COMPLEX), T(MPI_COMPLEX8, 8, COMPLEX),
    T(MPI_COMPLEX16, 16, COMPLEX), T(MPI_COMPLEX32, 32, COMPLEX), T(MPI_LOGICAL1, 1, BOOL), T(MPI_LOGICAL2, 2, BOOL),
    T(MPI_LOGICAL4, 4, BOOL), T(MPI_LOGICAL8, 8, BOOL), T(MPI_LOGICAL16, 16, BOOL), T(MPI_2REAL, 8, PAIR),
    T(MPI_2DOUBLE_PRECISION, 16, PAIR), T(MPI_2INTEGER, 8, PAIR),
};
enum { TYPES = sizeof types / sizeof *types };

#define O(op, kinds) { op, #op, kinds }
static const struct {
    MPI_Op op;
    const char *name;
    int kinds;
} ops[] = {
    O(MPI_MAX, C_INT | F_INT | REAL | MULTI), O(MPI_MIN, C_INT | F_INT | REAL | MULTI),
    O(MPI_SUM, C_INT | F_INT | REAL | COMPLEX | MULTI), O(MPI_PROD, C_INT | F_INT | REAL | COMPLEX | MULTI),
    O(MPI_LAND, C_INT | BOOL), O(MPI_LOR, C_INT | BOOL), O(MPI_LXOR, C_INT | BOOL),
    O(MPI_BAND, C_INT | F_INT | BYTES | MULTI), O(MPI_BOR, C_INT | F_INT | BYTES | MULTI), O(MPI_BXOR, C_INT | F_INT | BYTES | MULTI),
    O(MPI_MINLOC, PAIR), O(MPI_MAXLOC, PAIR), O(MPI_REPLACE, 0), O(MPI_NO_OP, 0),
};
enum { OPS = sizeof ops / sizeof *ops };

static int size_of(MPI_Datatype t)
{
    int n = -1;
    OK(MPI_Type_size(t, &n));
    return n;
}

static void names_and_sizes(void)
{
    for (int i = 0; i < TYPES; i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int n = size_of(types[i].handle), length = -1;
        CHECK(n == types[i].size || (types[i].handle != MPI_INT && (n == 0 || n == MPI_UNDEFINED)), "%s has size %d, not %d",
              types[i].name, n, types[i].size);
        OK(MPI_Type_get_name(types[i].handle, name, &length));
        /* Where two names mean one type, either is right. */
        CHECK(!strcmp(name, types[i].name) || (types[i].handle == MPI_LONG_LONG && !strcmp(name, "MPI_LONG_LONG_INT")) ||
                  (types[i].handle == MPI_C_FLOAT_COMPLEX && !strcmp(name, "MPI_C_COMPLEX")),
              "%s is called %s", types[i].name, name);
        SAME(length, strlen(name), "length of a name");
    }
    CHECK(MPI_LONG_LONG_INT == MPI_LONG_LONG && MPI_C_COMPLEX == MPI_C_FLOAT_COMPLEX, "two names, two types");
}

/* The table of 6.9.2: each operation on each type, locally and among the ranks. */
static void operations(void)
{
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int k = 0; k < OPS; k++) {
        int commute = -1;
        OK(MPI_Op_commutative(ops[k].op, &commute));
        CHECK(ops[k].kinds == 0 || commute == 1, "%s does not commute", ops[k].name);
        for (int i = 0; i < TYPES; i++) {
            _Alignas(64) unsigned char a[128] = { 0 }, b[128] = { 0 };
            if (size_of(types[i].handle) != types[i].size)
                continue;
            int allowed = ops[k].kinds & types[i].kind, class = MPI_SUCCESS;
            int code = MPI_Reduce_local(a, b, 1, types[i].handle, ops[k].op);
            if (code != MPI_SUCCESS)
                MPI_Error_class(code, &class);
            CHECK(class == (allowed ? MPI_SUCCESS : MPI_ERR_OP), "MPI_Reduce_local of %s on %s gives class %d", ops[k].name,
                  types[i].name, class);
            class = MPI_SUCCESS;
            code = MPI_Allreduce(a, b, 1, types[i].handle, ops[k].op, MPI_COMM_WORLD);
            if (code != MPI_SUCCESS)
                MPI_Error_class(code, &class);
            CHECK(class == (allowed ? MPI_SUCCESS : MPI_ERR_OP), "MPI_Allreduce of %s on %s gives class %d", ops[k].name,
                  types[i].name, class);
        }
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

#define LOCAL(T_, type, op, x, y, want)                                                          \
    do {                                                                                         \
        T_ a_ = (x), b_ = (y);                                                                   \
        if (size_of(type) == sizeof(T_)) {                                                       \
            OK(MPI_Reduce_local(&a_, &b_, 1, type, op));                                         \
            CHECK(b_ == (T_)(want), "%s of %s is wrong", #op, #type);                            \
        }                                                                                        \
    } while (0)

/* Values that a narrower computation would get wrong. */
static void wide_values(void)
{
    long double e = 1.0L + 0x1p-60L;
    LOCAL(long double, MPI_LONG_DOUBLE, MPI_SUM, e, 1.0L, e + 1.0L);
    LOCAL(long double, MPI_LONG_DOUBLE, MPI_PROD, e, 3.0L, e * 3.0L);
    LOCAL(long double, MPI_LONG_DOUBLE, MPI_MAX, e, 1.0L, e);
    long double complex z = e + 2.0L * I, w = 3.0L - e * I;
    LOCAL(long double complex, MPI_C_LONG_DOUBLE_COMPLEX, MPI_SUM, z, w, z + w);
    LOCAL(double complex, MPI_DOUBLE_COMPLEX, MPI_PROD, 1 + 2 * I, 3 - I, 5 + 5 * I);
#ifdef __SIZEOF_INT128__
    __int128 big = (__int128)1 << 100;
    LOCAL(__int128, MPI_INTEGER16, MPI_SUM, big, 5, big + 5);
    LOCAL(__int128, MPI_INTEGER16, MPI_PROD, big, 9, big * 9);
    LOCAL(__int128, MPI_INTEGER16, MPI_MIN, -big, big, -big);
    LOCAL(__int128, MPI_INTEGER16, MPI_BXOR, big + 1, 3, big + 2);
#endif
#ifdef __SIZEOF_FLOAT128__
    __float128 q = 1 + (__float128)0x1p-100L;
    LOCAL(__float128, MPI_REAL16, MPI_SUM, q, 1, q + 1);
    LOCAL(__float128, MPI_REAL16, MPI_PROD, q, 3, q * 3);
    LOCAL(__float128, MPI_REAL16, MPI_MAX, q, 1, q);
#endif
}

static void by_class_and_size(void)
{
    static const struct {
        int class, size;
        MPI_Datatype want;
    } found[] = {
        { MPI_TYPECLASS_REAL, 4, MPI_REAL4 }, { MPI_TYPECLASS_REAL, 8, MPI_REAL8 }, { MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1 },
        { MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2 }, { MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4 },
        { MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8 }, { MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8 },
        { MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16 },
    };
    MPI_Datatype t;
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        OK(MPI_Type_match_size(found[i].class, found[i].size, &t));
        SAME(size_of(t), found[i].size, "size of a type found by its size");
        int ni, na, nd, combiner;
        OK(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner));
        SAME(combiner, MPI_COMBINER_NAMED, "a type found by its size is a named one");
        CHECK(t == found[i].want, "class %d and size %d give another type", found[i].class, found[i].size);
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t) != MPI_SUCCESS, "there is a real of three bytes");
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_INTEGER, 64, &t) != MPI_SUCCESS, "there is an integer of 64 bytes");
    CHECK(MPI_Type_match_size(12345, 4, &t) != MPI_SUCCESS, "there is a class 12345");
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void by_value_and_index(void)
{
    static const struct {
        MPI_Datatype value, pair;
    } named[] = { { MPI_FLOAT, MPI_FLOAT_INT }, { MPI_DOUBLE, MPI_DOUBLE_INT }, { MPI_LONG, MPI_LONG_INT },
                  { MPI_INT, MPI_2INT }, { MPI_SHORT, MPI_SHORT_INT }, { MPI_LONG_DOUBLE, MPI_LONG_DOUBLE_INT } };
    MPI_Datatype t, u;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        OK(MPI_Type_get_value_index(named[i].value, MPI_INT, &t));
        CHECK(t == named[i].pair, "pair %zu is another type", i);
    }
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_FLOAT, &t));
    CHECK(t == MPI_DATATYPE_NULL, "a float is an index");
    /* Others may be there, without a name. Then they are the same each time, and the operations take them. */
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &t));
    if (t == MPI_DATATYPE_NULL)
        return;
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &u));
    CHECK(t == u, "equal arguments give different types");
    struct {
        double value;
        int64_t index;
    } in = { -rank, (int64_t)rank + ((int64_t)1 << 40) }, out;
    OK(MPI_Allreduce(&in, &out, 1, t, MPI_MINLOC, MPI_COMM_WORLD));
    CHECK(out.value == 1 - size && out.index == size - 1 + ((int64_t)1 << 40), "minimum %g at %lld", out.value, (long long)out.index);
    int ni, na, nd, combiner;
    MPI_Datatype parts[2];
    OK(MPI_Type_get_envelope(t, &ni, &na, &nd, &combiner));
    CHECK(combiner == MPI_COMBINER_VALUE_INDEX && ni == 0 && na == 0 && nd == 2, "envelope of a pair");
    OK(MPI_Type_get_contents(t, 0, 0, 2, NULL, NULL, parts));
    CHECK(parts[0] == MPI_DOUBLE && parts[1] == MPI_INT64_T, "contents of a pair");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    names_and_sizes();
    operations();
    wide_values();
    by_class_and_size();
    by_value_and_index();
    return check_end();
}
