//! Process topologies (MPI-5.0 chapter 8): what is cached on a communicator, and the constructors' common part.
//!
//! Invariants:
//! * A topology is set before its communicator has a handle and never changes, so it needs no lock. A duplicate shares it; every other
//!   constructor makes a communicator without one.
//! * Every rank of a constructor computes the same order of processes: what they do not all know travels with one allgather, and the
//!   mapping is computed at rank 0 alone, whose result the others take.
//! * Reordering looks at the affinity masks of that moment ([`place`]); where no pair of processes is closer than another (not bound, or
//!   all in one cache) the order stays.
//!
//! MPI_Cart_map and MPI_Graph_map answer what the constructor with `reorder` would do, so where there are more than two nodes they are
//! collective, as it is. Known gaps: no key of the info arguments is known; they are checked only.
mod cart;
mod dims;
mod dist;
mod graph;
mod mapping;
mod neighbor;
mod place;

pub use cart::{cart_coords, cart_create, cart_get, cart_map, cart_rank, cart_shift, cart_sub, cartdim_get};
pub use dims::dims_create;
pub use dist::{dist_graph_create, dist_graph_create_adjacent, dist_graph_neighbors, dist_graph_neighbors_count};
pub use graph::{graph_create, graph_get, graph_map, graph_neighbors, graph_neighbors_count, graphdims_get};
pub use neighbor::*;

use crate::comm::{self, Comm};
use crate::group::Group;
use crate::table::Ref;
use crate::{datatype, world};
use mapping::{Edges, Grid};
use oxmpi_base::args::{Arr, Buf, Counts, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use place::Place;
use std::path::Path;
use std::sync::Arc;

/// What a communicator knows about its ranks' neighbourhood. The lists are those of the own rank; in a grid without a neighbour in some
/// direction MPI_PROC_NULL holds the place.
pub struct Topology {
    kind: Kind,
    sources: Box<[i32]>,
    destinations: Box<[i32]>,
}

enum Kind {
    Cart(cart::Cart),
    Graph(graph::Graph),
    /// None: MPI_UNWEIGHTED.
    Dist(Option<Weights>),
}

/// One for each source and destination.
struct Weights {
    sources: Box<[i32]>,
    destinations: Box<[i32]>,
}

type Found = Ref<'static, handle::Comm, Comm>;

/// MPI-5.0 8.5.5
pub fn topo_test(comm: handle::Comm, status: Out<i32>) -> Result<()> {
    status.set(match comm::get(comm)?.topology.get().map(|t| &t.kind) {
        Some(Kind::Cart(_)) => MPI_CART,
        Some(Kind::Graph(_)) => MPI_GRAPH,
        Some(Kind::Dist(_)) => MPI_DIST_GRAPH,
        None => MPI_UNDEFINED,
    })
}

/// The communicator for a constructor.
fn parent(h: handle::Comm) -> Result<Found> {
    world::attended()?;
    comm::get_intra(h)
}

/// The topology of a communicator that has one.
fn any(c: &Comm) -> Result<&Topology> {
    match c.topology.get() {
        Some(t) => Ok(t),
        None => bail!(
            MPI_ERR_TOPOLOGY,
            "{} has no topology; MPI_Cart_create, MPI_Dist_graph_create(_adjacent) and MPI_Graph_create make communicators that do",
            c.describe()
        ),
    }
}

fn wrong_kind(c: &Comm, wanted: &str) -> Error {
    let found = match c.topology.get().map(|t| &t.kind) {
        Some(Kind::Cart(_)) => "a Cartesian topology",
        Some(Kind::Graph(_)) => "a graph topology",
        Some(Kind::Dist(_)) => "a distributed graph topology",
        None => "no topology",
    };
    Error::new(MPI_ERR_TOPOLOGY, format!("{} has {found}, not {wanted}", c.describe()))
}

fn not_negative(value: i32, name: &str) -> Result<usize> {
    match usize::try_from(value) {
        Ok(v) => Ok(v),
        Err(_) => bail!(MPI_ERR_ARG, "{name} is {value}; it must not be negative"),
    }
}

/// A rank of a grid or graph of `n` nodes.
fn rank_below(rank: i32, n: usize, c: &Comm) -> Result<usize> {
    match usize::try_from(rank) {
        Ok(r) if r < n => Ok(r),
        _ => {
            bail!(MPI_ERR_RANK, "rank {rank} is not a rank of {}, which has ranks 0 to {}", c.describe(), n as i64 - 1)
        }
    }
}

/// Room for `need` elements in an output array of `max`.
fn room(out: &Arr<i32>, max: i32, need: usize, name: &str, what: &str) -> Result<()> {
    if (max as i64) < need as i64 {
        bail!(MPI_ERR_ARG, "{name} is {max}, but there are {need} {what}");
    }
    if need > 0 && out.is_null() {
        bail!(MPI_ERR_ARG, "the array for {need} {what} is a null pointer");
    }
    Ok(())
}

fn write(out: &Arr<i32>, values: impl IntoIterator<Item = i32>) {
    values.into_iter().enumerate().for_each(|(i, v)| out.put(i, v));
}

/// Which process gets rank i, as ranks of `c`, for i below `n`: the cheapest order found where `reorder` allows one. Collective if so.
fn order(c: &Comm, n: usize, reorder: bool, edges: impl FnOnce() -> Edges, grid: Option<Grid>) -> Result<Vec<u32>> {
    if !reorder || n < 3 {
        return Ok((0..n as u32).collect());
    }
    let places = places(&comm::allgather(c, with_place(0))?);
    order_at(c, n, &places, edges, grid)
}

fn order_at(
    c: &Comm,
    n: usize,
    places: &[Place],
    edges: impl FnOnce() -> Edges,
    grid: Option<Grid>,
) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = (0..n as u32).collect();
    if !place::differ(&places[..n]) {
        return Ok(order);
    }
    if c.rank == 0
        && let Some(better) = mapping::improve(places, &edges(), grid)
    {
        order = better;
    }
    let bytes = Buf(order.as_mut_ptr() as *mut _);
    oxmpi_coll::bcast(&c.endpoint, bytes, size_of_val(order.as_slice()), datatype::byte(), 0)?;
    let mut taken = vec![false; n];
    let fits = order.iter().all(|p| taken.get_mut(*p as usize).is_some_and(|t| !std::mem::replace(t, true)));
    if fits { Ok(order) } else { Err(nonsense(0, "an order of processes that is none")) }
}

