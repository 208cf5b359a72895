/* ranks: 2 4 timeout: 60 */
/* MPI-5.0 15.3.7 Performance Variables: counters of messages and bytes count what goes, for each handle from its own beginning; levels
 * show queues as they are; what is bound to a communicator shows that one. The variables are those of one implementation; the test
 * does not apply where they are missing. */
#include "check.h"

typedef unsigned long long number;

static MPI_T_pvar_session session;

#define GIVES(code, call)                                                                      \
    do {                                                                                       \
        int gives_code_ = (call);                                                              \
        CHECK(gives_code_ == (code), "%s gave %d, not %s", #call, gives_code_, #code);          \
    } while (0)

static MPI_T_pvar_handle handle_of(MPI_T_pvar_session s, const char *name, int class, void *object)
{
    int at, count = 0;
    MPI_T_pvar_handle h;
    int code = MPI_T_pvar_get_index(name, class, &at);
    CHECK(code == MPI_SUCCESS, "there is no variable %s of class %d", name, class);
    OK(MPI_T_pvar_handle_alloc(s, at, object, &h, &count));
    SAME(count, 1, name);
    return h;
}

static number value(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
    number n = 12345;
    OK(MPI_T_pvar_read(s, h, &n));
    return n;
}

static MPI_T_pvar_handle started(const char *name, int class)
{
    MPI_T_pvar_handle h = handle_of(session, name, class, NULL);
    SAME(value(session, h), 0, name);
    OK(MPI_T_pvar_start(session, h));
    return h;
}

static void pair(int bytes, int times)
{
    static char data[1 << 20];
    int peer = rank ^ 1;
    for (int i = 0; i < times; i++) {
        if (rank % 2 == 0)
            OK(MPI_Send(data, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD));
        else
            OK(MPI_Recv(data, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

static void paths(void)
{
    pair(8, 10); /* not counted: nothing is started */
    MPI_T_pvar_handle lines = started("sent_line_messages", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle line_bytes = started("sent_line_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle areas = started("sent_area_messages", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle area_bytes = started("sent_area_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle selves = started("sent_self_messages", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_pvar_handle self_bytes = started("sent_self_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle announced = started("sent_announced_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    number sent = rank % 2 == 0;
    pair(8, 10);
    pair(1000, 3);
    SAME(value(session, lines), 10 * sent, "messages in a line");
    SAME(value(session, line_bytes), 80 * sent, "their bytes");
    SAME(value(session, areas), 3 * sent, "messages in the area");
    SAME(value(session, area_bytes), 3000 * sent, "their bytes");
    pair(1 << 20, 2);
    SAME(value(session, announced), (2 << 20) * sent, "bytes announced");
    char a[16] = { 0 }, b[16];
    OK(MPI_Sendrecv(a, 16, MPI_BYTE, 0, 2, b, 16, MPI_BYTE, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    SAME(value(session, selves), 1, "messages to itself");
    SAME(value(session, self_bytes), 16, "their bytes");
    /* A stopped handle keeps its value; another session has its own. */
    MPI_T_pvar_session other;
    OK(MPI_T_pvar_session_create(&other));
    MPI_T_pvar_handle late = handle_of(other, "sent_line_messages", MPI_T_PVAR_CLASS_COUNTER, NULL);
    OK(MPI_T_pvar_start(other, late));
    OK(MPI_T_pvar_stop(session, lines));
    pair(8, 5);
    SAME(value(session, lines), 10 * sent, "a stopped counter");
    SAME(value(other, late), 5 * sent, "a counter that began later");
    OK(MPI_T_pvar_start(session, lines));
    pair(8, 1);
    SAME(value(session, lines), 11 * sent, "a counter that went on");
    number n = 99;
    OK(MPI_T_pvar_readreset(session, lines, &n));
    SAME(n, 11 * sent, "read and reset");
    SAME(value(session, lines), 0, "after that");
    n = 1000;
    OK(MPI_T_pvar_write(session, lines, &n));
    pair(8, 1);
    SAME(value(session, lines), 1000 + sent, "a counter that was written");
    SAME(value(other, late), 7 * sent, "the other one");
    OK(MPI_T_pvar_session_free(&other));
}

static void queues(void)
{
    int v = 0, peer = rank ^ 1;
    MPI_Comm dup;
    MPI_Request requests[3];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    MPI_T_pvar_handle posted = handle_of(session, "posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL);
    MPI_T_pvar_handle most = handle_of(session, "posted_receives_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, NULL);
    MPI_T_pvar_handle of_dup = handle_of(session, "comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &dup);
    MPI_T_pvar_handle held = handle_of(session, "comm_unexpected_queue", MPI_T_PVAR_CLASS_LEVEL, &dup);
    number before = value(session, posted);
    for (int i = 0; i < 3; i++)
        OK(MPI_Irecv(&v, 1, MPI_INT, peer, 10 + i, i ? dup : MPI_COMM_WORLD, &requests[i]));
    SAME(value(session, posted), before + 3, "posted receives");
    SAME(value(session, of_dup), 2, "posted receives of the duplicate");
    CHECK(value(session, most) >= before + 3, "the most of posted receives is %llu", value(session, most));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 3; i++)
        OK(MPI_Send(&v, 1, MPI_INT, peer, 10 + i, i ? dup : MPI_COMM_WORLD));
    OK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    SAME(value(session, of_dup), 0, "posted receives of the duplicate in the end");
    MPI_T_pvar_handle unexpected = started("unexpected_messages", MPI_T_PVAR_CLASS_COUNTER);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 4; i++)
        OK(MPI_Send(&v, 1, MPI_INT, peer, 20 + i, dup));
    OK(MPI_Recv(&v, 1, MPI_INT, peer, 23, dup, MPI_STATUS_IGNORE)); /* by now the others are here */
    SAME(value(session, held), 3, "messages that came before their receive");
    CHECK(value(session, unexpected) >= 3, "%llu messages were unexpected", value(session, unexpected));
    for (int i = 0; i < 3; i++)
        OK(MPI_Recv(&v, 1, MPI_INT, peer, 20 + i, dup, MPI_STATUS_IGNORE));
    SAME(value(session, held), 0, "messages of the duplicate in the end");
    number n = 0;
    MPI_T_pvar_handle rounds = handle_of(session, "coll_shared_rounds", MPI_T_PVAR_CLASS_COUNTER, &dup);
    OK(MPI_T_pvar_start(session, rounds));
    for (int i = 0; i < 20; i++)
        OK(MPI_Barrier(dup));
    OK(MPI_T_pvar_read(session, rounds, &n));
    CHECK(n <= 20, "%llu rounds for 20 barriers", n);
    OK(MPI_T_pvar_handle_free(session, &rounds));
    OK(MPI_T_pvar_handle_free(session, &of_dup));
    OK(MPI_T_pvar_handle_free(session, &held));
    /* An object is needed, and it must be one. */
    int at, count;
    MPI_T_pvar_handle h;
    MPI_Comm none = MPI_COMM_NULL;
    OK(MPI_T_pvar_get_index("comm_posted_receives", MPI_T_PVAR_CLASS_LEVEL, &at));
    GIVES(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, at, NULL, &h, &count));
    GIVES(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, at, &none, &h, &count));
    OK(MPI_Comm_free(&dup));
}

static void state(void)
{
    int at, count, now = -1, n = 0, length = 64, verbosity, class, bind, readonly, continuous, atomic;
    char text[64];
    MPI_Datatype type;
    MPI_T_enum e;
    MPI_T_pvar_handle h;
    OK(MPI_T_pvar_get_index("phase", MPI_T_PVAR_CLASS_STATE, &at));
    OK(MPI_T_pvar_get_info(at, NULL, NULL, &verbosity, &class, &type, &e, NULL, NULL, &bind, &readonly, &continuous, &atomic));
    CHECK(type == MPI_INT && e != MPI_T_ENUM_NULL && readonly && continuous, "a state");
    OK(MPI_T_pvar_handle_alloc(session, at, NULL, &h, &count));
    OK(MPI_T_pvar_read(session, h, &now));
    OK(MPI_T_enum_get_info(e, &n, NULL, NULL));
    CHECK(now >= 0 && now < n, "state %d of %d", now, n);
    int v;
    OK(MPI_T_enum_get_item(e, now, &v, text, &length));
    CHECK(strcmp(text, "running") == 0, "the state is %s", text);
}

int main(int argc, char **argv)
{
    int provided, at;
    check_begin(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    if (MPI_T_pvar_get_index("sent_line_messages", MPI_T_PVAR_CLASS_COUNTER, &at) != MPI_SUCCESS) {
        if (rank == 0)
            printf("there is no variable sent_line_messages here\n");
        MPI_Finalize();
        return 77;
    }
    OK(MPI_T_pvar_session_create(&session));
    paths();
    queues();
    state();
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    return check_end();
}
