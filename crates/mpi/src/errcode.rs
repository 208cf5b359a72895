//! Error classes, codes and strings (MPI-5.0 9.4 and 9.5); reached as `errhan::*`.
//!
//! Predefined codes are their classes. The program's classes and codes share one number space that begins
//! above MPI_ERR_LASTCODE; a number is never given out twice, so MPI_LASTUSEDCODE never decreases.
//! Everything works before MPI_Init and after MPI_Finalize, from any thread.
//!
//! Known gaps: none.

use oxmpi_base::args::{Out, OutStr, Str};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

macro_rules! classes {
    ($($name:ident: $text:literal,)*) => {
        const CLASSES: &[(i32, &str, &str)] = &[$(($name, stringify!($name), $text)),*];
    };
}

classes! {
    MPI_SUCCESS: "no error",
    MPI_ERR_BUFFER: "the buffer pointer is not valid here",
    MPI_ERR_COUNT: "the count is not valid",
    MPI_ERR_TYPE: "the datatype is not valid, or not committed",
    MPI_ERR_TAG: "the tag is not valid",
    MPI_ERR_COMM: "the communicator is not valid",
    MPI_ERR_RANK: "the rank is not valid",
    MPI_ERR_REQUEST: "the request is not valid",
    MPI_ERR_ROOT: "the root is not valid",
    MPI_ERR_GROUP: "the group is not valid",
    MPI_ERR_OP: "the operation is not valid, or not for this datatype",
    MPI_ERR_TOPOLOGY: "the communicator has no such topology",
    MPI_ERR_DIMS: "the dimensions are not valid",
    MPI_ERR_ARG: "an argument is not valid",
    MPI_ERR_UNKNOWN: "an error of unknown kind",
    MPI_ERR_TRUNCATE: "the message is longer than the receive buffer",
    MPI_ERR_OTHER: "an error that no other class describes",
    MPI_ERR_INTERN: "the MPI library met an error of its own, or lacks a resource",
    MPI_ERR_PENDING: "the request is neither complete nor failed",
    MPI_ERR_IN_STATUS: "the error codes are in the statuses",
    MPI_ERR_ACCESS: "access to the file was denied",
    MPI_ERR_AMODE: "the file access mode is not valid",
    MPI_ERR_ASSERT: "the assertion argument is not valid",
    MPI_ERR_BAD_FILE: "the file name is not valid",
    MPI_ERR_BASE: "the base address given to MPI_Free_mem is not valid",
    MPI_ERR_CONVERSION: "a user's data conversion function failed",
    MPI_ERR_DISP: "the displacement unit is not valid",
    MPI_ERR_DUP_DATAREP: "a data representation of this name is already registered",
    MPI_ERR_FILE_EXISTS: "the file exists already",
    MPI_ERR_FILE_IN_USE: "the file is open in some process",
    MPI_ERR_FILE: "the file handle is not valid",
    MPI_ERR_INFO_KEY: "the info key is empty or too long",
    MPI_ERR_INFO_NOKEY: "the info object has no such key",
    MPI_ERR_INFO_VALUE: "the info value is too long",
    MPI_ERR_INFO: "the info object is not valid",
    MPI_ERR_IO: "an input or output operation failed",
    MPI_ERR_KEYVAL: "the keyval is not valid here",
    MPI_ERR_LOCKTYPE: "the lock type is not valid",
    MPI_ERR_NAME: "the service name is not published",
    MPI_ERR_NO_MEM: "memory, or room in a table, is exhausted",
    MPI_ERR_NOT_SAME: "a collective argument differs between processes, or the order of calls does",
    MPI_ERR_NO_SPACE: "the file system is full",
    MPI_ERR_NO_SUCH_FILE: "the file does not exist",
    MPI_ERR_PORT: "the port name is not valid",
    MPI_ERR_QUOTA: "the disk quota is exceeded",
    MPI_ERR_READ_ONLY: "the file or file system is read-only",
    MPI_ERR_RMA_ATTACH: "the memory cannot be attached",
    MPI_ERR_RMA_CONFLICT: "accesses to a window conflict",
    MPI_ERR_RMA_RANGE: "the target memory is not part of the window",
    MPI_ERR_RMA_SHARED: "the memory cannot be shared between these processes",
    MPI_ERR_RMA_SYNC: "the window's synchronisation calls do not fit together",
    MPI_ERR_SERVICE: "the service name cannot be unpublished",
    MPI_ERR_SIZE: "the size is not valid",
    MPI_ERR_SPAWN: "the processes could not be started",
    MPI_ERR_UNSUPPORTED_DATAREP: "the data representation is not known",
    MPI_ERR_UNSUPPORTED_OPERATION: "the operation is not supported here",
    MPI_ERR_WIN: "the window is not valid",
    MPI_ERR_RMA_FLAVOR: "the window is of the wrong flavor",
    MPI_ERR_PROC_ABORTED: "the operation failed because a process it needs has aborted",
    MPI_ERR_VALUE_TOO_LARGE: "the value does not fit the result's type; call the _c form",
    MPI_ERR_SESSION: "the session is not valid",
    MPI_ERR_ERRHANDLER: "the error handler is not valid",
    MPI_ERR_ABI: "the request does not fit this ABI",
    MPI_T_ERR_CANNOT_INIT: "the tools interface cannot be initialised",
    MPI_T_ERR_NOT_ACCESSIBLE: "the tools interface does not offer this now",
    MPI_T_ERR_NOT_INITIALIZED: "the tools interface is not initialised",
    MPI_T_ERR_NOT_SUPPORTED: "the tools interface does not support this",
    MPI_T_ERR_MEMORY: "the tools interface is out of memory",
    MPI_T_ERR_INVALID: "an argument to the tools interface is not valid",
    MPI_T_ERR_INVALID_INDEX: "the index of a variable, category or event is not valid",
    MPI_T_ERR_INVALID_ITEM: "the item index of an enumeration or category is not valid",
    MPI_T_ERR_INVALID_SESSION: "the performance session is not valid",
    MPI_T_ERR_INVALID_HANDLE: "the variable or event handle is not valid",
    MPI_T_ERR_INVALID_NAME: "there is no variable, category or event of this name",
    MPI_T_ERR_OUT_OF_HANDLES: "there are no more handles",
    MPI_T_ERR_OUT_OF_SESSIONS: "there are no more performance sessions",
    MPI_T_ERR_CVAR_SET_NOT_NOW: "the control variable cannot be set now",
    MPI_T_ERR_CVAR_SET_NEVER: "the control variable cannot be set",
    MPI_T_ERR_PVAR_NO_WRITE: "the performance variable cannot be written or reset",
    MPI_T_ERR_PVAR_NO_STARTSTOP: "the performance variable cannot be started or stopped",
    MPI_T_ERR_PVAR_NO_ATOMIC: "the performance variable cannot be read and written atomically",
}

