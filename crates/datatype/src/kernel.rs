//! Inner loops of pack and unpack: blocks at a stride on either side, blocks at listed displacements, blocks of any lengths.
//!
//! No alignment is assumed, and no byte outside a block is written or looked at. Loops are compiled for several instruction
//! sets ([`Level`]) from one body. One of this crate's homes of `unsafe`; callers promise that every block named is valid on
//! both sides and that the packed side does not overlap the user's memory.
use crate::level::Level;
use crate::node::Block;

/// Which way the bytes go. `user` is a position in the type map, `packed` one in the stream.
pub(crate) trait Way {
    const PACKS: bool;
}
pub(crate) struct Pack;
pub(crate) struct Unpack;
impl Way for Pack {
    const PACKS: bool = true;
}
impl Way for Unpack {
    const PACKS: bool = false;
}

/// Values of `Level` as constants of a loop's body.
const BASE: u8 = 0;
const AVX2: u8 = 1;
const AVX512: u8 = 2;

/// Defines a function that runs `$body::<W, LEVEL>` with the best instructions there are, where they make a difference.
macro_rules! by_level {
    ($(#[$doc:meta])* $name:ident = $body:ident($($arg:ident: $type:ty),*) if $wide:expr) => {
        $(#[$doc])*
        pub(crate) unsafe fn $name<W: Way>($($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            if $wide {
                #[target_feature(enable = "avx2")]
                unsafe fn avx2<W: Way>($($arg: $type),*) {
                    // SAFETY: the caller's promise.
                    unsafe { $body::<W, AVX2>($($arg),*) }
                }
                #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
                unsafe fn avx512<W: Way>($($arg: $type),*) {
                    // SAFETY: the caller's promise.
                    unsafe { $body::<W, AVX512>($($arg),*) }
                }
                match Level::best() {
                    Level::Base => {}
                    // SAFETY: the processor has these instructions; the rest is the caller's promise.
                    Level::Avx2 => return unsafe { avx2::<W>($($arg),*) },
                    // SAFETY: as above.
                    Level::Avx512 => return unsafe { avx512::<W>($($arg),*) },
                }
            }
            // SAFETY: the caller's promise.
            unsafe { $body::<W, BASE>($($arg),*) }
        }
    };
}

by_level! {
    /// `n` blocks of `len` bytes at these strides.
    /// # Safety
    /// `len` bytes are valid on both sides for each block, and do not overlap.
    strided = strides(user: *mut u8, ustride: isize, packed: *mut u8, pstride: isize, len: usize, n: usize) if len > 16
}
by_level! {
    /// Blocks of `len` bytes at `user + offs[i]`, packed one after the other.
    /// # Safety
    /// as `strided`.
    listed = places(user: *mut u8, offs: &[isize], packed: *mut u8, len: usize) if len > 16
}
by_level! {
    /// Blocks at `user + blocks[i].off`, packed one after the other; each ends where the next one starts in the stream, the last
    /// one at `end`.
    /// # Safety
    /// as `strided`.
    ragged = pieces(user: *mut u8, blocks: &[Block], end: u64, packed: *mut u8) if true
}

/// One block.
/// # Safety
/// `len` bytes are valid at both places, which do not overlap.
#[inline(always)]
pub(crate) unsafe fn bytes<W: Way>(user: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { any::<W, BASE>(user, packed, len) }
}

/// A block whose length the compiler knows: a load and a store for the common sizes.
/// # Safety
/// `N` bytes are valid at both places, which do not overlap.
#[inline(always)]
unsafe fn block<W: Way, const N: usize>(user: *mut u8, packed: *mut u8) {
    let (from, to) = if W::PACKS { (user, packed) } else { (packed, user) };
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(from, to, N) }
}

/// A block of `N` to `2 N` bytes: all of both ends is loaded before any of it is stored.
/// # Safety
/// as `bytes`, and `N <= len <= 2 N`.
#[inline(always)]
unsafe fn ends<W: Way, const N: usize>(user: *mut u8, packed: *mut u8, len: usize) {
    let (from, to) = if W::PACKS { (user, packed) } else { (packed, user) };
    // SAFETY: both ends lie inside the block; where they overlap, equal bytes are written twice.
    unsafe {
        let (a, b) = (from.cast::<[u8; N]>().read(), from.add(len - N).cast::<[u8; N]>().read());
        to.cast::<[u8; N]>().write(a);
        to.add(len - N).cast::<[u8; N]>().write(b);
    }
}

/// The longest block that is copied in place, without a call.
const INLINE: usize = 512;

/// A block of any length.
/// # Safety
/// as `bytes`.
#[inline(always)]
unsafe fn any<W: Way, const LEVEL: u8>(user: *mut u8, packed: *mut u8, len: usize) {
    // SAFETY: the caller's promise; each arm has lengths that its copies take.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if LEVEL == AVX512 && len <= 64 {
            return masked::<W>(user, packed, len);
        }
        match len {
            0 => {}
            1 => block::<W, 1>(user, packed),
            2..=3 => ends::<W, 2>(user, packed, len),
            4..=7 => ends::<W, 4>(user, packed, len),
            8..=16 => ends::<W, 8>(user, packed, len),
            17..=32 => ends::<W, 16>(user, packed, len),
            33..=64 => ends::<W, 32>(user, packed, len),
            65..=INLINE if LEVEL != BASE => {
                let mut i = 0;
                while i + 64 < len {
                    block::<W, 64>(user.add(i), packed.add(i));
                    i += 64;
                }
                block::<W, 64>(user.add(len - 64), packed.add(len - 64));
            }
            _ => {
                let (from, to) = if W::PACKS { (user, packed) } else { (packed, user) };
                std::ptr::copy_nonoverlapping(from, to, len);
            }
        }
    }
}

