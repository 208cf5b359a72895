//! This rank among the ranks of its node: connecting on first use, ringing, sleeping, single copy.
use crate::heap::Heap;
use crate::layout::Identity;
use crate::link::{Incoming, Outgoing};
use crate::segment::Segment;
use oxmpi_base::consts::MPI_ERR_NO_MEM;
use oxmpi_base::{Error, Result};
use oxmpi_ring::doorbell::Fence;
use oxmpi_ring::wait::Cores;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What peers read of us to find out whether single copy works.
static PROBE: AtomicU64 = AtomicU64::new(0);

/// Longest sleep without looking around.
const NAP: Duration = Duration::from_millis(500);

/// What single copy from one peer is known to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SingleCopy {
    Unknown,
    Works,
    /// The errno that a real transfer gave.
    Refused(i32),
}

pub struct Node {
    segment: Segment,
    pub me: usize,
    pub cores: Cores,
    fence: Fence,
    seen_arrivals: u32,
    single_copy: Vec<SingleCopy>,
    heap: Arc<Heap>,
}

impl Node {
    /// Takes rank `me`'s place in the segment.
    pub fn join(segment: Segment, me: usize) -> Node {
        let n = segment.layout.n;
        let membarrier = oxmpi_sys::membarrier::register().is_ok();
        let id: &Identity = &segment.control(me).identity;
        let token = oxmpi_sys::clock::nanos() ^ ((oxmpi_sys::pid() as u64) << 40) | 1;
        let token = PROBE.compare_exchange(0, token, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(token);
        id.probe_value.store(token, Ordering::Relaxed);
        id.probe_address.store(PROBE.as_ptr() as u64, Ordering::Relaxed);
        id.pid.store(oxmpi_sys::pid() as u32, Ordering::Release);
        // A process that could not register is not reached by the sleepers' barriers: it fences for itself.
        let fence = if segment.asymmetric_fence && membarrier { Fence::Sleeper } else { Fence::Both };
        let cores = if segment.shared_cores { Cores::Shared } else { Cores::Dedicated };
        let heap = Arc::new(segment.heap(me));
        Node { me, cores, fence, heap, seen_arrivals: 0, single_copy: vec![SingleCopy::Unknown; n], segment }
    }

    /// Shared memory that this rank gives out.
    pub fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    pub fn size(&self) -> usize {
        self.segment.layout.n
    }

    /// Opens the way to `peer` and tells it to poll us.
    pub fn connect(&self, peer: usize) -> Result<Outgoing> {
        let map = self.segment.map_pair(self.me, peer).map_err(|e| no_map(peer, e))?;
        let word = &self.segment.bitmap(peer)[self.me / 64];
        word.fetch_or(1 << (self.me % 64), Ordering::Release);
        self.segment.control(peer).arrivals.count.fetch_add(1, Ordering::Release);
        Ok(Outgoing::new(map))
    }

    /// Whether a peer has connected since the last `take_arrivals`.
    #[inline]
    pub fn arrivals_pending(&self) -> bool {
        self.segment.control(self.me).arrivals.count.load(Ordering::Acquire) != self.seen_arrivals
    }

    /// Calls `each` for every peer whose bit is set; the caller knows which of them are new.
    pub fn take_arrivals(&mut self, mut each: impl FnMut(usize)) {
        self.seen_arrivals = self.segment.control(self.me).arrivals.count.load(Ordering::Acquire);
        for (w, word) in self.segment.bitmap(self.me).iter().enumerate() {
            let mut bits = word.load(Ordering::Acquire);
            while bits != 0 {
                let peer = w * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if peer < self.segment.layout.n {
                    each(peer);
                }
            }
        }
    }

    /// What was taken could not be accepted: it is pending again.
    pub fn look_again(&mut self) {
        self.seen_arrivals = self.seen_arrivals.wrapping_sub(1);
    }

    /// Maps what `peer` sends.
    pub fn accept(&self, peer: usize) -> Result<Incoming> {
        Ok(Incoming::new(self.segment.map_pair(peer, self.me).map_err(|e| no_map(peer, e))?))
    }

    /// Wakes `peer` if it sleeps; to be called after something was published for it.
    #[inline]
    pub fn ring(&self, peer: usize) {
        self.segment.control(peer).bell.ring(self.fence);
    }

    /// After frames of `peer` have been consumed: wakes it if it waits for room.
    #[inline]
    pub fn feed(&self, peer: usize, ring: &Incoming) {
        match self.fence {
            Fence::Sleeper => std::sync::atomic::compiler_fence(Ordering::SeqCst),
            Fence::Both => std::sync::atomic::fence(Ordering::SeqCst),
        }
        if ring.producer_starved() {
            self.ring(peer);
        }
    }

    /// Who fences between publishing and looking for sleepers.
    pub fn fence(&self) -> Fence {
        self.fence
    }

    /// What a thread needs to sleep outside the engine's lock.
    pub fn sleeper(&self) -> Sleeper {
        Sleeper { bell: &self.segment.control(self.me).bell, asymmetric: self.segment.asymmetric_fence }
    }

    /// Reads `len` bytes at `remote` in `peer`'s memory, probing first what has not been probed. `Err` carries the errno;
    /// the peer is then downgraded for good and nothing is known about the contents of `local`.
    ///
    /// # Safety
    /// `local` is valid for writes of `len` bytes.
    pub unsafe fn read_from(
        &mut self,
        peer: usize,
        remote: u64,
        local: *mut u8,
        len: usize,
    ) -> std::result::Result<(), i32> {
        let pid = self.segment.control(peer).identity.pid.load(Ordering::Acquire) as i32;
        // SAFETY: the caller's promise.
        let done = unsafe { oxmpi_sys::cma::read(pid, remote, local, len) };
        done.map_err(|e| {
            let errno = e.raw_os_error().unwrap_or(0);
            self.single_copy[peer] = SingleCopy::Refused(errno);
            errno
        })
    }

    /// Whether single copy from `peer` works, found out once by a real transfer of a known value.
    pub fn single_copy(&mut self, peer: usize) -> SingleCopy {
        if self.single_copy[peer] == SingleCopy::Unknown {
            let id = &self.segment.control(peer).identity;
            let (at, want) = (id.probe_address.load(Ordering::Relaxed), id.probe_value.load(Ordering::Relaxed));
            let mut got = 0u64;
            // SAFETY: `got` is eight writable bytes.
            let read = unsafe { self.read_from(peer, at, &mut got as *mut u64 as *mut u8, 8) };
            self.single_copy[peer] = match read {
                Ok(()) if got == want => SingleCopy::Works,
                // Another process answers to that pid (another pid namespace).
                Ok(()) => SingleCopy::Refused(0),
                Err(errno) => SingleCopy::Refused(errno),
            };
        }
        self.single_copy[peer]
    }
}

/// See [`Node::sleeper`].
pub struct Sleeper {
    bell: *const oxmpi_ring::doorbell::Doorbell,
    asymmetric: bool,
}

impl Sleeper {
    /// Sleeps until rung, unless `ready`.
    pub fn sleep(&self, ready: impl FnOnce() -> bool) {
        let barrier = || {
            std::sync::atomic::fence(Ordering::SeqCst);
            !self.asymmetric || oxmpi_sys::membarrier::global().is_ok()
        };
        // SAFETY: the bell lies in the segment's front, which stays mapped for the life of the process.
        unsafe { &*self.bell }.sleep(barrier, ready, NAP);
    }
}

fn no_map(peer: usize, e: std::io::Error) -> Error {
    Error::new(MPI_ERR_NO_MEM, format!("cannot map the shared memory of the pair with rank {peer}: {e}"))
}
