//! The loops of the predefined operations, each `inout[i] = op(in[i], inout[i])`, over memory of any alignment.
//!
//! One of this crate's homes of `unsafe`: all user memory is read and written in [`each`] and [`pairs`]. A loop is compiled twice on
//! x86_64, for the base instruction set and for AVX2, and chosen at run time. Integers wrap. Comparisons keep `inout` when
//! a NaN takes part. Complex products are the plain formula, without the recovery of infinities of C's annex G.
use super::quad;
#[cfg(target_arch = "x86_64")]
use super::x87::{self, F80};
use super::{Op, half};
use crate::predefined::{Elem, prim};
use std::mem::offset_of;

/// One reduction: both pointers are valid for `n` elements of the type it was chosen for.
pub type Kernel = unsafe fn(*const u8, *mut u8, usize);

/// # Safety
/// `input` is valid for reads of `n` unaligned `T`, `inout` for reads and writes.
#[inline(always)]
unsafe fn body<T: Copy, F: Fn(T, T) -> T>(input: *const u8, inout: *mut u8, n: usize, f: F) {
    let (input, inout) = (input.cast::<T>(), inout.cast::<T>());
    for i in 0..n {
        // SAFETY: `i < n`.
        unsafe { inout.add(i).write_unaligned(f(input.add(i).read_unaligned(), inout.add(i).read_unaligned())) };
    }
}

/// # Safety
/// as `body`, and the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn body_avx2<T: Copy, F: Fn(T, T) -> T>(input: *const u8, inout: *mut u8, n: usize, f: F) {
    // SAFETY: the caller's promise.
    unsafe { body(input, inout, n, f) }
}

/// # Safety
/// as `body`.
#[inline(always)]
unsafe fn each<T: Copy, F: Fn(T, T) -> T>(input: *const u8, inout: *mut u8, n: usize, f: F) {
    #[cfg(target_arch = "x86_64")]
    if n * size_of::<T>() >= 64 && std::is_x86_feature_detected!("avx2") {
        // SAFETY: the caller's promise; AVX2 was just found.
        return unsafe { body_avx2(input, inout, n, f) };
    }
    // SAFETY: the caller's promise.
    unsafe { body(input, inout, n, f) }
}

/// A kernel from a closure without state.
macro_rules! kernel {
    ($t:ty, $f:expr) => {{
        unsafe fn k(input: *const u8, inout: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`.
            unsafe { each::<$t, _>(input, inout, n, $f) }
        }
        Some(k as Kernel)
    }};
}

/// As `kernel`, over the real and imaginary parts as `2 n` numbers.
macro_rules! kernel_parts {
    ($t:ty, $f:expr) => {{
        unsafe fn k(input: *const u8, inout: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`: an element is two numbers.
            unsafe { each::<$t, _>(input, inout, 2 * n, $f) }
        }
        Some(k as Kernel)
    }};
}

macro_rules! integer {
    ($op:expr, $t:ty) => {
        match $op {
            Op::Sum => kernel!($t, |a, b| a.wrapping_add(b)),
            Op::Prod => kernel!($t, |a, b| a.wrapping_mul(b)),
            Op::Min => kernel!($t, |a, b| if a < b { a } else { b }),
            Op::Max => kernel!($t, |a, b| if a > b { a } else { b }),
            Op::Band => kernel!($t, |a, b| a & b),
            Op::Bor => kernel!($t, |a, b| a | b),
            Op::Bxor => kernel!($t, |a, b| a ^ b),
            Op::Land => kernel!($t, |a, b| <$t>::from((a != 0) & (b != 0))),
            Op::Lor => kernel!($t, |a, b| <$t>::from((a != 0) | (b != 0))),
            Op::Lxor => kernel!($t, |a, b| <$t>::from((a != 0) ^ (b != 0))),
            _ => None,
        }
    };
}

macro_rules! floating {
    ($op:expr, $t:ty) => {
        match $op {
            Op::Sum => kernel!($t, |a, b| a + b),
            Op::Prod => kernel!($t, |a, b| a * b),
            Op::Min => kernel!($t, |a, b| if a < b { a } else { b }),
            Op::Max => kernel!($t, |a, b| if a > b { a } else { b }),
            _ => None,
        }
    };
}

/// Numbers with functions for operators.
macro_rules! soft {
    ($op:expr, $t:ty, $m:ident) => {
        match $op {
            Op::Sum => kernel!($t, $m::add),
            Op::Prod => kernel!($t, $m::mul),
            Op::Min => kernel!($t, |a, b| if $m::lt(a, b) { a } else { b }),
            Op::Max => kernel!($t, |a, b| if $m::lt(b, a) { a } else { b }),
            _ => None,
        }
    };
}

macro_rules! complex {
    ($op:expr, $t:ty, $add:expr, $sub:expr, $mul:expr) => {
        match $op {
            Op::Sum => kernel_parts!($t, $add),
            Op::Prod => kernel!([$t; 2], |[a, b], [c, d]| [$sub($mul(a, c), $mul(b, d)), $add($mul(a, d), $mul(b, c))]),
            _ => None,
        }
    };
}

/// binary16 arithmetic for the macros.
mod f16 {
    use super::half::{narrow, widen};
    #[inline(always)]
    pub fn add(a: u16, b: u16) -> u16 {
        narrow(widen(a) + widen(b))
    }
    #[inline(always)]
    pub fn mul(a: u16, b: u16) -> u16 {
        narrow(widen(a) * widen(b))
    }
    #[inline(always)]
    pub fn lt(a: u16, b: u16) -> bool {
        widen(a) < widen(b)
    }
    #[inline(always)]
    pub fn eq(a: u16, b: u16) -> bool {
        widen(a) == widen(b)
    }
}

