//! How long to spin, when to yield, when to sleep.
//!
//! With a core for every rank: spin about 50 us, yield until about 1 ms, sleep. With fewer: a few polls, a few yields, sleep.

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

/// One wait; make a new one whenever something happened.
pub struct Waiter {
    cores: Cores,
    polls: u32,
    since: u64,
}

impl Waiter {
    #[inline]
    pub fn new(cores: Cores) -> Waiter {
        Waiter { cores, polls: 0, since: 0 }
    }

    /// To be called after a poll that found nothing.
    #[inline]
    pub fn step(&mut self) -> Step {
        self.polls = self.polls.saturating_add(1);
        match self.cores {
            Cores::Shared if self.polls <= SHARED_POLLS => Step::Poll,
            Cores::Shared if self.polls <= SHARED_POLLS + SHARED_YIELDS => Step::Yield,
            Cores::Shared => Step::Sleep,
            Cores::Dedicated if !self.polls.is_multiple_of(CLOCK_EVERY) => Step::Poll,
            Cores::Dedicated => self.timed(),
        }
    }

    #[cold]
    fn timed(&mut self) -> Step {
        let now = oxmpi_sys::clock::nanos();
        if self.since == 0 {
            self.since = now;
        }
        match now - self.since {
            t if t < SPIN_NS => Step::Poll,
            t if t < YIELD_NS => {
                self.polls |= CLOCK_EVERY - 1; // the next step looks at the clock again
                Step::Yield
            }
            _ => {
                self.polls |= CLOCK_EVERY - 1;
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
        let steps: Vec<Step> = (0..40).map(|_| w.step()).collect();
        assert_eq!(steps.iter().filter(|s| **s == Step::Poll).count(), SHARED_POLLS as usize);
        assert_eq!(steps.iter().filter(|s| **s == Step::Yield).count(), SHARED_YIELDS as usize);
        assert_eq!(steps[39], Step::Sleep);
    }

    #[test]
    fn dedicated_cores_spin_then_yield_then_sleep() {
        let mut w = Waiter::new(Cores::Dedicated);
        assert!((0..63).all(|_| w.step() == Step::Poll));
        let mut seen = Vec::new();
        while seen.last() != Some(&Step::Sleep) {
            let s = w.step();
            if seen.last() != Some(&s) {
                seen.push(s);
            }
        }
        assert_eq!(seen.last(), Some(&Step::Sleep));
        assert_eq!(w.step(), Step::Sleep);
    }
}
