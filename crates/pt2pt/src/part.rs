//! Partitioned operations (MPI-5.0 chapter 4): one message in parts that leave when the program says that they are ready.
//!
//! | when | what travels |
//! |---|---|
//! | MPI_Psend_init | Offer: what the sender has. Offers meet the receives of MPI_Precv_init in the order of the calls, in tables of their own |
//! | MPI_Start of the receive | Open: the receiver's name for the operation, and that its buffer may be written |
//! | MPI_Pready | Slice: partitions and their bytes, up to [`INLINE_MAX`]; Run: partitions that come as the next message |
//!
//! Partitions that follow each other and are ready at the same time travel together; none waits for another. What is longer than a frame is an
//! ordinary message, for which the frame before it has posted the receive, so it goes the ways of `send` and `large`. Nothing is sent before
//! the receiver has begun its round, so everything lands in its buffer at once and nothing is held.
//!
//! Invariants: a round of the sender sends each partition once, and only when the receiver has begun as many rounds. A receive that is freed
//! before its offer came stays until it comes, so that the order of the calls decides who meets whom. Both sides count by the sender's partitions.
//! Threads: everything here is under the lane's lock.
use crate::bits::Bits;
use crate::engine::{Route, Slots, State, Waiting};
use crate::matching::{Held, Pattern, Posted};
use crate::request::{Outcome, ReqId};
use crate::span::Span;
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail};
use oxmpi_transport::wire::*;

/// Names a partitioned operation of this process in its lane: place and generation. The peer sends it back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartId(u64);

impl PartId {
    fn new(index: u32, generation: u32) -> PartId {
        PartId(index as u64 | (generation as u64) << 32)
    }
    fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// What a look at a partitioned operation finds.
pub enum Look {
    /// It is not started.
    Idle,
    Pending,
    Done(Outcome),
}

struct Sending {
    /// All partitions.
    span: Span,
    /// Bytes of one.
    step: u64,
    count: u32,
    /// None: MPI_PROC_NULL.
    to: Option<u32>,
    /// Rounds that were begun here, and by the receiver.
    round: u64,
    open: u64,
    active: bool,
    /// The receiver's name for it.
    there: Option<PartId>,
    /// Marked ready in this round; of these, not on their way; and how many are not on their way.
    ready: Bits,
    unsent: Bits,
    left: u32,
    /// In the queue of what waits for room.
    queued: bool,
    /// The request whose first frame comes next.
    opening: Option<u32>,
    runs: Vec<ReqId>,
    failed: i32,
}

struct Receiving {
    span: Span,
    step: u64,
    count: u32,
    /// None: MPI_PROC_NULL.
    from: Option<u32>,
    tag: i32,
    active: bool,
    /// Freed before its offer came.
    freed: bool,
    there: Option<Offer>,
    /// The sender has heard of this side: what does not fit it is told once.
    told: bool,
    /// Of the sender's partitions.
    arrived: Bits,
    left: u32,
    runs: Vec<(ReqId, Slice)>,
    failed: i32,
}

enum Part {
    Sending(Sending),
    Receiving(Receiving),
}

struct Entry {
    generation: u32,
    part: Option<Part>,
}

/// The partitioned operations of a lane.
#[derive(Default)]
pub(crate) struct Parts {
    all: Vec<Entry>,
    free: Vec<u32>,
    /// Receives without an offer, and offers without a receive.
    waiting: Posted,
    offered: Held,
    offers: Slots<Offer>,
}

impl Parts {
    fn add(&mut self, part: Part) -> PartId {
        let i = self.free.pop().unwrap_or_else(|| {
            self.all.push(Entry { generation: 0, part: None });
            self.all.len() as u32 - 1
        });
        let e = &mut self.all[i as usize];
        e.generation = e.generation.wrapping_add(1);
        e.part = Some(part);
        PartId::new(i, e.generation)
    }
    fn at(&mut self, id: PartId) -> Option<&mut Part> {
        let e = self.all.get_mut(id.index())?;
        if (id.0 >> 32) as u32 == e.generation { e.part.as_mut() } else { None }
    }
    fn sending(&mut self, id: PartId) -> Option<&mut Sending> {
        match self.at(id) {
            Some(Part::Sending(s)) => Some(s),
            _ => None,
        }
    }
    fn receiving(&mut self, id: PartId) -> Option<&mut Receiving> {
        match self.at(id) {
            Some(Part::Receiving(r)) => Some(r),
            _ => None,
        }
    }
    fn remove(&mut self, id: PartId) {
        if self.at(id).is_some() {
            self.all[id.index()].part = None;
            self.free.push(id.index() as u32);
        }
    }
}

impl Receiving {
    /// Marks partitions of the sender as arrived; false if some were already.
    fn arrive(&mut self, s: Slice) -> bool {
        let new = self.arrived.add(s.first, s.count);
        self.left -= new.min(self.left);
        new == s.count
    }
    fn total(&self) -> u64 {
        self.step * self.count as u64
    }
}

fn stale() -> Error {
    Error::new(MPI_ERR_REQUEST, "the partitioned operation no longer exists")
}

impl State {
    #[inline]
    fn parts(&mut self) -> &mut Parts {
        self.parts.get_or_insert_default()
    }

