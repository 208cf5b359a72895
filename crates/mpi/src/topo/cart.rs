//! Cartesian topologies (MPI-5.0 8.5.1, 8.5.5, 8.5.6, 8.5.8). Ranks are row-major: the last dimension varies fastest.
use super::mapping::{Edges, Grid};
use super::{Found, Kind, Topology, any, make, order, parent, rank_below, room, write, wrong_kind};
use crate::comm::{self, Comm};
use oxmpi_base::args::{Arr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};

pub struct Cart {
    dims: Box<[i32]>,
    periods: Box<[bool]>,
}

impl Cart {
    fn size(&self) -> usize {
        self.dims.iter().map(|d| *d as usize).product()
    }

    fn coords(&self, rank: usize) -> Vec<i32> {
        let mut rest = rank;
        let mut coords: Vec<i32> = self
            .dims
            .iter()
            .rev()
            .map(|d| {
                let c = rest % *d as usize;
                rest /= *d as usize;
                c as i32
            })
            .collect();
        coords.reverse();
        coords
    }

    /// The rank at coordinates that lie in the grid.
    fn rank(&self, coords: &[i32]) -> usize {
        self.dims.iter().zip(coords).fold(0, |rank, (d, c)| rank * *d as usize + *c as usize)
    }

    /// The rank `steps` further in dimension `d`, MPI_PROC_NULL beyond the border.
    fn neighbor(&self, rank: usize, d: usize, steps: i64) -> i32 {
        let mut coords = self.coords(rank);
        let to = coords[d] as i64 + steps;
        if !self.periods[d] && !(0..self.dims[d] as i64).contains(&to) {
            return MPI_PROC_NULL;
        }
        coords[d] = to.rem_euclid(self.dims[d] as i64) as i32;
        self.rank(&coords) as i32
    }

    /// Dimension by dimension, first the negative direction.
    fn topology(self, rank: usize) -> Topology {
        let all = (0..self.dims.len()).flat_map(|d| [-1, 1].map(|step| self.neighbor(rank, d, step)));
        let neighbors: Box<[i32]> = all.collect();
        Topology { kind: Kind::Cart(self), sources: neighbors.clone(), destinations: neighbors }
    }

    fn order(&self, c: &Comm, reorder: bool) -> Result<Vec<u32>> {
        let n = self.size();
        let edges = || {
            let forward = |r: usize| (0..self.dims.len()).map(move |d| (r, self.neighbor(r, d, 1)));
            let inside = (0..n).flat_map(forward).filter(|e| e.1 >= 0);
            Edges::new(n, inside.map(|(a, b)| (a, b as usize, 1)))
        };
        order(c, n, reorder, edges, Some(Grid { dims: &self.dims, periods: &self.periods }))
    }
}

/// The grid that the arguments describe, which must not be larger than the communicator.
fn grid(c: &Comm, ndims: i32, dims: Arr<i32>, periods: Arr<i32>) -> Result<Cart> {
    if ndims < 0 {
        bail!(MPI_ERR_ARG, "ndims is {ndims}; a grid cannot have a negative number of dimensions");
    }
    let dims = dims.slice(ndims as usize)?;
    let periods = periods.slice(ndims as usize)?;
    let mut nodes = 1u64;
    for (i, &d) in dims.iter().enumerate() {
        if d < 1 {
            bail!(
                MPI_ERR_DIMS,
                "dims[{i}] is {d}; every dimension of a grid has at least one node (MPI_Dims_create chooses for zeros)"
            );
        }
        nodes = nodes.saturating_mul(d as u64);
    }
    if nodes > c.size() as u64 {
        bail!(MPI_ERR_ARG, "a grid of {dims:?} has {nodes} nodes, but {} has {} ranks", c.describe(), c.size());
    }
    Ok(Cart { dims: dims.into(), periods: periods.iter().map(|p| *p != 0).collect() })
}

fn of(c: &Comm) -> Result<&Cart> {
    match &any(c)?.kind {
        Kind::Cart(cart) => Ok(cart),
        _ => Err(wrong_kind(c, "a Cartesian one")),
    }
}

fn get(h: handle::Comm) -> Result<Found> {
    let c = comm::get(h)?;
    of(&c)?;
    Ok(c)
}

