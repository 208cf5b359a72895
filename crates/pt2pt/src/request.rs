//! Requests: a slab with a free list, so that starting an operation allocates nothing once it is warm.
use crate::matching::{Pattern, Place};
use crate::span::Span;
use oxmpi_base::consts::MPI_SUCCESS;
use oxmpi_transport_shm::node::Ticket;

/// Names a request; stale names are recognised by their generation. Also travels to peers, who send it back.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ReqId(pub u64);

impl ReqId {
    fn new(index: u32, generation: u32) -> ReqId {
        ReqId(index as u64 | (generation as u64) << 32)
    }
    pub fn index(self) -> u32 {
        self.0 as u32
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

#[derive(Default)]
pub(crate) struct Requests {
    all: Vec<Request>,
    free: Vec<u32>,
}

impl Requests {
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
        let generation = r.generation.wrapping_add(1);
        *r = Request { generation, phase: Phase::Active, span, envelope, ..BLANK };
        i
    }
    #[inline]
    pub fn at(&mut self, i: u32) -> &mut Request {
        &mut self.all[i as usize]
    }
    pub fn id(&self, i: u32) -> ReqId {
        ReqId::new(i, self.all[i as usize].generation)
    }
    /// The request of this name if it is one that is under way or done.
    #[inline]
    pub fn get(&mut self, id: ReqId) -> Option<&mut Request> {
        self.all.get_mut(id.index() as usize).filter(|r| r.phase != Phase::Free && r.generation as u64 == id.0 >> 32)
    }
    #[inline]
    pub fn named(&self, index: u32, generation: u32, mask: u32) -> Option<ReqId> {
        let r = self.all.get(index as usize)?;
        (r.phase != Phase::Free && r.generation & mask == generation).then(|| ReqId::new(index, r.generation))
    }
    pub fn free(&mut self, i: u32) {
        let r = &mut self.all[i as usize];
        debug_assert!(r.phase != Phase::Free);
        r.phase = Phase::Free;
        r.span = Span::empty();
        self.free.push(i);
    }
    /// Those under way.
    pub fn under_way(&self) -> Vec<u32> {
        (0..self.all.len() as u32).filter(|i| self.all[*i as usize].phase == Phase::Active).collect()
    }
    pub fn active(&self) -> usize {
        self.all.iter().filter(|r| r.phase == Phase::Active).count()
    }
}
