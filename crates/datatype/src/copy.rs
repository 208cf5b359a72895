//! Moving data between user memory and the packed stream (MPI-5.0 4.2 and 5.2): the cursor and the typed local copy.
//!
//! A [`Cursor`] is a position, not a stack: each call finds its place in the loop tree again (one division per loop, a binary
//! search per list) and then streams. Seeking is free, and a cursor holds no memory of its own.
//! One of this crate's homes of `unsafe`: user memory is reached only through the pointers computed here.
use crate::Datatype;
use crate::kernel::{self, Pack, Unpack, Way};
use crate::node::{Node, repeat, split};
use oxmpi_base::args::Buf;

/// A position in the packed stream of `count` elements at `base`.
#[derive(Clone, Debug)]
pub struct Cursor {
    root: Node,
    base: Buf,
    total: u64,
    position: u64,
}

// SAFETY: the address in a cursor is used only by its unsafe methods, whose callers answer for it.
unsafe impl Send for Cursor {}

impl Cursor {
    /// A stream of more than 2^63-1 bytes, which `Datatype::pack_size` refuses, is cut there.
    pub fn new(dt: &Datatype, base: Buf, count: usize) -> Cursor {
        let t = &*dt.0;
        let count = (isize::MAX as usize).checked_div(t.size).map_or(0, |most| count.min(most));
        Cursor { root: repeat(&t.node, count, t.extent), base, total: (t.size * count) as u64, position: 0 }
    }
    /// Bytes in the whole stream.
    pub fn total(&self) -> u64 {
        self.total
    }
    /// Bytes before the cursor.
    pub fn position(&self) -> u64 {
        self.position
    }
    pub fn remaining(&self) -> u64 {
        self.total - self.position
    }
    /// Moves to `position`, or to the end if that is before it.
    pub fn seek(&mut self, position: u64) {
        self.position = position.min(self.total);
    }
    /// The rest of the stream, when it is one block of user memory.
    pub fn contiguous(&self) -> Option<(*mut u8, u64)> {
        match self.root {
            Node::Run { off, .. } => Some((
                self.base.as_mut_ptr().wrapping_offset(off).wrapping_add(self.position as usize),
                self.remaining(),
            )),
            Node::Empty => Some((self.base.as_mut_ptr(), 0)),
            _ => None,
        }
    }

    /// Copies the next `min(out.len(), remaining)` bytes out of the user's memory; returns how many.
    /// # Safety
    /// `base` as given to `new` is valid for reads over the type map of `count` elements.
    #[inline]
    pub unsafe fn pack(&mut self, out: &mut [u8]) -> usize {
        // SAFETY: the caller's promise, and a slice is valid for its length.
        unsafe { self.pack_to(out.as_mut_ptr(), out.len()) }
    }
    /// As `pack`, to memory that need not be initialised or may be shared with another process.
    /// # Safety
    /// as `pack`, and `out` is valid for writes of `len` bytes and does not overlap the type map.
    pub unsafe fn pack_to(&mut self, out: *mut u8, len: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe { self.go::<Pack>(out, len) }
    }
    /// Copies the next `min(data.len(), remaining)` bytes into the user's memory; returns how many.
    /// # Safety
    /// as `pack`, for writes.
    #[inline]
    pub unsafe fn unpack(&mut self, data: &[u8]) -> usize {
        // SAFETY: the caller's promise, and a slice is valid for its length.
        unsafe { self.unpack_from(data.as_ptr(), data.len()) }
    }
    /// As `unpack`, from memory that may be shared with another process.
    /// # Safety
    /// as `unpack`, and `data` is valid for reads of `len` bytes and does not overlap the type map.
    pub unsafe fn unpack_from(&mut self, data: *const u8, len: usize) -> usize {
        // SAFETY: the caller's promise; `Unpack` only reads the packed side.
        unsafe { self.go::<Unpack>(data.cast_mut(), len) }
    }

