/* ranks: 1 2 4 6 8 */
/* MPI-5.0 8.5.4, 8.5.5 Distributed graph topologies: both constructors, weights, duplicate edges, any rank naming any edge */
/* Compilers take MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY for arrays of no elements. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#include "check.h"

#define MAX 512

/* How often the edge a -> b is there, and its weights. */
static int often(int a, int b) { return (a * 7 + b * 3) % 4 == 3 ? 2 : (a + 2 * b) % 3 != 0; }
static int weight(int a, int b, int k) { return a * 100 + b * 10 + k; }

static int list(int node, int out, int *ranks, int *weights)
{
    int n = 0;
    for (int b = 0; b < size; b++)
        for (int k = 0; k < (out ? often(node, b) : often(b, node)); k++) {
            ranks[n] = b;
            weights[n++] = out ? weight(node, b, k) : weight(b, node, k);
        }
    return n;
}

static int by_value(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return x[0] != y[0] ? x[0] - y[0] : x[1] - y[1];
}

/* The neighbours are those of the graph, with their weights, in any order. */
static void same(int got, const int *ranks, const int *weights, int out, int node, int weighted, const char *what)
{
    int want_ranks[MAX], want_weights[MAX], a[MAX][2], b[MAX][2];
    int n = list(node, out, want_ranks, want_weights);
    SAME(got, n, what);
    for (int i = 0; i < n; i++) {
        a[i][0] = ranks[i];
        b[i][0] = want_ranks[i];
        a[i][1] = weighted ? weights[i] : 0;
        b[i][1] = weighted ? want_weights[i] : 0;
    }
    qsort(a, n, sizeof *a, by_value);
    qsort(b, n, sizeof *b, by_value);
    for (int i = 0; i < n; i++) {
        SAME(a[i][0], b[i][0], what);
        SAME(a[i][1], b[i][1], what);
    }
}

static void inquire(MPI_Comm graph, int weighted)
{
    int status, in, out, got, me, sources[MAX], destinations[MAX], sw[MAX], dw[MAX], again[MAX], again_d[MAX];
    OK(MPI_Topo_test(graph, &status));
    SAME(status, MPI_DIST_GRAPH, "MPI_Topo_test");
    OK(MPI_Comm_rank(graph, &me));
    OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &got));
    SAME(!!got, weighted, "weighted");
    OK(MPI_Dist_graph_neighbors(graph, in, sources, weighted ? sw : MPI_UNWEIGHTED, out, destinations,
                                weighted ? dw : MPI_UNWEIGHTED));
    same(in, sources, sw, 0, me, weighted, "sources");
    same(out, destinations, dw, 1, me, weighted, "destinations");
    /* Every call gives the same order; shorter arrays get the first ones. */
    memset(again, 0xff, sizeof again);
    memset(again_d, 0xff, sizeof again_d);
    OK(MPI_Dist_graph_neighbors(graph, in / 2, again, MPI_UNWEIGHTED, out / 2, again_d, MPI_UNWEIGHTED));
    for (int i = 0; i < in; i++)
        SAME(again[i], i < in / 2 ? sources[i] : -1, "the first sources");
    for (int i = 0; i < out; i++)
        SAME(again_d[i], i < out / 2 ? destinations[i] : -1, "the first destinations");
}

static void keep(MPI_Comm graph, int weighted, int reorder, const char *what)
{
    MPI_Comm copy;
    int me, same_rank, sum;
    OK(MPI_Comm_rank(graph, &me));
    same_rank = me == rank;
    CHECK(reorder || same_rank, "%s: rank %d has become %d", what, rank, me);
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, graph));
    SAME(sum, size * (size - 1) / 2, what);
    inquire(graph, weighted);
    OK(MPI_Comm_dup(graph, &copy));
    OK(MPI_Comm_free(&graph));
    inquire(copy, weighted);
    OK(MPI_Comm_free(&copy));
}

static void adjacent(int weighted, int reorder, MPI_Info info)
{
    MPI_Comm graph;
    int sources[MAX], destinations[MAX], sw[MAX], dw[MAX];
    int in = list(rank, 0, sources, sw), out = list(rank, 1, destinations, dw);
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, !weighted ? MPI_UNWEIGHTED : in ? sw : MPI_WEIGHTS_EMPTY, out,
                                      destinations, !weighted ? MPI_UNWEIGHTED : out ? dw : MPI_WEIGHTS_EMPTY, info, reorder,
                                      &graph));
    if (!reorder) {
        int got_s[MAX], got_d[MAX], got_sw[MAX], got_dw[MAX];
        OK(MPI_Dist_graph_neighbors(graph, in, got_s, weighted ? got_sw : MPI_UNWEIGHTED, out, got_d,
                                    weighted ? got_dw : MPI_UNWEIGHTED));
        for (int i = 0; i < in; i++)
            CHECK(got_s[i] == sources[i] && (!weighted || got_sw[i] == sw[i]), "source %d has moved", i);
        for (int i = 0; i < out; i++)
            CHECK(got_d[i] == destinations[i] && (!weighted || got_dw[i] == dw[i]), "destination %d has moved", i);
    }
    keep(graph, weighted, reorder, "adjacent");
}

/* Who names the edges of a node: itself, the last rank all of them, or one rank each in turn. */
static void general(int weighted, int reorder, int who, MPI_Info info)
{
    MPI_Comm graph;
    int sources[64], degrees[64], destinations[MAX * 8], weights[MAX * 8], n = 0, total = 0;
    for (int a = size - 1; a >= 0; a--) {
        int namer = who == 0 ? a : who == 1 ? size - 1 : (a * 5 + 1) % size;
        if (namer != rank)
            continue;
        sources[n] = a;
        degrees[n] = list(a, 1, destinations + total, weights + total);
        total += degrees[n++];
    }
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, degrees, destinations,
                             !weighted ? MPI_UNWEIGHTED : total ? weights : MPI_WEIGHTS_EMPTY, info, reorder, &graph));
    keep(graph, weighted, reorder, "general");
}

static void empty(void)
{
    MPI_Comm graph;
    for (int weighted = 0; weighted < 2; weighted++)
        for (int form = 0; form < 2; form++) {
            int in = 7, out = 7, got = 7, *weights = weighted ? MPI_WEIGHTS_EMPTY : MPI_UNWEIGHTED;
            if (form)
                OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, weights, MPI_INFO_NULL, 0, &graph));
            else
                OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, weights, 0, NULL, weights, MPI_INFO_NULL, 0, &graph));
            OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &got));
            SAME(in + out, 0, "degrees without edges");
            SAME(!!got, weighted, "weighted without edges");
            OK(MPI_Dist_graph_neighbors(graph, 0, NULL, weights, 0, NULL, weights));
            OK(MPI_Comm_free(&graph));
        }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "no_such_hint", "1"));
    for (int weighted = 0; weighted < 2; weighted++)
        for (int reorder = 0; reorder < 2; reorder++) {
            adjacent(weighted, reorder, reorder ? info : MPI_INFO_NULL);
            for (int who = 0; who < 3; who++)
                general(weighted, reorder, who, who ? info : MPI_INFO_NULL);
        }
    OK(MPI_Info_free(&info));
    empty();
    return check_end();
}
