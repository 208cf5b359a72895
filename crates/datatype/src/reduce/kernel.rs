//! The loops of the predefined operations, each `out[i] = op(a[i], b[i])`, over memory of any alignment.
//!
//! One of this crate's homes of `unsafe`: all user memory is read and written in [`Vectors`], [`pairs`] and `x87`.
//! A loop is compiled for several instruction sets ([`Level`]) from one generic body, and the best that the processor has is
//! taken when a kernel is looked up. All of them give the same bits, except that where two NaNs meet it is open which one
//! comes out. Integers wrap. Comparisons keep `b` when a NaN takes part, and where zeros of either sign meet. Products and
//! sums are never fused. Complex products are the plain formula, without the recovery of infinities of C's annex G.
//!
//! `out` may be `a` or `b`, which is why a block is always read whole before any of it is written, and why the loops are
//! written in blocks: with three pointers that may be equal the compiler would not make vectors of a plain loop.
//!
//! Not in vectors: long double, binary128 and pairs other than of four bytes each.
use super::quad;
#[cfg(target_arch = "x86_64")]
use super::x87::{self, F80};
use super::{Op, half};
use crate::level::Level;
use crate::predefined::{Elem, prim};
use std::hint::select_unpredictable;
use std::mem::{offset_of, transmute_copy};

/// One reduction of `a`, `b` into `out`: the first two are valid for reads and the last for writes of `n` elements of the type
/// it was chosen for; `out` is equal to `a` or `b` or overlaps neither.
pub type Kernel = unsafe fn(*const u8, *const u8, *mut u8, usize);

/// Operands and result, of unaligned elements `T`.
struct Vectors<T> {
    a: *const T,
    b: *const T,
    out: *mut T,
    n: usize,
}

impl<T: Copy> Vectors<T> {
    /// The result of `N` elements from `i` on.
    /// # Safety
    /// `i + N <= n`.
    #[inline(always)]
    unsafe fn block<const N: usize>(&self, i: usize, f: &impl Fn([T; N], [T; N]) -> [T; N]) -> [T; N] {
        // SAFETY: the caller's promise, and that of `Kernel`.
        unsafe { f(self.a.add(i).cast::<[T; N]>().read_unaligned(), self.b.add(i).cast::<[T; N]>().read_unaligned()) }
    }

    /// # Safety
    /// as `block`.
    #[inline(always)]
    unsafe fn write<const N: usize>(&self, i: usize, r: [T; N]) {
        // SAFETY: the caller's promise, and that of `Kernel`.
        unsafe { self.out.add(i).cast::<[T; N]>().write_unaligned(r) }
    }

    /// Everything in blocks of `N`, aligned in `out` where it can be. The first and the last may overlap others: they are
    /// computed before anything is written.
    /// # Safety
    /// `n >= N`; the promise of `Kernel`.
    #[inline(always)]
    unsafe fn blocks<const N: usize>(&self, f: impl Fn([T; N], [T; N]) -> [T; N]) {
        let end = self.n - N;
        // SAFETY: no block reaches beyond `n`.
        unsafe {
            let (first, last) = (self.block(0, &f), self.block(end, &f));
            let mut i = N - self.out.addr() % size_of::<[T; N]>() / size_of::<T>();
            while i < end {
                self.write(i, self.block(i, &f));
                i += N;
            }
            self.write(0, first);
            self.write(end, last);
        }
    }

    /// Everything from `i` on, one by one.
    /// # Safety
    /// the promise of `Kernel`.
    #[inline(always)]
    unsafe fn singles(&self, mut i: usize, f: impl Fn(T, T) -> T) {
        while i < self.n {
            // SAFETY: `i < n`.
            unsafe { self.write(i, self.block::<1>(i, &lanes(&f))) };
            i += 1;
        }
    }
}

