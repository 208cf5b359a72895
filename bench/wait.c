/* What waiting costs: every rank but 0 waits for a message that comes after a second. The mean CPU time of a waiting rank
 * meanwhile, and how long after the call of MPI_Send the first of them had its message. */
#include "common.h"
#include <sys/resource.h>

static double cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    double used = 0, sent = 0, total, late;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        struct timespec second = {1, 0};
        nanosleep(&second, NULL);
        for (int i = 1; i < size; i++) {
            sent = now();
            MPI_Send(&sent, 1, MPI_DOUBLE, i, 1, MPI_COMM_WORLD);
        }
        late = 1e9;
    } else {
        used = cpu();
        MPI_Recv(&sent, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        late = now() - sent;
        used = cpu() - used;
    }
    double first;
    MPI_Reduce(&used, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&late, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    result("CPU time of a rank that waits 1 s", -1, total / (size - 1) * 1000, "ms");
    result("wake-up after a wait of 1 s", -1, first * 1e6, "us");
    MPI_Finalize();
    return 0;
}
