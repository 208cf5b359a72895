//! One facade for what the algorithms stand on, so that unit tests run every algorithm on threads of one
//! process (`tests::mock`) instead of on a job.
#[cfg(not(test))]
pub use oxmpi_datatype::{Cursor, Datatype, copy};
#[cfg(not(test))]
pub use oxmpi_pt2pt::shared::Memory;
#[cfg(not(test))]
pub use oxmpi_pt2pt::{Channel, Endpoint, Inside, Pending, Req};

#[cfg(test)]
pub use crate::tests::mock::{Channel, Cursor, Datatype, Endpoint, Inside, Memory, Pending, Req, copy};
