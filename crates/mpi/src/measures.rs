//! All performance variables, and those of the chapters themselves.
use oxmpi_base::measure::Measure;

/// The measures of each part, in the order of [`PARTS`](crate::config::PARTS). A crate that declares some is added here.
pub static MEASURES: &[&[&Measure]] = &[OWN, &[], &[]];

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

fn live(n: usize) -> Option<oxmpi_base::measure::Numbers> {
    Some(oxmpi_base::measure::Numbers::One(n as u64))
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
