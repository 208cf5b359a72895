//! Handle tables: from the integer a C program holds to the object it names.
//!
//! # Invariants
//! * A lookup takes no lock and allocates nothing: chunk pointer, slot word, compare, object pointer.
//! * A value that is stale, foreign or of another kind is recognised and refused with a sentence; it is
//!   never dereferenced. Handle values are positive `i32`s and never below 4096 (see `base::handle`).
//! * An object stays alive while a [`Ref`] to it exists, also when another thread frees the handle
//!   meanwhile: each slot counts its pins, and the last one out drops what was removed.
//! * Objects bound to predefined handles (`MPI_COMM_WORLD`) need no pins: the table never lets go of
//!   them, [`Table::unbind`] only makes the handle invalid.
//! * Slots are never given back to the allocator, so a pointer to a slot is good for ever; a freed slot
//!   waits until [`QUARANTINE`] others were freed before its index serves again, under a new generation.
//!
//! # Threads
//! Pins are read-modify-write operations on the slot's word while [`set_concurrent`]`(true)` holds (the initial state);
//! otherwise they are plain stores to a count of their own: the program promised with its thread level that no two threads are inside
//! MPI at once. A session can end that promise while a thread is inside, with plain pins: they stay plain until they go. Who removes
//! an object looks at both counts. So that neither misses the other, who pins plainly looks at the handle again afterwards, and who
//! removes has a membarrier between making the handle invalid and reading the plain count, once the two have met in
//! this process. (What is left is that a slot whose plain count is changed in the same instant is never used again.) Kinds whose procedures are thread-safe at every level (MPI-5.0 11.4.1: info, error
//! handlers, sessions; here also groups and files) always use the former.
//!
//! MPI-5.0 2.5.1 (opaque objects) and chapter 20 (ABI).
//!
//! Known gaps: `insert` and the last step of `remove` take a mutex for the list of free slots.

use oxmpi_base::consts::*;
use oxmpi_base::handle::{Handle, Kind};
use oxmpi_base::{Error, ErrorClass, Result};
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering::*, compiler_fence};
use std::sync::{Arc, Mutex};

const DYNAMIC: usize = 1 << 30;
const KIND_SHIFT: u32 = 26;
/// Slots of the first chunk; every further chunk doubles.
const FIRST: usize = 64;
const CHUNKS: usize = 17;
/// How many slots are free before one is used again.
pub const QUARANTINE: usize = 32;
/// In the low half of a slot word, and in its count of plain pins: removed, waiting for the last pin to go.
const DYING: u64 = 1 << 31;
const PINS: u64 = DYING - 1;
const PLAIN_DYING: u32 = DYING as u32;

static CONCURRENT: AtomicBool = AtomicBool::new(true);
/// Threads with plain pins and threads with the others may have met.
static MIXED: AtomicBool = AtomicBool::new(false);

/// Whether several threads may be inside MPI at once (see `world`, or MPI not yet initialised).
pub fn set_concurrent(yes: bool) {
    CONCURRENT.store(yes, Relaxed);
}

/// As `set_concurrent(true)`, while another thread may be inside.
pub fn become_concurrent() {
    if !CONCURRENT.swap(true, SeqCst) {
        MIXED.store(true, SeqCst);
    }
}

/// How the 26 low bits of a handle are shared between index and generation.
const fn index_bits(kind: Kind) -> u32 {
    match kind {
        Kind::Request => 22,
        _ => 20,
    }
}

/// First constant of a kind and how many values the standard reserves from there on.
const fn constants(kind: Kind) -> (usize, usize) {
    match kind {
        Kind::Comm => (0x100, 8),
        Kind::Group => (0x108, 8),
        Kind::Win => (0x110, 8),
        Kind::File => (0x118, 8),
        Kind::Session => (0x120, 8),
        Kind::Message => (0x128, 8),
        Kind::Info => (0x130, 16),
        Kind::Errhandler => (0x140, 16),
        Kind::Request => (0x180, 16),
        Kind::Datatype => (0x200, 256),
        Kind::Op => (0x20, 32),
    }
}

