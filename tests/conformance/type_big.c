/* ranks: 2 timeout: 600 */
/* MPI-5.0 3.2.5, 5.1.5, 5.1.11, 19.2: sizes, counts and messages beyond what an int holds.
 * The messages of 3 GiB need OXMPI_TEST_LARGE in the environment, and 7 GiB of memory that is free. */
#include "check.h"
#include <sys/mman.h>

#define GIB ((MPI_Count)1 << 30)
enum { TAG = 3 };
static const MPI_Count LARGE = 3 * GIB + 5;

/* What does not fit an int is MPI_UNDEFINED; all other forms tell it. */
static void sizes(void)
{
    MPI_Datatype t, u;
    int n = 0;
    MPI_Count size_ = 0, lb = -1, extent = 0;
    MPI_Aint a = -1, b = 0;
    OK(MPI_Type_contiguous_c(LARGE, MPI_CHAR, &t));
    OK(MPI_Type_size(t, &n));
    SAME(n, MPI_UNDEFINED, "size of 3 GiB as an int");
    OK(MPI_Type_size_c(t, &size_));
    SAME(size_, LARGE, "size_c");
    OK(MPI_Type_size_x(t, &size_));
    SAME(size_, LARGE, "size_x");
    OK(MPI_Type_get_extent(t, &a, &b));
    SAME(b, LARGE, "extent");
    OK(MPI_Type_get_true_extent_c(t, &lb, &extent));
    CHECK(lb == 0 && extent == LARGE, "true extent %lld, %lld", (long long)lb, (long long)extent);
    /* 2^31 - 1 still fits. */
    OK(MPI_Type_contiguous(2147483647, MPI_CHAR, &u));
    OK(MPI_Type_size(u, &n));
    SAME(n, 2147483647, "the largest int as a size");
    OK(MPI_Type_free(&u));
    /* Few bytes far apart, and negative ones. */
    OK(MPI_Type_create_hvector_c(3, 2, -5 * GIB, MPI_INT, &u));
    OK(MPI_Type_get_extent_c(u, &lb, &extent));
    CHECK(lb == -10 * GIB && extent == 10 * GIB + 8, "bounds %lld, %lld", (long long)lb, (long long)extent);
    OK(MPI_Type_size(u, &n));
    SAME(n, 24, "size");
    OK(MPI_Type_free(&u));
    /* Large counts of a type of nothing are nothing. */
    OK(MPI_Type_contiguous(0, MPI_INT, &u));
    OK(MPI_Type_commit(&u));
    MPI_Status status;
    OK(MPI_Sendrecv_c(NULL, 4 * GIB, u, 1 - rank, TAG, NULL, 8 * GIB, u, 1 - rank, TAG, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count_c(&status, MPI_INT, &size_));
    SAME(size_, 0, "a message of nothing");
    OK(MPI_Type_free(&u));
    OK(MPI_Type_free(&t));
}

static void counts_of_a_status(MPI_Status *status, MPI_Count bytes)
{
    int n = 0;
    MPI_Count x = 0;
    MPI_Datatype pair;
    OK(MPI_Get_count(status, MPI_CHAR, &n));
    SAME(n, MPI_UNDEFINED, "get_count of 3 GiB");
    OK(MPI_Get_count_c(status, MPI_CHAR, &x));
    SAME(x, bytes, "get_count_c");
    OK(MPI_Get_elements(status, MPI_CHAR, &n));
    SAME(n, MPI_UNDEFINED, "get_elements of 3 GiB");
    OK(MPI_Get_elements_x(status, MPI_CHAR, &x));
    SAME(x, bytes, "get_elements_x");
    OK(MPI_Get_elements_c(status, MPI_CHAR, &x));
    SAME(x, bytes, "get_elements_c");
    OK(MPI_Type_contiguous(2, MPI_CHAR, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Get_count(status, pair, &n));
    SAME(n, bytes % 2 ? MPI_UNDEFINED : (int)(bytes / 2), "get_count of pairs");
    OK(MPI_Get_elements_c(status, pair, &x));
    SAME(x, bytes, "elements of pairs");
    OK(MPI_Type_free(&pair));
    /* As doubles it fits an int, where it is a whole number of them. */
    OK(MPI_Get_count(status, MPI_DOUBLE, &n));
    SAME(n, bytes % 8 ? MPI_UNDEFINED : (int)(bytes / 8), "get_count of doubles");
}

static void statuses(void)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_elements_c(&status, MPI_CHAR, LARGE));
    counts_of_a_status(&status, LARGE);
    OK(MPI_Status_set_elements_x(&status, MPI_DOUBLE, LARGE / 8));
    counts_of_a_status(&status, LARGE / 8 * 8);
}

static unsigned char at(MPI_Count i, int who) { return (unsigned char)(i * 2654435761u >> 13) ^ (unsigned char)(i >> 20) ^ (unsigned char)who; }

static void fill(unsigned char *p, MPI_Count n, int who)
{
    for (MPI_Count i = 0; i < n; i++)
        p[i] = at(i, who);
}

static void compare(const unsigned char *p, MPI_Count n, int who, const char *what)
{
    for (MPI_Count i = 0; i < n; i++)
        CHECK(p[i] == at(i, who), "%s: byte %lld of %lld is wrong", what, (long long)i, (long long)n);
}

