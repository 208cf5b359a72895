//! Datatype objects (MPI-5.0 chapter 5): handles, dimensions, names. Constructors are in `build`, pack and
//! unpack in `pack`; type maps and the moving of bytes are the `oxmpi-datatype` crate's.
//!
//! Invariants: predefined types are found without a pin and are always committed; whoever holds a
//! `Datatype` keeps the type alive when its handle is freed, so pending operations are safe (5.1.9).
//!
//! Known gaps: none.

mod build;
mod pack;

pub use build::*;
pub use pack::*;

use crate::attr::AttrSet;
use crate::check;
use crate::table::{Ref, Table};
use oxmpi_base::args::{Out, OutCount, OutStr, Str};
use oxmpi_base::consts::*;
use oxmpi_base::handle::Handle;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_datatype::{Datatype, all_predefined, predefined_name};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// What a datatype handle names.
pub struct TypeObj {
    pub dt: Datatype,
    pub attrs: AttrSet,
    name: Mutex<Vec<u8>>,
}

/// A borrowed datatype object.
pub type TypeRef = Ref<'static, handle::Datatype, TypeObj>;

impl TypeObj {
    fn new(dt: Datatype, name: &str) -> TypeObj {
        TypeObj { dt, attrs: AttrSet::new(), name: Mutex::new(name.into()) }
    }
    fn name(&self) -> MutexGuard<'_, Vec<u8>> {
        self.name.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// The name the program gave, and what the type is.
    pub fn describe(&self) -> String {
        let name = self.name().clone();
        match self.dt.predefined_handle() {
            None if !name.is_empty() => format!("'{}', {}", String::from_utf8_lossy(&name), self.dt),
            _ => self.dt.to_string(),
        }
    }
}

/// Bytes of the named predefined types without gaps; 0 for others, and for all before the first look into the table.
static PLAIN: [AtomicU8; 256] = [const { AtomicU8::new(0) }; 256];

/// Where PLAIN keeps this handle, if it is a predefined one.
#[inline(always)]
fn plain_place(h: handle::Datatype) -> Option<usize> {
    Some(h.raw().wrapping_sub(MPI_DATATYPE_NULL.raw())).filter(|i| *i < PLAIN.len())
}

/// The size of a named predefined type without gaps, where that is known without looking it up.
#[inline(always)]
pub(crate) fn plain_size(h: handle::Datatype) -> Option<usize> {
    match PLAIN[plain_place(h)?].load(Relaxed) {
        0 => None,
        size => Some(size as usize),
    }
}

static TYPES: LazyLock<Table<handle::Datatype, TypeObj>> = LazyLock::new(|| {
    let t = Table::new();
    for dt in all_predefined() {
        let Some(h) = dt.predefined_handle() else { continue };
        if let (Some(0), Ok(size), Some(place)) = (dt.dense(), u8::try_from(dt.size()), plain_place(h)) {
            PLAIN[place].store(size, Relaxed);
        }
        t.bind(h, Arc::new(TypeObj::new(dt.clone(), predefined_name(h).unwrap_or_default())));
    }
    t
});

/// The datatype of a handle, or MPI_ERR_TYPE with the reason.
#[inline]
pub fn get(h: handle::Datatype) -> Result<TypeRef> {
    TYPES.get(h)
}

/// As [`get`], for communication: the type has to be committed (5.1.9).
#[inline]
pub fn get_committed(h: handle::Datatype) -> Result<TypeRef> {
    let t = TYPES.get(h)?;
    if t.dt.committed() || !check::on() { Ok(t) } else { Err(not_committed(&t)) }
}

#[cold]
fn not_committed(t: &TypeObj) -> Error {
    Error::new(MPI_ERR_TYPE, format!("the datatype ({}) is not committed; call MPI_Type_commit first", t.describe()))
}

/// Calls `f` with a handle of `t`: `h` if it still names it, else another for as long as the call lasts.
pub(crate) fn with_handle<R>(
    t: &Arc<TypeObj>,
    h: handle::Datatype,
    f: impl FnOnce(handle::Datatype) -> Result<R>,
) -> Result<R> {
    if get(h).is_ok_and(|r| std::ptr::eq(&*r, &**t)) {
        return f(h);
    }
    let other = TYPES.insert(t.clone())?;
    let r = f(other);
    TYPES.remove(other)?;
    r
}

/// MPI_BYTE.
pub fn byte() -> &'static Datatype {
    Datatype::predefined(MPI_BYTE).expect("MPI_BYTE is predefined")
}

/// Handles of the predefined types without a name: one for each, for the life of the process.
static UNNAMED: Mutex<Vec<(Datatype, handle::Datatype)>> = Mutex::new(Vec::new());

