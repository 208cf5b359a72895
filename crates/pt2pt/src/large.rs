//! Large messages: announced, then moved by single copy or through chunks, whichever has proved faster.
//!
//! The receiver decides when it has matched an announcement (Rts) and is the judge of the transfer:
//! * pipeline: it asks for chunks (Cts);
//! * one side: it reads the sender's memory itself; or, where only its own memory is one run, it has the sender write (Share, "all by sender");
//! * both sides: it sends Share and both copy pieces. A ticket counter in the sender's shared page says how many pieces are taken: the sender's
//!   k-th ticket is piece k from the front, the receiver's k-th is piece k from the back, so no piece is copied twice and either side alone finishes if
//!   the other is busy elsewhere. A sender that took any says when they are in place (Part).
//!
//! When all pieces are in place the receiver completes and frees the sender (Fin). When a piece fails, on either side, the whole message is asked
//! for again through chunks (Cts); the mechanism that failed is closed for that peer, unless the buffer was to blame (EFAULT).
//!
//! Messages up to [`LONG_MAX`] are sent at once (EagerLong), or announced where the receiver has found that faster. As programs may count on such a
//! message leaving without its receive, an announcement that nobody takes is withdrawn after a short while, with the ticket counter as judge, and
//! the message is sent after all (Late).
//!
//! Invariants: a request has at most one [`Copy`]; a buffer is free only when no side copies from or to it any more. What is not one run in memory is
//! copied by its owner in lists of runs, without a temporary copy. A turn of progress copies at most [`TURN`] bytes, so that large transfers and
//! small messages share a process.
//! Known gaps: what is in pieces on both sides goes through chunks; a transfer that the sender does alone cannot be called back
//! when its ring is closed; an error of the engine in a wait leaves the buffer in use while a copy is under way.
//! This module is one of the crate's homes of `unsafe`.
use crate::engine::{Early, Inbound, State, Target};
use crate::recv::arrived;
use crate::request::{Expects, ReqId};
use crate::send::{EAGER_LIMIT, LONG_MAX};
use oxmpi_base::Result;
use oxmpi_transport::wire::*;
use oxmpi_transport_shm::choice::{COOPERATIVE_MIN, Mechanism, Way, Ways, class_of};
use oxmpi_transport_shm::node::Ticket;
use oxmpi_transport_shm::single::{Exposed, Piece, SINGLE_COPY_MIN, Way as Direction};

/// Shortest and longest pieces of a shared transfer.
const PIECE: (u64, u64) = (4 * 1024, 256 * 1024);
/// Pieces of a transfer by one side, and what a turn of progress copies at most.
const TURN: u64 = 1024 * 1024;
/// What a failed transfer counts for.
const FAILED_NS: u64 = 1_000_000_000;
/// Where runs are shorter than this on average, chunks are better than lists of runs.
const RUN_MIN: u64 = 128;

/// Size classes of messages up to [`LONG_MAX`] that are too long for one frame.
pub(crate) const MIDDLE: usize = 4;
/// Turns of progress that an announcement of such a message waits.
const PATIENCE: u64 = 200;

/// See the module's text on messages up to [`LONG_MAX`].
pub(crate) struct Late {
    pub request: ReqId,
    pub dest: u32,
    since: u64,
}

/// A transfer whose time is to be learned.
#[derive(Clone, Copy)]
pub(crate) struct Timed {
    pub since: u64,
    pub way: Way,
    pub shaped: bool,
}

