//! Contexts: who may match whom (MPI-5.0 7.1.2).
//!
//! A context is given out by one member, the leader, from its own counter: 24 bits name the leader, 21 count, two are the communicator's lane in
//! the engine, one separates collective traffic. The others learn it in the exchange that makes the communicator, so no agreement is needed.
//!
//! # Reuse
//! A number serves again when nobody has anything in it any more: each member counts as a user until its communicator is freed and the last
//! request of it is over ([`gone`]). Members tell the leader so in passing, many numbers at a time, in the meeting context. (They need not hurry: all
//! other numbers pass before one comes again.) So a slow process can hold on to an old communicator for ever, and no message of a new one
//! reaches it.
//!
//! # Lanes
//! The lane is the leader's choice: round and round where its threads may call at once (see `world`), so that communicators made
//! one after the other have different ones; else always lane 0, so that a process without threads has one set of rings to poll. Processes
//! of another thread level follow: every lane works at every level. MPI_COMM_WORLD and MPI_COMM_SELF are in lane 0.
//!
//! # Threads
//! Both locks here are held for a moment and nothing else is taken under them: [`gone`] is called under the lock of a lane.
use crate::group::Group;
use crate::{meeting, world};
use oxmpi_base::consts::{MPI_ERR_GROUP, MPI_ERR_NO_MEM, MPI_ERR_OTHER, MPI_ERR_PROC_ABORTED};
use oxmpi_base::{Error, Result};
use oxmpi_transport::wire::{Context, LANE_BITS, LANES};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

const COUNT_BITS: u32 = 21;
const LEADER_SHIFT: u32 = COUNT_BITS + LANE_BITS + 1;

/// How many numbers that others gave out are kept before they are told; and after how many given out the news of others are read.
const BATCH: usize = 32;

/// The numbers of this process.
struct Numbers {
    /// Given out last.
    last: u64,
    /// They count up to this.
    end: u64,
    /// Those that are given out, with the members that still use each. Until it is known how many they are this counts below 0: other threads and
    /// members may be done with it before.
    used: HashMap<u64, i64>,
    given: usize,
}

impl Numbers {
    /// 0 is the world's (at process 0) and 1 is MPI_COMM_SELF's.
    fn new(end: u64) -> Numbers {
        Numbers { last: 1, end, used: HashMap::new(), given: 0 }
    }
    fn take(&mut self) -> Option<u64> {
        for _ in 2..self.end {
            self.last = if self.last + 1 >= self.end { 2 } else { self.last + 1 };
            if let std::collections::hash_map::Entry::Vacant(free) = self.used.entry(self.last) {
                free.insert(0);
                self.given += 1;
                return Some(self.last);
            }
        }
        None
    }
    fn settle(&mut self, number: u64, members: u32) {
        if let Some(users) = self.used.get_mut(&number) {
            *users += members as i64;
            if *users == 0 {
                self.used.remove(&number);
            }
        }
    }
    fn drop_user(&mut self, number: u64) {
        if let Some(users) = self.used.get_mut(&number) {
            *users -= 1;
            if *users == 0 {
                self.used.remove(&number);
            }
        }
    }
}

static NUMBERS: LazyLock<Mutex<Numbers>> = LazyLock::new(|| {
    // A test makes numbers come again soon.
    let end = std::env::var("OXMPI_TEST_CONTEXTS").ok().and_then(|v| v.parse().ok());
    Mutex::new(Numbers::new(end.unwrap_or(1 << COUNT_BITS).clamp(3, 1 << COUNT_BITS)))
});

fn numbers() -> std::sync::MutexGuard<'static, Numbers> {
    NUMBERS.lock().unwrap_or_else(|e| e.into_inner())
}

/// Numbers of others that this process uses no more, by leader.
static RETURNS: Mutex<Vec<(u32, Vec<u32>)>> = Mutex::new(Vec::new());

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

/// A context as it travels: that of the leader, or why there is none, as an error class below the largest number; that the leader had none
/// to give is 0 there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given(pub u64);

impl Given {
    pub const NONE: Given = Given(u64::MAX);