/// A block of up to 64 bytes, whatever its length, without a branch.
/// # Safety
/// as `bytes`, and `len <= 64`; the processor has AVX-512 BW.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn masked<W: Way>(user: *mut u8, packed: *mut u8, len: usize) {
    use std::arch::x86_64::{_mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8};
    let mask = if len == 0 { 0 } else { u64::MAX >> (64 - len) };
    let (from, to) = if W::PACKS { (user, packed) } else { (packed, user) };
    // SAFETY: only the bytes of the mask are accessed, which the caller promises.
    unsafe { _mm512_mask_storeu_epi8(to.cast(), mask, _mm512_maskz_loadu_epi8(mask, from.cast())) }
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

const UNROLL: usize = 4;

/// Multiples of a stride, up to the unrolling; those of a stride the compiler knows are left alone.
#[inline(always)]
fn multiples<const KNOWN: bool>(stride: isize) -> [isize; UNROLL + 1] {
    std::array::from_fn(|i| {
        let v = stride.wrapping_mul(i as isize);
        if KNOWN || i == 0 { v } else { opaque(v) }
    })
}

/// Blocks of `N` bytes, or with `MORE` of `len` bytes in two copies of `N`.
/// # Safety
/// as `strided`, and `N <= len <= 2 N`.
#[inline(always)]
unsafe fn fixed<W: Way, const N: usize, const MORE: bool, const DENSE: bool>(
    (mut user, us): (*mut u8, isize),
    (mut packed, ps): (*mut u8, isize),
    len: usize,
    n: usize,
) {
    // SAFETY: the caller's promise, for the places of blocks.
    let one = |user: *mut u8, packed: *mut u8| unsafe {
        block::<W, N>(user, packed);
        if MORE {
            block::<W, N>(user.wrapping_add(len - N), packed.wrapping_add(len - N));
        }
    };
    if n >= UNROLL {
        let (u, p) = (multiples::<false>(us), multiples::<DENSE>(ps));
        for _ in 0..n / UNROLL {
            for i in 0..UNROLL {
                one(user.wrapping_offset(u[i]), packed.wrapping_offset(p[i]));
            }
            user = user.wrapping_offset(u[UNROLL]);
            packed = packed.wrapping_offset(p[UNROLL]);
        }
    }
    for _ in 0..n % UNROLL {
        one(user, packed);
        user = user.wrapping_offset(us);
        packed = packed.wrapping_offset(ps);
    }
}

/// # Safety
/// that of `strided`.
#[inline(always)]
unsafe fn strides<W: Way, const LEVEL: u8>(user: *mut u8, us: isize, packed: *mut u8, ps: isize, len: usize, n: usize) {
    macro_rules! by_length {
        ($($len:literal)*; $($half:literal to $most:literal)*) => {
            match len {
                $(
                    // The stream's stride is mostly the block length: known, the loop has one pointer less to advance.
                    // SAFETY: the caller's promise, with the block length spelled out.
                    $len if ps == $len => unsafe { fixed::<W, $len, false, true>((user, us), (packed, $len), $len, n) },
                    // SAFETY: as above.
                    $len => unsafe { fixed::<W, $len, false, false>((user, us), (packed, ps), $len, n) },
                )*
                $(
                    // SAFETY: the caller's promise; the length lies between `$half` and twice that.
                    $half..=$most => unsafe {
                        fixed::<W, $half, true, false>((user, us), (packed, ps), len, n)
                    },
                )*
                _ => {
                    let (mut user, mut packed) = (user, packed);
                    for _ in 0..n {
                        // SAFETY: the caller's promise.
                        unsafe { any::<W, LEVEL>(user, packed, len) };
                        user = user.wrapping_offset(us);
                        packed = packed.wrapping_offset(ps);
                    }
                }
            }
        };
    }
    by_length!(1 2 4 8 12 16 24 32 40 48 64; 2 to 3 4 to 7 8 to 15 16 to 31 32 to 63)
}

