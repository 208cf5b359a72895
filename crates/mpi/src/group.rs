//! Groups (MPI-5.0 7.2.1, 7.3): ordered sets of processes.
//!
//! A process is named by its world index, a `u32` that the job gives out once. A group is immutable.
//! Invariants: members are distinct; the empty group is always `MPI_GROUP_EMPTY`; a group of consecutive
//! processes (every world) stores two numbers, whatever its size.
//!
//! Known gaps: none.

use crate::table::{Ref, Table};
use crate::world::WORLD_MODEL;
use oxmpi_base::args::{Arr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock};

static MY_PROC: AtomicU32 = AtomicU32::new(0);

/// Called once at initialisation with this process's world index.
pub fn set_my_proc(proc: u32) {
    MY_PROC.store(proc, Relaxed);
}

/// This process's world index.
pub fn my_proc() -> u32 {
    MY_PROC.load(Relaxed)
}

#[derive(Debug)]
enum Members {
    /// `len` processes from `first` on.
    Range { first: u32, len: u32 },
    List {
        procs: Box<[u32]>,
        /// (process, rank) by process; made at the first search.
        sorted: OnceLock<Box<[(u32, u32)]>>,
    },
}

/// An ordered set of processes.
#[derive(Debug)]
pub struct Group {
    members: Members,
    my_rank: Option<u32>,
    /// The session that it is derived from; `world::WORLD_MODEL` where it is none.
    origin: u32,
}

/// Lists up to this length are searched from front to back.
const SHORT: usize = 16;

impl Group {
    fn from_members(members: Members) -> Group {
        let mut g = Group { members, my_rank: None, origin: WORLD_MODEL };
        g.my_rank = g.rank_of(my_proc()).map(|r| r as u32);
        g
    }
    /// The processes `0..n`.
    pub fn world(n: usize) -> Group {
        Self::range(0, n)
    }
    /// `len` processes from `first` on.
    pub fn range(first: u32, len: usize) -> Group {
        Self::from_members(Members::Range { first, len: len as u32 })
    }
    /// These processes in this order; they must be distinct.
    pub fn from_procs(procs: Vec<u32>) -> Group {
        let first = procs.first().copied().unwrap_or(0);
        if procs.iter().enumerate().all(|(i, &p)| p as usize == first as usize + i) {
            return Self::range(first, procs.len());
        }
        Self::from_members(Members::List { procs: procs.into(), sorted: OnceLock::new() })
    }
    /// The same, derived from that session.
    pub fn of(self, origin: u32) -> Group {
        Group { origin, ..self }
    }
    pub fn origin(&self) -> u32 {
        self.origin
    }
    pub fn size(&self) -> usize {
        match &self.members {
            Members::Range { len, .. } => *len as usize,
            Members::List { procs, .. } => procs.len(),
        }
    }
    /// The rank of the calling process.
    pub fn my_rank(&self) -> Option<usize> {
        self.my_rank.map(|r| r as usize)
    }
    /// The process of a rank. Panics where `rank` is not below `size()`.
    pub fn proc_of(&self, rank: usize) -> u32 {
        match &self.members {
            Members::Range { first, len } => {
                assert!(rank < *len as usize, "rank {rank} of a group of {len}");
                first + rank as u32
            }
            Members::List { procs, .. } => procs[rank],
        }
    }
    /// The rank of a process: constant time for ranges, logarithmic for lists.
    pub fn rank_of(&self, proc: u32) -> Option<usize> {
        match &self.members {
            Members::Range { first, len } => proc.checked_sub(*first).filter(|r| r < len).map(|r| r as usize),
            Members::List { procs, .. } if procs.len() <= SHORT => procs.iter().position(|&p| p == proc),
            Members::List { procs, sorted } => {
                let index = sorted.get_or_init(|| {
                    let mut v: Box<[(u32, u32)]> = procs.iter().enumerate().map(|(r, &p)| (p, r as u32)).collect();
                    v.sort_unstable();
                    v
                });
                index.binary_search_by_key(&proc, |e| e.0).ok().map(|i| index[i].1 as usize)
            }
        }
    }
    pub fn contains(&self, proc: u32) -> bool {
        self.rank_of(proc).is_some()
    }
    /// The processes in rank order.
    pub fn procs(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.size()).map(|r| self.proc_of(r))
    }

    /// MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
    pub fn compare(&self, other: &Group) -> i32 {
        if self.size() != other.size() {
            MPI_UNEQUAL
        } else if std::ptr::eq(self, other) || self.procs().eq(other.procs()) {
            MPI_IDENT
        } else if self.procs().all(|p| other.contains(p)) {
            MPI_SIMILAR
        } else {
            MPI_UNEQUAL
        }
    }
    /// The first group's members, then the second's that are not in the first.
    pub fn union(&self, other: &Group) -> Group {
        let origin = if self.size() == 0 { other.origin } else { self.origin };
        Self::from_procs(self.procs().chain(other.procs().filter(|&p| !self.contains(p))).collect()).of(origin)
    }
    pub fn intersection(&self, other: &Group) -> Group {
        Self::from_procs(self.procs().filter(|&p| other.contains(p)).collect()).of(self.origin)
    }
    pub fn difference(&self, other: &Group) -> Group {
        Self::from_procs(self.procs().filter(|&p| !other.contains(p)).collect()).of(self.origin)
    }
    /// The members with these ranks, in this order.
    pub fn incl(&self, ranks: impl IntoIterator<Item = i32>) -> Result<Group> {
        let mut chosen = Chosen::new(self.size());
        let mut procs = Vec::new();
        for r in ranks {
            procs.push(self.proc_of(chosen.add(r)?));
        }
        Ok(Self::from_procs(procs).of(self.origin))
    }
    /// The members without these ranks, in the group's order.
    pub fn excl(&self, ranks: impl IntoIterator<Item = i32>) -> Result<Group> {
        let mut chosen = Chosen::new(self.size());
        for r in ranks {
            chosen.add(r)?;
        }
        Ok(Self::from_procs((0..self.size()).filter(|&r| !chosen.has(r)).map(|r| self.proc_of(r)).collect())
            .of(self.origin))
    }
    /// All ranks that triplets (first, last, stride) denote; MPI-5.0 7.3.2.
    fn expand(&self, ranges: &[i32]) -> Result<Vec<i32>> {
        let size = self.size() as i64;
        let mut out = Vec::new();
        for (i, t) in ranges.chunks_exact(3).enumerate() {
            let (first, last, stride) = (t[0] as i64, t[1] as i64, t[2] as i64);
            if stride == 0 {
                bail!(MPI_ERR_ARG, "range {i} ({first}, {last}, 0) has stride 0");
            }
            if (last - first).signum() * stride.signum() < 0 {
                bail!(MPI_ERR_ARG, "range {i} ({first}, {last}, {stride}): the stride leads away from the last rank");
            }
            let steps = (last - first) / stride;
            for r in [first, first + steps * stride] {
                if !(0..size).contains(&r) {
                    bail!(
                        MPI_ERR_RANK,
                        "range {i} ({first}, {last}, {stride}) has rank {r}; the group's ranks are 0..{size}"
                    );
                }
            }
            if out.len() as i64 + steps >= size {
                bail!(MPI_ERR_RANK, "the ranges up to number {i} hold more ranks than the group's {size}");
            }
            out.extend((0..=steps).map(|k| (first + k * stride) as i32));
        }
        Ok(out)
    }
    pub fn range_incl(&self, ranges: &[i32]) -> Result<Group> {
        self.incl(self.expand(ranges)?)
    }
    pub fn range_excl(&self, ranges: &[i32]) -> Result<Group> {
        self.excl(self.expand(ranges)?)
    }
}