    // ---- what the program calls ----

    /// MPI_Psend_init: `count` partitions that are `span` together, to process `to`.
    pub fn part_send(&mut self, ctx: Context, to: Option<u32>, tag: i32, span: Span, count: u32) -> Result<PartId> {
        let step = span.len() / count as u64;
        if let Some(to) = to
            && self.route(to) != Route::Loopback
        {
            self.connect(to)?;
        }
        let id = self.parts().add(Part::Sending(Sending {
            span,
            step,
            count,
            to,
            round: 0,
            open: 0,
            active: false,
            there: None,
            ready: Bits::new(count),
            unsent: Bits::new(count),
            left: 0,
            queued: false,
            opening: None,
            runs: Vec::new(),
            failed: MPI_SUCCESS,
        }));
        let Some(to) = to else { return Ok(id) };
        let offer = Offer { send: id.0, step, count, tag };
        if self.route(to) == Route::Loopback {
            self.offered(to, ctx, offer)?;
        } else {
            let mut bytes = [0u8; 48];
            bytes[..Offer::LEN].copy_from_slice(&offer.encode());
            let offer = Waiting::Control { kind: Kind::Offer, ctx, bytes, len: Offer::LEN };
            self.peers[to as usize].waiting.push_back(offer);
            self.pump(to);
        }
        Ok(id)
    }

    /// MPI_Precv_init.
    pub fn part_recv(&mut self, ctx: Context, from: Option<u32>, tag: i32, span: Span, count: u32) -> Result<PartId> {
        let step = span.len() / count as u64;
        let lost = from.filter(|p| self.peers[*p as usize].lost).map(|p| self.lost(p).class);
        let parts = self.parts();
        let id = parts.add(Part::Receiving(Receiving {
            span,
            step,
            count,
            from,
            tag,
            active: false,
            freed: false,
            there: None,
            told: false,
            arrived: Bits::new(0),
            left: 0,
            runs: Vec::new(),
            failed: lost.unwrap_or(MPI_SUCCESS),
        }));
        let (Some(from), None) = (from, lost) else { return Ok(id) };
        let envelope = Pattern { ctx, source: from as i32, tag };
        match parts.offered.take(envelope) {
            Some((_, offer)) => {
                let offer = parts.offers.take(offer);
                self.meet(id, offer);
            }
            None => drop(parts.waiting.post(envelope, id.index() as u32)),
        }
        Ok(id)
    }

