/* Time of one collective call. Arguments: barrier, or NAME:SIZE with NAME one of bcast allreduce alltoall. */
#include "common.h"

static char *in, *out;

static void barrier(int bytes) {
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}
static void bcast(int bytes) { MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void allreduce(int bytes) { MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void alltoall(int bytes) { MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); }

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*once)(int);
    } calls[] = {{"barrier", barrier}, {"bcast", bcast}, {"allreduce", allreduce}, {"alltoall", alltoall}};
    begin(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        char *colon = strchr(argv[i], ':');
        int bytes = colon ? atoi(colon + 1) : -1;
        if (colon) *colon = 0;
        for (size_t c = 0; c < sizeof calls / sizeof calls[0]; c++) {
            if (strcmp(argv[i], calls[c].name)) continue;
            size_t all = bytes > 0 ? (size_t)bytes * size : 8;
            in = buffer(all);
            out = buffer(all);
            memset(in, 0, all); /* sums of zeros stay zeros */
            result(argv[i], bytes, measure(calls[c].once, bytes), "us");
            free(in);
            free(out);
        }
    }
    MPI_Finalize();
    return 0;
}
