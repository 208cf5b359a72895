/* What `cargo xtask test errors` runs: jobs of which a part ends, or that begin with another error handler. See xtask/src/errors.rs for what is expected. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "rank %d: not so: %s\n", rank, what);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
}

static int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

static void begin(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int wrong(MPI_Comm comm)
{
    int v = 0;
    return MPI_Send(&v, 1, MPI_INT, 0, -5, comm);
}

/* What a survivor gets from others that miss something is worth nothing: no collective of all ranks succeeds. */
static void garbage(MPI_Comm all)
{
    enum { LONG = 1 << 20, SHORT = 1 << 6 };
    char *from = calloc(size, LONG), *to = calloc(size, LONG);
    MPI_Request r;
    for (int n = SHORT; n <= LONG; n += LONG - SHORT) {
        must(class_of(MPI_Alltoall(from, n, MPI_BYTE, to, n, MPI_BYTE, all)) == MPI_ERR_PROC_ABORTED, "MPI_Alltoall fails");
        must(class_of(MPI_Allgather(from, n, MPI_BYTE, to, n, MPI_BYTE, all)) == MPI_ERR_PROC_ABORTED, "MPI_Allgather fails");
        must(class_of(MPI_Allreduce(from, to, n, MPI_BYTE, MPI_BOR, all)) == MPI_ERR_PROC_ABORTED, "MPI_Allreduce fails");
        must(class_of(MPI_Bcast(from, n, MPI_BYTE, 0, all)) == MPI_ERR_PROC_ABORTED, "MPI_Bcast fails");
        MPI_Ibcast(from, n, MPI_BYTE, 0, all, &r);
        must(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)) == MPI_ERR_PROC_ABORTED, "MPI_Ibcast fails");
        MPI_Iallgather(from, n, MPI_BYTE, to, n, MPI_BYTE, all, &r);
        must(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)) == MPI_ERR_PROC_ABORTED, "MPI_Iallgather fails");
    }
    must(class_of(MPI_Barrier(all)) == MPI_ERR_PROC_ABORTED, "MPI_Barrier fails");
    MPI_Ibarrier(all, &r);
    must(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)) == MPI_ERR_PROC_ABORTED, "MPI_Ibarrier fails");
    free(from);
    free(to);
}

/* No communicator is made with ranks that are no more, and nobody waits for one. */
static void constructors(MPI_Comm all)
{
    MPI_Comm new;
    MPI_Group group;
    MPI_Request r;
    MPI_Comm_group(all, &group);
    must(class_of(MPI_Comm_dup(all, &new)) == MPI_ERR_PROC_ABORTED, "MPI_Comm_dup fails");
    must(class_of(MPI_Comm_split(all, 0, rank, &new)) == MPI_ERR_PROC_ABORTED, "MPI_Comm_split fails");
    must(class_of(MPI_Comm_create(all, group, &new)) == MPI_ERR_PROC_ABORTED, "MPI_Comm_create fails");
    int class = class_of(MPI_Comm_create_from_group(group, "z", MPI_INFO_NULL, MPI_ERRORS_RETURN, &new));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Comm_create_from_group fails");
    class = class_of(MPI_Comm_idup(all, &new, &r));
    if (class == MPI_SUCCESS)
        class = class_of(MPI_Wait(&r, MPI_STATUS_IGNORE));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Comm_idup fails");
    MPI_Group_free(&group);
}

/* Rank 0 goes on when all are here. Not a collective: who left that first could abort while others are in it, which would fail there. */
static void all_here(void)
{
    int v = 0;
    if (rank > 0)
        MPI_Send(&v, 1, MPI_INT, 0, 99, MPI_COMM_WORLD);
    for (int peer = 1; rank == 0 && peer < size; peer++)
        MPI_Recv(&v, 1, MPI_INT, peer, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 0 aborts; the others wait for its context, of which nobody has heard before. */
static void meeting(void)
{
    MPI_Comm new;
    MPI_Group group;
    begin();
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    if (rank == 0) {
        usleep(20000);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
        wrong(MPI_COMM_SELF);
    }
    int class = class_of(MPI_Comm_create_from_group(group, "z", MPI_INFO_NULL, MPI_ERRORS_RETURN, &new));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Comm_create_from_group fails");
    MPI_Group_free(&group);
    MPI_Finalize();
    printf("survivor %d ok\n", rank);
}

/* Two of the ranks are the groups of an intercommunicator, whose error handler ends both. */
static void two_groups(void)
{
    MPI_Comm local, both;
    begin();
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? rank : 2, rank, &local);
    if (rank < 2)
        MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, 1 - rank, 5, &both);
    all_here();
    if (rank < 2) {
        int v;
        if (rank == 0) {
            MPI_Comm_set_errhandler(both, MPI_ERRORS_ABORT);
            wrong(both);
        }
        MPI_Recv(&v, 1, MPI_INT, 0, 7, both, MPI_STATUS_IGNORE);
        must(0, "a rank that was aborted goes on");
    }
    MPI_Finalize();
    printf("survivor %d ok\n", rank);
}

