//! What every layer shares: handle values, constants, errors, statuses and the argument types that
//! cross the C boundary. No policy and no system calls live here.
pub mod args;
pub mod consts;
pub mod error;
pub mod handle;
pub mod status;

pub use error::{Error, ErrorClass, Result};
pub use status::Status;
