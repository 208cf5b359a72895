/* ranks: 1 4 6 8 */
/* MPI-5.0 8.5.1, 8.5.3, 8.5.4, 8.5.8 reorder: processes that are bound to processors may get other ranks; all they are told must fit */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

static int cpus[1024], cpu_count;

/* Ranks go round the processors, so that neighbours in rank order are not together. */
static void bind(void)
{
    cpu_set_t allowed, one;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "no affinity mask");
    for (int i = 0; i < 1024; i++)
        if (CPU_ISSET(i, &allowed))
            cpus[cpu_count++] = i;
    CPU_ZERO(&one);
    CPU_SET(cpus[rank % cpu_count], &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0, "cannot bind to processor %d", cpus[rank % cpu_count]);
}

/* Who is rank i of comm, as ranks of MPI_COMM_WORLD. */
static void members(MPI_Comm comm, int *world)
{
    MPI_Group all, group;
    int n, ranks[64];
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Group_size(group, &n));
    for (int i = 0; i < n; i++)
        ranks[i] = i;
    OK(MPI_Group_translate_ranks(group, n, ranks, all, world));
    int seen[64] = { 0 };
    for (int i = 0; i < n; i++) {
        CHECK(world[i] >= 0 && world[i] < size && !seen[world[i]]++, "rank %d is process %d", i, world[i]);
        int first = world[i];
        OK(MPI_Bcast(&first, 1, MPI_INT, 0, comm));
        SAME(first, world[i], "a member as rank 0 sees it");
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
}

/* Edges between processes on different processors. */
static int crossing(int n, int (*edge)(int, int, int), const int *world)
{
    int sum = 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            sum += edge(a, b, n) && world[a] % cpu_count != world[b] % cpu_count;
    return sum;
}

static int line(int a, int b, int n) { return a < n && b == a + 1; }
/* Even nodes in a ring, odd ones in another. */
static int rings(int a, int b, int n) { return (a + 2) % n == b; }
static int star(int a, int b, int n) { return a == n - 1 && b != a; }

static void grid(void)
{
    int world[64], old[64], me, mapped, r, at;
    MPI_Comm grid;
    for (int i = 0; i < size; i++)
        old[i] = i;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &size, (int[]){ 0 }, &mapped));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){ 0 }, 1, &grid));
    OK(MPI_Comm_rank(grid, &me));
    SAME(mapped, me, "MPI_Cart_map");
    members(grid, world);
    SAME(world[me], rank, "own process");
    OK(MPI_Cart_coords(grid, me, 1, &at));
    SAME(at, me, "coordinates");
    OK(MPI_Cart_rank(grid, &at, &r));
    SAME(r, me, "rank of the coordinates");
    CHECK(crossing(size, line, world) <= crossing(size, line, old), "the order got worse: %d of %d neighbours are apart",
          crossing(size, line, world), crossing(size, line, old));
    int mine[2] = { me * 2, me * 2 + 1 }, got[2] = { -1, -1 };
    OK(MPI_Neighbor_alltoall(mine, 1, MPI_INT, got, 1, MPI_INT, grid));
    SAME(got[0], me > 0 ? (me - 1) * 2 + 1 : -1, "from the left");
    SAME(got[1], me < size - 1 ? (me + 1) * 2 : -1, "from the right");
    OK(MPI_Comm_free(&grid));
}

/* Both constructors; a process with new rank i has the neighbours that were given for node i, whoever gave them. */
static void distributed(int (*edge)(int, int, int), int general)
{
    int from[64], to[64], wf[64], wt[64], in = 0, out = 0, me, world[64], old[64], got_in, got_out, weighted;
    MPI_Comm graph;
    for (int i = 0; i < size; i++) {
        old[i] = i;
        if (edge(i, rank, size)) {
            wf[in] = 1 + i + rank * 100;
            from[in++] = i;
        }
        if (edge(rank, i, size)) {
            wt[out] = 1 + rank + i * 100;
            to[out++] = i;
        }
    }
    if (general)
        OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &out, to, out ? wt : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 1, &graph));
    else
        OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, in ? wf : MPI_WEIGHTS_EMPTY, out, to, out ? wt : MPI_WEIGHTS_EMPTY,
                                          MPI_INFO_NULL, 1, &graph));
    OK(MPI_Comm_rank(graph, &me));
    members(graph, world);
    SAME(world[me], rank, "own process");
    CHECK(crossing(size, edge, world) <= crossing(size, edge, old), "the order got worse");
    OK(MPI_Dist_graph_neighbors_count(graph, &got_in, &got_out, &weighted));
    OK(MPI_Dist_graph_neighbors(graph, got_in, from, wf, got_out, to, wt));
    int want_in = 0, want_out = 0, blocks[64], answers[64];
    for (int i = 0; i < size; i++) {
        want_in += edge(i, me, size);
        want_out += edge(me, i, size);
    }
    SAME(got_in, want_in, "sources");
    SAME(got_out, want_out, "destinations");
    for (int i = 0; i < got_in; i++)
        CHECK(edge(from[i], me, size) && wf[i] == 1 + from[i] + me * 100, "source %d with weight %d", from[i], wf[i]);
    for (int i = 0; i < got_out; i++) {
        CHECK(edge(me, to[i], size) && wt[i] == 1 + me + to[i] * 100, "destination %d with weight %d", to[i], wt[i]);
        blocks[i] = me * 64 + to[i];
    }
    OK(MPI_Neighbor_alltoall(blocks, 1, MPI_INT, answers, 1, MPI_INT, graph));
    for (int i = 0; i < got_in; i++)
        SAME(answers[i], from[i] * 64 + me, "a block");
    OK(MPI_Comm_free(&graph));
}

static void whole(void)
{
    int index[64], edges[64], me, mapped, world[64], old[64], count, list[64];
    MPI_Comm graph;
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 2) % size;
        old[i] = i;
    }
    OK(MPI_Graph_map(MPI_COMM_WORLD, size, index, edges, &mapped));
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 1, &graph));
    OK(MPI_Comm_rank(graph, &me));
    SAME(mapped, me, "MPI_Graph_map");
    members(graph, world);
    SAME(world[me], rank, "own process");
    CHECK(crossing(size, rings, world) <= crossing(size, rings, old), "the order got worse");
    OK(MPI_Graph_neighbors_count(graph, me, &count));
    OK(MPI_Graph_neighbors(graph, me, count, list));
    SAME(list[0], (me + 2) % size, "the neighbour");
    OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    bind();
    grid();
    whole();
    for (int general = 0; general < 2; general++) {
        distributed(line, general);
        distributed(rings, general);
        distributed(star, general);
    }
    return check_end();
}
