//! Random constructor trees against a naive model that writes out the whole type map of MPI-5.0 5.1, markers included, byte by
//! byte: sizes, bounds, pack, unpack, seeking, partial chunks, typed copies, element counts, block lists, external32; and types
//! built again from what their envelopes tell.
//!
//! OXMPI_TEST_CASES says how many cases each property is tried on; `cargo xtask suite proptest` takes 10^5.
use oxmpi_base::{args::Buf, consts::*, handle};
use oxmpi_datatype::{Cursor, Darray, Datatype, combiner_name, copy, for_each_block};
use proptest::prelude::*;
use std::collections::HashSet;

#[derive(Clone, Debug)]
enum Spec {
    Basic(handle::Datatype),
    Contiguous(i64, Box<Spec>),
    Vector(i64, i64, i64, Box<Spec>),
    Hvector(i64, i64, i64, Box<Spec>),
    Indexed(Vec<(i64, i64)>, Box<Spec>),
    Hindexed(Vec<(i64, i64)>, Box<Spec>),
    IndexedBlock(i64, Vec<i64>, Box<Spec>),
    HindexedBlock(i64, Vec<i64>, Box<Spec>),
    Struct(Vec<(i64, i64, Spec)>),
    Resized(i64, i64, Box<Spec>),
    /// Size, subsize, start per dimension.
    Subarray(Vec<(i64, i64, i64)>, bool, Box<Spec>),
    /// Size, distribution, argument, processes per dimension; the rank is taken modulo the group.
    Darray(Vec<(i64, i32, i32, i32)>, i32, bool, Box<Spec>),
    Dup(Box<Spec>),
}

/// A basic type at its displacement.
#[derive(Clone, Copy, Debug)]
struct Item {
    at: i64,
    bytes: i64,
    align: i64,
    /// Bytes of each number in it.
    number: i64,
}

/// A type map: the basic types in order; lower and upper markers.
#[derive(Clone, Default, Debug)]
struct Map {
    data: Vec<Item>,
    lb: Vec<i64>,
    ub: Vec<i64>,
    /// Upper bounds of the components without markers, their padding included.
    padded: Vec<i64>,
}

impl Map {
    fn true_lb(&self) -> i64 {
        self.data.iter().map(|d| d.at).min().unwrap_or(0)
    }
    fn true_ub(&self) -> i64 {
        self.data.iter().map(|d| d.at + d.bytes).max().unwrap_or(0)
    }
    fn lower(&self) -> i64 {
        self.lb.iter().copied().min().unwrap_or(self.true_lb())
    }
    fn upper(&self) -> i64 {
        self.ub.iter().copied().max().unwrap_or_else(|| {
            let align = self.data.iter().map(|d| d.align).max().unwrap_or(1);
            let (lo, hi) = (self.lower(), self.padded.iter().copied().max().unwrap_or(0));
            lo + (hi - lo).div_euclid(align) * align + if (hi - lo).rem_euclid(align) > 0 { align } else { 0 }
        })
    }
    fn extent(&self) -> i64 {
        self.upper() - self.lower()
    }
    fn size(&self) -> i64 {
        self.data.iter().map(|d| d.bytes).sum()
    }
    /// Appends `n` copies of `t` from `at` on.
    fn put(&mut self, t: &Map, n: i64, at: i64) {
        for i in 0..n {
            let d = at + i * t.extent();
            self.data.extend(t.data.iter().map(|e| Item { at: e.at + d, ..*e }));
            self.lb.extend(t.lb.iter().map(|e| e + d));
            self.ub.extend(t.ub.iter().map(|e| e + d));
            if t.ub.is_empty() && !t.data.is_empty() {
                self.padded.push(d + t.upper());
            }
        }
    }
    /// Displacement of each byte of the packed stream of `count` elements.
    fn bytes(&self, count: i64) -> Vec<i64> {
        (0..count)
            .flat_map(|i| self.data.iter().flat_map(move |d| (0..d.bytes).map(move |b| i * self.extent() + d.at + b)))
            .collect()
    }
}

