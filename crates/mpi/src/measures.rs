//! All performance variables, and those of the chapters themselves.
use crate::world;
use oxmpi_base::measure::{Measure, Numbers};
use oxmpi_pt2pt::Engine;

/// The measures of each part, in the order of [`PARTS`](crate::config::PARTS). A crate that declares some is added here.
pub static MEASURES: &[&[&Measure]] = &[OWN, NODE, POINT_TO_POINT, &[]];

pub fn all() -> impl Iterator<Item = &'static Measure> {
    MEASURES.iter().flat_map(|g| g.iter().copied())
}

static OWN: &[&Measure] = &[&CONFIGURATION, &ERRORS, &COMMUNICATORS, &GROUPS, &INFOS];

oxmpi_base::measure! {
    /// The control variables that are not at their defaults, a line each, with where the value came from.
    static CONFIGURATION: Measure = Measure::text("configuration", || Some(crate::config::changed()));
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
        assert_eq!(MEASURES.len(), crate::config::PARTS.len());
    }
}
