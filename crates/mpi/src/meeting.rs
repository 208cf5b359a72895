//! A context for processes that have no communicator in common (MPI-5.0 7.4.2 MPI_Comm_create_from_group, 7.6.2
//! MPI_Intercomm_create_from_groups): all they share is a group and a string.
//!
//! One context is everybody's ([`context::meeting`]). Its messages are small and all alike: a key, and the context that the sender knows. The
//! key is made from the purpose, the string and the members, so several of these calls may be under way in different threads, as long
//! as one of the three differs, which is what the standard asks of programs. The leader (rank 0 of the group) gives out the context and it goes
//! round in a binomial tree, as with a parent communicator.
//!
//! # Threads
//! Whoever waits takes all messages of the meeting context, and puts them into the one mailbox. It is changed under the lock of the context's lane,
//! after which the engine wakes the other threads, so a message taken by the wrong thread is found by the right one.
//!
//! Known gap: mail for a call that this process never makes stays in the mailbox.
use crate::context::{self, Given};
use crate::group::Group;
use crate::world;
use oxmpi_base::Result;
use oxmpi_base::consts::MPI_SUCCESS;
use oxmpi_pt2pt::{ANY_SOURCE, Mode, Pattern, Ranks, Received, ReqId, Span, State};
use oxmpi_transport::wire::Context;
use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex};

/// Which call the processes are in: equal strings do not mix different calls up.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// A communicator of the group.
    Comm = 1,
    /// A local group of an intercommunicator.
    Side = 2,
    /// The two leaders of an intercommunicator from groups.
    Leaders = 3,
    /// The two leaders of an intercommunicator, by the context of the peer communicator and the tag.
    Create = 4,
}

/// Names a call: equal at all that take part, different from all others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Key(u128);

impl Key {
    /// FNV-1a with 128 bits, over lengths and contents.
    pub fn new(purpose: Purpose, stringtag: &[u8], procs: impl Iterator<Item = u32>) -> Key {
        let mut h: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
        let mut add = |b: u8| h = (h ^ b as u128).wrapping_mul((1 << 88) + 0x13b);
        add(purpose as u8);
        (stringtag.len() as u64).to_le_bytes().iter().chain(stringtag).for_each(|b| add(*b));
        procs.for_each(|p| p.to_le_bytes().into_iter().for_each(&mut add));
        Key(h)
    }
}

const LEN: usize = 24;
const TAG: i32 = 0;
/// Numbers of contexts that the sender uses no more (see `context`).
const RETURNS_TAG: i32 = 1;

/// What has arrived, by call and sender.
type Mail = HashMap<(Key, u32), VecDeque<u64>>;

static MAIL: LazyLock<Mutex<Mail>> = LazyLock::new(Mutex::default);

fn post(to: u32, key: Key, what: u64) -> Result<()> {
    send(to, TAG, [&key.0.to_ne_bytes()[..], &what.to_ne_bytes()].concat())
}

/// Starts a message that nobody waits for.
fn send(to: u32, tag: i32, bytes: Vec<u8>) -> Result<()> {
    let ctx = context::meeting();
    world::engine()?.enter(ctx.lane(), |s| -> Result<()> {
        let sent = s.send(ctx, to, tag, Span::Owned(bytes), Mode::Standard)?;
        sent.into_iter().for_each(|id| s.detach(id));
        Ok(())
    })
}

/// A message that was taken.
struct Letter {
    from: u32,
    bytes: Vec<u8>,
    /// It comes in pieces, until this is over.
    coming: Option<ReqId>,
}

/// Takes a message that is here, at least its beginning.
fn receive(s: &mut State, tag: i32, most: usize) -> Result<Option<Letter>> {
    let any = Pattern { ctx: context::meeting(), source: ANY_SOURCE, tag };
    let Some((message, o)) = s.mprobe(any) else { return Ok(None) };
    let mut bytes = vec![0u8; most.min(o.bytes as usize)];
    let span = Span::Dense { at: bytes.as_mut_ptr(), len: bytes.len() };
    let coming = match s.recv_early(message, span)? {
        Received::Done(_) => None,
        Received::Pending(id) => Some(id),
    };
    Ok(Some(Letter { from: o.source as u32, bytes, coming }))
}

/// How many numbers a message about returns has at most.
const RETURNS_MOST: usize = 256;

/// Those of which not everything is here.
static COMING: Mutex<Vec<Letter>> = Mutex::new(Vec::new());

/// Numbers of the leader's contexts that this process uses no more.
pub(crate) fn post_returns(leader: u32, numbers: &[u32]) -> Result<()> {
    numbers
        .chunks(RETURNS_MOST)
        .try_for_each(|some| send(leader, RETURNS_TAG, some.iter().flat_map(|n| n.to_ne_bytes()).collect()))
}

