//! Requests: a slab with a free list, so that starting an operation allocates nothing once it is warm.
use crate::matching::{Pattern, Place};
use crate::span::Span;
use oxmpi_base::consts::MPI_SUCCESS;
use oxmpi_transport::wire::{LANE_BITS, LANES};
use oxmpi_transport_shm::node::Ticket;

/// Names a request; stale names are recognised by their generation. Also travels to peers, who send it back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReqId(pub u64);

impl ReqId {
    fn new(index: u32, lane: u32, generation: u32) -> ReqId {
        ReqId((index << LANE_BITS | lane) as u64 | (generation as u64) << 32)
    }
    /// Its place in its lane.
    #[inline]
    pub(crate) fn index(self) -> u32 {
        self.0 as u32 >> LANE_BITS
    }
    /// Lane and place in one number, for handles.
    #[inline]
    pub fn number(self) -> u32 {
        self.0 as u32
    }
    #[inline]
    pub fn lane(self) -> usize {
        ReqId::lane_of(self.number())
    }
    /// The lane of a request of which only the number is known.
    #[inline]
    pub fn lane_of(number: u32) -> usize {
        number as usize % LANES
    }
    pub fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// What a finished operation leaves: process index of the peer, tag, bytes, error class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub source: i32,
    pub tag: i32,
    pub bytes: u64,
    pub error: i32,
    pub cancelled: bool,
}

impl Outcome {
    pub const SENT: Outcome =
        Outcome { source: crate::ANY_SOURCE, tag: crate::ANY_TAG, bytes: 0, error: MPI_SUCCESS, cancelled: false };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Free,
    Active,
    Done,
}

/// The answer a send request waits for. Anything else from the peer is an error: a peer's word must not touch other requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expects {
    Nothing,
    /// That a synchronous message has matched.
    Ack,
    /// Cts or Fin, for an announcement.
    Answer,
}

pub(crate) struct Request {
    generation: u32,
    pub phase: Phase,
    pub span: Span,
    pub envelope: Pattern,
    /// Sends: destination process; mode; what the peer may answer now.
    pub peer: Option<u32>,
    pub sync: bool,
    pub expects: Expects,
    /// Sends: bytes given to the transport, and how many to give.
    pub moved: u64,
    pub limit: u64,
    /// Sends: the ticket counter of a large one.
    pub ticket: Option<Ticket>,
    /// Receives that have not matched: where they are posted.
    pub posted: Option<Place>,
    pub outcome: Outcome,
    /// Nobody will ask: free it when done.
    pub detached: bool,
    /// The communicator's place among the enrolled, for translating the outcome.
    pub user: Option<u32>,
}

const BLANK: Request = Request {
    generation: 0,
    phase: Phase::Free,
    span: Span::empty(),
    envelope: Pattern { ctx: oxmpi_transport::wire::Context(0), source: 0, tag: 0 },
    peer: None,
    sync: false,
    expects: Expects::Nothing,
    moved: 0,
    limit: 0,
    ticket: None,
    posted: None,
    outcome: Outcome::SENT,
    detached: false,
    user: None,
};

pub(crate) struct Requests {
    lane: u32,
    all: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
    pub fn new(lane: usize) -> Requests {
        Requests { lane: lane as u32, all: Vec::new(), free: Vec::new() }
    }
    #[inline]
    pub fn start(&mut self, span: Span, envelope: Pattern) -> u32 {
        let i = match self.free.pop() {
            Some(i) => i,
            None => {
                self.all.push(BLANK);
                (self.all.len() - 1) as u32
            }
        };
        let r = &mut self.all[i as usize];
        // What a free request keeps in its span is nothing that has to be dropped: see `free`.
        debug_assert!(matches!(r.span, Span::Dense { .. }));
        let generation = r.generation.wrapping_add(1);
        let new = Request { generation, phase: Phase::Active, span, envelope, ..BLANK };
        // SAFETY: a valid place; the old value needs no drop.
        unsafe { std::ptr::write(r, new) };
        i
    }
    #[inline]
    pub fn at(&mut self, i: u32) -> &mut Request {
        &mut self.all[i as usize]
    }
    pub fn id(&self, i: u32) -> ReqId {
        ReqId::new(i, self.lane, self.all[i as usize].generation)
    }
    /// The request of this name if it is one that is under way or done.
    #[inline]
    pub fn get(&mut self, id: ReqId) -> Option<&mut Request> {
        let lane = self.lane;
        let found = self.all.get_mut(id.index() as usize)?;
        (found.phase != Phase::Free && ReqId::new(id.index(), lane, found.generation) == id).then_some(found)
    }
    #[inline]
    pub fn named(&self, number: u32, generation: u32, mask: u32) -> Option<ReqId> {
        let index = number >> LANE_BITS;
        let r = self.all.get(index as usize)?;
        let id = ReqId::new(index, self.lane, r.generation);
        (r.phase != Phase::Free && r.generation & mask == generation && id.number() == number).then_some(id)
    }
    pub fn free(&mut self, i: u32) {
        let r = &mut self.all[i as usize];
        debug_assert!(r.phase != Phase::Free);
        r.phase = Phase::Free;
        if !matches!(r.span, Span::Dense { .. }) {
            r.span = Span::empty();
        }
        self.free.push(i);
    }
    /// Those under way.
    pub fn under_way(&self) -> Vec<u32> {
        (0..self.all.len() as u32).filter(|i| self.all[*i as usize].phase == Phase::Active).collect()
    }
    /// Receives of some contexts that wait for their message.
    pub fn posted(&self, of: impl Fn(oxmpi_transport::wire::Context) -> bool) -> usize {
        let waits = |r: &&Request| r.phase == Phase::Active && r.posted.is_some() && of(r.envelope.ctx);
        self.all.iter().filter(waits).count()
    }
    pub fn active(&self) -> usize {
        self.all.iter().filter(|r| r.phase == Phase::Active).count()
    }
}