    /// # Safety
    /// as `pack_to` or `unpack_from`.
    #[inline]
    unsafe fn go<W: Way>(&mut self, packed: *mut u8, len: usize) -> usize {
        let n = self.remaining().min(len as u64) as usize;
        if n > 0 {
            let mut s = Stream { at: packed, left: n };
            // SAFETY: the caller's promise; `n` bytes of stream lie between the position and the end.
            unsafe { walk::<W>(&self.root, self.base.as_mut_ptr(), self.position, &mut s) };
            debug_assert_eq!(s.left, 0);
            self.position += n as u64;
        }
        n
    }

    /// Hands the next blocks of user memory to `f`, at most `max_bytes` in all (neighbours that touch come as one), and moves
    /// on past them. `f` says false to stop after the block it was given. Returns the bytes passed over.
    pub fn blocks(&mut self, max_bytes: u64, mut f: impl FnMut(*mut u8, usize) -> bool) -> u64 {
        let budget = self.remaining().min(max_bytes);
        let base = self.base.as_mut_ptr();
        let (mut seen, mut done) = (0u64, 0u64);
        let (mut at, mut len) = (0isize, 0usize);
        if budget > 0 {
            self.root.visit(0, self.position, &mut |o, l| {
                let l = (l as u64).min(budget - seen) as usize;
                seen += l as u64;
                if len > 0 && at.wrapping_add(len as isize) == o {
                    len += l;
                } else {
                    if len > 0 {
                        done += len as u64;
                        if !f(base.wrapping_offset(at), len) {
                            len = 0;
                            return false;
                        }
                    }
                    (at, len) = (o, l);
                }
                seen < budget
            });
            if len > 0 {
                done += len as u64;
                f(base.wrapping_offset(at), len);
            }
        }
        self.position += done;
        done
    }
}

/// Calls `f(offset, length)` for the blocks of `count` elements in packed order; neighbours that touch come as one.
pub fn for_each_block(dt: &Datatype, count: usize, mut f: impl FnMut(isize, usize)) {
    let mut c = Cursor::new(dt, Buf(std::ptr::null_mut()), count);
    c.blocks(u64::MAX, |p, len| {
        f(p.addr() as isize, len);
        true
    });
}

struct Stream {
    at: *mut u8,
    left: usize,
}

impl Stream {
    #[inline(always)]
    fn advance(&mut self, n: usize) {
        self.at = self.at.wrapping_add(n);
        self.left -= n;
    }
    /// One block, or as much of it as is asked for.
    /// # Safety
    /// `user` is valid for `len` bytes, `at` for `left`.
    #[inline(always)]
    unsafe fn block<W: Way>(&mut self, user: *mut u8, len: usize) {
        let n = len.min(self.left);
        // SAFETY: both hold at least `n` bytes.
        unsafe { kernel::bytes::<W>(user, self.at, n) };
        self.advance(n);
    }
}

/// Bodies of at most this many blocks are copied block by block over many iterations, not iteration by iteration.
const COLUMNS: usize = 16;
/// How far such a sweep goes on either side before the next block's turn: it has to stay in the first-level cache.
const TILE: usize = 16 << 10;