/// What members have told about contexts of this process, as far as it is here.
pub(crate) fn read_returns() -> Result<()> {
    let (e, lane) = (world::engine()?, context::meeting().lane());
    e.poll(lane)?;
    let mut letters = std::mem::take(&mut *COMING.lock().unwrap_or_else(|e| e.into_inner()));
    let received = e.enter(lane, |s| -> Result<()> {
        while let Some(letter) = receive(s, RETURNS_TAG, 4 * RETURNS_MOST)? {
            letters.push(letter);
        }
        letters.iter_mut().for_each(|l| {
            if let Some(o) = l.coming.and_then(|id| s.finish(id)) {
                l.coming = None;
                l.bytes.truncate(if o.error == MPI_SUCCESS { o.bytes as usize } else { 0 });
            }
        });
        Ok(())
    });
    let (coming, here): (Vec<_>, Vec<_>) = letters.into_iter().partition(|l| l.coming.is_some());
    COMING.lock().unwrap_or_else(|e| e.into_inner()).extend(coming);
    for l in here {
        let numbers: Vec<u32> =
            l.bytes.chunks_exact(4).map(|b| u32::from_ne_bytes(b.try_into().expect("4 bytes"))).collect();
        context::returned(&numbers);
    }
    received
}

/// Moves what has arrived into the mailbox. So short a message comes whole; what comes later of one that breaks the rules goes to
/// memory that nobody reads.
fn collect(s: &mut State) -> Result<()> {
    while let Some(Letter { from, bytes, coming }) = receive(s, TAG, LEN)? {
        if let Some(id) = coming {
            bytes.leak();
            s.detach(id);
            continue;
        }
        let Some((key, what)) = bytes.split_first_chunk::<16>() else { continue };
        let Ok(what) = what.try_into().map(u64::from_ne_bytes) else { continue };
        let key = Key(u128::from_ne_bytes(*key));
        MAIL.lock().unwrap_or_else(|e| e.into_inner()).entry((key, from)).or_default().push_back(what);
        s.stir();
    }
    Ok(())
}

fn take(key: Key, from: u32) -> Option<u64> {
    let mut mail = MAIL.lock().unwrap_or_else(|e| e.into_inner());
    let queue = mail.get_mut(&(key, from))?;
    let what = queue.pop_front();
    if queue.is_empty() {
        mail.remove(&(key, from));
    }
    what
}

/// Nothing comes from a process that was aborted.
fn fetch(from: u32, key: Key) -> Result<u64> {
    let e = world::engine()?;
    let (ctx, it) = (context::meeting(), Ranks::new(Box::new([from])));
    let all = Pattern { ctx, source: from as i32, tag: TAG };
    e.wait(ctx.lane(), |s| match collect(s) {
        Err(why) => Some(Err(why)),
        Ok(()) => take(key, from).map(Ok).or_else(|| s.gone(all, &it).map(Err)),
    })?
}

/// A new context, the same at all members of `group`, this process among them. Its leader may release it.
pub(crate) fn agree(group: &Group, purpose: Purpose, stringtag: &[u8]) -> Result<Context> {
    let key = Key::new(purpose, stringtag, group.procs());
    context::spread(group, |from| fetch(from, key), |to, what| post(to, key, what))
}

/// Two processes tell each other a context.
pub(crate) fn swap(peer: u32, key: Key, mine: Given) -> Result<Given> {
    post(peer, key, mine.0)?;
    fetch(peer, key).map(Given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_in_every_part() {
        let k = |p, t: &str, g: &[u32]| Key::new(p, t.as_bytes(), g.iter().copied());
        let one = k(Purpose::Comm, "a", &[0, 1]);
        assert_eq!(one, k(Purpose::Comm, "a", &[0, 1]));
        for other in [
            k(Purpose::Side, "a", &[0, 1]),
            k(Purpose::Comm, "b", &[0, 1]),
            k(Purpose::Comm, "a", &[1, 0]),
            k(Purpose::Comm, "a", &[0]),
            k(Purpose::Comm, "a\0\0\0\0", &[1]),
            k(Purpose::Comm, "", &[0, 1]),
        ] {
            assert_ne!(one, other);
        }
    }

    #[test]
    fn mail_keeps_its_order() {
        let key = Key::new(Purpose::Leaders, b"order", [0].into_iter());
        for what in [5, 6] {
            MAIL.lock().unwrap().entry((key, 3)).or_default().push_back(what);
        }
        assert_eq!((take(key, 2), take(key, 3), take(key, 3), take(key, 3)), (None, Some(5), Some(6), None));
        assert!(!MAIL.lock().unwrap().contains_key(&(key, 3)));
    }
}
