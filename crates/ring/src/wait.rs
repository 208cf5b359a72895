//! How long to spin, when to yield, when to sleep.
//!
//! On a core of its own a thread spins for about 50 us, yields until about 1 ms, and sleeps. On a core that others want it polls
//! little, yields a few times, and sleeps. Which of the two it is starts from a plan (ranks against the cores they may use) and follows
//! what is seen, none of which costs anything while messages flow:
//!
//! | sign | read from |
//! |---|---|
//! | another rank has waited on this processor since this one last did | [`Seats`], after 64 polls in vain |
//! | the clock jumped while spinning, or a yield took long: something else had the core | the clock |
//! | the control group was throttled | `cpu.stat`, after such a jump, four times a second at most |
//! | a yield came back at once: nobody else wants this core now | the clock, around a yield |
//!
//! A sign counts for a few milliseconds, for longer each time it comes right back, and is then forgotten: masks, quotas and neighbours
//! change. Known gap: signs are not told from rank to rank, each finds them for itself.

use oxmpi_sys::affinity;
use oxmpi_sys::cgroup::{self, Limit};
use oxmpi_sys::clock::nanos;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

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

/// On a shared core: so many polls before the first yield where polling has paid lately, else one; every so many waits it is tried again.
const POLLS: u32 = 20;
const TRY_POLLS_EVERY: u32 = 16;
/// So many yields that let others run, or so long alone, before sleep.
const ROUNDS: u32 = 8;
const SHORT_NS: u64 = 10_000;
const SPIN_NS: u64 = 50_000;
const YIELD_NS: u64 = 1_000_000;
/// Polls between two looks at the clock.
const CLOCK_EVERY: u32 = 64;
/// So long between two looks of a spinning thread means that something else had its core.
const PREEMPTED_NS: u64 = 400_000;
/// A yield that takes less has found nobody else to run.
const ALONE_NS: u64 = 1_500;
/// In the yielding phase of a dedicated core.
const LONG_YIELD_NS: u64 = 50_000;
/// For so long a core counts as shared after a jump of the clock, and after a rank was seen on it; and at most.
const JUMP_NS: u64 = 20_000_000;
const SEEN_NS: u64 = 2_000_000;
const LONGEST_NS: u64 = 1_280_000_000;
/// A jump this long may be the control group's quota; it is looked at so often at most.
const THROTTLE_NS: u64 = 2_000_000;
const LOOK_NS: u64 = 250_000_000;

/// A program's own loop yields every so many polls.
const IDLE_EVERY: u32 = 16;

/// How many processors have a seat of their own.
pub const SEATS: usize = 512;

/// In shared memory, zero at creation: for each processor the rank (plus one) that was last seen waiting there, and the processor's number
/// in the upper half.
pub type Seats = [AtomicU64; SEATS];

/// One rank among the [`Seats`].
struct Seated {
    seats: &'static Seats,
    me: u64,
    /// What we wrote last.
    mine: AtomicU64,
}

impl Seated {
    /// Takes the seat of the processor that this thread runs on. Whether another rank had it.
    fn taken(&self, cpu: u32) -> bool {
        let seat = |word: u64| &self.seats[(word >> 32) as usize % SEATS];
        let word = self.me | (cpu as u64) << 32;
        let was = seat(word).load(Relaxed);
        if was == word {
            return false;
        }
        seat(word).store(word, Relaxed);
        let before = self.mine.load(Relaxed);
        if before != word {
            self.mine.store(word, Relaxed);
            // We have moved: nobody should believe that we are still there.
            let _ = seat(before).compare_exchange(before, 0, Relaxed, Relaxed);
        }
        was != 0 && was >> 32 == cpu as u64
    }
}

/// What is known about who else wants this process's cores. One per process; races between its threads only lose a hint.
#[derive(Default)]
pub struct Evidence {
    seated: Option<Seated>,
    /// Until then the core counts as shared; 0: it does not, and no look at the clock is needed.
    until: AtomicU64,
    /// Until when the last sign counted, and for how long.
    end: AtomicU64,
    length: AtomicU64,
    /// When the control group was looked at, and how often it had been throttled by then.
    looked: AtomicU64,
    throttled: AtomicU64,
    /// On a shared core: waits, and how many of the last ones ended while polling (out of [`PAID`]).
    waits: AtomicU32,
    paid: AtomicU32,
    /// Polls in vain of the program's own loops.
    idle: AtomicU32,
}

/// Scale of `Evidence::paid`.
const PAID: u32 = 256;

