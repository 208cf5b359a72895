//! Buffered sends (MPI-5.0 3.6), and the buffers of the process, of sessions and of communicators.
//!
//! A buffered send uses the buffer of its communicator, else that of the communicator's session, else that of the process. An attached
//! buffer is an account: a buffered send that cannot leave at once is copied into memory of ours and charged with its size and
//! MPI_BSEND_OVERHEAD; what does not fit is MPI_ERR_BUFFER. The program's buffer itself is never written. MPI_BUFFER_AUTOMATIC is an
//! account without limit.
//!
//! Invariant: the mutex comes before the engine, whose lanes are entered with the mutex held; it is not held while a thread waits or
//! polls, which may call the program's functions.
use crate::comm::{self, Comm};
use crate::request::{self, Compound};
use crate::session;
use crate::world::{self, WORLD_MODEL};
use oxmpi_base::args::{Buf, Out, OutCount};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_pt2pt::{Engine, Lanes, Mode, ReqId, Span};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

/// What a buffer is attached to: the process, a session (by its id), a communicator (by its raw handle).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    Process,
    Session(u32),
    Comm(usize),
}

impl Owner {
    fn of_comm(c: &Comm) -> Owner {
        Owner::Comm(c.ranks.owner())
    }
    fn describe(self) -> &'static str {
        match self {
            Owner::Process => "the process",
            Owner::Session(_) => "the session",
            Owner::Comm(_) => "the communicator",
        }
    }
    /// The procedure of its level whose name has this form.
    fn procedure(self, what: &str) -> String {
        match self {
            Owner::Process => format!("MPI_Buffer_{what}"),
            Owner::Session(_) => format!("MPI_Session_{what}_buffer"),
            Owner::Comm(_) => format!("MPI_Comm_{what}_buffer"),
        }
    }
}

/// The session that a communicator comes from.
fn session_of(c: &Comm) -> Option<u32> {
    Some(c.group.origin()).filter(|origin| *origin != WORLD_MODEL)
}

struct Account {
    address: usize,
    size: u64,
    used: u64,
    /// Sends under way, with what they are charged.
    sends: Vec<(ReqId, u64)>,
}

static ATTACHED: Mutex<BTreeMap<Owner, Account>> = Mutex::new(BTreeMap::new());

fn attached() -> MutexGuard<'static, BTreeMap<Owner, Account>> {
    ATTACHED.lock().unwrap_or_else(|e| e.into_inner())
}

fn none_attached(owner: Owner) -> Error {
    let why = format!("no buffer is attached to {}; call {} first", owner.describe(), owner.procedure("attach"));
    Error::new(MPI_ERR_BUFFER, why)
}

#[cold]
fn no_buffer(len: u64) -> Error {
    let why = format!(
        "a buffered send of {len} bytes without an attached buffer; call MPI_Comm_attach_buffer or MPI_Buffer_attach first"
    );
    Error::new(MPI_ERR_BUFFER, why)
}

impl Account {
    fn automatic(&self) -> bool {
        self.address == MPI_BUFFER_AUTOMATIC
    }
    fn settle(&mut self, e: &Engine) {
        self.sends.retain(|(id, charge)| {
            let done = e.enter(id.lane(), |s| s.finish(*id).is_some());
            if done {
                self.used -= charge;
            }
            !done
        });
    }
    /// The lanes of what is under way.
    fn lanes(&self) -> Lanes {
        self.sends.iter().fold(0, |all, (id, _)| all | 1 << id.lane())
    }
    fn fits(&self, charge: u64) -> bool {
        self.automatic() || charge <= self.size - self.used
    }
}

