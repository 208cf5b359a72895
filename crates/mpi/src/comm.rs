//! Communicators (MPI-5.0 chapter 7): constructors, accessors, names, info.
//!
//! Every constructor is one exchange on the parent's collective context: the leader's fresh context travels with whatever the
//! constructor has to exchange anyway. Intercommunicators are made in [`inter`]; here they are duplicated and cut like others.
mod from_group;
mod hints;
mod idup;
mod inter;
pub(crate) mod split_type;

pub use from_group::comm_create_from_group;
pub use hints::{comm_get_info, comm_set_info};
pub(crate) use idup::Duplicate;
pub use idup::{comm_idup, comm_idup_with_info};
pub(crate) use inter::{Remote, refuse_intra};
pub use inter::{
    comm_remote_group, comm_remote_size, comm_test_inter, intercomm_create, intercomm_create_from_groups,
    intercomm_merge,
};
pub use split_type::comm_split_type;

use crate::attr::AttrSet;
use crate::group::{self, Group};
use crate::info::{self, Info};
use crate::meeting::{self, Purpose};
use crate::table::{Ref, Table};
use crate::topo::Topology;
use crate::{context, errhan, world};
use oxmpi_base::args::{Out, OutStr, Str};
use oxmpi_base::consts::*;
use oxmpi_base::handle::Handle;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_coll::Team;
use oxmpi_pt2pt::{Endpoint, Ranks};
use oxmpi_transport::wire::Context;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

/// Largest tag; a few values above serve comm_create_group.
pub const TAG_UB: i32 = i32::MAX - 1023;
/// Tag of the exchanges here, on the collective context; `coll` has its own.
pub(crate) const TAG: i32 = 1000;

pub struct Comm {
    /// Whom messages go to and come from: the group, or the remote group of an intercommunicator.
    pub ranks: Arc<Ranks>,
    /// The group, or the local group of an intercommunicator.
    pub group: Arc<Group>,
    /// In `group`.
    pub rank: usize,
    /// Of an intercommunicator: the other group.
    pub remote: Option<Remote>,
    /// Of a communicator under way (see `idup`), nobody's until it arrives.
    ctx: AtomicU64,
    /// For the collectives; of an intercommunicator, for what its local group does by itself.
    pub endpoint: Team,
    pub attrs: AttrSet,
    pub errhandler: errhan::Cell,
    /// Set before it has a handle, if at all.
    pub topology: OnceLock<Arc<Topology>>,
    name: Mutex<Vec<u8>>,
    info: Mutex<Info>,
}

static COMMS: Table<handle::Comm, Comm> = Table::new();

pub fn table() -> &'static Table<handle::Comm, Comm> {
    &COMMS
}

/// The communicator of this handle; MPI_ERR_COMM where it is none.
#[inline]
pub fn get(h: handle::Comm) -> Result<Ref<'static, handle::Comm, Comm>> {
    COMMS.get(h)
}

/// As `get`; an intercommunicator is MPI_ERR_COMM.
pub fn get_intra(h: handle::Comm) -> Result<Ref<'static, handle::Comm, Comm>> {
    let c = COMMS.get(h)?;
    if c.remote.is_some() {
        let what = "this operation is for intracommunicators; MPI_Intercomm_merge makes one from both groups";
        bail!(MPI_ERR_COMM, "{} was given: {what}", c.describe());
    }
    Ok(c)
}

/// As `get`, where a bad handle is somebody else's to explain.
#[inline(always)]
pub(crate) fn peek(h: handle::Comm) -> Option<Ref<'static, handle::Comm, Comm>> {
    COMMS.peek(h)
}

