//! Intercommunicators (MPI-5.0 7.2.2, 7.6): two groups that share no process, and messages from each to the other.
//!
//! Both groups and the messages between them use one context: a message matches by process, and no process is in both groups. Whatever the
//! two groups have to decide alike (who is first, who gives out the context) is decided by the process index of their ranks 0.
//!
//! MPI_Intercomm_create lets the leaders find each other by the peer communicator's context and the tag (`meeting`), so it meets no message of the
//! program, whatever its tag. What a leader finds wrong it tells its group, which fails alike; the other group's leader cannot be told
//! when the two have not found each other.
use super::{Comm, TAG, child, get, get_intra, publish};
use crate::context::Given;
use crate::group::{self, Group};
use crate::meeting::{self, Key, Purpose};
use crate::{errhan, info};
use oxmpi_base::args::{Buf, Out, Str};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_coll::Team;
use oxmpi_coll::inter::Inter;
use oxmpi_pt2pt::{Endpoint, Engine, Ranks};
use oxmpi_transport::wire::Context;
use std::sync::Arc;

/// The other group of an intercommunicator.
pub struct Remote {
    pub group: Arc<Group>,
    pub(super) ranks: Arc<Ranks>,
    pub(super) locals: Arc<Ranks>,
    /// For the collectives; never with shared memory.
    pub endpoint: Team,
}

impl Remote {
    pub(super) fn new(
        group: Arc<Group>,
        locals: Arc<Ranks>,
        engine: &'static Engine,
        ctx: Context,
        rank: usize,
    ) -> Remote {
        let ranks = Arc::new(Ranks::new(group.procs().collect()));
        let endpoint = Team::new(Endpoint::new(engine, ctx.collective(), rank, ranks.clone()));
        Remote { group, ranks, locals, endpoint }
    }
}

impl Comm {
    /// Both groups, for the collectives; None of an intracommunicator.
    pub fn inter(&self) -> Option<Inter<'_>> {
        self.remote.as_ref().map(|r| Inter { local: &self.endpoint, remote: &r.endpoint })
    }
    pub(super) fn remote_group(&self) -> Option<Arc<Group>> {
        self.remote.as_ref().map(|r| r.group.clone())
    }
    /// How to reach a process of either group.
    pub(super) fn way_to(&self, proc: u32) -> Result<(&Endpoint, usize)> {
        if let Some(rank) = self.group.rank_of(proc) {
            return Ok((&self.endpoint, rank));
        }
        match self.remote.as_ref().and_then(|r| Some((&*r.endpoint, r.group.rank_of(proc)?))) {
            Some(way) => Ok(way),
            None => bail!(
                MPI_ERR_GROUP,
                "process {proc} of the group is not in {}; the group must be a subset",
                self.describe()
            ),
        }
    }
}

/// Whether the local group is the first one, for what needs an order.
fn is_first(local: &Group, remote: &Group) -> bool {
    local.proc_of(0) < remote.proc_of(0)
}

/// All processes of both groups, in an order that is the same in both; both have members.
pub(super) fn everyone(local: &Group, remote: Option<&Group>) -> Group {
    match remote {
        None => Group::from_procs(local.procs().collect()),
        Some(r) if is_first(local, r) => local.union(r),
        Some(r) => r.union(local),
    }
}

fn bytes_of(procs: impl Iterator<Item = u32>) -> Vec<u8> {
    procs.flat_map(u32::to_ne_bytes).collect()
}

/// Another process says which processes these are.
fn group_from(bytes: &[u8]) -> Result<Arc<Group>> {
    let procs: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_ne_bytes(b.try_into().expect("4 bytes"))).collect();
    let n = crate::world::world()?.size;
    match procs.iter().find(|p| **p as usize >= n) {
        None => Ok(Arc::new(Group::from_procs(procs))),
        Some(p) => {
            bail!(MPI_ERR_INTERN, "the other group was told to have process {p}; this job has processes 0 to {}", n - 1)
        }
    }
}