pub fn cart_create(
    comm_old: handle::Comm,
    ndims: i32,
    dims: Arr<i32>,
    periods: Arr<i32>,
    reorder: i32,
    comm_cart: Out<handle::Comm>,
) -> Result<()> {
    let c = parent(comm_old)?;
    let cart = grid(&c, ndims, dims, periods)?;
    comm_cart.set(MPI_COMM_NULL)?;
    let order = cart.order(&c, reorder != 0)?;
    make(&c, &order, |rank| cart.topology(rank), comm_cart)
}

pub fn cart_map(comm: handle::Comm, ndims: i32, dims: Arr<i32>, periods: Arr<i32>, newrank: Out<i32>) -> Result<()> {
    let c = parent(comm)?;
    let order = grid(&c, ndims, dims, periods)?.order(&c, true)?;
    let rank = order.iter().position(|r| *r as usize == c.rank);
    newrank.set(rank.map_or(MPI_UNDEFINED, |r| r as i32))
}

pub fn cartdim_get(comm: handle::Comm, ndims: Out<i32>) -> Result<()> {
    let c = get(comm)?;
    ndims.set(of(&c)?.dims.len() as i32)
}

pub fn cart_get(comm: handle::Comm, maxdims: i32, dims: Arr<i32>, periods: Arr<i32>, coords: Arr<i32>) -> Result<()> {
    let c = get(comm)?;
    let cart = of(&c)?;
    for out in [&dims, &periods, &coords] {
        room(out, maxdims, cart.dims.len(), "maxdims", "dimensions")?;
    }
    write(&dims, cart.dims.iter().copied());
    write(&periods, cart.periods.iter().map(|p| *p as i32));
    write(&coords, cart.coords(c.rank));
    Ok(())
}

pub fn cart_rank(comm: handle::Comm, coords: Arr<i32>, rank: Out<i32>) -> Result<()> {
    let c = get(comm)?;
    let cart = of(&c)?;
    let mut at = coords.slice(cart.dims.len())?.to_vec();
    for (d, x) in at.iter_mut().enumerate() {
        if cart.periods[d] {
            *x = x.rem_euclid(cart.dims[d]);
        } else if !(0..cart.dims[d]).contains(x) {
            bail!(
                MPI_ERR_ARG,
                "coords[{d}] is {x}, but that dimension of {} has coordinates 0 to {} and is not periodic",
                c.describe(),
                cart.dims[d] - 1
            );
        }
    }
    rank.set(cart.rank(&at) as i32)
}

pub fn cart_coords(comm: handle::Comm, rank: i32, maxdims: i32, coords: Arr<i32>) -> Result<()> {
    let c = get(comm)?;
    let cart = of(&c)?;
    let rank = rank_below(rank, c.size(), &c)?;
    room(&coords, maxdims, cart.dims.len(), "maxdims", "dimensions")?;
    write(&coords, cart.coords(rank));
    Ok(())
}

pub fn cart_shift(
    comm: handle::Comm,
    direction: i32,
    disp: i32,
    rank_source: Out<i32>,
    rank_dest: Out<i32>,
) -> Result<()> {
    let c = get(comm)?;
    let cart = of(&c)?;
    let n = cart.dims.len();
    let Some(d) = usize::try_from(direction).ok().filter(|d| *d < n) else {
        bail!(
            MPI_ERR_DIMS,
            "direction {direction} is not a dimension of {}, which has {n}, counted from 0",
            c.describe()
        );
    };
    rank_source.set(cart.neighbor(c.rank, d, -(disp as i64)))?;
    rank_dest.set(cart.neighbor(c.rank, d, disp as i64))
}

/// The ranks whose coordinates agree in the dimensions that go form a new grid, in the order of their old ranks.
pub fn cart_sub(comm: handle::Comm, remain_dims: Arr<i32>, newcomm: Out<handle::Comm>) -> Result<()> {
    let c = get(comm)?;
    let cart = of(&c)?;
    let remain = remain_dims.slice(cart.dims.len())?;
    newcomm.set(MPI_COMM_NULL)?;
    let kept: Vec<usize> = (0..cart.dims.len()).filter(|d| remain[*d] != 0).collect();
    let sub = Cart {
        dims: kept.iter().map(|d| cart.dims[*d]).collect(),
        periods: kept.iter().map(|d| cart.periods[*d]).collect(),
    };
    let mut at = cart.coords(c.rank);
    let order: Vec<u32> = (0..sub.size())
        .map(|r| {
            kept.iter().zip(sub.coords(r)).for_each(|(d, x)| at[*d] = x);
            cart.rank(&at) as u32
        })
        .collect();
    make(&c, &order, |rank| sub.topology(rank), newcomm)
}
