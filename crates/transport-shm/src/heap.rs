//! Shared memory that this process gives out: blocks inside the job's segment, which every rank of the node can map.
//!
//! Each rank has an area of [`AREA`] bytes of address space in the segment's memfd, of which only touched pages exist. A block is a
//! page-aligned piece of the own area; a [`Place`] names a piece of anybody's. MPI_Alloc_mem and the collectives live here.
//!
//! Invariants: a block is zero when it is given out; freeing one gives its pages back, also those that peers have mapped (what they then
//! read is zero, never another process's private memory). A place comes from a peer: it is checked against the area before it is mapped.
//! This module is one of the crate's homes of `unsafe`.
use crate::layout::PAGE;
use oxmpi_sys::memory::{Mapping, punch};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// Address space of one rank's area.
pub const AREA: u64 = 1 << 40;
/// Peers' areas are mapped in windows of this size, when a transfer first needs one.
const WINDOW: u64 = 1 << 28;

/// A piece of a rank's area.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// Index in the segment.
    pub rank: u32,
    /// From the beginning of that rank's area.
    pub offset: u64,
}

pub struct Heap {
    fd: Arc<OwnedFd>,
    /// Where the areas begin in the segment, and how many there are.
    areas: u64,
    ranks: usize,
    me: u32,
    /// Blocks given out, for a look without the lock.
    count: AtomicUsize,
    book: Mutex<Book>,
}

#[derive(Default)]
struct Book {
    /// Free pieces below `end`, by offset.
    free: BTreeMap<u64, u64>,
    /// Never used from here on.
    end: u64,
    /// Address to (length, offset) of the blocks given out.
    blocks: BTreeMap<usize, (usize, u64)>,
}

impl Book {
    /// First fit; says whether the piece was used before.
    fn take(&mut self, len: u64) -> Option<(u64, bool)> {
        if let Some((&at, &have)) = self.free.iter().find(|(_, have)| **have >= len) {
            self.free.remove(&at);
            if have > len {
                self.free.insert(at + len, have - len);
            }
            return Some((at, true));
        }
        let at = self.end;
        if len > AREA - at {
            return None;
        }
        self.end += len;
        Some((at, false))
    }
    fn give(&mut self, mut at: u64, mut len: u64) {
        if let Some((&before, &n)) = self.free.range(..at).next_back()
            && before + n == at
        {
            self.free.remove(&before);
            (at, len) = (before, n + len);
        }
        if let Some(n) = self.free.remove(&(at + len)) {
            len += n;
        }
        self.free.insert(at, len);
    }
}

