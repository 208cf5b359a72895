/* Time of one collective call, until it has ended on all ranks. Arguments: barrier, or NAME:SIZE.
 *
 * SIZE is the whole vector of bcast, reduce and allreduce, and the block of each rank for the others. The sums are of doubles.
 * Roots go round, one call after the other: so a call cannot end before the data is where it shall be, as it could if one
 * root ran ahead of everybody. */
#include "common.h"

static char *in, *out;
static int *counts;
static int root;

static int next(void) { return root = (root + 1) % size; }

static void barrier(int bytes) {
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(int bytes) { MPI_Bcast(in, bytes, MPI_BYTE, next(), MPI_COMM_WORLD); }
static void reduce(int bytes) { MPI_Reduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, next(), MPI_COMM_WORLD); }
static void allreduce(int bytes) { MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void gather(int bytes) { MPI_Gather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, next(), MPI_COMM_WORLD); }
static void scatter(int bytes) { MPI_Scatter(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, next(), MPI_COMM_WORLD); }
static void allgather(int bytes) { MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void alltoall(int bytes) { MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }
static void reduce_scatter(int bytes) {
    (void)bytes;
    MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static void reduce_scatter_block(int bytes) {
    MPI_Reduce_scatter_block(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*once)(int);
} calls[] = {
    {"barrier", barrier},     {"bcast", bcast},     {"reduce", reduce},
    {"allreduce", allreduce}, {"gather", gather},   {"scatter", scatter},
    {"allgather", allgather}, {"alltoall", alltoall}, {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block", reduce_scatter_block},
};

int main(int argc, char **argv) {
    begin(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        char *colon = strchr(argv[i], ':');
        int bytes = colon ? atoi(colon + 1) : -1;
        if (colon) *colon = 0;
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
            if (strcmp(argv[i], calls[c].name)) continue;
            size_t all = bytes > 0 ? (size_t)bytes * (size_t)size : 8;
            in = buffer(all); /* zeros: sums of them stay zeros */
            out = buffer(all);
            counts = malloc((size_t)size * sizeof *counts);
            for (int r = 0; r < size; r++) counts[r] = bytes / 8;
            root = 0;
            result(argv[i], bytes, measure(calls[c].once, bytes), "us");
            free(in);
            free(out);
            free(counts);
        }
    }
    MPI_Finalize();
    return 0;
}
