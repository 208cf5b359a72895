//! All performance variables, and those of the chapters themselves.
use crate::comm::Comm;
use crate::world;
use oxmpi_base::event::Event;
use oxmpi_base::handle;
use oxmpi_base::measure::{Measure, Numbers};
use oxmpi_pt2pt::Engine;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The measures of each part, in the order of [`PARTS`](crate::config::PARTS). A crate that declares some is added here.
pub static MEASURES: &[&[&Measure]] =
    &[OWN, NODE, POINT_TO_POINT, COLLECTIVE, oxmpi_pt2pt::PATHS, QUEUES, oxmpi_pt2pt::WAITING, oxmpi_coll::MEASURES];

/// The event types of each part, likewise.
pub static EVENTS: &[&[&Event]] =
    &[OWN_EVENTS, oxmpi_transport_shm::EVENTS, oxmpi_pt2pt::EVENTS, oxmpi_coll::EVENTS, &[], &[], &[], &[]];

pub fn events() -> impl Iterator<Item = &'static Event> {
    EVENTS.iter().flat_map(|g| g.iter().copied())
}

static OWN_EVENTS: &[&Event] = &[&ERROR_RAISED];

oxmpi_base::event! {
    /// An error of an MPI procedure is handed to an error handler: its class, or the program's own code.
    pub(crate) static ERROR_RAISED: Event = Event::new("error_raised", &[("code", Kind::Int)]);
}

/// Handles that are started and whose counters count only then.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// One more or one less of them.
pub fn watch(on: bool) {
    match on {
        true => WATCHERS.fetch_add(1, SeqCst),
        false => WATCHERS.fetch_sub(1, SeqCst),
    };
    tell_engine();
}

/// At MPI_Init, and when the number of watchers has changed.
pub fn tell_engine() {
    if let Some(w) = world::any_world() {
        w.engine.watch(WATCHERS.load(SeqCst) > 0);
    }
}

pub fn all() -> impl Iterator<Item = &'static Measure> {
    MEASURES.iter().flat_map(|g| g.iter().copied())
}

static OWN: &[&Measure] = &[&CONFIGURATION, &PHASE, &ERRORS, &COMMUNICATORS, &GROUPS, &INFOS];

oxmpi_base::measure! {
    /// The control variables that are not at their defaults, a line each, with where the value came from.
    static CONFIGURATION: Measure = Measure::text("configuration", || Some(crate::config::changed()));
}
oxmpi_base::measure! {
    /// Where this process is between MPI_Init and MPI_Finalize.
    static PHASE: Measure = Measure::state("phase", &["before", "running", "after"], || world::phase() as usize);
}
oxmpi_base::measure! {
    /// Errors of MPI procedures that were handed to an error handler.
    static ERRORS: Measure = Measure::counter("errors_raised", || Some(Numbers::One(crate::errhan::raised())));
}
oxmpi_base::measure! {
    /// Communicators that the program has made and not freed.
    static COMMUNICATORS: Measure = Measure::level("live_communicators", || live(crate::comm::table().live()));
}
oxmpi_base::measure! {
    /// Groups that the program has made and not freed.
    static GROUPS: Measure = Measure::level("live_groups", || live(crate::group::table().live()));
}
oxmpi_base::measure! {
    /// Info objects that the program has made and not freed.
    static INFOS: Measure = Measure::level("live_infos", || live(crate::info::live()));
}

fn live(n: usize) -> Option<Numbers> {
    Some(Numbers::One(n as u64))
}

static NODE: &[&Measure] = &[&SHM_PEERS];
static POINT_TO_POINT: &[&Measure] = &[&PENDING];
static COLLECTIVE: &[&Measure] = &[&SHARED_ROUNDS, &SHARED_BYTES];
static QUEUES: &[&Measure] = &[
    &POSTED,
    &POSTED_MOST,
    &HELD,
    &HELD_MOST,
    &POSTED_OF_COMM,
    &HELD_OF_COMM,
    oxmpi_pt2pt::QUEUES[0],
    oxmpi_pt2pt::QUEUES[1],
];

/// The communicator of a handle value, while it exists; None also where this thread must not look: below MPI_THREAD_MULTIPLE
/// the pins of a communicator are counted by one thread alone.
fn with_comm<R>(raw: usize, f: impl FnOnce(&Comm) -> Option<R>) -> Option<R> {
    if !world::can_look() {
        return None;
    }
    f(&*crate::comm::get(handle::Comm(raw)).ok()?)
}

