//! Cutting a vector into parts, as arithmetic.
use std::ops::Range;

/// Part `i` of `parts` of `0..total`: consecutive, sizes differ by at most one.
pub fn even(total: usize, parts: usize, i: usize) -> Range<usize> {
    let (q, r) = (total / parts, total % parts);
    let start = |i: usize| i * q + i.min(r);
    start(i)..start(i + 1)
}

/// Consecutive parts `parts` of the cut into `of`, as one range.
pub fn even_run(total: usize, of: usize, parts: Range<usize>) -> Range<usize> {
    if parts.is_empty() {
        return 0..0;
    }
    even(total, of, parts.start).start..even(total, of, parts.end - 1).end
}

/// `0..total` in chunks of at most `chunk`: the reductions of long vectors run chunk after chunk, which
/// bounds temporary memory and keeps it in cache.
pub fn chunks(total: usize, chunk: usize) -> impl Iterator<Item = Range<usize>> {
    let chunk = chunk.max(1);
    (0..total.div_ceil(chunk)).map(move |i| i * chunk..((i + 1) * chunk).min(total))
}

/// The power of two at or below `n`, and how many ranks that leaves over.
pub fn power_of_two(n: usize) -> (usize, usize) {
    let p = 1 << n.ilog2();
    (p, n - p)
}

/// Folding `n` ranks onto the power of two `p`: of the first `2 * (n - p)` ranks each even one hands its
/// value to the odd one above it and waits. Neighbors are folded, so rank order is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    /// Hands its value to this rank and gets the result from it.
    Resting(usize),
    /// Takes part as this number; `guest` is the rank that rests meanwhile.
    Active { number: usize, guest: Option<usize> },
}

pub fn fold(rank: usize, n: usize) -> Fold {
    let (_, rest) = power_of_two(n);
    if rank >= 2 * rest {
        Fold::Active { number: rank - rest, guest: None }
    } else if rank.is_multiple_of(2) {
        Fold::Resting(rank + 1)
    } else {
        Fold::Active { number: rank / 2, guest: Some(rank - 1) }
    }
}

/// The rank of an active number: the inverse of [`fold`].
pub fn unfold(number: usize, n: usize) -> usize {
    let (_, rest) = power_of_two(n);
    if number < rest { 2 * number + 1 } else { number + rest }
}

/// Partners for exchanges in place: in round `round` of `n`, ranks meet in disjoint pairs, and over all
/// rounds each pair meets once (a rank may meet itself).
pub fn meeting(rank: usize, round: usize, n: usize) -> usize {
    (round + n - rank) % n
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn even_parts_cover_without_gaps() {
        for total in [0usize, 1, 5, 16, 1000, 1 << 40] {
            for parts in 1..9 {
                let mut at = 0;
                for i in 0..parts {
                    let r = even(total, parts, i);
                    assert_eq!(r.start, at);
                    assert!(r.len() <= total.div_ceil(parts) && r.len() >= total / parts);
                    at = r.end;
                }
                assert_eq!(at, total);
                assert_eq!(even_run(total, parts, 0..parts), 0..total);
                assert!(even_run(total, parts, 1..1).is_empty());
            }
        }
        let all: Vec<_> = chunks(10, 4).collect();
        assert_eq!(all, [0..4, 4..8, 8..10]);
        assert_eq!(chunks(0, 4).count(), 0);
    }

    #[test]
    fn folding_is_a_bijection_onto_the_active() {
        for n in 1..40 {
            let (p, _) = power_of_two(n);
            let mut guests = 0;
            for number in 0..p {
                match fold(unfold(number, n), n) {
                    Fold::Active { number: back, guest } => {
                        assert_eq!(back, number);
                        if let Some(g) = guest {
                            assert_eq!(fold(g, n), Fold::Resting(unfold(number, n)));
                            guests += 1;
                        }
                    }
                    Fold::Resting(_) => panic!("{number} of {n} rests"),
                }
            }
            assert_eq!(p + guests, n);
        }
    }

    #[test]
    fn every_pair_meets_once() {
        for n in 1..12 {
            let mut met = vec![0; n * n];
            for round in 0..n {
                for r in 0..n {
                    let other = meeting(r, round, n);
                    assert_eq!(meeting(other, round, n), r);
                    met[r * n + other] += 1;
                }
            }
            assert!(met.iter().all(|&m| m == 1), "n {n}");
        }
    }
}
