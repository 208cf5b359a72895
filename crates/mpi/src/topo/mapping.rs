//! Which process gets which rank when the caller allows reordering: messages along the edges should stay inside a cache, a memory node, a
//! package. A pure function of the graph and the places, so that it is tested without a machine.
//!
//! Candidates are the old order, blocks of the grid (where the processes of each part can form equal blocks), and parts grown along the
//! edges and improved by exchanging pairs. The cheapest wins, the old order where it is as good.
use super::place::{Place, differ, distance};

/// How many steps trying pairs may take: the call should take milliseconds.
const MAX_STEPS: usize = 1 << 24;
const LEVELS: usize = size_of::<Place>() / size_of::<u32>();

/// Weighted edges, seen from both ends.
pub struct Edges(Vec<Vec<(u32, u64)>>);

/// Extents and periodicity of a grid.
pub struct Grid<'a> {
    pub dims: &'a [i32],
    pub periods: &'a [bool],
}

impl Edges {
    /// Of `n` nodes; an edge from a node to itself costs nothing wherever it is.
    pub fn new(n: usize, edges: impl Iterator<Item = (usize, usize, u64)>) -> Edges {
        let mut all = vec![Vec::new(); n];
        for (a, b, weight) in edges.filter(|e| e.0 != e.1) {
            all[a].push((b as u32, weight));
            all[b].push((a as u32, weight));
        }
        Edges(all)
    }
}

/// For each node the process that should have its rank; None where the old order is as good as what was found.
pub fn improve(places: &[Place], edges: &Edges, grid: Option<Grid>) -> Option<Vec<u32>> {
    let n = edges.0.len();
    if n < 3 || !differ(&places[..n]) {
        return None;
    }
    // Processes by place; those of one part stand together at every level.
    let mut procs: Vec<u32> = (0..n as u32).collect();
    procs.sort_by_key(|p| places[*p as usize]);
    let cost = |map: &[u32]| -> u64 {
        let at = |v: u32| &places[map[v as usize] as usize];
        let of = |v: usize| {
            edges.0[v]
                .iter()
                .map(|(u, w)| w.saturating_mul(distance(at(v as u32), at(*u))))
                .fold(0, u64::saturating_add)
        };
        (0..n).map(of).fold(0, u64::saturating_add)
    };
    let old: Vec<u32> = (0..n as u32).collect();
    let mut grown = vec![0; n];
    grow(places, edges, &old, &procs, 0, &mut grown);
    exchange(places, edges, &mut grown);
    let mut best = (cost(&old), old);
    let blocks = grid.and_then(|g| blocks(places, &g, &procs));
    for map in blocks.into_iter().chain([grown]) {
        let c = cost(&map);
        if c < best.0 {
            best = (c, map);
        }
    }
    best.1.iter().enumerate().any(|(v, p)| v as u32 != *p).then_some(best.1)
}

/// The runs of `procs` (sorted by place) that share their part at `level`.
fn parts<'a>(places: &'a [Place], procs: &'a [u32], level: usize) -> impl Iterator<Item = &'a [u32]> {
    procs.chunk_by(move |a, b| places[*a as usize][level] == places[*b as usize][level])
}

/// Gives the nodes to the processes part by part, each part a region grown along the edges.
fn grow(places: &[Place], edges: &Edges, nodes: &[u32], procs: &[u32], level: usize, map: &mut [u32]) {
    if level == LEVELS {
        nodes.iter().zip(procs).for_each(|(v, p)| map[*v as usize] = *p);
        return;
    }
    let mut rest = nodes.to_vec();
    for part in parts(places, procs, level) {
        let region = take_region(edges, &mut rest, part.len());
        grow(places, edges, &region, part, level + 1, map);
    }
}

