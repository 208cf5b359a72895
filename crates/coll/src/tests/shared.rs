//! What only the shared-memory way can get wrong: slots and buffers used again, ranks that run ahead, many ranks, calls that do not match.
use super::reductions::{fold, value, with_op};
use super::vector::Pair;
use super::{Vector, counts, types, world};
use crate::*;
use oxmpi_base::consts::*;

fn element(from: usize, call: usize, i: usize) -> Pair {
    ((from * 1000 + call) as u32, (i * 7 + 1) as u32)
}

/// Roots change while slower ranks are calls behind; sizes go through the slot, the buffer and direct reading in turn.
#[test]
fn roots_that_run_ahead_do_not_overwrite_what_others_still_read() {
    for n in [2, 3, 5, 9] {
        world(n, |ep| {
            let me = ep.rank();
            for call in 0..300usize {
                let root = (call / 40) % n;
                let count = [1usize, 6, 7, 100, 600, 3000][call % 6];
                let dt = &types()[[0, 2][(me + call) % 2]];
                if me == n - 1 && call % 50 == 0 {
                    std::thread::sleep(std::time::Duration::from_millis(2));
                }
                let mut v = Vector::blank(dt, count);
                if me == root {
                    v = Vector::filled(dt, count, |i| element(root, call, i));
                }
                bcast(ep, v.buf(), count, dt, root).unwrap();
                v.expect("bcast", count, |i| Some(element(root, call, i)));
                let mut own = Vector::filled(dt, count, |i| element(me, call, i));
                let mut all = Vector::blank(dt, if me == root { n * count } else { 0 });
                if call % 3 == 0 {
                    gather(ep, own.buf(), count, dt, all.buf(), count, dt, root).unwrap();
                    if me == root {
                        all.expect("gather", n * count, |i| Some(element(i / count, call, i % count)));
                    }
                }
            }
        });
    }
}

#[test]
fn many_ranks() {
    for n in [9, 16, 33] {
        world(n, |ep| {
            let me = ep.rank();
            for (k, count) in [0usize, 1, 7, 130, 2500].into_iter().enumerate() {
                let dt = &types()[k % 3];
                for commutative in [false, true] {
                    with_op(dt, commutative, |op| {
                        let want = |i| Some(fold(0..n, i, commutative));
                        let mut input = Vector::filled(dt, count, |i| value(me, i));
                        let mut out = Vector::blank(dt, count);
                        allreduce(ep, input.buf(), out.buf(), count, dt, op).unwrap();
                        out.expect("allreduce", count, want);
                        let mut out = Vector::blank(dt, count);
                        reduce(ep, input.buf(), out.buf(), count, dt, op, n / 2).unwrap();
                        out.expect("reduce", count, |i| if me == n / 2 { want(i) } else { None });
                        let mut out = Vector::blank(dt, count);
                        scan(ep, input.buf(), out.buf(), count, dt, op).unwrap();
                        out.expect("scan", count, |i| Some(fold(0..me + 1, i, commutative)));
                    });
                }
                barrier(ep).unwrap();
                if count > 130 {
                    continue;
                }
                let mut own = Vector::filled(dt, count, |i| element(me, k, i));
                let mut all = Vector::blank(dt, n * count);
                allgather(ep, own.buf(), count, dt, all.buf(), count, dt).unwrap();
                all.expect("allgather", n * count, |i| Some(element(i / count, k, i % count)));
                let mut from = Vector::filled(dt, n * count, |i| element(me * 100 + i / count, k, i % count));
                let mut to = Vector::blank(dt, n * count);
                alltoall(ep, from.buf(), count, dt, to.buf(), count, dt).unwrap();
                to.expect("alltoall", n * count, |i| Some(element((i / count) * 100 + me, k, i % count)));
            }
        });
    }
}

/// The reductions by single copy, with a rank that goes on to overwrite its slots as soon as it may.
#[test]
fn long_reductions_before_a_rank_that_runs_ahead() {
    world(4, |ep| {
        let (me, dt, count) = (ep.rank(), &types()[0], 17_000);
        with_op(dt, false, |op| {
            for call in 0..20usize {
                let mut input = Vector::filled(dt, count, |i| value(me, i + call));
                let mut out = Vector::blank(dt, count);
                reduce(ep, input.buf(), out.buf(), count, dt, op, 3).unwrap();
                out.expect("reduce", count, |i| (me == 3).then(|| fold(0..4, i + call, false)));
                for k in 0..200 {
                    let mut v = Vector::filled(dt, 1, |_| if me == 0 { (call as u32, k) } else { (0, 0) });
                    bcast(ep, v.buf(), 1, dt, 0).unwrap();
                    v.expect("bcast", 1, |_| Some((call as u32, k)));
                }
            }
        });
    });
}

