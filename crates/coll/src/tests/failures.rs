//! What a failed message does: it is reported, and nobody else is left waiting.
use super::{Vector, counts, types, world};
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

#[test]
fn impossible_sizes_are_an_error() {
    let dt = &types()[2];
    for count in [usize::MAX, isize::MAX as usize, 1 << 50] {
        let e = crate::buffer::Temp::typed(dt, count).err().unwrap();
        assert_eq!(e.class, MPI_ERR_NO_MEM);
    }
}
