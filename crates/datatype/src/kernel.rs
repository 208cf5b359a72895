//! Inner loops of pack and unpack: blocks at a stride on either side, blocks at listed displacements, odd short blocks.
//!
//! No alignment is assumed. One of this crate's homes of `unsafe`; callers promise that every block named is valid on both
//! sides and that the packed side does not overlap the user's memory.

/// Which way the bytes go. `user` is a position in the type map, `packed` one in the stream.
pub(crate) trait Way {
    /// # Safety
    /// `len` bytes are valid at both places, which do not overlap.
    unsafe fn bytes(user: *mut u8, packed: *mut u8, len: usize);
    /// `n` blocks of `len` bytes at these strides.
    /// # Safety
    /// as `bytes`, for each block.
    unsafe fn strided(user: *mut u8, ustride: isize, packed: *mut u8, pstride: isize, len: usize, n: usize);
    /// Blocks of `len` bytes at `user + offs[i]`, packed one after the other.
    /// # Safety
    /// as `bytes`, for each block.
    unsafe fn listed(user: *mut u8, offs: &[isize], packed: *mut u8, len: usize);
}

pub(crate) struct Pack;
pub(crate) struct Unpack;

/// Copies a block whose length the compiler knows: a load and a store for the common sizes.
/// # Safety
/// `N` bytes are valid at both places, which do not overlap.
#[inline(always)]
unsafe fn block<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, N) }
}

/// `v`, of which the optimiser no longer knows where it comes from. Multiples of a stride hidden this way stay in registers of
/// their own; otherwise the addresses in the loop below become one chain of additions, a cycle each.
#[inline(always)]
fn opaque(mut v: isize) -> isize {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: no instruction.
    unsafe {
        std::arch::asm!("/* {0} */", inout(reg) v, options(pure, nomem, nostack, preserves_flags))
    };
    v
}

/// Multiples of a stride, up to the unrolling; those of a stride the compiler knows are left alone.
#[inline(always)]
fn multiples<const KNOWN: bool>(stride: isize) -> [isize; UNROLL + 1] {
    std::array::from_fn(|i| {
        let v = stride.wrapping_mul(i as isize);
        if KNOWN || i == 0 { v } else { opaque(v) }
    })
}

const UNROLL: usize = 4;

/// # Safety
/// as `block`, for each of `n`.
#[inline(always)]
unsafe fn fixed<const N: usize, const FROM_KNOWN: bool, const TO_KNOWN: bool>(
    mut from: *const u8,
    fs: isize,
    mut to: *mut u8,
    ts: isize,
    n: usize,
) {
    if n >= UNROLL {
        let (f, t) = (multiples::<FROM_KNOWN>(fs), multiples::<TO_KNOWN>(ts));
        for _ in 0..n / UNROLL {
            for i in 0..UNROLL {
                // SAFETY: the caller's promise; the pointers are only dereferenced at blocks.
                unsafe { block::<N>(from.wrapping_offset(f[i]), to.wrapping_offset(t[i])) };
            }
            from = from.wrapping_offset(f[UNROLL]);
            to = to.wrapping_offset(t[UNROLL]);
        }
    }
    for _ in 0..n % UNROLL {
        // SAFETY: as above.
        unsafe { block::<N>(from, to) };
        from = from.wrapping_offset(fs);
        to = to.wrapping_offset(ts);
    }
}

/// Blocks of `len` bytes from a stride to a stride.
/// # Safety
/// as `block`, for each of `n`.
unsafe fn strides(from: *const u8, fs: isize, to: *mut u8, ts: isize, len: usize, n: usize) {
    macro_rules! by_length {
        ($($len:literal)*) => {
            match len {
                // The stream's stride is mostly the block length: known, the loop has one pointer less to advance.
                // SAFETY: the caller's promise, with the block length spelled out.
                $($len if ts == $len => unsafe { fixed::<$len, false, true>(from, fs, to, $len, n) },
                // SAFETY: the caller's promise, with the length a constant.
                $len if fs == $len => unsafe { fixed::<$len, true, false>(from, $len, to, ts, n) },
                // SAFETY: the caller's promise, with the length a constant.
                $len => unsafe { fixed::<$len, false, false>(from, fs, to, ts, n) },)*
                _ => {
                    let (mut from, mut to) = (from, to);
                    for _ in 0..n {
                        // SAFETY: the caller's promise.
                        unsafe { short(from, to, len) };
                        from = from.wrapping_offset(fs);
                        to = to.wrapping_offset(ts);
                    }
                }
            }
        };
    }
    by_length!(1 2 3 4 6 8 12 16 20 24 32 40 48 64)
}