const ALL_KINDS: [Kind; 11] = [
    Kind::Comm,
    Kind::Group,
    Kind::Datatype,
    Kind::Op,
    Kind::Request,
    Kind::Errhandler,
    Kind::Info,
    Kind::Message,
    Kind::Win,
    Kind::File,
    Kind::Session,
];

/// The kind of object a value would name: of a constant or of a dynamic handle.
pub fn kind_of(raw: usize) -> Option<Kind> {
    ALL_KINDS.into_iter().find(|&k| {
        let (base, n) = constants(k);
        (base..base + n).contains(&raw) || raw >> KIND_SHIFT == DYNAMIC >> KIND_SHIFT | k as usize
    })
}

/// The error class for a bad handle of this kind. Messages have no class of their own.
pub const fn class_of(kind: Kind) -> ErrorClass {
    match kind {
        Kind::Comm => MPI_ERR_COMM,
        Kind::Group => MPI_ERR_GROUP,
        Kind::Datatype => MPI_ERR_TYPE,
        Kind::Op => MPI_ERR_OP,
        Kind::Request | Kind::Message => MPI_ERR_REQUEST,
        Kind::Errhandler => MPI_ERR_ERRHANDLER,
        Kind::Info => MPI_ERR_INFO,
        Kind::Win => MPI_ERR_WIN,
        Kind::File => MPI_ERR_FILE,
        Kind::Session => MPI_ERR_SESSION,
    }
}

/// A cache line each: threads that use different communicators pin them at the same time.
#[repr(align(64))]
struct Slot<T> {
    /// High half: the handle value that is valid now, or 0. Low half: DYING and the number of pins.
    word: AtomicU64,
    /// From `Arc::into_raw`; the slot owns that reference from `insert` until reclaimed.
    object: AtomicPtr<T>,
    index: u32,
    /// Generation of the next handle; touched only by the owner of a free slot.
    generation: AtomicU32,
    /// Pins of the one thread that is inside below MPI_THREAD_MULTIPLE, and DYING.
    plain: AtomicU32,
}

struct Free {
    indices: VecDeque<u32>,
    /// Slots below this one exist.
    used: usize,
    live: usize,
}

/// The objects of one kind.
pub struct Table<H, T> {
    chunks: [AtomicPtr<Slot<T>>; CHUNKS],
    bound: [AtomicPtr<T>; 256],
    free: Mutex<Free>,
    kind: PhantomData<fn(H) -> Arc<T>>,
}

/// A borrowed object: alive for as long as this exists.
pub struct Ref<'t, H: Handle, T> {
    object: &'t T,
    pin: Option<Pin<'t, H, T>>,
}

struct Pin<'t, H: Handle, T> {
    table: &'t Table<H, T>,
    slot: &'t Slot<T>,
    atomic: bool,
}

impl<H: Handle, T> Deref for Ref<'_, H, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.object
    }
}

impl<H: Handle, T> Ref<'_, H, T> {
    /// A counted reference that may outlive the handle.
    pub fn to_arc(&self) -> Arc<T> {
        // SAFETY: the pointer came from `Arc::into_raw`, and the pin (or the binding) keeps the slot's
        // own reference in place.
        unsafe {
            Arc::increment_strong_count(self.object as *const T);
            Arc::from_raw(self.object as *const T)
        }
    }
}

impl<H: Handle, T> Drop for Pin<'_, H, T> {
    #[inline]
    fn drop(&mut self) {
        let last = if self.atomic {
            self.slot.word.fetch_sub(1, Release) as u32 as u64 == DYING | 1
        } else {
            let left = self.slot.plain.load(Relaxed) - 1;
            self.slot.plain.store(left, Relaxed);
            left == PLAIN_DYING
        };
        if last {
            self.table.reclaim(self.slot);
        }
    }
}

impl<H: Handle, T> Default for Table<H, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<H: Handle, T> Table<H, T> {
    const INDEX_BITS: u32 = index_bits(H::KIND);
    const GENERATION_BITS: u32 = KIND_SHIFT - Self::INDEX_BITS;
    const TAG: usize = (DYNAMIC >> KIND_SHIFT) | H::KIND as usize;
    const CONSTANTS: (usize, usize) = constants(H::KIND);
    const ALWAYS_ATOMIC: bool =
        matches!(H::KIND, Kind::Info | Kind::Errhandler | Kind::Session | Kind::Group | Kind::File);

