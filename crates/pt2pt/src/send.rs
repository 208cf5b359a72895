//! Sending: inline, chunked eager, announced; queues for what finds no room.
//!
//! | bytes | protocol |
//! |---|---|
//! | up to [`INLINE_MAX`] | one frame (EagerSync with an Ack for synchronous mode) |
//! | up to [`EAGER_LIMIT`] | EagerLong: an announcement and chunks at once; without a request where there is room for all of it |
//! | more, and synchronous | Rts: single copy by the receiver, or Cts and chunks |
use crate::engine::{Early, Peer, Route, State, Waiting};
use crate::matching::Pattern;
use crate::request::{Expects, Outcome, Phase, ReqId};
use crate::span::Span;
use oxmpi_base::Result;
use oxmpi_ring::bytes::into_lines;
use oxmpi_transport::wire::*;
use oxmpi_transport_shm::choice::class_of;
use oxmpi_transport_shm::layout::CHUNK;
use oxmpi_transport_shm::link::Outgoing;

oxmpi_base::control! {
    /// Messages of up to this many bytes go at once with their data, which the receiver keeps when it does not wait
    /// for them yet. Longer ones are announced, and the receiver fetches or asks for the data. A higher limit saves
    /// round trips with receivers that come late, and costs memory and a second copy there.
    pub static EAGER_LIMIT: Size = Size::new("pt2pt_eager_limit", 32 << 10, INLINE_MAX as u64..=EAGER_MOST).live();
}

/// Largest message whose data any peer, with whatever limit, sends without asking.
pub const EAGER_MOST: u64 = 1 << 20;

/// Largest message that is announced instead where the receiver finds that faster, and sent after all when it does not come (see
/// `large`). Both sides have to agree on it.
pub const LONG_MAX: u64 = 32 * 1024;

/// In the place of a request, for messages of which all pieces are pushed with the announcement. No request has this name.
const AT_ONCE: u64 = u64::MAX;

/// The standard's send modes as far as the engine tells them apart: ready is standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Standard,
    Synchronous,
}

impl State {
    /// Starts a send. `None`: it is complete and the buffer is free.
    #[inline]
    pub fn send(&mut self, ctx: Context, dest: u32, tag: i32, span: Span, mode: Mode) -> Result<Option<ReqId>> {
        if self.route(dest) == Route::Loopback {
            return self.send_self(ctx, tag, span, mode);
        }
        let peer = &mut self.peers[dest as usize];
        let len = span.len();
        if mode == Mode::Standard
            && len <= INLINE_MAX as u64
            && peer.waiting.is_empty()
            && let Some(out) = &mut peer.out
        {
            let mut span = span;
            if push_eager(out, ctx, tag, &mut span) {
                if let Some(n) = &self.node {
                    n.ring(dest as usize);
                }
                return Ok(None);
            }
            return self.send_slow(ctx, dest, tag, span, mode);
        }
        if mode == Mode::Standard && self.send_long_now(ctx, dest, tag, &span) {
            return Ok(None);
        }
        self.send_slow(ctx, dest, tag, span, mode)
    }

    /// A message that follows its announcement at once, if it is one run and there is room for all of it: no request, then.
    fn send_long_now(&mut self, ctx: Context, dest: u32, tag: i32, span: &Span) -> bool {
        let Span::Dense { at: from, len } = *span else { return false };
        let peer = &mut self.peers[dest as usize];
        let (Some(out), Some(node)) = (&mut peer.out, &mut self.node) else { return false };
        let step = piece(len as u64) as usize;
        let starts = (0..len).step_by(step);
        if len <= INLINE_MAX
            || len as u64 > LONG_MAX.min(EAGER_LIMIT.get())
            || !peer.waiting.is_empty()
            || !peer.pushing.is_empty()
            || !out.room_for(len, starts.len())
            || node.prefers_announced(dest as usize, class_of(len as u64))
        {
            return false;
        }
        let stamp = oxmpi_sys::clock::nanos();
        // The receiver learns from where the bytes are whether it would rather have them announced.
        let e = node.single().expose(from, len);
        let (address, place) = (e.address, e.place);
        let announcement =
            Rts { total: len as u64, send: AT_ONCE, address, place, ticket: NO_TICKET, stamp, ..Rts::default() };
        let mut sent = out.push_bytes(Kind::EagerLong, ctx, tag, &announcement.encode());
        node.ring(dest as usize);
        for start in starts {
            // SAFETY: inside the user's buffer.
            sent &= unsafe { push_piece(out, AT_ONCE, from.add(start), step.min(len - start)) };
        }
        debug_assert!(sent, "room was checked");
        node.ring(dest as usize);
        true
    }

    fn send_slow(&mut self, ctx: Context, dest: u32, tag: i32, span: Span, mode: Mode) -> Result<Option<ReqId>> {
        self.connect(dest)?;
        let total = span.len();
        let i = self.requests.start(span, Pattern { ctx, source: self.me as i32, tag });
        let id = self.requests.id(i);
        let r = self.requests.at(i);
        (r.peer, r.sync, r.limit) = (Some(dest), mode == Mode::Synchronous, total);
        self.peers[dest as usize].waiting.push_back(Waiting::Send(i));
        self.pump(dest);
        match self.finish(id) {
            Some(_) => Ok(None),
            None => Ok(Some(id)),
        }
    }

