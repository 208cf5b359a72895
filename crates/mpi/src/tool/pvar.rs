//! Performance variables (MPI-5.0 15.3.7): sessions, and handles that count from a beginning of their own.
//!
//! A counter is stopped and 0 when its handle is made; it can be started, stopped, reset and written, for this handle alone.
//! Levels and texts are continuous and read-only. Numbers are MPI_UNSIGNED_LONG_LONG; a text is an MPI_CHAR string, cut to the
//! room that handle_alloc told; a state is an MPI_INT with an enumeration. Variables of communicators are bound to them.
use super::*;
use crate::measures;
use oxmpi_base::args::Buf;
use oxmpi_base::handle::Datatype;
use oxmpi_base::measure::{Measure, Reading};
use std::collections::BTreeMap;

/// How much longer than now a text may become while a handle to it exists.
const TEXT_GROWTH: usize = 4096;

type Handles = BTreeMap<usize, Handle>;

static SESSIONS: Mutex<BTreeMap<usize, Handles>> = Mutex::new(BTreeMap::new());

struct Handle {
    measure: &'static Measure,
    /// The communicator, where it is bound to one.
    object: usize,
    /// Elements: numbers, or bytes of a text with its zero byte.
    count: usize,
    /// What was counted up to the last stop, for counters.
    kept: Vec<u64>,
    /// What the library's counters were at the last start; None while stopped.
    base: Option<Vec<u64>>,
}

enum Now {
    Numbers(Vec<u64>),
    State(usize),
    Text(String),
}

fn now(measure: &Measure, object: usize) -> Result<Now> {
    let now = match measure.reading {
        Reading::Numbers(read) => read().map(|n| Now::Numbers(n.as_slice().to_vec())),
        Reading::OfComm(read) => read(object).map(|n| Now::Numbers(n.as_slice().to_vec())),
        Reading::State(read, _) => Some(Now::State(read())),
        Reading::Text(read) => read().map(Now::Text),
    };
    now.ok_or_else(|| error(MPI_T_ERR_NOT_ACCESSIBLE))
}

impl Handle {
    fn new(measure: &'static Measure, object: usize) -> Result<Handle> {
        let count = match now(measure, object)? {
            Now::Numbers(n) => n.len(),
            Now::State(_) => 1,
            Now::Text(t) => t.len() + 1 + TEXT_GROWTH,
        };
        Ok(Handle { measure, object, count, kept: vec![0; count * usize::from(measure.is_counter())], base: None })
    }

    /// The library's numbers, as many as the handle shows.
    fn numbers(&self) -> Result<Vec<u64>> {
        match now(self.measure, self.object)? {
            Now::Numbers(mut n) => {
                n.resize(self.count, 0);
                Ok(n)
            }
            Now::State(_) | Now::Text(_) => Err(error(MPI_T_ERR_INVALID)),
        }
    }

    fn start(&mut self) -> Result<()> {
        if self.base.is_none() {
            self.base = Some(self.numbers()?);
            if self.measure.watched {
                measures::watch(true);
            }
        }
        Ok(())
    }

    fn end(&mut self) {
        if self.base.take().is_some() && self.measure.watched {
            measures::watch(false);
        }
    }

    fn stop(&mut self) -> Result<()> {
        self.kept = self.counted(&self.numbers()?);
        self.end();
        Ok(())
    }

    /// What the handle shows when the library's counters are `now`.
    fn counted(&self, now: &[u64]) -> Vec<u64> {
        let Some(base) = &self.base else { return self.kept.clone() };
        let all = self.kept.iter().zip(now.iter().zip(base));
        all.map(|(k, (n, b))| k.wrapping_add(n.wrapping_sub(*b))).collect()
    }

    /// From here on the handle shows `kept` and what is added to it.
    fn begin_with(&mut self, kept: Vec<u64>, now: Vec<u64>) {
        self.kept = kept;
        if self.base.is_some() {
            self.base = Some(now);
        }
    }

    fn reset(&mut self) -> Result<()> {
        let now = self.numbers()?;
        self.begin_with(vec![0; self.count], now);
        Ok(())
    }