/// The kernel of an operation on an element, if it has a meaning; what the standard allows is the caller's question.
pub(super) fn find(op: Op, elem: Elem) -> Option<Kernel> {
    match elem {
        Elem::I8 => integer!(op, i8),
        Elem::U8 => integer!(op, u8),
        Elem::I16 => integer!(op, i16),
        Elem::U16 => integer!(op, u16),
        Elem::I32 => integer!(op, i32),
        Elem::U32 => integer!(op, u32),
        Elem::I64 => integer!(op, i64),
        Elem::U64 => integer!(op, u64),
        Elem::I128 => integer!(op, i128),
        Elem::F16 => soft!(op, u16, f16),
        Elem::F32 => floating!(op, f32),
        Elem::F64 => floating!(op, f64),
        Elem::F128 => soft!(op, u128, quad),
        Elem::C16 => match op {
            Op::Sum => kernel_parts!(u16, f16::add),
            // One rounding per part.
            Op::Prod => kernel!([u16; 2], |[a, b], [c, d]| {
                let (a, b, c, d) = (half::widen(a), half::widen(b), half::widen(c), half::widen(d));
                [half::narrow(a * c - b * d), half::narrow(a * d + b * c)]
            }),
            _ => None,
        },
        Elem::C32 => complex!(op, f32, |a, b| a + b, |a, b| a - b, |a, b| a * b),
        Elem::C64 => complex!(op, f64, |a, b| a + b, |a, b| a - b, |a, b| a * b),
        Elem::C128 => complex!(op, u128, quad::add, |a, b| quad::add(a, quad::neg(b)), quad::mul),
        #[cfg(target_arch = "x86_64")]
        Elem::F80 => match op {
            Op::Sum => Some(x87::sum),
            Op::Prod => Some(x87::prod),
            Op::Min => kernel!(F80, |a, b| if x87::lt(a, b) { a } else { b }),
            Op::Max => kernel!(F80, |a, b| if x87::lt(b, a) { a } else { b }),
            _ => None,
        },
        #[cfg(target_arch = "x86_64")]
        Elem::C80 => match op {
            Op::Sum => {
                unsafe fn k(input: *const u8, inout: *mut u8, n: usize) {
                    // SAFETY: the promise of `Kernel`: an element is two numbers.
                    unsafe { x87::sum(input, inout, 2 * n) }
                }
                Some(k)
            }
            Op::Prod => Some(x87::complex_prod),
            _ => None,
        },
        #[cfg(not(target_arch = "x86_64"))]
        Elem::F80 | Elem::C80 => None,
        Elem::Pair { value, index } => find_pair(op, prim(value).elem, prim(index).elem),
    }
}

/// A pair type as C lays it out.
#[repr(C)]
struct Located<V, I> {
    value: V,
    index: I,
}

/// MINLOC and MAXLOC: takes over `in` where `first` says its value wins, and where `equal` values meet with a lower index.
/// # Safety
/// `input` is valid for reads of the members of `n` unaligned `Located<V, I>`, `inout` for reads and writes.
#[inline(always)]
unsafe fn pairs<V: Copy, I: Copy + PartialOrd>(
    input: *const u8,
    inout: *mut u8,
    n: usize,
    first: impl Fn(V, V) -> bool,
    equal: impl Fn(V, V) -> bool,
) {
    for i in 0..n {
        let at = i * size_of::<Located<V, I>>();
        let (v, x) = (at + offset_of!(Located<V, I>, value), at + offset_of!(Located<V, I>, index));
        // SAFETY: `i < n`; only members are touched, no padding.
        unsafe {
            let (a, b) = (input.add(v).cast::<V>().read_unaligned(), inout.add(v).cast::<V>().read_unaligned());
            let (ai, bi) = (input.add(x).cast::<I>().read_unaligned(), inout.add(x).cast::<I>().read_unaligned());
            if first(a, b) || equal(a, b) && ai < bi {
                inout.add(v).cast::<V>().write_unaligned(a);
                inout.add(x).cast::<I>().write_unaligned(ai);
            }
        }
    }
}

macro_rules! located {
    ($op:expr, $v:ty, $i:ty, $lt:expr, $eq:expr) => {{
        unsafe fn min(input: *const u8, inout: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`.
            unsafe { pairs::<$v, $i>(input, inout, n, $lt, $eq) }
        }
        unsafe fn max(input: *const u8, inout: *mut u8, n: usize) {
            // SAFETY: the promise of `Kernel`.
            unsafe { pairs::<$v, $i>(input, inout, n, |a, b| $lt(b, a), $eq) }
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
fn find_pair(op: Op, value: Elem, index: Elem) -> Option<Kernel> {
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
    match value {
        Elem::F32 if index == Elem::F32 => located!(op, f32, f32),
        Elem::F64 if index == Elem::F64 => located!(op, f64, f64),
        Elem::I8 => by_index!(i8),
        Elem::U8 => by_index!(u8),
        Elem::I16 => by_index!(i16),
        Elem::U16 => by_index!(u16),
        Elem::I32 => by_index!(i32),
        Elem::U32 => by_index!(u32),
        Elem::I64 => by_index!(i64),
        Elem::U64 => by_index!(u64),
        Elem::I128 => by_index!(i128),
        Elem::F16 => by_index!(u16, f16::lt, f16::eq),
        Elem::F32 => by_index!(f32),
        Elem::F64 => by_index!(f64),
        Elem::F128 => by_index!(u128, quad::lt, quad::eq),
        #[cfg(target_arch = "x86_64")]
        Elem::F80 => by_index!(F80, x87::lt, x87::eq),
        _ => None,
    }
}
