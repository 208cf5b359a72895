//! Who gets which message (MPI-5.0 3.5 "Order", 3.8.1 "Probe").
//!
//! Exact envelopes live in hash buckets, so that matching stays near constant with many posted or held entries; receives with
//! wildcards live in one list, and held messages are also in one list by arrival, which wildcard receives search. Ties are broken by
//! age. Pure data structure: an entry carries a `u32` that the caller understands.
use oxmpi_transport::wire::Context;

pub const ANY_SOURCE: i32 = -1;
pub const ANY_TAG: i32 = -2;

/// What a receive asks for; source and tag may be the wildcards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pattern {
    pub ctx: Context,
    /// A process index, or [`ANY_SOURCE`].
    pub source: i32,
    pub tag: i32,
}

impl Pattern {
    #[inline]
    fn exact(&self) -> bool {
        self.source != ANY_SOURCE && self.tag != ANY_TAG
    }
    #[inline]
    fn accepts(&self, e: &Pattern) -> bool {
        self.ctx == e.ctx
            && (self.source == ANY_SOURCE || self.source == e.source)
            && (self.tag == ANY_TAG || self.tag == e.tag)
    }
}

const NIL: u32 = 0;
const BUCKETS: usize = 4096;

#[inline]
fn bucket(p: &Pattern) -> usize {
    let x = (p.ctx.0 ^ (p.source as u32 as u64) << 20 ^ (p.tag as u32 as u64) << 36 ^ p.tag as u32 as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x >> 52) as usize
}

#[derive(Clone, Copy, Default)]
struct Link {
    prev: u32,
    next: u32,
}

#[derive(Clone, Copy, Default)]
struct Ends {
    head: u32,
    tail: u32,
}

struct Node {
    what: Pattern,
    age: u64,
    user: u32,
    /// In the bucket (0) and in the age list (1).
    links: [Link; 2],
}

/// A place in a [`Queue`]; valid until removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place(u32);

/// Nodes with free list, buckets, and one list by age of those that `listed`.
struct Queue {
    nodes: Vec<Node>,
    free: Vec<u32>,
    buckets: Vec<Ends>,
    by_age: Ends,
}

impl Queue {
    fn new() -> Queue {
        // Node 0 is never used, so that all-zero buckets are empty (and cost no memory until touched).
        let nil =
            Node { what: Pattern { ctx: Context(0), source: 0, tag: 0 }, age: 0, user: 0, links: Default::default() };
        Queue { nodes: vec![nil], free: Vec::new(), buckets: vec![Ends::default(); BUCKETS], by_age: Ends::default() }
    }

    fn append(nodes: &mut [Node], ends: &mut Ends, which: usize, i: u32) {
        nodes[i as usize].links[which] = Link { prev: ends.tail, next: NIL };
        match ends.tail {
            NIL => ends.head = i,
            t => nodes[t as usize].links[which].next = i,
        }
        ends.tail = i;
    }

    fn unlink(nodes: &mut [Node], ends: &mut Ends, which: usize, i: u32) {
        let Link { prev, next } = nodes[i as usize].links[which];
        match prev {
            NIL => ends.head = next,
            p => nodes[p as usize].links[which].next = next,
        }
        match next {
            NIL => ends.tail = prev,
            n => nodes[n as usize].links[which].prev = prev,
        }
    }

