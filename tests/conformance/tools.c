/* ranks: 1 2 */
/* MPI-5.0 15.3 The MPI Tool Information Interface: it works before MPI_Init and after MPI_Finalize, everything it lists can be
 * looked at, and names and indices agree. Nothing is assumed about which variables exist. */
#include "check.h"

enum { ROOM = 4096 };

/* Errors of this interface are codes of its own: no error handler, no class. */
#define GIVES(code, call)                                                                      \
    do {                                                                                       \
        int gives_code_ = (call);                                                              \
        CHECK(gives_code_ == (code), "%s gave %d, not %s", #call, gives_code_, #code);          \
    } while (0)

static char name[ROOM], desc[ROOM], again[ROOM];

static size_t bytes_of(MPI_Datatype type, int count)
{
    if (type == MPI_CHAR)
        return (size_t)count;
    CHECK(type == MPI_INT || type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG
              || type == MPI_COUNT || type == MPI_DOUBLE || type == MPI_INT32_T || type == MPI_INT64_T
              || type == MPI_UINT32_T || type == MPI_UINT64_T,
          "a variable has a datatype that 15.3.5 does not allow");
    return (size_t)count * 16;
}

static void a_string(const char *text, int length, const char *what)
{
    CHECK(length >= 1 && length <= ROOM && (size_t)length == strlen(text) + 1, "%s: length %d, text of %zu bytes", what, length,
          strlen(text));
}

static void is_level(int verbosity)
{
    CHECK(verbosity == MPI_T_VERBOSITY_USER_BASIC || verbosity == MPI_T_VERBOSITY_USER_DETAIL
              || verbosity == MPI_T_VERBOSITY_USER_ALL || verbosity == MPI_T_VERBOSITY_TUNER_BASIC
              || verbosity == MPI_T_VERBOSITY_TUNER_DETAIL || verbosity == MPI_T_VERBOSITY_TUNER_ALL
              || verbosity == MPI_T_VERBOSITY_MPIDEV_BASIC || verbosity == MPI_T_VERBOSITY_MPIDEV_DETAIL
              || verbosity == MPI_T_VERBOSITY_MPIDEV_ALL,
          "%s: verbosity %d", name, verbosity);
}

static void enumeration(MPI_T_enum e)
{
    int n = -1, length = ROOM, value;
    OK(MPI_T_enum_get_info(e, &n, again, &length));
    a_string(again, length, "name of an enumeration");
    CHECK(n > 0, "enumeration %s has %d items", again, n);
    for (int i = 0; i < n; i++) {
        length = ROOM;
        OK(MPI_T_enum_get_item(e, i, &value, again, &length));
        a_string(again, length, "name of an item");
    }
}

/* Reads every control variable, and writes back what it read where that is allowed now. */
static void control_variables(void)
{
    int n = -1, count, verbosity, bind, scope, name_length, desc_length, other;
    MPI_Datatype type;
    MPI_T_enum e;
    MPI_T_cvar_handle handle;
    OK(MPI_T_cvar_get_num(&n));
    CHECK(n >= 0, "%d control variables", n);
    for (int i = 0; i < n; i++) {
        name_length = desc_length = ROOM;
        OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &e, desc, &desc_length, &bind, &scope));
        a_string(name, name_length, "name of a control variable");
        CHECK(name_length > 1, "control variable %d has no name", i);
        a_string(desc, desc_length, name);
        is_level(verbosity);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "%s: scope %d", name, scope);
        OK(MPI_T_cvar_get_index(name, &other));
        SAME(other, i, name);
        if (e != MPI_T_ENUM_NULL) {
            CHECK(type == MPI_INT, "%s has an enumeration and is no int", name);
            enumeration(e);
        }
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &count));
        CHECK(count >= 1 && handle != MPI_T_CVAR_HANDLE_NULL, "%s: %d elements", name, count);
        char *value = check_alloc(bytes_of(type, count));
        OK(MPI_T_cvar_read(handle, value));
        if (type == MPI_CHAR)
            CHECK(memchr(value, 0, (size_t)count), "%s: a text without end", name);
        int code = MPI_T_cvar_write(handle, value);
        CHECK(code == MPI_SUCCESS || code == MPI_T_ERR_CVAR_SET_NOT_NOW || code == MPI_T_ERR_CVAR_SET_NEVER,
              "%s: writing gave %d", name, code);
        if (scope == MPI_T_SCOPE_CONSTANT)
            CHECK(code != MPI_SUCCESS, "%s is constant, and was written", name);
        free(value);
        OK(MPI_T_cvar_handle_free(&handle));
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL, "cvar_handle_free leaves the handle");
    }
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_cvar_get_index("there is no such variable", &other));
}

