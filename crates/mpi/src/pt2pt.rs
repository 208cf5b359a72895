//! Point-to-point procedures (MPI-5.0 chapter 3): arguments checked, one operation of the engine each.
use crate::buffer;
pub use crate::buffer::{buffer_attach, buffer_detach, buffer_flush, buffer_iflush};
pub use crate::buffer::{comm_attach_buffer, comm_detach_buffer, comm_flush_buffer, comm_iflush_buffer};
pub use crate::buffer::{session_attach_buffer, session_detach_buffer, session_flush_buffer, session_iflush_buffer};
use crate::check;
use crate::comm::{self, Comm, TAG_UB};
use crate::request::Compound;
use crate::table::Ref;
use crate::{datatype, request, world};
use oxmpi_base::args::{Buf, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, Status, bail, handle};
use oxmpi_datatype::Datatype;
use oxmpi_pt2pt::{Engine, Mode, Outcome, Pattern, Ranks, Received, ReqId, Span};
use oxmpi_transport::wire::INLINE_MAX;
use std::sync::Arc;

/// The four send modes of the standard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendMode {
    Standard,
    Buffered,
    Synchronous,
    Ready,
}

/// A checked peer.
#[derive(Clone, Copy)]
pub(crate) enum Peer {
    Null,
    /// Process index, or the wildcard.
    Proc(i32),
}

#[cold]
fn bad_rank(c: &Comm, rank: i32, what: &str) -> Error {
    Error::new(
        MPI_ERR_RANK,
        format!("{what} {rank} is not a rank of {}, which has ranks 0 to {}", c.describe(), c.size() - 1),
    )
}

#[inline]
pub(crate) fn dest_of(c: &Comm, rank: i32) -> Result<Peer> {
    if (rank as u32 as usize) < c.size() && rank >= 0 {
        return Ok(Peer::Proc(c.ranks.proc_of(rank as usize) as i32));
    }
    if rank == MPI_PROC_NULL { Ok(Peer::Null) } else { Err(bad_rank(c, rank, "destination")) }
}

#[inline]
pub(crate) fn source_of(c: &Comm, rank: i32) -> Result<Peer> {
    if rank >= 0 && (rank as usize) < c.size() {
        return Ok(Peer::Proc(c.ranks.proc_of(rank as usize) as i32));
    }
    match rank {
        MPI_ANY_SOURCE => Ok(Peer::Proc(oxmpi_pt2pt::ANY_SOURCE)),
        MPI_PROC_NULL => Ok(Peer::Null),
        _ => Err(bad_rank(c, rank, "source")),
    }
}

/// As `source_of`, for a receive: where a rank was aborted, a message from anybody may never come.
#[inline]
fn sender_of(c: &Comm, rank: i32) -> Result<Peer> {
    if rank >= 0 && (rank as usize) < c.size() {
        return Ok(Peer::Proc(c.ranks.proc_of(rank as usize) as i32));
    }
    if rank == MPI_ANY_SOURCE {
        world::engine()?.check_aborted(&c.ranks)?;
    }
    source_of(c, rank)
}

#[inline]
pub(crate) fn send_tag(tag: i32) -> Result<()> {
    if (0..=TAG_UB).contains(&tag) || !check::on() {
        return Ok(());
    }
    bail!(MPI_ERR_TAG, "tag {tag} is outside 0..={TAG_UB} (MPI_TAG_UB)")
}

#[inline]
pub(crate) fn recv_tag(tag: i32) -> Result<()> {
    if tag == MPI_ANY_TAG { Ok(()) } else { send_tag(tag) }
}

/// The buffer of an operation: count, type and address checked.
#[inline]
pub(crate) fn span_of(buf: Buf, count: i64, dt: handle::Datatype) -> Result<Span> {
    match plain_bytes(buf, count, dt) {
        Some((at, len)) => Ok(Span::Dense { at, len }),
        None => general_span_of(buf, count, dt),
    }
}

#[inline(never)]
fn general_span_of(buf: Buf, count: i64, dt: handle::Datatype) -> Result<Span> {
    if count < 0 {
        bail!(MPI_ERR_COUNT, "count is {count}; a count must not be negative");
    }
    span_of_type(buf, count, &datatype::get_committed(dt)?.dt)
}

