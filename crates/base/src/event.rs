//! Events: what happens inside the library and is told to tools through MPI_T.
//!
//! ```
//! oxmpi_base::event! {
//!     /// A demonstration.
//!     pub static DEMO: Event = Event::new("demo", &[("peer", Kind::Int), ("bytes", Kind::Long)]);
//! }
//! if DEMO.wanted() {
//!     DEMO.happened([3, 4096, 0, 0]);
//! }
//! ```
//! An event type is a name, a description (the doc comment) and up to [`ELEMENTS`] numbers. A crate lists its own in a
//! `pub static EVENTS`; `mpi::measures` puts those lists together.
//!
//! # Invariants
//! * An event may happen anywhere, under the engine's lock too: it is only queued here, with its time. `mpi::tool` calls the tools'
//!   functions, outside of every lock (see [`set_hooks`]).
//! * Where no tool has registered a function, an event costs one relaxed load; events stand on slow paths only.
//! * The queue is bounded. What finds no room is counted for each event type, and told to the tool as dropped.
//!
//! MPI-5.0 15.3.8 (events).
use crate::consts::*;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// The most numbers of one event.
pub const ELEMENTS: usize = 4;

/// Records that wait at most.
const ROOM: usize = 4096;

/// The datatype of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// MPI_INT
    Int,
    /// MPI_UNSIGNED_LONG_LONG
    Long,
}

impl Kind {
    pub fn size(self) -> usize {
        match self {
            Kind::Int => 4,
            Kind::Long => 8,
        }
    }
}

#[derive(Debug)]
pub struct Event {
    pub name: &'static str,
    help: &'static str,
    /// One of the MPI_T_VERBOSITY_ constants.
    pub verbosity: i32,
    /// Names and kinds of the elements.
    pub elements: &'static [(&'static str, Kind)],
    wanted: AtomicBool,
    dropped: AtomicU64,
}

impl Event {
    pub const fn new(name: &'static str, elements: &'static [(&'static str, Kind)]) -> Event {
        assert!(elements.len() <= ELEMENTS);
        let (wanted, dropped) = (AtomicBool::new(false), AtomicU64::new(0));
        Event { name, help: "", verbosity: MPI_T_VERBOSITY_USER_DETAIL, elements, wanted, dropped }
    }
    #[doc(hidden)]
    pub const fn with_help(mut self, help: &'static str) -> Event {
        self.help = help;
        self
    }
    pub fn help(&self) -> &'static str {
        self.help.trim()
    }
    /// Where an element lies in a copy of the event's data: no gaps but for alignment.
    pub fn displacement(&self, element: usize) -> usize {
        let before = &self.elements[..element];
        let end = before.iter().fold(0, |at, (_, k)| usize::next_multiple_of(at, k.size()) + k.size());
        end.next_multiple_of(self.elements.get(element).map_or(1, |e| e.1.size()))
    }
    /// Whether any tool has registered a function for it.
    #[inline]
    pub fn wanted(&self) -> bool {
        self.wanted.load(Relaxed)
    }
    pub fn set_wanted(&self, yes: bool) {
        self.wanted.store(yes, Relaxed);
    }
    /// Queues an event of this type; elements that it does not have are ignored.
    #[cold]
    #[inline(never)]
    pub fn happened(&'static self, values: [u64; ELEMENTS]) {
        let mut q = queue();
        if q.len() >= ROOM {
            self.dropped.fetch_add(1, Relaxed);
        } else {
            // Under the lock, so that the queue is in the order of the stamps.
            WAITING.store(true, Relaxed);
            q.push_back(Record { of: self, stamp: oxmpi_sys::clock::nanos(), values });
        }
        drop(q);
        if let Some(h) = HOOKS.get() {
            (h.attention)();
        }
    }
    /// How many events of this type found no room since this was last asked.
    pub fn take_dropped(&self) -> u64 {
        self.dropped.swap(0, Relaxed)
    }
}

/// An event that has happened.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub of: &'static Event,
    /// Nanoseconds of the monotonic clock.
    pub stamp: u64,
    pub values: [u64; ELEMENTS],
}

