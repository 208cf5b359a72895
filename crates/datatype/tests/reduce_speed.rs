//! How fast the predefined operations are; not a test: `cargo test --release -p oxmpi-datatype --test reduce_speed -- --ignored --nocapture`.
//! Prints, for each type and operation, GB/s of one operand's bytes (16 KiB, in cache; best of several rounds) and the
//! nanoseconds of one call on 1 and 8 elements.
use oxmpi_base::{consts::*, handle};
use oxmpi_datatype::{Datatype, check_reduce, predefined_name, predefined_op_name, reduce};
use std::time::Instant;

const TYPES: [handle::Datatype; 22] = [
    MPI_INT8_T,
    MPI_UINT8_T,
    MPI_INT16_T,
    MPI_UINT16_T,
    MPI_INT32_T,
    MPI_UINT32_T,
    MPI_INT64_T,
    MPI_UINT64_T,
    MPI_INTEGER16,
    MPI_C_BOOL,
    MPI_REAL2,
    MPI_FLOAT,
    MPI_DOUBLE,
    MPI_LONG_DOUBLE,
    MPI_REAL16,
    MPI_COMPLEX4,
    MPI_C_FLOAT_COMPLEX,
    MPI_C_DOUBLE_COMPLEX,
    MPI_C_LONG_DOUBLE_COMPLEX,
    MPI_2INT,
    MPI_FLOAT_INT,
    MPI_2DOUBLE_PRECISION,
];
const MORE: [handle::Datatype; 4] = [MPI_DOUBLE_INT, MPI_LONG_INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT];
const OPS: [handle::Op; 12] = [
    MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MINLOC,
    MPI_MAXLOC,
];

fn best(calls: usize, mut call: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..15 {
        let start = Instant::now();
        (0..calls).for_each(|_| call());
        best = best.min(start.elapsed().as_nanos() as f64 / calls as f64);
    }
    best
}

const BYTES: usize = 16 << 10;
#[repr(align(4096))]
struct Pages([u8; BYTES]);

#[test]
#[ignore = "a measurement"]
fn speed() {
    // Values without pattern and without NaNs in any format; as many of either order.
    let mut x = 1u64;
    let mut bytes = |into: &mut [u8]| {
        for b in into {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            *b = (x >> 40) as u8 & 0x3b;
        }
    };
    for h in TYPES.into_iter().chain(MORE) {
        let t = Datatype::predefined(h).unwrap();
        // Page-aligned, as no allocator promises: so that runs compare.
        let (mut a, mut b) = (Pages([0; BYTES]), Pages([0; BYTES]));
        bytes(&mut a.0);
        bytes(&mut b.0);
        let (a, b) = (&mut a.0, &mut b.0);
        if predefined_name(h).unwrap().contains("LONG_DOUBLE") {
            // Only with this bit and an exponent in the middle are they normal numbers.
            for place in a.chunks_mut(16).chain(b.chunks_mut(16)) {
                place[7] |= 0x80;
                place[8..10].copy_from_slice(&[0xff, 0x3f]);
            }
        }
        let n = BYTES / t.extent() as usize;
        for op in OPS {
            if check_reduce(op, t).is_err() {
                continue;
            }
            let mut inout = Pages(*b);
            let mut time = |n: usize, calls: usize| {
                best(calls, || {
                    if matches!(op, MPI_MINLOC | MPI_MAXLOC) {
                        // Else nothing is taken over any more from the second call on.
                        inout.0[..n * t.extent() as usize].copy_from_slice(&b[..n * t.extent() as usize]);
                    }
                    // SAFETY: both hold 16 KiB, `n` elements at most.
                    unsafe { reduce(op, t, std::hint::black_box(a.as_ptr()), inout.0.as_mut_ptr(), n) }.unwrap();
                })
            };
            let one = time(1, 2000);
            let eight = time(8, 2000);
            let many = time(n, 50);
            println!(
                "{:26} {:11} {:8.2} GB/s {:7.1} ns {:7.1} ns",
                predefined_name(h).unwrap(),
                predefined_op_name(op).unwrap(),
                BYTES as f64 / many,
                one,
                eight
            );
        }
    }
}
