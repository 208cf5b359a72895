//! Which way a large message goes: learned from timed transfers, per distance of the peer, shape and size class.
//!
//! Every way that is open for a message is tried a few times; then the fastest so far is taken, and now and then another one, in case the
//! program or the machine has changed. Figures are smoothed, so that one that is out of date is soon forgotten. Pure logic.

oxmpi_base::control! {
    /// Messages of this size and more may be copied by both sides together, each its part.
    pub static COOPERATIVE_MIN: Size = Size::new("shm_cooperative_min", 32 << 10, 1..=1 << 62).live();
}
oxmpi_base::control! {
    /// How a large message's way is chosen: learned from timed transfers, or fixed: the first mechanism of shm_single_copy that works with the
    /// peer, by both sides from shm_cooperative_min on.
    pub static CHOICE: Choice = Choice::new("shm_choice", 0, &["learned", "fixed"]).live();
}

/// A way for the bytes of a large message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Sent at once through the pair's chunks.
    Eager,
    /// Through the chunks, when the receiver asks.
    Pipeline,
    /// One copy, by one side.
    Alone(Mechanism),
    /// One copy, by both sides.
    Both(Mechanism),
}

/// How one process reaches another's memory; in the order in which they are preferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Mechanism {
    /// The memory was given out by the library: it is mapped and copied.
    Heap = 0,
    Xpmem = 1,
    Cma = 2,
    Knem = 3,
}

impl Mechanism {
    pub const ALL: [Mechanism; 4] = [Mechanism::Heap, Mechanism::Xpmem, Mechanism::Cma, Mechanism::Knem];
    pub const NAMES: [&str; 4] = ["heap", "xpmem", "cma", "knem"];
    pub fn name(self) -> &'static str {
        Mechanism::NAMES[self as usize]
    }
    pub fn from_u8(v: u8) -> Option<Mechanism> {
        Mechanism::ALL.get(v as usize).copied()
    }
}

impl Way {
    const COUNT: usize = 2 + 2 * Mechanism::ALL.len();
    pub fn index(self) -> usize {
        match self {
            Way::Eager => 0,
            Way::Pipeline => 1,
            Way::Alone(m) => 2 + m as usize,
            Way::Both(m) => 2 + Mechanism::ALL.len() + m as usize,
        }
    }
    fn of(index: usize) -> Way {
        let m = |i: usize| Mechanism::ALL[i % Mechanism::ALL.len()];
        match index {
            0 => Way::Eager,
            1 => Way::Pipeline,
            i if i < 2 + Mechanism::ALL.len() => Way::Alone(m(i - 2)),
            i => Way::Both(m(i - 2)),
        }
    }
    fn all() -> impl Iterator<Item = Way> {
        let alone = Mechanism::ALL.into_iter().map(Way::Alone);
        [Way::Eager, Way::Pipeline].into_iter().chain(alone).chain(Mechanism::ALL.into_iter().map(Way::Both))
    }
}

impl std::fmt::Display for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Way::Eager => f.write_str("eager"),
            Way::Pipeline => f.write_str("pipeline"),
            Way::Alone(m) => write!(f, "{} by one side", m.name()),
            Way::Both(m) => write!(f, "{} by both sides", m.name()),
        }
    }
}

/// Size classes are powers of two; the first holds all that is smaller.
pub const FIRST_CLASS: u32 = 12;
pub const CLASSES: usize = 20;

#[inline]
pub fn class_of(bytes: u64) -> usize {
    (63 - (bytes | 1).leading_zeros()).saturating_sub(FIRST_CLASS).min(CLASSES as u32 - 1) as usize
}

/// How far a peer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Distance {
    Cache = 0,
    Socket = 1,
    Node = 2,
}
pub const DISTANCES: usize = 3;

impl Distance {
    pub const ALL: [Distance; DISTANCES] = [Distance::Cache, Distance::Socket, Distance::Node];
    pub fn name(self) -> &'static str {
        ["same cache", "same socket", "other socket"][self as usize]
    }
}

#[derive(Clone, Copy, Default)]
struct Figure {
    /// Smoothed time of 1024 bytes, in picoseconds; 0 is unknown.
    pace: u64,
    taken: u32,
    /// Not yet in `pace`: transfers, their bytes and nanoseconds.
    several: u32,
    bytes: u64,
    ns: u64,
    /// `pace` comes from one sum at least.
    settled: bool,
}

const FIXED: usize = 1;
/// So many transfers make a sum. While several are under way they complete in bursts, so that only the sum up to the end of a burst says how long
/// one takes.
const SUM: u32 = 8;
/// One that took so much longer than usual was interrupted.
const INTERRUPTED: (u64, u64) = (64, 500_000);

