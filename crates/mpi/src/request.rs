//! Requests and their completion (MPI-5.0 3.7, 3.9).
//!
//! A request of a nonblocking operation is its place in the engine, encoded in the handle; a persistent request is an object of its own that
//! has such a place while it is active. Handles of the first sort use kind number 12 in the scheme of `base::handle`: 22 bits of index, 4 bits of generation.
use crate::comm::Comm;
use crate::pt2pt::{self, FROM_NULL, SendMode, give, status_of, verdict};
use crate::table::{Ref, Table};
use crate::world;
use oxmpi_base::args::{Arr, Buf, Out};
use oxmpi_base::consts::*;
use oxmpi_base::handle::Handle;
use oxmpi_base::{Error, Result, Status, bail, handle};
use oxmpi_datatype::Datatype;
use oxmpi_pt2pt::{Engine, Outcome, Ranks, Received, ReqId, State};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

pub use crate::status::*;

const PLAIN: usize = (1 << 30) | (12 << 26);
const INDEX_BITS: u32 = 22;
const GENERATIONS: u32 = 15;
/// The request of every send that is complete when its procedure returns: it takes no place in the engine.
pub(crate) const SENT: handle::Request = handle::Request(PLAIN | ((1 << INDEX_BITS) - 1));

/// What a persistent request starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    Send(SendMode),
    Recv,
}

#[derive(Clone, Copy)]
enum Active {
    No,
    /// In MPI_Start.
    Starting,
    Done(Outcome),
    Under(ReqId),
}

pub struct Persistent {
    comm: Arc<Comm>,
    /// Address of the program's buffer.
    buf: usize,
    count: i64,
    dt: Datatype,
    peer: i32,
    tag: i32,
    direction: Direction,
    active: Mutex<Active>,
}

/// The lock is never held while the engine is entered: the engine's own lock comes first.
impl Persistent {
    fn active(&self) -> Active {
        *self.active.lock().unwrap_or_else(|e| e.into_inner())
    }
    fn set(&self, a: Active) {
        *self.active.lock().unwrap_or_else(|e| e.into_inner()) = a;
    }
    /// From inactive to starting; false where it is active.
    fn begin(&self) -> bool {
        let mut a = self.active.lock().unwrap_or_else(|e| e.into_inner());
        let idle = matches!(*a, Active::No);
        if idle {
            *a = Active::Starting;
        }
        idle
    }
}

static PERSISTENT: Table<handle::Request, Persistent> = Table::new();