/// The group that the ranks of the other side have chosen, each side a subset of its own.
pub(super) fn tell_groups(both: &Inter, mine: &Group) -> Result<Arc<Group>> {
    let mut size = [0u8; 8];
    oxmpi_coll::inter::tell_other(both, &mine.size().to_ne_bytes(), &mut size)?;
    let size = usize::from_ne_bytes(size).min(both.remote.size());
    let mut theirs = vec![0u8; 4 * size];
    oxmpi_coll::inter::tell_other(both, &bytes_of(mine.procs()), &mut theirs)?;
    group_from(&theirs)
}

// ---- the procedures ----

pub fn comm_test_inter(comm: handle::Comm, flag: Out<i32>) -> Result<()> {
    flag.set(get(comm)?.remote.is_some() as i32)
}

/// Where only an intercommunicator will do.
pub(crate) fn refuse_intra(c: &Comm) -> Result<()> {
    Err(not_inter(c))
}

fn not_inter(c: &Comm) -> Error {
    Error::new(MPI_ERR_COMM, format!("{} is an intracommunicator and has no remote group", c.describe()))
}

pub fn comm_remote_size(comm: handle::Comm, size: Out<i32>) -> Result<()> {
    let c = get(comm)?;
    let r = c.remote.as_ref().ok_or_else(|| not_inter(&c))?;
    size.set(r.group.size() as i32)
}

pub fn comm_remote_group(comm: handle::Comm, group: Out<handle::Group>) -> Result<()> {
    let c = get(comm)?;
    let r = c.remote.as_ref().ok_or_else(|| not_inter(&c))?;
    group.set(group::insert(r.group.clone())?)
}

/// What a leader tells its group: an error class or 0, the context, the size of the other group.
type News = [u64; 3];

/// The local leader's news for all of the group, and then the other group.
fn pass_on(team: &Team, leader: usize, mine: Result<(Given, Arc<Group>)>) -> Result<(Context, Arc<Group>)> {
    let byte = crate::datatype::byte();
    let here = team.rank() == leader;
    let mut news: News = match &mine {
        Ok((given, remote)) => [0, given.0, remote.size() as u64],
        Err(e) => [e.class as u64, 0, 0],
    };
    let told = oxmpi_coll::bcast(team, Buf(news.as_mut_ptr().cast()), size_of::<News>(), byte, leader);
    let mut procs = match &mine {
        Ok((_, remote)) if here => bytes_of(remote.procs()),
        _ => vec![0u8; 4 * (news[2] as usize).min(1 << 24)],
    };
    let told = told.and(oxmpi_coll::bcast(team, Buf(procs.as_mut_ptr().cast()), procs.len(), byte, leader));
    if here {
        let (given, remote) = mine?;
        told?;
        return Ok((given.get()?, remote));
    }
    told?;
    if news[0] != 0 {
        bail!(
            news[0] as i32,
            "the local leader (rank {leader}) could not make the intercommunicator; its message says why"
        );
    }
    Ok((Given(news[1]).get()?, group_from(&procs)?))
}

/// The leaders of two groups agree on a context: the first one's.
fn leaders_agree(peer: u32, key: Key) -> Result<Given> {
    let (mine, why) = Given::offer();
    let theirs = meeting::swap(peer, key, mine)?;
    if group::my_proc() < peer {
        why.map(|()| mine)
    } else {
        mine.release();
        Ok(theirs)
    }
}

