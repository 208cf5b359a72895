//! A communicator whose ranks are threads, and datatypes that are lists of byte runs.
//!
//! Invariants: messages of a pair and tag match in order; a rendezvous send completes when its receive is
//! there and reads the sender's memory only then; nothing is left over when the ranks have returned.
use crate::Team;
use oxmpi_base::{Error, Result, args::Buf, consts::*, handle};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct Datatype {
    pub extent: isize,
    /// Byte runs of one element, in type map order.
    pub runs: Vec<(isize, usize)>,
}

impl Datatype {
    pub fn predefined(h: handle::Datatype) -> Option<&'static Datatype> {
        static BYTE: OnceLock<Datatype> = OnceLock::new();
        (h == MPI_BYTE).then(|| BYTE.get_or_init(|| Datatype { extent: 1, runs: vec![(0, 1)] }))
    }
    pub fn size(&self) -> usize {
        self.runs.iter().map(|r| r.1).sum()
    }
    pub fn extent(&self) -> isize {
        self.extent
    }
    pub fn true_lb(&self) -> isize {
        self.runs.iter().map(|r| r.0).min().unwrap_or(0)
    }
    pub fn true_extent(&self) -> isize {
        self.runs.iter().map(|r| r.0 + r.1 as isize).max().unwrap_or(0) - self.true_lb()
    }
    pub fn dense(&self) -> Option<isize> {
        (self.runs.len() == 1 && self.runs[0].1 as isize == self.extent).then(|| self.runs[0].0)
    }
    /// The runs of the bytes `from..to` of the packed stream.
    fn walk(&self, base: Buf, count: usize, from: usize, to: usize, mut step: impl FnMut(*mut u8, usize)) {
        if let Some(offset) = self.dense() {
            return step(base.offset(offset + from as isize).as_mut_ptr(), to - from);
        }
        let size = self.size();
        for element in from / size..count {
            let mut at = element * size;
            for &(offset, len) in &self.runs {
                let (low, high) = (from.max(at), to.min(at + len));
                if low < high {
                    let p = base.offset(element as isize * self.extent + offset + (low - at) as isize);
                    step(p.as_mut_ptr(), high - low);
                }
                at += len;
            }
            if at >= to {
                return;
            }
        }
    }
}

pub struct Cursor {
    dt: Datatype,
    base: Buf,
    count: usize,
    position: usize,
}

impl Cursor {
    pub fn new(dt: &Datatype, base: Buf, count: usize) -> Cursor {
        Cursor { dt: dt.clone(), base, count, position: 0 }
    }
    pub fn seek(&mut self, position: u64) {
        self.position = position as usize;
    }
    fn advance(&mut self, n: usize, step: impl FnMut(*mut u8, usize)) -> usize {
        let to = (self.position + n).min(self.count * self.dt.size());
        self.dt.walk(self.base, self.count, self.position, to, step);
        to - std::mem::replace(&mut self.position, to)
    }
    /// # Safety
    /// `base` is valid for the type map.
    pub unsafe fn pack(&mut self, out: &mut [u8]) -> usize {
        let mut to = out.as_mut_ptr();
        self.advance(out.len(), |p, n| {
            // SAFETY: the walk stays inside `out.len()` bytes; `p` by the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(p, to, n) };
            to = to.wrapping_add(n);
        })
    }
    /// # Safety
    /// `base` is valid for the type map.
    pub unsafe fn unpack(&mut self, data: &[u8]) -> usize {
        let mut from = data.as_ptr();
        self.advance(data.len(), |p, n| {
            // SAFETY: as for `pack`.
            unsafe { std::ptr::copy_nonoverlapping(from, p, n) };
            from = from.wrapping_add(n);
        })
    }
}

/// # Safety
/// Both buffers are valid for their type maps and disjoint.
pub unsafe fn copy(src: Buf, scount: usize, stype: &Datatype, dst: Buf, rcount: usize, rtype: &Datatype) -> u64 {
    let mut packed = vec![0; scount * stype.size()];
    // SAFETY: the caller's promise.
    unsafe {
        Cursor::new(stype, src, scount).pack(&mut packed);
        Cursor::new(rtype, dst, rcount).unpack(&packed) as u64
    }
}