impl Comm {
    pub fn new(group: Arc<Group>, ctx: Context, errhandler: errhan::Cell) -> Result<Comm> {
        Self::build(group, None, ctx, errhandler)
    }
    /// With a remote group: an intercommunicator.
    pub fn build(
        group: Arc<Group>,
        remote: Option<Arc<Group>>,
        ctx: Context,
        errhandler: errhan::Cell,
    ) -> Result<Comm> {
        let engine = world::engine()?;
        let rank = group
            .my_rank()
            .ok_or_else(|| Error::new(MPI_ERR_GROUP, "this process is not in the communicator's group"))?;
        let locals = Arc::new(Ranks::new(group.procs().collect()));
        let endpoint = Team::new(Endpoint::new(engine, ctx.collective(), rank, locals.clone()));
        let remote = remote.map(|g| Remote::new(g, locals.clone(), engine, ctx, rank));
        let ranks = remote.as_ref().map_or(locals, |r| r.ranks.clone());
        if ctx != context::none_yet() {
            let others = remote.as_ref().map_or(0, |r| r.group.size());
            context::settle(ctx, group.size() + others);
            ranks.when_gone(ctx.0, context::gone);
        }
        engine.enter(ctx.lane(), |s| s.enroll(&ranks));
        if let Some(r) = &remote {
            engine.enter(ctx.lane(), |s| s.enroll(&r.locals));
        }
        let (attrs, name, info) = (AttrSet::default(), Mutex::default(), Mutex::new(hints::defaults()));
        let (ctx, topology) = (AtomicU64::new(ctx.0), OnceLock::new());
        Ok(Comm { ranks, group, rank, remote, ctx, endpoint, attrs, errhandler, topology, name, info })
    }
    #[inline]
    pub fn ctx(&self) -> Context {
        Context(self.ctx.load(Relaxed))
    }
    /// The lane of the engine in which all its operations are.
    #[inline]
    pub fn lane(&self) -> usize {
        self.ctx().lane()
    }
    /// What the engine knows of this communicator.
    fn enrolled(&self) -> impl Iterator<Item = &Arc<Ranks>> {
        std::iter::once(&self.ranks).chain(self.remote.iter().map(|r| &r.locals))
    }
    /// How many ranks messages can go to.
    #[inline]
    pub fn size(&self) -> usize {
        self.ranks.len()
    }
    pub fn set_name(&self, name: &[u8]) {
        let n = name.len().min(MPI_MAX_OBJECT_NAME as usize - 1);
        *self.name.lock().unwrap_or_else(|e| e.into_inner()) = name[..n].to_vec();
    }
    /// A duplicate has its original's topology (MPI-5.0 8.4).
    fn share_topology(&self, original: &Comm) {
        if let Some(t) = original.topology.get() {
            let _first = self.topology.set(t.clone());
        }
    }
    /// "MPI_COMM_WORLD" or the name the program gave, for messages.
    pub fn describe(&self) -> String {
        let name = self.name.lock().unwrap_or_else(|e| e.into_inner());
        if name.is_empty() {
            match &self.remote {
                None => format!("a communicator of {} ranks", self.size()),
                Some(r) => {
                    let (local, remote) = (self.group.size(), r.group.size());
                    format!("an intercommunicator of {local} local and {remote} remote ranks")
                }
            }
        } else {
            String::from_utf8_lossy(&name).into_owned()
        }
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        if let Some(w) = world::any_world() {
            w.engine.enter(self.lane(), |s| self.enrolled().for_each(|r| s.retire(r)));
        }
    }
}

/// Enters a new communicator into the table.
pub(crate) fn publish(c: Comm) -> Result<handle::Comm> {
    let c = Arc::new(c);
    let h = COMMS.insert(c.clone())?;
    c.ranks.set_owner(h.raw());
    Ok(h)
}

/// The child of `parent` over `group`, which this process is in, with `remote` as its remote group.
pub(crate) fn child(parent: &Comm, group: Arc<Group>, remote: Option<Arc<Group>>, tag: i32) -> Result<Comm> {
    let everyone = inter::everyone(&group, remote.as_deref());
    let fetch = |from| {
        let (endpoint, rank) = parent.way_to(from)?;
        let mut bytes = [0u8; 8];
        endpoint.recv_bytes(&mut bytes, rank, tag)?;
        Ok(u64::from_ne_bytes(bytes))
    };
    let post = |to, what: u64| {
        let (endpoint, rank) = parent.way_to(to)?;
        endpoint.send_bytes(&what.to_ne_bytes(), rank, tag)
    };
    let ctx = context::spread(&everyone, fetch, post)?;
    Comm::build(group, remote, ctx, parent.errhandler.inherit())
}