/// Ranks named so far: each is valid and named once.
struct Chosen {
    size: usize,
    bits: Vec<u64>,
}

impl Chosen {
    fn new(size: usize) -> Self {
        Chosen { size, bits: vec![0; size.div_ceil(64)] }
    }
    fn has(&self, r: usize) -> bool {
        self.bits[r / 64] >> (r % 64) & 1 == 1
    }
    fn add(&mut self, rank: i32) -> Result<usize> {
        let r = usize::try_from(rank).ok().filter(|&r| r < self.size);
        let Some(r) = r else {
            bail!(MPI_ERR_RANK, "rank {rank} is not in the group, whose ranks are 0..{}", self.size);
        };
        if self.has(r) {
            bail!(MPI_ERR_RANK, "rank {rank} is named more than once");
        }
        self.bits[r / 64] |= 1 << (r % 64);
        Ok(r)
    }
}

static GROUPS: LazyLock<Table<handle::Group, Group>> = LazyLock::new(|| {
    let t = Table::new();
    t.bind(MPI_GROUP_EMPTY, Arc::new(Group::world(0)));
    t
});

/// The table of groups.
pub fn table() -> &'static Table<handle::Group, Group> {
    &GROUPS
}

/// The group of a handle, or MPI_ERR_GROUP with the reason.
pub fn get(h: handle::Group) -> Result<Ref<'static, handle::Group, Group>> {
    GROUPS.get(h)
}

/// A handle for a group: MPI_GROUP_EMPTY for one without members.
pub fn insert(g: Arc<Group>) -> Result<handle::Group> {
    if g.size() == 0 { Ok(MPI_GROUP_EMPTY) } else { GROUPS.insert(g) }
}