fn basic_map(h: handle::Datatype) -> Map {
    let scalar = |h, at| {
        let t = Datatype::predefined(h).unwrap();
        let bytes = t.size() as i64;
        let number = if matches!(h, MPI_C_DOUBLE_COMPLEX | MPI_COMPLEX32) { bytes / 2 } else { bytes };
        Item { at, bytes, align: t.align() as i64, number }
    };
    let data = match h {
        MPI_DOUBLE_INT => vec![scalar(MPI_DOUBLE, 0), scalar(MPI_INT, 8)],
        MPI_SHORT_INT => vec![scalar(MPI_SHORT, 0), scalar(MPI_INT, 4)],
        _ => vec![scalar(h, 0)],
    };
    let padded = vec![Datatype::predefined(h).unwrap().extent() as i64];
    Map { data, padded, ..Map::default() }
}

/// Indices of a dimension that a process owns (5.1.4).
fn owned(g: i64, kind: i32, darg: i64, p: i64, c: i64) -> Vec<i64> {
    let b = match (kind, darg) {
        (MPI_DISTRIBUTE_NONE, _) => g,
        (MPI_DISTRIBUTE_BLOCK, 0) => (g + p - 1) / p,
        (_, 0) => 1,
        (_, b) => b,
    };
    (0..g).filter(|j| j / b % p == c).collect()
}

fn map(s: &Spec) -> Map {
    let mut m = Map::default();
    match s {
        Spec::Basic(h) => return basic_map(*h),
        Spec::Contiguous(n, t) => m.put(&map(t), *n, 0),
        Spec::Vector(n, b, s, t) => {
            let t = map(t);
            (0..*n).for_each(|i| m.put(&t, *b, i * s * t.extent()));
        }
        Spec::Hvector(n, b, s, t) => {
            let t = map(t);
            (0..*n).for_each(|i| m.put(&t, *b, i * s));
        }
        Spec::Indexed(l, t) => {
            let t = map(t);
            l.iter().for_each(|(b, d)| m.put(&t, *b, d * t.extent()));
        }
        Spec::Hindexed(l, t) => {
            let t = map(t);
            l.iter().for_each(|(b, d)| m.put(&t, *b, *d));
        }
        Spec::IndexedBlock(b, l, t) => {
            let t = map(t);
            l.iter().for_each(|d| m.put(&t, *b, d * t.extent()));
        }
        Spec::HindexedBlock(b, l, t) => {
            let t = map(t);
            l.iter().for_each(|d| m.put(&t, *b, *d));
        }
        Spec::Struct(l) => l.iter().for_each(|(b, d, t)| m.put(&map(t), *b, *d)),
        Spec::Resized(lb, extent, t) => {
            m.put(&map(t), 1, 0);
            m.lb = vec![*lb];
            m.ub = vec![*lb + *extent];
        }
        Spec::Subarray(dims, fortran, t) => {
            let chosen: Vec<Vec<i64>> = dims.iter().map(|d| (d.2..d.2 + d.1).collect()).collect();
            let sizes: Vec<i64> = dims.iter().map(|d| d.0).collect();
            m = array(&sizes, &chosen, *fortran, &map(t));
        }
        Spec::Darray(dims, rank, fortran, t) => {
            let coords = grid(dims, *rank);
            let chosen: Vec<Vec<i64>> =
                dims.iter().zip(&coords).map(|(d, c)| owned(d.0, d.1, d.2 as i64, d.3 as i64, *c as i64)).collect();
            let sizes: Vec<i64> = dims.iter().map(|d| d.0).collect();
            m = array(&sizes, &chosen, *fortran, &map(t));
        }
        Spec::Dup(t) => return map(t),
    }
    m
}

fn group(dims: &[(i64, i32, i32, i32)]) -> i32 {
    dims.iter().map(|d| d.3).product()
}

fn grid(dims: &[(i64, i32, i32, i32)], rank: i32) -> Vec<i32> {
    let mut r = rank % group(dims);
    let mut c: Vec<i32> = dims.iter().rev().map(|d| (r % d.3, r /= d.3).0).collect();
    c.reverse();
    c
}

fn array(sizes: &[i64], chosen: &[Vec<i64>], fortran: bool, t: &Map) -> Map {
    let n = sizes.len();
    let slow_first: Vec<usize> = if fortran { (0..n).rev().collect() } else { (0..n).collect() };
    let mut at = vec![0i64];
    for &d in &slow_first {
        at = at.iter().flat_map(|a| chosen[d].iter().map(move |j| a * sizes[d] + j)).collect();
    }
    let mut m = Map::default();
    at.iter().for_each(|a| m.put(t, 1, a * t.extent()));
    m.lb = vec![0];
    m.ub = vec![sizes.iter().product::<i64>() * t.extent()];
    m
}

