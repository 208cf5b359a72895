/* ranks: 1 2 */
/* MPI-5.0 10 The Info Object */
#include "check.h"

static int order_of(MPI_Info info, const char *key)
{
    char name[MPI_MAX_INFO_KEY + 1];
    int n;
    OK(MPI_Info_get_nkeys(info, &n));
    for (int i = 0; i < n; i++) {
        OK(MPI_Info_get_nthkey(info, i, name));
        if (strcmp(name, key) == 0)
            return i;
    }
    return -1;
}

static void value_is(MPI_Info info, const char *key, const char *want)
{
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int flag = -1, length = sizeof value;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    SAME(flag, want != NULL, key);
    if (want) {
        CHECK(strcmp(value, want) == 0, "info key %s is \"%s\", not \"%s\"", key, value, want);
        SAME(length, strlen(want) + 1, "length of an info value");
    }
}

int main(int argc, char **argv)
{
    MPI_Info info, dup;
    char small[4];
    int n = -1, flag, length;
    check_begin(&argc, &argv);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_get_nkeys(info, &n));
    SAME(n, 0, "keys of a new info");
    OK(MPI_Info_set(info, "one", "1"));
    OK(MPI_Info_set(info, "two", "a longer value, with spaces"));
    OK(MPI_Info_set(info, "three", "3"));
    OK(MPI_Info_set(info, "one", "eins"));
    OK(MPI_Info_get_nkeys(info, &n));
    SAME(n, 3, "keys");
    value_is(info, "one", "eins");
    value_is(info, "two", "a longer value, with spaces");
    value_is(info, "four", NULL);
    value_is(info, "ONE", NULL);
    CHECK(order_of(info, "three") >= 0 && order_of(info, "nine") == -1, "get_nthkey");
    /* Less room: the value is cut to fit, the length says what it would need. */
    length = sizeof small;
    OK(MPI_Info_get_string(info, "two", &length, small, &flag));
    CHECK(flag && length == 28 && strcmp(small, "a l") == 0, "cut value \"%s\", length %d", small, length);
    length = 0;
    OK(MPI_Info_get_string(info, "two", &length, NULL, &flag));
    CHECK(flag && length == 28, "length asked with no room is %d", length);
    OK(MPI_Info_dup(info, &dup));
    OK(MPI_Info_delete(info, "two"));
    value_is(info, "two", NULL);
    value_is(dup, "two", "a longer value, with spaces");
    CHECK(order_of(dup, "one") == 0 && order_of(dup, "two") == 1 && order_of(dup, "three") == 2, "a duplicate keeps the order");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "two"));
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL, "info_free leaves the handle");
    value_is(dup, "one", "eins");
    OK(MPI_Info_free(&dup));
    /* MPI_INFO_ENV is there, whatever it holds. */
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n));
    CHECK(n >= 0, "keys of MPI_INFO_ENV: %d", n);
    return check_end();
}
