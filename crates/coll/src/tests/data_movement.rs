//! Barrier, broadcast, gather, scatter, allgather and all-to-all.
use super::vector::Pair;
use super::{SIZES, Vector, counts, types, world};
use crate::buffer::Data;
use crate::exchange::Exchange;
use crate::select::{Allgather, Alltoall, Barrier, Bcast, Rooted};
use crate::*;
use oxmpi_base::{args::Buf, consts::MPI_IN_PLACE};
use std::sync::atomic::{AtomicUsize, Ordering};

const IN_PLACE: Buf = Buf(MPI_IN_PLACE as *mut _);
const NOWHERE: Buf = Buf(0xdead as *mut _);

/// Element `i` of what rank `from` has for rank `to`.
fn element(from: usize, to: usize, i: usize) -> Pair {
    ((from * 1000 + to) as u32, (i * 7 + 1) as u32)
}

#[test]
fn barrier_lets_nobody_through_early() {
    for (n, algorithm) in SIZES.into_iter().flat_map(|n| [(n, Barrier::Dissemination), (n, Barrier::Central)]) {
        // `world` runs twice; entries of both runs add up.
        let entered = AtomicUsize::new(0);
        world(n, |ep| {
            let barrier = || {
                let x = Exchange::new(ep, 1);
                barrier::with(&x, algorithm);
                x.finish().unwrap();
            };
            barrier();
            let before = entered.load(Ordering::SeqCst);
            barrier();
            for round in 1..20 {
                entered.fetch_add(1, Ordering::SeqCst);
                barrier();
                assert!(entered.load(Ordering::SeqCst) >= before + round * n);
                barrier();
                assert!(entered.load(Ordering::SeqCst) <= before + (round + 1) * n);
            }
        });
    }
}

#[test]
fn bcast_by_every_algorithm_from_every_root() {
    let algorithms = [Bcast::Binomial, Bcast::ScatterAllgather, Bcast::Chain { segment: 12 }];
    for n in SIZES {
        world(n, |ep| {
            for root in 0..n {
                for count in [1usize, 3, 40] {
                    for (k, algorithm) in algorithms.into_iter().enumerate() {
                        // Layouts differ between ranks; only the signature is common.
                        let all = types();
                        let dt = &all[(ep.rank() + k + count) % all.len()];
                        let mut v = Vector::blank(dt, count);
                        if ep.rank() == root {
                            v = Vector::filled(dt, count, |i| element(root, n, i));
                        }
                        let x = Exchange::new(ep, 1);
                        if n > 1 {
                            crate::bcast::with(&x, algorithm, Data::new(v.buf(), count, dt), root).unwrap();
                        }
                        x.finish().unwrap();
                        v.expect(&format!("{algorithm:?} n {n} root {root}"), count, |i| Some(element(root, n, i)));
                    }
                }
            }
        });
    }
}

#[test]
fn bcast_of_selected_sizes() {
    for n in [2, 3, 8] {
        world(n, |ep| {
            for count in [0usize, 1, 2047, 2049, 20_000, 70_000] {
                let dt = &types()[2 * (ep.rank() % 2)];
                let mut v = Vector::blank(dt, count);
                if ep.rank() == 1 {
                    v = Vector::filled(dt, count, |i| element(1, n, i));
                }
                bcast(ep, v.buf(), count, dt, 1).unwrap();
                v.expect("bcast", count, |i| Some(element(1, n, i)));
            }
        });
    }
}

#[test]
fn gather_and_scatter_by_every_algorithm_from_every_root() {
    for n in SIZES {
        world(n, |ep| {
            let me = ep.rank();
            for root in 0..n {
                for (k, dt) in types().iter().enumerate() {
                    for (in_place, algorithm) in
                        [(false, Rooted::Binomial), (true, Rooted::Linear), (true, Rooted::Binomial)]
                    {
                        gather_once(ep, root, dt, &types()[(k + me) % 5], in_place, algorithm);
                        scatter_once(ep, root, dt, &types()[(k + me) % 5], in_place, algorithm);
                    }
                }
            }
        });
    }
}