pub(crate) fn attach(owner: Owner, buf: Buf, size: i64) -> Result<()> {
    let address = buf.addr();
    // For automatic buffering the size says nothing.
    let size = if address == MPI_BUFFER_AUTOMATIC { 0 } else { size };
    let Ok(bytes) = u64::try_from(size) else {
        bail!(MPI_ERR_ARG, "the buffer size is {size}; it must not be negative")
    };
    if bytes > 0 && (address == 0 || address == MPI_IN_PLACE || address.checked_add(bytes as usize).is_none()) {
        bail!(MPI_ERR_BUFFER, "the buffer of {bytes} bytes has no memory at address {address:#x}");
    }
    let mut all = attached();
    if all.contains_key(&owner) {
        let (what, detach) = (owner.describe(), owner.procedure("detach"));
        bail!(MPI_ERR_BUFFER, "a buffer is attached to {what} already; call {detach} first");
    }
    let (from, to) = (address, address + bytes as usize);
    let overlaps = |a: &Account| !a.automatic() && a.address < to && from < a.address + a.size as usize;
    if let Some((other, _)) = all.iter().find(|(_, a)| overlaps(a)) {
        bail!(MPI_ERR_BUFFER, "this memory is in the buffer that is attached to {} already", other.describe());
    }
    all.insert(owner, Account { address, size: bytes, used: 0, sends: Vec::new() });
    Ok(())
}

/// A send that is complete when this returns.
pub(crate) fn send(e: &Engine, c: &Comm, to: u32, tag: i32, mut span: Span) -> Result<()> {
    let ctx = c.ctx();
    let levels = [Some(Owner::of_comm(c)), session_of(c).map(Owner::Session), Some(Owner::Process)];
    let find = |all: &BTreeMap<Owner, Account>| {
        levels.into_iter().flatten().find(|o| all.contains_key(o)).ok_or_else(|| no_buffer(span.len()))
    };
    let mut all = attached();
    let mut owner = find(&all)?;
    let charge = span.len() + MPI_BSEND_OVERHEAD as u64;
    if let Some(a) = all.get(&owner).filter(|a| !a.fits(charge)) {
        let lanes = a.lanes();
        drop(all);
        e.poll_among(lanes)?;
        // Meanwhile another buffer may be the one to use.
        all = attached();
        owner = find(&all)?;
        all.get_mut(&owner).into_iter().for_each(|a| a.settle(e));
    }
    let Some(a) = all.get_mut(&owner) else { return Err(none_attached(owner)) };
    if !a.fits(charge) {
        bail!(
            MPI_ERR_BUFFER,
            "the buffer of {} has {} bytes, of which {} are in use; a message of {} and MPI_BSEND_OVERHEAD do not fit",
            owner.describe(),
            a.size,
            a.used,
            span.len()
        );
    }
    let copy = span.to_owned().ok_or_else(|| Error::new(MPI_ERR_NO_MEM, "no memory for a buffered message"))?;
    if let Some(id) = e.enter(ctx.lane(), |s| s.send(ctx, to, tag, Span::Owned(copy), Mode::Standard))? {
        if a.sends.len() >= 64 && a.automatic() {
            // Nothing else makes an account without limit forget.
            a.settle(e);
        }
        a.used += charge;
        a.sends.push((id, charge));
    }
    Ok(())
}

/// Waits until all messages that are in this buffer have left.
pub(crate) fn flush(e: &Engine, owner: Owner) -> Result<()> {
    pending(e, owner)?.into_iter().try_for_each(|id| {
        // Another thread may settle it meanwhile: then it is no longer known.
        e.wait(id.lane(), |s| s.over(id).then_some(()))
    })
}

/// The messages in this buffer that have not left.
fn pending(e: &Engine, owner: Owner) -> Result<Vec<ReqId>> {
    let mut all = attached();
    let a = all.get_mut(&owner).ok_or_else(|| none_attached(owner))?;
    a.settle(e);
    Ok(a.sends.iter().map(|(id, _)| *id).collect())
}

/// Complete when the messages that are buffered now have left.
pub(crate) fn iflush(e: &Engine, owner: Owner, request: Out<handle::Request>) -> Result<()> {
    request.set(MPI_REQUEST_NULL)?;
    let pending = pending(e, owner)?;
    request.set(match pending.is_empty() {
        true => request::SENT,
        false => Compound::watch(pending).publish()?,
    })
}

