//! Every algorithm on threads of one process: all results against a sequential reference, gaps between
//! elements checked for stray writes, with sends that complete at once and sends that wait for their
//! receive.
mod data_movement;
mod failures;
pub mod mock;
mod neighbors;
mod reductions;
mod schedules;
mod shared;
mod vector;

pub use crate::Team as Endpoint;
pub use mock::{Datatype, world};
pub use vector::{Vector, counts, types};

/// Sizes with every shape: alone, powers of two, neighbors of powers of two, three levels.
pub const SIZES: [usize; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 13];
