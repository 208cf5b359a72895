//! Distributed graph topologies (MPI-5.0 8.5.4, 8.5.5).
//!
//! The neighbours of a rank of MPI_Dist_graph_create come in the order of the ranks that named the edges, then of their arguments; those of
//! MPI_Dist_graph_create_adjacent in the order of the arguments. Duplicate edges stay. Whether edges have weights is one answer for all: a
//! rank that names no edge takes the others' word for it.
//!
//! Known gap: MPI_Dist_graph_create, and either form where it reorders, gathers all edges at all ranks.
#![allow(clippy::too_many_arguments)] // the standard's argument lists
use super::mapping::Edges;
use super::{
    Found, Kind, Topology, Weights, any, gather_lists, make, nonsense, not_negative, order_at, parent, with_place,
    wrong_kind,
};
use crate::comm::{self, Comm};
use crate::info;
use oxmpi_base::args::{Arr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};

/// What a rank says about weights.
#[derive(Clone, Copy, PartialEq)]
enum Said {
    /// No edge, and MPI_UNWEIGHTED.
    Nothing,
    /// No edge, and anything else.
    Empty,
    Unweighted,
    Weighted,
}

impl Said {
    fn of(weights: Arr<i32>, edges: usize) -> Said {
        let unweighted = weights.as_ptr() as usize == MPI_UNWEIGHTED;
        match edges {
            0 if unweighted => Said::Nothing,
            0 => Said::Empty,
            _ if unweighted => Said::Unweighted,
            _ => Said::Weighted,
        }
    }

    /// What both say; an edge's word counts more than that of nobody.
    fn and(self, other: Said) -> Result<Said> {
        Ok(match (self, other) {
            (Said::Unweighted, Said::Weighted) | (Said::Weighted, Said::Unweighted) => bail!(
                MPI_ERR_TOPOLOGY,
                "some edges have weights and others MPI_UNWEIGHTED; either all ranks pass weights for all edges, or none does"
            ),
            (a @ (Said::Unweighted | Said::Weighted), _) | (_, a @ (Said::Unweighted | Said::Weighted)) => a,
            (Said::Nothing, b) => b,
            (a, _) => a,
        })
    }

    fn from_bits(bits: i64) -> Said {
        [Said::Nothing, Said::Empty, Said::Unweighted, Said::Weighted][bits as usize & 3]
    }

    fn weighted(self) -> bool {
        matches!(self, Said::Empty | Said::Weighted)
    }
}

/// The weights of `n` edges, 1 each without any.
fn weights_of(weights: Arr<i32>, n: usize, name: &str) -> Result<Vec<i32>> {
    if Said::of(weights, n) != Said::Weighted {
        return Ok(vec![1; n]);
    }
    if weights.is_null() || weights.as_ptr() as usize == MPI_WEIGHTS_EMPTY {
        bail!(
            MPI_ERR_ARG,
            "{name} is null or MPI_WEIGHTS_EMPTY though there are {n} edges; pass an array, or MPI_UNWEIGHTED"
        );
    }
    let all = weights.slice(n)?;
    if let Some(i) = all.iter().position(|w| *w < 0) {
        bail!(MPI_ERR_ARG, "{name}[{i}] is {}; weights must not be negative", all[i]);
    }
    Ok(all.to_vec())
}

fn ranks_of(c: &Comm, ranks: Arr<i32>, n: usize, name: &str) -> Result<Vec<i32>> {
    let all = ranks.slice(n)?;
    if let Some(i) = all.iter().position(|r| !(0..c.size() as i32).contains(r)) {
        bail!(
            MPI_ERR_RANK,
            "{name}[{i}] is {}, not a rank of {}, which has ranks 0 to {}",
            all[i],
            c.describe(),
            c.size() - 1
        );
    }
    Ok(all.to_vec())
}

/// Neighbours and weights of one node.
#[derive(Default, Clone)]
struct Node {
    sources: Vec<(i32, i32)>,
    destinations: Vec<(i32, i32)>,
}

impl Node {
    fn topology(&self, weighted: bool) -> Topology {
        let part = |of: &[(i32, i32)], second: bool| of.iter().map(|e| if second { e.1 } else { e.0 }).collect();
        let weights = weighted
            .then(|| Weights { sources: part(&self.sources, true), destinations: part(&self.destinations, true) });
        let (sources, destinations) = (part(&self.sources, false), part(&self.destinations, false));
        Topology { kind: Kind::Dist(weights), sources, destinations }
    }
}