fn predefined(code: i32) -> Option<&'static (i32, &'static str, &'static str)> {
    CLASSES.iter().find(|c| c.0 == code)
}

struct UserCode {
    /// Its own number where it is a class.
    class: i32,
    string: Option<Vec<u8>>,
}

static USER: Mutex<BTreeMap<i32, UserCode>> = Mutex::new(BTreeMap::new());
static LAST_USED: AtomicI32 = AtomicI32::new(MPI_ERR_LASTCODE);

fn user() -> MutexGuard<'static, BTreeMap<i32, UserCode>> {
    USER.lock().unwrap_or_else(|e| e.into_inner())
}

/// The value of the attribute MPI_LASTUSEDCODE.
pub(crate) fn last_used_code() -> &'static AtomicI32 {
    &LAST_USED
}

/// `MPI_ERR_RANK`, or a number for what the program defined.
pub fn code_name(code: i32) -> Cow<'static, str> {
    match predefined(code) {
        Some(c) => c.1.into(),
        None => format!("error code {code}").into(),
    }
}

fn add(class: Option<i32>, out: Out<i32>) -> Result<()> {
    let mut user = user();
    if out.is_null() {
        return out.set(0);
    }
    if let Some(c) = class
        && predefined(c).is_none()
        && user.get(&c).is_none_or(|u| u.class != c)
    {
        bail!(MPI_ERR_ARG, "{c} is not an error class");
    }
    let Some(number) = LAST_USED.load(Relaxed).checked_add(1) else {
        bail!(MPI_ERR_NO_MEM, "all numbers for error codes have been given out");
    };
    LAST_USED.store(number, Relaxed);
    user.insert(number, UserCode { class: class.unwrap_or(number), string: None });
    out.set(number)
}

