//! Derived datatype constructors (MPI-5.0 5.1.2, 5.1.7, 5.1.10).
//!
//! Counts and displacements are 64-bit whichever twin was called; `large` says which one, for the envelope. Every constructor
//! comes down to blocks (`n` copies of a type from a displacement on) whose bounds [`Acc`] adds up in 128-bit arithmetic, so that
//! whatever does not fit is an error (MPI_ERR_ARG or MPI_ERR_COUNT) and never a wrapped number.
//!
//! Bounds (5.1.6, 5.1.7): explicit bounds of a component are markers of the new type too; where there is any, lb is the lowest
//! lower marker and ub the highest upper one, and nothing else counts. Without any, the padding of a component (the standard's
//! epsilon) counts as part of it, as in MPICH and Open MPI: where displacements are not aligned, the flat type map would have
//! a smaller upper bound, and what is built on the extents of components (mpi4py's dtypes) would overlap.
use crate::Datatype;
use crate::envelope::Envelope;
use crate::node::{Node, SeqBuilder, repeat};
use crate::signature::Sig;
use crate::types::{Inner, Uniform};
use oxmpi_base::{Error, Result, bail, consts::*};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Bounds, size and make-up of a type under construction.
pub(crate) struct Acc {
    /// Data: lowest and past-highest byte.
    data: Option<(i128, i128)>,
    /// The same with the padding of components without explicit bounds.
    padded: Option<(i128, i128)>,
    marks: Option<(i128, i128)>,
    size: i128,
    align: usize,
    uniform: Uniform,
}

fn widen(range: &mut Option<(i128, i128)>, lo: i128, hi: i128) {
    *range = Some(match *range {
        None => (lo, hi),
        Some((l, h)) => (l.min(lo), h.max(hi)),
    });
}

impl Acc {
    pub fn new() -> Acc {
        Acc { data: None, padded: None, marks: None, size: 0, align: 1, uniform: Uniform::Empty }
    }

    /// Bounds of `n` copies of `t`, the first at `disp`. `n` is not negative.
    pub fn place(&mut self, t: &Inner, n: i64, disp: i128) {
        if n <= 0 {
            return;
        }
        let last = (n as i128 - 1) * t.extent as i128;
        let (lo, hi) = (disp + last.min(0), disp + last.max(0));
        if t.size > 0 {
            widen(&mut self.data, lo + t.true_lb as i128, hi + t.true_ub as i128);
        }
        if t.size > 0 && !t.marked {
            widen(&mut self.padded, lo + t.lb as i128, hi + t.ub() as i128);
        }
        if t.marked {
            widen(&mut self.marks, lo + t.lb as i128, hi + t.ub() as i128);
        }
    }

    /// The data of `n` copies of `t`, wherever they are.
    pub fn amount(&mut self, t: &Inner, n: i128) {
        if n <= 0 {
            return;
        }
        // Saturating: two such amounts still add up without overflow, and both are refused below.
        self.size = (self.size + n.saturating_mul(t.size as i128).min(1 << 100)).min(1 << 100);
        self.align = self.align.max(t.align);
        self.uniform = match (self.uniform, t.uniform) {
            (Uniform::Empty, u) | (u, Uniform::Empty) => u,
            (a, b) if a == b => a,
            _ => Uniform::Mixed,
        };
    }

    pub fn add(&mut self, t: &Inner, n: i64, disp: i128) {
        self.place(t, n, disp);
        self.amount(t, n as i128);
    }

    /// Bounds set from outside.
    pub fn set_bounds(&mut self, lb: i128, ub: i128) {
        self.marks = Some((lb, ub));
    }

    /// Whether a type of these dimensions can exist. Asked before nodes are built, which do not check.
    pub fn check(&self, what: &str) -> Result<()> {
        if self.size > isize::MAX as i128 {
            bail!(MPI_ERR_COUNT, "{what} would hold more than 2^63-1 bytes of data; use smaller counts");
        }
        let fits = |r: &Option<(i128, i128)>| {
            r.is_none_or(|(lo, hi)| [lo, hi, hi.saturating_sub(lo)].iter().all(|v| isize::try_from(*v).is_ok()))
        };
        // The epsilon may still be added to the upper bound.
        let padded = self.padded.map(|(lo, hi)| (lo, hi + self.align as i128));
        if !fits(&self.data) || !fits(&padded) || !fits(&self.marks) {
            bail!(
                MPI_ERR_ARG,
                "{what} would reach beyond the 64-bit address space; check its displacements, strides and counts"
            );
        }
        Ok(())
    }

