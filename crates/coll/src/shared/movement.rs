//! Barrier, broadcast, gather, scatter, allgather and all-to-all, each in one round.
use crate::buffer::{Data, copy};
use crate::link::Endpoint;
use crate::select;
use crate::shared::region::Region;
use crate::shared::round::{At, How, Offer, Round, put, run};
use crate::tags;
use oxmpi_base::Result;
use oxmpi_ring::slots::INLINE;

pub fn barrier(ep: &Endpoint, r: &Region) -> Result<()> {
    run(ep, r, tags::BARRIER, |c| {
        let s = r.begin();
        c.offer(s, crate::buffer::nothing())?;
        c.meet(s)?;
        c.done(s);
        Ok(())
    })
}

pub fn bcast(ep: &Endpoint, r: &Region, data: Data, root: usize) -> Result<()> {
    run(ep, r, tags::BCAST, |c| {
        let s = r.begin();
        if c.me() != root {
            c.look_ahead(root, s);
            let o = c.seen(root, s)?;
            c.fetch(root, o.at, o.len, data);
            c.done(s);
            return Ok(());
        }
        let how = c.offer_long(s, data, select::direct_from(c.n()))?;
        c.done(s);
        match how {
            How::Message => c.others().for_each(|to| c.send(data, to)),
            How::Address => c.all_done(s)?,
            _ => {}
        }
        Ok(())
    })
}

/// `own` is what this rank contributes (none at the root: in place); `at` gives the place of a rank's block at the root.
pub fn gather<'a>(
    ep: &Endpoint,
    r: &Region,
    own: Option<Data>,
    at: Option<impl Fn(usize) -> Data<'a>>,
    root: usize,
) -> Result<()> {
    run(ep, r, tags::GATHER, |c| {
        let s = r.begin();
        if let Some(at) = at {
            for rank in c.others() {
                let o = c.seen(rank, s)?;
                c.fetch(rank, o.at, o.len, at(rank));
            }
            c.done(s);
            if let Some(own) = own {
                copy(own, at(root));
            }
        } else if let Some(own) = own {
            let how = c.offer_long(s, own, select::direct_from(c.n()))?;
            c.done(s);
            match how {
                How::Message => c.send(own, root),
                How::Address => c.is_done(root, s)?,
                _ => {}
            }
        }
        Ok(())
    })
}

/// Long equal blocks, as [`gather`]: every rank writes its own to the root's memory, so that the root does not copy all of them alone.
pub fn gather_written(ep: &Endpoint, r: &Region, own: Option<Data>, all: Option<Data>, root: usize) -> Result<()> {
    run(ep, r, tags::GATHER, |c| {
        let s = r.begin();
        if let Some(all) = all {
            let written = c.invite(s, all.blocks(0, c.n()))?;
            if let Some(own) = own {
                copy(own, all.blocks(root, 1));
            }
            if !written {
                c.others().for_each(|rank| c.fetch(rank, At::Message, 0, all.blocks(rank, 1)));
            }
            c.all_done(s)?;
            c.others().for_each(|rank| c.note_regret(rank, s));
            // Only now may they use the slots of this round again.
            c.done(s);
            return Ok(());
        }
        let Some(own) = own else { return Ok(()) };
        let o = c.seen(root, s)?;
        match o.at {
            At::Remote(there, _) => {
                let block = o.len / c.n();
                if !c.bring(root, there, (block * c.me()) as u64, block, own) {
                    c.regret(s)?;
                }
            }
            _ => c.send(own, root),
        }
        c.done(s);
        Ok(())
    })
}

/// Equal blocks. `own` is where this rank's block goes (none at the root: it stays); at the root, `all` is the block of rank 0.
pub fn scatter(ep: &Endpoint, r: &Region, own: Option<Data>, all: Option<Data>, root: usize) -> Result<()> {
    run(ep, r, tags::SCATTER, |c| {
        let s = r.begin();
        if let Some(all) = all {
            let how = c.offer_long(s, all.blocks(0, c.n()), select::direct_from(c.n()).saturating_mul(c.n()))?;
            c.done(s);
            if let Some(own) = own {
                copy(all.blocks(root, 1), own);
            }
            match how {
                How::Message => c.others().for_each(|to| c.send(all.blocks(to, 1), to)),
                How::Address => c.all_done(s)?,
                _ => {}
            }
        } else if let Some(own) = own {
            let o = c.seen(root, s)?;
            let block = o.len / c.n();
            c.fetch(root, o.at.plus(block * c.me()), block, own);
            c.done(s);
        }
        Ok(())
    })
}

/// Blocks of any sizes; the arguments as for [`gather`].
pub fn scatterv<'a>(
    ep: &Endpoint,
    r: &Region,
    own: Option<Data>,
    at: Option<impl Fn(usize) -> Data<'a>>,
    root: usize,
) -> Result<()> {
    run(ep, r, tags::SCATTER, |c| {
        let s = r.begin();
        if let Some(at) = at {
            let rest = offer_table(c, s, &at)?;
            c.done(s);
            rest.messages.iter().for_each(|&to| c.send(at(to), to));
            if let Some(own) = own {
                copy(at(root), own);
            }
            if rest.addresses {
                c.all_done(s)?;
            }
        } else if let Some(own) = own {
            let o = entry(c, root, s)?;
            if o.len > 0 {
                c.fetch(root, o.at, o.len, own);
            }
            c.done(s);
        }
        Ok(())
    })
}