fn with_user<R>(code: i32, what: &str, f: impl FnOnce(&mut UserCode) -> R) -> Result<R> {
    match user().get_mut(&code) {
        Some(u) => Ok(f(u)),
        None if predefined(code).is_some() => {
            bail!(MPI_ERR_ARG, "{} is predefined; {what} is for the program's own classes and codes", code_name(code))
        }
        None => bail!(MPI_ERR_ARG, "{code} is no error class or code that the program has added"),
    }
}

/// MPI-5.0 9.5: a string goes before its code or class.
fn without_string(code: i32) -> Result<()> {
    match user().get(&code) {
        Some(u) if u.string.is_some() => {
            bail!(MPI_ERR_ARG, "{code} still has an error string; call MPI_Remove_error_string first")
        }
        _ => Ok(()),
    }
}

// ---- the procedures ----

pub fn add_error_class(errorclass: Out<i32>) -> Result<()> {
    add(None, errorclass)
}

pub fn add_error_code(errorclass: i32, errorcode: Out<i32>) -> Result<()> {
    add(Some(errorclass), errorcode)
}

pub fn add_error_string(errorcode: i32, string: Str) -> Result<()> {
    let s = string.get()?.to_bytes();
    let most = MPI_MAX_ERROR_STRING as usize - 1;
    if s.len() > most {
        bail!(MPI_ERR_ARG, "the error string has {} bytes; at most {most} are allowed", s.len());
    }
    with_user(errorcode, "MPI_Add_error_string", |u| u.string = Some(s.to_vec()))
}

pub fn remove_error_class(errorclass: i32) -> Result<()> {
    let class = with_user(errorclass, "MPI_Remove_error_class", |u| u.class)?;
    if class != errorclass {
        bail!(MPI_ERR_ARG, "{errorclass} is an error code; MPI_Remove_error_code removes it");
    }
    without_string(errorclass)?;
    let mut user = user();
    if let Some((code, _)) = user.iter().find(|(n, u)| u.class == errorclass && **n != errorclass) {
        bail!(MPI_ERR_ARG, "error class {errorclass} still has the code {code}; remove its codes first");
    }
    user.remove(&errorclass);
    Ok(())
}

pub fn remove_error_code(errorcode: i32) -> Result<()> {
    let class = with_user(errorcode, "MPI_Remove_error_code", |u| u.class)?;
    if class == errorcode {
        bail!(MPI_ERR_ARG, "{errorcode} is an error class; MPI_Remove_error_class removes it");
    }
    without_string(errorcode)?;
    user().remove(&errorcode);
    Ok(())
}

pub fn remove_error_string(errorcode: i32) -> Result<()> {
    with_user(errorcode, "MPI_Remove_error_string", |u| u.string = None)
}

/// A number that is no code is of class MPI_ERR_UNKNOWN: this is called where something went wrong already.
pub fn error_class(errorcode: i32, errorclass: Out<i32>) -> Result<()> {
    let class = match user().get(&errorcode) {
        Some(u) => u.class,
        None if predefined(errorcode).is_some() => errorcode,
        None => MPI_ERR_UNKNOWN,
    };
    errorclass.set(class)
}

