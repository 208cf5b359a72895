//! Process topologies (MPI-5.0 chapter 8). Known gaps: everything but the question whether there is one.
use crate::comm;
use oxmpi_base::args::Out;
use oxmpi_base::consts::MPI_UNDEFINED;
use oxmpi_base::{Result, handle};

/// MPI-5.0 8.5.5: no constructor makes a topology yet, so no communicator has one.
pub fn topo_test(comm: handle::Comm, status: Out<i32>) -> Result<()> {
    comm::get(comm)?;
    status.set(MPI_UNDEFINED)
}