    pub const fn new() -> Self {
        Table {
            chunks: [const { AtomicPtr::new(null_mut()) }; CHUNKS],
            bound: [const { AtomicPtr::new(null_mut()) }; 256],
            free: Mutex::new(Free { indices: VecDeque::new(), used: 0, live: 0 }),
            kind: PhantomData,
        }
    }

    fn atomic() -> bool {
        Self::ALWAYS_ATOMIC || CONCURRENT.load(Relaxed)
    }

    /// The slot of an index, if its chunk exists.
    #[inline]
    fn slot(&self, index: usize) -> Option<&Slot<T>> {
        let biased = index + FIRST;
        let chunk = biased.ilog2() - FIRST.ilog2();
        let base = self.chunks.get(chunk as usize)?.load(Acquire);
        if base.is_null() {
            return None;
        }
        let offset = biased - (FIRST << chunk);
        // SAFETY: chunk `n` is an allocation of `FIRST << n` slots that lives as long as the table, and
        // `offset` is below that by the choice of `chunk`.
        Some(unsafe { &*base.add(offset) })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Free> {
        self.free.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Gives `object` a handle.
    pub fn insert(&self, object: Arc<T>) -> Result<H> {
        let slot = self.take_slot()?;
        let generation = slot.generation.load(Relaxed);
        slot.generation.store((generation + 1) & ((1 << Self::GENERATION_BITS) - 1), Relaxed);
        let raw = Self::TAG << KIND_SHIFT | (generation as usize) << Self::INDEX_BITS | slot.index as usize;
        slot.object.store(Arc::into_raw(object).cast_mut(), Relaxed);
        // The high half is 0; passing pins of stale lookups in the low half stay as they are.
        slot.word.fetch_or((raw as u64) << 32, Release);
        Ok(H::from_raw(raw))
    }

    fn take_slot(&self) -> Result<&Slot<T>> {
        let mut free = self.free();
        let capacity = 1usize << Self::INDEX_BITS;
        let index = if free.indices.len() > QUARANTINE || free.used == capacity {
            free.indices.pop_front().map(|i| i as usize)
        } else {
            None
        };
        let index = match index {
            Some(i) => i,
            None if free.used == capacity => {
                return Err(Error::new(
                    MPI_ERR_NO_MEM,
                    format!(
                        "there are {} live {} handles, as many as there can be; free some first",
                        free.live,
                        H::KIND.c_name()
                    ),
                ));
            }
            None => {
                let i = free.used;
                self.add_chunk_for(i);
                free.used += 1;
                i
            }
        };
        free.live += 1;
        drop(free);
        Ok(self.slot(index).expect("the chunk of a used index exists"))
    }

    /// Called with the free list locked.
    fn add_chunk_for(&self, index: usize) {
        let chunk = ((index + FIRST).ilog2() - FIRST.ilog2()) as usize;
        if !self.chunks[chunk].load(Relaxed).is_null() {
            return;
        }
        let len = FIRST << chunk;
        let slots: Box<[Slot<T>]> = (0..len)
            .map(|i| Slot {
                word: AtomicU64::new(0),
                object: AtomicPtr::new(null_mut()),
                index: (len - FIRST + i) as u32,
                generation: AtomicU32::new(0),
                plain: AtomicU32::new(0),
            })
            .collect();
        self.chunks[chunk].store(Box::into_raw(slots) as *mut Slot<T>, Release);
    }

    /// The object of `h`, or why there is none.
    #[inline]
    pub fn get(&self, h: H) -> Result<Ref<'_, H, T>> {
        match self.peek(h) {
            Some(r) => Ok(r),
            None => Err(self.refuse(h)),
        }
    }

    /// The object of `h`.
    #[inline]
    pub fn peek(&self, h: H) -> Option<Ref<'_, H, T>> {
        let raw = h.raw();
        let constant = raw.wrapping_sub(Self::CONSTANTS.0);
        if constant < Self::CONSTANTS.1 {
            let object = self.bound[constant].load(Acquire);
            // SAFETY: null, or bound: the table keeps that reference until it is itself dropped.
            return unsafe { object.as_ref() }.map(|object| Ref { object, pin: None });
        }
        if raw >> KIND_SHIFT != Self::TAG {
            return None;
        }
        let slot = self.slot(raw & ((1 << Self::INDEX_BITS) - 1))?;
        let atomic = Self::atomic();
        let word = if atomic {
            if slot.word.load(Acquire) >> 32 != raw as u64 {
                return None;
            }
            slot.word.fetch_add(1, Acquire)
        } else {
            slot.plain.store(slot.plain.load(Relaxed) + 1, Relaxed);
            compiler_fence(SeqCst);
            slot.word.load(Acquire)
        };
        let pin = Pin { table: self, slot, atomic };
        if word >> 32 != raw as u64 {
            return None;
        }
        // SAFETY: the word held this handle when the pin was added, so the slot's reference exists, and
        // no one reclaims it before the pin is dropped.
        Some(Ref { object: unsafe { &*slot.object.load(Relaxed) }, pin: Some(pin) })
    }