/// This process's part in a transfer by single copy.
pub(crate) struct Copy {
    pub peer: u32,
    request: ReqId,
    /// The other side's request.
    theirs: u64,
    direction: Direction,
    mechanism: Mechanism,
    there: Exposed,
    limit: u64,
    piece: u64,
    /// The sender's ticket counter, where both sides copy.
    ticket: Option<Ticket>,
    /// Pieces that are this side's without a claim: the receiver's first.
    claimed: u64,
    /// How many claims the counter takes: all pieces, but for the receiver's first where that needed none.
    claims: u64,
    /// Pieces that this side has taken.
    taken: u64,
    /// No more pieces for this side.
    over: bool,
    failed: bool,
    /// Receiver, once over: the sender took pieces as well.
    awaits: bool,
    /// What the sender said of them.
    part: Option<bool>,
    timed: Timed,
}

impl Copy {
    fn pieces(&self) -> u64 {
        pieces(self.limit, self.piece)
    }
    /// The rank whose page holds the ticket counter.
    fn sender(&self, me: u32) -> usize {
        match self.direction {
            Direction::Pull => self.peer as usize,
            Direction::Push => me as usize,
        }
    }
}

impl State {
    /// Send request `i`, as the receiver is told of it.
    pub(crate) fn describe(&mut self, i: u32) -> Rts {
        let send = self.requests.id(i).0;
        let r = self.requests.at(i);
        let stamp = oxmpi_sys::clock::nanos();
        let mut rts = Rts { total: r.limit, send, ticket: NO_TICKET, stamp, ..Rts::default() };
        match (r.span.address(), &mut self.node) {
            (Some(at), Some(node)) => {
                let e = node.single().expose(at, r.limit as usize);
                (rts.address, rts.place) = (e.address, e.place);
            }
            _ => rts.run = r.span.mean_run().min(BY_COOKIE as u64 - 1) as u32,
        }
        rts
    }

    /// Whether a message that could be sent at once is announced.
    pub(crate) fn announces(&mut self, dest: u32, i: u32) -> bool {
        let Some(node) = &mut self.node else { return false };
        let r = self.requests.at(i);
        if r.span.address().is_none() || !node.prefers_announced(dest as usize, class_of(r.limit)) {
            return false;
        }
        if r.ticket.is_none() {
            r.ticket = node.take_ticket();
        }
        r.ticket.is_some()
    }

    /// Announces send request `i`.
    pub(crate) fn announce(&mut self, dest: u32, i: u32) -> bool {
        let mut rts = self.describe(i);
        let r = self.requests.at(i);
        if rts.address != 0
            && r.ticket.is_none()
            && let Some(node) = &mut self.node
        {
            r.ticket = node.take_ticket();
        }
        rts.ticket = r.ticket.map_or(NO_TICKET, |t| t.0);
        if rts.address != 0 && rts.place == 0 && rts.total > LONG_MAX {
            self.lend(dest, i, &mut rts);
        }
        let r = self.requests.at(i);
        let may_be_withdrawn = r.limit <= LONG_MAX.min(EAGER_LIMIT.get()) && !r.sync && rts.ticket != NO_TICKET;
        if may_be_withdrawn {
            rts.run = MAY_BE_WITHDRAWN;
        }
        let out = self.peers[dest as usize].out.as_mut().expect("connected before anything is queued");
        let sent = out.push_bytes(Kind::Rts, r.envelope.ctx, r.envelope.tag, &rts.encode());
        if sent {
            r.expects = Expects::Answer;
            if may_be_withdrawn {
                let request = self.requests.id(i);
                self.late.push(Late { request, dest, since: self.turns });
            }
        }
        sent
    }

    /// Where nothing else reaches our memory, KNEM may: the announcement then carries a cookie in the place of the address.
    fn lend(&mut self, dest: u32, i: u32, rts: &mut Rts) {
        let Some(node) = &mut self.node else { return };
        let lent = self.lent.iter().position(|(k, _)| *k == i).or_else(|| {
            let at = std::ptr::with_exposed_provenance_mut(rts.address as usize);
            self.lent.push((i, node.lend(dest as usize, at, rts.total as usize)?));
            Some(self.lent.len() - 1)
        });
        if let Some(k) = lent {
            (rts.address, rts.run) = (self.lent[k].1.cookie(), BY_COOKIE);
        }
    }

