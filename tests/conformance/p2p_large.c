/* ranks: 2 3 */
/* MPI-5.0 3.4 to 3.7, 9.2: messages of every large size, from and to runs and pieces, private and allocated memory, in every order of
 * arrival, several at a time and both ways; a receive buffer that is too short. */
#include "check.h"

enum { KINDS = 4, ROUNDS = 6 };
static const int sizes[] = {4096, 4104, 8192, 16384, 32768, 32776, 65536, 100000, 262144, 524288 + 8, 3000000};

/* One buffer of `bytes` of data: 0 a run, 1 allocated by MPI, 2 in blocks of 512 with gaps, 3 in blocks of 8 with gaps. */
struct data {
    int kind, bytes;
    char *at;
    MPI_Datatype type;
    int count;
};

static unsigned char value(int seed, int i) { return (unsigned char)(seed * 31 + i * 7 + (i >> 8) + 1); }

static int gap(int kind) { return kind == 2 ? 512 : 8; }

static long place(const struct data *d, int i)
{
    if (d->kind < 2)
        return i;
    int g = gap(d->kind);
    return (long)(i / g) * 2 * g + i % g;
}

static struct data make(int kind, int bytes)
{
    struct data d = {kind, bytes, NULL, MPI_BYTE, bytes};
    long room = kind < 2 ? bytes : 2L * bytes + 1024;
    if (kind == 1)
        OK(MPI_Alloc_mem(room, MPI_INFO_NULL, &d.at));
    else
        d.at = malloc(room);
    memset(d.at, 0xee, room);
    if (kind >= 2) {
        int g = gap(kind);
        MPI_Datatype block;
        OK(MPI_Type_contiguous(g, MPI_BYTE, &block));
        OK(MPI_Type_create_resized(block, 0, 2 * g, &d.type));
        OK(MPI_Type_commit(&d.type));
        OK(MPI_Type_free(&block));
        d.bytes = bytes / g * g;
        d.count = d.bytes / g;
    }
    return d;
}

static void done(struct data *d)
{
    if (d->kind >= 2)
        OK(MPI_Type_free(&d->type));
    if (d->kind == 1)
        OK(MPI_Free_mem(d->at));
    else
        free(d->at);
}

static void fill(struct data *d, int seed)
{
    for (int i = 0; i < d->bytes; i++)
        d->at[place(d, i)] = (char)value(seed, i);
}

static void compare(const struct data *d, int bytes, int seed)
{
    for (int i = 0; i < bytes; i++)
        CHECK((unsigned char)d->at[place(d, i)] == value(seed, i), "kind %d, %d bytes, seed %d: byte %d is %d, not %d", d->kind,
              bytes, seed, i, (unsigned char)d->at[place(d, i)], value(seed, i));
    if (d->kind >= 2)
        for (int i = 0; i < d->count; i++)
            CHECK((unsigned char)d->at[(long)i * 2 * gap(d->kind) + gap(d->kind)] == 0xee, "a gap was written");
}

static void one_way(int bytes, int from, int to)
{
    struct data s = make(from, bytes), r = make(to, bytes);
    int n = s.bytes < r.bytes ? s.bytes : r.bytes;
    for (int round = 0; round < ROUNDS; round++) {
        int posted = round & 1, sync = round & 2;
        if (rank == 0) {
            fill(&s, round);
            if (posted)
                OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            int count = from < 2 ? n : n / gap(from);
            OK((sync ? MPI_Ssend : MPI_Send)(s.at, count, s.type, 1, 5, MPI_COMM_WORLD));
        } else if (rank == 1) {
            MPI_Request q;
            MPI_Status st;
            if (!posted)
                OK(MPI_Probe(0, 5, MPI_COMM_WORLD, &st));
            OK(MPI_Irecv(r.at, r.count, r.type, 0, 5, MPI_COMM_WORLD, &q));
            if (posted)
                OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD));
            OK(MPI_Wait(&q, &st));
            int got;
            OK(MPI_Get_count(&st, MPI_BYTE, &got));
            int want = from < 2 ? n : n / gap(from) * gap(from);
            SAME(got, want, "bytes received");
            compare(&r, want, round);
        }
    }
    done(&s);
    done(&r);
}

/* Everybody to everybody, several at a time, waited for in another order. */
static void crowd(int bytes)
{
    enum { DEEP = 3 };
    struct data s[8 * DEEP], r[8 * DEEP];
    MPI_Request q[16 * DEEP];
    int n = 0, m = 0;
    for (int p = 0; p < size; p++)
        for (int k = 0; k < DEEP; k++, m++) {
            s[m] = make(k % 3, bytes);
            r[m] = make((k + p) % 3, bytes);
            fill(&s[m], rank * 16 + p * 4 + k);
        }
    for (int i = 0; i < m; i++)
        OK(MPI_Isend(s[i].at, s[i].count, s[i].type, i / DEEP, i % DEEP, MPI_COMM_WORLD, &q[n++]));
    for (int i = m - 1; i >= 0; i--)
        OK(MPI_Irecv(r[i].at, r[i].count, r[i].type, i / DEEP, i % DEEP, MPI_COMM_WORLD, &q[n++]));
    OK(MPI_Waitall(n, q, MPI_STATUSES_IGNORE));
    for (int i = 0; i < m; i++) {
        compare(&r[i], s[i].bytes < r[i].bytes ? s[i].bytes : r[i].bytes, (i / DEEP) * 16 + rank * 4 + i % DEEP);
        done(&s[i]);
        done(&r[i]);
    }
}

static void too_short(int bytes, int kind)
{
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    struct data s = make(0, bytes), r = make(kind, bytes / 2);
    if (rank == 0) {
        fill(&s, 3);
        OK(MPI_Send(s.at, bytes, MPI_BYTE, 1, 6, MPI_COMM_WORLD));
        OK(MPI_Send(s.at, bytes, MPI_BYTE, 1, 6, MPI_COMM_WORLD));
    } else if (rank == 1) {
        FAILS(MPI_ERR_TRUNCATE, MPI_Recv(r.at, r.count, r.type, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        FAILS(MPI_ERR_TRUNCATE, MPI_Recv(r.at, 0, r.type, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    done(&s);
    done(&r);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int from = 0; from < KINDS; from++)
            for (int to = 0; to < KINDS; to++)
                one_way(sizes[k], from, to);
    for (int round = 0; round < 4; round++) {
        crowd(20480);
        crowd(300032);
        crowd(2000384);
    }
    too_short(40000, 0);
    too_short(1000000, 0);
    too_short(1000000, 1);
    too_short(1000000, 2);
    if (rank == 0)
        printf("ok\n");
    MPI_Finalize();
    return 0;
}
