//! Reduce, allreduce, reduce-scatter, scan and exscan, with an operation that does not commute (composition
//! of affine maps) and one that does (sum).
use super::vector::Pair;
use super::{Datatype, Endpoint, SIZES, Vector, counts, types, world};
use crate::exchange::Exchange;
use crate::reduction::Vectors;
use crate::select::{Reduce, ReduceScatter};
use crate::*;
use oxmpi_base::{args::Buf, consts::MPI_IN_PLACE};
use std::sync::atomic::{AtomicUsize, Ordering};

const IN_PLACE: Buf = Buf(MPI_IN_PLACE as *mut _);

pub fn value(rank: usize, i: usize) -> Pair {
    ((rank * 2 + 3) as u32, (rank * 100 + i) as u32)
}

fn compose(a: Pair, b: Pair) -> Pair {
    (a.0.wrapping_mul(b.0), a.0.wrapping_mul(b.1).wrapping_add(a.1))
}

fn add(a: Pair, b: Pair) -> Pair {
    (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1))
}

pub fn fold(ranks: std::ops::Range<usize>, i: usize, commutative: bool) -> Pair {
    let f = if commutative { add } else { compose };
    ranks.map(|r| value(r, i)).reduce(f).unwrap()
}

fn load(dt: &Datatype, p: *const u8) -> Pair {
    let mut packed = [0u8; 8];
    let mut done = 0;
    for &(offset, len) in &dt.runs {
        // SAFETY: the algorithms pass origins of valid elements.
        unsafe { p.offset(offset).copy_to_nonoverlapping(packed[done..].as_mut_ptr(), len) };
        done += len;
    }
    let word = |k: usize| u32::from_le_bytes(packed[k..k + 4].try_into().unwrap());
    (word(0), word(4))
}

fn store(dt: &Datatype, p: *mut u8, v: Pair) {
    let packed = [v.0.to_le_bytes(), v.1.to_le_bytes()].concat();
    let mut done = 0;
    for &(offset, len) in &dt.runs {
        // SAFETY: as for `load`.
        unsafe { p.offset(offset).copy_from_nonoverlapping(packed[done..].as_ptr(), len) };
        done += len;
    }
}

/// The operation: `out = a op b`, element by element.
pub fn operate(dt: &Datatype, commutative: bool, a: *const u8, b: *const u8, out: *mut u8, count: usize) {
    assert_eq!(dt.size(), 8);
    for i in 0..count as isize {
        let at = i * dt.extent;
        let (a, b) = (load(dt, a.wrapping_offset(at)), load(dt, b.wrapping_offset(at)));
        store(dt, out.wrapping_offset(at), if commutative { add(a, b) } else { compose(a, b) });
    }
}

pub fn combined(a: Pair, b: Pair, commutative: bool) -> Pair {
    if commutative { add(a, b) } else { compose(a, b) }
}

/// Runs `body` with the operation on elements of `dt`.
pub fn with_op(dt: &Datatype, commutative: bool, body: impl FnOnce(&Reduction)) {
    let apply = |input: *const u8, inout: *mut u8, count: usize| {
        operate(dt, commutative, input, inout, inout, count);
        Ok(())
    };
    let three = |a: *const u8, b: *const u8, out: *mut u8, count: usize| operate(dt, commutative, a, b, out, count);
    // Every other operation is as a predefined one.
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    let apply3: Option<&dyn Fn(*const u8, *const u8, *mut u8, usize)> =
        if CALLS.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { Some(&three) } else { None };
    body(&Reduction { commutative, apply: &apply, apply3 });
}

/// Every layout with both operations, on every world.
fn everywhere(counts: &[usize], body: impl Fn(&Endpoint, &Datatype, usize, &Reduction) + Sync) {
    for n in SIZES {
        world(n, |ep| {
            for dt in &types() {
                for &count in counts {
                    for commutative in [false, true] {
                        with_op(dt, commutative, |op| body(ep, dt, count, op));
                    }
                }
            }
        });
    }
}

fn usable(algorithm: Reduce, n: usize) -> bool {
    n > 1 && (algorithm != Reduce::Halving || n.is_power_of_two())
}

const ALGORITHMS: [Reduce; 3] = [Reduce::Binomial, Reduce::Halving, Reduce::Pairwise];

