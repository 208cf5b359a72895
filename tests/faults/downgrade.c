/* downgrade HOW WHO WHEN [MEGABYTES]: messages of every size between all ranks while the system refuses something to some of them.
 *
 * HOW   none            nothing
 *       eperm enosys    process_vm_readv and process_vm_writev fail so (seccomp)
 *       nomembarrier    membarrier fails with EPERM (seccomp)
 *       undumpable      PR_SET_DUMPABLE 0; all ranks give up the right to trace others, if they had it
 *       nobody          becomes another user (root only)
 *       userns pidns    a user (pid) namespace of its own
 *       nofile as data  RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA are set to a little more than is in use
 *       tight           after MPI_Init, RLIMIT_AS leaves room for one ring and not for all; then small messages
 *       kill            dies by SIGKILL in the middle of a transfer of MEGABYTES between ranks 0 and 1
 *       wait            rank 0 sleeps three seconds while the others wait in a barrier; prints the processor time of each
 *       spin            as wait, but the others spin: what `wait` is compared with
 *       work            20000 barriers
 * WHO   all, or a rank
 * WHEN  before (MPI_Init), middle (between two rounds of messages)
 *
 * Exit status 77: this system does not let us do that. Every byte that arrives is checked. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void cannot(const char *what)
{
    printf("downgrade: cannot %s: %s\n", what, strerror(errno));
    fflush(stdout);
    _exit(77);
}

static void fail(const char *what)
{
    fprintf(stderr, "downgrade: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void refuse(long a, long b, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)a, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)b, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        cannot("install a seccomp filter");
}

/* The limit becomes what the process uses now and a little more. */
static void tighten(int which, const char *field, unsigned long long more)
{
    unsigned long long used = 0;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, field, strlen(field)))
            used = strtoull(line + strlen(field), NULL, 10) * 1024;
    if (f)
        fclose(f);
    struct rlimit r = {used + more, used + more};
    if (!used || setrlimit(which, &r))
        cannot("limit the address space");
}

static void impair(const char *how, int mine)
{
    if (!strcmp(how, "undumpable") && geteuid() == 0 && setresuid(65534, 65534, 65534))
        cannot("become another user");
    if (!strcmp(how, "undumpable"))
        prctl(PR_SET_DUMPABLE, !mine);
    if (!mine)
        return;
    if (!strcmp(how, "eperm") || !strcmp(how, "enosys"))
        refuse(SYS_process_vm_readv, SYS_process_vm_writev, how[1] == 'p' ? EPERM : ENOSYS);
    else if (!strcmp(how, "nomembarrier"))
        refuse(SYS_membarrier, SYS_membarrier, EPERM);
    else if (!strcmp(how, "nobody")) {
        if (setresuid(65534, 65534, 65534))
            cannot("become another user");
    } else if (!strcmp(how, "userns")) {
        if (unshare(CLONE_NEWUSER))
            cannot("make a user namespace");
    } else if (!strcmp(how, "pidns")) {
        /* The next child is process 1 there; we stay outside and pass its end on. */
        if (unshare(CLONE_NEWPID) && (unshare(CLONE_NEWUSER) || unshare(CLONE_NEWPID)))
            cannot("make a pid namespace");
        pid_t child = fork();
        if (child < 0)
            cannot("fork");
        if (child > 0) {
            int status = 0;
            while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
            _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        }
    } else if (!strcmp(how, "nofile")) {
        struct rlimit r = {8, 8};
        if (setrlimit(RLIMIT_NOFILE, &r))
            cannot("limit descriptors");
    } else if (!strcmp(how, "as"))
        tighten(RLIMIT_AS, "VmSize:", 6 << 20);
    else if (!strcmp(how, "data"))
        tighten(RLIMIT_DATA, "VmData:", 4 << 20);
}

static unsigned char byte(int from, int to, int round, size_t i)
{
    return (unsigned char)((i * 2654435761u >> 7) + from * 31 + to * 17 + round * 101);
}

static void fill(unsigned char *p, size_t n, int from, int to, int round)
{
    for (size_t i = 0; i < n; i++)
        p[i] = byte(from, to, round, i);
}

static void verify(const unsigned char *p, size_t n, int from, int to, int round)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] != byte(from, to, round, i)) {
            fprintf(stderr, "downgrade: message of %zu bytes from %d to %d: byte %zu is wrong\n", n, from, to, i);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
}

