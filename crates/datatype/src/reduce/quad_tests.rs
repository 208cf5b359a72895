//! Binary128 against the compiler's support library (x86_64) and against binary64, whose sums and products it holds exactly.
use super::*;
use proptest::prelude::*;

/// Exact conversion from a finite binary64.
fn from_f64(v: f64) -> u128 {
    let b = v.to_bits();
    let (sign, e, f) = ((b >> 63) as u128 * SIGN, (b >> 52 & 0x7ff) as i32, (b & ((1 << 52) - 1)) as u128);
    if e == 0 && f == 0 {
        return sign;
    }
    let (e, f) = if e == 0 { (1 - 1023, f) } else { (e - 1023, f | 1 << 52) };
    let up = f.leading_zeros() - (127 - TOP);
    round(sign, e + BIAS - (up as i32 - (TOP as i32 - 52)), f << up)
}

#[cfg(target_arch = "x86_64")]
mod library {
    use std::arch::{asm, x86_64::__m128i};
    unsafe extern "C" {
        fn __addtf3();
        fn __multf3();
        fn __lttf2();
    }
    fn vector(a: u128) -> __m128i {
        // SAFETY: both are 16 plain bytes.
        unsafe { std::mem::transmute(a) }
    }
    macro_rules! call {
        ($f:ident, $a:expr, $b:expr) => {{
            let mut r = vector($a);
            // SAFETY: binary128 arguments and results travel in xmm registers; everything else is declared clobbered.
            unsafe { asm!("call {f}", f = sym $f, inout("xmm0") r, in("xmm1") vector($b), clobber_abi("C")) };
            // SAFETY: both are 16 plain bytes.
            unsafe { std::mem::transmute::<__m128i, u128>(r) }
        }};
    }
    pub fn add(a: u128, b: u128) -> u128 {
        call!(__addtf3, a, b)
    }
    pub fn mul(a: u128, b: u128) -> u128 {
        call!(__multf3, a, b)
    }
    pub fn lt(a: u128, b: u128) -> bool {
        let r: i32;
        // SAFETY: as in `call!`, the result in eax.
        unsafe {
            asm!("call {f}", f = sym __lttf2, in("xmm0") vector(a), in("xmm1") vector(b), lateout("eax") r, clobber_abi("C"))
        };
        r < 0
    }
}

/// Numbers close enough to one another for sums to cancel and products to stay in range, and all the corners.
fn number() -> impl Strategy<Value = u128> {
    let near =
        (any::<u128>(), 0x3f80..0x4080u128).prop_map(|(m, e)| m & (SIGN | ((1 << FRACTION) - 1)) | e << FRACTION);
    let sparse = (any::<bool>(), 0..0x8000u128, 0..113u32, any::<u8>())
        .prop_map(|(s, e, k, m)| (u128::from(s) * SIGN) | (e << FRACTION) | ((m as u128) << k & ((1 << FRACTION) - 1)));
    let corner = prop::sample::select(vec![
        0,
        SIGN,
        1,
        SIGN | 1,
        INFINITY,
        SIGN | INFINITY,
        NAN,
        INFINITY - 1,
        1 << FRACTION,
        (1 << FRACTION) - 1,
    ]);
    prop_oneof![4 => near, 4 => any::<u128>(), 3 => sparse, 1 => corner]
}

#[cfg(target_arch = "x86_64")]
fn same(got: u128, want: u128) -> bool {
    got == want || is_nan(got) && is_nan(want)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn agrees_with_the_support_library(a in number(), b in number(), m in any::<u128>()) {
        for b in [b, a ^ SIGN, (a ^ SIGN).wrapping_add(m >> 120), a.wrapping_add(m >> 80)] {
            prop_assert!(same(add(a, b), library::add(a, b)), "{a:#x} + {b:#x}");
            prop_assert!(same(mul(a, b), library::mul(a, b)), "{a:#x} * {b:#x}");
            if !is_nan(a) && !is_nan(b) {
                prop_assert_eq!(lt(a, b), library::lt(a, b));
            }
        }
    }

    #[test]
    fn holds_integers_exactly(a in -(1i64 << 52)..1 << 52, b in -(1i64 << 52)..1 << 52) {
        prop_assert_eq!(add(from_f64(a as f64), from_f64(b as f64)), from_f64((a + b) as f64));
        let (p, q) = ((a as i32) as f64, (b >> 30) as f64);
        if p != 0.0 && q != 0.0 {
            prop_assert_eq!(mul(from_f64(p), from_f64(q)), from_f64(p * q));
        }
        prop_assert_eq!(lt(from_f64(a as f64), from_f64(b as f64)), a < b);
        prop_assert_eq!(eq(from_f64(a as f64), from_f64(b as f64)), a == b);
    }
}

#[test]
fn corners() {
    let one = from_f64(1.0);
    assert_eq!(add(one, neg(one)), 0);
    assert_eq!(add(SIGN, SIGN), SIGN);
    assert!(is_nan(mul(0, INFINITY)));
    assert!(is_nan(add(INFINITY, SIGN | INFINITY)));
    assert!(!lt(NAN, one) && !lt(one, NAN) && !eq(NAN, NAN) && eq(0, SIGN));
    assert_eq!(from_f64(0.5), mul(from_f64(2.0), from_f64(0.25)));
}
