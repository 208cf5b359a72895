//! Attribute caching (MPI-5.0 7.7, 9.1.2; deprecated forms 16.1).
//!
//! One machinery for communicators, datatypes and windows: an object embeds an [`AttrSet`], a keyval is a
//! number in one registry. Invariants: callbacks run without any lock held; an attribute keeps its keyval
//! alive, so a freed keyval still works for the attributes that use it and for nothing else; keyval
//! numbers are never given out twice.
//!
//! Who calls a callback claims the attribute before, under the lock: one that is being deleted is not deleted again nor copied, and one that
//! is being copied is not deleted. Other threads wait until it is let go. A thread that is in such a callback itself never waits, or two
//! could wait for each other: for it, what is being deleted is gone, and what is being copied can be deleted.
//!
//! Attributes are copied in the order they were set and deleted in the reverse order (which 11.2.4 asks
//! for at MPI_Finalize).
//!
//! Known gaps: window attributes wait for windows (their keyvals exist); values are pointers, integers
//! that Fortran caches are for the Fortran bindings to box.

use crate::world::WORLD_MODEL;
use crate::{callback, comm, datatype, errhan};
use oxmpi_base::args::{Buf, FnPtr, Out};
use oxmpi_base::consts::*;
use oxmpi_base::handle::{Handle, Kind};
use oxmpi_base::{Error, Result, bail, handle};
use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock};

/// A key under which attributes can be cached, with its callbacks.
#[derive(Debug)]
pub struct Keyval {
    id: i32,
    kind: Kind,
    copy: FnPtr,
    delete: FnPtr,
    extra: usize,
}

struct Registry {
    live: HashMap<i32, Arc<Keyval>>,
    last: i32,
}

/// Numbers below are the standard's (MPI_TAG_UB, MPI_WIN_BASE, ...).
const FIRST_DYNAMIC: i32 = 1 << 16;

static KEYVALS: RwLock<Option<Registry>> = RwLock::new(None);

fn create_keyval(kind: Kind, copy: FnPtr, delete: FnPtr, keyval: Out<i32>, extra: usize) -> Result<()> {
    if keyval.is_null() {
        return keyval.set(MPI_KEYVAL_INVALID);
    }
    let mut guard = KEYVALS.write().unwrap_or_else(|e| e.into_inner());
    let registry = guard.get_or_insert_with(|| Registry { live: HashMap::new(), last: FIRST_DYNAMIC });
    let Some(id) = registry.last.checked_add(1) else {
        bail!(MPI_ERR_NO_MEM, "all numbers for keyvals have been given out");
    };
    registry.last = id;
    registry.live.insert(id, Arc::new(Keyval { id, kind, copy, delete, extra }));
    keyval.set(id)
}

fn free_keyval(kind: Kind, keyval: Out<i32>) -> Result<()> {
    let id = find(kind, keyval.get()?)?.id;
    if let Some(r) = KEYVALS.write().unwrap_or_else(|e| e.into_inner()).as_mut() {
        r.live.remove(&id);
    }
    keyval.set(MPI_KEYVAL_INVALID)
}

/// The live keyval of a number, for objects of a kind.
fn find(kind: Kind, id: i32) -> Result<Arc<Keyval>> {
    let guard = KEYVALS.read().unwrap_or_else(|e| e.into_inner());
    let last = guard.as_ref().map_or(FIRST_DYNAMIC, |r| r.last);
    let text = match guard.as_ref().and_then(|r| r.live.get(&id)) {
        Some(k) if k.kind == kind => return Ok(k.clone()),
        Some(k) => format!("keyval {id} is for {} objects; this is an {}", k.kind.c_name(), kind.c_name()),
        None if id == MPI_KEYVAL_INVALID => "the keyval is MPI_KEYVAL_INVALID".into(),
        None if predefined_name(id).is_some() => {
            format!("{} is predefined: it can be read, not changed or freed", predefined_name(id).unwrap_or_default())
        }
        None if id > FIRST_DYNAMIC && id <= last => format!("keyval {id} has been freed"),
        None => format!("{id} is not a keyval"),
    };
    Err(Error::new(MPI_ERR_KEYVAL, text))
}

fn predefined_name(id: i32) -> Option<&'static str> {
    Some(match id {
        MPI_TAG_UB => "MPI_TAG_UB",
        MPI_IO => "MPI_IO",
        MPI_HOST => "MPI_HOST",
        MPI_WTIME_IS_GLOBAL => "MPI_WTIME_IS_GLOBAL",
        MPI_APPNUM => "MPI_APPNUM",
        MPI_LASTUSEDCODE => "MPI_LASTUSEDCODE",
        MPI_UNIVERSE_SIZE => "MPI_UNIVERSE_SIZE",
        MPI_WIN_BASE => "MPI_WIN_BASE",
        MPI_WIN_DISP_UNIT => "MPI_WIN_DISP_UNIT",
        MPI_WIN_SIZE => "MPI_WIN_SIZE",
        MPI_WIN_CREATE_FLAVOR => "MPI_WIN_CREATE_FLAVOR",
        MPI_WIN_MODEL => "MPI_WIN_MODEL",
        _ => return None,
    })
}