/// A communicator of `group` without a parent: all members call with the same string (MPI-5.0 7.4.2).
pub(crate) fn of_group(group: Arc<Group>, stringtag: &[u8], errhandler: errhan::Cell) -> Result<handle::Comm> {
    let ctx = meeting::agree(&group, Purpose::Comm, stringtag)?;
    publish(Comm::new(group, ctx, errhandler)?)
}

/// MPI_COMM_WORLD and MPI_COMM_SELF.
pub(crate) fn make_predefined() -> Result<()> {
    let w = world::world()?;
    let all = Comm::new(Arc::new(Group::world(w.size)), context::of_world(), errhan::Cell::default())?;
    all.set_name(b"MPI_COMM_WORLD");
    let own = Comm::new(Arc::new(Group::range(w.rank as u32, 1)), context::of_self(w.rank), errhan::Cell::default())?;
    own.set_name(b"MPI_COMM_SELF");
    world::bind_predefined(Arc::new(all), Arc::new(own));
    Ok(())
}

pub fn comm_size(comm: handle::Comm, size: Out<i32>) -> Result<()> {
    size.set(get(comm)?.endpoint.size() as i32)
}

pub fn comm_rank(comm: handle::Comm, rank: Out<i32>) -> Result<()> {
    rank.set(get(comm)?.rank as i32)
}

pub fn comm_compare(comm1: handle::Comm, comm2: handle::Comm, result: Out<i32>) -> Result<()> {
    let (a, b) = (get(comm1)?, get(comm2)?);
    // As MPI_UNEQUAL is the largest, the worse of two results is the larger.
    let same = match (&a.remote, &b.remote) {
        (None, None) => a.group.compare(&b.group),
        (Some(r), Some(s)) => a.group.compare(&b.group).max(r.group.compare(&s.group)),
        _ => MPI_UNEQUAL,
    };
    result.set(if comm1 == comm2 {
        MPI_IDENT
    } else if same == MPI_IDENT {
        MPI_CONGRUENT
    } else {
        same
    })
}

pub fn comm_group(comm: handle::Comm, group: Out<handle::Group>) -> Result<()> {
    group.set(group::insert(get(comm)?.group.clone())?)
}

/// MPI-5.0 11.8.2: no process here was spawned.
pub fn comm_get_parent(parent: Out<handle::Comm>) -> Result<()> {
    world::world()?;
    parent.set(MPI_COMM_NULL)
}

pub fn comm_dup(comm: handle::Comm, newcomm: Out<handle::Comm>) -> Result<()> {
    dup(comm, None, newcomm)
}

pub fn comm_dup_with_info(comm: handle::Comm, info: handle::Info, newcomm: Out<handle::Comm>) -> Result<()> {
    let info = info::optional(info)?;
    dup(comm, info.as_deref(), newcomm)
}

/// MPI-5.0 7.4.2: the groups, and the attributes whose copy callbacks say so; a failing callback undoes the duplicate.
fn dup(h: handle::Comm, info: Option<&Info>, newcomm: Out<handle::Comm>) -> Result<()> {
    let parent = get(h)?;
    newcomm.set(MPI_COMM_NULL)?;
    let new = child(&parent, parent.group.clone(), parent.remote_group(), TAG)?;
    new.share_topology(&parent);
    if let Some(i) = info {
        new.take_hints(i)?;
    }
    let n = publish(new)?;
    let copied = get(n).and_then(|c| parent.attrs.copy_all(h, &c.attrs));
    if let Err(e) = copied {
        // What was copied until then goes with its delete callbacks; the copy's error is the one to report.
        let _ = get(n).and_then(|c| c.attrs.delete_all(n));
        drop(COMMS.remove(n));
        return Err(e);
    }
    newcomm.set(n)
}