    #[inline]
    fn insert(&mut self, what: Pattern, age: u64, user: u32, in_bucket: bool, by_age: bool) -> Place {
        let node = Node { what, age, user, links: Default::default() };
        let i = match self.free.pop() {
            Some(i) => {
                self.nodes[i as usize] = node;
                i
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        if in_bucket {
            Self::append(&mut self.nodes, &mut self.buckets[bucket(&what)], 0, i);
        }
        if by_age {
            Self::append(&mut self.nodes, &mut self.by_age, 1, i);
        }
        Place(i)
    }

    #[inline]
    fn remove(&mut self, Place(i): Place, in_bucket: bool, by_age: bool) -> u32 {
        let what = self.nodes[i as usize].what;
        if in_bucket {
            Self::unlink(&mut self.nodes, &mut self.buckets[bucket(&what)], 0, i);
        }
        if by_age {
            Self::unlink(&mut self.nodes, &mut self.by_age, 1, i);
        }
        self.free.push(i);
        self.nodes[i as usize].user
    }

    #[inline]
    fn first(&self, ends: &Ends, which: usize, want: impl Fn(&Pattern) -> bool) -> Option<Place> {
        let mut i = ends.head;
        while i != NIL {
            let n = &self.nodes[i as usize];
            if want(&n.what) {
                return Some(Place(i));
            }
            i = n.links[which].next;
        }
        None
    }
}

/// Posted receives.
pub struct Posted {
    q: Queue,
    age: u64,
    count: usize,
}

impl Default for Posted {
    fn default() -> Self {
        Posted { q: Queue::new(), age: 0, count: 0 }
    }
}

impl Posted {
    #[inline]
    pub fn post(&mut self, want: Pattern, user: u32) -> Place {
        self.age += 1;
        self.count += 1;
        self.q.insert(want, self.age, user, want.exact(), !want.exact())
    }
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    pub fn len(&self) -> usize {
        self.count
    }
    /// The most there have been at a time.
    pub fn most(&self) -> usize {
        self.q.nodes.len() - 1
    }
    /// The oldest receive that accepts a message with this (exact) envelope; whether it is an exact one.
    #[inline]
    fn find(&self, envelope: Pattern) -> Option<(Place, bool)> {
        let exact = self.q.first(&self.q.buckets[bucket(&envelope)], 0, |p| *p == envelope);
        let wild = match self.q.by_age.head {
            NIL => return exact.map(|e| (e, true)),
            _ => self.q.first(&self.q.by_age, 1, |p| p.accepts(&envelope)),
        };
        let age = |p: Place| self.q.nodes[p.0 as usize].age;
        match (exact, wild) {
            (Some(e), w) if w.is_none_or(|w| age(e) < age(w)) => Some((e, true)),
            (_, Some(w)) => Some((w, false)),
            _ => None,
        }
    }
    /// Takes the oldest receive that accepts a message with this (exact) envelope.
    #[inline]
    pub fn take(&mut self, envelope: Pattern) -> Option<u32> {
        let (place, exact) = self.find(envelope)?;
        self.count -= 1;
        Some(self.q.remove(place, exact, !exact))
    }
    /// Whether `take` would find one.
    pub fn would_take(&self, envelope: Pattern) -> bool {
        self.find(envelope).is_some()
    }
    /// Takes back a receive that has not matched.
    pub fn withdraw(&mut self, place: Place) -> u32 {
        let exact = self.q.nodes[place.0 as usize].what.exact();
        self.count -= 1;
        self.q.remove(place, exact, !exact)
    }
}

/// Messages that came before their receive.
pub struct Held {
    q: Queue,
    count: usize,
}

impl Default for Held {
    fn default() -> Self {
        Held { q: Queue::new(), count: 0 }
    }
}

impl Held {
    pub fn hold(&mut self, envelope: Pattern, user: u32) {
        self.count += 1;
        self.q.insert(envelope, 0, user, true, true);
    }
    #[inline]
    fn find(&self, want: Pattern) -> Option<Place> {
        if self.count == 0 {
            None
        } else if want.exact() {
            self.q.first(&self.q.buckets[bucket(&want)], 0, |p| *p == want)
        } else {
            self.q.first(&self.q.by_age, 1, |p| want.accepts(p))
        }
    }
    /// The oldest message this pattern accepts, left in place.
    pub fn peek(&self, want: Pattern) -> Option<(Pattern, u32)> {
        self.find(want).map(|p| (self.q.nodes[p.0 as usize].what, self.q.nodes[p.0 as usize].user))
    }
    #[inline]
    pub fn take(&mut self, want: Pattern) -> Option<(Pattern, u32)> {
        let p = self.find(want)?;
        self.count -= 1;
        let what = self.q.nodes[p.0 as usize].what;
        Some((what, self.q.remove(p, true, true)))
    }
    /// Takes this very message, which has this envelope; false if it is not here.
    pub fn withdraw(&mut self, envelope: Pattern, user: u32) -> bool {
        let mut i = self.q.buckets[bucket(&envelope)].head;
        while i != NIL && self.q.nodes[i as usize].user != user {
            i = self.q.nodes[i as usize].links[0].next;
        }
        let found = i != NIL && self.q.nodes[i as usize].what == envelope;
        if found {
            self.count -= 1;
            self.q.remove(Place(i), true, true);
        }
        found
    }
    /// All messages from one process, the oldest first.
    pub fn from_source(&self, source: i32) -> Vec<(Pattern, u32)> {
        let (mut i, mut all) = (self.q.by_age.head, Vec::new());
        while i != NIL {
            let node = &self.q.nodes[i as usize];
            if node.what.source == source {
                all.push((node.what, node.user));
            }
            i = node.links[1].next;
        }
        all
    }
    pub fn len(&self) -> usize {
        self.count
    }
    /// The most there have been at a time: a place is made when none is free.
    pub fn most(&self) -> usize {
        self.q.nodes.len() - 1
    }
    /// Those of some contexts.
    pub fn count(&self, of: impl Fn(Context) -> bool) -> usize {
        let (mut i, mut n) = (self.q.by_age.head, 0);
        while i != NIL {
            let node = &self.q.nodes[i as usize];
            n += of(node.what.ctx) as usize;
            i = node.links[1].next;
        }
        n
    }
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pattern() -> impl Strategy<Value = Pattern> {
        (0u64..2, -1i32..3, prop_oneof![Just(ANY_TAG), 0i32..3]).prop_map(|(c, source, tag)| Pattern {
            ctx: Context(c * 2),
            source,
            tag,
        })
    }

    proptest! {
        /// Against two plain lists searched from the front.
        #[test]
        fn matches_as_the_naive_lists(steps in proptest::collection::vec((0u8..3, pattern()), 1..300)) {
            let (mut posted, mut held) = (Posted::default(), Held::default());
            let mut receives: Vec<(Pattern, u32, Place)> = Vec::new();
            let mut messages: Vec<(Pattern, u32)> = Vec::new();
            let mut most = (0, 0);
            for (i, (what, p)) in steps.into_iter().enumerate() {
                let user = i as u32 + 1;
                match what {
                    0 => {
                        let naive = messages.iter().position(|(e, _)| p.accepts(e)).map(|k| messages.remove(k));
                        prop_assert_eq!(held.peek(p), naive);
                        prop_assert_eq!(held.take(p), naive);
                        if naive.is_none() {
                            receives.push((p, user, posted.post(p, user)));
                        }
                    }
                    1 => {
                        let e = Pattern { source: p.source.max(0), tag: p.tag.max(0), ..p };
                        let naive = receives.iter().position(|(r, _, _)| r.accepts(&e)).map(|k| receives.remove(k).1);
                        prop_assert_eq!(posted.would_take(e), naive.is_some());
                        prop_assert_eq!(posted.take(e), naive);
                        if naive.is_none() {
                            messages.push((e, user));
                            held.hold(e, user);
                        }
                    }
                    2 if !messages.is_empty() && i % 2 == 0 => {
                        let (envelope, user) = messages.remove(i % messages.len());
                        prop_assert!(held.withdraw(envelope, user) && !held.withdraw(envelope, user));
                    }
                    _ if !receives.is_empty() => {
                        let (_, user, place) = receives.remove(i % receives.len());
                        prop_assert_eq!(posted.withdraw(place), user);
                    }
                    _ => {}
                }
                prop_assert_eq!((held.len(), posted.len()), (messages.len(), receives.len()));
                let of = |c: Context| c == Context(2);
                prop_assert_eq!(held.count(of), messages.iter().filter(|m| of(m.0.ctx)).count());
                let from_one: Vec<_> = messages.iter().filter(|m| m.0.source == 1).copied().collect();
                prop_assert_eq!(held.from_source(1), from_one);
                most = (most.0.max(receives.len()), most.1.max(messages.len()));
                prop_assert_eq!((posted.most(), held.most()), most);
                prop_assert_eq!(posted.is_empty(), receives.is_empty());
            }
        }
    }
}
