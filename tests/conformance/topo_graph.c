/* ranks: 1 2 4 6 8 */
/* MPI-5.0 8.5.3, 8.5.5 Graph topologies */
#include "check.h"

/* Node i of n has i % 3 + 1 neighbours, among them itself and duplicates. */
static int degree(int i) { return i % 3 + 1; }
static int neighbor(int i, int k, int n) { return (i + k * k) % n; }

static void inquire(MPI_Comm graph, int n, const int *index, const int *edges)
{
    int status, nodes, nedges, got_index[64], got_edges[256];
    OK(MPI_Topo_test(graph, &status));
    SAME(status, MPI_GRAPH, "MPI_Topo_test");
    OK(MPI_Graphdims_get(graph, &nodes, &nedges));
    SAME(nodes, n, "nodes");
    SAME(nedges, index[n - 1], "edges");
    OK(MPI_Graph_get(graph, 64, 256, got_index, got_edges));
    for (int i = 0; i < n; i++)
        SAME(got_index[i], index[i], "index");
    for (int i = 0; i < nedges; i++)
        SAME(got_edges[i], edges[i], "edges");
    for (int i = 0; i < n; i++) {
        int count, list[64];
        OK(MPI_Graph_neighbors_count(graph, i, &count));
        SAME(count, degree(i), "neighbours");
        OK(MPI_Graph_neighbors(graph, i, count, list));
        for (int k = 0; k < count; k++)
            SAME(list[k], neighbor(i, k, n), "a neighbour");
    }
}

static void graph(int n, int reorder)
{
    int index[64], edges[256], total = 0, newrank, me, sum, status;
    MPI_Comm graph, copy, split;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < degree(i); k++)
            edges[total++] = neighbor(i, k, n);
        index[i] = total;
    }
    OK(MPI_Graph_map(MPI_COMM_WORLD, n, index, edges, &newrank));
    OK(MPI_Graph_create(MPI_COMM_WORLD, n, index, edges, reorder, &graph));
    if (reorder)
        SAME(graph != MPI_COMM_NULL, newrank != MPI_UNDEFINED, "MPI_Graph_map and who is in the graph");
    else
        SAME(graph != MPI_COMM_NULL, rank < n, "who is in the graph");
    if (graph == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_rank(graph, &me));
    SAME(me, reorder ? newrank : rank, "rank in the graph");
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, graph));
    SAME(sum, n * (n - 1) / 2, "sum of the ranks");
    inquire(graph, n, index, edges);
    OK(MPI_Comm_dup(graph, &copy));
    OK(MPI_Comm_create(graph, MPI_GROUP_EMPTY, &split));
    SAME(split == MPI_COMM_NULL, 1, "a communicator of nobody");
    MPI_Group group;
    OK(MPI_Comm_group(graph, &group));
    OK(MPI_Comm_create(graph, group, &split));
    OK(MPI_Group_free(&group));
    OK(MPI_Topo_test(split, &status));
    SAME(status, MPI_UNDEFINED, "MPI_Topo_test after MPI_Comm_create");
    OK(MPI_Comm_free(&split));
    OK(MPI_Comm_free(&graph));
    inquire(copy, n, index, edges);
    OK(MPI_Comm_free(&copy));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    for (int n = 1; n <= size; n++) {
        graph(n, 0);
        graph(n, 1);
    }
    MPI_Comm none = MPI_COMM_SELF;
    OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &none));
    CHECK(none == MPI_COMM_NULL, "a graph of no nodes is not MPI_COMM_NULL");
    return check_end();
}