static void performance_variables(void)
{
    int n = -1, count, verbosity, class, bind, readonly, continuous, atomic, name_length, desc_length, other;
    MPI_Datatype type;
    MPI_T_enum e;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    OK(MPI_T_pvar_get_num(&n));
    OK(MPI_T_pvar_session_create(&session));
    for (int i = 0; i < n; i++) {
        name_length = desc_length = ROOM;
        OK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &e, desc, &desc_length, &bind, &readonly,
                               &continuous, &atomic));
        a_string(name, name_length, "name of a performance variable");
        a_string(desc, desc_length, name);
        is_level(verbosity);
        CHECK(class >= MPI_T_PVAR_CLASS_STATE && class <= MPI_T_PVAR_CLASS_GENERIC, "%s: class %d", name, class);
        OK(MPI_T_pvar_get_index(name, class, &other));
        SAME(other, i, name);
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        int code = MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count);
        if (code == MPI_T_ERR_NOT_ACCESSIBLE)
            continue;
        OK(code);
        CHECK(count >= 0 && handle != MPI_T_PVAR_HANDLE_NULL && handle != MPI_T_PVAR_ALL_HANDLES, "%s: handle", name);
        if (continuous) {
            GIVES(MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_pvar_start(session, handle));
            GIVES(MPI_T_ERR_PVAR_NO_STARTSTOP, MPI_T_pvar_stop(session, handle));
        } else {
            OK(MPI_T_pvar_start(session, handle));
        }
        char *value = check_alloc(bytes_of(type, count));
        OK(MPI_T_pvar_read(session, handle, value));
        if (type == MPI_CHAR)
            CHECK(memchr(value, 0, (size_t)count), "%s: a text without end", name);
        if (readonly) {
            GIVES(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_write(session, handle, value));
            GIVES(MPI_T_ERR_PVAR_NO_WRITE, MPI_T_pvar_reset(session, handle));
        } else {
            OK(MPI_T_pvar_write(session, handle, value));
            OK(MPI_T_pvar_reset(session, handle));
        }
        if (!continuous)
            OK(MPI_T_pvar_stop(session, handle));
        free(value);
        OK(MPI_T_pvar_handle_free(session, &handle));
        CHECK(handle == MPI_T_PVAR_HANDLE_NULL, "pvar_handle_free leaves the handle");
    }
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index("there is no such variable", MPI_T_PVAR_CLASS_COUNTER, &other));
    OK(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL, "pvar_session_free leaves the handle");
}

static void categories(void)
{
    int n = -1, cvars, pvars, inner, events, name_length, desc_length, other, changed = -1, all, first[64];
    OK(MPI_T_category_get_num(&n));
    OK(MPI_T_category_changed(&changed));
    OK(MPI_T_cvar_get_num(&all));
    for (int i = 0; i < n; i++) {
        name_length = desc_length = ROOM;
        OK(MPI_T_category_get_info(i, name, &name_length, desc, &desc_length, &cvars, &pvars, &inner));
        a_string(name, name_length, "name of a category");
        a_string(desc, desc_length, name);
        OK(MPI_T_category_get_index(name, &other));
        SAME(other, i, name);
        OK(MPI_T_category_get_cvars(i, 64, first));
        for (int k = 0; k < cvars && k < 64; k++)
            CHECK(first[k] >= 0 && first[k] < all, "category %s lists control variable %d of %d", name, first[k], all);
        OK(MPI_T_category_get_pvars(i, 64, first));
        OK(MPI_T_category_get_categories(i, 64, first));
        OK(MPI_T_category_get_num_events(i, &events));
        OK(MPI_T_category_get_events(i, 64, first));
    }
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_category_get_index("there is no such category", &other));
}

static void events(void)
{
    int n = -1, sources = -1, other;
    OK(MPI_T_event_get_num(&n));
    OK(MPI_T_source_get_num(&sources));
    CHECK(n >= 0 && sources >= 0, "%d events of %d sources", n, sources);
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_event_get_index("there is no such event", &other));
}

static void everything(void)
{
    control_variables();
    performance_variables();
    categories();
    events();
}

int main(int argc, char **argv)
{
    int n, provided = -1;
    GIVES(MPI_T_ERR_NOT_INITIALIZED, MPI_T_cvar_get_num(&n));
    GIVES(MPI_T_ERR_NOT_INITIALIZED, MPI_T_pvar_get_num(&n));
    GIVES(MPI_T_ERR_NOT_INITIALIZED, MPI_T_finalize());
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "provided level is %d", provided);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    everything();
    check_begin(&argc, &argv);
    everything();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        printf("ok\n");
    OK(MPI_Finalize());
    OK(MPI_T_cvar_get_num(&n));
    OK(MPI_T_finalize());
    GIVES(MPI_T_ERR_NOT_INITIALIZED, MPI_T_cvar_get_num(&n));
    return 0;
}
