//! The progress engine: polls what peers send, matches it, moves what waits for room.
use crate::engine::{Early, Inbound, State, Target};
use crate::matching::Pattern;
use crate::recv::arrived;
use oxmpi_base::Result;
use oxmpi_transport::wire::*;
use oxmpi_transport_shm::layout::CHUNK;
use oxmpi_transport_shm::link::Frame;

/// Frames taken from one ring before the next is looked at.
const BATCH: usize = 64;

impl State {
    /// One round. Returns whether anything moved.
    #[inline]
    pub fn progress(&mut self) -> Result<bool> {
        let Some(node) = &self.node else { return Ok(false) };
        if node.arrivals_pending() {
            self.accept()?;
        }
        let mut moved = false;
        for k in 0..self.incoming.len() {
            let mut batch = 0;
            while batch < BATCH
                && let Some(frame) = self.next_frame(k)?
            {
                let peer = self.incoming[k].0;
                self.handle(k, peer, &frame)?;
                self.incoming[k].1.pop(frame);
                batch += 1;
            }
            if batch > 0 {
                moved = true;
                let (peer, ring) = &self.incoming[k];
                if let Some(n) = &self.node {
                    n.feed(*peer as usize, ring);
                }
            }
        }
        if !self.backlog.is_empty() {
            for b in (0..self.backlog.len()).rev() {
                if let Some(&dest) = self.backlog.get(b) {
                    moved |= self.pump(dest);
                }
            }
        }
        Ok(moved)
    }

    #[inline]
    fn next_frame(&mut self, k: usize) -> Result<Option<Frame>> {
        let (peer, ring) = &mut self.incoming[k];
        ring.front().map_err(|c| {
            let what = format!(
                "the shared-memory ring from process {peer} is corrupt (header {:#x}); it will not be read further",
                c.0
            );
            oxmpi_base::Error::new(oxmpi_base::consts::MPI_ERR_INTERN, what)
        })
    }

    #[cold]
    fn accept(&mut self) -> Result<()> {
        let mut new = Vec::new();
        if let Some(node) = &mut self.node {
            let incoming = &self.incoming;
            node.take_arrivals(|p| {
                if !incoming.iter().any(|(q, _)| *q as usize == p) {
                    new.push(p);
                }
            });
            for p in new {
                let ring = node.accept(p)?;
                self.incoming.push((p as u32, ring));
            }
        }
        Ok(())
    }

    #[inline]
    fn handle(&mut self, k: usize, peer: u32, f: &Frame) -> Result<()> {
        // SAFETY: the payload is valid for `len` bytes until pop; the peer may still write there, so every use below copies
        // a fixed struct out first or treats the bytes as message data without meaning.
        let payload = unsafe { std::slice::from_raw_parts(f.payload, f.len) };
        let envelope = Pattern { ctx: f.ctx, source: peer as i32, tag: f.tag };
        match f.kind {
            Kind::Eager => {
                if let Some(i) = self.posted.take(envelope) {
                    let r = self.requests.at(i);
                    // SAFETY: `payload` holds `len` bytes.
                    unsafe { r.span.write(0, payload.as_ptr(), payload.len()) };
                    let outcome = arrived(envelope, payload.len() as u64, r.span.len());
                    self.complete(i, outcome);
                } else {
                    self.hold(envelope, payload, None);
                }
                Ok(())
            }
            Kind::EagerSync => {
                let (send, data) = payload.split_at_checked(8).ok_or_else(|| self.malformed(peer))?;
                let send = u64::from_ne_bytes(send.try_into().unwrap_or_default());
                if let Some(i) = self.posted.take(envelope) {
                    let r = self.requests.at(i);
                    // SAFETY: `data` holds its length.
                    unsafe { r.span.write(0, data.as_ptr(), data.len()) };
                    let outcome = arrived(envelope, data.len() as u64, r.span.len());
                    self.complete(i, outcome);
                    self.control(peer, Kind::Ack, &send.to_ne_bytes())?;
                } else {
                    self.hold(envelope, data, Some((peer, send)));
                }
                Ok(())
            }
            Kind::EagerLong => {
                let rts = Rts::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.begin_long(envelope, peer, rts)
            }
            Kind::Rts => {
                let rts = Rts::decode(payload).ok_or_else(|| self.malformed(peer))?;
                match self.posted.take(envelope) {
                    Some(i) => {
                        self.requests.at(i).envelope = envelope;
                        self.rendezvous(peer, rts, i)?
                    }
                    None => {
                        let e = self.early.put(Early::Announced { peer, rts });
                        self.held.hold(envelope, e);
                    }
                }
                Ok(())
            }
            Kind::Cts => {
                let cts = Cts::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.clear_to_send(peer, cts)
            }
            Kind::Data => {
                let d = Data::decode(payload).ok_or_else(|| self.malformed(peer))?;
                self.data(k, peer, d)
            }
            Kind::Ack | Kind::Fin => {
                let send = payload.try_into().map(u64::from_ne_bytes).map_err(|_| self.malformed(peer))?;
                self.sent(peer, send)
            }
        }
    }