    /// A counted reference to the object of `h`.
    pub fn arc(&self, h: H) -> Result<Arc<T>> {
        self.get(h).map(|r| r.to_arc())
    }

    /// Calls `f` with the object of `h`.
    #[inline]
    pub fn with<R>(&self, h: H, f: impl FnOnce(&T) -> R) -> Result<R> {
        self.get(h).map(|r| f(&r))
    }

    /// Makes `h` invalid and returns its object. Constants cannot be removed.
    pub fn remove(&self, h: H) -> Result<Arc<T>> {
        let r = self.get(h)?;
        let Some(pin) = &r.pin else {
            return Err(Error::new(
                class_of(H::KIND),
                format!("{:#x} is a predefined {} and cannot be freed", h.raw(), H::KIND.c_name()),
            ));
        };
        let mut word = pin.slot.word.load(Relaxed);
        loop {
            if word >> 32 != h.raw() as u64 {
                return Err(self.refuse(h)); // another thread freed it between the two looks
            }
            match pin.slot.word.compare_exchange_weak(word, word & PINS | DYING, AcqRel, Relaxed) {
                Ok(_) => break,
                Err(now) => word = now,
            }
        }
        pin.slot.plain.fetch_or(PLAIN_DYING, SeqCst);
        if MIXED.load(Relaxed) {
            // Without it, what a plain pin has counted may not be seen yet. Where there is none, locks never came in later.
            let _ = oxmpi_sys::membarrier::own_threads();
        }
        Ok(r.to_arc()) // dropping `r` then gives the slot back
    }

    #[cold]
    fn reclaim(&self, slot: &Slot<T>) {
        // Passing pins of stale lookups can bring the count to zero more than once: one of them wins. Plain pins, if there are any, or
        // the other ones come here again.
        if slot.plain.load(Acquire) != PLAIN_DYING || slot.word.compare_exchange(DYING, 0, AcqRel, Relaxed).is_err() {
            return;
        }
        slot.plain.store(0, Relaxed);
        let object = slot.object.swap(null_mut(), Relaxed);
        let mut free = self.free();
        free.indices.push_back(slot.index);
        free.live -= 1;
        drop(free);
        // SAFETY: the reference `insert` stored; winning the exchange above made it ours alone.
        drop(unsafe { Arc::from_raw(object) });
    }

    /// Makes the predefined handle `h` name `object`. The table keeps a reference for ever.
    pub fn bind(&self, h: H, object: Arc<T>) {
        let constant = h.raw().wrapping_sub(Self::CONSTANTS.0);
        assert!(constant < Self::CONSTANTS.1, "{:#x} is not a predefined {}", h.raw(), H::KIND.c_name());
        // A binding that is replaced stays alive: another thread may be looking at it without a pin.
        self.bound[constant].store(Arc::into_raw(object).cast_mut(), Release);
    }