/// The leaders tell each other their groups, in the new context.
fn leaders_tell(peer: u32, ctx: Context, mine: &Group) -> Result<Arc<Group>> {
    let me = group::my_proc();
    let engine = crate::world::engine()?;
    let between = Endpoint::new(engine, ctx.collective(), 0, Arc::new(Ranks::new(Box::new([me, peer]))));
    let (mut size, byte) = ([0u64], crate::datatype::byte());
    let mut own = [mine.size() as u64];
    let at = |v: *mut u64| Buf(v.cast());
    between.sendrecv(at(own.as_mut_ptr()), 8, byte, 1, at(size.as_mut_ptr()), 8, byte, 1, TAG)?;
    let list = bytes_of(mine.procs());
    let mut theirs = vec![0u8; 4 * (size[0] as usize).min(1 << 24)];
    let (from, to) = (Buf(list.as_ptr().cast_mut().cast()), Buf(theirs.as_mut_ptr().cast()));
    between.sendrecv(from, list.len(), byte, 1, to, theirs.len(), byte, 1, TAG)?;
    group_from(&theirs)
}

fn disjoint(a: &Group, b: &Group, class: i32) -> Result<()> {
    match a.procs().find(|p| b.contains(*p)) {
        None => Ok(()),
        Some(p) => bail!(class, "process {p} is in both groups; the groups of an intercommunicator must be disjoint"),
    }
}

pub fn intercomm_create(
    local_comm: handle::Comm,
    local_leader: i32,
    peer_comm: handle::Comm,
    remote_leader: i32,
    tag: i32,
    newintercomm: Out<handle::Comm>,
) -> Result<()> {
    let local = get_intra(local_comm)?;
    let n = local.size();
    let Some(leader) = usize::try_from(local_leader).ok().filter(|l| *l < n) else {
        bail!(
            MPI_ERR_RANK,
            "local_leader {local_leader} is not a rank of {}, which has ranks 0 to {}",
            local.describe(),
            n - 1
        );
    };
    newintercomm.set(MPI_COMM_NULL)?;
    let mine = if local.rank == leader { lead(&local, peer_comm, remote_leader, tag) } else { Err(not_leader()) };
    let (ctx, remote) = pass_on(&local.endpoint, leader, mine)?;
    let new = Comm::build(local.group.clone(), Some(remote), ctx, local.errhandler.inherit())?;
    newintercomm.set(publish(new)?)
}

/// Stands for what only the leader has.
fn not_leader() -> Error {
    Error::new(MPI_ERR_INTERN, "this process does not lead its group")
}

fn lead(local: &Comm, peer_comm: handle::Comm, remote_leader: i32, tag: i32) -> Result<(Given, Arc<Group>)> {
    let peers = get(peer_comm)?;
    if !(0..=super::TAG_UB).contains(&tag) {
        bail!(MPI_ERR_TAG, "tag {tag} is outside 0..={}", super::TAG_UB);
    }
    let Some(r) = usize::try_from(remote_leader).ok().filter(|r| *r < peers.size()) else {
        let (what, last) = (peers.describe(), peers.size() - 1);
        bail!(MPI_ERR_RANK, "remote_leader {remote_leader} is not a rank of {what}, which has ranks 0 to {last}");
    };
    let (me, peer) = (group::my_proc(), peers.ranks.proc_of(r));
    if local.group.contains(peer) {
        bail!(
            MPI_ERR_COMM,
            "the remote leader is in the local group; the groups of an intercommunicator must be disjoint"
        );
    }
    let place = [&peers.ctx().0.to_ne_bytes()[..], &tag.to_ne_bytes()].concat();
    let key = Key::new(Purpose::Create, &place, [me.min(peer), me.max(peer)].into_iter());
    let given = leaders_agree(peer, key)?;
    let checked = leaders_tell(peer, given.get()?, &local.group)
        .and_then(|remote| disjoint(&local.group, &remote, MPI_ERR_COMM).map(|()| remote));
    if checked.is_err() {
        given.release();
    }
    Ok((given, checked?))
}

