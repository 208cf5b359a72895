//! Requests and their completion (MPI-5.0 3.7, 3.9).
//!
//! A request of a nonblocking operation is its place in the engine, encoded in the handle; other requests are objects of their own: a
//! persistent one has such a place while it is active, a compound one stands for several, that of a collective for a schedule, a generalized one is the
//! program's.
//! Handles of the first sort use kind number 12 in the scheme of `base::handle`: 22 bits for the engine's lane and the place there, 4 bits of
//! generation.
//!
//! Invariants: what completes is found by [`Named::check`], inside the lane where that is possible (one lane, no objects), else by entering
//! each lane in turn; what has to follow (callbacks, objects to remove) is done outside, by [`Found::conclude`], before the program hears of it.
mod collective;
mod compound;
mod general;
mod partitioned;
mod persistent;

pub(crate) use collective::Collective;
pub(crate) use compound::Compound;
pub use general::{grequest_complete, grequest_start};
pub(crate) use partitioned::{Partitioned, with_partitioned};
pub(crate) use persistent::{Direction, persistent};
pub use persistent::{start, startall};

use crate::comm::Comm;
use crate::pt2pt::{give, status_of, verdict};
use crate::table::{Ref, Table};
use crate::world;
use oxmpi_base::args::{Arr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::handle::Handle;
use oxmpi_base::{Error, Result, Status, bail, handle};
use oxmpi_pt2pt::{Engine, Lanes, Outcome, Ranks, ReqId, State, part};
use persistent::{Active, Persistent};

pub use crate::status::*;

const PLAIN: usize = (1 << 30) | (12 << 26);
const INDEX_BITS: u32 = 22;
const GENERATIONS: u32 = 15;
/// The request of every send that is complete when its procedure returns: it takes no place in the engine.
pub(crate) const SENT: handle::Request = handle::Request(PLAIN | ((1 << INDEX_BITS) - 1));

/// What a handle names that is not of the first sort.
enum Object {
    Persistent(Persistent),
    Partitioned(Partitioned),
    Compound(Compound),
    Collective(Collective),
    General(general::General),
}

static OBJECTS: Table<handle::Request, Object> = Table::new();

/// What a handle names.
enum Named {
    Null,
    /// A send that was complete when it was started.
    Sent,
    Plain(ReqId),
    Object(handle::Request, Ref<'static, handle::Request, Object>),
}

/// The handle of an operation that was started; `None` is one that completed at once with `o`.
pub(crate) fn of_started(e: &Engine, c: &Comm, id: Option<ReqId>, o: Outcome) -> Result<handle::Request> {
    of_parts(e, c.lane(), Some(&c.ranks), id, o)
}

/// As `of_started`, of an operation in `lane`.
pub(crate) fn of_parts(
    e: &Engine,
    lane: usize,
    ranks: Option<&Ranks>,
    id: Option<ReqId>,
    o: Outcome,
) -> Result<handle::Request> {
    let id = e.enter(lane, |s| {
        let id = id.unwrap_or_else(|| s.completed(o));
        if let Some(r) = ranks {
            s.tag_user(id, r);
        }
        id
    });
    handle_of(e, id)
}

/// The handle of a request of the engine.
#[inline]
pub(crate) fn handle_of(e: &Engine, id: ReqId) -> Result<handle::Request> {
    if id.number() >= (1 << INDEX_BITS) - 1 {
        e.enter(id.lane(), |s| {
            s.cancel(id);
            s.detach(id)
        });
        bail!(
            MPI_ERR_NO_MEM,
            "more than {} requests are under way in a quarter of the communicators",
            1 << (INDEX_BITS - 2)
        );
    }
    let generation = (id.generation() & GENERATIONS) as usize;
    Ok(handle::Request(PLAIN | generation << INDEX_BITS | id.number() as usize))
}

/// The number of the engine's request that a handle of the first sort names.
#[inline]
fn number_of(h: handle::Request) -> Option<u32> {
    (h.raw() >> 26 == PLAIN >> 26 && h != SENT).then_some((h.raw() & ((1 << INDEX_BITS) - 1)) as u32)
}

fn named(e: &Engine, h: handle::Request) -> Result<Named> {
    match number_of(h) {
        Some(n) => e.enter(ReqId::lane_of(n), |s| named_in(s, h, n)),
        None => named_outside(h),
    }
}

/// The engine's request of a handle of the first sort with this number, in its lane.
#[inline(always)]
fn plain_in(s: &mut State, h: handle::Request, number: u32) -> Option<ReqId> {
    s.request_at(number, (h.raw() >> INDEX_BITS) as u32 & GENERATIONS, GENERATIONS)
}

/// Of a handle of the first sort, with its number, in its lane.
fn named_in(s: &mut State, h: handle::Request, number: u32) -> Result<Named> {
    plain_in(s, h, number).map(Named::Plain).ok_or_else(|| stale(h))
}

#[cold]
fn stale(h: handle::Request) -> Error {
    Error::new(MPI_ERR_REQUEST, format!("request {:#x} has completed or was freed; its handle is stale", h.raw()))
}

fn named_outside(h: handle::Request) -> Result<Named> {
    match h {
        MPI_REQUEST_NULL => Ok(Named::Null),
        SENT => Ok(Named::Sent),
        h => OBJECTS.get(h).map(|o| Named::Object(h, o)),
    }
}

/// A finished operation.
struct Finished {
    status: Status,
    outcome: Outcome,
    /// Raw handle of the communicator, for errors.
    owner: usize,
    /// The handle becomes MPI_REQUEST_NULL.
    gone: bool,
    /// Null or inactive: does not count for waitany, waitsome.
    idle: bool,
    by: By,
}

/// Who says how it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Engine,
    /// The error is what a callback returned.
    Callback,
    Collective,
}

/// What a look inside the engine found finished; what is left to do outside has to be done before it is told to the program.
#[must_use]
struct Found {
    f: Finished,
    left: Left,
}

#[derive(Clone, Copy)]
enum Left {
    Nothing,
    Compound(handle::Request),
    General(handle::Request),
}

const IDLE: Found = Found {
    f: Finished { status: Status::EMPTY, outcome: Outcome::SENT, owner: 0, gone: false, idle: true, by: By::Engine },
    left: Left::Nothing,
};
/// Another call took what it left.
const OVER: Found = Found { f: Finished { gone: true, ..IDLE.f }, left: Left::Nothing };

fn found(ranks: Option<&Ranks>, outcome: Outcome, gone: bool) -> Found {
    let (status, owner) = match ranks {
        Some(r) => (status_of(r, &outcome), r.owner()),
        None => (Status::new(outcome.source, outcome.tag, outcome.bytes), 0),
    };
    Found { f: Finished { status, outcome, owner, gone, idle: false, by: By::Engine }, left: Left::Nothing }
}

impl Found {
    fn idle(&self) -> bool {
        self.f.idle
    }

    /// Does what is left; a request that is not consumed stays.
    #[inline]
    fn conclude(self, consume: bool) -> Finished {
        match self.left {
            Left::Nothing => self.f,
            Left::Compound(h) | Left::General(h) => conclude_object(h, self.f, consume),
        }
    }
}

#[cold]
fn conclude_object(h: handle::Request, mut f: Finished, consume: bool) -> Finished {
    match OBJECTS.get(h).as_deref() {
        Ok(Object::Compound(Compound { duplicate: Some(d), .. })) => {
            if let (Err(why), MPI_SUCCESS) = (d.ready(), f.outcome.error) {
                (f.outcome.error, f.by) = (why.class, By::Collective);
            }
        }
        Ok(Object::General(g)) => {
            let (status, queried) = g.query();
            let freed = if consume { g.free() } else { MPI_SUCCESS };
            // MPI-5.0 13.2: the last callback's code counts; an earlier one's is not lost where the last is content.
            f.outcome.error = if freed != MPI_SUCCESS { freed } else { queried };
            (f.status, f.by) = (status, By::Callback);
        }
        _ => {}
    }
    if consume {
        // Nobody else removes it: this call is the one that took it.
        let _ = OBJECTS.remove(h);
    }
    f
}

impl Finished {
    /// Of a request that stays: how it ended is said when it is completed, but a query function has been called.
    fn verdict_of_look(&self) -> Result<()> {
        if self.by == By::Callback { self.verdict() } else { Ok(()) }
    }

    #[cold]
    fn verdict_of_object(&self) -> Result<()> {
        match (self.by, self.outcome.error) {
            (By::Callback, code) => general::code("query or free", code),
            (_, MPI_SUCCESS) => Ok(()),
            (_, class) => Err(collective::failed(class).on(handle::Comm(self.owner))),
        }
    }

    fn verdict(&self) -> Result<()> {
        if self.by != By::Engine {
            return self.verdict_of_object();
        }
        verdict(&self.outcome).map_err(|e| if self.owner != 0 { e.on(handle::Comm(self.owner)) } else { e })
    }
}

/// From where requests are looked at.
enum At<'a> {
    /// Inside their lane: all are of the first sort and have the same.
    Lane(&'a mut State),
    Outside(&'a Engine),
}

impl Named {
    /// What it left if it is done; then it is over (`consume`), or stays as it is.
    #[inline]
    fn check(&self, at: &mut At, consume: bool) -> Option<Found> {
        match self {
            Named::Null => Some(IDLE),
            Named::Sent => Some(found(None, Outcome::SENT, true)),
            n => match (n, at) {
                (Named::Plain(id), At::Lane(s)) => check_plain(s, *id, consume),
                // `lane_of_all` lets no object come here; not done is an answer that does no harm.
                (_, At::Lane(_)) => None,
                (_, At::Outside(e)) => self.check_outside(e, consume),
            },
        }
    }

    /// Not inlined: what most programs never use.
    #[inline(never)]
    fn check_outside(&self, e: &Engine, consume: bool) -> Option<Found> {
        match self {
            Named::Plain(id) => e.enter(id.lane(), |s| check_plain(s, *id, consume)),
            Named::Object(h, o) => check_object(*h, o, e, consume),
            Named::Null | Named::Sent => self.check(&mut At::Outside(e), consume),
        }
    }

    /// The lanes on which its completion depends.
    fn home(&self) -> Lanes {
        match self {
            Named::Null | Named::Sent => 0,
            Named::Plain(id) => 1 << id.lane(),
            Named::Object(_, o) => match &**o {
                Object::Persistent(p) => 1 << p.comm.lane(),
                Object::Partitioned(p) => 1 << p.comm.lane(),
                Object::Compound(c) => c.lanes(),
                Object::Collective(c) => c.schedule.lanes(),
                Object::General(_) => 1 << general::LANE,
            },
        }
    }
}

#[inline(always)]
fn check_plain(s: &mut State, id: ReqId, consume: bool) -> Option<Found> {
    s.look_with(id, consume, |o, r| found(r, *o, true))
}

/// The lane of all of them, if they can be looked at inside it.
fn lane_of_all(all: &[Named]) -> Option<usize> {
    let mut lane = None;
    for n in all {
        match n {
            Named::Null | Named::Sent => {}
            Named::Plain(id) if lane.is_none_or(|l| l == id.lane()) => lane = Some(id.lane()),
            _ => return None,
        }
    }
    lane.or(Some(0))
}

fn homes(all: &[Named]) -> Lanes {
    all.iter().fold(0, |lanes, n| lanes | n.home())
}

/// One look at several requests, after a round of progress.
fn look<R>(e: &Engine, all: &[Named], f: impl FnOnce(&mut At) -> R) -> Result<R> {
    match lane_of_all(all) {
        Some(lane) => {
            e.poll(lane)?;
            Ok(e.enter(lane, |s| f(&mut At::Lane(s))))
        }
        None => {
            e.poll_among(homes(all))?;
            Ok(f(&mut At::Outside(e)))
        }
    }
}

/// Waits until `f` gives something.
fn wait_for<R>(e: &Engine, all: &[Named], mut f: impl FnMut(&mut At) -> Option<R>) -> Result<R> {
    match lane_of_all(all) {
        Some(lane) => e.wait(lane, |s| f(&mut At::Lane(s))),
        None => e.wait_among(homes(all), || f(&mut At::Outside(e))),
    }
}

fn check_object(h: handle::Request, o: &Object, e: &Engine, consume: bool) -> Option<Found> {
    Some(match o {
        Object::Persistent(p) => {
            let outcome = match p.active() {
                Active::No => return Some(IDLE),
                Active::Starting => return None,
                Active::Done(o) => o,
                Active::Under(id) => e.enter(id.lane(), |s| if consume { s.finish(id) } else { s.peek(id) })?,
            };
            if consume {
                p.set(Active::No);
            }
            found(Some(&p.comm.ranks), outcome, false)
        }
        Object::Partitioned(p) => match p.look(e, consume) {
            part::Look::Pending => return None,
            part::Look::Idle => return Some(IDLE),
            part::Look::Done(o) => found(Some(&p.comm.ranks), o, false),
        },
        Object::Compound(c) => match c.look(e, consume) {
            compound::Look::Pending => return None,
            compound::Look::Over => OVER,
            compound::Look::Done(o) => Found { left: Left::Compound(h), ..found(c.ranks.as_deref(), o, true) },
        },
        Object::Collective(c) => match c.look(consume) {
            collective::Look::Pending => return None,
            collective::Look::Idle => IDLE,
            collective::Look::Over => OVER,
            collective::Look::Done(o) => {
                let found = found(Some(&c.comm.ranks), o, !c.persistent);
                let left = if c.persistent { Left::Nothing } else { Left::Compound(h) };
                Found { f: Finished { by: By::Collective, ..found.f }, left }
            }
        },
        Object::General(g) => match g.look(consume) {
            general::Look::Pending => return None,
            general::Look::Over => OVER,
            general::Look::Complete => Found { left: Left::General(h), ..found(None, Outcome::SENT, true) },
        },
    })
}

/// A single status: an empty one is written whole, of others MPI_ERROR stays as it was (MPI-5.0 3.7.3, 3.2.5).
fn give_finished(status: Out<Status>, f: &Finished) -> Result<()> {
    if f.idle && !status.is_null() { status.set(Status::EMPTY) } else { give(status, f.status) }
}

/// A request of the first sort is named and looked at in one entry of its lane.
pub fn wait(request: Out<handle::Request>, status: Out<Status>) -> Result<()> {
    let e = world::engine()?;
    let h = request.get()?;
    let Some(number) = number_of(h) else { return wait_outside(e, h, request, status) };
    let lane = ReqId::lane_of(number);
    let first = e.enter(lane, |s| plain_in(s, h, number).map(|id| (id, check_plain(s, id, true))));
    let f = match first {
        None => return Err(stale(h)),
        Some((_, Some(f))) => f,
        Some((id, None)) => e.wait(lane, |s| check_plain(s, id, true))?,
    };
    give_plain(request, status, &f)
}

/// What `wait` and `test` tell of a finished request of the first sort.
#[inline(always)]
fn give_plain(request: Out<handle::Request>, status: Out<Status>, f: &Found) -> Result<()> {
    request.set(MPI_REQUEST_NULL)?;
    give(status, f.f.status)?;
    f.f.verdict()
}

#[inline(never)]
fn wait_outside(e: &Engine, h: handle::Request, request: Out<handle::Request>, status: Out<Status>) -> Result<()> {
    if h == SENT {
        return give_plain(request, status, &found(None, Outcome::SENT, true));
    }
    let n = named_outside(h)?;
    let f = match n.check(&mut At::Outside(e), true) {
        Some(f) => f,
        None => wait_for(e, std::slice::from_ref(&n), |at| n.check(at, true))?,
    };
    let f = f.conclude(true);
    if f.gone {
        request.set(MPI_REQUEST_NULL)?;
    }
    give_finished(status, &f)?;
    f.verdict()
}

/// As `wait`: named where it is looked at, after a round of progress.
#[inline(always)]
pub fn test(request: Out<handle::Request>, flag: Out<i32>, status: Out<Status>) -> Result<()> {
    let e = world::engine()?;
    let h = request.get()?;
    let Some(number) = number_of(h) else { return test_outside(e, h, request, flag, status) };
    // Some(None): nothing of that name.
    let look = |s: &mut State| match plain_in(s, h, number) {
        Some(id) => check_plain(s, id, true).map(Some),
        None => Some(None),
    };
    match e.look(ReqId::lane_of(number), look)? {
        None => {
            e.breathe();
            flag.set(0)
        }
        Some(None) => Err(stale(h)),
        Some(Some(f)) => {
            flag.set(1)?;
            give_plain(request, status, &f)
        }
    }
}

#[inline(never)]
fn test_outside(
    e: &Engine,
    h: handle::Request,
    request: Out<handle::Request>,
    flag: Out<i32>,
    status: Out<Status>,
) -> Result<()> {
    let n = named_outside(h)?;
    match look(e, std::slice::from_ref(&n), |at| n.check(at, true))? {
        None => {
            e.breathe();
            flag.set(0)
        }
        Some(f) => {
            let f = f.conclude(true);
            flag.set(1)?;
            if f.gone {
                request.set(MPI_REQUEST_NULL)?;
            }
            give_finished(status, &f)?;
            f.verdict()
        }
    }
}

pub fn request_get_status(request: handle::Request, flag: Out<i32>, status: Out<Status>) -> Result<()> {
    let e = world::engine()?;
    let n = named(e, request)?;
    match look(e, std::slice::from_ref(&n), |at| n.check(at, false))? {
        None => {
            e.breathe();
            flag.set(0)
        }
        Some(f) => {
            let f = f.conclude(false);
            flag.set(1)?;
            give_finished(status, &f)?;
            f.verdict_of_look()
        }
    }
}

/// An array of requests, checked.
fn all_named(e: &Engine, count: i32, requests: Arr<handle::Request>) -> Result<Vec<Named>> {
    let n = usize::try_from(count)
        .map_err(|_| Error::arg(format!("the number of requests is {count}; it must not be negative")))?;
    if n > 0 && requests.is_null() {
        bail!(MPI_ERR_ARG, "the array of {n} requests is a null pointer");
    }
    let mut all = Vec::with_capacity(n);
    while all.len() < n {
        let h = requests.at(all.len());
        let Some(first) = number_of(h) else {
            all.push(named_outside(h)?);
            continue;
        };
        // Those of one lane that follow each other are looked up together.
        let lane = ReqId::lane_of(first);
        e.enter(lane, |s| {
            while all.len() < n {
                let h = requests.at(all.len());
                match number_of(h).filter(|n| ReqId::lane_of(*n) == lane) {
                    Some(number) => all.push(named_in(s, h, number)?),
                    None => break,
                }
            }
            Ok::<(), Error>(())
        })?;
    }
    Ok(all)
}

/// What went wrong among many.
#[derive(Default)]
struct Failures {
    first: Option<Error>,
    /// Position among the statuses, error class.
    all: Vec<(usize, i32)>,
}

impl Failures {
    /// Success, or MPI_ERR_IN_STATUS: then, and only then, MPI_ERROR of all `n` statuses is set (MPI-5.0 3.2.5).
    fn end(self, statuses: Arr<Status>, n: usize) -> Result<()> {
        let Some(first) = self.first else { return Ok(()) };
        if !statuses.is_null() {
            let set = |i: usize, class: i32| statuses.put(i, statuses.at(i).with_error(class));
            (0..n).for_each(|i| set(i, MPI_SUCCESS));
            self.all.iter().for_each(|(i, class)| set(*i, *class));
        }
        let all =
            Error::new(MPI_ERR_IN_STATUS, format!("{}; every status says how its operation ended", first.message));
        Err(Error { comm: first.comm, ..all })
    }
}

/// Stores one status of many; MPI_ERROR stays as it was, but for the empty status.
fn put_status(statuses: Arr<Status>, i: usize, f: &Finished) {
    if !statuses.is_null() {
        let error = if f.idle { MPI_SUCCESS } else { statuses.at(i).MPI_ERROR };
        statuses.put(i, f.status.with_error(error));
    }
}

/// Waits for requests of the first sort in one lane whose statuses nobody wants, without a list of them: false if there are others, before
/// anything is done. A failed operation ends it early, with its place and outcome.
fn wait_plain(
    e: &Engine,
    n: usize,
    requests: Arr<handle::Request>,
) -> Result<std::result::Result<bool, (usize, Found)>> {
    let Some(lane) = (0..n).find_map(|i| number_of(requests.at(i))).map(ReqId::lane_of) else { return Ok(Ok(false)) };
    let plain = |s: &mut State, i: usize| match requests.at(i) {
        SENT | MPI_REQUEST_NULL => true,
        h => number_of(h).is_some_and(|k| ReqId::lane_of(k) == lane && plain_in(s, h, k).is_some()),
    };
    if !e.enter(lane, |s| (0..n).all(|i| plain(s, i))) {
        return Ok(Ok(false));
    }
    let mut i = 0;
    e.wait(lane, |s| {
        while i < n {
            let h = requests.at(i);
            if h != SENT && h != MPI_REQUEST_NULL {
                // Named twice: the second one is stale.
                let Some(id) = number_of(h).and_then(|k| plain_in(s, h, k)) else { break };
                if s.peek(id)?.error != MPI_SUCCESS {
                    let f = s.look_with(id, true, |o, r| found(r, *o, true))?;
                    return Some(Err((i, f)));
                }
                s.finish(id);
            }
            requests.put(i, MPI_REQUEST_NULL);
            i += 1;
        }
        Some(Ok(i == n))
    })
}

pub fn waitall(count: i32, array_of_requests: Arr<handle::Request>, array_of_statuses: Arr<Status>) -> Result<()> {
    let e = world::engine()?;
    if array_of_statuses.is_null()
        && let Ok(n) = usize::try_from(count)
        && !(n > 0 && array_of_requests.is_null())
    {
        match wait_plain(e, n, array_of_requests)? {
            Ok(true) => return Ok(()),
            Ok(false) => {}
            Err((i, f)) => {
                // The others are completed too, and the first error is told.
                let mut failed = Failures::default();
                settle(i, f, array_of_requests, array_of_statuses, i, &mut failed);
                let _ = wait_listed(e, count, array_of_requests, array_of_statuses);
                return failed.end(array_of_statuses, n);
            }
        }
    }
    wait_listed(e, count, array_of_requests, array_of_statuses)
}

fn wait_listed(
    e: &Engine,
    count: i32,
    array_of_requests: Arr<handle::Request>,
    array_of_statuses: Arr<Status>,
) -> Result<()> {
    let all = all_named(e, count, array_of_requests)?;
    let mut failed = Failures::default();
    let mut i = 0;
    let mut late = Vec::new();
    wait_for(e, &all, |at| {
        while let Some(n) = all.get(i) {
            let f = n.check(at, true)?;
            match f.left {
                Left::Nothing => settle(i, f, array_of_requests, array_of_statuses, i, &mut failed),
                _ => late.push((i, f)),
            }
            i += 1;
        }
        Some(())
    })?;
    for (i, f) in late {
        settle(i, f, array_of_requests, array_of_statuses, i, &mut failed);
    }
    failed.end(array_of_statuses, all.len())
}

/// Concludes a finished request of an array and writes what it leaves.
fn settle(
    i: usize,
    f: Found,
    requests: Arr<handle::Request>,
    statuses: Arr<Status>,
    status_at: usize,
    failed: &mut Failures,
) {
    let f = f.conclude(true);
    if f.gone {
        requests.put(i, MPI_REQUEST_NULL);
    }
    put_status(statuses, status_at, &f);
    if let Err(e) = f.verdict() {
        failed.first.get_or_insert(e);
        failed.all.push((status_at, f.outcome.error));
    }
}

pub fn testall(
    count: i32,
    array_of_requests: Arr<handle::Request>,
    flag: Out<i32>,
    array_of_statuses: Arr<Status>,
) -> Result<()> {
    let e = world::engine()?;
    let all = all_named(e, count, array_of_requests)?;
    let done = look(e, &all, |at| {
        all.iter()
            .all(|n| n.check(at, false).is_some())
            .then(|| all.iter().map(|n| n.check(at, true)).collect::<Vec<_>>())
    })?;
    let Some(done) = done else {
        e.breathe();
        return flag.set(0);
    };
    flag.set(1)?;
    let mut failed = Failures::default();
    for (i, f) in done.into_iter().enumerate() {
        settle(i, f.unwrap_or(IDLE), array_of_requests, array_of_statuses, i, &mut failed);
    }
    failed.end(array_of_statuses, all.len())
}

/// The first finished request that is active; `Some(None)` where none is active.
fn any_done(all: &[Named], at: &mut At, consume: bool) -> Option<Option<(usize, Found)>> {
    let mut idle = true;
    for (i, n) in all.iter().enumerate() {
        match n.check(at, consume) {
            Some(f) if f.idle() => {}
            Some(f) => return Some(Some((i, f))),
            None => idle = false,
        }
    }
    idle.then_some(None)
}

fn give_any(
    found: Option<(usize, Found)>,
    requests: Option<Arr<handle::Request>>,
    index: Out<i32>,
    status: Out<Status>,
) -> Result<()> {
    match found {
        None => {
            index.set(MPI_UNDEFINED)?;
            give_finished(status, &IDLE.conclude(true))
        }
        Some((i, f)) => {
            let f = f.conclude(requests.is_some());
            index.set(i as i32)?;
            if let Some(r) = requests
                && f.gone
            {
                r.put(i, MPI_REQUEST_NULL);
            }
            give_finished(status, &f)?;
            if requests.is_some() { f.verdict() } else { f.verdict_of_look() }
        }
    }
}

pub fn waitany(
    count: i32,
    array_of_requests: Arr<handle::Request>,
    index: Out<i32>,
    status: Out<Status>,
) -> Result<()> {
    let e = world::engine()?;
    let all = all_named(e, count, array_of_requests)?;
    let found = wait_for(e, &all, |at| any_done(&all, at, true))?;
    give_any(found, Some(array_of_requests), index, status)
}

pub fn testany(
    count: i32,
    array_of_requests: Arr<handle::Request>,
    index: Out<i32>,
    flag: Out<i32>,
    status: Out<Status>,
) -> Result<()> {
    try_any(count, array_of_requests, index, flag, status, true)
}

pub fn request_get_status_any(
    count: i32,
    array_of_requests: Arr<handle::Request>,
    index: Out<i32>,
    flag: Out<i32>,
    status: Out<Status>,
) -> Result<()> {
    try_any(count, array_of_requests, index, flag, status, false)
}

fn try_any(
    count: i32,
    requests: Arr<handle::Request>,
    index: Out<i32>,
    flag: Out<i32>,
    status: Out<Status>,
    consume: bool,
) -> Result<()> {
    let e = world::engine()?;
    let all = all_named(e, count, requests)?;
    match look(e, &all, |at| any_done(&all, at, consume))? {
        None => {
            e.breathe();
            flag.set(0)?;
            index.set(MPI_UNDEFINED)
        }
        Some(found) => {
            flag.set(1)?;
            give_any(found, consume.then_some(requests), index, status)
        }
    }
}

/// Every finished active request; None where some are active and none is done.
fn some_done(all: &[Named], at: &mut At, consume: bool) -> Option<Option<Vec<(usize, Found)>>> {
    let mut done = Vec::new();
    let mut idle = true;
    for (i, n) in all.iter().enumerate() {
        match n.check(at, consume) {
            Some(f) if f.idle() => {}
            Some(f) => done.push((i, f)),
            None => idle = false,
        }
    }
    match done.is_empty() {
        false => Some(Some(done)),
        true if idle => Some(None),
        true => None,
    }
}

fn give_some(
    found: Option<Vec<(usize, Found)>>,
    requests: Option<Arr<handle::Request>>,
    outcount: Out<i32>,
    indices: Arr<i32>,
    statuses: Arr<Status>,
) -> Result<()> {
    let Some(found) = found else { return outcount.set(MPI_UNDEFINED) };
    outcount.set(found.len() as i32)?;
    if indices.is_null() {
        bail!(MPI_ERR_ARG, "array_of_indices is a null pointer");
    }
    let mut failed = Failures::default();
    let n = found.len();
    for (k, (i, f)) in found.into_iter().enumerate() {
        indices.put(k, i as i32);
        match requests {
            Some(r) => settle(i, f, r, statuses, k, &mut failed),
            None => put_status(statuses, k, &f.conclude(false)),
        }
    }
    failed.end(statuses, n)
}

pub fn waitsome(
    incount: i32,
    array_of_requests: Arr<handle::Request>,
    outcount: Out<i32>,
    array_of_indices: Arr<i32>,
    array_of_statuses: Arr<Status>,
) -> Result<()> {
    let e = world::engine()?;
    let all = all_named(e, incount, array_of_requests)?;
    let found = wait_for(e, &all, |at| some_done(&all, at, true))?;
    give_some(found, Some(array_of_requests), outcount, array_of_indices, array_of_statuses)
}

pub fn testsome(
    incount: i32,
    array_of_requests: Arr<handle::Request>,
    outcount: Out<i32>,
    array_of_indices: Arr<i32>,
    array_of_statuses: Arr<Status>,
) -> Result<()> {
    try_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses, true)
}

pub fn request_get_status_some(
    incount: i32,
    array_of_requests: Arr<handle::Request>,
    outcount: Out<i32>,
    array_of_indices: Arr<i32>,
    array_of_statuses: Arr<Status>,
) -> Result<()> {
    try_some(incount, array_of_requests, outcount, array_of_indices, array_of_statuses, false)
}

fn try_some(
    incount: i32,
    requests: Arr<handle::Request>,
    outcount: Out<i32>,
    indices: Arr<i32>,
    statuses: Arr<Status>,
    consume: bool,
) -> Result<()> {
    let e = world::engine()?;
    let all = all_named(e, incount, requests)?;
    match look(e, &all, |at| some_done(&all, at, consume))? {
        None => {
            e.breathe();
            outcount.set(0)
        }
        Some(found) => give_some(found, consume.then_some(requests), outcount, indices, statuses),
    }
}

pub fn request_get_status_all(
    count: i32,
    array_of_requests: Arr<handle::Request>,
    flag: Out<i32>,
    array_of_statuses: Arr<Status>,
) -> Result<()> {
    let e = world::engine()?;
    let all = all_named(e, count, array_of_requests)?;
    let done: Option<Vec<Found>> = look(e, &all, |at| all.iter().map(|n| n.check(at, false)).collect())?;
    match done {
        None => {
            e.breathe();
            flag.set(0)
        }
        Some(done) => {
            flag.set(1)?;
            let done = done.into_iter().map(|f| f.conclude(false)).enumerate();
            done.for_each(|(i, f)| put_status(array_of_statuses, i, &f));
            Ok(())
        }
    }
}

/// MPI-5.0 3.7.3: an active request is let go and finishes by itself.
pub fn request_free(request: Out<handle::Request>) -> Result<()> {
    let e = world::engine()?;
    let h = request.get()?;
    match named(e, h)? {
        Named::Null => bail!(MPI_ERR_REQUEST, "MPI_REQUEST_NULL cannot be freed"),
        Named::Sent => {}
        Named::Plain(id) => e.enter(id.lane(), |s| s.detach(id)),
        Named::Object(h, o) => {
            if let Object::Collective(c) = &*o {
                c.may_be_freed()?;
            }
            // One that is active stays.
            if let Object::Partitioned(p) = &*o {
                p.free(e)?;
            }
            // The handle goes even where a callback fails.
            request.set(MPI_REQUEST_NULL)?;
            return free_object(e, h, &o);
        }
    }
    request.set(MPI_REQUEST_NULL)
}

fn free_object(e: &Engine, h: handle::Request, o: &Object) -> Result<()> {
    match o {
        Object::Persistent(p) => {
            if let Active::Under(id) = p.active() {
                e.enter(id.lane(), |s| s.detach(id));
            }
        }
        Object::Partitioned(_) => {}
        Object::Compound(c) => {
            if !c.let_go(e) {
                bail!(
                    MPI_ERR_REQUEST,
                    "the request of a nonblocking collective operation cannot be freed; complete it"
                );
            }
        }
        Object::Collective(_) => {}
        Object::General(g) => return g.let_go(h),
    }
    OBJECTS.remove(h).map(drop)
}

pub fn cancel(request: Out<handle::Request>) -> Result<()> {
    let e = world::engine()?;
    match named(e, request.get()?)? {
        Named::Null => bail!(MPI_ERR_REQUEST, "MPI_REQUEST_NULL cannot be cancelled"),
        Named::Sent => {}
        Named::Plain(id) => e.enter(id.lane(), |s| s.cancel(id)),
        Named::Object(_, o) => match &*o {
            Object::Persistent(p) => {
                if let Active::Under(id) = p.active() {
                    e.enter(id.lane(), |s| s.cancel(id));
                }
            }
            Object::Partitioned(_) => {
                bail!(MPI_ERR_REQUEST, "partitioned communication cannot be cancelled; complete it")
            }
            Object::Compound(c) => c.cancel(e),
            Object::Collective(c) => return c.cancel(),
            Object::General(g) => return g.cancel(),
        },
    }
    Ok(())
}

/// The communicator a request belongs to, for its error handler.
pub fn comm_of(h: handle::Request) -> Option<handle::Comm> {
    let e = world::engine().ok()?;
    let owner = match named(e, h).ok()? {
        Named::Null => return None,
        Named::Sent => return None,
        Named::Plain(id) => e.enter(id.lane(), |s| s.owner_of(id))?,
        Named::Object(_, o) => match &*o {
            Object::Persistent(p) => p.comm.ranks.owner(),
            Object::Partitioned(p) => p.comm.ranks.owner(),
            Object::Compound(c) => c.ranks.as_ref()?.owner(),
            Object::Collective(c) => c.comm.ranks.owner(),
            Object::General(_) => return None,
        },
    };
    (owner != 0).then_some(handle::Comm(owner))
}
