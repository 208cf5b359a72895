//! MPI_Comm_idup (MPI-5.0 7.4.2): duplication that does not wait.
//!
//! All that the new communicator needs from another process is its context. The leader sends it to each member when it calls, straight
//! and without waiting; the others post one receive each. So nobody's progress depends on a process in between, and no schedule is
//! needed. The communicator exists from the call on, with the attributes and error handler of that time, since programs set
//! its error handler or name at once; it can communicate from completion on. Known gap: the leader sends one message to every member.
use super::{COMMS, Comm, Info, TAG, get, inter, publish};
use crate::context::{self, Given};
use crate::request::{self, Compound};
use crate::{info, world};
use oxmpi_base::args::Out;
use oxmpi_base::consts::*;
use oxmpi_base::{Result, handle};
use oxmpi_pt2pt::{Engine, Mode, Outcome, Pattern, Received, ReqId, Span};
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
    /// The context is here. The communicator moves from the lane of those that have none to its own; without a context it is gone.
    pub(crate) fn ready(&self) -> Result<()> {
        let given = Given(self.ctx.load(Relaxed)).get();
        self.ready.call_once(|| {
            let (c, ctx) = match &given {
                Ok(ctx) => (&self.comm, *ctx),
                Err(_) => return self.discard(),
            };
            let Some(w) = world::any_world() else { return };
            w.engine.enter(c.lane(), |s| c.enrolled().for_each(|r| s.retire(r)));
            w.engine.enter(ctx.lane(), |s| c.enrolled().for_each(|r| s.enroll(r)));
            c.ctx.store(ctx.0, Relaxed);
            c.ranks.when_gone(ctx.0, context::gone);
            c.endpoint.set_context(ctx.collective());
            if let Some(r) = &c.remote {
                r.endpoint.set_context(ctx.collective());
            }
        });
        given.map(drop)
    }

    /// This process does not use the context, if there is one.
    fn drop_context(&self) {
        if let Ok(ctx) = Given(self.ctx.load(Relaxed)).get() {
            context::gone(ctx.0);
        }
    }

    /// Takes the handle back. What was copied goes with its delete callbacks; the error that led here is the one to report.
    fn discard(&self) {
        let h = handle::Comm(self.comm.ranks.owner());
        let _ = self.comm.attrs.delete_all(h);
        drop(COMMS.remove(h));
    }
}

pub fn comm_idup(comm: handle::Comm, newcomm: Out<handle::Comm>, request: Out<handle::Request>) -> Result<()> {
    idup(comm, None, newcomm, request)
}

pub fn comm_idup_with_info(
    comm: handle::Comm,
    info: handle::Info,
    newcomm: Out<handle::Comm>,
    request: Out<handle::Request>,
) -> Result<()> {
    let info = info::optional(info)?;
    idup(comm, info.as_deref(), newcomm, request)
}

fn idup(h: handle::Comm, info: Option<&Info>, newcomm: Out<handle::Comm>, request: Out<handle::Request>) -> Result<()> {
    let parent = &*get(h)?;
    let e = world::engine()?;
    // Both results are written before anything starts: a null pointer is refused here.
    request.set(MPI_REQUEST_NULL)?;
    newcomm.set(MPI_COMM_NULL)?;
    let (group, remote) = (parent.group.clone(), parent.remote_group());
    let new = Comm::build(group, remote, context::none_yet(), parent.errhandler.inherit())?;
    new.share_topology(parent);
    if let Some(i) = info {
        new.take_hints(i)?;
    }
    let n = publish(new)?;
    let new = Arc::new(Duplicate { comm: get(n)?.to_arc(), ctx: AtomicU64::new(Given::NONE.0), ready: Once::new() });
    let receive = exchange(e, parent, &new).inspect_err(|_| new.discard())?;
    if let Err(why) = parent.attrs.copy_all(h, &new.comm.attrs) {
        new.discard();
        match receive {
            // The leader's message still comes, so its place stays for ever.
            Some(id) => {
                e.enter(id.lane(), |s| s.detach(id));
                std::mem::forget(new);
            }
            None => new.drop_context(),
        }
        return Err(why);
    }
    let made = match receive {
        Some(id) => Compound::duplication(parent.ranks.clone(), id, new).publish()?,
        None => {
            new.ready().map_err(|why| why.on(h))?;
            request::of_started(e, parent, None, Outcome::SENT)?
        }
    };
    newcomm.set(n)?;
    request.set(made)
}

/// Sends or receives the context; None when it is here.
fn exchange(e: &Engine, parent: &Comm, new: &Duplicate) -> Result<Option<ReqId>> {
    let ctx = parent.ctx().collective();
    let everyone = inter::everyone(&parent.group, parent.remote.as_ref().map(|r| &*r.group));
    if everyone.my_rank() == Some(0) {
        // Where none is left the others must hear of it.
        let (given, mut told) = Given::offer();
        if let Ok(ctx) = given.get() {
            context::settle(ctx, everyone.size());
        }
        new.ctx.store(given.0, Relaxed);
        // One that cannot be reached keeps nobody else from being told.
        for proc in everyone.procs().skip(1) {
            let bytes = Span::Owned(given.0.to_ne_bytes().to_vec());
            told = told.and(e.enter(ctx.lane(), |s| {
                let sent = s.send(ctx, proc, IDUP_TAG, bytes, Mode::Standard)?;
                sent.into_iter().for_each(|id| s.detach(id));
                Ok(())
            }));
        }
        return told.map(|()| None).inspect_err(|_| new.drop_context());
    }
    let want = Pattern { ctx, source: everyone.proc_of(0) as i32, tag: IDUP_TAG };
    let to = Span::Dense { at: new.ctx.as_ptr() as *mut u8, len: size_of::<u64>() };
    Ok(match e.enter(ctx.lane(), |s| s.recv(want, to))? {
        Received::Done(_) => None,
        Received::Pending(id) => Some(id),
    })
}