/// A block of any length; short ones without a call.
/// # Safety
/// as `block`.
#[inline(always)]
unsafe fn short(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise; the two halves lie inside the block and may overlap each other, which rewrites equal bytes.
    unsafe {
        match len {
            0 => {}
            1 => block::<1>(from, to),
            2..=3 => {
                let (a, b) = (from.cast::<u16>().read_unaligned(), from.add(len - 2).cast::<u16>().read_unaligned());
                to.cast::<u16>().write_unaligned(a);
                to.add(len - 2).cast::<u16>().write_unaligned(b);
            }
            4..=7 => {
                let (a, b) = (from.cast::<u32>().read_unaligned(), from.add(len - 4).cast::<u32>().read_unaligned());
                to.cast::<u32>().write_unaligned(a);
                to.add(len - 4).cast::<u32>().write_unaligned(b);
            }
            8..=16 => {
                let (a, b) = (from.cast::<u64>().read_unaligned(), from.add(len - 8).cast::<u64>().read_unaligned());
                to.cast::<u64>().write_unaligned(a);
                to.add(len - 8).cast::<u64>().write_unaligned(b);
            }
            17..=32 => {
                let (a, b) = (from.cast::<u128>().read_unaligned(), from.add(len - 16).cast::<u128>().read_unaligned());
                to.cast::<u128>().write_unaligned(a);
                to.add(len - 16).cast::<u128>().write_unaligned(b);
            }
            33..=64 => {
                let (a, b) = (
                    from.cast::<[u128; 2]>().read_unaligned(),
                    from.add(len - 32).cast::<[u128; 2]>().read_unaligned(),
                );
                to.cast::<[u128; 2]>().write_unaligned(a);
                to.add(len - 32).cast::<[u128; 2]>().write_unaligned(b);
            }
            _ => std::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// Calls `$f::<LEN>` for the lengths worth a loop of their own.
macro_rules! listed {
    ($len:expr, $offs:expr, $user:expr, $packed:expr, |$u:ident, $p:ident, $n:ident| $short:expr, $($lit:literal)*) => {{
        let mut $p = $packed;
        match $len {
            $($lit => for o in $offs {
                let ($u, $n) = ($user.wrapping_offset(*o), $lit as usize);
                // SAFETY: the caller's promise, block by block.
                unsafe { $short };
                $p = $p.wrapping_add($lit);
            },)*
            $n => for o in $offs {
                let $u = $user.wrapping_offset(*o);
                // SAFETY: the caller's promise, block by block.
                unsafe { $short };
                $p = $p.wrapping_add($n);
            },
        }
    }};
}

impl Way for Pack {
    #[inline(always)]
    unsafe fn bytes(user: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { short(user, packed, len) }
    }
    unsafe fn strided(user: *mut u8, ustride: isize, packed: *mut u8, pstride: isize, len: usize, n: usize) {
        // SAFETY: the caller's promise.
        unsafe { strides(user, ustride, packed, pstride, len, n) }
    }
    unsafe fn listed(user: *mut u8, offs: &[isize], packed: *mut u8, len: usize) {
        listed!(len, offs, user, packed, |u, p, n| short(u, p, n), 4 8 12 16 24)
    }
}

impl Way for Unpack {
    #[inline(always)]
    unsafe fn bytes(user: *mut u8, packed: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { short(packed, user, len) }
    }
    unsafe fn strided(user: *mut u8, ustride: isize, packed: *mut u8, pstride: isize, len: usize, n: usize) {
        // SAFETY: the caller's promise.
        unsafe { strides(packed, pstride, user, ustride, len, n) }
    }
    unsafe fn listed(user: *mut u8, offs: &[isize], packed: *mut u8, len: usize) {
        listed!(len, offs, user, packed, |u, p, n| short(p, u, n), 4 8 12 16 24)
    }
}
