/* ranks: 1 2 4 */
/* MPI-5.0 4.2.3: count and datatype describe one partition; partitions follow each other in memory; both sides may
 * have layouts and partitions of their own, whose borders meet nowhere */
#include "check.h"

static int next, previous;

/* `n` ints, of which every `stride`-th is taken: a type of `len` of them, resized so that elements follow each other. */
static MPI_Datatype spread(int len, int stride)
{
    MPI_Datatype v, t;
    OK(MPI_Type_vector(len, 1, stride, MPI_INT, &v));
    OK(MPI_Type_create_resized(v, 0, (MPI_Aint)len * stride * sizeof(int), &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_free(&v));
    return t;
}

/* Both sides hold `total` ints, spread with their strides. */
static void layouts(long total, int theirs, int their_len, int their_stride, int ours, int our_len, int our_stride)
{
    int *out = check_alloc(total * their_stride * sizeof(int)), *in = check_alloc(total * our_stride * sizeof(int)), flag;
    MPI_Datatype st = spread(their_len, their_stride), rt = spread(our_len, our_stride);
    MPI_Request send, receive;
    SAME(total % (theirs * their_len) + total % (ours * our_len), 0, "the test's numbers");
    OK(MPI_Psend_init(out, theirs, total / theirs / their_len, st, next, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &send));
    OK(MPI_Precv_init(in, ours, total / ours / our_len, rt, previous, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &receive));
    OK(MPI_Type_free(&st));
    OK(MPI_Type_free(&rt));
    for (int round = 0; round < 4; round++) {
        for (long i = 0; i < total * their_stride; i++)
            out[i] = i % their_stride ? -7 : (int)(rank * 77 + round + i / their_stride);
        for (long i = 0; i < total * our_stride; i++)
            in[i] = -9;
        OK(MPI_Start(&send));
        OK(MPI_Start(&receive));
        for (int p = 0; p < theirs; p++)
            OK(MPI_Pready(round % 2 ? theirs - 1 - p : p, send));
        for (int p = 0; p < ours; p++)
            for (flag = 0; !flag;)
                OK(MPI_Parrived(receive, p, &flag));
        OK(MPI_Wait(&receive, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
        for (long i = 0; i < total * our_stride; i++)
            SAME(in[i], i % our_stride ? -9 : previous * 77 + round + i / our_stride, "layout");
    }
    OK(MPI_Request_free(&send));
    OK(MPI_Request_free(&receive));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    layouts(60, 4, 5, 2, 4, 5, 2);
    layouts(60, 4, 5, 2, 3, 4, 1);
    layouts(60, 5, 3, 1, 2, 6, 3);
    layouts(420, 7, 4, 3, 5, 6, 2);
    layouts(42000, 7, 4, 3, 5, 6, 2);
    layouts(420000, 3, 100, 2, 7, 300, 1);
    layouts(420000, 6, 7, 1, 5, 14, 2);
    layouts(1260, 1260, 1, 2, 9, 7, 3);
    return check_end();
}
