//! Persistent requests (MPI-5.0 3.9): made once, started many times.
use super::{Named, OBJECTS, Object, named};
use crate::comm::Comm;
use crate::pt2pt::{self, FROM_NULL, SendMode};
use crate::world;
use oxmpi_base::args::{Arr, Buf, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_datatype::Datatype;
use oxmpi_pt2pt::{Engine, Outcome, Received, ReqId};
use std::sync::{Arc, Mutex};

/// What a persistent request starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Send(SendMode),
    Recv,
}

#[derive(Clone, Copy)]
pub(super) enum Active {
    No,
    /// In MPI_Start.
    Starting,
    Done(Outcome),
    Under(ReqId),
}

pub(super) struct Persistent {
    pub(super) comm: Arc<Comm>,
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
    pub(super) fn active(&self) -> Active {
        *self.active.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub(super) fn set(&self, a: Active) {
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
    OBJECTS.insert(Arc::new(Object::Persistent(Persistent {
        comm,
        buf: buf.addr(),
        count,
        dt,
        peer,
        tag,
        direction,
        active: Mutex::new(Active::No),
    })))
}

pub fn start(request: Out<handle::Request>) -> Result<()> {
    start_one(world::engine()?, request.get()?)
}

fn start_one(e: &Engine, h: handle::Request) -> Result<()> {
    let n = named(e, h)?;
    let p = match &n {
        Named::Object(_, o) if let Object::Persistent(p) = &**o => p,
        Named::Object(_, o) if let Object::Collective(c) = &**o => return c.start(),
        Named::Object(_, o) if let Object::Partitioned(p) = &**o => {
            return p.start(e).map_err(|why| why.on(handle::Comm(p.comm.ranks.owner())));
        }
        _ => bail!(
            MPI_ERR_REQUEST,
            "only a persistent request can be started; this one is {}",
            if h == MPI_REQUEST_NULL { "MPI_REQUEST_NULL" } else { "of a nonblocking operation" }
        ),
    };
    if !p.begin() {
        let why = Error::new(MPI_ERR_REQUEST, "the persistent request is active already; complete it first");
        return Err(why.on(handle::Comm(p.comm.ranks.owner())));
    }
    match launch(e, p) {
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
