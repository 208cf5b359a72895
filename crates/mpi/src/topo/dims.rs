//! MPI_Dims_create (MPI-5.0 8.5.2): the most balanced factorisation.
//!
//! "As close to each other as possible" is read as: the difference between the largest and the smallest dimension is the least there is;
//! among those with the least difference, the sum is. The search goes through ascending sequences of divisors, the smallest factor first
//! and from the root downwards, so that the first leaf is nearly the best and the bounds cut nearly all the rest.
use oxmpi_base::args::Arr;
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail};

pub fn dims_create(nnodes: i32, ndims: i32, dims: Arr<i32>) -> Result<()> {
    if nnodes < 1 {
        bail!(MPI_ERR_ARG, "nnodes is {nnodes}; a grid has at least one node");
    }
    if ndims < 0 {
        bail!(MPI_ERR_DIMS, "ndims is {ndims}; a grid cannot have a negative number of dimensions");
    }
    let given = dims.slice(ndims as usize)?;
    let mut fixed = 1u64;
    for (i, &d) in given.iter().enumerate() {
        if d < 0 {
            bail!(MPI_ERR_DIMS, "dims[{i}] is {d}; give a positive number, or 0 for a dimension to be chosen");
        }
        // A product that is already too large stays so.
        fixed = fixed.saturating_mul(d.max(1) as u64);
    }
    let free = given.iter().filter(|d| **d == 0).count();
    if nnodes as u64 % fixed != 0 || (free == 0 && fixed != nnodes as u64) {
        bail!(
            MPI_ERR_DIMS,
            "{nnodes} nodes do not fit the given dimensions {given:?}: their product is {fixed}{}",
            if free == 0 { ", and none is 0, to be chosen" } else { "" }
        );
    }
    let chosen = balanced(nnodes as u64 / fixed, free);
    let open = (0..ndims as usize).filter(|&i| dims.at(i) == 0);
    open.zip(chosen).for_each(|(i, d)| dims.put(i, d as i32));
    Ok(())
}

/// `n` as a product of `k` factors, in non-increasing order.
pub(super) fn balanced(n: u64, k: usize) -> Vec<u64> {
    if k == 0 {
        return Vec::new();
    }
    let primes = factorise(n);
    // More factors than primes: the rest are ones, and what is left is a smaller problem with the same answer for every k.
    let many: u32 = primes.iter().map(|p| p.1).sum();
    let spare = k.saturating_sub(many.max(1) as usize);
    let mut search = Search {
        divisors: divisors(&primes),
        forced: primes.last().map_or(1, |p| p.0),
        floor: if spare > 0 { 1 } else { 0 },
        prefix: Vec::new(),
        best: None,
    };
    search.descend(n, k - spare, 1, 0);
    let mut found = search.best.map_or_else(Vec::new, |b| b.2);
    found.reverse();
    found.resize(k, 1);
    found
}

fn factorise(mut n: u64) -> Vec<(u64, u32)> {
    let mut primes = Vec::new();
    let mut p = 2;
    while p * p <= n {
        let mut e = 0;
        while n % p == 0 {
            n /= p;
            e += 1;
        }
        if e > 0 {
            primes.push((p, e));
        }
        p += 1;
    }
    if n > 1 {
        primes.push((n, 1));
    }
    primes
}

fn divisors(primes: &[(u64, u32)]) -> Vec<u64> {
    let mut all = vec![1];
    for &(p, e) in primes {
        for i in 0..all.len() * e as usize {
            all.push(all[i] * p);
        }
    }
    all.sort_unstable();
    all
}

struct Search {
    divisors: Vec<u64>,
    /// The largest prime: some factor is at least this.
    forced: u64,
    /// 1: there are factors 1 besides those searched for.
    floor: u64,
    /// Chosen so far, ascending.
    prefix: Vec<u64>,
    /// Difference, sum, factors.
    best: Option<(u64, u64, Vec<u64>)>,
}

impl Search {
    fn smallest(&self, next: u64) -> u64 {
        if self.floor > 0 { self.floor } else { self.prefix.first().copied().unwrap_or(next) }
    }

