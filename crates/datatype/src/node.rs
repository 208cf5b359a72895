//! The flattened form of a type map (MPI-5.0 5.1): what has to be copied, and from where, with the basic types forgotten.
//!
//! A [`Node`] is a loop tree over byte blocks in packed order. Invariants, kept by [`repeat`] and [`SeqBuilder`], the only
//! ways to build one:
//! - no node but `Empty` holds zero bytes; `n >= 2` in `Strided` and `Loop`; two or more entries in `Even`, `Ragged`, `Seq`;
//! - a `Strided` never has `stride == len` (that is a `Run`), neighbouring blocks of a `Ragged` never touch;
//! - in an `Even` they may: a list of nearly even blocks is cut into even ones, which are copied without a look at lengths;
//! - the body of a `Loop` is not a `Run` (that is a `Strided`); so nesting is bounded by the logarithm of the size;
//! - bodies are shared: a type built from another points at the other's nodes, and a vector of a million blocks is one node.
//!
//! Offsets are added with wrapping arithmetic: constructors have checked that every block's final position fits an `isize`.
use std::sync::Arc;

/// A block in a list: its displacement and the packed bytes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub off: isize,
    pub start: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    Empty,
    /// One block.
    Run {
        off: isize,
        len: usize,
    },
    /// `n` blocks of `len` bytes, `stride` apart.
    Strided {
        off: isize,
        len: usize,
        stride: isize,
        n: usize,
    },
    /// Blocks of one length at listed displacements.
    Even {
        off: isize,
        len: usize,
        offs: Arc<[isize]>,
    },
    /// Blocks of any lengths; a block ends where the next one starts in the stream, the last at `bytes`.
    Ragged {
        off: isize,
        bytes: u64,
        blocks: Arc<[Block]>,
    },
    /// `n` copies of `body` (`each` bytes), `stride` apart.
    Loop {
        off: isize,
        stride: isize,
        n: usize,
        each: u64,
        body: Arc<Node>,
    },
    /// Unlike parts one after the other.
    Seq {
        off: isize,
        seq: Arc<Seq>,
    },
}

#[derive(Debug)]
pub(crate) struct Seq {
    pub bytes: u64,
    blocks: u64,
    /// Packed bytes before each part.
    pub starts: Vec<u64>,
    pub parts: Vec<Node>,
}

/// Nodes of at most this many blocks are written out when they become part of a list.
const INLINE_BLOCKS: u64 = 4;
/// Lists of at least this many blocks are cut into even blocks where they nearly are.
const LONG_LIST: usize = 32;
/// Sequences of at most this many parts are written out inside another sequence, which keeps chains of structs flat.
const INLINE_PARTS: usize = 64;

impl Node {
    /// Packed bytes.
    pub fn bytes(&self) -> u64 {
        match self {
            Node::Empty => 0,
            Node::Run { len, .. } => *len as u64,
            Node::Strided { len, n, .. } => *len as u64 * *n as u64,
            Node::Even { len, offs, .. } => *len as u64 * offs.len() as u64,
            Node::Ragged { bytes, .. } => *bytes,
            Node::Loop { n, each, .. } => *n as u64 * each,
            Node::Seq { seq, .. } => seq.bytes,
        }
    }

    /// Blocks a walk meets.
    pub fn blocks(&self) -> u64 {
        match self {
            Node::Empty => 0,
            Node::Run { .. } => 1,
            Node::Strided { n, .. } => *n as u64,
            Node::Even { offs, .. } => offs.len() as u64,
            Node::Ragged { blocks, .. } => blocks.len() as u64,
            Node::Loop { n, body, .. } => body.blocks().saturating_mul(*n as u64),
            Node::Seq { seq, .. } => seq.blocks,
        }
    }