    /// MPI_Start; false where it is active.
    pub fn part_start(&mut self, id: PartId) -> Result<bool> {
        match self.parts().at(id).ok_or_else(stale)? {
            Part::Sending(s) => {
                if s.active {
                    return Ok(false);
                }
                s.active = true;
                s.round += 1;
                s.left = s.count;
                s.ready.clear();
            }
            Part::Receiving(r) => {
                if r.active {
                    return Ok(false);
                }
                r.active = true;
                r.arrived.clear();
                if let Some(offer) = r.there {
                    r.left = offer.count;
                    self.tell_open(id);
                }
            }
        }
        Ok(true)
    }

    /// Marks partitions ready, each of which the caller has checked to exist: all of them, or none where one was ready before.
    pub fn part_ready(&mut self, id: PartId, which: impl Iterator<Item = (u32, u32)> + Clone) -> Result<()> {
        let Some(s) = self.parts().sending(id) else {
            bail!(
                MPI_ERR_REQUEST,
                "partitions are marked ready at the sender; this is the request of a partitioned receive"
            );
        };
        if !s.active {
            bail!(
                MPI_ERR_REQUEST,
                "the partitioned send is not started; call MPI_Start before its partitions are marked ready"
            );
        }
        for (k, (first, n)) in which.clone().enumerate() {
            if s.ready.has_any(first, n) {
                which.clone().take(k).for_each(|(first, n)| s.ready.remove(first, n));
                let twice = (first..first + n).find(|p| s.ready.has_any(*p, 1)).unwrap_or(first);
                bail!(MPI_ERR_ARG, "partition {twice} was marked ready before; each is once in every round");
            }
            s.ready.add(first, n);
        }
        for (first, n) in which {
            s.unsent.add(first, n);
        }
        if s.to.is_some() && s.open < s.round {
            // The receiver's word may be here.
            self.progress()?;
        }
        self.move_on(id);
        Ok(())
    }

    /// Whether a partition of a receive has arrived; true where it is not started (MPI-5.0 4.2.2).
    pub fn part_arrived(&mut self, id: PartId, partition: u32) -> Result<bool> {
        self.reap(id);
        let Some(r) = self.parts().receiving(id) else {
            bail!(MPI_ERR_REQUEST, "arrival is asked for at the receiver; this is the request of a partitioned send");
        };
        if !r.active || r.from.is_none() {
            return Ok(true);
        }
        if r.failed != MPI_SUCCESS {
            return Err(Error::new(r.failed, "the partitioned receive has failed; complete it to learn why"));
        }
        let Some(offer) = r.there else { return Ok(false) };
        // Ours is this part of the whole; so much of the whole are the sender's.
        let (theirs, ours) = (offer.count as u64, r.count as u64);
        let first = partition as u64 * theirs / ours;
        let end = ((partition as u64 + 1) * theirs).div_ceil(ours);
        Ok(r.arrived.has_all(first as u32, (end - first) as u32))
    }

    /// What has become of it; one that is done is no longer active afterwards, if `consume`.
    pub fn part_look(&mut self, id: PartId, consume: bool) -> Look {
        self.reap(id);
        match self.parts().at(id) {
            None => Look::Idle,
            Some(Part::Sending(s)) => {
                if !s.active {
                    return Look::Idle;
                }
                let done = s.left == 0 || s.failed != MPI_SUCCESS;
                if !done || !s.runs.is_empty() || s.opening.is_some() {
                    return Look::Pending;
                }
                if consume {
                    s.active = false;
                    s.unsent.clear();
                }
                Look::Done(Outcome { error: s.failed, ..Outcome::SENT })
            }
            Some(Part::Receiving(r)) => {
                if !r.active {
                    return Look::Idle;
                }
                let done = r.from.is_none() || r.failed != MPI_SUCCESS || r.there.is_some() && r.left == 0;
                if !done || !r.runs.is_empty() {
                    return Look::Pending;
                }
                r.active = !consume;
                Look::Done(match r.from {
                    None => Outcome { source: MPI_PROC_NULL, tag: MPI_ANY_TAG, ..Outcome::SENT },
                    Some(p) => {
                        Outcome { source: p as i32, tag: r.tag, bytes: r.total(), error: r.failed, cancelled: false }
                    }
                })
            }
        }
    }