impl Evidence {
    /// Of `rank` among the ranks that share `seats`.
    pub fn among(seats: &'static Seats, rank: usize) -> Evidence {
        Evidence { seated: Some(Seated { seats, me: rank as u64 + 1, mine: AtomicU64::new(0) }), ..Evidence::default() }
    }

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
        if nanos() < until {
            return Cores::Shared;
        }
        self.until.store(0, Relaxed);
        planned
    }

    /// A sign that the core is shared, good for `least` or more.
    fn note(&self, now: u64, least: u64) {
        let last = self.length.load(Relaxed);
        let back = now < self.end.load(Relaxed) + last;
        let length = if back { (last * 2).clamp(least, LONGEST_NS) } else { least };
        self.length.store(length, Relaxed);
        self.end.store(now + length, Relaxed);
        self.until.store(now + length, Relaxed);
    }

    /// Something else had the core for `gap`. If that was the control group's quota, it will be again in its next period.
    fn jumped(&self, now: u64, gap: u64, limit: impl FnOnce() -> Option<Limit>) {
        let mut length = JUMP_NS;
        if gap >= THROTTLE_NS && now - self.looked.load(Relaxed).min(now) >= LOOK_NS {
            self.looked.store(now, Relaxed);
            if let Some(limit) = limit() {
                let before = self.throttled.swap(limit.throttled, Relaxed);
                if limit.cpus < 1.0 || (before != 0 && limit.throttled > before) {
                    length = LONGEST_NS;
                }
            }
        }
        self.note(now, length);
    }

    /// To be called when a poll of the program's own (MPI_Test in a loop) found nothing: whether others should get the core for a moment.
    pub fn idle(&self, planned: Cores) -> bool {
        let n = self.idle.load(Relaxed).wrapping_add(1);
        self.idle.store(n, Relaxed);
        if !n.is_multiple_of(IDLE_EVERY) {
            return false;
        }
        if self.cores(planned) == Cores::Dedicated
            && n.is_multiple_of(CLOCK_EVERY)
            && self.seated.as_ref().is_some_and(|s| s.taken(affinity::current_cpu()))
        {
            self.note(nanos(), SEEN_NS);
        }
        self.cores(planned) == Cores::Shared
    }

    /// How many polls a wait on a shared core should begin with.
    #[cold]
    fn polls(&self) -> u32 {
        let n = self.waits.load(Relaxed).wrapping_add(1);
        self.waits.store(n, Relaxed);
        let pays = self.paid.load(Relaxed) * 8 > PAID * 3;
        if pays || n.is_multiple_of(TRY_POLLS_EVERY) { POLLS } else { 1 }
    }
    fn polled(&self, paid: bool) {
        let was = self.paid.load(Relaxed);
        self.paid.store(was - was / 8 + if paid { PAID / 8 } else { 0 }, Relaxed);
    }
}

/// One wait; make a new one whenever something happened.
pub struct Waiter<'e> {
    evidence: &'e Evidence,
    cores: Cores,
    polls: u32,
    /// Of polls before the first yield, on a shared core.
    budget: u32,
    since: u64,
    looked: u64,
    rounds: u32,
    alone: u64,
}

