//! Rounds: offering data, seeing what others offer, bringing it home.
//!
//! One of this crate's homes of `unsafe`.
use crate::buffer::{Data, Segments, Temp, bytes, copy};
use crate::exchange::Exchange;
use crate::link::{Endpoint, Req};
use crate::shared::region::{BUFFERS, LOOK_ROUND, Region};
use crate::steps::Steps;
use oxmpi_base::consts::{MPI_ERR_INTERN, MPI_ERR_OTHER, MPI_ERR_TRUNCATE};
use oxmpi_base::{Error, Result, args::Buf};
use oxmpi_ring::slots::INLINE;
use std::cell::RefCell;

/// How much of a long, scattered buffer is read at once.
const STAGE: usize = 32 * 1024;
/// Looks at a flag before the engine is asked to wait: at once, then with pauses where a core is free for it.
const LOOKS: u32 = 24;
const PAUSES: u32 = 40;
/// How many rounds ahead a reader fetches the slot of a writer who is ahead.
const AHEAD: u64 = 3;

/// How a slot gives its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    Inline = 0,
    Buffer = 1,
    Address = 2,
    Message = 3,
}

/// Where offered data lies, as one packed run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum At {
    /// Here.
    Memory(*const u8),
    /// In memory that the other process has exposed, from this offset on.
    Remote([u64; 2], u64),
    /// It comes as a message.
    Message,
}

impl At {
    pub fn plus(self, n: usize) -> At {
        match self {
            At::Memory(p) => At::Memory(p.wrapping_add(n)),
            At::Remote(there, o) => At::Remote(there, o.wrapping_add(n as u64)),
            At::Message => At::Message,
        }
    }
}

/// What a rank offers in a round.
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    pub at: At,
    pub len: usize,
}

/// The rounds of one call.
pub struct Round<'a> {
    pub x: Exchange<'a>,
    ep: &'a Endpoint,
    pub r: &'a Region,
    kind: u8,
    pending: RefCell<Vec<Req>>,
}

