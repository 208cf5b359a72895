/* How many instructions the short paths take, on rank 0 of two. Runs under trace.c. Argument: a file for both ranks to map.
 *
 * Nothing here depends on time: before a call is counted, what it needs has happened on the other side, which says so in
 * the mapped file and not by MPI. The fewest instructions of several calls are the path's: a call can do more now and then
 * (look at rarely used rings, read the clock), but never less. Output: PATH, tab, INSTRUCTIONS. */
#define _GNU_SOURCE
#include "region.h"
#include <fcntl.h>
#include <mpi.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { TIMES = 16, MANY = 16 };

/* What the ranks tell one another beside MPI. */
struct board {
    atomic_int said[2];
    atomic_int pid[2];
};

static struct board *board;
static int rank, said, heard;

/* Both sides say the same number of words, so counting them is enough. */
static void say(void) { atomic_store(&board->said[rank], ++said); }

static void hear(void) {
    heard++;
    while (atomic_load(&board->said[1 - rank]) < heard) usleep(100);
}

static char state_of(int pid) {
    char name[64], text[512];
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    FILE *file = fopen(name, "r");
    if (!file) return '?';
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *end = strrchr(text, ')');
    return end && end[1] ? end[2] : '?';
}

/* The other rank has gone to sleep in MPI: seen asleep several times in a row, a second at most. */
static void until_it_sleeps(void) {
    for (int seen = 0, tries = 0; seen < 5 && tries < 1000; tries++) {
        usleep(1000);
        seen = state_of(atomic_load(&board->pid[1 - rank])) == 'S' ? seen + 1 : 0;
    }
}

static uint64_t fewest, empty;

#define COUNTED(call)                                                              \
    do {                                                                           \
        struct region region_;                                                     \
        region_begin(REGION_STEPS);                                                \
        call;                                                                      \
        region_end(&region_);                                                      \
        if (region_.instructions < fewest) fewest = region_.instructions;          \
    } while (0)

static double data[MANY], more[MANY];
static MPI_Request request[MANY];

#define TO_OTHER 1, MPI_DOUBLE, 1 - rank
#define WORLD MPI_COMM_WORLD, MPI_STATUS_IGNORE

static void nothing(void) {
    if (rank == 0) COUNTED((void)0);
}
static void comm_rank(void) {
    int r;
    if (rank == 0) COUNTED(MPI_Comm_rank(MPI_COMM_WORLD, &r));
}
static void send(void) {
    if (rank == 0) {
        COUNTED(MPI_Send(data, TO_OTHER, 1, MPI_COMM_WORLD));
        say();
    } else {
        hear();
        MPI_Recv(data, TO_OTHER, 1, WORLD);
    }
}
static void recv(void) {
    if (rank == 0) {
        hear();
        COUNTED(MPI_Recv(data, TO_OTHER, 1, WORLD));
    } else {
        MPI_Send(data, TO_OTHER, 1, MPI_COMM_WORLD);
        say();
    }
}
static void recv_unexpected(void) {
    if (rank == 0) {
        hear();
        MPI_Recv(data, TO_OTHER, 2, WORLD);
        COUNTED(MPI_Recv(data, TO_OTHER, 1, WORLD));
    } else {
        MPI_Send(data, TO_OTHER, 1, MPI_COMM_WORLD);
        MPI_Send(data, TO_OTHER, 2, MPI_COMM_WORLD);
        say();
    }
}
static void isend(void) {
    if (rank == 0) {
        COUNTED(MPI_Isend(data, TO_OTHER, 1, MPI_COMM_WORLD, request));
        MPI_Wait(request, MPI_STATUS_IGNORE);
        say();
    } else {
        hear();
        MPI_Recv(data, TO_OTHER, 1, WORLD);
    }
}
static void wait_isend(void) {
    if (rank == 0) {
        MPI_Isend(data, TO_OTHER, 1, MPI_COMM_WORLD, request);
        COUNTED(MPI_Wait(request, MPI_STATUS_IGNORE));
        say();
    } else {
        hear();
        MPI_Recv(data, TO_OTHER, 1, WORLD);
    }
}

