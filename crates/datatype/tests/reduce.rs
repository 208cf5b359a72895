//! The predefined operations against a scalar reference on every predefined type, at odd addresses and lengths; and what
//! MPI-5.0 6.9.2 does not allow.
use oxmpi_base::{consts::*, handle};
use oxmpi_datatype::{Datatype, all_predefined, check_reduce, predefined_name, predefined_op_name, reduce};

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

fn dt(h: handle::Datatype) -> &'static Datatype {
    Datatype::predefined(h).unwrap()
}

/// Reduces at addresses no type is aligned to, with guard bytes around.
fn run(op: handle::Op, h: handle::Datatype, input: &[u8], inout: &[u8]) -> Vec<u8> {
    let t = dt(h);
    let n = input.len() / t.extent() as usize;
    let mut a = vec![0x5a; input.len() + 1];
    a[1..].copy_from_slice(input);
    let mut b = vec![0xa5; inout.len() + 6];
    b[3..3 + inout.len()].copy_from_slice(inout);
    // SAFETY: both slices hold `n` elements from there.
    unsafe { reduce(op, t, a[1..].as_ptr(), b[3..].as_mut_ptr(), n) }.unwrap();
    assert!(b[..3].iter().chain(&b[3 + inout.len()..]).all(|x| *x == 0xa5), "wrote outside");
    assert_eq!(a[1..], *input);
    b[3..3 + inout.len()].to_vec()
}

/// Deterministic values with enough zeros, equals and extremes.
fn noise(seed: u64) -> impl Iterator<Item = u64> {
    let mut x = seed;
    std::iter::repeat_with(move || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let v = (x >> 33) ^ (x >> 11);
        match v % 7 {
            0 => 0,
            1 => v % 3,
            2 => u64::MAX - v % 2,
            _ => v.wrapping_mul(0x9e3779b97f4a7c15),
        }
    })
}

trait Number: Copy {
    fn bytes(self) -> Vec<u8>;
}
macro_rules! numbers {
    ($($t:ty)*) => {$(impl Number for $t {
        fn bytes(self) -> Vec<u8> {
            self.to_ne_bytes().to_vec()
        }
    })*};
}
numbers!(i8 u8 i16 u16 i32 u32 i64 u64 i128 f32 f64);

fn check<T: Number>(op: handle::Op, h: handle::Datatype, make: fn(u64) -> T, f: fn(T, T) -> T) {
    for n in [0usize, 1, 2, 3, 7, 16, 33, 100, 257] {
        let a: Vec<T> = noise(n as u64 + 1).map(make).take(n).collect();
        let b: Vec<T> = noise(n as u64 + 77).map(make).take(n).collect();
        let raw = |v: &[T]| v.iter().flat_map(|x| x.bytes()).collect::<Vec<u8>>();
        let want: Vec<T> = a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect();
        assert!(
            run(op, h, &raw(&a), &raw(&b)) == raw(&want),
            "{:?} on {:?}, {n} elements",
            predefined_op_name(op),
            predefined_name(h)
        );
    }
}

macro_rules! integers {
    ($t:ty, $($h:ident)*) => {for h in [$($h),*] {
        let m = |v: u64| (v as $t).wrapping_mul(if size_of::<$t>() > 8 { v as $t } else { 1 });
        if check_reduce(MPI_SUM, dt(h)).is_ok() {
            check::<$t>(MPI_SUM, h, m, |a, b| a.wrapping_add(b));
            check::<$t>(MPI_PROD, h, m, |a, b| a.wrapping_mul(b));
            check::<$t>(MPI_MIN, h, m, |a, b| a.min(b));
            check::<$t>(MPI_MAX, h, m, |a, b| a.max(b));
        }
        if check_reduce(MPI_BAND, dt(h)).is_ok() {
            check::<$t>(MPI_BAND, h, m, |a, b| a & b);
            check::<$t>(MPI_BOR, h, m, |a, b| a | b);
            check::<$t>(MPI_BXOR, h, m, |a, b| a ^ b);
        }
        if check_reduce(MPI_LAND, dt(h)).is_ok() {
            check::<$t>(MPI_LAND, h, m, |a, b| (a != 0 && b != 0) as $t);
            check::<$t>(MPI_LOR, h, m, |a, b| (a != 0 || b != 0) as $t);
            check::<$t>(MPI_LXOR, h, m, |a, b| ((a != 0) != (b != 0)) as $t);
        }
    }};
}

