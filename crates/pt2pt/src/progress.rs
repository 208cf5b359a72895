//! The progress engine: polls what peers send, matches it, moves what waits for room.
use crate::engine::{Early, Inbound, Peer, State, Target};
use crate::matching::Pattern;
use crate::recv::arrived;
use crate::request::{Expects, Outcome};
use oxmpi_base::Result;
use oxmpi_base::consts::{MPI_ERR_INTERN, MPI_ERR_PROC_ABORTED};
use oxmpi_transport::wire::*;
use oxmpi_transport_shm::layout::CHUNK;
use oxmpi_transport_shm::link::Frame;
use oxmpi_transport_shm::node::Node;

/// Frames taken from one ring before the next is looked at.
const BATCH: usize = 64;

/// Up to so many rings are all looked at in every round.
const FEW: usize = 16;
/// Of more, a round looks at those that were active last, and at some of the others in turn.
const HOT: usize = 8;
const STRIPE: usize = 8;

/// Which rings a round looks at.
#[derive(Default)]
pub(crate) struct Sweep {
    /// Places in `State::incoming`: the rings that had something last, latest first.
    hot: [u32; HOT],
    hot_len: usize,
    /// The ring where the next round's stripe of the others begins.
    next: usize,
    /// The next round looks at all.
    all: bool,
    /// Receives that were over without a round (`direct`).
    pub passed_by: u32,
}

impl Sweep {
    /// Ring `k` had something.
    fn active(&mut self, k: usize) {
        let k = k as u32;
        let found = self.hot[..self.hot_len].iter().position(|h| *h == k);
        let at = found.unwrap_or_else(|| {
            self.hot_len = (self.hot_len + 1).min(HOT);
            self.hot_len - 1
        });
        self.hot[..=at].rotate_right(1);
        self.hot[0] = k;
    }
}

#[cold]
fn corrupt(peer: u32, header: u64) -> oxmpi_base::Error {
    let what = format!("the shared-memory ring from process {peer} is corrupt (header {header:#x})");
    oxmpi_base::Error::new(MPI_ERR_INTERN, what)
}