fn gather_once(
    ep: &super::Endpoint,
    root: usize,
    rdt: &super::Datatype,
    sdt: &super::Datatype,
    in_place: bool,
    algorithm: Rooted,
) {
    let (me, n, count) = (ep.rank(), ep.size(), 3);
    let mut own = Vector::filled(sdt, count, |i| element(me, root, i));
    let mut all = Vector::blank(rdt, n * count);
    let in_place = in_place && me == root;
    if in_place {
        (0..count).for_each(|i| all.set(me * count + i, element(me, root, i)));
    }
    let x = Exchange::new(ep, 1);
    let own_data = (!in_place).then(|| Data::new(own.buf(), count, sdt));
    let all_data = (me == root).then(|| Data::new(all.buf(), count, rdt));
    crate::gather::with(&x, algorithm, own_data, all_data, root).unwrap();
    x.finish().unwrap();
    own.expect("gather input", count, |i| Some(element(me, root, i)));
    all.expect("gather", n * count, |i| (me == root).then(|| element(i / count, root, i % count)));
    // The public form with its selection.
    if !in_place {
        let (mut all, target) = (Vector::blank(rdt, n * count), me == root);
        let rbuf = if target { all.buf() } else { NOWHERE };
        gather(ep, own.buf(), count, sdt, rbuf, count, rdt, root).unwrap();
        all.expect("gather", n * count, |i| target.then(|| element(i / count, root, i % count)));
    } else {
        let mut again = all.clone();
        gather(ep, IN_PLACE, 0, sdt, again.buf(), count, rdt, root).unwrap();
        assert_eq!(again, all);
    }
}

fn scatter_once(
    ep: &super::Endpoint,
    root: usize,
    sdt: &super::Datatype,
    rdt: &super::Datatype,
    in_place: bool,
    algorithm: Rooted,
) {
    let (me, n, count) = (ep.rank(), ep.size(), 3);
    let mut all = Vector::filled(sdt, n * count, |i| element(root, i / count, i % count));
    let mut own = Vector::blank(rdt, count);
    let in_place = in_place && me == root;
    let x = Exchange::new(ep, 1);
    let own_data = (!in_place).then(|| Data::new(own.buf(), count, rdt));
    let all_data = (me == root).then(|| Data::new(all.buf(), count, sdt));
    crate::scatter::with(&x, algorithm, own_data, all_data, root).unwrap();
    x.finish().unwrap();
    own.expect("scatter", count, |i| (!in_place).then(|| element(root, me, i)));
    all.expect("scatter input", n * count, |i| Some(element(root, i / count, i % count)));
    let sbuf = if me == root { all.buf() } else { NOWHERE };
    let rbuf = if in_place { IN_PLACE } else { own.buf() };
    scatter(ep, sbuf, count, sdt, rbuf, count, rdt, root).unwrap();
    own.expect("scatter", count, |i| (!in_place).then(|| element(root, me, i)));
}

/// Counts and displacements with zero counts and gaps, in reversed order of displacement.
fn layout(n: usize, seed: usize) -> (Vec<i32>, Vec<i32>, usize) {
    let counts: Vec<i32> = (0..n).map(|r| ((r * 5 + seed) % 4) as i32).collect();
    let mut displs = vec![0; n];
    let mut at = 1;
    for r in (0..n).rev() {
        displs[r] = at;
        at += counts[r] + (r % 2) as i32;
    }
    (counts, displs, at as usize)
}

/// Which element of which rank's block lies at position `i`.
fn owner(counts: &[i32], displs: &[i32], i: usize) -> Option<(usize, usize)> {
    let i = i as i32;
    (0..counts.len()).find(|&r| i >= displs[r] && i < displs[r] + counts[r]).map(|r| (r, (i - displs[r]) as usize))
}

