//! The user's memory of one operation, as a stream of bytes.
use oxmpi_base::args::Buf;
use oxmpi_datatype::{Cursor, Datatype};
use oxmpi_ring::bytes::copy;
use oxmpi_transport_shm::single::Run;

/// `count` elements of a datatype at a buffer. The caller of MPI keeps the memory valid until the operation completes
/// (MPI-5.0 3.7.2); everything unsafe here relies on that.
pub enum Span {
    /// One run of bytes.
    Dense { at: *mut u8, len: usize },
    /// Anything else.
    Shaped(Box<Stream>),
    /// Bytes of our own (buffered sends).
    Owned(Vec<u8>),
}

/// A part of the packed stream of some elements: mostly all of it.
pub struct Stream {
    cursor: Cursor,
    /// Where it begins and how long it is.
    from: u64,
    len: u64,
}

impl Stream {
    fn position(&self) -> u64 {
        self.cursor.position() - self.from
    }
    fn seek(&mut self, at: u64) {
        self.cursor.seek(self.from + at);
    }
}

// SAFETY: the memory behind a span belongs to the operation, which one thread at a time works on under the engine's lock.
unsafe impl Send for Span {}

impl Span {
    #[inline]
    pub fn new(buf: Buf, count: usize, dt: &Datatype) -> Span {
        let run = |offset| Span::Dense { at: buf.as_mut_ptr().wrapping_offset(offset), len: count * dt.size() };
        match dt.dense() {
            Some(offset) => run(offset),
            // A single element without gaps whose extent is not its size: a side of an array.
            None => match dt.dense_for(count) {
                Some(offset) => run(offset),
                None => {
                    let cursor = Cursor::new(dt, buf, count);
                    let len = cursor.total();
                    Span::Shaped(Box::new(Stream { cursor, from: 0, len }))
                }
            },
        }
    }
    pub const fn empty() -> Span {
        Span::Dense { at: std::ptr::null_mut(), len: 0 }
    }
    pub fn bytes(data: &[u8]) -> Span {
        Span::Dense { at: data.as_ptr() as *mut u8, len: data.len() }
    }
    #[inline]
    pub fn len(&self) -> u64 {
        match self {
            Span::Dense { len, .. } => *len as u64,
            Span::Shaped(c) => c.len,
            Span::Owned(v) => v.len() as u64,
        }
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Address of the bytes where they are one run.
    pub fn address(&self) -> Option<*mut u8> {
        match self {
            Span::Dense { at, .. } => Some(*at),
            Span::Shaped(_) => None,
            Span::Owned(v) => Some(v.as_ptr() as *mut u8),
        }
    }

    /// How long the runs of memory are, by a sample from the beginning.
    pub fn mean_run(&mut self) -> u64 {
        let Span::Shaped(c) = self else { return self.len() };
        let mut blocks = 0;
        c.seek(0);
        let bytes = c.cursor.blocks(c.len, |_, _| {
            blocks += 1;
            blocks < 32
        });
        bytes / blocks.max(1)
    }

    /// The runs of memory of `n` bytes from stream position `at`, appended to `runs`.
    pub fn runs(&mut self, at: u64, n: usize, runs: &mut Vec<Run>) {
        debug_assert!(at + n as u64 <= self.len());
        match self {
            Span::Dense { at: base, .. } => runs.push(Run::new(base.wrapping_add(at as usize), n)),
            Span::Owned(v) => runs.push(Run::new(v.as_mut_ptr().wrapping_add(at as usize), n)),
            Span::Shaped(c) => {
                c.seek(at);
                c.cursor.blocks(n as u64, |p, len| {
                    runs.push(Run::new(p, len));
                    true
                });
            }
        }
    }

    /// Copies `n` bytes from stream position `at` to `out`.
    ///
    /// # Safety
    /// `out` is valid for writes of `n` bytes, `at + n <= len()`.
    #[inline]
    pub unsafe fn read(&mut self, at: u64, out: *mut u8, n: usize) {
        debug_assert!(at + n as u64 <= self.len());
        match self {
            // SAFETY: within the user's buffer by the caller's promise.
            Span::Dense { at: base, .. } => unsafe { copy(base.add(at as usize), out, n) },
            Span::Owned(v) => out_of(v, at as usize, out, n),
            Span::Shaped(c) => {
                if c.position() != at {
                    c.seek(at);
                }
                // SAFETY: `out` is valid for `n` bytes; the user's type map is valid while the operation runs.
                let done = unsafe { c.cursor.pack(std::slice::from_raw_parts_mut(out, n)) };
                debug_assert_eq!(done, n);
            }
        }
    }

    /// Copies `n` bytes from `data` to stream position `at`; what lies past the end is dropped (truncation).
    ///
    /// # Safety
    /// `data` is valid for reads of `n` bytes.
    #[inline]
    pub unsafe fn write(&mut self, at: u64, data: *const u8, n: usize) {
        let n = (n as u64).min(self.len().saturating_sub(at)) as usize;
        if n == 0 {
            return;
        }
        match self {
            // SAFETY: clipped to the user's buffer.
            Span::Dense { at: base, .. } => unsafe { copy(data, base.add(at as usize), n) },
            Span::Owned(_) => debug_assert!(false, "owned spans are only sent"),
            Span::Shaped(c) => {
                if c.position() != at {
                    c.seek(at);
                }
                // SAFETY: as above.
                unsafe { c.cursor.unpack(std::slice::from_raw_parts(data, n)) };
            }
        }
    }

    /// As `write` at the beginning; returns the length of this stream. For one run it is a copy and nothing else.
    ///
    /// # Safety
    /// `data` is valid for reads of `n` bytes.
    #[inline(always)]
    pub unsafe fn fill(&mut self, data: *const u8, n: usize) -> u64 {
        if let Span::Dense { at, len } = *self {
            // SAFETY: clipped to the user's buffer.
            unsafe { copy(data, at, n.min(len)) };
            return len as u64;
        }
        // SAFETY: the caller's promise.
        unsafe { self.fill_shaped(data, n) }
    }
    #[inline(never)]
    unsafe fn fill_shaped(&mut self, data: *const u8, n: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.write(0, data, n) };
        self.len()
    }