impl<'a> Round<'a> {
    pub fn new(ep: &'a Endpoint, r: &'a Region, tag: i32) -> Round<'a> {
        Round { x: Exchange::new(ep, tag), ep, r, kind: tag as u8, pending: RefCell::new(Vec::new()) }
    }
    #[inline]
    pub fn me(&self) -> usize {
        self.ep.rank()
    }
    #[inline]
    pub fn n(&self) -> usize {
        self.ep.size()
    }
    /// The other ranks, beginning with the next one, so that not all look at the same rank first.
    pub fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (me, n) = (self.me(), self.n());
        (1..n).map(move |i| if me + i < n { me + i } else { me + i - n })
    }

    #[inline(always)]
    fn wait(&self, mut ready: impl FnMut() -> bool) -> Result<()> {
        for _ in 0..LOOKS {
            if ready() {
                return Ok(());
            }
        }
        if !self.ep.shares_cores() {
            for _ in 0..PAUSES {
                std::hint::spin_loop();
                if ready() {
                    return Ok(());
                }
            }
        }
        self.wait_long(&mut ready)
    }
    fn wait_long(&self, ready: &mut dyn FnMut() -> bool) -> Result<()> {
        self.ep.wait_until(self.r.asleep(), &mut || ready() || self.r.is_broken())?;
        if ready() { Ok(()) } else { Err(broken(self.ep, self.r)) }
    }
    /// A part of the call that has so many rounds: where it fails before the last one has begun, this rank is out of step for good.
    pub fn rounds(&self, n: u64, part: impl FnOnce() -> Result<()>) -> Result<()> {
        let before = self.r.rounds();
        part().inspect_err(|_| {
            if self.r.rounds() - before < n {
                self.r.break_down();
            }
        })
    }
    /// Waits until all ranks are done with the rounds up to `round`.
    #[inline]
    pub fn all_done(&self, round: u64) -> Result<()> {
        if self.r.known() >= round { Ok(()) } else { self.ask(round) }
    }
    #[cold]
    fn ask(&self, round: u64) -> Result<()> {
        let mut least = u64::MAX;
        for rank in self.others() {
            let mark = self.r.mark(rank);
            self.wait(|| mark.get() >= round)?;
            least = least.min(mark.get());
        }
        self.r.learn(least);
        Ok(())
    }
    /// Waits until one rank is done with `round`.
    pub fn is_done(&self, rank: usize, round: u64) -> Result<()> {
        let mark = self.r.mark(rank);
        self.wait(|| mark.get() >= round)
    }
    /// This rank needs nothing any more that others offered up to `round`.
    #[inline]
    pub fn done(&self, round: u64) {
        self.r.mark(self.me()).set(round);
        self.ep.published(self.r.asleep());
    }

    #[inline(always)]
    fn publish(&self, round: u64, how: How, len: usize, fill: impl FnOnce(*mut u8)) {
        let info = len as u64 & ((1 << 48) - 1) | (how as u64) << 48 | (self.kind as u64) << 56;
        self.r.slot(self.me(), round).publish(round, info, fill);
        self.ep.published(self.r.asleep());
    }

    /// Offers the packed stream of `data` to all, by whatever way there is. What is not copied stays in use until the readers are done.
    #[inline]
    pub fn offer(&self, round: u64, data: Data) -> Result<How> {
        let len = data.bytes();
        if len <= INLINE {
            self.all_done(round.saturating_sub(self.r.depth()))?;
            self.publish(round, How::Inline, len, |p| put(data, p));
            return Ok(How::Inline);
        }
        self.offer_more(round, data, len, usize::MAX)
    }
    /// As [`Round::offer`]; data of more than `direct_from` bytes is not copied where it can be read directly.
    pub fn offer_long(&self, round: u64, data: Data, direct_from: usize) -> Result<How> {
        let len = data.bytes();
        if len <= INLINE { self.offer(round, data) } else { self.offer_more(round, data, len, direct_from) }
    }
    fn offer_more(&self, round: u64, data: Data, len: usize, direct_from: usize) -> Result<How> {
        let whole = |at| {
            put(data, at);
            len
        };
        self.offer_filled(round, data, len, direct_from, whole)
    }
    /// `fill` writes to the buffer and says how much; `data` is the same for single copy.
    pub fn offer_filled(
        &self,
        round: u64,
        data: Data,
        len: usize,
        direct_from: usize,
        fill: impl FnOnce(*mut u8) -> usize,
    ) -> Result<How> {
        let direct = len > direct_from && self.r.direct && data.dense_bytes().is_some();
        if len <= self.r.room() && !direct {
            let n = fill(self.free_buffer(round)?);
            self.r.count_buffered(n);
            self.publish(round, How::Buffer, n, |_| ());
            return Ok(How::Buffer);
        }
        self.all_done(round.saturating_sub(self.r.depth()))?;
        Ok(match data.dense_bytes() {
            Some(d) if self.r.direct => {
                self.publish_address(round, d.buf.as_ptr(), len);
                How::Address
            }
            _ => {
                self.publish(round, How::Message, len, |_| ());
                How::Message
            }
        })
    }
    /// Offers `len` bytes for single copy.
    pub fn offer_address(&self, round: u64, address: *const u8, len: usize) -> Result<()> {
        self.all_done(round.saturating_sub(self.r.depth()))?;
        self.publish_address(round, address, len);
        Ok(())
    }
    /// Asks the others for data: to be written to `room` where they can reach it, else as messages (false).
    pub fn invite(&self, round: u64, room: Data) -> Result<bool> {
        self.all_done(round.saturating_sub(self.r.depth()))?;
        let (dense, len) = (room.dense_bytes().filter(|_| self.r.direct), room.bytes());
        match dense {
            Some(d) => self.publish_address(round, d.buf.as_ptr(), len),
            None => self.publish(round, How::Message, len, |_| ()),
        }
        Ok(dense.is_some())
    }
    /// Writes `data` to the block of `block` bytes that begins at `offset` of what `rank` has invited to; whether it is there.
    pub fn bring(&self, rank: usize, there: [u64; 2], offset: u64, block: usize, data: Data) -> bool {
        let len = data.bytes();
        if len > block {
            self.too_long(self.me(), len, block);
        }
        let len = len.min(block);
        let written = Temp::bytes(0).and_then(|mut temp| {
            let from = packed(data, &mut temp)?;
            // SAFETY: `from` has `len` bytes; the other rank offered the block.
            unsafe { self.ep.write_peer(rank, there, offset, from, len) }
        });
        self.x.note(written).is_some()
    }
    /// Says that what the inviter of `round` waits for does not come: by a slot, which is unused otherwise.
    #[cold]
    pub fn regret(&self, round: u64) -> Result<()> {
        self.all_done(round.saturating_sub(self.r.depth()))?;
        self.publish(round, How::Message, 0, |_| ());
        Ok(())
    }
    /// After all are done with `round`: notes an error where `rank` has said so.
    pub fn note_regret(&self, rank: usize, round: u64) {
        if self.r.slot(rank, round).round() == round {
            let what = format!(
                "rank {rank} could not write its block to the receive buffer; the buffer must be writable memory, and the error at that rank says more"
            );
            self.x.note::<()>(Err(Error::new(MPI_ERR_INTERN, what)));
        }
    }
    fn publish_address(&self, round: u64, address: *const u8, len: usize) {
        let there = self.ep.expose(address, len);
        self.publish(round, How::Address, len, |p| self.write_words(p, there));
    }
    pub fn expose(&self, at: *const u8, len: usize) -> [u64; 2] {
        self.ep.expose(at, len)
    }
    /// Where this rank's buffer for `round` is, once it is free; followed by [`Round::offer_buffer`].
    pub fn free_buffer(&self, round: u64) -> Result<*mut u8> {
        self.all_done(round.saturating_sub(BUFFERS.min(self.r.depth())))?;
        Ok(self.r.buffer(self.me(), round))
    }
    pub fn offer_buffer(&self, round: u64, len: usize) {
        self.r.count_buffered(len);
        self.publish(round, How::Buffer, len.min(self.r.room()), |_| ());
    }

    /// For calls in which `rank` need not wait for this one: if it is rounds ahead, its next slots are fetched early.
    #[inline]
    pub fn look_ahead(&self, rank: usize, round: u64) {
        if self.r.slot(rank, round).round() >= round {
            self.r.slot(rank, round + AHEAD).prefetch();
        }
    }
    /// What `rank` offers in `round`, when it does.
    #[inline]
    pub fn seen(&self, rank: usize, round: u64) -> Result<Offer> {
        let slot = self.r.slot(rank, round);
        self.wait(|| slot.round() >= round)?;
        let info = slot.info();
        let (len, how, kind) = ((info & ((1 << 48) - 1)) as usize, (info >> 48) as u8, (info >> 56) as u8);
        if slot.round() != round || kind != self.kind {
            return Err(self.mismatch(rank, kind));
        }
        Ok(match how {
            0 => Offer { at: At::Memory(slot.read(|p| p)), len: len.min(INLINE) },
            1 => Offer { at: At::Memory(self.r.buffer(rank, round)), len: len.min(self.r.room()) },
            2 => Offer { at: At::Remote(slot.read(|p| self.read_words(p)), 0), len },
            _ => Offer { at: At::Message, len },
        })
    }
    #[cold]
    fn mismatch(&self, rank: usize, kind: u8) -> Error {
        if kind != self.kind {
            let what = |k: u8| crate::tags::name(k as i32);
            return Error::new(
                MPI_ERR_OTHER,
                format!(
                    "rank {rank} is in {} while this rank is in {}; all ranks of a communicator must make the same collective calls in the same order",
                    what(kind),
                    what(self.kind)
                ),
            );
        }
        self.nonsense(rank)
    }
    #[cold]
    pub fn nonsense(&self, rank: usize) -> Error {
        let what = format!("what rank {rank} wrote to the shared memory of a collective operation makes no sense");
        Error::new(MPI_ERR_INTERN, what)
    }
    /// Two words in the own slot or buffer.
    pub fn write_words(&self, at: *mut u8, words: [u64; 2]) {
        // SAFETY: the callers pass places inside a slot or buffer, aligned to words.
        unsafe { (at as *mut [u64; 2]).write_unaligned(words) }
    }
    /// Two words in a slot or buffer, read once.
    pub fn read_words(&self, at: *const u8) -> [u64; 2] {
        // SAFETY: as above.
        unsafe { (at as *const [u64; 2]).read_volatile() }
    }
    /// Every rank has published `round`, so all are done with the ones before.
    #[inline]
    pub fn seen_all(&self, round: u64) {
        self.r.learn(round - 1);
    }
    /// Waits until every rank has published `round`.
    #[inline(always)]
    pub fn meet(&self, round: u64) -> Result<()> {
        for rank in self.others() {
            self.seen(rank, round)?;
        }
        self.seen_all(round);
        Ok(())
    }

    /// Brings `len` offered bytes to `to`; more than fit is an error.
    #[inline]
    pub fn fetch(&self, rank: usize, at: At, len: usize, to: Data) {
        let room = to.bytes();
        if let At::Message = at {
            self.pending.borrow_mut().extend(self.x.irecv(to, rank));
            return;
        }
        if len > room {
            self.too_long(rank, len, room);
        }
        match at {
            At::Memory(p) => get(p, len.min(room), to),
            At::Remote(there, o) => self.read(rank, there, o, len.min(room), to),
            At::Message => {}
        }
    }
    #[cold]
    pub fn too_long(&self, rank: usize, len: usize, room: usize) {
        let what = format!(
            "rank {rank} has {len} bytes for a buffer of {room} in a collective operation; counts or types differ between ranks"
        );
        self.x.note::<()>(Err(Error::new(MPI_ERR_TRUNCATE, what)));
    }
    /// Single copy of `len` bytes, not more than `to` holds.
    fn read(&self, rank: usize, there: [u64; 2], offset: u64, len: usize, to: Data) {
        if let Some(d) = to.dense_bytes() {
            // SAFETY: `to` holds `len` bytes in one run.
            self.x.note(unsafe { self.ep.read_peer(rank, there, offset, d.buf.as_mut_ptr(), len) });
            return;
        }
        self.x.note(self.read_scattered(rank, there, offset, len, to));
    }
    fn read_scattered(&self, rank: usize, there: [u64; 2], offset: u64, len: usize, to: Data) -> Result<()> {
        let mut segments = Segments::new(to, STAGE, 1)?;
        for i in 0..len.div_ceil(STAGE) {
            let view = segments.view(i);
            let n = view.count.min(len - i * STAGE);
            // SAFETY: a segment's staging area of `count` bytes.
            unsafe { self.ep.read_peer(rank, there, offset + (i * STAGE) as u64, view.buf.as_mut_ptr(), n)? };
            segments.store(i);
        }
        Ok(())
    }
    /// Single copy of `len` bytes to memory of ours.
    ///
    /// # Safety
    /// `to` is valid for writes of `len` bytes.
    pub unsafe fn read_raw(&self, rank: usize, there: [u64; 2], offset: u64, to: *mut u8, len: usize) -> bool {
        // SAFETY: the caller's promise.
        self.x.note(unsafe { self.ep.read_peer(rank, there, offset, to, len) }).is_some()
    }
    /// Sends a block that was offered as a message.
    pub fn send(&self, data: Data, to: usize) {
        self.pending.borrow_mut().extend(self.x.isend(data, to));
    }
    /// The end of the call: messages complete, and the first error comes out.
    #[inline(always)]
    pub fn finish(self) -> Result<()> {
        let mut pending = self.pending.into_inner();
        if !pending.is_empty() {
            self.x.wait_all(&mut pending);
        }
        self.x.finish()
    }
}

