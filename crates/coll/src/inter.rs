//! Collectives on intercommunicators (MPI-5.0 6.2.3 and the paragraphs of each operation): two groups that share no process.
//!
//! What one group has to do among itself (combine, gather, pass on) are the steps of its ordinary collectives; what crosses goes between the
//! two first ranks where one message carries the whole of a group, and between all pairs where each pair has data of its own.
//! Local and crossing messages share a context: the groups are disjoint and messages match by process.
//!
//! Each operation at one rank is a [`Task`], whose steps are taken at once ([`at_once`]) or written down ([`record`]) for the nonblocking and
//! persistent forms. Of a rooted operation there are three: that of the root, that of the other group, and nothing at all.
//!
//! Known gaps: simple algorithms by messages; the data of a whole group passes through one rank.
use crate::barrier;
use crate::buffer::{Data, bytes, nothing};
use crate::exchange::Exchange;
use crate::reduction::{Reduction, Vectors};
use crate::schedule::Recorder;
use crate::select::Barrier;
use crate::steps::{Room, Steps};
use crate::tags;
use crate::team::Team;
use oxmpi_base::consts::MPI_ERR_INTERN;
use oxmpi_base::{Error, Result, args::Buf};

/// The two groups, as one process sees them.
#[derive(Clone, Copy)]
pub struct Inter<'a> {
    pub local: &'a Team,
    /// Its rank is that of this process in the local group, its ranks are those of the remote one.
    pub remote: &'a Team,
}

/// Whether the calling rank of a rooted operation has data of its own, and with whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The root: it deals with all of the other group.
    Root,
    /// A rank of the other group: it deals with this rank, the root.
    Of(usize),
}

