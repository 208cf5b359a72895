//! Writing the steps of an algorithm down.
//!
//! Temporary memory that an algorithm lets go is given to its next request: steps are taken in the order in which they were written, and
//! an algorithm waits for the messages of its memory before it lets go.
use super::program::{Combine, Op, Piece, Program, Side};
use crate::buffer::{Block, Data, Segments};
use crate::reduction::Reduction;
use crate::steps::{Room, Steps};
use crate::team::Team;
use oxmpi_base::{Result, args::Buf};
use std::cell::RefCell;
use std::rc::Rc;

#[derive(Default)]
struct Script {
    ops: Vec<Op>,
    sides: Vec<Side>,
    slots: usize,
    free_slots: Vec<u32>,
    /// Memory that no step to come uses any more, unless it asks for it.
    blocks: Vec<Block>,
}

impl Script {
    fn slot(&mut self) -> u32 {
        self.free_slots.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots as u32 - 1
        })
    }
}

/// Writes down what an algorithm does with the ranks of one communicator.
pub struct Recorder {
    script: Rc<RefCell<Script>>,
    side: u8,
    rank: usize,
    size: usize,
    shares_cores: bool,
}

impl Recorder {
    /// For one run among the ranks of `team`, or for many. To be called in the order of the collective calls.
    pub fn new(team: &Team, persistent: bool) -> Recorder {
        Recorder::over(Rc::default(), team, persistent)
    }
    /// Steps of the same schedule among other ranks.
    pub fn beside(&self, team: &Team, persistent: bool) -> Recorder {
        Recorder::over(self.script.clone(), team, persistent)
    }
    fn over(script: Rc<RefCell<Script>>, team: &Team, persistent: bool) -> Recorder {
        let sides = &mut script.borrow_mut().sides;
        sides.push(Side { channel: team.channel(), tag: team.schedule_tag(persistent) });
        let side = u8::try_from(sides.len() - 1).expect("a schedule has few groups of ranks");
        let (rank, size, shares_cores) = (team.rank(), team.size(), team.shares_cores());
        Recorder { script: script.clone(), side, rank, size, shares_cores }
    }
    pub fn shares_cores(&self) -> bool {
        self.shares_cores
    }
    /// The program for what was written down; all recorders of the schedule end with this one.
    pub fn finish(self, name: &'static str, combine: Option<Combine>) -> Program {
        let Script { ops, sides, slots, blocks, .. } = self.script.take();
        Program { ops, slots, sides, combine, _blocks: blocks, name }
    }

    fn push(&self, op: Op) {
        self.script.borrow_mut().ops.push(op);
    }
}

/// Memory of a schedule, borrowed by the algorithm that is written down.
pub struct Kept {
    block: Option<Block>,
    script: Rc<RefCell<Script>>,
}

impl Room for Kept {
    fn buf(&mut self) -> Buf {
        self.block.as_ref().map_or(Buf(std::ptr::dangling_mut()), Block::origin)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Some(b) = self.block.take() {
            self.script.borrow_mut().blocks.push(b);
        }
    }
}

impl Recorder {
    fn room(&self, (low, high): (isize, isize)) -> Result<Kept> {
        if low == high {
            return Ok(Kept { block: None, script: self.script.clone() });
        }
        let blocks = &mut self.script.borrow_mut().blocks;
        let block = match blocks.iter_mut().position(|b| b.fit(low, high)) {
            Some(i) => blocks.swap_remove(i),
            None => Block::new(low, high)?,
        };
        Ok(Kept { block: Some(block), script: self.script.clone() })
    }
}

impl Steps for Recorder {
    /// A slot.
    type Req = u32;
    type Room = Kept;

    fn rank(&self) -> usize {
        self.rank
    }
    fn size(&self) -> usize {
        self.size
    }
    fn isend(&self, d: Data, dest: usize) -> Option<u32> {
        let s = &mut *self.script.borrow_mut();
        let slot = s.slot();
        s.ops.push(Op::Send { what: Piece::of(d), to: dest as u32, side: self.side, slot });
        Some(slot)
    }
    fn irecv(&self, d: Data, source: usize) -> Option<u32> {
        let s = &mut *self.script.borrow_mut();
        let slot = s.slot();
        s.ops.push(Op::Receive { what: Piece::of(d), from: source as u32, side: self.side, slot });
        Some(slot)
    }
    fn wait(&self, req: Option<u32>) -> bool {
        if let Some(slot) = req {
            let s = &mut *self.script.borrow_mut();
            s.ops.push(Op::Wait { slot });
            s.free_slots.push(slot);
        }
        req.is_some()
    }
    fn wait_all(&self, reqs: &mut Vec<u32>) {
        reqs.drain(..).for_each(|slot| {
            self.wait(Some(slot));
        });
    }
    fn send(&self, d: Data, dest: usize) {
        let r = self.isend(d, dest);
        self.wait(r);
    }
    fn recv(&self, d: Data, source: usize) -> bool {
        let r = self.irecv(d, source);
        self.wait(r)
    }
    fn sendrecv(&self, s: Data, dest: usize, r: Data, source: usize) -> bool {
        let (receive, send) = (self.irecv(r, source), self.isend(s, dest));
        self.wait(send) && self.wait(receive)
    }
    fn apply(&self, _op: &Reduction, input: Buf, inout: Buf, count: usize) {
        if count > 0 {
            self.push(Op::Apply { input, inout, count });
        }
    }
    fn copy(&self, src: Data, dst: Data) {
        if src.count > 0 && dst.count > 0 {
            self.push(Op::Copy { from: Piece::of(src), to: Piece::of(dst) });
        }
    }
    fn typed(&self, like: Data, count: usize) -> Result<Kept> {
        self.room(crate::buffer::reach(like.dt, count)?)
    }
    fn bytes(&self, n: usize) -> Result<Kept> {
        self.room(crate::buffer::reach(crate::buffer::byte(), n)?)
    }
    fn load(&self, s: &mut Segments<Kept>, whole: Data, i: usize) {
        if let Some(at) = s.staged(i) {
            let stage = s.view(i);
            self.push(Op::Pack { whole: Piece::of(whole), at, to: stage.buf, len: stage.count });
        }
    }
    fn store(&self, s: &mut Segments<Kept>, whole: Data, i: usize) {
        if let Some(at) = s.staged(i) {
            let stage = s.view(i);
            self.push(Op::Unpack { from: stage.buf, len: stage.count, whole: Piece::of(whole), at });
        }
    }
}
