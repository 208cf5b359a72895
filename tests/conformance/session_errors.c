/* ranks: 1 2 singleton */
/* MPI-5.0 9.3 and 9.5 error handlers of sessions, 11.3 argument checks, 7.4.2 errors of MPI_Comm_create_from_group, 11.3.1 objects that
 * are left at MPI_Session_finalize. */
#include "check.h"

static int calls, last_code;
static MPI_Session last_session;
static MPI_Comm last_comm;

static void of_session(MPI_Session *session, int *code, ...)
{
    calls++;
    last_session = *session;
    last_code = *code;
}

static void of_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    last_code = *code;
}

static void heard(MPI_Session session, int class, const char *what)
{
    int got = -1;
    SAME(calls, 1, what);
    CHECK(last_session == session, "%s: the handler got another session", what);
    OK(MPI_Error_class(last_code, &got));
    SAME(got, class, what);
    calls = 0;
}

static void handlers(void)
{
    MPI_Errhandler mine = MPI_ERRHANDLER_NULL, other, get;
    MPI_Session s;
    MPI_Group group;
    MPI_Info info;
    int n, length;
    char name[MPI_MAX_PSET_NAME_LEN];
    OK(MPI_Session_create_errhandler(of_session, &mine));
    OK(MPI_Session_init(MPI_INFO_NULL, mine, &s));
    OK(MPI_Session_get_errhandler(s, &get));
    CHECK(get == mine, "the handler of a session is not the one that MPI_Session_init got");
    OK(MPI_Errhandler_free(&get));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Session_call_errhandler(s, MPI_ERR_OTHER));
    heard(s, MPI_ERR_OTHER, "MPI_Session_call_errhandler");
    FAILS(MPI_ERR_ARG, MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 1000, (length = 10, &length), name));
    heard(s, MPI_ERR_ARG, "process set 1000");
    FAILS(MPI_ERR_ARG, MPI_Session_get_nth_pset(s, MPI_INFO_NULL, -1, (length = 10, &length), name));
    heard(s, MPI_ERR_ARG, "process set -1");
    FAILS(MPI_ERR_ARG, MPI_Session_get_pset_info(s, "mpi://NOWHERE", &info));
    heard(s, MPI_ERR_ARG, "info of a set that is none");
    /* 11.3.2: no error, and no group. */
    group = MPI_GROUP_EMPTY;
    OK(MPI_Group_from_session_pset(s, "mpi://NOWHERE", &group));
    CHECK(group == MPI_GROUP_NULL, "a set that is none gave a group");
    SAME(calls, 0, "group of a set that is none");
    FAILS(MPI_ERR_ARG, MPI_Session_get_num_psets(s, MPI_INFO_NULL, NULL));
    heard(s, MPI_ERR_ARG, "null result");
    FAILS(MPI_ERR_ARG, MPI_Session_get_info(s, NULL));
    heard(s, MPI_ERR_ARG, "null info result");
    FAILS(MPI_ERR_ARG, MPI_Group_from_session_pset(s, NULL, &group));
    heard(s, MPI_ERR_ARG, "null name");
    /* A handler for communicators does not fit. */
    OK(MPI_Comm_create_errhandler(of_comm, &other));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Session_set_errhandler(s, other));
    heard(s, MPI_ERR_ERRHANDLER, "handler of another kind");
    OK(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ARG, MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 1000, (length = 10, &length), name));
    SAME(calls, 0, "MPI_ERRORS_RETURN");
    OK(MPI_Session_get_errhandler(s, &get));
    CHECK(get == MPI_ERRORS_RETURN, "the handler is not MPI_ERRORS_RETURN");

    /* Errors of the creation go to the handler that the communicator would have had. */
    MPI_Comm c = MPI_COMM_NULL;
    char tag[MPI_MAX_STRINGTAG_LEN + 10];
    memset(tag, 'x', sizeof tag);
    tag[sizeof tag - 1] = 0;
    OK(MPI_Group_from_session_pset(s, "mpi://SELF", &group));
    last_comm = (MPI_Comm)0;
    FAILS(MPI_ERR_ARG, MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, other, &c));
    CHECK(calls == 1 && last_comm == MPI_COMM_NULL, "a string tag that is too long: %d calls of the handler", calls);
    calls = 0;
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, other, &c));
    FAILS(MPI_ERR_ARG, MPI_Comm_create_from_group(group, NULL, MPI_INFO_NULL, other, &c));
    FAILS(MPI_ERR_ARG, MPI_Comm_create_from_group(group, "t", MPI_INFO_NULL, other, NULL));
    SAME(calls, 3, "errors of MPI_Comm_create_from_group");
    calls = 0;
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "t", MPI_INFO_NULL, other, &c));
    CHECK(c == MPI_COMM_NULL, "the empty group gave a communicator");
    OK(MPI_Comm_create_from_group(group, "t", MPI_INFO_NULL, other, &c));
    FAILS(MPI_ERR_RANK, MPI_Send(NULL, 0, MPI_INT, 1, 0, c));
    CHECK(calls == 1 && last_comm == c, "the handler of the new communicator: %d calls", calls);
    calls = 0;
    OK(MPI_Comm_free(&c));
    OK(MPI_Errhandler_free(&other));
    OK(MPI_Group_free(&group));

    /* A string for the level that is none. */
    OK(MPI_Session_create_errhandler(of_session, &mine));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MANY"));
    MPI_Session t = s;
    FAILS(MPI_ERR_INFO_VALUE, MPI_Session_init(info, mine, &t));
    heard(MPI_SESSION_NULL, MPI_ERR_INFO_VALUE, "thread level");
    OK(MPI_Info_free(&info));
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
    OK(MPI_Session_finalize(&s));
    CHECK(s == MPI_SESSION_NULL, "the handle after MPI_Session_finalize");
}

/* Objects that are left do not stand in the way of anything, and are not touched again. */
static int delete_never(MPI_Comm comm, int key, void *value, void *extra)
{
    (*(int *)extra)++;
    return MPI_SUCCESS;
}

static void left_behind(int round)
{
    static int deleted;
    MPI_Session s;
    MPI_Group group, sub;
    MPI_Comm c, d;
    MPI_Datatype pair;
    int key, zero = 0, me, n, sum;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    OK(MPI_Group_incl(group, 1, &zero, &sub));
    OK(MPI_Comm_create_from_group(group, "left", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    OK(MPI_Comm_rank(c, &me));
    OK(MPI_Comm_size(c, &n));
    rank = me, size = n;
    OK(MPI_Comm_split(c, 0, -me, &d));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_never, &key, &deleted));
    OK(MPI_Comm_set_attr(d, key, NULL));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    int two[2] = { me, round }, got[2] = { -1, -1 };
    OK(MPI_Sendrecv(two, 1, pair, n - 1 - me, 3, got, 1, pair, n - 1 - me, 3, d, MPI_STATUS_IGNORE));
    SAME(got[1], round, "round");
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, d));
    OK(MPI_Session_finalize(&s));
    SAME(deleted, 0, "delete callbacks of a communicator that was left");
    /* A datatype is not derived from a session. */
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    OK(MPI_Type_free(&pair));
    OK(MPI_Session_finalize(&s));
}

int main(void)
{
    handlers();
    for (int round = 0; round < 50; round++)
        left_behind(round);
    if (rank == 0)
        printf("ok\n");
    return 0;
}