impl<'e> Waiter<'e> {
    #[inline]
    pub fn new(evidence: &'e Evidence, planned: Cores) -> Waiter<'e> {
        let cores = evidence.cores(planned);
        let budget = if cores == Cores::Shared { evidence.polls() } else { 0 };
        Waiter { evidence, cores, polls: 0, budget, since: 0, looked: 0, rounds: 0, alone: 0 }
    }

    /// To be called after a poll that found nothing.
    #[inline]
    pub fn step(&mut self) -> Step {
        self.polls = self.polls.saturating_add(1);
        match self.cores {
            Cores::Shared => self.shared(),
            Cores::Dedicated if !self.polls.is_multiple_of(CLOCK_EVERY) => Step::Poll,
            Cores::Dedicated => self.timed(),
        }
    }

    fn shared(&mut self) -> Step {
        if self.polls <= self.budget {
            return Step::Poll;
        }
        let now = nanos();
        if self.looked == 0 {
            if self.budget > 1 {
                self.evidence.polled(false);
            }
        } else if now - self.looked < ALONE_NS {
            self.alone += now - self.looked;
        } else {
            self.rounds += 1;
        }
        self.looked = now;
        if self.rounds >= ROUNDS || self.alone >= SHORT_NS { Step::Sleep } else { Step::Yield }
    }

    /// The core is not ours alone: the rank that is waited for may need it.
    fn share(&mut self) -> Step {
        (self.cores, self.budget, self.looked) = (Cores::Shared, 0, 0);
        self.shared()
    }

    #[cold]
    fn timed(&mut self) -> Step {
        let now = nanos();
        if self.since == 0 {
            self.since = now;
            let cpu = affinity::current_cpu();
            if self.evidence.seated.as_ref().is_some_and(|s| s.taken(cpu)) {
                self.evidence.note(now, SEEN_NS);
                return self.share();
            }
        }
        let (gap, spun) = (now - if self.looked == 0 { now } else { self.looked }, now - self.since);
        if gap > PREEMPTED_NS || (spun > SPIN_NS + LONG_YIELD_NS && gap > LONG_YIELD_NS) {
            self.evidence.jumped(now, gap, || cgroup::cpu_limit(Path::new("/")));
            return self.share();
        }
        self.looked = now;
        if spun < SPIN_NS {
            return Step::Poll;
        }
        self.polls |= CLOCK_EVERY - 1; // the next step looks at the clock again
        if spun < YIELD_NS {
            return Step::Yield;
        }
        self.looked = 0; // asleep is not preempted
        Step::Sleep
    }
}

impl Drop for Waiter<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.budget > 1 && self.polls != 0 && self.polls <= self.budget {
            self.evidence.polled(true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600_000_000_000;

    fn seats() -> &'static Seats {
        Box::leak(Box::new([const { AtomicU64::new(0) }; SEATS]))
    }

    #[test]
    fn shared_cores_sleep_soon() {
        let e = Evidence::default();
        let mut w = Waiter::new(&e, Cores::Shared);
        assert_eq!(w.step(), Step::Poll);
        let mut yields = 0;
        while w.step() == Step::Yield {
            yields += 1;
        }
        // How many depends on the clock; a look at it takes some nanoseconds at least.
        assert!((1..SHORT_NS as u32).contains(&yields), "{yields}");
        assert_eq!(w.step(), Step::Sleep);
    }

    #[test]
    fn yields_that_let_others_run_are_counted() {
        let e = Evidence::default();
        let mut w = Waiter::new(&e, Cores::Shared);
        assert_eq!(w.step(), Step::Poll);
        for _ in 0..ROUNDS {
            assert_eq!(w.step(), Step::Yield);
            std::thread::sleep(std::time::Duration::from_micros(100));
        }
        assert_eq!(w.step(), Step::Sleep);
    }

    #[test]
    fn polling_on_a_shared_core_lasts_while_it_pays() {
        let e = Evidence::default();
        let begin = |steps: u32| {
            let mut w = Waiter::new(&e, Cores::Shared);
            for _ in 0..steps {
                w.step();
            }
            w.budget
        };
        // Nothing is known: one poll, but now and then more.
        let budgets: Vec<u32> = (0..2 * TRY_POLLS_EVERY).map(|_| begin(1)).collect();
        assert_eq!(budgets.iter().filter(|b| **b == POLLS).count(), 2);
        // It pays whenever it is tried: soon all poll.
        for _ in 0..8 * TRY_POLLS_EVERY {
            begin(3);
        }
        assert!((0..TRY_POLLS_EVERY).all(|_| begin(3) == POLLS));
        // It never pays any more.
        for _ in 0..40 {
            begin(POLLS + 5);
        }
        assert_eq!((0..TRY_POLLS_EVERY).filter(|_| begin(POLLS + 5) == POLLS).count(), 1);
    }

    #[test]
    fn a_sign_is_forgotten_and_counts_longer_when_it_comes_back() {
        let e = Evidence::default();
        assert_eq!(e.cores(Cores::Dedicated), Cores::Dedicated);
        e.note(nanos() + HOUR, JUMP_NS);
        assert_eq!(e.cores(Cores::Dedicated), Cores::Shared);
        e.until.store(1, Relaxed);
        assert_eq!((e.cores(Cores::Dedicated), e.until.load(Relaxed)), (Cores::Dedicated, 0));

        let e = Evidence::default();
        let mut now = HOUR;
        let mut lengths = Vec::new();
        for _ in 0..12 {
            e.note(now, SEEN_NS);
            lengths.push(e.length.load(Relaxed));
            now = e.end.load(Relaxed) + 1000;
        }
        assert_eq!(lengths[..3], [SEEN_NS, 2 * SEEN_NS, 4 * SEEN_NS]);
        assert_eq!(lengths.last(), Some(&LONGEST_NS));
        e.note(now + 2 * LONGEST_NS, SEEN_NS);
        assert_eq!(e.length.load(Relaxed), SEEN_NS);
    }

