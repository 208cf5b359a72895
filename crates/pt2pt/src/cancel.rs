//! MPI_Cancel (MPI-5.0 3.8.4): of receives, and (deprecated) of sends.
//!
//! | what | how it is cancelled |
//! |---|---|
//! | a receive that has not matched | withdrawn |
//! | a send whose first frame found no room yet, or to ourselves and not matched | withdrawn |
//! | a send that is announced, or waits for an Ack | the receiver is asked to forget it (Retract); if it still can, it says so (Retracted) |
//! | everything else | goes on, and completes as if nothing had been asked |
//!
//! Known gap: whether an announced message was matched is known by its receiver alone, so the wait for a cancelled send that is announced lasts until
//! the receiver makes progress.
use crate::engine::{Early, State, Waiting};
use crate::matching::Pattern;
use crate::request::{Expects, Outcome, Phase, ReqId};
use oxmpi_base::Result;
use oxmpi_transport::wire::{Kind, Retract};

const CANCELLED: Outcome = Outcome { cancelled: true, ..Outcome::SENT };

impl State {
    /// Marks an operation for cancellation.
    #[cold]
    pub fn cancel(&mut self, id: ReqId) {
        let i = id.index();
        let Some(r) = self.requests.get(id).filter(|r| r.phase == Phase::Active) else { return };
        if let Some(place) = r.posted.take() {
            self.posted.withdraw(place);
            return self.complete(i, CANCELLED);
        }
        let (peer, envelope, expects) = (r.peer, r.envelope, r.expects);
        let Some(dest) = peer else { return self.cancel_local(i, envelope) };
        let waiting = &mut self.peers[dest as usize].waiting;
        if let Some(k) = waiting.iter().position(|w| matches!(w, Waiting::Send(s) if *s == i)) {
            waiting.remove(k);
            self.return_ticket(i);
            self.complete(i, CANCELLED);
            self.pump(dest);
        } else if expects != Expects::Nothing && !self.copying(i) && !self.retracting.contains(&id) {
            // It is not withdrawn by ourselves meanwhile (see `large`).
            self.late.retain(|l| l.request != id);
            let mut asked = std::mem::take(&mut self.retracting);
            asked.retain(|id| self.requests.get(*id).is_some_and(|r| r.phase == Phase::Active));
            asked.push(id);
            self.retracting = asked;
            let mut bytes = [0u8; 48];
            bytes[..Retract::LEN].copy_from_slice(&Retract { send: id.0, tag: envelope.tag }.encode());
            let ask = Waiting::Control { kind: Kind::Retract, ctx: envelope.ctx, bytes, len: Retract::LEN };
            self.peers[dest as usize].waiting.push_back(ask);
            self.pump(dest);
        }
    }

    /// A message to ourselves, or a receive that has matched.
    fn cancel_local(&mut self, i: u32, envelope: Pattern) {
        let found = self.early.find(|e| matches!(e, Early::Local { request } if *request == i).then_some(()));
        // One that MPI_Mprobe has taken is no longer held.
        if let Some((early, ())) = found
            && self.held.withdraw(envelope, early)
        {
            self.early.take(early);
            self.complete(i, CANCELLED);
        }
    }

    /// `peer` takes a message back, if that is still possible.
    pub(crate) fn retract(&mut self, peer: u32, envelope: Pattern, send: u64) -> Result<()> {
        let found = self.early.find(|e| match e {
            Early::Announced { peer: p, rts } => (*p == peer && rts.send == send).then_some(()),
            Early::Whole { ack: Some((p, s)), .. } => (*p == peer && *s == send).then_some(()),
            _ => None,
        });
        if let Some((early, ())) = found
            && self.held.withdraw(envelope, early)
        {
            self.early.take(early);
            return self.control(peer, Kind::Retracted, &send.to_ne_bytes());
        }
        Ok(())
    }

    /// `peer` has forgotten a message of ours.
    pub(crate) fn retracted(&mut self, peer: u32, send: u64) -> Result<()> {
        let (id, before) = (ReqId(send), self.retracting.len());
        self.retracting.retain(|asked| *asked != id);
        let waits = self
            .requests
            .get(id)
            .is_some_and(|r| r.phase == Phase::Active && r.peer == Some(peer) && r.expects != Expects::Nothing);
        if self.retracting.len() == before || !waits || !self.void(id.index()) {
            return Err(self.intern(format!("process {peer} gave up a message that it was not asked to give up")));
        }
        self.requests.at(id.index()).expects = Expects::Nothing;
        self.return_ticket(id.index());
        self.complete(id.index(), CANCELLED);
        Ok(())
    }
}
