//! Receiving: posting, probing, and what happens when a message and a receive have met.
use crate::counts::{Count, UNEXPECTED_MESSAGE};
use crate::engine::{Early, State, Target};
use crate::matching::Pattern;
use crate::request::{Outcome, ReqId};
use crate::span::Span;
use oxmpi_base::Result;
use oxmpi_base::consts::{MPI_ERR_TRUNCATE, MPI_SUCCESS};
use oxmpi_transport::wire::*;

/// A message taken out of matching by MPI_Mprobe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    pub(crate) early: u32,
    pub envelope: Pattern,
}

/// What a receive became.
pub enum Received {
    Done(Outcome),
    Pending(ReqId),
}

pub(crate) fn arrived(envelope: Pattern, total: u64, room: u64) -> Outcome {
    let error = if total > room { MPI_ERR_TRUNCATE } else { MPI_SUCCESS };
    Outcome { source: envelope.source, tag: envelope.tag, bytes: total.min(room), error, cancelled: false }
}

impl State {
    /// Starts a receive.
    #[inline]
    pub fn recv(&mut self, want: Pattern, span: Span) -> Result<Received> {
        if let Some((envelope, early)) = self.held.take(want) {
            return self.recv_early(Message { early, envelope }, span);
        }
        if want.source >= 0 && self.any_lost() && self.peers[want.source as usize].lost {
            return Err(self.lost(want.source as u32));
        }
        let i = self.requests.start(span, want);
        let place = self.posted.post(want, i);
        self.requests.at(i).posted = Some(place);
        Ok(Received::Pending(self.requests.id(i)))
    }

    /// Receives a message that is here already (also MPI_Mrecv).
    pub fn recv_early(&mut self, m: Message, mut span: Span) -> Result<Received> {
        if let Early::Arriving { peer, .. } | Early::Announced { peer, .. } = *self.early.at(m.early)
            && self.peers[peer as usize].lost
        {
            self.early.take(m.early);
            return Err(self.lost(peer));
        }
        match self.early.take(m.early) {
            Early::Whole { bytes, ack } => {
                // SAFETY: `bytes` holds what is copied.
                let room = unsafe { span.fill(bytes.as_ptr(), bytes.len()) };
                if let Some((peer, send)) = ack {
                    self.control(peer, Kind::Ack, &send.to_ne_bytes())?;
                }
                Ok(Received::Done(arrived(m.envelope, bytes.len() as u64, room)))
            }
            Early::Arriving { bytes, got, peer } => {
                // SAFETY: the first `got` bytes have been written.
                let room = unsafe { span.fill(bytes.as_ptr(), got as usize) };
                let i = self.requests.start(span, m.envelope);
                self.requests.at(i).outcome = arrived(m.envelope, bytes.len() as u64, room);
                let inbound = &mut self.peers[peer as usize].inbound;
                if let Some(b) = inbound.iter_mut().find(|b| b.to == Target::Early(m.early)) {
                    b.to = Target::Request(i);
                }
                Ok(Received::Pending(self.requests.id(i)))
            }
            Early::Announced { peer, rts } => {
                let i = self.requests.start(span, m.envelope);
                let id = self.requests.id(i);
                self.rendezvous(peer, rts, i, false)?;
                Ok(self.finish(id).map_or(Received::Pending(id), Received::Done))
            }
            Early::Local { request } => {
                let room = span.len();
                let mut from = std::mem::replace(&mut self.requests.at(request).span, Span::empty());
                from.copy_to(&mut span);
                let total = from.len();
                self.complete(request, Outcome::SENT);
                Ok(Received::Done(arrived(m.envelope, total, room)))
            }
        }
    }

    /// A message to ourselves whose receive is posted.
    pub(crate) fn receive_local(&mut self, recv: u32, envelope: Pattern, from: &mut Span) {
        let r = self.requests.at(recv);
        r.posted = None;
        let (len, room) = match *from {
            // SAFETY: the sender's buffer, which holds its length.
            Span::Dense { at, len } => (len as u64, unsafe { r.span.fill(at, len) }),
            _ => {
                from.copy_to(&mut r.span);
                (from.len(), r.span.len())
            }
        };
        self.complete(recv, arrived(envelope, len, room));
    }

    /// A message that nobody waits for; a probe may.
    pub(crate) fn keep_early(&mut self, envelope: Pattern, early: u32) {
        self.events += 1;
        self.held.hold(envelope, early);
        self.note_unexpected(envelope, early);
    }

    #[inline(never)]
    fn note_unexpected(&mut self, envelope: Pattern, early: u32) {
        self.counts.add(Count::Unexpected, 1);
        let kept = match self.early.at(early) {
            Early::Whole { bytes, .. } | Early::Arriving { bytes, .. } => bytes.len() as u64,
            Early::Announced { .. } | Early::Local { .. } => 0,
        };
        self.counts.add(Count::UnexpectedBytes, kept);
        if UNEXPECTED_MESSAGE.wanted() {
            let (source, tag) = (envelope.source as u32 as u64, envelope.tag as u32 as u64);
            UNEXPECTED_MESSAGE.happened([source, tag, self.early_len(early), 0]);
        }
    }

    /// The oldest message a receive with this pattern would get.
    pub fn probe(&mut self, want: Pattern) -> Option<Outcome> {
        let (envelope, early) = self.held.peek(want)?;
        Some(arrived(envelope, self.early_len(early), u64::MAX))
    }

    /// As `probe`, and takes the message out of matching.
    pub fn mprobe(&mut self, want: Pattern) -> Option<(Message, Outcome)> {
        let (envelope, early) = self.held.take(want)?;
        Some((Message { early, envelope }, arrived(envelope, self.early_len(early), u64::MAX)))
    }

    fn early_len(&mut self, early: u32) -> u64 {
        match self.early.at(early) {
            Early::Whole { bytes, .. } | Early::Arriving { bytes, .. } => bytes.len() as u64,
            Early::Announced { rts, .. } => rts.total,
            Early::Local { request } => {
                let i = *request;
                self.requests.at(i).span.len()
            }
        }
    }
}