    /// MPI_Request_free; false where it is active.
    pub fn part_free(&mut self, id: PartId) -> bool {
        let parts = self.parts();
        match parts.at(id) {
            Some(Part::Sending(s)) if s.active => return false,
            Some(Part::Receiving(r)) if r.active => return false,
            Some(Part::Receiving(r)) if r.from.is_some() && r.there.is_none() && r.failed == MPI_SUCCESS => {
                r.freed = true;
                r.span = Span::empty();
            }
            _ => parts.remove(id),
        }
        true
    }

    // ---- meeting ----

    /// An offer of `peer` in a communicator's context.
    fn offered(&mut self, peer: u32, ctx: Context, offer: Offer) -> Result<()> {
        let sensible = offer.count > 0 && offer.count <= i32::MAX as u32;
        if !sensible || offer.step.checked_mul(offer.count as u64).is_none() {
            return Err(self.malformed(peer));
        }
        let envelope = Pattern { ctx, source: peer as i32, tag: offer.tag };
        let parts = self.parts();
        match parts.waiting.take(envelope) {
            Some(index) => {
                let id = PartId::new(index, parts.all[index as usize].generation);
                self.meet(id, offer);
            }
            None => {
                let o = parts.offers.put(offer);
                parts.offered.hold(envelope, o);
            }
        }
        Ok(())
    }

    /// A receive and its offer have met.
    fn meet(&mut self, id: PartId, offer: Offer) {
        self.events += 1;
        let parts = self.parts();
        let Some(r) = parts.receiving(id) else { return };
        if r.freed {
            return parts.remove(id);
        }
        r.there = Some(offer);
        let fits = compare(offer.step * offer.count as u64, r.total());
        fail(&mut r.failed, fits);
        if r.failed == MPI_SUCCESS {
            r.arrived = Bits::new(offer.count);
            r.left = offer.count;
        }
        if r.active {
            self.tell_open(id);
        }
    }

    /// Tells the sender that a round has begun. What has failed has no more rounds, and where the sender cannot be told this has failed.
    fn tell_open(&mut self, id: PartId) {
        let Some(r) = self.parts().receiving(id) else { return };
        let (Some(offer), Some(from)) = (r.there, r.from) else { return };
        if r.told && r.failed != MPI_SUCCESS {
            return;
        }
        r.told = true;
        let open = Open { send: offer.send, recv: id.0, total: r.total() };
        let told = match self.route(from) {
            Route::Loopback => self.opened(from, open),
            _ => self.control(from, Kind::Open, &open.encode()),
        };
        if let (Err(why), Some(r)) = (told, self.parts().receiving(id)) {
            fail(&mut r.failed, why.class);
            self.events += 1;
        }
    }

    /// The receiver has begun a round.
    fn opened(&mut self, peer: u32, open: Open) -> Result<()> {
        let id = PartId(open.send);
        // One that was freed: its receiver waits in vain, as the program wants it.
        let Some(s) = self.parts().sending(id) else { return Ok(()) };
        if s.to != Some(peer) || s.open > s.round || s.there.is_some_and(|t| t.0 != open.recv) {
            return Err(self.malformed(peer));
        }
        s.open += 1;
        s.there = Some(PartId(open.recv));
        fail(&mut s.failed, compare(s.step * s.count as u64, open.total));
        if s.failed != MPI_SUCCESS {
            self.events += 1;
        }
        self.move_on(id);
        Ok(())
    }

    // ---- moving ----