/// As `span_of`, for a type that has been checked.
#[inline]
pub(crate) fn span_of_type(buf: Buf, count: i64, dt: &Datatype) -> Result<Span> {
    if (count as usize).checked_mul(dt.size()).is_none_or(|n| n > isize::MAX as usize) {
        bail!(MPI_ERR_COUNT, "{count} elements of {} bytes are more than an address space holds", dt.size());
    }
    let span = Span::new(buf, count as usize, dt);
    if buf.addr() <= 2
        && !span.is_empty()
        && (buf.addr() != 0 || span.address().is_some_and(|a| a.is_null()))
        && check::on()
    {
        return Err(bad_buffer(buf, count));
    }
    Ok(span)
}

#[cold]
fn bad_buffer(buf: Buf, count: i64) -> Error {
    let what = match buf.addr() {
        0 => "a null pointer",
        MPI_IN_PLACE => "MPI_IN_PLACE, which point-to-point operations do not take",
        _ => "MPI_BUFFER_AUTOMATIC, which only MPI_Buffer_attach takes",
    };
    Error::new(MPI_ERR_BUFFER, format!("the buffer is {what}, with a count of {count}"))
}

pub(crate) fn status_of(ranks: &Ranks, o: &Outcome) -> Status {
    let source = match o.source {
        s if s < 0 => s,
        s => ranks.rank_of(s as u32).map_or(MPI_ANY_SOURCE, |r| r as i32),
    };
    let mut s = Status::new(source, o.tag, o.bytes);
    s.set_cancelled(o.cancelled);
    s
}

/// Writes every field but MPI_ERROR, which only the multiple-completion procedures set (MPI-5.0 3.2.5).
pub(crate) fn give(status: Out<Status>, mut s: Status) -> Result<()> {
    if status.is_null() {
        return Ok(());
    }
    s.MPI_ERROR = status.get()?.MPI_ERROR;
    status.set(s)
}

#[cold]
pub(crate) fn failed(o: &Outcome) -> Error {
    match o.error {
        MPI_ERR_TRUNCATE => Error::new(
            MPI_ERR_TRUNCATE,
            format!(
                "a message from process {} with tag {} is longer than the receive buffer of {} bytes",
                o.source, o.tag, o.bytes
            ),
        ),
        // Only partitioned operations end so; their longer messages are MPI_ERR_TRUNCATE at both sides.
        MPI_ERR_COUNT => Error::new(
            MPI_ERR_COUNT,
            "the other side of this partitioned communication has a smaller buffer; partitions times count must be the same amount of data at both",
        ),
        MPI_ERR_PROC_ABORTED => Error::new(
            MPI_ERR_PROC_ABORTED,
            format!("a message to or from process {} cannot be: a process that it needs was aborted", o.source),
        ),
        e => Error::new(e, "a message could not be delivered"),
    }
}

#[inline]
pub(crate) fn verdict(o: &Outcome) -> Result<()> {
    if o.error == MPI_SUCCESS { Ok(()) } else { Err(failed(o)) }
}

fn engine_mode(m: SendMode) -> Mode {
    match m {
        SendMode::Synchronous => Mode::Synchronous,
        _ => Mode::Standard,
    }
}

/// Checks and starts a send; None when it is complete.
#[inline]
#[allow(clippy::too_many_arguments)]
pub(crate) fn start_send(
    e: &Engine,
    c: &Comm,
    buf: Buf,
    count: i64,
    dt: handle::Datatype,
    dest: i32,
    tag: i32,
    mode: SendMode,
) -> Result<Option<ReqId>> {
    let to = dest_of(c, dest)?;
    send_tag(tag)?;
    launch_send(e, c, span_of(buf, count, dt)?, to, tag, mode)
}

/// Starts a checked send.
#[inline]
pub(crate) fn launch_send(
    e: &Engine,
    c: &Comm,
    span: Span,
    to: Peer,
    tag: i32,
    mode: SendMode,
) -> Result<Option<ReqId>> {
    let Peer::Proc(to) = to else { return Ok(None) };
    if mode == SendMode::Buffered {
        return buffer::send(e, c, to as u32, tag, span).map(|()| None);
    }
    let ctx = c.ctx();
    e.enter(ctx.lane(), |s| s.send(ctx, to as u32, tag, span, engine_mode(mode)))
}