    /// Announcements whose time is over are withdrawn. A receiver that takes others meanwhile is on its way.
    #[cold]
    pub(crate) fn look_at_late(&mut self) {
        self.turns += 1;
        if self.late.iter().any(|l| self.is_late(l, PATIENCE)) {
            self.withdraw(PATIENCE);
        }
    }
    fn is_late(&self, l: &Late, patience: u64) -> bool {
        self.turns - l.since.max(self.peers[l.dest as usize].heard) >= patience
    }
    /// This thread is about to sleep: nothing may wait for its patience to end.
    pub(crate) fn hurry(&mut self) {
        if !self.late.is_empty() {
            self.withdraw(0);
        }
    }
    fn withdraw(&mut self, patience: u64) {
        for k in (0..self.late.len()).rev() {
            if !self.is_late(&self.late[k], patience) {
                continue;
            }
            let Late { request, dest, .. } = self.late.remove(k);
            let Some(r) = self.requests.get(request).filter(|r| r.expects == Expects::Answer) else { continue };
            let (Some(t), Some(node)) = (r.ticket, &mut self.node) else { continue };
            if node.close_ticket(self.me as usize, t, 0).is_none() {
                continue; // the receiver has come
            }
            r.expects = Expects::Nothing;
            self.return_ticket(request.index());
            self.peers[dest as usize].pushing.push_back(request.index());
            // A failure here is a process whose ring was closed, which has failed the request.
            let _ = self.control(dest, Kind::Late, &request.0.to_ne_bytes());
        }
    }

    /// The sender of an announced message sends it after all.
    pub(crate) fn comes_late(&mut self, peer: u32, send: u64) -> Result<()> {
        if self.receiving(peer, send) {
            return Ok(()); // its receive was here first and has found out
        }
        let Some((e, total)) = self.early.find(|e| match e {
            Early::Announced { peer: p, rts } if *p == peer && rts.send == send => Some(rts.total),
            _ => None,
        }) else {
            return Err(self.malformed(peer));
        };
        if total > LONG_MAX {
            return Err(self.malformed(peer));
        }
        *self.early.at(e) = Early::Arriving { bytes: vec![0; total as usize], got: 0, peer };
        let to = Target::Early(e);
        self.peers[peer as usize].inbound.push(Inbound { send, expect: total, got: 0, to, timed: None });
        Ok(())
    }

    /// A message that came at once has met its waiting receive `i`.
    pub(crate) fn time_eager(&mut self, peer: u32, i: u32, rts: &Rts) -> Option<Timed> {
        if class_of(rts.total) >= MIDDLE {
            return None;
        }
        let there = there(rts);
        let shaped = there.address == 0 || self.requests.at(i).span.address().is_none();
        if shaped {
            return None;
        }
        let limit = rts.total.min(self.requests.at(i).span.len());
        let next = self.way_for(peer, i, rts, &there, limit, true);
        self.next_way[class_of(rts.total)] = Some(next);
        Some(Timed { since: rts.stamp, way: Way::Eager, shaped: false })
    }

    /// Send request `i` is no longer copied from: what was taken for that is given back.
    pub(crate) fn return_ticket(&mut self, i: u32) {
        if !self.lent.is_empty() {
            self.lent.retain(|(k, _)| *k != i);
        }
        if let Some(t) = self.requests.at(i).ticket.take()
            && let Some(n) = &mut self.node
        {
            n.give_ticket(t);
        }
    }