impl Figure {
    /// Whether it can be compared.
    fn is_known(&self) -> bool {
        self.settled || self.taken >= TRIALS_MOST
    }
    fn learn(&mut self, bytes: u64, ns: u64, last: bool) {
        let pace = |ns: u64, bytes: u64| (ns.saturating_mul(1_024_000) / bytes.max(1)).max(1);
        let one = pace(ns, bytes);
        self.taken = self.taken.saturating_add(1);
        match self.taken {
            // The first ones pay for page faults and first uses.
            1 | 2 => return self.pace = one,
            n if n <= TRIALS => return self.pace = self.pace.min(one),
            _ => {}
        }
        if self.settled && ns > INTERRUPTED.1 && one > INTERRUPTED.0 * self.pace {
            return;
        }
        (self.several, self.bytes, self.ns) = (self.several + 1, self.bytes + bytes, self.ns + ns);
        if self.several >= SUM && last {
            let sum = pace(self.ns, self.bytes);
            self.pace = if self.settled { self.pace.midpoint(sum) } else { sum };
            (self.several, self.bytes, self.ns, self.settled) = (0, 0, 0, true);
        }
    }
}

/// A set of ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ways(u16);

impl Ways {
    #[inline]
    pub fn with(self, w: Way) -> Ways {
        Ways(self.0 | 1 << w.index())
    }
    /// Adds these mechanisms (a bit each) by one side, or by both.
    #[inline]
    pub fn with_mechanisms(self, alone: u8, both: u8) -> Ways {
        Ways(self.0 | (alone as u16) << 2 | (both as u16) << (2 + Mechanism::ALL.len()))
    }
    #[inline]
    fn has(self, w: Way) -> bool {
        self.0 >> w.index() & 1 != 0
    }
    fn each(self) -> impl Iterator<Item = Way> {
        (0..Way::COUNT).filter(move |i| self.0 >> i & 1 != 0).map(Way::of)
    }
}

#[derive(Clone, Copy, Default)]
struct Class {
    ways: [Figure; Way::COUNT],
    messages: u32,
    /// The answer for this set of ways, good for a few messages.
    known: Ways,
    best: u8,
    fresh: u8,
}

/// What this process has learned.
pub struct Choice {
    all: Box<[[[Class; CLASSES]; 2]; DISTANCES]>,
    /// Mechanisms in the order in which they are tried.
    order: Vec<Mechanism>,
}

/// The first transfers of a way, of which the best counts; and after how many it is compared with others, even if there was no sum.
const TRIALS: u32 = 4;
const TRIALS_MOST: u32 = 40;
/// Every so many messages of a class another way is tried, if it is not hopeless.
const LOOK_AROUND: u32 = 1021;
const HOPELESS: u64 = 3;
/// Even a hopeless one, once in a long while.
const LOOK_FAR: u32 = 65_521;
/// Whether this message of a class belongs to a look around, and to which: they come at first after 64 and 256, as the first figures may be
/// wrong.
fn look_around(messages: u32) -> Option<u32> {
    let early = (64..LOOK_AROUND).contains(&messages);
    let (round, into) = match early {
        true => (messages.ilog2() / 2, messages - (1 << (messages.ilog2() / 2 * 2))),
        false => (messages / LOOK_AROUND, messages % LOOK_AROUND),
    };
    (into < FRESH as u32).then_some(round)
}

/// An answer serves for so many messages.
const FRESH: u8 = 10;
/// From here on two sides are tried before one.
const SHARED_FIRST: u64 = 48 * 1024;

impl Choice {
    pub fn new(order: Vec<Mechanism>) -> Choice {
        Choice { all: Box::new([[[Class::default(); CLASSES]; 2]; DISTANCES]), order }
    }

    fn class(&mut self, d: Distance, shaped: bool, bytes: u64) -> &mut Class {
        &mut self.all[d as usize][shaped as usize][class_of(bytes)]
    }

    /// One of `open`, which is not empty.
    #[inline]
    pub fn choose(&mut self, d: Distance, shaped: bool, bytes: u64, open: Ways) -> Way {
        let c = self.class(d, shaped, bytes);
        if c.known == open && c.fresh > 0 {
            c.fresh -= 1;
            c.messages = c.messages.wrapping_add(1);
            return Way::of(c.best as usize);
        }
        self.think(d, shaped, bytes, open)
    }

