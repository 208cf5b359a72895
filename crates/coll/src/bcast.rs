//! MPI_Bcast (MPI-5.0 6.4): binomial tree, scatter with allgather, or a chain of segments.
//!
//! Count and datatype may differ between ranks as long as the type signatures agree, so long messages are
//! cut by bytes of the packed stream, not by elements.
use crate::blocks;
use crate::buffer::{Data, Segments, Temp, bytes};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::select::{self, Bcast};
use crate::shared::movement;
use crate::steps::{Room, Steps};
use crate::team::Team;
use crate::{tags, tree};
use oxmpi_base::{Result, args::Buf};
use std::collections::VecDeque;

pub fn bcast(ep: &Team, buf: Buf, count: usize, dt: &Datatype, root: usize) -> Result<()> {
    let data = Data::new(buf, count, dt);
    if ep.size() == 1 || data.bytes() == 0 {
        return Ok(());
    }
    if let Some(r) = ep.region()?
        && select::shared_bcast(data.bytes(), ep.size(), r)
    {
        return movement::bcast(ep, r, data, root);
    }
    let x = Exchange::new(ep, tags::BCAST);
    steps(&x, data, root)?;
    x.finish()
}

/// The broadcast by messages.
pub fn steps(x: &impl Steps, data: Data, root: usize) -> Result<()> {
    if x.size() == 1 || data.bytes() == 0 {
        return Ok(());
    }
    with(x, select::bcast(data.bytes(), x.size()), data, root)
}

/// The broadcast by a given algorithm.
pub fn with(x: &impl Steps, algorithm: Bcast, data: Data, root: usize) -> Result<()> {
    match algorithm {
        Bcast::Binomial => binomial(x, data, root),
        Bcast::ScatterAllgather => scatter_allgather(x, data, root)?,
        Bcast::Chain { segment } => chain(x, data, root, segment)?,
    }
    Ok(())
}

fn binomial(x: &impl Steps, data: Data, root: usize) {
    let n = x.size();
    let v = tree::node(x.rank(), root, n);
    if v != 0 {
        x.recv(data, tree::rank(tree::parent(v), root, n));
    }
    let mut sends = Vec::new();
    // The largest subtree has the longest way to go.
    for d in tree::distances(v, n).rev() {
        let child = tree::rank(v + d, root, n);
        if d == 1 && sends.is_empty() {
            x.send(data, child);
        } else {
            sends.extend(x.isend(data, child));
        }
    }
    x.wait_all(&mut sends);
}

/// The root deals out parts of the packed stream down a binomial tree, then they go around a ring.
fn scatter_allgather(x: &impl Steps, data: Data, root: usize) -> Result<()> {
    let (n, total) = (x.size(), data.bytes());
    let v = tree::node(x.rank(), root, n);
    let dense = data.dense_bytes();
    let mut temp = x.bytes(if dense.is_some() { 0 } else { total })?;
    let whole = dense.unwrap_or_else(|| bytes(temp.buf(), total));
    if v == 0 && dense.is_none() {
        x.copy(data, whole);
    }
    let run = |from: usize, nodes: usize| whole.part(blocks::even_run(total, n, from..from + nodes));
    if v != 0 {
        x.recv(run(v, tree::span(v, n)), tree::rank(tree::parent(v), root, n));
    }
    for d in tree::distances(v, n).rev() {
        x.send(run(v + d, tree::span(v + d, n)), tree::rank(v + d, root, n));
    }
    let (left, right) = (tree::rank((v + n - 1) % n, root, n), tree::rank((v + 1) % n, root, n));
    for step in 0..n - 1 {
        let (have, want) = ((v + n - step) % n, (v + n - step - 1) % n);
        x.sendrecv(run(have, 1), right, run(want, 1), left);
    }
    if v != 0 && dense.is_none() {
        x.copy(whole, data);
    }
    Ok(())
}

/// Segments in flight at a rank: one arriving, one being passed on, and slack for unequal speeds.
const SLOTS: usize = 4;

fn chain(x: &impl Steps, data: Data, root: usize, segment: usize) -> Result<()> {
    let n = x.size();
    let v = tree::node(x.rank(), root, n);
    let staging = x.bytes(Segments::<Temp>::room(data, segment, SLOTS))?;
    let mut segments = Segments::over(data, segment, SLOTS, staging);
    let parent = (v > 0).then(|| tree::rank(v - 1, root, n));
    let child = (v + 1 < n).then(|| tree::rank(v + 1, root, n));
    let number = segments.number();
    let mut sends = VecDeque::new();
    let mut arriving = parent.and_then(|p| x.irecv(segments.view(0), p));
    for i in 0..number {
        // Slot (i + 1) % SLOTS is about to be filled: the send that used it must be over.
        if sends.len() + 1 == SLOTS {
            x.wait(sends.pop_front().flatten());
        }
        if let Some(p) = parent {
            let next = if i + 1 < number { x.irecv(segments.view(i + 1), p) } else { None };
            x.wait(std::mem::replace(&mut arriving, next));
            x.store(&mut segments, data, i);
        } else {
            x.load(&mut segments, data, i);
        }
        if let Some(c) = child {
            sends.push_back(x.isend(segments.view(i), c));
        }
    }
    for s in sends {
        x.wait(s);
    }
    Ok(())
}
