/* Large messages between two ranks, for `cargo xtask suite kmod`: `messages both|remap|death`.
 * Prints `passed ...` or `failed ...` from rank 0; `death` never returns. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { LARGEST = (3 << 20) + 5 };

static int rank, bad;

static unsigned char pattern(unsigned seed, size_t at)
{
    return (unsigned char)(((uint64_t)seed * 0x9e3779b97f4a7c15u + at * 0xff51afd7ed558ccdu) >> 56);
}

static void fill(unsigned char *bytes, size_t len, unsigned seed)
{
    for (size_t i = 0; i < len; i++)
        bytes[i] = pattern(seed, i);
}

static void check(const unsigned char *bytes, size_t len, unsigned seed, const char *what)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] != pattern(seed, i)) {
            printf("failed %s: byte %zu of %zu is %d, not %d\n", what, i, len, bytes[i], pattern(seed, i));
            bad = 1;
            return;
        }
}

static void *fresh(void *at)
{
    void *p = mmap(at, LARGEST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    if (p == MAP_FAILED) {
        perror("failed mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

/* From rank `from` to the other. */
static void one(unsigned char *bytes, size_t len, int from, unsigned seed, const char *what)
{
    if (rank == from) {
        fill(bytes, len, seed);
        MPI_Send(bytes, (int)len, MPI_BYTE, 1 - from, 1, MPI_COMM_WORLD);
    } else {
        memset(bytes, 0, len);
        MPI_Recv(bytes, (int)len, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(bytes, len, seed, what);
    }
}

static void both(void)
{
    static const size_t sizes[] = {65536, 65537, 300001, 1 << 20, LARGEST};
    unsigned char *bytes = fresh(NULL), *other = fresh(NULL);
    for (unsigned k = 0; k < 3 * sizeof sizes / sizeof *sizes; k++)
        for (int from = 0; from < 2; from++)
            one(bytes, sizes[k % 5], from, 2 * k + from, "data both ways");
    for (unsigned k = 0; k < 10; k++) {
        fill(bytes, LARGEST, 100 + k + rank);
        MPI_Sendrecv(bytes, LARGEST, MPI_BYTE, 1 - rank, 2, other, LARGEST, MPI_BYTE, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check(other, LARGEST, 100 + k + 1 - rank, "both ways at once");
    }
    MPI_Datatype strided;
    MPI_Type_vector(3000, 100, 300, MPI_BYTE, &strided);
    MPI_Type_commit(&strided);
    for (int from = 0; from < 2; from++) {
        fill(bytes, LARGEST, 7);
        if (rank == from)
            MPI_Send(bytes, 1, strided, 1 - from, 3, MPI_COMM_WORLD);
        else {
            memset(other, 0, LARGEST);
            MPI_Recv(other, 1, strided, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (size_t i = 0; i < 3000 * 300 - 200; i++)
                if (other[i] != (i % 300 < 100 ? bytes[i] : 0)) {
                    printf("failed strided data: byte %zu\n", i);
                    bad = 1;
                    break;
                }
        }
    }
    MPI_Type_free(&strided);
}

static void remap(void)
{
    unsigned char *bytes = fresh(NULL);
    for (unsigned k = 0; k < 12; k++) {
        one(bytes, LARGEST, k % 2, k, "messages from remapped memory");
        munmap(bytes, LARGEST);
        if (fresh(bytes) != bytes)
            bad = 1;
    }
}

static void ends(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

static void death(void)
{
    unsigned char *bytes = fresh(NULL);
    if (rank == 1) {
        signal(SIGALRM, ends);
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 700000}}, NULL);
    }
    for (unsigned k = 0;; k++)
        one(bytes, LARGEST, k % 2, k, "messages before a death");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "both";
    setvbuf(stdout, NULL, _IOLBF, 0);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "death") == 0)
        death();
    else if (strcmp(what, "remap") == 0)
        remap();
    else
        both();
    int any;
    MPI_Allreduce(&bad, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Finalize();
    return any;
}
