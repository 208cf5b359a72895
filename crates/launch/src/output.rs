//! What ranks write, on its way to mpirun's standard output and error: whole lines, bounded memory, no wait.
//!
//! Rules, for jobs of several ranks:
//! - a line of one rank is never mixed with another's; bytes are otherwise passed as they are;
//! - a line that is not ended is shown after [`PARTIAL`] without news; from then on it owns the destination;
//!   another rank's line waits for it up to [`HOLD`], whatever the owner adds, then a line break is put in
//!   between;
//! - a line longer than [`CAP`] is passed in pieces and owns the destination likewise;
//! - what a rank leaves unfinished when it closes its output is passed without a line break (with one, when
//!   lines are tagged).
//!
//! The only rank of a job passes everything at once (unless tagged).
//!
//! A slow reader stops the ranks, not mpirun: each source holds at most [`CAP`] bytes, a destination about
//! [`HIGH`]; beyond that nothing is read, and the rank's own write waits. When the reader is gone, ranks get
//! SIGPIPE as if they had written to it themselves.
use crate::cli::Tag;
use oxmpi_sys::fd::{self, Kind};
use oxmpi_sys::poll::{Interest, Poller};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

pub const CAP: usize = 64 << 10;
pub const HIGH: usize = 256 << 10;
pub const PARTIAL: Duration = Duration::from_millis(200);
pub const HOLD: Duration = Duration::from_secs(1);

/// Which of a rank's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    Out,
    Err,
}

/// How a destination is written to without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// A regular file: writing does not wait for a reader.
    File,
    /// A description of our own with O_NONBLOCK.
    NonBlocking,
    Socket,
    /// Shared with others and not reopenable: ask first, then write no more than is surely taken.
    Asking,
}

struct Destination {
    fd: OwnedFd,
    way: Way,
    queue: VecDeque<u8>,
    /// The source whose line is unfinished in what was queued last.
    owner: Option<usize>,
    /// Since when there is this owner.
    owned_since: Instant,
    /// The last byte queued was not a line break.
    mid_line: bool,
    polled: bool,
    closed: bool,
    /// Where the next round over waiting sources begins.
    turn: usize,
}

struct Source {
    fd: Option<OwnedFd>,
    destination: usize,
    prefix: Vec<u8>,
    buffer: Vec<u8>,
    /// When bytes arrived last.
    since: Instant,
    /// Since when there has been something in the buffer that may go out as it is.
    waiting_since: Option<Instant>,
    /// In the middle of a line that has begun to go out.
    mid_line: bool,
    paused: bool,
}

/// Tokens that epoll reports to [`Output::readable`] and [`Output::writable`].
pub struct Tokens {
    pub source: u64,
    pub destination: u64,
}

pub struct Output {
    destinations: Vec<Destination>,
    sources: Vec<Source>,
    tokens: Tokens,
    raw: bool,
    tag: Tag,
    scratch: Vec<u8>,
    /// Something that ranks wrote could not be delivered, other than to a reader that left.
    pub lost: Option<io::Error>,
}

impl Output {
    /// Carries to the descriptors `out` and `err`; both may be one file, which is then one destination.
    pub fn new(out: BorrowedFd<'_>, err: BorrowedFd<'_>, ranks: usize, tag: Tag, tokens: Tokens) -> io::Result<Output> {
        let mut destinations = vec![Destination::new(out)?];
        if fd::identity(out.as_raw_fd())? != fd::identity(err.as_raw_fd())? {
            destinations.push(Destination::new(err)?);
        }
        let raw = ranks == 1 && tag == Tag::None;
        let scratch = vec![0; CAP];
        Ok(Output { destinations, sources: Vec::new(), tokens, raw, tag, scratch, lost: None })
    }

    fn destination_of(&self, stream: Stream) -> usize {
        match stream {
            Stream::Out => 0,
            Stream::Err => self.destinations.len() - 1,
        }
    }