impl State {
    /// One round. Returns whether anything moved.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        self.progress_but(usize::MAX)
    }

    /// One round that leaves ring `but` alone.
    #[inline]
    pub(crate) fn progress_but(&mut self, but: usize) -> Result<bool> {
        if self.node.is_none() {
            return Ok(false);
        }
        if self.arrivals_pending() {
            self.accept()?;
        }
        let mut moved = false;
        if self.incoming.len() <= FEW {
            for k in 0..self.incoming.len() {
                if k != but && self.visit(k, &mut moved).is_none() {
                    return Ok(true);
                }
            }
        } else if self.visit_some(but, &mut moved).is_none() {
            return Ok(true);
        }
        if !self.late.is_empty() {
            self.look_at_late();
        }
        if !self.copies.is_empty() {
            moved |= self.copy_on()?;
        }
        if !self.backlog.is_empty() {
            for b in (0..self.backlog.len()).rev() {
                if let Some(&dest) = self.backlog.get(b) {
                    moved |= self.pump(dest);
                }
            }
        }
        Ok(moved)
    }

    /// Looks at ring `k`. None: it was closed, and rings have moved up; the others' turn comes in the next round.
    #[inline(always)]
    fn visit(&mut self, k: usize, moved: &mut bool) -> Option<bool> {
        match self.drain(k) {
            Ok(any) => {
                *moved |= any;
                Some(any)
            }
            Err(e) => {
                self.close(self.incoming[k].0, &e);
                None
            }
        }
    }

    /// The hot rings and a stripe of all, or all of them where that was asked for.
    fn visit_some(&mut self, but: usize, moved: &mut bool) -> Option<()> {
        let n = self.incoming.len();
        let everywhere = std::mem::take(&mut self.sweep.all);
        if !everywhere {
            let hot = self.sweep.hot;
            for k in &hot[..self.sweep.hot_len] {
                if *k as usize != but {
                    self.visit(*k as usize, moved)?;
                }
            }
        }
        let mut k = self.sweep.next;
        for _ in 0..if everywhere { n } else { STRIPE } {
            k = if k + 1 < n { k + 1 } else { 0 };
            if k != but && self.visit(k, moved)? {
                self.sweep.active(k);
            }
        }
        self.sweep.next = k;
        Some(())
    }

    /// The next round looks at every ring: what has to be before this process sleeps.
    pub(crate) fn look_everywhere(&mut self) {
        self.sweep.all = true;
    }

    #[inline(always)]
    pub(crate) fn arrivals_pending(&self) -> bool {
        self.node.as_ref().is_some_and(Node::arrivals_pending)
    }

    /// Where the ring from this process is, if there is one.
    #[inline(always)]
    pub(crate) fn ring_of(&self, source: i32) -> Option<usize> {
        // A wildcard is no index either.
        match self.peers.get(source as u32 as usize)?.ring {
            0 => None,
            r => Some(r as usize - 1),
        }
    }

    /// Gives the sender of ring `k` back what is owed to it, and wakes it if it waits for that.
    #[inline]
    pub(crate) fn repay(&mut self, k: usize) {
        let (peer, ring) = &mut self.incoming[k];
        ring.hand_back();
        if let Some(n) = &self.node {
            n.feed(*peer as usize, ring);
        }
    }

    /// Handles what ring `k` holds, up to a batch. An error means that what follows in this ring makes no sense.
    #[inline(always)]
    fn drain(&mut self, k: usize) -> Result<bool> {
        let mut batch = 0;
        while batch < BATCH {
            let (peer, ring) = &self.incoming[k];
            let peer = *peer;
            let frame = match ring.front() {
                Ok(Some(f)) => f,
                Ok(None) => break,
                Err(c) => return Err(corrupt(peer, c.0)),
            };
            self.handle(k, peer, &frame)?;
            self.incoming[k].1.pop(frame);
            batch += 1;
        }
        // What is owed goes back when there is nothing else to do, so always before this process sleeps.
        let ring = &self.incoming[k].1;
        if ring.owes() && (batch == 0 || ring.owes_much()) {
            self.repay(k);
        }
        Ok(batch > 0)
    }

    /// What `peer` sends cannot be read on: its rings are closed and every operation that needs it fails with MPI_ERR_INTERN.
    #[cold]
    pub(crate) fn close(&mut self, peer: u32, why: &oxmpi_base::Error) {
        eprintln!(
            "oxmpi: process {}: {}; everything to and from that process fails from now on in lane {}",
            self.me, why.message, self.lane
        );
        self.close_for(peer, MPI_ERR_INTERN);
    }

    /// Every operation that needs `peer` fails with `class`. Of a peer that was aborted that goes for receives from anybody in a communicator of
    /// its too, since nobody else may send.
    #[cold]
    pub(crate) fn close_for(&mut self, peer: u32, class: i32) {
        if crate::counts::PEER_CLOSED.wanted() {
            crate::counts::PEER_CLOSED.happened([peer as u64, 0, 0, 0]);
        }
        // So that `any_lost` is true also where it never sent anything.
        self.accepted += (self.peers[peer as usize].ring == 0) as usize;
        self.incoming.retain(|(p, _)| *p != peer);
        self.sweep = Sweep::default();
        let p = &mut self.peers[peer as usize];
        *p = Peer { lost: true, ..Peer::default() };
        for (k, (q, _)) in self.incoming.iter().enumerate() {
            self.peers[*q as usize].ring = k as u32 + 1;
        }
        self.backlog.retain(|d| *d != peer);
        self.stop_copies(peer);
        self.late.retain(|l| l.dest != peer);
        self.lose_partitions(peer, class);
        for i in self.requests.under_way() {
            let r = self.requests.at(i);
            let from_it = r.envelope.source == peer as i32
                || class == MPI_ERR_PROC_ABORTED
                    && r.envelope.source == crate::matching::ANY_SOURCE
                    && r.posted.is_some()
                    && r.user.and_then(|u| self.enrolled.get(u)).is_none_or(|k| k.rank_of(peer).is_some());
            if r.peer == Some(peer) || (r.peer.is_none() && from_it) {
                self.return_ticket(i);
                let r = self.requests.at(i);
                let envelope = r.envelope;
                if let Some(place) = r.posted.take() {
                    self.posted.withdraw(place);
                }
                let failed = Outcome { source: envelope.source, tag: envelope.tag, error: class, ..Outcome::SENT };
                self.complete(i, failed);
            }
        }
    }

    #[cold]
    fn accept(&mut self) -> Result<()> {
        let mut new = Vec::new();
        if let Some(node) = &mut self.node {
            let peers = &self.peers;
            node.take_arrivals(|p| {
                if !peers[p].lost && peers[p].ring == 0 {
                    new.push(p);
                }
            });
            for p in new {
                let ring = node.accept(p).inspect_err(|_| node.look_again())?;
                self.incoming.push((p as u32, ring));
                self.peers[p].ring = self.incoming.len() as u32;
                self.accepted += 1;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn handle(&mut self, k: usize, peer: u32, f: &Frame) -> Result<()> {
        // SAFETY: the payload is valid for `len` bytes until pop; the peer may still write there, so every use below copies
        // a fixed struct out first or treats the bytes as message data without meaning.
        let payload = unsafe { std::slice::from_raw_parts(f.payload, f.len) };
        let envelope = Pattern { ctx: f.ctx, source: peer as i32, tag: f.tag };
        match f.kind {
            Kind::Eager => {
                if let Some(i) = self.posted.take(envelope) {
                    // SAFETY: `payload` holds `len` bytes.
                    let room = unsafe { self.requests.at(i).span.fill(payload.as_ptr(), payload.len()) };
                    let outcome = arrived(envelope, payload.len() as u64, room);
                    self.complete(i, outcome);
                } else {
                    self.hold(envelope, payload, None);
                }
                Ok(())
            }
            Kind::EagerSync => {
                let (send, data) = payload.split_at_checked(8).ok_or_else(|| self.malformed(peer))?;
                let send = u64::from_ne_bytes(send.try_into().unwrap_or_default());
                if let Some(i) = self.posted.take(envelope) {
                    // SAFETY: `data` holds its length.
                    let room = unsafe { self.requests.at(i).span.fill(data.as_ptr(), data.len()) };
                    let outcome = arrived(envelope, data.len() as u64, room);
                    self.complete(i, outcome);
                    self.control(peer, Kind::Ack, &send.to_ne_bytes())?;
                } else {
                    self.hold(envelope, data, Some((peer, send)));
                }
                Ok(())
            }
            Kind::EagerLong => {
                let rts = Rts::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.begin_long(envelope, peer, rts)
            }
            Kind::Rts => {
                let rts = Rts::decode(payload).ok_or_else(|| self.malformed(peer))?;
                match self.posted.take(envelope) {
                    Some(i) => {
                        let r = self.requests.at(i);
                        (r.posted, r.envelope) = (None, envelope);
                        self.rendezvous(peer, rts, i, true)?
                    }
                    None => {
                        let e = self.early.put(Early::Announced { peer, rts });
                        self.keep_early(envelope, e);
                    }
                }
                Ok(())
            }
            Kind::Cts => {
                let cts = Cts::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.clear_to_send(peer, cts)
            }
            Kind::Data => {
                let d = Data::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.data(k, peer, d)
            }
            Kind::Late => {
                let send = payload.try_into().map(u64::from_ne_bytes).map_err(|_| self.malformed(peer))?;
                self.comes_late(peer, send)
            }
            Kind::Share => {
                let share = Share::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.share(peer, share)
            }
            Kind::Part => {
                let part = Part::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.part(peer, part)
            }
            Kind::Ack | Kind::Fin => {
                let send = payload.try_into().map(u64::from_ne_bytes).map_err(|_| self.malformed(peer))?;
                self.sent(peer, send, if f.kind == Kind::Ack { Expects::Ack } else { Expects::Answer })
            }
            kind => self.handle_rare(kind, envelope, payload),
        }
    }

    /// What few programs ever get. By values, so that the frame itself need not be in memory.
    #[cold]
    #[inline(never)]
    fn handle_rare(&mut self, kind: Kind, envelope: Pattern, payload: &[u8]) -> Result<()> {
        let peer = envelope.source as u32;
        match kind {
            Kind::Retract => {
                let r = Retract::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.retract(peer, Pattern { tag: r.tag, ..envelope }, r.send)
            }
            Kind::Retracted => {
                let send = payload.try_into().map(u64::from_ne_bytes).map_err(|_| self.malformed(peer))?;
                self.retracted(peer, send)
            }
            kind => self.about_partitions(kind, envelope, payload),
        }
    }

    pub(crate) fn malformed(&self, peer: u32) -> oxmpi_base::Error {
        self.intern(format!("process {peer} sent a frame that makes no sense"))
    }

    fn hold(&mut self, envelope: Pattern, data: &[u8], ack: Option<(u32, u64)>) {
        let e = self.early.put(Early::Whole { bytes: data.to_vec(), ack });
        self.keep_early(envelope, e);
    }

    /// A message whose chunks follow at once.
    fn begin_long(&mut self, envelope: Pattern, peer: u32, rts: Rts) -> Result<()> {
        if rts.total == 0 || rts.total > crate::send::EAGER_MOST || self.receiving(peer, rts.send) {
            return Err(self.malformed(peer));
        }
        let to = match self.posted.take(envelope) {
            Some(i) => {
                let r = self.requests.at(i);
                r.posted = None;
                r.envelope = envelope;
                r.outcome = arrived(envelope, rts.total, r.span.len());
                Target::Request(i)
            }
            None => {
                let bytes = vec![0; rts.total as usize];
                let e = self.early.put(Early::Arriving { bytes, got: 0, peer });
                self.keep_early(envelope, e);
                Target::Early(e)
            }
        };
        // Only a message whose receive was waiting shows how fast this way is.
        let timed = match to {
            Target::Request(i) => self.time_eager(peer, i, &rts),
            Target::Early(_) => None,
        };
        self.peers[peer as usize].inbound.push(Inbound { send: rts.send, expect: rts.total, got: 0, to, timed });
        Ok(())
    }

    /// Whether chunks of this message are expected already: a sender's request names one message at a time.
    pub(crate) fn receiving(&self, peer: u32, send: u64) -> bool {
        self.peers[peer as usize].inbound.iter().any(|b| b.send == send)
    }

    /// A chunk of some inbound message.
    fn data(&mut self, k: usize, peer: u32, d: Data) -> Result<()> {
        let n = d.len as usize;
        let inbound = &mut self.peers[peer as usize].inbound;
        let Some(at) = inbound.iter().position(|b| b.send == d.send) else { return Err(self.malformed(peer)) };
        let b = &mut inbound[at];
        if n == 0 || n > CHUNK || b.got + n as u64 > b.expect {
            return Err(self.malformed(peer));
        }
        let (from, offset, to, timed, total) = (self.incoming[k].1.chunk(n), b.got, b.to, b.timed, b.expect);
        b.got += n as u64;
        let last = b.got == b.expect;
        if last {
            inbound.remove(at);
        }
        match to {
            // SAFETY: the chunk holds CHUNK >= n bytes until it is released below.
            Target::Request(i) => unsafe { self.requests.at(i).span.write(offset, from, n) },
            Target::Early(e) => {
                if let Early::Arriving { bytes, got, .. } = self.early.at(e) {
                    let Some(part) = bytes.get_mut(offset as usize..offset as usize + n) else {
                        return Err(self.malformed(peer));
                    };
                    // SAFETY: as above; `part` is `n` bytes of ours.
                    unsafe { std::ptr::copy_nonoverlapping(from, part.as_mut_ptr(), n) };
                    *got += n as u64;
                }
            }
        }
        self.incoming[k].1.release_chunk(n);
        if last {
            if let Some(t) = timed {
                self.learn(peer, total, t);
            }
            match to {
                Target::Request(i) => {
                    let outcome = self.requests.at(i).outcome;
                    self.complete(i, outcome);
                }
                Target::Early(e) => {
                    if let Early::Arriving { bytes, .. } = self.early.at(e) {
                        let bytes = std::mem::take(bytes);
                        *self.early.at(e) = Early::Whole { bytes, ack: None };
                    }
                }
            }
        }
        Ok(())
    }
}
