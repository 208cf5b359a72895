//! What every layer shares: handle values, constants, errors, statuses and the argument types that
//! cross the C boundary; control and performance variables, events. No policy lives here.
pub mod args;
pub mod config;
pub mod consts;
pub mod error;
pub mod event;
pub mod handle;
pub mod inform;
pub mod measure;
pub mod status;

pub use error::{Error, ErrorClass, Result};
pub use status::Status;