/// Something may be queued.
static WAITING: AtomicBool = AtomicBool::new(false);
static QUEUE: Mutex<VecDeque<Record>> = Mutex::new(VecDeque::new());

fn queue() -> MutexGuard<'static, VecDeque<Record>> {
    QUEUE.lock().unwrap_or_else(|e| e.into_inner())
}

/// The oldest event, taken out of the queue if `ready` says so. Nothing is locked while that is asked, so `ready` may take locks under which
/// others queue and forget events. Only one thread at a time may call this.
pub fn next_if(ready: impl Fn(&Record) -> bool) -> Option<Record> {
    loop {
        let q = queue();
        WAITING.store(!q.is_empty(), Relaxed);
        let oldest = *q.front()?;
        drop(q);
        if !ready(&oldest) {
            return None;
        }
        let mut q = queue();
        // Unless it was forgotten meanwhile.
        if q.front().is_some_and(|r| std::ptr::eq(r.of, oldest.of) && r.stamp == oldest.stamp) {
            return q.pop_front();
        }
    }
}

/// Forgets the queued events of a type.
pub fn forget(event: &Event) {
    queue().retain(|r| !std::ptr::eq(r.of, event));
    event.take_dropped();
}

/// Who calls the tools' functions.
pub struct Hooks {
    /// Called when an event has been queued, under any lock: the next MPI procedure that begins is to deliver it.
    pub attention: fn(),
    /// Called without a lock by a thread that waits inside an MPI procedure.
    pub waiting: fn(),
}

static HOOKS: OnceLock<Hooks> = OnceLock::new();

pub fn set_hooks(hooks: Hooks) {
    let _only_the_first_counts = HOOKS.set(hooks);
}

/// To be called now and then while the library waits, without any lock.
#[inline]
pub fn attend_waiting() {
    if WAITING.load(Relaxed)
        && let Some(h) = HOOKS.get()
    {
        (h.waiting)();
    }
}

/// Declares an event type; see [`event`](crate::event). The doc comment is its description.
#[macro_export]
macro_rules! event {
    ($(#[doc = $help:literal])+ $vis:vis static $id:ident: Event = $new:expr;) => {
        $(#[doc = $help])+
        $vis static $id: $crate::event::Event = {
            #[allow(unused_imports)]
            use $crate::event::{Event, Kind};
            $new.with_help(concat!($($help),+))
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::event! {
        /// For this test.
        static ODD: Event = Event::new("odd", &[("a", Kind::Int), ("b", Kind::Long), ("c", Kind::Int)]);
    }

    #[test]
    fn elements_are_aligned() {
        let at: Vec<usize> = (0..=3).map(|i| ODD.displacement(i)).collect();
        assert_eq!(at, [0, 8, 16, 20]);
        assert_eq!(ODD.help(), "For this test.");
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        for i in 0..ROOM as u64 + 3 {
            ODD.happened([i, 0, 0, 0]);
        }
        assert_eq!(ODD.take_dropped(), 3);
        let mut last = 0;
        for i in 0..ROOM as u64 {
            let r = next_if(|r| std::ptr::eq(r.of, &ODD)).unwrap();
            assert!(r.values[0] == i && r.stamp >= last);
            last = r.stamp;
        }
        assert!(next_if(|_| true).is_none());
        assert_eq!(ODD.take_dropped(), 0);

        // The question is asked without the lock of the queue, under which others may wait for what it takes.
        ODD.happened([1, 0, 0, 0]);
        ODD.happened([2, 0, 0, 0]);
        let forgotten = next_if(|_| {
            forget(&ODD);
            true
        });
        assert!(forgotten.is_none());
    }
}