/// Streams `node` (at `base`, from its stream position `skip`) until `s` is used up or the node is.
/// # Safety
/// The blocks of `node` at `base` and `s` are valid and do not overlap.
unsafe fn walk<W: Way>(node: &Node, base: *mut u8, skip: u64, s: &mut Stream) {
    match node {
        Node::Empty => {}
        Node::Run { off, len } => {
            // SAFETY: the caller's promise; `skip` lies inside the block.
            unsafe { s.block::<W>(base.wrapping_offset(off.wrapping_add(skip as isize)), len - skip as usize) }
        }
        Node::Strided { off, len, stride, n } => {
            let at = |i: usize| base.wrapping_offset(off.wrapping_add(stride.wrapping_mul(i as isize)));
            let (mut i, cut) = head(skip, *len);
            if cut > 0 {
                // SAFETY: the caller's promise.
                unsafe { s.block::<W>(at(i).wrapping_add(cut), len - cut) };
                i += 1;
            }
            let whole = rounds(s, n - i, *len);
            // SAFETY: the caller's promise; `whole` blocks are left on both sides.
            unsafe { kernel::strided::<W>(at(i), *stride, s.at, *len as isize, *len, whole) };
            s.advance(whole * len);
            if i + whole < *n && s.left > 0 {
                // SAFETY: the caller's promise; less than a block is asked for.
                unsafe { s.block::<W>(at(i + whole), *len) };
            }
        }
        Node::Even { off, len, offs } => {
            let base = base.wrapping_offset(*off);
            let (mut i, cut) = head(skip, *len);
            if cut > 0 {
                // SAFETY: the caller's promise.
                unsafe { s.block::<W>(base.wrapping_offset(offs[i]).wrapping_add(cut), len - cut) };
                i += 1;
            }
            let whole = rounds(s, offs.len() - i, *len);
            // SAFETY: the caller's promise; `whole` blocks are left on both sides.
            unsafe { kernel::listed::<W>(base, &offs[i..i + whole], s.at, *len) };
            s.advance(whole * len);
            if i + whole < offs.len() && s.left > 0 {
                // SAFETY: the caller's promise; less than a block is asked for.
                unsafe { s.block::<W>(base.wrapping_offset(offs[i + whole]), *len) };
            }
        }
        Node::Ragged { off, bytes, blocks } => {
            let base = base.wrapping_offset(*off);
            let mut i = if skip == 0 { 0 } else { blocks.partition_point(|b| b.start <= skip) - 1 };
            let end = |i: usize| blocks.get(i + 1).map_or(*bytes, |b| b.start);
            if skip > blocks[i].start {
                let cut = (skip - blocks[i].start) as isize;
                // SAFETY: the caller's promise; the rest of this block.
                unsafe {
                    s.block::<W>(base.wrapping_offset(blocks[i].off.wrapping_add(cut)), (end(i) - skip) as usize)
                };
                i += 1;
            }
            let rest = &blocks[i..];
            let Some(first) = rest.first() else { return };
            // As many whole blocks as the stream still takes.
            let last = first.start + s.left as u64;
            let whole = if *bytes <= last { rest.len() } else { rest.partition_point(|b| b.start <= last) - 1 };
            let done = rest.get(whole).map_or(*bytes, |b| b.start) - first.start;
            // SAFETY: the caller's promise; these blocks are left on both sides.
            unsafe { kernel::ragged::<W>(base, &rest[..whole], first.start + done, s.at) };
            s.advance(done as usize);
            if whole < rest.len() && s.left > 0 {
                // SAFETY: the caller's promise; less than a block is asked for.
                unsafe {
                    s.block::<W>(base.wrapping_offset(rest[whole].off), (end(i + whole) - rest[whole].start) as usize)
                };
            }
        }
        Node::Loop { off, stride, n, each, body } => {
            let at = |i: usize| base.wrapping_offset(off.wrapping_add(stride.wrapping_mul(i as isize)));
            let (i, cut) = split(skip, *each);
            let mut i = i as usize;
            if cut > 0 {
                // SAFETY: the caller's promise.
                unsafe { walk::<W>(body, at(i), cut, s) };
                i += 1;
            }
            // SAFETY: the caller's promise.
            i += unsafe { columns::<W>(body, at(i), *stride, n - i, *each as usize, s) };
            while i < *n && s.left > 0 {
                // SAFETY: the caller's promise.
                unsafe { walk::<W>(body, at(i), 0, s) };
                i += 1;
            }
        }
        Node::Seq { off, seq } => {
            let base = base.wrapping_offset(*off);
            let first = seq.find(skip);
            let mut cut = skip - seq.starts[first];
            for p in &seq.parts[first..] {
                // SAFETY: the caller's promise.
                unsafe { walk::<W>(p, base, std::mem::take(&mut cut), s) };
                if s.left == 0 {
                    return;
                }
            }
        }
    }
}

