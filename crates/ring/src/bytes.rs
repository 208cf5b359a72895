//! Copies into and out of shared lines.
use crate::hint;
use crate::sync::LINE;

/// Above this the library's memcpy is as good.
const SMALL: usize = 256;
/// What is fetched for writing ahead of the copy.
const AHEAD: usize = 1024;
const BLOCK: usize = 512;
/// Up to here lines are handed to the shared cache when they are written; for more that costs the writer more than the reader gains.
const PASSED_ON: usize = 1024;

/// Copies `n` bytes; up to 256 without a call.
///
/// # Safety
/// as `copy_nonoverlapping`; overlapping buffers (which the standard forbids) give unspecified bytes, nothing worse.
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: the caller's promise; the two ends of a range may overlap each other inside it.
    unsafe {
        if n == 8 {
            return ends::<u64>(from, to, 8);
        }
        if n > SMALL {
            return std::ptr::copy(from, to, n);
        }
        small(from, to, n)
    }
}

/// Fills lines that a peer has read last: they are asked for all at once, ahead of the copy.
///
/// # Safety
/// as [`copy`]; `to` begins at a line.
#[inline]
pub unsafe fn into_lines(from: *const u8, to: *mut u8, n: usize) {
    hint::will_write(to, n.min(AHEAD));
    let mut at = 0;
    // SAFETY: each part lies inside the caller's `n` bytes.
    unsafe {
        if n <= PASSED_ON {
            while n - at > LINE {
                ends::<u128>(from.add(at), to.add(at), 32);
                ends::<u128>(from.add(at + 32), to.add(at + 32), 32);
                hint::pass_on(to.add(at));
                at += LINE;
            }
            copy(from.add(at), to.add(at), n - at);
            hint::pass_on(to.add(at));
            return;
        }
        while n - at > BLOCK {
            let ahead = at + AHEAD;
            if ahead < n {
                hint::will_write(to.add(ahead), BLOCK.min(n - ahead));
            }
            std::ptr::copy_nonoverlapping(from.add(at), to.add(at), BLOCK);
            at += BLOCK;
        }
        copy(from.add(at), to.add(at), n - at)
    }
}

/// The first and the last word of a range of one to two words.
#[inline(always)]
unsafe fn ends<T: Copy>(from: *const u8, to: *mut u8, n: usize) {
    let w = size_of::<T>();
    // SAFETY: `w <= n`.
    unsafe {
        let first = (from as *const T).read_unaligned();
        let last = (from.add(n - w) as *const T).read_unaligned();
        (to as *mut T).write_unaligned(first);
        (to.add(n - w) as *mut T).write_unaligned(last);
    }
}

#[inline]
unsafe fn small(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: every branch stays inside `n` bytes.
    unsafe {
        match n {
            0 => {}
            1 => *to = *from,
            2..=3 => ends::<u16>(from, to, n),
            4..=7 => ends::<u32>(from, to, n),
            8..=15 => ends::<u64>(from, to, n),
            16..=32 => ends::<u128>(from, to, n),
            _ => {
                let mut at = 0;
                while at + 32 < n {
                    ends::<u128>(from.add(at), to.add(at), 32);
                    at += 32;
                }
                ends::<u128>(from.add(n - 32), to.add(n - 32), 32)
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_length_lands_and_nothing_else() {
        let from: Vec<u8> = (0..5000u32).map(|i| (i * 7 + 1) as u8).collect();
        for n in (0..700).chain([1023, 1024, 1025, 1536, 1537, 2048, 4095, 4096, 4999]) {
            for into in [copy, into_lines] {
                let mut to = vec![0xeeu8; n + 16];
                // SAFETY: both hold `n` bytes.
                unsafe { into(from.as_ptr(), to.as_mut_ptr(), n) };
                assert_eq!((&to[..n], &to[n..]), (&from[..n], &[0xee; 16][..]));
            }
        }
    }
}
