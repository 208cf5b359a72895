//! Two engines over one segment, in two threads of this process: every protocol from both sides.
use oxmpi_base::args::Buf;
use oxmpi_base::consts::{MPI_BYTE, MPI_ERR_TRUNCATE, MPI_SUCCESS};
use oxmpi_datatype::Datatype;
use oxmpi_pt2pt::{ANY_SOURCE, ANY_TAG, Engine, Mode, Outcome, Pattern, Received, Span};
use oxmpi_transport::wire::Context;
use oxmpi_transport_shm::node::Node;
use oxmpi_transport_shm::segment::{Segment, create};

const CTX: Context = Context(2);
/// That of CTX.
const LANE: usize = 1;
/// One of each protocol, and the edges between them.
const SIZES: [usize; 16] =
    [0, 1, 8, 48, 49, 112, 4095, 4096, 4097, 16384, 32768, 32769, 65535, 65536, 200_000, 3_000_000];

fn pair(threads: bool) -> [&'static Engine; 2] {
    let fd = create(2, true).unwrap();
    [0, 1].map(|me| {
        let segment = Segment::open(fd.try_clone().unwrap(), 2).unwrap();
        let engine = Engine::new(me, 2, Some(Node::join(segment, me)), threads);
        &*Box::leak(Box::new(engine))
    })
}

fn pattern(source: i32, tag: i32) -> Pattern {
    Pattern { ctx: CTX, source, tag }
}

fn span(v: &mut [u8]) -> Span {
    Span::Dense { at: v.as_mut_ptr(), len: v.len() }
}

fn data(n: usize, seed: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 31 + seed * 7 + (i >> 8)) as u8).collect()
}

fn send(e: &Engine, to: u32, tag: i32, v: &[u8], mode: Mode) {
    if let Some(id) = e.enter(LANE, |s| s.send(CTX, to, tag, Span::bytes(v), mode)).unwrap() {
        assert_eq!(e.wait_request(id).unwrap().error, MPI_SUCCESS);
    }
}

fn recv(e: &Engine, source: i32, tag: i32, v: &mut [u8]) -> Outcome {
    match e.enter(LANE, |s| s.recv(pattern(source, tag), span(v))).unwrap() {
        Received::Done(o) => o,
        Received::Pending(id) => e.wait_request(id).unwrap(),
    }
}

fn both(f: impl Fn(&Engine, usize) + Sync) {
    let engines = pair(false);
    std::thread::scope(|s| {
        for (me, e) in engines.into_iter().enumerate() {
            let f = &f;
            s.spawn(move || f(e, me));
        }
    });
    for e in engines {
        assert_eq!(e.enter(LANE, |s| s.pending()), 0, "no request is left");
        assert!(e.enter(LANE, |s| s.drained()));
    }
}

#[test]
fn every_size_and_mode_posted_and_unexpected() {
    both(|e, me| {
        for (k, n) in SIZES.into_iter().enumerate() {
            for mode in [Mode::Standard, Mode::Synchronous] {
                let tag = k as i32;
                if me == 0 {
                    send(e, 1, tag, &data(n, k), mode);
                    // The same once more after a message that tells that it is unexpected by now.
                    let id = e.enter(LANE, |s| s.send(CTX, 1, 500, Span::bytes(&[]), mode)).unwrap();
                    let again = data(n, k + 1);
                    let large = e.enter(LANE, |s| s.send(CTX, 1, tag, Span::bytes(&again), mode)).unwrap();
                    send(e, 1, 501, &[], Mode::Standard);
                    for id in [id, large].into_iter().flatten() {
                        e.wait_request(id).unwrap();
                    }
                } else {
                    let mut v = vec![0; n + 5];
                    let o = recv(e, 0, tag, &mut v);
                    assert_eq!((o.source, o.tag, o.bytes, o.error), (0, tag, n as u64, MPI_SUCCESS));
                    assert!(v[..n] == data(n, k) && v[n..] == [0; 5]);
                    recv(e, 0, 501, &mut []);
                    recv(e, ANY_SOURCE, 500, &mut []);
                    let o = recv(e, ANY_SOURCE, ANY_TAG, &mut v);
                    assert_eq!((o.tag, o.bytes), (tag, n as u64));
                    assert!(v[..n] == data(n, k + 1));
                }
            }
        }
    });
}

