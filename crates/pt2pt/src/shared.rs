//! What collectives through shared memory need of the engine: memory that all ranks of a communicator map, waiting for what peers
//! write there, waking those who wait, and reading a peer's buffers.
//!
//! A rank that waits goes on making progress for everything else. Before it sleeps it counts itself in `asleep`, a word of the shared
//! memory, so that who publishes something looks at one line and not at every peer's doorbell; the order of that count and the last poll
//! is the doorbell's (`ring::doorbell`).
use crate::endpoint::Endpoint;
use oxmpi_base::consts::MPI_ERR_OTHER;
use oxmpi_base::{Error, Result};
use oxmpi_sys::memory::Mapping;
use oxmpi_transport_shm::choice::Mechanism;
use oxmpi_transport_shm::heap::{Block, Place};
use oxmpi_transport_shm::single::{Exposed, Piece, Run, Way};
use std::sync::atomic::{AtomicU32, Ordering};

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
        let heap = self.engine.heap().ok_or("this process has no shared memory")?;
        let b = heap.allocate(len).map_err(|e| format!("{len} bytes of shared memory: {e}"))?;
        let p = b.place();
        Ok(Memory { base: b.base().as_ptr(), len, place: [p.rank as u64, p.offset], _keep: Keep::Own { _block: b } })
    }
    /// Maps what a peer has allocated.
    pub fn map(&self, place: [u64; 2], len: usize) -> std::result::Result<Memory, String> {
        let heap = self.engine.heap().ok_or("this process has no shared memory")?;
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
        if let Some(node) = self.engine.node() {
            let others = self.ranks.procs().iter().filter(|p| **p as usize != self.engine.me);
            others.for_each(|p| node.ring(*p as usize));
        }
    }

    /// Waits until `ready`, which looks at shared memory only.
    pub fn wait_until(&self, asleep: &AtomicU32, ready: &mut dyn FnMut() -> bool) -> Result<()> {
        self.engine.wait_until(self.lane(), &self.ranks, asleep, ready)
    }

    /// Whether this process can read any memory of `rank`: found out by a real transfer.
    pub fn reads_directly(&self, rank: usize) -> bool {
        let proc = self.ranks.proc_of(rank) as usize;
        let any = Exposed { address: 1, ..Exposed::default() };
        self.engine.enter(self.lane(), |s| match &mut s.node {
            _ if proc == s.me as usize => true,
            Some(node) => node.can(Mechanism::Cma, proc, &any),
            None => false,
        })
    }
    /// How the others reach `len` bytes at `at`.
    pub fn expose(&self, at: *const u8, len: usize) -> [u64; 2] {
        self.engine.enter(self.lane(), |s| match &mut s.node {
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
        // SAFETY: the caller's promise.
        unsafe { self.reach(rank, Way::Pull, there, offset, Run::new(to, len)) }
    }
    /// Writes `len` bytes to what `rank` has exposed, from `offset` on.
    ///
    /// # Safety
    /// `from` is valid for reads of `len` bytes, and `rank` has said that these bytes of its memory are to be written.
    pub unsafe fn write_peer(
        &self,
        rank: usize,
        there: [u64; 2],
        offset: u64,
        from: *const u8,
        len: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.reach(rank, Way::Push, there, offset, Run::new(from.cast_mut(), len)) }
    }
    unsafe fn reach(&self, rank: usize, way: Way, there: [u64; 2], offset: u64, local: Run) -> Result<()> {
        let proc = self.ranks.proc_of(rank) as usize;
        let there = Exposed { address: there[0], place: there[1], ..Exposed::default() };
        let done = self.engine.enter(self.lane(), |s| {
            let counts = s.counts;
            let Some(node) = &mut s.node else { return false };
            let open = node.open(proc, &there);
            Mechanism::ALL.into_iter().filter(|m| open >> *m as u8 & 1 != 0).any(|mechanism| {
                let piece = Piece { mechanism, way, there, offset };
                // SAFETY: the caller's promise.
                let done = unsafe { node.copy(proc, &piece, &mut [local]) };
                counts.copied(mechanism, local.len() as u64, done);
                done
            })
        });
        let what = if way == Way::Pull { "reading" } else { "writing" };
        match done {
            true => Ok(()),
            false => Err(Error::new(
                MPI_ERR_OTHER,
                format!(
                    "{what} {} bytes of the memory of rank {rank} failed in a collective operation; its buffer may not be valid for the count it gave",
                    local.len()
                ),
            )),
        }
    }
}
