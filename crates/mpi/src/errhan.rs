//! Error handlers (MPI-5.0 9.3 and 9.5): objects, attaching them, and [`raise`], the one way an error
//! leaves the library. Classes, codes and their strings are in `errcode`.
//!
//! Invariants: a handler lives as long as a handle or an object refers to it; while it has a handle,
//! `MPI_X_get_errhandler` returns that very handle and counts the reference; the user's function runs
//! without any lock held. Everything here works before MPI_Init and after MPI_Finalize, from any thread.
//!
//! The default handler of files is that of MPI_FILE_NULL (14.7). Errors without an object, or on one that does not exist, go to the
//! handler of MPI_COMM_SELF, before MPI_Init and after MPI_Finalize to the initial error handler (9.3).
//!
//! Known gaps: there are no windows and no open files yet, so [`window`] and [`file`] find none. Messages name the procedure only where
//! the error's text does.

pub use crate::errcode::*;

use crate::measures::ERROR_RAISED;
use crate::table::Table;
use crate::{callback, comm, group, session};
use oxmpi_base::args::{FnPtr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::handle::{Handle, Kind};
use oxmpi_base::{Error, Result, bail, handle};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock};

/// What an error handler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// MPI_ERRORS_ARE_FATAL: aborts all connected processes.
    Fatal,
    /// MPI_ERRORS_ABORT: aborts the processes of the object.
    Abort,
    Return,
    /// A function for objects of this kind.
    Call(Kind, FnPtr),
}

/// An error handler.
#[derive(Debug)]
pub struct Handler {
    action: Action,
    /// The handle, and how many times the program has to free it; (0, 0) when there is none.
    handle: Mutex<(usize, u64)>,
}

impl Handler {
    fn handle(&self) -> MutexGuard<'_, (usize, u64)> {
        self.handle.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn action(&self) -> Action {
        self.action
    }
}

fn is_predefined(h: handle::Errhandler) -> bool {
    [MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN].contains(&h)
}

static HANDLERS: LazyLock<Table<handle::Errhandler, Handler>> = LazyLock::new(|| {
    let t = Table::new();
    for (h, action) in
        [(MPI_ERRORS_ARE_FATAL, Action::Fatal), (MPI_ERRORS_ABORT, Action::Abort), (MPI_ERRORS_RETURN, Action::Return)]
    {
        t.bind(h, Arc::new(Handler { action, handle: Mutex::new((h.raw(), 1)) }));
    }
    t
});

/// The handler of a handle, or MPI_ERR_ERRHANDLER with the reason.
pub fn get(h: handle::Errhandler) -> Result<Arc<Handler>> {
    HANDLERS.arc(h)
}

fn predefined(h: handle::Errhandler) -> Arc<Handler> {
    get(h).expect("predefined error handlers are bound")
}

/// As [`get`], for a handler that is to serve objects of `kind`.
pub fn get_for(kind: Kind, h: handle::Errhandler) -> Result<Arc<Handler>> {
    let handler = get(h)?;
    if let Action::Call(of, _) = handler.action
        && of != kind
    {
        bail!(
            MPI_ERR_ERRHANDLER,
            "the error handler was made for {} objects; it cannot serve an {}",
            of.c_name(),
            kind.c_name()
        );
    }
    Ok(handler)
}

/// The error handler of an object; embedded in communicators, windows, files and sessions.
#[derive(Debug)]
pub struct Cell(Mutex<Arc<Handler>>);

impl Default for Cell {
    fn default() -> Self {
        Cell::new(initial())
    }
}

impl Cell {
    pub fn new(handler: Arc<Handler>) -> Cell {
        Cell(Mutex::new(handler))
    }
    /// A cell with the same handler, for an object made from this one's.
    pub fn inherit(&self) -> Cell {
        Cell::new(self.get())
    }
    pub fn get(&self) -> Arc<Handler> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
    pub fn set(&self, handler: Arc<Handler>) {
        let old = std::mem::replace(&mut *self.0.lock().unwrap_or_else(|e| e.into_inner()), handler);
        drop(old);
    }
}

oxmpi_base::control! {
    /// The initial error handler (MPI-5.0 9.3): of MPI_COMM_WORLD and MPI_COMM_SELF until the program sets others, and of errors before
    /// MPI_Init and after MPI_Finalize. The same as `mpirun --initial-errhandler`; a program reads it as mpi_initial_errhandler of MPI_INFO_ENV.
    pub static INITIAL: Choice = Choice::new("initial_errhandler", 0, &INITIAL_NAMES);
}