#[test]
fn reduce_by_every_algorithm_to_every_root() {
    everywhere(&[1, 14, 50], |ep, dt, count, op| {
        let (me, n) = (ep.rank(), ep.size());
        for root in 0..n {
            for algorithm in ALGORITHMS.into_iter().filter(|&a| usable(a, n)) {
                for in_place in [false, true] {
                    let in_place = in_place && me == root;
                    let mut input = Vector::filled(dt, count, |i| value(me, i));
                    let mut out = if in_place { input.clone() } else { Vector::blank(dt, count) };
                    let sbuf = if in_place { IN_PLACE } else { input.buf() };
                    let x = Exchange::new(ep, 1);
                    let v = Vectors::new(sbuf, out.buf(), count, dt, me == root);
                    crate::reduce::with(&x, algorithm, v, op, root).unwrap();
                    x.finish().unwrap();
                    input.expect("reduce input", count, |i| Some(value(me, i)));
                    let what = format!("reduce {algorithm:?} n {n} root {root} in place {in_place} {}", op.commutative);
                    out.expect(&what, count, |i| (me == root).then(|| fold(0..n, i, op.commutative)));
                }
            }
        }
    });
}

#[test]
fn allreduce_by_every_algorithm() {
    everywhere(&[1, 14, 50], |ep, dt, count, op| {
        let (me, n) = (ep.rank(), ep.size());
        for algorithm in ALGORITHMS.into_iter().filter(|&a| usable(a, n)) {
            for in_place in [false, true] {
                let mut input = Vector::filled(dt, count, |i| value(me, i));
                let mut out = if in_place { input.clone() } else { Vector::blank(dt, count) };
                let sbuf = if in_place { IN_PLACE } else { input.buf() };
                let x = Exchange::new(ep, 1);
                let v = Vectors::new(sbuf, out.buf(), count, dt, true);
                crate::allreduce::with(&x, algorithm, v, op).unwrap();
                x.finish().unwrap();
                let what = format!("allreduce {algorithm:?} n {n} in place {in_place} {}", op.commutative);
                out.expect(&what, count, |i| Some(fold(0..n, i, op.commutative)));
            }
        }
    });
}

#[test]
fn public_forms_of_selected_sizes() {
    for n in [1, 2, 3, 4, 8] {
        world(n, |ep| {
            let me = ep.rank();
            for count in [0usize, 1, 6, 2049, 9_000, 20_000] {
                for dt in [&types()[0], &types()[2]] {
                    for commutative in [false, true] {
                        with_op(dt, commutative, |op| {
                            let want = |i| Some(fold(0..n, i, commutative));
                            let mut input = Vector::filled(dt, count, |i| value(me, i));
                            let mut out = Vector::blank(dt, count);
                            allreduce(ep, input.buf(), out.buf(), count, dt, op).unwrap();
                            out.expect("allreduce", count, want);
                            let mut out = Vector::blank(dt, count);
                            reduce(ep, input.buf(), out.buf(), count, dt, op, n - 1).unwrap();
                            out.expect("reduce", count, |i| if me == n - 1 { want(i) } else { None });
                            allreduce(ep, IN_PLACE, input.buf(), count, dt, op).unwrap();
                            input.expect("allreduce in place", count, want);
                        });
                    }
                }
            }
        });
    }
}

/// More than one chunk, the last one short.
#[test]
fn long_vectors_run_in_chunks() {
    world(3, |ep| {
        let (dt, count) = (&types()[0], select::REDUCE_CHUNK / 8 + 100);
        with_op(dt, false, |op| {
            let mut v = Vector::filled(dt, count, |i| value(ep.rank(), i));
            allreduce(ep, IN_PLACE, v.buf(), count, dt, op).unwrap();
            v.expect("allreduce", count, |i| Some(fold(0..3, i, false)));
        });
        let count = select::SCAN_CHUNK / 8 * 2 + 5;
        with_op(dt, false, |op| {
            let mut v = Vector::filled(dt, count, |i| value(ep.rank(), i));
            scan(ep, IN_PLACE, v.buf(), count, dt, op).unwrap();
            v.expect("scan", count, |i| Some(fold(0..ep.rank() + 1, i, false)));
        });
    });
}

