//! Hand-offs under stress: processes pass tokens round through real rings and doorbells, in every way of waiting, with random delays at the
//! places where a wake-up could get lost. `handoffs [COUNT]`; `cargo xtask suite handoffs` runs it.
//!
//! A sleep has a limit, behind which a lost wake-up would hide. So whoever rings also writes down, after the ring, what it rang for and
//! when; a sleeper whose limit passes although its message, or its room, had been rung for before then has found a lost wake-up, and
//! the run fails.
use oxmpi_ring::doorbell::{Doorbell, Fence};
use oxmpi_ring::spsc::{Consumer, Place, Producer};
use oxmpi_ring::sync::Line;
use oxmpi_ring::wait::{Cores, Evidence, Step, Waiter};
use oxmpi_sys::clock::nanos;
use oxmpi_sys::memory::{Mapping, memfd};
use oxmpi_sys::{membarrier, process};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::*, compiler_fence, fence};
use std::time::{Duration, Instant};

/// Longest sleep.
const NAP: Duration = Duration::from_millis(250);
/// Lines of a ring: a message is one line, so this many find room.
const LINES: usize = 4;
const MAX_RANKS: usize = 16;
const MAX_LANES: usize = 2;
/// Nobody has done anything for so long: the job hangs.
const STUCK: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Spin,
    Yield,
    /// Sleeps as soon as a poll finds nothing.
    Sleep,
    /// As the library does.
    Policy(Cores),
}

#[derive(Clone, Copy, Debug)]
struct Phase {
    mode: Mode,
    fence: Fence,
    ranks: usize,
    /// Threads a rank, each with rings of its own and all with one bell.
    lanes: usize,
    /// That go round in a lane; more than a ring holds in the long run, so that producers find no room.
    tokens: usize,
    /// Of all hand-offs, in ten thousandths.
    share: u64,
}

const fn phase(mode: Mode, fence: Fence, ranks: usize, lanes: usize, tokens: usize, share: u64) -> Phase {
    Phase { mode, fence, ranks, lanes, tokens, share }
}

const PHASES: [Phase; 16] = [
    phase(Mode::Sleep, Fence::Sleeper, 2, 1, 1, 40),
    phase(Mode::Sleep, Fence::Both, 2, 1, 1, 40),
    phase(Mode::Sleep, Fence::Sleeper, 2, 1, 6, 60),
    phase(Mode::Sleep, Fence::Both, 2, 1, 6, 60),
    phase(Mode::Sleep, Fence::Sleeper, 8, 1, 20, 100),
    phase(Mode::Sleep, Fence::Both, 8, 1, 20, 100),
    phase(Mode::Sleep, Fence::Sleeper, 3, 2, 5, 50),
    phase(Mode::Sleep, Fence::Both, 3, 2, 5, 50),
    phase(Mode::Spin, Fence::Sleeper, 2, 1, 6, 300),
    phase(Mode::Spin, Fence::Both, 2, 1, 1, 50),
    phase(Mode::Yield, Fence::Sleeper, 2, 1, 1, 1000),
    phase(Mode::Yield, Fence::Both, 4, 1, 9, 1500),
    phase(Mode::Yield, Fence::Sleeper, 8, 1, 20, 2000),
    phase(Mode::Policy(Cores::Dedicated), Fence::Sleeper, 2, 1, 1, 150),
    phase(Mode::Policy(Cores::Shared), Fence::Sleeper, 8, 1, 20, 2500),
    phase(Mode::Policy(Cores::Shared), Fence::Both, 4, 2, 7, 2000),
];

/// From a rank to the next, in shared memory, zero at creation.
#[repr(C, align(64))]
struct Link {
    lines: [Line; LINES],
    head: AtomicU64,
    starved: AtomicU32,
    /// Messages rung for, and when the last ring had ended.
    rung: Done,
    /// Messages taken after which the producer was looked after, likewise.
    fed: Done,
}

#[repr(C, align(64))]
struct Done {
    count: AtomicU64,
    at: AtomicU64,
}