    #[cold]
    fn think(&mut self, d: Distance, shaped: bool, bytes: u64, open: Ways) -> Way {
        let c = &mut self.all[d as usize][shaped as usize][class_of(bytes)];
        c.messages = c.messages.wrapping_add(1);
        let untried = |w: &Way| open.has(*w) && !c.ways[w.index()].is_known();
        let single = self.order.iter().flat_map(|m| {
            let (alone, both) = (Way::Alone(*m), Way::Both(*m));
            if bytes >= SHARED_FIRST { [both, alone] } else { [alone, both] }
        });
        if CHOICE.get() == FIXED {
            let mut all = single.chain([Way::Eager, Way::Pipeline]);
            return all.find(|w| open.has(*w)).unwrap_or(Way::Pipeline);
        }
        if let Some(w) = [Way::Eager].into_iter().chain(single).chain([Way::Pipeline]).find(untried) {
            return w;
        }
        let pace = |w: &Way| c.ways[w.index()].pace;
        let Some(best) = open.each().min_by_key(|w| pace(w)) else { return Way::Pipeline };
        if let Some(round) = look_around(c.messages) {
            let other = open.each().nth(round as usize % open.0.count_ones() as usize).unwrap_or(best);
            if pace(&other) < HOPELESS * pace(&best) || c.messages >= LOOK_FAR && c.messages % LOOK_FAR < LOOK_AROUND {
                return other;
            }
        }
        (c.known, c.best, c.fresh) = (open, best.index() as u8, FRESH);
        best
    }

    /// A transfer of `bytes` took `ns`; `last`: no other is under way now.
    pub fn learn(&mut self, d: Distance, shaped: bool, bytes: u64, way: Way, ns: u64, last: bool) {
        self.class(d, shaped, bytes).ways[way.index()].learn(bytes, ns, last);
    }

    /// The best known way of a class and what it is compared with, for people.
    pub fn describe(&self, d: Distance, shaped: bool, class: usize) -> Option<String> {
        let c = &self.all[d as usize][shaped as usize][class];
        let mut known: Vec<(u64, Way)> =
            Way::all().filter(|w| c.ways[w.index()].taken > 0).map(|w| (c.ways[w.index()].pace, w)).collect();
        known.sort_by_key(|k| k.0);
        let (first, rest) = known.split_first()?;
        let bytes = 1u64 << (class as u32 + FIRST_CLASS);
        let us = |pace: u64| pace as f64 * bytes as f64 / 1_024_000_000.0;
        let others: Vec<String> = rest.iter().map(|(p, w)| format!("{w} {:.1}", us(*p))).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (us; {})", others.join(", ")) };
        Some(format!("{} {:.1}{others}", first.1, us(first.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: [Way; 3] = [Way::Both(Mechanism::Cma), Way::Alone(Mechanism::Cma), Way::Pipeline];

    fn choice() -> Choice {
        Choice::new(Mechanism::ALL.to_vec())
    }

    fn run(c: &mut Choice, n: usize, time: impl Fn(Way) -> u64) -> [usize; 3] {
        let mut taken = [0; 3];
        for _ in 0..n {
            let open = OPEN.into_iter().fold(Ways::default(), Ways::with);
            let w = c.choose(Distance::Cache, false, 100_000, open);
            c.learn(Distance::Cache, false, 100_000, w, time(w), true);
            taken[OPEN.iter().position(|o| *o == w).unwrap()] += 1;
        }
        taken
    }

    #[test]
    fn takes_the_fastest_and_notices_a_change() {
        let mut c = choice();
        let first = run(&mut c, 1000, |w| if w == Way::Pipeline { 900 } else { 1000 });
        assert!(first[2] > 900, "{first:?}");
        let then = run(&mut c, 3000, |w| if w == Way::Pipeline { 3000 } else { 1000 });
        assert!(then[2] < 300, "{then:?}");
    }

    #[test]
    fn a_hopeless_way_is_rarely_tried() {
        let mut c = choice();
        let taken = run(&mut c, 4000, |w| if w == Way::Pipeline { 100_000 } else { 1000 });
        assert!(taken[2] < 20, "{taken:?}");
    }

    #[test]
    fn ways_have_their_places() {
        for (i, w) in Way::all().enumerate() {
            assert_eq!((w.index(), Way::of(i)), (i, w));
        }
        let set =
            Ways::default().with_mechanisms(1 << Mechanism::Cma as u8, 1 << Mechanism::Heap as u8).with(Way::Pipeline);
        let all: Vec<Way> = set.each().collect();
        assert_eq!(all, [Way::Pipeline, Way::Alone(Mechanism::Cma), Way::Both(Mechanism::Heap)]);
    }

    #[test]
    fn classes_are_apart() {
        assert_eq!((class_of(0), class_of(8191), class_of(8192), class_of(u64::MAX)), (0, 0, 1, CLASSES - 1));
        let mut c = choice();
        c.learn(Distance::Cache, false, 1 << 20, Way::Pipeline, 5, true);
        assert!(c.describe(Distance::Cache, false, class_of(1 << 20)).is_some());
        assert!(c.describe(Distance::Cache, true, class_of(1 << 20)).is_none());
        assert!(c.describe(Distance::Node, false, class_of(1 << 20)).is_none());
    }
}