#[test]
fn a_short_buffer_is_truncated_and_what_follows_is_whole() {
    both(|e, me| {
        for n in SIZES.into_iter().filter(|n| *n > 0) {
            for unexpected in [false, true] {
                if me == 0 {
                    let v = data(n, 1);
                    let first = e.enter(LANE, |s| s.send(CTX, 1, 1, Span::bytes(&v), Mode::Standard)).unwrap();
                    send(e, 1, 2, &[7], Mode::Standard);
                    first.map(|id| e.wait_request(id).unwrap());
                } else {
                    let mut next = [0];
                    if unexpected {
                        recv(e, 0, 2, &mut next);
                    }
                    let mut v = vec![0xaa; n];
                    let o = recv(e, 0, 1, &mut v[..n / 2]);
                    assert_eq!((o.error, o.bytes), (MPI_ERR_TRUNCATE, n as u64 / 2));
                    assert!(v[..n / 2] == data(n, 1)[..n / 2] && v[n / 2..].iter().all(|b| *b == 0xaa));
                    if !unexpected {
                        recv(e, 0, 2, &mut next);
                    }
                    assert_eq!(next, [7]);
                }
            }
        }
    });
}

#[test]
fn a_flood_in_both_directions_keeps_order() {
    const N: u32 = 30_000;
    both(|e, me| {
        let peer = 1 - me as u32;
        // More than the ring holds, before anything is received. The values outlive the sends.
        let values: Vec<[u8; 4]> = (0..N).map(u32::to_ne_bytes).collect();
        for v in &values {
            if let Some(id) = e.enter(LANE, |s| s.send(CTX, peer, 3, Span::bytes(v), Mode::Standard)).unwrap() {
                e.enter(LANE, |s| s.detach(id));
            }
        }
        for want in &values {
            let mut v = [0; 4];
            recv(e, peer as i32, 3, &mut v);
            assert_eq!(&v, want);
        }
        e.wait(LANE, |s| (s.pending() == 0 && s.drained()).then_some(())).unwrap();
    });
}

#[test]
fn strided_to_dense_and_back() {
    both(|e, me| {
        let byte = Datatype::predefined(MPI_BYTE).unwrap();
        let column = Datatype::vector(50_000, 3, 8, byte, false).unwrap();
        column.commit();
        let (extent, packed) = (400_000, 150_000);
        if me == 0 {
            let mut v = data(extent, 9);
            let s = Span::new(Buf(v.as_mut_ptr() as *mut _), 1, &column);
            let id = e.enter(LANE, |st| st.send(CTX, 1, 4, s, Mode::Standard)).unwrap();
            id.map(|id| e.wait_request(id).unwrap());
            send(e, 1, 5, &v[..packed], Mode::Standard);
        } else {
            let mut v = vec![0; packed];
            assert_eq!(recv(e, 0, 4, &mut v).bytes, packed as u64);
            let from = data(extent, 9);
            assert!((0..packed).all(|i| v[i] == from[i / 3 * 8 + i % 3]));
            let mut w = vec![0; extent];
            let s = Span::new(Buf(w.as_mut_ptr() as *mut _), 1, &column);
            match e.enter(LANE, |st| st.recv(pattern(0, 5), s)).unwrap() {
                Received::Done(_) => {}
                Received::Pending(id) => drop(e.wait_request(id).unwrap()),
            }
            assert!((0..packed).all(|i| w[i / 3 * 8 + i % 3] == from[i]));
        }
    });
}

#[test]
fn to_itself() {
    let e: &'static Engine = Box::leak(Box::new(Engine::new(0, 1, None, false)));
    for n in SIZES {
        for mode in [Mode::Standard, Mode::Synchronous] {
            let (from, mut to) = (data(n, 3), vec![0; n]);
            let sent = e.enter(LANE, |s| s.send(CTX, 0, 1, Span::bytes(&from), mode)).unwrap();
            assert_eq!(e.enter(LANE, |s| s.probe(pattern(ANY_SOURCE, 1))).unwrap().bytes, n as u64);
            assert_eq!(recv(e, 0, ANY_TAG, &mut to).bytes, n as u64);
            sent.map(|id| e.wait_request(id).unwrap());
            assert_eq!(from, to);
        }
    }
    assert_eq!(e.enter(LANE, |s| s.pending()), 0);
}

#[test]
fn probe_matched_probe_and_cancel() {
    both(|e, me| {
        if me == 0 {
            for n in [10, 20_000, 100_000] {
                let v = data(n, 1);
                e.enter(LANE, |s| s.send(CTX, 1, 8, Span::bytes(&v), Mode::Standard))
                    .unwrap()
                    .map(|id| e.wait_request(id).unwrap());
            }
        } else {
            let mut never = [0; 4];
            let Received::Pending(id) = e.enter(LANE, |s| s.recv(pattern(0, 99), span(&mut never))).unwrap() else {
                panic!()
            };
            e.enter(LANE, |s| s.cancel(id));
            assert!(e.wait_request(id).unwrap().cancelled);
            for n in [10, 20_000, 100_000] {
                let o = e.wait(LANE, |s| s.probe(pattern(ANY_SOURCE, ANY_TAG))).unwrap();
                assert_eq!((o.bytes, o.tag), (n as u64, 8));
                let (m, _) = e.wait(LANE, |s| s.mprobe(pattern(0, 8))).unwrap();
                assert!(e.enter(LANE, |s| s.probe(pattern(0, 8))).is_none() || n < 100_000);
                let mut v = vec![0; n];
                match e.enter(LANE, |s| s.recv_early(m, span(&mut v))).unwrap() {
                    Received::Done(_) => {}
                    Received::Pending(id) => drop(e.wait_request(id).unwrap()),
                }
                assert!(v == data(n, 1));
            }
        }
    });
}

