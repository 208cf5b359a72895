/* Calls into the library that need no MPI_Init, with a wrapper in front as a profiling tool has. */
#include <mpi.h>
#include <stdio.h>

static int wrapped, failures;

#define CHECK(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, #what); failures++; } } while (0)

/* The program's own definition wins over the library's; PMPI_ reaches the library. */
int MPI_Get_version(int *version, int *subversion)
{
    wrapped++;
    return PMPI_Get_version(version, subversion);
}

int main(void)
{
    int version = 0, subversion = -1, flag = 7;
    MPI_Status c = { 3, 4, 5, { 6, 7, 8, 9, 10 } }, back;
    MPI_F08_status f08;
    MPI_Fint f[MPI_F_STATUS_SIZE];

    CHECK(MPI_Get_version(&version, &subversion) == MPI_SUCCESS);
    CHECK(wrapped == 1 && version == MPI_VERSION && subversion == MPI_SUBVERSION);
    CHECK(MPI_Initialized(&flag) == MPI_SUCCESS && flag == 0);
    CHECK(PMPI_Finalized(&flag) == MPI_SUCCESS && flag == 0);

    CHECK(MPI_Comm_toint(MPI_COMM_WORLD) == 0x101 && PMPI_Comm_fromint(0x102) == MPI_COMM_SELF);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(PMPI_Message_c2f(MPI_MESSAGE_NO_PROC) == MPI_Message_c2f(MPI_MESSAGE_NO_PROC));
    CHECK(MPI_Request_c2f(MPI_REQUEST_NULL) == 0x180 && MPI_Win_f2c(0x110) == MPI_WIN_NULL);

    CHECK(MPI_Status_c2f(&c, f) == MPI_SUCCESS && f[MPI_F_SOURCE] == 3 && f[MPI_F_TAG] == 4 && f[MPI_F_ERROR] == 5);
    CHECK(MPI_Status_f2f08(f, &f08) == MPI_SUCCESS && f08.MPI_TAG == 4);
    CHECK(MPI_Status_f082c(&f08, &back) == MPI_SUCCESS && back.MPI_internal[4] == 10);
    CHECK(MPI_Status_c2f(MPI_STATUS_IGNORE, f) == MPI_ERR_ARG && PMPI_Status_c2f(MPI_STATUS_IGNORE, f) == MPI_ERR_ARG);

    CHECK(MPI_Aint_add((MPI_Aint)&f[0], sizeof(MPI_Fint)) == (MPI_Aint)&f[1]);
    CHECK(MPI_Aint_diff((MPI_Aint)&f[2], (MPI_Aint)&f[0]) == 2 * (MPI_Aint)sizeof(MPI_Fint));
    CHECK(MPI_Pcontrol(1) == MPI_SUCCESS && MPI_Pcontrol(2, "more", 3.5, &flag) == MPI_SUCCESS);
    return failures;
}
