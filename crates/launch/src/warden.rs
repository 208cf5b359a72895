//! The parent of all ranks: starts them, carries their input and output, hears from them, and ends the job.
//!
//! The first thing that goes wrong is the verdict: it is reported once, decides the exit code, and ends the
//! job; what happens to other ranks afterwards is a consequence and stays silent. Ending means SIGTERM to
//! every rank's process group, SIGKILL a little later, then SIGKILL to every descendant, then delivering
//! what is left in the pipes.
//!
//! A rank is heard on three ways: its control socket ([`oxmpi_pmi::message`], untrusted), the end of that
//! socket, and its exit status where it is our child. A process that says hello behind a wrapper is watched
//! with a pidfd; the wrapper's status is waited for a moment, since it usually says why.
use crate::front::ENDING;
use crate::input::{self, Input};
use crate::job::Job;
use crate::output::{self, Output, Stream};
use crate::{exit, reap};
use oxmpi_pmi::env::Named;
use oxmpi_pmi::message::{self, Message};
use oxmpi_sys::fd::Kind;
use oxmpi_sys::poll::{Interest, Poller};
use oxmpi_sys::process::{self, Ended, Spawn, SpawnError, Step, Waited};
use oxmpi_sys::signal::{self, SigSet, SignalFd};
use oxmpi_sys::{fd, pidfd};
use std::ffi::CStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// Between SIGTERM and SIGKILL after a fault.
const FAULT_GRACE: Duration = Duration::from_millis(20);
/// The same when the user asked for the end, so that programs can save what they have.
const USER_GRACE: Duration = Duration::from_millis(800);
const TIMEOUT_GRACE: Duration = Duration::from_millis(200);
/// For the exit status that explains a closed socket.
const STATUS_GRACE: Duration = Duration::from_millis(20);
/// `timeout` and the terminal send a signal to a process and to its group: that is one, not two.
const SAME_SIGNAL: Duration = Duration::from_millis(200);

/// How many messages of one rank are taken before the others have their turn.
const IN_TURN: usize = 16;
/// The same for a rank that has ended, whose last words count; more than a socket holds of honest ones.
const AT_THE_END: usize = 1024;

/// Descriptor numbers in every rank: out of the way of shell redirections, within the first 64.
const SEGMENT_FD: i32 = 62;
const CONTROL_FD: i32 = 63;

mod token {
    pub const SIGNALS: u64 = 6 << 32;
    pub const FRONT: u64 = 5 << 32;
    pub const CONTROL: u64 = 1 << 32;
    pub const SOURCE: u64 = 2 << 32;
    pub const DESTINATION: u64 = 3 << 32;
    pub const WATCH: u64 = 7 << 32;
    pub const TERMINAL: u64 = 4 << 32;
    pub const STDIN_PIPE: u64 = TERMINAL + 1;
    pub fn split(token: u64) -> (u64, usize) {
        (token >> 32 << 32, (token & 0xffff_ffff) as usize)
    }
}

#[derive(Debug)]
struct Rank {
    pid: i32,
    ended: Option<Ended>,
    control: Option<OwnedFd>,
    /// The process that called MPI_Init or MPI_Session_init.
    initialised: Option<i32>,
    /// It has called MPI_Init.
    world: bool,
    /// Nothing but sessions is left to finalize.
    only_sessions: bool,
    /// That process, where it is not our child.
    watch: Option<OwnedFd>,
    finalized: bool,
    /// It was aborted with others while the job goes on: however it ends is right.
    aborted: bool,
    /// It ended well and never called MPI_Init: every rank must be like that, or none.
    without_mpi: bool,
    /// Its socket closed too early: when to stop waiting for a status.
    left_at: Option<Instant>,
}

