/* ranks: 1 2 timeout: 60 */
/* MPI-5.0 15.3.8 Events: every event type can be looked at, registered and freed; the callback of a type that happens is called with an
 * instance that can be read, copied, and asked for its time and source; what is wrong is refused with its code. The types
 * error_raised and unexpected_message are those of one implementation; where they are missing, only the general part runs. */
#include "check.h"

enum { ROOM = 4096, MOST = 64 };

#define GIVES(code, call)                                                                      \
    do {                                                                                       \
        int gives_code_ = (call);                                                              \
        CHECK(gives_code_ == (code), "%s gave %d, not %s", #call, gives_code_, #code);          \
    } while (0)

static char name[ROOM], desc[ROOM], item[ROOM];

static int told, freed, last_code, last_source, last_tag;
static unsigned long long last_bytes;
static MPI_Count last_time;
static MPI_T_event_instance last_instance;
static int value_given;

static void general_callback(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                             void *user_data)
{
    (void)instance, (void)registration, (void)safety, (void)user_data;
}

static void free_callback(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)registration, (void)safety;
    CHECK(user_data == &freed, "free callback: user data");
    freed++;
}

static size_t bytes_of(MPI_Datatype type)
{
    int n;
    OK(MPI_Type_size(type, &n));
    return (size_t)n;
}

static void sources(int n)
{
    for (int i = 0; i < n; i++) {
        int name_length = ROOM, desc_length = ROOM;
        MPI_T_source_order order;
        MPI_Count ticks = 0, most = 0, first = -1, second = -1;
        MPI_Info info = MPI_INFO_NULL;
        OK(MPI_T_source_get_info(i, name, &name_length, desc, &desc_length, &order, &ticks, &most, &info));
        CHECK(name_length > 1 && (size_t)name_length == strlen(name) + 1, "source %d has the name \"%s\"", i, name);
        CHECK(order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED, "%s: order %d", name, (int)order);
        CHECK(ticks >= 0 && most >= 0, "%s: %lld ticks, at most %lld", name, (long long)ticks, (long long)most);
        if (info != MPI_INFO_NULL)
            OK(MPI_Info_free(&info));
        OK(MPI_T_source_get_timestamp(i, &first));
        OK(MPI_T_source_get_timestamp(i, &second));
        CHECK(first >= 0 && second >= first, "%s: time goes from %lld to %lld", name, (long long)first, (long long)second);
    }
    MPI_Count stamp;
    GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_timestamp(n, &stamp));
    GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_timestamp(-1, &stamp));
}

static void types(int n)
{
    for (int i = 0; i < n; i++) {
        int name_length = ROOM, desc_length = ROOM, verbosity, elements = MOST, bind, other = -1, items = -1;
        MPI_Datatype kinds[MOST];
        MPI_Aint at[MOST], end = 0;
        MPI_T_enum names;
        MPI_Info info = MPI_INFO_NULL;
        OK(MPI_T_event_get_info(i, name, &name_length, &verbosity, kinds, at, &elements, &names, &info, desc, &desc_length, &bind));
        CHECK(name_length > 1 && desc_length >= 1, "event %d has no name", i);
        if (info != MPI_INFO_NULL)
            OK(MPI_Info_free(&info));
        OK(MPI_T_event_get_index(name, &other));
        SAME(other, i, name);
        CHECK(elements >= 0 && elements <= MOST, "%s has %d elements", name, elements);
        for (int k = 0; k < elements; k++) {
            CHECK(at[k] >= end, "%s: element %d lies at %ld, in the one before", name, k, (long)at[k]);
            end = at[k] + (MPI_Aint)bytes_of(kinds[k]);
        }
        if (names != MPI_T_ENUM_NULL) {
            OK(MPI_T_enum_get_info(names, &items, NULL, NULL));
            for (int k = 0; k < items; k++) {
                int length = ROOM, value = -1;
                OK(MPI_T_enum_get_item(names, k, &value, item, &length));
                CHECK(length > 1, "%s: element %d has no name", name, k);
            }
            GIVES(MPI_T_ERR_INVALID_ITEM, MPI_T_enum_get_item(names, items, &other, item, NULL));
            GIVES(MPI_T_ERR_INVALID_ITEM, MPI_T_enum_get_item(names, -1, &other, item, NULL));
        }
        /* Room for less than all elements. */
        if (elements > 1) {
            int few = 1;
            kinds[1] = MPI_DATATYPE_NULL;
            OK(MPI_T_event_get_info(i, NULL, NULL, NULL, kinds, at, &few, NULL, NULL, NULL, NULL, NULL));
            SAME(few, elements, name);
            CHECK(kinds[1] == MPI_DATATYPE_NULL, "%s: more elements were written than there is room for", name);
        }
        if (bind != MPI_T_BIND_NO_OBJECT)
            continue;
        MPI_T_event_registration r;
        OK(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r));
        GIVES(MPI_T_ERR_INVALID, MPI_T_event_register_callback(r, (MPI_T_cb_safety)1, MPI_INFO_NULL, NULL, general_callback));
        OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, NULL, general_callback));
        OK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL));
        OK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &info));
        OK(MPI_Info_free(&info));
        OK(MPI_T_event_handle_set_info(r, MPI_INFO_NULL));
        OK(MPI_T_event_handle_get_info(r, &info));
        OK(MPI_Info_free(&info));
        OK(MPI_T_event_set_dropped_handler(r, NULL));
        freed = 0;
        OK(MPI_T_event_handle_free(r, &freed, free_callback));
        SAME(freed, 1, "calls of the free callback");
        GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_free(r, NULL, NULL));
        GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_get_info(r, &info));
    }
    int other;
    MPI_T_event_registration r;
    GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &r));
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_event_get_index("there is no such event", &other));
}