/// What a rank does in an operation.
pub enum Task<'a> {
    /// A rank of the root's group that is not the root.
    Nothing,
    /// No rank leaves before all of the other group (and, here, all of its own) have entered.
    Barrier,
    Bcast(Data<'a>, Role),
    /// The root of a gather: block `r` comes from rank `r` of the other group.
    FromAll(Vec<Data<'a>>),
    /// Another group's rank in a gather.
    ToRoot(Data<'a>, usize),
    /// The root of a scatter.
    ToAll(Vec<Data<'a>>),
    FromRoot(Data<'a>, usize),
    /// The own block, and block 0 of those of the other group, which are gathered there, sent over and passed on.
    Allgather(Data<'a>, Data<'a>),
    /// Data of its own for each pair: what goes to each rank of the other group, what comes from there. Empty blocks travel too.
    Pairs(Vec<Data<'a>>, Vec<Data<'a>>),
    /// The other group's vectors are combined in rank order there, and its first rank sends the result: input, output.
    Reduce(Data<'a>, Data<'a>, Role),
    Allreduce(Data<'a>, Data<'a>),
    /// What the other group combined is cut into the blocks of this one: the input, the own block, the counts of the local ranks, whose
    /// sum is equal in both groups.
    ReduceScatter(Data<'a>, Data<'a>, Vec<usize>),
}

/// Steps among the own group and to the other one.
struct Groups<'a, X> {
    local: &'a X,
    remote: &'a X,
}

impl<X: Steps> Groups<'_, X> {
    fn leads(&self) -> bool {
        self.local.rank() == 0
    }
    /// The first ranks of both groups exchange.
    fn swap(&self, mine: Data, theirs: Data) {
        if self.leads() {
            self.remote.sendrecv(mine, 0, theirs, 0);
        }
    }
    /// Room for elements at the first rank alone.
    fn room(&self, like: Data, count: usize) -> Result<X::Room> {
        self.local.typed(like, if self.leads() { count } else { 0 })
    }
    fn bcast(&self, d: Data) -> Result<()> {
        crate::bcast::steps(self.local, d, 0)
    }
    /// The local group's vectors, combined at its first rank.
    fn combine(&self, input: Data, sum: Data, op: &Reduction) -> Result<()> {
        let out = self.leads().then_some(sum);
        crate::reduce::steps(self.local, Vectors { input, out, in_place: false }, op, 0)
    }
    fn wait_all(&self, all: impl Iterator<Item = X::Req>) {
        self.remote.wait_all(&mut all.collect());
    }

    fn take(&self, task: &Task, op: Option<&Reduction>) -> Result<()> {
        let x = self.remote;
        let op = || op.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a reduction without an operation"));
        match task {
            Task::Nothing => {}
            Task::Barrier => {
                barrier::with(self.local, Barrier::Dissemination);
                self.swap(nothing(), nothing());
                barrier::with(self.local, Barrier::Dissemination);
            }
            Task::Bcast(d, Role::Root) => x.send(*d, 0),
            Task::Bcast(d, Role::Of(root)) => {
                if self.leads() {
                    x.recv(*d, *root);
                }
                self.bcast(*d)?;
            }
            Task::FromAll(blocks) => self.wait_all((0..x.size()).filter_map(|r| x.irecv(blocks[r], r))),
            Task::ToAll(blocks) => self.wait_all((0..x.size()).filter_map(|r| x.isend(blocks[r], r))),
            Task::ToRoot(d, root) => x.send(*d, *root),
            Task::FromRoot(d, root) => {
                x.recv(*d, *root);
            }
            Task::Allgather(own, first) => {
                let n = self.local.size();
                let mut temp = self.room(*own, own.count * n)?;
                let block = Data { buf: temp.buf(), ..*own };
                crate::gather::steps(self.local, Some(*own), self.leads().then_some(block), 0)?;
                let theirs = first.blocks(0, x.size());
                self.swap(block.blocks(0, n), theirs);
                self.bcast(theirs)?;
            }
            Task::Pairs(to, from) => {
                let (me, n) = (x.rank(), x.size());
                let receives = (0..n).filter_map(|r| x.irecv(from[r], r));
                // Beginning at different ranks, so that nobody is everybody's first.
                let sends = (0..n).map(|i| (me + i) % n).filter_map(|r| x.isend(to[r], r));
                self.wait_all(receives.chain(sends));
            }
            Task::Reduce(_, out, Role::Root) => {
                x.recv(*out, 0);
            }
            Task::Reduce(input, _, Role::Of(root)) => {
                let mut temp = self.room(*input, input.count)?;
                let sum = Data { buf: temp.buf(), ..*input };
                self.combine(*input, sum, op()?)?;
                if self.leads() {
                    x.send(sum, *root);
                }
            }
            Task::Allreduce(input, out) => {
                let mut temp = self.room(*input, input.count)?;
                let sum = Data { buf: temp.buf(), ..*input };
                self.combine(*input, sum, op()?)?;
                self.swap(sum, *out);
                self.bcast(*out)?;
            }
            Task::ReduceScatter(input, own, counts) => {
                let (mut ours, mut theirs) = (self.room(*input, input.count)?, self.room(*input, input.count)?);
                let (sum, result) = (Data { buf: ours.buf(), ..*input }, Data { buf: theirs.buf(), ..*input });
                self.combine(*input, sum, op()?)?;
                self.swap(sum, result);
                if !self.leads() {
                    self.local.recv(*own, 0);
                } else {
                    let mut at = own.count;
                    self.local.copy(result.part(0..at), *own);
                    for (r, n) in counts.iter().enumerate().skip(1) {
                        self.local.send(result.part(at..at + n), r);
                        at += n;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Takes the steps of a task; `op` where it combines.
pub fn at_once(c: &Inter, task: &Task, op: Option<&Reduction>) -> Result<()> {
    let (local, remote) = (Exchange::new(c.local, tags::INTER), Exchange::new(c.remote, tags::INTER));
    Groups { local: &local, remote: &remote }.take(task, op)?;
    local.finish().and(remote.finish())
}

/// Writes them down.
pub fn record(local: &Recorder, remote: &Recorder, task: &Task, op: Option<&Reduction>) -> Result<()> {
    Groups { local, remote }.take(task, op)
}

/// Bytes of every rank of both groups, as many of each rank: those of the local group and those of the remote one.
pub fn tell_all(c: &Inter, mine: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let each = mine.len();
    let (mut local, mut remote) = (vec![0u8; each * c.local.size()], vec![0u8; each * c.remote.size()]);
    let byte = crate::buffer::byte();
    let at = |v: &mut Vec<u8>| Buf(v.as_mut_ptr().cast());
    let own = Buf(mine.as_ptr().cast_mut().cast());
    let told = crate::allgather(c.local, own, each, byte, at(&mut local), each, byte);
    let there = tell(c, bytes(at(&mut local), local.len()), bytes(at(&mut remote), remote.len()));
    told.and(there)?;
    Ok((local, remote))
}

/// Bytes of the first rank of each group, to all of the other; the lengths may differ, but have to be known.
pub fn tell_other(c: &Inter, mine: &[u8], theirs: &mut [u8]) -> Result<()> {
    let mine = bytes(Buf(mine.as_ptr().cast_mut().cast()), mine.len());
    tell(c, mine, bytes(Buf(theirs.as_mut_ptr().cast()), theirs.len()))
}

fn tell(c: &Inter, mine: Data, theirs: Data) -> Result<()> {
    let (local, remote) = (Exchange::new(c.local, tags::INTER), Exchange::new(c.remote, tags::INTER));
    let both = Groups { local: &local, remote: &remote };
    both.swap(mine, theirs);
    both.bcast(theirs)?;
    local.finish().and(remote.finish())
}