static pthread_barrier_t held;

static void *hold(void *stream)
{
    flockfile(stream);
    pthread_barrier_wait(&held);
    for (;;)
        pause();
}

/* A thread holds stdout for ever, as one that waits in a read holds stdin. */
static void locked(int fatal)
{
    pthread_t thread;
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_barrier_init(&held, NULL, 2);
    pthread_create(&thread, NULL, hold, stdout);
    pthread_barrier_wait(&held);
    if (rank == 0 && fatal)
        wrong(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* The lower half of the ranks aborts in the way that `how` says; the upper half goes on without it. */
static void part(const char *how)
{
    MPI_Comm half, all, mine;
    int v = 1, sum = 0, class;
    begin();
    int upper = rank >= size / 2, victim = 0;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_dup(MPI_COMM_WORLD, &mine);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(mine, MPI_ERRORS_RETURN);
    /* Some calls, so that there is shared memory, and rings in all directions. */
    for (int i = 0; i < 10 && strcmp(how, "early"); i++) {
        MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, all);
        for (int peer = 0; peer < size; peer++)
            MPI_Sendrecv(&v, 1, MPI_INT, peer, 0, &sum, 1, MPI_INT, peer, 0, mine, MPI_STATUS_IGNORE);
    }
    all_here();
    if (!upper) {
        if (rank == victim) {
            for (int peer = size / 2; peer < size && strcmp(how, "early"); peer++) {
                MPI_Request offer;
                MPI_Psend_init(&v, 1, 1, MPI_INT, peer, 6, mine, MPI_INFO_NULL, &offer);
            }
            MPI_Comm_set_errhandler(half, MPI_ERRORS_ABORT);
            wrong(half);
            must(0, "MPI_ERRORS_ABORT does not return");
        }
        MPI_Recv(&v, 1, MPI_INT, victim, 7, half, MPI_STATUS_IGNORE);
        must(0, "a rank that was aborted goes on");
    }
    if (!strcmp(how, "collective")) {
        class = class_of(MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, all));
        must(class == MPI_ERR_PROC_ABORTED, "MPI_Allreduce gives MPI_ERR_PROC_ABORTED");
        static char data[1 << 20];
        class = class_of(MPI_Bcast(data, sizeof data, MPI_BYTE, 0, all));
        must(class == MPI_ERR_PROC_ABORTED, "a long MPI_Bcast gives MPI_ERR_PROC_ABORTED");
    }
    if (!strcmp(how, "garbage"))
        garbage(all);
    if (!strcmp(how, "constructors"))
        constructors(all);
    class = class_of(MPI_Recv(&v, 1, MPI_INT, victim, 1, mine, MPI_STATUS_IGNORE));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Recv from an aborted rank gives MPI_ERR_PROC_ABORTED");
    class = class_of(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 1, mine, MPI_STATUS_IGNORE));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Recv from anybody gives MPI_ERR_PROC_ABORTED");
    class = class_of(MPI_Probe(victim, 1, mine, MPI_STATUS_IGNORE));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Probe gives MPI_ERR_PROC_ABORTED");
    MPI_Request r;
    class = class_of(MPI_Irecv(&v, 1, MPI_INT, victim, 2, mine, &r));
    if (class == MPI_SUCCESS)
        class = class_of(MPI_Wait(&r, MPI_STATUS_IGNORE));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Irecv from an aborted rank gives MPI_ERR_PROC_ABORTED");
    class = class_of(MPI_Ssend(&v, 1, MPI_INT, victim, 1, mine));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Ssend to an aborted rank gives MPI_ERR_PROC_ABORTED");
    /* A failed exchange leaves nothing behind: the next message goes to the receive that follows. */
    int next = rank + 1 < size ? rank + 1 : size / 2, previous = rank > size / 2 ? rank - 1 : size - 1, lost = -1, got = -1;
    class = class_of(MPI_Sendrecv(&v, 1, MPI_INT, victim, 5, &lost, 1, MPI_INT, previous, 5, mine, MPI_STATUS_IGNORE));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Sendrecv to an aborted rank gives MPI_ERR_PROC_ABORTED");
    class = class_of(MPI_Isendrecv(&v, 1, MPI_INT, victim, 5, &lost, 1, MPI_INT, previous, 5, mine, &r));
    must(class == MPI_ERR_PROC_ABORTED, "MPI_Isendrecv to an aborted rank gives MPI_ERR_PROC_ABORTED");
    MPI_Barrier(half);
    must(MPI_Sendrecv(&rank, 1, MPI_INT, next, 5, &got, 1, MPI_INT, previous, 5, mine, MPI_STATUS_IGNORE) == MPI_SUCCESS, "survivors exchange");
    must(got == previous && lost == -1, "a receive that failed takes no message");
    /* A partitioned receive from it ends, whether its offer has come or not. */
    for (int tag = 6; tag < 8; tag++) {
        MPI_Precv_init(&lost, 1, 1, MPI_INT, victim, tag, mine, MPI_INFO_NULL, &r);
        must(MPI_Start(&r) == MPI_SUCCESS, "MPI_Start of a partitioned receive");
        must(class_of(MPI_Wait(&r, MPI_STATUS_IGNORE)) == MPI_ERR_PROC_ABORTED, "a partitioned receive gives MPI_ERR_PROC_ABORTED");
        must(MPI_Request_free(&r) == MPI_SUCCESS, "its request can be freed");
    }
    /* What does not need them works on. */
    v = 1;
    for (int i = 0; i < 10; i++)
        must(MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, half) == MPI_SUCCESS && sum == size - size / 2, "the rest adds up");
    MPI_Finalize();
    printf("survivor %d ok\n", rank);
}

