/* What the conformance programs share: checks that say what differed, and the frame of a program.
 *
 * A program's first line lists the rank counts it runs with, its second the clause of MPI-5.0 it tests. It
 * prints "ok" at rank 0 and returns 0, or says on stderr what differed and ends the job with code 1. It uses
 * standard MPI only, so that it can judge any implementation, and never relies on timing. */
#ifndef CHECK_H
#define CHECK_H
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

__attribute__((noreturn, format(printf, 3, 4), unused)) static void check_fail(const char *file, int line,
                                                                                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "%s:%d: rank %d of %d: ", file, line, rank, size);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    fflush(stderr);
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* CHECK(condition, "what it means, with values", ...) */
#define CHECK(condition, ...)                              \
    do {                                                   \
        if (!(condition))                                  \
            check_fail(__FILE__, __LINE__, __VA_ARGS__);   \
    } while (0)

/* The call succeeds. */
#define OK(call)                                                                         \
    do {                                                                                 \
        int ok_code_ = (call);                                                           \
        CHECK(ok_code_ == MPI_SUCCESS, "%s returned %d", #call, ok_code_);               \
    } while (0)

/* The call fails with this error class. */
#define FAILS(class, call)                                                                                 \
    do {                                                                                                   \
        int fails_code_ = (call), fails_class_ = MPI_SUCCESS;                                              \
        if (fails_code_ != MPI_SUCCESS)                                                                    \
            MPI_Error_class(fails_code_, &fails_class_);                                                   \
        CHECK(fails_class_ == (class), "%s gave error class %d, not %s", #call, fails_class_, #class);     \
    } while (0)

/* Integers are equal. */
#define SAME(got, want, what)                                                                                   \
    do {                                                                                                        \
        long long same_got_ = (long long)(got), same_want_ = (long long)(want);                                 \
        CHECK(same_got_ == same_want_, "%s: %s is %lld, not %lld", what, #got, same_got_, same_want_);          \
    } while (0)

__attribute__((unused)) static void *check_alloc(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    if (!p)
        check_fail(__FILE__, __LINE__, "no memory for %zu bytes", bytes);
    return p;
}

/* The same sequence at every rank that uses the same seed. */
__attribute__((unused)) static unsigned check_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33);
}

static inline void check_begin(int *argc, char ***argv)
{
    OK(MPI_Init(argc, argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static inline int check_end(void)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        printf("ok\n");
        fflush(stdout);
    }
    OK(MPI_Finalize());
    return 0;
}
#endif