impl Done {
    fn note(&self, count: u64) {
        self.at.store(nanos(), Relaxed);
        self.count.store(count, Release);
    }
    /// Whether `count` was reached before `then`. Later notes only make it later.
    fn before(&self, count: u64, then: u64) -> bool {
        self.count.load(Acquire) >= count && self.at.load(Relaxed) < then
    }
}

#[repr(C, align(64))]
struct Tally {
    handoffs: AtomicU64,
    sleeps: AtomicU64,
    overslept: AtomicU64,
    lost: AtomicU64,
}

#[repr(C)]
struct Shared {
    stop: AtomicU32,
    bells: [Doorbell; MAX_RANKS],
    tally: [[Tally; MAX_LANES]; MAX_RANKS],
    links: [[Link; MAX_LANES]; MAX_RANKS],
}

// SAFETY: lines are written and read under the protocol of the rings, the rest is atomics.
unsafe impl Sync for Shared {}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// A pause: mostly none, often as long as a cache line travels, seldom long.
    fn delay(&mut self) {
        let r = self.next();
        match r % 4096 {
            0 => std::thread::sleep(Duration::from_micros(r >> 32 & 127)),
            1..=3 => oxmpi_sys::yield_now(),
            4..=31 => (0..r >> 32 & 255).for_each(|_| std::hint::spin_loop()),
            32..=1023 => (0..r >> 32 & 15).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}

/// One thread of one rank.
struct Lane<'a> {
    shared: &'a Shared,
    phase: Phase,
    rank: usize,
    lane: usize,
    evidence: Evidence,
    random: Random,
}

