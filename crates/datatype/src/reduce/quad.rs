//! IEEE binary128 (MPI_REAL16, MPI_COMPLEX32, and long double where it is that) in integer arithmetic: addition,
//! multiplication, comparison; to nearest, ties to even. Nothing is needed from the compiler's support library.
//!
//! Inside, a significand has its leading bit at `TOP`: 113 bits and `GUARD` more, the lowest of which is sticky.

const FRACTION: u32 = 112;
const GUARD: u32 = 10;
const TOP: u32 = FRACTION + GUARD;
const SIGN: u128 = 1 << 127;
const INFINITY: u128 = 0x7fff << FRACTION;
const QUIET: u128 = 1 << (FRACTION - 1);
const NAN: u128 = INFINITY | QUIET;
const BIAS: i32 = 0x3fff;

fn is_nan(a: u128) -> bool {
    a & !SIGN > INFINITY
}

/// Biased exponent and significand with its leading bit at `FRACTION`, subnormals normalised. `a` is finite and not zero.
fn unpack(a: u128) -> (i32, u128) {
    let (e, f) = ((a >> FRACTION) as i32 & 0x7fff, a & ((1 << FRACTION) - 1));
    if e > 0 {
        return (e, f | 1 << FRACTION);
    }
    let up = f.leading_zeros() - (127 - FRACTION);
    (1 - up as i32, f << up)
}

/// `sig >> by`, any bit lost kept in the lowest one.
fn shift_sticky(sig: u128, by: u32) -> u128 {
    match by {
        0 => sig,
        1..=127 => sig >> by | u128::from(sig << (128 - by) != 0),
        _ => u128::from(sig != 0),
    }
}

/// The number with this biased exponent and a significand led by `TOP`.
fn round(sign: u128, mut e: i32, mut sig: u128) -> u128 {
    if e >= 0x7fff {
        return sign | INFINITY;
    }
    if e <= 0 {
        sig = shift_sticky(sig, (1 - e) as u32);
        e = 1;
    }
    let rest = sig & ((1 << GUARD) - 1);
    let half = 1 << (GUARD - 1);
    sig >>= GUARD;
    sig += u128::from(rest > half || rest == half && sig & 1 == 1);
    // The leading bit adds the last one to the exponent; a subnormal has none.
    sign | (((e - 1) as u128) << FRACTION).wrapping_add(sig)
}

fn quiet(a: u128, b: u128) -> u128 {
    (if is_nan(a) { a } else { b }) | QUIET
}

pub fn add(a: u128, b: u128) -> u128 {
    if is_nan(a) || is_nan(b) {
        return quiet(a, b);
    }
    let (big, small) = if a & !SIGN >= b & !SIGN { (a, b) } else { (b, a) };
    let (sign, differ) = (big & SIGN, (a ^ b) & SIGN != 0);
    if big & !SIGN == INFINITY {
        return if differ && small & !SIGN == INFINITY { NAN } else { big };
    }
    if small & !SIGN == 0 {
        // Zeros: +0 unless both are negative.
        return if big & !SIGN == 0 { a & b } else { big };
    }
    let ((e, m), (f, n)) = (unpack(big), unpack(small));
    let (m, n) = (m << GUARD, shift_sticky(n << GUARD, (e - f) as u32));
    if !differ {
        let s = m + n;
        return if s >> (TOP + 1) > 0 { round(sign, e + 1, shift_sticky(s, 1)) } else { round(sign, e, s) };
    }
    let d = m - n;
    if d == 0 {
        return 0;
    }
    let up = d.leading_zeros() - (127 - TOP);
    round(sign, e - up as i32, d << up)
}

pub fn mul(a: u128, b: u128) -> u128 {
    if is_nan(a) || is_nan(b) {
        return quiet(a, b);
    }
    let sign = (a ^ b) & SIGN;
    let (a, b) = (a & !SIGN, b & !SIGN);
    if a == INFINITY || b == INFINITY {
        return if a == 0 || b == 0 { NAN } else { sign | INFINITY };
    }
    if a == 0 || b == 0 {
        return sign;
    }
    let ((e, m), (f, n)) = (unpack(a), unpack(b));
    // Both led by bit 127: the product's upper half is led by bit 127 or 126.
    let (hi, lo) = wide_mul(m << (127 - FRACTION), n << (127 - FRACTION));
    let up = hi.leading_zeros();
    let sig = shift_sticky(hi, 127 - TOP - up) | u128::from(lo != 0);
    round(sign, e + f - BIAS + 1 - up as i32, sig)
}

/// The 256-bit product, upper half first.
fn wide_mul(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (ah, al, bh, bl) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (ll, lh, hl) = (al * bl, al * bh, ah * bl);
    let middle = (ll >> 64) + (lh & LOW) + (hl & LOW);
    (ah * bh + (lh >> 64) + (hl >> 64) + (middle >> 64), ll & LOW | middle << 64)
}

pub fn neg(a: u128) -> u128 {
    a ^ SIGN
}

/// `a < b`; false when either is a NaN.
pub fn lt(a: u128, b: u128) -> bool {
    if is_nan(a) || is_nan(b) || (a | b) & !SIGN == 0 {
        return false;
    }
    match (a & SIGN != 0, b & SIGN != 0) {
        (true, false) => true,
        (false, true) => false,
        (false, false) => a < b,
        (true, true) => a > b,
    }
}

/// `a == b`; false when either is a NaN.
pub fn eq(a: u128, b: u128) -> bool {
    !is_nan(a) && !is_nan(b) && (a == b || (a | b) & !SIGN == 0)
}

#[cfg(test)]
#[path = "quad_tests.rs"]
mod tests;
