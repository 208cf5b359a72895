//! Contexts: who may match whom (MPI-5.0 7.1.2).
//!
//! A context is given out by one member, the leader (rank 0 of the new communicator), from its own counter: 24 bits name the leader, 21
//! count, two are the communicator's lane in the engine, one separates collective traffic. The others learn it in the exchange that makes
//! the communicator, so no agreement is needed. A number serves again after all others.
//!
//! The lane is the leader's choice: round and round where its threads may call at once (see `world`), so that communicators made
//! one after the other have different ones; else always lane 0, so that a process without threads has one set of rings to poll. Processes
//! of another thread level follow: every lane works at every level. MPI_COMM_WORLD and MPI_COMM_SELF are in lane 0.
use crate::group::Group;
use crate::world;
use oxmpi_base::consts::{MPI_ERR_GROUP, MPI_ERR_NO_MEM};
use oxmpi_base::{Error, Result};
use oxmpi_transport::wire::{Context, LANE_BITS, LANES};
use std::collections::BTreeSet;
use std::sync::Mutex;

const COUNT_BITS: u32 = 21;
const LEADER_SHIFT: u32 = COUNT_BITS + LANE_BITS + 1;

/// The number given out last, and all that are in use.
struct Numbers {
    last: u64,
    used: BTreeSet<u64>,
}

// 0 is the world's (at process 0) and 1 is MPI_COMM_SELF's.
static NUMBERS: Mutex<Numbers> = Mutex::new(Numbers { last: 1, used: BTreeSet::new() });

fn make(leader: usize, number: u64, lane: usize) -> Context {
    Context((leader as u64) << LEADER_SHIFT | number << (LANE_BITS + 1) | (lane as u64) << 1)
}

pub fn of_world() -> Context {
    make(0, 0, 0)
}
pub fn of_self(me: usize) -> Context {
    make(me, 1, 0)
}

/// The context of a communicator that has none yet: no process is its leader, so no message has it.
pub fn none_yet() -> Context {
    make((1 << 24) - 1, 0, 0)
}

/// The context in which processes that share no communicator meet (see `meeting`): nobody's, so everybody's.
pub fn meeting() -> Context {
    make((1 << 24) - 1, 1, 0)
}

/// A context as it travels: that of the leader, or that the leader had none to give.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given(pub u64);

impl Given {
    const NONE: Given = Given(u64::MAX);

    /// A new one of this process. Where none is left, the others must hear of it.
    pub fn offer() -> (Given, Result<()>) {
        match reserve() {
            Ok(ctx) => (Given(ctx.0), Ok(())),
            Err(why) => (Given::NONE, Err(why)),
        }
    }
    pub fn get(self) -> Result<Context> {
        if self.0 < 1 << Context::BITS && self.0 & 1 == 0 {
            return Ok(Context(self.0));
        }
        Err(Error::new(
            MPI_ERR_NO_MEM,
            "the leader of the new communicator has no communicator context left; free communicators that are not used",
        ))
    }
    pub fn release(self) {
        if let Ok(ctx) = self.get() {
            release(ctx);
        }
    }
}

/// A new context of the group's rank 0 goes round in a binomial tree; `fetch` and `post` take process indices.
pub fn spread(
    group: &Group,
    mut fetch: impl FnMut(u32) -> Result<u64>,
    mut post: impl FnMut(u32, u64) -> Result<()>,
) -> Result<Context> {
    let me = group.my_rank().ok_or_else(|| Error::new(MPI_ERR_GROUP, "this process is not in the new group"))?;
    let size = group.size();
    let (mut given, mut why) = if me == 0 { Given::offer() } else { (Given::NONE, Ok(())) };
    let mut mask = 1;
    while mask < size {
        if me & mask != 0 {
            given = Given(fetch(group.proc_of(me - mask))?);
            break;
        }
        mask <<= 1;
    }
    mask >>= 1;
    while mask > 0 {
        if me + mask < size {
            why = why.and(post(group.proc_of(me + mask), given.0));
        }
        mask >>= 1;
    }
    why.and(given.get())
}

/// A context that this process has not in use. All 2^21 numbers pass before one comes again: an operation may outlive its freed
/// communicator, at this process or at another.
pub fn reserve() -> Result<Context> {
    let w = world::world()?;
    let lanes = if w.engine.has_threads() { LANES as u64 } else { 1 };
    let mut n = NUMBERS.lock().unwrap_or_else(|e| e.into_inner());
    for _ in 0..1u64 << COUNT_BITS {
        n.last = if n.last + 1 == 1 << COUNT_BITS { 2 } else { n.last + 1 };
        let k = n.last;
        if n.used.insert(k) {
            return Ok(make(w.rank, k, ((k - 1) % lanes) as usize));
        }
    }
    Err(Error::new(
        MPI_ERR_NO_MEM,
        "no communicator context is left in this process; free communicators that are not used",
    ))
}

/// Gives a context back, if this process is its leader.
pub fn release(ctx: Context) {
    let (leader, number) = (ctx.0 >> LEADER_SHIFT, (ctx.0 >> (LANE_BITS + 1)) & ((1 << COUNT_BITS) - 1));
    if number > 1 && world::any_world().is_some_and(|w| w.rank as u64 == leader) {
        NUMBERS.lock().unwrap_or_else(|e| e.into_inner()).used.remove(&number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_fit_the_wire_and_differ() {
        let c = make((1 << 24) - 1, (1 << COUNT_BITS) - 1, LANES - 1);
        assert!(c.collective().0 < 1 << Context::BITS);
        assert_ne!(make(1, 2, 0), make(2, 1, 0));
        assert_ne!(of_world(), of_self(0));
        for lane in 0..LANES {
            let c = make(5, 7, lane);
            assert_eq!((c.lane(), c.collective().lane()), (lane, lane));
        }
        assert_eq!((of_world().lane(), none_yet().lane(), meeting().lane()), (0, 0, 0));
        assert_ne!(none_yet(), meeting());
        assert!(Given::NONE.get().is_err() && Given(c_odd()).get().is_err() && Given(of_self(3).0).get().is_ok());
    }

    fn c_odd() -> u64 {
        of_world().collective().0
    }
}