/* Every rank to every other at once; then one pair after the other, receives posted late, every second byte (a vector). */
static void round_of_messages(int round)
{
    static const size_t sizes[] = {0, 8, 100, 4096, 20000, 40001, 65536, 300001, 1 << 20, (4 << 20) + 3};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        unsigned char *out = malloc(n * size + 1), *in = malloc(n * size + 1);
        MPI_Request *r = malloc(2 * size * sizeof *r);
        if (!out || !in || !r)
            fail("no memory for the test's own buffers");
        int k = 0;
        for (int p = 0; p < size; p++)
            if (p != rank) {
                memset(in + p * n, 0xee, n);
                fill(out + p * n, n, rank, p, round);
                MPI_Irecv(in + p * n, n, MPI_BYTE, p, round, MPI_COMM_WORLD, &r[k++]);
                MPI_Isend(out + p * n, n, MPI_BYTE, p, round, MPI_COMM_WORLD, &r[k++]);
            }
        MPI_Waitall(k, r, MPI_STATUSES_IGNORE);
        for (int p = 0; p < size; p++)
            if (p != rank)
                verify(in + p * n, n, p, rank, round);
        MPI_Datatype every_second;
        int half = n / 2;
        MPI_Type_vector(half, 1, 2, MPI_BYTE, &every_second);
        MPI_Type_commit(&every_second);
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        if (size > 1 && half > 0) {
            memset(in, 0xee, n);
            MPI_Isend(out + right * n, 1, every_second, right, 77, MPI_COMM_WORLD, &r[0]);
            MPI_Status st;
            MPI_Probe(left, 77, MPI_COMM_WORLD, &st);
            MPI_Recv(in, 1, every_second, left, 77, MPI_COMM_WORLD, &st);
            MPI_Wait(&r[0], MPI_STATUS_IGNORE);
            for (size_t i = 0; i < (size_t)half * 2; i++)
                if (in[i] != (i % 2 ? 0xee : byte(left, rank, round, i)))
                    fail("a byte of a vector is wrong");
        }
        MPI_Type_free(&every_second);
        free(out);
        free(in);
        free(r);
    }
}

static void small_messages(void)
{
    static unsigned char out[100], in[100];
    for (int shift = 1; shift < size; shift++) {
        int to = (rank + shift) % size, from = (rank + size - shift) % size;
        fill(out, sizeof out, rank, to, shift);
        MPI_Sendrecv(out, sizeof out, MPI_BYTE, to, 5, in, sizeof in, MPI_BYTE, from, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        verify(in, sizeof in, from, rank, shift);
    }
}

static volatile int transferring;

static void *killer(void *unused)
{
    (void)unused;
    while (!transferring)
        usleep(100);
    usleep(40000);
    /* 2: it was over before we came to it. */
    if (transferring == 2) {
        printf("downgrade: too late\n");
        fflush(stdout);
    }
    kill(getpid(), SIGKILL);
    return NULL;
}

static void huge(size_t n, int mine)
{
    pthread_t t;
    unsigned char *p = malloc(n);
    if (!p)
        cannot("allocate the message");
    if (rank == 0)
        memset(p, 1, n);
    if (mine)
        pthread_create(&t, NULL, killer, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    transferring = 1;
    MPI_Count count = n;
    if (rank == 0)
        MPI_Send_c(p, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv_c(p, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    transferring = 2;
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(30); /* until the launcher ends us */
}

static double seconds_used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void wait_long(int spin)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double used = seconds_used(), end = MPI_Wtime() + 3;
    if (rank == 0)
        sleep(3);
    else
        while (spin && MPI_Wtime() < end)
            ;
    MPI_Barrier(MPI_COMM_WORLD);
    used = seconds_used() - used;
    double all;
    MPI_Reduce(&used, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("downgrade: waited with %.4f s of processor time\n", all);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    const char *how = argv[1], *place = getenv("OXMPI_RANK");
    int everyone = !strcmp(argv[2], "all"), chosen = atoi(argv[2]), before = !strcmp(argv[3], "before");
    if (before && place)
        impair(how, everyone || atoi(place) == chosen);
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int mine = everyone || rank == chosen;
    if (!strcmp(how, "kill"))
        huge((size_t)(argc > 4 ? atoi(argv[4]) : 1024) << 20, mine);
    else if (!strcmp(how, "wait") || !strcmp(how, "spin"))
        wait_long(how[0] == 's');
    else if (!strcmp(how, "tight")) {
        if (mine)
            tighten(RLIMIT_AS, "VmSize:", 300 << 10);
        small_messages();
    } else if (!strcmp(how, "work"))
        for (int i = 0; i < 20000; i++)
            MPI_Barrier(MPI_COMM_WORLD);
    else
        for (int round = 0; round < 4; round++) {
            if (round == 2 && !before)
                impair(how, mine);
            round_of_messages(round);
        }
    MPI_Finalize();
    if (rank == 0)
        printf("downgrade: every byte arrived\n");
    return 0;
}