fn build(s: &Spec, large: bool) -> Datatype {
    let order = |f: bool| if f { MPI_ORDER_FORTRAN } else { MPI_ORDER_C };
    match s {
        Spec::Basic(h) => Ok(Datatype::predefined(*h).unwrap().clone()),
        Spec::Contiguous(n, t) => Datatype::contiguous(*n, &build(t, large), large),
        Spec::Vector(n, b, s, t) => Datatype::vector(*n, *b, *s, &build(t, large), large),
        Spec::Hvector(n, b, s, t) => Datatype::hvector(*n, *b, *s, &build(t, large), large),
        Spec::Indexed(l, t) => {
            let (b, d): (Vec<_>, Vec<_>) = l.iter().copied().unzip();
            Datatype::indexed(&b, &d, &build(t, large), large)
        }
        Spec::Hindexed(l, t) => {
            let (b, d): (Vec<_>, Vec<_>) = l.iter().copied().unzip();
            Datatype::hindexed(&b, &d, &build(t, large), large)
        }
        Spec::IndexedBlock(b, l, t) => Datatype::indexed_block(*b, l, &build(t, large), large),
        Spec::HindexedBlock(b, l, t) => Datatype::hindexed_block(*b, l, &build(t, large), large),
        Spec::Struct(l) => {
            let b: Vec<_> = l.iter().map(|e| e.0).collect();
            let d: Vec<_> = l.iter().map(|e| e.1).collect();
            let t: Vec<_> = l.iter().map(|e| build(&e.2, large)).collect();
            Datatype::structure(&b, &d, &t, large)
        }
        Spec::Resized(lb, extent, t) => Datatype::resized(&build(t, large), *lb, *extent, large),
        Spec::Subarray(d, f, t) => {
            let col = |k: fn(&(i64, i64, i64)) -> i64| d.iter().map(k).collect::<Vec<_>>();
            Datatype::subarray(&col(|d| d.0), &col(|d| d.1), &col(|d| d.2), order(*f), &build(t, large), large)
        }
        Spec::Darray(d, rank, f, t) => {
            let gsizes: Vec<_> = d.iter().map(|d| d.0).collect();
            let distribs: Vec<_> = d.iter().map(|d| d.1).collect();
            let dargs: Vec<_> = d.iter().map(|d| if d.2 == 0 { MPI_DISTRIBUTE_DFLT_DARG } else { d.2 }).collect();
            let psizes: Vec<_> = d.iter().map(|d| d.3).collect();
            let size = group(d);
            let a = Darray {
                size,
                rank: rank % size,
                gsizes: &gsizes,
                distribs: &distribs,
                dargs: &dargs,
                psizes: &psizes,
                order: order(*f),
            };
            Datatype::darray(&a, &build(t, large), large)
        }
        Spec::Dup(t) => Ok(build(t, large).dup()),
    }
    .unwrap_or_else(|e| panic!("{s:?}: {e}"))
}

