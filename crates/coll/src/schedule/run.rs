//! Running a program, piece by piece.
use super::program::{Op, Program};
use crate::buffer::{copy, pack, unpack};
use crate::link::{Inside, Pending};
use oxmpi_base::{Error, Result};
use oxmpi_pt2pt::{Lanes, Step, Work};
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard};

/// How far a run has come.
struct Run {
    /// The next step.
    at: usize,
    /// What was started and has not been waited for, by slot.
    started: Vec<Option<Pending>>,
    first: Option<Error>,
}

impl Run {
    fn note<T>(&mut self, r: Result<T>) -> Option<T> {
        match r {
            Ok(v) => Some(v),
            Err(e) => {
                self.first.get_or_insert(e);
                None
            }
        }
    }
}

/// A program and its run.
pub struct Schedule {
    program: Program,
    run: Mutex<Run>,
    active: AtomicBool,
    /// A thread found the run locked; whoever has the lock looks once more.
    again: AtomicBool,
    listed: AtomicBool,
}

/// Why the engine was left.
enum Stop {
    /// A message is not complete.
    Message,
    /// Steps of this process alone come next.
    Local,
    /// Another lane comes next.
    Lane,
    End,
}

impl Schedule {
    pub fn new(program: Program) -> Arc<Schedule> {
        let run = Run { at: 0, started: (0..program.slots).map(|_| None).collect(), first: None };
        Arc::new(Schedule {
            program,
            run: Mutex::new(run),
            active: AtomicBool::new(false),
            again: AtomicBool::new(false),
            listed: AtomicBool::new(false),
        })
    }

    /// The procedure that made it.
    pub fn name(&self) -> &'static str {
        self.program.name
    }
    /// The lanes on which its end depends.
    pub fn lanes(&self) -> Lanes {
        self.program.sides.iter().fold(0, |all, s| all | 1 << s.channel.lane())
    }
    /// Whether it has been started and has not ended.
    pub fn active(&self) -> bool {
        self.active.load(Ordering::Acquire)
    }
    /// The first error of the run that has ended.
    pub fn error(&self) -> Option<Error> {
        self.run().first.clone()
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Begins a run; there is none now. What can be done without waiting is done.
    pub fn start(self: &Arc<Schedule>) {
        {
            let mut run = self.run();
            (run.at, run.first) = (0, None);
            self.program.sides.iter().for_each(|s| s.channel.begin());
            self.active.store(true, Ordering::Release);
        }
        if self.advance() != Step::Over {
            self.program.sides[0].channel.undertake(self.clone());
            // Another thread may have taken in what this waits for before the engine knew of it, and then sleeps.
            self.advance();
        }
    }

    /// Goes on until something has to be waited for; whether anything was done.
    fn go_on(&self, run: &mut Run) -> bool {
        let before = run.at;
        let mut lane = self.program.sides[0].channel.lane();
        loop {
            let stop = self.program.sides[0].channel.enter(lane, |s| self.messages(run, s, lane));
            match stop {
                Stop::Message => break,
                Stop::Lane => lane = self.lane_of(run),
                Stop::Local => self.local(run),
                Stop::End => {
                    if run.first.is_none() {
                        for side in &self.program.sides {
                            run.note(side.channel.check_aborted());
                        }
                    }
                    self.end();
                    return true;
                }
            }
        }
        run.at != before
    }

    /// The lane of the next step.
    fn lane_of(&self, run: &Run) -> usize {
        let of_side = |side: u8| self.program.sides[side as usize].channel.lane();
        match self.program.ops.get(run.at) {
            Some(Op::Send { side, .. } | Op::Receive { side, .. }) => of_side(*side),
            Some(Op::Wait { slot }) => run.started[*slot as usize].map_or(of_side(0), Pending::lane),
            _ => of_side(0),
        }
    }

    /// Steps that are messages of one lane, inside it.
    fn messages(&self, run: &mut Run, s: &mut Inside, lane: usize) -> Stop {
        let several = self.program.sides.len() > 1;
        loop {
            if several && self.lane_of(run) != lane {
                return Stop::Lane;
            }
            match self.program.ops.get(run.at) {
                None => return Stop::End,
                Some(Op::Send { what, to, side, slot }) => {
                    let c = &self.program.sides[*side as usize];
                    let started = s.isend(&c.channel, what.buf, what.count, what.dt(), *to as usize, c.tag);
                    run.started[*slot as usize] = run.note(started).flatten();
                }
                Some(Op::Receive { what, from, side, slot }) => {
                    let c = &self.program.sides[*side as usize];
                    let started = s.irecv(&c.channel, what.buf, what.count, what.dt(), *from as usize, c.tag);
                    run.started[*slot as usize] = run.note(started).flatten();
                }
                Some(Op::Wait { slot }) => {
                    if let Some(p) = run.started[*slot as usize] {
                        let Some(ended) = s.finish(p) else { return Stop::Message };
                        run.started[*slot as usize] = None;
                        run.note(ended);
                    }
                }
                Some(_) => return Stop::Local,
            }
            run.at += 1;
        }
    }

    /// Steps of this process alone, outside the engine.
    fn local(&self, run: &mut Run) {
        loop {
            match self.program.ops.get(run.at) {
                Some(Op::Copy { from, to }) => copy(from.data(), to.data()),
                Some(Op::Pack { whole, at, to, len }) => pack(whole.data(), *at, *to, *len),
                Some(Op::Unpack { from, len, whole, at }) => unpack(*from, *len, whole.data(), *at),
                Some(Op::Apply { input, inout, count }) => {
                    // After an error the operands may hold nothing that the operation understands.
                    if let (Some(c), None) = (&self.program.combine, &run.first) {
                        let applied = (c.apply)(input.as_ptr(), inout.as_mut_ptr(), *count);
                        run.note(applied);
                    }
                }
                _ => return,
            }
            run.at += 1;
        }
    }

    fn end(&self) {
        let sides = &self.program.sides;
        sides[1..].iter().for_each(|s| s.channel.conclude(|| {}));
        sides[0].channel.conclude(|| self.active.store(false, Ordering::Release));
    }
}

impl Work for Schedule {
    fn advance(&self) -> Step {
        let mut moved = false;
        loop {
            self.again.store(true, Ordering::SeqCst);
            fence(Ordering::SeqCst);
            // Also where the program's own function has called MPI, in this very thread.
            let Ok(mut run) = self.run.try_lock() else { break };
            if !self.active() {
                return Step::Over;
            }
            self.again.store(false, Ordering::SeqCst);
            moved |= self.go_on(&mut run);
            if !self.active() {
                return Step::Over;
            }
            drop(run);
            fence(Ordering::SeqCst);
            if !self.again.load(Ordering::SeqCst) {
                break;
            }
        }
        if moved { Step::Moved } else { Step::Nothing }
    }

    fn over(&self) -> bool {
        !self.active()
    }
    fn listed(&self) -> &AtomicBool {
        &self.listed
    }
}