impl Lane<'_> {
    fn ring(&self, rank: usize) {
        self.shared.bells[rank].ring(self.phase.fence);
    }

    /// Waits until `check` says so. `rung` says whether, before a time, a peer had rung for what is waited for. False: stop.
    fn wait(&mut self, mut check: impl FnMut() -> bool, rung: impl Fn(u64) -> bool) -> bool {
        let planned = if let Mode::Policy(c) = self.phase.mode { c } else { Cores::Shared };
        let evidence = std::mem::take(&mut self.evidence);
        let mut waiter = Waiter::new(&evidence, planned);
        let mut polls = 0u32;
        let more = loop {
            if check() {
                break true;
            }
            polls += 1;
            if polls.is_multiple_of(64) && self.shared.stop.load(Relaxed) != 0 {
                break false;
            }
            let step = match self.phase.mode {
                Mode::Spin => Step::Poll,
                Mode::Yield => Step::Yield,
                Mode::Sleep => Step::Sleep,
                Mode::Policy(_) => waiter.step(),
            };
            match step {
                // Where others want the core too, a spinning rank would only burn its time slice.
                Step::Poll if polls.is_multiple_of(4096) => oxmpi_sys::yield_now(),
                Step::Poll => std::hint::spin_loop(),
                Step::Yield => oxmpi_sys::yield_now(),
                Step::Sleep => {
                    if self.sleep(&mut check, &rung) {
                        break true;
                    }
                    if self.shared.stop.load(Relaxed) != 0 {
                        break false;
                    }
                }
            }
        };
        drop(waiter);
        self.evidence = evidence;
        more
    }

    fn sleep(&mut self, check: &mut impl FnMut() -> bool, rung: &impl Fn(u64) -> bool) -> bool {
        let shared = self.shared;
        let tally = &shared.tally[self.rank][self.lane];
        let mut found = false;
        let random = std::cell::RefCell::new(&mut self.random);
        let fence_by = self.phase.fence;
        let begin = nanos();
        let barrier = || {
            random.borrow_mut().delay();
            fence(SeqCst);
            fence_by == Fence::Both || membarrier::global().is_ok()
        };
        let ready = || {
            random.borrow_mut().delay();
            found = check() || shared.stop.load(Relaxed) != 0;
            random.borrow_mut().delay();
            if !found {
                tally.sleeps.fetch_add(1, Relaxed);
            }
            found
        };
        if shared.bells[self.rank].sleep(barrier, ready, NAP) {
            tally.overslept.fetch_add(1, Relaxed);
            // Rung for before the limit began to run out, and still it ran out.
            if rung(begin + NAP.as_nanos() as u64) {
                tally.lost.fetch_add(1, Relaxed);
            }
        }
        found && check()
    }

    fn run(&mut self) {
        let (shared, n, rank, lane) = (self.shared, self.phase.ranks, self.rank, self.lane);
        let (from, to) = ((rank + n - 1) % n, (rank + 1) % n);
        let (input, output) = (&shared.links[from][lane], &shared.links[rank][lane]);
        // SAFETY: shared memory that outlives this; each link has this one producer and, in the next rank, one consumer.
        let place = |l: &Link| unsafe { Place::new(l.lines.as_ptr(), LINES, LINES, &l.head) };
        let (mut source, mut sink) = (Consumer::new(place(input)), Producer::new(place(output)));
        let (mut sent, mut taken) = (0u64, 0u64);
        // Rank 0 makes the tokens: as many as fit at first, the others as the first come round.
        let mut make = if rank == 0 { self.phase.tokens } else { 0 };
        loop {
            let token = if make > 0 && (sent as usize) < self.phase.tokens.min(LINES - 1) {
                make -= 1;
                0
            } else {
                let mut got = 0u64;
                let mut valid = true;
                let take = || match source.front().expect("nobody writes nonsense") {
                    None => false,
                    Some(f) => {
                        // SAFETY: the payload holds the 16 bytes that `push` below wrote.
                        let [value, number] = unsafe { (source.payload() as *const [u64; 2]).read() };
                        (got, valid) = (value, number == taken + 1);
                        source.pop(f);
                        source.hand_back();
                        true
                    }
                };
                // `take` runs once with success: what it took counts even when the wait ends otherwise.
                let mut take = take;
                let mut have = false;
                let check = || {
                    have = have || take();
                    have
                };
                if !self.wait(check, |then| input.rung.before(taken + 1, then)) {
                    return;
                }
                assert!(valid, "messages in order");
                taken += 1;
                shared.tally[rank][lane].handoffs.fetch_add(1, Relaxed);
                self.random.delay();
                // As Node::feed.
                match self.phase.fence {
                    Fence::Sleeper => compiler_fence(SeqCst),
                    Fence::Both => fence(SeqCst),
                }
                if input.starved.load(Relaxed) != 0 {
                    self.random.delay();
                    self.ring(from);
                }
                input.fed.note(taken);
                got
            };
            self.random.delay();
            let copies = if make > 0 && token != 0 && rank == 0 { 2 } else { 1 };
            make -= copies - 1;
            for _ in 0..copies {
                let message = [token + 1, sent + 1];
                let mut push = || {
                    // SAFETY: the pointer is valid for 16 bytes.
                    sink.push(1, 0, 16, |p| unsafe { (p as *mut [u64; 2]).write(message) })
                };
                if !push() {
                    output.starved.store(1, Relaxed);
                    let mut pushed = false;
                    let check = || {
                        pushed = pushed || push();
                        pushed
                    };
                    if !self.wait(check, |then| output.fed.before((sent + 1).saturating_sub(LINES as u64), then)) {
                        return;
                    }
                    output.starved.store(0, Relaxed);
                }
                sent += 1;
                self.random.delay();
                self.ring(to);
                output.rung.note(sent);
            }
        }
    }
}