struct Warden {
    job: Job,
    poller: Poller,
    signals: SignalFd,
    front: OwnedFd,
    front_pid: i32,
    ranks: Vec<Rank>,
    output: Output,
    input: Option<Input>,
    verdict: Option<u8>,
    /// The exit code of a job of which some ranks were aborted, and when SIGKILL is due for them.
    aborted: Option<u8>,
    kill_aborted_at: Option<Instant>,
    /// The job is ending: when SIGKILL is due.
    kill_at: Option<Instant>,
    asked_at: Option<Instant>,
    times_out_at: Option<Instant>,
}

/// Why the loop stops.
enum Stop {
    /// All ranks are gone or are to be killed now.
    Done,
    /// The front is gone, so nobody is left to deliver anything to.
    Alone,
}

/// Runs the job in this process, a fresh fork of `front_pid`; returns the exit code.
pub fn run(job: Job, front: OwnedFd, front_pid: i32, mask: &SigSet) -> u8 {
    match start(job, front, front_pid, mask) {
        Ok(mut warden) => warden.serve(),
        Err(e) => {
            crate::say(&format!("cannot begin: {e}"));
            reap::sweep(&[]);
            exit::SYSTEM
        }
    }
}

fn start(job: Job, front: OwnedFd, front_pid: i32, mask: &SigSet) -> io::Result<Warden> {
    // A SIGKILL for the user's process group must leave one of us. At a terminal we stay in that group,
    // since only its foreground group may read from it.
    if !fd::identity(0).is_ok_and(|i| i.kind == Kind::Terminal) {
        process::leave_group()?;
    }
    // SIGCONT also wakes us should we be stopped when the front dies; the socket's end says that it did.
    process::signal_on_parent_death(signal::CONT)?;
    if process::parent() != front_pid {
        return Err(io::Error::other("mpirun is gone"));
    }
    process::become_subreaper()?;
    let heard: Vec<i32> =
        [signal::TERM].into_iter().filter(|s| !signal::is_ignored(*s)).chain([signal::CHLD, signal::CONT]).collect();
    let signals = SignalFd::new(&SigSet::of(&heard))?;
    let poller = Poller::new()?;
    poller.add(signals.as_fd(), Interest::Read, token::SIGNALS)?;
    poller.add(front.as_fd(), Interest::Read, token::FRONT)?;
    let tokens = output::Tokens { source: token::SOURCE, destination: token::DESTINATION };
    let output = Output::new(io::stdout().as_fd(), io::stderr().as_fd(), job.size(), job.tag, tokens)?;
    let times_out_at = job.timeout.and_then(|t| Instant::now().checked_add(t));
    let mut warden = Warden {
        job,
        poller,
        signals,
        front,
        front_pid,
        ranks: Vec::new(),
        output,
        input: None,
        verdict: None,
        aborted: None,
        kill_aborted_at: None,
        kill_at: None,
        asked_at: None,
        times_out_at,
    };
    if let Err((rank, e)) = warden.spawn_all(mask) {
        let (code, text) = warden.explain(rank, &e);
        warden.fault(code, &text);
        warden.kill_at = Some(Instant::now());
    }
    Ok(warden)
}

fn cloned(e: io::Error) -> SpawnError {
    SpawnError { step: Step::Clone, error: e }
}

impl Warden {
    fn spawn_all(&mut self, mask: &SigSet) -> Result<(), (usize, SpawnError)> {
        let first = |e| (0, cloned(e));
        let limit = fd::descriptor_limit().map_err(first)?;
        let needed = 64 + 4 * self.job.size() as u64;
        if needed > limit.0 {
            fd::set_descriptor_limit(needed.min(limit.1), limit.1).map_err(first)?;
        }
        let null = File::options().read(true).write(true).open("/dev/null").map_err(first)?;
        // No descriptor of ours may be numbered like one that ranks get.
        let taken = (fd::duplicate_above(null.as_fd(), SEGMENT_FD), fd::duplicate_above(null.as_fd(), SEGMENT_FD));
        let _reserved = (taken.0.map_err(first)?, taken.1.map_err(first)?);
        let environments: Vec<Vec<&CStr>> =
            self.job.programs.iter().map(|p| p.env.iter().map(|v| v.as_c_str()).collect()).collect();
        let mut spawner = Spawner { null: &null, mask, limit };
        for rank in 0..self.job.size() {
            let program = self.job.map.places[rank].program;
            let started = spawner.spawn(&self.job, rank, &environments[program], &self.poller, &mut self.output);
            let (started, input) = started.map_err(|e| (rank, e))?;
            self.ranks.push(started);
            if input.is_some() {
                self.input = input;
            }
        }
        // Nobody but the rank reads standard input from here on.
        let _ = fd::replace_standard(0, null.as_fd());
        Ok(())
    }

