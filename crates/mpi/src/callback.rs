//! Calls into the program: attribute callbacks (MPI-5.0 7.7), error handlers (9.3), reduction functions
//! (6.9.5), the functions of generalized requests (13.2), and the few stores and loads through untyped pointers that carry one value (attributes, Fortran
//! booleans).
//!
//! Invariant: this is the only module of the crate that turns a [`FnPtr`] into a call. A function pointer
//! that the program registered with the documented type is relied on; MPI can not check it. Callers hold
//! no lock, since the function may call MPI again.
//!
//! Known gaps: functions registered from Fortran get C arguments; the Fortran bindings must wrap them.

use oxmpi_base::args::{Buf, FnPtr, Out};
use oxmpi_base::consts::MPI_ERR_ARG;
use oxmpi_base::{Result, Status, bail};
use std::ffi::c_int;

/// Handles are passed as the `usize` they are; in C they are pointers, which travel the same way.
type CopyAttr = unsafe extern "C" fn(usize, c_int, usize, usize, *mut usize, *mut c_int) -> c_int;
type DeleteAttr = unsafe extern "C" fn(usize, c_int, usize, usize) -> c_int;
type ErrhandlerFn = unsafe extern "C" fn(*mut usize, *mut c_int, ...);
type UserOp = unsafe extern "C" fn(*mut u8, *mut u8, *mut c_int, *mut usize);
type UserOpLarge = unsafe extern "C" fn(*mut u8, *mut u8, *mut i64, *mut usize);
type GrequestQuery = unsafe extern "C" fn(usize, *mut Status) -> c_int;
type GrequestFree = unsafe extern "C" fn(usize) -> c_int;
type GrequestCancel = unsafe extern "C" fn(usize, c_int) -> c_int;

type EventCallback = unsafe extern "C" fn(usize, usize, c_int, usize);
type EventDropped = unsafe extern "C" fn(i64, usize, c_int, c_int, usize);
type EventFree = unsafe extern "C" fn(usize, c_int, usize);

const _: () = assert!(size_of::<usize>() == size_of::<CopyAttr>());

/// `Ok(Some(value))`: the attribute is copied; `Ok(None)`: the function said no; `Err(code)`: it failed.
pub(crate) fn copy_attr(
    f: FnPtr,
    old: usize,
    keyval: i32,
    extra: usize,
    value: usize,
) -> std::result::Result<Option<usize>, i32> {
    let (mut new, mut flag) = (0usize, 0);
    // SAFETY: `f` is neither null nor one of the small constants (the caller told those apart), so it is
    // the MPI_X_copy_attr_function the program registered.
    let code = unsafe {
        let f = std::mem::transmute::<usize, CopyAttr>(f.0);
        f(old, keyval, extra, value, &mut new, &mut flag)
    };
    match code {
        0 => Ok((flag != 0).then_some(new)),
        code => Err(code),
    }
}

/// Returns the function's code.
pub(crate) fn delete_attr(f: FnPtr, object: usize, keyval: i32, value: usize, extra: usize) -> i32 {
    // SAFETY: as in `copy_attr`, for an MPI_X_delete_attr_function.
    unsafe {
        let f = std::mem::transmute::<usize, DeleteAttr>(f.0);
        f(object, keyval, value, extra)
    }
}

/// Calls a user's error handler with a handle and a code; returns the code as the handler left it.
pub(crate) fn errhandler(f: FnPtr, mut object: usize, mut code: i32) -> i32 {
    // SAFETY: `f` is not null (checked when the handler was made) and is the variadic
    // MPI_X_errhandler_function the program registered; no variadic arguments are passed.
    unsafe {
        let f = std::mem::transmute::<usize, ErrhandlerFn>(f.0);
        f(&mut object, &mut code);
    }
    code
}

/// `inout = in op inout` by an MPI_User_function, in pieces where `count` is more than an `int` holds;
/// `stride` is the type's extent.
///
/// # Safety
/// Both buffers are valid for `count` elements of the type `datatype` names.
pub(crate) unsafe fn user_op(f: FnPtr, input: *const u8, inout: *mut u8, count: usize, datatype: usize, stride: isize) {
    let mut done = 0usize;
    while done < count {
        let mut len = (count - done).min(c_int::MAX as usize) as c_int;
        let at = (done as isize).wrapping_mul(stride);
        let mut dt = datatype;
        // SAFETY: `f` is the non-null function given to MPI_Op_create; the buffers are the caller's promise.
        unsafe {
            let f = std::mem::transmute::<usize, UserOp>(f.0);
            f(input.cast_mut().wrapping_offset(at), inout.wrapping_offset(at), &mut len, &mut dt);
        }
        done += (count - done).min(c_int::MAX as usize);
    }
}

