//! One facade for std's and loom's atomics, and the memory of one ring line.
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Bytes of one line: a cache line.
pub const LINE: usize = 64;
/// Bytes of a line after its header word.
pub const REST: usize = LINE - 8;

/// One cache line of a ring: a header word (flag and length in one), then bytes.
#[cfg(not(loom))]
#[repr(C, align(64))]
pub struct Line {
    pub(crate) header: AtomicU64,
    rest: std::cell::UnsafeCell<[u8; REST]>,
}

#[cfg(not(loom))]
impl Line {
    /// Address of the bytes.
    #[inline]
    pub(crate) fn payload(&self) -> *mut u8 {
        self.rest.get() as *mut u8
    }
    #[inline]
    pub(crate) fn write(&self, fill: impl FnOnce(*mut u8)) {
        fill(self.payload())
    }
}

/// Under loom the header and the rest are separate objects, each checked for races.
#[cfg(loom)]
pub struct Line {
    pub(crate) header: AtomicU64,
    pub(crate) rest: loom::cell::UnsafeCell<[u8; REST]>,
}

#[cfg(loom)]
impl Line {
    pub fn new() -> Line {
        Line { header: AtomicU64::new(0), rest: loom::cell::UnsafeCell::new([0; REST]) }
    }
    pub(crate) fn write(&self, fill: impl FnOnce(*mut u8)) {
        self.rest.with_mut(|p| fill(p as *mut u8))
    }
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Line>() == LINE);
