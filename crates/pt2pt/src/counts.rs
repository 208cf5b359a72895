//! What the engine counts for tools (MPI-5.0 15.3.7): messages and bytes by the way they went, what came unexpected, sleeps.
//!
//! Each lane has counters of its own, written by the thread that is in the lane alone (so no locked instruction is needed) and read by anybody.
//! Sleeps belong to no lane; there the kernel costs far more than a locked add.
//!
//! Messages of one frame are counted on the general way of a send only. While a tool wants their numbers ([`Engine::watch`](crate::Engine::watch))
//! the short way of `direct` is closed, so that all of them are; else the numbers are of no use to anybody, and cost nothing.
use oxmpi_base::measure::{Measure, Numbers};
use oxmpi_transport_shm::choice::Mechanism;
use oxmpi_transport_shm::link::INSIDE_MAX;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

/// What is counted in a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub(crate) enum Count {
    LineMessages,
    LineBytes,
    AreaMessages,
    AreaBytes,
    AtOnceMessages,
    AtOnceBytes,
    Announced,
    AnnouncedBytes,
    PieceBytes,
    HeapBytes,
    XpmemBytes,
    CmaBytes,
    KnemBytes,
    CopyFailures,
    SelfMessages,
    SelfBytes,
    Unexpected,
    UnexpectedBytes,
    Withdrawn,
}

const COUNTS: usize = Count::Withdrawn as usize + 1;

/// Of one lane.
#[derive(Default)]
pub(crate) struct Counts([AtomicU64; COUNTS]);

impl Counts {
    /// Those of a new lane, which are never freed: there are a few in a process.
    pub fn of_lane() -> &'static Counts {
        let new: &'static Counts = Box::leak(Box::default());
        all().push(new);
        new
    }
    #[inline]
    pub fn add(&self, what: Count, n: u64) {
        let c = &self.0[what as usize];
        c.store(c.load(Relaxed).wrapping_add(n), Relaxed);
    }
    /// A piece of `bytes` that was to be moved by single copy.
    pub fn copied(&self, by: Mechanism, bytes: u64, done: bool) {
        let sum = match by {
            Mechanism::Heap => Count::HeapBytes,
            Mechanism::Xpmem => Count::XpmemBytes,
            Mechanism::Cma => Count::CmaBytes,
            Mechanism::Knem => Count::KnemBytes,
        };
        match done {
            true => self.add(sum, bytes),
            false => self.add(Count::CopyFailures, 1),
        }
    }
    /// A message of one frame.
    #[inline]
    pub fn frame(&self, bytes: u64) {
        match bytes <= INSIDE_MAX as u64 {
            true => self.message(Count::LineMessages, Count::LineBytes, bytes),
            false => self.message(Count::AreaMessages, Count::AreaBytes, bytes),
        }
    }
    /// One message of `bytes`.
    #[inline]
    pub fn message(&self, messages: Count, sum: Count, bytes: u64) {
        self.add(messages, 1);
        self.add(sum, bytes);
    }
}

static ALL: Mutex<Vec<&'static Counts>> = Mutex::new(Vec::new());

fn all() -> MutexGuard<'static, Vec<&'static Counts>> {
    ALL.lock().unwrap_or_else(|e| e.into_inner())
}

fn sum(what: Count) -> Option<Numbers> {
    let n = all().iter().map(|c| c.0[what as usize].load(Relaxed)).fold(0, u64::wrapping_add);
    Some(Numbers::One(n))
}

/// How often a thread of this process has slept in the kernel or given its processor away, and for how long it slept.
pub(crate) static SLEEPS: AtomicU64 = AtomicU64::new(0);
pub(crate) static SLEPT_NS: AtomicU64 = AtomicU64::new(0);
pub(crate) static YIELDS: AtomicU64 = AtomicU64::new(0);

fn number(of: &AtomicU64) -> Option<Numbers> {
    Some(Numbers::One(of.load(Relaxed)))
}