    fn send_self(&mut self, ctx: Context, tag: i32, mut span: Span, mode: Mode) -> Result<Option<ReqId>> {
        let envelope = Pattern { ctx, source: self.me as i32, tag };
        if let Some(recv) = self.posted.take(envelope) {
            self.receive_local(recv, envelope, &mut span);
            return Ok(None);
        }
        if mode == Mode::Standard
            && span.len() <= EAGER_LIMIT.get()
            && let Some(bytes) = span.to_owned()
        {
            let e = self.early.put(Early::Whole { bytes, ack: None });
            self.keep_early(envelope, e);
            return Ok(None);
        }
        let i = self.requests.start(span, envelope);
        let e = self.early.put(Early::Local { request: i });
        self.keep_early(envelope, e);
        Ok(Some(self.requests.id(i)))
    }

    #[cold]
    pub(crate) fn connect(&mut self, dest: u32) -> Result<()> {
        if self.peers[dest as usize].out.is_none() {
            if self.peers[dest as usize].lost {
                return Err(self.intern(format!("the way to process {dest} was closed after an error")));
            }
            let Some(node) = &self.node else {
                return Err(self.intern(format!("no way to process {dest}: this process is a singleton")));
            };
            self.peers[dest as usize].out = Some(node.connect(dest as usize)?);
        }
        Ok(())
    }

    /// Sends or queues a frame without an envelope of its own.
    pub(crate) fn control(&mut self, dest: u32, kind: Kind, payload: &[u8]) -> Result<()> {
        self.connect(dest)?;
        let mut bytes = [0u8; 48];
        bytes[..payload.len()].copy_from_slice(payload);
        self.peers[dest as usize].waiting.push_back(Waiting::Control {
            kind,
            ctx: Context(0),
            bytes,
            len: payload.len(),
        });
        self.pump(dest);
        Ok(())
    }

    /// Moves what waits for room at `dest`, in order; then chunks. Returns whether anything moved.
    pub(crate) fn pump(&mut self, dest: u32) -> bool {
        let mut moved = false;
        while let Some(w) = self.peers[dest as usize].waiting.pop_front() {
            let sent = match &w {
                Waiting::Control { kind, ctx, bytes, len } => self.out(dest).push_bytes(*kind, *ctx, 0, &bytes[..*len]),
                Waiting::Send(i) => self.first_frame(dest, *i),
                Waiting::Partitions(id) => self.push_partitions(dest, *id),
            };
            if !sent {
                self.peers[dest as usize].waiting.push_front(w);
                break;
            }
            moved = true;
        }
        // Data never overtakes what waits: the frame that tells of it may be there.
        while self.peers[dest as usize].waiting.is_empty()
            && let Some(&i) = self.peers[dest as usize].pushing.front()
        {
            if !self.push_chunk(dest, i) {
                break;
            }
            moved = true;
            let r = self.requests.at(i);
            if r.moved == r.limit {
                self.peers[dest as usize].pushing.pop_front();
                self.complete(i, Outcome::SENT);
            }
        }
        self.note_backlog(dest);
        if moved && let Some(n) = &self.node {
            n.ring(dest as usize);
        }
        moved
    }

    fn out(&mut self, dest: u32) -> &mut Outgoing {
        self.peers[dest as usize].out.as_mut().expect("connected before anything is queued")
    }

    fn note_backlog(&mut self, dest: u32) {
        let p: &mut Peer = &mut self.peers[dest as usize];
        let has = !(p.waiting.is_empty() && p.pushing.is_empty());
        if has != p.listed {
            p.listed = has;
            if let Some(out) = &p.out {
                out.set_starved(has);
            }
            if has {
                self.events += 1; // a thread that sleeps could take it on
                self.backlog.push(dest);
            } else {
                self.backlog.retain(|d| *d != dest);
            }
        }
    }

    /// The frame that opens send request `i`; the request completes or moves on.
    pub(crate) fn first_frame(&mut self, dest: u32, i: u32) -> bool {
        let send = self.requests.id(i).0;
        let r = self.requests.at(i);
        let (ctx, tag, total, sync) = (r.envelope.ctx, r.envelope.tag, r.limit, r.sync);
        let out = self.peers[dest as usize].out.as_mut().expect("connected before anything is queued");
        if total <= INLINE_MAX as u64 {
            if !sync {
                let sent = push_eager(out, ctx, tag, &mut r.span);
                if sent {
                    self.complete(i, Outcome::SENT);
                }
                return sent;
            }
            let span = &mut r.span;
            let sent = out.push(Kind::EagerSync, ctx, tag, total as usize + 8, |p| {
                // SAFETY: `p` is valid for `total + 8` bytes.
                unsafe {
                    (p as *mut u64).write_unaligned(send);
                    span.read(0, p.add(8), total as usize);
                }
            });
            if sent {
                r.expects = Expects::Ack;
            }
            return sent;
        }
        if sync || total > EAGER_LIMIT.get() || total <= LONG_MAX && self.announces(dest, i) {
            return self.announce(dest, i);
        }
        self.return_ticket(i); // of an announcement that found no room
        let rts = self.describe(i);
        let out = self.peers[dest as usize].out.as_mut().expect("connected before anything is queued");
        let sent = out.push_bytes(Kind::EagerLong, ctx, tag, &rts.encode());
        if sent {
            self.peers[dest as usize].pushing.push_back(i);
        }
        sent
    }