impl Heap {
    /// `areas` is where the areas of `ranks` ranks begin in `fd`.
    pub(crate) fn new(fd: Arc<OwnedFd>, areas: u64, ranks: usize, me: usize) -> Heap {
        Heap { fd, areas, ranks, me: me as u32, count: AtomicUsize::new(0), book: Mutex::default() }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// A zeroed block of at least `len` bytes, in whole pages, that [`Heap::place_of`] finds.
    pub fn allocate(self: &Arc<Heap>, len: usize) -> io::Result<Block> {
        let block = self.allocate_hidden(len)?;
        self.book().blocks.insert(block.base().as_ptr() as usize, (block.len(), block.offset));
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(block)
    }
    /// As `allocate`, for memory of the library's own.
    pub fn allocate_hidden(self: &Arc<Heap>, len: usize) -> io::Result<Block> {
        let len = len.max(1).checked_next_multiple_of(PAGE).ok_or(io::ErrorKind::OutOfMemory)?;
        let (offset, used) = self.book().take(len as u64).ok_or(io::ErrorKind::OutOfMemory)?;
        let place = Place { rank: self.me, offset };
        let ready = match used {
            // A peer that still had it mapped may have written since.
            true => punch(self.fd.as_fd(), self.position(place), len as u64),
            false => Ok(()),
        };
        let map = ready.and_then(|()| self.map(place, len)).inspect_err(|_| self.book().give(offset, len as u64))?;
        Ok(Block { heap: self.clone(), map: Some(map), offset })
    }

    /// Where `len` bytes at `address` lie, if they are inside one block of ours.
    #[inline]
    pub fn place_of(&self, address: usize, len: usize) -> Option<Place> {
        if self.count.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let book = self.book();
        let (&base, &(size, offset)) = book.blocks.range(..=address).next_back()?;
        let into = address - base;
        (into < size && len <= size - into).then_some(Place { rank: self.me, offset: offset + into as u64 })
    }

    fn position(&self, p: Place) -> u64 {
        self.areas + p.rank as u64 * AREA + p.offset
    }

    /// Maps a piece of somebody's area; `place.offset` is a multiple of the page size.
    pub fn map(&self, place: Place, len: usize) -> io::Result<Mapping> {
        let inside = (place.rank as usize) < self.ranks && place.offset <= AREA && len as u64 <= AREA - place.offset;
        if !inside || len == 0 || !place.offset.is_multiple_of(PAGE as u64) {
            return Err(io::Error::other(format!("{place:?} with {len} bytes is not a piece of a rank's memory")));
        }
        Mapping::shared(self.fd.as_fd(), self.position(place), len)
    }
}

/// Memory given out; freed on drop.
pub struct Block {
    heap: Arc<Heap>,
    /// Some until the drop.
    map: Option<Mapping>,
    offset: u64,
}

impl Block {
    fn map(&self) -> &Mapping {
        self.map.as_ref().expect("mapped until it is dropped")
    }
    pub fn base(&self) -> NonNull<u8> {
        self.map().base()
    }
    pub fn len(&self) -> usize {
        self.map().len()
    }
    pub fn is_empty(&self) -> bool {
        false
    }
    pub fn place(&self) -> Place {
        Place { rank: self.heap.me, offset: self.offset }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let Some(map) = self.map.take() else { return };
        let len = map.len() as u64;
        if self.heap.book().blocks.remove(&(map.base().as_ptr() as usize)).is_some() {
            self.heap.count.fetch_sub(1, Ordering::Relaxed);
        }
        drop(map);
        // The pages go back now; a failure only keeps them until the job ends, as `allocate` clears again.
        let _ = punch(self.heap.fd.as_fd(), self.heap.position(self.place()), len);
        self.heap.book().give(self.offset, len);
    }
}

/// Peers' areas as far as transfers have needed them.
#[derive(Default)]
pub struct Windows {
    open: Vec<(u32, u64, Mapping)>,
}

impl Windows {
    /// Calls `each(address, bytes)` for the mapped pieces of `len` bytes at `place`, in order.
    pub fn pieces(
        &mut self,
        heap: &Heap,
        place: Place,
        len: usize,
        mut each: impl FnMut(*mut u8, usize),
    ) -> io::Result<()> {
        if place.offset > AREA || len as u64 > AREA - place.offset {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let (mut at, end) = (place.offset, place.offset + len as u64);
        while at < end {
            let window = at / WINDOW;
            let n = (end - at).min((window + 1) * WINDOW - at);
            let k = match self.open.iter().position(|(r, w, _)| (*r, *w) == (place.rank, window)) {
                Some(k) => k,
                None => {
                    let map = heap.map(Place { rank: place.rank, offset: window * WINDOW }, WINDOW as usize)?;
                    self.open.push((place.rank, window, map));
                    self.open.len() - 1
                }
            };
            each(self.open[k].2.base().as_ptr().wrapping_add((at - window * WINDOW) as usize), n as usize);
            at += n;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heaps(n: usize) -> Vec<Arc<Heap>> {
        let fd = Arc::new(oxmpi_sys::memory::memfd(c"heap-test", PAGE as u64 + n as u64 * AREA).unwrap());
        (0..n).map(|me| Arc::new(Heap::new(fd.clone(), PAGE as u64, n, me))).collect()
    }

    #[test]
    fn a_peer_sees_a_block_and_a_freed_one_is_zero() {
        let h = heaps(2);
        let a = h[0].allocate(10_000).unwrap();
        assert_eq!(a.len(), 3 * PAGE);
        // SAFETY: the block is mapped and ours.
        unsafe { a.base().as_ptr().add(5000).write(7) };
        let at = a.base().as_ptr() as usize + 5000;
        let place = h[0].place_of(at, 1000).unwrap();
        assert_eq!(place, Place { rank: 0, offset: 5000 });
        assert_eq!((h[0].place_of(at, 3 * PAGE), h[1].place_of(at, 1)), (None, None));
        let mut windows = Windows::default();
        let mut seen = 0;
        // SAFETY: `pieces` gives mapped memory.
        windows.pieces(&h[1], place, 1000, |p, n| seen += unsafe { p.read() } as usize + n).unwrap();
        assert_eq!(seen, 1007);
        drop(a);
        let b = h[0].allocate(1).unwrap();
        assert_eq!(b.place().offset, 0, "the piece serves again");
        // SAFETY: as above.
        windows.pieces(&h[1], place, 1, |p, _| assert_eq!(unsafe { p.read() }, 0)).unwrap();
    }

    #[test]
    fn pieces_join_when_they_are_freed() {
        let h = heaps(1).remove(0);
        let blocks: Vec<Block> = (0..4).map(|_| h.allocate(PAGE).unwrap()).collect();
        let mut order: Vec<Block> = blocks;
        drop(order.remove(1));
        drop(order.remove(1));
        drop(order.remove(0));
        assert_eq!(h.allocate(3 * PAGE).unwrap().place().offset, 0);
        assert_eq!(h.book().end, 4 * PAGE as u64);
    }

    #[test]
    fn places_outside_are_refused() {
        let h = heaps(1).remove(0);
        for (rank, offset, len) in [(1, 0, 1), (0, 8, 8), (0, AREA, 1), (0, AREA - 4096, 8192), (0, 0, 0)] {
            assert!(h.map(Place { rank, offset }, len).is_err());
        }
        assert!(Windows::default().pieces(&h, Place { rank: 0, offset: AREA - 1 }, 2, |_, _| ()).is_err());
    }
}