/// An operation on single elements as one on blocks.
#[inline(always)]
fn lanes<T: Copy, const N: usize>(f: impl Fn(T, T) -> T) -> impl Fn([T; N], [T; N]) -> [T; N] {
    #[inline(always)]
    move |a, mut b| {
        for i in 0..N {
            b[i] = f(a[i], b[i]);
        }
        b
    }
}

/// `WIDE` elements are 64 bytes, `NARROW` 16.
/// # Safety
/// the promise of `Kernel`.
#[inline(always)]
unsafe fn each<T: Copy, const WIDE: usize, const NARROW: usize>(
    (a, b, out, n): (*const u8, *const u8, *mut u8, usize),
    f: impl Fn(T, T) -> T,
) {
    let v = Vectors { a: a.cast::<T>(), b: b.cast(), out: out.cast(), n };
    // SAFETY: the caller's promise; no block reaches beyond `n`.
    unsafe {
        if n >= WIDE {
            return v.blocks::<WIDE>(lanes(f));
        }
        let mut i = 0;
        while NARROW > 1 && i + NARROW <= n {
            v.write(i, v.block::<NARROW>(i, &lanes(&f)));
            i += NARROW;
        }
        v.singles(i, f);
    }
}

/// The kernel of a level from the name of a generic body.
macro_rules! at_level {
    ($level:expr, $body:expr) => {{
        unsafe fn base(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`.
            unsafe { $body((a, b, out, n)) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,f16c")]
        unsafe fn avx2(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            // SAFETY: as above.
            unsafe { $body((a, b, out, n)) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,f16c")]
        unsafe fn avx512(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            // SAFETY: as above.
            unsafe { $body((a, b, out, n)) }
        }
        Some(match $level {
            Level::Base => base as Kernel,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => avx2,
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => avx512,
        })
    }};
}

/// A kernel from a closure without state.
macro_rules! kernel {
    ($level:expr, $t:ty, $f:expr) => {
        at_level!($level, |v| each::<$t, { 64 / size_of::<$t>() }, { 16 / size_of::<$t>() }>(v, $f))
    };
}

/// As `kernel`, over the real and imaginary parts as `2 n` numbers.
macro_rules! kernel_parts {
    ($level:expr, $t:ty, $f:expr) => {
        at_level!($level, |(a, b, out, n)| {
            each::<$t, { 64 / size_of::<$t>() }, { 16 / size_of::<$t>() }>((a, b, out, 2 * n), $f)
        })
    };
}

/// As `kernel`, where vectors cannot help.
macro_rules! scalar {
    ($t:ty, $f:expr) => {
        scalar!($t, 1, $f)
    };
    ($t:ty, $parts:literal, $f:expr) => {{
        unsafe fn k(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`: an element is so many numbers.
            unsafe { Vectors::<$t> { a: a.cast(), b: b.cast(), out: out.cast(), n: $parts * n }.singles(0, $f) }
        }
        Some(k as Kernel)
    }};
}

macro_rules! integer {
    ($op:expr, $level:expr, $t:ty) => {
        match $op {
            Op::Sum => kernel!($level, $t, |a, b| a.wrapping_add(b)),
            Op::Prod => kernel!($level, $t, |a, b| a.wrapping_mul(b)),
            Op::Min => kernel!($level, $t, |a, b| if a < b { a } else { b }),
            Op::Max => kernel!($level, $t, |a, b| if a > b { a } else { b }),
            Op::Band => kernel!($level, $t, |a, b| a & b),
            Op::Bor => kernel!($level, $t, |a, b| a | b),
            Op::Bxor => kernel!($level, $t, |a, b| a ^ b),
            Op::Land => kernel!($level, $t, |a, b| <$t>::from((a != 0) & (b != 0))),
            Op::Lor => kernel!($level, $t, |a, b| <$t>::from((a | b) != 0)),
            Op::Lxor => kernel!($level, $t, |a, b| <$t>::from((a != 0) ^ (b != 0))),
            _ => None,
        }
    };
}

