//! One node: a segment of shared memory with a control block per rank and a ring per ordered pair.
//!
//! The segment is one sparse memfd that the launcher makes and every rank inherits; rings are mapped when a pair first
//! talks. Known gaps: one segment per job (dynamic processes will bring more), no device memory yet.
pub mod attach;
pub mod choice;
pub mod heap;
pub mod layout;
pub mod link;
pub mod node;
pub mod segment;
pub mod single;

/// The event types of this crate.
pub static EVENTS: &[&oxmpi_base::event::Event] = &[&single::MECHANISM_CLOSED];

/// The control variables of this crate.
pub static VARIABLES: &[&oxmpi_base::config::Variable] = &[
    single::SINGLE_COPY.variable(),
    single::SINGLE_COPY_MIN.variable(),
    choice::COOPERATIVE_MIN.variable(),
    choice::CHOICE.variable(),
];