/// The type that the constructor call in the envelope of `t` makes, from components made the same way.
fn again(t: &Datatype) -> Datatype {
    let e = t.envelope();
    let old: Vec<Datatype> = e.datatypes.iter().map(again).collect();
    let large = !e.large_counts.is_empty();
    let n = |list: &[i32]| list.iter().map(|v| *v as i64).collect::<Vec<i64>>();
    // Counts and displacements in one order, whichever twin was called; `darray` and `subarray` keep theirs apart.
    let a = if large { e.large_counts.clone() } else { [n(&e.integers), e.addresses.clone()].concat() };
    let count = a.first().copied().unwrap_or(0) as usize;
    let part = |from: usize, len: usize| &a[from..from + len];
    match e.combiner {
        MPI_COMBINER_NAMED => Ok(t.clone()),
        MPI_COMBINER_DUP => Ok(old[0].dup()),
        MPI_COMBINER_CONTIGUOUS => Datatype::contiguous(a[0], &old[0], large),
        MPI_COMBINER_VECTOR => Datatype::vector(a[0], a[1], a[2], &old[0], large),
        MPI_COMBINER_HVECTOR => Datatype::hvector(a[0], a[1], a[2], &old[0], large),
        MPI_COMBINER_INDEXED => Datatype::indexed(part(1, count), part(1 + count, count), &old[0], large),
        MPI_COMBINER_HINDEXED => Datatype::hindexed(part(1, count), part(1 + count, count), &old[0], large),
        MPI_COMBINER_INDEXED_BLOCK => Datatype::indexed_block(a[1], part(2, count), &old[0], large),
        MPI_COMBINER_HINDEXED_BLOCK => Datatype::hindexed_block(a[1], part(2, count), &old[0], large),
        MPI_COMBINER_STRUCT => Datatype::structure(part(1, count), part(1 + count, count), &old, large),
        MPI_COMBINER_RESIZED => Datatype::resized(&old[0], a[0], a[1], large),
        MPI_COMBINER_SUBARRAY => {
            let d = e.integers[0] as usize;
            let lists = if large { e.large_counts.clone() } else { n(&e.integers[1..1 + 3 * d]) };
            let order = *e.integers.last().unwrap();
            Datatype::subarray(&lists[..d], &lists[d..2 * d], &lists[2 * d..], order, &old[0], large)
        }
        MPI_COMBINER_DARRAY => {
            let (i, d) = (&e.integers, e.integers[2] as usize);
            let gsizes = if large { e.large_counts.clone() } else { n(&i[3..3 + d]) };
            let rest = &i[if large { 3 } else { 3 + d }..];
            let (distribs, dargs, psizes) = (&rest[..d], &rest[d..2 * d], &rest[2 * d..3 * d]);
            let order = rest[3 * d];
            Datatype::darray(
                &Darray { size: i[0], rank: i[1], gsizes: &gsizes, distribs, dargs, psizes, order },
                &old[0],
                large,
            )
        }
        other => panic!("{} has no constructor here", combiner_name(other)),
    }
    .unwrap()
}

/// Whether two types are made the same way, down to the named ones.
fn alike(a: &Datatype, b: &Datatype) -> bool {
    let (x, y) = (a.envelope(), b.envelope());
    (x.combiner, &x.integers, &x.addresses, &x.large_counts) == (y.combiner, &y.integers, &y.addresses, &y.large_counts)
        && a.predefined_handle() == b.predefined_handle()
        && x.datatypes.len() == y.datatypes.len()
        && x.datatypes.iter().zip(&y.datatypes).all(|(p, q)| alike(p, q))
}

fn blocks() -> impl Strategy<Value = Vec<(i64, i64)>> {
    prop_oneof![
        prop::collection::vec((0..4i64, -6..20i64), 0..6),
        // Regular ones, which have forms of their own.
        (1..3i64, 1..8i64, 0..5usize).prop_map(|(b, s, n)| (0..n).map(|i| (b, i as i64 * s)).collect()),
        // Long ones of nearly even blocks, some of which touch.
        (32..40usize, any::<u64>()).prop_map(|(n, bits)| {
            (0..n as i64).map(|i| (1 + (bits >> i & 1) as i64, 3 * i + (bits >> (i + 20) & 1) as i64)).collect()
        }),
    ]
}

fn dimension() -> impl Strategy<Value = (i64, i64, i64)> {
    (1..6i64).prop_flat_map(|n| (Just(n), 1..=n)).prop_flat_map(|(n, s)| (Just(n), Just(s), 0..=n - s))
}

fn distribution() -> impl Strategy<Value = (i64, i32, i32, i32)> {
    (1..9i64, 1..4i32).prop_flat_map(|(g, p)| {
        let cover = (g as i32 + p - 1) / p;
        prop_oneof![
            Just((g, MPI_DISTRIBUTE_NONE, 0, 1)),
            Just((g, MPI_DISTRIBUTE_BLOCK, 0, p)),
            (cover..cover + 2).prop_map(move |b| (g, MPI_DISTRIBUTE_BLOCK, b, p)),
            (0..5i32).prop_map(move |b| (g, MPI_DISTRIBUTE_CYCLIC, b, p)),
        ]
    })
}