macro_rules! floating {
    ($op:expr, $level:expr, $t:ty) => {
        match $op {
            Op::Sum => kernel!($level, $t, |a, b| a + b),
            Op::Prod => kernel!($level, $t, |a, b| a * b),
            Op::Min => kernel!($level, $t, |a, b| if a < b { a } else { b }),
            Op::Max => kernel!($level, $t, |a, b| if a > b { a } else { b }),
            _ => None,
        }
    };
}

macro_rules! complex {
    ($op:expr, $level:expr, $t:ty) => {
        match $op {
            Op::Sum => kernel_parts!($level, $t, |a, b| a + b),
            Op::Prod => kernel!($level, [$t; 2], |[a, b], [c, d]| [a * c - b * d, a * d + b * c]),
            _ => None,
        }
    };
}

/// binary16: sums and products in binary32, by the processor's conversions from `Avx2` on.
macro_rules! half {
    ($level:expr, $parts:literal, $f:expr) => {{
        unsafe fn base(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            let (widen, narrow) = (|h: [u16; 8]| h.map(half::widen), |f: [f32; 8]| f.map(half::narrow));
            // SAFETY: the promise of `Kernel`.
            unsafe { halves::<$parts, { 8 / $parts }>((a, b, out, n), widen, narrow, $f) }
        }
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,f16c")]
        unsafe fn f16c(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            // SAFETY: as above.
            unsafe {
                halves::<$parts, { 8 / $parts }>((a, b, out, n), |h| half::widen_f16c(h), |f| half::narrow_f16c(f), $f)
            }
        }
        Some(match $level {
            Level::Base => base as Kernel,
            #[cfg(target_arch = "x86_64")]
            _ => f16c,
        })
    }};
}

/// `n` elements of `PARTS` numbers of binary16; `N` of them are eight numbers.
/// # Safety
/// the promise of `Kernel`.
#[inline(always)]
unsafe fn halves<const PARTS: usize, const N: usize>(
    (a, b, out, n): (*const u8, *const u8, *mut u8, usize),
    widen: impl Fn([u16; 8]) -> [f32; 8],
    narrow: impl Fn([f32; 8]) -> [u16; 8],
    f: impl Fn([f32; 8], [f32; 8]) -> [f32; 8],
) {
    const { assert!(PARTS * N == 8) };
    // SAFETY: plain data of the same size.
    let wide = |x: [[u16; PARTS]; N]| widen(unsafe { transmute_copy(&x) });
    // SAFETY: as above.
    let block = |x, y| -> [[u16; PARTS]; N] { unsafe { transmute_copy(&narrow(f(wide(x), wide(y)))) } };
    let v = Vectors { a: a.cast::<[u16; PARTS]>(), b: b.cast(), out: out.cast(), n };
    // SAFETY: the caller's promise; what is too short for a block is computed in one of our own.
    unsafe {
        if n >= N {
            v.blocks(block);
        } else {
            let fill = |p: *const [u16; PARTS]| {
                std::array::from_fn(|i| if i < n { p.add(i).read_unaligned() } else { [0; PARTS] })
            };
            for (i, r) in block(fill(v.a), fill(v.b)).into_iter().take(n).enumerate() {
                v.write(i, [r]);
            }
        }
    }
}