oxmpi_base::measure! {
    /// Rounds that a communicator's collective operations have made through shared memory; 0 while they go by messages.
    static SHARED_ROUNDS: Measure = Measure::counter_of_comm("coll_shared_rounds", |c| shared(c, 0));
}
oxmpi_base::measure! {
    /// Bytes that this process has put into shared buffers for a communicator's collective operations; what fits a slot (48 bytes) needs none.
    static SHARED_BYTES: Measure = Measure::aggregate_of_comm("coll_shared_bytes", |c| shared(c, 1));
}

fn shared(comm: usize, which: usize) -> Option<Numbers> {
    with_comm(comm, |c| Some(Numbers::One(c.endpoint.shared_counts().unwrap_or_default()[which])))
}

oxmpi_base::measure! {
    /// Receives that wait for their message; those of collective operations count too.
    static POSTED: Measure = Measure::level("posted_receives", || with_engine(|e| Numbers::One(e.queues().posted)));
}
oxmpi_base::measure! {
    /// The most receives that have waited at a time since MPI_Init; of several lanes, the sum of each one's most.
    static POSTED_MOST: Measure =
        Measure::high_water("posted_receives_most", || with_engine(|e| Numbers::One(e.queues().posted_most)));
}
oxmpi_base::measure! {
    /// Messages that came before their receive and wait for it.
    static HELD: Measure = Measure::level("unexpected_queue", || with_engine(|e| Numbers::One(e.queues().held)));
}
oxmpi_base::measure! {
    /// The most messages that have waited at a time since MPI_Init; of several lanes, the sum of each one's most.
    static HELD_MOST: Measure =
        Measure::high_water("unexpected_queue_most", || with_engine(|e| Numbers::One(e.queues().held_most)));
}
oxmpi_base::measure! {
    /// Receives of a communicator that wait for their message; its collective operations do not count.
    static POSTED_OF_COMM: Measure = Measure::level_of_comm("comm_posted_receives", |c| queue_of(c, |q| q.posted));
}
oxmpi_base::measure! {
    /// Messages of a communicator that came before their receive and wait for it; its collective operations do not count.
    static HELD_OF_COMM: Measure = Measure::level_of_comm("comm_unexpected_queue", |c| queue_of(c, |q| q.held));
}

fn queue_of(comm: usize, f: impl FnOnce(oxmpi_pt2pt::Queues) -> u64) -> Option<Numbers> {
    with_comm(comm, |c| with_engine(|e| Numbers::One(f(e.queues_of(c.ctx())))))
}

oxmpi_base::measure! {
    /// Operations that this process has begun and that are not complete; those of collectives count too.
    static PENDING: Measure = Measure::level("pending_operations", || {
        with_engine(|e| Numbers::One(e.pending() as u64))
    });
}

oxmpi_base::measure! {
    /// What carries messages to each process of this node, by size, and why nothing better does.
    static SHM_PEERS: Measure = Measure::text("shm_peers", || with_engine(|e| e.report()));
}

/// Runs `f` on the engine, for a measure that has to look at more than atomics; None while it must not. A tool may call from any
/// thread at any time, whatever thread level MPI has (MPI-5.0 15.3.4), and below MPI_THREAD_MULTIPLE the engine has no lock:
/// there only the main thread looks, and at MPI_THREAD_SERIALIZED, where another thread may be inside MPI, nobody.
pub fn with_engine<R>(f: impl FnOnce(&Engine) -> R) -> Option<R> {
    let w = world::world().ok()?;
    world::can_look().then(|| f(&w.engine))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_measure_is_documented_and_has_a_name_of_its_own() {
        let mut names = HashSet::new();
        for m in all() {
            assert!(m.help().ends_with('.') && m.help().len() > 20, "{}: help '{}'", m.name, m.help());
            assert!(names.insert(m.name), "{} is declared twice", m.name);
        }
        for e in events() {
            assert!(e.help().ends_with('.') && e.help().len() > 20, "{}: help '{}'", e.name, e.help());
            assert!(names.insert(e.name), "{} is declared twice", e.name);
        }
        assert_eq!(EVENTS.len(), crate::config::PARTS.len());
        assert_eq!(MEASURES.len(), crate::config::PARTS.len());
    }
}
