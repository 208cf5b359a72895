/* ranks: 1 2 */
/* MPI-5.0 20.2, 20.3 ABI queries (the version and sizes before MPI_Init and after MPI_Finalize too), 15.2.3 MPI_Pcontrol; what a Fortran compiler's types look like is told
 * once. */
#include "check.h"

static void version(void)
{
    int major = -1, minor = -1;
    OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION, "the ABI is %d.%d; the header's is %d.%d", major, minor,
          MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
}

static int number_of(MPI_Info info, const char *key)
{
    char value[32];
    int length = sizeof value, flag = 0;
    OK(MPI_Info_get_string(info, key, &length, value, &flag));
    CHECK(flag, "the info has no key %s", key);
    return atoi(value);
}

static void sizes(void)
{
    MPI_Info info;
    OK(MPI_Abi_get_info(&info));
    SAME(number_of(info, "mpi_aint_size"), sizeof(MPI_Aint), "mpi_aint_size");
    SAME(number_of(info, "mpi_count_size"), sizeof(MPI_Count), "mpi_count_size");
    SAME(number_of(info, "mpi_offset_size"), sizeof(MPI_Offset), "mpi_offset_size");
    OK(MPI_Info_free(&info));
}

static void fortran(void)
{
    MPI_Info info;
    int yes = 7, no = 8, is_set = -1, mine_yes = 1, mine_no = 0;
    OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set));
    if (!is_set) {
        OK(MPI_Abi_set_fortran_booleans(4, &mine_yes, &mine_no));
        OK(MPI_Abi_get_fortran_booleans(4, &yes, &no, &is_set));
        CHECK(is_set && yes == 1 && no == 0, "booleans that were set: %d, %d and %d", is_set, yes, no);
    }
    OK(MPI_Abi_get_fortran_info(&info));
    if (info == MPI_INFO_NULL) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "mpi_integer_size", "4"));
        OK(MPI_Info_set(info, "mpi_real_size", "4"));
        OK(MPI_Abi_set_fortran_info(info));
        OK(MPI_Info_free(&info));
        OK(MPI_Abi_get_fortran_info(&info));
        CHECK(info != MPI_INFO_NULL, "what was set is not there");
        SAME(number_of(info, "mpi_integer_size"), 4, "mpi_integer_size");
    }
    OK(MPI_Info_free(&info));
}

static void again(void)
{
    MPI_Info info;
    int yes = 1, no = 0;
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_booleans(4, &yes, &no));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_integer_size", "4"));
    FAILS(MPI_ERR_ABI, MPI_Abi_set_fortran_info(info));
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    version();
    sizes();
    check_begin(&argc, &argv);
    version();
    sizes();
    fortran();
    again();
    for (int level = 0; level < 3; level++)
        OK(MPI_Pcontrol(level));
    OK(MPI_Pcontrol(7, "a tool's own", 1.5));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        printf("ok\n");
    OK(MPI_Finalize());
    version();
    sizes();
    return 0;
}