#[inline(always)]
fn head(skip: u64, len: usize) -> (usize, usize) {
    let (i, cut) = split(skip, len as u64);
    (i as usize, cut as usize)
}

/// How many whole blocks, of the `n` there are, the stream still takes.
#[inline(always)]
fn rounds(s: &Stream, n: usize, len: usize) -> usize {
    if s.left >= n.saturating_mul(len) { n } else { s.left / len }
}

/// Copies whole iterations of a loop over a few short blocks, one block over many iterations at a time, so that each inner
/// loop has one length. Returns the iterations done; 0 for bodies of another kind.
/// # Safety
/// as `walk`.
unsafe fn columns<W: Way>(body: &Node, base: *mut u8, stride: isize, n: usize, each: usize, s: &mut Stream) -> usize {
    let few = match body {
        Node::Strided { n, .. } => *n <= COLUMNS,
        Node::Even { offs, .. } => offs.len() <= COLUMNS,
        Node::Ragged { blocks, .. } => blocks.len() <= COLUMNS,
        _ => false,
    };
    if !few {
        return 0;
    }
    let tile = TILE / each.max(stride.unsigned_abs()).max(1);
    if tile < 8 {
        return 0;
    }
    let n = rounds(s, n, each);
    let mut done = 0;
    while done < n {
        let k = tile.min(n - done);
        let user = base.wrapping_offset(stride.wrapping_mul(done as isize));
        let column = |off: isize, start: usize, len: usize| {
            // SAFETY: the caller's promise: the block of `k` iterations on both sides.
            unsafe {
                kernel::strided::<W>(user.wrapping_offset(off), stride, s.at.wrapping_add(start), each as isize, len, k)
            }
        };
        match body {
            Node::Strided { off, len, stride, n } => {
                (0..*n).for_each(|b| column(off.wrapping_add(stride.wrapping_mul(b as isize)), b * len, *len))
            }
            Node::Even { off, len, offs } => {
                offs.iter().enumerate().for_each(|(b, o)| column(off.wrapping_add(*o), b * len, *len))
            }
            Node::Ragged { off, bytes, blocks } => {
                for (b, block) in blocks.iter().enumerate() {
                    let end = blocks.get(b + 1).map_or(*bytes, |b| b.start);
                    column(off.wrapping_add(block.off), block.start as usize, (end - block.start) as usize)
                }
            }
            _ => {}
        }
        s.advance(k * each);
        done += k;
    }
    n
}

/// Local typed copy: the packed stream of the source is unpacked into the destination, up to the shorter one; returns the bytes
/// copied.
/// # Safety
/// both buffers are valid for their type maps; they do not overlap.
pub unsafe fn copy(src: Buf, scount: usize, stype: &Datatype, dst: Buf, rcount: usize, rtype: &Datatype) -> u64 {
    let mut from = Cursor::new(stype, src, scount);
    let mut to = Cursor::new(rtype, dst, rcount);
    let n = from.total.min(to.total);
    // SAFETY: the caller's promise covers both type maps; a contiguous stream is a block of `n` or more bytes of one.
    unsafe {
        match (from.contiguous(), to.contiguous()) {
            (Some((f, _)), Some((t, _))) => std::ptr::copy_nonoverlapping(f, t, n as usize),
            (Some((f, _)), None) => _ = to.unpack_from(f, n as usize),
            (None, Some((t, _))) => _ = from.pack_to(t, n as usize),
            (None, None) => {
                let mut chunk = [const { std::mem::MaybeUninit::<u8>::uninit() }; 8 << 10];
                let mut left = n;
                while left > 0 {
                    let k = from.pack_to(chunk.as_mut_ptr().cast(), left.min(chunk.len() as u64) as usize);
                    to.unpack_from(chunk.as_ptr().cast(), k);
                    left -= k as u64;
                }
            }
        }
    }
    n
}
