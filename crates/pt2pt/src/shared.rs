//! What collectives through shared memory need of the engine: memory that all ranks of a communicator map, waiting for what peers
//! write there, waking those who wait, and reading a peer's buffers.
//!
//! A rank that waits goes on making progress for everything else. Before it sleeps it counts itself in `asleep`, a word of the shared
//! memory, so that who publishes something looks at one line and not at every peer's doorbell; the order of that count and the last poll
//! is the doorbell's (`ring::doorbell`).
use crate::endpoint::Endpoint;
use crate::engine::Engine;
use oxmpi_base::consts::MPI_ERR_OTHER;
use oxmpi_base::{Error, Result};
use oxmpi_ring::wait::{Cores, Step, Waiter};
use oxmpi_sys::memory::Mapping;
use oxmpi_transport_shm::choice::Mechanism;
use oxmpi_transport_shm::heap::{Block, Place};
use oxmpi_transport_shm::single::{Exposed, Piece, Run, Way};
use std::sync::atomic::{AtomicU32, Ordering};

/// Looks at the flags between two rounds of progress.
const LOOKS: u32 = 16;
/// Where ranks share cores: how often to let others run before sleeping.
const YIELDS: u32 = 64;

/// Memory that the ranks of a communicator share.
pub struct Memory {
    base: *mut u8,
    len: usize,
    place: [u64; 2],
    _keep: Keep,
}

enum Keep {
    Own { _block: Block },
    Peers { _map: Mapping },
}

// SAFETY: plain memory; whoever uses `base` answers for the accesses.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

impl Memory {
    pub fn base(&self) -> *mut u8 {
        self.base
    }
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// What a peer needs to map it.
    pub fn place(&self) -> [u64; 2] {
        self.place
    }
    /// Whether freeing this gives the memory back for other uses.
    pub fn is_owner(&self) -> bool {
        matches!(self._keep, Keep::Own { .. })
    }
}

impl Endpoint {
    /// Zeroed memory of this rank that the others can map; the reason where there is none.
    pub fn allocate(&self, len: usize) -> std::result::Result<Memory, String> {
        let heap = self.engine.enter(|s| s.heap()).ok_or("this process has no shared memory")?;
        let b = heap.allocate(len).map_err(|e| format!("{len} bytes of shared memory: {e}"))?;
        let p = b.place();
        Ok(Memory { base: b.base().as_ptr(), len, place: [p.rank as u64, p.offset], _keep: Keep::Own { _block: b } })
    }
    /// Maps what a peer has allocated.
    pub fn map(&self, place: [u64; 2], len: usize) -> std::result::Result<Memory, String> {
        let heap = self.engine.enter(|s| s.heap()).ok_or("this process has no shared memory")?;
        let rank = u32::try_from(place[0]).map_err(|_| "a peer's answer makes no sense")?;
        let m = heap.map(Place { rank, offset: place[1] }, len).map_err(|e| format!("mapping shared memory: {e}"))?;
        Ok(Memory { base: m.base().as_ptr(), len, place, _keep: Keep::Peers { _map: m } })
    }

    /// To be called after something was published for ranks that may wait for it.
    #[inline]
    pub fn published(&self, asleep: &AtomicU32) {
        self.engine.order();
        if asleep.load(Ordering::Relaxed) != 0 {
            self.wake_all();
        }
    }
    #[cold]
    fn wake_all(&self) {
        self.engine.enter(|s| {
            if let Some(node) = &s.node {
                let others = self.ranks.procs().iter().filter(|p| **p != s.me);
                others.for_each(|p| node.ring(*p as usize));
            }
        });
    }

    /// Waits until `ready`, which looks at shared memory only.
    pub fn wait_until(&self, asleep: &AtomicU32, ready: &mut dyn FnMut() -> bool) -> Result<()> {
        self.engine.wait_until(asleep, ready)
    }

    /// Whether this process can read any memory of `rank`: found out by a real transfer.
    pub fn reads_directly(&self, rank: usize) -> bool {
        let proc = self.ranks.proc_of(rank) as usize;
        let any = Exposed { address: 1, place: 0 };
        self.engine.enter(|s| match &mut s.node {
            _ if proc == s.me as usize => true,
            Some(node) => node.can(Mechanism::Cma, proc, &any),
            None => false,
        })
    }
    /// How the others reach `len` bytes at `at`.
    pub fn expose(&self, at: *const u8, len: usize) -> [u64; 2] {
        self.engine.enter(|s| match &mut s.node {
            Some(node) => {
                let e = node.single().expose(at, len);
                [e.address, e.place]
            }
            None => [at.addr() as u64, 0],
        })
    }
    /// Reads `len` bytes, from `offset` on, of what `rank` has exposed.
    ///
    /// # Safety
    /// `to` is valid for writes of `len` bytes.
    pub unsafe fn read_peer(&self, rank: usize, there: [u64; 2], offset: u64, to: *mut u8, len: usize) -> Result<()> {
        let proc = self.ranks.proc_of(rank) as usize;
        let there = Exposed { address: there[0], place: there[1] };
        let done = self.engine.enter(|s| {
            let Some(node) = &mut s.node else { return false };
            let open = node.open(proc, &there);
            Mechanism::ALL.into_iter().filter(|m| open >> *m as u8 & 1 != 0).any(|mechanism| {
                let piece = Piece { mechanism, way: Way::Pull, there, offset };
                // SAFETY: the caller's promise.
                unsafe { node.copy(proc, &piece, &mut [Run::new(to, len)]) }
            })
        });
        match done {
            true => Ok(()),
            false => Err(Error::new(
                MPI_ERR_OTHER,
                format!(
                    "reading {len} bytes from the memory of rank {rank} failed in a collective operation; its buffer may not be valid for the count it gave"
                ),
            )),
        }
    }
}

impl Engine {
    /// See [`Endpoint::wait_until`].
    pub(crate) fn wait_until(&self, asleep: &AtomicU32, ready: &mut dyn FnMut() -> bool) -> Result<()> {
        let mut waiter = Waiter::new(self.cores_now());
        let mut yields = 0;
        loop {
            let moved = self.poll_once()?;
            if ready() {
                return Ok(());
            }
            // Where ranks share cores, what we wait for is done by someone who waits for this core.
            let step = match self.cores_now() {
                _ if moved => Step::Poll,
                Cores::Shared if yields < YIELDS => Step::Yield,
                Cores::Shared => Step::Sleep,
                Cores::Dedicated => waiter.step(self.evidence()),
            };
            match step {
                Step::Poll => {
                    for _ in 0..LOOKS {
                        std::hint::spin_loop();
                        if ready() {
                            return Ok(());
                        }
                    }
                }
                Step::Yield => {
                    yields += 1;
                    oxmpi_sys::yield_now();
                }
                Step::Sleep => {
                    asleep.fetch_add(1, Ordering::SeqCst);
                    let r = self.sleep(&mut |_| ready().then_some(()));
                    asleep.fetch_sub(1, Ordering::Relaxed);
                    if r?.is_some() {
                        return Ok(());
                    }
                }
            }
        }
    }
}