fn give(out: Out<handle::Group>, g: Group) -> Result<()> {
    if out.is_null() {
        return out.set(MPI_GROUP_NULL);
    }
    out.set(insert(Arc::new(g))?)
}

fn length(n: i32) -> Result<usize> {
    match usize::try_from(n) {
        Ok(n) => Ok(n),
        Err(_) => bail!(MPI_ERR_ARG, "the array length is {n}; it must not be negative"),
    }
}

// ---- the procedures ----

pub fn group_size(group: handle::Group, size: Out<i32>) -> Result<()> {
    size.set(get(group)?.size() as i32)
}

pub fn group_rank(group: handle::Group, rank: Out<i32>) -> Result<()> {
    rank.set(get(group)?.my_rank().map_or(MPI_UNDEFINED, |r| r as i32))
}

pub fn group_translate_ranks(
    group1: handle::Group,
    n: i32,
    ranks1: Arr<i32>,
    group2: handle::Group,
    ranks2: Arr<i32>,
) -> Result<()> {
    let (a, b, n) = (get(group1)?, get(group2)?, length(n)?);
    let from = ranks1.slice(n)?;
    ranks2.slice(n)?; // refuses null
    for (i, &r) in from.iter().enumerate() {
        if r != MPI_PROC_NULL && !(0..a.size() as i64).contains(&(r as i64)) {
            bail!(MPI_ERR_RANK, "ranks1[{i}] is {r}; the ranks of the first group are 0..{}", a.size());
        }
    }
    for i in 0..n {
        let r = ranks1.at(i);
        let to = match r {
            MPI_PROC_NULL => MPI_PROC_NULL,
            r => b.rank_of(a.proc_of(r as usize)).map_or(MPI_UNDEFINED, |r| r as i32),
        };
        ranks2.put(i, to);
    }
    Ok(())
}

pub fn group_compare(group1: handle::Group, group2: handle::Group, result: Out<i32>) -> Result<()> {
    let (a, b) = (get(group1)?, get(group2)?);
    result.set(a.compare(&b))
}

pub fn group_union(group1: handle::Group, group2: handle::Group, newgroup: Out<handle::Group>) -> Result<()> {
    let (a, b) = (get(group1)?, get(group2)?);
    give(newgroup, a.union(&b))
}

pub fn group_intersection(group1: handle::Group, group2: handle::Group, newgroup: Out<handle::Group>) -> Result<()> {
    let (a, b) = (get(group1)?, get(group2)?);
    give(newgroup, a.intersection(&b))
}

pub fn group_difference(group1: handle::Group, group2: handle::Group, newgroup: Out<handle::Group>) -> Result<()> {
    let (a, b) = (get(group1)?, get(group2)?);
    give(newgroup, a.difference(&b))
}

pub fn group_incl(group: handle::Group, n: i32, ranks: Arr<i32>, newgroup: Out<handle::Group>) -> Result<()> {
    let g = get(group)?;
    give(newgroup, g.incl(ranks.slice(length(n)?)?.iter().copied())?)
}

pub fn group_excl(group: handle::Group, n: i32, ranks: Arr<i32>, newgroup: Out<handle::Group>) -> Result<()> {
    let g = get(group)?;
    give(newgroup, g.excl(ranks.slice(length(n)?)?.iter().copied())?)
}

pub fn group_range_incl(group: handle::Group, n: i32, ranges: Arr<i32>, newgroup: Out<handle::Group>) -> Result<()> {
    let g = get(group)?;
    give(newgroup, g.range_incl(ranges.slice(length(n)? * 3)?)?)
}

pub fn group_range_excl(group: handle::Group, n: i32, ranges: Arr<i32>, newgroup: Out<handle::Group>) -> Result<()> {
    let g = get(group)?;
    give(newgroup, g.range_excl(ranges.slice(length(n)? * 3)?)?)
}

