/* ranks: 1 2 3 4 5 8 timeout: 300 */
/* MPI-5.0 6.12, 6.13: random nonblocking and persistent collectives and messages over three communicators, against a sequential model */
#include "check.h"

/* All ranks draw the same starts from one sequence, and complete them in an order and by procedures that each draws for itself. What
 * an operation leaves is computed from the ranks, its number and its run. NBC_RANDOM=CASES[,SEED] asks for more cases. */
enum { COMMS = 3, MOST = 24, PERSISTENT = 8, LONG = 5000 };
enum kind { BARRIER, BCAST, GATHER, SCATTER, ALLGATHER, ALLTOALL, REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK, RING, WILD, KINDS };
static const char *names[] = {"barrier", "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce", "scan", "exscan",
                              "reduce_scatter_block", "message", "message from any source"};

struct op {
    enum kind kind;
    int comm, count, root, number, in_place, runs, run, pairs, active;
    int *in, *out;
    MPI_Request request, send;
};

static MPI_Comm comms[COMMS];
static int me[COMMS], n[COMMS];
static MPI_Op compose_op;
static MPI_Datatype pair;
static struct op under[MOST + PERSISTENT];
static int number_under;
/* Persistent operations with runs to come, the same list at all ranks: their numbers, and the runs left. */
static int again[PERSISTENT][2], number_again;

static int value(const struct op *o, int r, int i) { return (r + 1) * 37 + i * 7 + o->number * 3 + o->run; }

/* Composition of affine maps on pairs; the sum on plain numbers. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *t)
{
    (void)t;
    unsigned *a = in, *b = inout;
    for (int i = 0; i < *len; i++, a += 2, b += 2) {
        unsigned x = a[0] * b[0], y = a[0] * b[1] + a[1];
        b[0] = x, b[1] = y;
    }
}

/* The result for number `i` of a reduction over ranks first..last, where that is element `i` of their input. */
static int reduced(const struct op *o, int last, int i)
{
    if (!o->pairs) {
        int sum = 0;
        for (int r = 0; r <= last; r++)
            sum += value(o, r, i);
        return sum;
    }
    unsigned x = 1, y = 0;
    for (int r = last; r >= 0; r--) {
        unsigned a = value(o, r, i & ~1), b = value(o, r, i | 1);
        y = a * y + b, x = a * x;
    }
    /* The fold from the right with the identity: a0(a1(...)). */
    return (int)(i & 1 ? y : x);
}

/* Numbers of the input and output at this rank. */
static int ins(const struct op *o)
{
    int each = o->count * (o->pairs ? 2 : 1);
    return o->kind == SCATTER || o->kind == ALLTOALL || o->kind == REDUCE_SCATTER_BLOCK ? each * n[o->comm] : each;
}
static int outs(const struct op *o)
{
    int each = o->count * (o->pairs ? 2 : 1);
    return o->kind == GATHER || o->kind == ALLGATHER || o->kind == ALLTOALL ? each * n[o->comm] : each;
}

static void fill(struct op *o)
{
    int m = me[o->comm];
    for (int i = 0; i < ins(o); i++)
        o->in[i] = value(o, m, i);
    for (int i = 0; i < outs(o); i++)
        o->out[i] = -1;
    if (o->in_place)
        for (int i = 0; i < ins(o); i++)
            o->out[o->kind == ALLGATHER ? m * o->count + i : i] = o->in[i];
    if (o->kind == BCAST && m == o->root)
        memcpy(o->out, o->in, sizeof(int) * (size_t)ins(o));
}

static void verify(const struct op *o)
{
    int m = me[o->comm], size_ = n[o->comm], c = o->count ? o->count : 1, each = c * (o->pairs ? 2 : 1);
    for (int i = 0; i < outs(o); i++) {
        int want = -1, before = o->in_place && o->kind != ALLGATHER ? value(o, m, i) : -1;
        switch (o->kind) {
        case BCAST: want = value(o, o->root, i); break;
        case GATHER: want = m == o->root ? value(o, i / c, i % c) : -1; break;
        case SCATTER: want = value(o, o->root, m * c + i); break;
        case ALLGATHER: want = value(o, i / c, i % c); break;
        case ALLTOALL: want = value(o, i / c, m * c + i % c); break;
        case REDUCE: want = m == o->root ? reduced(o, size_ - 1, i) : before; break;
        case ALLREDUCE: want = reduced(o, size_ - 1, i); break;
        case SCAN: want = reduced(o, m, i); break;
        case EXSCAN: want = m ? reduced(o, m - 1, i) : before; break;
        case REDUCE_SCATTER_BLOCK: want = reduced(o, size_ - 1, m * each + i); break;
        case RING:
        case WILD: want = value(o, (m + size_ - 1) % size_, i); break;
        default: continue;
        }
        CHECK(o->out[i] == want, "number %d of %s %d (run %d of %d, communicator %d, count %d, in place %d, pairs %d) is %d, not %d", i,
              names[o->kind], o->number, o->run, o->runs, o->comm, o->count, o->in_place, o->pairs, o->out[i], want);
    }
}

