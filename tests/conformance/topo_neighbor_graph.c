/* ranks: 1 2 4 6 8 */
/* MPI-5.0 8.6 to 8.8 Neighbourhood collectives on graphs: duplicate edges, loops, different counts and types, all forms at once */
#include "check.h"

#define MAX 64

/* How often the edge a -> b is there; the k-th one carries this many elements. */
static int often(int a, int b) { return (a * 7 + b * 3) % 5 == 4 ? 3 : (a + 2 * b) % 3 != 0; }
static int length(int a, int b, int k) { return (a + 2 * b + 3 * k) % 4 * ((a + b) % 3 == 2 ? 1600 : 3); }
static int value(int a, int b, int k, int i) { return ((a * 16 + b) * 4 + k) * 5003 + i; }

struct side {
    int degree, peers[MAX], nth[MAX], counts[MAX], displs[MAX], total;
    MPI_Aint bytes[MAX];
    MPI_Datatype types[MAX];
};

/* Slots in the order of the neighbour list; gaps between the blocks. */
static void describe(struct side *s, int degree, const int *peers, int out)
{
    s->degree = degree;
    s->total = 0;
    for (int i = 0; i < degree; i++) {
        int nth = 0;
        for (int j = 0; j < i; j++)
            nth += peers[j] == peers[i];
        s->peers[i] = peers[i];
        s->nth[i] = nth;
        s->counts[i] = out ? length(rank, peers[i], nth) : length(peers[i], rank, nth);
        s->displs[i] = s->total;
        s->bytes[i] = s->total * (MPI_Aint)sizeof(int);
        s->types[i] = MPI_INT;
        s->total += s->counts[i] + 1;
    }
}

static int *room(int total)
{
    int *p = check_alloc((total + 1) * sizeof(int));
    memset(p, 0xff, (total + 1) * sizeof(int));
    return p;
}

static void verify(const struct side *in, const int *got, const char *what)
{
    for (int s = 0; s < in->degree; s++) {
        for (int i = 0; i < in->counts[s]; i++)
            CHECK(got[in->displs[s] + i] == value(in->peers[s], rank, in->nth[s], i), "%s: slot %d from %d element %d is %d", what, s,
                  in->peers[s], i, got[in->displs[s] + i]);
        CHECK(got[in->displs[s] + in->counts[s]] == -1, "%s: something behind slot %d", what, s);
    }
}