/// As [`user_op`], for an MPI_User_function_c.
///
/// # Safety
/// As for [`user_op`].
pub(crate) unsafe fn user_op_large(f: FnPtr, input: *const u8, inout: *mut u8, count: usize, datatype: usize) {
    let (mut len, mut dt) = (count as i64, datatype);
    // SAFETY: `f` is the non-null function given to MPI_Op_create_c; the buffers are the caller's promise.
    unsafe {
        let f = std::mem::transmute::<usize, UserOpLarge>(f.0);
        f(input.cast_mut(), inout, &mut len, &mut dt);
    }
}

/// The query function of a generalized request fills a status; returns its code.
pub(crate) fn grequest_query(f: FnPtr, extra: usize, status: &mut Status) -> i32 {
    // SAFETY: `f` is not null (the caller checked) and is the MPI_Grequest_query_function the program registered.
    unsafe { std::mem::transmute::<usize, GrequestQuery>(f.0)(extra, status) }
}

/// As [`grequest_query`], for the free function.
pub(crate) fn grequest_free(f: FnPtr, extra: usize) -> i32 {
    // SAFETY: as in `grequest_query`, for an MPI_Grequest_free_function.
    unsafe { std::mem::transmute::<usize, GrequestFree>(f.0)(extra) }
}

/// As [`grequest_query`], for the cancel function, which is told whether the request is complete.
pub(crate) fn grequest_cancel(f: FnPtr, extra: usize, complete: bool) -> i32 {
    // SAFETY: as in `grequest_query`, for an MPI_Grequest_cancel_function.
    unsafe { std::mem::transmute::<usize, GrequestCancel>(f.0)(extra, complete as c_int) }
}

/// Calls a tool's function for an event.
pub(crate) fn event(f: FnPtr, instance: usize, registration: usize, level: c_int, user_data: usize) {
    // SAFETY: `f` is not null (checked when it was registered) and is the MPI_T_event_cb_function that the tool registered.
    unsafe { std::mem::transmute::<usize, EventCallback>(f.0)(instance, registration, level, user_data) }
}

/// As [`event`], for events that found no room.
pub(crate) fn dropped(f: FnPtr, count: i64, registration: usize, source: c_int, level: c_int, user_data: usize) {
    // SAFETY: as in `event`, for an MPI_T_event_dropped_cb_function.
    unsafe { std::mem::transmute::<usize, EventDropped>(f.0)(count, registration, source, level, user_data) }
}

/// As [`event`], when a registration has been freed.
pub(crate) fn event_free(f: FnPtr, registration: usize, level: c_int, user_data: usize) {
    // SAFETY: as in `event`, for an MPI_T_event_free_cb_function.
    unsafe { std::mem::transmute::<usize, EventFree>(f.0)(registration, level, user_data) }
}

/// `*(void **)attribute_val = value`.
pub(crate) fn store_pointer(at: Buf, value: usize) -> Result<()> {
    // SAFETY: the standard documents the argument as the address of a `void *`; null is refused by `set`.
    unsafe { Out::new(at.0 as *mut usize) }.set(value)
}

/// Writes bytes where the standard documents a value of that size; null is MPI_ERR_ARG.
pub(crate) fn store_bytes(at: Buf, bytes: &[u8]) -> Result<()> {
    if at.addr() == 0 {
        bail!(MPI_ERR_ARG, "a result argument is a null pointer; pass the address of a variable");
    }
    // SAFETY: not null, and a value of this size by the argument's documentation.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at.as_mut_ptr(), bytes.len()) };
    Ok(())
}

/// Reads bytes where the standard documents a value of that size; null is MPI_ERR_ARG.
pub(crate) fn load_bytes(at: Buf, bytes: &mut [u8]) -> Result<()> {
    if at.addr() == 0 {
        bail!(MPI_ERR_ARG, "an argument is a null pointer; pass the address of a variable");
    }
    // SAFETY: not null, and a value of this size by the argument's documentation.
    unsafe { std::ptr::copy_nonoverlapping(at.as_ptr(), bytes.as_mut_ptr(), bytes.len()) };
    Ok(())
}