macro_rules! floats {
    ($t:ty, $($h:ident)*) => {for h in [$($h),*] {
        let m = |v: u64| (v as i64 as $t) / 1000.0;
        check::<$t>(MPI_SUM, h, m, |a, b| a + b);
        check::<$t>(MPI_PROD, h, m, |a, b| a * b);
        check::<$t>(MPI_MIN, h, m, |a, b| a.min(b));
        check::<$t>(MPI_MAX, h, m, |a, b| a.max(b));
    }};
}

#[test]
fn integers() {
    integers!(i8, MPI_SIGNED_CHAR MPI_INT8_T MPI_INTEGER1 MPI_LOGICAL1);
    integers!(u8, MPI_UNSIGNED_CHAR MPI_UINT8_T MPI_BYTE MPI_C_BOOL MPI_CXX_BOOL);
    integers!(i16, MPI_SHORT MPI_INT16_T MPI_INTEGER2 MPI_LOGICAL2);
    integers!(u16, MPI_UNSIGNED_SHORT MPI_UINT16_T);
    integers!(i32, MPI_INT MPI_INT32_T MPI_INTEGER MPI_INTEGER4 MPI_LOGICAL MPI_LOGICAL4);
    integers!(u32, MPI_UNSIGNED MPI_UINT32_T);
    integers!(i64, MPI_LONG MPI_LONG_LONG MPI_INT64_T MPI_INTEGER8 MPI_LOGICAL8 MPI_AINT MPI_COUNT MPI_OFFSET);
    integers!(u64, MPI_UNSIGNED_LONG MPI_UNSIGNED_LONG_LONG MPI_UINT64_T);
    integers!(i128, MPI_INTEGER16 MPI_LOGICAL16);
}

#[test]
fn floating() {
    floats!(f32, MPI_FLOAT MPI_REAL MPI_REAL4);
    floats!(f64, MPI_DOUBLE MPI_DOUBLE_PRECISION MPI_REAL8);
}

#[test]
fn a_nan_in_the_input_leaves_inout_of_min_and_max() {
    for op in [MPI_MIN, MPI_MAX] {
        let got = run(op, MPI_DOUBLE, &f64::NAN.to_ne_bytes(), &1.5f64.to_ne_bytes());
        assert_eq!(got, 1.5f64.to_ne_bytes());
    }
}

fn bytes_of(parts: &[f64], of: Of) -> Vec<u8> {
    parts.iter().flat_map(|p| of(*p)).collect()
}

/// A number in a format.
type Of = fn(f64) -> Vec<u8>;

/// Small numbers, exact in every format, so that one reference serves all.
fn number_types() -> Vec<(Of, Vec<handle::Datatype>, Vec<handle::Datatype>)> {
    fn half(v: f64) -> Vec<u8> {
        // Numbers here are halves of integers below 2^10.
        let (bits, sign) = ((v.abs() as f32).to_bits(), if v.is_sign_negative() { 0x8000u16 } else { 0 });
        let h = if v == 0.0 { 0 } else { ((bits >> 13) - (112 << 10)) as u16 };
        (h | sign).to_ne_bytes().to_vec()
    }
    fn quad(v: f64) -> Vec<u8> {
        let b = v.to_bits() as u128;
        let e = b >> 52 & 0x7ff;
        let magnitude = if v == 0.0 { 0 } else { (e + 0x3fff - 1023) << 112 | (b & ((1 << 52) - 1)) << 60 };
        ((b >> 63) << 127 | magnitude).to_ne_bytes().to_vec()
    }
    fn long_double(v: f64) -> Vec<u8> {
        if cfg!(not(target_arch = "x86_64")) {
            return quad(v);
        }
        let b = v.to_bits();
        let e = (b >> 52 & 0x7ff) as u16;
        let (m, e) = if v == 0.0 { (0, 0) } else { (1 << 63 | (b & ((1 << 52) - 1)) << 11, e + 0x3fff - 1023) };
        let mut r = u64::to_ne_bytes(m).to_vec();
        r.extend((((b >> 63) as u16) << 15 | e).to_ne_bytes());
        r.extend([0; 6]);
        r
    }
    let single = |v: f64| (v as f32).to_ne_bytes().to_vec();
    let double = |v: f64| v.to_ne_bytes().to_vec();
    vec![
        (half, vec![MPI_REAL2], vec![MPI_COMPLEX4]),
        (single, vec![MPI_FLOAT], vec![MPI_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX8]),
        (
            double,
            vec![MPI_DOUBLE],
            vec![MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16],
        ),
        (long_double, vec![MPI_LONG_DOUBLE], vec![MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX]),
        (quad, vec![MPI_REAL16], vec![MPI_COMPLEX32]),
    ]
}

