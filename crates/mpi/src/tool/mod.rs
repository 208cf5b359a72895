//! The tools interface, MPI_T (MPI-5.0 15.3): control variables, performance variables, categories, enumerations.
//!
//! # Invariants
//! * Every procedure but MPI_T_init_thread needs the interface to be initialised, and none needs MPI to be.
//! * An error is returned as a code; no error handler runs. A null result argument of an inquiry is left out (15.3.3);
//!   where the result is all that a procedure gives, null is MPI_T_ERR_INVALID.
//! * Handles are numbers that are never used twice: a stale one, or one of another kind, is recognised.
//! * Indices do not change while the process lives; no variable is added later.
//! * Everything takes a lock of its own: any thread may call at any thread level.
//!
//! * What a tool has allocated goes with the last MPI_T_finalize.
//!
//! Known gaps: control variables and event types are bound to no objects.
mod category;
mod cvar;
mod enumeration;
mod event;
mod pvar;
#[cfg(test)]
mod tests;

pub use category::*;
pub use cvar::{
    t_cvar_get_index, t_cvar_get_info, t_cvar_get_num, t_cvar_handle_alloc, t_cvar_handle_free, t_cvar_read,
    t_cvar_write,
};
pub use enumeration::*;
pub use event::*;
pub use pvar::*;

use oxmpi_base::args::{Out, OutStr, Str};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// How often MPI_T_init_thread has been called without its MPI_T_finalize.
static USERS: Mutex<usize> = Mutex::new(0);

fn lock<T>(m: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

/// An error of this interface is its code; nobody sees a sentence.
fn error(code: i32) -> Error {
    Error::new(code, "")
}

fn ready() -> Result<()> {
    crate::world::attend();
    if *lock(&USERS) == 0 { Err(error(MPI_T_ERR_NOT_INITIALIZED)) } else { Ok(()) }
}

/// A value that no handle had before.
fn new_handle() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0x1000);
    NEXT.fetch_add(1, Relaxed)
}

/// A result that the caller may leave out.
fn put<T: Copy>(out: Out<T>, value: T) {
    if !out.is_null() {
        let _not_null = out.set(value);
    }
}

/// A result that is what the call is for.
fn give<T: Copy>(out: Out<T>, value: T) -> Result<()> {
    out.set(value).map_err(|_| error(MPI_T_ERR_INVALID))
}

fn held<T: Copy>(inout: Out<T>) -> Result<T> {
    inout.get().map_err(|_| error(MPI_T_ERR_INVALID))
}

fn name_of<'a>(name: Str) -> Result<&'a str> {
    let name = name.get().map_err(|_| error(MPI_T_ERR_INVALID))?;
    name.to_str().map_err(|_| error(MPI_T_ERR_INVALID_NAME))
}

/// MPI-5.0 15.3.3: as much as fits the buffer, and in the length what all of it would need, the zero byte included.
fn give_string(buffer: OutStr, length: Out<i32>, text: &str) -> Result<()> {
    if length.is_null() {
        return Ok(());
    }
    let room = held(length)?;
    if room > 0 && !buffer.is_null() {
        // A character that does not fit as a whole is left out.
        let most = text.len().min(room as usize - 1);
        let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        buffer.write(&text.as_bytes()[..cut], room as usize).map_err(|_| error(MPI_T_ERR_INVALID))?;
    }
    give(length, text.len() as i32 + 1)
}

fn index<T>(mut all: impl Iterator<Item = T>, index: i32) -> Result<T> {
    usize::try_from(index).ok().and_then(|i| all.nth(i)).ok_or_else(|| error(MPI_T_ERR_INVALID_INDEX))
}

fn place(found: Option<usize>) -> Result<i32> {
    found.map(|i| i as i32).ok_or_else(|| error(MPI_T_ERR_INVALID_NAME))
}

/// Counts its calls. The control variables get their values here, if MPI_Init has not given them; where that fails there
/// is no handler to tell, so the reason goes to standard error.
pub fn t_init_thread(required: i32, provided: Out<i32>) -> Result<()> {
    let levels = [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE];
    let level = levels.into_iter().find(|l| *l >= required).filter(|_| required >= MPI_THREAD_SINGLE);
    let Some(level) = level else { return Err(error(MPI_T_ERR_INVALID)) };
    if let Err(e) = crate::config::load() {
        use std::io::Write;
        let _stderr_may_be_closed = writeln!(std::io::stderr(), "oxmpi: MPI_T_init_thread: {}", e.message);
        return Err(error(MPI_T_ERR_CANNOT_INIT));
    }
    give(provided, level)?;
    *lock(&USERS) += 1;
    Ok(())
}

/// After the last one no function of a tool runs any more, but for the one that may be calling this.
pub fn t_finalize() -> Result<()> {
    let mut users = lock(&USERS);
    *users = users.checked_sub(1).ok_or_else(|| error(MPI_T_ERR_NOT_INITIALIZED))?;
    if *users == 0 {
        event::clear();
        pvar::clear();
        cvar::clear();
        // What is waited for may call procedures of this interface.
        drop(users);
        event::wait_for_functions();
    }
    Ok(())
}
