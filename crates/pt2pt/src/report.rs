//! What this process uses with each peer at which size, and why not something better: for people (`OXMPI_INFO=shm`, MPI_T).
use crate::engine::State;
use crate::send::LONG_MAX;
use oxmpi_transport::wire::INLINE_MAX;
use oxmpi_transport_shm::choice::{CLASSES, Distance, FIRST_CLASS};
use std::fmt::Write;

impl State {
    /// A table in lines of text.
    pub fn report(&mut self) -> String {
        let mut out = String::new();
        let (me, eager) = (self.me, self.peers.iter().filter(|p| p.out.is_some()).count());
        let _ = writeln!(out, "process {me}: sends to {eager} and hears from {} processes", self.incoming.len());
        let _ = writeln!(
            out,
            "  up to {INLINE_MAX} B: in the ring; up to {LONG_MAX} B: eager, through chunks; more: as learned below"
        );
        let Some(node) = &mut self.node else { return out };
        let known: Vec<usize> = (0..self.peers.len())
            .filter(|p| self.peers[*p].out.is_some() || self.incoming.iter().any(|(q, _)| *q as usize == *p))
            .collect();
        for p in known {
            let d = node.distance(p);
            let _ = writeln!(out, "  with {p} ({}): {}", d.name(), node.single().describe(p));
        }
        for d in Distance::ALL {
            for shaped in [false, true] {
                for class in 0..CLASSES {
                    if let Some(line) = self.choice.describe(d, shaped, class) {
                        let what = if shaped { "in pieces" } else { "in one run" };
                        let from = size(1 << (class as u32 + FIRST_CLASS));
                        let _ = writeln!(out, "  {}, {what}, from {from}: {line}", d.name());
                    }
                }
            }
        }
        out
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b => format!("{} KiB", b >> 10),
    }
}
