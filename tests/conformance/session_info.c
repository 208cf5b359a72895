/* ranks: 1 2 singleton */
/* MPI-5.0 11.3.1 info of a session: thread_level; 11.4.3 mpi_memory_alloc_kinds. */
#include "check.h"

static const char *get(MPI_Info info, const char *key, char *value, int length)
{
    int flag;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    return flag ? value : NULL;
}

static void with(const char *key, const char *asked, const char *must_have)
{
    char value[1024];
    MPI_Info info = MPI_INFO_NULL, used;
    MPI_Session s;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "org.example.unknown", "whatever"));
    if (asked)
        OK(MPI_Info_set(info, key, asked));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
    OK(MPI_Info_free(&info));
    OK(MPI_Session_get_info(s, &used));
    const char *got = get(used, key, value, sizeof value);
    CHECK(got, "no %s in the info of a session", key);
    char list[1100], want[1100];
    snprintf(list, sizeof list, ",%s,", got);
    snprintf(want, sizeof want, ",%s,", must_have);
    CHECK(strstr(list, want), "%s is '%s' where '%s' was asked for; it lacks '%s'", key, got, asked ? asked : "nothing", must_have);
    CHECK(!strstr(list, ":nonsense"), "%s is '%s'", key, got);
    OK(MPI_Info_free(&used));
    OK(MPI_Session_finalize(&s));
}

int main(void)
{
    static const char *levels[] = { "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE" };
    for (int k = 0; k < 4; k++) {
        char value[64];
        int level = -1;
        MPI_Session s;
        MPI_Info info, used;
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "thread_level", levels[k]));
        OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
        OK(MPI_Info_free(&info));
        OK(MPI_Session_get_info(s, &used));
        const char *got = get(used, "thread_level", value, sizeof value);
        CHECK(got && strncmp(got, "MPI_THREAD_", 11) == 0, "thread_level is %s", got ? got : "not there");
        OK(MPI_Query_thread(&level));
        CHECK(level >= MPI_THREAD_SINGLE + k || strcmp(got, levels[k]), "level %d where %s was granted", level, levels[k]);
        OK(MPI_Info_free(&used));
        OK(MPI_Session_finalize(&s));
    }
    with("mpi_memory_alloc_kinds", NULL, "system");
    with("mpi_memory_alloc_kinds", NULL, "mpi");
    with("mpi_memory_alloc_kinds", "system,mpi", "system");
    with("mpi_memory_alloc_kinds", "system,mpi", "mpi");
    with("mpi_memory_alloc_kinds", "mpi:alloc_mem,system", "mpi:alloc_mem");
    with("mpi_memory_alloc_kinds", "system,org.example.none,org.example.none:nonsense", "system");
    printf("ok\n");
    return 0;
}
