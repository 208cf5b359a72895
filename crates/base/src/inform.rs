//! `OXMPI_INFO=TOPIC,...` (the control variable `info`): what the library tells about itself while it runs.
//!
//! A part of the library asks [`wanted`] before it does work for a topic, and tells through [`say`]. Tables that are
//! printed at MPI_Finalize are listed in `mpi::inform`.
use crate::config::Variable;

crate::control! {
    /// Topics about which every rank prints a report on standard error at MPI_Finalize, by commas; 'help' lists the
    /// topics at MPI_Init.
    static INFO: Set = Set::new("info", NAMES).verbosity(crate::consts::MPI_T_VERBOSITY_USER_BASIC);
}

pub static VARIABLES: &[&Variable] = &[INFO.variable()];

/// What a report can be about; the place is the one in [`TOPICS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Topic {
    Help,
    Config,
    Shm,
}

const NAMES: &[&str] = &["help", "config", "shm"];

/// Each topic with what it is about.
pub const TOPICS: [(Topic, &str); 3] = [
    (Topic::Help, "this list"),
    (Topic::Config, "control variables that are not at their defaults (rank 0 alone)"),
    (Topic::Shm, "what carries messages to each process of this node, by size, and why nothing better does"),
];

impl Topic {
    pub fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// Whether the user asked for this topic.
#[inline]
pub fn wanted(topic: Topic) -> bool {
    INFO.get() >> topic as u64 & 1 == 1
}

/// Prints `text` on standard error in one write, each line after `oxmpi: rank R: TOPIC: `.
pub fn say(topic: Topic, rank: usize, text: &str) {
    use std::io::Write;
    let line = |l: &str| format!("oxmpi: rank {rank}: {}: {l}\n", topic.name());
    let block: String = text.lines().map(line).collect();
    let _stderr_may_be_closed = std::io::stderr().write_all(block.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;

    #[test]
    fn topics_are_what_their_names_say() {
        for (place, (topic, _)) in TOPICS.iter().enumerate() {
            assert_eq!((*topic as usize, topic.name()), (place, NAMES[place]));
        }
        assert_eq!(TOPICS.len(), NAMES.len());
        assert!(!wanted(Topic::Shm));
        let v = INFO.variable();
        v.set(v.parse("shm").unwrap(), Source::Environment);
        assert!(wanted(Topic::Shm) && !wanted(Topic::Config));
        v.set(v.default(), Source::Default);
    }
}