#[inline(never)]
fn blocking(
    buf: Buf,
    count: i64,
    dt: handle::Datatype,
    dest: i32,
    tag: i32,
    comm: handle::Comm,
    mode: SendMode,
) -> Result<()> {
    let e = world::engine_attended()?;
    let c = comm::get(comm)?;
    match start_send(e, &c, buf, count, dt, dest, tag, mode)? {
        None => Ok(()),
        Some(id) => verdict(&e.wait_request(id)?),
    }
}

/// The bytes of a buffer of a predefined type about which nothing needs a second look.
#[inline(always)]
fn plain_bytes(buf: Buf, count: i64, dt: handle::Datatype) -> Option<(*mut u8, usize)> {
    let size = datatype::plain_size(dt)?;
    // Also refuses negative counts, null and the constants that stand for buffers.
    (count as u64 <= i32::MAX as u64 && buf.addr() > 2).then_some((buf.as_mut_ptr(), count as usize * size))
}

/// A small send that finds room is over here, with true. Everything else, errors included, is for the general way.
#[inline(always)]
fn sent_at_once(buf: Buf, count: i64, dt: handle::Datatype, dest: i32, tag: i32, comm: handle::Comm) -> bool {
    // One after the other: what is found early is not kept in flags until all is known.
    let Some((from, len)) = plain_bytes(buf, count, dt) else { return false };
    let Some(c) = comm::peek(comm) else { return false };
    let Some(e) = world::short() else { return false };
    if dest as u32 as usize >= c.size() || !(0..=TAG_UB).contains(&tag) {
        return false;
    }
    // SAFETY: `len` bytes of the caller's buffer.
    unsafe { e.send_now(c.ctx(), c.ranks.proc_of(dest as u32 as usize), tag, from, len) }
}

pub fn send(buf: Buf, count: i64, datatype: handle::Datatype, dest: i32, tag: i32, comm: handle::Comm) -> Result<()> {
    if sent_at_once(buf, count, datatype, dest, tag, comm) {
        return Ok(());
    }
    blocking(buf, count, datatype, dest, tag, comm, SendMode::Standard)
}
pub fn bsend(buf: Buf, count: i64, datatype: handle::Datatype, dest: i32, tag: i32, comm: handle::Comm) -> Result<()> {
    blocking(buf, count, datatype, dest, tag, comm, SendMode::Buffered)
}
pub fn ssend(buf: Buf, count: i64, datatype: handle::Datatype, dest: i32, tag: i32, comm: handle::Comm) -> Result<()> {
    blocking(buf, count, datatype, dest, tag, comm, SendMode::Synchronous)
}
pub fn rsend(buf: Buf, count: i64, datatype: handle::Datatype, dest: i32, tag: i32, comm: handle::Comm) -> Result<()> {
    blocking(buf, count, datatype, dest, tag, comm, SendMode::Ready)
}

/// Checks and starts a receive; None for MPI_PROC_NULL.
#[inline]
pub(crate) fn start_recv(
    e: &Engine,
    c: &Comm,
    buf: Buf,
    count: i64,
    dt: handle::Datatype,
    source: i32,
    tag: i32,
) -> Result<Option<Received>> {
    let from = sender_of(c, source)?;
    recv_tag(tag)?;
    launch_recv(e, c, span_of(buf, count, dt)?, from, tag)
}

/// Starts a checked receive.
#[inline]
pub(crate) fn launch_recv(e: &Engine, c: &Comm, span: Span, from: Peer, tag: i32) -> Result<Option<Received>> {
    let Peer::Proc(from) = from else { return Ok(None) };
    let want = Pattern { ctx: c.ctx(), source: from, tag };
    e.enter(want.ctx.lane(), |s| s.recv(want, span)).map(Some)
}

/// Waits for a blocking receive and fills the status.
#[inline]
fn end_recv(e: &Engine, c: &Comm, r: Option<Received>, status: Out<Status>) -> Result<()> {
    let o = match r {
        None => return give(status, Status::PROC_NULL),
        Some(Received::Done(o)) => o,
        Some(Received::Pending(id)) => e.wait_request(id)?,
    };
    if !status.is_null() {
        give(status, status_of(&c.ranks, &o))?;
    }
    verdict(&o)
}

