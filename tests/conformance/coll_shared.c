/* ranks: 2 3 4 8 17 timeout: 300 */
/* MPI-5.0 6: collectives in the order in which ranks of one node meet them: run ahead, asleep, on communicators that come and go. */
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void nap(int microseconds) {
    struct timespec t = {0, microseconds * 1000L};
    nanosleep(&t, NULL);
}

static unsigned char at(int from, int call, int i) { return (unsigned char)(from * 31 + call * 7 + i); }

/* Not commutative: composition of x -> a x + b modulo 2^32, pairs (a, b). */
static void compose(void *in, void *inout, int *n, MPI_Datatype *dt) {
    unsigned *a = in, *b = inout;
    (void)dt;
    for (int i = 0; i < *n; i++, a += 2, b += 2) {
        unsigned p = a[0] * b[0], q = a[0] * b[1] + a[1];
        b[0] = p;
        b[1] = q;
    }
}

static void round_of(MPI_Comm comm, int call, int bytes) {
    int me, n, root;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &n);
    root = call % n;
    unsigned char *buf = malloc((size_t)bytes + 1), *all = malloc((size_t)bytes * n + 1), *out = malloc((size_t)bytes * n + 1);
    for (int i = 0; i < bytes; i++) buf[i] = me == root ? at(root, call, i) : 0;
    MPI_Bcast(buf, bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; i++) CHECK(buf[i] == at(root, call, i), "call %d, %d bytes", call, bytes);
    for (int i = 0; i < bytes; i++) buf[i] = at(me, call + 1, i);
    memset(all, 0, (size_t)bytes * n);
    MPI_Gather(buf, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, comm);
    if (me == root)
        for (int r = 0; r < n; r++)
            for (int i = 0; i < bytes; i++) CHECK(all[(size_t)r * bytes + i] == at(r, call + 1, i), "call %d, %d bytes", call, bytes);
    MPI_Allgather(buf, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < bytes; i++) CHECK(all[(size_t)r * bytes + i] == at(r, call + 1, i), "call %d, %d bytes", call, bytes);
    MPI_Alltoall(all, bytes, MPI_BYTE, out, bytes, MPI_BYTE, comm);
    for (int r = 0; r < n; r++)
        for (int i = 0; i < bytes; i++) CHECK(out[(size_t)r * bytes + i] == at(me, call + 1, i), "call %d, %d bytes", call, bytes);
    memset(buf, 0, (size_t)bytes);
    MPI_Scatter(all, bytes, MPI_BYTE, buf, bytes, MPI_BYTE, root, comm);
    for (int i = 0; i < bytes; i++) CHECK(buf[i] == at(me, call + 1, i), "call %d, %d bytes", call, bytes);

    int pairs = bytes / 8 + 1;
    unsigned *x = malloc((size_t)pairs * 8), *y = malloc((size_t)pairs * 8);
    for (int i = 0; i < pairs; i++) x[2 * i] = 2u * me + 3, x[2 * i + 1] = 100u * me + i;
    MPI_Datatype pair;
    MPI_Op op;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    MPI_Allreduce(x, y, pairs, pair, op, comm);
    for (int i = 0; i < pairs; i++) {
        unsigned a = 1, b = 0;
        for (int r = n - 1; r >= 0; r--) b = (2u * r + 3) * b + 100u * r + i, a = (2u * r + 3) * a;
        CHECK(y[2 * i] == a && y[2 * i + 1] == b, "call %d, %d bytes", call, bytes);
    }
    unsigned *z = malloc((size_t)pairs * 8);
    MPI_Reduce(x, z, pairs, pair, op, root, comm);
    if (me == root) CHECK(!memcmp(y, z, (size_t)pairs * 8), "call %d, %d bytes", call, bytes);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(x), free(y), free(z), free(buf), free(all), free(out);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static const int sizes[] = {0, 1, 8, 48, 49, 700, 4096, 4097, 20000, 32768, 40000, 150000};
    for (int call = 0; call < 24; call++) {
        /* One rank is late, so that the others fall asleep. */
        if (call % 5 == 0 && rank == call % size) nap(3000);
        round_of(MPI_COMM_WORLD, call, sizes[call % 12]);
    }
    /* Many short broadcasts: the root is far ahead of a late rank. */
    for (int call = 0; call < 2000; call++) {
        long v = rank == 0 ? call : -1;
        if (call % 500 == 0 && rank == size - 1) nap(2000);
        MPI_Bcast(&v, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        CHECK(v == call, "call %d", call);
    }
    /* Communicators that are freed while others still read what was written last. */
    for (int k = 0; k < 20; k++) {
        MPI_Comm dup, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
        round_of(part, k, sizes[k % 9]);
        for (int call = 0; call < 10; call++) {
            long v[9];
            for (int i = 0; i < 9; i++) v[i] = rank == 0 ? 10 * call + i : -1;
            if (k % 7 == 0 && call == 9 && rank == size - 1) nap(2000);
            MPI_Bcast(v, call % 9 + 1, MPI_LONG, 0, dup);
            for (int i = 0; i <= call % 9; i++) CHECK(v[i] == 10 * call + i, "call %d", call);
        }
        MPI_Comm_free(&dup);
        MPI_Comm_free(&part);
    }
    /* A rank that waits in a collective moves messages: the send below needs its receiver's help. */
    if (size > 1) {
        int n = 1 << 20;
        char *big = calloc(1, n);
        if (rank == 0) {
            MPI_Request req;
            MPI_Irecv(big, n, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &req);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
        } else {
            if (rank == 1) MPI_Send(big, n, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        free(big);
    }
    MPI_Finalize();
    return 0;
}
