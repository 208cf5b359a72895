//! Model checking of every structure of this crate: `RUSTFLAGS="--cfg loom" cargo test -p oxmpi-ring --test loom --release`.
#![cfg(loom)]
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use loom::thread;
use oxmpi_ring::bulk::{Receiver, Sender};
use oxmpi_ring::doorbell::{Doorbell, Fence};
use oxmpi_ring::slots::{Mark, Slot};
use oxmpi_ring::spsc::{Consumer, INSIDE, Place, Producer};
use oxmpi_ring::sync::Line;

struct Memory {
    lines: Vec<Line>,
    head: AtomicU64,
}

fn memory(n: usize) -> Arc<Memory> {
    Arc::new(Memory { lines: (0..n).map(|_| Line::new()).collect(), head: AtomicU64::new(0) })
}

fn place(m: &Arc<Memory>, first: usize) -> Place {
    // SAFETY: both threads hold the Arc for as long as they use the place.
    unsafe { Place::new(m.lines.as_ptr(), first, m.lines.len(), &m.head) }
}

fn bounded(f: impl Fn() + Sync + Send + 'static) {
    let mut b = loom::model::Builder::new();
    b.preemption_bound = Some(3);
    b.check(f);
}

/// Messages in order, with lines handed back after every `batch` or when the ring is empty; loom's cells fail the test if a line is read
/// and written at once.
fn ring_delivers(first: usize, n: usize, messages: u8, batch: usize) {
    bounded(move || {
        let m = memory(n);
        let m2 = m.clone();
        let t = thread::spawn(move || {
            let mut p = Producer::new(place(&m2, first));
            for i in 0..messages {
                // SAFETY: `to` is valid for INSIDE bytes.
                while !p.push(1, i as u16, 7, |to| unsafe { to.write_bytes(0xa0 + i, INSIDE) }) {
                    thread::yield_now();
                }
            }
        });
        let mut c = Consumer::new(place(&m, first));
        for i in 0..messages {
            let f = loop {
                match c.front().unwrap() {
                    Some(f) => break f,
                    None => {
                        c.hand_back();
                        thread::yield_now();
                    }
                }
            };
            assert_eq!((f.aux(), f.len()), (i as u16, 7));
            assert_eq!(c.payload(), [0xa0 + i; INSIDE]);
            c.pop(f);
            if c.owed() >= batch {
                c.hand_back();
            }
        }
        assert!(c.front().unwrap().is_none());
        t.join().unwrap();
    });
}

/// Three laps, so that the marks come round.
#[test]
fn ring_marks_tell_laps_apart() {
    ring_delivers(1, 1, 3, 1);
}

#[test]
fn ring_lines_handed_back_late() {
    ring_delivers(2, 2, 4, 2);
}

/// A ring of one line that was full goes on into the second and third.
#[test]
fn ring_grows() {
    ring_delivers(1, 3, 5, 1);
}

/// The wait for room: the producer says that it starves, then sleeps; the consumer hands back, looks, rings. If a wake-up were lost, the
/// producer would loop for ever.
#[test]
fn starved_producer_is_woken_by_a_late_hand_back() {
    bounded(|| {
        let m = memory(1);
        let bell = Arc::new(Doorbell::new());
        let starved = Arc::new(AtomicU32::new(0));
        let (m2, b2, s2) = (m.clone(), bell.clone(), starved.clone());
        let t = thread::spawn(move || {
            let mut c = Consumer::new(place(&m2, 1));
            for _ in 0..2 {
                let f = loop {
                    match c.front().unwrap() {
                        Some(f) => break f,
                        None => thread::yield_now(),
                    }
                };
                c.pop(f);
                // Nothing else to do: what is owed goes back.
                c.hand_back();
                fence(Ordering::SeqCst);
                if s2.load(Ordering::Relaxed) != 0 {
                    b2.ring(Fence::Both);
                }
            }
        });
        let mut p = Producer::new(place(&m, 1));
        assert!(p.push(1, 0, 0, |_| ()));
        if !p.push(1, 1, 0, |_| ()) {
            starved.store(1, Ordering::Relaxed);
            while !p.push(1, 1, 0, |_| ()) {
                bell.sleep(|| p.has_room());
            }
        }
        t.join().unwrap();
    });
}

/// Two pieces of the whole area: the second is written only after the first was handed back.
#[test]
fn bulk_is_never_reused_early() {
    bounded(|| {
        let done = Arc::new(AtomicU64::new(0));
        let announced = Arc::new(AtomicU32::new(0));
        let halves: Arc<[_; 2]> = Arc::new([loom::cell::UnsafeCell::new(0u32), loom::cell::UnsafeCell::new(0u32)]);
        let (d2, a2, x2) = (done.clone(), announced.clone(), halves.clone());
        let t = thread::spawn(move || {
            // SAFETY: the Arcs outlive the thread's use.
            let mut s = unsafe { Sender::new(&*d2, 128) };
            for i in 1..=3 {
                let at = loop {
                    match s.free(64) {
                        Some(at) => break at,
                        None => thread::yield_now(),
                    }
                };
                // SAFETY: a free piece is ours; loom checks just that.
                x2[at / 64].with_mut(|p| unsafe { *p = i });
                s.commit(64);
                a2.store(i, Ordering::Release);
            }
        });
        // SAFETY: as above.
        let mut r = unsafe { Receiver::new(&*done, 128) };
        for i in 1..=3 {
            while announced.load(Ordering::Acquire) < i {
                thread::yield_now();
            }
            // SAFETY: announced and not handed back; loom checks just that.
            halves[r.next(64) / 64].with(|p| assert_eq!(unsafe { *p }, i));
            r.pop(64);
            r.hand_back();
        }
        t.join().unwrap();
    });
}

