//! The ranks of a communicator as the collectives see them: an endpoint for messages and, from the first few calls on, shared memory.
//!
//! Invariant: collective calls come in one order at all ranks (MPI-5.0 6.14), so counting them tells all ranks the same call as the one
//! that sets up the shared memory. Communicators that see a call or two, as most do that a library makes and frees, never have any.
use crate::link::Endpoint;
use crate::shared::region::{self, Region};
use oxmpi_base::Result;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Calls that go by messages before shared memory is set up.
const FIRST: u32 = 2;

pub struct Team {
    ep: Endpoint,
    calls: AtomicU32,
    first: u32,
    region: OnceLock<Option<Region>>,
    /// Schedules made so far: for one run, for many.
    schedules: [AtomicU32; 2],
}

impl Deref for Team {
    type Target = Endpoint;
    fn deref(&self) -> &Endpoint {
        &self.ep
    }
}

impl Team {
    pub fn new(ep: Endpoint) -> Team {
        let first = if region::wanted(&ep) { FIRST } else { u32::MAX };
        Team { ep, calls: AtomicU32::new(0), first, region: OnceLock::new(), schedules: Default::default() }
    }
    /// With shared memory after `first` calls.
    #[cfg(test)]
    pub fn after(ep: Endpoint, first: u32) -> Team {
        Team { first, ..Team::new(ep) }
    }
    /// The tag of the schedule that this call makes.
    pub(crate) fn schedule_tag(&self, persistent: bool) -> i32 {
        crate::tags::of_schedule(self.schedules[persistent as usize].fetch_add(1, Relaxed), persistent)
    }
    /// The shared memory, if this call is to use it: to be asked once in every collective call.
    #[inline]
    pub fn region(&self) -> Result<Option<&Region>> {
        match self.region.get() {
            Some(r) => Ok(r.as_ref()),
            None => self.count(),
        }
    }
    /// Rounds through the shared memory so far, and bytes that this rank put into its buffers there; None where there is no such memory.
    pub fn shared_counts(&self) -> Option<[u64; 2]> {
        let r = self.region.get()?.as_ref()?;
        Some([r.rounds(), r.buffered()])
    }
    #[cold]
    fn count(&self) -> Result<Option<&Region>> {
        let calls = self.calls.load(Relaxed);
        if self.first == u32::MAX || calls < self.first {
            self.calls.store(calls.saturating_add(1), Relaxed);
            return Ok(None);
        }
        let made = region::establish(&self.ep)?;
        Ok(self.region.get_or_init(|| made).as_ref())
    }
}
