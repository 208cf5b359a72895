/* ranks: 1 2 3 4 5 8 timeout: 300 */
/* MPI-5.0 6.12, 6.13: every nonblocking and every persistent collective does what its blocking form does, to the byte */
#include "check.h"

/* The blocking form runs on one set of buffers, the others on copies of what it began with; afterwards all bytes are equal, those
 * between elements and those of send buffers too. Persistent requests are started three times. */
enum form { BLOCKING, NONBLOCKING, PERSISTENT };
enum op {
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
    REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, OPS
};

struct type {
    MPI_Datatype type;
    MPI_Op op;
    size_t extent;
};

static int counts[64], displs[64], byte_displs[64];
static MPI_Datatype types[64];

/* The affine map x -> a x + b: composition is associative and does not commute. */
static void compose(int a[2], int b[2], int out[2])
{
    int x = (int)((unsigned)a[0] * (unsigned)b[0]), y = (int)((unsigned)a[0] * (unsigned)b[1] + (unsigned)a[1]);
    out[0] = x, out[1] = y;
}
static void affine(void *in, void *inout, int *n, MPI_Datatype *t)
{
    (void)t;
    for (int i = 0; i < *n; i++)
        compose((int *)in + 2 * i, (int *)inout + 2 * i, (int *)inout + 2 * i);
}
/* The same on elements of 16 bytes with the second number 8 bytes behind the first. */
static void affine_gaps(void *in, void *inout, int *n, MPI_Datatype *t)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*t, &lb, &extent);
    if (extent != 16)
        abort();
    for (int i = 0; i < *n; i++) {
        int *a = (int *)in + 4 * i, *b = (int *)inout + 4 * i, p[2] = {a[0], a[2]}, q[2] = {b[0], b[2]}, r[2];
        compose(p, q, r);
        b[0] = r[0], b[2] = r[1];
    }
}

/* The three forms of one call. */
#define FORMS(Name, name, ...)                                                            \
    do {                                                                                  \
        if (form == BLOCKING)                                                             \
            OK(MPI_##Name(__VA_ARGS__, comm));                                            \
        else if (form == NONBLOCKING)                                                     \
            OK(MPI_I##name(__VA_ARGS__, comm, &r));                                       \
        else                                                                              \
            OK(MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &r));                  \
    } while (0)

static MPI_Request call(enum form form, enum op op, struct type *t, int count, int root, int in_place, char *s, char *d, MPI_Comm comm)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    MPI_Datatype T = t->type;
    void *send = in_place ? MPI_IN_PLACE : s, *at_root = in_place && me == root ? MPI_IN_PLACE : s;
    switch (op) {
    case BARRIER:
        if (form == BLOCKING)
            OK(MPI_Barrier(comm));
        else if (form == NONBLOCKING)
            OK(MPI_Ibarrier(comm, &r));
        else
            OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &r));
        break;
    case BCAST: FORMS(Bcast, bcast, d, count, T, root); break;
    case GATHER: FORMS(Gather, gather, at_root, count, T, d, count, T, root); break;
    case GATHERV: FORMS(Gatherv, gatherv, at_root, counts[me], T, d, counts, displs, T, root); break;
    case SCATTER: FORMS(Scatter, scatter, s, count, T, in_place && me == root ? MPI_IN_PLACE : d, count, T, root); break;
    case SCATTERV:
        FORMS(Scatterv, scatterv, s, counts, displs, T, in_place && me == root ? MPI_IN_PLACE : d, counts[me], T, root);
        break;
    case ALLGATHER: FORMS(Allgather, allgather, send, count, T, d, count, T); break;
    case ALLGATHERV: FORMS(Allgatherv, allgatherv, send, counts[me], T, d, counts, displs, T); break;
    case ALLTOALL: FORMS(Alltoall, alltoall, send, count, T, d, count, T); break;
    case ALLTOALLV: FORMS(Alltoallv, alltoallv, send, counts, displs, T, d, counts, displs, T); break;
    case ALLTOALLW: FORMS(Alltoallw, alltoallw, send, counts, byte_displs, types, d, counts, byte_displs, types); break;
    case REDUCE: FORMS(Reduce, reduce, at_root, d, count, T, t->op, root); break;
    case ALLREDUCE: FORMS(Allreduce, allreduce, send, d, count, T, t->op); break;
    case SCAN: FORMS(Scan, scan, send, d, count, T, t->op); break;
    case EXSCAN: FORMS(Exscan, exscan, send, d, count, T, t->op); break;
    case REDUCE_SCATTER_BLOCK: FORMS(Reduce_scatter_block, reduce_scatter_block, send, d, count, T, t->op); break;
    case REDUCE_SCATTER: FORMS(Reduce_scatter, reduce_scatter, send, d, counts, T, t->op); break;
    default: break;
    }
    return r;
}

