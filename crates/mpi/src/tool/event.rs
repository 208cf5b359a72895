//! Events and their source (MPI-5.0 15.3.8).
//!
//! Inside the library an event is only queued, with its time (`base::event`). The tools' functions are called from here: when a point-to-point
//! or MPI_T procedure begins and when an error has been raised (MPI_T_CB_REQUIRE_NONE: nothing is locked, so the function may do anything),
//! and now and then by a thread that waits or tests inside an MPI procedure (MPI_T_CB_REQUIRE_MPI_RESTRICTED). `world` sees that events
//! wait by the word that it looks at anyway.
//!
//! # Invariants
//! * One thread at a time calls tools' functions, without any lock of the library but the one that says so; events are told in the order in
//!   which they happened. A procedure that such a function calls delivers nothing.
//! * Of a registration's functions the one with the lowest level that the place requires is called. An event that has only functions of lower
//!   levels waits for a better place, and all that came after it wait too.
//! * An instance lives as long as the function that was given it runs.
use super::*;
use crate::measures::{EVENTS, events};
use crate::{callback, info};
use oxmpi_base::args::{Arr, Buf, FnPtr};
use oxmpi_base::event::{self, Event, Hooks, Kind, Record};
use oxmpi_base::handle::{Datatype, Info};
use std::collections::BTreeMap;

/// The levels in the order of what they require.
const LEVELS: [i32; 4] = [
    MPI_T_CB_REQUIRE_NONE,
    MPI_T_CB_REQUIRE_MPI_RESTRICTED,
    MPI_T_CB_REQUIRE_THREAD_SAFE,
    MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
];

/// The only source.
const SOURCE: i32 = 0;

#[derive(Clone, Copy)]
struct Callback {
    function: FnPtr,
    user_data: usize,
}

struct Registration {
    of: &'static Event,
    /// One for each of [`LEVELS`].
    callbacks: [Option<Callback>; LEVELS.len()],
    dropped: FnPtr,
}

impl Registration {
    /// The function for a place that requires the level at this index.
    fn callback(&self, place: usize) -> Option<Callback> {
        self.callbacks[place..].iter().flatten().next().copied()
    }
    fn has_any(&self) -> bool {
        self.callback(0).is_some()
    }
}

static REGISTRATIONS: Mutex<BTreeMap<usize, Registration>> = Mutex::new(BTreeMap::new());
/// Events that are being told now.
static INSTANCES: Mutex<BTreeMap<usize, Record>> = Mutex::new(BTreeMap::new());
/// Held by the thread that calls tools' functions.
static DELIVERING: Mutex<()> = Mutex::new(());

thread_local! {
    static DELIVERS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn same(a: &Event, b: &Event) -> bool {
    std::ptr::eq(a, b)
}

/// Whether some function is registered for an event type; what was queued for nobody is forgotten.
fn update(of: &'static Event, all: &BTreeMap<usize, Registration>) {
    let wanted = all.values().any(|r| same(r.of, of) && r.has_any());
    of.set_wanted(wanted);
    if !wanted {
        event::forget(of);
    }
}

/// No event type is wanted any more.
pub(super) fn clear() {
    let mut all = lock(&REGISTRATIONS);
    all.clear();
    events().for_each(|e| update(e, &all));
}

fn registration<R>(h: usize, f: impl FnOnce(&mut Registration) -> Result<R>) -> Result<R> {
    ready()?;
    f(lock(&REGISTRATIONS).get_mut(&h).ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))?)
}

fn place_of(cb_safety: i32) -> Result<usize> {
    LEVELS.iter().position(|l| *l == cb_safety).ok_or_else(|| error(MPI_T_ERR_INVALID))
}

/// Calls the tools' functions for what is queued. Only from where nothing is locked.
pub(crate) fn deliver() {
    deliver_at(0);
}

fn deliver_at(place: usize) {
    let Ok(_alone) = DELIVERING.try_lock() else {
        // Another thread may have looked at the queue for the last time. One that is here already is in a tool's function, and looks again.
        if !DELIVERS.get() {
            crate::world::attention();
        }
        return;
    };
    DELIVERS.set(true);
    // Whether all registrations of the type can be told here.
    let ready = |of: &Event| {
        let all = lock(&REGISTRATIONS);
        all.values().filter(|g| same(g.of, of) && g.has_any()).all(|g| g.callback(place).is_some())
    };
    while let Some(record) = event::next_if(|r| ready(r.of)) {
        tell(record.of, place, |registration, callback, _| {
            let instance = new_handle();
            lock(&INSTANCES).insert(instance, record);
            callback::event(callback.function, instance, registration, LEVELS[place], callback.user_data);
            lock(&INSTANCES).remove(&instance);
        });
    }
    for of in events().filter(|of| of.wanted() && ready(of)) {
        let n = of.take_dropped();
        if n == 0 {
            continue;
        }
        tell(of, place, |registration, callback, dropped| {
            if dropped.0 != 0 {
                callback::dropped(dropped, n as i64, registration, SOURCE, LEVELS[place], callback.user_data);
            }
        });
    }
    DELIVERS.set(false);
}