pub fn recv(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    source: i32,
    tag: i32,
    comm: handle::Comm,
    status: Out<Status>,
) -> Result<()> {
    if let Some(o) = received_at_once(buf, count, datatype, source, tag, comm) {
        if !status.is_null() {
            give(status, Status::new(source, o.tag, o.bytes))?;
        }
        return verdict(&o);
    }
    general_recv(buf, count, datatype, source, tag, comm, status)
}

/// A receive whose message comes while the thread would poll for it anyway is over here. Everything else, bad arguments included, is
/// for the general way.
#[inline(always)]
fn received_at_once(
    buf: Buf,
    count: i64,
    dt: handle::Datatype,
    source: i32,
    tag: i32,
    comm: handle::Comm,
) -> Option<Outcome> {
    // One after the other, as in `sent_at_once`.
    let (to, room) = plain_bytes(buf, count, dt)?;
    let c = comm::peek(comm)?;
    let e = world::short()?;
    if source as u32 as usize >= c.size() || (!(0..=TAG_UB).contains(&tag) && tag != MPI_ANY_TAG) {
        return None;
    }
    // A large message needs a request, which had better be there when it comes.
    if room > INLINE_MAX {
        return None;
    }
    let want = Pattern { ctx: c.ctx(), source: c.ranks.proc_of(source as u32 as usize) as i32, tag };
    // SAFETY: `room` bytes of the caller's buffer.
    unsafe { e.receive_now(want, to, room) }
}

#[inline(never)]
#[allow(clippy::too_many_arguments)]
fn general_recv(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    source: i32,
    tag: i32,
    comm: handle::Comm,
    status: Out<Status>,
) -> Result<()> {
    let e = world::engine_attended()?;
    let c = comm::get(comm)?;
    let r = start_recv(e, &c, buf, count, datatype, source, tag)?;
    end_recv(e, &c, r, status)
}

/// Nothing is started whose request could not be given.
#[inline(always)]
fn refuse_null(request: Out<handle::Request>) -> Result<()> {
    if request.is_null() { request.set(MPI_REQUEST_NULL) } else { Ok(()) }
}

#[allow(clippy::too_many_arguments)]
#[inline(never)]
fn nonblocking(
    buf: Buf,
    count: i64,
    dt: handle::Datatype,
    dest: i32,
    tag: i32,
    comm: handle::Comm,
    mode: SendMode,
    request: Out<handle::Request>,
) -> Result<()> {
    refuse_null(request)?;
    let e = world::engine_attended()?;
    let c = comm::get(comm)?;
    match start_send(e, &c, buf, count, dt, dest, tag, mode)? {
        None => request.set(request::SENT),
        id => request.set(request::of_started(e, &c, id, Outcome::SENT)?),
    }
}

macro_rules! immediate_sends {
    ($($name:ident = $mode:ident),*) => { $(
        pub fn $name(buf: Buf, count: i64, datatype: handle::Datatype, dest: i32, tag: i32, comm: handle::Comm, request: Out<handle::Request>) -> Result<()> {
            if matches!(SendMode::$mode, SendMode::Standard | SendMode::Ready)
                && !request.is_null()
                && sent_at_once(buf, count, datatype, dest, tag, comm)
            {
                return request.set(request::SENT);
            }
            nonblocking(buf, count, datatype, dest, tag, comm, SendMode::$mode, request)
        }
    )* };
}
immediate_sends!(isend = Standard, ibsend = Buffered, issend = Synchronous, irsend = Ready);

/// What a receive from MPI_PROC_NULL gives.
pub(crate) const FROM_NULL: Outcome =
    Outcome { source: MPI_PROC_NULL, tag: MPI_ANY_TAG, bytes: 0, error: MPI_SUCCESS, cancelled: false };

pub fn irecv(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    source: i32,
    tag: i32,
    comm: handle::Comm,
    request: Out<handle::Request>,
) -> Result<()> {
    refuse_null(request)?;
    let e = world::engine_attended()?;
    let c = comm::get(comm)?;
    let from = sender_of(&c, source)?;
    recv_tag(tag)?;
    let span = span_of(buf, count, datatype)?;
    let Peer::Proc(from) = from else { return request.set(of_received(e, &c, None)?) };
    let id = e.enter(c.lane(), |s| {
        let id = match s.recv(Pattern { ctx: c.ctx(), source: from, tag }, span)? {
            Received::Pending(id) => id,
            Received::Done(o) => s.completed(o),
        };
        s.tag_user(id, &c.ranks);
        Ok(id)
    })?;
    request.set(request::handle_of(e, id)?)
}

