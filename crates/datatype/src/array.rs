//! Pieces of multidimensional arrays: MPI_Type_create_subarray (MPI-5.0 5.1.3) and MPI_Type_create_darray (5.1.4).
//!
//! Both are built from the fastest dimension outwards: a node for the elements chosen so far is repeated over the chosen
//! indices of the next dimension. The bounds of the result are those of the whole array.
use crate::Datatype;
use crate::construct::Acc;
use crate::envelope::Envelope;
use crate::node::{Node, SeqBuilder, repeat};
use crate::signature::Sig;
use crate::types::Inner;
use oxmpi_base::{Error, Result, bail, consts::*};
use std::sync::Arc;

/// The chosen part of the dimensions done so far.
struct Part<'a> {
    what: &'static str,
    old: &'a Inner,
    node: Arc<Node>,
    /// Elements of `old` in `node`.
    n: i128,
    /// Lowest and highest displacement of an element.
    lo: i128,
    hi: i128,
    /// Bytes from one index of the next dimension to the following one.
    step: i64,
}

impl<'a> Part<'a> {
    fn new(what: &'static str, old: &'a Inner) -> Part<'a> {
        Part { what, old, node: old.node.clone(), n: 1, lo: 0, hi: 0, step: old.extent as i64 }
    }

    /// The bounds of `count` indices from `first` on, `by` apart.
    fn span(&self, first: i64, count: i64, by: i64) -> (i128, i128) {
        let a = first as i128 * self.step as i128;
        let b = (first as i128 + (count as i128 - 1) * by as i128) * self.step as i128;
        (self.lo + a.min(b), self.hi + a.max(b))
    }

    /// Takes the next dimension, `size` indices of which `count` blocks of `len` are chosen, the first at `first`, `by` apart,
    /// and then `rest` more indices from where the next block would start.
    fn dimension(&mut self, size: i64, first: i64, (count, len, by): (i64, i64, i64), rest: i64) -> Result<()> {
        let chosen = count as i128 * len as i128 + rest as i128;
        let Some(step) = self.step.checked_mul(size) else {
            bail!(MPI_ERR_ARG, "{}: the whole array would reach beyond the 64-bit address space", self.what);
        };
        if chosen == 0 || self.n == 0 {
            self.n = 0;
            self.node = Arc::new(Node::Empty);
        } else {
            self.n = self.n.saturating_mul(chosen);
            self.fits()?;
            let tail = first as i128 + count as i128 * by as i128;
            let (mut lo, mut hi) = (i128::MAX, i128::MIN);
            if count > 0 && len > 0 {
                for start in [first as i128, tail - by as i128] {
                    let (l, h) = self.span(start as i64, len, 1);
                    (lo, hi) = (lo.min(l), hi.max(h));
                }
            }
            if rest > 0 {
                let (l, h) = self.span(tail as i64, rest, 1);
                (lo, hi) = (lo.min(l), hi.max(h));
            }
            let at = |i: i64| i.wrapping_mul(self.step) as isize;
            let mut seq = SeqBuilder::default();
            if count > 0 && len > 0 {
                let block = Arc::new(repeat(&self.node, len as usize, self.step as isize));
                seq.push(&repeat(&block, count as usize, at(by)).shifted(at(first)));
            }
            seq.push(&repeat(&self.node, rest as usize, self.step as isize).shifted(at(tail as i64)));
            self.node = Arc::new(seq.finish());
            (self.lo, self.hi) = (lo, hi);
        }
        self.step = step;
        Ok(())
    }

    /// The data so far can exist (nodes do not check).
    fn fits(&self) -> Result<()> {
        let t = self.old;
        if t.size > 0 && self.n.saturating_mul(t.size as i128) > isize::MAX as i128 {
            bail!(MPI_ERR_COUNT, "{} would hold more than 2^63-1 bytes of data", self.what);
        }
        Ok(())
    }

    fn finish(self, envelope: Envelope) -> Result<Datatype> {
        let mut acc = Acc::new();
        if self.n > 0 {
            acc.place(self.old, 1, self.lo);
            acc.place(self.old, 1, self.hi);
        }
        acc.amount(self.old, self.n);
        acc.set_bounds(0, self.step as i128);
        acc.check(self.what)?;
        let sig = if self.n > 0 && self.old.size > 0 { self.old.sig.repeat(self.n as u64) } else { Sig::Empty };
        Ok(acc.build(Node::clone(&self.node), sig, envelope))
    }
}