    /// The exit code and the sentence for a rank that could not be started.
    fn explain(&self, rank: usize, e: &SpawnError) -> (u8, String) {
        let program = &self.job.programs[self.job.map.places[rank].program];
        let name = program.path.to_string_lossy();
        let directory = program.directory.as_ref().map(|d| d.to_string_lossy().into_owned());
        let directory = directory.unwrap_or_else(|| std::env::current_dir().unwrap_or_default().display().to_string());
        let error = &e.error;
        let exists = || std::path::Path::new(&directory).join(&*name).exists();
        match (e.step, error.kind()) {
            (Step::Exec, ErrorKind::NotFound) if exists() => (
                exit::NOT_EXECUTABLE,
                format!("program {name} exists, but the interpreter that it names (#! line or ELF loader) does not"),
            ),
            (Step::Exec, ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                (exit::NOT_FOUND, format!("program {name} was not found (working directory {directory})"))
            }
            (Step::Exec, _) => (exit::NOT_EXECUTABLE, format!("program {name} cannot be executed: {error}")),
            (Step::Directory, _) => (exit::SYSTEM, format!("rank {rank}: working directory {directory}: {error}")),
            (step, _) => (
                exit::SYSTEM,
                format!(
                    "rank {rank} of {} cannot be started ({step:?}): {error}; limits on processes and descriptors \
                     are shown by ulimit -u and ulimit -n",
                    self.job.size()
                ),
            ),
        }
    }

    /// The loop; returns the exit code once nothing of the job is left.
    fn serve(&mut self) -> u8 {
        let stop = loop {
            if let Some(stop) = self.step() {
                break stop;
            }
        };
        let left = reap::sweep(&[]);
        if !left.is_empty() {
            self.say(&format!("these processes do not die, they hang in the kernel: {left:?}"));
        }
        if let Stop::Alone = stop {
            return 128 + signal::KILL as u8;
        }
        self.deliver();
        match (self.verdict, self.output.lost.take()) {
            (None, Some(e)) => {
                crate::say(&format!("not all of the output could be written: {e}"));
                exit::SYSTEM
            }
            (verdict, _) => verdict.or(self.aborted).unwrap_or(0),
        }
    }

    /// Delivers what the ranks left in their pipes, at the reader's pace; after a signal or the time limit,
    /// not for long.
    fn deliver(&mut self) {
        // Nothing but output has a meaning any more, so nothing else may wake us.
        self.ranks.clear();
        if let Some(mut input) = self.input.take() {
            input.close(&self.poller);
        }
        let limit = [self.asked_at, self.times_out_at].into_iter().flatten().min();
        let until = limit.map(|at| at + USER_GRACE);
        while !self.output.drain(&self.poller) {
            let now = Instant::now();
            if until.is_some_and(|at| at <= now) {
                if self.verdict.is_none() {
                    // Every rank did well, but nobody read it all in time.
                    self.verdict = Some(exit::TIMEOUT);
                    let seconds = self.job.timeout.unwrap_or_default().as_secs_f64();
                    self.say(&format!("the job's output was not read within {seconds} s (--timeout)"));
                }
                return;
            }
            let tokens = self.poller.wait(until.map(|at| at - now)).unwrap_or_default();
            if tokens.contains(&token::FRONT) && self.asked_to_give_up() {
                return;
            }
            if tokens.contains(&token::SIGNALS) {
                while self.signals.take().is_some() {}
            }
        }
    }

