//! The x87 extended precision of `long double` on x86_64: ten bytes of a 16-byte place, computed where the processor does it.
//!
//! One of this crate's homes of `unsafe`. The six bytes of padding are never written.
use std::arch::asm;

/// A `long double` as it lies in memory.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub struct F80(pub [u8; 16]);

/// What every block of assembly here leaves: an empty register stack.
macro_rules! x87 {
    ($($arg:tt)*) => {
        asm!(
            $($arg)*
            out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
            out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
        )
    };
}

/// `out[i] = a[i] op b[i]`, straight from memory to memory: a copy in between would wait for the ten-byte store.
macro_rules! each {
    ($name:ident, $instruction:literal) => {
        /// # Safety
        /// the promise of `Kernel`, for long doubles.
        pub unsafe fn $name(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
            for i in 0..n {
                // SAFETY: `i < n`; ten bytes of each are read, ten of `out` written.
                unsafe {
                    x87!(
                        "fld tbyte ptr [{a}]",
                        "fld tbyte ptr [{b}]",
                        $instruction,
                        "fstp tbyte ptr [{c}]",
                        a = in(reg) a.add(16 * i), b = in(reg) b.add(16 * i), c = in(reg) out.add(16 * i), options(nostack),
                    )
                };
            }
        }
    };
}

each!(sum, "faddp st(1), st");
each!(prod, "fmulp st(1), st");

/// Complex products.
/// # Safety
/// the promise of `Kernel`, for pairs of long doubles.
pub unsafe fn complex_prod(a: *const u8, b: *const u8, out: *mut u8, n: usize) {
    for i in 0..n {
        // SAFETY: `i < n`; ten bytes of each part are read, ten of `out`'s written.
        unsafe {
            x87!(
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b}]",
                "fmulp st(1), st",
                "fld tbyte ptr [{a} + 16]",
                "fld tbyte ptr [{b} + 16]",
                "fmulp st(1), st",
                "fsubp st(1), st",
                "fld tbyte ptr [{a}]",
                "fld tbyte ptr [{b} + 16]",
                "fmulp st(1), st",
                "fld tbyte ptr [{a} + 16]",
                "fld tbyte ptr [{b}]",
                "fmulp st(1), st",
                "faddp st(1), st",
                "fstp tbyte ptr [{c} + 16]",
                "fstp tbyte ptr [{c}]",
                a = in(reg) a.add(32 * i), b = in(reg) b.add(32 * i), c = in(reg) out.add(32 * i), options(nostack),
            )
        };
    }
}

/// `a < b` and `a == b`, both false when either is a NaN.
#[inline(always)]
fn compare(a: F80, b: F80) -> (bool, bool) {
    let (above, equal, ordered): (u8, u8, u8);
    // SAFETY: reads ten bytes of each operand; the register stack as above.
    unsafe {
        x87!(
            "fld tbyte ptr [{a}]",
            "fld tbyte ptr [{b}]",
            "fucomip st, st(1)",
            "fstp st(0)",
            "seta {above}",
            "sete {equal}",
            "setnp {ordered}",
            a = in(reg) a.0.as_ptr(), b = in(reg) b.0.as_ptr(),
            above = out(reg_byte) above, equal = out(reg_byte) equal, ordered = out(reg_byte) ordered,
            options(nostack, readonly),
        )
    };
    (above != 0, equal & ordered != 0)
}

pub fn lt(a: F80, b: F80) -> bool {
    compare(a, b).0
}

pub fn eq(a: F80, b: F80) -> bool {
    compare(a, b).1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(v: f64) -> F80 {
        let mut r = F80([0xcc; 16]);
        // SAFETY: reads eight bytes, writes ten, leaves the register stack empty.
        unsafe {
            asm!("fld qword ptr [{v}]", "fstp tbyte ptr [{r}]", v = in(reg) &v, r = in(reg) r.0.as_mut_ptr(), out("st(0)") _, options(nostack))
        };
        r
    }
    fn back(v: F80) -> f64 {
        let mut r = 0f64;
        // SAFETY: reads ten bytes, writes eight, leaves the register stack empty.
        unsafe {
            asm!("fld tbyte ptr [{v}]", "fstp qword ptr [{r}]", v = in(reg) v.0.as_ptr(), r = in(reg) &mut r, out("st(0)") _, options(nostack))
        };
        r
    }

    fn with(f: super::super::kernel::Kernel, a: F80, mut b: F80) -> F80 {
        // SAFETY: one element on either side.
        unsafe { f(a.0.as_ptr(), b.0.as_ptr(), b.0.as_mut_ptr(), 1) };
        b
    }

    #[test]
    fn computes() {
        for (a, b) in [(1.5, 2.25), (-3.0, 1e300), (0.0, -0.0), (1e-300, 1e300), (f64::INFINITY, 1.0), (f64::NAN, 1.0)]
        {
            let same = |x: f64, y: f64| x == y || x.is_nan() && y.is_nan();
            assert!(same(back(with(sum, of(a), of(b))), a + b));
            assert!(same(back(with(prod, of(a), of(b))), a * b));
            assert_eq!((lt(of(a), of(b)), eq(of(a), of(b))), (a < b, a == b));
            assert_eq!(lt(of(b), of(a)), b < a);
        }
        // More than a double holds.
        let tiny = of(2f64.powi(-60));
        assert_eq!(back(with(sum, with(sum, of(1.0), tiny), of(-1.0))), 2f64.powi(-60));
        assert_eq!(with(sum, of(1.0), of(1.0)).0[10..], [0xcc; 6]);
    }
}