    #[test]
    fn throttling_counts_for_longest() {
        let limit = |cpus, throttled| move || Some(Limit { cpus, throttled });
        let length = |e: &Evidence| e.length.load(Relaxed);
        let long = 5 * THROTTLE_NS;
        let e = Evidence::default();
        e.jumped(HOUR, PREEMPTED_NS, || panic!("too short a jump to look at files for"));
        assert_eq!(length(&e), JUMP_NS);
        e.jumped(2 * HOUR, long, limit(2.0, 7));
        assert_eq!(length(&e), JUMP_NS, "what happened before is no sign");
        e.jumped(2 * HOUR + 1, long, || panic!("too soon after the last look"));
        e.jumped(3 * HOUR, long, limit(2.0, 8));
        assert_eq!(length(&e), LONGEST_NS);
        e.jumped(4 * HOUR, long, limit(2.0, 8));
        assert_eq!(length(&e), JUMP_NS);
        e.jumped(5 * HOUR, long, limit(0.5, 8));
        assert_eq!(length(&e), LONGEST_NS, "less than a processor cannot be spun on");
        e.jumped(6 * HOUR, long, || None);
        assert_eq!(length(&e), JUMP_NS);
    }

    #[test]
    fn a_programs_own_loop_yields_where_cores_are_shared() {
        let seats = seats();
        let a = Evidence::among(seats, 0);
        let count = |e: &Evidence, planned| (0..4 * CLOCK_EVERY).filter(|_| e.idle(planned)).count() as u32;
        assert_eq!(count(&a, Cores::Shared), 4 * CLOCK_EVERY / IDLE_EVERY);
        assert_eq!(count(&a, Cores::Dedicated), 0);
        let b = Evidence::among(seats, 1);
        // The scheduler may move this thread between the looks, so it is tried a few times.
        assert!((0..100).any(|_| count(&a, Cores::Dedicated) + count(&b, Cores::Dedicated) > 0));
    }

    #[test]
    fn two_ranks_on_one_processor_see_each_other() {
        let seats = seats();
        let at = |rank| Evidence::among(seats, rank).seated.unwrap();
        let (a, b) = (at(0), at(1));
        assert!(!a.taken(3) && !a.taken(3));
        assert!(b.taken(3) && !b.taken(3));
        assert!(a.taken(3));
        // Each on its own: one hint at most, then none.
        assert!(!a.taken(4));
        b.taken(3);
        assert!(!a.taken(4) && !b.taken(3) && !a.taken(4));
        // A rank that moves leaves nothing behind.
        assert!(!b.taken(7) && !a.taken(3));
        // Another processor with the same seat is no sign.
        assert!(!b.taken(3 + SEATS as u32) && !a.taken(3));
    }

    #[test]
    fn a_rank_that_meets_another_on_its_core_yields_at_once() {
        let seats = seats();
        let mut evidence = [Evidence::among(seats, 0), Evidence::among(seats, 1)];
        // The scheduler may move this thread between the two waits, so it is tried a few times.
        let met = (0..100).any(|_| {
            for e in &mut evidence {
                let mut w = Waiter::new(e, Cores::Dedicated);
                (0..CLOCK_EVERY).for_each(|_| _ = w.step());
            }
            evidence[1].cores(Cores::Dedicated) == Cores::Shared
        });
        assert!(met);
        let mut w = Waiter::new(&evidence[1], Cores::Dedicated);
        let first = (0..=POLLS).position(|_| w.step() == Step::Yield);
        assert!(first.is_some());
    }

    #[test]
    fn dedicated_cores_spin_then_yield_then_sleep() {
        // A busy machine may preempt the test, which then rightly counts as a shared core; it gets several tries.
        let tidy = (0..50).any(|_| {
            let e = Evidence::default();
            let mut w = Waiter::new(&e, Cores::Dedicated);
            assert!((1..CLOCK_EVERY).all(|_| w.step() == Step::Poll));
            let mut seen = vec![Step::Poll];
            while w.cores == Cores::Dedicated && seen.last() != Some(&Step::Sleep) {
                let s = w.step();
                if seen.last() != Some(&s) {
                    seen.push(s);
                }
            }
            w.cores == Cores::Dedicated && seen == [Step::Poll, Step::Yield, Step::Sleep] && w.step() == Step::Sleep
        });
        assert!(tidy);
    }
}