fn check_order(what: &str, order: i32) -> Result<()> {
    if order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN {
        bail!(MPI_ERR_ARG, "{what}: order is {order}; use MPI_ORDER_C or MPI_ORDER_FORTRAN");
    }
    Ok(())
}

/// Dimensions from the fastest to the slowest.
fn fastest_first(n: usize, order: i32) -> impl Iterator<Item = usize> {
    (0..n).map(move |i| if order == MPI_ORDER_C { n - 1 - i } else { i })
}

/// The arguments of MPI_Type_create_darray, as the standard names them.
#[derive(Clone, Copy, Debug)]
pub struct Darray<'a> {
    pub size: i32,
    pub rank: i32,
    pub gsizes: &'a [i64],
    pub distribs: &'a [i32],
    pub dargs: &'a [i32],
    pub psizes: &'a [i32],
    pub order: i32,
}

impl Datatype {
    /// MPI_Type_create_subarray; the number of dimensions is the length of the arrays.
    pub fn subarray(
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: i32,
        old: &Datatype,
        large: bool,
    ) -> Result<Datatype> {
        let what = "MPI_Type_create_subarray";
        let n = sizes.len();
        if n == 0 || subsizes.len() != n || starts.len() != n {
            let (b, c) = (subsizes.len(), starts.len());
            bail!(
                MPI_ERR_ARG,
                "{what}: sizes, subsizes and starts have {n}, {b} and {c} entries; each needs one per dimension, of at least one"
            );
        }
        check_order(what, order)?;
        for d in 0..n {
            let (size, sub, start) = (sizes[d], subsizes[d], starts[d]);
            if size < 1 || sub < 1 || sub > size {
                bail!(
                    MPI_ERR_ARG,
                    "{what}: dimension {d} has size {size} and subsize {sub}; 1 <= subsize <= size is needed"
                );
            }
            if start < 0 || start > size - sub {
                bail!(
                    MPI_ERR_ARG,
                    "{what}: dimension {d} starts at {start}; 0 <= start <= size - subsize = {} is needed",
                    size - sub
                );
            }
        }
        let mut part = Part::new(what, &old.0);
        for d in fastest_first(n, order) {
            part.dimension(sizes[d], starts[d], (1, subsizes[d], subsizes[d]), 0)?;
        }
        let mut e = Envelope::new(MPI_COMBINER_SUBARRAY, large, &[], &[], &[old])?;
        e.ints(&[n as i64])?;
        if large {
            e.large_counts = [sizes, subsizes, starts].concat();
        } else {
            for list in [sizes, subsizes, starts] {
                e.ints(list)?;
            }
        }
        e.ints(&[order as i64])?;
        part.finish(e)
    }

