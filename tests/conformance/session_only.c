/* ranks: 1 2 4 singleton */
/* MPI-5.0 11.3 The Sessions Model without MPI_Init: process sets, groups and communicators from them, several sessions at once, again after
 * the last has ended; 9.1.2 attributes of such communicators; 11.4.1 what works before and after. */
#include "check.h"

static int initialized(void)
{
    int flag = -1;
    OK(MPI_Initialized(&flag));
    return flag;
}

/* What works whether or not MPI is initialized. */
static void always(void)
{
    int version, subversion, length, class, code, flag, n;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], error[MPI_MAX_ERROR_STRING], value[16];
    OK(MPI_Get_version(&version, &subversion));
    SAME(version, MPI_VERSION, "version");
    OK(MPI_Get_library_version(text, &length));
    OK(MPI_Finalized(&flag));
    SAME(flag, 0, "finalized without the World Model");
    OK(MPI_Error_class(MPI_ERR_SESSION, &class));
    SAME(class, MPI_ERR_SESSION, "class of a class");
    OK(MPI_Error_string(MPI_ERR_SESSION, error, &length));
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "mine"));
    OK(MPI_Error_string(code, error, &length));
    CHECK(strcmp(error, "mine") == 0, "string of a new code: %s", error);
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));
    MPI_Info info, copy;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "key", "value"));
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_get_nkeys(copy, &n));
    SAME(n, 1, "keys of a copy");
    n = sizeof value;
    OK(MPI_Info_get_string(copy, "key", &n, value, &flag));
    CHECK(flag && strcmp(value, "value") == 0, "value of a copy: %s", flag ? value : "none");
    OK(MPI_Info_delete(info, "key"));
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&copy));
    OK(MPI_Info_create_env(0, NULL, &info));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n >= 0, "keys of the environment: %d", n);
    OK(MPI_Info_free(&info));
}

static int mpi_size(MPI_Session session, const char *name)
{
    MPI_Info info;
    char value[32];
    int flag, length = sizeof value;
    OK(MPI_Session_get_pset_info(session, name, &info));
    OK(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
    CHECK(flag, "%s has no mpi_size", name);
    OK(MPI_Info_free(&info));
    return atoi(value);
}

static void psets(MPI_Session session)
{
    int n = -1, world = -1, self = -1;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    CHECK(n >= 2, "%d process sets", n);
    for (int k = 0; k < n; k++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[4] = "xyz";
        int length = 0, small = 3, size = -1, me = -1;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, k, &length, name));
        CHECK(length > 1 && length <= MPI_MAX_PSET_NAME_LEN, "process set %d has a name of length %d", k, length);
        int want = length;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, k, &length, name));
        CHECK(length == want && strlen(name) == (size_t)want - 1, "length of '%s' is %d, then %d", name, want, length);
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, k, &small, cut));
        CHECK(small == want && cut[2] == 0 && strncmp(cut, name, 2) == 0, "cut name '%s' of '%s', length %d", cut, name, small);
        MPI_Group group;
        OK(MPI_Group_from_session_pset(session, name, &group));
        OK(MPI_Group_size(group, &size));
        OK(MPI_Group_rank(group, &me));
        SAME(mpi_size(session, name), size, name);
        CHECK(me >= 0 && me < size, "rank %d of %d in %s", me, size, name);
        if (!strcmp(name, "mpi://WORLD"))
            world = size;
        if (!strcmp(name, "mpi://SELF"))
            self = size;
        OK(MPI_Group_free(&group));
    }
    CHECK(world >= 1 && self == 1, "mpi://WORLD has %d, mpi://SELF %d processes", world, self);
}

static MPI_Comm make(MPI_Session session, const char *pset, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    OK(MPI_Group_from_session_pset(session, pset, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    CHECK(comm != MPI_COMM_NULL, "no communicator of %s", pset);
    return comm;
}

static void traffic(MPI_Comm comm)
{
    int me, n, sum = -1, got = -1;
    MPI_Comm other;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    for (int k = 0; k < 5; k++) {
        int one = me + k;
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
        SAME(sum, n * (n - 1) / 2 + k * n, "sum");
    }
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % n, 7, &got, 1, MPI_INT, (me + n - 1) % n, 7, comm, MPI_STATUS_IGNORE));
    SAME(got, (me + n - 1) % n, "from the left");
    OK(MPI_Comm_dup(comm, &other));
    OK(MPI_Barrier(other));
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_split(comm, me % 2, me, &other));
    OK(MPI_Comm_size(other, &got));
    SAME(got, (n + 1 - me % 2) / 2, "size of a half");
    OK(MPI_Barrier(other));
    OK(MPI_Comm_disconnect(&other));
}

static void attributes(MPI_Comm comm)
{
    int flag = -1, *value = NULL;
    OK(MPI_Comm_get_attr(comm, MPI_TAG_UB, &value, &flag));
    CHECK(flag && *value >= 32767, "MPI_TAG_UB is %d", flag ? *value : -1);
    OK(MPI_Comm_get_attr(comm, MPI_WTIME_IS_GLOBAL, &value, &flag));
    SAME(flag, 0, "MPI_WTIME_IS_GLOBAL in the Sessions Model");
}

int main(void)
{
    int level = -1, flag = -1;
    always();
    for (int round = 0; round < 4; round++) {
        MPI_Session a = MPI_SESSION_NULL, b = MPI_SESSION_NULL;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &a));
        CHECK(a != MPI_SESSION_NULL, "a session is MPI_SESSION_NULL");
        SAME(initialized(), 0, "initialized is about the World Model");
        psets(a);
        MPI_Comm of_a = make(a, "mpi://WORLD", "org.example.a");
        OK(MPI_Comm_rank(of_a, &rank));
        OK(MPI_Comm_size(of_a, &size));
        attributes(of_a);
        traffic(of_a);
        OK(MPI_Query_thread(&level));
        CHECK(level >= MPI_THREAD_SINGLE && level <= MPI_THREAD_MULTIPLE, "level %d", level);
        OK(MPI_Is_thread_main(&flag));
        SAME(flag, 1, "main thread");
        /* A second one beside it; each may go first. */
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &b));
        CHECK(a != b, "two sessions with one handle");
        MPI_Comm of_b = make(b, "mpi://WORLD", "org.example.b"), alone = make(b, "mpi://SELF", "org.example.b");
        traffic(of_b);
        traffic(of_a);
        traffic(alone);
        always();
        if (round % 2) {
            OK(MPI_Comm_free(&of_a));
            OK(MPI_Session_finalize(&a));
            traffic(of_b);
            OK(MPI_Comm_disconnect(&of_b));
            OK(MPI_Comm_free(&alone));
            OK(MPI_Session_finalize(&b));
        } else {
            OK(MPI_Comm_disconnect(&of_b));
            OK(MPI_Comm_free(&alone));
            OK(MPI_Session_finalize(&b));
            traffic(of_a);
            OK(MPI_Comm_free(&of_a));
            OK(MPI_Session_finalize(&a));
        }
        CHECK(a == MPI_SESSION_NULL && b == MPI_SESSION_NULL, "handles after MPI_Session_finalize");
        always();
    }
    SAME(initialized(), 0, "initialized at the end");
    if (rank == 0)
        printf("ok\n");
    return 0;
}
