//! Every kernel of every instruction set that this machine has against the plain one, element by element. (That one against
//! an independent model: `tests/reduce.rs`.)
use super::*;
use crate::all_predefined;
use crate::predefined::prim;
use proptest::prelude::*;

const OPS: [handle::Op; 14] = [
    MPI_SUM,
    MPI_MIN,
    MPI_MAX,
    MPI_PROD,
    MPI_BAND,
    MPI_BOR,
    MPI_BXOR,
    MPI_LAND,
    MPI_LOR,
    MPI_LXOR,
    MPI_MINLOC,
    MPI_MAXLOC,
    MPI_REPLACE,
    MPI_NO_OP,
];

struct Random(u64);
impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) ^ (self.0 >> 7)
    }
}

/// Bytes and bits of the exponent of the numbers an element is made of, where the processor's vectors compute with them.
fn float_of(elem: Elem) -> Option<(usize, u32)> {
    match elem {
        Elem::F16 | Elem::C16 => Some((2, 5)),
        Elem::F32 | Elem::C32 => Some((4, 8)),
        Elem::F64 | Elem::C64 => Some((8, 11)),
        _ => None,
    }
}

/// Whether a number of so many bytes is a NaN.
fn is_nan(bytes: &[u8], exponent: u32) -> bool {
    let v = bytes.iter().rev().fold(0u64, |v, b| v << 8 | *b as u64);
    let magnitude_bits = 8 * bytes.len() as u32 - 1;
    v & ((1 << magnitude_bits) - 1) > ((1 << exponent) - 1) << (magnitude_bits - exponent)
}

/// Values with enough zeros, equals, infinities and NaNs.
fn values(elem: Elem, bytes: usize, seed: u64) -> Vec<u8> {
    let of = match elem {
        Elem::Pair { value, .. } => prim(value).elem,
        e => e,
    };
    let mut r = Random(seed);
    let (size, exponent) = float_of(of).unwrap_or((1 << (r.next() % 4), 0));
    let mut v = vec![0; bytes.next_multiple_of(size)];
    for place in v.chunks_mut(size) {
        let bits = 8 * size as u32;
        let sign = (r.next() % 2) << (bits - 1);
        let infinity = if exponent > 0 { ((1 << exponent) - 1) << (bits - 1 - exponent) } else { 0 };
        let number = match r.next() % 10 {
            0 | 1 => sign,
            2 => sign | infinity,
            3 => sign | infinity | ((r.next() % 2) << (bits.max(9) - 9)),
            // Around the numbers that differ least.
            4 => sign | (r.next() % 3),
            5 => u64::MAX,
            6 => sign | infinity >> 1,
            _ => r.next() << 31 ^ r.next(),
        };
        place.copy_from_slice(&number.to_le_bytes()[..size]);
    }
    v.truncate(bytes);
    v
}

/// `a op b` in memory at these places modulo 64, with guards around it: over `before`, or over the operand that `over` names.
fn run(job: Job, t: &Datatype, operands: [&[u8]; 2], before: &[u8], at: [usize; 3], over: Option<usize>) -> Vec<u8> {
    let lay = |v: &[u8], at: usize| {
        let mut m = vec![0xeeu8; v.len() + 192];
        let start = m.as_ptr().align_offset(64) + at;
        m[start..start + v.len()].copy_from_slice(v);
        (m, start)
    };
    let mut places = [lay(operands[0], at[0]), lay(operands[1], at[1]), lay(before, at[2])];
    let [a, b, out] = places.each_mut().map(|(m, start)| m[*start..].as_mut_ptr());
    let to = over.unwrap_or(2);
    let n = before.len() / t.extent() as usize;
    // SAFETY: three vectors of this many elements, the last one perhaps the same as one of the others.
    unsafe { Reducer { job, dt: t }.apply(a, b, [a, b, out][to], n) };
    for (i, (m, start)) in places.iter().enumerate() {
        let (inside, end) = (&m[*start..], before.len());
        assert!(m[..*start].iter().chain(&inside[end..]).all(|g| *g == 0xee), "wrote outside");
        assert!(i == to || i == 2 || inside[..end] == *operands[i], "wrote to an operand");
    }
    let (m, start) = &places[to];
    m[*start..start + before.len()].to_vec()
}

/// Where NaNs came in it is open which of them comes out.
fn same(elem: Elem, op: handle::Op, a: &[u8], b: &[u8], got: &[u8], want: &[u8]) -> bool {
    match float_of(elem) {
        Some((size, exponent)) if matches!(op, MPI_SUM | MPI_PROD) => {
            let nan = |v: &[u8]| v.chunks(size).any(|n| is_nan(n, exponent));
            let open = nan(a) || nan(b);
            let numbers = got.chunks(size).zip(want.chunks(size));
            numbers.into_iter().all(|(g, w)| g == w || open && is_nan(g, exponent) && is_nan(w, exponent))
        }
        _ => got == want,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_instruction_set_gives_the_same_bits(n in 0usize..150, seed: u64, at in [0usize..64, 0usize..64, 0usize..64]) {
        for t in all_predefined() {
            let (elem, extent) = (t.0.elem.unwrap().1, t.extent() as usize);
            let (a, b) = (values(elem, n * extent, seed), values(elem, n * extent, seed ^ 0x5eed));
            let fill = vec![0x77; n * extent];
            let element = |i: usize| i * extent..(i + 1) * extent;
            for op in OPS {
                let Ok(plain) = job(op, t, Level::Base) else { continue };
                for (over, before) in [(None, &fill), (Some(0), &a), (Some(1), &b)] {
                    let want: Vec<_> = (0..n).map(|i| {
                        run(plain, t, [&a[element(i)], &b[element(i)]], &before[element(i)], [0; 3], None)
                    }).collect();
                    for level in Level::available() {
                        let got = run(job(op, t, level).unwrap(), t, [&a, &b], before, at, over);
                        for i in 0..n {
                            let (x, y, got) = (&a[element(i)], &b[element(i)], &got[element(i)]);
                            prop_assert!(
                                same(elem, op, x, y, got, &want[i]),
                                "{:?} on {t}, {level:?}, over {over:?}, element {i} of {n}: {x:x?} and {y:x?} gave {got:x?}, not {:x?}",
                                predefined_op_name(op), want[i]
                            );
                        }
                    }
                }
            }
        }
    }
}