/// Several threads of one process in one engine, as at MPI_THREAD_MULTIPLE: each pair of threads has a tag.
#[test]
fn threads_share_an_engine() {
    let engines = pair(true);
    std::thread::scope(|s| {
        for (me, e) in engines.into_iter().enumerate() {
            for t in 0..4 {
                s.spawn(move || {
                    for round in 0..300 {
                        let n = SIZES[round % 12];
                        let mut v = vec![0; n];
                        if me == 0 {
                            send(e, 1, t, &data(n, round), Mode::Standard);
                            recv(e, 1, t, &mut v);
                        } else {
                            recv(e, 0, t, &mut v);
                            send(e, 0, t, &v, Mode::Standard);
                        }
                        assert!(v == data(n, round));
                    }
                });
            }
        }
    });
}

/// Whatever a peer writes into the ring, the reader ends with a clear error or goes on; it never panics, hangs or reads outside.
#[test]
fn garbage_in_the_ring_is_an_error_not_a_crash() {
    let mut closed = 0;
    let mut x = 88172645463325252u64;
    let mut random = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    for round in 0..300 {
        let fd = create(2, true).unwrap();
        let writer = Segment::open(fd.try_clone().unwrap(), 2).unwrap();
        let [a, b] = [0, 1].map(|me| {
            let segment = Segment::open(fd.try_clone().unwrap(), 2).unwrap();
            Engine::new(me, 2, Some(Node::join(segment, me)), false)
        });
        // Connects, and leaves one good frame in front.
        a.enter(LANE, |s| s.send(CTX, 1, 1, Span::bytes(&[1; 8]), Mode::Standard)).unwrap();
        let mut posted = vec![0u8; 100_000];
        b.enter(LANE, |s| s.recv(pattern(0, ANY_TAG), span(&mut posted))).unwrap();
        let ring = writer.map_pair(0, 1, LANE).unwrap();
        let words = ring.base().cast::<u64>().as_ptr();
        for line in 1..60 {
            for w in 0..8 {
                let r = random();
                // Most headers are nearly right (kind, first lap, length inside the line or not), so that every kind is reached.
                let len = if r & 1 == 0 { r / 16 % 64 } else { r / 16 % 5000 };
                let v = if w == 0 && round % 3 != 0 { (r % 9 + 1) | 1 << 24 | len << 32 } else { r };
                // SAFETY: inside the pair's mapping, which this test owns.
                unsafe { words.add((2 + line) * 8 + w).write_volatile(v) };
            }
        }
        let mut small = [0u8; 64];
        for _ in 0..100 {
            // SAFETY: 64 writable bytes.
            unsafe { b.receive_now(pattern(0, ANY_TAG), small.as_mut_ptr(), small.len()) };
            b.poll(LANE).unwrap();
        }
        // A ring that makes no sense is closed, and the next receive says so.
        closed += b.enter(LANE, |s| s.recv(pattern(0, 77), span(&mut posted))).is_err() as usize;
    }
    assert!(closed > 100, "only {closed} of 300 were found out");
}

/// A sender that finds no room sleeps until the receiver, which takes only what it waits for, has handed room back.
#[test]
fn a_sender_without_room_is_woken() {
    both(|e, me| {
        const ROUNDS: usize = 40;
        for round in 0..ROUNDS {
            // More than lines, then more than bytes, hold at once.
            let (n, len) = if round % 2 == 0 { (700, 8) } else { (60, 4000) };
            if me == 0 {
                (0..n).for_each(|i| send(e, 1, round as i32, &data(len, i), Mode::Standard));
            } else {
                if round % 8 < 2 {
                    std::thread::sleep(std::time::Duration::from_millis(3));
                }
                let mut v = vec![0; len];
                for i in 0..n {
                    // SAFETY: `v` has `len` bytes.
                    let direct = unsafe { e.receive_now(pattern(0, round as i32), v.as_mut_ptr(), len) };
                    if direct.is_none() {
                        recv(e, 0, round as i32, &mut v);
                    }
                    assert_eq!(v, data(len, i));
                }
            }
        }
    });
}