/// Runs the delete callbacks and lets the handle go; operations under way keep what they need.
fn release(comm: Out<handle::Comm>, what: &str) -> Result<()> {
    let h = comm.get()?;
    let c = get(h)?;
    if h == MPI_COMM_WORLD || h == MPI_COMM_SELF {
        bail!(MPI_ERR_COMM, "{} is predefined and cannot be {what}", c.describe());
    }
    c.attrs.delete_all(h)?;
    drop(c);
    drop(COMMS.remove(h)?);
    crate::buffer::forget(world::engine()?, crate::buffer::Owner::Comm(h.raw()));
    context::tell_returns()?;
    comm.set(MPI_COMM_NULL)
}

pub fn comm_free(comm: Out<handle::Comm>) -> Result<()> {
    release(comm, "freed")
}

/// MPI-5.0 11.11.4: as free, but waits until all pending communication is over, at this process and at the others.
pub fn comm_disconnect(comm: Out<handle::Comm>) -> Result<()> {
    let c = get(comm.get()?)?;
    crate::buffer::empty(world::engine()?, crate::buffer::Owner::Comm(c.ranks.owner()))?;
    match c.inter() {
        None => oxmpi_coll::barrier(&c.endpoint)?,
        Some(both) => oxmpi_coll::inter::at_once(&both, &oxmpi_coll::inter::Task::Barrier, None)?,
    }
    world::engine()?.wait(c.lane(), |s| s.quiet(&c.ranks).then_some(()))?;
    drop(c);
    release(comm, "disconnected")
}

fn subset(parent: &Comm, g: &Group) -> Result<()> {
    match g.procs().find(|p| !parent.group.contains(*p)) {
        None => Ok(()),
        Some(p) => {
            bail!(MPI_ERR_GROUP, "process {p} of the group is not in {}; the group must be a subset", parent.describe())
        }
    }
}

pub fn comm_create(comm: handle::Comm, group: handle::Group, newcomm: Out<handle::Comm>) -> Result<()> {
    let parent = get(comm)?;
    let g = group::get(group)?;
    subset(&parent, &g)?;
    let remote = match parent.inter() {
        None => None,
        // Each group says which of its processes are to be in.
        Some(both) => Some(inter::tell_groups(&both, &g)?),
    };
    if g.my_rank().is_none() || remote.as_ref().is_some_and(|r| r.size() == 0) {
        return newcomm.set(MPI_COMM_NULL);
    }
    newcomm.set(publish(child(&parent, g.to_arc(), remote, TAG)?)?)
}

pub fn comm_create_group(comm: handle::Comm, group: handle::Group, tag: i32, newcomm: Out<handle::Comm>) -> Result<()> {
    let parent = get_intra(comm)?;
    let g = group::get(group)?;
    if !(0..=TAG_UB).contains(&tag) {
        bail!(MPI_ERR_TAG, "tag {tag} is outside 0..={TAG_UB}");
    }
    subset(&parent, &g)?;
    if g.my_rank().is_none() {
        return newcomm.set(MPI_COMM_NULL);
    }
    // Negative tags are used for nothing else, so several of these may be under way with different tags.
    newcomm.set(publish(child(&parent, g.to_arc(), None, tag | i32::MIN)?)?)
}

pub fn comm_split(comm: handle::Comm, color: i32, key: i32, newcomm: Out<handle::Comm>) -> Result<()> {
    if color < 0 && color != MPI_UNDEFINED {
        bail!(MPI_ERR_ARG, "color {color} is negative; use a non-negative color or MPI_UNDEFINED");
    }
    let parent = get(comm)?;
    split(&parent, color, key, newcomm)
}