/// Freeing MPI_GROUP_EMPTY is allowed: programs free what group operations returned.
pub fn group_free(group: Out<handle::Group>) -> Result<()> {
    let h = group.get()?;
    if h != MPI_GROUP_EMPTY {
        GROUPS.remove(h)?;
    }
    group.set(MPI_GROUP_NULL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out<T: Copy>(v: &mut T) -> Out<T> {
        // SAFETY: a live local.
        unsafe { Out::new(v) }
    }
    fn arr<T: Copy>(v: &mut [T]) -> Arr<T> {
        // SAFETY: a live local.
        unsafe { Arr::new(v.as_mut_ptr()) }
    }
    fn list(g: &Group) -> Vec<u32> {
        g.procs().collect()
    }

    #[test]
    fn ranges_are_compact_and_lists_searchable() {
        assert!(matches!(Group::world(1_000_000).members, Members::Range { .. }));
        assert!(matches!(Group::from_procs(vec![4, 5, 6]).members, Members::Range { first: 4, len: 3 }));
        let g = Group::from_procs((0..1000).rev().collect());
        for p in [0, 1, 500, 999] {
            assert_eq!(g.rank_of(p), Some(999 - p as usize));
        }
        assert_eq!(g.rank_of(1000), None);
        assert_eq!(Group::range(5, 2).rank_of(4), None);
    }

    #[test]
    fn set_operations_keep_the_first_groups_order() {
        let a = Group::from_procs(vec![3, 1, 2]);
        let b = Group::from_procs(vec![2, 5, 3]);
        assert_eq!(list(&a.union(&b)), [3, 1, 2, 5]);
        assert_eq!(list(&a.intersection(&b)), [3, 2]);
        assert_eq!(list(&a.difference(&b)), [1]);
        assert_eq!(a.compare(&Group::range(1, 3)), MPI_SIMILAR);
        assert_eq!(a.compare(&Group::from_procs(vec![3, 1, 2])), MPI_IDENT);
        assert_eq!(a.compare(&b), MPI_UNEQUAL);
    }

    #[test]
    fn incl_and_excl_check_ranks() {
        let w = Group::world(8);
        assert_eq!(list(&w.incl([7, 0]).unwrap()), [7, 0]);
        assert_eq!(list(&w.excl([7, 0]).unwrap()), [1, 2, 3, 4, 5, 6]);
        assert_eq!(w.incl([8]).unwrap_err().class, MPI_ERR_RANK);
        assert_eq!(w.incl([1, 1]).unwrap_err().class, MPI_ERR_RANK);
        assert_eq!(w.excl([-1]).unwrap_err().class, MPI_ERR_RANK);
    }

    #[test]
    fn triplets() {
        let w = Group::world(10);
        // the example of 7.3.2
        let g = w.range_incl(&[6, 7, 1, 1, 6, 2, 0, 9, 4]);
        assert_eq!(list(&g.unwrap()), [6, 7, 1, 3, 5, 0, 4, 8]);
        assert_eq!(list(&w.range_incl(&[9, 0, -3]).unwrap()), [9, 6, 3, 0]);
        assert_eq!(list(&w.range_incl(&[0, 11, 4]).unwrap()), [0, 4, 8]); // 11 itself is not a member
        assert_eq!(list(&w.range_excl(&[0, 9, 2]).unwrap()), [1, 3, 5, 7, 9]);
        assert_eq!(w.range_incl(&[0, 1, 0]).unwrap_err().class, MPI_ERR_ARG);
        assert_eq!(w.range_incl(&[5, 1, 1]).unwrap_err().class, MPI_ERR_ARG);
        assert_eq!(w.range_incl(&[0, 10, 1]).unwrap_err().class, MPI_ERR_RANK);
        assert_eq!(w.range_incl(&[0, i32::MAX, 1]).unwrap_err().class, MPI_ERR_RANK);
        assert_eq!(w.range_incl(&[0, 3, 1, 3, 5, 1]).unwrap_err().class, MPI_ERR_RANK);
        assert_eq!(list(&w.range_incl(&[]).unwrap()), Vec::<u32>::new());
    }

    #[test]
    fn through_handles() {
        let w = insert(Arc::new(Group::world(4))).unwrap();
        let mut odd = MPI_GROUP_NULL;
        group_incl(w, 2, arr(&mut [3, 1]), out(&mut odd)).unwrap();
        let mut to = [9; 5];
        group_translate_ranks(w, 5, arr(&mut [0, 1, 2, 3, MPI_PROC_NULL]), odd, arr(&mut to)).unwrap();
        assert_eq!(to, [MPI_UNDEFINED, 1, MPI_UNDEFINED, 0, MPI_PROC_NULL]);
        let mut none = MPI_GROUP_NULL;
        group_difference(odd, w, out(&mut none)).unwrap();
        assert_eq!(none, MPI_GROUP_EMPTY);
        let mut n = 7;
        group_size(none, out(&mut n)).unwrap();
        assert_eq!(n, 0);
        for g in [&mut odd, &mut none] {
            group_free(out(g)).unwrap();
            assert_eq!(*g, MPI_GROUP_NULL);
        }
        assert_eq!(group_size(MPI_GROUP_NULL, out(&mut n)).unwrap_err().class, MPI_ERR_GROUP);
        assert_eq!(group_incl(w, -1, arr(&mut []), out(&mut odd)).unwrap_err().class, MPI_ERR_ARG);
        // SAFETY: null is allowed.
        let null = unsafe { Arr::<i32>::new(std::ptr::null()) };
        assert_eq!(group_incl(w, 1, null, out(&mut odd)).unwrap_err().class, MPI_ERR_ARG);
    }
}