#[test]
fn every_precision_computes_small_numbers_exactly() {
    let a: Vec<f64> = (0..74).map(|i| ((i * 7 % 23) - 11) as f64 / 2.0).collect();
    let b: Vec<f64> = (0..74).map(|i| ((i * 5 % 19) - 9) as f64).collect();
    type F = fn(f64, f64) -> f64;
    let real: [(handle::Op, F); 4] =
        [(MPI_SUM, |a, b| a + b), (MPI_PROD, |a, b| a * b), (MPI_MIN, f64::min), (MPI_MAX, f64::max)];
    for (of, reals, complexes) in number_types() {
        for h in reals {
            for (op, f) in real {
                let want: Vec<f64> = a.iter().zip(&b).map(|(a, b)| f(*a, *b)).collect();
                let got = run(op, h, &bytes_of(&a, of), &bytes_of(&b, of));
                assert_eq!(got, bytes_of(&want, of), "{:?} on {:?}", predefined_op_name(op), predefined_name(h));
            }
        }
        for h in complexes {
            let sum: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
            assert_eq!(run(MPI_SUM, h, &bytes_of(&a, of), &bytes_of(&b, of)), bytes_of(&sum, of));
            let product: Vec<f64> = a
                .chunks(2)
                .zip(b.chunks(2))
                .flat_map(|(x, y)| [x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]])
                .collect();
            assert_eq!(
                run(MPI_PROD, h, &bytes_of(&a, of), &bytes_of(&b, of)),
                bytes_of(&product, of),
                "{:?}",
                predefined_name(h)
            );
        }
    }
}

#[test]
fn minloc_and_maxloc_take_the_lower_index_of_equals() {
    // (in, inout) values and indices; a table of every comparison.
    let cases = [
        ((1.0, 5.0), (2.0, 3.0)),
        ((2.0, 5.0), (1.0, 3.0)),
        ((1.0, 5.0), (1.0, 3.0)),
        ((1.0, 3.0), (1.0, 5.0)),
        ((-4.0, 0.0), (-4.0, 0.0)),
    ];
    let int = |v: f64| (v as i32).to_ne_bytes().to_vec();
    let (single, double, long_double) = (number_types()[1].0, number_types()[2].0, number_types()[3].0);
    let kinds: [(handle::Datatype, Of, Of, usize); 9] = [
        (MPI_FLOAT_INT, single, int, 4),
        (MPI_DOUBLE_INT, double, int, 8),
        (MPI_LONG_INT, |v| (v as i64).to_ne_bytes().to_vec(), int, 8),
        (MPI_2INT, int, int, 4),
        (MPI_SHORT_INT, |v| (v as i16).to_ne_bytes().to_vec(), int, 4),
        (MPI_LONG_DOUBLE_INT, long_double, int, 16),
        (MPI_2REAL, single, single, 4),
        (MPI_2DOUBLE_PRECISION, double, double, 8),
        (MPI_2INTEGER, int, int, 4),
    ];
    for (h, value, index, at) in kinds {
        let extent = dt(h).extent() as usize;
        let lay = |e: (f64, f64), fill: u8| {
            let mut r = vec![fill; extent];
            r[..value(e.0).len()].copy_from_slice(&value(e.0));
            r[at..at + index(e.1).len()].copy_from_slice(&index(e.1));
            r
        };
        for op in [MPI_MINLOC, MPI_MAXLOC] {
            let input: Vec<u8> = cases.iter().flat_map(|c| lay(c.0, 1)).collect();
            let inout: Vec<u8> = cases.iter().flat_map(|c| lay(c.1, 2)).collect();
            // Of the padding, inout's stays; long double's own padding may come along.
            let got = run(op, h, &input, &inout);
            for (i, (a, b)) in cases.iter().enumerate() {
                let better = if op == MPI_MINLOC { a.0 < b.0 } else { a.0 > b.0 } || a.0 == b.0 && a.1 < b.1;
                let want = lay(if better { *a } else { *b }, 2);
                let mut got = got[i * extent..(i + 1) * extent].to_vec();
                if h == MPI_LONG_DOUBLE_INT {
                    got[10..16].copy_from_slice(&want[10..16]);
                }
                assert_eq!(got, want, "{:?} on {:?}, case {i}", predefined_op_name(op), predefined_name(h));
            }
        }
    }
}

