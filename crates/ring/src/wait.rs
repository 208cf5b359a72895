//! How long to spin, when to yield, when to sleep.
//!
//! With a core for every rank: spin about 50 us, yield until about 1 ms, sleep. With fewer: a few polls, a few yields, sleep.

use std::sync::atomic::Ordering::Relaxed;

/// Whether every rank of this node has a core for itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cores {
    Dedicated,
    Shared,
}

/// What a waiting loop should do before its next poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Poll,
    Yield,
    Sleep,
}

const SHARED_POLLS: u32 = 20;
const SHARED_YIELDS: u32 = 8;
const SPIN_NS: u64 = 50_000;
const YIELD_NS: u64 = 1_000_000;
/// Polls between two looks at the clock.
const CLOCK_EVERY: u32 = 64;
/// So long between two looks of a spinning thread means that something else had its core.
const PREEMPTED_NS: u64 = 400_000;
/// For so long after that the core counts as shared; doubled with each further time, up to the second.
const SUSPICION_NS: (u64, u64) = (20_000_000, 1_280_000_000);

/// Whether cores that should be our own turn out to be shared: found out by looking at the clock, forgotten with time. One per
/// process; races between its threads only lose a hint.
#[derive(Default)]
pub struct Evidence {
    until: std::sync::atomic::AtomicU64,
    length: std::sync::atomic::AtomicU64,
    noted: std::sync::atomic::AtomicU64,
}

impl Evidence {
    /// How to wait now.
    #[inline]
    pub fn cores(&self, planned: Cores) -> Cores {
        match self.until.load(Relaxed) {
            0 => planned,
            until => self.still(planned, until),
        }
    }
    #[cold]
    fn still(&self, planned: Cores, until: u64) -> Cores {
        if oxmpi_sys::clock::nanos() < until {
            return Cores::Shared;
        }
        self.until.store(0, Relaxed);
        planned
    }
    fn note(&self, now: u64) {
        let last = self.length.load(Relaxed);
        // A long time without a new sign starts from the shortest again.
        let length = if now > self.noted.load(Relaxed) + 8 * SUSPICION_NS.1 { SUSPICION_NS.0 } else { last * 2 };
        let length = length.clamp(SUSPICION_NS.0, SUSPICION_NS.1);
        self.noted.store(now, Relaxed);
        self.length.store(length, Relaxed);
        self.until.store(now + length, Relaxed);
    }
}

/// One wait; make a new one whenever something happened.
pub struct Waiter {
    cores: Cores,
    polls: u32,
    since: u64,
    looked: u64,
}

impl Waiter {
    #[inline]
    pub fn new(cores: Cores) -> Waiter {
        Waiter { cores, polls: 0, since: 0, looked: 0 }
    }

    /// To be called after a poll that found nothing.
    #[inline]
    pub fn step(&mut self, evidence: &Evidence) -> Step {
        self.polls = self.polls.saturating_add(1);
        match self.cores {
            Cores::Shared if self.polls <= SHARED_POLLS => Step::Poll,
            Cores::Shared if self.polls <= SHARED_POLLS + SHARED_YIELDS => Step::Yield,
            Cores::Shared => Step::Sleep,
            Cores::Dedicated if !self.polls.is_multiple_of(CLOCK_EVERY) => Step::Poll,
            Cores::Dedicated => self.timed(evidence),
        }
    }

    #[cold]
    fn timed(&mut self, evidence: &Evidence) -> Step {
        let now = oxmpi_sys::clock::nanos();
        if self.since == 0 {
            self.since = now;
        } else if self.looked != 0 && now - self.looked > PREEMPTED_NS {
            evidence.note(now);
            self.cores = Cores::Shared;
            self.polls = 0;
            return Step::Poll;
        }
        self.looked = now;
        match now - self.since {
            t if t < SPIN_NS => Step::Poll,
            t if t < YIELD_NS => {
                self.polls |= CLOCK_EVERY - 1; // the next step looks at the clock again
                Step::Yield
            }
            _ => {
                self.polls |= CLOCK_EVERY - 1;
                self.looked = 0; // asleep is not preempted
                Step::Sleep
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_cores_sleep_soon() {
        let mut w = Waiter::new(Cores::Shared);
        let steps: Vec<Step> = (0..40).map(|_| w.step(&Evidence::default())).collect();
        assert_eq!(steps.iter().filter(|s| **s == Step::Poll).count(), SHARED_POLLS as usize);
        assert_eq!(steps.iter().filter(|s| **s == Step::Yield).count(), SHARED_YIELDS as usize);
        assert_eq!(steps[39], Step::Sleep);
    }

    #[test]
    fn a_stolen_core_counts_as_shared_for_a_while() {
        let e = Evidence::default();
        assert_eq!(e.cores(Cores::Dedicated), Cores::Dedicated);
        e.note(oxmpi_sys::clock::nanos() + 3_600_000_000_000);
        assert_eq!(e.cores(Cores::Dedicated), Cores::Shared);
        e.note(0);
        assert_eq!((e.cores(Cores::Dedicated), e.until.load(Relaxed)), (Cores::Dedicated, 0));
    }

    #[test]
    fn dedicated_cores_spin_then_yield_then_sleep() {
        let mut w = Waiter::new(Cores::Dedicated);
        assert!((0..63).all(|_| w.step(&Evidence::default()) == Step::Poll));
        let mut seen = Vec::new();
        while seen.last() != Some(&Step::Sleep) {
            let s = w.step(&Evidence::default());
            if seen.last() != Some(&s) {
                seen.push(s);
            }
        }
        assert_eq!(seen.last(), Some(&Step::Sleep));
        assert_eq!(w.step(&Evidence::default()), Step::Sleep);
    }
}