/// A code of the program without a string has the empty one (9.5.3).
pub fn error_string(errorcode: i32, string: OutStr, resultlen: Out<i32>) -> Result<()> {
    let text = match (predefined(errorcode), user().get(&errorcode)) {
        (Some((_, name, text)), _) => format!("{name}: {text}").into_bytes(),
        (None, Some(u)) => u.string.clone().unwrap_or_default(),
        (None, None) => format!("{errorcode} is no error code").into_bytes(),
    };
    let n = string.write(&text, MPI_MAX_ERROR_STRING as usize)?;
    resultlen.set(n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CStr, c_char};

    fn out<T: Copy>(v: &mut T) -> Out<T> {
        // SAFETY: a live local.
        unsafe { Out::new(v) }
    }
    fn string_of(code: i32) -> String {
        let (mut buf, mut n) = ([0u8; 512], 0);
        // SAFETY: a live buffer of MPI_MAX_ERROR_STRING bytes.
        error_string(code, unsafe { OutStr::new(buf.as_mut_ptr() as *mut c_char) }, out(&mut n)).unwrap();
        assert_eq!(buf[n as usize], 0);
        String::from_utf8(buf[..n as usize].to_vec()).unwrap()
    }
    fn s(c: &CStr) -> Str {
        // SAFETY: a live C string.
        unsafe { Str::new(c.as_ptr()) }
    }

    #[test]
    fn every_class_of_the_standard_has_a_sentence() {
        for class in (0..=MPI_ERR_ABI).chain(MPI_T_ERR_CANNOT_INIT..=MPI_T_ERR_PVAR_NO_ATOMIC) {
            assert!(predefined(class).is_some(), "class {class}");
            assert!(string_of(class).starts_with("MPI_"));
        }
        let mut c = -1;
        error_class(MPI_ERR_TRUNCATE, out(&mut c)).unwrap();
        assert_eq!(c, MPI_ERR_TRUNCATE);
        error_class(-5, out(&mut c)).unwrap();
        assert_eq!(c, MPI_ERR_UNKNOWN);
    }

    #[test]
    fn the_programs_own() {
        let (mut class, mut code, mut code2) = (0, 0, 0);
        add_error_class(out(&mut class)).unwrap();
        assert!(class > MPI_ERR_LASTCODE);
        add_error_code(class, out(&mut code)).unwrap();
        add_error_code(MPI_ERR_IO, out(&mut code2)).unwrap();
        assert!(last_used_code().load(Relaxed) >= code2);
        let mut c = 0;
        for (n, want) in [(class, class), (code, class), (code2, MPI_ERR_IO)] {
            error_class(n, out(&mut c)).unwrap();
            assert_eq!(c, want);
        }
        assert_eq!(string_of(code), "");
        add_error_string(code, s(c"broken")).unwrap();
        assert_eq!(string_of(code), "broken");
        assert_eq!(remove_error_code(code).unwrap_err().class, MPI_ERR_ARG, "it has a string");
        remove_error_string(code).unwrap();
        assert_eq!(string_of(code), "");
        assert_eq!(remove_error_class(class).unwrap_err().class, MPI_ERR_ARG);
        assert_eq!(remove_error_class(code).unwrap_err().class, MPI_ERR_ARG);
        assert_eq!(remove_error_code(class).unwrap_err().class, MPI_ERR_ARG);
        remove_error_code(code).unwrap();
        remove_error_class(class).unwrap();
        assert_eq!(remove_error_code(code).unwrap_err().class, MPI_ERR_ARG);
        assert_eq!(add_error_code(code2, out(&mut c)).unwrap_err().class, MPI_ERR_ARG);
        assert_eq!(add_error_string(MPI_ERR_IO, s(c"x")).unwrap_err().class, MPI_ERR_ARG);
    }
}
