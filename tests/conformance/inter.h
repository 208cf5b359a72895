/* An intercommunicator between two parts of MPI_COMM_WORLD, in several shapes. */
#ifndef INTER_H
#define INTER_H
#include "check.h"

typedef struct {
    MPI_Comm comm;            /* the intercommunicator */
    MPI_Comm local;           /* this group */
    int side;                 /* 0 or 1 */
    int rank, size;           /* in the local group */
    int remote;               /* size of the remote group */
    int me, other;            /* members[me][r]: world ranks of the local group */
    int members[2][64], n[2]; /* by side, in rank order */
} Inter;

enum { SHAPES = 4 };

/* Halves, even against odd, one against all others (in descending order), all but one against one. */
static int side_of(int shape, int r)
{
    switch (shape) {
    case 0: return r >= size / 2;
    case 1: return r % 2;
    case 2: return r != 0;
    default: return r == size - 1;
    }
}

static Inter inter_make(int shape)
{
    Inter c = { .comm = MPI_COMM_NULL };
    c.side = side_of(shape, rank);
    for (int i = 0; i < size; i++) {
        int r = shape == 2 ? size - 1 - i : i, s = side_of(shape, r);
        c.members[s][c.n[s]++] = r;
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, c.side, shape == 2 ? -rank : rank, &c.local));
    OK(MPI_Comm_rank(c.local, &c.rank));
    OK(MPI_Comm_size(c.local, &c.size));
    c.me = c.side, c.other = 1 - c.side;
    c.remote = c.n[c.other];
    /* The last rank of each group leads, for a change. */
    OK(MPI_Intercomm_create(c.local, c.size - 1, MPI_COMM_WORLD, c.members[c.other][c.remote - 1], 17 + shape, &c.comm));
    return c;
}

static void inter_free(Inter *c)
{
    OK(MPI_Comm_free(&c->comm));
    OK(MPI_Comm_free(&c->local));
}

/* Sizes, ranks, groups, and messages to and from every remote rank. */
__attribute__((unused)) static void inter_works(MPI_Comm comm, const Inter *c, const char *what)
{
    int n = -1, r = -1, m = -1, flag = 0, got[64], ranks[64], world[64];
    OK(MPI_Comm_test_inter(comm, &flag));
    SAME(flag, 1, what);
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_rank(comm, &r));
    OK(MPI_Comm_remote_size(comm, &m));
    SAME(n, c->size, what);
    SAME(r, c->rank, what);
    SAME(m, c->remote, what);
    MPI_Group group, remote, all;
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Comm_remote_group(comm, &remote));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int i = 0; i < 64; i++)
        ranks[i] = i;
    OK(MPI_Group_translate_ranks(group, n, ranks, all, world));
    for (int i = 0; i < n; i++)
        SAME(world[i], c->members[c->me][i], what);
    OK(MPI_Group_translate_ranks(remote, m, ranks, all, world));
    for (int i = 0; i < m; i++)
        SAME(world[i], c->members[c->other][i], what);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&remote));
    OK(MPI_Group_free(&all));
    MPI_Request requests[128];
    for (int i = 0; i < m; i++)
        OK(MPI_Irecv(&got[i], 1, MPI_INT, i, 5, comm, &requests[i]));
    for (int i = 0; i < m; i++)
        OK(MPI_Isend(&rank, 1, MPI_INT, i, 5, comm, &requests[m + i]));
    OK(MPI_Waitall(2 * m, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < m; i++)
        SAME(got[i], c->members[c->other][i], what);
}
#endif
