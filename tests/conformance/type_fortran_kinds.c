/* ranks: 1 2 4 */
/* MPI-5.0 19.1.9 Support for Size-specific Types: MPI_Type_create_f90_real, _complex, _integer */
#include "check.h"

/* Equal arguments give equal handles, which are committed and cannot be freed. */
static void fortran_kinds(void)
{
    MPI_Datatype a, b, c;
    int bytes = 0, ni, na, nd, combiner, args[2] = { 0 };
    OK(MPI_Type_create_f90_real(15, 300, &a));
    OK(MPI_Type_create_f90_real(15, 300, &b));
    CHECK(a == b, "equal kinds have different handles");
    OK(MPI_Type_size(a, &bytes));
    SAME(bytes, 8, "size of a real of 15 digits");
    OK(MPI_Type_get_envelope(a, &ni, &na, &nd, &combiner));
    CHECK(ni == 2 && na == 0 && nd == 0 && combiner == MPI_COMBINER_F90_REAL, "envelope of a real");
    OK(MPI_Type_get_contents(a, 2, 0, 0, args, NULL, NULL));
    CHECK(args[0] == 15 && args[1] == 300, "contents of a real: %d %d", args[0], args[1]);
    OK(MPI_Type_create_f90_complex(15, 300, &c));
    OK(MPI_Type_size(c, &bytes));
    SAME(bytes, 16, "size of a complex number of 15 digits");
    OK(MPI_Type_create_f90_integer(9, &b));
    int one = 1, sum = 0;
    OK(MPI_Allreduce(&one, &sum, 1, b, MPI_SUM, MPI_COMM_WORLD));
    SAME(sum, size, "sum of Fortran integers");
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK(MPI_Type_free(&c) != MPI_SUCCESS, "a predefined type can be freed");
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    fortran_kinds();
    return check_end();
}
