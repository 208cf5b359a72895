/* ranks: 1 */
/* MPI-5.0 15.3.10 Return Codes for the MPI Tool Information Interface: indices, handles and sessions that do not exist are refused with
 * their code, and no error handler runs. MPI_T_PVAR_ALL_HANDLES stands for all handles of a session. */
#include "check.h"

#define GIVES(code, call)                                                                      \
    do {                                                                                       \
        int gives_code_ = (call);                                                              \
        CHECK(gives_code_ == (code), "%s gave %d, not %s", #call, gives_code_, #code);          \
    } while (0)

static int value[4096];

static void indices(void)
{
    int cvars, pvars, categories, events, sources, count, n;
    MPI_Count ticks;
    MPI_T_cvar_handle cvar;
    MPI_T_pvar_handle pvar;
    MPI_T_pvar_session session;
    MPI_T_event_registration registration;
    OK(MPI_T_cvar_get_num(&cvars));
    OK(MPI_T_pvar_get_num(&pvars));
    OK(MPI_T_category_get_num(&categories));
    OK(MPI_T_event_get_num(&events));
    OK(MPI_T_source_get_num(&sources));
    OK(MPI_T_pvar_session_create(&session));
    int bad[2] = { -1, 0 };
    for (int i = 0; i < 2; i++) {
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_handle_alloc(bad[i] + i * cvars, NULL, &cvar, &count));
        GIVES(MPI_T_ERR_INVALID_INDEX,
              MPI_T_cvar_get_info(bad[i] + i * cvars, NULL, NULL, &n, NULL, NULL, NULL, NULL, NULL, NULL));
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_handle_alloc(session, bad[i] + i * pvars, NULL, &pvar, &count));
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_get_info(bad[i] + i * pvars, NULL, NULL, &n, NULL, NULL, NULL, NULL, NULL,
                                                           NULL, NULL, NULL, NULL));
        GIVES(MPI_T_ERR_INVALID_INDEX,
              MPI_T_category_get_info(bad[i] + i * categories, NULL, NULL, NULL, NULL, &n, NULL, NULL));
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_cvars(bad[i] + i * categories, 1, &n));
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_pvars(bad[i] + i * categories, 1, &n));
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_categories(bad[i] + i * categories, 1, &n));
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_event_handle_alloc(bad[i] + i * events, NULL, MPI_INFO_NULL, &registration));
        GIVES(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_timestamp(bad[i] + i * sources, &ticks));
    }
    OK(MPI_T_pvar_session_free(&session));
}

static void handles(void)
{
    int n;
    MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL, first, second;
    GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_read(cvar, value));
    GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_write(cvar, value));
    GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_handle_free(&cvar));
    GIVES(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    GIVES(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_session_free(&session));
    OK(MPI_T_pvar_session_create(&first));
    OK(MPI_T_pvar_session_create(&second));
    GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(first, pvar, value));
    GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(first, MPI_T_PVAR_ALL_HANDLES, value));
    GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_free(first, &pvar));
    OK(MPI_T_pvar_get_num(&n));
    for (int i = 0, count; i < n; i++) {
        if (MPI_T_pvar_handle_alloc(first, i, NULL, &pvar, &count) != MPI_SUCCESS)
            continue;
        /* Handles that cannot be started or reset are passed over. */
        OK(MPI_T_pvar_start(first, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_stop(first, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_reset(first, MPI_T_PVAR_ALL_HANDLES));
        MPI_T_pvar_handle copy = pvar;
        GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_start(second, pvar));
        GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_free(second, &copy));
        copy = pvar;
        OK(MPI_T_pvar_handle_free(first, &pvar));
        GIVES(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_free(first, &copy));
    }
    OK(MPI_T_pvar_session_free(&first));
    OK(MPI_T_pvar_session_free(&second));
}

static void names(void)
{
    int n;
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_cvar_get_index("there is no such variable", &n));
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index("there is no such variable", MPI_T_PVAR_CLASS_COUNTER, &n));
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_category_get_index("there is no such category", &n));
    GIVES(MPI_T_ERR_INVALID_NAME, MPI_T_event_get_index("there is no such event", &n));
}

int main(int argc, char **argv)
{
    int provided;
    check_begin(&argc, &argv); /* with MPI_ERRORS_ARE_FATAL */
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    indices();
    handles();
    names();
    OK(MPI_T_finalize());
    GIVES(MPI_T_ERR_NOT_INITIALIZED, MPI_T_finalize());
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    return check_end();
}