    /// Takes over the reading end of a rank's output.
    pub fn add(&mut self, rank: usize, stream: Stream, end: OwnedFd, poller: &Poller) -> io::Result<()> {
        fd::set_nonblocking(end.as_fd())?;
        let name = match stream {
            Stream::Out => "stdout",
            Stream::Err => "stderr",
        };
        let prefix = match self.tag {
            Tag::None => Vec::new(),
            Tag::Stream => format!("[1,{rank}]<{name}>: ").into_bytes(),
            Tag::Rank => format!("[{rank}] ").into_bytes(),
        };
        poller.add(end.as_fd(), Interest::Read, self.tokens.source + self.sources.len() as u64)?;
        self.sources.push(Source {
            fd: Some(end),
            destination: self.destination_of(stream),
            prefix,
            buffer: Vec::new(),
            since: Instant::now(),
            waiting_since: None,
            mid_line: false,
            paused: false,
        });
        Ok(())
    }

    /// Source `index` has bytes or has ended.
    pub fn readable(&mut self, index: usize, poller: &Poller) {
        self.read(index, false, poller);
    }

    /// `last`: nobody is left to write, so nothing to read now means nothing ever.
    fn read(&mut self, index: usize, last: bool, poller: &Poller) {
        let Some(source) = self.sources.get_mut(index) else { return };
        let Some(end) = source.fd.as_ref() else { return };
        let room = CAP.saturating_sub(source.buffer.len());
        let target = &mut self.scratch[..room];
        let to = source.destination;
        match fd::read(end.as_fd(), target) {
            _ if room == 0 => {}
            Ok(0) => source.fd = None,
            Ok(n) => {
                source.buffer.extend_from_slice(&target[..n]);
                source.since = Instant::now();
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock && last => source.fd = None,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(_) => source.fd = None,
        }
        if source.waiting_since.is_none() && source.ready() {
            source.waiting_since = Some(Instant::now());
        }
        self.offer(index, false, poller);
        self.flush(to, poller);
    }

    pub fn writable(&mut self, index: usize, poller: &Poller) {
        if index < self.destinations.len() {
            self.flush(index, poller);
        }
    }

    /// Moves from a source to its destination what the rules allow.
    fn offer(&mut self, index: usize, partial: bool, poller: &Poller) {
        let source = &mut self.sources[index];
        let destination = &mut self.destinations[source.destination];
        let ended = source.fd.is_none();
        if destination.closed {
            return;
        }
        let mine = self.raw || destination.owner.is_none_or(|o| o == index);
        if mine && destination.queue.len() < HIGH {
            let whole = self.raw || ended || partial || source.buffer.len() >= CAP;
            let last_break = || source.buffer.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            let take = if whole { source.buffer.len() } else { last_break() };
            if take > 0 {
                for line in source.buffer[..take].split_inclusive(|b| *b == b'\n') {
                    if !source.mid_line {
                        destination.queue.extend(&source.prefix);
                    }
                    destination.queue.extend(line);
                    source.mid_line = line.last() != Some(&b'\n');
                }
                source.buffer.drain(..take);
                destination.mid_line = source.mid_line;
                source.waiting_since = None;
                let owner = (source.mid_line && !self.raw).then_some(index);
                if owner.is_some() && owner != destination.owner {
                    destination.owned_since = Instant::now();
                }
                destination.owner = owner;
            }
            if ended && source.buffer.is_empty() && destination.owner == Some(index) {
                destination.owner = None;
                if self.tag != Tag::None {
                    destination.break_line();
                }
            }
        }
        let full = source.buffer.len() >= CAP;
        if let Some(end) = source.fd.as_ref().filter(|_| full != source.paused) {
            let token = self.tokens.source + index as u64;
            let changed =
                if full { poller.remove(end.as_fd()) } else { poller.add(end.as_fd(), Interest::Read, token) };
            source.paused = full && changed.is_ok();
        }
    }

    /// Writes what a destination takes now, and refills it from the sources that wait.
    fn flush(&mut self, index: usize, poller: &Poller) {
        loop {
            let destination = &mut self.destinations[index];
            let blocked = match destination.write() {
                Ok(blocked) => blocked,
                Err(e) => {
                    destination.closed = true;
                    destination.queue.clear();
                    for source in self.sources.iter_mut().filter(|s| s.destination == index) {
                        source.buffer.clear();
                        source.fd = None;
                    }
                    if !matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) {
                        self.lost.get_or_insert(e);
                    }
                    false
                }
            };
            destination.poll(blocked, self.tokens.destination + index as u64, poller);
            if blocked || !self.refill(index, poller) {
                return;
            }
        }
    }