/// No wake-up is lost: if it were, the sleeper would loop for ever and loom would report it.
#[test]
fn doorbell_never_loses_a_wake_up() {
    bounded(|| {
        let bell = Arc::new(Doorbell::new());
        let flag = Arc::new(AtomicU32::new(0));
        let (b2, f2) = (bell.clone(), flag.clone());
        let t = thread::spawn(move || {
            f2.store(1, Ordering::Release);
            b2.ring(Fence::Both);
        });
        while flag.load(Ordering::Acquire) == 0 {
            bell.sleep(|| flag.load(Ordering::Acquire) != 0);
        }
        t.join().unwrap();
    });
}

#[test]
fn doorbell_with_two_senders() {
    bounded(|| {
        let bell = Arc::new(Doorbell::new());
        let sum = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (b, s) = (bell.clone(), sum.clone());
                thread::spawn(move || {
                    s.fetch_add(1, Ordering::AcqRel);
                    b.ring(Fence::Both);
                })
            })
            .collect();
        while sum.load(Ordering::Acquire) < 2 {
            let seen = sum.load(Ordering::Acquire);
            bell.sleep(|| sum.load(Ordering::Acquire) != seen || seen == 2);
        }
        for t in threads {
            t.join().unwrap();
        }
    });
}

/// Two threads of one process: one sleeps for a message, the other polls once, may find it, and must then ring. (That a wake
/// reaches all sleepers is the kernel's part.)
#[test]
fn a_thread_that_finds_anothers_message_rings() {
    let mut b = loom::model::Builder::new();
    (b.preemption_bound, b.max_branches) = (Some(2), 10_000);
    b.check(|| {
        let bell = Arc::new(Doorbell::new());
        let inbox = Arc::new(AtomicU32::new(0));
        let done = Arc::new(AtomicU32::new(0));
        let (b, i, d) = (bell.clone(), inbox.clone(), done.clone());
        let other = thread::spawn(move || {
            if i.swap(0, Ordering::AcqRel) != 0 {
                d.store(1, Ordering::Release);
                b.ring(Fence::Both);
            }
        });
        let (b, i) = (bell.clone(), inbox.clone());
        let sender = thread::spawn(move || {
            i.fetch_or(1, Ordering::AcqRel);
            b.ring(Fence::Both);
        });
        let turn = || inbox.swap(0, Ordering::AcqRel) != 0 || done.load(Ordering::Acquire) != 0;
        let mut found = turn();
        while !found {
            bell.sleep(|| {
                found = turn();
                found
            });
            found = found || turn();
        }
        sender.join().unwrap();
        other.join().unwrap();
    });
}

/// A writer runs ahead of a reader by two slots: the reader sees each round's bytes, and no slot is written while it is read.
#[test]
fn slots_are_reused_only_when_readers_are_done() {
    bounded(|| {
        let shared = Arc::new(([Slot::new(), Slot::new()], Mark::new()));
        let s2 = shared.clone();
        let t = thread::spawn(move || {
            for round in 1..=3u64 {
                while s2.1.get() + 2 < round {
                    thread::yield_now();
                }
                // SAFETY: `fill` gets the slot's bytes.
                s2.0[(round % 2) as usize].publish(round, round + 10, |p| unsafe { *p = round as u8 });
            }
        });
        for round in 1..=3u64 {
            let slot = &shared.0[(round % 2) as usize];
            while slot.round() != round {
                thread::yield_now();
            }
            assert_eq!(slot.info(), round + 10);
            // SAFETY: `read` gives the slot's bytes.
            assert_eq!(slot.read(|p| unsafe { *p }), round as u8);
            shared.1.set(round);
        }
        t.join().unwrap();
    });
}

/// Where everybody publishes every round, seeing the others' round is enough: nobody asks for marks.
#[test]
fn a_later_round_says_that_the_earlier_one_was_read() {
    bounded(|| {
        let shared = Arc::new([[Slot::new(), Slot::new()], [Slot::new(), Slot::new()]]);
        let member = |all: Arc<[[Slot; 2]; 2]>, me: usize| {
            for round in 1..=3u64 {
                let at = (round % 2) as usize;
                // SAFETY: `fill` gets the slot's bytes.
                all[me][at].publish(round, 0, |p| unsafe { *p = round as u8 + me as u8 });
                while all[1 - me][at].round() != round {
                    thread::yield_now();
                }
                // SAFETY: `read` gives the slot's bytes.
                assert_eq!(all[1 - me][at].read(|p| unsafe { *p }), round as u8 + 1 - me as u8);
            }
        };
        let s2 = shared.clone();
        let t = thread::spawn(move || member(s2, 1));
        member(shared, 0);
        t.join().unwrap();
    });
}