    /// The finished type; `check` has passed.
    pub fn build(self, node: Node, sig: Sig, envelope: Envelope) -> Datatype {
        let (true_lb, true_ub) = self.data.unwrap_or((0, 0));
        let (lb, ub) = match self.marks {
            Some(m) => m,
            None => {
                let ((lb, ub), a) = (self.padded.unwrap_or((0, 0)), self.align as i128);
                (lb, lb + (ub - lb + a - 1) / a * a)
            }
        };
        Datatype::new(Inner {
            dense: None,
            size: self.size as usize,
            lb: lb as isize,
            extent: (ub - lb) as isize,
            committed: AtomicBool::new(false),
            marked: self.marks.is_some(),
            true_lb: true_lb as isize,
            true_ub: true_ub as isize,
            align: self.align,
            node: Arc::new(node),
            handle: None,
            name: None,
            elem: None,
            uniform: self.uniform,
            sig,
            envelope,
        })
    }
}

/// `n` consecutive elements of `t` from `disp` on.
fn block(t: &Inner, n: i64, disp: i64) -> Node {
    repeat(&t.node, n as usize, t.extent).shifted(disp as isize)
}

fn check_count(what: &str, count: i64) -> Result<()> {
    if count < 0 {
        bail!(MPI_ERR_COUNT, "{what}: count is {count}; a count must not be negative");
    }
    Ok(())
}

fn check_blocklength(what: &str, b: i64) -> Result<()> {
    if b < 0 {
        bail!(MPI_ERR_ARG, "{what}: a block length is {b}; block lengths must not be negative");
    }
    Ok(())
}

fn check_len(what: &str, name: &str, len: usize, count: i64) -> Result<()> {
    if len as i64 != count {
        bail!(MPI_ERR_ARG, "{what}: {name} has {len} entries, count is {count}");
    }
    Ok(())
}

/// `elements * extent` in bytes.
fn bytes(what: &str, elements: i64, t: &Inner) -> Result<i64> {
    elements.checked_mul(t.extent as i64).ok_or_else(|| {
        Error::arg(format!(
            "{what}: {elements} extents of {} bytes do not fit 64 bits; check the displacements",
            t.extent
        ))
    })
}

/// All hvector-like types.
fn strided(
    what: &str,
    count: i64,
    blocklength: i64,
    stride: i64,
    old: &Datatype,
    envelope: impl FnOnce() -> Result<Envelope>,
) -> Result<Datatype> {
    check_count(what, count)?;
    check_blocklength(what, blocklength)?;
    let t = &*old.0;
    let mut acc = Acc::new();
    if count > 0 {
        acc.place(t, blocklength, 0);
        acc.place(t, blocklength, (count as i128 - 1) * stride as i128);
    }
    acc.amount(t, count as i128 * blocklength as i128);
    acc.check(what)?;
    let envelope = envelope()?;
    if acc.size == 0 {
        return Ok(acc.build(Node::Empty, Sig::Empty, envelope));
    }
    let node = repeat(&Arc::new(block(t, blocklength, 0)), count as usize, stride as isize);
    let sig = t.sig.repeat((count * blocklength) as u64);
    Ok(acc.build(node, sig, envelope))
}

/// All hindexed-like types: blocks of `t`, as length and displacement in bytes.
fn scattered(
    what: &str,
    t: &Inner,
    blocks: impl Iterator<Item = (i64, i64)> + Clone,
    envelope: impl FnOnce() -> Result<Envelope>,
) -> Result<Datatype> {
    let mut acc = Acc::new();
    let mut total = 0i128;
    let mut even = Progression::default();
    for (n, disp) in blocks.clone() {
        check_blocklength(what, n)?;
        acc.place(t, n, disp as i128);
        total += n as i128;
        even.add(n, disp);
    }
    acc.amount(t, total);
    acc.check(what)?;
    let envelope = envelope()?;
    if acc.size == 0 {
        return Ok(acc.build(Node::Empty, Sig::Empty, envelope));
    }
    let node = match even.stride() {
        Some(stride) => repeat(&Arc::new(block(t, even.len, even.first)), even.n, stride as isize),
        None => {
            let mut seq = SeqBuilder::default();
            for (n, disp) in blocks.filter(|b| b.0 > 0) {
                seq.push(&block(t, n, disp));
            }
            seq.finish()
        }
    };
    Ok(acc.build(node, t.sig.repeat(total as u64), envelope))
}

