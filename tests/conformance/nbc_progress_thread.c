/* ranks: 1 2 3 4 */
/* MPI-5.0 6.12, 3.5: with a progress thread operations end at the others although this rank calls nothing; the thread level stays */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

/* Rank 0 starts operations of 4 MiB and then makes no MPI call until the others have counted themselves in shared memory, which they do when
 * theirs are complete. None of these can end at the others before rank 0 has done its part. */
enum { N = 1 << 20 };
enum kind { ALLREDUCE, USER_OP, PERSISTENT, BCAST, SMALL, SEND, RECEIVE, KINDS };
static int in[N], out[N];
static int *ended;
static MPI_Op own;

static void plus(void *a, void *b, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        ((int *)b)[i] += ((int *)a)[i];
}

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    CHECK(tasks, "no list of this process's threads");
    for (struct dirent *d; (d = readdir(tasks));)
        n += d->d_name[0] != '.';
    closedir(tasks);
    return n;
}

static void share(void)
{
    char path[64] = "";
    int fd = -1;
    if (rank == 0) {
        CHECK((fd = memfd_create("ended", 0)) >= 0 && ftruncate(fd, 4096) == 0, "no memory to share");
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    }
    OK(MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank)
        fd = open(path, O_RDWR);
    ended = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(fd >= 0 && ended != MAP_FAILED, "cannot map %s", path);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    close(fd);
}

static int begin(enum kind kind, MPI_Request *r)
{
    switch (kind) {
    case ALLREDUCE: OK(MPI_Iallreduce(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r)); return 1;
    case USER_OP: OK(MPI_Iallreduce(in, out, N, MPI_INT, own, MPI_COMM_WORLD, r)); return 1;
    case PERSISTENT:
        OK(MPI_Allreduce_init(in, out, N, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, r));
        OK(MPI_Start(r));
        return 1;
    case BCAST: OK(MPI_Ibcast(out, N, MPI_INT, size - 1, MPI_COMM_WORLD, r)); return 1;
    case SMALL: OK(MPI_Iallreduce(in, out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, r)); return 1;
    case SEND:
        if (rank)
            OK(MPI_Irecv(out, N, MPI_INT, 0, 1, MPI_COMM_WORLD, r));
        for (int to = 1; rank == 0 && to < size; to++)
            OK(MPI_Isend(in, N, MPI_INT, to, 1, MPI_COMM_WORLD, r + to - 1));
        break;
    default:
        if (rank)
            OK(MPI_Isend(in, N, MPI_INT, 0, 2, MPI_COMM_WORLD, r));
        for (int from = 1; rank == 0 && from < size; from++)
            OK(MPI_Irecv(out, N, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, r + from - 1));
    }
    return rank ? 1 : size - 1;
}

int main(int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, level;
    setenv("OXMPI_PT2PT_PROGRESS_THREAD", "yes", 1);
    MPI_Get_library_version(version, &length);
    if (strncmp(version, "oxmpi", 5) != 0)
        return 77;
    int before = threads();
    check_begin(&argc, &argv);
    SAME(threads(), before + (size > 1), "threads with a progress thread");
    OK(MPI_Query_thread(&level));
    SAME(level, MPI_THREAD_SINGLE, "the thread level beside a progress thread");
    OK(MPI_Op_create(plus, 1, &own));
    share();
    int want = 0;
    for (int round = 0; round < 3; round++)
        for (enum kind kind = 0; kind < KINDS; kind++) {
            MPI_Request r[64];
            for (int i = 0; i < N; i++)
                in[i] = rank + i + kind, out[i] = kind == BCAST && rank == size - 1 ? 5 * i : -1;
            int number = begin(kind, r);
            want += size - 1;
            if (rank == 0) {
                while (__atomic_load_n(ended, __ATOMIC_ACQUIRE) < want)
                    sched_yield();
                OK(MPI_Waitall(number, r, MPI_STATUSES_IGNORE));
            } else {
                OK(MPI_Waitall(number, r, MPI_STATUSES_IGNORE));
                __atomic_add_fetch(ended, 1, __ATOMIC_ACQ_REL);
            }
            if (kind == PERSISTENT)
                OK(MPI_Request_free(&r[0]));
            int sum = size * (size - 1) / 2;
            for (int i = 0; i < (kind == SMALL ? 1 : N); i++) {
                if (kind <= PERSISTENT || kind == SMALL)
                    SAME(out[i], sum + size * (i + (int)kind), "a reduction");
                else if (kind == BCAST)
                    SAME(out[i], 5 * i, "a broadcast");
                else if (kind == SEND && rank)
                    SAME(out[i], i + (int)kind, "a message");
            }
        }
    OK(MPI_Op_free(&own));
    check_end();
    if (threads() != before) {
        fprintf(stderr, "rank %d: there are %d threads after MPI_Finalize, not %d\n", rank, threads(), before);
        return 1;
    }
    return 0;
}