    /// A new one of this process. Where none is left, the others must hear of it.
    pub fn offer() -> (Given, Result<()>) {
        match reserve() {
            Ok(ctx) => (Given(ctx.0), Ok(())),
            Err(why) => (Given::NONE, Err(why)),
        }
    }
    /// This process did not get it.
    fn lost(why: &Error) -> Given {
        Given(u64::MAX - why.class as u64)
    }
    pub fn get(self) -> Result<Context> {
        if self.0 < 1 << Context::BITS && self.0 & 1 == 0 {
            return Ok(Context(self.0));
        }
        if self != Given::NONE {
            let class = match u64::MAX - self.0 {
                c if c == MPI_ERR_PROC_ABORTED as u64 => MPI_ERR_PROC_ABORTED,
                _ => MPI_ERR_OTHER,
            };
            return Err(Error::new(
                class,
                "another process of the new communicator could not get its context; what that process says tells why",
            ));
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

/// A new context of the group's rank 0 goes round in a binomial tree; `fetch` and `post` take process indices. Who gets none says so to those that
/// wait for it, and whoever cannot be reached keeps nobody else from being told.
pub fn spread(
    group: &Group,
    fetch: impl FnMut(u32) -> Result<u64>,
    post: impl FnMut(u32, u64) -> Result<()>,
) -> Result<Context> {
    let me = group.my_rank().ok_or_else(|| Error::new(MPI_ERR_GROUP, "this process is not in the new group"))?;
    spread_from(me, group.size(), |r| group.proc_of(r), fetch, post)
}

fn spread_from(
    me: usize,
    size: usize,
    proc_of: impl Fn(usize) -> u32,
    mut fetch: impl FnMut(u32) -> Result<u64>,
    mut post: impl FnMut(u32, u64) -> Result<()>,
) -> Result<Context> {
    let (mut given, mut why) = if me == 0 { Given::offer() } else { (Given::NONE, Ok(())) };
    let mut mask = 1;
    while mask < size {
        if me & mask != 0 {
            match fetch(proc_of(me - mask)) {
                Ok(what) => given = Given(what),
                Err(e) => (given, why) = (Given::lost(&e), Err(e)),
            }
            break;
        }
        mask <<= 1;
    }
    mask >>= 1;
    while mask > 0 {
        if me + mask < size {
            let posted = post(proc_of(me + mask), given.0);
            why = why.and(posted);
        }
        mask >>= 1;
    }
    why.and(given.get())
}

/// A context that nobody uses. All other numbers pass before one comes again.
pub fn reserve() -> Result<Context> {
    let w = world::world()?;
    let lanes = if w.engine.has_threads() { LANES as u64 } else { 1 };
    if numbers().given.is_multiple_of(BATCH) {
        meeting::read_returns()?;
    }
    let number = numbers().take();
    let number = match number {
        Some(n) => Some(n),
        None => {
            meeting::read_returns()?;
            numbers().take()
        }
    };
    match number {
        Some(k) => Ok(make(w.rank, k, ((k - 1) % lanes) as usize)),
        None => Err(Error::new(
            MPI_ERR_NO_MEM,
            "no communicator context is left in this process; free communicators that are not used, at all their ranks",
        )),
    }
}

fn parts(ctx: Context) -> (u32, u64) {
    ((ctx.0 >> LEADER_SHIFT) as u32, (ctx.0 >> (LANE_BITS + 1)) & ((1 << COUNT_BITS) - 1))
}

fn mine(leader: u32) -> bool {
    world::any_world().is_some_and(|w| w.rank as u32 == leader)
}

/// Gives back a context that was reserved here and never used.
pub fn release(ctx: Context) {
    let (leader, number) = parts(ctx);
    if number > 1 && mine(leader) {
        numbers().used.remove(&number);
    }
}

/// The leader learns how many processes use a context that it has given out.
pub fn settle(ctx: Context, members: usize) {
    let (leader, number) = parts(ctx);
    if number > 1 && mine(leader) {
        numbers().settle(number, members as u32);
    }
}

/// This process has nothing in a context any more.
pub fn gone(ctx: u64) {
    let (leader, number) = parts(Context(ctx));
    if number <= 1 || Context(ctx).0 == none_yet().0 {
        return;
    }
    if mine(leader) {
        return numbers().drop_user(number);
    }
    let mut all = RETURNS.lock().unwrap_or_else(|e| e.into_inner());
    match all.iter_mut().find(|r| r.0 == leader) {
        Some(r) => r.1.push(number as u32),
        None => all.push((leader, vec![number as u32])),
    }
}

/// A member says that it uses these numbers no more.
pub fn returned(of_others: &[u32]) {
    let mut n = numbers();
    of_others.iter().for_each(|k| n.drop_user(*k as u64));
}

/// Tells the leaders what this process uses no more, if it is worth a message. Not to be called inside the engine.
pub fn tell_returns() -> Result<()> {
    let full = |r: &mut (u32, Vec<u32>)| r.1.len() >= BATCH;
    let due: Vec<_> = RETURNS.lock().unwrap_or_else(|e| e.into_inner()).extract_if(.., full).collect();
    let mut told = Ok(());
    for (leader, numbers) in due {
        match meeting::post_returns(leader, &numbers) {
            // It gives nothing out any more.
            Err(e) if e.class == MPI_ERR_PROC_ABORTED => {}
            posted => told = told.and(posted),
        }
    }
    told
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

    #[test]
    fn a_number_comes_again_when_its_last_user_is_gone() {
        let mut n = Numbers::new(5);
        assert_eq!((n.take(), n.take(), n.take(), n.take()), (Some(2), Some(3), Some(4), None));
        n.settle(3, 2);
        n.drop_user(3);
        assert_eq!(n.take(), None, "one user is left");
        n.drop_user(3);
        assert_eq!((n.take(), n.take()), (Some(3), None));
        n.used.clear();
        assert_eq!((n.take(), n.take(), n.take()), (Some(4), Some(2), Some(3)), "the others pass first");
        n.drop_user(77);
    }

    #[test]
    fn members_may_be_done_before_it_is_known_how_many_they_are() {
        let mut n = Numbers::new(3);
        assert_eq!(n.take(), Some(2));
        n.drop_user(2);
        n.drop_user(2);
        assert_eq!(n.take(), None, "the leader itself is going to use it");
        n.settle(2, 3);
        assert_eq!(n.take(), None, "one user is left");
        n.drop_user(2);
        assert_eq!(n.take(), Some(2));
        n.drop_user(2);
        n.settle(2, 1);
        assert_eq!(n.take(), Some(2), "all were done before");
    }

    /// Rank `me` of four hears this from its parent; what it tells whom, and what comes out.
    fn spread_at(
        me: u32,
        heard: Result<u64>,
        reached: impl Fn(u32) -> Result<()>,
    ) -> (Vec<(u32, u64)>, Result<Context>) {
        let (mut heard, mut told) = (Some(heard), Vec::new());
        let fetch = |_| heard.take().expect("one parent");
        let post = |to, what| {
            told.push((to, what));
            reached(to)
        };
        let all = spread_from(me as usize, 4, |r| r as u32, fetch, post);
        (told, all)
    }

    #[test]
    fn whoever_gets_no_context_tells_so_all_the_same() {
        let gone = || Error::new(MPI_ERR_PROC_ABORTED, "gone");
        let none = Given::lost(&gone()).0;
        let (told, out) = spread_at(2, Err(gone()), |_| Ok(()));
        assert_eq!((told, out.unwrap_err().class), (vec![(3, none)], MPI_ERR_PROC_ABORTED));
        let (told, out) = spread_at(3, Ok(none), |_| Ok(()));
        assert_eq!((told, out.unwrap_err().class), (vec![], MPI_ERR_PROC_ABORTED));
        let here = of_self(0).0;
        let (told, out) = spread_at(2, Ok(here), |_| Err(gone()));
        assert_eq!((told, out.unwrap_err().class), (vec![(3, here)], MPI_ERR_PROC_ABORTED));
        assert_eq!(Given::NONE.get().unwrap_err().class, MPI_ERR_NO_MEM);
    }

    fn c_odd() -> u64 {
        of_world().collective().0
    }
}
