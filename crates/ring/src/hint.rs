//! Hints about who needs a cache line next. They change nothing but time; where the processor has no such instruction they do
//! nothing.
use crate::sync::LINE;

/// We shall write these bytes: their lines are fetched for writing, all at once instead of one store after the other.
#[inline(always)]
pub fn will_write(p: *const u8, len: usize) {
    each(p, len, |line| {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        // SAFETY: a prefetch never faults; it is a no-operation where it is not implemented.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly))
        };
        #[cfg(not(all(target_arch = "x86_64", not(loom))))]
        let _ = line;
    });
}

/// We shall read these bytes.
#[inline(always)]
pub fn will_read(p: *const u8, len: usize) {
    each(p, len, |line| {
        #[cfg(all(target_arch = "x86_64", not(loom)))]
        // SAFETY: as in `will_write`.
        unsafe {
            std::arch::asm!("prefetcht0 [{}]", in(reg) line, options(nostack, preserves_flags, readonly))
        };
        #[cfg(not(all(target_arch = "x86_64", not(loom))))]
        let _ = line;
    });
}

/// Another core reads this line next: it may leave our own caches for the shared one.
#[inline(always)]
pub fn pass_on<T>(line: *const T) {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: a hint (cldemote) that never faults and is a no-operation where it is not implemented.
    unsafe {
        std::arch::asm!("cldemote [{}]", in(reg) line, options(nostack, preserves_flags))
    };
    #[cfg(not(all(target_arch = "x86_64", not(loom))))]
    let _ = line;
}

#[inline(always)]
fn each(p: *const u8, len: usize, hint: impl Fn(*const u8)) {
    let mut at = 0;
    while at < len {
        hint(p.wrapping_add(at));
        at += LINE;
    }
}