#define FORMS(Name, name, ...)                                                      \
    do {                                                                            \
        if (o->runs)                                                                \
            OK(MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &o->request));   \
        else                                                                        \
            OK(MPI_I##name(__VA_ARGS__, comm, &o->request));                        \
    } while (0)

static void begin(struct op *o)
{
    MPI_Comm comm = comms[o->comm];
    MPI_Datatype T = o->pairs ? pair : MPI_INT;
    MPI_Op op = o->pairs ? compose_op : MPI_SUM;
    int k = o->count, root = o->root, m = me[o->comm], size_ = n[o->comm];
    void *in = o->in_place ? MPI_IN_PLACE : o->in;
    o->request = o->send = MPI_REQUEST_NULL;
    switch (o->kind) {
    case BARRIER:
        if (o->runs)
            OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &o->request));
        else
            OK(MPI_Ibarrier(comm, &o->request));
        break;
    case BCAST: FORMS(Bcast, bcast, o->out, k, T, root); break;
    case GATHER: FORMS(Gather, gather, o->in, k, T, o->out, k, T, root); break;
    case SCATTER: FORMS(Scatter, scatter, o->in, k, T, o->out, k, T, root); break;
    case ALLGATHER: FORMS(Allgather, allgather, in, k, T, o->out, k, T); break;
    case ALLTOALL: FORMS(Alltoall, alltoall, in, k, T, o->out, k, T); break;
    case REDUCE: FORMS(Reduce, reduce, o->in_place && m == root ? MPI_IN_PLACE : o->in, o->out, k, T, op, root); break;
    case ALLREDUCE: FORMS(Allreduce, allreduce, in, o->out, k, T, op); break;
    case SCAN: FORMS(Scan, scan, in, o->out, k, T, op); break;
    case EXSCAN: FORMS(Exscan, exscan, in, o->out, k, T, op); break;
    case REDUCE_SCATTER_BLOCK: FORMS(Reduce_scatter_block, reduce_scatter_block, o->in, o->out, k, T, op); break;
    default:
        OK(MPI_Irecv(o->out, k, MPI_INT, o->kind == WILD ? MPI_ANY_SOURCE : (m + size_ - 1) % size_, o->number, comm, &o->request));
        OK(MPI_Isend(o->in, k, MPI_INT, (m + 1) % size_, o->number, comm, &o->send));
    }
}

static void draw(struct op *o, int number, uint64_t *s)
{
    memset(o, 0, sizeof *o);
    o->number = number;
    o->kind = check_random(s) % KINDS;
    o->comm = check_random(s) % COMMS;
    o->count = check_random(s) % 12;
    if (check_random(s) % 10 == 0)
        o->count = check_random(s) % LONG + 1;
    o->root = check_random(s) % (unsigned)n[o->comm];
    int reduces = o->kind >= REDUCE && o->kind <= REDUCE_SCATTER_BLOCK;
    o->in_place = check_random(s) % 3 == 0 && (o->kind == ALLGATHER || o->kind == ALLTOALL || (reduces && o->kind != REDUCE_SCATTER_BLOCK));
    o->pairs = check_random(s) % 2 && reduces;
    o->runs = check_random(s) % 4 == 0 && o->kind < RING ? 1 + (int)(check_random(s) % 3) : 0;
    if (o->runs > 1) {
        if (number_again < PERSISTENT)
            again[number_again][0] = number, again[number_again++][1] = o->runs - 1;
        else
            o->runs = 1;
    }
    o->active = 1;
    o->in = malloc(sizeof(int) * (size_t)(ins(o) + 1));
    o->out = malloc(sizeof(int) * (size_t)(outs(o) + 1));
    fill(o);
}