pub(crate) fn of_received(e: &Engine, c: &Comm, r: Option<Received>) -> Result<handle::Request> {
    match r {
        None => request::of_started(e, c, None, FROM_NULL),
        Some(Received::Done(o)) => request::of_started(e, c, None, o),
        Some(Received::Pending(id)) => request::of_started(e, c, Some(id), Outcome::SENT),
    }
}

#[allow(clippy::too_many_arguments)]
pub fn sendrecv(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    dest: i32,
    sendtag: i32,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    source: i32,
    recvtag: i32,
    comm: handle::Comm,
    status: Out<Status>,
) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    // All arguments are checked before anything starts.
    let to = dest_of(&c, dest)?;
    send_tag(sendtag)?;
    let out = span_of(sendbuf, sendcount, sendtype)?;
    let r = start_recv(e, &c, recvbuf, recvcount, recvtype, source, recvtag)?;
    exchange(e, &c, out, to, sendtag, r, status)
}

fn exchange(
    e: &Engine,
    c: &Comm,
    out: Span,
    to: Peer,
    tag: i32,
    r: Option<Received>,
    status: Out<Status>,
) -> Result<()> {
    let sent = match launch_send(e, c, out, to, tag, SendMode::Standard) {
        Ok(sent) => sent,
        Err(why) => return Err(withdraw(e, r, why)),
    };
    let received = end_recv(e, c, r, status);
    if let Some(id) = sent {
        verdict(&e.wait_request(id)?)?;
    }
    received
}

#[allow(clippy::too_many_arguments)]
pub fn sendrecv_replace(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    dest: i32,
    sendtag: i32,
    source: i32,
    recvtag: i32,
    comm: handle::Comm,
    status: Out<Status>,
) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    let to = dest_of(&c, dest)?;
    send_tag(sendtag)?;
    let copy = copy_of(buf, count, datatype)?;
    let r = start_recv(e, &c, buf, count, datatype, source, recvtag)?;
    exchange(e, &c, copy, to, sendtag, r, status)
}

#[allow(clippy::too_many_arguments)]
pub fn isendrecv(
    sendbuf: Buf,
    sendcount: i64,
    sendtype: handle::Datatype,
    dest: i32,
    sendtag: i32,
    recvbuf: Buf,
    recvcount: i64,
    recvtype: handle::Datatype,
    source: i32,
    recvtag: i32,
    comm: handle::Comm,
    request: Out<handle::Request>,
) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    // All arguments are checked before anything starts.
    let to = dest_of(&c, dest)?;
    send_tag(sendtag)?;
    let out = span_of(sendbuf, sendcount, sendtype)?;
    request.set(MPI_REQUEST_NULL)?;
    let r = start_recv(e, &c, recvbuf, recvcount, recvtype, source, recvtag)?;
    request.set(start_exchange(e, &c, out, to, sendtag, r)?)
}

#[allow(clippy::too_many_arguments)]
pub fn isendrecv_replace(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    dest: i32,
    sendtag: i32,
    source: i32,
    recvtag: i32,
    comm: handle::Comm,
    request: Out<handle::Request>,
) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    let to = dest_of(&c, dest)?;
    send_tag(sendtag)?;
    let copy = copy_of(buf, count, datatype)?;
    request.set(MPI_REQUEST_NULL)?;
    let r = start_recv(e, &c, buf, count, datatype, source, recvtag)?;
    request.set(start_exchange(e, &c, copy, to, sendtag, r)?)
}

/// The exchange of which this is the receive has failed, so its buffer is the program's again.
#[cold]
#[inline(never)]
fn withdraw(e: &Engine, r: Option<Received>, why: Error) -> Error {
    if let Some(Received::Pending(id)) = r {
        e.enter(id.lane(), |s| s.abandon(id));
    }
    why
}