#[test]
fn reduce_scatter_by_every_algorithm() {
    everywhere(&[1, 2, 5], |ep, dt, most, op| {
        let (me, n) = (ep.rank(), ep.size());
        // Unequal parts, some empty.
        let parts: Vec<i32> = (0..n).map(|r| ((r * 3 + most) % (most + 1)) as i32).collect();
        let mut starts = vec![0usize];
        parts.iter().for_each(|&p| starts.push(starts[starts.len() - 1] + p as usize));
        let (total, own) = (starts[n], parts[me] as usize);
        let result = |i: usize| Some(fold(0..n, starts[me] + i, op.commutative));
        for algorithm in [ReduceScatter::Halving, ReduceScatter::ReduceScatterv, ReduceScatter::Pairwise] {
            if n == 1 || (algorithm == ReduceScatter::Halving && !(n.is_power_of_two() && op.commutative)) {
                continue;
            }
            for in_place in [false, true] {
                let mut input = Vector::filled(dt, total, |i| value(me, i));
                let mut out = if in_place { input.clone() } else { Vector::blank(dt, own) };
                let sbuf = if in_place { IN_PLACE } else { input.buf() };
                let x = Exchange::new(ep, 1);
                let v = Vectors::new(sbuf, out.buf(), total, dt, true);
                crate::reduce_scatter::with(&x, algorithm, v, &starts, op).unwrap();
                x.finish().unwrap();
                input.expect("reduce_scatter input", total, |i| Some(value(me, i)));
                let what = format!("reduce_scatter {algorithm:?} n {n} in place {in_place}");
                if in_place {
                    out.expect(&what, total, |i| if i < own { result(i) } else { Some(value(me, i)) });
                } else {
                    out.expect(&what, own, result);
                }
            }
        }
        let mut input = Vector::filled(dt, total, |i| value(me, i));
        let mut out = Vector::blank(dt, own);
        reduce_scatter(ep, input.buf(), out.buf(), &counts(&parts), dt, op).unwrap();
        out.expect("reduce_scatter", own, result);
        let block = |i: usize| Some(fold(0..n, me * most + i, op.commutative));
        let mut input = Vector::filled(dt, n * most, |i| value(me, i));
        let mut out = Vector::blank(dt, most);
        reduce_scatter_block(ep, input.buf(), out.buf(), most, dt, op).unwrap();
        out.expect("reduce_scatter_block", most, block);
        reduce_scatter_block(ep, IN_PLACE, input.buf(), most, dt, op).unwrap();
        input.expect("in place", n * most, |i| if i < most { block(i) } else { Some(value(me, i)) });
    });
}

#[test]
fn scans() {
    everywhere(&[0, 1, 9], |ep, dt, count, op| {
        let me = ep.rank();
        let mut input = Vector::filled(dt, count, |i| value(me, i));
        let mut out = Vector::blank(dt, count);
        scan(ep, input.buf(), out.buf(), count, dt, op).unwrap();
        out.expect("scan", count, |i| Some(fold(0..me + 1, i, op.commutative)));
        let mut out = input.clone();
        scan(ep, IN_PLACE, out.buf(), count, dt, op).unwrap();
        out.expect("scan in place", count, |i| Some(fold(0..me + 1, i, op.commutative)));

        let mut out = Vector::blank(dt, count);
        exscan(ep, input.buf(), out.buf(), count, dt, op).unwrap();
        out.expect("exscan", count, |i| (me > 0).then(|| fold(0..me, i, op.commutative)));
        let mut out = input.clone();
        exscan(ep, IN_PLACE, out.buf(), count, dt, op).unwrap();
        out.expect("exscan in place", count, |i| {
            Some(if me > 0 { fold(0..me, i, op.commutative) } else { value(0, i) })
        });
    });
}

/// MPI-5.0 6.9.1 advises, and this crate promises, that ranks agree on the bits: here the operation keeps its
/// left operand's tag, so any difference in order shows.
#[test]
fn allreduce_is_bitwise_equal_although_declared_commutative() {
    for n in SIZES {
        world(n, |ep| {
            let dt = &types()[0];
            with_op(dt, false, |op| {
                let lying = Reduction { commutative: true, apply: op.apply, apply3: None };
                for count in [1usize, 5000] {
                    let mut v = Vector::filled(dt, count, |i| value(ep.rank(), i));
                    allreduce(ep, IN_PLACE, v.buf(), count, dt, &lying).unwrap();
                    let mut copy = v.clone();
                    bcast(ep, copy.buf(), count, dt, 0).unwrap();
                    assert_eq!(copy, v);
                }
            });
        });
    }
}
