//! Neighbourhood exchanges on random graphs with duplicate edges and loops, and on grids whose dimensions are as short as one: at once and
//! as schedules that run twice.
use super::mock::TO_ITSELF;
use super::vector::Pair;
use super::{Endpoint, SIZES, Vector, types, world};
use crate::schedule::{Recorder, Schedule};
use crate::*;
use oxmpi_pt2pt::{Step, Work};

/// How often the edge is there.
fn often(a: usize, b: usize, seed: usize) -> usize {
    (a * 7 + b * 3 + seed) % 5 / 2
}

/// Elements of the `k`th edge from `a` to `b`; the large ones wait for their receive.
fn length(a: usize, b: usize, k: usize) -> usize {
    [0, 3, 700][(a + 2 * b + k) % 3]
}

fn element(a: usize, b: usize, k: usize, run: usize, i: usize) -> Pair {
    ((a * 10_000 + b * 100 + k * 10 + run) as u32, i as u32)
}

/// A slot's peer, the number that both sides give the edge, and its length.
type Slot = (usize, usize, usize);

/// Exchanges what the two lists say; None is no neighbour.
fn exchange(ep: &Endpoint, sources: &[Option<Slot>], destinations: &[Option<Slot>], grid: bool, what: &str) {
    TO_ITSELF.set(true);
    let me = ep.rank();
    let all = types();
    let (sdt, rdt) = (&all[me % all.len()], &all[(me + 2) % all.len()]);
    let ranks = |l: &[Option<Slot>]| l.iter().map(|s| s.map_or(-1, |s| s.0 as i32)).collect::<Vec<i32>>();
    // A gap after each block.
    let starts = |l: &[Option<Slot>]| -> Vec<usize> {
        l.iter().scan(0, |at, s| Some(std::mem::replace(at, *at + s.map_or(0, |s| s.2) + 1))).collect()
    };
    let total = |l: &[Option<Slot>]| l.iter().map(|s| s.map_or(0, |s| s.2) + 1).sum::<usize>();
    let (from_at, to_at) = (starts(destinations), starts(sources));
    let (s, d) = (ranks(sources), ranks(destinations));
    let who = Neighbors { sources: &s, destinations: &d, grid };
    let mut from = Vector::blank(sdt, total(destinations));
    let mut to = Vector::blank(rdt, total(sources));
    let (sbuf, rbuf) = (from.buf(), to.buf());
    let out = |k: usize| Data::new(sbuf, 0, sdt).at(from_at[k] as isize, destinations[k].map_or(0, |s| s.2));
    let into = |k: usize| Data::new(rbuf, 0, rdt).at(to_at[k] as isize, sources[k].map_or(0, |s| s.2));
    let x = Recorder::new(ep, true);
    neighbor_steps(&x, who, out, into);
    let schedule = Schedule::new(x.finish("a test", None));
    for run in 0..3 {
        from.clear();
        to.clear();
        for (k, slot) in destinations.iter().enumerate() {
            if let Some((peer, nth, n)) = *slot {
                (0..n).for_each(|i| from.set(from_at[k] + i, element(me, peer, nth, run, i)));
            }
        }
        if run == 0 {
            neighbor_exchange(ep, who, out, into).unwrap();
        } else {
            schedule.start();
            while schedule.advance() != Step::Over {
                std::thread::yield_now();
            }
            assert!(schedule.error().is_none());
        }
        to.expect(&format!("{what} at {me}, run {run}"), total(sources), |at| {
            let k = to_at.iter().rposition(|s| *s <= at)?;
            let (peer, nth, n) = sources[k]?;
            (at - to_at[k] < n).then(|| element(peer, me, nth, run, at - to_at[k]))
        });
    }
}

#[test]
fn graphs_with_duplicate_edges_and_loops() {
    for n in SIZES {
        world(n, |ep| {
            let me = ep.rank();
            for seed in 0..5 {
                let edges = |b: usize, a: usize, to: usize| {
                    (0..often(a, to, seed)).map(move |k| Some((b, k, length(a, to, k)))).collect::<Vec<_>>()
                };
                let sources: Vec<_> = (0..n).flat_map(|b| edges(b, b, me)).collect();
                // The other order: only edges of one pair have to agree.
                let destinations: Vec<_> = (0..n).rev().flat_map(|b| edges(b, me, b)).collect();
                exchange(ep, &sources, &destinations, false, &format!("graph {seed} of {n}"));
            }
        });
    }
}

#[test]
fn grids_with_short_dimensions() {
    let grids: [[usize; 2]; 8] = [[1, 1], [1, 2], [2, 1], [2, 2], [1, 5], [3, 2], [2, 4], [4, 1]];
    for dims in grids {
        for periodic in [[false, false], [true, false], [false, true], [true, true]] {
            world(dims[0] * dims[1], |ep| {
                let me = ep.rank();
                let at = [me / dims[1], me % dims[1]];
                let peer = |d: usize, forward: bool| {
                    let edge = if forward { dims[d] - 1 } else { 0 };
                    if at[d] == edge && !periodic[d] {
                        return None;
                    }
                    let mut to = at;
                    to[d] = (at[d] + if forward { 1 } else { dims[d] - 1 }) % dims[d];
                    Some(to[0] * dims[1] + to[1])
                };
                // An edge is known by the sender's slot: what leaves by 2d arrives in 2d + 1.
                let slots = |towards: bool| -> Vec<Option<Slot>> {
                    let one = |k: usize| {
                        let number = if towards { k } else { k ^ 1 };
                        peer(k / 2, k % 2 == 1).map(|p| (p, number, [700, 5, 3, 9][number]))
                    };
                    (0..4).map(one).collect()
                };
                exchange(ep, &slots(false), &slots(true), true, &format!("grid {dims:?} {periodic:?}"));
            });
        }
    }
}