#[cold]
fn broken(ep: &Endpoint, r: &Region) -> Error {
    r.break_down();
    // Then that is why.
    if let Err(aborted) = ep.check_aborted() {
        return aborted;
    }
    Error::new(
        MPI_ERR_OTHER,
        "a collective operation of this communicator failed half-way at a rank (the error there says why), so its ranks are out of step; go on with another communicator",
    )
}

/// One call: `body` with its rounds.
#[inline]
pub fn run(ep: &Endpoint, r: &Region, tag: i32, body: impl FnOnce(&Round) -> Result<()>) -> Result<()> {
    if r.current().is_multiple_of(LOOK_ROUND) {
        if r.is_broken() {
            return Err(broken(ep, r));
        }
        // Collectives that never wait still owe the others progress; an error is found again by who needs what has failed.
        let _ = ep.progress();
    }
    let c = Round::new(ep, r, tag);
    match body(&c) {
        Ok(()) => c.finish(),
        Err(why) => Err(left(c, r, why)),
    }
}

/// After an error the others are not left waiting for this rank.
#[cold]
#[inline(never)]
fn left(c: Round, r: &Region, why: Error) -> Error {
    c.done(r.current());
    let _the_first_is_told = c.finish();
    why
}

/// Packs `data` to `to`, which has room for it.
#[inline]
pub fn put(data: Data, to: *mut u8) {
    let n = data.bytes();
    match data.dense_bytes() {
        // SAFETY: the program's buffer holds `n` bytes in one run, and the callers have room for them.
        Some(d) => unsafe { move_bytes(d.buf.as_ptr(), to, n) },
        None => copy(data, bytes(Buf(to.cast()), n)),
    }
}

/// Unpacks `len` bytes, not more than `to` holds.
#[inline]
pub fn get(from: *const u8, len: usize, to: Data) {
    match to.dense_bytes() {
        // SAFETY: `to` holds `len` bytes in one run; `from` is valid for as many.
        Some(d) => unsafe { move_bytes(from, d.buf.as_mut_ptr(), len) },
        None => copy(bytes(Buf(from.cast_mut().cast()), len), to),
    }
}

/// # Safety
/// as `copy`.
#[inline]
unsafe fn move_bytes(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match n {
            0 => {}
            8 => (to as *mut u64).write_unaligned((from as *const u64).read_unaligned()),
            4 => (to as *mut u32).write_unaligned((from as *const u32).read_unaligned()),
            _ => std::ptr::copy(from, to, n),
        }
    }
}

/// A stream as one packed run: where it lies, or a packed copy of it.
pub fn packed(data: Data, temp: &mut Temp) -> Result<*const u8> {
    if let Some(d) = data.dense_bytes() {
        return Ok(d.buf.as_ptr());
    }
    *temp = Temp::bytes(data.bytes())?;
    put(data, temp.buf().as_mut_ptr());
    Ok(temp.buf().as_ptr())
}
