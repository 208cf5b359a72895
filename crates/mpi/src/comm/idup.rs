//! MPI_Comm_idup (MPI-5.0 7.4.2): duplication that does not wait.
//!
//! All that the new communicator needs from another process is its context. The leader sends it to each member when it calls, straight
//! and without waiting; the others post one receive each. So nobody's progress depends on a process in between, and no schedule is
//! needed. The handle is given out at once and names the communicator from completion on; attributes, info and error handler are
//! those of the time of the call. Known gap: the leader sends one message to every member.
use super::{AttrSet, COMMS, Comm, TAG, get};
use crate::info::{self, Info};
use crate::request::{self, Compound};
use crate::{context, errhan, group::Group, world};
use oxmpi_base::args::Out;
use oxmpi_base::handle::Handle;
use oxmpi_base::{Result, handle};
use oxmpi_pt2pt::{Engine, Mode, Outcome, Pattern, Received, ReqId, Span};
use oxmpi_transport::wire::Context;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Calls of all ranks match in order, and meet no other exchange.
const IDUP_TAG: i32 = TAG + 1;

/// A communicator whose context is on its way.
pub(crate) struct Unborn {
    handle: handle::Comm,
    group: Arc<Group>,
    /// Where the leader's context arrives.
    ctx: AtomicU64,
    parts: Mutex<Option<Parts>>,
}

struct Parts {
    errhandler: errhan::Cell,
    info: Info,
    attrs: AttrSet,
}

impl Unborn {
    /// The context is here: from now on the handle names the communicator. Once; later calls do nothing.
    pub(crate) fn bear(&self) -> Result<()> {
        let mut parts = self.parts.lock().unwrap_or_else(|e| e.into_inner());
        let Some(p) = parts.take() else { return Ok(()) };
        let mut new = Comm::new(self.group.clone(), Context(self.ctx.load(Relaxed)), p.errhandler)?;
        (new.attrs, new.info) = (p.attrs, Mutex::new(p.info));
        new.ranks.set_owner(self.handle.raw());
        COMMS.fill(self.handle, Arc::new(new));
        Ok(())
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
    request.set(oxmpi_base::consts::MPI_REQUEST_NULL)?;
    newcomm.set(oxmpi_base::consts::MPI_COMM_NULL)?;
    let attrs = AttrSet::default();
    let unborn = Arc::new(Unborn {
        handle: COMMS.reserve()?,
        group: parent.group.clone(),
        ctx: AtomicU64::new(0),
        parts: Mutex::new(None),
    });
    let receive = exchange(e, parent, &unborn)?;
    if let Err(why) = parent.attrs.copy_all(h, &attrs) {
        // What was copied until then goes with its delete callbacks; the copy's error is the one to report.
        let _ = attrs.delete_all(unborn.handle);
        match receive {
            // The other ranks may have to be heard out, so the place of the context stays for ever.
            Some(id) => {
                e.enter(|s| s.detach(id));
                std::mem::forget(unborn);
            }
            None => context::release(Context(unborn.ctx.load(Relaxed))),
        }
        return Err(why);
    }
    let parts = Parts { errhandler: parent.errhandler.inherit(), info, attrs };
    *unborn.parts.lock().unwrap_or_else(|e| e.into_inner()) = Some(parts);
    newcomm.set(unborn.handle)?;
    request.set(match receive {
        Some(id) => Compound::birth(parent.ranks.clone(), id, unborn).publish()?,
        None => {
            unborn.bear()?;
            request::of_started(e, parent, None, Outcome::SENT)?
        }
    })
}

/// Sends or receives the context; None when it is here.
fn exchange(e: &Engine, parent: &Comm, unborn: &Unborn) -> Result<Option<ReqId>> {
    let ctx = parent.ctx.collective();
    if parent.rank == 0 {
        let new = context::reserve()?;
        unborn.ctx.store(new.0, Relaxed);
        for &proc in &parent.ranks.procs()[1..] {
            let bytes = Span::Owned(new.0.to_ne_bytes().to_vec());
            e.enter(|s| {
                let sent = s.send(ctx, proc, IDUP_TAG, bytes, Mode::Standard)?;
                sent.into_iter().for_each(|id| s.detach(id));
                Ok(())
            })?;
        }
        return Ok(None);
    }
    let want = Pattern { ctx, source: parent.ranks.proc_of(0) as i32, tag: IDUP_TAG };
    let to = Span::Dense { at: unborn.ctx.as_ptr() as *mut u8, len: size_of::<u64>() };
    Ok(match e.enter(|s| s.recv(want, to))? {
        Received::Done(_) => None,
        Received::Pending(id) => Some(id),
    })
}