    /// Completes the prefix with `k` factors of `rest`, none below `low`.
    fn descend(&mut self, rest: u64, k: usize, low: u64, sum: u64) {
        if k == 1 {
            let found = (rest - self.smallest(rest), sum + rest);
            if self.best.as_ref().is_none_or(|b| found < (b.0, b.1)) {
                let factors = self.prefix.iter().copied().chain([rest]).collect();
                self.best = Some((found.0, found.1, factors));
            }
            return;
        }
        let top = root(rest, k);
        let mut i = self.divisors.partition_point(|d| *d <= top);
        while i > 0 && self.divisors[i - 1] >= low {
            i -= 1;
            let d = self.divisors[i];
            if rest % d != 0 {
                continue;
            }
            // The largest factor is at least the root of what remains, rounded up, and holds the largest prime; k equal factors have
            // the least sum.
            let left = rest / d;
            let largest = root(left, k - 1) + (root(left, k - 1).checked_pow(k as u32 - 1) != Some(left)) as u64;
            let difference = largest.max(self.forced).max(d) - self.smallest(d);
            let least = sum + d + ((k - 1) as f64 * (left as f64).powf(1.0 / (k - 1) as f64) - 1e-6).ceil() as u64;
            if self.best.as_ref().is_some_and(|b| (difference, least) >= (b.0, b.1)) {
                if self.prefix.is_empty() && self.best.as_ref().is_some_and(|b| difference > b.0) && self.floor == 0 {
                    return; // Smaller first factors only make the difference larger.
                }
                continue;
            }
            self.prefix.push(d);
            self.descend(left, k - 1, d, sum + d);
            self.prefix.pop();
        }
    }
}

/// The largest r with r^k <= n.
fn root(n: u64, k: usize) -> u64 {
    let fits = |r: u64| r.checked_pow(k as u32).is_some_and(|p| p <= n);
    let mut r = (n as f64).powf(1.0 / k as f64).round() as u64;
    while r > 1 && !fits(r) {
        r -= 1;
    }
    while fits(r + 1) {
        r += 1;
    }
    r.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every ascending sequence of factors.
    fn all(n: u64, k: usize, low: u64, prefix: &mut Vec<u64>, each: &mut impl FnMut(&[u64])) {
        if k == 1 {
            if n >= low {
                prefix.push(n);
                each(prefix);
                prefix.pop();
            }
            return;
        }
        for d in (low..=n).take_while(|d| d.checked_pow(k as u32).is_some_and(|p| p <= n)).filter(|d| n % d == 0) {
            prefix.push(d);
            all(n / d, k - 1, d, prefix, each);
            prefix.pop();
        }
    }

    #[test]
    fn nothing_is_better_balanced() {
        for n in 1..=4000 {
            for k in 1..=5 {
                let got = balanced(n, k);
                assert_eq!(got.len(), k);
                assert_eq!(got.iter().product::<u64>(), n, "{n} in {k}: {got:?}");
                assert!(got.is_sorted_by(|a, b| a >= b), "{n} in {k}: {got:?}");
                let mut best = (u64::MAX, u64::MAX);
                all(n, k, 1, &mut Vec::new(), &mut |f| best = best.min((f[k - 1] - f[0], f.iter().sum())));
                assert_eq!((got[0] - got[k - 1], got.iter().sum()), best, "{n} in {k}: {got:?}");
            }
        }
    }

    #[test]
    fn known_grids() {
        assert_eq!(balanced(6, 2), [3, 2]);
        assert_eq!(balanced(7, 2), [7, 1]);
        assert_eq!(balanced(72, 3), [6, 4, 3]);
        assert_eq!(balanced(1 << 30, 40)[..3], [2, 2, 2]);
        assert_eq!(balanced(1, 3), [1, 1, 1]);
        assert_eq!(balanced(5, 0), [0; 0]);
    }

    /// The numbers below 2^31 with the most divisors, powers, a prime and the product of two: none may take long.
    #[test]
    fn large_numbers_take_few_steps() {
        for n in [2095133040u64, 1396755360, 698377680, 1 << 30, 2147483647, 46337 * 46339, 1162261467, 2116316160] {
            for k in 2..=32 {
                let got = balanced(n, k);
                assert_eq!((got.len(), got.iter().product::<u64>()), (k, n), "{got:?}");
            }
        }
    }
}
