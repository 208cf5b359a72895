//! Errors of the standard: a class (MPI-5.0 9.4) and a sentence that names the object, the reason
//! and the way out.
use crate::consts::*;
use std::borrow::Cow;

/// An MPI error class or a user-defined error code.
pub type ErrorClass = i32;

/// A failed MPI operation. `class` is what the caller gets as return code through the error handler;
/// `message` is what a fatal handler prints.
#[derive(Debug, Clone)]
pub struct Error {
    pub class: ErrorClass,
    pub message: Cow<'static, str>,
    /// The communicator whose error handler should hear of it, where that is not the procedure's own argument
    /// (completion of requests).
    pub comm: Option<crate::handle::Comm>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    #[cold]
    pub fn new(class: ErrorClass, message: impl Into<Cow<'static, str>>) -> Self {
        Error { class, message: message.into(), comm: None }
    }
    /// To be raised on this communicator.
    pub fn on(mut self, comm: crate::handle::Comm) -> Self {
        self.comm = Some(comm);
        self
    }
    /// MPI_ERR_ARG.
    #[cold]
    pub fn arg(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(MPI_ERR_ARG, message)
    }
    /// MPI_ERR_UNSUPPORTED_OPERATION: `procedure` stands in spec/exceptions.
    #[cold]
    pub fn unsupported(procedure: &str) -> Self {
        Self::new(
            MPI_ERR_UNSUPPORTED_OPERATION,
            format!("{procedure} is not implemented in this version of oxmpi (see spec/exceptions)"),
        )
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (class {})", self.message, self.class)
    }
}
impl std::error::Error for Error {}

/// `Err(Error)` with a formatted message: `bail!(MPI_ERR_RANK, "rank {r} ...")`.
#[macro_export]
macro_rules! bail {
    ($class:expr, $($arg:tt)*) => { return Err($crate::Error::new($class, format!($($arg)*))) };
}
