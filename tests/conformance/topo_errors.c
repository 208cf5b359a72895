/* ranks: 1 2 4 */
/* MPI-5.0 8.5 and 8.6: erroneous arguments and communicators without the right topology */
#include "check.h"

static void create(void)
{
    MPI_Comm c = MPI_COMM_WORLD;
    int one[2] = { 1, 1 }, zero[2] = { 0, 0 }, many[2] = { size, 2 }, newrank;
    FAILS(MPI_ERR_COMM, MPI_Cart_create(MPI_COMM_NULL, 1, one, zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, -1, one, zero, 0, &c));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(MPI_COMM_WORLD, 2, ((int[]){ 1, -1 }), zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 2, many, zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 4, ((int[]){ 65536, 65536, 65536, 65536 }), ((int[4]){ 0 }), 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 1, NULL, zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Cart_create(MPI_COMM_WORLD, 1, one, NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Cart_map(MPI_COMM_WORLD, 2, many, zero, &newrank));

    FAILS(MPI_ERR_COMM, MPI_Graph_create(MPI_COMM_NULL, 1, one, zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, -1, one, zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, size + 1, one, zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, ((int[]){ -1 }), zero, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, one, ((int[]){ 1 }), 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, one, ((int[]){ -2 }), 0, &c));
    if (size > 1)
        FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 2, ((int[]){ 2, 1 }), zero, 0, &c));

    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, -1, zero, zero, 0, zero, zero, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, zero, zero, -1, zero, zero, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &size, zero, 0, NULL, zero, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, zero, 1, ((int[]){ -1 }), zero, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, zero, ((int[]){ -1 }), 0, NULL, MPI_WEIGHTS_EMPTY,
                                                      MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, zero, one, 1, zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, NULL, one, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, -1, zero, one, zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, zero, ((int[]){ -1 }), zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &size, one, zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, zero, one, &size, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, zero, one, zero, ((int[]){ -5 }), MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create(MPI_COMM_WORLD, 1, zero, one, zero, NULL, MPI_INFO_NULL, 0, &c));
    if (size > 1) {
        /* Some edges with weights and some without. */
        FAILS(MPI_ERR_TOPOLOGY,
              MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, one, zero, rank ? one : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    }
}

static void grid(MPI_Comm cart)
{
    int a[4], b[4], c[4];
    MPI_Comm sub;
    FAILS(MPI_ERR_ARG, MPI_Cart_get(cart, 1, a, b, c));
    FAILS(MPI_ERR_ARG, MPI_Cart_coords(cart, 0, 1, a));
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(cart, -1, 2, a));
    FAILS(MPI_ERR_RANK, MPI_Cart_coords(cart, size, 2, a));
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(cart, ((int[]){ size, 0 }), a));
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(cart, ((int[]){ -1, 0 }), a));
    FAILS(MPI_ERR_ARG, MPI_Cart_rank(cart, NULL, a));
    FAILS(MPI_ERR_DIMS, MPI_Cart_shift(cart, 2, 1, a, b));
    FAILS(MPI_ERR_DIMS, MPI_Cart_shift(cart, -1, 1, a, b));
    FAILS(MPI_ERR_ARG, MPI_Cart_sub(cart, NULL, &sub));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(cart, a, b));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(cart, 0, a));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(cart, a, b, c));
}

static void graph(MPI_Comm graph)
{
    int a[4], b[4];
    FAILS(MPI_ERR_ARG, MPI_Graph_get(graph, size - 1, 4, a, b));
    FAILS(MPI_ERR_ARG, MPI_Graph_get(graph, size, 0, a, b));
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors_count(graph, size, a));
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors(graph, -1, 4, a));
    FAILS(MPI_ERR_ARG, MPI_Graph_neighbors(graph, 0, 0, a));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(graph, a));
    /* A ring in one direction is not symmetric where it has more than two nodes. */
    int x = rank, y = -1;
    if (size > 2)
        FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, graph));
    else {
        OK(MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, graph));
        SAME(y, (rank + 1) % size, "the neighbour's");
    }
}

static void none(MPI_Comm comm)
{
    int a[4], b[4], c[4], x = 0, y = 0;
    MPI_Comm sub;
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(comm, a));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_get(comm, 4, a, b, c));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_rank(comm, b, a));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_coords(comm, 0, 4, a));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_shift(comm, 0, 1, a, b));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_sub(comm, ((int[]){ 0, 0 }), &sub));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(comm, a, b));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_get(comm, 4, 4, a, b));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors_count(comm, 0, a));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_neighbors(comm, 0, 4, a));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(comm, a, b, c));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors(comm, 4, a, MPI_UNWEIGHTED, 4, b, MPI_UNWEIGHTED));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, comm));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_alltoall(&x, 1, MPI_INT, &y, 1, MPI_INT, comm));
    MPI_Request request;
    FAILS(MPI_ERR_TOPOLOGY, MPI_Ineighbor_alltoall(&x, 1, MPI_INT, &y, 1, MPI_INT, comm, &request));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather_init(&x, 1, MPI_INT, &y, 1, MPI_INT, comm, MPI_INFO_NULL, &request));
}

static void neighbors(MPI_Comm cart)
{
    int x[4] = { 0 }, y[4], counts[4] = { 1, 1, 1, -1 }, displs[4] = { 0 };
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_allgather(x, -1, MPI_INT, y, 1, MPI_INT, cart));
    FAILS(MPI_ERR_TYPE, MPI_Neighbor_alltoall(x, 1, MPI_DATATYPE_NULL, y, 1, MPI_INT, cart));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_allgatherv(x, 1, MPI_INT, y, counts, displs, MPI_INT, cart));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_alltoallv(x, counts, displs, MPI_INT, y, counts, displs, MPI_INT, cart));
    MPI_Request request;
    FAILS(MPI_ERR_COUNT, MPI_Ineighbor_allgather(x, 1, MPI_INT, y, -1, MPI_INT, cart, &request));
    FAILS(MPI_ERR_COUNT, MPI_Neighbor_alltoallv_init(x, counts, displs, MPI_INT, y, counts, displs, MPI_INT, cart, MPI_INFO_NULL, &request));
    FAILS(MPI_ERR_BUFFER, MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, y, 1, MPI_INT, cart));
}

/* Topologies are for intracommunicators. */
static void between_groups(void)
{
    int status, one = 1, x = 0, y = 0;
    MPI_Comm half, inter, c;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Topo_test(inter, &status));
    SAME(status, MPI_UNDEFINED, "MPI_Topo_test");
    FAILS(MPI_ERR_COMM, MPI_Cart_create(inter, 1, &one, &one, 0, &c));
    FAILS(MPI_ERR_COMM, MPI_Graph_create(inter, 0, &one, &one, 0, &c));
    FAILS(MPI_ERR_COMM, MPI_Dist_graph_create(inter, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_COMM, MPI_Dist_graph_create_adjacent(inter, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &c));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Neighbor_allgather(&x, 1, MPI_INT, &y, 1, MPI_INT, inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    create();
    if (size > 1)
        between_groups();
    none(MPI_COMM_WORLD);
    MPI_Comm c;
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, ((int[]){ size, 1 }), ((int[]){ 0, 1 }), 0, &c));
    grid(c);
    neighbors(c);
    OK(MPI_Comm_free(&c));
    int index[64], edges[64];
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &c));
    graph(c);
    OK(MPI_Comm_free(&c));
    return check_end();
}