    /// While delivering the last output: the front is gone, or the user has had enough.
    fn asked_to_give_up(&mut self) -> bool {
        let mut byte = [0; 1];
        match fd::receive(self.front.as_fd(), &mut byte) {
            Ok(r) => r.len == 0 || ENDING.contains(&i32::from(byte[0])),
            Err(e) => e.kind() != ErrorKind::WouldBlock,
        }
    }

    fn step(&mut self) -> Option<Stop> {
        let now = Instant::now();
        let input_at = self.input.as_mut().and_then(|i| i.step(&self.poller));
        let output_at = self.output.tick(now, &self.poller);
        let left_at = self.ranks.iter().filter_map(|r| r.left_at).min();
        let timeout = self.times_out_at.filter(|_| self.verdict.is_none());
        let next =
            [input_at, output_at, left_at, timeout, self.kill_at, self.kill_aborted_at].into_iter().flatten().min();
        let mut tokens = match self.poller.wait(next.map(|at| at.saturating_duration_since(Instant::now()))) {
            Ok(tokens) => tokens,
            Err(e) => {
                self.fault(exit::INTERNAL, &format!("waiting for events failed: {e}"));
                return Some(Stop::Done);
            }
        };
        // Control messages first: they say why a process ends.
        tokens.sort_unstable();
        for (kind, index) in tokens.into_iter().map(token::split) {
            match kind {
                token::CONTROL => self.hear(index, IN_TURN),
                token::WATCH => {
                    self.hear(index, AT_THE_END);
                    if let Some(rank) = self.ranks.get_mut(index) {
                        rank.watch = None;
                        self.gone_early(index);
                    }
                }
                token::SOURCE => self.output.readable(index, &self.poller),
                token::DESTINATION => self.output.writable(index, &self.poller),
                token::TERMINAL => {
                    if let Some(input) = &mut self.input {
                        match index {
                            0 => input.readable(&self.poller),
                            _ => input.writable(&self.poller),
                        }
                    }
                }
                token::FRONT => {
                    if self.hear_front() {
                        return Some(Stop::Alone);
                    }
                }
                _ => {
                    while let Some(s) = self.signals.take() {
                        match s {
                            signal::CHLD => self.reap(),
                            signal::TERM => self.asked(s),
                            _ => {}
                        }
                    }
                    if process::parent() != self.front_pid {
                        return Some(Stop::Alone);
                    }
                }
            }
        }
        self.check_times(Instant::now())
    }

    fn check_times(&mut self, now: Instant) -> Option<Stop> {
        for r in 0..self.ranks.len() {
            if self.ranks[r].left_at.is_some_and(|at| at <= now) {
                self.ranks[r].left_at = None;
                self.left_without_finalize(r, None);
            }
        }
        if self.kill_aborted_at.is_some_and(|at| at <= now) {
            self.kill_aborted_at = None;
            self.pass_to_aborted(signal::KILL);
        }
        if self.verdict.is_none() && self.times_out_at.is_some_and(|at| at <= now) {
            self.time_out();
        }
        let all_gone = self.ranks.iter().all(|r| r.ended.is_some() && r.left_at.is_none());
        (all_gone || self.kill_at.is_some_and(|at| at <= now)).then_some(Stop::Done)
    }

    fn say(&mut self, text: &str) {
        self.output.message(text, &self.poller);
    }

    /// "rank 3 (pid 4711 on node0)".
    fn who(&self, r: usize) -> String {
        let rank = &self.ranks[r];
        let host = &self.job.this_host;
        match rank.initialised {
            Some(p) if p != rank.pid => format!("rank {r} (pid {p} behind pid {} on {host})", rank.pid),
            _ => format!("rank {r} (pid {} on {host})", rank.pid),
        }
    }

    /// The first fault decides; the job ends.
    fn fault(&mut self, code: u8, text: &str) {
        if self.verdict.is_some() {
            return;
        }
        self.verdict = Some(code);
        let others = self.ranks.iter().filter(|r| r.ended.is_none()).count();
        self.say(&match others {
            0 => text.to_owned(),
            n => format!("{text}; ending the {n} rank{} still running", if n == 1 { "" } else { "s" }),
        });
        self.end(signal::TERM, FAULT_GRACE);
    }

