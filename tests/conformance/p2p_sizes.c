/* ranks: 1 2 3 4 8 */
/* MPI-5.0 3.2 Blocking Send and Receive, 3.5 Semantics (progress), 3.9 Send-Receive: every size, both directions */
#include "check.h"

enum { LARGE = 8 << 20 };

static int next, previous;
static unsigned char *out, *in;

static unsigned char byte_of(int owner, size_t i, int salt) { return (unsigned char)(owner * 37 + salt * 11 + i * 131 + (i >> 8)); }

static void fill(size_t bytes, int salt)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = byte_of(rank, i, salt);
    memset(in, 0xEE, bytes + 64);
}

static void verify(size_t bytes, int salt, const char *what)
{
    for (size_t i = 0; i < bytes; i++)
        CHECK(in[i] == byte_of(previous, i, salt), "%s of %zu bytes: byte %zu is %d, not %d", what, bytes, i, in[i],
              byte_of(previous, i, salt));
    for (size_t i = bytes; i < bytes + 64; i++)
        CHECK(in[i] == 0xEE, "%s of %zu bytes wrote byte %zu", what, bytes, i);
}

/* Round the ring; the buffers begin at odd addresses now and then. */
static void exchange(size_t bytes, int salt)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int count = -1;
    fill(bytes, salt);
    OK(MPI_Irecv(in, (int)bytes + 64, MPI_BYTE, previous, 0, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, (int)bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    OK(MPI_Get_count(&statuses[0], MPI_BYTE, &count));
    SAME(count, bytes, "size of a message");
    verify(bytes, salt, "exchange");
}

/* The message is there before the receive. */
static void unexpected(size_t bytes, int salt)
{
    MPI_Request request;
    fill(bytes, salt);
    OK(MPI_Isend(out, (int)bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Probe(previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Recv(in, (int)bytes, MPI_BYTE, previous, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    verify(bytes, salt, "unexpected message");
}

static void send_receive(size_t bytes, int salt)
{
    MPI_Status status;
    fill(bytes, salt);
    OK(MPI_Sendrecv(out, (int)bytes, MPI_BYTE, next, 3, in, (int)bytes, MPI_BYTE, previous, 3, MPI_COMM_WORLD, &status));
    SAME(status.MPI_SOURCE, previous, "sendrecv: source");
    verify(bytes, salt, "sendrecv");
    fill(bytes, salt);
    memcpy(in, out, bytes);
    OK(MPI_Sendrecv_replace(in, (int)bytes, MPI_BYTE, next, 4, previous, 4, MPI_COMM_WORLD, &status));
    verify(bytes, salt, "sendrecv_replace");
}

/* Sendrecv_replace of every second int, sizes known by wildcards. */
static void replace_strided(void)
{
    int v[20];
    MPI_Datatype type;
    OK(MPI_Type_vector(10, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 20; i++)
        v[i] = i % 2 ? -5 : rank * 100 + i;
    OK(MPI_Sendrecv_replace(v, 1, type, next, 8, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 20; i++)
        SAME(v[i], i % 2 ? -5 : previous * 100 + i, "strided sendrecv_replace");
    OK(MPI_Type_free(&type));
    /* The wildcards above must not meet what a faster rank sends next. */
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Long messages from everybody to everybody, all outstanding. */
static void crowd(void)
{
    enum { COUNT = 100000 };
    int *from = check_alloc((size_t)size * COUNT * sizeof(int)), *to = check_alloc((size_t)size * COUNT * sizeof(int));
    MPI_Request requests[128];
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < COUNT; i++)
            to[r * COUNT + i] = rank * 7 + r * 3 + i;
        OK(MPI_Irecv(from + r * COUNT, COUNT, MPI_INT, r, 5, MPI_COMM_WORLD, &requests[2 * r]));
        OK(MPI_Isend(to + r * COUNT, COUNT, MPI_INT, r, 5, MPI_COMM_WORLD, &requests[2 * r + 1]));
    }
    OK(MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < COUNT; i++)
            SAME(from[r * COUNT + i], r * 7 + rank * 3 + i, "crowd");
    free(from);
    free(to);
}

/* A window of messages of mixed sizes, waited for in reverse. */
static void window(void)
{
    enum { W = 64, STEP = 3000 };
    MPI_Request receives[W], sends[W];
    size_t at[W], total = 0;
    for (int i = 0; i < W; i++)
        at[i] = total, total += (size_t)i * STEP % 50000;
    fill(total, 1);
    for (int i = 0; i < W; i++) {
        OK(MPI_Irecv(in + at[i], (int)((size_t)i * STEP % 50000), MPI_BYTE, previous, 6, MPI_COMM_WORLD, &receives[i]));
        OK(MPI_Isend(out + at[i], (int)((size_t)i * STEP % 50000), MPI_BYTE, next, 6, MPI_COMM_WORLD, &sends[i]));
    }
    for (int i = W - 1; i >= 0; i--) {
        OK(MPI_Wait(&receives[i], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&sends[i], MPI_STATUS_IGNORE));
    }
    verify(total, 1, "window");
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    out = check_alloc(LARGE + 64);
    in = check_alloc(LARGE + 128);
    for (size_t bytes = 0; bytes <= 600; bytes++)
        exchange(bytes, (int)bytes);
    for (size_t bytes = 601; bytes <= 70000; bytes += 97)
        exchange(bytes, (int)bytes);
    for (size_t power = 1024; power <= 65536; power *= 2)
        for (int d = -1; d <= 1; d++) {
            exchange(power + d, 3);
            unexpected(power + d, 4);
            send_receive(power + d, 5);
        }
    static const size_t larger[] = { 100001, 1 << 20, (1 << 20) + 1, 3000003, LARGE };
    for (size_t k = 0; k < sizeof larger / sizeof *larger; k++) {
        exchange(larger[k], 6);
        unexpected(larger[k], 7);
        send_receive(larger[k], 8);
    }
    send_receive(0, 0);
    send_receive(1, 0);
    replace_strided();
    window();
    crowd();
    free(out);
    free(in);
    return check_end();
}
