//! Memory as the algorithms see it: typed views of user buffers and temporary buffers.
//!
//! The only module of the crate with `unsafe`, outside of tests. Invariants:
//! * A [`Data`] describes memory that the caller of the collective promised to be valid for its type map
//!   (MPI-5.0 3.2.2, 6.1), or a part of a [`Temp`].
//! * A [`Temp`] holds `count` elements laid out with the type's extent; its [`Temp::buf`] is the origin of
//!   element 0, so lower bounds other than 0 need no care elsewhere. The origin is aligned to 64 bytes: a
//!   user's reduction function may load its elements as any C type.
//! * The contents of a `Temp` are unspecified until something was received or copied into it.
use crate::link::{self, Datatype};
use crate::steps::Room;
use oxmpi_base::{Error, Result, args::Buf, consts::*};
use std::alloc::Layout;
use std::mem::MaybeUninit;

/// `count` elements of `dt` at `buf`.
#[derive(Clone, Copy)]
pub struct Data<'a> {
    pub buf: Buf,
    pub count: usize,
    pub dt: &'a Datatype,
}

impl<'a> Data<'a> {
    pub fn new(buf: Buf, count: usize, dt: &'a Datatype) -> Data<'a> {
        Data { buf, count, dt }
    }
    /// Bytes of packed data.
    pub fn bytes(&self) -> usize {
        self.count.saturating_mul(self.dt.size())
    }
    /// `count` elements that begin `first` elements after the origin; `first` may be a displacement of
    /// either sign.
    pub fn at(&self, first: isize, count: usize) -> Data<'a> {
        Data { buf: self.buf.offset(first.wrapping_mul(self.dt.extent())), count, dt: self.dt }
    }
    /// This is block 0 of an array of equal blocks: `n` of them from block `first` on.
    pub fn blocks(&self, first: usize, n: usize) -> Data<'a> {
        self.at((first * self.count) as isize, n * self.count)
    }
    /// Elements `range` of this buffer.
    pub fn part(&self, range: std::ops::Range<usize>) -> Data<'a> {
        self.at(range.start as isize, range.len())
    }
    /// The same memory as plain bytes, where the elements are one gap-free run.
    pub fn dense_bytes(&self) -> Option<Data<'static>> {
        self.dt.dense().map(|offset| bytes(self.buf.offset(offset), self.bytes()))
    }
}

/// `n` plain bytes at `buf`.
pub fn bytes(buf: Buf, n: usize) -> Data<'static> {
    Data { buf, count: n, dt: byte() }
}

/// MPI_BYTE.
pub fn byte() -> &'static Datatype {
    Datatype::predefined(MPI_BYTE).expect("MPI_BYTE is a predefined datatype")
}

/// A buffer argument that holds nothing.
pub fn nothing() -> Data<'static> {
    bytes(Buf(std::ptr::null_mut()), 0)
}

/// Copies the elements of `src` over those of `dst`: equal type signatures, disjoint memory.
pub fn copy(src: Data, dst: Data) {
    if src.count == 0 || dst.count == 0 {
        return;
    }
    // SAFETY: both are valid for their type maps (see `Data`); user buffers of one collective must not
    // overlap (MPI-5.0 6.1 with 2.3), and temporaries overlap nothing.
    unsafe { link::copy(src.buf, src.count, src.dt, dst.buf, dst.count, dst.dt) };
}

/// Room that needs no allocation, for the small messages that dominate.
const INLINE: usize = 384;
const ALIGN: usize = 64;