/// The ranks with a color, in the order of their keys; each has said its color, its key and the context that it would give as a leader. Ties keep the order of the old ranks: the sort is stable.
fn members(all: &[[i64; 3]], color: i32) -> Vec<usize> {
    let mut ranks: Vec<usize> = (0..all.len()).filter(|r| all[*r][0] == color as i64).collect();
    ranks.sort_by_key(|r| all[*r][1]);
    ranks
}

fn split(parent: &Comm, color: i32, key: i32, newcomm: Out<handle::Comm>) -> Result<()> {
    let (offered, why) = context::Given::offer();
    let (ours, theirs) = tell_all(parent, [color as i64, key as i64, offered.0 as i64])?;
    let local = members(&ours, color);
    let remote = members(&theirs, color);
    let nobody = color == MPI_UNDEFINED || (parent.remote.is_some() && remote.is_empty());
    if nobody {
        offered.release();
        return newcomm.set(MPI_COMM_NULL);
    }
    let origin = parent.group.origin();
    let procs = |of: &Group, ranks: &[usize]| {
        Arc::new(Group::from_procs(ranks.iter().map(|r| of.proc_of(*r)).collect()).of(origin))
    };
    let group = procs(&parent.group, &local);
    let other = parent.remote.as_ref().map(|r| procs(&r.group, &remote));
    let leader = inter::everyone(&group, other.as_deref()).proc_of(0);
    if leader != group::my_proc() {
        offered.release();
    }
    let given = match group.rank_of(leader) {
        Some(r) => ours[local[r]][2],
        None => theirs[remote[0]][2],
    };
    let ctx = context::Given(given as u64).get().map_err(|other| why.err().unwrap_or(other))?;
    newcomm.set(publish(Comm::build(group, other, ctx, parent.errhandler.inherit())?)?)
}

/// What each rank says.
type Said<const N: usize> = Vec<[i64; N]>;

/// What every rank of the group, and of the remote group, says.
fn tell_all<const N: usize>(c: &Comm, mine: [i64; N]) -> Result<(Said<N>, Said<N>)> {
    let Some(both) = c.inter() else { return Ok((allgather(c, mine)?, Vec::new())) };
    let (local, remote) = oxmpi_coll::inter::tell_all(&both, &mine.map(i64::to_ne_bytes).concat())?;
    let word = |b: &[u8], i: usize| i64::from_ne_bytes(b[8 * i..8 * i + 8].try_into().expect("8 bytes"));
    let all = |bytes: Vec<u8>| bytes.chunks_exact(8 * N).map(|b| std::array::from_fn(|i| word(b, i))).collect();
    Ok((all(local), all(remote)))
}

/// `N` numbers of every rank.
pub(crate) fn allgather<const N: usize>(c: &Comm, mine: [i64; N]) -> Result<Said<N>> {
    use oxmpi_base::args::Buf;
    let byte = crate::datatype::byte();
    let mut all = vec![[0i64; N]; c.size()];
    all[c.rank] = mine;
    let buf = Buf(all.as_mut_ptr() as *mut _);
    oxmpi_coll::allgather(&c.endpoint, Buf(MPI_IN_PLACE as *mut _), 0, byte, buf, 8 * N, byte)?;
    Ok(all)
}

pub fn comm_set_name(comm: handle::Comm, comm_name: Str) -> Result<()> {
    get(comm)?.set_name(comm_name.get()?.to_bytes());
    Ok(())
}

pub fn comm_get_name(comm: handle::Comm, comm_name: OutStr, resultlen: Out<i32>) -> Result<()> {
    if comm == MPI_COMM_NULL {
        return resultlen.set(comm_name.write(b"MPI_COMM_NULL", MPI_MAX_OBJECT_NAME as usize)? as i32);
    }
    let c = get(comm)?;
    let name = c.name.lock().unwrap_or_else(|e| e.into_inner()).clone();
    resultlen.set(comm_name.write(&name, MPI_MAX_OBJECT_NAME as usize)? as i32)
}
