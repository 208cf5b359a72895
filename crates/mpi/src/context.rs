//! Contexts: who may match whom (MPI-5.0 7.1.2).
//!
//! A context is given out by one member, the leader (rank 0 of the new communicator), from its own counter: 24 bits name the leader, 23
//! count, one bit separates collective traffic. The others learn it in the exchange that makes the communicator, so no agreement is
//! needed. A number serves again after all others.
use crate::world;
use oxmpi_base::consts::MPI_ERR_NO_MEM;
use oxmpi_base::{Error, Result};
use oxmpi_transport::wire::Context;
use std::collections::BTreeSet;
use std::sync::Mutex;

const COUNT_BITS: u32 = 23;

/// The number given out last, and all that are in use.
struct Numbers {
    last: u64,
    used: BTreeSet<u64>,
}

// 0 is the world's (at process 0) and 1 is MPI_COMM_SELF's.
static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { last: 1, used: BTreeSet::new() });

fn make(leader: usize, number: u64) -> Context {
    Context((leader as u64) << (COUNT_BITS + 1) | number << 1)
}

pub fn of_world() -> Context {
    make(0, 0)
}
pub fn of_self(me: usize) -> Context {
    make(me, 1)
}

/// The context of a communicator that has none yet: no process is its leader, so no message has it.
pub fn none_yet() -> Context {
    make((1 << 24) - 1, 0)
}

/// A context that this process has not in use. All 2^23 numbers pass before one comes again: an operation may outlive its freed
/// communicator, at this process or at another.
pub fn reserve() -> Result<Context> {
    let me = world::world()?.rank;
    let mut n = NUMBERS.lock().unwrap_or_else(|e| e.into_inner());
    for _ in 0..1u64 << COUNT_BITS {
        n.last = if n.last + 1 == 1 << COUNT_BITS { 2 } else { n.last + 1 };
        let k = n.last;
        if n.used.insert(k) {
            return Ok(make(me, k));
        }
    }
    Err(Error::new(
        MPI_ERR_NO_MEM,
        "no communicator context is left in this process; free communicators that are not used",
    ))
}

/// Gives a context back, if this process is its leader.
pub fn release(ctx: Context) {
    let (leader, number) = (ctx.0 >> (COUNT_BITS + 1), (ctx.0 >> 1) & ((1 << COUNT_BITS) - 1));
    if number > 1 && world::any_world().is_some_and(|w| w.rank as u64 == leader) {
        NUMBERS.lock().unwrap_or_else(|e| e.into_inner()).used.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_fit_the_wire_and_differ() {
        let c = make((1 << 24) - 1, (1 << 23) - 1);
        assert!(c.collective().0 < 1 << Context::BITS);
        assert_ne!(make(1, 2), make(2, 1));
        assert_ne!(of_world(), of_self(0));
    }
}