const INITIAL_NAMES: [&str; 3] = ["mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"];

/// The initial error handler (9.3, 11.8.4 `mpi_initial_errhandler`): of the communicators that exist at
/// initialisation, and of errors while there are none.
pub fn initial() -> Arc<Handler> {
    // What is wrong there is the error of MPI_Init.
    let _ = crate::config::load();
    predefined([MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN][INITIAL.get()])
}

/// Its name.
pub fn initial_name() -> &'static str {
    INITIAL_NAMES[INITIAL.get()]
}

/// The handler of a window.
fn window(h: handle::Win) -> Result<&'static Cell> {
    bail!(MPI_ERR_WIN, "{} is not a window of this process", h.raw())
}

/// The handler of a file; of MPI_FILE_NULL, that of errors on no open file and of files that are opened from now on.
fn file(h: handle::File) -> Result<&'static Cell> {
    static DEFAULT: LazyLock<Cell> = LazyLock::new(|| Cell::new(predefined(MPI_ERRORS_RETURN)));
    if h == MPI_FILE_NULL {
        return Ok(&DEFAULT);
    }
    bail!(MPI_ERR_FILE, "{} is not an open file of this process", h.raw())
}

fn create(kind: Kind, f: FnPtr, out: Out<handle::Errhandler>) -> Result<()> {
    if f.0 == 0 {
        bail!(MPI_ERR_ARG, "the error handler function is a null pointer");
    }
    if out.is_null() {
        return out.set(MPI_ERRHANDLER_NULL);
    }
    let handler = Arc::new(Handler { action: Action::Call(kind, f), handle: Mutex::new((0, 0)) });
    out.set(reference(&handler)?)
}

/// A handle for a handler; the program has to free it once more than before.
pub fn reference(handler: &Arc<Handler>) -> Result<handle::Errhandler> {
    let mut h = handler.handle();
    if h.1 == 0 {
        h.0 = HANDLERS.insert(handler.clone())?.raw();
    }
    h.1 += 1;
    Ok(handle::Errhandler(h.0))
}

// ---- raising ----

/// What an error happened on; the `abi` crate finds it among the arguments. It fits two registers: every entry point has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrObject {
    Comm(handle::Comm),
    Win(handle::Win),
    File(handle::File),
    Session(handle::Session),
    Request(handle::Request),
    /// The handler that a communicator is being made with.
    NewComm(handle::Errhandler),
    /// The handler that a session is being made with.
    NewSession(handle::Errhandler),
    None,
}

/// Ends these processes, or all of the job.
type AbortHook = fn(code: i32, procs: Option<&[u32]>) -> !;
type RequestHook = fn(handle::Request) -> Option<handle::Comm>;

static ABORT: OnceLock<AbortHook> = OnceLock::new();
static REQUEST: OnceLock<RequestHook> = OnceLock::new();

/// How to end the process, or the whole job, with an exit code that is never 0. Without a hook the
/// process exits.
pub fn set_abort_hook(f: AbortHook) {
    let _only_the_first_counts = ABORT.set(f);
}

/// How to find the communicator of a request.
pub fn set_request_hook(f: RequestHook) {
    let _only_the_first_counts = REQUEST.set(f);
}

static RANK_KNOWN: AtomicBool = AtomicBool::new(false);

/// Whether `group::my_proc` is the rank to show in messages: true between initialisation and exit.
pub fn set_rank_known(yes: bool) {
    RANK_KNOWN.store(yes, Relaxed);
}

static RAISED: AtomicU64 = AtomicU64::new(0);

/// How many errors this process has handed to error handlers.
pub fn raised() -> u64 {
    RAISED.load(Relaxed)
}

/// Reports `e` to the error handler of `obj`. Returns the code that the MPI procedure returns to the
/// program, if it returns.
#[cold]
#[inline(never)]
pub fn raise(obj: ErrObject, e: Error) -> i32 {
    RAISED.fetch_add(1, Relaxed);
    if ERROR_RAISED.wanted() {
        ERROR_RAISED.happened([e.class as u32 as u64, 0, 0, 0]);
        crate::tool::deliver();
    }
    let (handler, kind, raw) = resolve(e.comm.map_or(obj, ErrObject::Comm));
    invoke(&handler, kind, raw, &e);
    e.class
}