    /// One chunk of request `i`, if chunk and ring have room.
    fn push_chunk(&mut self, dest: u32, i: u32) -> bool {
        let send = self.requests.id(i).0;
        let r = self.requests.at(i);
        let out = self.peers[dest as usize].out.as_mut().expect("connected before anything is queued");
        if !out.room() {
            return false;
        }
        let len = (r.limit - r.moved).min(piece(r.limit)) as usize;
        if let Span::Dense { at, .. } = &r.span {
            // SAFETY: inside the user's buffer.
            let sent = unsafe { push_piece(out, send, at.add(r.moved as usize), len) };
            r.moved += if sent { len as u64 } else { 0 };
            return sent;
        }
        let Some(chunk) = out.free_chunk(len) else { return false };
        // SAFETY: the chunk is ours and holds CHUNK bytes.
        unsafe { r.span.read(r.moved, chunk, len) };
        out.commit_chunk(len);
        let sent = out.push_bytes(Kind::Data, Context(0), 0, &Data { send, len: len as u32 }.encode());
        debug_assert!(sent, "room was checked");
        r.moved += len as u64;
        true
    }

    /// The request that `peer` answers, if it is one that waits for this kind of answer.
    pub(crate) fn answered(&mut self, peer: u32, send: u64, kind: Expects) -> Result<u32> {
        let id = ReqId(send);
        // Answers mostly come in the order of the announcements.
        if let Some(k) = self.late.iter().position(|l| l.request == id) {
            self.late.remove(k);
            self.peers[peer as usize].heard = self.turns;
        }
        match self.requests.get(id) {
            Some(r) if r.phase == Phase::Active && r.peer == Some(peer) && r.expects == kind => {
                r.expects = Expects::Nothing;
                Ok(id.index())
            }
            _ => Err(self.intern(format!("process {peer} answered a message that does not wait for it"))),
        }
    }

    /// Cts: push `limit` bytes.
    pub(crate) fn clear_to_send(&mut self, peer: u32, cts: Cts) -> Result<()> {
        let i = self.answered(peer, cts.send, Expects::Answer)?;
        let r = self.requests.at(i);
        if cts.limit == 0 || cts.limit > r.limit {
            return Err(self.intern(format!("process {peer} asked for more of a message than there is")));
        }
        r.limit = cts.limit;
        if !self.void(i) {
            return Err(self.intern(format!("process {peer} asked again for a message that is under way")));
        }
        self.return_ticket(i);
        self.peers[peer as usize].pushing.push_back(i);
        self.pump(peer);
        Ok(())
    }

    /// The peer is done with `send`: Ack of a synchronous message, or Fin of an announced one.
    pub(crate) fn sent(&mut self, peer: u32, send: u64, kind: Expects) -> Result<()> {
        let i = self.answered(peer, send, kind)?;
        if !self.void(i) {
            return Err(self.intern(format!("process {peer} ended a transfer that is under way")));
        }
        self.return_ticket(i);
        self.complete(i, Outcome::SENT);
        Ok(())
    }
}

/// How much of a message of `total` bytes goes into one chunk: the receiver copies one piece while the sender fills the next, so
/// short messages travel in at least a few.
fn piece(total: u64) -> u64 {
    (total / 4).clamp(4096, CHUNK as u64)
}

/// A chunk of `len` bytes from `from` and its frame; false when there is no room for one of them.
///
/// # Safety
/// `from` is valid for reads of `len` bytes.
unsafe fn push_piece(out: &mut Outgoing, send: u64, from: *const u8, len: usize) -> bool {
    let Some(chunk) = out.free_chunk(len).filter(|_| out.room()) else { return false };
    // SAFETY: the caller's promise; the chunk has `len` bytes and begins at a line.
    unsafe { into_lines(from, chunk, len) };
    out.commit_chunk(len);
    out.push_bytes(Kind::Data, Context(0), 0, &Data { send, len: len as u32 }.encode())
}

#[inline]
fn push_eager(out: &mut Outgoing, ctx: Context, tag: i32, span: &mut Span) -> bool {
    let len = span.len() as usize;
    if let Span::Dense { at, .. } = span {
        // SAFETY: the user's buffer, valid for `len` bytes while the operation runs.
        return unsafe { out.push_run(Kind::Eager, ctx, tag, *at, len) };
    }
    out.push(Kind::Eager, ctx, tag, len, |p| {
        // SAFETY: `p` is valid for `len` bytes.
        unsafe { span.read(0, p, len) }
    })
}
