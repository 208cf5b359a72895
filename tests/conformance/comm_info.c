/* ranks: 1 2 */
/* MPI-5.0 7.4.4 Communicator Info */
#include "check.h"

/* What MPI_Comm_get_info says about a key; "" where it is not there. */
static const char *hint(MPI_Comm comm, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info;
    int flag = 0, length = sizeof value;
    value[0] = 0;
    OK(MPI_Comm_get_info(comm, &info));
    CHECK(info != MPI_INFO_NULL, "MPI_Comm_get_info gave MPI_INFO_NULL");
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    OK(MPI_Info_free(&info));
    return flag ? value : "";
}

static MPI_Info with(const char *key, const char *value)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    return info;
}

static void is(MPI_Comm comm, const char *key, const char *want, const char *what)
{
    const char *got = hint(comm, key);
    CHECK(strcmp(got, want) == 0, "%s: %s is \"%s\", not \"%s\"", what, key, got, want);
}

int main(int argc, char **argv)
{
    static const char *const keys[] = { "mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                        "mpi_assert_allow_overtaking" };
    check_begin(&argc, &argv);
    for (int k = 0; k < 4; k++) {
        MPI_Comm comm, dup, third;
        MPI_Request request;
        MPI_Info yes = with(keys[k], "true"), no = with(keys[k], "false"), other = with("no_such_hint_at_all", "1");
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        is(comm, keys[k], "false", "by default");
        OK(MPI_Comm_set_info(comm, yes));
        is(comm, keys[k], "true", "as set");
        OK(MPI_Comm_set_info(comm, other));
        is(comm, keys[k], "true", "after another hint was set");
        is(comm, "no_such_hint_at_all", "", "a hint that nobody knows");
        /* Not passed on, but given with the call. */
        OK(MPI_Comm_dup(comm, &dup));
        is(dup, keys[k], "false", "of a duplicate");
        OK(MPI_Comm_dup_with_info(dup, yes, &third));
        is(third, keys[k], "true", "of dup_with_info");
        OK(MPI_Comm_free(&dup));
        OK(MPI_Comm_idup_with_info(third, no, &dup, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        is(dup, keys[k], "false", "of idup_with_info");
        OK(MPI_Comm_set_info(third, no));
        is(third, keys[k], "false", "as set back");
        OK(MPI_Comm_free(&dup));
        OK(MPI_Comm_free(&third));
        OK(MPI_Comm_free(&comm));
        OK(MPI_Info_free(&yes));
        OK(MPI_Info_free(&no));
        OK(MPI_Info_free(&other));
    }
    return check_end();
}
