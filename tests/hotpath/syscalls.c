/* Two ranks that answer one another at once make no system call, where each has a core. Runs under trace.c.
 *
 * What is judged is a batch of 1000 rounds, again and again for at most ten seconds: one batch without any system call on
 * either rank is the proof. On cores that others use too, waiting may yield and sleep in every batch. That is told from a
 * call on the way of a message by what is called, and by whether a loop without MPI gets its core for itself. */
#define _GNU_SOURCE
#include "region.h"
#include <mpi.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 1000, SECONDS = 10 };

static int rank;
static char data[4096];

static void ping_pong(int bytes) {
    if (rank == 0) {
        MPI_Send(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(data, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void nonblocking(int bytes) {
    MPI_Request request[2];
    MPI_Irecv(data, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(data + 2048, bytes, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void barrier(int bytes) {
    (void)bytes;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(int bytes) {
    double sum, one = 1;
    MPI_Allreduce(&one, &sum, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct {
    const char *name;
    void (*once)(int bytes);
    int bytes;
} cases[] = {{"ping-pong of 8 B", ping_pong, 8},           {"ping-pong of 1 KiB", ping_pong, 1024},
             {"ping-pong of 4 KiB", ping_pong, 4096},      {"Irecv, Isend and Waitall of 8 B", nonblocking, 8},
             {"barrier", barrier, 0},                      {"allreduce of 8 B", allreduce, 8}};

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The part of half a second for which a rank that only computes has a core, on the rank with less. */
static double own_core(void) {
    double start = seconds(CLOCK_MONOTONIC), used = seconds(CLOCK_PROCESS_CPUTIME_ID), took, mine, least;
    while ((took = seconds(CLOCK_MONOTONIC) - start) < 0.5) {}
    mine = (seconds(CLOCK_PROCESS_CPUTIME_ID) - used) / took;
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    return least;
}

/* 0, 1 or TOO_BUSY, the same on both ranks. */
static int judge(const char *name, void (*once)(int), int bytes) {
    long batches = 0, with_calls = 0;
    double start = seconds(CLOCK_MONOTONIC), both[3];
    struct region found;
    for (int i = 0; i < 2 * ROUNDS; i++) once(bytes);
    do {
        MPI_Barrier(MPI_COMM_WORLD);
        region_begin(REGION_CALLS);
        for (int i = 0; i < ROUNDS; i++) once(bytes);
        region_end(&found);
        double mine[3] = {(double)found.waits, (double)found.calls, seconds(CLOCK_MONOTONIC) - start};
        MPI_Allreduce(mine, both, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        batches++;
        with_calls += both[1] > 0;
        if (both[0] + both[1] == 0) {
            if (rank == 0) printf("%s: %d times without a system call (batch %ld)\n", name, ROUNDS, batches);
            fflush(stdout);
            return 0;
        }
    } while (both[2] < 2 * SECONDS);
    double own = own_core();
    int failed = with_calls == batches || own > 0.97;
    if (found.calls) fprintf(stderr, "rank %d made system call %llu\n", rank, (unsigned long long)found.call);
    if (rank == 0)
        fprintf(stderr,
                "%s: none of %ld batches of %d was without a system call; in the last one %.0f of waiting and %.0f others%s. "
                "A loop without MPI had its core for %.0f %% of the time%s\n",
                name, batches, ROUNDS, both[0], both[1], with_calls == batches ? ", as in every one" : "", own * 100,
                failed ? "" : ": too busy to judge");
    return failed ? 1 : TOO_BUSY;
}

/* The counter counts: one call of each kind. */
static void check_the_counter(void) {
    struct region found;
    region_begin(REGION_CALLS);
    syscall(SYS_getppid);
    syscall(SYS_sched_yield);
    region_end(&found);
    if (found.calls == 1 && found.waits == 1 && found.call == SYS_getppid) return;
    fprintf(stderr, "the counter found %llu and %llu calls instead of 1 and 1\n", (unsigned long long)found.calls,
            (unsigned long long)found.waits);
    exit(1);
}

int main(int argc, char **argv) {
    int size, worst = 0;
    cpu_set_t allowed;
    region_ready();
    check_the_counter();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "this program takes 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (!sched_getaffinity(0, sizeof allowed, &allowed) && CPU_COUNT(&allowed) < 2) {
        if (rank == 0) fprintf(stderr, "two cores are needed to have one for each rank\n");
        worst = TOO_BUSY;
    }
    for (size_t c = 0; c < sizeof cases / sizeof cases[0] && !worst; c++)
        worst = judge(cases[c].name, cases[c].once, cases[c].bytes);
    MPI_Finalize();
    return worst;
}