/// The kernel of an operation on an element, if it has a meaning; what the standard allows is the caller's question.
pub(super) fn find(op: Op, elem: Elem, level: Level) -> Option<Kernel> {
    match elem {
        Elem::I8 => integer!(op, level, i8),
        Elem::U8 => integer!(op, level, u8),
        Elem::I16 => integer!(op, level, i16),
        Elem::U16 => integer!(op, level, u16),
        Elem::I32 => integer!(op, level, i32),
        Elem::U32 => integer!(op, level, u32),
        Elem::I64 => integer!(op, level, i64),
        Elem::U64 => integer!(op, level, u64),
        Elem::I128 => integer!(op, level, i128),
        Elem::F16 => match op {
            Op::Sum => half!(level, 1, lanes(|a, b| a + b)),
            Op::Prod => half!(level, 1, lanes(|a, b| a * b)),
            Op::Min => kernel!(level, u16, |a, b| if half::lt(a, b) { a } else { b }),
            Op::Max => kernel!(level, u16, |a, b| if half::lt(b, a) { a } else { b }),
            _ => None,
        },
        Elem::F32 => floating!(op, level, f32),
        Elem::F64 => floating!(op, level, f64),
        Elem::F128 => match op {
            Op::Sum => scalar!(u128, quad::add),
            Op::Prod => scalar!(u128, quad::mul),
            Op::Min => scalar!(u128, |a, b| if quad::lt(a, b) { a } else { b }),
            Op::Max => scalar!(u128, |a, b| if quad::lt(b, a) { a } else { b }),
            _ => None,
        },
        Elem::C16 => match op {
            Op::Sum => half!(level, 2, lanes(|a, b| a + b)),
            // One rounding per part.
            Op::Prod => half!(level, 2, |x: [f32; 8], y: [f32; 8]| {
                std::array::from_fn(|i| {
                    let (p, q) = (x[i & !1] * y[i], x[i | 1] * y[i ^ 1]);
                    if i & 1 == 0 { p - q } else { p + q }
                })
            }),
            _ => None,
        },
        Elem::C32 => complex!(op, level, f32),
        Elem::C64 => complex!(op, level, f64),
        Elem::C128 => match op {
            Op::Sum => scalar!(u128, 2, quad::add),
            Op::Prod => scalar!([u128; 2], |[a, b], [c, d]| {
                let (ac, bd) = (quad::mul(a, c), quad::mul(b, d));
                [quad::add(ac, quad::neg(bd)), quad::add(quad::mul(a, d), quad::mul(b, c))]
            }),
            _ => None,
        },
        #[cfg(target_arch = "x86_64")]
        Elem::F80 => match op {
            Op::Sum => Some(x87::sum),
            Op::Prod => Some(x87::prod),
            Op::Min => scalar!(F80, |a, b| if x87::lt(a, b) { a } else { b }),
            Op::Max => scalar!(F80, |a, b| if x87::lt(b, a) { a } else { b }),
            _ => None,
        },
        #[cfg(target_arch = "x86_64")]
        Elem::C80 => match op {
            Op::Sum => {
                unsafe fn k(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
                    // SAFETY: the promise of `Kernel`: an element is two numbers.
                    unsafe { x87::sum(a, b, out, 2 * n) }
                }
                Some(k)
            }
            Op::Prod => Some(x87::complex_prod),
            _ => None,
        },
        #[cfg(not(target_arch = "x86_64"))]
        Elem::F80 | Elem::C80 => None,
        Elem::Pair { value, index } => find_pair(op, prim(value).elem, prim(index).elem, level),
    }
}

/// A pair type as C lays it out.
#[repr(C)]
struct Located<V, I> {
    value: V,
    index: I,
}

/// MINLOC and MAXLOC: `a` where `first` says its value wins, and where `equal` values meet with a lower index; else `b`.
/// # Safety
/// the promise of `Kernel`; of pairs only the members count, and padding is never touched.
#[inline(always)]
unsafe fn pairs<V: Copy, I: Copy + PartialOrd>(
    (a, b, out, n): (*const u8, *const u8, *mut u8, usize),
    first: impl Fn(V, V) -> bool,
    equal: impl Fn(V, V) -> bool,
) {
    for i in 0..n {
        let at = i * size_of::<Located<V, I>>();
        let (v, x) = (offset_of!(Located<V, I>, value), offset_of!(Located<V, I>, index));
        // SAFETY: `i < n`; only members are touched, no padding.
        unsafe {
            let (a, b, out) = (a.add(at), b.add(at), out.add(at));
            let value = |p: *const u8| p.add(v).cast::<V>().read_unaligned();
            let index = |p: *const u8| p.add(x).cast::<I>().read_unaligned();
            let take = first(value(a), value(b)) | equal(value(a), value(b)) & (index(a) < index(b));
            // Which one wins is hard to predict, and a second load is cheap.
            let from = select_unpredictable(take, a, b);
            from.add(v).copy_to(out.add(v), size_of::<V>());
            from.add(x).copy_to(out.add(x), size_of::<I>());
        }
    }
}