    fn malformed(&self, peer: u32) -> oxmpi_base::Error {
        self.lost(format!("process {peer} sent a frame of the wrong length"))
    }

    fn hold(&mut self, envelope: Pattern, data: &[u8], ack: Option<(u32, u64)>) {
        let e = self.early.put(Early::Whole { bytes: data.to_vec(), ack });
        self.held.hold(envelope, e);
    }

    /// A message whose chunks follow at once.
    fn begin_long(&mut self, envelope: Pattern, peer: u32, rts: Rts) -> Result<()> {
        if rts.total == 0 || rts.total > crate::send::LONG_MAX {
            return Err(self.malformed(peer));
        }
        let to = match self.posted.take(envelope) {
            Some(i) => {
                let r = self.requests.at(i);
                r.posted = None;
                r.outcome = arrived(envelope, rts.total, r.span.len());
                Target::Request(i)
            }
            None => {
                let bytes = vec![0; rts.total as usize];
                let e = self.early.put(Early::Arriving { bytes, got: 0, peer, send: rts.send });
                self.held.hold(envelope, e);
                Target::Early(e)
            }
        };
        self.peers[peer as usize].inbound.push(Inbound { send: rts.send, expect: rts.total, got: 0, to });
        Ok(())
    }

    /// A chunk of some inbound message.
    fn data(&mut self, k: usize, peer: u32, d: Data) -> Result<()> {
        let n = d.len as usize;
        let inbound = &mut self.peers[peer as usize].inbound;
        let Some(at) = inbound.iter().position(|b| b.send == d.send) else { return Err(self.malformed(peer)) };
        let b = &mut inbound[at];
        if n == 0 || n > CHUNK || b.got + n as u64 > b.expect {
            return Err(self.malformed(peer));
        }
        let (from, offset, to) = (self.incoming[k].1.chunk(), b.got, b.to);
        b.got += n as u64;
        let last = b.got == b.expect;
        if last {
            inbound.swap_remove(at);
        }
        match to {
            // SAFETY: the chunk holds CHUNK >= n bytes until it is released below.
            Target::Request(i) => unsafe { self.requests.at(i).span.write(offset, from, n) },
            Target::Early(e) => {
                if let Early::Arriving { bytes, got, .. } = self.early.at(e) {
                    // SAFETY: as above; `offset + n <= expect == bytes.len()`.
                    unsafe { std::ptr::copy_nonoverlapping(from, bytes[offset as usize..].as_mut_ptr(), n) };
                    *got += n as u64;
                }
            }
        }
        self.incoming[k].1.release_chunk();
        if last {
            match to {
                Target::Request(i) => {
                    let outcome = self.requests.at(i).outcome;
                    self.complete(i, outcome);
                }
                Target::Early(e) => {
                    if let Early::Arriving { bytes, .. } = self.early.at(e) {
                        let bytes = std::mem::take(bytes);
                        *self.early.at(e) = Early::Whole { bytes, ack: None };
                    }
                }
            }
        }
        Ok(())
    }
}