    /// Sends `signal` to all ranks, and SIGKILL after `grace`.
    fn end(&mut self, signal: i32, grace: Duration) {
        self.pass(signal);
        // A stopped process sees SIGTERM only when it continues.
        self.pass(signal::CONT);
        let at = Instant::now() + grace;
        self.kill_at = Some(self.kill_at.map_or(at, |k| k.min(at)));
    }

    fn pass(&self, signal: i32) {
        // An ended rank is reaped, so its number may already be somebody else's.
        for rank in self.ranks.iter().filter(|r| r.ended.is_none()) {
            let _ = process::kill_group(rank.pid, signal);
        }
    }

    /// The user wants the job to end.
    fn asked(&mut self, signal: i32) {
        let now = Instant::now();
        match self.asked_at {
            Some(before) if now - before < SAME_SIGNAL => {}
            Some(_) => self.kill_at = Some(now),
            None => {
                self.asked_at = Some(now);
                if self.verdict.is_some() {
                    return;
                }
                self.verdict = Some(128 + signal as u8);
                let name = signal::name(signal);
                let grace = USER_GRACE.as_secs_f64();
                self.say(&format!("{name}: passed to the ranks, which have {grace} s; once more kills them"));
                self.end(signal, USER_GRACE);
            }
        }
    }

    /// True when the front is gone.
    fn hear_front(&mut self) -> bool {
        loop {
            let mut byte = [0; 1];
            match fd::receive(self.front.as_fd(), &mut byte) {
                Ok(r) if r.len == 0 => return true,
                Ok(_) => match i32::from(byte[0]) {
                    s if ENDING.contains(&s) => self.asked(s),
                    s => self.pass(s),
                },
                Err(e) if e.kind() == ErrorKind::WouldBlock => return false,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return true,
            }
        }
    }