fn spec() -> impl Strategy<Value = Spec> {
    let basic = prop::sample::select(vec![
        MPI_CHAR,
        MPI_SHORT,
        MPI_INT,
        MPI_DOUBLE,
        MPI_LONG_DOUBLE,
        MPI_C_DOUBLE_COMPLEX,
        MPI_DOUBLE_INT,
        MPI_SHORT_INT,
        MPI_COMPLEX32,
    ])
    .prop_map(Spec::Basic);
    basic.prop_recursive(4, 12, 4, |t| {
        let b = t.clone().prop_map(Box::new);
        prop_oneof![
            (0..5i64, b.clone()).prop_map(|(n, t)| Spec::Contiguous(n, t)),
            (0..5i64, 0..4i64, -4..8i64, b.clone()).prop_map(|(n, l, s, t)| Spec::Vector(n, l, s, t)),
            (0..5i64, 0..4i64, -40..80i64, b.clone()).prop_map(|(n, l, s, t)| Spec::Hvector(n, l, s, t)),
            (blocks(), b.clone()).prop_map(|(l, t)| Spec::Indexed(l, t)),
            (blocks(), b.clone())
                .prop_map(|(l, t)| Spec::Hindexed(l.into_iter().map(|(b, d)| (b, d * 5)).collect(), t)),
            (0..4i64, prop::collection::vec(-5..20i64, 0..6), b.clone())
                .prop_map(|(n, l, t)| Spec::IndexedBlock(n, l, t)),
            (0..4i64, prop::collection::vec(-50..200i64, 0..6), b.clone())
                .prop_map(|(n, l, t)| Spec::HindexedBlock(n, l, t)),
            prop::collection::vec((0..3i64, -20..100i64, t.clone()), 0..4).prop_map(Spec::Struct),
            (-20..20i64, -30..60i64, b.clone()).prop_map(|(l, e, t)| Spec::Resized(l, e, t)),
            (prop::collection::vec(dimension(), 1..4), any::<bool>(), b.clone())
                .prop_map(|(d, f, t)| Spec::Subarray(d, f, t)),
            (prop::collection::vec(distribution(), 1..4), 0..100i32, any::<bool>(), b.clone())
                .prop_map(|(d, r, f, t)| Spec::Darray(d, r, f, t)),
            b.prop_map(Spec::Dup),
        ]
    })
}

/// User memory that covers `bytes`, and where displacement 0 lies in it.
struct Memory {
    store: Vec<u8>,
    zero: i64,
}

impl Memory {
    fn new(bytes: &[i64], fill: impl Fn(usize) -> u8) -> Memory {
        let lo = bytes.iter().copied().min().unwrap_or(0);
        let hi = bytes.iter().copied().max().map_or(0, |h| h + 1);
        Memory { store: (0..(hi - lo) as usize).map(fill).collect(), zero: -lo }
    }
    fn buf(&mut self) -> Buf {
        Buf(self.store.as_mut_ptr().wrapping_offset(self.zero as isize).cast())
    }
    fn get(&self, d: i64) -> u8 {
        self.store[(d + self.zero) as usize]
    }
}

fn noise(i: usize) -> u8 {
    (i as u32).wrapping_mul(2654435761).to_be_bytes()[0] ^ i as u8
}

fn distinct(bytes: &[i64]) -> bool {
    let mut seen = HashSet::new();
    bytes.iter().all(|b| seen.insert(*b))
}

fn cases() -> u32 {
    let asked = std::env::var("OXMPI_TEST_CASES").ok();
    asked.map_or(3000, |n| n.parse().expect("OXMPI_TEST_CASES is a number"))
}