    /// Receive request `i`, whose envelope is by now that of the message, has met an announcement; `waited`: it was posted before.
    pub(crate) fn rendezvous(&mut self, peer: u32, rts: Rts, i: u32, waited: bool) -> Result<()> {
        if self.receiving(peer, rts.send) || self.copies.iter().any(|c| c.peer == peer && c.theirs == rts.send) {
            return Err(self.intern(format!("process {peer} announced the same message twice")));
        }
        let r = self.requests.at(i);
        r.posted = None;
        let room = r.span.len();
        let outcome = arrived(r.envelope, rts.total, room);
        r.outcome = outcome;
        let limit = rts.total.min(room);
        let mut ticket = (rts.ticket != NO_TICKET).then_some(Ticket(rts.ticket));
        // The first claim of a message that may be withdrawn is the claim on the message. Where the counter cannot be reached, nobody claims, so
        // the sender withdraws.
        if rts.total <= LONG_MAX
            && let Some(t) = ticket
            && let Some(node) = &mut self.node
            && !node.claim(peer as usize, t, 1)
        {
            ticket = None;
            if rts.run == MAY_BE_WITHDRAWN {
                let to = Target::Request(i);
                let inbound = Inbound { send: rts.send, expect: rts.total, got: 0, to, timed: None };
                self.peers[peer as usize].inbound.push(inbound);
                return Ok(());
            }
        }
        if limit == 0 {
            self.control(peer, Kind::Fin, &rts.send.to_ne_bytes())?;
            self.complete(i, outcome);
            return Ok(());
        }
        let there = there(&rts);
        let ours = self.requests.at(i).span.address();
        let shaped = ours.is_none() || there.address == 0;
        let now = oxmpi_sys::clock::nanos();
        // A stamp from the future, or from long ago, is no stamp.
        let since = if waited && rts.stamp <= now && now - rts.stamp < 1_000_000_000 { rts.stamp } else { now };
        let planned = if rts.total <= LONG_MAX { self.next_way[class_of(rts.total)].take() } else { None };
        let mut way = match planned {
            Some(w @ (Way::Alone(m) | Way::Both(m))) if !shaped && self.reaches(m, peer, &there) => w,
            _ => self.way_for(peer, i, &rts, &there, limit, false),
        };
        if let (Way::Both(_), None) = (way, ticket) {
            way = Way::Pipeline;
        }
        if rts.total <= LONG_MAX && !shaped {
            self.next_way[class_of(rts.total)] = Some(self.way_for(peer, i, &rts, &there, limit, true));
        }
        let timed = Timed { since, way, shaped };
        let copy = |mechanism, piece, ticket, direction| Copy {
            peer,
            request: ReqId(0),
            theirs: rts.send,
            direction,
            mechanism,
            there,
            limit,
            piece,
            ticket,
            claimed: ticket.is_some() as u64,
            claims: claims(rts.total, pieces(limit, piece)),
            taken: 0,
            over: false,
            failed: false,
            awaits: false,
            part: None,
            timed,
        };
        let c = match way {
            Way::Eager | Way::Pipeline => return self.ask_for_chunks(peer, rts.send, limit, i, Some(timed)),
            Way::Alone(m) if there.address != 0 => copy(m, TURN, None, Direction::Pull),
            Way::Alone(m) => Copy { over: true, awaits: true, ..copy(m, TURN, None, Direction::Pull) },
            Way::Both(m) => copy(m, shared_piece(limit), ticket, Direction::Pull),
        };
        let c = Copy { request: self.requests.id(i), ..c };
        if c.ticket.is_some() || c.over {
            let Some(at) = ours else { return Err(self.intern("a transfer into memory that is not one run".into())) };
            let Some(node) = &mut self.node else { return Ok(()) };
            let e = node.single().expose(at, limit as usize);
            let how = c.mechanism as u32 | if c.over { ALL_BY_SENDER } else { 0 };
            let share = Share {
                send: rts.send,
                recv: c.request.0,
                address: e.address,
                place: e.place,
                limit,
                piece: c.piece as u32,
                how,
            };
            self.control(peer, Kind::Share, &share.encode())?;
        }
        // Copied in this turn of progress or in the next, after what else the ring holds: the sender can begin meanwhile.
        self.copies.push(c);
        self.stir(); // a thread that sleeps could do it
        Ok(())
    }

