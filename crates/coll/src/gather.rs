//! MPI_Gather and MPI_Gatherv (MPI-5.0 6.5).
//!
//! The receive arguments are looked at only at the root, the send arguments not at a root that passes
//! MPI_IN_PLACE for `sbuf`.
use crate::buffer::{Data, bytes};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::select::{self, Gather, Rooted};
use crate::shared::movement;
use crate::steps::{Room, Steps};
use crate::team::Team;
use crate::{tags, tree};
use oxmpi_base::{
    Result,
    args::{Buf, Counts},
};

pub fn gather(
    ep: &Team,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
    root: usize,
) -> Result<()> {
    let is_root = ep.rank() == root;
    let own = if is_root && sbuf.is_in_place() { None } else { Some(Data::new(sbuf, scount, sdt)) };
    let all = is_root.then(|| Data::new(rbuf, rcount, rdt));
    let block = all.or(own).map_or(0, |d| d.bytes());
    if let Some(r) = ep.region()? {
        match select::gather(block, ep.size(), r) {
            Gather::Read => {
                return movement::gather(ep, r, own, all.map(|all| move |r| all.blocks(r, 1)), root);
            }
            Gather::Written => return movement::gather_written(ep, r, own, all, root),
            Gather::Messages => {}
        }
    }
    let x = Exchange::new(ep, tags::GATHER);
    with(&x, select::rooted(block, ep.size()), own, all, root)?;
    x.finish()
}

/// The gather by messages; arguments as those of [`with`].
pub fn steps(x: &impl Steps, own: Option<Data>, all: Option<Data>, root: usize) -> Result<()> {
    let block = all.or(own).map_or(0, |d| d.bytes());
    with(x, select::rooted(block, x.size()), own, all, root)
}

/// `own` is what this rank contributes (none: in place); at the root, `all` is the block of rank 0.
pub fn with(x: &impl Steps, algorithm: Rooted, own: Option<Data>, all: Option<Data>, root: usize) -> Result<()> {
    if let (Some(own), Some(all)) = (own, all) {
        x.copy(own, all.blocks(root, 1));
    }
    let block = all.or(own).map_or(0, |d| d.bytes());
    if block == 0 || x.size() == 1 {
        return Ok(());
    }
    match (algorithm, all, own) {
        (Rooted::Linear, Some(all), _) => collect(x, |r| all.blocks(r, 1), root),
        (Rooted::Linear, None, Some(own)) => x.send(own, root),
        (Rooted::Binomial, Some(all), _) => tree_root(x, all, root)?,
        (Rooted::Binomial, None, Some(own)) => tree_inner(x, own, root)?,
        (_, None, None) => {}
    }
    Ok(())
}

/// The root receives every other rank's block where it belongs.
pub fn collect<'a>(x: &impl Steps, at: impl Fn(usize) -> Data<'a>, root: usize) {
    let mut pending = Vec::new();
    for r in (0..x.size()).filter(|&r| r != root) {
        let d = at(r);
        if d.bytes() > 0 {
            pending.extend(x.irecv(d, r));
        }
        if pending.len() == select::WINDOW {
            x.wait_all(&mut pending);
        }
    }
    x.wait_all(&mut pending);
}

/// An inner node collects the packed blocks of its subtree, in node order, and passes them on.
fn tree_inner(x: &impl Steps, own: Data, root: usize) -> Result<()> {
    let n = x.size();
    let v = tree::node(x.rank(), root, n);
    let (span, block) = (tree::span(v, n), own.bytes());
    let parent = tree::rank(tree::parent(v), root, n);
    if span == 1 {
        x.send(own, parent);
        return Ok(());
    }
    let mut temp = x.bytes(span * block)?;
    let blocks = bytes(temp.buf(), span * block);
    x.copy(own, blocks.part(0..block));
    for d in tree::distances(v, n) {
        x.recv(blocks.part(d * block..(d + tree::span(v + d, n)) * block), tree::rank(v + d, root, n));
    }
    x.send(blocks, parent);
    Ok(())
}

/// The root unpacks the others' blocks, which arrive in the order root + 1, ..., n - 1, 0, ..., root - 1.
fn tree_root(x: &impl Steps, all: Data, root: usize) -> Result<()> {
    let (n, block) = (x.size(), all.bytes());
    let mut temp = x.bytes((n - 1) * block)?;
    let blocks = bytes(temp.buf(), (n - 1) * block);
    for d in tree::distances(0, n) {
        x.recv(blocks.part((d - 1) * block..(d - 1 + tree::span(d, n)) * block), tree::rank(d, root, n));
    }
    let above = n - 1 - root;
    x.copy(blocks.part(0..above * block), all.blocks(root + 1, above));
    x.copy(blocks.part(above * block..(n - 1) * block), all.blocks(0, root));
    Ok(())
}

/// `displs` in units of the extent of `rdt`. Linear: only the root knows all sizes.
pub fn gatherv(
    ep: &Team,
    sbuf: Buf,
    scount: usize,
    sdt: &Datatype,
    rbuf: Buf,
    rcounts: &Counts,
    displs: &Counts,
    rdt: &Datatype,
    root: usize,
) -> Result<()> {
    let base = Data::new(rbuf, 0, rdt);
    let at = |r: usize| base.at(displs.get(r) as isize, rcounts.get(r) as usize);
    if let Some(r) = ep.region()?.filter(|r| r.room() > 0) {
        let is_root = ep.rank() == root;
        let own = (!is_root || !sbuf.is_in_place()).then(|| Data::new(sbuf, scount, sdt));
        return movement::gather(ep, r, own, is_root.then_some(at), root);
    }
    let x = Exchange::new(ep, tags::GATHER);
    let in_place = ep.rank() == root && sbuf.is_in_place();
    steps_v(&x, (!in_place).then(|| Data::new(sbuf, scount, sdt)), at, root);
    x.finish()
}

/// The gatherv by messages; `at` is looked at by the root only.
pub fn steps_v<'a>(x: &impl Steps, own: Option<Data>, at: impl Fn(usize) -> Data<'a>, root: usize) {
    match own {
        Some(own) if x.rank() != root => {
            if own.bytes() > 0 {
                x.send(own, root);
            }
            return;
        }
        Some(own) => x.copy(own, at(root)),
        None => {}
    }
    collect(x, at, root);
}