static void messages(unsigned char *p)
{
    MPI_Status status;
    MPI_Datatype t, mib;
    MPI_Request request;
    /* A count beyond 2^31. */
    if (rank == 0) {
        fill(p, LARGE, 1);
        OK(MPI_Send_c(p, LARGE, MPI_CHAR, 1, TAG, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv_c(p, LARGE, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &status));
        counts_of_a_status(&status, LARGE);
        compare(p, LARGE, 1, "send_c");
        memset(p, 0, LARGE);
    }
    /* The same by an int count of large elements, probed; received in blocks from the end to the beginning. */
    OK(MPI_Type_contiguous(1 << 20, MPI_BYTE, &mib));
    OK(MPI_Type_commit(&mib));
    OK(MPI_Type_create_hvector(3 << 10, 1 << 20, -(1 << 20), MPI_BYTE, &t));
    OK(MPI_Type_commit(&t));
    if (rank == 0) {
        OK(MPI_Isend(p, 3 << 10, mib, 1, TAG, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        MPI_Count n = 0;
        OK(MPI_Probe(0, TAG, MPI_COMM_WORLD, &status));
        OK(MPI_Get_elements_c(&status, mib, &n));
        SAME(n, 3 * GIB, "elements of a probed message");
        OK(MPI_Irecv(p + 3 * GIB - (1 << 20), 1, t, 0, TAG, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Get_count_c(&status, t, &n));
        SAME(n, 1, "one element of 3 GiB");
        for (MPI_Count b = 0; b < 3 << 10; b++)
            for (MPI_Count i = 0; i < 1 << 20; i += 4093)
                CHECK(p[3 * GIB - (b + 1) * (1 << 20) + i] == at(b * (1 << 20) + i, 1), "reversed blocks: block %lld",
                      (long long)b);
    }
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&mib));
    /* Too long by one byte. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (rank == 0) {
        OK(MPI_Send_c(p, LARGE, MPI_CHAR, 1, TAG, MPI_COMM_WORLD));
    } else {
        p[LARGE - 1] = 77;
        FAILS(MPI_ERR_TRUNCATE, MPI_Recv_c(p, LARGE - 1, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, &status));
        SAME(p[LARGE - 1], 77, "the byte after a message that was cut");
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

static void packing(unsigned char *p)
{
    /* Every other short of 4 GiB - 2 into 2 GiB, which an int does not count. */
    MPI_Datatype t;
    MPI_Count bytes = 0, position = 0, n = GIB / 2 + 3;
    OK(MPI_Type_vector_c(n, 1, 2, MPI_SHORT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Pack_size_c(2, t, MPI_COMM_SELF, &bytes));
    CHECK(bytes >= 4 * n, "pack_size_c of %lld bytes is %lld", (long long)(4 * n), (long long)bytes);
    unsigned char *out = mmap(NULL, 4 * n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(out != MAP_FAILED, "no memory");
    fill(p, 4 * n, rank);
    OK(MPI_Pack_c(p, 1, t, out, 4 * n, &position, MPI_COMM_SELF));
    SAME(position, 2 * n, "position after 1 GiB");
    OK(MPI_Pack_c(p, 1, t, out, 4 * n, &position, MPI_COMM_SELF));
    SAME(position, 4 * n, "position after 2 GiB");
    for (MPI_Count i = 0; i < n; i += 1021) {
        CHECK(!memcmp(out + 2 * i, p + 4 * i, 2), "packed short %lld", (long long)i);
        CHECK(!memcmp(out + 2 * n + 2 * i, p + 4 * i, 2), "packed short %lld, again", (long long)i);
    }
    munmap(out, 4 * n);
    OK(MPI_Type_free(&t));
}

static void collectives(unsigned char *p)
{
    if (rank == 1)
        fill(p, LARGE, 5);
    else
        memset(p, 0, LARGE);
    OK(MPI_Bcast_c(p, LARGE, MPI_BYTE, 1, MPI_COMM_WORLD));
    if (rank == 0)
        compare(p, LARGE, 5, "bcast_c");
    MPI_Count n = 2 * GIB + 3;
    OK(MPI_Allreduce_c(MPI_IN_PLACE, p, n, MPI_UINT8_T, MPI_BXOR, MPI_COMM_WORLD));
    for (MPI_Count i = 0; i < n; i++)
        CHECK(p[i] == 0, "allreduce_c: byte %lld is not 0", (long long)i);
    SAME(p[n], at(n, 5), "the byte after an allreduce_c");
}

static long long free_memory(void)
{
    char line[200];
    long long kib = -1;
    FILE *f = fopen("/proc/meminfo", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "MemAvailable: %lld", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib << 10;
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    sizes();
    statuses();
    int go = getenv("OXMPI_TEST_LARGE") && free_memory() > 9 * GIB, all = 0;
    OK(MPI_Allreduce(&go, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (all) {
        unsigned char *p = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(p != MAP_FAILED, "no memory");
        messages(p);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        collectives(p);
        munmap(p, LARGE);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            p = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            CHECK(p != MAP_FAILED, "no memory");
            packing(p);
        }
    } else if (getenv("OXMPI_TEST_LARGE")) {
        if (rank == 0)
            fprintf(stderr, "not 9 GiB of memory are free\n");
        MPI_Finalize();
        return 77;
    }
    return check_end();
}