/// Takes `count` nodes that are closely connected out of `rest`, which is sorted; so is the result.
fn take_region(edges: &Edges, rest: &mut Vec<u32>, count: usize) -> Vec<u32> {
    if count == rest.len() {
        return std::mem::take(rest);
    }
    // Of each node left: weight to the region, weight to the others that are left, steps from the seed.
    let n = edges.0.len();
    let mut left = vec![false; n];
    rest.iter().for_each(|v| left[*v as usize] = true);
    let (mut inside, mut outside, mut steps) = (vec![0u64; n], vec![0u64; n], vec![u32::MAX; n]);
    for v in rest.iter() {
        let to = edges.0[*v as usize].iter().filter(|(u, _)| left[*u as usize]);
        outside[*v as usize] = to.map(|e| e.1).fold(0, u64::saturating_add);
    }
    let mut region = Vec::with_capacity(count);
    while region.len() < count {
        let key = |v: &u32| {
            let v = *v as usize;
            (std::cmp::Reverse(inside[v]), steps[v], outside[v])
        };
        let Some(v) = rest.iter().filter(|v| left[**v as usize]).min_by_key(|v| key(v)).copied() else { break };
        left[v as usize] = false;
        let next = if region.is_empty() { 0 } else { steps[v as usize] }.saturating_add(1);
        region.push(v);
        for &(u, w) in &edges.0[v as usize] {
            let u = u as usize;
            inside[u] = inside[u].saturating_add(w);
            outside[u] = outside[u].saturating_sub(w);
            steps[u] = steps[u].min(next);
        }
    }
    rest.retain(|v| left[*v as usize]);
    region.sort_unstable();
    region
}

/// Exchanges pairs of nodes as long as that makes the whole cheaper.
fn exchange(places: &[Place], edges: &Edges, map: &mut [u32]) {
    let n = map.len();
    let degree = edges.0.iter().map(Vec::len).sum::<usize>() / n + 1;
    let passes = MAX_STEPS / n.saturating_mul(n).saturating_mul(degree);
    for _ in 0..passes.min(8) {
        let mut better = false;
        for v in 0..n {
            for u in v + 1..n {
                let (pv, pu) = (&places[map[v] as usize], &places[map[u] as usize]);
                if pv == pu {
                    continue;
                }
                // What the edges of `of` cost with it at `at`; the edge between the two keeps its length.
                let cost = |of: usize, other: usize, at: &Place| -> u64 {
                    let far = edges.0[of].iter().filter(|(x, _)| *x as usize != other);
                    far.map(|(x, w)| w.saturating_mul(distance(at, &places[map[*x as usize] as usize])))
                        .fold(0, u64::saturating_add)
                };
                let now = cost(v, u, pv).saturating_add(cost(u, v, pu));
                if cost(v, u, pu).saturating_add(cost(u, v, pv)) < now {
                    map.swap(v, u);
                    better = true;
                }
            }
        }
        if !better {
            return;
        }
    }
}

/// Equal blocks of the grid for the parts of each level; None where no block fits or parts differ in size.
fn blocks(places: &[Place], grid: &Grid, procs: &[u32]) -> Option<Vec<u32>> {
    let order = block(places, grid.dims, grid.periods, procs, 0)?;
    (order.len() == procs.len()).then_some(order)
}

/// The processes in row-major order of a block with these extents.
fn block(places: &[Place], dims: &[i32], periods: &[bool], procs: &[u32], level: usize) -> Option<Vec<u32>> {
    if level == LEVELS {
        return Some(procs.to_vec());
    }
    let each: Vec<&[u32]> = parts(places, procs, level).collect();
    let size = each[0].len();
    if size == 1 || each.len() == 1 {
        return block(places, dims, periods, procs, if size == 1 { LEVELS } else { level + 1 });
    }
    if each.iter().any(|p| p.len() != size) {
        return None;
    }
    let shape = best_shape(dims, periods, size)?;
    let inner_periods: Vec<bool> = (0..dims.len()).map(|i| periods[i] && shape[i] == dims[i]).collect();
    let mut out = vec![0; procs.len()];
    let counts: Vec<i32> = (0..dims.len()).map(|i| dims[i] / shape[i]).collect();
    for (b, part) in each.iter().enumerate() {
        let corner = coordinates(b, &counts);
        for (i, p) in block(places, &shape, &inner_periods, part, level + 1)?.into_iter().enumerate() {
            let inside = coordinates(i, &shape);
            let node =
                (0..dims.len()).fold(0, |at, d| at * dims[d] as usize + (corner[d] * shape[d] + inside[d]) as usize);
            out[node] = p;
        }
    }
    Some(out)
}

