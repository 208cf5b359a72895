/* Memory of a rank after an all-to-all of 8 B, from /proc/self/smaps_rollup; means over the ranks.
 *
 * private dirty: pages that this process alone has written. touched: those, and its part of the written pages that it shares
 * with others (Pss_Dirty; a page that n processes have mapped counts 1/n in each), so that the sum over the ranks is what
 * the job has written. */
#include "common.h"

static double field(const char *text, const char *name) {
    const char *at = strstr(text, name);
    return at ? atof(at + strlen(name)) / 1024 : -1;
}

int main(int argc, char **argv) {
    static char text[8192];
    double mine[2], sum[2];
    begin(&argc, &argv);
    int64_t *in = calloc((size_t)size, 8), *out = calloc((size_t)size, 8);
    for (int i = 0; i < size; i++) in[i] = rank * 1000 + i;
    MPI_Alltoall(in, 8, MPI_BYTE, out, 8, MPI_BYTE, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (out[i] != i * 1000 + rank) wrong("an all-to-all", 8);
    MPI_Barrier(MPI_COMM_WORLD); /* all have done it, and have their shared pages mapped */
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    size_t got = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[got] = 0;
    if (file) fclose(file);
    mine[0] = field(text, "Private_Dirty:");
    mine[1] = field(text, "Pss_Dirty:");
    /* The sum comes after all have read: MPI_Reduce does not end before everyone has called it, at its root. */
    MPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    result("private dirty memory of a rank", -1, sum[0] / size, "MB");
    if (mine[1] >= 0) result("memory touched by a rank", -1, sum[1] / size, "MB");
    MPI_Finalize();
    return 0;
}