    /// Which way this message goes, of those that are open for it.
    fn way_for(&mut self, peer: u32, i: u32, rts: &Rts, there: &Exposed, limit: u64, eager: bool) -> Way {
        let Some(node) = &mut self.node else { return Way::Pipeline };
        let span = &mut self.requests.at(i).span;
        let shaped = there.address == 0 || span.address().is_none();
        // Asking for chunks of a message that could come at once is never better.
        let mut open = Ways::default().with(if eager { Way::Eager } else { Way::Pipeline });
        if limit >= SINGLE_COPY_MIN.get() {
            match (there.address != 0, span.address()) {
                (true, Some(at)) => {
                    let pull = node.open(peer as usize, there);
                    // What reaches them reaches us, but for the heap where our memory does not lie in it.
                    let ours = node.single().expose(at, limit as usize);
                    // And by KNEM the receiver alone copies.
                    let push =
                        pull & !(((ours.place == 0) as u8) << Mechanism::Heap as u8 | 1 << Mechanism::Knem as u8);
                    // What came at once would have had a ticket.
                    let ticket = Ticket(rts.ticket);
                    let both = eager || (rts.ticket != NO_TICKET && node.has_ticket(peer as usize, ticket));
                    open = open.with_mechanisms(pull, if both && limit >= COOPERATIVE_MIN.get() { push } else { 0 });
                }
                // Only our side is in pieces: we read.
                (true, None) if span.mean_run() >= RUN_MIN => {
                    open = open.with_mechanisms(node.open(peer as usize, there), 0);
                }
                // Only their side is: they write.
                (false, Some(at)) if rts.run as u64 >= RUN_MIN => {
                    let ours = node.single().expose(at, limit as usize);
                    open = open.with_mechanisms(node.open(peer as usize, &ours), 0);
                }
                _ => {}
            }
        }
        let d = node.distance(peer as usize);
        self.choice.choose(d, shaped, limit, open)
    }

    fn ask_for_chunks(&mut self, peer: u32, send: u64, limit: u64, i: u32, timed: Option<Timed>) -> Result<()> {
        let inbound = Inbound { send, expect: limit, got: 0, to: Target::Request(i), timed };
        self.peers[peer as usize].inbound.push(inbound);
        self.control(peer, Kind::Cts, &Cts { send, limit }.encode())
    }

    pub(crate) fn learn(&mut self, peer: u32, bytes: u64, t: Timed) {
        let now = oxmpi_sys::clock::nanos();
        let Some(node) = &mut self.node else { return };
        // While many are under way, each costs the time since the one before was done.
        let since = t.since.max(self.last_done);
        self.last_done = now;
        if since <= now {
            let d = node.distance(peer as usize);
            let last = self.copies.is_empty() && self.peers[peer as usize].inbound.is_empty();
            self.choice.learn(d, t.shaped, bytes, t.way, now - since, last);
        }
        // Whatever was planned for the next one is what the peers are asked for.
        if let Some(Some(next)) = self.next_way.get(class_of(bytes)) {
            node.prefer(class_of(bytes), *next != Way::Eager);
        }
    }

    fn reaches(&mut self, m: Mechanism, peer: u32, there: &Exposed) -> bool {
        self.node.as_mut().is_some_and(|n| n.can(m, peer as usize, there))
    }

    /// Whether request `i` has a part in a transfer.
    pub(crate) fn copying(&self, i: u32) -> bool {
        self.copies.iter().any(|c| c.request.index() == i)
    }

    /// Nothing more is copied from or to `peer`, but for a piece that it has in hand.
    pub(crate) fn stop_copies(&mut self, peer: u32) {
        for c in self.copies.iter().filter(|c| c.peer == peer) {
            if let (Some(t), Some(node)) = (c.ticket, &mut self.node) {
                node.close_ticket(c.sender(self.me), t, u32::MAX - 1);
            }
        }
        self.copies.retain(|c| c.peer != peer);
    }