/// Starts the send of an exchange whose receive has been started; the request of both.
fn start_exchange(e: &Engine, c: &Comm, out: Span, to: Peer, tag: i32, r: Option<Received>) -> Result<handle::Request> {
    let started = match launch_send(e, c, out, to, tag, SendMode::Standard) {
        Ok(started) => started,
        Err(why) => return Err(withdraw(e, r, why)),
    };
    let Some(send) = started else {
        // Half of it is done: the receive alone is the request.
        return of_received(e, c, r);
    };
    let (first, outcome) = match r {
        None => (None, FROM_NULL),
        Some(Received::Done(o)) => (None, o),
        Some(Received::Pending(id)) => (Some(id), Outcome::SENT),
    };
    Compound::exchange(c.ranks.clone(), first, outcome, send)
        .publish()
        .inspect_err(|_| [first, Some(send)].into_iter().flatten().for_each(|id| e.enter(id.lane(), |s| s.abandon(id))))
}

/// A copy of a buffer that is sent and received into.
fn copy_of(buf: Buf, count: i64, datatype: handle::Datatype) -> Result<Span> {
    let copy = span_of(buf, count, datatype)?.to_owned();
    copy.map(Span::Owned)
        .ok_or_else(|| Error::new(MPI_ERR_NO_MEM, format!("no memory for the copy of {count} elements")))
}

fn pattern(c: &Comm, source: i32, tag: i32) -> Result<Option<Pattern>> {
    let from = source_of(c, source)?;
    recv_tag(tag)?;
    Ok(match from {
        Peer::Null => None,
        Peer::Proc(source) => Some(Pattern { ctx: c.ctx(), source, tag }),
    })
}

pub fn probe(source: i32, tag: i32, comm: handle::Comm, status: Out<Status>) -> Result<()> {
    let e = world::engine_attended()?;
    let c = comm::get(comm)?;
    let Some(p) = pattern(&c, source, tag)? else { return give(status, Status::PROC_NULL) };
    let o = e.wait(c.lane(), |s| s.probe(p).map(Ok).or_else(|| s.gone(p, &c.ranks).map(Err)))??;
    give(status, status_of(&c.ranks, &o))
}

pub fn iprobe(source: i32, tag: i32, comm: handle::Comm, flag: Out<i32>, status: Out<Status>) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    let Some(p) = pattern(&c, source, tag)? else {
        flag.set(1)?;
        return give(status, Status::PROC_NULL);
    };
    match e.look(c.lane(), |s| s.probe(p))? {
        None => {
            e.breathe();
            flag.set(0)
        }
        Some(o) => {
            flag.set(1)?;
            give(status, status_of(&c.ranks, &o))
        }
    }
}

/// A message between MPI_Mprobe and MPI_Mrecv.
pub struct Held {
    message: oxmpi_pt2pt::Message,
    ranks: Arc<Ranks>,
}

impl Held {
    fn lane(&self) -> usize {
        self.message.envelope.ctx.lane()
    }
}

static MESSAGES: crate::table::Table<handle::Message, Held> = crate::table::Table::new();

fn hold(e: &Engine, c: &Comm, message: oxmpi_pt2pt::Message) -> Result<handle::Message> {
    e.enter(c.lane(), |s| s.keep(&c.ranks));
    MESSAGES.insert(Arc::new(Held { message, ranks: c.ranks.clone() }))
}

pub fn mprobe(
    source: i32,
    tag: i32,
    comm: handle::Comm,
    message: Out<handle::Message>,
    status: Out<Status>,
) -> Result<()> {
    let e = world::engine_attended()?;
    let c = comm::get(comm)?;
    let Some(p) = pattern(&c, source, tag)? else {
        message.set(MPI_MESSAGE_NO_PROC)?;
        return give(status, Status::PROC_NULL);
    };
    let (m, o) = e.wait(c.lane(), |s| s.mprobe(p).map(Ok).or_else(|| s.gone(p, &c.ranks).map(Err)))??;
    message.set(hold(e, &c, m)?)?;
    give(status, status_of(&c.ranks, &o))
}

