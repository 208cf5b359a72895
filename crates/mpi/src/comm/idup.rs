//! MPI_Comm_idup (MPI-5.0 7.4.2): duplication that does not wait.
//!
//! All that the new communicator needs from another process is its context. The leader sends it to each member when it calls, straight
//! and without waiting; the others post one receive each. So nobody's progress depends on a process in between, and no schedule is
//! needed. The communicator exists from the call on, with the attributes, info and error handler of that time, since programs set
//! its error handler or name at once; it can communicate from completion on. Known gap: the leader sends one message to every member.
use super::{COMMS, Comm, Info, TAG, get, publish};
use crate::request::{self, Compound};
use crate::{context, info, world};
use oxmpi_base::args::Out;
use oxmpi_base::consts::*;
use oxmpi_base::{Result, handle};
use oxmpi_pt2pt::{Engine, Mode, Outcome, Pattern, Received, ReqId, Span};
use oxmpi_transport::wire::Context;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Once};

/// Calls of all ranks match in order, and meet no other exchange.
const IDUP_TAG: i32 = TAG + 1;

/// A communicator whose context is on its way.
pub(crate) struct Duplicate {
    comm: Arc<Comm>,
    /// Where the leader's context arrives.
    ctx: AtomicU64,
    ready: Once,
}

impl Duplicate {
    /// The context is here. The communicator moves from the lane of those that have none to its own.
    pub(crate) fn ready(&self) {
        self.ready.call_once(|| {
            let (c, ctx) = (&self.comm, Context(self.ctx.load(Relaxed)));
            let Some(w) = world::any_world() else { return };
            w.engine.enter(c.lane(), |s| s.retire(&c.ranks));
            w.engine.enter(ctx.lane(), |s| s.enroll(&c.ranks));
            c.ctx.store(ctx.0, Relaxed);
            c.endpoint.set_context(ctx.collective());
        });
    }
}

pub fn comm_idup(comm: handle::Comm, newcomm: Out<handle::Comm>, request: Out<handle::Request>) -> Result<()> {
    let parent = get(comm)?;
    let info = parent.info.lock().unwrap_or_else(|e| e.into_inner()).duplicate();
    idup(comm, &parent, info, newcomm, request)
}

pub fn comm_idup_with_info(
    comm: handle::Comm,
    info: handle::Info,
    newcomm: Out<handle::Comm>,
    request: Out<handle::Request>,
) -> Result<()> {
    let parent = get(comm)?;
    let info = info::optional(info)?.map_or_else(Info::new, |i| i.duplicate());
    idup(comm, &parent, info, newcomm, request)
}

fn idup(
    h: handle::Comm,
    parent: &Comm,
    info: Info,
    newcomm: Out<handle::Comm>,
    request: Out<handle::Request>,
) -> Result<()> {
    let e = world::engine()?;
    // Both results are written before anything starts: a null pointer is refused here.
    request.set(MPI_REQUEST_NULL)?;
    newcomm.set(MPI_COMM_NULL)?;
    let new = Comm::new(parent.group.clone(), context::none_yet(), parent.errhandler.inherit())?;
    new.share_topology(parent);
    *new.info.lock().unwrap_or_else(|e| e.into_inner()) = info;
    let n = publish(new)?;
    let new = Arc::new(Duplicate { comm: get(n)?.to_arc(), ctx: AtomicU64::new(0), ready: Once::new() });
    let receive = exchange(e, parent, &new)?;
    if let Err(why) = parent.attrs.copy_all(h, &new.comm.attrs) {
        // What was copied until then goes with its delete callbacks; the copy's error is the one to report.
        let _ = new.comm.attrs.delete_all(n);
        drop(COMMS.remove(n));
        match receive {
            // The leader's message still comes, so its place stays for ever.
            Some(id) => {
                e.enter(id.lane(), |s| s.detach(id));
                std::mem::forget(new);
            }
            None => context::release(Context(new.ctx.load(Relaxed))),
        }
        return Err(why);
    }
    newcomm.set(n)?;
    request.set(match receive {
        Some(id) => Compound::duplication(parent.ranks.clone(), id, new).publish()?,
        None => {
            new.ready();
            request::of_started(e, parent, None, Outcome::SENT)?
        }
    })
}

/// Sends or receives the context; None when it is here.
fn exchange(e: &Engine, parent: &Comm, new: &Duplicate) -> Result<Option<ReqId>> {
    let ctx = parent.ctx().collective();
    if parent.rank == 0 {
        let given = context::reserve()?;
        new.ctx.store(given.0, Relaxed);
        for &proc in &parent.ranks.procs()[1..] {
            let bytes = Span::Owned(given.0.to_ne_bytes().to_vec());
            e.enter(ctx.lane(), |s| -> Result<()> {
                let sent = s.send(ctx, proc, IDUP_TAG, bytes, Mode::Standard)?;
                sent.into_iter().for_each(|id| s.detach(id));
                Ok(())
            })?;
        }
        return Ok(None);
    }
    let want = Pattern { ctx, source: parent.ranks.proc_of(0) as i32, tag: IDUP_TAG };
    let to = Span::Dense { at: new.ctx.as_ptr() as *mut u8, len: size_of::<u64>() };
    Ok(match e.enter(ctx.lane(), |s| s.recv(want, to))? {
        Received::Done(_) => None,
        Received::Pending(id) => Some(id),
    })
}