/// Notices blocks of one length at one stride.
#[derive(Default)]
struct Progression {
    n: usize,
    len: i64,
    first: i64,
    last: i64,
    stride: i64,
    broken: bool,
}

impl Progression {
    fn add(&mut self, len: i64, disp: i64) {
        if len == 0 {
            return;
        }
        let step = disp.wrapping_sub(self.last);
        match self.n {
            0 => (self.len, self.first) = (len, disp),
            1 => self.stride = step,
            _ => self.broken |= self.stride != step,
        }
        self.broken |= self.len != len;
        self.last = disp;
        self.n += 1;
    }
    fn stride(&self) -> Option<i64> {
        (!self.broken && self.n > 0).then_some(self.stride)
    }
}

/// Displacements in elements as displacements in bytes; those of empty blocks do not matter.
fn scale(what: &str, blocks: impl Iterator<Item = (i64, i64)>, t: &Inner) -> Result<()> {
    for (n, d) in blocks {
        if n > 0 {
            bytes(what, d, t)?;
        }
    }
    Ok(())
}

impl Datatype {
    /// MPI_Type_contiguous.
    pub fn contiguous(count: i64, old: &Datatype, large: bool) -> Result<Datatype> {
        let what = "MPI_Type_contiguous";
        check_count(what, count)?;
        strided(what, 1, count, 0, old, || Envelope::new(MPI_COMBINER_CONTIGUOUS, large, &[&[count]], &[], &[old]))
    }

    /// MPI_Type_vector: `stride` in elements.
    pub fn vector(count: i64, blocklength: i64, stride: i64, old: &Datatype, large: bool) -> Result<Datatype> {
        let what = "MPI_Type_vector";
        let step = if count > 1 && blocklength > 0 { bytes(what, stride, &old.0)? } else { 0 };
        strided(what, count, blocklength, step, old, || {
            Envelope::new(MPI_COMBINER_VECTOR, large, &[&[count, blocklength, stride]], &[], &[old])
        })
    }

    /// MPI_Type_create_hvector: `stride` in bytes.
    pub fn hvector(count: i64, blocklength: i64, stride: i64, old: &Datatype, large: bool) -> Result<Datatype> {
        strided("MPI_Type_create_hvector", count, blocklength, stride, old, || {
            Envelope::new(MPI_COMBINER_HVECTOR, large, &[&[count, blocklength]], &[&[stride]], &[old])
        })
    }

    /// MPI_Type_indexed: displacements in elements.
    pub fn indexed(blocklengths: &[i64], displacements: &[i64], old: &Datatype, large: bool) -> Result<Datatype> {
        let (what, t) = ("MPI_Type_indexed", &*old.0);
        let count = blocklengths.len() as i64;
        check_len(what, "the displacement array", displacements.len(), count)?;
        let blocks = || blocklengths.iter().copied().zip(displacements.iter().copied());
        scale(what, blocks(), t)?;
        let ext = t.extent as i64;
        scattered(what, t, blocks().map(move |(n, d)| (n, d.wrapping_mul(ext))), || {
            Envelope::new(MPI_COMBINER_INDEXED, large, &[&[count], blocklengths, displacements], &[], &[old])
        })
    }

    /// MPI_Type_create_hindexed: displacements in bytes.
    pub fn hindexed(blocklengths: &[i64], displacements: &[i64], old: &Datatype, large: bool) -> Result<Datatype> {
        let what = "MPI_Type_create_hindexed";
        let count = blocklengths.len() as i64;
        check_len(what, "the displacement array", displacements.len(), count)?;
        scattered(what, &old.0, blocklengths.iter().copied().zip(displacements.iter().copied()), || {
            Envelope::new(MPI_COMBINER_HINDEXED, large, &[&[count], blocklengths], &[displacements], &[old])
        })
    }