enum Outgoing {
    Packed(Vec<u8>),
    Waiting { buf: usize, count: usize, dt: Datatype, req: u64 },
}

struct Posted {
    buf: usize,
    count: usize,
    dt: Datatype,
    req: u64,
}

type Envelope = (usize, usize, i32);

#[derive(Default)]
struct State {
    sends: HashMap<Envelope, VecDeque<Outgoing>>,
    receives: HashMap<Envelope, VecDeque<Posted>>,
    requests: HashMap<u64, Option<Result<u64>>>,
    next: u64,
    messages: u64,
    memories: Vec<Arc<Vec<Page>>>,
}

#[derive(Clone, Copy)]
#[repr(align(4096))]
struct Page(#[allow(dead_code)] [u8; 4096]);

/// Memory that all threads of a world have.
pub struct Memory {
    pages: Arc<Vec<Page>>,
    place: [u64; 2],
    owner: bool,
}

impl Memory {
    pub fn base(&self) -> *mut u8 {
        self.pages.as_ptr() as *mut u8
    }
    pub fn len(&self) -> usize {
        self.pages.len() * 4096
    }
    pub fn place(&self) -> [u64; 2] {
        self.place
    }
    pub fn is_owner(&self) -> bool {
        self.owner
    }
}

impl State {
    fn request(&mut self) -> u64 {
        self.next += 1;
        self.requests.insert(self.next, None);
        self.next
    }
    fn done(&mut self, req: u64, r: Result<u64>) {
        self.requests.insert(req, Some(r));
    }
    /// Delivers as long as the envelope has both a send and a receive.
    fn deliver(&mut self, e: Envelope) {
        while let (Some(sends), Some(receives)) = (self.sends.get_mut(&e), self.receives.get_mut(&e)) {
            if sends.is_empty() || receives.is_empty() {
                return;
            }
            let (s, r) = (sends.pop_front().unwrap(), receives.pop_front().unwrap());
            let packed = match s {
                Outgoing::Packed(p) => p,
                Outgoing::Waiting { buf, count, dt, req } => {
                    self.done(req, Ok(0));
                    pack(Buf(buf as *mut _), count, &dt)
                }
            };
            // SAFETY: the receiver keeps its buffer until it has waited.
            let got = unsafe { Cursor::new(&r.dt, Buf(r.buf as *mut _), r.count).unpack(&packed) };
            let fits = got == packed.len();
            let error = || Error::new(MPI_ERR_TRUNCATE, format!("{} bytes for room of {got}", packed.len()));
            self.done(r.req, if fits { Ok(got as u64) } else { Err(error()) });
        }
    }
}

fn pack(buf: Buf, count: usize, dt: &Datatype) -> Vec<u8> {
    let mut packed = vec![0; count * dt.size()];
    // SAFETY: the sender keeps its buffer until it has waited.
    unsafe { Cursor::new(dt, buf, count).pack(&mut packed) };
    packed
}

#[derive(Clone)]
pub struct Endpoint {
    rank: usize,
    size: usize,
    eager: bool,
    direct: bool,
    shared: Arc<(Mutex<State>, Condvar)>,
}

#[must_use]
pub struct Req(u64);

impl Endpoint {
    pub fn rank(&self) -> usize {
        self.rank
    }
    pub fn size(&self) -> usize {
        self.size
    }
    pub fn shares_cores(&self) -> bool {
        false
    }
    pub fn progress(&self) -> Result<()> {
        Ok(())
    }
    pub fn check_aborted(&self) -> Result<()> {
        Ok(())
    }
    pub fn allocate(&self, len: usize) -> std::result::Result<Memory, String> {
        let pages = Arc::new(vec![Page([0; 4096]); len.div_ceil(4096)]);
        let all = &mut self.shared.0.lock().unwrap().memories;
        all.push(pages.clone());
        Ok(Memory { pages, place: [0, all.len() as u64 - 1], owner: true })
    }
    pub fn map(&self, place: [u64; 2], len: usize) -> std::result::Result<Memory, String> {
        let pages = self.shared.0.lock().unwrap().memories[place[1] as usize].clone();
        assert!(pages.len() * 4096 >= len);
        Ok(Memory { pages, place, owner: false })
    }
    pub fn published(&self, _asleep: &AtomicU32) {}
    pub fn wait_until(&self, _asleep: &AtomicU32, ready: &mut dyn FnMut() -> bool) -> Result<()> {
        let begun = std::time::Instant::now();
        while !ready() {
            std::thread::yield_now();
            assert!(begun.elapsed() < Duration::from_secs(60), "rank {} of {} waits for ever", self.rank, self.size);
        }
        Ok(())
    }
    pub fn reads_directly(&self, _rank: usize) -> bool {
        self.direct
    }
    pub fn expose(&self, at: *const u8, _len: usize) -> [u64; 2] {
        [at.addr() as u64, 0]
    }
    /// # Safety
    /// `to` is valid for `len` bytes.
    pub unsafe fn read_peer(&self, rank: usize, there: [u64; 2], offset: u64, to: *mut u8, len: usize) -> Result<()> {
        assert!(rank < self.size && rank != self.rank);
        // SAFETY: the caller's promise, and all ranks are threads of one process.
        unsafe { std::ptr::copy((there[0] + offset) as *const u8, to, len) };
        Ok(())
    }
    /// # Safety
    /// `from` is valid for `len` bytes, and the same of what `rank` has exposed.
    pub unsafe fn write_peer(
        &self,
        rank: usize,
        there: [u64; 2],
        offset: u64,
        from: *const u8,
        len: usize,
    ) -> Result<()> {
        assert!(rank < self.size && rank != self.rank);
        if READ_ONLY.get() {
            return Err(Error::new(oxmpi_base::consts::MPI_ERR_BUFFER, "not writable"));
        }
        // SAFETY: the caller's promise, and all ranks are threads of one process.
        unsafe { std::ptr::copy(from, (there[0] + offset) as *mut u8, len) };
        Ok(())
    }
    pub fn messages(&self) -> u64 {
        self.shared.0.lock().unwrap().messages
    }
    pub fn isend(&self, buf: Buf, count: usize, dt: &Datatype, dest: usize, tag: i32) -> Result<Req> {
        assert!(dest < self.size && (dest != self.rank || TO_ITSELF.get()), "rank {} sends to {dest}", self.rank);
        let mut state = self.shared.0.lock().unwrap();
        state.messages += 1;
        let (e, req) = ((self.rank, dest, tag), state.request());
        let message = if self.eager {
            state.done(req, Ok(0));
            Outgoing::Packed(pack(buf, count, dt))
        } else {
            Outgoing::Waiting { buf: buf.addr(), count, dt: dt.clone(), req }
        };
        state.sends.entry(e).or_default().push_back(message);
        state.deliver(e);
        self.shared.1.notify_all();
        Ok(Req(req))
    }
    pub fn irecv(&self, buf: Buf, count: usize, dt: &Datatype, source: usize, tag: i32) -> Result<Req> {
        assert!(
            source < self.size && (source != self.rank || TO_ITSELF.get()),
            "rank {} receives from {source}",
            self.rank
        );
        let mut state = self.shared.0.lock().unwrap();
        let (e, req) = ((source, self.rank, tag), state.request());
        let posted = Posted { buf: buf.addr(), count, dt: dt.clone(), req };
        state.receives.entry(e).or_default().push_back(posted);
        state.deliver(e);
        self.shared.1.notify_all();
        Ok(Req(req))
    }
    fn finish(&self, req: Req) -> Result<u64> {
        let mut state = self.shared.0.lock().unwrap();
        loop {
            if state.requests[&req.0].is_some() {
                return state.requests.remove(&req.0).unwrap().unwrap();
            }
            let (s, late) = self.shared.1.wait_timeout(state, Duration::from_secs(60)).unwrap();
            assert!(!late.timed_out(), "rank {} of {} waits for ever", self.rank, self.size);
            state = s;
        }
    }
    pub fn wait(&self, req: Req) -> Result<()> {
        self.finish(req).map(|_| ())
    }
    pub fn wait_all(&self, reqs: Vec<Req>) -> Result<()> {
        let all: Vec<_> = reqs.into_iter().map(|r| self.wait(r)).collect();
        all.into_iter().collect()
    }
    pub fn send(&self, buf: Buf, count: usize, dt: &Datatype, dest: usize, tag: i32) -> Result<()> {
        self.wait(self.isend(buf, count, dt, dest, tag)?)
    }
    pub fn recv(&self, buf: Buf, count: usize, dt: &Datatype, source: usize, tag: i32) -> Result<u64> {
        self.finish(self.irecv(buf, count, dt, source, tag)?)
    }
    pub fn sendrecv(
        &self,
        sbuf: Buf,
        scount: usize,
        sdt: &Datatype,
        dest: usize,
        rbuf: Buf,
        rcount: usize,
        rdt: &Datatype,
        source: usize,
        tag: i32,
    ) -> Result<u64> {
        let r = self.irecv(rbuf, rcount, rdt, source, tag)?;
        let s = self.isend(sbuf, scount, sdt, dest, tag)?;
        let got = self.finish(r);
        self.wait(s)?;
        got
    }
}

/// What a schedule needs: messages that are started and looked at without waiting.
#[derive(Clone)]
pub struct Channel {
    ep: Endpoint,
}

#[derive(Clone, Copy)]
pub struct Pending(u64);

impl Pending {
    pub fn lane(self) -> usize {
        0
    }
}

pub struct Inside<'a>(&'a Endpoint);