static void fill(char *p, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (char)(check_random(&seed) >> 20);
}

static void one(enum op op, struct type *t, int count, int root, int in_place, MPI_Comm comm)
{
    int me, n;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    int at = 0;
    for (int r = 0; r < n; r++) {
        /* All to all takes as much from every rank as it gives: the same number for all, with gaps. */
        counts[r] = op >= ALLTOALL && op <= ALLTOALLW ? count : (count + 3 * r) % (count + 1);
        displs[r] = at, byte_displs[r] = (int)(at * t->extent), types[r] = t->type;
        at += counts[r] + (op == REDUCE_SCATTER ? 0 : r % 2);
    }
    size_t bytes = ((size_t)(count + 1) * n + 1) * t->extent;
    char *s0 = malloc(bytes), *d0 = malloc(bytes), *s = malloc(bytes), *d = malloc(bytes), *ws = malloc(bytes), *wd = malloc(bytes);
    fill(s0, bytes, 17 + me), fill(d0, bytes, 1000 + me);
    memcpy(ws, s0, bytes), memcpy(wd, d0, bytes);
    call(BLOCKING, op, t, count, root, in_place, ws, wd, comm);
    for (enum form form = NONBLOCKING; form <= PERSISTENT; form++) {
        memcpy(s, s0, bytes), memcpy(d, d0, bytes);
        MPI_Request r = call(form, op, t, count, root, in_place, s, d, comm);
        CHECK(r != MPI_REQUEST_NULL, "operation %d has no request", op);
        for (int run = 0; run < (form == PERSISTENT ? 3 : 1); run++) {
            if (form == PERSISTENT) {
                memcpy(s, s0, bytes), memcpy(d, d0, bytes);
                OK(MPI_Start(&r));
            }
            if ((count + run) % 2) {
                OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            } else {
                int flag = 0;
                while (!flag)
                    OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
            }
            CHECK((r == MPI_REQUEST_NULL) == (form == NONBLOCKING), "operation %d: the request after completion", op);
            CHECK(!memcmp(d, wd, bytes), "operation %d, form %d, run %d, count %d, extent %d, root %d, in place %d: the receive buffer",
                  op, form, run, count, (int)t->extent, root, in_place);
            CHECK(!memcmp(s, ws, bytes), "operation %d, form %d: the send buffer", op, form);
        }
        if (form == PERSISTENT)
            OK(MPI_Request_free(&r));
    }
    free(s0), free(d0), free(s), free(d), free(ws), free(wd);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    struct type all[3] = {{MPI_INT, MPI_SUM, 4}, {MPI_DATATYPE_NULL, MPI_OP_NULL, 8}, {MPI_DATATYPE_NULL, MPI_OP_NULL, 16}};
    MPI_Datatype vector;
    OK(MPI_Type_contiguous(2, MPI_INT, &all[1].type));
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &vector));
    OK(MPI_Type_create_resized(vector, 0, 16, &all[2].type));
    OK(MPI_Type_free(&vector));
    OK(MPI_Type_commit(&all[1].type));
    OK(MPI_Type_commit(&all[2].type));
    OK(MPI_Op_create(affine, 0, &all[1].op));
    OK(MPI_Op_create(affine_gaps, 0, &all[2].op));
    MPI_Comm half;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half));
    static const int sizes[] = {0, 1, 5, 300, 9000};
    for (enum op op = BARRIER; op < OPS; op++)
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 5; i++)
                for (int in_place = 0; in_place < 2; in_place++) {
                    if (op == BCAST && in_place)
                        continue;
                    one(op, &all[k], sizes[i], (int)((op + i) % size), in_place, MPI_COMM_WORLD);
                    one(op, &all[k], sizes[i], 0, in_place, half);
                }
    /* Long enough for segments and chunks. */
    one(BCAST, &all[2], 90000, size - 1, 0, MPI_COMM_WORLD);
    one(BCAST, &all[0], 300000, 0, 0, MPI_COMM_WORLD);
    one(ALLREDUCE, &all[1], 300000, 0, 1, MPI_COMM_WORLD);
    one(SCAN, &all[2], 70000, 0, 0, MPI_COMM_WORLD);
    OK(MPI_Comm_free(&half));
    for (int k = 1; k < 3; k++) {
        OK(MPI_Type_free(&all[k].type));
        OK(MPI_Op_free(&all[k].op));
    }
    return check_end();
}