    /// Takes at most `most` messages that rank `r` has sent: one that floods us must not keep us from the
    /// others. What is left is reported again.
    fn hear(&mut self, r: usize, most: usize) {
        let mut packet = [0; message::MAX];
        for _ in 0..most {
            let Some(control) = self.ranks.get(r).and_then(|k| k.control.as_ref()) else { return };
            match fd::receive(control.as_fd(), &mut packet) {
                // An empty message, unlike the end, has a sender.
                Ok(got) if got.len == 0 && got.sender.is_none() => self.hung_up(r),
                Ok(got) => {
                    let message = match got.truncated {
                        true => Err(message::Malformed(format!("longer than {} bytes", message::MAX))),
                        false => Message::decode(&packet[..got.len]),
                    };
                    self.obey(r, message, got.sender);
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => self.hung_up(r),
            }
        }
    }

    fn obey(&mut self, r: usize, message: Result<Message, message::Malformed>, sender: Option<i32>) {
        match message {
            Ok(hello @ (Message::Hello { pid: claimed } | Message::Session { pid: claimed })) => {
                let pid = sender.unwrap_or(claimed);
                let world = matches!(hello, Message::Hello { .. });
                match self.ranks[r].initialised {
                    first if first.is_none_or(|p| p == pid) && !(world && self.ranks[r].world) => {
                        self.ranks[r].initialised = Some(pid);
                        self.ranks[r].finalized = false;
                        self.ranks[r].world |= world;
                        self.ranks[r].only_sessions = !world;
                        if first.is_none() {
                            self.watch(r, pid);
                        }
                        self.check_all_initialise();
                    }
                    first => self.fault(
                        exit::NO_FINALIZE,
                        &format!(
                            "rank {r}: process {pid} called MPI_Init after process {} had: a rank is one MPI process; \
                             start the second with an mpirun of its own",
                            first.unwrap_or(pid)
                        ),
                    ),
                }
            }
            Ok(Message::Finalized) => {
                self.ranks[r].finalized = true;
                self.ranks[r].left_at = None;
            }
            // One that others have aborted is ending anyway, whatever it thinks of that.
            Ok(Message::Abort { .. } | Message::AbortRanks { .. }) if self.ranks[r].aborted => {}
            Ok(Message::Abort { code, text }) => {
                let why = if text.is_empty() { String::new() } else { format!(": {text}") };
                let who = self.who(r);
                self.fault(abort_code(code), &format!("{who} called MPI_Abort with code {code}{why}"));
            }
            Ok(Message::AbortRanks { code, ranks }) => self.abort_ranks(r, code, &ranks),
            Err(why) => {
                let who = self.who(r);
                self.fault(exit::NO_FINALIZE, &format!("{who} sent a message that cannot be read: {why}"));
            }
        }
    }

    /// Rank `r` ends these ranks, and the others go on.
    fn abort_ranks(&mut self, r: usize, code: i32, ranks: &[u32]) {
        let all: Vec<usize> = ranks.iter().map(|k| *k as usize).filter(|k| *k < self.ranks.len()).collect();
        let who = self.who(r);
        if self.verdict.is_some() {
            return;
        }
        if all.len() == self.ranks.len() || !all.contains(&r) {
            return self.fault(abort_code(code), &format!("{who} aborted with code {code}"));
        }
        let rest = self.ranks.len() - all.len();
        self.say(&format!(
            "{who} aborted {} of {} ranks with code {code} (MPI_ERRORS_ABORT): {all:?}; the other {rest} go on",
            all.len(),
            self.ranks.len()
        ));
        // Before they end, so that nobody waits for them without a sign.
        if let Some(Err(e)) = self.job.segment.as_ref().map(|fd| mark_aborted(fd, self.job.size(), &all)) {
            return self.fault(exit::INTERNAL, &format!("the aborted ranks cannot be marked: {e}"));
        }
        for k in all {
            (self.ranks[k].aborted, self.ranks[k].left_at) = (true, None);
        }
        self.aborted.get_or_insert(abort_code(code));
        self.pass_to_aborted(signal::TERM);
        self.pass_to_aborted(signal::CONT);
        self.kill_aborted_at.get_or_insert(Instant::now() + FAULT_GRACE);
    }

    fn pass_to_aborted(&self, signal: i32) {
        for rank in self.ranks.iter().filter(|r| r.aborted && r.ended.is_none()) {
            let _ = process::kill_group(rank.pid, signal);
        }
    }

    /// A rank behind a wrapper may leave its socket open in there, so its process is watched.
    fn watch(&mut self, r: usize, pid: i32) {
        if pid == self.ranks[r].pid {
            return;
        }
        match pidfd::open(pid) {
            Ok(fd) if self.poller.add(fd.as_fd(), Interest::Read, token::WATCH + r as u64).is_ok() => {
                self.ranks[r].watch = Some(fd);
            }
            Err(e) if e.kind() != ErrorKind::Unsupported => self.gone_early(r),
            // An old kernel: the socket's end must do.
            _ => {}
        }
    }

    /// The last process that held rank `r`'s socket closed it.
    fn hung_up(&mut self, r: usize) {
        self.ranks[r].control = None;
        self.gone_early(r);
    }

    /// The process that initialised MPI seems to have ended.
    fn gone_early(&mut self, r: usize) {
        let rank = &mut self.ranks[r];
        if rank.initialised.is_some()
            && !rank.finalized
            && !rank.aborted
            && rank.ended.is_none()
            && self.verdict.is_none()
        {
            rank.left_at = Some(Instant::now() + STATUS_GRACE);
        }
    }

    /// Takes every child that has ended.
    fn reap(&mut self) {
        let mut ended = Vec::new();
        while let Ok(Waited::Child(pid, how)) = process::wait_any(false) {
            if let Some(r) = self.ranks.iter().position(|k| k.pid == pid && k.ended.is_none()) {
                ended.push((r, how));
                self.ranks[r].ended = Some(how);
            }
        }
        // Of those that ended together, one that was killed is the likelier cause.
        ended.sort_by_key(|(_, how)| matches!(how, Ended::Exited(_)));
        // What they said before counts before how any of them ended.
        for (r, _) in &ended {
            self.hear(*r, AT_THE_END);
        }
        for (r, how) in ended {
            self.ranks[r].left_at = None;
            self.judge(r, how);
        }
    }

    fn judge(&mut self, r: usize, how: Ended) {
        if self.ranks[r].aborted {
            return;
        }
        let unfinished = self.ranks[r].initialised.is_some() && !self.ranks[r].finalized;
        match how {
            Ended::Killed(s) => {
                let text = format!("{} was killed by signal {s} ({})", self.who(r), signal::name(s));
                self.fault(128u8.wrapping_add(s as u8), &text);
            }
            _ if unfinished => self.left_without_finalize(r, Some(how.code())),
            Ended::Exited(0) => {
                self.ranks[r].without_mpi = !self.ranks[r].world;
                self.check_all_initialise();
            }
            Ended::Exited(code) => {
                let text = format!("{} exited with code {code}", self.who(r));
                self.fault(code as u8, &text);
            }
        }
    }

    /// A rank that called MPI_Init waits for ever for one that ended without.
    fn check_all_initialise(&mut self) {
        let without = self.ranks.iter().position(|r| r.without_mpi);
        // A session concerns its own process alone.
        let with = self.ranks.iter().position(|r| r.world);
        if let (Some(without), Some(with)) = (without, with) {
            let text =
                format!("rank {without} ended without calling MPI_Init while rank {with} did; the job cannot go on");
            self.fault(exit::NO_FINALIZE, &text);
        }
    }

    fn left_without_finalize(&mut self, r: usize, code: Option<i32>) {
        let with = match code {
            None => String::new(),
            // What a shell makes of a signal.
            Some(c) if c > 128 && c < 160 => format!(", with exit code {c} (128 + {})", signal::name(c - 128)),
            Some(c) => format!(", with exit code {c}"),
        };
        let text = match self.ranks[r].only_sessions {
            false => format!("{} left after MPI_Init without calling MPI_Finalize{with}", self.who(r)),
            true => format!("{} left after MPI_Session_init without calling MPI_Session_finalize{with}", self.who(r)),
        };
        self.fault(code.filter(|c| *c != 0).map_or(exit::NO_FINALIZE, |c| c as u8), &text);
    }

    fn time_out(&mut self) {
        const SHOWN: usize = 32;
        let seconds = self.job.timeout.unwrap_or_default().as_secs_f64();
        let mut text = format!("the job did not end within {seconds} s (--timeout)");
        let running: Vec<usize> = (0..self.ranks.len()).filter(|r| self.ranks[*r].ended.is_none()).collect();
        text.push_str(&format!("; {} of {} ranks were still running:", running.len(), self.ranks.len()));
        for r in running.iter().take(SHOWN) {
            let rank = &self.ranks[*r];
            let shown = rank.initialised.unwrap_or(rank.pid);
            let state = match process::stat(shown).map(|s| s.state) {
                Some('R') => "running",
                Some('S') => "sleeping",
                Some('D') => "waiting in the kernel",
                Some('T' | 't') => "stopped",
                Some('Z') => "ended",
                _ => "in an unknown state",
            };
            let mpi = match (rank.initialised, rank.finalized) {
                (None, _) => "MPI not initialised",
                (Some(_), false) => "MPI initialised",
                (Some(_), true) => "MPI finalized",
            };
            text.push_str(&format!("\n  {}: {state}, {mpi}", self.who(*r)));
        }
        if running.len() > SHOWN {
            text.push_str(&format!("\n  and {} more", running.len() - SHOWN));
        }
        self.verdict = Some(exit::TIMEOUT);
        self.say(&text);
        self.end(signal::TERM, TIMEOUT_GRACE);
    }
}

fn mark_aborted(segment: &OwnedFd, size: usize, ranks: &[usize]) -> Result<(), String> {
    let own = segment.try_clone().map_err(|e| e.to_string())?;
    let segment = oxmpi_transport_shm::segment::Segment::open(own, size).map_err(|e| e.message.into_owned())?;
    segment.abort(ranks);
    Ok(())
}

/// MPI_Abort's code as an exit code that is never success.
fn abort_code(code: i32) -> u8 {
    match (code & 255) as u8 {
        0 => 1,
        c => c,
    }
}

struct Spawner<'a> {
    null: &'a File,
    mask: &'a SigSet,
    limit: (u64, u64),
}