/// By the way that messages went.
pub static PATHS: &[&Measure] = &[
    &LINE_MESSAGES,
    &LINE_BYTES,
    &AREA_MESSAGES,
    &AREA_BYTES,
    &AT_ONCE_MESSAGES,
    &AT_ONCE_BYTES,
    &ANNOUNCED,
    &ANNOUNCED_BYTES,
    &WITHDRAWN,
    &PIECE_BYTES,
    &HEAP_BYTES,
    &XPMEM_BYTES,
    &CMA_BYTES,
    &KNEM_BYTES,
    &COPY_FAILURES,
    &SELF_MESSAGES,
    &SELF_BYTES,
];

/// What came before its receive; the queues themselves are read by `mpi::measures`.
pub static QUEUES: &[&Measure] = &[&UNEXPECTED, &UNEXPECTED_BYTES];

/// How this process waited.
pub static WAITING: &[&Measure] = &[&SLEEP_COUNT, &SLEEP_TIME, &YIELD_COUNT];

oxmpi_base::measure! {
    /// Messages sent inside one line of a ring (up to 48 bytes); counted while a handle is started.
    static LINE_MESSAGES: Measure = Measure::counter("sent_line_messages", || sum(Count::LineMessages)).watched();
}
oxmpi_base::measure! {
    /// Bytes of the messages sent inside one line of a ring; counted while a handle is started.
    static LINE_BYTES: Measure = Measure::aggregate("sent_line_bytes", || sum(Count::LineBytes)).watched();
}
oxmpi_base::measure! {
    /// Messages sent as one frame whose bytes are in the pair's byte area; counted while a handle is started.
    static AREA_MESSAGES: Measure = Measure::counter("sent_area_messages", || sum(Count::AreaMessages)).watched();
}
oxmpi_base::measure! {
    /// Bytes of the messages sent as one frame through the byte area; counted while a handle is started.
    static AREA_BYTES: Measure = Measure::aggregate("sent_area_bytes", || sum(Count::AreaBytes)).watched();
}
oxmpi_base::measure! {
    /// Messages of several frames that were sent at once, without waiting for the receiver.
    static AT_ONCE_MESSAGES: Measure = Measure::counter("sent_eager_messages", || sum(Count::AtOnceMessages));
}
oxmpi_base::measure! {
    /// Bytes of the messages of several frames that were sent at once.
    static AT_ONCE_BYTES: Measure = Measure::aggregate("sent_eager_bytes", || sum(Count::AtOnceBytes));
}
oxmpi_base::measure! {
    /// Messages that were announced, and moved in the way that the receiver chose.
    static ANNOUNCED: Measure = Measure::counter("sent_announced_messages", || sum(Count::Announced));
}
oxmpi_base::measure! {
    /// Bytes of the messages that were announced.
    static ANNOUNCED_BYTES: Measure = Measure::aggregate("sent_announced_bytes", || sum(Count::AnnouncedBytes));
}
oxmpi_base::measure! {
    /// Announcements that were withdrawn because the receiver did not come; the message was sent at once after all.
    static WITHDRAWN: Measure = Measure::counter("sent_withdrawn_messages", || sum(Count::Withdrawn));
}
oxmpi_base::measure! {
    /// Bytes that this process put into byte areas in pieces, for messages of several frames.
    static PIECE_BYTES: Measure = Measure::aggregate("sent_pieces_bytes", || sum(Count::PieceBytes));
}
oxmpi_base::measure! {
    /// Bytes that this process copied from or to memory of a peer that it maps (memory of MPI_Alloc_mem).
    static HEAP_BYTES: Measure = Measure::aggregate("copied_heap_bytes", || sum(Count::HeapBytes));
}
oxmpi_base::measure! {
    /// Bytes that this process copied from or to a peer's memory by XPMEM.
    static XPMEM_BYTES: Measure = Measure::aggregate("copied_xpmem_bytes", || sum(Count::XpmemBytes));
}
oxmpi_base::measure! {
    /// Bytes that this process copied from or to a peer's memory by cross memory attach (process_vm_readv and writev).
    static CMA_BYTES: Measure = Measure::aggregate("copied_cma_bytes", || sum(Count::CmaBytes));
}
oxmpi_base::measure! {
    /// Bytes that this process copied from a peer's memory by KNEM.
    static KNEM_BYTES: Measure = Measure::aggregate("copied_knem_bytes", || sum(Count::KnemBytes));
}
oxmpi_base::measure! {
    /// Single copies that failed, so that the message took another way.
    static COPY_FAILURES: Measure = Measure::counter("copy_failures", || sum(Count::CopyFailures));
}
oxmpi_base::measure! {
    /// Messages from this process to itself.
    static SELF_MESSAGES: Measure = Measure::counter("sent_self_messages", || sum(Count::SelfMessages));
}
oxmpi_base::measure! {
    /// Bytes of the messages from this process to itself.
    static SELF_BYTES: Measure = Measure::aggregate("sent_self_bytes", || sum(Count::SelfBytes));
}
oxmpi_base::measure! {
    /// Messages that came before their receive.
    static UNEXPECTED: Measure = Measure::counter("unexpected_messages", || sum(Count::Unexpected));
}
oxmpi_base::measure! {
    /// Bytes that were kept because they came before their receive; an announcement keeps none.
    static UNEXPECTED_BYTES: Measure = Measure::aggregate("unexpected_bytes", || sum(Count::UnexpectedBytes));
}
oxmpi_base::measure! {
    /// How often a thread of this process slept in the kernel because what it waited for did not come.
    static SLEEP_COUNT: Measure = Measure::counter("wait_sleeps", || number(&SLEEPS));
}
oxmpi_base::measure! {
    /// Nanoseconds that threads of this process slept in MPI procedures.
    static SLEEP_TIME: Measure = Measure::timer("wait_sleep_time", || number(&SLEPT_NS));
}
oxmpi_base::measure! {
    /// How often a waiting thread gave its processor to others without sleeping.
    static YIELD_COUNT: Measure = Measure::counter("wait_yields", || number(&YIELDS));
}

