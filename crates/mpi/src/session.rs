//! Sessions (MPI-5.0 11.3): begin and end, info, process sets, groups from them.
//!
//! A session is an instance of `world`: it starts the engine as MPI_Init does, and lives beside the World Model and other sessions. Groups
//! remember the session that they are derived from, also through the operations that make groups and communicators of them.
//!
//! MPI_Session_finalize invalidates the handles of what is derived from the session and still there, without its callbacks: no procedure may
//! touch it any more (11.3.1). It is local: who has completed its communication owes nothing to anybody.
//!
//! # Process sets
//! | name | members |
//! |---|---|
//! | `mpi://WORLD` | the processes of the job |
//! | `mpi://SELF` | this process |
//! | `oxmpi://node` | the processes of this node |
//! | `oxmpi://program/N` | those that run program N of an MPMD command line, as this process does |
//!
//! A process sees the sets that it is in; they never change.
//!
//! # Threads
//! All procedures here can be called by any thread at any time. Where `thread_level` is not given it is MPI_THREAD_FUNNELED: the standard advises
//! against MPI_THREAD_SINGLE, and locks are for who asks for them.
//!
//! Known gaps: no kind of memory but `system` and `mpi`, since nothing here knows device memory.
use crate::buffer::{self, Owner};
use crate::comm;
use crate::context;
use crate::errhan::{self, Cell};
use crate::group::{self, Group};
use crate::info::{self, Info};
use crate::table::{Ref, Table};
use crate::world::{self, World};
use oxmpi_base::args::{Out, OutStr, Str};
use oxmpi_base::consts::*;
use oxmpi_base::handle::{Handle, Kind};
use oxmpi_base::{Result, bail, handle};
use std::sync::Arc;

pub struct Session {
    id: u32,
    level: i32,
    /// The kinds of memory that it can be used with.
    kinds: String,
    pub errhandler: Cell,
}

impl Session {
    /// What groups and communicators call their origin.
    pub fn id(&self) -> u32 {
        self.id
    }
}

static SESSIONS: Table<handle::Session, Session> = Table::new();

/// The session of a handle; MPI_ERR_SESSION where it is none.
pub fn get(h: handle::Session) -> Result<Ref<'static, handle::Session, Session>> {
    SESSIONS.get(h)
}

const LEVELS: [(&str, i32); 4] = [
    ("MPI_THREAD_SINGLE", MPI_THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE),
];

fn level(hints: Option<&Info>) -> Result<i32> {
    let Some(asked) = hints.and_then(|i| i.get(b"thread_level")) else { return Ok(MPI_THREAD_FUNNELED) };
    match LEVELS.iter().find(|l| l.0.as_bytes() == &*asked) {
        Some(l) => Ok(l.1),
        None => bail!(
            MPI_ERR_INFO_VALUE,
            "the info key thread_level is '{}'; it is one of MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED and \
             MPI_THREAD_MULTIPLE",
            String::from_utf8_lossy(&asked)
        ),
    }
}

/// What of the kinds of memory that are asked for can be used (MPI-5.0 11.4.3), after those that always can. A kind with restrictors stands for
/// a part of itself, so it can be used where all of its restrictors are known.
pub(crate) fn memory_kinds(asked: &str) -> String {
    let mut all = vec!["mpi", "system"];
    for kind in asked.split(',').map(str::trim) {
        let mut parts = kind.split(':');
        let known = match parts.next() {
            Some("system") => parts.next().is_none(),
            Some("mpi") => parts.all(|r| ["alloc_mem", "win_allocate", "win_allocate_shared"].contains(&r)),
            _ => false,
        };
        if known && !all.contains(&kind) {
            all.push(kind);
        }
    }
    all.join(",")
}

/// The key of [`memory_kinds`], and that of the promise to use no others with an object.
pub(crate) const MEMORY_KINDS: &str = "mpi_memory_alloc_kinds";
pub(crate) const MEMORY_PROMISE: &str = "mpi_assert_memory_alloc_kinds";

/// What objects of this origin can be used with.
pub(crate) fn memory_kinds_of(origin: u32) -> String {
    let mut kinds = None;
    SESSIONS.for_each(|_, s| {
        if s.id == origin {
            kinds = Some(s.kinds.clone());
        }
    });
    kinds.unwrap_or_else(|| memory_kinds(""))
}

