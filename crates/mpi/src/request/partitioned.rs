//! Requests of partitioned communication (MPI-5.0 chapter 4): made once, started many times, their parts marked and asked for in between.
//!
//! The state is the engine's (`oxmpi_pt2pt::part`), under the lock of the communicator's lane; here is only what never changes.
use super::{Named, OBJECTS, Object, named};
use crate::comm::Comm;
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_pt2pt::part::Look;
use oxmpi_pt2pt::{Engine, PartId};
use std::sync::Arc;

pub(crate) struct Partitioned {
    pub(crate) comm: Arc<Comm>,
    pub(crate) id: PartId,
    pub(crate) partitions: i32,
    pub(crate) sends: bool,
}

impl Partitioned {
    pub(crate) fn publish(self) -> Result<handle::Request> {
        OBJECTS.insert(Arc::new(Object::Partitioned(self)))
    }

    pub(super) fn start(&self, e: &Engine) -> Result<()> {
        if e.enter(self.comm.lane(), |s| s.part_start(self.id))? {
            return Ok(());
        }
        bail!(MPI_ERR_REQUEST, "the partitioned request is active already; complete it first")
    }

    pub(super) fn look(&self, e: &Engine, consume: bool) -> Look {
        e.enter(self.comm.lane(), |s| s.part_look(self.id, consume))
    }

    pub(super) fn free(&self, e: &Engine) -> Result<()> {
        if e.enter(self.comm.lane(), |s| s.part_free(self.id)) {
            return Ok(());
        }
        bail!(MPI_ERR_REQUEST, "an active partitioned request cannot be freed; complete it first")
    }

    /// Errors go to the error handler of its communicator.
    fn on_comm(&self, why: Error) -> Error {
        why.on(handle::Comm(self.comm.ranks.owner()))
    }
}

/// Calls `f` with the partitioned operation of `h`, which is a send if `sends`.
pub(crate) fn with_partitioned<R>(
    e: &Engine,
    h: handle::Request,
    sends: bool,
    f: impl FnOnce(&Partitioned) -> Result<R>,
) -> Result<R> {
    let (mine, side) = if sends { ("marks partitions of", "send") } else { ("asks for partitions of", "receive") };
    match &named(e, h)? {
        Named::Object(_, o) if let Object::Partitioned(p) = &**o => {
            if p.sends != sends {
                let other = if sends { "receive" } else { "send" };
                bail!(MPI_ERR_REQUEST, "the procedure {mine} a partitioned {side}; this request is of a {other}");
            }
            f(p).map_err(|why| p.on_comm(why))
        }
        _ => bail!(MPI_ERR_REQUEST, "the procedure {mine} a partitioned {side}; this request is of another operation"),
    }
}