oxmpi_base::event! {
    /// A message came before its receive and is kept: the sender's process index, the tag, and the bytes of the message.
    pub(crate) static UNEXPECTED_MESSAGE: Event =
        Event::new("unexpected_message", &[("source", Kind::Int), ("tag", Kind::Int), ("bytes", Kind::Long)]);
}
oxmpi_base::event! {
    /// A large message is about to be received: the sender's process index, its bytes, and the way: 0 eager, 1 pieces on request, then one
    /// copy by one side (2 heap, 3 xpmem, 4 cma, 5 knem), or by both (6 heap, 7 xpmem, 8 cma, 9 knem).
    pub(crate) static WAY_CHOSEN: Event =
        Event::new("large_message_way", &[("source", Kind::Int), ("way", Kind::Int), ("bytes", Kind::Long)]);
}
oxmpi_base::event! {
    /// The announcement of a message was withdrawn because its receiver did not come, and the message is sent at once: the destination's
    /// process index, and the bytes of the message.
    pub(crate) static ANNOUNCEMENT_WITHDRAWN: Event =
        Event::new("announcement_withdrawn", &[("destination", Kind::Int), ("bytes", Kind::Long)]);
}
oxmpi_base::event! {
    /// What a peer sends cannot be read on, or the peer was aborted: the way to and from it is closed. Its process index.
    pub(crate) static PEER_CLOSED: Event = Event::new("peer_closed", &[("peer", Kind::Int)]);
}

/// The event types of this crate.
pub static EVENTS: &[&oxmpi_base::event::Event] =
    &[&UNEXPECTED_MESSAGE, &WAY_CHOSEN, &ANNOUNCEMENT_WITHDRAWN, &PEER_CLOSED];
