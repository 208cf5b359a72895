/* ranks: 1 2 4 singleton */
/* MPI-5.0 11.2 MPI_Init without arguments, twice, after the end; 11.2.1 MPI_INFO_ENV; 11.2.4 what may still be called while the attributes of
 * MPI_COMM_SELF are deleted; 11.4.1 what works before and after; 11.6.2 the main thread. */
#include "check.h"
#include <pthread.h>

static int callbacks, broken;

static int at_the_end(MPI_Comm comm, int key, void *value, void *extra)
{
    /* Everything works still, also communication. */
    int flag = -1, sum = -1, one = 1;
    if (MPI_Finalized(&flag) || flag)
        broken |= 1;
    if (MPI_Initialized(&flag) || !flag)
        broken |= 2;
    if (comm != MPI_COMM_SELF)
        broken |= 4;
    if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) || sum != size)
        broken |= 8;
    MPI_Comm dup;
    if (MPI_Comm_dup(MPI_COMM_WORLD, &dup) || MPI_Comm_free(&dup))
        broken |= 16;
    callbacks = callbacks * 10 + (int)(intptr_t)value;
    return MPI_SUCCESS;
}

static void *not_main(void *result)
{
    MPI_Is_thread_main(result);
    return NULL;
}

static void anywhere(void)
{
    int flag, class, length;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Info info;
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    OK(MPI_Info_create_env(0, NULL, &info));
    OK(MPI_Info_set(info, "more", "yes"));
    OK(MPI_Info_free(&info));
    OK(MPI_Error_class(MPI_ERR_RANK, &class));
    OK(MPI_Error_string(MPI_ERR_RANK, text, &length));
    OK(MPI_Initialized(&flag));
    OK(MPI_Errhandler_free(&handler));
    MPI_Session s;
    int n;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
    OK(MPI_Session_finalize(&s));
}

int main(void)
{
    int provided = -1, flag = -1, n, level, keys[3];
    anywhere();
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    anywhere();
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_OTHER, MPI_Init(NULL, NULL));
    FAILS(MPI_ERR_OTHER, MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &level));
    FAILS(MPI_ERR_ARG, MPI_Query_thread(NULL));
    OK(MPI_Query_thread(&level));
    SAME(level, provided, "level after a second MPI_Init_thread");

    pthread_t thread;
    if (pthread_create(&thread, NULL, not_main, &flag) == 0) {
        pthread_join(thread, NULL);
        SAME(flag, 0, "another thread is the main one");
    }
    OK(MPI_Is_thread_main(&flag));
    SAME(flag, 1, "main thread");

    /* 11.2.1: the keys that are there have values of their kind. */
    char value[MPI_MAX_INFO_VAL];
    n = sizeof value;
    OK(MPI_Info_get_string(MPI_INFO_ENV, "maxprocs", &n, value, &flag));
    CHECK(!flag || atoi(value) >= size, "maxprocs is %s for %d processes", value, size);
    n = sizeof value;
    OK(MPI_Info_get_string(MPI_INFO_ENV, "command", &n, value, &flag));
    CHECK(!flag || strstr(value, "init_corners"), "command is %s", value);
    n = sizeof value;
    OK(MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &n, value, &flag));
    CHECK(!flag || strncmp(value, "MPI_THREAD_", 11) == 0, "thread_level is %s", value);
    int nkeys;
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &nkeys));
    for (int k = 0; k < nkeys; k++) {
        char key[MPI_MAX_INFO_KEY];
        OK(MPI_Info_get_nthkey(MPI_INFO_ENV, k, key));
        n = 0;
        OK(MPI_Info_get_string(MPI_INFO_ENV, key, &n, value, &flag));
        CHECK(flag && n >= 1, "key %s of MPI_INFO_ENV has no value", key);
    }

    for (int k = 0; k < 3; k++) {
        OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &keys[k], NULL));
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[k], (void *)(intptr_t)(k + 1)));
    }
    /* Things that are left over: not an error. */
    MPI_Comm left;
    MPI_Datatype pair;
    MPI_Group group;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &left));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Comm_group(left, &group));
    int me = rank;
    OK(MPI_Finalize());
    CHECK(callbacks == 321 && broken == 0, "rank %d: callbacks at MPI_Finalize came as %d, not 321; broken: %d", me, callbacks, broken);
    OK(MPI_Finalized(&flag));
    SAME(flag, 1, "finalized");
    anywhere();
    if (me == 0)
        printf("ok\n");
    return 0;
}