/// The handler for an object, and what a user's function is told.
fn resolve(obj: ErrObject) -> (Arc<Handler>, Kind, usize) {
    let obj = match obj {
        ErrObject::Request(r) => REQUEST.get().and_then(|f| f(r)).map_or(ErrObject::None, ErrObject::Comm),
        other => other,
    };
    match obj {
        ErrObject::Comm(h) => {
            if let Ok(c) = comm::get(h) {
                return (c.errhandler.get(), Kind::Comm, h.raw());
            }
        }
        ErrObject::Session(h) => {
            if let Ok(s) = session::get(h) {
                return (s.errhandler.get(), Kind::Session, h.raw());
            }
        }
        ErrObject::NewComm(h) => {
            if let Ok(handler) = get_for(Kind::Comm, h) {
                return (handler, Kind::Comm, MPI_COMM_NULL.raw());
            }
        }
        ErrObject::NewSession(h) => {
            if let Ok(handler) = get_for(Kind::Session, h) {
                return (handler, Kind::Session, MPI_SESSION_NULL.raw());
            }
        }
        ErrObject::File(h) => {
            let cell = file(h).or_else(|_| file(MPI_FILE_NULL));
            return (cell.map_or_else(|_| predefined(MPI_ERRORS_RETURN), Cell::get), Kind::File, h.raw());
        }
        ErrObject::Win(h) => {
            if let Ok(cell) = window(h) {
                return (cell.get(), Kind::Win, h.raw());
            }
        }
        _ => {}
    }
    match comm::get(MPI_COMM_SELF) {
        Ok(c) if crate::world::phase() == crate::world::Phase::Running => {
            (c.errhandler.get(), Kind::Comm, MPI_COMM_SELF.raw())
        }
        _ => (initial(), Kind::Comm, MPI_COMM_NULL.raw()),
    }
}

/// Does what the handler says about `e` on the object with this kind and handle value.
fn invoke(handler: &Handler, kind: Kind, raw: usize, e: &Error) {
    match handler.action {
        Action::Return => {}
        Action::Fatal => fatal(e, None),
        Action::Abort => fatal(e, Some(&processes(kind, raw))),
        Action::Call(of, f) if of == kind => {
            callback::errhandler(f, raw, e.class);
        }
        Action::Call(..) => fatal(e, None), // not reachable: attaching checks the kind
    }
}

/// The processes that MPI_ERRORS_ABORT ends: those of the communicator, of both groups where it has two; on a session, this process
/// alone (9.3).
fn processes(kind: Kind, raw: usize) -> Vec<u32> {
    match (kind, comm::get(handle::Comm(raw))) {
        (Kind::Comm, Ok(c)) => {
            let remote = c.remote.iter().flat_map(|r| r.group.procs());
            c.group.procs().chain(remote).collect()
        }
        _ => vec![group::my_proc()],
    }
}

/// Who says it: `rank 3 (pid 4711 on node0)`.
pub fn who() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "an unknown host" } else { host.trim() };
    let pid = std::process::id();
    if RANK_KNOWN.load(Relaxed) {
        format!("rank {} (pid {pid} on {host})", group::my_proc())
    } else {
        format!("pid {pid} on {host}, without a rank")
    }
}

fn fatal(e: &Error, procs: Option<&[u32]>) -> ! {
    let scope = match procs {
        None => "MPI_ERRORS_ARE_FATAL ends the job; MPI_ERRORS_RETURN would return the code".to_owned(),
        Some([p]) if *p == group::my_proc() => {
            "MPI_ERRORS_ABORT ends this process alone; MPI_ERRORS_RETURN would return the code".to_owned()
        }
        Some(all) => {
            let n = all.len();
            format!(
                "MPI_ERRORS_ABORT ends the {n} processes of this communicator; MPI_ERRORS_RETURN would return the code"
            )
        }
    };
    // One write, so that the blocks of several ranks do not mix.
    let block = format!("oxmpi: {}: {}: {}\noxmpi: {scope}\n", who(), code_name(e.class), e.message);
    let _stderr_may_be_closed = std::io::Write::write_all(&mut std::io::stderr(), block.as_bytes());
    let code = if e.class & 0xff == 0 { 1 } else { e.class };
    match ABORT.get() {
        Some(f) => f(code, procs),
        None => std::process::exit(code),
    }
}

