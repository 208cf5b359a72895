//! MPI_Scatter and MPI_Scatterv (MPI-5.0 6.6).
//!
//! The send arguments are looked at only at the root, the receive arguments not at a root that passes
//! MPI_IN_PLACE for `rbuf`.
use crate::buffer::{Data, bytes};
use crate::exchange::Exchange;
use crate::link::Datatype;
use crate::select::{self, Rooted};
use crate::shared::movement;
use crate::steps::{Room, Steps};
use crate::team::Team;
use crate::{tags, tree};
use oxmpi_base::{
    Result,
    args::{Buf, Counts},
};

pub fn scatter(
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
    let own = if is_root && rbuf.is_in_place() { None } else { Some(Data::new(rbuf, rcount, rdt)) };
    let all = is_root.then(|| Data::new(sbuf, scount, sdt));
    let block = all.or(own).map_or(0, |d| d.bytes());
    if let Some(r) = ep.region()?
        && select::shared_scatter(block, ep.size(), r)
    {
        return movement::scatter(ep, r, own, all, root);
    }
    let x = Exchange::new(ep, tags::SCATTER);
    with(&x, select::rooted(block, ep.size()), own, all, root)?;
    x.finish()
}

/// The scatter by messages; arguments as those of [`with`].
pub fn steps(x: &impl Steps, own: Option<Data>, all: Option<Data>, root: usize) -> Result<()> {
    let block = all.or(own).map_or(0, |d| d.bytes());
    with(x, select::rooted(block, x.size()), own, all, root)
}

/// `own` is where this rank's block goes (none: it stays); at the root, `all` is the block of rank 0.
pub fn with(x: &impl Steps, algorithm: Rooted, own: Option<Data>, all: Option<Data>, root: usize) -> Result<()> {
    let block = all.or(own).map_or(0, |d| d.bytes());
    if block == 0 {
        return Ok(());
    }
    let keep = || {
        if let (Some(own), Some(all)) = (own, all) {
            x.copy(all.blocks(root, 1), own);
        }
    };
    if x.size() == 1 {
        keep();
        return Ok(());
    }
    match (algorithm, all, own) {
        (Rooted::Linear, Some(all), _) => deal(x, |r| all.blocks(r, 1), root, keep),
        (Rooted::Linear, None, Some(own)) => {
            x.recv(own, root);
        }
        (Rooted::Binomial, Some(all), _) => {
            keep();
            tree_root(x, all, root)?
        }
        (Rooted::Binomial, None, Some(own)) => tree_inner(x, own, root)?,
        (_, None, None) => {}
    }
    Ok(())
}

/// The root sends every other rank its block; `meanwhile` is done while the last of them are under way.
pub fn deal<'a>(x: &impl Steps, at: impl Fn(usize) -> Data<'a>, root: usize, meanwhile: impl FnOnce()) {
    let mut pending = Vec::new();
    for r in (0..x.size()).filter(|&r| r != root) {
        let d = at(r);
        if d.bytes() > 0 {
            pending.extend(x.isend(d, r));
        }
        if pending.len() == select::WINDOW {
            x.wait_all(&mut pending);
        }
    }
    meanwhile();
    x.wait_all(&mut pending);
}

/// An inner node gets the packed blocks of its subtree, in node order, and hands them down.
fn tree_inner(x: &impl Steps, own: Data, root: usize) -> Result<()> {
    let n = x.size();
    let v = tree::node(x.rank(), root, n);
    let (span, block) = (tree::span(v, n), own.bytes());
    let parent = tree::rank(tree::parent(v), root, n);
    if span == 1 {
        x.recv(own, parent);
        return Ok(());
    }
    let mut temp = x.bytes(span * block)?;
    let blocks = bytes(temp.buf(), span * block);
    x.recv(blocks, parent);
    for d in tree::distances(v, n).rev() {
        x.send(blocks.part(d * block..(d + tree::span(v + d, n)) * block), tree::rank(v + d, root, n));
    }
    x.copy(blocks.part(0..block), own);
    Ok(())
}

/// The root packs the others' blocks in the order root + 1, ..., n - 1, 0, ..., root - 1.
fn tree_root(x: &impl Steps, all: Data, root: usize) -> Result<()> {
    let (n, block) = (x.size(), all.bytes());
    let mut temp = x.bytes((n - 1) * block)?;
    let blocks = bytes(temp.buf(), (n - 1) * block);
    let above = n - 1 - root;
    x.copy(all.blocks(root + 1, above), blocks.part(0..above * block));
    x.copy(all.blocks(0, root), blocks.part(above * block..(n - 1) * block));
    for d in tree::distances(0, n).rev() {
        x.send(blocks.part((d - 1) * block..(d - 1 + tree::span(d, n)) * block), tree::rank(d, root, n));
    }
    Ok(())
}

/// `displs` in units of the extent of `sdt`. Linear: only the root knows all sizes.
pub fn scatterv(
    ep: &Team,
    sbuf: Buf,
    scounts: &Counts,
    displs: &Counts,
    sdt: &Datatype,
    rbuf: Buf,
    rcount: usize,
    rdt: &Datatype,
    root: usize,
) -> Result<()> {
    let base = Data::new(sbuf, 0, sdt);
    let at = |r: usize| base.at(displs.get(r) as isize, scounts.get(r) as usize);
    if let Some(r) = ep.region()?.filter(|r| r.room() > 0) {
        let is_root = ep.rank() == root;
        let own = (!is_root || !rbuf.is_in_place()).then(|| Data::new(rbuf, rcount, rdt));
        return movement::scatterv(ep, r, own, is_root.then_some(at), root);
    }
    let x = Exchange::new(ep, tags::SCATTER);
    let in_place = ep.rank() == root && rbuf.is_in_place();
    steps_v(&x, (!in_place).then(|| Data::new(rbuf, rcount, rdt)), at, root);
    x.finish()
}

/// The scatterv by messages; `at` is looked at by the root only.
pub fn steps_v<'a>(x: &impl Steps, own: Option<Data>, at: impl Fn(usize) -> Data<'a>, root: usize) {
    if x.rank() != root {
        if let Some(own) = own.filter(|o| o.bytes() > 0) {
            x.recv(own, root);
        }
        return;
    }
    deal(x, &at, root, || {
        if let Some(own) = own {
            x.copy(at(root), own);
        }
    });
}
