//! The short ways: a small send that finds room, and a blocking receive whose message comes while the thread polls for it. Neither makes
//! a request.
//!
//! Both are for one thread at a time (below MPI_THREAD_MULTIPLE), and both may decline, with nothing changed; the caller then
//! takes the general way.
//!
//! Invariant: a receive takes a frame past matching only where matching would have given it this frame: nothing held can be older
//! (one source, whose ring nobody else reads meanwhile), and no receive posted before accepts it.
use crate::engine::{COUNTED, Engine, State, THREADS};
use crate::matching::{ANY_TAG, Pattern};
use crate::recv::arrived;
use crate::request::Outcome;
use oxmpi_ring::bytes::copy;
use oxmpi_ring::wait::{Step, Waiter};
use oxmpi_transport::wire::{Context, INLINE_MAX, Kind};

/// So many receives in a row may be over without a look at anything else.
const PASSED_BY: u32 = 32;

impl Engine {
    /// Sends `len` bytes at `from`, which another process of this node gets; false if it has to wait for anything.
    ///
    /// # Safety
    /// `from` is valid for reads of `len` bytes.
    #[inline(always)]
    pub unsafe fn send_now(&self, ctx: Context, dest: u32, tag: i32, from: *const u8, len: usize) -> bool {
        let Some(mut s) = self.alone_unless(ctx.lane(), THREADS | COUNTED) else { return false };
        // SAFETY: the caller's promise.
        unsafe { s.send_now(ctx, dest, tag, from, len) }
    }

    /// Receives up to `room` bytes at `to` from one other process of this node, if the message comes before this thread would do better to
    /// sleep and nothing special is in its way.
    ///
    /// # Safety
    /// `to` is valid for writes of `room` bytes.
    #[inline(always)]
    pub unsafe fn receive_now(&self, want: Pattern, to: *mut u8, room: usize) -> Option<Outcome> {
        let mut s = self.alone_unless(want.ctx.lane(), THREADS | COUNTED)?;
        let s: &mut State = &mut s;
        if !s.held.is_empty() {
            return None;
        }
        let mut k = s.ring_of(want.source)?;
        // A stream of messages that are always there must not keep this process from what others want of it.
        s.sweep.passed_by += 1;
        if s.sweep.passed_by >= PASSED_BY {
            k = s.idle_but(k, want.source)?;
            if self.has_others(want.ctx.lane()) {
                return None; // the general way looks at them
            }
        }
        // SAFETY: the caller's promise.
        if let Some(r) = unsafe { s.take_front(k, want, to, room) } {
            return r;
        }
        let mut waiter = Waiter::new(&self.evidence, self.cores);
        loop {
            k = s.idle_but(k, want.source)?;
            // SAFETY: the caller's promise.
            if let Some(r) = unsafe { s.take_front(k, want, to, room) } {
                return r;
            }
            match waiter.step() {
                Step::Poll => std::hint::spin_loop(),
                _ => return None,
            }
        }
    }
}

impl State {
    #[inline(always)]
    unsafe fn send_now(&mut self, ctx: Context, dest: u32, tag: i32, from: *const u8, len: usize) -> bool {
        let peer = &mut self.peers[dest as usize];
        if len > INLINE_MAX || !peer.waiting.is_empty() {
            return false;
        }
        let Some(out) = &mut peer.out else { return false };
        // SAFETY: the caller's promise.
        if !unsafe { out.push_run(Kind::Eager, ctx, tag, from, len) } {
            return false;
        }
        if let Some(n) = &self.node {
            n.ring(dest as usize);
        }
        true
    }

    /// Takes what ring `k` has in front if it is what is wanted. `None`: nothing is there; `Some(None)`: not for this way.
    #[inline(always)]
    unsafe fn take_front(&mut self, k: usize, want: Pattern, to: *mut u8, room: usize) -> Option<Option<Outcome>> {
        let (peer, ring) = &mut self.incoming[k];
        let f = match ring.front() {
            Ok(None) => return None,
            Ok(Some(f)) => f,
            Err(_) => return Some(None), // the general way says what is wrong
        };
        if f.kind != Kind::Eager || f.ctx != want.ctx || (f.tag != want.tag && want.tag != ANY_TAG) {
            return Some(None);
        }
        let envelope = Pattern { ctx: f.ctx, source: *peer as i32, tag: f.tag };
        if !self.posted.is_empty() && self.posted.would_take(envelope) {
            return Some(None);
        }
        // SAFETY: the payload holds `len` bytes, `to` has room.
        unsafe { copy(f.payload, to, f.len.min(room)) };
        ring.pop(f);
        if ring.owes_much() {
            self.repay(k);
        }
        Some(Some(arrived(envelope, f.len as u64, room as u64)))
    }

    /// What there is to do while ring `k`, that of `source`, has nothing: returns where that ring is now; None if it is gone or the general
    /// way has an error to tell.
    #[inline(always)]
    fn idle_but(&mut self, k: usize, source: i32) -> Option<usize> {
        self.sweep.passed_by = 0;
        if self.incoming[k].1.owes() {
            self.repay(k);
        }
        let others = self.incoming.len() > 1 || self.arrivals_pending();
        if !others && self.backlog.is_empty() && self.copies.is_empty() && self.late.is_empty() {
            return Some(k);
        }
        self.progress_but(k).ok()?;
        self.ring_of(source)
    }
}