/// What a handle names.
enum Named {
    Null,
    /// A send that was complete when it was started.
    Sent,
    Plain(ReqId),
    Persistent(Ref<'static, handle::Request, Persistent>),
}

/// The handle of an operation that was started; `None` is one that completed at once with `o`.
pub(crate) fn of_started(e: &Engine, c: &Comm, id: Option<ReqId>, o: Outcome) -> Result<handle::Request> {
    of_parts(e, Some(&c.ranks), id, o)
}

pub(crate) fn of_parts(e: &Engine, ranks: Option<&Ranks>, id: Option<ReqId>, o: Outcome) -> Result<handle::Request> {
    let id = e.enter(|s| {
        let id = id.unwrap_or_else(|| s.completed(o));
        if let Some(r) = ranks {
            s.tag_user(id, r);
        }
        id
    });
    if id.index() >= (1 << INDEX_BITS) - 1 {
        e.enter(|s| s.detach(id));
        bail!(MPI_ERR_NO_MEM, "more than {} requests are under way", 1 << INDEX_BITS);
    }
    let generation = (id.generation() & GENERATIONS) as usize;
    Ok(handle::Request(PLAIN | generation << INDEX_BITS | id.index() as usize))
}

#[allow(clippy::too_many_arguments)]
pub(crate) fn persistent(
    comm: Arc<Comm>,
    buf: Buf,
    count: i64,
    dt: Datatype,
    peer: i32,
    tag: i32,
    direction: Direction,
) -> Result<handle::Request> {
    PERSISTENT.insert(Arc::new(Persistent {
        comm,
        buf: buf.addr(),
        count,
        dt,
        peer,
        tag,
        direction,
        active: Mutex::new(Active::No),
    }))
}

fn named(e: &Engine, h: handle::Request) -> Result<Named> {
    e.enter(|s| named_in(s, h))
}

fn named_in(s: &mut State, h: handle::Request) -> Result<Named> {
    if h == MPI_REQUEST_NULL {
        return Ok(Named::Null);
    }
    if h == SENT {
        return Ok(Named::Sent);
    }
    if h.raw() >> 26 == PLAIN >> 26 {
        let index = (h.raw() & ((1 << INDEX_BITS) - 1)) as u32;
        let generation = (h.raw() >> INDEX_BITS) as u32 & GENERATIONS;
        return match s.request_at(index, generation, GENERATIONS) {
            Some(id) => Ok(Named::Plain(id)),
            None => bail!(MPI_ERR_REQUEST, "request {:#x} has completed or was freed; its handle is stale", h.raw()),
        };
    }
    PERSISTENT.get(h).map(Named::Persistent)
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
}

const IDLE: Finished = Finished { status: Status::EMPTY, outcome: Outcome::SENT, owner: 0, gone: false, idle: true };

fn finished(ranks: Option<&Ranks>, outcome: Outcome, gone: bool) -> Finished {
    let (status, owner) = match ranks {
        Some(r) => (status_of(r, &outcome), r.owner()),
        None => (Status::new(outcome.source, outcome.tag, outcome.bytes), 0),
    };
    Finished { status, outcome, owner, gone, idle: false }
}

impl Finished {
    fn verdict(&self) -> Result<()> {
        verdict(&self.outcome).map_err(|e| if self.owner != 0 { e.on(handle::Comm(self.owner)) } else { e })
    }
}

impl Named {
    /// What it left if it is done; then it is over (`consume`), or stays as it is.
    fn check(&self, s: &mut State, consume: bool) -> Option<Finished> {
        match self {
            Named::Null => Some(IDLE),
            Named::Sent => Some(finished(None, Outcome::SENT, true)),
            Named::Plain(id) if consume => s.finish_with(*id, |o, r| finished(r, *o, true)),
            Named::Plain(id) => s.peek_with(*id, |o, r| finished(r, *o, true)),
            Named::Persistent(p) => {
                let outcome = match p.active() {
                    Active::No => return Some(IDLE),
                    Active::Starting => return None,
                    Active::Done(o) => o,
                    Active::Under(id) if consume => s.finish(id)?,
                    Active::Under(id) => s.peek(id)?,
                };
                if consume {
                    p.set(Active::No);
                }
                Some(finished(Some(&p.comm.ranks), outcome, false))
            }
        }
    }
}

/// A single status: an empty one is written whole, of others MPI_ERROR stays as it was (MPI-5.0 3.7.3, 3.2.5).
fn give_finished(status: Out<Status>, f: &Finished) -> Result<()> {
    if f.idle && !status.is_null() { status.set(Status::EMPTY) } else { give(status, f.status) }
}

/// After a test that found nothing: where cores are shared, lets others run now and then.
pub(crate) fn breathe(e: &Engine) {
    if !e.shares_cores() {
        return;
    }
    static FAILED: AtomicU32 = AtomicU32::new(0);
    // A lost count does not matter.
    let n = FAILED.load(Ordering::Relaxed).wrapping_add(1);
    FAILED.store(n, Ordering::Relaxed);
    if n.is_multiple_of(16) {
        oxmpi_sys::yield_now();
    }
}

pub fn wait(request: Out<handle::Request>, status: Out<Status>) -> Result<()> {
    let e = world::engine()?;
    let n = named(e, request.get()?)?;
    let f = match e.enter(|s| n.check(s, true)) {
        Some(f) => f,
        None => e.wait(|s| n.check(s, true))?,
    };
    if f.gone {
        request.set(MPI_REQUEST_NULL)?;
    }
    give_finished(status, &f)?;
    f.verdict()
}

pub fn test(request: Out<handle::Request>, flag: Out<i32>, status: Out<Status>) -> Result<()> {
    let e = world::engine()?;
    let n = named(e, request.get()?)?;
    e.poll()?;
    match e.enter(|s| n.check(s, true)) {
        None => {
            breathe(e);
            flag.set(0)
        }
        Some(f) => {
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
    e.poll()?;
    match e.enter(|s| n.check(s, false)) {
        None => {
            breathe(e);
            flag.set(0)
        }
        Some(f) => {
            flag.set(1)?;
            give_finished(status, &f)
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
    e.enter(|s| (0..n).map(|i| named_in(s, requests.at(i))).collect())
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

pub fn waitall(count: i32, array_of_requests: Arr<handle::Request>, array_of_statuses: Arr<Status>) -> Result<()> {
    let e = world::engine()?;
    let all = all_named(e, count, array_of_requests)?;
    let mut failed = Failures::default();
    let mut i = 0;
    e.wait(|s| {
        while let Some(n) = all.get(i) {
            let f = n.check(s, true)?;
            settle(i, &f, array_of_requests, array_of_statuses, i, &mut failed);
            i += 1;
        }
        Some(())
    })?;
    failed.end(array_of_statuses, all.len())
}

/// Writes what a finished request of an array leaves.
fn settle(
    i: usize,
    f: &Finished,
    requests: Arr<handle::Request>,
    statuses: Arr<Status>,
    status_at: usize,
    failed: &mut Failures,
) {
    if f.gone {
        requests.put(i, MPI_REQUEST_NULL);
    }
    put_status(statuses, status_at, f);
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
    e.poll()?;
    let done = e.enter(|s| {
        all.iter()
            .all(|n| n.check(s, false).is_some())
            .then(|| all.iter().map(|n| n.check(s, true)).collect::<Vec<_>>())
    });
    let Some(done) = done else {
        breathe(e);
        return flag.set(0);
    };
    flag.set(1)?;
    let mut failed = Failures::default();
    for (i, f) in done.into_iter().enumerate() {
        settle(i, &f.unwrap_or(IDLE), array_of_requests, array_of_statuses, i, &mut failed);
    }
    failed.end(array_of_statuses, all.len())
}

/// The first finished request that is active; `Some(None)` where none is active.
fn any_done(all: &[Named], s: &mut State, consume: bool) -> Option<Option<(usize, Finished)>> {
    let mut idle = true;
    for (i, n) in all.iter().enumerate() {
        match n.check(s, consume) {
            Some(f) if f.idle => {}
            Some(f) => return Some(Some((i, f))),
            None => idle = false,
        }
    }
    idle.then_some(None)
}

fn give_any(
    found: Option<(usize, Finished)>,
    requests: Option<Arr<handle::Request>>,
    index: Out<i32>,
    status: Out<Status>,
) -> Result<()> {
    match found {
        None => {
            index.set(MPI_UNDEFINED)?;
            give_finished(status, &IDLE)
        }
        Some((i, f)) => {
            index.set(i as i32)?;
            if let Some(r) = requests
                && f.gone
            {
                r.put(i, MPI_REQUEST_NULL);
            }
            give_finished(status, &f)?;
            if requests.is_some() { f.verdict() } else { Ok(()) }
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
    let found = e.wait(|s| any_done(&all, s, true))?;
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
    e.poll()?;
    match e.enter(|s| any_done(&all, s, consume)) {
        None => {
            breathe(e);
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
fn some_done(all: &[Named], s: &mut State, consume: bool) -> Option<Option<Vec<(usize, Finished)>>> {
    let mut done = Vec::new();
    let mut idle = true;
    for (i, n) in all.iter().enumerate() {
        match n.check(s, consume) {
            Some(f) if f.idle => {}
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
    found: Option<Vec<(usize, Finished)>>,
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
    for (k, (i, f)) in found.iter().enumerate() {
        indices.put(k, *i as i32);
        match requests {
            Some(r) => settle(*i, f, r, statuses, k, &mut failed),
            None => put_status(statuses, k, f),
        }
    }
    failed.end(statuses, found.len())
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
    let found = e.wait(|s| some_done(&all, s, true))?;
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
    e.poll()?;
    match e.enter(|s| some_done(&all, s, consume)) {
        None => {
            breathe(e);
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
    e.poll()?;
    let done: Option<Vec<Finished>> = e.enter(|s| all.iter().map(|n| n.check(s, false)).collect());
    match done {
        None => {
            breathe(e);
            flag.set(0)
        }
        Some(done) => {
            flag.set(1)?;
            done.iter().enumerate().for_each(|(i, f)| put_status(array_of_statuses, i, f));
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
        Named::Plain(id) => e.enter(|s| s.detach(id)),
        Named::Persistent(p) => {
            if let Active::Under(id) = p.active() {
                e.enter(|s| s.detach(id));
            }
            drop(p);
            PERSISTENT.remove(h)?;
        }
    }
    request.set(MPI_REQUEST_NULL)
}

pub fn cancel(request: Out<handle::Request>) -> Result<()> {
    let e = world::engine()?;
    match named(e, request.get()?)? {
        Named::Null => bail!(MPI_ERR_REQUEST, "MPI_REQUEST_NULL cannot be cancelled"),
        Named::Sent => {}
        Named::Plain(id) => e.enter(|s| s.cancel(id)),
        Named::Persistent(p) => {
            if let Active::Under(id) = p.active() {
                e.enter(|s| s.cancel(id));
            }
        }
    }
    Ok(())
}

pub fn start(request: Out<handle::Request>) -> Result<()> {
    start_one(world::engine()?, request.get()?)
}

fn start_one(e: &Engine, h: handle::Request) -> Result<()> {
    let Named::Persistent(p) = named(e, h)? else {
        bail!(
            MPI_ERR_REQUEST,
            "only a persistent request can be started; this one is {}",
            if h == MPI_REQUEST_NULL { "MPI_REQUEST_NULL" } else { "of a nonblocking operation" }
        );
    };
    if !p.begin() {
        let why = Error::new(MPI_ERR_REQUEST, "the persistent request is active already; complete it first");
        return Err(why.on(handle::Comm(p.comm.ranks.owner())));
    }
    match launch(e, &p) {
        Ok(active) => p.set(active),
        Err(why) => {
            p.set(Active::No);
            return Err(why.on(handle::Comm(p.comm.ranks.owner())));
        }
    }
    Ok(())
}

/// Starts the operation of a persistent request. No lock of ours is held: the engine is entered here.
fn launch(e: &Engine, p: &Persistent) -> Result<Active> {
    let span = pt2pt::span_of_type(Buf(p.buf as *mut _), p.count, &p.dt)?;
    Ok(match p.direction {
        Direction::Send(mode) => {
            let to = pt2pt::dest_of(&p.comm, p.peer)?;
            pt2pt::launch_send(e, &p.comm, span, to, p.tag, mode)?.map_or(Active::Done(Outcome::SENT), Active::Under)
        }
        Direction::Recv => {
            let from = pt2pt::source_of(&p.comm, p.peer)?;
            match pt2pt::launch_recv(e, &p.comm, span, from, p.tag)? {
                None => Active::Done(FROM_NULL),
                Some(Received::Done(o)) => Active::Done(o),
                Some(Received::Pending(id)) => Active::Under(id),
            }
        }
    })
}

pub fn startall(count: i32, array_of_requests: Arr<handle::Request>) -> Result<()> {
    let e = world::engine()?;
    let n = usize::try_from(count)
        .map_err(|_| Error::arg(format!("the number of requests is {count}; it must not be negative")))?;
    array_of_requests.slice(n)?.iter().try_for_each(|h| start_one(e, *h))
}
/// The communicator a request belongs to, for its error handler.
pub fn comm_of(h: handle::Request) -> Option<handle::Comm> {
    let e = world::engine().ok()?;
    let owner = match named(e, h).ok()? {
        Named::Null => return None,
        Named::Sent => return None,
        Named::Plain(id) => e.enter(|s| s.owner_of(id))?,
        Named::Persistent(p) => p.comm.ranks.owner(),
    };
    (owner != 0).then_some(handle::Comm(owner))
}