/// # Safety
/// that of `listed`.
#[inline(always)]
unsafe fn places<W: Way, const LEVEL: u8>(user: *mut u8, offs: &[isize], packed: *mut u8, len: usize) {
    macro_rules! by_length {
        ($($len:literal)*; $($half:literal to $most:literal)*) => {
            match len {
                $($len => for (i, o) in offs.iter().enumerate() {
                    // SAFETY: the caller's promise, with the block length spelled out.
                    unsafe { block::<W, $len>(user.wrapping_offset(*o), packed.wrapping_add($len * i)) };
                },)*
                $($half..=$most => for (i, o) in offs.iter().enumerate() {
                    // SAFETY: the caller's promise; the length lies between `$half` and twice that.
                    unsafe { ends::<W, $half>(user.wrapping_offset(*o), packed.wrapping_add(len * i), len) };
                },)*
                _ => for (i, o) in offs.iter().enumerate() {
                    // SAFETY: the caller's promise.
                    unsafe { any::<W, LEVEL>(user.wrapping_offset(*o), packed.wrapping_add(len * i), len) };
                },
            }
        };
    }
    by_length!(1 2 4 8 12 16 24 32 40 48 64; 2 to 3 4 to 7 8 to 15 16 to 31 32 to 63)
}

/// # Safety
/// that of `ragged`.
#[inline(always)]
unsafe fn pieces<W: Way, const LEVEL: u8>(user: *mut u8, blocks: &[Block], end: u64, packed: *mut u8) {
    let Some(first) = blocks.first() else { return };
    let base = packed.wrapping_sub(first.start as usize);
    for (i, b) in blocks.iter().enumerate() {
        let next = blocks.get(i + 1).map_or(end, |b| b.start);
        // SAFETY: the caller's promise.
        unsafe {
            any::<W, LEVEL>(user.wrapping_offset(b.off), base.wrapping_add(b.start as usize), (next - b.start) as usize)
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `body` at every level that this processor has.
    fn everywhere(body: impl Fn(Level)) {
        Level::available().into_iter().for_each(body);
    }

    #[test]
    fn every_length_at_every_level() {
        const N: usize = 9;
        for len in (0..200).chain([511, 512, 513, 700]) {
            let step = len + 5;
            let user: Vec<u8> = (0..N * step).map(|i| (i * 31 % 251) as u8).collect();
            let offs: Vec<isize> = (0..N).map(|i| ((N - 1 - i) * step + 2) as isize).collect();
            let want: Vec<u8> = offs.iter().flat_map(|o| user[*o as usize..][..len].to_vec()).collect();
            let mut holes = vec![7u8; user.len()];
            for o in &offs {
                holes[*o as usize..][..len].copy_from_slice(&user[*o as usize..][..len]);
            }
            let blocks: Vec<Block> =
                offs.iter().enumerate().map(|(i, o)| Block { off: *o, start: (3 + i * len) as u64 }).collect();
            let end = (3 + N * len) as u64;
            everywhere(|level| {
                let mut out = vec![9u8; N * len + 2];
                let mut back = vec![7u8; user.len()];
                for form in 0..3 {
                    let (u, p) = (user.as_ptr().cast_mut(), out[1..].as_mut_ptr());
                    let last = (offs[0], -(step as isize));
                    macro_rules! run {
                        ($way:ty, $level:expr, $u:expr, $p:expr) => {
                            // SAFETY: the blocks lie in the vectors; the level is there.
                            unsafe {
                                match form {
                                    0 => strides::<$way, $level>(
                                        $u.wrapping_offset(last.0),
                                        last.1,
                                        $p,
                                        len as isize,
                                        len,
                                        N,
                                    ),
                                    1 => places::<$way, $level>($u, &offs, $p, len),
                                    _ => pieces::<$way, $level>($u, &blocks, end, $p),
                                }
                            }
                        };
                    }
                    match level {
                        Level::Base => run!(Pack, BASE, u, p),
                        #[cfg(target_arch = "x86_64")]
                        Level::Avx2 => run!(Pack, AVX2, u, p),
                        #[cfg(target_arch = "x86_64")]
                        Level::Avx512 => run!(Pack, AVX512, u, p),
                    }
                    assert!(
                        out[1..=N * len] == want[..] && out[0] == 9 && out[N * len + 1] == 9,
                        "{len} {level:?} {form}"
                    );
                    let (u, p) = (back.as_mut_ptr(), out[1..].as_mut_ptr());
                    match level {
                        Level::Base => run!(Unpack, BASE, u, p),
                        #[cfg(target_arch = "x86_64")]
                        Level::Avx2 => run!(Unpack, AVX2, u, p),
                        #[cfg(target_arch = "x86_64")]
                        Level::Avx512 => run!(Unpack, AVX512, u, p),
                    }
                    assert!(back == holes, "{len} {level:?} {form}");
                    out.fill(9);
                    back.fill(7);
                }
            });
        }
    }
}