/// Runs `call` on the registrations of an event type that there are now. Each is looked up again before it, since functions that were called
/// meanwhile may have freed it.
fn tell(of: &Event, place: usize, call: impl Fn(usize, Callback, FnPtr)) {
    let of_type: Vec<usize> = {
        let all = lock(&REGISTRATIONS);
        all.iter().filter(|(_, g)| same(g.of, of)).map(|(h, _)| *h).collect()
    };
    for h in of_type {
        let now = lock(&REGISTRATIONS).get(&h).and_then(|g| Some((g.callback(place)?, g.dropped)));
        if let Some((callback, dropped)) = now {
            call(h, callback, dropped);
        }
    }
}

/// Waits until no function of a registration that is gone runs, but for the one that may be calling this.
pub(super) fn wait_for_functions() {
    if !DELIVERS.get() {
        drop(lock(&DELIVERING));
    }
}

/// What the queue calls; set when the first function is registered.
fn set_hooks() {
    event::set_hooks(Hooks { attention: crate::world::attention, waiting: || deliver_at(1) });
}

fn source(source_index: i32) -> Result<()> {
    ready()?;
    if source_index == SOURCE { Ok(()) } else { Err(error(MPI_T_ERR_INVALID_INDEX)) }
}

fn type_at(event_index: i32) -> Result<&'static Event> {
    ready()?;
    index(events(), event_index)
}

/// An info object without hints, which the caller frees.
fn no_hints(out: Out<Info>) -> Result<()> {
    if out.is_null() {
        return Ok(());
    }
    give(out, info::insert(info::Info::new()).map_err(|_| error(MPI_T_ERR_MEMORY))?)
}

/// Hints are allowed, and none is known.
fn hints(info: Info) -> Result<()> {
    info::optional(info).map(|_| ()).map_err(|_| error(MPI_T_ERR_INVALID))
}

pub fn t_source_get_num(num_sources: Out<i32>) -> Result<()> {
    ready()?;
    give(num_sources, 1)
}

#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn t_source_get_info(
    source_index: i32,
    name: OutStr,
    name_len: Out<i32>,
    desc: OutStr,
    desc_len: Out<i32>,
    ordering: Out<i32>,
    ticks_per_second: Out<i64>,
    max_ticks: Out<i64>,
    info: Out<Info>,
) -> Result<()> {
    source(source_index)?;
    give_string(name, name_len, "oxmpi")?;
    give_string(desc, desc_len, "The library in this process; the clock is CLOCK_MONOTONIC, as for MPI_Wtime")?;
    put(ordering, MPI_T_SOURCE_ORDERED);
    put(ticks_per_second, 1_000_000_000);
    put(max_ticks, i64::MAX);
    no_hints(info)
}

pub fn t_source_get_timestamp(source_index: i32, timestamp: Out<i64>) -> Result<()> {
    source(source_index)?;
    give(timestamp, oxmpi_sys::clock::nanos() as i64)
}

pub fn t_event_get_num(num_events: Out<i32>) -> Result<()> {
    ready()?;
    give(num_events, events().count() as i32)
}

fn datatype(kind: Kind) -> Datatype {
    match kind {
        Kind::Int => MPI_INT,
        Kind::Long => MPI_UNSIGNED_LONG_LONG,
    }
}

/// The items of the enumeration are the names of the elements.
#[allow(clippy::too_many_arguments)] // the standard's argument list
pub fn t_event_get_info(
    event_index: i32,
    name: OutStr,
    name_len: Out<i32>,
    verbosity: Out<i32>,
    array_of_datatypes: Arr<Datatype>,
    array_of_displacements: Arr<i64>,
    num_elements: Out<i32>,
    enumtype: Out<usize>,
    info: Out<Info>,
    desc: OutStr,
    desc_len: Out<i32>,
    bind: Out<i32>,
) -> Result<()> {
    let e = type_at(event_index)?;
    give_string(name, name_len, e.name)?;
    put(verbosity, e.verbosity);
    if !num_elements.is_null() {
        let room = usize::try_from(held(num_elements)?).map_err(|_| error(MPI_T_ERR_INVALID))?;
        for (i, (_, kind)) in e.elements.iter().enumerate().take(room) {
            if !array_of_datatypes.is_null() {
                array_of_datatypes.put(i, datatype(*kind));
            }
            if !array_of_displacements.is_null() {
                array_of_displacements.put(i, e.displacement(i) as i64);
            }
        }
        give(num_elements, e.elements.len() as i32)?;
    }
    put(enumtype, enumeration::of_event(event_index as usize));
    no_hints(info)?;
    give_string(desc, desc_len, e.help())?;
    put(bind, MPI_T_BIND_NO_OBJECT);
    Ok(())
}

pub fn t_event_get_index(name: Str, event_index: Out<i32>) -> Result<()> {
    ready()?;
    let name = name_of(name)?;
    give(event_index, place(events().position(|e| e.name == name))?)
}