#[derive(Debug, Clone)]
struct Entry {
    keyval: Arc<Keyval>,
    value: usize,
    /// Tells it from all others that this object ever had.
    stamp: u64,
    /// Its delete callback is running.
    deleted: bool,
    /// How many copy callbacks are running.
    copied: u32,
}

#[derive(Debug, Default)]
struct Entries {
    /// In the order in which they were set. Of one keyval there is at most one that is not being deleted.
    all: Vec<Entry>,
    /// The stamp given out last.
    last: u64,
}

impl Entries {
    fn push(&mut self, keyval: Arc<Keyval>, value: usize) {
        self.last += 1;
        self.all.push(Entry { keyval, value, stamp: self.last, deleted: false, copied: 0 });
    }
    fn at(&self, stamp: u64) -> Option<usize> {
        self.all.iter().position(|e| e.stamp == stamp)
    }
    /// That of a keyval that is not being deleted.
    fn whole(&self, id: i32) -> Option<usize> {
        self.all.iter().position(|e| e.keyval.id == id && !e.deleted)
    }
}

thread_local! {
    /// How many attribute callbacks this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Runs a callback.
fn inside<R>(callback: impl FnOnce() -> R) -> R {
    DEPTH.set(DEPTH.get() + 1);
    let r = callback();
    DEPTH.set(DEPTH.get() - 1);
    r
}

/// The attributes of one object.
#[derive(Debug, Default)]
pub struct AttrSet {
    entries: Mutex<Entries>,
    /// Some attribute was let go.
    free: Condvar,
}

impl AttrSet {
    pub const fn new() -> AttrSet {
        AttrSet { entries: Mutex::new(Entries { all: Vec::new(), last: 0 }), free: Condvar::new() }
    }
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Locks once no other thread has claimed an attribute that is `meant`.
    fn settled(&self, meant: impl Fn(&Entry) -> bool) -> MutexGuard<'_, Entries> {
        let waits = |e: &mut Entries| DEPTH.get() == 0 && e.all.iter().any(|e| (e.deleted || e.copied > 0) && meant(e));
        self.free.wait_while(self.entries(), waits).unwrap_or_else(|e| e.into_inner())
    }
    /// The attribute's value; MPI_ERR_KEYVAL where `id` is no keyval for objects of this kind. One that is being deleted still has its value.
    pub fn get(&self, kind: Kind, id: i32) -> Result<Option<usize>> {
        // The newest: the one that is being deleted may have a successor.
        let found = self.entries().all.iter().rev().find(|e| e.keyval.id == id).map(|e| e.value);
        match found {
            Some(value) => Ok(Some(value)),
            None => find(kind, id).map(|_| None),
        }
    }
    /// Sets an attribute of `object`; an old value is deleted first, with its callback.
    pub fn set<H: Handle>(&self, object: H, id: i32, value: usize) -> Result<()> {
        // Kept from the attribute that was there, since the keyval may be freed.
        let mut keyval = None;
        loop {
            let mut entries = self.settled(|e| e.keyval.id == id);
            let Some(at) = entries.whole(id) else {
                let keyval = match keyval {
                    Some(k) => k,
                    None => find(H::KIND, id)?,
                };
                entries.push(keyval, value);
                return Ok(());
            };
            keyval = Some(entries.all[at].keyval.clone());
            // The callback, or another thread, may set it again before we do.
            self.remove(entries, at, object.raw())?;
        }
    }
    /// Deletes an attribute of `object`. One that is not there is fine if the keyval is.
    pub fn delete<H: Handle>(&self, object: H, id: i32) -> Result<()> {
        let entries = self.settled(|e| e.keyval.id == id);
        match entries.whole(id) {
            Some(at) => self.remove(entries, at, object.raw()),
            None => find(H::KIND, id).map(drop),
        }
    }
    /// Takes this attribute out once its delete callback agrees.
    fn remove(&self, mut entries: MutexGuard<'_, Entries>, at: usize, object: usize) -> Result<()> {
        entries.all[at].deleted = true;
        let e = entries.all[at].clone();
        drop(entries);
        let done = inside(|| call_delete(&e, object));
        let mut entries = self.entries();
        if let Some(at) = entries.at(e.stamp) {
            // It stays where the callback failed, unless the callback itself has set another.
            if done.is_err() && entries.whole(e.keyval.id).is_none() {
                entries.all[at].deleted = false;
            } else {
                entries.all.remove(at);
            }
        }
        drop(entries);
        self.free.notify_all();
        done
    }
    /// Fills `new`, the attributes of a duplicate, as the copy callbacks say. The first callback that fails
    /// ends it; what was copied until then stays in `new` for the caller to [`delete_all`](Self::delete_all).
    pub fn copy_all<H: Handle>(&self, object: H, new: &AttrSet) -> Result<()> {
        let mut entries = self.settled(|e| e.deleted);
        entries.all.iter_mut().filter(|e| !e.deleted).for_each(|e| e.copied += 1);
        let all: Vec<Entry> = entries.all.iter().filter(|e| !e.deleted).cloned().collect();
        drop(entries);
        if all.is_empty() {
            return Ok(());
        }
        let done = all.iter().try_for_each(|e| {
            let k = &e.keyval;
            let copied = match k.copy.0 {
                MPI_COMM_NULL_COPY_FN => None,
                MPI_COMM_DUP_FN => Some(e.value),
                _ => inside(|| callback::copy_attr(k.copy, object.raw(), k.id, k.extra, e.value))
                    .map_err(|code| callback_error("copy", code, k.id))?,
            };
            if let Some(value) = copied {
                new.entries().push(k.clone(), value);
            }
            Ok(())
        });
        let mut entries = self.entries();
        for e in &all {
            if let Some(at) = entries.at(e.stamp) {
                entries.all[at].copied -= 1;
            }
        }
        drop(entries);
        self.free.notify_all();
        done
    }
    /// Deletes all attributes of `object`, last set first. The first callback that fails ends it.
    pub fn delete_all<H: Handle>(&self, object: H) -> Result<()> {
        loop {
            let entries = self.settled(|_| true);
            let Some(at) = entries.all.iter().rposition(|e| !e.deleted) else { return Ok(()) };
            self.remove(entries, at, object.raw())?;
        }
    }
}

