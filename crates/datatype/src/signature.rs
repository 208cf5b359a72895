//! Type signatures (MPI-5.0 5.1: the basic types of a type map, in order) in a compact form, for everything that counts basic
//! elements: MPI_Get_elements (5.1.11), external32.
//!
//! Invariants: no form but `Empty` holds zero elements; a predefined pair type counts as its two members; sizes fit an `i64`.
use crate::predefined::prim_size;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) enum Sig {
    Empty,
    /// `n` elements of the predefined type with this table index.
    Uniform {
        prim: u8,
        n: u64,
    },
    /// `n` times `body`.
    Repeat {
        n: u64,
        bytes: u64,
        count: u64,
        body: Arc<Sig>,
    },
    Seq(Arc<SeqSig>),
}

#[derive(Debug)]
pub(crate) struct SeqSig {
    bytes: u64,
    count: u64,
    /// Bytes and elements before the part, and the part.
    parts: Vec<(u64, u64, Sig)>,
}

const INLINE_PARTS: usize = 64;

impl Sig {
    pub fn bytes(&self) -> u64 {
        match self {
            Sig::Empty => 0,
            Sig::Uniform { prim, n } => n * prim_size(*prim) as u64,
            Sig::Repeat { n, bytes, .. } => n * bytes,
            Sig::Seq(s) => s.bytes,
        }
    }
    /// Basic elements.
    pub fn count(&self) -> u64 {
        match self {
            Sig::Empty => 0,
            Sig::Uniform { n, .. } => *n,
            Sig::Repeat { n, count, .. } => n * count,
            Sig::Seq(s) => s.count,
        }
    }
    /// `times` copies; the caller has checked that the bytes fit.
    pub fn repeat(&self, times: u64) -> Sig {
        if times == 0 {
            return Sig::Empty;
        }
        match self {
            _ if times == 1 => self.clone(),
            Sig::Empty => Sig::Empty,
            Sig::Uniform { prim, n } => Sig::Uniform { prim: *prim, n: n * times },
            Sig::Repeat { n, bytes, count, body } => {
                Sig::Repeat { n: n * times, bytes: *bytes, count: *count, body: body.clone() }
            }
            Sig::Seq(s) => Sig::Repeat { n: times, bytes: s.bytes, count: s.count, body: Arc::new(self.clone()) },
        }
    }
    pub fn concat(list: impl Iterator<Item = Sig>) -> Sig {
        let mut flat: Vec<Sig> = Vec::new();
        for s in list {
            append(&mut flat, &s);
        }
        if flat.len() <= 1 {
            return flat.pop().unwrap_or(Sig::Empty);
        }
        let (mut bytes, mut count) = (0, 0);
        let parts = flat
            .into_iter()
            .map(|s| {
                let at = (bytes, count);
                bytes += s.bytes();
                count += s.count();
                (at.0, at.1, s)
            })
            .collect();
        Sig::Seq(Arc::new(SeqSig { bytes, count, parts }))
    }
    /// Basic elements in the first `bytes` bytes; None when that cuts one.
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if bytes == 0 {
            return Some(0);
        }
        match self {
            Sig::Empty => None,
            Sig::Uniform { prim, .. } => {
                let e = prim_size(*prim) as u64;
                (bytes.is_multiple_of(e)).then_some(bytes / e)
            }
            Sig::Repeat { bytes: each, count, body, .. } => {
                Some(bytes / each * count + body.elements_in(bytes % each)?)
            }
            Sig::Seq(s) => {
                if bytes >= s.bytes {
                    return Some(s.count);
                }
                let (start, before, part) = &s.parts[s.parts.partition_point(|p| p.0 <= bytes) - 1];
                Some(before + part.elements_in(bytes - start)?)
            }
        }
    }
    /// Bytes of the first `elements` basic elements, which are no more than there are.
    pub fn bytes_in(&self, elements: u64) -> u64 {
        match self {
            Sig::Empty => 0,
            Sig::Uniform { prim, .. } => elements * prim_size(*prim) as u64,
            Sig::Repeat { bytes: each, count, body, .. } => elements / count * each + body.bytes_in(elements % count),
            Sig::Seq(s) => {
                let (start, before, part) = &s.parts[s.parts.partition_point(|p| p.1 <= elements) - 1];
                start + part.bytes_in(elements - before)
            }
        }
    }
    /// Bytes in a representation in which a basic type takes `size(table index)` bytes; None if that is more than 63 bits hold.
    pub fn bytes_as(&self, size: &dyn Fn(u8) -> u64) -> Option<u64> {
        let bytes = match self {
            Sig::Empty => 0,
            Sig::Uniform { prim, n } => n.checked_mul(size(*prim))?,
            Sig::Repeat { n, body, .. } => n.checked_mul(body.bytes_as(size)?)?,
            Sig::Seq(s) => s.parts.iter().try_fold(0u64, |sum, p| sum.checked_add(p.2.bytes_as(size)?))?,
        };
        i64::try_from(bytes).is_ok().then_some(bytes)
    }
    /// Calls `f(table index, elements)` for the runs of equal basic types, in order, until it says false.
    pub fn visit(&self, f: &mut dyn FnMut(u8, u64) -> bool) -> bool {
        match self {
            Sig::Empty => true,
            Sig::Uniform { prim, n } => f(*prim, *n),
            Sig::Repeat { n, body, .. } => (0..*n).all(|_| body.visit(f)),
            Sig::Seq(s) => s.parts.iter().all(|p| p.2.visit(f)),
        }
    }
}

fn append(flat: &mut Vec<Sig>, s: &Sig) {
    match s {
        Sig::Empty => {}
        Sig::Uniform { prim, n } => match flat.last_mut() {
            Some(Sig::Uniform { prim: p, n: m }) if p == prim => *m += n,
            _ => flat.push(s.clone()),
        },
        Sig::Seq(q) if q.parts.len() <= INLINE_PARTS => q.parts.iter().for_each(|p| append(flat, &p.2)),
        _ => flat.push(s.clone()),
    }
}