/// `at` gives the place of a rank's block; `own` is what this rank contributes (none: it is in its place already). The others read
/// `own` and not the copy in its place: memory that stays as it is remains in the readers' caches.
pub fn allgather<'a>(
    ep: &Endpoint,
    r: &Region,
    tag: i32,
    own: Option<Data>,
    at: impl Fn(usize) -> Data<'a>,
) -> Result<()> {
    run(ep, r, tag, |c| {
        let s = r.begin();
        let offered = own.unwrap_or_else(|| at(c.me()));
        let how = c.offer_long(s, offered, select::direct_from(c.n()))?;
        if how == How::Message {
            c.others().for_each(|to| c.send(offered, to));
        }
        if let Some(own) = own {
            copy(own, at(c.me()));
        }
        for rank in c.others() {
            let o = c.seen(rank, s)?;
            c.fetch(rank, o.at, o.len, at(rank));
        }
        c.seen_all(s);
        c.done(s);
        if how == How::Address {
            c.all_done(s)?;
        }
        Ok(())
    })
}

/// Equal blocks; `from` (none: in place, where everything fits a buffer) and `to` are the blocks of rank 0.
pub fn alltoall(ep: &Endpoint, r: &Region, from: Option<Data>, to: Data) -> Result<()> {
    run(ep, r, tags::ALLTOALL, |c| {
        let s = r.begin();
        let (me, n) = (c.me(), c.n());
        let source = from.unwrap_or(to);
        let (whole, block) = (source.blocks(0, n), source.bytes());
        let how = if whole.bytes() <= INLINE {
            c.offer(s, whole)?
        } else {
            // The own block is not for the others.
            // In place what is read must not be overwritten meanwhile.
            let direct_from = from.map_or(usize::MAX, |_| select::direct_from(n).saturating_mul(n));
            c.offer_filled(s, whole, whole.bytes(), direct_from, |buffer| {
                c.others().for_each(|rank| put(source.blocks(rank, 1), buffer.wrapping_add(rank * block)));
                n * block
            })?
        };
        if let Some(from) = from {
            copy(from.blocks(me, 1), to.blocks(me, 1));
        }
        if how == How::Message {
            c.others().for_each(|rank| c.send(source.blocks(rank, 1), rank));
        }
        for rank in c.others() {
            let o = c.seen(rank, s)?;
            let block = o.len / n;
            c.fetch(rank, o.at.plus(block * me), block, to.blocks(rank, 1));
        }
        c.seen_all(s);
        c.done(s);
        if how == How::Address {
            c.all_done(s)?;
        }
        Ok(())
    })
}

/// Blocks of any sizes.
pub fn alltoallv<'a, 'b>(
    ep: &Endpoint,
    r: &Region,
    from: impl Fn(usize) -> Data<'a>,
    to: impl Fn(usize) -> Data<'b>,
) -> Result<()> {
    run(ep, r, tags::ALLTOALLV, |c| {
        let s = r.begin();
        let rest = offer_table(c, s, &from)?;
        copy(from(c.me()), to(c.me()));
        rest.messages.iter().for_each(|&rank| c.send(from(rank), rank));
        for rank in c.others() {
            let o = entry(c, rank, s)?;
            if o.len > 0 {
                c.fetch(rank, o.at, o.len, to(rank));
            }
        }
        c.seen_all(s);
        c.done(s);
        if rest.addresses {
            c.all_done(s)?;
        }
        Ok(())
    })
}

/// An entry of a table: length and [`How`] as in a slot, then the offset in the buffer or what was exposed.
const ENTRY: usize = 24;
/// Longer blocks do not go through the buffer where they can be read directly.
const DIRECT_FROM: usize = 16 * 1024;

/// What of a table's blocks is not in the buffer.
struct Rest {
    messages: Vec<usize>,
    addresses: bool,
}

/// Offers a block of its own to every other rank: a table, then as many blocks as find room behind it.
fn offer_table<'a>(c: &Round, s: u64, block: &impl Fn(usize) -> Data<'a>) -> Result<Rest> {
    let (buffer, room) = (c.free_buffer(s)?, c.r.room());
    let mut rest = Rest { messages: Vec::new(), addresses: false };
    let mut end = c.n() * ENTRY;
    for rank in c.others() {
        let d = block(rank);
        let len = d.bytes();
        let dense = d.dense_bytes().filter(|_| c.r.direct);
        let (how, place) = if len <= room - end && (len < DIRECT_FROM || dense.is_none()) {
            put(d, buffer.wrapping_add(end));
            let at = end;
            end = (end + len).next_multiple_of(8).min(room);
            (How::Buffer, [at as u64, 0])
        } else if let Some(d) = dense {
            rest.addresses = true;
            (How::Address, c.expose(d.buf.as_ptr(), len))
        } else {
            rest.messages.push(rank);
            (How::Message, [0, 0])
        };
        let at = buffer.wrapping_add(rank * ENTRY);
        c.write_words(at, [len as u64 | (how as u64) << 48, place[0]]);
        c.write_words(at.wrapping_add(8), place);
    }
    c.offer_buffer(s, end);
    Ok(rest)
}

/// What `rank` offers to this rank in its table.
fn entry(c: &Round, rank: usize, s: u64) -> Result<Offer> {
    let o = c.seen(rank, s)?;
    let (table, me) = (o.at, c.me());
    let (word, place) = match table {
        At::Memory(p) if o.len >= c.n() * ENTRY => {
            let p = p.wrapping_add(me * ENTRY);
            (c.read_words(p)[0], c.read_words(p.wrapping_add(8)))
        }
        _ => return Err(c.nonsense(rank)),
    };
    let (len, how) = ((word & ((1 << 48) - 1)) as usize, (word >> 48) as u8);
    let at = match how {
        1 if place[0] as usize <= o.len && len <= o.len - place[0] as usize => table.plus(place[0] as usize),
        2 => At::Remote(place, 0),
        3 => At::Message,
        _ => return Err(c.nonsense(rank)),
    };
    Ok(Offer { at, len })
}