impl Spawner<'_> {
    /// Starts rank `rank`; also returns the pump of standard input, if it has one.
    fn spawn(
        &mut self,
        job: &Job,
        rank: usize,
        env: &[&CStr],
        poller: &Poller,
        output: &mut Output,
    ) -> Result<(Rank, Option<Input>), SpawnError> {
        let program = &job.programs[job.map.places[rank].program];
        let (out, their_out) = fd::pipe().map_err(cloned)?;
        let (err, their_err) = fd::pipe().map_err(cloned)?;
        let (control, their_control) = fd::seqpacket_pair().map_err(cloned)?;
        fd::receive_credentials(control.as_fd()).map_err(cloned)?;
        let segment = job.segment.as_ref().ok_or_else(|| cloned(io::Error::other("no segment")))?;
        let named = |number, fd: &OwnedFd| -> Result<Named, SpawnError> {
            Ok(Named { number, inode: fd::identity(fd.as_raw_fd()).map_err(cloned)?.inode })
        };
        let own = job.rank_env(rank, named(SEGMENT_FD, segment)?, named(CONTROL_FD, &their_control)?);
        let env: Vec<&CStr> = env.iter().copied().chain(own.iter().map(|v| v.as_c_str())).collect();
        let argv: Vec<&CStr> = program.argv.iter().map(|a| a.as_c_str()).collect();
        let (stdin, input) = match job.stdin == Some(rank) {
            true => {
                let tokens = input::Tokens { terminal: token::TERMINAL, pipe: token::STDIN_PIPE };
                let (fd, pump) = input::open(tokens).map_err(cloned)?;
                (Some(fd), pump)
            }
            false => (None, None),
        };
        let pid = Spawn {
            program: &program.path,
            argv: &argv,
            env: &env,
            directory: program.directory.as_deref(),
            stdio: [stdin.as_ref().map_or(self.null.as_fd(), |f| f.as_fd()), their_out.as_fd(), their_err.as_fd()],
            pass: &[(segment.as_fd(), SEGMENT_FD), (their_control.as_fd(), CONTROL_FD)],
            mask: self.mask,
            // Rust's runtime ignores it; a rank should not.
            defaults: &[signal::PIPE],
            descriptor_limit: self.limit,
        }
        .start()?;
        let rank_state = Rank {
            pid,
            ended: None,
            control: None,
            initialised: None,
            world: false,
            only_sessions: false,
            watch: None,
            finalized: false,
            aborted: false,
            without_mpi: false,
            left_at: None,
        };
        let registered = poller
            .add(control.as_fd(), Interest::Read, token::CONTROL + rank as u64)
            .and_then(|()| output.add(rank, Stream::Out, out, poller))
            .and_then(|()| output.add(rank, Stream::Err, err, poller));
        registered.map_err(cloned)?;
        Ok((Rank { control: Some(control), ..rank_state }, input))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_abort_is_never_success() {
        let codes = [(0, 1), (256, 1), (512, 1), (-256, 1), (3, 3), (259, 3), (-1, 255), (255, 255)];
        for (code, want) in codes {
            assert_eq!(super::abort_code(code), want, "{code}");
        }
    }

    #[test]
    fn tokens_do_not_overlap() {
        use super::token;
        assert_eq!(token::split(token::CONTROL + 5), (token::CONTROL, 5));
        assert_eq!(token::split(token::STDIN_PIPE), (token::TERMINAL, 1));
    }
}
