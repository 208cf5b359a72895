//! Performance variables: what the library counts and shows through MPI_T.
//!
//! ```
//! oxmpi_base::measure! {
//!     /// Messages that went in one frame.
//!     pub static FRAMES: Measure = Measure::counter("demo_frames", || Some(Numbers::One(42)));
//! }
//! ```
//! A measure is a name, a description (the doc comment) and a function that gives numbers or a text. A crate lists its
//! own in a `pub static MEASURES`; `mpi::measures` puts those lists together.
//!
//! # Invariants
//! * The function may be called by any thread, at any time, before MPI_Init and after MPI_Finalize too: it reads
//!   atomics or takes a lock, never blocks on a peer, and never calls MPI. It gives `None` where there is nothing to
//!   read now; MPI_T then answers MPI_T_ERR_NOT_ACCESSIBLE.
//! * A counter only grows while the process lives. Starting, stopping and resetting are a matter of each handle, which
//!   remembers where it began; so two tools do not disturb each other.
//! * An array keeps its length while MPI runs: a handle shows as many elements as there were when it was made.
//! * What would cost something on a short path is counted only while a tool has started a handle ([`Measure::watched`]);
//!   `mpi::measures` tells the engine. A high-water mark is continuous and read-only: it is that of the whole run.
//!
//! MPI-5.0 15.3.7 (performance variables).
use crate::consts::*;

/// What a function of a measure gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Numbers {
    One(u64),
    Many(Vec<u64>),
}

impl Numbers {
    pub fn as_slice(&self) -> &[u64] {
        match self {
            Numbers::One(n) => std::slice::from_ref(n),
            Numbers::Many(all) => all,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Reading {
    Numbers(fn() -> Option<Numbers>),
    /// Of one communicator, by its handle value.
    OfComm(fn(usize) -> Option<Numbers>),
    /// One of these names, by its place.
    State(fn() -> usize, &'static [&'static str]),
    Text(fn() -> Option<String>),
}

#[derive(Debug)]
pub struct Measure {
    pub name: &'static str,
    help: &'static str,
    /// One of the MPI_T_PVAR_CLASS_ constants.
    pub class: i32,
    /// One of the MPI_T_VERBOSITY_ constants.
    pub verbosity: i32,
    pub reading: Reading,
    /// Counted only while a handle is started.
    pub watched: bool,
}

impl Measure {
    const fn new(name: &'static str, class: i32, reading: Reading) -> Measure {
        Measure { name, help: "", class, verbosity: MPI_T_VERBOSITY_USER_DETAIL, reading, watched: false }
    }
    /// How often something happened: it only grows.
    pub const fn counter(name: &'static str, read: fn() -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_COUNTER, Reading::Numbers(read))
    }
    /// A sum, of bytes as a rule: it only grows.
    pub const fn aggregate(name: &'static str, read: fn() -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_AGGREGATE, Reading::Numbers(read))
    }
    /// Nanoseconds: they only grow.
    pub const fn timer(name: &'static str, read: fn() -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_TIMER, Reading::Numbers(read))
    }
    /// The most of something that there has been.
    pub const fn high_water(name: &'static str, read: fn() -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_HIGHWATERMARK, Reading::Numbers(read))
    }
    /// In which of some states the library is.
    pub const fn state(name: &'static str, names: &'static [&'static str], read: fn() -> usize) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_STATE, Reading::State(read, names))
    }
    /// How much of something a communicator has now.
    pub const fn level_of_comm(name: &'static str, read: fn(usize) -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_LEVEL, Reading::OfComm(read))
    }
    /// How often something has happened on a communicator.
    pub const fn counter_of_comm(name: &'static str, read: fn(usize) -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_COUNTER, Reading::OfComm(read))
    }
    /// A sum over a communicator.
    pub const fn aggregate_of_comm(name: &'static str, read: fn(usize) -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_AGGREGATE, Reading::OfComm(read))
    }
    /// How much of something there is now.
    pub const fn level(name: &'static str, read: fn() -> Option<Numbers>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_LEVEL, Reading::Numbers(read))
    }
    /// A table or a sentence, for a person.
    pub const fn text(name: &'static str, read: fn() -> Option<String>) -> Measure {
        Self::new(name, MPI_T_PVAR_CLASS_GENERIC, Reading::Text(read))
    }
    /// Counts only while a handle is started.
    pub const fn watched(mut self) -> Measure {
        self.watched = true;
        self
    }
    pub const fn verbosity(mut self, level: i32) -> Measure {
        self.verbosity = level;
        self
    }
    #[doc(hidden)]
    pub const fn with_help(mut self, help: &'static str) -> Measure {
        self.help = help;
        self
    }
    pub fn help(&self) -> &'static str {
        self.help.trim()
    }
    /// Whether handles count from a beginning of their own, and can be started, stopped, reset and written.
    pub fn is_counter(&self) -> bool {
        [MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_AGGREGATE, MPI_T_PVAR_CLASS_TIMER].contains(&self.class)
    }
}

/// Declares a performance variable; see [`measure`](crate::measure). The doc comment is its description.
#[macro_export]
macro_rules! measure {
    ($(#[doc = $help:literal])+ $vis:vis static $id:ident: Measure = $new:expr;) => {
        $(#[doc = $help])+
        $vis static $id: $crate::measure::Measure = {
            #[allow(unused_imports)]
            use $crate::measure::{Measure, Numbers};
            $new.with_help(concat!($($help),+))
        };
    };
}