// ---- the procedures ----

pub fn comm_create_errhandler(comm_errhandler_fn: FnPtr, errhandler: Out<handle::Errhandler>) -> Result<()> {
    create(Kind::Comm, comm_errhandler_fn, errhandler)
}

pub fn win_create_errhandler(win_errhandler_fn: FnPtr, errhandler: Out<handle::Errhandler>) -> Result<()> {
    create(Kind::Win, win_errhandler_fn, errhandler)
}

pub fn file_create_errhandler(file_errhandler_fn: FnPtr, errhandler: Out<handle::Errhandler>) -> Result<()> {
    create(Kind::File, file_errhandler_fn, errhandler)
}

pub fn session_create_errhandler(session_errhandler_fn: FnPtr, errhandler: Out<handle::Errhandler>) -> Result<()> {
    create(Kind::Session, session_errhandler_fn, errhandler)
}

/// The handler itself lives on in the objects that use it. Predefined handlers may be "freed" too, since
/// MPI_X_get_errhandler returns them like any other.
pub fn errhandler_free(errhandler: Out<handle::Errhandler>) -> Result<()> {
    let h = errhandler.get()?;
    let handler = get(h)?;
    if !is_predefined(h) {
        let mut slot = handler.handle();
        if slot.1 <= 1 {
            HANDLERS.remove(h)?;
            *slot = (0, 0);
        } else {
            slot.1 -= 1;
        }
    }
    errhandler.set(MPI_ERRHANDLER_NULL)
}

pub fn comm_set_errhandler(comm: handle::Comm, errhandler: handle::Errhandler) -> Result<()> {
    let c = comm::get(comm)?;
    c.errhandler.set(get_for(Kind::Comm, errhandler)?);
    Ok(())
}

pub fn comm_get_errhandler(comm: handle::Comm, errhandler: Out<handle::Errhandler>) -> Result<()> {
    get_of(&comm::get(comm)?.errhandler, errhandler)
}

/// MPI_SUCCESS once the handler has been called and has returned.
pub fn comm_call_errhandler(comm: handle::Comm, errorcode: i32) -> Result<()> {
    let c = comm::get(comm)?;
    call(&c.errhandler, comm, errorcode)
}

pub fn session_set_errhandler(session: handle::Session, errhandler: handle::Errhandler) -> Result<()> {
    let s = session::get(session)?;
    s.errhandler.set(get_for(Kind::Session, errhandler)?);
    Ok(())
}

pub fn session_get_errhandler(session: handle::Session, errhandler: Out<handle::Errhandler>) -> Result<()> {
    let s = session::get(session)?;
    errhandler.set(MPI_ERRHANDLER_NULL)?;
    errhandler.set(reference(&s.errhandler.get())?)
}

pub fn session_call_errhandler(session: handle::Session, errorcode: i32) -> Result<()> {
    let s = session::get(session)?;
    call(&s.errhandler, session, errorcode)
}

fn get_of(cell: &Cell, errhandler: Out<handle::Errhandler>) -> Result<()> {
    if errhandler.is_null() {
        return errhandler.set(MPI_ERRHANDLER_NULL);
    }
    errhandler.set(reference(&cell.get())?)
}

pub fn win_set_errhandler(win: handle::Win, errhandler: handle::Errhandler) -> Result<()> {
    window(win)?.set(get_for(Kind::Win, errhandler)?);
    Ok(())
}

pub fn win_get_errhandler(win: handle::Win, errhandler: Out<handle::Errhandler>) -> Result<()> {
    get_of(window(win)?, errhandler)
}

pub fn win_call_errhandler(win: handle::Win, errorcode: i32) -> Result<()> {
    call(window(win)?, win, errorcode)
}

pub fn file_set_errhandler(fh: handle::File, errhandler: handle::Errhandler) -> Result<()> {
    file(fh)?.set(get_for(Kind::File, errhandler)?);
    Ok(())
}

pub fn file_get_errhandler(fh: handle::File, errhandler: Out<handle::Errhandler>) -> Result<()> {
    get_of(file(fh)?, errhandler)
}

pub fn file_call_errhandler(fh: handle::File, errorcode: i32) -> Result<()> {
    call(file(fh)?, fh, errorcode)
}