    /// MPI_Type_create_indexed_block: displacements in elements.
    pub fn indexed_block(blocklength: i64, displacements: &[i64], old: &Datatype, large: bool) -> Result<Datatype> {
        let (what, t) = ("MPI_Type_create_indexed_block", &*old.0);
        check_blocklength(what, blocklength)?;
        let count = displacements.len() as i64;
        scale(what, displacements.iter().map(|d| (blocklength, *d)), t)?;
        let ext = t.extent as i64;
        scattered(what, t, displacements.iter().map(move |d| (blocklength, d.wrapping_mul(ext))), || {
            Envelope::new(MPI_COMBINER_INDEXED_BLOCK, large, &[&[count, blocklength], displacements], &[], &[old])
        })
    }

    /// MPI_Type_create_hindexed_block: displacements in bytes.
    pub fn hindexed_block(blocklength: i64, displacements: &[i64], old: &Datatype, large: bool) -> Result<Datatype> {
        let what = "MPI_Type_create_hindexed_block";
        check_blocklength(what, blocklength)?;
        let count = displacements.len() as i64;
        scattered(what, &old.0, displacements.iter().map(|d| (blocklength, *d)), || {
            Envelope::new(MPI_COMBINER_HINDEXED_BLOCK, large, &[&[count, blocklength]], &[displacements], &[old])
        })
    }

    /// MPI_Type_create_struct.
    pub fn structure(blocklengths: &[i64], displacements: &[i64], types: &[Datatype], large: bool) -> Result<Datatype> {
        let what = "MPI_Type_create_struct";
        let count = blocklengths.len() as i64;
        check_len(what, "the displacement array", displacements.len(), count)?;
        check_len(what, "the type array", types.len(), count)?;
        let blocks = || blocklengths.iter().zip(displacements).zip(types).map(|((n, d), t)| (*n, *d, &*t.0));
        let mut acc = Acc::new();
        for (n, d, t) in blocks() {
            check_blocklength(what, n)?;
            acc.add(t, n, d as i128);
        }
        acc.check(what)?;
        let refs: Vec<&Datatype> = types.iter().collect();
        let envelope = Envelope::new(MPI_COMBINER_STRUCT, large, &[&[count], blocklengths], &[displacements], &refs)?;
        let mut seq = SeqBuilder::default();
        for (n, d, t) in blocks().filter(|b| b.0 > 0) {
            seq.push(&block(t, n, d));
        }
        let sig = Sig::concat(blocks().map(|(n, _, t)| if t.size == 0 { Sig::Empty } else { t.sig.repeat(n as u64) }));
        Ok(acc.build(seq.finish(), sig, envelope))
    }

    /// MPI_Type_create_resized.
    pub fn resized(old: &Datatype, lb: i64, extent: i64, large: bool) -> Result<Datatype> {
        let what = "MPI_Type_create_resized";
        let mut acc = Acc::new();
        acc.add(&old.0, 1, 0);
        acc.set_bounds(lb as i128, lb as i128 + extent as i128);
        acc.check(what)?;
        let envelope = Envelope::new(MPI_COMBINER_RESIZED, large, &[], &[&[lb, extent]], &[old])?;
        Ok(acc.build(Node::clone(&old.0.node), old.0.sig.clone(), envelope))
    }

    /// MPI_Type_dup: as committed as the original.
    pub fn dup(&self) -> Datatype {
        let t = &*self.0;
        Datatype(Arc::new(Inner {
            dense: t.dense,
            size: t.size,
            lb: t.lb,
            extent: t.extent,
            committed: AtomicBool::new(self.committed()),
            marked: t.marked,
            true_lb: t.true_lb,
            true_ub: t.true_ub,
            align: t.align,
            node: t.node.clone(),
            handle: None,
            name: None,
            elem: None,
            uniform: t.uniform,
            sig: t.sig.clone(),
            envelope: Envelope { combiner: MPI_COMBINER_DUP, datatypes: vec![self.clone()], ..Default::default() },
        }))
    }
}