    /// MPI_Type_create_darray: the part of a block or cyclically distributed array that process `rank` of `size` holds.
    pub fn darray(a: &Darray, old: &Datatype, large: bool) -> Result<Datatype> {
        let what = "MPI_Type_create_darray";
        let n = a.gsizes.len();
        check_darray(what, a)?;
        // Process coordinates: the grid is in row-major order whatever the order of the array.
        let mut coords = vec![0i64; n];
        let mut r = a.rank as i64;
        for d in (0..n).rev() {
            coords[d] = r % a.psizes[d] as i64;
            r /= a.psizes[d] as i64;
        }
        let mut part = Part::new(what, &old.0);
        for d in fastest_first(n, a.order) {
            let (g, p, c) = (a.gsizes[d], a.psizes[d] as i64, coords[d]);
            let b = block_size(what, a, d)?;
            match a.distribs[d] {
                MPI_DISTRIBUTE_CYCLIC => {
                    // In 128 bits: psize * block may be more than 64.
                    let (first, by) = (c as i128 * b as i128, p as i128 * b as i128);
                    let left = (g as i128 - first).max(0);
                    let full = left / by + i128::from(left % by >= b as i128);
                    let rest = if left % by >= b as i128 { 0 } else { left % by };
                    let by = by.min(i64::MAX as i128) as i64;
                    let first = first.min(g as i128) as i64;
                    // A rest always follows `full` whole rounds.
                    part.dimension(g, first, (full as i64, b, by), rest as i64)?;
                }
                MPI_DISTRIBUTE_BLOCK => {
                    let first = (c as i128 * b as i128).min(g as i128) as i64;
                    let len = b.min(g - first);
                    part.dimension(g, first, (1, len, len), 0)?;
                }
                _ => part.dimension(g, 0, (1, g, g), 0)?,
            }
        }
        let mut e = Envelope::new(MPI_COMBINER_DARRAY, large, &[], &[], &[old])?;
        e.integers.extend([a.size, a.rank, n as i32]);
        if large {
            e.large_counts = a.gsizes.to_vec();
        } else {
            e.ints(a.gsizes)?;
        }
        for list in [a.distribs, a.dargs, a.psizes] {
            e.integers.extend(list);
        }
        e.integers.push(a.order);
        part.finish(e)
    }
}

fn check_darray(what: &str, a: &Darray) -> Result<()> {
    let n = a.gsizes.len();
    if n == 0 || [a.distribs.len(), a.dargs.len(), a.psizes.len()] != [n; 3] {
        bail!(
            MPI_ERR_ARG,
            "{what}: gsizes, distribs, dargs and psizes each need one entry per dimension, of at least one"
        );
    }
    check_order(what, a.order)?;
    if a.size < 1 || a.rank < 0 || a.rank >= a.size {
        bail!(MPI_ERR_ARG, "{what}: rank {} of a group of size {}; 0 <= rank < size is needed", a.rank, a.size);
    }
    let mut grid = 1i128;
    for d in 0..n {
        let (g, p, kind, darg) = (a.gsizes[d], a.psizes[d], a.distribs[d], a.dargs[d]);
        if g < 1 || p < 1 {
            bail!(MPI_ERR_ARG, "{what}: dimension {d} has {g} elements over {p} processes; both must be positive");
        }
        if ![MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC].contains(&kind) {
            bail!(
                MPI_ERR_ARG,
                "{what}: distribution {kind} of dimension {d} is none of MPI_DISTRIBUTE_NONE, _BLOCK, _CYCLIC"
            );
        }
        if kind == MPI_DISTRIBUTE_NONE && p != 1 {
            bail!(MPI_ERR_ARG, "{what}: dimension {d} is MPI_DISTRIBUTE_NONE over {p} processes; its psize must be 1");
        }
        if kind != MPI_DISTRIBUTE_NONE && darg != MPI_DISTRIBUTE_DFLT_DARG && darg < 1 {
            bail!(
                MPI_ERR_ARG,
                "{what}: distribution argument {darg} of dimension {d} must be positive or MPI_DISTRIBUTE_DFLT_DARG"
            );
        }
        grid = grid.saturating_mul(p as i128);
    }
    if grid != a.size as i128 {
        bail!(MPI_ERR_ARG, "{what}: the process grid has {grid} places for {} processes", a.size);
    }
    Ok(())
}

fn block_size(what: &str, a: &Darray, d: usize) -> Result<i64> {
    let (g, p, darg) = (a.gsizes[d], a.psizes[d] as i64, a.dargs[d]);
    match (a.distribs[d], darg) {
        (MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_DFLT_DARG) => Ok((g - 1) / p + 1),
        (MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_DFLT_DARG) => Ok(1),
        (MPI_DISTRIBUTE_BLOCK, b) if (b as i128) * (p as i128) < g as i128 => Err(Error::arg(format!(
            "{what}: blocks of {b} over {p} processes do not cover the {g} elements of dimension {d}"
        ))),
        (_, b) => Ok(b as i64),
    }
}