    /// The receiver has ended or changed the transfer of send request `i`: a part that this side has not begun is void. False where it has.
    pub(crate) fn void(&mut self, i: u32) -> bool {
        self.copies.retain(|c| c.request.index() != i || c.taken > 0);
        !self.copying(i)
    }

    /// The receiver has matched our announcement and opens its memory.
    pub(crate) fn share(&mut self, peer: u32, s: Share) -> Result<()> {
        let i = self.answered(peer, s.send, Expects::Answer)?;
        let all = s.how & ALL_BY_SENDER != 0;
        let r = self.requests.at(i);
        // The receiver's Fin or Cts is still to come.
        r.expects = Expects::Answer;
        let (total, ticket) = (r.limit, r.ticket);
        let mechanism = Mechanism::from_u8(s.how as u8);
        let fits = s.limit > 0 && s.limit <= total && s.piece > 0 && (all || ticket.is_some()) && !self.copying(i);
        let Some(mechanism) = mechanism.filter(|_| fits) else {
            return Err(self.intern(format!("process {peer} asked to share a transfer in a way that makes no sense")));
        };
        let there = Exposed { address: s.address, by_cookie: false, place: s.place };
        let open = self.node.as_mut().is_some_and(|n| n.can(mechanism, peer as usize, &there));
        if !open && !all {
            return Ok(()); // the receiver takes all pieces itself
        }
        self.stir();
        self.copies.push(Copy {
            peer,
            request: self.requests.id(i),
            theirs: s.recv,
            direction: Direction::Push,
            mechanism,
            there,
            limit: s.limit,
            piece: s.piece as u64,
            ticket: if all { None } else { ticket },
            claimed: 0,
            claims: claims(total, pieces(s.limit, s.piece as u64)),
            taken: 0,
            over: !open,
            failed: !open,
            awaits: false,
            part: None,
            timed: Timed { since: 0, way: Way::Pipeline, shaped: all },
        });
        self.settle(self.copies.len() - 1)
    }

    /// The sender has done its pieces of a transfer to us.
    pub(crate) fn part(&mut self, peer: u32, p: Part) -> Result<()> {
        let is_it = |c: &Copy| c.peer == peer && c.request.0 == p.recv && c.direction == Direction::Pull;
        let Some(k) = self.copies.iter().position(is_it) else { return Err(self.malformed(peer)) };
        let c = &mut self.copies[k];
        c.part = Some(p.done != 0);
        // A sender speaks when no piece is left to claim.
        c.over |= c.taken >= c.claimed || p.done == 0;
        self.settle(k)
    }

    /// Copies up to a turn's worth of pieces. First those that are this side's, the oldest transfer's first; then the receiver takes from what the
    /// sender has not come to yet, the newest transfer's first.
    pub(crate) fn copy_on(&mut self) -> Result<bool> {
        let mut copied = 0;
        while copied < TURN {
            let alone = |c: &Copy| c.ticket.is_none() || c.direction == Direction::Push || c.pieces() > 2;
            let mine = |c: &Copy| !c.over && (alone(c) || c.taken < c.claimed);
            let next = self.copies.iter().position(mine).or_else(|| self.copies.iter().rposition(|c| !c.over));
            let Some(k) = next else { break };
            copied += self.copy_piece(k).max(1);
            let peer = self.copies[k].peer;
            if let Err(e) = self.settle(k) {
                self.close(peer, &e);
            }
        }
        Ok(copied > 0)
    }