#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn intercomm_create_from_groups(
    local_group: handle::Group,
    local_leader: i32,
    remote_group: handle::Group,
    remote_leader: i32,
    stringtag: Str,
    info: handle::Info,
    errhandler: handle::Errhandler,
    newintercomm: Out<handle::Comm>,
) -> Result<()> {
    use oxmpi_base::handle::Kind;
    let local = group::get(local_group)?;
    let hints = info::optional(info)?;
    let tag = super::from_group::tag(stringtag)?;
    let handler = errhan::Cell::new(errhan::get_for(Kind::Comm, errhandler)?);
    newintercomm.set(MPI_COMM_NULL)?;
    if local.size() == 0 || group::get(remote_group)?.size() == 0 {
        return Ok(());
    }
    let Some(me) = local.my_rank() else {
        bail!(MPI_ERR_GROUP, "this process is not in the local group; only its members call");
    };
    let n = local.size();
    let Some(leader) = usize::try_from(local_leader).ok().filter(|l| *l < n) else {
        bail!(MPI_ERR_RANK, "local_leader {local_leader} is not a rank of the local group, whose ranks are 0..{n}");
    };
    // A context for the local group alone, in which its leader tells what the leaders have agreed on.
    let aside = meeting::agree(&local, Purpose::Side, tag)?;
    let side = Comm::new(local.to_arc(), aside, errhan::Cell::default())?;
    let mine = if me == leader { lead_groups(&local, remote_group, remote_leader, tag) } else { Err(not_leader()) };
    let made = pass_on(&side.endpoint, leader, mine);
    drop(side);
    let (ctx, remote) = made?;
    let new = Comm::build(local.to_arc(), Some(remote), ctx, handler)?;
    if let Some(i) = hints {
        new.take_hints(&i)?;
    }
    newintercomm.set(publish(new)?)
}

fn lead_groups(local: &Group, remote: handle::Group, remote_leader: i32, tag: &[u8]) -> Result<(Given, Arc<Group>)> {
    let remote = group::get(remote)?;
    let n = remote.size();
    let Some(r) = usize::try_from(remote_leader).ok().filter(|r| *r < n) else {
        bail!(MPI_ERR_RANK, "remote_leader {remote_leader} is not a rank of the remote group, which has {n} ranks");
    };
    disjoint(local, &remote, MPI_ERR_GROUP)?;
    let (me, peer) = (group::my_proc(), remote.proc_of(r));
    let key = Key::new(Purpose::Leaders, tag, [me.min(peer), me.max(peer)].into_iter());
    let given = leaders_agree(peer, key)?;
    let checked = leaders_tell(peer, given.get()?, local).and_then(|theirs| {
        if theirs.compare(&remote) == MPI_IDENT {
            return Ok(theirs);
        }
        bail!(MPI_ERR_GROUP, "the remote group given here is not the local group that the remote leader gave")
    });
    if checked.is_err() {
        given.release();
    }
    Ok((given, checked?))
}

/// The group whose ranks say `high` comes second; where both say the same, the order is that of their ranks 0.
pub fn intercomm_merge(intercomm: handle::Comm, high: i32, newintracomm: Out<handle::Comm>) -> Result<()> {
    let c = get(intercomm)?;
    let (Some(both), Some(r)) = (c.inter(), &c.remote) else {
        return Err(not_inter(&c));
    };
    newintracomm.set(MPI_COMM_NULL)?;
    let (ours, theirs) = oxmpi_coll::inter::tell_all(&both, &[(high != 0) as u8])?;
    for (side, said) in [("this group", &ours), ("the remote group", &theirs)] {
        if said.iter().any(|h| *h != said[0]) {
            bail!(MPI_ERR_ARG, "the ranks of {side} disagree about high; all of one group must say the same");
        }
    }
    let low = match (ours[0] != 0, theirs[0] != 0) {
        (false, true) => true,
        (true, false) => false,
        _ => is_first(&c.group, &r.group),
    };
    let group = if low { c.group.union(&r.group) } else { r.group.union(&c.group) };
    let group = group.of(c.group.origin());
    newintracomm.set(publish(child(&c, Arc::new(group), None, TAG)?)?)
}
