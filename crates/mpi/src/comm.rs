//! Communicators (MPI-5.0 chapter 7): constructors, accessors, names, info.
//!
//! Every constructor is one exchange on the parent's collective context: the leader's fresh context travels with whatever the
//! constructor has to exchange anyway. Known gaps: inter-communicators.
mod idup;

pub(crate) use idup::Duplicate;
pub use idup::{comm_idup, comm_idup_with_info};

use crate::attr::AttrSet;
use crate::group::{self, Group};
use crate::info::{self, Info};
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
    pub ranks: Arc<Ranks>,
    pub group: Arc<Group>,
    pub rank: usize,
    /// Of a communicator under way (see `idup`), nobody's until it arrives.
    ctx: AtomicU64,
    /// For the collectives.
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

/// The same, where a bad handle is somebody else's to explain.
#[inline(always)]
pub(crate) fn peek(h: handle::Comm) -> Option<Ref<'static, handle::Comm, Comm>> {
    COMMS.peek(h)
}

impl Comm {
    pub fn new(group: Arc<Group>, ctx: Context, errhandler: errhan::Cell) -> Result<Comm> {
        let engine = world::engine()?;
        let rank = group
            .my_rank()
            .ok_or_else(|| Error::new(MPI_ERR_GROUP, "this process is not in the communicator's group"))?;
        let ranks = Arc::new(Ranks::new(group.procs().collect()));
        engine.enter(ctx.lane(), |s| s.enroll(&ranks));
        let endpoint = Team::new(Endpoint::new(engine, ctx.collective(), rank, ranks.clone()));
        let (attrs, name, info) = (AttrSet::default(), Mutex::default(), Mutex::new(Info::new()));
        let (ctx, topology) = (AtomicU64::new(ctx.0), OnceLock::new());
        Ok(Comm { ranks, group, rank, ctx, endpoint, attrs, errhandler, topology, name, info })
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
            format!("a communicator of {} ranks", self.size())
        } else {
            String::from_utf8_lossy(&name).into_owned()
        }
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        if let Some(w) = world::any_world() {
            w.engine.enter(self.lane(), |s| s.retire(&self.ranks));
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

/// The child of `parent` over `group`, which this process is in; the leader's context goes round the new group in a binomial tree.
pub(crate) fn child(parent: &Comm, group: Arc<Group>, tag: i32) -> Result<Comm> {
    let me = group.my_rank().ok_or_else(|| Error::new(MPI_ERR_GROUP, "this process is not in the new group"))?;
    let size = group.size();
    let to_parent = |r: usize| -> Result<usize> {
        let proc = group.proc_of(r);
        parent.ranks.rank_of(proc).ok_or_else(|| {
            Error::new(
                MPI_ERR_GROUP,
                format!("member {r} of the group is not in {}; the group must be a subset", parent.describe()),
            )
        })
    };
    let mut bytes = [0u8; 8];
    if me == 0 {
        bytes = context::reserve()?.0.to_ne_bytes();
    }
    let mut mask = 1;
    while mask < size {
        if me & mask != 0 {
            parent.endpoint.recv_bytes(&mut bytes, to_parent(me - mask)?, tag)?;
            break;
        }
        mask <<= 1;
    }
    mask >>= 1;
    while mask > 0 {
        if me + mask < size {
            parent.endpoint.send_bytes(&bytes, to_parent(me + mask)?, tag)?;
        }
        mask >>= 1;
    }
    Comm::new(group, Context(u64::from_ne_bytes(bytes)), parent.errhandler.inherit())
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
    size.set(get(comm)?.size() as i32)
}

pub fn comm_rank(comm: handle::Comm, rank: Out<i32>) -> Result<()> {
    rank.set(get(comm)?.rank as i32)
}

pub fn comm_compare(comm1: handle::Comm, comm2: handle::Comm, result: Out<i32>) -> Result<()> {
    let (a, b) = (get(comm1)?, get(comm2)?);
    let same = a.group.compare(&b.group);
    result.set(if comm1 == comm2 {
        MPI_IDENT
    } else if same == MPI_IDENT {
        MPI_CONGRUENT
    } else {
        same
    })
}

pub fn comm_test_inter(comm: handle::Comm, flag: Out<i32>) -> Result<()> {
    get(comm)?;
    flag.set(0)
}

pub fn comm_group(comm: handle::Comm, group: Out<handle::Group>) -> Result<()> {
    group.set(group::insert(get(comm)?.group.clone())?)
}

fn not_inter(comm: handle::Comm) -> Result<()> {
    let c = get(comm)?;
    bail!(MPI_ERR_COMM, "{} is an intra-communicator and has no remote group", c.describe())
}

pub fn comm_remote_size(comm: handle::Comm, _size: Out<i32>) -> Result<()> {
    not_inter(comm)
}

pub fn comm_remote_group(comm: handle::Comm, _group: Out<handle::Group>) -> Result<()> {
    not_inter(comm)
}

/// MPI-5.0 11.8.2: no process here was spawned.
pub fn comm_get_parent(parent: Out<handle::Comm>) -> Result<()> {
    world::world()?;
    parent.set(MPI_COMM_NULL)
}

pub fn comm_dup(comm: handle::Comm, newcomm: Out<handle::Comm>) -> Result<()> {
    let parent = get(comm)?;
    let info = parent.info.lock().unwrap_or_else(|e| e.into_inner()).duplicate();
    dup(comm, &parent, info, newcomm)
}

pub fn comm_dup_with_info(comm: handle::Comm, info: handle::Info, newcomm: Out<handle::Comm>) -> Result<()> {
    let parent = get(comm)?;
    let info = info::optional(info)?.map_or_else(Info::new, |i| i.duplicate());
    dup(comm, &parent, info, newcomm)
}

/// MPI-5.0 7.4.2: the group, the info, the attributes whose copy callbacks say so; a failing callback undoes the duplicate.
fn dup(h: handle::Comm, parent: &Comm, info: Info, newcomm: Out<handle::Comm>) -> Result<()> {
    let new = child(parent, parent.group.clone(), TAG)?;
    new.share_topology(parent);
    *new.info.lock().unwrap_or_else(|e| e.into_inner()) = info;
    let ctx = new.ctx();
    let n = publish(new)?;
    let copied = get(n).and_then(|c| parent.attrs.copy_all(h, &c.attrs));
    if let Err(e) = copied {
        // What was copied until then goes with its delete callbacks; the copy's error is the one to report.
        let _ = get(n).and_then(|c| c.attrs.delete_all(n));
        drop(COMMS.remove(n));
        context::release(ctx);
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
    let ctx = c.ctx();
    drop(c);
    COMMS.remove(h)?;
    context::release(ctx);
    comm.set(MPI_COMM_NULL)
}

pub fn comm_free(comm: Out<handle::Comm>) -> Result<()> {
    release(comm, "freed")
}

/// MPI-5.0 11.11.4: as free, but waits until all pending communication is over, at this process and at the others.
pub fn comm_disconnect(comm: Out<handle::Comm>) -> Result<()> {
    let c = get(comm.get()?)?;
    oxmpi_coll::barrier(&c.endpoint)?;
    world::engine()?.wait(c.lane(), |s| s.quiet(&c.ranks).then_some(()))?;
    drop(c);
    release(comm, "disconnected")
}

fn subset(parent: &Comm, g: &Group) -> Result<()> {
    match g.procs().find(|p| parent.ranks.rank_of(*p).is_none()) {
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
    if g.my_rank().is_none() {
        return newcomm.set(MPI_COMM_NULL);
    }
    newcomm.set(publish(child(&parent, g.to_arc(), TAG)?)?)
}

pub fn comm_create_group(comm: handle::Comm, group: handle::Group, tag: i32, newcomm: Out<handle::Comm>) -> Result<()> {
    let parent = get(comm)?;
    let g = group::get(group)?;
    if !(0..=TAG_UB).contains(&tag) {
        bail!(MPI_ERR_TAG, "tag {tag} is outside 0..={TAG_UB}");
    }
    subset(&parent, &g)?;
    if g.my_rank().is_none() {
        return newcomm.set(MPI_COMM_NULL);
    }
    // Negative tags are used for nothing else, so several of these may be under way with different tags.
    newcomm.set(publish(child(&parent, g.to_arc(), tag | i32::MIN)?)?)
}

pub fn comm_split(comm: handle::Comm, color: i32, key: i32, newcomm: Out<handle::Comm>) -> Result<()> {
    if color < 0 && color != MPI_UNDEFINED {
        bail!(MPI_ERR_ARG, "color {color} is negative; use a non-negative color or MPI_UNDEFINED");
    }
    let parent = get(comm)?;
    split(&parent, color, key, newcomm)
}

fn split(parent: &Comm, color: i32, key: i32, newcomm: Out<handle::Comm>) -> Result<()> {
    let offered = context::reserve()?;
    let mine = [color as i64, key as i64, offered.0 as i64];
    let all = allgather(parent, mine)?;
    if color == MPI_UNDEFINED {
        context::release(offered);
        return newcomm.set(MPI_COMM_NULL);
    }
    // Ties in key keep the order of the old ranks: the sort is stable.
    let mut members: Vec<(i64, usize)> =
        (0..all.len()).filter(|r| all[*r][0] == color as i64).map(|r| (all[r][1], r)).collect();
    members.sort_by_key(|m| m.0);
    let leader = members[0].1;
    if leader != parent.rank {
        context::release(offered);
    }
    let ctx = Context(all[leader][2] as u64);
    let group = Group::from_procs(members.iter().map(|m| parent.ranks.proc_of(m.1)).collect());
    newcomm.set(publish(Comm::new(Arc::new(group), ctx, parent.errhandler.inherit())?)?)
}

/// Three numbers of every rank.
pub(crate) fn allgather(c: &Comm, mine: [i64; 3]) -> Result<Vec<[i64; 3]>> {
    use oxmpi_base::args::Buf;
    let byte = crate::datatype::byte();
    let mut all = vec![[0i64; 3]; c.size()];
    all[c.rank] = mine;
    let buf = Buf(all.as_mut_ptr() as *mut _);
    oxmpi_coll::allgather(&c.endpoint, Buf(MPI_IN_PLACE as *mut _), 0, byte, buf, 24, byte)?;
    Ok(all)
}

pub fn comm_split_type(
    comm: handle::Comm,
    split_type: i32,
    key: i32,
    info: handle::Info,
    newcomm: Out<handle::Comm>,
) -> Result<()> {
    let parent = get(comm)?;
    let hints = info::optional(info)?;
    let hint = |key: &str| hints.as_ref().and_then(|i| i.get_str(key));
    let color = match split_type {
        // One node: all ranks share memory.
        MPI_COMM_TYPE_SHARED => 0,
        MPI_COMM_TYPE_HW_GUIDED if hint("mpi_hw_resource_type").as_deref() == Some("mpi_shared_memory") => 0,
        MPI_COMM_TYPE_RESOURCE_GUIDED if hint("mpi_hw_resource_type").as_deref() == Some("mpi_shared_memory") => 0,
        MPI_COMM_TYPE_RESOURCE_GUIDED if hint("mpi_pset_name").as_deref() == Some("mpi://WORLD") => 0,
        MPI_COMM_TYPE_RESOURCE_GUIDED if hint("mpi_pset_name").as_deref() == Some("mpi://SELF") => parent.rank as i32,
        // No other kind of resource is known: MPI-5.0 7.4.2 says MPI_COMM_NULL.
        MPI_COMM_TYPE_HW_UNGUIDED | MPI_COMM_TYPE_HW_GUIDED | MPI_COMM_TYPE_RESOURCE_GUIDED | MPI_UNDEFINED => {
            MPI_UNDEFINED
        }
        other => bail!(MPI_ERR_ARG, "split_type {other} is not one of the MPI_COMM_TYPE_ constants"),
    };
    split(&parent, color, key, newcomm)
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

/// MPI-5.0 7.4.4: no hint is acted on yet; all are kept and reported back.
pub fn comm_set_info(comm: handle::Comm, info: handle::Info) -> Result<()> {
    let c = get(comm)?;
    let new = info::get(info)?;
    let held = c.info.lock().unwrap_or_else(|e| e.into_inner());
    for (k, v) in new.snapshot() {
        held.set(&k, &v)?;
    }
    Ok(())
}

pub fn comm_get_info(comm: handle::Comm, info_used: Out<handle::Info>) -> Result<()> {
    let c = get(comm)?;
    let copy = c.info.lock().unwrap_or_else(|e| e.into_inner()).duplicate();
    info_used.set(info::insert(copy)?)
}