pub fn improbe(
    source: i32,
    tag: i32,
    comm: handle::Comm,
    flag: Out<i32>,
    message: Out<handle::Message>,
    status: Out<Status>,
) -> Result<()> {
    let e = world::engine()?;
    let c = comm::get(comm)?;
    let Some(p) = pattern(&c, source, tag)? else {
        flag.set(1)?;
        message.set(MPI_MESSAGE_NO_PROC)?;
        return give(status, Status::PROC_NULL);
    };
    e.poll(c.lane())?;
    match e.enter(c.lane(), |s| s.mprobe(p)) {
        None => {
            e.breathe();
            flag.set(0)
        }
        Some((m, o)) => {
            flag.set(1)?;
            message.set(hold(e, &c, m)?)?;
            give(status, status_of(&c.ranks, &o))
        }
    }
}

/// Starts the receive of a matched message; None for MPI_MESSAGE_NO_PROC.
fn matched(
    buf: Buf,
    count: i64,
    dt: handle::Datatype,
    message: Out<handle::Message>,
) -> Result<Option<(Received, Arc<Held>)>> {
    let e = world::engine()?;
    let h = message.get()?;
    let span = span_of(buf, count, dt)?;
    let held = if h == MPI_MESSAGE_NO_PROC { None } else { Some(MESSAGES.remove(h)?) };
    message.set(MPI_MESSAGE_NULL)?;
    match held {
        None => Ok(None),
        Some(m) => match e.enter(m.lane(), |s| s.recv_early(m.message, span)) {
            Ok(r) => Ok(Some((r, m))),
            Err(why) => {
                e.enter(m.lane(), |s| s.retire(&m.ranks));
                Err(why.on(handle::Comm(m.ranks.owner())))
            }
        },
    }
}

pub fn mrecv(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    message: Out<handle::Message>,
    status: Out<Status>,
) -> Result<()> {
    let e = world::engine_attended()?;
    let Some((r, held)) = matched(buf, count, datatype, message)? else { return give(status, Status::PROC_NULL) };
    let o = match r {
        Received::Done(o) => o,
        Received::Pending(id) => e.wait_request(id)?,
    };
    e.enter(held.lane(), |s| s.retire(&held.ranks));
    give(status, status_of(&held.ranks, &o))?;
    verdict(&o).map_err(|e| e.on(handle::Comm(held.ranks.owner())))
}

pub fn imrecv(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    message: Out<handle::Message>,
    request: Out<handle::Request>,
) -> Result<()> {
    refuse_null(request)?;
    let e = world::engine()?;
    let Some((r, held)) = matched(buf, count, datatype, message)? else {
        return request.set(request::of_parts(e, 0, None, None, FROM_NULL)?);
    };
    let (id, o) = match r {
        Received::Done(o) => (None, o),
        Received::Pending(id) => (Some(id), Outcome::SENT),
    };
    let made = request::of_parts(e, held.lane(), Some(&held.ranks), id, o);
    e.enter(held.lane(), |s| s.retire(&held.ranks));
    request.set(made?)
}

macro_rules! persistent_sends {
    ($($name:ident = $mode:ident),*) => { $(
        pub fn $name(buf: Buf, count: i64, datatype: handle::Datatype, dest: i32, tag: i32, comm: handle::Comm, request: Out<handle::Request>) -> Result<()> {
            let c = comm::get(comm)?;
            dest_of(&c, dest)?;
            send_tag(tag)?;
            span_of(buf, count, datatype)?;
            let dt = crate::datatype::get_committed(datatype)?.dt.clone();
            request.set(request::persistent(c.to_arc(), buf, count, dt, dest, tag, request::Direction::Send(SendMode::$mode))?)
        }
    )* };
}
persistent_sends!(send_init = Standard, bsend_init = Buffered, ssend_init = Synchronous, rsend_init = Ready);

pub fn recv_init(
    buf: Buf,
    count: i64,
    datatype: handle::Datatype,
    source: i32,
    tag: i32,
    comm: handle::Comm,
    request: Out<handle::Request>,
) -> Result<()> {
    let c: Ref<'static, handle::Comm, Comm> = comm::get(comm)?;
    source_of(&c, source)?;
    recv_tag(tag)?;
    span_of(buf, count, datatype)?;
    let dt = crate::datatype::get_committed(datatype)?.dt.clone();
    request.set(request::persistent(c.to_arc(), buf, count, dt, source, tag, request::Direction::Recv)?)
}
