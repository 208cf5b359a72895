//! Pairwise reduce-scatter: every rank sends each other rank that rank's part of its input, and combines
//! what it gets for its own part. Any number of ranks; each byte is sent once.
//!
//! Rank order: parts arrive from ranks me-1, me-2, ..., 0 and then n-1, ..., me+1. Each goes below what has
//! gathered on its side; where the operation does not commute the two sides are joined at the end.
use crate::buffer::Data;
use crate::reduction::Reduction;
use crate::steps::{Room, Steps};
use oxmpi_base::Result;

/// Reduces `input(me)` over all ranks into `out` (none: over `input(me)` itself). `input(r)` is what this
/// rank contributes to the part of rank `r`; empty parts are not sent.
pub fn pairwise<'a>(
    x: &impl Steps,
    input: impl Fn(usize) -> Data<'a>,
    out: Option<Data>,
    op: &Reduction,
) -> Result<()> {
    let (me, n) = (x.rank(), x.size());
    let own = input(me);
    let sum = out.unwrap_or(own);
    if out.is_some() {
        x.copy(own, sum);
    }
    let two_sides = !op.commutative && me + 1 < n;
    let (mut mem_a, mut mem_b) = (x.typed(own, own.count)?, x.typed(own, own.count)?);
    let mut mem_high = x.typed(own, if two_sides { own.count } else { 0 })?;
    let rooms = [mem_a.buf(), mem_b.buf()].map(|buf| Data { buf, ..own });
    let high = Data { buf: mem_high.buf(), ..own };
    let mut high_begun = false;

    let post = |i: usize| if own.bytes() > 0 && i < n { x.irecv(rooms[i % 2], (me + n - i) % n) } else { None };
    let mut arriving = post(1);
    for i in 1..n {
        let dest = (me + i) % n;
        let part = input(dest);
        let sending = if part.bytes() > 0 { x.isend(part, dest) } else { None };
        let next = post(i + 1);
        let theirs = rooms[i % 2];
        if x.wait(std::mem::replace(&mut arriving, next)) {
            if i <= me || op.commutative {
                x.apply(op, theirs.buf, sum.buf, sum.count);
            } else if high_begun {
                x.apply(op, theirs.buf, high.buf, high.count);
            } else {
                x.copy(theirs, high);
                high_begun = true;
            }
        }
        x.wait(sending);
    }
    if high_begun {
        x.apply_into_low(op, sum, high);
    }
    Ok(())
}