/* Its request is complete: what follows. */
static void completed(int k)
{
    struct op *o = &under[k];
    verify(o);
    if (o->send != MPI_REQUEST_NULL)
        OK(MPI_Wait(&o->send, MPI_STATUS_IGNORE));
    o->active = 0;
    if (++o->run < o->runs)
        return;
    if (o->runs)
        OK(MPI_Request_free(&o->request));
    SAME(o->request == MPI_REQUEST_NULL, 1, "a completed request");
    free(o->in), free(o->out);
    under[k] = under[--number_under];
}

/* Starts a persistent operation once more; the same one at all ranks. */
static void start_again(unsigned which)
{
    int number = again[which][0];
    if (--again[which][1] == 0) {
        --number_again;
        again[which][0] = again[number_again][0], again[which][1] = again[number_again][1];
    }
    for (int k = 0; k < number_under; k++) {
        struct op *o = &under[k];
        if (o->number != number)
            continue;
        if (o->active) {
            OK(MPI_Wait(&o->request, MPI_STATUS_IGNORE));
            completed(k);
        }
        fill(o);
        o->active = 1;
        OK(MPI_Start(&o->request));
        return;
    }
    CHECK(0, "persistent operation %d is gone", number);
}

/* Completes something of what is under way, by one of the procedures. */
static void complete(uint64_t *own)
{
    MPI_Request all[MOST + PERSISTENT];
    int index, flag, count, indices[MOST + PERSISTENT];
    for (int i = 0; i < number_under; i++)
        all[i] = under[i].request;
    int k = check_random(own) % (unsigned)number_under;
    switch (check_random(own) % 6) {
    case 0:
        OK(MPI_Wait(&under[k].request, MPI_STATUS_IGNORE));
        if (under[k].active)
            completed(k);
        break;
    case 1:
        OK(MPI_Test(&under[k].request, &flag, MPI_STATUS_IGNORE));
        if (flag && under[k].active)
            completed(k);
        break;
    case 2:
        OK(MPI_Waitany(number_under, all, &index, MPI_STATUS_IGNORE));
        if (index != MPI_UNDEFINED) {
            under[index].request = all[index];
            completed(index);
        }
        break;
    case 3:
        OK(MPI_Testany(number_under, all, &index, &flag, MPI_STATUS_IGNORE));
        if (flag && index != MPI_UNDEFINED) {
            under[index].request = all[index];
            completed(index);
        }
        break;
    default:
        if (check_random(own) % 2)
            OK(MPI_Waitsome(number_under, all, &count, indices, MPI_STATUSES_IGNORE));
        else
            OK(MPI_Testsome(number_under, all, &count, indices, MPI_STATUSES_IGNORE));
        if (count == MPI_UNDEFINED)
            break;
        for (int i = 0; i < count; i++)
            under[indices[i]].request = all[indices[i]];
        /* From the last, since the last of those under way takes the place of one that goes. */
        for (int p = number_under - 1; p >= 0; p--)
            for (int i = 0; i < count; i++)
                if (indices[i] == p)
                    completed(p);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    int cases = 3000, seed = 1;
    if (getenv("NBC_RANDOM"))
        sscanf(getenv("NBC_RANDOM"), "%d,%d", &cases, &seed);
    comms[0] = MPI_COMM_WORLD;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[2]));
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm_rank(comms[i], &me[i]);
        MPI_Comm_size(comms[i], &n[i]);
    }
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(compose, 0, &compose_op));
    uint64_t common = 77 + (uint64_t)seed, own = 1000 * (uint64_t)seed + (uint64_t)rank;
    for (int c = 0; c < cases;) {
        if (number_under < MOST && check_random(&own) % 3) {
            struct op *o = &under[number_under++];
            draw(o, c++, &common);
            begin(o);
            if (o->runs)
                OK(MPI_Start(&o->request));
            if (number_again && check_random(&common) % 4 == 0)
                start_again(check_random(&common) % (unsigned)number_again);
            if (check_random(&common) % 20 == 0) {
                int sum;
                OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
                SAME(sum, size * (size - 1) / 2, "a blocking collective in between");
            }
        } else if (number_under) {
            complete(&own);
        }
    }
    while (number_again)
        start_again(0);
    while (number_under)
        complete(&own);
    OK(MPI_Op_free(&compose_op));
    OK(MPI_Type_free(&pair));
    for (int i = 1; i < COMMS; i++)
        OK(MPI_Comm_free(&comms[i]));
    return check_end();
}