/// Runs one phase; returns (hand-offs, sleeps, sleeps that reached their limit), or what went wrong.
fn run(phase: Phase, count: u64) -> Result<(u64, u64, u64), String> {
    let len = size_of::<Shared>().next_multiple_of(4096);
    let fail = |e: std::io::Error| e.to_string();
    let fd = memfd(c"handoffs", len as u64).map_err(fail)?;
    let map = Mapping::shared(fd.as_fd(), 0, len).map_err(fail)?;
    // SAFETY: mapped, large enough, page-aligned; zero is valid for all of it, and it is only touched through atomics and rings.
    let shared = unsafe { map.base().cast::<Shared>().as_ref() };
    let mut children = Vec::new();
    for rank in 0..phase.ranks {
        children.push(
            process::fork_with(|| {
                let _ = process::signal_on_parent_death(9);
                if membarrier::register().is_err() && phase.fence == Fence::Sleeper {
                    return 77;
                }
                std::thread::scope(|s| {
                    for lane in 0..phase.lanes {
                        s.spawn(move || {
                            let random = Random(0x9e37_79b9_7f4a_7c15 ^ nanos() << 8 ^ (rank * 8 + lane) as u64);
                            Lane { shared, phase, rank, lane, evidence: Evidence::default(), random }.run();
                        });
                    }
                });
                0
            })
            .map_err(fail)?,
        );
    }
    let sum =
        |what: fn(&Tally) -> &AtomicU64| -> u64 { shared.tally.iter().flatten().map(|t| what(t).load(Relaxed)).sum() };
    let (mut moved, mut since) = (0, Instant::now());
    let mut trouble = None;
    let mut dead = 0;
    let mut ended = |trouble: &mut Option<String>| {
        while let Ok(process::Waited::Child(pid, how)) = process::wait_any(false) {
            dead += 1;
            match how.code() {
                0 => {}
                77 => *trouble = Some("skipped: this kernel has no membarrier for processes".to_owned()),
                _ => *trouble = Some(format!("process {pid}: {how:?}")),
            }
        }
        dead
    };
    while trouble.is_none() {
        std::thread::sleep(Duration::from_millis(5));
        ended(&mut trouble);
        let now = sum(|t| &t.handoffs);
        if sum(|t| &t.lost) > 0 {
            trouble = Some(format!("{} wake-ups were lost", sum(|t| &t.lost)));
        }
        if now >= count {
            break;
        }
        if now != moved {
            (moved, since) = (now, Instant::now());
        } else if since.elapsed() > STUCK {
            trouble = Some(format!("no hand-off in {STUCK:?}"));
        }
    }
    shared.stop.store(1, Relaxed);
    let patience = Instant::now();
    while ended(&mut trouble) < children.len() && patience.elapsed() < Duration::from_secs(60) {
        shared.bells[..phase.ranks].iter().for_each(Doorbell::wake);
        std::thread::sleep(Duration::from_millis(2));
    }
    if ended(&mut trouble) < children.len() {
        children.iter().for_each(|c| drop(process::kill(*c, 9)));
        return Err(trouble.unwrap_or_else(|| "processes did not stop".to_owned()));
    }
    match trouble {
        Some(t) => Err(t),
        None => Ok((sum(|t| &t.handoffs), sum(|t| &t.sleeps), sum(|t| &t.overslept))),
    }
}

fn main() -> std::process::ExitCode {
    let count = match std::env::args().nth(1).map_or(Ok(100_000_000), |a| a.parse::<u64>()) {
        Ok(count) => count,
        Err(e) => {
            eprintln!("handoffs: how many hand-offs: {e}");
            return std::process::ExitCode::from(2);
        }
    };
    let (mut total, mut slept) = (0, 0);
    for phase in PHASES {
        let begin = Instant::now();
        let name = format!(
            "{:?}, fence by {:?}, {} ranks of {} threads, {} tokens",
            phase.mode, phase.fence, phase.ranks, phase.lanes, phase.tokens
        );
        match run(phase, (count * phase.share / 10_000).max(1)) {
            Ok((handoffs, sleeps, overslept)) => {
                (total, slept) = (total + handoffs, slept + sleeps);
                let seconds = begin.elapsed().as_secs_f64();
                println!(
                    "{name}: {handoffs} hand-offs, {sleeps} sleeps ({overslept} to their limit, idle), {seconds:.1} s"
                );
            }
            Err(why) if why.starts_with("skipped") => println!("{name}: {why}"),
            Err(why) => {
                println!("{name}: {why}");
                return std::process::ExitCode::FAILURE;
            }
        }
    }
    println!("handoffs: {total} hand-offs, {slept} of them through a sleep, none lost");
    std::process::ExitCode::SUCCESS
}
