//! IEEE binary16 (MPI_REAL2, MPI_COMPLEX4) by way of binary32, without branches, so that loops over it vectorise.
//!
//! A sum or product of two binary16 numbers rounded to binary32 and then to binary16 is the correctly rounded one: 24 bits of
//! precision are at least twice 11 plus two.
#[cfg(target_arch = "x86_64")]
use std::{arch::x86_64::*, mem::transmute};

#[inline(always)]
pub fn widen(h: u16) -> f32 {
    let magnitude = (h & 0x7fff) as u32;
    // Subnormals by way of integers: as binary32 subnormals they would be slow. 2^-24 is binary16's last place.
    let tiny = (magnitude as i32 as f32 * f32::from_bits((127 - 24) << 23)).to_bits();
    let normal = (magnitude << 13) + (112 << 23);
    let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
    let bits = if magnitude < 0x400 { tiny } else { normal | special };
    f32::from_bits(bits | ((h & 0x8000) as u32) << 16)
}

#[inline(always)]
pub fn narrow(f: f32) -> u16 {
    let bits = f.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let abs = bits & 0x7fff_ffff;
    // To nearest, ties to even; a carry moves on into the exponent.
    let normal = (abs.wrapping_sub(112 << 23).wrapping_add(0xfff + (abs >> 13 & 1)) >> 13) as u16;
    // Below 2^-14 the addition of 0.5 rounds to binary16's last place.
    let tiny = (f32::from_bits(abs) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits()) as u16;
    let nan = 0x7e00 | (abs >> 13) as u16 & 0x3ff;
    let finite = if abs < 113 << 23 { tiny } else { normal };
    let large = if abs > 0x7f80_0000 { nan } else { 0x7c00 };
    // 65520 is the first number that rounds to infinity.
    sign | if abs < 0x477f_f000 { finite } else { large }
}

/// `widen` and `narrow` as the processor does them: the same bits, but a signalling NaN widens to a quiet one, which the
/// arithmetic that follows would make of it anyway.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx,f16c")]
#[inline]
pub fn widen_f16c(h: [u16; 8]) -> [f32; 8] {
    // SAFETY: plain data of the same size.
    unsafe { transmute(_mm256_cvtph_ps(transmute::<[u16; 8], __m128i>(h))) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx,f16c")]
#[inline]
pub fn narrow_f16c(f: [f32; 8]) -> [u16; 8] {
    // SAFETY: plain data of the same size.
    unsafe { transmute(_mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(transmute::<[f32; 8], __m256>(f))) }
}

#[inline(always)]
fn is_nan(h: u16) -> bool {
    h & 0x7fff > 0x7c00
}

/// An integer that orders as the number does; one for both zeros.
#[inline(always)]
fn order(h: u16) -> i16 {
    let sign = h as i16 >> 15;
    ((h & 0x7fff) as i16 ^ sign).wrapping_sub(sign)
}

/// `a < b`; false when either is a NaN.
#[inline(always)]
pub fn lt(a: u16, b: u16) -> bool {
    !is_nan(a) & !is_nan(b) & (order(a) < order(b))
}

/// `a == b`; false when either is a NaN.
#[inline(always)]
pub fn eq(a: u16, b: u16) -> bool {
    !is_nan(a) & !is_nan(b) & (order(a) == order(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_as_the_numbers_do() {
        // Every tenth or so against every thirteenth, the ends included: zeros, infinities and NaNs of either sign are among them.
        let all = |step| (0..=u16::MAX).filter(move |h| h % step == 0 || matches!(h & 0x7fff, 0..3 | 0x7bff..0x7c03));
        for a in all(149) {
            for b in all(163) {
                let (x, y) = (widen(a), widen(b));
                assert_eq!((lt(a, b), eq(a, b)), (x < y, x == y), "{a:#x} {b:#x}");
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_processor_converts_alike() {
        if !std::is_x86_feature_detected!("f16c") {
            return;
        }
        let quiet = |f: f32| if f.is_nan() { f.to_bits() | 1 << 22 } else { f.to_bits() };
        for h in 0..=u16::MAX {
            // SAFETY: the processor has F16C.
            let w = unsafe { widen_f16c([h; 8]) }[3];
            assert_eq!(w.to_bits(), quiet(widen(h)), "{h:#x}");
        }
        // Every 16-bit upper half, with lower halves around the places where rounding turns.
        for high in 0..=u16::MAX as u32 {
            for low in [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0x2000, 0x3000, 0xefff, 0xf000, 0xf001, 0xffff] {
                let f = f32::from_bits(high << 16 | low);
                // SAFETY: as above.
                assert_eq!(unsafe { narrow_f16c([f; 8]) }[5], narrow(f), "{:#x}", f.to_bits());
            }
        }
    }

    /// The value of a binary16 by its definition.
    fn value(h: u16) -> f64 {
        let (e, m) = ((h >> 10 & 31) as i32, (h & 0x3ff) as f64);
        let v = match e {
            0 => m * 2f64.powi(-24),
            31 if m == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + m) * 2f64.powi(e - 25),
        };
        if h & 0x8000 != 0 { -v } else { v }
    }

    #[test]
    fn every_number_widens_and_comes_back() {
        for h in 0..=u16::MAX {
            let (w, v) = (widen(h), value(h));
            assert!(
                w as f64 == v && w.is_sign_negative() == v.is_sign_negative() || w.is_nan() && v.is_nan(),
                "{h:#x}"
            );
            if v.is_nan() {
                assert!(value(narrow(w)).is_nan());
            } else {
                assert_eq!(narrow(w), h);
            }
        }
    }

    #[test]
    fn rounds_to_nearest_even() {
        // Between each number and the next: just below, at, just above the middle.
        for h in 0..0x7c00u16 {
            let next = if h == 0x7bff { 65536.0 } else { value(h + 1) };
            let middle = ((value(h) + next) / 2.0) as f32;
            let even = h + (h & 1);
            assert_eq!(narrow(middle), even, "{h:#x}");
            assert_eq!(narrow(f32::from_bits(middle.to_bits() - 1)), h);
            assert_eq!(narrow(f32::from_bits(middle.to_bits() + 1)), h + 1);
            assert_eq!(narrow(-middle), even | 0x8000);
        }
        assert_eq!(narrow(1e9), 0x7c00);
        assert_eq!(narrow(f32::NEG_INFINITY), 0xfc00);
        assert_eq!(narrow(1e-30), 0);
    }
}
