/* ranks: 1 */
/* MPI-5.0 5.1: an extent is rounded up to the alignment of the types inside, whatever constructor made the type,
 * unless MPI_Type_create_resized has set it. */
#include "check.h"

static void extent(MPI_Datatype t, long lb, long extent_, long true_extent, const char *what)
{
    MPI_Aint a, b;
    OK(MPI_Type_get_extent(t, &a, &b));
    SAME(a, lb, what);
    SAME(b, extent_, what);
    OK(MPI_Type_get_true_extent(t, &a, &b));
    SAME(b, true_extent, what);
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Datatype t, u;
    int two[] = { 1, 1 };
    MPI_Aint at[] = { 1, 7 };
    OK(MPI_Type_create_hvector(3, 1, 13, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, 30, &u));
    extent(u, 0, 30, 30, "resized hvector");
    extent(t, 0, 32, 30, "hvector");
    OK(MPI_Type_create_hindexed(2, two, at, MPI_INT, &t));
    extent(t, 1, 12, 10, "hindexed");
    OK(MPI_Type_create_hvector(2, 3, 4, MPI_CHAR, &t));
    extent(t, 0, 7, 7, "hvector of bytes");
    return check_end();
}