#[test]
fn replace_and_no_op() {
    for t in all_predefined() {
        let h = t.predefined_handle().unwrap();
        let n = t.extent() as usize * 3;
        let (a, b) = (vec![1u8; n], vec![2u8; n]);
        assert_eq!(run(MPI_NO_OP, h, &a, &b), b);
        let got = run(MPI_REPLACE, h, &a, &b);
        assert_eq!(got.iter().filter(|x| **x == 1).count(), t.size() * 3, "{t}");
    }
}

/// The table of 6.9.2, type by type.
#[test]
fn what_the_standard_allows() {
    let name = |t: &Datatype| predefined_name(t.predefined_handle().unwrap()).unwrap();
    for t in all_predefined() {
        let n = name(t);
        let pair =
            n.ends_with("_INT") && n.matches('_').count() >= 2 && !n.contains("UNSIGNED") && n != "MPI_LONG_LONG_INT"
                || n.starts_with("MPI_2");
        let integer = !pair
            && (n.contains("INT")
                || ["MPI_SHORT", "MPI_LONG", "MPI_LONG_LONG_INT", "MPI_SIGNED_CHAR"].contains(&n)
                || n.contains("UNSIGNED"))
            && !n.contains("AINT");
        let fortran = n.starts_with("MPI_INTEGER");
        let complex = n.contains("COMPLEX");
        let float = !pair && !complex && (n.contains("REAL") || n.contains("DOUBLE") || n.contains("FLOAT"));
        let logical = n.contains("LOGICAL") || n.contains("BOOL");
        let multi = ["MPI_AINT", "MPI_COUNT", "MPI_OFFSET"].contains(&n);
        for op in OPS {
            let want = match op {
                MPI_MIN | MPI_MAX => integer || float || multi,
                MPI_SUM | MPI_PROD => integer || float || complex || multi,
                MPI_LAND | MPI_LOR | MPI_LXOR => integer && !fortran || logical,
                MPI_BAND | MPI_BOR | MPI_BXOR => integer || multi || n == "MPI_BYTE",
                MPI_MINLOC | MPI_MAXLOC => pair,
                _ => true,
            };
            let got = check_reduce(op, t);
            assert_eq!(got.is_ok(), want, "{:?} on {n}", predefined_op_name(op));
            if let Err(e) = got {
                assert_eq!(e.class, MPI_ERR_OP);
                assert!(e.message.contains(n) && e.message.contains(predefined_op_name(op).unwrap()), "{}", e.message);
            }
        }
    }
}

#[test]
fn derived_types_and_unknown_operations_are_refused() {
    let t = Datatype::contiguous(2, dt(MPI_INT), false).unwrap();
    let e = check_reduce(MPI_SUM, &t).unwrap_err();
    assert_eq!(e.class, MPI_ERR_OP);
    assert!(e.message.contains("contiguous(2) of MPI_INT"), "{}", e.message);
    assert_eq!(check_reduce(MPI_OP_NULL, dt(MPI_INT)).unwrap_err().class, MPI_ERR_OP);
}