    /// Sends what is ready, if the receiver is.
    fn move_on(&mut self, id: PartId) {
        let me = self.me;
        let Some(s) = self.parts().sending(id) else { return };
        if !s.active || s.failed != MPI_SUCCESS || s.queued || s.to.is_some() && s.open < s.round {
            return;
        }
        match s.to {
            Some(to) if to != me => {
                if s.unsent.first_run().is_some() {
                    s.queued = true;
                    self.peers[to as usize].waiting.push_back(Waiting::Partitions(id));
                    self.pump(to);
                }
            }
            _ => self.move_here(id),
        }
    }

    /// To ourselves, or to nobody.
    fn move_here(&mut self, id: PartId) {
        self.events += 1;
        let Some(s) = self.parts().sending(id) else { return };
        let (step, there) = (s.step, s.there);
        while let Some(s) = self.parts().sending(id)
            && let Some((first, n)) = s.unsent.first_run()
        {
            s.unsent.remove(first, n);
            s.left -= n;
            let Some(there) = there else { continue };
            let mut from = s.span.part(first as u64 * step, n as u64 * step);
            if let Some(r) = self.parts().receiving(there) {
                from.copy_to(&mut r.span.part(first as u64 * step, n as u64 * step));
                r.arrive(Slice { first, count: n });
            }
        }
    }

    /// Pushes partitions that are ready, in the queue's turn; false when there is no room.
    pub(crate) fn push_partitions(&mut self, dest: u32, id: PartId) -> bool {
        loop {
            let (me, lane) = (self.me as i32, self.lane);
            let Some(parts) = &mut self.parts else { return true };
            let Some(s) = parts.sending(id) else { return true };
            if let Some(i) = s.opening {
                if !self.first_frame(dest, i) {
                    return false;
                }
                if let Some(s) = self.parts().sending(id) {
                    s.opening = None;
                }
                continue;
            }
            let (Some((first, n)), Some(there)) = (s.unsent.first_run(), s.there) else {
                s.queued = false;
                self.events += 1;
                return true;
            };
            let Some(out) = &mut self.peers[dest as usize].out else { return true };
            let (at, len) = (first as u64 * s.step, n as u64 * s.step);
            let (slice, tag, name) = (Slice { first, count: n }, there.index() as i32, Context(there.0 >> 32));
            if len <= INLINE_MAX as u64 {
                let sent = out.push(Kind::Slice, name, tag, Slice::LEN + len as usize, |p| {
                    // SAFETY: `p` is valid for so many bytes; the partitions lie in the program's buffer, which is ours while the round lasts.
                    unsafe {
                        std::ptr::copy_nonoverlapping(slice.encode().as_ptr(), p, Slice::LEN);
                        s.span.read(at, p.add(Slice::LEN), len as usize);
                    }
                });
                if !sent {
                    return false;
                }
            } else {
                if !out.push_bytes(Kind::Run, name, tag, &slice.encode()) {
                    return false;
                }
                let i =
                    self.requests.start(s.span.part(at, len), Pattern { ctx: Context::of_runs(lane), source: me, tag });
                let r = self.requests.at(i);
                (r.peer, r.limit) = (Some(dest), len);
                s.runs.push(self.requests.id(i));
                s.opening = Some(i);
            }
            s.unsent.remove(first, n);
            s.left -= n;
        }
    }

    /// A frame about a partitioned operation.
    #[inline(never)]
    pub(crate) fn about_partitions(&mut self, kind: Kind, envelope: Pattern, payload: &[u8]) -> Result<()> {
        let peer = envelope.source as u32;
        match kind {
            Kind::Offer => {
                let offer = Offer::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.offered(peer, envelope.ctx, offer)
            }
            Kind::Open => {
                let open = Open::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.opened(peer, open)
            }
            _ => {
                let id = PartId::new(envelope.tag as u32, envelope.ctx.0 as u32);
                self.take_slice(kind, envelope, id, payload).unwrap_or_else(|| Err(self.malformed(peer)))
            }
        }
    }