    /// The same node, displaced.
    pub fn shifted(mut self, by: isize) -> Node {
        match &mut self {
            Node::Empty => {}
            Node::Run { off, .. }
            | Node::Strided { off, .. }
            | Node::Even { off, .. }
            | Node::Ragged { off, .. }
            | Node::Loop { off, .. }
            | Node::Seq { off, .. } => *off = off.wrapping_add(by),
        }
        self
    }

    /// Calls `f(displacement, length)` for the blocks from stream position `skip` on, the first one cut if need be, until
    /// `f` says false. Returns false when it did.
    pub fn visit(&self, base: isize, skip: u64, f: &mut dyn FnMut(isize, usize) -> bool) -> bool {
        match self {
            Node::Empty => true,
            Node::Run { off, len } => {
                let s = skip as usize;
                s >= *len || f(base.wrapping_add(*off).wrapping_add(s as isize), len - s)
            }
            Node::Strided { off, len, stride, n } => {
                let (i, cut) = split(skip, *len as u64);
                let mut at = base.wrapping_add(*off).wrapping_add(stride.wrapping_mul(i as isize));
                let mut cut = cut as usize;
                for _ in i..*n as u64 {
                    if !f(at.wrapping_add(cut as isize), len - cut) {
                        return false;
                    }
                    cut = 0;
                    at = at.wrapping_add(*stride);
                }
                true
            }
            Node::Even { off, len, offs } => {
                let (i, cut) = split(skip, *len as u64);
                let mut cut = cut as usize;
                offs.iter().skip(i as usize).all(|o| {
                    let c = std::mem::take(&mut cut);
                    f(base.wrapping_add(*off).wrapping_add(*o).wrapping_add(c as isize), len - c)
                })
            }
            Node::Ragged { off, bytes, blocks } => {
                if skip >= *bytes {
                    return true;
                }
                let i = if skip == 0 { 0 } else { blocks.partition_point(|b| b.start <= skip) - 1 };
                let mut from = skip;
                (i..blocks.len()).all(|i| {
                    let end = blocks.get(i + 1).map_or(*bytes, |b| b.start);
                    let at = base
                        .wrapping_add(*off)
                        .wrapping_add(blocks[i].off)
                        .wrapping_add((from - blocks[i].start) as isize);
                    let len = (end - from) as usize;
                    from = end;
                    f(at, len)
                })
            }
            Node::Loop { off, stride, n, each, body } => {
                let (i, mut cut) = split(skip, *each);
                let mut at = base.wrapping_add(*off).wrapping_add(stride.wrapping_mul(i as isize));
                for _ in i..*n as u64 {
                    if !body.visit(at, std::mem::take(&mut cut), f) {
                        return false;
                    }
                    at = at.wrapping_add(*stride);
                }
                true
            }
            Node::Seq { off, seq } => {
                if skip >= seq.bytes {
                    return true;
                }
                let i = seq.find(skip);
                let mut cut = skip - seq.starts[i];
                seq.parts[i..].iter().all(|p| p.visit(base.wrapping_add(*off), std::mem::take(&mut cut), f))
            }
        }
    }
}

impl Seq {
    /// The part that holds stream position `skip < bytes`.
    pub fn find(&self, skip: u64) -> usize {
        if skip == 0 { 0 } else { self.starts.partition_point(|s| *s <= skip) - 1 }
    }
}

/// `(skip / each, skip % each)`, cheap for 0.
#[inline]
pub(crate) fn split(skip: u64, each: u64) -> (u64, u64) {
    if skip == 0 { (0, 0) } else { (skip / each, skip % each) }
}

/// `n` copies of `body`, `stride` bytes apart.
pub(crate) fn repeat(body: &Arc<Node>, n: usize, stride: isize) -> Node {
    if n == 0 {
        return Node::Empty;
    }
    if n == 1 {
        return Node::clone(body);
    }
    match **body {
        Node::Empty => Node::Empty,
        Node::Run { off, len } => blocks(off, len, stride, n),
        Node::Strided { off, len, stride: inner, n: m } if inner.checked_mul(m as isize) == Some(stride) => {
            Node::Strided { off, len, stride: inner, n: n * m }
        }
        Node::Loop { off, stride: inner, n: m, each, body: ref b } if inner.checked_mul(m as isize) == Some(stride) => {
            Node::Loop { off, stride: inner, n: n * m, each, body: b.clone() }
        }
        ref b => Node::Loop { off: 0, stride, n, each: b.bytes(), body: body.clone() },
    }
}