/// For `MPI_X_call_errhandler` of any object.
pub fn call<H: Handle>(cell: &Cell, object: H, errorcode: i32) -> Result<()> {
    let e = Error::new(errorcode, "raised by the program through MPI_X_call_errhandler");
    let handler = cell.get();
    invoke(&handler, H::KIND, object.raw(), &e);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::c_int;
    use std::sync::atomic::{AtomicI32, AtomicUsize};

    fn out<T: Copy>(v: &mut T) -> Out<T> {
        // SAFETY: a live local.
        unsafe { Out::new(v) }
    }

    static SEEN: (AtomicUsize, AtomicI32) = (AtomicUsize::new(0), AtomicI32::new(0));

    extern "C" fn note(object: *mut usize, code: *mut c_int) {
        // SAFETY: the library passes two live pointers.
        unsafe {
            SEEN.0.store(*object, Relaxed);
            SEEN.1.store(*code, Relaxed);
        }
    }

    #[test]
    fn a_handler_outlives_its_handle() {
        let mut h = MPI_ERRHANDLER_NULL;
        comm_create_errhandler(FnPtr(note as *const () as usize), out(&mut h)).unwrap();
        let made = h;
        let cell = Cell::new(get_for(Kind::Comm, h).unwrap());
        assert_eq!(reference(&cell.get()).unwrap(), made);
        errhandler_free(out(&mut h)).unwrap();
        assert_eq!(h, MPI_ERRHANDLER_NULL);
        h = made; // one reference is left
        errhandler_free(out(&mut h)).unwrap();
        h = made;
        assert_eq!(errhandler_free(out(&mut h)).unwrap_err().class, MPI_ERR_ERRHANDLER);

        call(&cell, handle::Comm(0x1234), MPI_ERR_TRUNCATE).unwrap();
        assert_eq!((SEEN.0.load(Relaxed), SEEN.1.load(Relaxed)), (0x1234, MPI_ERR_TRUNCATE));
        let again = reference(&cell.get()).unwrap();
        assert_ne!(again, made);
        assert_eq!(get(again).unwrap().action(), cell.get().action());
    }

    #[test]
    fn predefined_handlers() {
        let cell = Cell::new(get(MPI_ERRORS_RETURN).unwrap());
        let mut h = reference(&cell.inherit().get()).unwrap();
        assert_eq!(h, MPI_ERRORS_RETURN);
        errhandler_free(out(&mut h)).unwrap();
        assert_eq!(h, MPI_ERRHANDLER_NULL);
        assert!(get(MPI_ERRORS_RETURN).is_ok());
        call(&cell, MPI_COMM_WORLD, MPI_ERR_OTHER).unwrap();
        assert_eq!(errhandler_free(out(&mut h)).unwrap_err().class, MPI_ERR_ERRHANDLER);
    }

    #[test]
    fn kinds_do_not_mix() {
        let mut h = MPI_ERRHANDLER_NULL;
        win_create_errhandler(FnPtr(note as *const () as usize), out(&mut h)).unwrap();
        let e = get_for(Kind::Comm, h).unwrap_err();
        assert_eq!(e.class, MPI_ERR_ERRHANDLER);
        assert!(e.message.contains("MPI_Win"), "{e}");
        assert_eq!(comm_create_errhandler(FnPtr(0), out(&mut h)).unwrap_err().class, MPI_ERR_ARG);
    }

    #[test]
    fn files_return_by_default() {
        assert_eq!(raise(ErrObject::File(MPI_FILE_NULL), Error::new(MPI_ERR_FILE, "x")), MPI_ERR_FILE);
    }

    /// Runs in a process of its own: see the next test.
    #[test]
    #[ignore = "ends its process"]
    fn child_of_the_next_test() {
        raise(ErrObject::None, Error::new(MPI_ERR_RANK, "rank 9 is not there"));
    }

    #[test]
    fn fatal_says_why_and_exits_with_the_class() {
        let me = std::env::current_exe().unwrap();
        let args = ["--exact", "errhan::tests::child_of_the_next_test", "--ignored", "--nocapture"];
        let child = std::process::Command::new(me).args(args).output().unwrap();
        let text = String::from_utf8_lossy(&child.stderr);
        assert_eq!(child.status.code(), Some(MPI_ERR_RANK), "{text}");
        assert!(text.contains("MPI_ERR_RANK: rank 9 is not there"), "{text}");
        assert!(text.contains("pid "), "{text}");
    }
}