impl Endpoint {
    pub fn channel(&self) -> Channel {
        Channel { ep: self.clone() }
    }
}

impl Channel {
    pub fn lane(&self) -> usize {
        0
    }
    pub fn enter<R>(&self, _lane: usize, f: impl FnOnce(&mut Inside) -> R) -> R {
        f(&mut Inside(&self.ep))
    }
    pub fn check_aborted(&self) -> Result<()> {
        Ok(())
    }
    /// Tests advance their schedules themselves.
    pub fn begin(&self) {}
    pub fn undertake(&self, _work: Arc<dyn oxmpi_pt2pt::Work>) {}
    pub fn conclude(&self, f: impl FnOnce()) {
        f();
    }
}

impl Inside<'_> {
    pub fn isend(
        &mut self,
        c: &Channel,
        buf: Buf,
        count: usize,
        dt: &Datatype,
        dest: usize,
        tag: i32,
    ) -> Result<Option<Pending>> {
        c.ep.isend(buf, count, dt, dest, tag).map(|r| Some(Pending(r.0)))
    }
    pub fn irecv(
        &mut self,
        c: &Channel,
        buf: Buf,
        count: usize,
        dt: &Datatype,
        source: usize,
        tag: i32,
    ) -> Result<Option<Pending>> {
        c.ep.irecv(buf, count, dt, source, tag).map(|r| Some(Pending(r.0)))
    }
    pub fn finish(&mut self, p: Pending) -> Option<Result<()>> {
        let mut state = self.0.shared.0.lock().unwrap();
        state.requests[&p.0].as_ref()?;
        Some(state.requests.remove(&p.0).unwrap().unwrap().map(|_| ()))
    }
}

