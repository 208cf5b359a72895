//! A communicator's ranks as process indices, both ways.
use std::sync::atomic::{AtomicUsize, Ordering};

/// Shared by the communicator and by requests that outlive its handle.
#[derive(Debug)]
pub struct Ranks {
    procs: Box<[u32]>,
    /// `procs[i] == i` for all i.
    identity: bool,
    /// (process, rank), sorted; empty where `identity`.
    reverse: Box<[(u32, u32)]>,
    owner: AtomicUsize,
}

impl Ranks {
    pub fn new(procs: Box<[u32]>) -> Ranks {
        let identity = procs.iter().enumerate().all(|(i, p)| *p as usize == i);
        let mut reverse: Vec<(u32, u32)> = Vec::new();
        if !identity {
            reverse.extend(procs.iter().enumerate().map(|(r, p)| (*p, r as u32)));
            reverse.sort_unstable();
        }
        Ranks { procs, identity, reverse: reverse.into(), owner: AtomicUsize::new(0) }
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.procs.len()
    }
    pub fn is_empty(&self) -> bool {
        self.procs.is_empty()
    }
    /// The process at `rank`, which the caller has checked.
    #[inline]
    pub fn proc_of(&self, rank: usize) -> u32 {
        self.procs[rank]
    }
    pub fn procs(&self) -> &[u32] {
        &self.procs
    }
    #[inline]
    pub fn rank_of(&self, proc: u32) -> Option<usize> {
        if self.identity {
            return ((proc as usize) < self.procs.len()).then_some(proc as usize);
        }
        self.reverse.binary_search_by_key(&proc, |(p, _)| *p).ok().map(|i| self.reverse[i].1 as usize)
    }
    /// The raw handle of the communicator, for its error handler.
    pub fn owner(&self) -> usize {
        self.owner.load(Ordering::Relaxed)
    }
    pub fn set_owner(&self, raw: usize) {
        self.owner.store(raw, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let r = Ranks::new(Box::new([5, 2, 9]));
        assert_eq!((r.rank_of(9), r.rank_of(2), r.rank_of(3), r.proc_of(0)), (Some(2), Some(1), None, 5));
        let w = Ranks::new((0..4).collect());
        assert_eq!((w.rank_of(3), w.rank_of(4)), (Some(3), None));
    }
}
