//! The segment as the launcher makes it and as a rank maps it.
use crate::heap::Heap;
use crate::layout::*;
use oxmpi_base::consts::MPI_ERR_INTERN;
use oxmpi_base::{Result, bail};
use oxmpi_ring::wait::Seats;
use oxmpi_sys::memory::{Mapping, memfd, sealed_len};
use oxmpi_transport::wire::LANES;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Makes the segment of a job of `ranks` on this node: sparse, sealed, without a name in any file system.
pub fn create(ranks: usize, shared_cores: bool) -> io::Result<OwnedFd> {
    if ranks == 0 || ranks > MAX_RANKS {
        return Err(io::Error::other(format!("a node holds 1 to {MAX_RANKS} ranks, not {ranks}")));
    }
    let fd = memfd(c"oxmpi-segment", Layout::new(ranks).total)?;
    let first = Mapping::shared(fd.as_fd(), 0, PAGE)?;
    // SAFETY: the page is mapped, zero (valid for atomics) and ours alone until the descriptor is passed on.
    let h = unsafe { first.base().cast::<Header>().as_ref() };
    h.ranks.store(ranks as u32, Ordering::Relaxed);
    h.shared_cores.store(shared_cores as u32, Ordering::Relaxed);
    let works = oxmpi_sys::membarrier::register().and_then(|()| oxmpi_sys::membarrier::global()).is_ok();
    h.asymmetric_fence.store(works as u32, Ordering::Relaxed);
    h.magic.store(MAGIC, Ordering::Release);
    Ok(fd)
}

/// The mapped front of a segment: header, control blocks, bitmaps.
pub struct Segment {
    fd: Arc<OwnedFd>,
    front: Mapping,
    pub layout: Layout,
    pub shared_cores: bool,
    pub asymmetric_fence: bool,
}

impl Segment {
    /// Maps and checks a segment that should hold `ranks` ranks.
    pub fn open(fd: OwnedFd, ranks: usize) -> Result<Segment> {
        let fail = |what: &str, e: io::Error| {
            oxmpi_base::Error::new(
                MPI_ERR_INTERN,
                format!("the job's shared-memory segment cannot be used: {what}: {e}"),
            )
        };
        let len = sealed_len(fd.as_fd()).map_err(|e| fail("not a sealed memfd", e))?;
        if ranks == 0 || ranks > MAX_RANKS || len != Layout::new(ranks).total {
            bail!(
                MPI_ERR_INTERN,
                "the job's shared-memory segment has {len} bytes, which does not fit {ranks} ranks; mpirun and libmpi_abi.so.1 are of different versions?"
            );
        }
        let layout = Layout::new(ranks);
        let front = Mapping::shared(fd.as_fd(), 0, layout.pairs).map_err(|e| fail("mmap", e))?;
        // SAFETY: mapped, page-aligned, all bit patterns valid for atomics; lives as long as `front`.
        let h = unsafe { front.base().cast::<Header>().as_ref() };
        let (magic, n) = (h.magic.load(Ordering::Acquire), h.ranks.load(Ordering::Relaxed) as usize);
        if magic != MAGIC || n != ranks {
            bail!(
                MPI_ERR_INTERN,
                "the job's shared-memory segment says version {magic:#x} and {n} ranks, expected {MAGIC:#x} and {ranks}; mpirun and libmpi_abi.so.1 are of different versions?"
            );
        }
        let (shared_cores, asymmetric_fence) =
            (h.shared_cores.load(Ordering::Relaxed) != 0, h.asymmetric_fence.load(Ordering::Relaxed) != 0);
        Ok(Segment { layout, shared_cores, asymmetric_fence, fd: Arc::new(fd), front })
    }

    /// Who waits on which processor. The segment's owner must not unmap it while the borrow is used.
    pub fn seats(&self) -> &Seats {
        // SAFETY: inside the mapped front by the layout; zero is valid; only atomics inside.
        unsafe { self.front.base().byte_add(self.layout.seats).cast::<Seats>().as_ref() }
    }

    /// For the launcher: marks ranks as aborted, and wakes all that may wait for them.
    pub fn abort(&self, ranks: &[usize]) {
        for r in ranks {
            self.control(*r).identity.aborted.store(1, Ordering::Release);
        }
        self.aborts().fetch_add(1, Ordering::SeqCst);
        (0..self.layout.n).for_each(|r| self.control(r).bell.wake());
    }

    /// See [`Header::aborts`].
    pub fn aborts(&self) -> &AtomicU32 {
        // SAFETY: the first page of the mapped front; atomics only.
        unsafe { &self.front.base().cast::<Header>().as_ref().aborts }
    }

    pub fn control(&self, rank: usize) -> &Control {
        assert!(rank < self.layout.n);
        // SAFETY: inside the mapped front by the layout; zero is valid; only atomics inside.
        unsafe { &*(self.front.base().as_ptr().add(self.layout.controls) as *const Control).add(rank) }
    }

    /// The bitmap of peers that have begun to send to `rank` in `lane`.
    pub fn bitmap(&self, rank: usize, lane: usize) -> &[AtomicU64] {
        assert!(rank < self.layout.n && lane < LANES);
        let at = self.layout.bitmap(rank, lane);
        // SAFETY: as for `control`.
        unsafe {
            std::slice::from_raw_parts(self.front.base().as_ptr().add(at) as *const AtomicU64, self.layout.bitmap_words)
        }
    }

    /// The heap of rank `me`.
    pub fn heap(&self, me: usize) -> Heap {
        Heap::new(self.fd.clone(), self.layout.areas, self.layout.n, me)
    }

    /// Maps the ring from `from` to `to` in `lane`.
    pub fn map_pair(&self, from: usize, to: usize, lane: usize) -> io::Result<Mapping> {
        assert!(from < self.layout.n && to < self.layout.n && lane < LANES);
        Mapping::shared(self.fd.as_fd(), self.layout.pair(from, to, lane), PAIR)
    }
}