/// What another rank sent cannot be used.
fn nonsense(rank: usize, what: &str) -> Error {
    Error::new(
        MPI_ERR_INTERN,
        format!("rank {rank} sent {what} while a topology was made; its memory is damaged, or the library has a bug"),
    )
}

/// What a rank tells the others: a number and its place.
fn with_place(number: i64) -> [i64; 3] {
    let [package, node, cache, core] = place::here(Path::new("/")).map(i64::from);
    [number, package << 32 | node, cache << 32 | core]
}

fn places(all: &[[i64; 3]]) -> Vec<Place> {
    let halves = |v: i64| ((v >> 32) as u32, v as u32);
    all.iter()
        .map(|a| {
            let ((package, node), (cache, core)) = (halves(a[1]), halves(a[2]));
            [package, node, cache, core]
        })
        .collect()
}

/// The child of `parent` whose rank i is `parent`'s rank `order[i]`; MPI_COMM_NULL at those who are not in it.
fn make(parent: &Comm, order: &[u32], topology: impl FnOnce(usize) -> Topology, out: Out<handle::Comm>) -> Result<()> {
    let Some(rank) = order.iter().position(|r| *r as usize == parent.rank) else {
        return out.set(MPI_COMM_NULL);
    };
    let same = order.len() == parent.size() && order.iter().enumerate().all(|(i, r)| i == *r as usize);
    let group = match same {
        true => parent.group.clone(),
        false => {
            let procs = order.iter().map(|r| parent.ranks.proc_of(*r as usize)).collect();
            Arc::new(Group::from_procs(procs).of(parent.group.origin()))
        }
    };
    let new = comm::child(parent, group, None, comm::TAG)?;
    debug_assert_eq!(new.rank, rank);
    let _first = new.topology.set(Arc::new(topology(rank)));
    out.set(comm::publish(new)?)
}

/// Every rank's list of integers; `lengths` are known.
fn gather_lists(c: &Comm, mine: &[i32], lengths: &[usize]) -> Result<Vec<Vec<i32>>> {
    let starts: Vec<usize> = lengths.iter().scan(0, |at, n| Some(std::mem::replace(at, *at + n))).collect();
    let mut all = vec![0i32; lengths.iter().sum()];
    all[starts[c.rank]..][..mine.len()].copy_from_slice(mine);
    let bytes = |v: &[usize]| -> Vec<i64> { v.iter().map(|n| (n * size_of::<i32>()) as i64).collect() };
    let (counts, displs) = (bytes(lengths), bytes(&starts));
    // SAFETY: both vectors have an element for each rank and live until the call is over.
    let [counts, displs] = [&counts, &displs].map(|v| Counts::Wide(unsafe { Arr::new(v.as_ptr()) }));
    let (byte, buf) = (datatype::byte(), Buf(all.as_mut_ptr() as *mut _));
    oxmpi_coll::allgatherv(&c.endpoint, Buf(MPI_IN_PLACE as *mut _), 0, byte, buf, &counts, &displs, byte)?;
    Ok(starts.iter().zip(lengths).map(|(s, n)| all[*s..][..*n].to_vec()).collect())
}
