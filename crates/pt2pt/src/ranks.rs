//! A communicator's ranks as process indices, both ways.
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Shared by the communicator and by requests that outlive its handle.
#[derive(Debug)]
pub struct Ranks {
    procs: Box<[u32]>,
    /// `procs[i] == i` for all i.
    identity: bool,
    /// (process, rank), sorted; empty where `identity`.
    reverse: Box<[(u32, u32)]>,
    owner: AtomicUsize,
    /// Where the engine keeps it; see [`Enrolled`].
    place: AtomicU32,
    /// Told the context when the communicator and all its requests are gone.
    gone: OnceLock<(u64, fn(u64))>,
}

impl Drop for Ranks {
    fn drop(&mut self) {
        if let Some((ctx, tell)) = self.gone.get() {
            tell(*ctx);
        }
    }
}

impl Ranks {
    pub fn new(procs: Box<[u32]>) -> Ranks {
        let identity = procs.iter().enumerate().all(|(i, p)| *p as usize == i);
        let mut reverse: Vec<(u32, u32)> = Vec::new();
        if !identity {
            reverse.extend(procs.iter().enumerate().map(|(r, p)| (*p, r as u32)));
            reverse.sort_unstable();
        }
        let (owner, place, gone) = (AtomicUsize::new(0), AtomicU32::new(0), OnceLock::new());
        Ranks { procs, identity, reverse: reverse.into(), owner, place, gone }
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
    pub(crate) fn place(&self) -> u32 {
        self.place.load(Ordering::Relaxed)
    }
    /// When the communicator and all its requests are gone, `tell` hears of it, maybe under the lock of a lane: it must not call the engine.
    pub fn when_gone(&self, ctx: u64, tell: fn(u64)) {
        let _only_the_first_counts = self.gone.set((ctx, tell));
    }
    pub fn set_owner(&self, raw: usize) {
        self.owner.store(raw, Ordering::Relaxed);
    }
}

/// The communicators that requests refer to by a plain number, counted without atomics under the engine's lock, so that starting a
/// request costs no locked instruction. A place is free again when its communicator is gone and its last request is over.
#[derive(Default)]
pub(crate) struct Enrolled {
    all: Vec<Entry>,
    free: Vec<u32>,
}

struct Entry {
    ranks: Option<Arc<Ranks>>,
    uses: u32,
}

impl Enrolled {
    pub fn enroll(&mut self, ranks: &Arc<Ranks>) {
        let i = self.free.pop().unwrap_or_else(|| {
            self.all.push(Entry { ranks: None, uses: 0 });
            self.all.len() as u32 - 1
        });
        self.all[i as usize] = Entry { ranks: Some(ranks.clone()), uses: 1 };
        ranks.place.store(i, Ordering::Relaxed);
    }
    /// One more user of an enrolled communicator; the value goes to `get` and `drop_use`.
    #[inline]
    pub fn add_use(&mut self, ranks: &Ranks) -> u32 {
        let i = ranks.place.load(Ordering::Relaxed);
        self.all[i as usize].uses += 1;
        i
    }
    #[inline]
    pub fn get(&self, i: u32) -> Option<&Ranks> {
        self.all[i as usize].ranks.as_deref()
    }
    pub fn uses(&self, ranks: &Ranks) -> u32 {
        self.all[ranks.place() as usize].uses
    }
    #[inline]
    pub fn drop_use(&mut self, i: u32) {
        let e = &mut self.all[i as usize];
        e.uses -= 1;
        if e.uses == 0 {
            e.ranks = None;
            self.free.push(i);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        let r = Ranks::new(Box::new([5, 2, 9]));
        assert_eq!((r.rank_of(9), r.rank_of(2), r.rank_of(3), r.proc_of(0)), (Some(2), Some(1), None, 5));
        let mut all = Enrolled::default();
        let (a, b) = (Arc::new(r), Arc::new(Ranks::new(Box::new([1]))));
        all.enroll(&a);
        let of_request = all.add_use(&a);
        all.drop_use(of_request);
        all.enroll(&b);
        let last = all.add_use(&a);
        all.drop_use(a.place.load(Ordering::Relaxed));
        assert!(all.get(last).is_some(), "a request keeps it");
        all.drop_use(last);
        assert!(all.get(last).is_none() && all.get(b.place.load(Ordering::Relaxed)).is_some());
        let w = Ranks::new((0..4).collect());
        assert_eq!((w.rank_of(3), w.rank_of(4)), (Some(3), None));
    }
}