/// Whether all of these kinds are among those that can be used.
pub(crate) fn knows_memory(kinds: &str) -> bool {
    let known = memory_kinds(kinds);
    kinds.split(',').map(str::trim).filter(|k| !k.is_empty()).all(|k| known.split(',').any(|n| n == k))
}

pub fn session_init(info: handle::Info, errhandler: handle::Errhandler, session: Out<handle::Session>) -> Result<()> {
    // Null is refused before anything starts.
    session.set(MPI_SESSION_NULL)?;
    let errhandler = Cell::new(errhan::get_for(Kind::Session, errhandler)?);
    let hints = info::optional(info)?;
    let level = level(hints.as_deref())?;
    let asked = hints.and_then(|i| i.get_str(MEMORY_KINDS)).unwrap_or_default();
    let id = world::begin_session(level)?;
    let new = Session { id, level, kinds: memory_kinds(&asked), errhandler };
    match SESSIONS.insert(Arc::new(new)) {
        Ok(h) => session.set(h),
        Err(e) => world::end(id).and(Err(e)),
    }
}

pub fn session_finalize(session: Out<handle::Session>) -> Result<()> {
    let s = SESSIONS.remove(session.get()?)?;
    session.set(MPI_SESSION_NULL)?;
    let emptied = empty_buffers(s.id);
    forget(s.id);
    let told = context::tell_returns();
    world::end(s.id).and(emptied).and(told)
}

/// Waits until what is in the buffers of a session and of its communicators has left; then they are the program's again.
fn empty_buffers(id: u32) -> Result<()> {
    let e = world::engine()?;
    let mut owners = vec![Owner::Session(id)];
    comm::table().for_each(|h, c| {
        if c.group.origin() == id {
            owners.push(Owner::Comm(h.raw()));
        }
    });
    owners.into_iter().try_for_each(|o| {
        buffer::empty(e, o)?;
        buffer::forget(e, o);
        Ok(())
    })
}

/// Lets go of all that is derived from a session.
fn forget(origin: u32) {
    let (mut comms, mut groups) = (Vec::new(), Vec::new());
    comm::table().for_each(|h, c| {
        if c.group.origin() == origin {
            comms.push(h);
        }
    });
    group::table().for_each(|h, g| {
        if g.origin() == origin {
            groups.push(h);
        }
    });
    // Another thread may have freed one meanwhile, against the rules.
    for h in comms {
        let _ = comm::table().remove(h);
    }
    for h in groups {
        let _ = group::table().remove(h);
    }
}

pub fn session_get_info(session: handle::Session, info_used: Out<handle::Info>) -> Result<()> {
    let s = get(session)?;
    info_used.set(MPI_INFO_NULL)?;
    let used = Info::new();
    let level = LEVELS.iter().find(|l| l.1 == s.level).map_or("", |l| l.0);
    used.set(b"thread_level", level.as_bytes())?;
    used.set(MEMORY_KINDS.as_bytes(), s.kinds.as_bytes())?;
    info_used.set(info::insert(used)?)
}

/// The process sets that this process is in, always in this order.
fn psets(w: &World) -> Vec<(String, Group)> {
    let me = w.rank as u32;
    let mut all = vec![("mpi://WORLD".into(), Group::world(w.size)), ("mpi://SELF".into(), Group::range(me, 1))];
    if w.one_node {
        all.push(("oxmpi://node".into(), Group::world(w.size)));
    }
    if let (Some(n), Some(ranks)) = (w.appnum, &w.same_program) {
        all.push((format!("oxmpi://program/{n}"), Group::range(ranks.start as u32, ranks.len())));
    }
    all
}

/// The processes of a process set; None where this process is in no such set. Names are URIs, in which scheme and authority have
/// no case (RFC 3986, 6.2.2.1).
pub fn pset(name: &str) -> Result<Option<Group>> {
    Ok(find_pset(name)?.map(|p| p.1))
}

/// The same with its place in the list, which tells sets of different names that have a process in common apart.
pub(crate) fn find_pset(name: &str) -> Result<Option<(usize, Group)>> {
    let mut all = psets(world::world()?).into_iter().enumerate();
    Ok(all.find(|(_, p)| p.0.eq_ignore_ascii_case(name)).map(|(i, p)| (i, p.1)))
}