fn coordinates(mut i: usize, dims: &[i32]) -> Vec<i32> {
    let mut c = vec![0; dims.len()];
    for d in (0..dims.len()).rev() {
        c[d] = (i % dims[d] as usize) as i32;
        i /= dims[d] as usize;
    }
    c
}

/// The extents of blocks of `size` nodes that tile the grid with the fewest edges between them.
fn best_shape(dims: &[i32], periods: &[bool], size: usize) -> Option<Vec<i32>> {
    fn search(
        dims: &[i32],
        periods: &[bool],
        size: i32,
        cut: u64,
        shape: &mut Vec<i32>,
        best: &mut Option<(u64, Vec<i32>)>,
    ) {
        let i = shape.len();
        if i == dims.len() {
            if size == 1 && best.as_ref().is_none_or(|b| cut < b.0) {
                *best = Some((cut, shape.clone()));
            }
            return;
        }
        for b in (1..=dims[i].min(size)).filter(|b| dims[i] % b == 0 && size % b == 0) {
            let borders = dims[i] / b - 1 + (periods[i] && dims[i] > b) as i32;
            let nodes: u64 = dims.iter().map(|d| *d as u64).product();
            shape.push(b);
            search(dims, periods, size / b, cut + borders as u64 * (nodes / dims[i] as u64), shape, best);
            shape.pop();
        }
    }
    let mut best = None;
    search(dims, periods, i32::try_from(size).ok()?, 0, &mut Vec::new(), &mut best);
    best.map(|b| b.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid_edges(dims: &[i32], periods: &[bool]) -> Edges {
        let n: i32 = dims.iter().product();
        let mut all = Vec::new();
        for v in 0..n as usize {
            let at = coordinates(v, dims);
            for d in 0..dims.len() {
                let mut next = at.clone();
                next[d] += 1;
                if next[d] == dims[d] {
                    if !periods[d] {
                        continue;
                    }
                    next[d] = 0;
                }
                let u = (0..dims.len()).fold(0, |i, k| i * dims[k] + next[k]);
                all.push((v, u as usize, 1));
            }
        }
        Edges::new(n as usize, all.into_iter())
    }

    /// `n` processes, `per` of them in a package, one on each core.
    fn packages(n: u32, per: u32) -> Vec<Place> {
        (0..n).map(|p| [p / per * per + 1, p / per * per + 1, p / per * per + 1, p + 1]).collect()
    }

    /// Edges between packages.
    fn crossing(places: &[Place], edges: &Edges, map: &[u32]) -> usize {
        let package = |v: usize| places[map[v] as usize][0];
        let all = (0..map.len()).flat_map(|v| edges.0[v].iter().map(move |e| (v, e.0 as usize)));
        all.filter(|(v, u)| package(*v) != package(*u)).count() / 2
    }

    fn is_permutation(map: &[u32]) -> bool {
        let mut seen = map.to_vec();
        seen.sort_unstable();
        seen.iter().enumerate().all(|(i, p)| i as u32 == *p)
    }

    #[test]
    fn rows_become_blocks() {
        for (dims, per, want) in [([2, 4], 4, 2), ([4, 4], 4, 8), ([4, 4], 8, 4), ([8, 8], 16, 16), ([6, 4], 6, 14)] {
            let (periods, n) = ([false, false], dims[0] * dims[1]);
            let (places, edges) = (packages(n as u32, per), grid_edges(&dims, &periods));
            let old: Vec<u32> = (0..n as u32).collect();
            let map = improve(&places, &edges, Some(Grid { dims: &dims, periods: &periods })).unwrap_or(old);
            assert!(is_permutation(&map));
            assert!(crossing(&places, &edges, &map) <= want, "{dims:?} {per}: {}", crossing(&places, &edges, &map));
        }
    }

    #[test]
    fn a_grid_of_cubes_in_three_levels() {
        // 64 processes: two packages of two caches of sixteen.
        let places: Vec<Place> = (0..64).map(|p| [p / 32 * 32 + 1, p / 32 * 32 + 1, p / 16 * 16 + 1, p + 1]).collect();
        let (dims, periods) = ([4, 4, 4], [true, true, false]);
        let edges = grid_edges(&dims, &periods);
        let map = improve(&places, &edges, Some(Grid { dims: &dims, periods: &periods })).unwrap_or((0..64).collect());
        assert!(is_permutation(&map));
        assert!(crossing(&places, &edges, &map) <= 16, "{}", crossing(&places, &edges, &map));
    }

    #[test]
    fn neighbours_of_a_graph_come_together() {
        // Two rings of four whose members alternate.
        let ring = |k: usize| (0..4).map(move |i| (2 * i + k, 2 * ((i + 1) % 4) + k, 1));
        let edges = Edges::new(8, ring(0).chain(ring(1)).chain([(0, 1, 1)]));
        let places = packages(8, 4);
        let map = improve(&places, &edges, None).unwrap();
        assert!(is_permutation(&map));
        assert_eq!(crossing(&places, &edges, &map), 1);
    }

    #[test]
    fn heavy_edges_count_more() {
        let edges = Edges::new(4, [(0, 1, 1), (1, 2, 100), (2, 3, 1), (3, 0, 100)].into_iter());
        let places = packages(4, 2);
        let map = improve(&places, &edges, None).unwrap();
        assert_eq!(places[map[1] as usize][0], places[map[2] as usize][0]);
        assert_eq!(places[map[3] as usize][0], places[map[0] as usize][0]);
    }

    #[test]
    fn a_good_order_stays() {
        let edges = grid_edges(&[8], &[false]);
        assert!(improve(&packages(8, 4), &edges, None).is_none());
        assert!(improve(&[[0; 4]; 8], &edges, None).is_none());
        // More processes than nodes: only the first ones get ranks.
        assert!(improve(&packages(12, 4), &edges, None).is_none());
    }

    #[test]
    fn a_new_order_is_never_worse() {
        let mut state = 1u64;
        let mut below = move |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % n
        };
        let mut changed = 0;
        for _ in 0..300 {
            let n = 3 + below(20) as usize;
            let places: Vec<Place> = (0..n)
                .map(|_| {
                    let core = below(16) as u32;
                    if below(8) == 0 {
                        [core / 8 * 8 + 1, 0, 0, 0]
                    } else {
                        [core / 8 * 8 + 1, core / 8 * 8 + 1, core / 4 * 4 + 1, core + 1]
                    }
                })
                .collect();
            let list: Vec<_> =
                (0..2 * n).map(|_| (below(n as u64) as usize, below(n as u64) as usize, below(5))).collect();
            let edges = Edges::new(n, list.iter().copied());
            let cost = |map: &[u32]| -> u64 {
                let at = |v: usize| &places[map[v] as usize];
                list.iter().filter(|e| e.0 != e.1).map(|e| e.2 * distance(at(e.0), at(e.1))).sum()
            };
            if let Some(map) = improve(&places, &edges, None) {
                assert!(is_permutation(&map));
                assert!(cost(&map) < cost(&(0..n as u32).collect::<Vec<_>>()));
                changed += 1;
            }
        }
        assert!(changed > 200, "only {changed} of 300 random graphs could be improved");
    }

    #[test]
    fn thousands_of_ranks_take_no_more_than_a_moment() {
        let (dims, periods) = ([64, 64], [true, true]);
        let (places, edges) = (packages(4096, 64), grid_edges(&dims, &periods));
        let map = improve(&places, &edges, Some(Grid { dims: &dims, periods: &periods })).unwrap();
        assert!(is_permutation(&map));
        assert_eq!(crossing(&places, &edges, &map), 2 * 8 * 64);
    }

    #[test]
    fn uneven_parts_and_huge_weights_are_no_trouble() {
        let places: Vec<Place> = (0..9)
            .map(|p| {
                if p < 5 {
                    [1, 1, 1, p + 1]
                } else if p < 7 {
                    [6, 6, 6, p + 1]
                } else {
                    [0; 4]
                }
            })
            .collect();
        let (dims, periods) = ([3, 3], [true, true]);
        let edges = grid_edges(&dims, &periods);
        let map = improve(&places, &edges, Some(Grid { dims: &dims, periods: &periods }));
        assert!(map.is_none_or(|m| is_permutation(&m)));
        let heavy = Edges::new(9, (0..9).flat_map(|a| (0..9).map(move |b| (a, b, u64::MAX / 4))));
        assert!(improve(&places, &heavy, None).is_none_or(|m| is_permutation(&m)));
    }
}
