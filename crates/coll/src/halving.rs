//! Recursive halving and doubling over a power of two of ranks (Rabenseifner's reduce-scatter and
//! allgather).
//!
//! The vector is cut into n even parts. In step `mask` = 1, 2, 4, ... a rank and its partner `rank ^ mask`
//! split the parts they both hold: the lower rank keeps the lower half. So a step combines results of
//! neighboring runs of ranks, lower with higher: rank order holds for operations that do not commute.
use crate::blocks::even_run;
use crate::buffer::Data;
use crate::reduction::Reduction;
use crate::steps::{Room, Steps};
use oxmpi_base::Result;
use std::ops::Range;

/// The parts that `rank` of `n` holds before step `mask` (all of them before step 1, one before step n).
pub fn parts(rank: usize, mask: usize, n: usize) -> Range<usize> {
    let (mut start, mut bit, mut len) = (0, 1, n);
    while bit < mask {
        len /= 2;
        if rank & bit != 0 {
            start += len;
        }
        bit *= 2;
    }
    start..start + len
}

/// Reduces the part of each rank over all ranks: afterwards `acc` (none: `input` itself) holds at this rank
/// the result of `parts(rank, n, n)`, and unspecified values in the parts given away meanwhile. Only the half
/// `parts(rank, 2, n)` of `acc` is touched.
pub fn reduce_parts(x: &impl Steps, input: Data, acc: Option<Data>, op: &Reduction) -> Result<()> {
    let (me, n, count) = (x.rank(), x.size(), input.count);
    let elements = |rank: usize, mask: usize| even_run(count, n, parts(rank, mask, n));
    // The first arrivals can land in `acc` unless their operand would have to be overwritten.
    let first_direct = acc.is_some() && (op.commutative || me & 1 == 0);
    let widest = elements(me, if first_direct { 4.min(n) } else { 2 }).len();
    let mut temp = x.typed(input, widest)?;
    let room = temp.buf();
    let into = acc.unwrap_or(input);
    let mut have = input;
    let mut mask = 1;
    while mask < n {
        let partner = me ^ mask;
        let (keep, give) = (elements(me, 2 * mask), elements(partner, 2 * mask));
        let (give, mine, sum) = (have.part(give), have.part(keep.clone()), into.part(keep));
        if mask == 1 && first_direct {
            if x.sendrecv(give, partner, sum, partner) {
                x.apply(op, mine.buf, sum.buf, sum.count);
            } else {
                x.copy(mine, sum);
            }
        } else {
            if mask == 1 && acc.is_some() {
                x.copy(mine, sum);
            }
            let theirs = Data { buf: room, ..sum };
            if x.sendrecv(give, partner, theirs, partner) {
                if partner < me {
                    x.apply(op, theirs.buf, sum.buf, sum.count);
                } else {
                    x.apply_into_low(op, sum, theirs);
                }
            }
        }
        have = into;
        mask *= 2;
    }
    Ok(())
}

/// The way back: every rank's part of `all` goes to all.
pub fn spread_parts(x: &impl Steps, all: Data) {
    let (me, n) = (x.rank(), x.size());
    let elements = |rank: usize, mask: usize| all.part(even_run(all.count, n, parts(rank, mask, n)));
    let mut mask = n / 2;
    while mask > 0 {
        let partner = me ^ mask;
        x.sendrecv(elements(me, 2 * mask), partner, elements(partner, 2 * mask), partner);
        mask /= 2;
    }
}

#[cfg(test)]
mod test {
    use super::parts;

    #[test]
    fn partners_split_what_both_hold() {
        for n in [2, 4, 8, 64] {
            let mut mask = 1;
            while mask < n {
                for r in 0..n {
                    let (low, high) = (parts(r & !mask, 2 * mask, n), parts(r | mask, 2 * mask, n));
                    assert_eq!(parts(r, mask, n), parts(r ^ mask, mask, n));
                    assert_eq!(low.start..high.end, parts(r, mask, n));
                    assert_eq!(low.end, high.start);
                }
                mask *= 2;
            }
            let mut owners: Vec<_> = (0..n).map(|r| parts(r, n, n).start).collect();
            owners.sort();
            assert!(owners.into_iter().eq(0..n));
        }
    }
}