    /// None where the frame makes no sense.
    fn take_slice(&mut self, kind: Kind, envelope: Pattern, id: PartId, payload: &[u8]) -> Option<Result<()>> {
        let (head, data) = payload.split_at_checked(Slice::LEN)?;
        let slice = Slice::decode(head)?;
        let ctx = Context::of_runs(self.lane);
        let r = self.parts.as_mut()?.receiving(id)?;
        let offer = r.there?;
        let end = slice.first.checked_add(slice.count)?;
        if r.from != Some(envelope.source as u32)
            || !r.active
            || r.failed != MPI_SUCCESS
            || slice.count == 0
            || end > offer.count
        {
            return None;
        }
        let (at, len) = (slice.first as u64 * offer.step, slice.count as u64 * offer.step);
        if kind == Kind::Slice {
            if data.len() as u64 != len || !r.arrive(slice) {
                return None;
            }
            // SAFETY: `data` holds its length; the buffer is the operation's while the round lasts.
            unsafe { r.span.write(at, data.as_ptr(), data.len()) };
            self.events += 1;
            return Some(Ok(()));
        }
        if !data.is_empty() || len == 0 {
            return None;
        }
        let want = Pattern { ctx, ..envelope };
        let i = self.requests.start(r.span.part(at, len), want);
        r.runs.push((self.requests.id(i), slice));
        let place = self.posted.post(want, i);
        self.requests.at(i).posted = Some(place);
        Some(Ok(()))
    }

    /// Takes the runs that are done.
    fn reap(&mut self, id: PartId) {
        let mut parts = std::mem::take(&mut self.parts);
        match parts.as_mut().and_then(|p| p.at(id)) {
            Some(Part::Sending(s)) => s.runs.retain(|id| match self.finish(*id) {
                None => true,
                Some(o) => {
                    fail(&mut s.failed, o.error);
                    false
                }
            }),
            Some(Part::Receiving(r)) => {
                let step = r.there.map_or(0, |o| o.step);
                let mut runs = std::mem::take(&mut r.runs);
                runs.retain(|(id, slice)| match self.finish(*id) {
                    None => true,
                    Some(o) => {
                        let whole = o.bytes == slice.count as u64 * step;
                        if o.error != MPI_SUCCESS || !whole || !r.arrive(*slice) {
                            fail(&mut r.failed, if o.error != MPI_SUCCESS { o.error } else { MPI_ERR_INTERN });
                        }
                        false
                    }
                });
                r.runs = runs;
            }
            None => {}
        }
        self.parts = parts;
    }

    /// `peer` cannot be reached any more: what needs it fails with `class`.
    pub(crate) fn lose_partitions(&mut self, peer: u32, class: i32) {
        self.events += 1;
        let Some(parts) = &mut self.parts else { return };
        for e in &mut parts.all {
            match &mut e.part {
                Some(Part::Sending(s)) if s.to == Some(peer) => {
                    (s.queued, s.opening) = (false, None);
                    fail(&mut s.failed, class);
                }
                Some(Part::Receiving(r)) if r.from == Some(peer) => fail(&mut r.failed, class),
                _ => {}
            }
        }
        // Whoever receives from it from now on hears that it is lost.
        for (envelope, offer) in parts.offered.from_source(peer as i32) {
            parts.offered.withdraw(envelope, offer);
            parts.offers.take(offer);
        }
    }
}

/// Notes that an operation has failed; the first error stays.
fn fail(failed: &mut i32, class: i32) {
    if *failed == MPI_SUCCESS {
        *failed = class;
    }
}

/// What it means for the side with `ours` that the other has `theirs`: both must have the same (MPI-5.0 4.2.1).
fn compare(theirs: u64, ours: u64) -> i32 {
    match theirs.cmp(&ours) {
        std::cmp::Ordering::Equal => MPI_SUCCESS,
        std::cmp::Ordering::Greater => MPI_ERR_TRUNCATE,
        std::cmp::Ordering::Less => MPI_ERR_COUNT,
    }
}
