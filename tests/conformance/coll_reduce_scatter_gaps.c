/* ranks: 1 2 3 4 5 8 */
/* MPI-5.0 6.10 Reduce-Scatter, with a user operation that does not commute on a datatype with gaps (6.9.5) */
#include "reduce_scatter.h"

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    type = gap_type();
    reduce_scatter_all();
    OK(MPI_Type_free(&type));
    return check_end();
}