/// Entries times count beyond which a case only slows the run down.
const LIMIT: usize = 5_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, max_global_rejects: 1 << 24, ..ProptestConfig::default() })]

    #[test]
    fn bounds_and_sizes(s in spec(), large: bool) {
        let m = map(&s);
        let t = build(&s, large);
        prop_assert_eq!(t.size() as i64, m.size());
        prop_assert_eq!(t.lb() as i64, m.lower());
        prop_assert_eq!(t.extent() as i64, m.extent());
        prop_assert_eq!(t.true_lb() as i64, m.true_lb());
        prop_assert_eq!(t.true_extent() as i64, m.true_ub() - m.true_lb());
        prop_assert_eq!(t.basic_count() as usize, m.data.len());
        let dense = match m.data.first() {
            Some(f) => m.bytes(3).iter().enumerate().all(|(i, b)| *b == f.at + i as i64).then_some(f.at),
            None => Some(0),
        };
        prop_assert_eq!(t.dense().map(|d| d as i64), dense);
        prop_assert!(!t.describe().is_empty());
        let words = format!("{t:?}");
        prop_assert!(words.starts_with("Datatype("));
    }

    #[test]
    fn pack_and_unpack(s in spec(), count in 0..5usize, cuts in prop::collection::vec(1..200usize, 1..8), seeks in prop::collection::vec(any::<u32>(), 4)) {
        let m = map(&s);
        let bytes = m.bytes(count as i64);
        prop_assume!(bytes.len() <= LIMIT);
        let t = build(&s, false);
        let mut mem = Memory::new(&bytes, noise);
        let want: Vec<u8> = bytes.iter().map(|b| mem.get(*b)).collect();
        let mut c = Cursor::new(&t, mem.buf(), count);
        prop_assert_eq!(c.total() as usize, want.len());

        // In chunks, in order.
        let mut got = Vec::new();
        for n in cuts.iter().cycle() {
            let mut chunk = vec![0; *n];
            // SAFETY: the memory covers the type map.
            let k = unsafe { c.pack(&mut chunk) };
            got.extend_from_slice(&chunk[..k]);
            prop_assert_eq!(c.position() as usize, got.len());
            if k < *n || got.len() == want.len() {
                break;
            }
        }
        prop_assert_eq!(&got, &want);

        // Anywhere.
        for (i, at) in seeks.iter().enumerate() {
            let at = if want.is_empty() { 0 } else { *at as usize % want.len() };
            let mut chunk = vec![0; cuts[i % cuts.len()]];
            c.seek(at as u64);
            // SAFETY: the memory covers the type map.
            let k = unsafe { c.pack(&mut chunk) };
            prop_assert_eq!(k, chunk.len().min(want.len() - at));
            prop_assert_eq!(&chunk[..k], &want[at..at + k]);
        }

        // As blocks.
        let mut runs = Vec::new();
        for_each_block(&t, count, |off, len| runs.extend((0..len as i64).map(|b| off as i64 + b)));
        prop_assert_eq!(&runs, &bytes);
        c.seek(0);
        let mut listed = Vec::new();
        while c.remaining() > 0 {
            let n = cuts[listed.len() % cuts.len()];
            let before = listed.len();
            let k = c.blocks(n as u64, |p, len| {
                // SAFETY: the block lies in the memory.
                listed.extend((0..len).map(|i| unsafe { *p.add(i) }));
                listed.len() % 3 != 0
            });
            prop_assert_eq!(listed.len() - before, k as usize);
            prop_assert_eq!(listed.len(), c.position() as usize);
        }
        prop_assert_eq!(&listed, &want);

        // Back, in chunks out of order, with nothing else touched.
        if distinct(&bytes) {
            let mut mem = Memory::new(&bytes, |_| 0xee);
            let mut c = Cursor::new(&t, mem.buf(), count);
            let mut pieces = Vec::new();
            let mut at = 0;
            for n in cuts.iter().cycle() {
                if at >= want.len() { break; }
                let end = (at + n).min(want.len());
                pieces.push(at..end);
                at = end;
            }
            for p in pieces.into_iter().rev() {
                c.seek(p.start as u64);
                // SAFETY: the memory covers the type map.
                prop_assert_eq!(unsafe { c.unpack(&want[p.clone()]) }, p.len());
            }
            let mut expect = Memory::new(&bytes, |_| 0xee);
            for (b, v) in bytes.iter().zip(&want) {
                expect.store[(b + expect.zero) as usize] = *v;
            }
            prop_assert_eq!(&mem.store, &expect.store);
        }
    }

    #[test]
    fn typed_copy(a in spec(), b in spec(), n in 0..40usize, m in 0..40usize) {
        let (ma, mb) = (map(&a), map(&b));
        prop_assume!(ma.data.len() * n <= LIMIT / 5 && mb.data.len() * m <= LIMIT / 5);
        let (ba, bb) = (ma.bytes(n as i64), mb.bytes(m as i64));
        prop_assume!(distinct(&bb));
        let (mut src, mut dst, mut expect) = (Memory::new(&ba, noise), Memory::new(&bb, |_| 7), Memory::new(&bb, |_| 7));
        for (d, s) in bb.iter().zip(&ba) {
            let v = src.get(*s);
            expect.store[(d + expect.zero) as usize] = v;
        }
        // SAFETY: both memories cover their type maps.
        let k = unsafe { copy(src.buf(), n, &build(&a, false), dst.buf(), m, &build(&b, false)) };
        prop_assert_eq!(k as usize, ba.len().min(bb.len()));
        prop_assert_eq!(&dst.store, &expect.store);
    }

    #[test]
    fn elements_of_bytes(s in spec(), bytes in 0..3000u64) {
        let m = map(&s);
        let t = build(&s, false);
        let size = m.size() as u64;
        let (mut left, mut n, mut whole) = (bytes, 0i64, None);
        if size > 0 {
            let mut it = m.data.iter().cycle();
            while left > 0 {
                let e = it.next().unwrap().bytes as u64;
                if e > left { break; }
                left -= e;
                n += 1;
            }
            if bytes % size == 0 { whole = Some((bytes / size) as i64); }
        } else if bytes == 0 {
            whole = Some(0);
        }
        prop_assert_eq!(t.elements(bytes), (left == 0).then_some(n));
        prop_assert_eq!(t.count_of(bytes), whole);
        if left == 0 {
            prop_assert_eq!(t.bytes_of_elements(n), Some(bytes));
        }
    }

    #[test]
    fn again_from_the_envelope(s in spec(), large: bool) {
        let t = build(&s, large);
        let u = again(&t);
        prop_assert!(alike(&t, &u), "{t:?} became {u:?}");
        prop_assert_eq!((t.size(), t.lb(), t.extent()), (u.size(), u.lb(), u.extent()));
        prop_assert_eq!((t.true_lb(), t.true_extent()), (u.true_lb(), u.true_extent()));
        let blocks = |t: &Datatype| {
            let mut all = vec![];
            for_each_block(t, 2, |off, len| all.push((off, len)));
            all
        };
        prop_assert_eq!(blocks(&t), blocks(&u));
        // Both forms give all arguments, and the plain one never a large count.
        prop_assert!(large || t.envelope().large_counts.is_empty());
        prop_assert!(!large || t.envelope().addresses.is_empty());
    }

    #[test]
    fn external32(s in spec(), count in 0..4usize) {
        let m = map(&s);
        let bytes = m.bytes(count as i64);
        prop_assume!(bytes.len() <= LIMIT && distinct(&bytes));
        let t = build(&s, false);
        let mut mem = Memory::new(&bytes, noise);
        // What becomes of each number, by hand; long doubles are given values that binary128 holds exactly.
        let mut want = Vec::new();
        for i in 0..count as i64 {
            for d in &m.data {
                for part in 0..d.bytes / d.number {
                    let at = d.at + part * d.number + i * m.extent();
                    let place = (at + mem.zero) as usize;
                    let number = &mut mem.store[place..place + d.number as usize];
                    // Of the 16-byte scalars in `spec` only long double stands alone.
                    if d.bytes == 16 && d.number == 16 && cfg!(target_arch = "x86_64") {
                        number.fill(0);
                        let v = (i as u8).wrapping_mul(37).wrapping_add(at as u8);
                        number[6..10].copy_from_slice(&[v, 0x80 | v >> 1, v, 0x40]);
                        let (fraction, high) = (((v as u64) << 48 | ((0x80 | v >> 1) as u64) << 56) << 1, (0x4000 | v as u128) << 112);
                        want.extend((high | (fraction as u128) << 48).to_be_bytes());
                    } else {
                        want.extend(number.iter().rev());
                    }
                }
            }
        }
        prop_assert_eq!(t.external_size(count).unwrap() as usize, want.len());
        let mut out = vec![0xcc; want.len() + 3];
        // SAFETY: the memory covers the type map.
        prop_assert_eq!(unsafe { t.pack_external(mem.buf(), count, &mut out) }.unwrap(), want.len());
        prop_assert_eq!(&out[..want.len()], &want[..]);
        prop_assert_eq!(&out[want.len()..], &[0xcc; 3][..]);
        let mut back = Memory::new(&bytes, |_| 0xee);
        // SAFETY: as above.
        prop_assert_eq!(unsafe { t.unpack_external(back.buf(), count, &out) }.unwrap(), want.len());
        let mut expect = Memory::new(&bytes, |_| 0xee);
        for b in &bytes {
            expect.store[(b + expect.zero) as usize] = mem.get(*b);
        }
        prop_assert_eq!(&back.store, &expect.store);
    }
}