    /// Makes the predefined handle `h` invalid; its object (never dropped by the table) is returned.
    pub fn unbind(&self, h: H) -> Option<Arc<T>> {
        let constant = h.raw().wrapping_sub(Self::CONSTANTS.0);
        let object = self.bound.get(constant)?.swap(null_mut(), AcqRel);
        if object.is_null() {
            return None;
        }
        // SAFETY: bound objects came from `Arc::into_raw`; the table's own reference is left in place on
        // purpose, see `bind`.
        unsafe {
            Arc::increment_strong_count(object);
            Some(Arc::from_raw(object))
        }
    }

    /// How many handles are live, bound ones not counted.
    pub fn live(&self) -> usize {
        self.free().live
    }

    /// Calls `f` with every live dynamic handle; handles that come or go meanwhile may be missed.
    pub fn for_each(&self, mut f: impl FnMut(H, &T)) {
        let used = self.free().used;
        for i in 0..used {
            let Some(slot) = self.slot(i) else { continue };
            let h = H::from_raw((slot.word.load(Relaxed) >> 32) as usize);
            if let Some(r) = self.peek(h) {
                f(h, &r);
            }
        }
    }

    /// Why `h` names no object.
    #[cold]
    #[inline(never)]
    pub fn refuse(&self, h: H) -> Error {
        let raw = h.raw();
        let index = raw & ((1 << Self::INDEX_BITS) - 1);
        let existed = raw >> KIND_SHIFT == Self::TAG && index < self.free().used;
        refuse(H::KIND, raw, existed)
    }
}

impl<H, T> Drop for Table<H, T> {
    fn drop(&mut self) {
        for (n, chunk) in self.chunks.iter_mut().enumerate() {
            let base = *chunk.get_mut();
            if base.is_null() {
                continue;
            }
            // SAFETY: made by `add_chunk_for` with this length; no `Ref` borrows the table any more.
            let slots = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(base, FIRST << n)) };
            for slot in &slots {
                let object = slot.object.load(Relaxed);
                if !object.is_null() {
                    // SAFETY: the slot's own reference.
                    drop(unsafe { Arc::from_raw(object) });
                }
            }
        }
        for b in &mut self.bound {
            if !b.get_mut().is_null() {
                // SAFETY: the binding's own reference; nobody borrows the table any more.
                drop(unsafe { Arc::from_raw(*b.get_mut()) });
            }
        }
    }
}