    fn read(&self, buf: Buf) -> Result<()> {
        match now(self.measure, self.object)? {
            Now::State(n) => crate::callback::store_bytes(buf, &(n as i32).to_ne_bytes())?,
            Now::Numbers(mut n) => {
                n.resize(self.count, 0);
                store(buf, &if self.measure.is_counter() { self.counted(&n) } else { n });
            }
            Now::Text(text) => {
                let most = text.len().min(self.count - 1);
                let cut = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                // SAFETY: the buffer has the `count` bytes that handle_alloc told, and `cut` is below it.
                unsafe {
                    std::ptr::copy_nonoverlapping(text.as_ptr(), buf.as_mut_ptr(), cut);
                    buf.as_mut_ptr().add(cut).write(0);
                }
            }
        }
        Ok(())
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.end();
    }
}

/// `numbers` are as many as the handle's count.
fn store(buf: Buf, numbers: &[u64]) {
    for (i, n) in numbers.iter().enumerate() {
        // SAFETY: the buffer has as many elements as handle_alloc told, which is how long `numbers` is.
        unsafe { buf.as_mut_ptr().cast::<u64>().add(i).write_unaligned(*n) };
    }
}

/// Runs `f` on the handles of a session.
fn session<R>(pe_session: usize, f: impl FnOnce(&mut Handles) -> Result<R>) -> Result<R> {
    ready()?;
    f(lock(&SESSIONS).get_mut(&pe_session).ok_or_else(|| error(MPI_T_ERR_INVALID_SESSION))?)
}

/// Runs `f` on one handle of a session.
fn one<R>(pe_session: usize, handle: usize, f: impl FnOnce(&mut Handle) -> Result<R>) -> Result<R> {
    session(pe_session, |all| f(all.get_mut(&handle).ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))?))
}

/// Runs `f` on one counter, or on all counters of a session, and gives the first error; what is not a counter is `refusal`, or left out.
fn counters(pe_session: usize, handle: usize, refusal: i32, f: impl Fn(&mut Handle) -> Result<()>) -> Result<()> {
    if handle == MPI_T_PVAR_ALL_HANDLES {
        // One that is bound to a communicator that was freed does not keep the others from it.
        let all =
            |all: &mut Handles| all.values_mut().filter(|h| h.measure.is_counter()).map(f).fold(Ok(()), Result::and);
        return session(pe_session, all);
    }
    one(pe_session, handle, |h| if h.measure.is_counter() { f(h) } else { Err(error(refusal)) })
}

/// The communicator whose handle is at this address, where this thread may look at communicators.
fn comm_at(obj_handle: Buf) -> Result<usize> {
    let mut raw = [0; size_of::<usize>()];
    crate::callback::load_bytes(obj_handle, &mut raw).map_err(|_| error(MPI_T_ERR_INVALID))?;
    let raw = usize::from_ne_bytes(raw);
    if !crate::world::can_look() {
        return Err(error(MPI_T_ERR_NOT_ACCESSIBLE));
    }
    crate::comm::get(oxmpi_base::handle::Comm(raw)).map_err(|_| error(MPI_T_ERR_INVALID))?;
    Ok(raw)
}

/// Forgets all sessions.
pub(super) fn clear() {
    lock(&SESSIONS).clear();
}

fn not_null(buf: Buf) -> Result<()> {
    if buf.addr() == 0 { Err(error(MPI_T_ERR_INVALID)) } else { Ok(()) }
}

pub fn t_pvar_get_num(num_pvar: Out<i32>) -> Result<()> {
    ready()?;
    give(num_pvar, measures::all().count() as i32)
}

#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn t_pvar_get_info(
    pvar_index: i32,
    name: OutStr,
    name_len: Out<i32>,
    verbosity: Out<i32>,
    var_class: Out<i32>,
    datatype: Out<Datatype>,
    enumtype: Out<usize>,
    desc: OutStr,
    desc_len: Out<i32>,
    bind: Out<i32>,
    readonly: Out<i32>,
    continuous: Out<i32>,
    atomic: Out<i32>,
) -> Result<()> {
    ready()?;
    let m = index(measures::all(), pvar_index)?;
    give_string(name, name_len, m.name)?;
    put(verbosity, m.verbosity);
    put(var_class, m.class);
    let (kind, object) = match m.reading {
        Reading::Text(_) => (MPI_CHAR, MPI_T_BIND_NO_OBJECT),
        Reading::State(..) => (MPI_INT, MPI_T_BIND_NO_OBJECT),
        Reading::OfComm(_) => (MPI_UNSIGNED_LONG_LONG, MPI_T_BIND_MPI_COMM),
        Reading::Numbers(_) => (MPI_UNSIGNED_LONG_LONG, MPI_T_BIND_NO_OBJECT),
    };
    put(datatype, kind);
    put(enumtype, enumeration::of_measure(pvar_index as usize, m));
    give_string(desc, desc_len, m.help())?;
    put(bind, object);
    put(readonly, !m.is_counter() as i32);
    put(continuous, !m.is_counter() as i32);
    put(atomic, m.is_counter() as i32);
    Ok(())
}