pub fn t_event_handle_alloc(
    event_index: i32,
    _obj_handle: Buf,
    info: Info,
    event_registration: Out<usize>,
) -> Result<()> {
    let of = type_at(event_index)?;
    hints(info)?;
    let h = new_handle();
    give(event_registration, h)?;
    let new = Registration { of, callbacks: [None; LEVELS.len()], dropped: FnPtr(0) };
    lock(&REGISTRATIONS).insert(h, new);
    Ok(())
}

pub fn t_event_handle_set_info(event_registration: usize, info: Info) -> Result<()> {
    registration(event_registration, |_| hints(info))
}

pub fn t_event_handle_get_info(event_registration: usize, info_used: Out<Info>) -> Result<()> {
    registration(event_registration, |_| Ok(()))?;
    no_hints(info_used)
}

/// A null function takes the one of this level away.
pub fn t_event_register_callback(
    event_registration: usize,
    cb_safety: i32,
    info: Info,
    user_data: usize,
    event_cb_function: FnPtr,
) -> Result<()> {
    ready()?;
    let level = place_of(cb_safety)?;
    hints(info)?;
    set_hooks();
    let mut all = lock(&REGISTRATIONS);
    let r = all.get_mut(&event_registration).ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))?;
    r.callbacks[level] = (event_cb_function.0 != 0).then_some(Callback { function: event_cb_function, user_data });
    let of = r.of;
    update(of, &all);
    Ok(())
}

fn callback_at(event_registration: usize, cb_safety: i32) -> Result<()> {
    registration(event_registration, |r| {
        r.callbacks[place_of(cb_safety)?].map(|_| ()).ok_or_else(|| error(MPI_T_ERR_INVALID))
    })
}

pub fn t_event_callback_set_info(event_registration: usize, cb_safety: i32, info: Info) -> Result<()> {
    callback_at(event_registration, cb_safety)?;
    hints(info)
}

pub fn t_event_callback_get_info(event_registration: usize, cb_safety: i32, info_used: Out<Info>) -> Result<()> {
    callback_at(event_registration, cb_safety)?;
    no_hints(info_used)
}

/// No function of the registration runs any more when `free_cb_function` is called, but for the one that may be calling this.
pub fn t_event_handle_free(event_registration: usize, user_data: usize, free_cb_function: FnPtr) -> Result<()> {
    ready()?;
    let mut all = lock(&REGISTRATIONS);
    let old = all.remove(&event_registration).ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))?;
    update(old.of, &all);
    drop(all);
    wait_for_functions();
    if free_cb_function.0 != 0 {
        callback::event_free(free_cb_function, event_registration, MPI_T_CB_REQUIRE_NONE, user_data);
    }
    Ok(())
}

pub fn t_event_set_dropped_handler(event_registration: usize, dropped_cb_function: FnPtr) -> Result<()> {
    registration(event_registration, |r| {
        r.dropped = dropped_cb_function;
        Ok(())
    })
}

fn instance(h: usize) -> Result<Record> {
    ready()?;
    lock(&INSTANCES).get(&h).copied().ok_or_else(|| error(MPI_T_ERR_INVALID_HANDLE))
}

/// Writes an element as the value that C has for its kind.
fn store(record: &Record, element: usize, to: Buf, offset: usize) -> Result<()> {
    let at = Buf(to.0.wrapping_byte_add(offset));
    let value = record.values[element];
    match record.of.elements[element].1 {
        Kind::Int => callback::store_bytes(at, &(value as u32).to_ne_bytes()),
        Kind::Long => callback::store_bytes(at, &value.to_ne_bytes()),
    }
}

pub fn t_event_read(event_instance: usize, element_index: i32, buffer: Buf) -> Result<()> {
    let r = instance(event_instance)?;
    let i = index(0..r.of.elements.len(), element_index)?;
    if buffer.addr() == 0 {
        return Err(error(MPI_T_ERR_INVALID));
    }
    store(&r, i, buffer, 0)
}

pub fn t_event_copy(event_instance: usize, buffer: Buf) -> Result<()> {
    let r = instance(event_instance)?;
    if buffer.addr() == 0 {
        return Err(error(MPI_T_ERR_INVALID));
    }
    (0..r.of.elements.len()).try_for_each(|i| store(&r, i, buffer, r.of.displacement(i)))
}

pub fn t_event_get_timestamp(event_instance: usize, event_timestamp: Out<i64>) -> Result<()> {
    let r = instance(event_instance)?;
    give(event_timestamp, r.stamp as i64)
}

pub fn t_event_get_source(event_instance: usize, source_index: Out<i32>) -> Result<()> {
    instance(event_instance)?;
    give(source_index, SOURCE)
}

/// The names of an event type's elements.
pub(super) fn elements(event: usize) -> Option<(&'static str, Vec<&'static str>)> {
    let e = EVENTS.iter().flat_map(|g| g.iter()).nth(event)?;
    Some((e.name, e.elements.iter().map(|(name, _)| *name).collect()))
}
