//! Clocks: CLOCK_MONOTONIC through the vDSO, and the time stamp counter as a cheap hint.

/// Seconds since an arbitrary but fixed point; the same on every process of this node.
#[inline]
pub fn seconds() -> f64 {
    nanos() as f64 * 1e-9
}

/// Nanoseconds of CLOCK_MONOTONIC.
#[inline]
pub fn nanos() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid out pointer and CLOCK_MONOTONIC exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// Resolution of [`seconds`].
pub fn resolution() -> f64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a valid out pointer.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut t) };
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}
