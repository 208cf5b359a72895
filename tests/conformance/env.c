/* ranks: 1 2 4 */
/* MPI-5.0 9.1 Implementation Information, 9.2 Memory Allocation, 9.4, 9.5 Error Codes and Classes, 9.6 Timers,
 * 11.2 The World Model. With one rank also as a singleton, started without a launcher. */
#include "check.h"

static void before_init(void)
{
    int flag = -1, version, subversion, length;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    OK(MPI_Initialized(&flag));
    SAME(flag, 0, "initialized before MPI_Init");
    OK(MPI_Finalized(&flag));
    SAME(flag, 0, "finalized before MPI_Init");
    OK(MPI_Get_version(&version, &subversion));
    CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION, "version %d.%d, header %d.%d", version, subversion,
          MPI_VERSION, MPI_SUBVERSION);
    OK(MPI_Get_library_version(text, &length));
    CHECK(length > 0 && (size_t)length == strlen(text), "library version of length %d: %s", length, text);
}

static void names_and_time(void)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length = -1;
    OK(MPI_Get_processor_name(name, &length));
    CHECK(length > 0 && (size_t)length == strlen(name), "processor name of length %d", length);
    double a = MPI_Wtime(), tick = MPI_Wtick();
    CHECK(tick > 0 && tick < 1, "wtick is %g", tick);
    for (int i = 0; i < 1000; i++) {
        double b = MPI_Wtime();
        CHECK(b >= a, "wtime went back from %.9f to %.9f", a, b);
        a = b;
    }
}

static void memory(void)
{
    for (size_t bytes = 0; bytes < 10000000; bytes = bytes * 7 + 1) {
        char *p = NULL;
        OK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &p));
        if (bytes) {
            CHECK(p && (uintptr_t)p % sizeof(double) == 0, "alloc_mem gave %p", (void *)p);
            memset(p, 1, bytes);
            OK(MPI_Sendrecv(p, (int)(bytes / 2), MPI_BYTE, rank, 1, p + bytes / 2, (int)(bytes / 2), MPI_BYTE, rank, 1,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        OK(MPI_Free_mem(p));
    }
}

/* Every class has a string and is its own class; user classes, codes and strings come after. */
static void errors(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int length, class, code, other, *last, flag;
    static const int classes[] = { MPI_SUCCESS, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TAG, MPI_ERR_COMM, MPI_ERR_RANK,
        MPI_ERR_REQUEST, MPI_ERR_ROOT, MPI_ERR_GROUP, MPI_ERR_OP, MPI_ERR_TOPOLOGY, MPI_ERR_DIMS, MPI_ERR_ARG, MPI_ERR_UNKNOWN,
        MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN, MPI_ERR_PENDING, MPI_ERR_IN_STATUS, MPI_ERR_NO_MEM, MPI_ERR_KEYVAL,
        MPI_ERR_INFO, MPI_ERR_INFO_KEY, MPI_ERR_INFO_VALUE, MPI_ERR_INFO_NOKEY, MPI_ERR_SPAWN, MPI_ERR_WIN, MPI_ERR_FILE,
        MPI_ERR_UNSUPPORTED_OPERATION, MPI_ERR_SESSION };
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
        OK(MPI_Error_class(classes[k], &class));
        SAME(class, classes[k], "class of a class");
        length = -1;
        OK(MPI_Error_string(classes[k], text, &length));
        CHECK(length > 0 && length < MPI_MAX_ERROR_STRING && (size_t)length == strlen(text), "string of class %d", classes[k]);
    }
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE, "a new class is %d, not above MPI_ERR_LASTCODE", class);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last >= class, "MPI_LASTUSEDCODE is %d after class %d was added", *last, class);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Error_class(code, &other));
    SAME(other, class, "class of a new code");
    OK(MPI_Error_string(code, text, &length));
    SAME(length, 0, "string of a new code");
    OK(MPI_Add_error_string(code, "my failure"));
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "my failure") == 0 && length == 10, "string of a new code: %s", text);
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));
}

int main(int argc, char **argv)
{
    int provided = -1, flag = -1, level;
    before_init();
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(MPI_THREAD_SINGLE < MPI_THREAD_FUNNELED && MPI_THREAD_FUNNELED < MPI_THREAD_SERIALIZED
              && MPI_THREAD_SERIALIZED < MPI_THREAD_MULTIPLE,
          "thread levels are not ordered");
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "provided level is %d", provided);
    OK(MPI_Query_thread(&level));
    SAME(level, provided, "query_thread");
    OK(MPI_Is_thread_main(&flag));
    SAME(flag, 1, "is_thread_main");
    OK(MPI_Initialized(&flag));
    SAME(flag, 1, "initialized");
    OK(MPI_Finalized(&flag));
    SAME(flag, 0, "finalized");
    CHECK(rank >= 0 && rank < size, "rank %d of %d", rank, size);
    names_and_time();
    memory();
    errors();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int r = rank;
    OK(MPI_Finalize());
    MPI_Initialized(&flag);
    if (flag != 1) {
        fprintf(stderr, "MPI_Initialized is %d after MPI_Finalize\n", flag);
        return 1;
    }
    MPI_Finalized(&flag);
    if (flag != 1) {
        fprintf(stderr, "MPI_Finalized is %d after MPI_Finalize\n", flag);
        return 1;
    }
    if (r == 0)
        printf("ok\n");
    return 0;
}
