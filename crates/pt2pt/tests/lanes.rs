//! Lanes of the engine: separate matching and locks, progress for each other, waiting for several.
use oxmpi_base::consts::MPI_SUCCESS;
use oxmpi_pt2pt::{ANY_SOURCE, ANY_TAG, Engine, Mode, Pattern, Received, ReqId, Span};
use oxmpi_transport::wire::{Context, LANES};
use oxmpi_transport_shm::node::Node;
use oxmpi_transport_shm::segment::{Segment, create};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// A context that lives in `lane`.
fn ctx(lane: usize) -> Context {
    let c = Context((lane as u64) << 1 | 64);
    assert_eq!((c.lane(), c.collective().lane()), (lane, lane));
    c
}

fn pair(threads: [bool; 2]) -> [&'static Engine; 2] {
    let fd = create(2, true).unwrap();
    [0, 1].map(|me| {
        let segment = Segment::open(fd.try_clone().unwrap(), 2).unwrap();
        &*Box::leak(Box::new(Engine::new(me, 2, Some(Node::join(segment, me)), threads[me])))
    })
}

fn isend(e: &Engine, lane: usize, to: u32, v: &[u8], mode: Mode) -> Option<ReqId> {
    e.enter(lane, |s| s.send(ctx(lane), to, 1, Span::bytes(v), mode)).unwrap()
}

fn irecv(e: &Engine, lane: usize, v: &mut [u8]) -> Option<ReqId> {
    let want = Pattern { ctx: ctx(lane), source: ANY_SOURCE, tag: ANY_TAG };
    match e.enter(lane, |s| s.recv(want, Span::Dense { at: v.as_mut_ptr(), len: v.len() })).unwrap() {
        Received::Done(_) => None,
        Received::Pending(id) => Some(id),
    }
}

fn end(e: &Engine, id: Option<ReqId>) {
    if let Some(id) = id {
        assert_eq!(e.wait_request(id).unwrap().error, MPI_SUCCESS);
    }
}

fn data(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 13 + seed) as u8).collect()
}

#[test]
fn a_wildcard_takes_nothing_from_another_lane_and_names_stay_apart() {
    let [a, b] = pair([false; 2]);
    let mut got = [[0u8; 1]; LANES];
    // The last lane first: the others must not be served by it.
    for lane in (0..LANES).rev() {
        assert!(isend(a, lane, 1, &[lane as u8 + 1], Mode::Standard).is_none());
    }
    for (lane, v) in got.iter_mut().enumerate() {
        let id = irecv(b, lane, v);
        assert!(id.is_none_or(|id| id.lane() == lane));
        end(b, id);
        assert_eq!(*v, [lane as u8 + 1]);
    }
    // A request's name means nothing in another lane, though the place there is in use.
    let mut rooms = [[0u8; 1]; LANES];
    let ids: Vec<ReqId> = rooms.iter_mut().enumerate().map(|(l, v)| irecv(b, l, v).unwrap()).collect();
    for (lane, id) in ids.iter().enumerate() {
        for other in 0..LANES {
            let known = b.enter(other, |s| s.request_at(id.number(), id.generation() & 15, 15));
            assert_eq!(known, (other == lane).then_some(*id));
            assert_eq!(b.enter(other, |s| s.over(*id)), other != lane);
        }
        assert_eq!(ReqId::lane_of(id.number()), lane);
    }
    for id in ids {
        b.enter(id.lane(), |s| s.cancel(id));
        assert!(b.wait_request(id).unwrap().cancelled);
    }
}

/// Whatever the thread levels, who is blocked in one lane moves the large messages of all.
#[test]
fn a_wait_in_one_lane_moves_the_others() {
    for levels in [[false, false], [true, true], [true, false]] {
        let engines = pair(levels);
        std::thread::scope(|s| {
            for (me, e) in engines.into_iter().enumerate() {
                s.spawn(move || {
                    let peer = 1 - me as u32;
                    let out: Vec<Vec<u8>> = (0..LANES).map(|l| data(200_000, l + me)).collect();
                    let mut into: Vec<Vec<u8>> = (0..LANES).map(|_| vec![0; 200_000]).collect();
                    for wait_in in 0..LANES {
                        let mut token = [0u8; 1];
                        let last = irecv(e, wait_in, &mut token);
                        // One process lets the large ones begin, then both block for the token only.
                        let receives: Vec<_> =
                            (0..LANES).map(|l| if l == wait_in { None } else { irecv(e, l, &mut into[l]) }).collect();
                        let sends: Vec<_> = (0..LANES)
                            .filter(|l| *l != wait_in)
                            .map(|l| isend(e, l, peer, &out[l], Mode::Synchronous))
                            .collect();
                        if me == 0 {
                            // Completes only through the peer, which is blocked in `wait_in`.
                            sends.into_iter().for_each(|id| end(e, id));
                            end(e, isend(e, wait_in, peer, &[7], Mode::Standard));
                            end(e, last);
                        } else {
                            end(e, last);
                            end(e, isend(e, wait_in, peer, &[7], Mode::Standard));
                            sends.into_iter().for_each(|id| end(e, id));
                        }
                        assert_eq!(token, [7]);
                        receives.into_iter().for_each(|id| end(e, id));
                        for l in (0..LANES).filter(|l| *l != wait_in) {
                            assert!(into[l] == data(200_000, l + peer as usize));
                        }
                    }
                    e.drain().unwrap();
                });
            }
        });
    }
}