/// The edges for the mapping; each may be named by both ends, then it counts twice as all do.
fn edges(nodes: &[Node]) -> Edges {
    let of = |(v, node): (usize, &Node)| -> Vec<(usize, usize, u64)> {
        let both = node.sources.iter().chain(&node.destinations);
        both.map(|(u, w)| (v, *u as usize, *w as u64)).collect()
    };
    Edges::new(nodes.len(), nodes.iter().enumerate().flat_map(of))
}

/// What every rank says, in the number that travels with its place: two bits about weights, whether it wants the order kept, and a length.
fn summary(said: Said, reorder: i32, length: usize) -> i64 {
    (length as i64) << 3 | ((reorder == 0) as i64) << 2 | said as i64
}

/// Summaries of all ranks: what is true of weights, whether reordering is allowed, the lengths.
fn agree(all: &[[i64; 3]]) -> Result<(bool, bool, Vec<usize>)> {
    let said = all.iter().map(|a| Said::from_bits(a[0])).try_fold(Said::Nothing, Said::and)?;
    let reorder = all.iter().all(|a| a[0] & 4 == 0);
    let length = |(rank, a): (usize, &[i64; 3])| match u32::try_from(a[0] >> 3) {
        Ok(n) => Ok(n as usize),
        Err(_) => Err(nonsense(rank, "a graph without a size")),
    };
    Ok((said.weighted(), reorder, all.iter().enumerate().map(length).collect::<Result<_>>()?))
}

pub fn dist_graph_create_adjacent(
    comm_old: handle::Comm,
    indegree: i32,
    sources: Arr<i32>,
    sourceweights: Arr<i32>,
    outdegree: i32,
    destinations: Arr<i32>,
    destweights: Arr<i32>,
    info: handle::Info,
    reorder: i32,
    comm_dist_graph: Out<handle::Comm>,
) -> Result<()> {
    let c = parent(comm_old)?;
    let (n, m) = (not_negative(indegree, "indegree")?, not_negative(outdegree, "outdegree")?);
    let side = |ranks, weights, n, names: [&str; 2]| -> Result<Vec<(i32, i32)>> {
        let ranks = ranks_of(&c, ranks, n, names[0])?;
        Ok(ranks.into_iter().zip(weights_of(weights, n, names[1])?).collect())
    };
    let mine = Node {
        sources: side(sources, sourceweights, n, ["sources", "sourceweights"])?,
        destinations: side(destinations, destweights, m, ["destinations", "destweights"])?,
    };
    let said = Said::of(sourceweights, n).and(Said::of(destweights, m))?;
    info::optional(info)?;
    comm_dist_graph.set(MPI_COMM_NULL)?;

    let length = 1 + 2 * (n + m);
    let all = comm::allgather(&c, with_place(summary(said, reorder, length)))?;
    let (weighted, reorder, lengths) = agree(&all)?;
    let places = super::places(&all);
    if !reorder || !super::place::differ(&places) {
        let same: Vec<u32> = (0..c.size() as u32).collect();
        return make(&c, &same, |_| mine.topology(weighted), comm_dist_graph);
    }
    // A rank may become another's node, so all nodes have to be known.
    let flat = |of: &[(i32, i32)]| of.iter().flat_map(|e| [e.0, e.1]).collect::<Vec<i32>>();
    let list = [vec![n as i32], flat(&mine.sources), flat(&mine.destinations)].concat();
    let lists = gather_lists(&c, &list, &lengths)?;
    let node = |(rank, list): (usize, &Vec<i32>)| {
        let odd = || nonsense(rank, "a list of neighbours that is none");
        let (in_degree, rest) = list.split_first().ok_or_else(odd)?;
        let pairs: Vec<(i32, i32)> = rest.chunks_exact(2).map(|e| (e[0], e[1])).collect();
        let known = pairs.iter().all(|e| (0..c.size() as i32).contains(&e.0) && e.1 >= 0);
        let (s, d) = pairs.split_at_checked(*in_degree as usize).filter(|_| known).ok_or_else(odd)?;
        Ok(Node { sources: s.to_vec(), destinations: d.to_vec() })
    };
    let nodes: Vec<Node> = lists.iter().enumerate().map(node).collect::<Result<_>>()?;
    let order = order_at(&c, c.size(), &places, || edges(&nodes), None)?;
    make(&c, &order, |rank| nodes[rank].topology(weighted), comm_dist_graph)
}

