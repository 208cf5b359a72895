//! Single copy: moving bytes between our memory and a peer's without a buffer between them.
//!
//! One contract for all mechanisms: the owner describes memory as [`Exposed`], the other side asks which mechanisms are [`Single::open`]
//! for it and calls [`Single::copy`]. A mechanism that is refused is closed for that peer alone, with the reason; EFAULT closes nothing, as
//! it speaks of one buffer.
//!
//! This module is one of the crate's homes of `unsafe`. What a peer says (address, place) is only ever given to the kernel, or checked against
//! the peer's area and mapped.
use crate::attach::{Exposure, Knem, PeerMemory, Xpmem};
use crate::choice::Mechanism;
use crate::heap::{Heap, Place, Windows};
use crate::layout::Identity;
use oxmpi_sys::cma::{EFAULT, errno_name, transfer};
pub use oxmpi_sys::cma::{Run, Way};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What peers read of us to find out whether cross memory attach works.
static PROBE: AtomicU64 = AtomicU64::new(0);

oxmpi_base::control! {
    /// The mechanisms of single copy that may be used, separated by commas, the preferred first: heap (memory of MPI_Alloc_mem, which peers map),
    /// xpmem, cma (process_vm_readv), knem. "none" leaves the copy through shared memory, which always works.
    pub static SINGLE_COPY: Text = Text::new("shm_single_copy", "heap,xpmem,cma,knem");
}
oxmpi_base::control! {
    /// Shorter messages are not moved by single copy.
    pub static SINGLE_COPY_MIN: Size = Size::new("shm_single_copy_min", 4 << 10, 1..=1 << 40).live();
}

oxmpi_base::event! {
    /// A mechanism of single copy turned out not to work with a peer: its rank on this node, and the mechanism (0 heap, 1 xpmem, 2 cma,
    /// 3 knem). The performance variable shm_peers says why.
    pub(crate) static MECHANISM_CLOSED: Event =
        Event::new("mechanism_closed", &[("peer", Kind::Int), ("mechanism", Kind::Int)]);
}

/// The mechanisms that the user allows.
pub fn allowed() -> oxmpi_base::Result<Vec<Mechanism>> {
    let text = SINGLE_COPY.get();
    if text.trim() == "none" {
        return Ok(Vec::new());
    }
    let one = |name: &str| {
        let m = Mechanism::ALL.into_iter().find(|m| m.name() == name.trim());
        m.ok_or_else(|| {
            oxmpi_base::Error::arg(format!(
                "shm_single_copy is \"{text}\": {name:?} is no mechanism; there are {} and none",
                Mechanism::NAMES.join(", ")
            ))
        })
    };
    text.split(',').map(one).collect()
}

/// Memory of one process, as it tells another about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Exposed {
    /// Address in the owner's memory; 0 where the memory is not one run.
    pub address: u64,
    /// `address` is a cookie of KNEM instead.
    pub by_cookie: bool,
    /// One more than the offset in the owner's area of the heap; 0 where it does not lie there.
    pub place: u64,
}

/// One copy to make.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    pub mechanism: Mechanism,
    pub way: Way,
    pub there: Exposed,
    /// From the beginning of `there`.
    pub offset: u64,
}

/// What is known of one mechanism with one peer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    Unknown,
    Works,
    Refused(String),
}