/// A new handle for a type, or the handle of a predefined one.
pub fn insert(dt: Datatype) -> Result<handle::Datatype> {
    if let Some(h) = dt.predefined_handle() {
        return Ok(h);
    }
    if !dt.is_predefined() {
        return TYPES.insert(Arc::new(TypeObj::new(dt, "")));
    }
    let mut unnamed = UNNAMED.lock().unwrap_or_else(|e| e.into_inner());
    if let Some((_, h)) = unnamed.iter().find(|(t, _)| t.same(&dt)) {
        return Ok(*h);
    }
    let h = TYPES.insert(Arc::new(TypeObj::new(dt.clone(), "")))?;
    unnamed.push((dt, h));
    Ok(h)
}

/// Makes a type and stores its handle.
fn give(out: Out<handle::Datatype>, make: impl FnOnce() -> Result<Datatype>) -> Result<()> {
    if out.is_null() {
        return out.set(MPI_DATATYPE_NULL);
    }
    out.set(insert(make()?)?)
}

// ---- the procedures: life of a datatype ----

pub fn type_commit(datatype: Out<handle::Datatype>) -> Result<()> {
    get(datatype.get()?)?.dt.commit();
    Ok(())
}

/// Attributes are copied as their callbacks say, the name is not.
pub fn type_dup(oldtype: handle::Datatype, newtype: Out<handle::Datatype>) -> Result<()> {
    let old = get(oldtype)?;
    if newtype.is_null() {
        return newtype.set(MPI_DATATYPE_NULL);
    }
    let new = Arc::new(TypeObj::new(old.dt.dup(), ""));
    let h = TYPES.insert(new.clone())?;
    if let Err(e) = old.attrs.copy_all(oldtype, &new.attrs) {
        let _the_first_error_counts = new.attrs.delete_all(h);
        TYPES.remove(h)?;
        return Err(e);
    }
    newtype.set(h)
}

pub fn type_free(datatype: Out<handle::Datatype>) -> Result<()> {
    let h = datatype.get()?;
    let t = get(h)?;
    if t.dt.is_predefined() {
        bail!(MPI_ERR_TYPE, "{} is predefined and cannot be freed", t.dt);
    }
    t.attrs.delete_all(h)?;
    drop(t);
    TYPES.remove(h)?;
    datatype.set(MPI_DATATYPE_NULL)
}

// ---- the procedures: dimensions; a result that does not fit an int is MPI_UNDEFINED ----

pub fn type_size(datatype: handle::Datatype, size: OutCount, _large: bool) -> Result<()> {
    size.set(get(datatype)?.dt.size() as i64)
}

pub fn type_size_x(datatype: handle::Datatype, size: Out<i64>) -> Result<()> {
    type_size(datatype, OutCount::Wide(size), true)
}

pub fn type_get_extent(datatype: handle::Datatype, lb: OutCount, extent: OutCount, _large: bool) -> Result<()> {
    let t = get(datatype)?;
    lb.set(t.dt.lb() as i64)?;
    extent.set(t.dt.extent() as i64)
}

pub fn type_get_extent_x(datatype: handle::Datatype, lb: Out<i64>, extent: Out<i64>) -> Result<()> {
    type_get_extent(datatype, OutCount::Wide(lb), OutCount::Wide(extent), true)
}

pub fn type_get_true_extent(
    datatype: handle::Datatype,
    true_lb: OutCount,
    true_extent: OutCount,
    _large: bool,
) -> Result<()> {
    let t = get(datatype)?;
    true_lb.set(t.dt.true_lb() as i64)?;
    true_extent.set(t.dt.true_extent() as i64)
}

pub fn type_get_true_extent_x(datatype: handle::Datatype, true_lb: Out<i64>, true_extent: Out<i64>) -> Result<()> {
    type_get_true_extent(datatype, OutCount::Wide(true_lb), OutCount::Wide(true_extent), true)
}

// ---- the procedures: names (7.8) ----

/// What does not fit MPI_MAX_OBJECT_NAME is cut off.
pub fn type_set_name(datatype: handle::Datatype, type_name: Str) -> Result<()> {
    let t = get(datatype)?;
    let name = type_name.get()?.to_bytes();
    *t.name() = name[..name.len().min(MPI_MAX_OBJECT_NAME as usize - 1)].to_vec();
    Ok(())
}

pub fn type_get_name(datatype: handle::Datatype, type_name: OutStr, resultlen: Out<i32>) -> Result<()> {
    if datatype == MPI_DATATYPE_NULL {
        return resultlen.set(type_name.write(b"MPI_DATATYPE_NULL", MPI_MAX_OBJECT_NAME as usize)? as i32);
    }
    let t = get(datatype)?;
    let n = type_name.write(&t.name(), MPI_MAX_OBJECT_NAME as usize)?;
    resultlen.set(n as i32)
}

#[cfg(test)]
mod tests;