static void exchange(MPI_Comm graph, int in_degree, const int *sources, int out_degree, const int *destinations)
{
    struct side in, out, tin;
    describe(&in, in_degree, sources, 0);
    describe(&out, out_degree, destinations, 1);
    int *from = room(out.total), *v[3], *w[3];
    MPI_Request requests[4];
    MPI_Datatype pairs;
    for (int s = 0; s < out.degree; s++)
        for (int i = 0; i < out.counts[s]; i++)
            from[out.displs[s] + i] = value(rank, out.peers[s], out.nth[s], i);
    /* The same bytes as contiguous types of their own. */
    tin = in;
    for (int s = 0; s < in.degree; s++) {
        OK(MPI_Type_contiguous(in.counts[s], MPI_INT, &tin.types[s]));
        OK(MPI_Type_commit(&tin.types[s]));
        tin.counts[s] = 1;
    }
    for (int f = 0; f < 3; f++) {
        v[f] = room(in.total);
        w[f] = room(in.total);
    }
    OK(MPI_Neighbor_alltoallv(from, out.counts, out.displs, MPI_INT, v[0], in.counts, in.displs, MPI_INT, graph));
    OK(MPI_Neighbor_alltoallw(from, out.counts, out.bytes, out.types, w[0], tin.counts, tin.bytes, tin.types, graph));
    /* Four at once, and none of them waits for another. */
    OK(MPI_Ineighbor_alltoallv(from, out.counts, out.displs, MPI_INT, v[1], in.counts, in.displs, MPI_INT, graph, &requests[0]));
    OK(MPI_Neighbor_alltoallv_init(from, out.counts, out.displs, MPI_INT, v[2], in.counts, in.displs, MPI_INT, graph,
                                   MPI_INFO_NULL, &requests[1]));
    OK(MPI_Neighbor_alltoallw_init(from, out.counts, out.bytes, out.types, w[2], tin.counts, tin.bytes, tin.types, graph,
                                   MPI_INFO_NULL, &requests[2]));
    OK(MPI_Ineighbor_alltoallw(from, out.counts, out.bytes, out.types, w[1], tin.counts, tin.bytes, tin.types, graph,
                               &requests[3]));
    for (int s = 0; s < in.degree; s++)
        OK(MPI_Type_free(&tin.types[s]));
    OK(MPI_Startall(2, requests + 1));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Startall(2, requests + 1));
    OK(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&requests[1]));
    OK(MPI_Request_free(&requests[2]));
    for (int f = 0; f < 3; f++) {
        verify(&in, v[f], "alltoallv");
        verify(&in, w[f], "alltoallw");
        free(v[f]);
        free(w[f]);
    }
    free(from);

    /* One block for all, and equal blocks; the types of the two sides differ. */
    int own[6], *to = room(in.degree * 6), *blocks = room(out.degree * 6);
    OK(MPI_Type_contiguous(2, MPI_INT, &pairs));
    OK(MPI_Type_commit(&pairs));
    for (int i = 0; i < 6; i++)
        own[i] = rank * 6 + i;
    for (int form = 0; form < 2; form++) {
        memset(to, 0xff, in.degree * 6 * sizeof(int));
        if (form)
            OK(MPI_Ineighbor_allgather(own, 3, pairs, to, 6, MPI_INT, graph, &requests[0]));
        else
            OK(MPI_Neighbor_allgather(own, 6, MPI_INT, to, 3, pairs, graph));
        if (form)
            OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        for (int i = 0; i < in.degree * 6; i++)
            SAME(to[i], in.peers[i / 6] * 6 + i % 6, "allgather");
    }
    for (int i = 0; i < out.degree * 6; i++)
        blocks[i] = value(rank, out.peers[i / 6], out.nth[i / 6], i % 6);
    for (int form = 0; form < 2; form++) {
        memset(to, 0xff, in.degree * 6 * sizeof(int));
        if (form)
            OK(MPI_Ineighbor_alltoall(blocks, 3, pairs, to, 6, MPI_INT, graph, &requests[0]));
        else
            OK(MPI_Neighbor_alltoall(blocks, 6, MPI_INT, to, 3, pairs, graph));
        if (form)
            OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        for (int i = 0; i < in.degree * 6; i++)
            SAME(to[i], value(in.peers[i / 6], rank, in.nth[i / 6], i % 6), "alltoall");
    }
    OK(MPI_Type_free(&pairs));
    free(to);
    free(blocks);
}

static void directed(void)
{
    int sources[MAX], destinations[MAX], in = 0, out = 0;
    MPI_Comm graph, copy;
    /* The two sides list their neighbours in different orders. */
    for (int b = 0; b < size; b++)
        for (int k = 0; k < often(b, rank); k++)
            sources[in++] = b;
    for (int b = size - 1; b >= 0; b--)
        for (int k = 0; k < often(rank, b); k++)
            destinations[out++] = b;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &graph));
    exchange(graph, in, sources, out, destinations);
    OK(MPI_Comm_dup(graph, &copy));
    OK(MPI_Comm_free(&graph));
    exchange(copy, in, sources, out, destinations);
    OK(MPI_Comm_free(&copy));
}

static void general(void)
{
    int degree = 0, destinations[MAX], sources[MAX], in, out, weighted, again[MAX];
    MPI_Comm graph;
    for (int b = 0; b < size; b++)
        for (int k = 0; k < often(rank, b); k++)
            destinations[degree++] = b;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    OK(MPI_Dist_graph_neighbors(graph, in, sources, MPI_UNWEIGHTED, out, again, MPI_UNWEIGHTED));
    exchange(graph, in, sources, out, again);
    OK(MPI_Comm_free(&graph));
}

static void symmetric(void)
{
    int index[64], edges[512], total = 0;
    MPI_Comm graph;
    for (int a = 0; a < size; a++) {
        for (int b = 0; b < size; b++)
            for (int k = 0; k < (a <= b ? often(a, b) : often(b, a)); k++)
                edges[total++] = b;
        index[a] = total;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph));
    int first = rank ? index[rank - 1] : 0;
    exchange(graph, index[rank] - first, edges + first, index[rank] - first, edges + first);
    OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    directed();
    general();
    symmetric();
    return check_end();
}