/// Blocks of one all-to-all travel by the buffer, directly and as messages.
#[test]
fn blocks_of_very_different_sizes() {
    for n in [2, 4, 7] {
        world(n, |ep| {
            let me = ep.rank();
            let size = |a: usize, b: usize| [0usize, 3, 700, 2500, 9000][(a * 3 + b * 2) % 5];
            for shape in [0, 2] {
                let dt = &types()[shape];
                let lay = |s: &dyn Fn(usize) -> usize| {
                    let c: Vec<i32> = (0..n).map(|r| s(r) as i32).collect();
                    let d: Vec<i32> = (0..n).map(|r| c[..r].iter().sum()).collect();
                    let total = c.iter().sum::<i32>() as usize;
                    (c, d, total)
                };
                let (sc, sd, st) = lay(&|r| size(me, r));
                let (rc, rd, rt) = lay(&|r| size(r, me));
                let at = |d: &[i32], i: usize| {
                    (0..n).rev().find(|&r| d[r] as usize <= i && (r + 1 == n || i < d[r + 1] as usize)).unwrap()
                };
                let mut from =
                    Vector::filled(dt, st, |i| element(me * 10 + at(&sd, i), 0, i - sd[at(&sd, i)] as usize));
                let mut to = Vector::blank(dt, rt);
                alltoallv(ep, from.buf(), &counts(&sc), &counts(&sd), dt, to.buf(), &counts(&rc), &counts(&rd), dt)
                    .unwrap();
                to.expect("alltoallv", rt, |i| Some(element(at(&rd, i) * 10 + me, 0, i - rd[at(&rd, i)] as usize)));
                let root = n - 1;
                let (gc, gd, gt) = lay(&|r| size(r, root));
                let mine = gc[me] as usize;
                let mut own = Vector::filled(dt, mine, |i| element(me, 1, i));
                let mut all = Vector::blank(dt, if me == root { gt } else { 0 });
                gatherv(ep, own.buf(), mine, dt, all.buf(), &counts(&gc), &counts(&gd), dt, root).unwrap();
                if me == root {
                    all.expect("gatherv", gt, |i| Some(element(at(&gd, i), 1, i - gd[at(&gd, i)] as usize)));
                }
                let mut back = Vector::blank(dt, mine);
                scatterv(ep, all.buf(), &counts(&gc), &counts(&gd), dt, back.buf(), mine, dt, root).unwrap();
                back.expect("scatterv", mine, |i| Some(element(me, 1, i)));
            }
        });
    }
}

/// Ranks in different calls, or with different sizes, get an error and go on.
#[test]
fn calls_that_do_not_match_are_an_error() {
    world(2, |ep| {
        if ep.region().unwrap().is_none() {
            return; // messages wait for each other for ever
        }
        let me = ep.rank();
        let dt = &types()[0];
        let mut v = Vector::filled(dt, 4000, |i| (1, i as u32));
        let e = if me == 0 {
            barrier(ep).unwrap_err()
        } else {
            let mut out = Vector::blank(dt, 8);
            with_op(dt, true, |op| assert!(allreduce(ep, v.buf(), out.buf(), 1, dt, op).is_err()));
            barrier(ep).unwrap_or_else(|e| panic!("{}", e.message));
            return barrier(ep).unwrap();
        };
        assert_eq!(e.class, MPI_ERR_OTHER);
        assert!(e.message.contains("MPI_Allreduce") && e.message.contains("MPI_Barrier"), "{}", e.message);
        barrier(ep).unwrap();
        barrier(ep).unwrap();
    });
    // The root has more than a receiver takes, at each way of offering.
    for count in [2usize, 5, 500] {
        world(3, |ep| {
            let dt = &types()[0];
            let have = if ep.rank() == 1 { count - 1 } else { count };
            let mut v = Vector::filled(dt, have, |i| (0, i as u32));
            let done = bcast(ep, v.buf(), have, dt, 0);
            assert_eq!(done.is_err(), ep.rank() == 1);
            if let Err(e) = done {
                assert_eq!(e.class, MPI_ERR_TRUNCATE);
            }
            v.expect("what fits", have, |i| Some((0, i as u32)));
            barrier(ep).unwrap();
        });
    }
}