pub fn t_pvar_get_index(name: Str, var_class: i32, pvar_index: Out<i32>) -> Result<()> {
    ready()?;
    let name = name_of(name)?;
    give(pvar_index, place(measures::all().position(|m| m.name == name && m.class == var_class))?)
}

pub fn t_pvar_session_create(pe_session: Out<usize>) -> Result<()> {
    ready()?;
    let s = new_handle();
    give(pe_session, s)?;
    lock(&SESSIONS).insert(s, Handles::new());
    Ok(())
}

/// Frees the handles of the session too.
pub fn t_pvar_session_free(pe_session: Out<usize>) -> Result<()> {
    ready()?;
    lock(&SESSIONS).remove(&held(pe_session)?).ok_or_else(|| error(MPI_T_ERR_INVALID_SESSION))?;
    give(pe_session, MPI_T_PVAR_SESSION_NULL)
}

pub fn t_pvar_handle_alloc(
    pe_session: usize,
    pvar_index: i32,
    obj_handle: Buf,
    handle: Out<usize>,
    count: Out<i32>,
) -> Result<()> {
    session(pe_session, |all| {
        let measure = index(measures::all(), pvar_index)?;
        let object = if matches!(measure.reading, Reading::OfComm(_)) { comm_at(obj_handle)? } else { 0 };
        let new = Handle::new(measure, object)?;
        let h = new_handle();
        give(handle, h)?;
        put(count, new.count as i32);
        all.insert(h, new);
        Ok(())
    })
}

pub fn t_pvar_handle_free(pe_session: usize, handle: Out<usize>) -> Result<()> {
    session(pe_session, |all| {
        all.remove(&held(handle)?).ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))?;
        give(handle, MPI_T_PVAR_HANDLE_NULL)
    })
}

/// With MPI_T_PVAR_ALL_HANDLES, continuous and started variables are left as they are.
pub fn t_pvar_start(pe_session: usize, handle: usize) -> Result<()> {
    counters(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, Handle::start)
}

pub fn t_pvar_stop(pe_session: usize, handle: usize) -> Result<()> {
    counters(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, Handle::stop)
}

pub fn t_pvar_read(pe_session: usize, handle: usize, buf: Buf) -> Result<()> {
    one(pe_session, handle, |h| not_null(buf).and_then(|()| h.read(buf)))
}

pub fn t_pvar_write(pe_session: usize, handle: usize, buf: Buf) -> Result<()> {
    one(pe_session, handle, |h| {
        if !h.measure.is_counter() {
            return Err(error(MPI_T_ERR_PVAR_NO_WRITE));
        }
        not_null(buf)?;
        // SAFETY: the buffer has as many elements as handle_alloc told.
        let element = |i| unsafe { buf.as_ptr().cast::<u64>().add(i).read_unaligned() };
        let now = h.numbers()?;
        h.begin_with((0..h.count).map(element).collect(), now);
        Ok(())
    })
}

/// With MPI_T_PVAR_ALL_HANDLES, read-only variables are left as they are.
pub fn t_pvar_reset(pe_session: usize, handle: usize) -> Result<()> {
    counters(pe_session, handle, MPI_T_ERR_PVAR_NO_WRITE, Handle::reset)
}

/// One look at the library's counters serves both: nothing that is counted meanwhile is lost.
pub fn t_pvar_readreset(pe_session: usize, handle: usize, buf: Buf) -> Result<()> {
    one(pe_session, handle, |h| {
        if !h.measure.is_counter() {
            return Err(error(MPI_T_ERR_PVAR_NO_ATOMIC));
        }
        not_null(buf)?;
        let now = h.numbers()?;
        store(buf, &h.counted(&now));
        h.begin_with(vec![0; h.count], now);
        Ok(())
    })
}
