//! One tag for each kind of collective. Messages of one context and tag match in order between a pair of
//! ranks, and collectives of a communicator are called in one order everywhere (MPI-5.0 6.14), so a tag
//! needs no sequence number; different tags only keep a mismatch of calls from matching by accident. Schedules, of which many are under way
//! at once, have a tag each.
pub const BARRIER: i32 = 1;
pub const BCAST: i32 = 2;
pub const GATHER: i32 = 3;
pub const SCATTER: i32 = 4;
pub const ALLGATHER: i32 = 5;
pub const ALLGATHERV: i32 = 6;
pub const ALLTOALL: i32 = 7;
pub const ALLTOALLV: i32 = 8;
pub const REDUCE: i32 = 9;
pub const ALLREDUCE: i32 = 10;
pub const REDUCE_SCATTER: i32 = 11;
pub const SCAN: i32 = 12;
pub const EXSCAN: i32 = 13;
/// Setting up shared memory.
pub const SHARED: i32 = 14;
pub const NEIGHBOR: i32 = 15;
/// Everything on intercommunicators.
pub const INTER: i32 = 16;

/// Schedules count their tags from here: one range for a single run, one for many (`schedule`).
const SINGLE: i32 = 1 << 28;
const PERSISTENT: i32 = 1 << 29;
const RANGE: u32 = 1 << 28;

/// The tag of the `number`th schedule of a communicator.
pub fn of_schedule(number: u32, persistent: bool) -> i32 {
    (number % RANGE) as i32 + if persistent { PERSISTENT } else { SINGLE }
}

/// For messages about a mismatch.
pub fn name(tag: i32) -> &'static str {
    match tag {
        BARRIER => "MPI_Barrier",
        BCAST => "MPI_Bcast",
        GATHER => "MPI_Gather(v)",
        SCATTER => "MPI_Scatter(v)",
        ALLGATHER => "MPI_Allgather",
        ALLGATHERV => "MPI_Allgatherv",
        ALLTOALL => "MPI_Alltoall",
        ALLTOALLV => "MPI_Alltoallv or MPI_Alltoallw",
        REDUCE => "MPI_Reduce",
        ALLREDUCE => "MPI_Allreduce",
        REDUCE_SCATTER => "MPI_Reduce_scatter(_block)",
        SCAN => "MPI_Scan",
        EXSCAN => "MPI_Exscan",
        NEIGHBOR => "a neighbourhood collective",
        INTER => "a collective operation on an intercommunicator",
        _ => "another collective operation",
    }
}