/// Greatest common divisor; `gcd(0, b)` is `b`.
fn gcd(mut a: usize, mut b: usize) -> usize {
    while a > 0 {
        (a, b) = (b % a, a);
    }
    b
}

fn blocks(off: isize, len: usize, stride: isize, n: usize) -> Node {
    if stride == len as isize { Node::Run { off, len: len * n } } else { Node::Strided { off, len, stride, n } }
}

/// Puts nodes one after the other and finds the tightest form for the whole.
#[derive(Default)]
pub(crate) struct SeqBuilder {
    parts: Vec<Node>,
    /// Blocks not yet made into a node: displacement and length.
    runs: Vec<(isize, usize)>,
}

impl SeqBuilder {
    pub fn push(&mut self, node: &Node) {
        match node {
            Node::Empty => {}
            Node::Run { off, len } => self.run(*off, *len),
            Node::Seq { off, seq } if seq.parts.len() <= INLINE_PARTS => {
                for p in &seq.parts {
                    self.push(&p.clone().shifted(*off));
                }
            }
            n if n.blocks() <= INLINE_BLOCKS => {
                n.visit(0, 0, &mut |off, len| {
                    self.run(off, len);
                    true
                });
            }
            n => {
                self.flush();
                self.parts.push(n.clone());
            }
        }
    }

    fn run(&mut self, off: isize, len: usize) {
        match self.runs.last_mut() {
            Some((o, l)) if o.wrapping_add(*l as isize) == off => *l += len,
            _ => self.runs.push((off, len)),
        }
    }

    fn flush(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        let Some(&(off, len)) = runs.first() else { return };
        // What all lengths are multiples of; as blocks of that size the list is not much longer, or it stays ragged.
        let unit = runs.iter().fold(0, |unit, r| gcd(unit, r.1));
        let units: usize = runs.iter().map(|r| r.1 / unit).sum();
        let node = if runs.len() == 1 {
            Node::Run { off, len }
        } else if unit == len && units == runs.len() {
            let stride = runs[1].0.wrapping_sub(off);
            if runs.windows(2).all(|w| w[1].0.wrapping_sub(w[0].0) == stride) {
                blocks(off, len, stride, runs.len())
            } else {
                Node::Even { off: 0, len, offs: runs.iter().map(|r| r.0).collect() }
            }
        } else if runs.len() >= LONG_LIST && units <= 2 * runs.len() {
            let offs =
                runs.iter().flat_map(|r| (0..r.1 / unit).map(|i| r.0.wrapping_add((i * unit) as isize))).collect();
            Node::Even { off: 0, len: unit, offs }
        } else {
            let mut start = 0;
            let list = runs
                .iter()
                .map(|r| {
                    let b = Block { off: r.0, start };
                    start += r.1 as u64;
                    b
                })
                .collect();
            Node::Ragged { off: 0, bytes: start, blocks: list }
        };
        self.parts.push(node);
    }

    pub fn finish(mut self) -> Node {
        self.flush();
        if self.parts.len() <= 1 {
            return self.parts.pop().unwrap_or(Node::Empty);
        }
        let (mut bytes, mut blocks) = (0, 0u64);
        let starts = self
            .parts
            .iter()
            .map(|p| {
                let s = bytes;
                bytes += p.bytes();
                blocks = blocks.saturating_add(p.blocks());
                s
            })
            .collect();
        self.parts.shrink_to_fit();
        Node::Seq { off: 0, seq: Arc::new(Seq { bytes, blocks, starts, parts: self.parts }) }
    }
}