    /// Copies this whole stream into `to`, up to the shorter one.
    pub fn copy_to(&mut self, to: &mut Span) {
        let n = self.len().min(to.len());
        if let Some(from) = self.address() {
            // SAFETY: both spans are valid for `n` bytes.
            return unsafe { to.write(0, from, n as usize) };
        }
        if let Some(dst) = to.address() {
            // SAFETY: as above.
            return unsafe { self.read(0, dst, n as usize) };
        }
        let mut piece = [0u8; 8192];
        let mut at = 0;
        while at < n {
            let k = (n - at).min(piece.len() as u64) as usize;
            // SAFETY: `piece` holds `k` bytes.
            unsafe {
                self.read(at, piece.as_mut_ptr(), k);
                to.write(at, piece.as_ptr(), k);
            }
            at += k as u64;
        }
    }

    /// `n` bytes of this stream from `at` on, as a span of their own over the same memory.
    pub fn part(&self, at: u64, n: u64) -> Span {
        debug_assert!(at + n <= self.len());
        match self {
            Span::Dense { at: base, .. } => Span::Dense { at: base.wrapping_add(at as usize), len: n as usize },
            Span::Shaped(s) => {
                let (mut cursor, from) = (s.cursor.clone(), s.from + at);
                cursor.seek(from);
                Span::Shaped(Box::new(Stream { cursor, from, len: n }))
            }
            Span::Owned(v) => Span::Owned(v[at as usize..(at + n) as usize].to_vec()),
        }
    }

    /// The whole stream as bytes of our own; None when memory is short.
    pub fn to_owned(&mut self) -> Option<Vec<u8>> {
        let n = usize::try_from(self.len()).ok()?;
        let mut v = Vec::new();
        v.try_reserve_exact(n).ok()?;
        // SAFETY: capacity for `n` bytes, all of which `read` writes before the length is set.
        unsafe {
            self.read(0, v.as_mut_ptr(), n);
            v.set_len(n);
        }
        Some(v)
    }
}

fn out_of(v: &[u8], at: usize, out: *mut u8, n: usize) {
    let part = &v[at..at + n];
    // SAFETY: `out` is valid for `n` bytes by the promise of `Span::read`.
    unsafe { copy(part.as_ptr(), out, n) }
}