/// One sentence about a value that is no live handle of the wanted kind.
#[cold]
pub fn refuse(want: Kind, raw: usize, existed: bool) -> Error {
    let name = want.c_name();
    let (null, _) = constants(want);
    let text = if raw == null {
        format!("the handle is {}_NULL; this procedure needs a live {name}", name.to_uppercase())
    } else if raw == 0 {
        format!("the {name} handle is a null pointer, which is no handle at all (the variable was never set?)")
    } else if existed {
        format!("{raw:#x} was an {name} handle that has been freed")
    } else {
        match kind_of(raw) {
            Some(k) if k != want => format!("{raw:#x} is an {} handle; this argument is an {name}", k.c_name()),
            Some(_) if raw < 4096 => {
                format!(
                    "{raw:#x} is a predefined {name} that is not usable now (before MPI_Init or after MPI_Finalize?)"
                )
            }
            _ => format!("{raw:#x} never was an {name} handle (uninitialised variable, or a handle of another MPI?)"),
        }
    };
    Error::new(class_of(want), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_base::handle;
    use std::sync::atomic::AtomicUsize;

    type Infos = Table<handle::Info, u64>;

    #[test]
    fn insert_get_remove() {
        let t = Infos::new();
        let h = t.insert(Arc::new(7)).unwrap();
        assert!(h.0 >= 4096 && h.0 <= i32::MAX as usize);
        assert_eq!(*t.get(h).unwrap(), 7);
        assert_eq!(*t.remove(h).unwrap(), 7);
        assert_eq!(t.live(), 0);
        let e = t.get(h).map(|r| *r).unwrap_err();
        assert_eq!(e.class, MPI_ERR_INFO);
        assert!(e.message.contains("freed"), "{e}");
        assert!(t.remove(h).is_err());
    }

    #[test]
    fn every_refusal_has_its_sentence() {
        let t = Infos::new();
        let say = |raw| t.get(handle::Info(raw)).map(|r| *r).unwrap_err().message.to_string();
        assert!(say(MPI_INFO_NULL.0).contains("MPI_INFO_NULL"));
        assert!(say(0).contains("null pointer"));
        assert!(say(MPI_COMM_WORLD.0).contains("MPI_Comm handle"));
        assert!(say(DYNAMIC | (Kind::Group as usize) << 26).contains("MPI_Group handle"));
        assert!(say(0x7fff_1234_5678).contains("never was"));
        assert!(say(DYNAMIC | (Kind::Info as usize) << 26 | 5).contains("never was"));
        assert!(say(MPI_INFO_ENV.0).contains("predefined"));
        assert!(say(usize::MAX).contains("never was"));
    }

    #[test]
    fn constants_bind_and_unbind() {
        let t = Infos::new();
        t.bind(MPI_INFO_ENV, Arc::new(3));
        assert_eq!(*t.arc(MPI_INFO_ENV).unwrap(), 3);
        assert!(t.remove(MPI_INFO_ENV).unwrap_err().message.contains("predefined"));
        assert_eq!(*t.unbind(MPI_INFO_ENV).unwrap(), 3);
        assert!(t.get(MPI_INFO_ENV).is_err());
        t.bind(MPI_INFO_ENV, Arc::new(4));
    }

    #[test]
    fn a_freed_value_is_not_seen_again_soon() {
        let t = Infos::new();
        let first = t.insert(Arc::new(0)).unwrap();
        t.remove(first).unwrap();
        for _ in 0..QUARANTINE * 63 {
            let h = t.insert(Arc::new(0)).unwrap();
            assert_ne!(h, first);
            t.remove(h).unwrap();
        }
        assert!(t.free().used <= QUARANTINE + 1);
    }

    #[test]
    fn grows_over_chunks_and_reuses() {
        let t = Infos::new();
        let hs: Vec<_> = (0..5000).map(|i| t.insert(Arc::new(i)).unwrap()).collect();
        for (i, h) in hs.iter().enumerate() {
            assert_eq!(*t.get(*h).unwrap(), i as u64);
        }
        let mut n = 0;
        t.for_each(|_, _| n += 1);
        assert_eq!(n, 5000);
        for h in &hs {
            t.remove(*h).unwrap();
        }
        let again = t.insert(Arc::new(1)).unwrap();
        assert!(!hs.contains(&again) && t.free().used == 5000);
    }

    #[test]
    fn removed_while_borrowed_lives_on() {
        struct D(Arc<AtomicUsize>);
        impl Drop for D {
            fn drop(&mut self) {
                self.0.fetch_add(1, Relaxed);
            }
        }
        let drops = Arc::new(AtomicUsize::new(0));
        let t: Table<handle::Comm, D> = Table::new();
        let h = t.insert(Arc::new(D(drops.clone()))).unwrap();
        let r = t.get(h).unwrap();
        drop(t.remove(h).unwrap());
        assert_eq!(drops.load(Relaxed), 0);
        assert!(t.get(h).is_err());
        assert_eq!(r.0.load(Relaxed), 0);
        drop(r);
        assert_eq!(drops.load(Relaxed), 1);
        assert_eq!(t.live(), 0);
    }

    #[test]
    fn readers_race_with_removal() {
        let rounds = if cfg!(miri) { 20 } else { 20_000 };
        let t: &'static Table<handle::Group, Vec<u64>> = Box::leak(Box::default());
        let shared = AtomicUsize::new(0);
        let stop = AtomicBool::new(false);
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    while !stop.load(Relaxed) {
                        let raw = shared.load(Acquire);
                        if let Some(r) = t.peek(handle::Group(raw)) {
                            assert_eq!(r[0], r[1]);
                            let a = r.to_arc();
                            drop(r);
                            assert_eq!(a[0], a[1]);
                        }
                    }
                });
            }
            for i in 0..rounds {
                let h = t.insert(Arc::new(vec![i, i])).unwrap();
                shared.store(h.0, Release);
                std::hint::spin_loop();
                assert_eq!(t.remove(h).unwrap()[0], i);
            }
            stop.store(true, Relaxed);
        });
        assert_eq!(t.live(), 0);
    }
}