pub(crate) fn detach(e: &Engine, owner: Owner, address: Buf, size: OutCount) -> Result<()> {
    if address.addr() == 0 || size.is_null() {
        bail!(MPI_ERR_ARG, "a result argument is a null pointer; pass the address of a variable");
    }
    let a = loop {
        flush(e, owner)?;
        let mut all = attached();
        let a = all.get_mut(&owner).ok_or_else(|| none_attached(owner))?;
        a.settle(e);
        // Otherwise another thread has sent since.
        if a.sends.is_empty()
            && let Some(a) = all.remove(&owner)
        {
            break a;
        }
    };
    crate::memory::store_pointer(address, a.address)?;
    size.set(a.size as i64)
}

/// The owner is gone: its buffer is no longer used; what is under way goes on, from memory of ours.
pub(crate) fn forget(e: &Engine, owner: Owner) {
    if let Some(a) = attached().remove(&owner) {
        a.sends.into_iter().for_each(|(id, _)| e.enter(id.lane(), |s| s.detach(id)));
    }
}

/// Waits until what is in the owner's buffer, if it has one, has left (MPI_Comm_disconnect).
pub(crate) fn empty(e: &Engine, owner: Owner) -> Result<()> {
    if attached().contains_key(&owner) { flush(e, owner) } else { Ok(()) }
}

/// The same of all buffers (MPI_Finalize).
pub(crate) fn empty_all(e: &Engine) -> Result<()> {
    let owners: Vec<Owner> = attached().keys().copied().collect();
    owners.into_iter().try_for_each(|o| empty(e, o))
}

/// MPI ends, and what was buffered has left: all buffers are the program's again.
pub(crate) fn forget_all(e: &Engine) {
    let owners: Vec<Owner> = attached().keys().copied().collect();
    owners.into_iter().for_each(|o| forget(e, o));
}

pub fn buffer_attach(buffer: Buf, size: i64) -> Result<()> {
    world::engine()?;
    attach(Owner::Process, buffer, size)
}
pub fn buffer_detach(buffer_addr: Buf, size: OutCount) -> Result<()> {
    detach(world::engine()?, Owner::Process, buffer_addr, size)
}
pub fn buffer_flush() -> Result<()> {
    flush(world::engine()?, Owner::Process)
}
pub fn buffer_iflush(request: Out<handle::Request>) -> Result<()> {
    iflush(world::engine()?, Owner::Process, request)
}

pub fn comm_attach_buffer(comm: handle::Comm, buffer: Buf, size: i64) -> Result<()> {
    attach(Owner::of_comm(&*comm::get(comm)?), buffer, size)
}
pub fn comm_detach_buffer(comm: handle::Comm, buffer_addr: Buf, size: OutCount) -> Result<()> {
    detach(world::engine()?, Owner::of_comm(&*comm::get(comm)?), buffer_addr, size)
}
pub fn comm_flush_buffer(comm: handle::Comm) -> Result<()> {
    flush(world::engine()?, Owner::of_comm(&*comm::get(comm)?))
}
pub fn comm_iflush_buffer(comm: handle::Comm, request: Out<handle::Request>) -> Result<()> {
    iflush(world::engine()?, Owner::of_comm(&*comm::get(comm)?), request)
}

fn of_session(session: handle::Session) -> Result<Owner> {
    Ok(Owner::Session(session::get(session)?.id()))
}
pub fn session_attach_buffer(session: handle::Session, buffer: Buf, size: i64) -> Result<()> {
    attach(of_session(session)?, buffer, size)
}
pub fn session_detach_buffer(session: handle::Session, buffer_addr: Buf, size: OutCount) -> Result<()> {
    let owner = of_session(session)?;
    detach(world::engine()?, owner, buffer_addr, size)
}
pub fn session_flush_buffer(session: handle::Session) -> Result<()> {
    let owner = of_session(session)?;
    flush(world::engine()?, owner)
}
pub fn session_iflush_buffer(session: handle::Session, request: Out<handle::Request>) -> Result<()> {
    let owner = of_session(session)?;
    iflush(world::engine()?, owner, request)
}