pub fn dist_graph_create(
    comm_old: handle::Comm,
    n: i32,
    sources: Arr<i32>,
    degrees: Arr<i32>,
    destinations: Arr<i32>,
    weights: Arr<i32>,
    info: handle::Info,
    reorder: i32,
    comm_dist_graph: Out<handle::Comm>,
) -> Result<()> {
    let c = parent(comm_old)?;
    let n = not_negative(n, "n")?;
    let sources = ranks_of(&c, sources, n, "sources")?;
    let degrees = degrees.slice(n)?;
    let mut total = 0usize;
    for (i, &d) in degrees.iter().enumerate() {
        total += not_negative(d, &format!("degrees[{i}]"))?;
    }
    let destinations = ranks_of(&c, destinations, total, "destinations")?;
    let said = Said::of(weights, total);
    let weights = weights_of(weights, total, "weights")?;
    info::optional(info)?;
    comm_dist_graph.set(MPI_COMM_NULL)?;

    let from = sources.iter().zip(degrees).flat_map(|(s, d)| std::iter::repeat_n(*s, *d as usize));
    let list: Vec<i32> =
        from.zip(destinations).zip(weights).flat_map(|((source, dest), weight)| [source, dest, weight]).collect();
    let all = comm::allgather(&c, with_place(summary(said, reorder, list.len())))?;
    let (weighted, reorder, lengths) = agree(&all)?;
    let mut nodes = vec![Node::default(); c.size()];
    for (rank, list) in gather_lists(&c, &list, &lengths)?.iter().enumerate() {
        for edge in list.chunks(3) {
            match *edge {
                [source, dest, weight]
                    if [source, dest].iter().all(|r| (0..c.size() as i32).contains(r)) && weight >= 0 =>
                {
                    nodes[source as usize].destinations.push((dest, weight));
                    nodes[dest as usize].sources.push((source, weight));
                }
                _ => return Err(nonsense(rank, "edges between ranks that do not exist")),
            }
        }
    }
    let order = match reorder {
        true => order_at(&c, c.size(), &super::places(&all), || edges(&nodes), None)?,
        false => (0..c.size() as u32).collect(),
    };
    make(&c, &order, |rank| nodes[rank].topology(weighted), comm_dist_graph)
}

fn get(h: handle::Comm) -> Result<Found> {
    let c = comm::get(h)?;
    match &any(&c)?.kind {
        Kind::Dist(_) => Ok(c),
        _ => Err(wrong_kind(&c, "a distributed graph")),
    }
}

pub fn dist_graph_neighbors_count(
    comm: handle::Comm,
    indegree: Out<i32>,
    outdegree: Out<i32>,
    weighted: Out<i32>,
) -> Result<()> {
    let c = get(comm)?;
    let t = any(&c)?;
    indegree.set(t.sources.len() as i32)?;
    outdegree.set(t.destinations.len() as i32)?;
    weighted.set(matches!(t.kind, Kind::Dist(Some(_))) as i32)
}

/// The first neighbours, as many as the arrays hold. Where there are no weights, the arrays for them stay as they are; so do MPI_UNWEIGHTED
/// and MPI_WEIGHTS_EMPTY.
pub fn dist_graph_neighbors(
    comm: handle::Comm,
    maxindegree: i32,
    sources: Arr<i32>,
    sourceweights: Arr<i32>,
    maxoutdegree: i32,
    destinations: Arr<i32>,
    destweights: Arr<i32>,
) -> Result<()> {
    let c = get(comm)?;
    let t = any(&c)?;
    let n = not_negative(maxindegree, "maxindegree")?.min(t.sources.len());
    let m = not_negative(maxoutdegree, "maxoutdegree")?.min(t.destinations.len());
    if (n > 0 && sources.is_null()) || (m > 0 && destinations.is_null()) {
        bail!(MPI_ERR_ARG, "the array for {n} sources or {m} destinations is a null pointer");
    }
    let weights = match &t.kind {
        Kind::Dist(Some(w)) => (&w.sources[..n], &w.destinations[..m]),
        _ => (&[][..], &[][..]),
    };
    for (out, values, name) in [(sourceweights, weights.0, "sourceweights"), (destweights, weights.1, "destweights")] {
        if values.is_empty() || out.as_ptr() as usize == MPI_UNWEIGHTED {
            continue;
        }
        if out.is_null() || out.as_ptr() as usize == MPI_WEIGHTS_EMPTY {
            bail!(
                MPI_ERR_ARG,
                "{name} is null or MPI_WEIGHTS_EMPTY though there are {} weights; pass an array, or MPI_UNWEIGHTED",
                values.len()
            );
        }
        super::write(&out, values.iter().copied());
    }
    super::write(&sources, t.sources[..n].iter().copied());
    super::write(&destinations, t.destinations[..m].iter().copied());
    Ok(())
}