static void error_callback(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *user_data)
{
    (void)registration, (void)safety;
    int source = -1, code = -1;
    CHECK(user_data == &told, "user data");
    OK(MPI_T_event_read(instance, 0, &last_code));
    OK(MPI_T_event_copy(instance, &code));
    SAME(code, last_code, "copy and read");
    GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_event_read(instance, 99, &code));
    OK(MPI_T_event_get_source(instance, &source));
    OK(MPI_T_event_get_timestamp(instance, &last_time));
    CHECK(source >= 0 && last_time > 0, "source %d, time %lld", source, (long long)last_time);
    last_instance = instance;
    told++;
}

static void errors(void)
{
    int at, v = 0;
    MPI_Count before, after;
    MPI_T_event_registration r;
    if (MPI_T_event_get_index("error_raised", &at) != MPI_SUCCESS)
        return;
    OK(MPI_T_event_handle_alloc(at, NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &told, error_callback));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int i = 1; i <= 3; i++) {
        OK(MPI_T_source_get_timestamp(0, &before));
        FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, -77, MPI_COMM_WORLD));
        OK(MPI_Comm_rank(MPI_COMM_WORLD, &v)); /* wherever the implementation tells it */
        OK(MPI_T_source_get_timestamp(0, &after));
        SAME(told, i, "calls of the callback");
        SAME(last_code, MPI_ERR_TAG, "code of the event");
        CHECK(before <= last_time && last_time <= after, "the event's time is not that of the call");
    }
    GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_read(last_instance, 0, &v)); /* the callback is over */
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
    FAILS(MPI_ERR_TAG, MPI_Send(&v, 1, MPI_INT, 0, -77, MPI_COMM_WORLD));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &v));
    SAME(told, 3, "a callback that was taken away");
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void message_callback(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                             void *user_data)
{
    (void)registration, (void)safety, (void)user_data;
    int tag = -1;
    OK(MPI_T_event_read(instance, 1, &tag));
    if (tag != 4321)
        return;
    last_tag = tag;
    OK(MPI_T_event_read(instance, 0, &last_source));
    OK(MPI_T_event_read(instance, 2, &last_bytes));
    value_given++;
}

/* One message that comes before its receive. */
static void unexpected(void)
{
    char data[100] = { 0 };
    int at, peer = size - 1 - rank;
    MPI_T_event_registration r;
    MPI_Request request;
    if (MPI_T_event_get_index("unexpected_message", &at) != MPI_SUCCESS)
        return;
    OK(MPI_T_event_handle_alloc(at, NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL, message_callback));
    OK(MPI_Isend(data, 100, MPI_BYTE, peer, 4321, MPI_COMM_WORLD, &request));
    OK(MPI_Probe(peer, 4321, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Recv(data, 100, MPI_BYTE, peer, 4321, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    SAME(value_given, 1, "events of one message");
    SAME(last_source, peer, "its source");
    SAME(last_bytes, 100, "its bytes");
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}

int main(int argc, char **argv)
{
    int provided, n = -1, s = -1;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    check_begin(&argc, &argv);
    OK(MPI_T_event_get_num(&n));
    OK(MPI_T_source_get_num(&s));
    sources(s);
    types(n);
    errors();
    unexpected();
    /* What is left registered goes with the last MPI_T_finalize. */
    if (n > 0) {
        MPI_T_event_registration left;
        OK(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &left));
        OK(MPI_T_event_register_callback(left, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, general_callback));
        OK(MPI_T_finalize());
        OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_free(left, NULL, NULL));
    }
    OK(MPI_T_finalize());
    return check_end();
}