/* A receive that waits for a message; which part of it is counted. */
enum part { IRECV, TEST, WAIT };
static void posted(enum part part) {
    if (rank == 0) {
        int flag = 0;
        if (part == IRECV) COUNTED(MPI_Irecv(data, TO_OTHER, 1, MPI_COMM_WORLD, request));
        else MPI_Irecv(data, TO_OTHER, 1, MPI_COMM_WORLD, request);
        if (part == TEST) COUNTED(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
        say();
        hear();
        if (part == WAIT) COUNTED(MPI_Wait(request, MPI_STATUS_IGNORE));
        else MPI_Wait(request, MPI_STATUS_IGNORE);
    } else {
        hear();
        MPI_Send(data, TO_OTHER, 1, MPI_COMM_WORLD);
        say();
    }
}
static void irecv(void) { posted(IRECV); }
static void test(void) { posted(TEST); }
static void wait_irecv(void) { posted(WAIT); }

static void waitall(void) {
    if (rank == 0) {
        for (int i = 0; i < MANY; i++) MPI_Irecv(&data[i], TO_OTHER, i, MPI_COMM_WORLD, &request[i]);
        say();
        hear();
        COUNTED(MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE));
    } else {
        hear();
        for (int i = 0; i < MANY; i++) MPI_Send(&data[i], TO_OTHER, i, MPI_COMM_WORLD);
        say();
    }
}
static void iprobe(void) {
    int flag;
    if (rank == 0) COUNTED(MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
}
static void to_self(void) {
    if (rank == 0) COUNTED(MPI_Sendrecv(data, 1, MPI_DOUBLE, 0, 1, more, 1, MPI_DOUBLE, 0, 1, WORLD));
}

/* A collective call of which rank 0 is the last: rank 1 has come, and sleeps. */
#define LAST(name, call)            \
    static void name(void) {        \
        if (rank == 0) {            \
            hear();                 \
            until_it_sleeps();      \
            COUNTED(call);          \
        } else {                    \
            say();                  \
            call;                   \
        }                           \
    }
LAST(barrier, MPI_Barrier(MPI_COMM_WORLD))
LAST(allreduce, MPI_Allreduce(data, more, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD))
LAST(reduce, MPI_Reduce(data, more, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD))
LAST(bcast, MPI_Bcast(data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD))

static const struct {
    const char *name;
    void (*once)(void);
} paths[] = {
    {"MPI_Comm_rank", comm_rank},
    {"MPI_Send 8 B", send},
    {"MPI_Recv 8 B, in the ring", recv},
    {"MPI_Recv 8 B, unexpected", recv_unexpected},
    {"MPI_Isend 8 B", isend},
    {"MPI_Wait of that MPI_Isend", wait_isend},
    {"MPI_Irecv 8 B, nothing there", irecv},
    {"MPI_Test, nothing there", test},
    {"MPI_Wait 8 B, in the ring", wait_irecv},
    {"MPI_Waitall of 16, in the ring", waitall},
    {"MPI_Iprobe, nothing there", iprobe},
    {"MPI_Sendrecv 8 B with itself", to_self},
    {"MPI_Barrier, last of 2", barrier},
    {"MPI_Allreduce 8 B, last of 2", allreduce},
    {"MPI_Reduce 8 B, last of 2 and root", reduce},
    {"MPI_Bcast 8 B, root, other waits", bcast},
};

/* The fewest instructions of some calls; the first ones bind symbols and fill caches. */
static uint64_t count(void (*once)(void)) {
    fewest = UINT64_MAX;
    for (int i = 0; i < TIMES; i++) {
        once();
        /* In step again, beside MPI. */
        say();
        hear();
    }
    return fewest;
}

/* Ten instructions are ten. */
static void ten(void) {
    if (rank == 0) COUNTED(__asm__ volatile("nop; nop; nop; nop; nop; nop; nop; nop; nop; nop"));
}

int main(int argc, char **argv) {
    int size;
    region_ready();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (size != 2 || fd < 0 || ftruncate(fd, sizeof *board)) {
        fprintf(stderr, "this program takes 2 ranks and the name of a file that it can write\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (board == MAP_FAILED) MPI_Abort(MPI_COMM_WORLD, 1);
    close(fd);
    atomic_store(&board->pid[rank], getpid());
    say();
    hear();
    empty = count(nothing);
    if (count(ten) != empty + 10 && rank == 0) {
        fprintf(stderr, "ten instructions are counted as %lld\n", (long long)(fewest - empty));
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++) {
        uint64_t found = count(paths[p].once);
        if (rank == 0) printf("%s\t%llu\n", paths[p].name, (unsigned long long)(found - empty));
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