    /// Offers every waiting source of a destination, in turn; true when anything moved.
    fn refill(&mut self, index: usize, poller: &Poller) -> bool {
        let n = self.sources.len();
        let start = self.destinations[index].turn;
        let mut moved = false;
        for i in (0..n).map(|k| (start + k) % n) {
            if self.destinations[index].queue.len() >= HIGH {
                break;
            }
            let before = self.sources[i].buffer.len();
            if self.sources[i].destination == index && (before > 0 || self.sources[i].fd.is_none()) {
                self.offer(i, false, poller);
                if self.sources[i].buffer.len() < before {
                    self.destinations[index].turn = i + 1;
                    moved |= !self.destinations[index].closed;
                }
            }
        }
        moved || (!self.destinations[index].closed && !self.destinations[index].queue.is_empty())
    }

    /// Does what is due by time; returns when to come again.
    pub fn tick(&mut self, now: Instant, poller: &Poller) -> Option<Instant> {
        let mut next: Option<Instant> = None;
        let mut due = |at: Instant| {
            if at > now {
                next = Some(next.map_or(at, |n| n.min(at)));
            }
            at <= now
        };
        for i in 0..self.sources.len() {
            let source = &self.sources[i];
            if source.buffer.is_empty() {
                continue;
            }
            let to = source.destination;
            let owner = self.destinations[to].owner;
            match owner {
                Some(o) if o != i => {
                    // What the owner writes meanwhile does not count: its line may never end.
                    let Some(waiting) = source.waiting_since else { continue };
                    let patient = self.destinations[to].owned_since.max(waiting) + HOLD;
                    if self.destinations[to].queue.is_empty() && due(patient) {
                        self.sources[o].mid_line = false;
                        self.destinations[to].owner = None;
                        self.destinations[to].break_line();
                        self.offer(i, false, poller);
                        self.flush(to, poller);
                    }
                }
                _ => {
                    if self.destinations[to].queue.len() < HIGH && due(source.since + PARTIAL) {
                        self.offer(i, true, poller);
                        self.flush(to, poller);
                    }
                }
            }
        }
        next
    }

    /// A line of mpirun's own on standard error.
    pub fn message(&mut self, text: &str, poller: &Poller) {
        let to = self.destination_of(Stream::Err);
        let destination = &mut self.destinations[to];
        if destination.closed {
            return;
        }
        if let Some(owner) = destination.owner.take() {
            self.sources[owner].mid_line = false;
        }
        if destination.mid_line {
            destination.break_line();
        }
        for line in text.trim_end().lines() {
            destination.queue.extend(b"mpirun: ");
            destination.queue.extend(line.as_bytes());
            destination.queue.push_back(b'\n');
        }
        destination.mid_line = false;
        self.flush(to, poller);
    }

    /// Every rank is gone: takes what is still in the pipes. True when all of it is delivered.
    pub fn drain(&mut self, poller: &Poller) -> bool {
        for i in 0..self.sources.len() {
            while self.sources[i].fd.is_some() && self.sources[i].buffer.len() < CAP {
                self.read(i, true, poller);
            }
        }
        for d in 0..self.destinations.len() {
            self.flush(d, poller);
        }
        self.sources.iter().all(|s| s.fd.is_none() && s.buffer.is_empty())
            && self.destinations.iter().all(|d| d.queue.is_empty())
    }
}

impl Source {
    /// It has something that need not wait for more.
    fn ready(&self) -> bool {
        let some = !self.buffer.is_empty();
        some && (self.fd.is_none() || self.buffer.len() >= CAP || self.buffer.contains(&b'\n'))
    }
}