fn call_delete(e: &Entry, object: usize) -> Result<()> {
    let k = &e.keyval;
    if k.delete.0 == MPI_COMM_NULL_DELETE_FN {
        return Ok(());
    }
    match callback::delete_attr(k.delete, object, k.id, e.value, k.extra) {
        MPI_SUCCESS => Ok(()),
        code => Err(callback_error("delete", code, k.id)),
    }
}

/// The call fails with the code that the callback returned.
fn callback_error(which: &str, code: i32, id: i32) -> Error {
    Error::new(code, format!("the {which} callback of keyval {id} returned {code}"))
}

// ---- predefined attributes of communicators (9.1.2) ----

static TAG_UB: AtomicI32 = AtomicI32::new(i32::MAX);
static IO: AtomicI32 = AtomicI32::new(MPI_ANY_SOURCE);
static HOST: AtomicI32 = AtomicI32::new(MPI_PROC_NULL);
static WTIME_IS_GLOBAL: AtomicI32 = AtomicI32::new(0);
/// MPI_UNDEFINED: not set, `flag` is false.
static APPNUM: AtomicI32 = AtomicI32::new(MPI_UNDEFINED);
static UNIVERSE_SIZE: AtomicI32 = AtomicI32::new(MPI_UNDEFINED);

fn predefined(id: i32) -> Option<&'static AtomicI32> {
    Some(match id {
        MPI_TAG_UB => &TAG_UB,
        MPI_IO => &IO,
        MPI_HOST => &HOST,
        MPI_WTIME_IS_GLOBAL => &WTIME_IS_GLOBAL,
        MPI_APPNUM => &APPNUM,
        MPI_UNIVERSE_SIZE => &UNIVERSE_SIZE,
        MPI_LASTUSEDCODE => errhan::last_used_code(),
        _ => return None,
    })
}

/// Sets the value of a predefined attribute at initialisation; MPI_UNDEFINED leaves MPI_APPNUM or
/// MPI_UNIVERSE_SIZE without a value. Panics for what is not a predefined attribute of communicators.
pub fn set_predefined(id: i32, value: i32) {
    predefined(id).expect("a predefined communicator attribute").store(value, Relaxed);
}

/// The value of a predefined attribute of communicators.
pub fn predefined_value(id: i32) -> Option<i32> {
    predefined(id).map(|a| a.load(Relaxed))
}

/// What C gets is the address of an `int`, for ever the same one.
fn predefined_pointer(id: i32) -> Option<Option<usize>> {
    let a = predefined(id)?;
    let unset = matches!(id, MPI_APPNUM | MPI_UNIVERSE_SIZE) && a.load(Relaxed) == MPI_UNDEFINED;
    Some((!unset).then_some(a.as_ptr() as usize))
}