#[test]
fn vector_forms() {
    for n in SIZES {
        world(n, |ep| {
            let me = ep.rank();
            for (seed, dt) in types().iter().enumerate() {
                let other = &types()[(seed + me) % 5];
                let (c, d, span) = layout(n, seed);
                let mine = c[me] as usize;
                for root in 0..n {
                    let mut own = Vector::filled(other, mine, |i| element(me, 0, i));
                    let mut all = Vector::blank(dt, span);
                    gatherv(ep, own.buf(), mine, other, all.buf(), &counts(&c), &counts(&d), dt, root).unwrap();
                    let whole = |i| owner(&c, &d, i).map(|(r, k)| element(r, 0, k));
                    all.expect("gatherv", span, |i| if me == root { whole(i) } else { None });
                    let mut back = Vector::blank(other, mine);
                    let from = if me == root { all.buf() } else { NOWHERE };
                    scatterv(ep, from, &counts(&c), &counts(&d), dt, back.buf(), mine, other, root).unwrap();
                    back.expect("scatterv", mine, |i| Some(element(me, 0, i)));
                }
                let whole = |i| owner(&c, &d, i).map(|(r, k)| element(r, 0, k));
                let mut own = Vector::filled(other, mine, |i| element(me, 0, i));
                for algorithm in [Allgather::Bruck, Allgather::Ring] {
                    let mut all = Vector::blank(dt, span);
                    (0..mine).for_each(|i| all.set(d[me] as usize + i, element(me, 0, i)));
                    let x = Exchange::new(ep, 1);
                    let base = Data::new(all.buf(), 0, dt);
                    if n > 1 {
                        let at = |r: usize| base.at(d[r] as isize, c[r] as usize);
                        crate::allgatherv::with(&x, algorithm, at).unwrap();
                    }
                    x.finish().unwrap();
                    all.expect(&format!("allgatherv {algorithm:?}"), span, whole);
                    allgatherv(ep, IN_PLACE, 0, dt, all.buf(), &counts(&c), &counts(&d), dt).unwrap();
                    all.expect("allgatherv in place", span, whole);
                }
                let mut all = Vector::blank(dt, span);
                allgatherv(ep, own.buf(), mine, other, all.buf(), &counts(&c), &counts(&d), dt).unwrap();
                all.expect("allgatherv", span, whole);
            }
        });
    }
}

#[test]
fn allgather_by_every_algorithm() {
    for n in SIZES {
        world(n, |ep| {
            let (me, count) = (ep.rank(), 3);
            for (k, dt) in types().iter().enumerate() {
                let whole = |i: usize| Some(element(i / count, 0, i % count));
                for algorithm in [Allgather::Doubling, Allgather::Bruck, Allgather::Ring] {
                    if n == 1 || (algorithm == Allgather::Doubling && !n.is_power_of_two()) {
                        continue;
                    }
                    let mut all = Vector::blank(dt, n * count);
                    (0..count).for_each(|i| all.set(me * count + i, element(me, 0, i)));
                    let x = Exchange::new(ep, 1);
                    crate::allgather::with(&x, algorithm, Data::new(all.buf(), count, dt)).unwrap();
                    x.finish().unwrap();
                    all.expect(&format!("{algorithm:?}"), n * count, whole);
                }
                let other = &types()[(k + me) % 5];
                let mut own = Vector::filled(other, count, |i| element(me, 0, i));
                let mut all = Vector::blank(dt, n * count);
                allgather(ep, own.buf(), count, other, all.buf(), count, dt).unwrap();
                all.expect("allgather", n * count, whole);
                allgather(ep, IN_PLACE, 0, other, all.buf(), count, dt).unwrap();
                all.expect("allgather in place", n * count, whole);
            }
        });
    }
}

#[test]
fn alltoall_by_every_algorithm() {
    for n in SIZES {
        world(n, |ep| {
            let (me, count) = (ep.rank(), 2);
            for (k, dt) in types().iter().enumerate() {
                let other = &types()[(k + me) % 5];
                let outgoing = |i: usize| element(me, i / count, i % count);
                let incoming = |i: usize| Some(element(i / count, me, i % count));
                for algorithm in [Alltoall::Bruck, Alltoall::Window, Alltoall::Pairwise] {
                    let mut from = Vector::filled(other, n * count, outgoing);
                    let mut to = Vector::blank(dt, n * count);
                    let x = Exchange::new(ep, 1);
                    let (f, t) = (Data::new(from.buf(), count, other), Data::new(to.buf(), count, dt));
                    crate::alltoall::with(&x, algorithm, f, t).unwrap();
                    x.finish().unwrap();
                    to.expect(&format!("{algorithm:?} n {n}"), n * count, incoming);
                }
                let mut from = Vector::filled(other, n * count, outgoing);
                let mut to = Vector::blank(dt, n * count);
                alltoall(ep, from.buf(), count, other, to.buf(), count, dt).unwrap();
                to.expect("alltoall", n * count, incoming);
                let mut both = Vector::filled(dt, n * count, outgoing);
                alltoall(ep, IN_PLACE, 0, other, both.buf(), count, dt).unwrap();
                both.expect("alltoall in place", n * count, incoming);
            }
        });
    }
}

