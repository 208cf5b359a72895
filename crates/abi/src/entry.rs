//! What the generated entry points are made of.
//!
//! The views of `oxmpi_base::args` and the handle types are `repr(transparent)` over what C passes, so
//! they stand directly in the signatures: receiving one is the conversion.
pub(crate) use oxmpi_base::args::*;
pub(crate) use oxmpi_base::consts::*;
pub(crate) use oxmpi_base::handle::*;
pub(crate) use oxmpi_base::{Error, Result, Status};
pub(crate) use oxmpi_mpi::errhan::ErrObject;

/// Defines `MPI_X` and `PMPI_X`: the core call's success is MPI_SUCCESS, its error is raised on the
/// object in brackets, which is evaluated first (a call may free the handle it was given).
macro_rules! entry {
    ($mpi:ident $pmpi:ident($($arg:ident: $type:ty),*) [$object:expr], $call:expr) => {
        value! { $mpi $pmpi($($arg: $type),*) -> i32, {
            let object = $object;
            match $call {
                Ok(()) => MPI_SUCCESS,
                Err(error) => raise(object, error),
            }
        } }
    };
}

/// Defines `MPI_X` and `PMPI_X`, which return the value of an expression.
macro_rules! value {
    ($mpi:ident $pmpi:ident($($arg:ident: $type:ty),*) -> $ret:ty, $value:expr) => {
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, unused_variables)]
        pub extern "C" fn $mpi($($arg: $type),*) -> $ret {
            $value
        }
        #[unsafe(no_mangle)]
        #[allow(non_snake_case, unused_variables)]
        pub extern "C" fn $pmpi($($arg: $type),*) -> $ret {
            $value
        }
    };
}

pub(crate) use {entry, value};

#[cold]
#[inline(never)]
pub(crate) fn raise(object: ErrObject, error: Error) -> i32 {
    oxmpi_mpi::errhan::raise(object, error)
}

/// The result of a procedure that stands in spec/exceptions.
#[cold]
pub(crate) fn unsupported(procedure: &'static str) -> Result<()> {
    Err(Error::unsupported(procedure))
}

/// MPI-5.0 15.3: procedures of the tool interface return their error and run no error handler.
pub(crate) fn class_of(result: Result<()>) -> i32 {
    match result {
        Ok(()) => MPI_SUCCESS,
        Err(error) => error.class,
    }
}

/// The handle an inout argument holds, for the error object.
#[inline]
pub(crate) fn held<T: Copy>(handle: Out<T>, null: T) -> T {
    if handle.is_null() { null } else { handle.get().unwrap_or(null) }
}

/// Handle values fit an `int` and are their own integers (see `oxmpi_base::handle`).
pub(crate) fn to_int<H: Handle>(handle: H) -> i32 {
    handle.raw() as i32
}
pub(crate) fn from_int<H: Handle>(int: i32) -> H {
    H::from_raw(int as u32 as usize)
}

/// A result argument that the narrow twin does not have.
#[allow(dead_code)]
pub(crate) fn absent<T: Copy>() -> Out<T> {
    // SAFETY: null is allowed.
    unsafe { Out::new(std::ptr::null_mut()) }
}
/// An array argument that the narrow twin does not have.
#[allow(dead_code)]
pub(crate) fn absent_array<T: Copy>() -> Arr<T> {
    // SAFETY: null is allowed.
    unsafe { Arr::new(std::ptr::null()) }
}