/// A thread inside one lane does not hold up threads in others.
#[test]
fn lanes_have_locks_of_their_own() {
    let [e, _] = pair([true; 2]);
    for held in 0..LANES {
        let (inside, leave) = (Barrier::new(2), AtomicBool::new(false));
        std::thread::scope(|s| {
            s.spawn(|| {
                e.enter(held, |_| {
                    inside.wait();
                    while !leave.load(SeqCst) {
                        std::thread::yield_now();
                    }
                })
            });
            inside.wait();
            for lane in (0..LANES).filter(|l| *l != held) {
                for n in [8, 100_000] {
                    let (out, mut into) = (data(n, lane), vec![0; n]);
                    let r = irecv(e, lane, &mut into);
                    end(e, isend(e, lane, 0, &out, Mode::Synchronous));
                    end(e, r);
                    assert!(into == out);
                }
            }
            leave.store(true, SeqCst);
        });
    }
}

/// Threads that sleep for any of several lanes are woken by what other threads do, again and again.
#[test]
fn waiting_for_several_lanes_is_ended_by_other_threads() {
    const ROUNDS: usize = 2000;
    let [e, _] = pair([true; 2]);
    std::thread::scope(|s| {
        for t in 0..2 {
            // Two lanes and a context each.
            let lanes = [t * 2, t * 2 + 1];
            let turn = &*Box::leak(Box::new(std::sync::atomic::AtomicUsize::new(0)));
            s.spawn(move || {
                let mut rooms = [[0u8; 8]; 2];
                let mut ids = [0, 1].map(|i| irecv(e, lanes[i], &mut rooms[i]));
                for round in 0..ROUNDS {
                    turn.store(round + 1, SeqCst);
                    let home = 1 << lanes[0] | 1 << lanes[1];
                    let i = e
                        .wait_among(home, || (0..2).find(|i| e.enter(lanes[*i], |s| s.over(ids[*i].unwrap()))))
                        .unwrap();
                    assert_eq!(i, round / 3 % 2);
                    end(e, ids[i]);
                    assert_eq!(rooms[i], (round as u64).to_ne_bytes());
                    ids[i] = irecv(e, lanes[i], &mut rooms[i]);
                }
                for id in ids.into_iter().flatten() {
                    e.enter(id.lane(), |s| s.cancel(id));
                    e.wait_request(id).unwrap();
                }
            });
            s.spawn(move || {
                for round in 0..ROUNDS {
                    while turn.load(SeqCst) <= round {
                        std::thread::yield_now();
                    }
                    end(e, isend(e, lanes[round / 3 % 2], 0, &(round as u64).to_ne_bytes(), Mode::Standard));
                }
            });
        }
    });
    for lane in 0..LANES {
        assert_eq!(e.enter(lane, |s| s.pending()), 0);
    }
}

/// Every thread has a lane, both processes have all: floods, chunked and announced messages at once.
#[test]
fn a_thread_for_each_lane() {
    let engines = pair([true; 2]);
    std::thread::scope(|s| {
        for (me, e) in engines.into_iter().enumerate() {
            for lane in 0..LANES {
                s.spawn(move || {
                    let peer = 1 - me as u32;
                    for round in 0..200 {
                        let n = [0, 8, 100, 4096, 20_000, 100_000][(round + lane) % 6];
                        let (out, mut into) = (data(n, round + me), vec![0; n]);
                        let sent = isend(e, lane, peer, &out, Mode::Standard);
                        let r = irecv(e, lane, &mut into);
                        end(e, r);
                        end(e, sent);
                        assert!(into == data(n, round + peer as usize));
                    }
                });
            }
        }
    });
    for e in engines {
        e.drain().unwrap();
    }
}

/// Locks come in while another thread works without: nothing of the two is lost, whenever that happens.
#[test]
fn locks_come_in_while_a_thread_is_inside() {
    struct Shared(std::cell::UnsafeCell<u64>);
    // SAFETY: it is touched in the lane alone, which is what the test is about.
    unsafe impl Sync for Shared {}
    const EACH: u64 = 3000;
    for turn in 0..200u64 {
        let e = Engine::new(0, 1, None, false);
        let (count, go) = (Shared(0.into()), Barrier::new(2));
        let add = |times: u64| {
            for _ in 0..times {
                e.enter(0, |_| {
                    let Shared(count) = &count;
                    let at = count.get();
                    // SAFETY: `enter` lets one thread in at a time.
                    unsafe { at.write(std::hint::black_box(at.read()) + 1) }
                });
            }
        };
        std::thread::scope(|s| {
            s.spawn(|| {
                go.wait();
                add(EACH);
            });
            go.wait();
            (0..turn * 20).for_each(|_| std::hint::spin_loop());
            match e.admit_threads() {
                Ok(()) => add(EACH),
                Err(why) => assert!(why.message.contains("membarrier"), "{}", why.message),
            }
        });
        let want = if e.has_threads() { 2 * EACH } else { EACH };
        // SAFETY: both threads are done.
        assert_eq!(unsafe { *count.0.get() }, want);
    }
}
