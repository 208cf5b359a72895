/* ranks: 1 2 singleton */
/* MPI-5.0 9.1.3 MPI_Get_hw_resource_info: what it names can be given to MPI_Comm_split_type, and is "true" where all of a process lies in one;
 * 11.4.3 mpi_memory_alloc_kinds of communicators. */
#include "check.h"

int main(void)
{
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MPI_Info hw, used;
    int n = -1, flag, length;
    char key[MPI_MAX_INFO_KEY], value[1024];
    OK(MPI_Get_hw_resource_info(&hw));
    OK(MPI_Info_get_nkeys(hw, &n));
    CHECK(n >= 0, "%d kinds of resources", n);
    for (int k = 0; k < n; k++) {
        MPI_Info hint;
        MPI_Comm part;
        OK(MPI_Info_get_nthkey(hw, k, key));
        length = sizeof value;
        OK(MPI_Info_get_string(hw, key, &length, value, &flag));
        int alone = flag && strcmp(value, "true") == 0;
        CHECK(alone || (flag && strcmp(value, "false") == 0), "%s is %s", key, flag ? value : "not there");
        OK(MPI_Info_create(&hint));
        OK(MPI_Info_set(hint, "mpi_hw_resource_type", key));
        OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, rank, hint, &part));
        CHECK((part != MPI_COMM_NULL) == alone, "%s is %s, but the split by it gives %s communicator", key, value,
              part == MPI_COMM_NULL ? "no" : "a");
        if (part != MPI_COMM_NULL)
            OK(MPI_Comm_free(&part));
        OK(MPI_Info_free(&hint));
    }
    OK(MPI_Info_free(&hw));
    OK(MPI_Comm_get_info(MPI_COMM_WORLD, &used));
    length = sizeof value;
    OK(MPI_Info_get_string(used, "mpi_memory_alloc_kinds", &length, value, &flag));
    CHECK(flag && strstr(value, "system") && strstr(value, "mpi"), "kinds of memory: %s", flag ? value : "not there");
    OK(MPI_Info_free(&used));
    OK(MPI_Finalize());
    if (rank == 0)
        printf("ok\n");
    return 0;
}