thread_local! {
    /// Whether the algorithm of this rank may send messages to itself, which most would do in error.
    pub static TO_ITSELF: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
    /// Whether this rank cannot write to the memory of others.
    pub static READ_ONLY: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// How a world's collectives travel.
const WAYS: [(bool, u32, bool); 4] = [
    // By messages, with eager and with rendezvous sends.
    (true, u32::MAX, false),
    (false, u32::MAX, false),
    // Through shared memory, with and without single copy.
    (false, 0, true),
    (false, 0, false),
];

/// Runs `body` as every rank of `n`, every way.
pub fn world(n: usize, body: impl Fn(&Team) + Sync) {
    for (eager, first, direct) in WAYS {
        if n == 1 && first == 0 {
            continue;
        }
        let shared = Arc::new((Mutex::new(State::default()), Condvar::new()));
        std::thread::scope(|s| {
            for rank in 0..n {
                let ep = Endpoint { rank, size: n, eager, direct, shared: shared.clone() };
                let body = &body;
                s.spawn(move || body(&Team::after(ep, first)));
            }
        });
        let state = shared.0.lock().unwrap();
        assert!(state.requests.is_empty(), "requests were dropped");
        assert!(state.sends.values().all(|q| q.is_empty()), "messages were not received");
    }
}