/* A rank is killed while the others wait for it in a collective. */
static void killed(void)
{
    int v = 1, sum;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1)
        raise(SIGKILL);
    MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
}

static void initial(const char *name)
{
    MPI_Errhandler of_world, of_self;
    MPI_Errhandler want = !strcmp(name, "mpi_errors_return") ? MPI_ERRORS_RETURN
                          : !strcmp(name, "mpi_errors_abort") ? MPI_ERRORS_ABORT
                                                              : MPI_ERRORS_ARE_FATAL;
    char value[64] = "";
    int flag = 0, length = sizeof value, n;
    if (want == MPI_ERRORS_RETURN)
        must(class_of(MPI_Info_get_nkeys(MPI_INFO_NULL, &n)) == MPI_ERR_INFO, "an error before MPI_Init returns");
    begin();
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world);
    MPI_Comm_get_errhandler(MPI_COMM_SELF, &of_self);
    must(of_world == want && of_self == want, "the initial error handler is the one that was asked for");
    MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &length, value, &flag);
    must(flag && !strcmp(value, name), "MPI_INFO_ENV says so");
    MPI_Barrier(MPI_COMM_WORLD);
    if (want == MPI_ERRORS_RETURN) {
        must(class_of(wrong(MPI_COMM_WORLD)) == MPI_ERR_TAG, "an error returns");
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Finalize();
    if (want == MPI_ERRORS_RETURN)
        must(class_of(MPI_Info_get_nkeys(MPI_INFO_NULL, &n)) == MPI_ERR_INFO, "an error after MPI_Finalize returns");
    printf("initial %d ok\n", rank);
}

/* With the switch off, what is wrong goes through, where the library needs nothing of it. */
static void unchecked(void)
{
    int v = 3, w = 0;
    begin();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Datatype fresh;
    MPI_Type_contiguous(1, MPI_INT, &fresh);
    must(MPI_Sendrecv(&v, 1, fresh, rank, 0, &w, 1, fresh, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS && w == 3,
         "a datatype that is not committed is taken");
    MPI_Type_free(&fresh);
    must(class_of(MPI_Send(&v, 1, MPI_INT, size, 0, MPI_COMM_WORLD)) == MPI_ERR_RANK, "ranks are checked all the same");
    MPI_Finalize();
    printf("unchecked %d ok\n", rank);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!strcmp(argv[1], "part"))
        part(argv[2]);
    else if (!strcmp(argv[1], "killed"))
        killed();
    else if (!strcmp(argv[1], "initial"))
        initial(argv[2]);
    else if (!strcmp(argv[1], "meeting"))
        meeting();
    else if (!strcmp(argv[1], "groups"))
        two_groups();
    else if (!strcmp(argv[1], "locked"))
        locked(!strcmp(argv[2], "fatal"));
    else if (!strcmp(argv[1], "unchecked"))
        unchecked();
    else if (!strcmp(argv[1], "self")) {
        /* Only the process that errs ends. */
        begin();
        if (rank == 0) {
            MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
            wrong(MPI_COMM_SELF);
        }
        usleep(1000);
        MPI_Finalize();
        printf("survivor %d ok\n", rank);
    } else if (!strcmp(argv[1], "world")) {
        begin();
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
        if (rank == 1)
            wrong(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    return 0;
}