/// Publishes what peers need for their probe.
pub(crate) fn publish(id: &Identity, xpmem: u64) {
    let token = oxmpi_sys::clock::nanos() ^ ((oxmpi_sys::pid() as u64) << 40) | 1;
    let token = PROBE.compare_exchange(0, token, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(token);
    id.probe_value.store(token, Ordering::Relaxed);
    id.probe_address.store(PROBE.as_ptr() as u64, Ordering::Relaxed);
    id.xpmem.store(xpmem, Ordering::Relaxed);
    id.pid.store(oxmpi_sys::pid() as u32, Ordering::Release);
}

/// This process's view of all peers.
pub struct Single {
    heap: Arc<Heap>,
    windows: Windows,
    /// Or why not.
    /// Shared by the lanes: closing one descriptor of the device would close all.
    xpmem: Result<Arc<Xpmem>, String>,
    /// What is attached of each peer.
    attached: Vec<Option<PeerMemory>>,
    /// Opened when the first peer is looked at.
    knem: Option<Result<Knem, String>>,
    /// What may be used at all, in order of preference.
    allowed: Vec<Mechanism>,
    peers: Vec<[Standing; Mechanism::ALL.len()]>,
    /// The mechanisms that work with a peer, a bit each; [`UNASKED`] until they have been probed.
    works: Vec<u8>,
}

const UNASKED: u8 = 1 << 7;

/// The mechanisms that need no more than an address.
const ADDRESSED: u8 = 1 << Mechanism::Cma as u8 | 1 << Mechanism::Xpmem as u8;

impl Single {
    pub fn new(heap: Arc<Heap>, xpmem: Result<Arc<Xpmem>, String>, ranks: usize, allowed: Vec<Mechanism>) -> Single {
        let xpmem_standing = xpmem.as_ref().err().map_or(Standing::Unknown, |why| Standing::Refused(why.clone()));
        let unknown = [Standing::Unknown, xpmem_standing, Standing::Unknown, Standing::Unknown];
        Single {
            heap,
            windows: Windows::default(),
            xpmem,
            attached: (0..ranks).map(|_| None).collect(),
            knem: None,
            allowed,
            peers: vec![unknown; ranks],
            works: vec![UNASKED; ranks],
        }
    }

    /// The same for another lane, which finds out for itself.
    pub fn in_lane(&self) -> Single {
        Single::new(self.heap.clone(), self.xpmem.clone(), self.peers.len(), self.allowed.clone())
    }

    /// How a peer reaches `len` bytes at `at`.
    pub fn expose(&self, at: *const u8, len: usize) -> Exposed {
        let place = self.heap.place_of(at.addr(), len).map_or(0, |p| p.offset + 1);
        Exposed { address: at.addr() as u64, by_cookie: false, place }
    }

    /// What may be used, in the order in which it is preferred.
    pub fn allowed(&self) -> &[Mechanism] {
        &self.allowed
    }

    /// The mechanisms (a bit each) that reach `there` in `peer`. What has not been tried with this peer is probed.
    #[inline]
    pub fn open(&mut self, peer: usize, id: &Identity, there: &Exposed) -> u8 {
        if self.works[peer] == UNASKED {
            self.ask(peer, id);
        }
        let heap = (there.place != 0) as u8;
        let address = match there {
            Exposed { address: 0, .. } => 0,
            Exposed { by_cookie: true, .. } => 1 << Mechanism::Knem as u8,
            _ => ADDRESSED,
        };
        self.works[peer] & (heap << Mechanism::Heap as u8 | address)
    }

    /// A region of KNEM for memory that is to be announced to `peer`, where nothing else reaches it. The receiver pulls: see the known gap
    /// in `sys::knem`.
    pub fn lend(&mut self, peer: usize, id: &Identity, at: *mut u8, len: usize) -> Option<Exposure> {
        if self.works[peer] == UNASKED {
            self.ask(peer, id);
        }
        let knem = match &self.knem {
            Some(Ok(knem))
                if self.works[peer] & (ADDRESSED | 1 << Mechanism::Knem as u8) == 1 << Mechanism::Knem as u8 =>
            {
                knem
            }
            _ => return None,
        };
        match knem.offer(&[Run::new(at, len)]) {
            // The announcement has no other word for "no cookie".
            Ok(e) if e.cookie() != 0 => Some(e),
            Ok(_) => None,
            Err(e) => {
                self.close(peer, Mechanism::Knem, &e);
                None
            }
        }
    }

    #[cold]
    fn ask(&mut self, peer: usize, id: &Identity) {
        // A sender can be here before its peer has joined: that says nothing about the peer.
        if id.pid.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut works = 0;
        for k in 0..self.allowed.len() {
            let m = self.allowed[k];
            works |= ((*self.standing(peer, id, m) == Standing::Works) as u8) << m as u8;
        }
        self.works[peer] = works;
    }

    fn standing(&mut self, peer: usize, id: &Identity, m: Mechanism) -> &Standing {
        if self.peers[peer][m as usize] == Standing::Unknown {
            let s = match m {
                Mechanism::Cma => probe(id),
                // The segment is mapped, so its other parts can be; a failure shows at the first window.
                Mechanism::Heap => Standing::Works,
                Mechanism::Xpmem => self.attach(peer, id),
                // A cookie is the peer's word that it can; whether we may is seen when it is used.
                Mechanism::Knem => match self.knem.get_or_insert_with(Knem::open) {
                    Ok(_) => Standing::Works,
                    Err(why) => Standing::Refused(why.clone()),
                },
            };
            self.peers[peer][m as usize] = s;
            // What this system does not have is in the table; it is nothing about this peer.
            if !self.is_absent(m) {
                self.tell(peer, m);
            }
        }
        &self.peers[peer][m as usize]
    }

    /// As [`probe`], by XPMEM.
    fn attach(&mut self, peer: usize, id: &Identity) -> Standing {
        let (segment, want) = (id.xpmem.load(Ordering::Relaxed), id.probe_value.load(Ordering::Relaxed));
        let memory = match &self.xpmem {
            _ if segment == 0 => return Standing::Refused("the peer could not open /dev/xpmem".into()),
            Err(why) => return Standing::Refused(why.clone()),
            Ok(xpmem) => xpmem.peer(segment),
        };
        let mut got = 0u64;
        let run = [Run::new((&raw mut got).cast(), 8)];
        let probed = memory.and_then(|mut memory| {
            // SAFETY: `got` is eight writable bytes.
            unsafe { memory.copy(Way::Pull, id.probe_address.load(Ordering::Relaxed), &run) }?;
            Ok(memory)
        });
        match probed {
            Ok(memory) if got == want => {
                self.attached[peer] = Some(memory);
                Standing::Works
            }
            Ok(_) => Standing::Refused("another process answers to its XPMEM segment".into()),
            Err(e) => Standing::Refused(reason(&e)),
        }
    }

    /// Copies between the runs of `local` and the piece of the peer's memory; says whether it was done. If not, nothing is known about
    /// the contents of the destination, and unless the memory itself is to blame the mechanism is closed for this peer.
    ///
    /// # Safety
    /// The runs are valid for writes (pull) or reads (push).
    #[must_use]
    pub unsafe fn copy(&mut self, peer: usize, id: &Identity, piece: &Piece, local: &mut [Run]) -> bool {
        let Piece { mechanism, way, there, offset } = *piece;
        let done = match mechanism {
            Mechanism::Cma => {
                let pid = id.pid.load(Ordering::Acquire) as i32;
                // SAFETY: the caller's promise.
                unsafe { transfer(way, pid, there.address.wrapping_add(offset), local) }
            }
            Mechanism::Heap => {
                let place = Place { rank: peer as u32, offset: there.place.saturating_sub(1).saturating_add(offset) };
                // SAFETY: the caller's promise.
                unsafe { mapped(&mut self.windows, &self.heap, way, place, local) }
            }
            Mechanism::Xpmem => match &mut self.attached[peer] {
                // SAFETY: the caller's promise.
                Some(memory) => unsafe { memory.copy(way, there.address.wrapping_add(offset), local) },
                None => return false,
            },
            Mechanism::Knem => match &self.knem {
                // SAFETY: the caller's promise.
                Some(Ok(knem)) => unsafe { knem.copy(way, there.address, offset, local) },
                _ => return false,
            },
        };
        if let Err(e) = &done
            && e.raw_os_error() != Some(EFAULT)
        {
            self.close(peer, mechanism, e);
        }
        done.is_ok()
    }

    #[cold]
    fn close(&mut self, peer: usize, mechanism: Mechanism, e: &std::io::Error) {
        if matches!(self.peers[peer][mechanism as usize], Standing::Refused(_)) {
            return; // another transfer that was under way has told it
        }
        self.peers[peer][mechanism as usize] = Standing::Refused(reason(e));
        self.works[peer] &= !(1 << mechanism as u8);
        self.tell(peer, mechanism);
    }

    /// Whether the kernel module is not there.
    fn is_absent(&self, m: Mechanism) -> bool {
        match m {
            Mechanism::Xpmem => self.xpmem.is_err(),
            Mechanism::Knem => matches!(self.knem, Some(Err(_))),
            Mechanism::Heap | Mechanism::Cma => false,
        }
    }

    /// One line, where it was asked for, when a mechanism turns out not to work with a peer.
    fn tell(&self, peer: usize, m: Mechanism) {
        if MECHANISM_CLOSED.wanted() && matches!(self.peers[peer][m as usize], Standing::Refused(_)) {
            MECHANISM_CLOSED.happened([peer as u64, m as u64, 0, 0]);
        }
        if let Standing::Refused(why) = &self.peers[peer][m as usize]
            && oxmpi_base::inform::wanted(oxmpi_base::inform::Topic::Shm)
        {
            eprintln!("oxmpi: single copy by {} with rank {peer} is not used: {why}", m.name());
        }
    }

    /// For people: what each mechanism's standing with `peer` is.
    pub fn describe(&self, peer: usize) -> String {
        let one = |m: &Mechanism| match &self.peers[peer][*m as usize] {
            _ if !self.allowed.contains(m) => format!("{} not allowed", m.name()),
            Standing::Unknown => format!("{} not tried", m.name()),
            Standing::Works => format!("{} works", m.name()),
            Standing::Refused(why) => format!("{} refused ({why})", m.name()),
        };
        Mechanism::ALL.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

fn reason(e: &std::io::Error) -> String {
    match e.raw_os_error() {
        Some(n) => format!("{}: {e}", errno_name(n)),
        None => e.to_string(),
    }
}

/// A real transfer of a value that only the right process has.
fn probe(id: &Identity) -> Standing {
    let pid = id.pid.load(Ordering::Acquire) as i32;
    let (at, want) = (id.probe_address.load(Ordering::Relaxed), id.probe_value.load(Ordering::Relaxed));
    let mut got = 0u64;
    let mut run = [Run::new((&raw mut got).cast(), 8)];
    // SAFETY: `got` is eight writable bytes.
    match unsafe { transfer(Way::Pull, pid, at, &mut run) } {
        Ok(()) if got == want => Standing::Works,
        Ok(()) => Standing::Refused("another process answers to its pid; it is in another pid namespace".into()),
        Err(e) => Standing::Refused(reason(&e)),
    }
}

/// # Safety
/// as [`Single::copy`].
unsafe fn mapped(windows: &mut Windows, heap: &Heap, way: Way, place: Place, local: &mut [Run]) -> std::io::Result<()> {
    let mut at = place.offset;
    for run in local {
        let mut ours = run.at();
        windows.pieces(heap, Place { offset: at, ..place }, run.len(), |theirs, n| {
            // SAFETY: `theirs` is mapped for `n` bytes, the segment cannot shrink; `ours` lies in the caller's runs. The two can be
            // the same memory where a program communicates with itself, so `copy` and not its nonoverlapping sister.
            unsafe {
                match way {
                    Way::Pull => std::ptr::copy(theirs, ours, n),
                    Way::Push => std::ptr::copy(ours, theirs, n),
                }
            }
            ours = ours.wrapping_add(n);
        })?;
        at = at.saturating_add(run.len() as u64);
    }
    Ok(())
}
