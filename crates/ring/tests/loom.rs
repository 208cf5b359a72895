//! Model checking of every structure of this crate: `RUSTFLAGS="--cfg loom" cargo test -p oxmpi-ring --test loom --release`.
#![cfg(loom)]
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use loom::thread;
use oxmpi_ring::chunks::{Receiver, Sender};
use oxmpi_ring::doorbell::{Doorbell, Fence};
use oxmpi_ring::slots::{Mark, Slot};
use oxmpi_ring::spsc::{Consumer, Place, Producer};
use oxmpi_ring::sync::Line;

struct Memory {
    lines: Vec<Line>,
    head: AtomicU64,
}

fn memory(n: usize) -> Arc<Memory> {
    Arc::new(Memory { lines: (0..n).map(|_| Line::new()).collect(), head: AtomicU64::new(0) })
}

fn place(m: &Arc<Memory>) -> Place {
    // SAFETY: both threads hold the Arc for as long as they use the place.
    unsafe { Place::new(m.lines.as_ptr(), m.lines.len(), &m.head) }
}

fn bounded(f: impl Fn() + Sync + Send + 'static) {
    let mut b = loom::model::Builder::new();
    b.preemption_bound = Some(3);
    b.check(f);
}

/// Messages of several lines, wrapping, with data in the header places: bytes and order arrive; loom's cells fail the test
/// if a line is read and written at once.
fn ring_delivers(n: usize, lens: &'static [usize]) {
    bounded(move || {
        let m = memory(n);
        let m2 = m.clone();
        let t = thread::spawn(move || {
            let mut p = Producer::new(place(&m2));
            for (i, len) in lens.iter().enumerate() {
                while !p.push(1, i as u32, *len, 0xa0 + i as u8) {
                    thread::yield_now();
                }
            }
        });
        let mut c = Consumer::new(place(&m));
        for (i, len) in lens.iter().enumerate() {
            let f = loop {
                match c.front().unwrap() {
                    Some(f) => break f,
                    None => thread::yield_now(),
                }
            };
            assert_eq!((f.aux(), f.len()), (i as u32, *len));
            assert!(c.payload(&f).iter().all(|b| *b == 0xa0 + i as u8));
            c.pop(f);
        }
        assert!(c.front().unwrap().is_none());
        t.join().unwrap();
    });
}

#[test]
fn ring_one_line_messages() {
    ring_delivers(2, &[8, 56, 1]);
}

#[test]
fn ring_two_line_messages_leave_no_false_header() {
    ring_delivers(3, &[100, 8, 100]);
}

#[test]
fn chunks_are_never_reused_early() {
    bounded(|| {
        let done = Arc::new(AtomicU64::new(0));
        let announced = Arc::new(AtomicU32::new(0));
        let data = Arc::new(loom::cell::UnsafeCell::new(0u32));
        let (d2, a2, x2) = (done.clone(), announced.clone(), data.clone());
        let t = thread::spawn(move || {
            // SAFETY: the Arcs outlive the thread's use.
            let mut s = unsafe { Sender::new(&*d2, 1) };
            for i in 1..=2 {
                while s.free().is_none() {
                    thread::yield_now();
                }
                x2.with_mut(|p| unsafe { *p = i });
                s.commit();
                a2.store(i, Ordering::Release);
            }
        });
        // SAFETY: as above.
        let mut r = unsafe { Receiver::new(&*done, 1) };
        for i in 1..=2 {
            while announced.load(Ordering::Acquire) < i {
                thread::yield_now();
            }
            data.with(|p| assert_eq!(unsafe { *p }, i));
            r.release();
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