    /// Takes and copies one piece of transfer `k`; finds out when there is none left.
    fn copy_piece(&mut self, k: usize) -> u64 {
        let me = self.me;
        let c = &mut self.copies[k];
        let Some(node) = &mut self.node else {
            c.over = true;
            return 0;
        };
        let n = c.pieces();
        let pulls = c.direction == Direction::Pull;
        let gone = match c.ticket {
            _ if c.taken >= n => true,
            _ if c.taken < c.claimed => false,
            Some(t) => !node.claim(c.sender(me), t, c.claims),
            None => false,
        };
        if gone {
            c.over = true;
            c.awaits = pulls && c.ticket.is_some() && c.taken < n;
            return 0;
        }
        let index = if pulls && c.ticket.is_some() { n - 1 - c.taken } else { c.taken };
        c.taken += 1;
        let offset = index * c.piece;
        let len = if index + 1 == n { c.limit - offset } else { c.piece };
        let span = &mut self.requests.at(c.request.index()).span;
        let mut runs = std::mem::take(&mut self.runs);
        runs.clear();
        span.runs(offset, len as usize, &mut runs);
        let piece = Piece { mechanism: c.mechanism, way: c.direction, there: c.there, offset };
        // SAFETY: the runs are the user's memory of a request that is under way.
        if !unsafe { node.copy(c.peer as usize, &piece, &mut runs) } {
            (c.failed, c.over) = (true, true);
            if let Some(t) = c.ticket {
                // No more for the other side either; what it has taken, it will speak of.
                let counted = node.close_ticket(c.sender(me), t, u32::MAX - 1).map_or(n, u64::from);
                c.awaits = pulls && counted > c.taken - (n - c.claims);
            }
        }
        self.runs = runs;
        len
    }

    /// What follows when this side has no more to copy in transfer `k`.
    fn settle(&mut self, k: usize) -> Result<()> {
        let c = &self.copies[k];
        if !c.over || (c.awaits && c.part.is_none()) {
            return Ok(());
        }
        let c = self.copies.remove(k);
        let i = c.request.index();
        if c.direction == Direction::Push {
            // A receiver that did all itself does not wait for a word.
            if c.taken == 0 && c.ticket.is_some() {
                return Ok(());
            }
            return self.control(c.peer, Kind::Part, &Part { recv: c.theirs, done: !c.failed as u32 }.encode());
        }
        if c.failed || c.part == Some(false) {
            // Not tried again soon, wherever it failed.
            if let Some(node) = &mut self.node {
                let d = node.distance(c.peer as usize);
                self.choice.learn(d, c.timed.shaped, c.limit, c.timed.way, FAILED_NS, true);
            }
            return self.ask_for_chunks(c.peer, c.theirs, c.limit, i, None);
        }
        self.learn(c.peer, c.limit, c.timed);
        self.control(c.peer, Kind::Fin, &c.theirs.to_ne_bytes())?;
        let outcome = self.requests.at(i).outcome;
        self.complete(i, outcome);
        Ok(())
    }
}

/// The memory that was announced.
fn there(rts: &Rts) -> Exposed {
    Exposed { address: rts.address, by_cookie: rts.run == BY_COOKIE, place: rts.place }
}

/// How many of a transfer's pieces are claimed at the counter. The receiver's first claims the message where it may be withdrawn; elsewhere it is
/// the receiver's anyway, and a locked instruction before the first copy is spared.
fn claims(total: u64, pieces: u64) -> u64 {
    if total <= LONG_MAX { pieces } else { pieces - 1 }
}

/// The last piece holds what is left over as well.
fn pieces(limit: u64, piece: u64) -> u64 {
    (limit / piece).max(1)
}

/// How long the pieces of a shared transfer are: two while one call copies its part well, later such that neither side waits long at the
/// end. The sender, who starts one hop later, gets the smaller one of two; whole pages, as a page that both copy from is looked up twice.
fn shared_piece(limit: u64) -> u64 {
    let piece = if limit <= 2 * PIECE.1 { limit * 7 / 16 / 4096 * 4096 } else { PIECE.1 };
    piece.max(PIECE.0).max(limit >> 30)
}