impl Destination {
    fn new(original: BorrowedFd<'_>) -> io::Result<Destination> {
        let kind = fd::identity(original.as_raw_fd())?.kind;
        let reopened = match kind {
            Kind::Pipe | Kind::Terminal | Kind::Device => fd::reopen_for_writing(original).ok(),
            Kind::File | Kind::Socket | Kind::Other => None,
        };
        let (fd, way) = match (reopened, kind) {
            (Some(own), _) => (own, Way::NonBlocking),
            (None, Kind::File) => (fd::duplicate_above(original, 3)?, Way::File),
            (None, Kind::Socket) => (fd::duplicate_above(original, 3)?, Way::Socket),
            (None, _) => (fd::duplicate_above(original, 3)?, Way::Asking),
        };
        Ok(Destination {
            fd,
            way,
            queue: VecDeque::new(),
            owner: None,
            owned_since: Instant::now(),
            mid_line: false,
            polled: false,
            closed: false,
            turn: 0,
        })
    }

    fn break_line(&mut self) {
        self.queue.push_back(b'\n');
        self.mid_line = false;
    }

    /// Ok(true): it takes no more now.
    fn write(&mut self) -> io::Result<bool> {
        const SURE: usize = 4096; // PIPE_BUF: a pipe that is writable at all takes so much
        while !self.queue.is_empty() {
            let (bytes, _) = self.queue.as_slices();
            let written = match self.way {
                Way::File | Way::NonBlocking => fd::write(self.fd.as_fd(), bytes),
                Way::Socket => fd::send(self.fd.as_fd(), bytes, false),
                Way::Asking if !fd::ready(self.fd.as_fd(), true, 0) => return Ok(true),
                Way::Asking => fd::write(self.fd.as_fd(), &bytes[..bytes.len().min(SURE)]),
            };
            match written {
                Ok(n) => drop(self.queue.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(true),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(false)
    }

    fn poll(&mut self, wanted: bool, token: u64, poller: &Poller) {
        if wanted != self.polled {
            let changed = match wanted {
                true => poller.add(self.fd.as_fd(), Interest::Write, token),
                false => poller.remove(self.fd.as_fd()),
            };
            self.polled = wanted && changed.is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Rig {
        output: Output,
        poller: Poller,
        writers: Vec<OwnedFd>,
        result: OwnedFd,
    }

    fn rig(ranks: usize, tag: Tag) -> Rig {
        let (result, to) = fd::pipe().unwrap();
        fd::set_nonblocking(result.as_fd()).unwrap();
        let tokens = Tokens { source: 1 << 32, destination: 2 << 32 };
        let poller = Poller::new().unwrap();
        let mut output = Output::new(to.as_fd(), to.as_fd(), ranks, tag, tokens).unwrap();
        let mut writers = Vec::new();
        for rank in 0..ranks {
            let (from, writer) = fd::pipe().unwrap();
            output.add(rank, Stream::Out, from, &poller).unwrap();
            writers.push(writer);
        }
        Rig { output, poller, writers, result }
    }

    impl Rig {
        fn write(&mut self, rank: usize, text: &str) {
            fd::write(self.writers[rank].as_fd(), text.as_bytes()).unwrap();
            self.output.readable(rank, &self.poller);
        }
        fn shown(&mut self) -> String {
            let mut buffer = vec![0; 1 << 20];
            let mut all = Vec::new();
            while let Ok(n) = fd::read(self.result.as_fd(), &mut buffer) {
                if n == 0 {
                    break;
                }
                all.extend_from_slice(&buffer[..n]);
            }
            String::from_utf8(all).unwrap()
        }
        fn pass_time(&mut self, time: Duration) {
            self.output.tick(Instant::now() + time, &self.poller);
        }
    }

    #[test]
    fn lines_stay_whole() {
        let mut r = rig(2, Tag::None);
        r.write(0, "a");
        r.write(1, "b1\nb2");
        r.write(0, "a\n");
        assert_eq!(r.shown(), "b1\naa\n");
        r.writers.clear();
        assert!(r.output.drain(&r.poller));
        assert_eq!(r.shown(), "b2");
    }

    #[test]
    fn an_unfinished_line_is_shown_after_a_while_and_then_owns_the_place() {
        let mut r = rig(2, Tag::None);
        r.write(0, "name? ");
        assert_eq!(r.shown(), "");
        r.pass_time(PARTIAL);
        assert_eq!(r.shown(), "name? ");
        r.write(1, "x\n");
        assert_eq!(r.shown(), "");
        r.write(0, "ok\n");
        assert_eq!(r.shown(), "ok\nx\n");
        r.write(0, "stuck");
        r.pass_time(PARTIAL);
        r.write(1, "y\n");
        r.pass_time(HOLD + PARTIAL);
        assert_eq!(r.shown(), "stuck\ny\n");
    }

    /// A progress display that rewrites its line for ever does not silence the other ranks.
    #[test]
    fn a_line_that_grows_for_ever_does_not_hold_the_others() {
        let mut r = rig(2, Tag::None);
        r.write(0, "1%");
        r.pass_time(PARTIAL);
        r.write(1, "other\n");
        let early = Instant::now() - HOLD;
        r.output.destinations[0].owned_since = early;
        r.output.sources[1].waiting_since = Some(early);
        r.write(0, "\r2%");
        assert_eq!(r.shown(), "1%");
        r.pass_time(Duration::ZERO);
        assert_eq!(r.shown(), "\nother\n");
        r.pass_time(PARTIAL);
        assert_eq!(r.shown(), "\r2%");
    }

    #[test]
    fn a_message_begins_its_own_line() {
        let mut r = rig(2, Tag::None);
        r.write(0, "half");
        r.pass_time(PARTIAL);
        r.output.message("two\nlines", &r.poller);
        r.write(0, " rest\n");
        assert_eq!(r.shown(), "half\nmpirun: two\nmpirun: lines\n rest\n");
    }

    #[test]
    fn tags_stand_before_every_line() {
        let mut r = rig(2, Tag::Stream);
        r.write(1, "a\nb\n");
        r.write(0, "c");
        r.writers.clear();
        assert!(r.output.drain(&r.poller));
        assert_eq!(r.shown(), "[1,1]<stdout>: a\n[1,1]<stdout>: b\n[1,0]<stdout>: c\n");
        let mut r = rig(1, Tag::Rank);
        r.write(0, "a\n\n");
        assert_eq!(r.shown(), "[0] a\n[0] \n");
    }

    #[test]
    fn the_only_rank_is_passed_through() {
        let mut r = rig(1, Tag::None);
        r.write(0, "prompt");
        assert_eq!(r.shown(), "prompt");
    }

    /// Memory stays bounded while nobody reads, and nothing is lost or mixed when somebody does.
    #[test]
    fn a_slow_reader_stops_the_ranks() {
        let mut r = rig(2, Tag::None);
        for w in &r.writers {
            fd::set_nonblocking(w.as_fd()).unwrap();
        }
        let lines = |rank: usize| format!("{}\n", rank.to_string().repeat(999)).repeat(4);
        let mut sent = [0usize; 2];
        for _ in 0..2000 {
            for (rank, total) in sent.iter_mut().enumerate() {
                if fd::ready(r.writers[rank].as_fd(), true, 0) {
                    *total += fd::write(r.writers[rank].as_fd(), lines(rank).as_bytes()).unwrap_or(0);
                }
                if !r.output.sources[rank].paused {
                    r.output.readable(rank, &r.poller);
                }
            }
        }
        assert!(sent.iter().sum::<usize>() < 2_000_000, "{sent:?}");
        assert!(r.output.destinations[0].queue.len() <= HIGH + CAP + 4096);
        r.writers.clear();
        let mut got = String::new();
        while !r.output.drain(&r.poller) {
            got.push_str(&r.shown());
        }
        got.push_str(&r.shown());
        assert_eq!(got.len(), sent.iter().sum::<usize>());
        assert!(got.lines().all(|l| l.bytes().all(|b| b == l.as_bytes()[0])));
    }

    #[test]
    fn a_reader_that_left_closes_the_sources() {
        let Rig { mut output, poller, writers, result } = rig(2, Tag::None);
        drop(result);
        fd::write(writers[0].as_fd(), b"x\n").unwrap();
        output.readable(0, &poller);
        output.readable(1, &poller);
        assert!(output.lost.is_none());
        let e = fd::write(writers[0].as_fd(), b"x\n").unwrap_err();
        assert_eq!(e.kind(), ErrorKind::BrokenPipe);
    }
}
