//! Sets of partitions: which are ready, which have arrived.

/// A set of numbers below a bound that is given at the beginning.
pub(crate) struct Bits {
    words: Vec<u64>,
    /// No word before this one has a bit.
    low: usize,
}

/// The words that `n` bits from `first` touch, each with its share of them.
fn masks(first: u32, n: u32) -> impl Iterator<Item = (usize, u64)> {
    let (mut at, end) = (first as u64, first as u64 + n as u64);
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let (word, bit) = (at / 64, at % 64);
        let len = (64 - bit).min(end - at);
        at += len;
        Some((word as usize, (u64::MAX >> (64 - len)) << bit))
    })
}

impl Bits {
    pub fn new(bound: u32) -> Bits {
        Bits { words: vec![0; (bound as usize).div_ceil(64)], low: 0 }
    }
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.low = 0;
    }
    /// Adds `n` numbers from `first`; how many of them were not there.
    pub fn add(&mut self, first: u32, n: u32) -> u32 {
        self.low = self.low.min(first as usize / 64);
        let mut new = 0;
        for (w, mask) in masks(first, n) {
            new += (mask & !self.words[w]).count_ones();
            self.words[w] |= mask;
        }
        new
    }
    pub fn remove(&mut self, first: u32, n: u32) {
        masks(first, n).for_each(|(w, mask)| self.words[w] &= !mask);
    }
    pub fn has_all(&self, first: u32, n: u32) -> bool {
        masks(first, n).all(|(w, mask)| self.words[w] & mask == mask)
    }
    pub fn has_any(&self, first: u32, n: u32) -> bool {
        masks(first, n).any(|(w, mask)| self.words[w] & mask != 0)
    }
    /// The lowest number in the set, and how many follow each other from there on.
    pub fn first_run(&mut self) -> Option<(u32, u32)> {
        self.low += self.words[self.low..].iter().position(|w| *w != 0).unwrap_or(self.words.len() - self.low);
        let word = *self.words.get(self.low)?;
        let bit = word.trailing_zeros();
        let mut n = (word >> bit).trailing_ones();
        let mut w = self.low;
        // A run that reaches the end of its word goes on in the next.
        while (bit + n).is_multiple_of(64) && w + 1 < self.words.len() {
            w += 1;
            let more = self.words[w].trailing_ones();
            n += more;
            if more < 64 {
                break;
            }
        }
        Some((self.low as u32 * 64 + bit, n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_as_a_plain_set(steps in proptest::collection::vec((0u8..2, 0u32..300, 0u32..150), 1..60)) {
            let (mut bits, mut plain) = (Bits::new(450), BTreeSet::new());
            for (what, first, n) in steps {
                let range = first..first + n;
                prop_assert_eq!(bits.has_all(first, n), range.clone().all(|k| plain.contains(&k)));
                prop_assert_eq!(bits.has_any(first, n), range.clone().any(|k| plain.contains(&k)));
                if what == 0 {
                    let new = range.filter(|k| plain.insert(*k)).count();
                    prop_assert_eq!(bits.add(first, n), new as u32);
                } else {
                    plain.retain(|k| !range.contains(k));
                    bits.remove(first, n);
                }
                let run = plain.first().map(|f| (*f, (*f..).take_while(|k| plain.contains(k)).count() as u32));
                prop_assert_eq!(bits.first_run(), run);
            }
        }
    }
}
