//! Standard input, for the one rank that has it.
//!
//! A file, pipe or socket is handed to the rank as it is: nothing is copied, read ahead or lost for what
//! reads after mpirun. A terminal cannot be (a rank is never in its foreground process group), so mpirun
//! reads it and feeds a pipe, but only while mpirun itself is in the foreground: a background job is not
//! stopped, and reads on when it comes back.
use oxmpi_sys::fd::{self, Kind};
use oxmpi_sys::poll::{Interest, Poller};
use oxmpi_sys::process;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

/// How often a job in the background looks whether it is in the foreground again: shells do not tell.
const LOOK: Duration = Duration::from_millis(300);

pub struct Input {
    terminal: OwnedFd,
    pump: Option<Pump>,
    tokens: Tokens,
}

pub struct Tokens {
    pub terminal: u64,
    pub pipe: u64,
}

struct Pump {
    pipe: OwnedFd,
    pending: Vec<u8>,
    reading: bool,
    writing: bool,
    ended: bool,
}

/// What the rank gets as descriptor 0, and the pump behind it where one is needed.
pub fn open(tokens: Tokens) -> io::Result<(OwnedFd, Option<Input>)> {
    let own = fd::duplicate_above(io::stdin().as_fd(), 3)?;
    if fd::identity(0)?.kind != Kind::Terminal {
        return Ok((own, None));
    }
    let (from, pipe) = fd::pipe()?;
    fd::set_nonblocking(pipe.as_fd())?;
    let pump = Pump { pipe, pending: Vec::new(), reading: false, writing: false, ended: false };
    Ok((from, Some(Input { terminal: own, pump: Some(pump), tokens })))
}

impl Input {
    /// A terminal that does not control us answers with an error, and stops nobody.
    fn allowed(&self) -> bool {
        fd::foreground_group(self.terminal.as_fd()).map_or(true, |g| g == process::group())
    }

    pub fn readable(&mut self, poller: &Poller) {
        let allowed = self.allowed();
        let mut gone = false;
        let Some(pump) = &mut self.pump else { return };
        if allowed && pump.pending.is_empty() {
            let mut buffer = [0; 4096];
            match fd::read(self.terminal.as_fd(), &mut buffer) {
                Ok(0) => pump.ended = true,
                Ok(n) => pump.pending.extend_from_slice(&buffer[..n]),
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                // SIGTTIN is blocked, so reading from the background is EIO instead. In the foreground it is
                // a terminal that hung up.
                Err(_) => gone = true,
            }
        }
        if gone && self.allowed() {
            self.close(poller);
        }
        self.step(poller);
    }

    /// Reads no more, and lets the rank see the end. The terminal is shared with others, so closing our
    /// descriptor would not take it out of the poller.
    pub fn close(&mut self, poller: &Poller) {
        if self.pump.take().is_some_and(|p| p.reading) {
            let _ = poller.remove(self.terminal.as_fd());
        }
    }

    pub fn writable(&mut self, poller: &Poller) {
        self.step(poller);
    }

    /// Moves what can be moved and asks for what it waits for; returns when to come again unasked.
    pub fn step(&mut self, poller: &Poller) -> Option<Instant> {
        let allowed = self.allowed();
        let pump = self.pump.as_mut()?;
        let mut gone = false;
        while !pump.pending.is_empty() {
            match fd::write(pump.pipe.as_fd(), &pump.pending) {
                Ok(n) => drop(pump.pending.drain(..n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                // The rank closed its input.
                Err(_) => {
                    gone = true;
                    break;
                }
            }
        }
        let (write, read) = (!pump.pending.is_empty(), pump.pending.is_empty() && !pump.ended && allowed);
        if gone || (pump.ended && !write) {
            self.close(poller);
            return None;
        }
        if write != pump.writing {
            let changed = match write {
                true => poller.add(pump.pipe.as_fd(), Interest::Write, self.tokens.pipe),
                false => poller.remove(pump.pipe.as_fd()),
            };
            pump.writing = write && changed.is_ok();
        }
        if read != pump.reading {
            let changed = match read {
                true => poller.add(self.terminal.as_fd(), Interest::Read, self.tokens.terminal),
                false => poller.remove(self.terminal.as_fd()),
            };
            pump.reading = read && changed.is_ok();
        }
        (!allowed).then(|| Instant::now() + LOOK)
    }
}