/// How many elements rank `a` has for rank `b`; `symmetric` as in-place exchanges need it.
fn volume(a: usize, b: usize, symmetric: bool) -> usize {
    if symmetric { (a + b) % 4 } else { (a * 3 + b * 5 + 2) % 5 }
}

#[test]
fn alltoallv_and_w() {
    for n in SIZES.into_iter().chain([40]) {
        world(n, |ep| {
            let me = ep.rank();
            let arrays = |count: &dyn Fn(usize) -> usize| {
                let c: Vec<i32> = (0..n).map(|r| count(r) as i32).collect();
                let d: Vec<i32> = (0..n).map(|r| c[r + 1..].iter().sum::<i32>()).collect();
                let total = c.iter().sum::<i32>() as usize;
                (c, d, total)
            };
            for (k, dt) in types().iter().enumerate() {
                let other = &types()[(k + me) % 5];
                let (sc, sd, st) = arrays(&|r| volume(me, r, false));
                let (rc, rd, rt) = arrays(&|r| volume(r, me, false));
                let mut from =
                    Vector::filled(other, st, |i| owner(&sc, &sd, i).map(|(r, k)| element(me, r, k)).unwrap());
                let incoming = |i| owner(&rc, &rd, i).map(|(r, k)| element(r, me, k));
                let (csc, csd, crc, crd) = (counts(&sc), counts(&sd), counts(&rc), counts(&rd));
                let mut to = Vector::blank(dt, rt);
                alltoallv(ep, from.buf(), &csc, &csd, other, to.buf(), &crc, &crd, dt).unwrap();
                to.expect("alltoallv", rt, incoming);

                let bytes = |d: &[i32], e: isize| d.iter().map(|&x| x * e as i32).collect::<Vec<_>>();
                let (sb, rb) = (bytes(&sd, other.extent), bytes(&rd, dt.extent));
                let mut to = Vector::blank(dt, rt);
                let (sts, rts) = (vec![other; n], vec![dt; n]);
                let (csb, crb) = (counts(&sb), counts(&rb));
                alltoallw(ep, from.buf(), &csc, &csb, &sts, to.buf(), &crc, &crb, &rts).unwrap();
                to.expect("alltoallw", rt, incoming);

                let (c, d, total) = arrays(&|r| volume(me, r, true));
                let fill = |i| owner(&c, &d, i).map(|(r, k)| element(me, r, k)).unwrap();
                let swapped = |i| owner(&c, &d, i).map(|(r, k)| element(r, me, k));
                let mut both = Vector::filled(dt, total, fill);
                alltoallv(ep, IN_PLACE, &csc, &csd, other, both.buf(), &counts(&c), &counts(&d), dt).unwrap();
                both.expect("alltoallv in place", total, swapped);
                let mut both = Vector::filled(dt, total, fill);
                let b = bytes(&d, dt.extent);
                alltoallw(ep, IN_PLACE, &csc, &csb, &[], both.buf(), &counts(&c), &counts(&b), &rts).unwrap();
                both.expect("alltoallw in place", total, swapped);
            }
        });
    }
}

#[test]
fn nothing_is_sent_for_nothing() {
    world(4, |ep| {
        let dt = &types()[2];
        let zero = [0; 4];
        let z = || counts(&zero);
        bcast(ep, NOWHERE, 0, dt, 2).unwrap();
        gather(ep, NOWHERE, 0, dt, NOWHERE, 0, dt, 1).unwrap();
        scatter(ep, NOWHERE, 0, dt, NOWHERE, 0, dt, 1).unwrap();
        gatherv(ep, NOWHERE, 0, dt, NOWHERE, &z(), &z(), dt, 3).unwrap();
        scatterv(ep, NOWHERE, &z(), &z(), dt, NOWHERE, 0, dt, 3).unwrap();
        allgather(ep, NOWHERE, 0, dt, NOWHERE, 0, dt).unwrap();
        alltoall(ep, NOWHERE, 0, dt, NOWHERE, 0, dt).unwrap();
        alltoallv(ep, NOWHERE, &z(), &z(), dt, NOWHERE, &z(), &z(), dt).unwrap();
        // What sets up shared memory is no part of it.
        assert!(ep.messages() == 0 || ep.region().unwrap().is_some());
    });
}
