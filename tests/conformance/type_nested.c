/* ranks: 1 2 */
/* MPI-5.0 5.1: types of types of types: neither the stack nor the time grows with the depth, and each level means what it says. */
#include "check.h"

static MPI_Datatype replace(MPI_Datatype old, MPI_Datatype new)
{
    if (old != MPI_INT)
        OK(MPI_Type_free(&old));
    return new;
}

/* Sends one element of `t` from `out` to the next rank, which gets it as ints. */
static int travel(const void *out, MPI_Datatype t, int *in, int most)
{
    MPI_Status status;
    int n = -1;
    OK(MPI_Type_commit(&t));
    OK(MPI_Sendrecv(out, 1, t, (rank + 1) % size, 0, in, most, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &n));
    OK(MPI_Type_free(&t));
    return n;
}

int main(int argc, char **argv)
{
    enum { DEEP = 20000 };
    check_begin(&argc, &argv);
    int *out = check_alloc(3 * DEEP * sizeof *out), *in = check_alloc(3 * DEEP * sizeof *in);
    for (int i = 0; i < 3 * DEEP; i++)
        out[i] = i + rank * 1000000;
    int before = (rank + size - 1) % size * 1000000;
    MPI_Datatype t = MPI_INT, u;
    /* Copies of copies. */
    for (int i = 0; i < DEEP; i++) {
        OK(i % 3 == 0 ? MPI_Type_dup(t, &u) : i % 3 == 1 ? MPI_Type_contiguous(1, t, &u) : MPI_Type_create_resized(t, 0, 4 + i % 5, &u));
        t = replace(t, u);
    }
    SAME(travel(out, t, in, 1), 1, "an int in many wrappers");
    SAME(in[0], before, "an int in many wrappers");
    /* A struct that grows at its end, with a gap each time; and one that grows at its beginning. */
    for (int end = 0; end < 2; end++) {
        t = MPI_INT;
        for (int i = 1; i < DEEP; i++) {
            int one[] = { 1, 1 };
            MPI_Aint at[] = { 0, 8 * i }, front[] = { 0, 8 };
            MPI_Datatype kinds[] = { end ? t : MPI_INT, end ? MPI_INT : t };
            OK(MPI_Type_create_struct(2, one, end ? at : front, kinds, &u));
            t = replace(t, u);
        }
        int n = travel(out, t, in, 3 * DEEP);
        SAME(n, DEEP, "a struct that grows");
        for (int i = 0; i < n; i++)
            SAME(in[i], before + 2 * i, "a struct that grows");
    }
    /* Doubled thirteen times: 2^13 ints with gaps of every size. */
    t = MPI_INT;
    MPI_Aint stride = 4;
    for (int i = 0; i < 13; i++) {
        stride = 2 * stride + (i == 0 ? 4 : 0);
        OK(MPI_Type_create_hvector(2, 1, i == 0 ? 8 : stride / 3 * 2, t, &u));
        t = replace(t, u);
    }
    MPI_Aint lb, extent;
    OK(MPI_Type_get_true_extent(t, &lb, &extent));
    if (extent <= (MPI_Aint)(3 * DEEP * sizeof *out)) {
        int n = travel(out, t, in, 3 * DEEP);
        SAME(n, 1 << 13, "a type doubled again and again");
        for (int i = 0; i < n; i++) {
            MPI_Aint at = 0, s = 4;
            for (int b = 0; b < 13; b++) {
                s = 2 * s + (b == 0 ? 4 : 0);
                at += (i >> b & 1) * (b == 0 ? 8 : s / 3 * 2);
            }
            SAME(in[i], before + at / 4, "a type doubled again and again");
        }
    } else {
        OK(MPI_Type_free(&t));
    }
    /* The same doubled sixty times where nothing is: made and freed, never walked. */
    OK(MPI_Type_create_resized(MPI_CHAR, 0, 1, &t));
    for (int i = 0; i < 60; i++) {
        OK(MPI_Type_contiguous_c(2, t, &u));
        t = replace(t, u);
    }
    MPI_Count bytes = 0;
    OK(MPI_Type_size_c(t, &bytes));
    SAME(bytes, (MPI_Count)1 << 60, "size of 2^60 chars");
    OK(MPI_Type_free(&t));
    free(out);
    free(in);
    return check_end();
}