fn name(pset_name: Str) -> Result<String> {
    Ok(String::from_utf8_lossy(pset_name.get()?.to_bytes()).into_owned())
}

pub fn session_get_num_psets(session: handle::Session, info: handle::Info, npset_names: Out<i32>) -> Result<()> {
    get(session)?;
    info::optional(info)?;
    npset_names.set(psets(world::world()?).len() as i32)
}

/// A `pset_len` of 0 only asks for the length, which counts the terminating NUL both ways.
pub fn session_get_nth_pset(
    session: handle::Session,
    info: handle::Info,
    n: i32,
    pset_len: Out<i32>,
    pset_name: OutStr,
) -> Result<()> {
    get(session)?;
    info::optional(info)?;
    let all = psets(world::world()?);
    let Some((name, _)) = usize::try_from(n).ok().and_then(|n| all.get(n)) else {
        bail!(MPI_ERR_ARG, "there is no process set number {n}: there are {}, counted from 0", all.len());
    };
    let Ok(capacity) = usize::try_from(pset_len.get()?) else {
        bail!(MPI_ERR_ARG, "pset_len is {}; it must not be negative", pset_len.get()?);
    };
    if capacity > 0 {
        pset_name.write(name.as_bytes(), capacity)?;
    }
    pset_len.set(name.len() as i32 + 1)
}

pub fn session_get_pset_info(session: handle::Session, pset_name: Str, info: Out<handle::Info>) -> Result<()> {
    get(session)?;
    let name = name(pset_name)?;
    info.set(MPI_INFO_NULL)?;
    let Some(group) = pset(&name)? else {
        let known: Vec<String> = psets(world::world()?).into_iter().map(|p| p.0).collect();
        bail!(MPI_ERR_ARG, "'{name}' is no process set of this process; there are {}", known.join(", "));
    };
    let about = Info::new();
    about.set(b"mpi_size", group.size().to_string().as_bytes())?;
    info.set(info::insert(about)?)
}

/// MPI-5.0 11.3.2: a name that is no process set gives MPI_GROUP_NULL.
pub fn group_from_session_pset(session: handle::Session, pset_name: Str, newgroup: Out<handle::Group>) -> Result<()> {
    let s = get(session)?;
    let name = name(pset_name)?;
    newgroup.set(MPI_GROUP_NULL)?;
    match pset(&name)? {
        Some(g) => newgroup.set(group::insert(Arc::new(g.of(s.id)))?),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_memory() {
        for (asked, given) in [
            ("", "mpi,system"),
            ("system,mpi", "mpi,system"),
            ("cuda:device,system", "mpi,system"),
            ("mpi:alloc_mem,mpi:win_allocate:alloc_mem", "mpi,system,mpi:alloc_mem,mpi:win_allocate:alloc_mem"),
            ("mpi:alloc_mem, mpi:alloc_mem,mpi:other,system:huge", "mpi,system,mpi:alloc_mem"),
        ] {
            assert_eq!(memory_kinds(asked), given, "asked for '{asked}'");
        }
    }

    #[test]
    fn thread_levels() {
        assert_eq!(level(None).unwrap(), MPI_THREAD_FUNNELED);
        let i = Info::new();
        assert_eq!(level(Some(&i)).unwrap(), MPI_THREAD_FUNNELED);
        i.set(b"thread_level", b"MPI_THREAD_MULTIPLE").unwrap();
        assert_eq!(level(Some(&i)).unwrap(), MPI_THREAD_MULTIPLE);
        i.set(b"thread_level", b"3").unwrap();
        assert_eq!(level(Some(&i)).unwrap_err().class, MPI_ERR_INFO_VALUE);
    }

    #[test]
    fn groups_remember_their_session() {
        let g = Group::world(4).of(7);
        let all = [
            g.incl([1, 2]).unwrap(),
            g.excl([1]).unwrap(),
            g.union(&Group::world(2)),
            Group::world(0).union(&g),
            g.intersection(&Group::world(2)),
            g.difference(&Group::world(2)),
        ];
        assert!(all.iter().all(|g| g.origin() == 7));
    }
}