/// Pairs of two times four bytes as one number, the way vectors hold them.
macro_rules! packed {
    ($op:expr, $level:expr, $v:expr, $i:expr) => {{
        #[inline(always)]
        fn parts(p: u64) -> [u32; 2] {
            // SAFETY: plain data of the same size.
            unsafe { std::mem::transmute(p) }
        }
        /// Value and index of either.
        macro_rules! pick {
            ($first:tt) => {
                kernel!($level, u64, |a, b| {
                    let ([av, ax], [bv, bx]) = (parts(a), parts(b));
                    let (av, ax, bv, bx) = ($v(av), $i(ax), $v(bv), $i(bx));
                    if (av $first bv) | (av == bv) & (ax < bx) { a } else { b }
                })
            };
        }
        match $op {
            Op::Minloc => pick!(<),
            Op::Maxloc => pick!(>),
            _ => None,
        }
    }};
}

macro_rules! located {
    ($op:expr, $v:ty, $i:ty, $lt:expr, $eq:expr) => {{
        unsafe fn min(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`.
            unsafe { pairs::<$v, $i>((a, b, out, n), $lt, $eq) }
        }
        unsafe fn max(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`.
            unsafe { pairs::<$v, $i>((a, b, out, n), |a, b| $lt(b, a), $eq) }
        }
        match $op {
            Op::Minloc => Some(min as Kernel),
            Op::Maxloc => Some(max as Kernel),
            _ => None,
        }
    }};
    ($op:expr, $v:ty, $i:ty) => {
        located!($op, $v, $i, |a: $v, b: $v| a < b, |a: $v, b: $v| a == b)
    };
}

/// Every value MPI_MIN is defined on, with the index types worth having; Fortran's pairs have the value's type for an index.
fn find_pair(op: Op, value: Elem, index: Elem, level: Level) -> Option<Kernel> {
    macro_rules! by_index {
        ($v:ty $(, $f:expr)*) => {
            match index {
                Elem::I32 => located!(op, $v, i32 $(, $f)*),
                Elem::U32 => located!(op, $v, u32 $(, $f)*),
                Elem::I64 => located!(op, $v, i64 $(, $f)*),
                Elem::U64 => located!(op, $v, u64 $(, $f)*),
                _ => None,
            }
        };
    }
    match (value, index) {
        (Elem::F32, Elem::F32) => return packed!(op, level, f32::from_bits, f32::from_bits),
        (Elem::F32, Elem::I32) => return packed!(op, level, f32::from_bits, u32::cast_signed),
        (Elem::I32, Elem::I32) => return packed!(op, level, u32::cast_signed, u32::cast_signed),
        (Elem::F64, Elem::F64) => return located!(op, f64, f64),
        _ => {}
    }
    match value {
        Elem::I8 => by_index!(i8),
        Elem::U8 => by_index!(u8),
        Elem::I16 => by_index!(i16),
        Elem::U16 => by_index!(u16),
        Elem::I32 => by_index!(i32),
        Elem::U32 => by_index!(u32),
        Elem::I64 => by_index!(i64),
        Elem::U64 => by_index!(u64),
        Elem::I128 => by_index!(i128),
        Elem::F16 => by_index!(u16, half::lt, half::eq),
        Elem::F32 => by_index!(f32),
        Elem::F64 => by_index!(f64),
        Elem::F128 => by_index!(u128, quad::lt, quad::eq),
        #[cfg(target_arch = "x86_64")]
        Elem::F80 => by_index!(F80, x87::lt, x87::eq),
        _ => None,
    }
}