#[repr(align(64))]
struct Aligned(#[allow(dead_code)] [u8; INLINE]);

/// Temporary memory for elements of one type. Do not move it after [`Temp::buf`]: small ones live inline.
pub struct Temp {
    heap: Vec<u8>,
    inline: MaybeUninit<Aligned>,
    /// Bytes from the (aligned) beginning of the memory to the origin of element 0; negative where the type lies above its origin.
    origin: isize,
}

impl Temp {
    /// Room for `count` elements of `dt`.
    pub fn typed(dt: &Datatype, count: usize) -> Result<Temp> {
        if count == 0 {
            return Temp::place(0, 0);
        }
        let (low, high) = reach(dt, count)?;
        Temp::place(low, high)
    }
    /// Room for `n` bytes.
    pub fn bytes(n: usize) -> Result<Temp> {
        match isize::try_from(n) {
            Ok(high) => Temp::place(0, high),
            Err(_) => Err(no_memory(n, "bytes")),
        }
    }
    /// Room for offsets `low..high` around an aligned origin.
    fn place(low: isize, high: isize) -> Result<Temp> {
        // Only what the elements cover is reserved: absolute addresses are large displacements from MPI_BOTTOM.
        let first = low.div_euclid(ALIGN as isize) * ALIGN as isize;
        let room = high.saturating_sub(first).max(0) as usize;
        let mut heap = Vec::new();
        if room > INLINE {
            let n = room.saturating_add(ALIGN);
            heap.try_reserve_exact(n).map_err(|_| no_memory(n, "bytes"))?;
        }
        Ok(Temp { heap, inline: MaybeUninit::uninit(), origin: -first })
    }
    /// The origin of element 0.
    pub fn buf(&mut self) -> Buf {
        let start = if self.heap.capacity() == 0 {
            self.inline.as_mut_ptr() as *mut u8
        } else {
            let p = self.heap.as_mut_ptr();
            p.wrapping_add(p.align_offset(ALIGN))
        };
        Buf(start.wrapping_offset(self.origin).cast())
    }
}

/// The bytes that `count` elements cover, as offsets from the origin of the first.
#[inline]
pub fn reach(dt: &Datatype, count: usize) -> Result<(isize, isize)> {
    if count == 0 {
        return Ok((0, 0));
    }
    let reach = isize::try_from(count - 1).ok().and_then(|n| n.checked_mul(dt.extent()));
    let span = reach.and_then(|r| {
        let low = dt.true_lb().checked_add(r.min(0))?;
        let high = dt.true_lb().checked_add(dt.true_extent())?.checked_add(r.max(0))?;
        Some((low, high))
    });
    span.ok_or_else(|| no_memory(count, "elements"))
}

/// Zeroed memory that stays where it is, for offsets around an origin that is aligned to 64 bytes.
pub struct Block {
    start: *mut u8,
    layout: Layout,
    /// Bytes from the beginning to the origin; negative where the elements lie above it.
    origin: isize,
}

impl Block {
    /// For offsets `low..high`.
    pub fn new(low: isize, high: isize) -> Result<Block> {
        let first = low.div_euclid(ALIGN as isize) * ALIGN as isize;
        let room = high.saturating_sub(first).max(1) as usize;
        let layout = Layout::from_size_align(room, ALIGN).map_err(|_| no_memory(room, "bytes"))?;
        // SAFETY: the size is not zero.
        let start = unsafe { std::alloc::alloc_zeroed(layout) };
        if start.is_null() {
            return Err(no_memory(room, "bytes"));
        }
        Ok(Block { start, layout, origin: -first })
    }
    /// Moves the origin so that offsets `low..high` lie inside, if there is so much room.
    pub fn fit(&mut self, low: isize, high: isize) -> bool {
        let first = low.div_euclid(ALIGN as isize) * ALIGN as isize;
        let fits = high.saturating_sub(first).max(0) as usize <= self.layout.size();
        if fits {
            self.origin = -first;
        }
        fits
    }
    pub fn origin(&self) -> Buf {
        Buf(self.start.wrapping_offset(self.origin).cast())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: from `alloc_zeroed` with this layout.
        unsafe { std::alloc::dealloc(self.start, self.layout) };
    }
}

/// Brings `len` bytes from position `at` of the packed stream of `whole` to `to`.
pub fn pack(whole: Data, at: usize, to: Buf, len: usize) {
    let mut c = link::Cursor::new(whole.dt, whole.buf, whole.count);
    c.seek(at as u64);
    // SAFETY: `whole` is valid for its type map (see `Data`), and `to` is `len` bytes of a `Block`, which is initialised.
    unsafe { c.pack(std::slice::from_raw_parts_mut(to.as_mut_ptr(), len)) };
}

/// Takes `len` bytes at `from` to position `at` of the packed stream of `whole`.
pub fn unpack(from: Buf, len: usize, whole: Data, at: usize) {
    let mut c = link::Cursor::new(whole.dt, whole.buf, whole.count);
    c.seek(at as u64);
    // SAFETY: as for `pack`.
    unsafe { c.unpack(std::slice::from_raw_parts(from.as_ptr(), len)) };
}

#[cold]
fn no_memory(n: usize, unit: &str) -> Error {
    Error::new(
        MPI_ERR_NO_MEM,
        format!(
            "no memory for a temporary buffer of {n} {unit} in a collective operation; use fewer elements in one call"
        ),
    )
}

/// A message read or written as its packed stream, a segment at a time: in place where the layout is
/// gap-free, through a staging buffer of a few segments otherwise.
pub struct Segments<R = Temp> {
    cursor: link::Cursor,
    dense: Option<Buf>,
    staging: R,
    segment: usize,
    slots: usize,
    total: usize,
}

impl Segments {
    /// `slots` segments may be in flight at once.
    pub fn new(data: Data, segment: usize, slots: usize) -> Result<Segments> {
        let room = Segments::<Temp>::room(data, segment, slots);
        Ok(Segments::over(data, segment, slots, Temp::bytes(room)?))
    }
    /// Brings segment `i` from the user's memory; in ascending order.
    pub fn load(&mut self, i: usize) {
        self.stream(i, |cursor, stage| {
            // SAFETY: the buffer given to `new` is valid for its type map.
            unsafe { cursor.pack(stage) }
        });
    }
    /// Takes segment `i` to the user's memory; in ascending order.
    pub fn store(&mut self, i: usize) {
        self.stream(i, |cursor, stage| {
            // SAFETY: the buffer given to `new` is valid for its type map.
            unsafe { cursor.unpack(stage) }
        });
    }
    fn stream(&mut self, i: usize, step: impl Fn(&mut link::Cursor, &mut [u8]) -> usize) {
        if self.dense.is_some() {
            return;
        }
        let view = self.view(i);
        self.cursor.seek((i * self.segment) as u64);
        // SAFETY: a slot of the staging area, initialised by `over`; no message into it is in flight.
        let stage = unsafe { std::slice::from_raw_parts_mut(view.buf.as_mut_ptr(), view.count) };
        step(&mut self.cursor, stage);
    }
}

impl<R: Room> Segments<R> {
    /// How much staging memory [`Segments::over`] needs.
    pub fn room(data: Data, segment: usize, slots: usize) -> usize {
        if data.dt.dense().is_some() { 0 } else { segment * slots }
    }
    /// With staging memory of the caller's.
    pub fn over(data: Data, segment: usize, slots: usize, mut staging: R) -> Segments<R> {
        let dense = data.dense_bytes().map(|d| d.buf);
        if dense.is_none() {
            // SAFETY: the room is so large, owned, and used by nobody else yet.
            unsafe { staging.buf().as_mut_ptr().write_bytes(0, segment * slots) };
        }
        let cursor = link::Cursor::new(data.dt, data.buf, data.count);
        Segments { cursor, dense, staging, segment, slots, total: data.bytes() }
    }
    /// Where the packed stream has segment `i`, if it has to be packed.
    pub fn staged(&self, i: usize) -> Option<usize> {
        self.dense.is_none().then_some(i * self.segment)
    }
    pub fn number(&self) -> usize {
        self.total.div_ceil(self.segment)
    }
    /// Where segment `i` is sent from or received into.
    pub fn view(&mut self, i: usize) -> Data<'static> {
        let len = self.segment.min(self.total - i * self.segment);
        match self.dense {
            Some(base) => bytes(base.offset((i * self.segment) as isize), len),
            None => bytes(self.staging.buf().offset(((i % self.slots) * self.segment) as isize), len),
        }
    }
}
