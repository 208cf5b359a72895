//! What a failed message does: it is reported, and nobody else is left waiting.
use super::mock::READ_ONLY;
use super::{Vector, counts, types, world};
use crate::shared::round;
use crate::*;
use oxmpi_base::{Error, consts::*};

#[test]
fn a_truncated_block_is_reported_and_the_rest_arrives() {
    world(5, |ep| {
        let (me, dt) = (ep.rank(), &types()[0]);
        let mut own = Vector::filled(dt, 4, |i| (me as u32, i as u32));
        let (c, d) = ([4, 2, 4, 4, 4], [0, 4, 8, 12, 16]);
        let mut all = Vector::blank(dt, 20);
        let done = gatherv(ep, own.buf(), 4, dt, all.buf(), &counts(&c), &counts(&d), dt, 0);
        if me == 0 {
            assert_eq!(done.unwrap_err().class, MPI_ERR_TRUNCATE);
            all.expect("gatherv", 20, |i| (!(6..8).contains(&i)).then_some(((i / 4) as u32, (i % 4) as u32)));
        } else {
            done.unwrap();
        }
        barrier(ep).unwrap();
    });
}

#[test]
fn a_truncated_broadcast_goes_on_down_the_tree() {
    world(8, |ep| {
        let dt = &types()[2];
        // Rank 4 has room for less; its subtree still gets a message each.
        let count = if ep.rank() == 4 { 3 } else { 5 };
        let mut v = Vector::filled(dt, count, |i| (0, i as u32));
        let done = bcast(ep, v.buf(), count, dt, 0);
        assert_eq!(done.is_err(), ep.rank() == 4);
        barrier(ep).unwrap();
    });
}

#[test]
fn a_failing_operation_is_reported() {
    world(4, |ep| {
        let dt = &types()[0];
        let me = ep.rank();
        let apply = |_: *const u8, _: *mut u8, _: usize| {
            if me == 2 { Err(Error::new(MPI_ERR_OP, "no")) } else { Ok(()) }
        };
        let op = Reduction { commutative: true, apply: &apply, apply3: None };
        let (mut a, mut b) = (Vector::filled(dt, 3, |_| (1, 1)), Vector::blank(dt, 3));
        let done = allreduce(ep, a.buf(), b.buf(), 3, dt, &op);
        assert_eq!(done.is_err(), me == 2);
        barrier(ep).unwrap();
    });
}

/// A rank cannot write its block: the root hears of it, and the next calls are as ever.
#[test]
fn a_block_that_cannot_be_written_is_an_error_at_the_root_too() {
    world(4, |ep| {
        let (me, dt, count, root) = (ep.rank(), &types()[0], 5000, 1);
        let region = ep.region().unwrap();
        let written = region.is_some_and(|r| select::gather(count * dt.size(), 4, r) == select::Gather::Written);
        let mut own = Vector::filled(dt, count, |i| (me as u32, i as u32));
        for writable in [false, true, true] {
            READ_ONLY.set(!writable && me == 2);
            let mut all = Vector::blank(dt, if me == root { 4 * count } else { 0 });
            let done = gather(ep, own.buf(), count, dt, all.buf(), count, dt, root);
            let fails = written && !writable && (me == 2 || me == root);
            assert_eq!(done.is_err(), fails, "rank {me}: {done:?}");
            if me == root {
                let e = done.err().map_or(String::new(), |e| e.message.to_string());
                assert_eq!(e.contains("rank 2"), fails, "{e}");
                all.expect("gather", 4 * count, |i| {
                    (!fails || i / count != 2).then_some(((i / count) as u32, (i % count) as u32))
                });
            }
        }
        READ_ONLY.set(false);
    });
}

/// A rank that leaves a call between two of its rounds ends the use of the shared memory; nobody waits for ever.
#[test]
fn a_call_left_half_way_is_an_error_for_all_from_then_on() {
    world(3, |ep| {
        let Some(r) = ep.region().unwrap() else { return };
        let me = ep.rank();
        let done = round::run(ep, r, crate::tags::ALLREDUCE, |c| {
            c.rounds(3, || {
                for k in 0..3 {
                    let s = r.begin();
                    c.offer(s, crate::buffer::nothing())?;
                    c.meet(s)?;
                    c.done(s);
                    if me == 1 && k == 0 {
                        return Err(Error::new(MPI_ERR_NO_MEM, "no memory"));
                    }
                }
                Ok(())
            })
        });
        assert_eq!(done.unwrap_err().class, if me == 1 { MPI_ERR_NO_MEM } else { MPI_ERR_OTHER });
        for _ in 0..100 {
            let e = barrier(ep).unwrap_err();
            assert!(e.class == MPI_ERR_OTHER && e.message.contains("out of step"), "{}", e.message);
        }
        assert!(r.is_broken() && r.rounds() < 64);
    });
}

/// All rounds have begun when the call fails: the next one works.
#[test]
fn a_call_that_fails_in_its_last_round_leaves_the_others_in_step() {
    world(3, |ep| {
        let Some(r) = ep.region().unwrap() else { return };
        let failed = round::run(ep, r, crate::tags::BARRIER, |c| {
            c.rounds(1, || {
                let s = r.begin();
                c.offer(s, crate::buffer::nothing())?;
                if ep.rank() == 1 { Err(Error::new(MPI_ERR_NO_MEM, "no memory")) } else { c.meet(s) }
            })
        });
        assert_eq!(failed.is_err(), ep.rank() == 1);
        (0..100).for_each(|_| barrier(ep).unwrap());
    });
}

#[test]
fn impossible_sizes_are_an_error() {
    let dt = &types()[2];
    for count in [usize::MAX, isize::MAX as usize, 1 << 50] {
        let e = crate::buffer::Temp::typed(dt, count).err().unwrap();
        assert_eq!(e.class, MPI_ERR_NO_MEM);
    }
}
