//! Graph topologies (MPI-5.0 8.5.3, 8.5.5, 8.5.8): every process knows the whole graph.
use super::mapping::Edges;
use super::{Found, Kind, Topology, any, make, not_negative, order, parent, rank_below, room, write, wrong_kind};
use crate::comm::{self, Comm};
use oxmpi_base::args::{Arr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use std::sync::OnceLock;

pub struct Graph {
    /// index[i]: how many edges the nodes up to i have together.
    index: Box<[i32]>,
    edges: Box<[i32]>,
    one_sided: OnceLock<Option<(i32, i32)>>,
}

impl Graph {
    fn neighbors(&self, node: usize) -> &[i32] {
        let first = if node == 0 { 0 } else { self.index[node - 1] as usize };
        &self.edges[first..self.index[node] as usize]
    }

    fn topology(self, rank: usize) -> Topology {
        let neighbors: Box<[i32]> = self.neighbors(rank).into();
        Topology { kind: Kind::Graph(self), sources: neighbors.clone(), destinations: neighbors }
    }

    fn order(&self, c: &Comm, reorder: bool) -> Result<Vec<u32>> {
        let n = self.index.len();
        let of = |v: usize| self.neighbors(v).iter().map(move |u| (v, *u as usize, 1));
        order(c, n, reorder, || Edges::new(n, (0..n).flat_map(of)), None)
    }

    /// An edge and its reverse that are not there equally often: a neighbourhood collective (MPI-5.0 8.6) would wait for ever.
    pub fn one_sided_edge(&self) -> Option<(i32, i32)> {
        *self.one_sided.get_or_init(|| {
            let all = || (0..self.index.len()).flat_map(|v| self.neighbors(v).iter().map(move |u| (v as i32, *u)));
            let (mut forth, mut back) = (all().collect::<Vec<_>>(), all().map(|(v, u)| (u, v)).collect::<Vec<_>>());
            forth.sort_unstable();
            back.sort_unstable();
            forth.iter().zip(&back).find(|(a, b)| a != b).map(|(a, b)| *a.min(b))
        })
    }
}

/// The graph that the arguments describe, which must not have more nodes than the communicator.
fn graph(c: &Comm, nnodes: i32, index: Arr<i32>, edges: Arr<i32>) -> Result<Graph> {
    let n = not_negative(nnodes, "nnodes")?;
    if n > c.size() {
        bail!(MPI_ERR_ARG, "a graph of {n} nodes is larger than {}, which has {} ranks", c.describe(), c.size());
    }
    let index = index.slice(n)?;
    let mut before = 0;
    for (i, &x) in index.iter().enumerate() {
        if x < before {
            bail!(
                MPI_ERR_ARG,
                "index[{i}] is {x}, less than the {before} edges of the nodes before it; the array counts them up"
            );
        }
        before = x;
    }
    let edges = edges.slice(before as usize)?;
    if let Some(i) = edges.iter().position(|e| !(0..nnodes).contains(e)) {
        bail!(MPI_ERR_ARG, "edges[{i}] is {}, but the graph has nodes 0 to {}", edges[i], n - 1);
    }
    Ok(Graph { index: index.into(), edges: edges.into(), one_sided: OnceLock::new() })
}

fn of(c: &Comm) -> Result<&Graph> {
    match &any(c)?.kind {
        Kind::Graph(g) => Ok(g),
        _ => Err(wrong_kind(c, "a graph one")),
    }
}

fn get(h: handle::Comm) -> Result<Found> {
    let c = comm::get(h)?;
    of(&c)?;
    Ok(c)
}

pub fn graph_create(
    comm_old: handle::Comm,
    nnodes: i32,
    index: Arr<i32>,
    edges: Arr<i32>,
    reorder: i32,
    comm_graph: Out<handle::Comm>,
) -> Result<()> {
    let c = parent(comm_old)?;
    let graph = graph(&c, nnodes, index, edges)?;
    comm_graph.set(MPI_COMM_NULL)?;
    let order = graph.order(&c, reorder != 0)?;
    make(&c, &order, |rank| graph.topology(rank), comm_graph)
}

pub fn graph_map(comm: handle::Comm, nnodes: i32, index: Arr<i32>, edges: Arr<i32>, newrank: Out<i32>) -> Result<()> {
    let c = parent(comm)?;
    let order = graph(&c, nnodes, index, edges)?.order(&c, true)?;
    let rank = order.iter().position(|r| *r as usize == c.rank);
    newrank.set(rank.map_or(MPI_UNDEFINED, |r| r as i32))
}

pub fn graphdims_get(comm: handle::Comm, nnodes: Out<i32>, nedges: Out<i32>) -> Result<()> {
    let c = get(comm)?;
    let g = of(&c)?;
    nnodes.set(g.index.len() as i32)?;
    nedges.set(g.edges.len() as i32)
}

pub fn graph_get(comm: handle::Comm, maxindex: i32, maxedges: i32, index: Arr<i32>, edges: Arr<i32>) -> Result<()> {
    let c = get(comm)?;
    let g = of(&c)?;
    room(&index, maxindex, g.index.len(), "maxindex", "nodes")?;
    room(&edges, maxedges, g.edges.len(), "maxedges", "edges")?;
    write(&index, g.index.iter().copied());
    write(&edges, g.edges.iter().copied());
    Ok(())
}

pub fn graph_neighbors_count(comm: handle::Comm, rank: i32, nneighbors: Out<i32>) -> Result<()> {
    let c = get(comm)?;
    let node = rank_below(rank, c.size(), &c)?;
    nneighbors.set(of(&c)?.neighbors(node).len() as i32)
}

pub fn graph_neighbors(comm: handle::Comm, rank: i32, maxneighbors: i32, neighbors: Arr<i32>) -> Result<()> {
    let c = get(comm)?;
    let node = rank_below(rank, c.size(), &c)?;
    let all = of(&c)?.neighbors(node);
    room(&neighbors, maxneighbors, all.len(), "maxneighbors", "neighbours")?;
    write(&neighbors, all.iter().copied());
    Ok(())
}