/// Stores what a `get_attr` procedure found.
pub fn answer(found: Option<usize>, attribute_val: Buf, flag: Out<i32>) -> Result<()> {
    flag.set(found.is_some() as i32)?;
    match found {
        Some(value) => callback::store_pointer(attribute_val, value),
        None => Ok(()),
    }
}

// ---- the procedures: communicators ----

pub fn comm_create_keyval(
    comm_copy_attr_fn: FnPtr,
    comm_delete_attr_fn: FnPtr,
    comm_keyval: Out<i32>,
    extra_state: usize,
) -> Result<()> {
    create_keyval(Kind::Comm, comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state)
}

pub fn comm_free_keyval(comm_keyval: Out<i32>) -> Result<()> {
    free_keyval(Kind::Comm, comm_keyval)
}

pub fn comm_set_attr(comm: handle::Comm, comm_keyval: i32, attribute_val: usize) -> Result<()> {
    comm::get(comm)?.attrs.set(comm, comm_keyval, attribute_val)
}

/// Predefined attributes are seen on every communicator; on those that are derived from a session it is MPI_TAG_UB alone (9.1.2).
pub fn comm_get_attr(comm: handle::Comm, comm_keyval: i32, attribute_val: Buf, flag: Out<i32>) -> Result<()> {
    let c = comm::get(comm)?;
    let found = match predefined_pointer(comm_keyval) {
        Some(_) if c.group.origin() != WORLD_MODEL && comm_keyval != MPI_TAG_UB => None,
        Some(found) => found,
        None => c.attrs.get(Kind::Comm, comm_keyval)?,
    };
    answer(found, attribute_val, flag)
}

pub fn comm_delete_attr(comm: handle::Comm, comm_keyval: i32) -> Result<()> {
    comm::get(comm)?.attrs.delete(comm, comm_keyval)
}

pub fn keyval_create(copy_fn: FnPtr, delete_fn: FnPtr, keyval: Out<i32>, extra_state: usize) -> Result<()> {
    comm_create_keyval(copy_fn, delete_fn, keyval, extra_state)
}

pub fn keyval_free(keyval: Out<i32>) -> Result<()> {
    comm_free_keyval(keyval)
}

pub fn attr_put(comm: handle::Comm, keyval: i32, attribute_val: usize) -> Result<()> {
    comm_set_attr(comm, keyval, attribute_val)
}

pub fn attr_get(comm: handle::Comm, keyval: i32, attribute_val: Buf, flag: Out<i32>) -> Result<()> {
    comm_get_attr(comm, keyval, attribute_val, flag)
}

pub fn attr_delete(comm: handle::Comm, keyval: i32) -> Result<()> {
    comm_delete_attr(comm, keyval)
}

// ---- the procedures: datatypes ----

pub fn type_create_keyval(
    type_copy_attr_fn: FnPtr,
    type_delete_attr_fn: FnPtr,
    type_keyval: Out<i32>,
    extra_state: usize,
) -> Result<()> {
    create_keyval(Kind::Datatype, type_copy_attr_fn, type_delete_attr_fn, type_keyval, extra_state)
}

pub fn type_free_keyval(type_keyval: Out<i32>) -> Result<()> {
    free_keyval(Kind::Datatype, type_keyval)
}

pub fn type_set_attr(datatype: handle::Datatype, type_keyval: i32, attribute_val: usize) -> Result<()> {
    datatype::get(datatype)?.attrs.set(datatype, type_keyval, attribute_val)
}

pub fn type_get_attr(datatype: handle::Datatype, type_keyval: i32, attribute_val: Buf, flag: Out<i32>) -> Result<()> {
    let found = datatype::get(datatype)?.attrs.get(Kind::Datatype, type_keyval)?;
    answer(found, attribute_val, flag)
}

pub fn type_delete_attr(datatype: handle::Datatype, type_keyval: i32) -> Result<()> {
    datatype::get(datatype)?.attrs.delete(datatype, type_keyval)
}

// ---- the procedures: windows ----

pub fn win_create_keyval(
    win_copy_attr_fn: FnPtr,
    win_delete_attr_fn: FnPtr,
    win_keyval: Out<i32>,
    extra_state: usize,
) -> Result<()> {
    create_keyval(Kind::Win, win_copy_attr_fn, win_delete_attr_fn, win_keyval, extra_state)
}

pub fn win_free_keyval(win_keyval: Out<i32>) -> Result<()> {
    free_keyval(Kind::Win, win_keyval)
}

#[cfg(test)]
#[path = "attr_tests.rs"]
mod tests;
