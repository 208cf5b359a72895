//! Constructors (MPI-5.0 5.1): what the standard's examples and definitions say about single cases, errors, envelopes, and that
//! large regular types stay small.
use oxmpi_base::{args::Buf, consts::*, handle};
use oxmpi_datatype::{Cursor, Darray, Datatype, all_predefined, predefined_name};

fn dt(h: handle::Datatype) -> &'static Datatype {
    Datatype::predefined(h).unwrap()
}

fn bounds(t: &Datatype) -> (isize, isize) {
    (t.lb(), t.extent())
}

#[test]
fn predefined_types_are_laid_out_as_c_does() {
    let cases = [
        (MPI_CHAR, 1, 1),
        (MPI_WCHAR, 4, 4),
        (MPI_C_BOOL, 1, 1),
        (MPI_LONG, 8, 8),
        (MPI_AINT, 8, 8),
        (MPI_LONG_DOUBLE, 16, 16),
        (MPI_C_LONG_DOUBLE_COMPLEX, 32, 32),
        (MPI_LOGICAL, 4, 4),
        (MPI_REAL2, 2, 2),
        (MPI_INTEGER16, 16, 16),
        (MPI_COMPLEX32, 32, 32),
        (MPI_FLOAT_INT, 8, 8),
        (MPI_DOUBLE_INT, 12, 16),
        (MPI_LONG_INT, 12, 16),
        (MPI_2INT, 8, 8),
        (MPI_SHORT_INT, 6, 8),
        (MPI_LONG_DOUBLE_INT, 20, 32),
        (MPI_2REAL, 8, 8),
        (MPI_2DOUBLE_PRECISION, 16, 16),
        (MPI_2INTEGER, 8, 8),
        (MPI_PACKED, 1, 1),
    ];
    for (h, size, extent) in cases {
        assert_eq!((dt(h).size(), dt(h).extent()), (size, extent), "{}", dt(h));
    }
    assert_eq!((dt(MPI_DOUBLE_INT).true_extent(), dt(MPI_SHORT_INT).true_extent()), (12, 8));
    assert_eq!(dt(MPI_DOUBLE_INT).dense(), None);
    assert_eq!(dt(MPI_FLOAT_INT).dense(), Some(0));
    for t in all_predefined() {
        let h = t.predefined_handle().unwrap();
        assert!(t.committed() && t.same(dt(h)));
        assert_eq!(predefined_name(h).unwrap(), t.describe());
        assert_eq!(t.envelope().combiner, MPI_COMBINER_NAMED);
    }
    assert_eq!(all_predefined().count(), 70);
    for h in [
        MPI_DATATYPE_NULL,
        handle::Datatype(0),
        handle::Datatype(0x2ff),
        handle::Datatype(0x300),
        handle::Datatype(usize::MAX),
    ] {
        assert!(Datatype::predefined(h).is_none());
    }
}

/// 5.1.6, example 5.9 and its kin: explicit bounds stick.
#[test]
fn explicit_bounds_stick() {
    let wide = Datatype::resized(dt(MPI_INT), -3, 9, false).unwrap();
    assert_eq!((bounds(&wide), wide.true_lb(), wide.true_extent()), ((-3, 9), 0, 4));
    // {(lb, -3), (int, 0), (lb, 6), (int, 9), (ub, 6), (ub, 15)}
    assert_eq!(bounds(&Datatype::contiguous(2, &wide, false).unwrap()), (-3, 18));
    // A component with bounds overrules those without.
    let t = Datatype::structure(&[1, 1], &[0, 100], &[wide.clone(), dt(MPI_DOUBLE).clone()], false).unwrap();
    assert_eq!((bounds(&t), t.true_extent()), ((-3, 9), 108));
    // but not when it is not there.
    let t = Datatype::structure(&[0, 1], &[0, 96], &[wide.clone(), dt(MPI_DOUBLE).clone()], false).unwrap();
    assert_eq!(bounds(&t), (96, 8));
    // Resizing again erases the old bounds.
    assert_eq!(bounds(&Datatype::resized(&wide, 0, 4, false).unwrap()), (0, 4));
    // Bounds without data.
    let empty = Datatype::resized(&Datatype::contiguous(0, dt(MPI_INT), false).unwrap(), 4, 8, false).unwrap();
    assert_eq!((empty.size(), bounds(&Datatype::contiguous(3, &empty, false).unwrap())), (0, (4, 24)));
    // Negative extents.
    let back = Datatype::resized(dt(MPI_INT), 0, -4, false).unwrap();
    let t = Datatype::contiguous(3, &back, false).unwrap();
    assert_eq!((t.true_lb(), t.true_extent(), t.lb(), t.extent()), (-8, 12, -8, 4));
}

/// 5.1.6: the epsilon.
#[test]
fn structs_are_padded_as_c_does() {
    let (c, i, d, ld) = (dt(MPI_CHAR), dt(MPI_INT), dt(MPI_DOUBLE), dt(MPI_LONG_DOUBLE));
    let s = |l: &[(i64, &Datatype)]| {
        let b = vec![1; l.len()];
        let disp: Vec<i64> = l.iter().map(|e| e.0).collect();
        let t: Vec<Datatype> = l.iter().map(|e| e.1.clone()).collect();
        Datatype::structure(&b, &disp, &t, false).unwrap()
    };
    assert_eq!(bounds(&s(&[(0, d), (8, c)])), (0, 16));
    assert_eq!(bounds(&s(&[(0, c), (4, i), (8, c)])), (0, 12));
    assert_eq!(bounds(&s(&[(0, ld), (16, c)])), (0, 32));
    assert_eq!(bounds(&s(&[(0, c), (1, c), (2, c)])), (0, 3));
    assert_eq!(bounds(&s(&[(8, d), (16, c)])), (8, 16));
    let inner = s(&[(0, i), (4, c)]);
    assert_eq!(bounds(&s(&[(0, &inner), (8, c)])), (0, 12));
}

#[test]
fn dense_is_recognised() {
    let i = dt(MPI_INT);
    let all = [
        Datatype::contiguous(5, i, false),
        Datatype::vector(3, 2, 2, i, false),
        Datatype::vector(1, 2, 7, i, false),
        Datatype::indexed(&[2, 0, 3], &[0, 50, 2], i, false),
        Datatype::indexed_block(1, &[0, 1, 2, 3], i, false),
        Datatype::structure(
            &[1, 1],
            &[0, 8],
            &[dt(MPI_DOUBLE).clone(), Datatype::contiguous(2, i, false).unwrap()],
            false,
        ),
        Datatype::subarray(&[4, 4], &[4, 4], &[0, 0], MPI_ORDER_C, i, false),
        Ok(Datatype::contiguous(2, i, false).unwrap().dup()),
    ];
    for t in all.map(Result::unwrap) {
        assert_eq!(t.dense(), Some(0), "{t:?}");
    }
    assert_eq!(Datatype::indexed_block(2, &[3], i, false).unwrap().dense(), Some(12));
    let loose = Datatype::resized(i, 0, 8, false).unwrap();
    assert_eq!((loose.dense(), loose.dense_for(1), loose.dense_for(2)), (None, Some(0), None));
    // The same bytes in another order are not one run.
    assert_eq!(Datatype::indexed_block(1, &[1, 0], i, false).unwrap().dense(), None);
    assert_eq!(Datatype::contiguous(0, i, false).unwrap().dense(), Some(0));
}

#[test]
fn large_regular_types_stay_small_and_seek_fast() {
    let d = dt(MPI_DOUBLE);
    let column = Datatype::vector(1_000_000, 1, 1000, d, false).unwrap();
    let square = Datatype::hvector(1_000_000, 1, 8, &column, false).unwrap();
    let cube = Datatype::subarray(
        &[1 << 20, 1 << 20, 1 << 20],
        &[1 << 19, 1 << 19, 1 << 19],
        &[1, 2, 3],
        MPI_ORDER_C,
        dt(MPI_BYTE),
        true,
    )
    .unwrap();
    assert_eq!((square.size(), cube.size()), (8_000_000_000_000, 1 << 57));
    assert_eq!(cube.extent(), 1 << 60);
    // The block at the stream's middle, without a walk there.
    let mut c = Cursor::new(&cube, Buf(std::ptr::null_mut()), 1);
    c.seek((1 << 56) + (1 << 18));
    let mut first = None;
    c.blocks(1 << 30, |p, len| {
        first = Some((p.addr(), len));
        false
    });
    let (x, y, z) = (1 + (1 << 18), 2, 3 + (1usize << 18));
    assert_eq!(first, Some(((((x << 20) + y) << 20) + z, 1 << 18)));
    assert_eq!(cube.elements(1 << 57), Some(1 << 57));
    assert_eq!(square.elements(1 << 40), Some(1 << 37));
}

/// Loops longer than a tile of the packing kernels, cut at odd places.
#[test]
fn long_loops_over_short_structs() {
    let parts = [dt(MPI_DOUBLE).clone(), dt(MPI_INT).clone(), dt(MPI_CHAR).clone()];
    let element = Datatype::structure(&[1, 1, 3], &[0, 12, 20], &parts, false).unwrap();
    let n = 5000;
    let mut mem: Vec<u8> = (0..n * 24).map(|i| (i * 31 % 251) as u8).collect();
    let want: Vec<u8> = mem.chunks(24).flat_map(|e| [&e[..8], &e[12..16], &e[20..23]].concat()).collect();
    for chunk in [want.len(), 4096, 1009, 15, 7] {
        let mut c = Cursor::new(&element, Buf(mem.as_mut_ptr().cast()), n);
        let mut got = vec![0; want.len()];
        for part in got.chunks_mut(chunk) {
            // SAFETY: the buffer covers the type map.
            assert_eq!(unsafe { c.pack(part) }, part.len());
        }
        assert!(got == want, "chunks of {chunk}");
        let mut back = vec![0u8; n * 24];
        let mut c = Cursor::new(&element, Buf(back.as_mut_ptr().cast()), n);
        for part in got.chunks(chunk) {
            // SAFETY: the buffer covers the type map.
            assert_eq!(unsafe { c.unpack(part) }, part.len());
        }
        assert!(back.chunks(24).flat_map(|e| [&e[..8], &e[12..16], &e[20..23]].concat()).eq(want.iter().copied()));
        assert!(back.chunks(24).all(|e| e[8..12] == [0; 4] && e[16..20] == [0; 4] && e[23] == 0));
    }
}

#[test]
fn long_chains_end_without_recursion() {
    let mut t = dt(MPI_INT).clone();
    for _ in 0..200_000 {
        t = t.dup();
    }
    assert!(t.describe().ends_with("..."));
    drop(t);
    // Structs that grow by a field each time stay flat.
    let mut t = dt(MPI_INT).clone();
    for i in 1..2000 {
        t = Datatype::structure(&[1, 1], &[0, 8 * i], &[t, dt(MPI_INT).clone()], false).unwrap();
    }
    let mut n = 0;
    oxmpi_datatype::for_each_block(&t, 1, |off, len| {
        assert_eq!((off, len), (8 * n, 4));
        n += 1;
    });
    assert_eq!((n, t.basic_count(), t.elements(400)), (2000, 2000, Some(100)));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let (i, d) = (dt(MPI_INT), dt(MPI_DOUBLE));
    let max = i64::MAX;
    let huge = Datatype::contiguous(1 << 59, d, true).unwrap();
    let many = Datatype::resized(&Datatype::contiguous(1 << 59, d, true).unwrap(), 0, 1, true).unwrap();
    let cases = [
        (Datatype::contiguous(-1, i, false), MPI_ERR_COUNT),
        (Datatype::contiguous(max, i, true), MPI_ERR_COUNT),
        (Datatype::contiguous(2, &huge, true), MPI_ERR_COUNT),
        (Datatype::vector(-2, 1, 1, i, false), MPI_ERR_COUNT),
        (Datatype::vector(2, -1, 1, i, false), MPI_ERR_ARG),
        (Datatype::vector(2, 1, max, i, true), MPI_ERR_ARG),
        (Datatype::vector(max, max, max, i, true), MPI_ERR_ARG),
        (Datatype::hvector(max, max, max, i, true), MPI_ERR_COUNT),
        (Datatype::hvector(max, 1, i64::MIN, dt(MPI_CHAR), true), MPI_ERR_ARG),
        (Datatype::hvector(max, 1, 0, i, true), MPI_ERR_COUNT),
        (Datatype::hvector(2, 1, max, i, true), MPI_ERR_ARG),
        (Datatype::indexed(&[1, -1], &[0, 0], i, false), MPI_ERR_ARG),
        (Datatype::indexed(&[1], &[max / 2], i, true), MPI_ERR_ARG),
        (Datatype::indexed(&[1, 1], &[0], i, false), MPI_ERR_ARG),
        (Datatype::indexed(&[max, max], &[0, 0], i, true), MPI_ERR_COUNT),
        (Datatype::hindexed(&[1, 1], &[i64::MIN, max - 8], i, true), MPI_ERR_ARG),
        (Datatype::hindexed(&[1], &[max - 4], i, true), MPI_ERR_ARG),
        (Datatype::indexed_block(-1, &[], i, false), MPI_ERR_ARG),
        (Datatype::hindexed_block(max, &[0, max], i, true), MPI_ERR_COUNT),
        (Datatype::structure(&[1, 1], &[0, 0], std::slice::from_ref(i), false), MPI_ERR_ARG),
        (Datatype::structure(&[-1], &[0], std::slice::from_ref(i), false), MPI_ERR_ARG),
        (Datatype::structure(&[1, 1], &[0, max], &[i.clone(), i.clone()], false), MPI_ERR_ARG),
        (Datatype::structure(&[1, 1], &[0, 0], &[huge.clone(), huge.clone()], false), MPI_ERR_COUNT),
        (Datatype::resized(i, max, max, false), MPI_ERR_ARG),
        (Datatype::subarray(&[], &[], &[], MPI_ORDER_C, i, false), MPI_ERR_ARG),
        (Datatype::subarray(&[4], &[5], &[0], MPI_ORDER_C, i, false), MPI_ERR_ARG),
        (Datatype::subarray(&[4], &[2], &[3], MPI_ORDER_C, i, false), MPI_ERR_ARG),
        (Datatype::subarray(&[4], &[2], &[0], 0, i, false), MPI_ERR_ARG),
        (Datatype::subarray(&[max, max], &[1, 1], &[0, 0], MPI_ORDER_C, i, true), MPI_ERR_ARG),
        (Datatype::subarray(&[100], &[100], &[0], MPI_ORDER_C, &many, true), MPI_ERR_COUNT),
        (Datatype::contiguous(5_000_000_000, i, false), MPI_ERR_ARG),
    ];
    for (n, (result, class)) in cases.into_iter().enumerate() {
        let e = result.expect_err(&format!("case {n}"));
        assert_eq!(e.class, class, "case {n}: {e}");
    }
    assert!(Datatype::hvector(max, 0, max, i, true).is_ok());
    assert!(Datatype::contiguous(max, &Datatype::contiguous(0, i, false).unwrap(), true).is_ok());
    assert!(d.pack_size(1 << 60).is_err() && d.pack_size(100).unwrap() == 800);
}

#[test]
fn darray_arguments_are_checked() {
    let ok = Darray {
        size: 6,
        rank: 5,
        gsizes: &[10, 10],
        distribs: &[MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC],
        dargs: &[MPI_DISTRIBUTE_DFLT_DARG, 2],
        psizes: &[2, 3],
        order: MPI_ORDER_C,
    };
    let t = Datatype::darray(&ok, dt(MPI_INT), false).unwrap();
    assert_eq!((t.size(), t.extent()), (5 * 2 * 4, 400));
    assert_eq!(t.envelope().integers, [6, 5, 2, 10, 10, 17, 18, 19, 2, 2, 3, 12]);
    let bad = [
        Darray { rank: 6, ..ok },
        Darray { size: 5, rank: 0, ..ok },
        Darray { psizes: &[6, 0], ..ok },
        Darray { gsizes: &[10, -1], ..ok },
        Darray { distribs: &[MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC], ..ok },
        Darray { distribs: &[99, MPI_DISTRIBUTE_CYCLIC], ..ok },
        Darray { dargs: &[4, 2], ..ok },
        Darray { dargs: &[0, 2], ..ok },
        Darray { gsizes: &[10], ..ok },
        Darray { order: 7, ..ok },
    ];
    for b in &bad {
        assert_eq!(Datatype::darray(b, dt(MPI_INT), false).unwrap_err().class, MPI_ERR_ARG, "{b:?}");
    }
}

/// 5.1.13: contents in the order MPI_Type_get_contents gives them.
#[test]
fn envelopes() {
    let i = dt(MPI_INT);
    let check = |t: Datatype, combiner, ints: &[i32], addresses: &[i64], counts: &[i64]| {
        let e = t.envelope();
        assert_eq!(
            (e.combiner, &e.integers[..], &e.addresses[..], &e.large_counts[..]),
            (combiner, ints, addresses, counts)
        );
        assert!(e.datatypes.iter().all(|d| d.same(i)) && !e.datatypes.is_empty());
    };
    let two = [i.clone(), i.clone()];
    check(Datatype::contiguous(3, i, false).unwrap(), MPI_COMBINER_CONTIGUOUS, &[3], &[], &[]);
    check(Datatype::contiguous(3, i, true).unwrap(), MPI_COMBINER_CONTIGUOUS, &[], &[], &[3]);
    check(Datatype::vector(3, 2, 5, i, false).unwrap(), MPI_COMBINER_VECTOR, &[3, 2, 5], &[], &[]);
    check(Datatype::hvector(3, 2, 50, i, false).unwrap(), MPI_COMBINER_HVECTOR, &[3, 2], &[50], &[]);
    check(Datatype::hvector(3, 2, 50, i, true).unwrap(), MPI_COMBINER_HVECTOR, &[], &[], &[3, 2, 50]);
    check(Datatype::indexed(&[1, 2], &[3, 4], i, false).unwrap(), MPI_COMBINER_INDEXED, &[2, 1, 2, 3, 4], &[], &[]);
    check(Datatype::hindexed(&[1, 2], &[3, 4], i, false).unwrap(), MPI_COMBINER_HINDEXED, &[2, 1, 2], &[3, 4], &[]);
    check(
        Datatype::indexed_block(7, &[3, 40], i, false).unwrap(),
        MPI_COMBINER_INDEXED_BLOCK,
        &[2, 7, 3, 40],
        &[],
        &[],
    );
    check(
        Datatype::hindexed_block(7, &[3, 400], i, false).unwrap(),
        MPI_COMBINER_HINDEXED_BLOCK,
        &[2, 7],
        &[3, 400],
        &[],
    );
    check(Datatype::structure(&[1, 2], &[3, 40], &two, false).unwrap(), MPI_COMBINER_STRUCT, &[2, 1, 2], &[3, 40], &[]);
    check(
        Datatype::structure(&[1, 2], &[3, 40], &two, true).unwrap(),
        MPI_COMBINER_STRUCT,
        &[],
        &[],
        &[2, 1, 2, 3, 40],
    );
    check(Datatype::resized(i, 3, 40, false).unwrap(), MPI_COMBINER_RESIZED, &[], &[3, 40], &[]);
    let sub = |large| Datatype::subarray(&[4, 5], &[2, 3], &[1, 0], MPI_ORDER_C, i, large).unwrap();
    check(sub(false), MPI_COMBINER_SUBARRAY, &[2, 4, 5, 2, 3, 1, 0, MPI_ORDER_C], &[], &[]);
    check(sub(true), MPI_COMBINER_SUBARRAY, &[2, MPI_ORDER_C], &[], &[4, 5, 2, 3, 1, 0]);
    check(i.dup(), MPI_COMBINER_DUP, &[], &[], &[]);
}

#[test]
fn committing() {
    let t = Datatype::contiguous(2, dt(MPI_INT), false).unwrap();
    let before = t.dup();
    t.commit();
    assert!(t.committed() && !before.committed() && t.dup().committed() && t.clone().committed());
    assert!(t.predefined_handle().is_none() && dt(MPI_INT).dup().predefined_handle().is_none());
}

#[test]
fn what_a_type_is_made_of() {
    let basic = |t: &Datatype| t.basic_type().and_then(|b| b.predefined_handle());
    let v = Datatype::vector(3, 2, 5, dt(MPI_DOUBLE_INT), false).unwrap();
    assert_eq!(basic(&v), Some(MPI_DOUBLE_INT));
    assert_eq!((v.basic_count(), v.elements(12), v.elements(8), v.elements(4)), (12, Some(2), Some(1), None));
    let mixed =
        Datatype::structure(&[1, 1, 0], &[0, 8, 0], &[dt(MPI_INT).clone(), dt(MPI_FLOAT).clone(), v], false).unwrap();
    assert_eq!(basic(&mixed), None);
    assert_eq!(basic(&Datatype::contiguous(0, dt(MPI_INT), false).unwrap()), None);
}

#[test]
fn in_words() {
    let v = Datatype::vector(3, 2, 5, dt(MPI_INT), false).unwrap();
    assert_eq!(v.to_string(), "vector(3 x 2, stride 5) of MPI_INT");
    let s = Datatype::structure(&[1, 4], &[0, 8], &[dt(MPI_DOUBLE).clone(), v.clone()], true).unwrap();
    assert_eq!(s.to_string(), "struct{1 x MPI_DOUBLE @0, 4 x vector(3 x 2, stride 5) of MPI_INT @8}");
    assert_eq!(
        format!("{v:?}"),
        "Datatype(vector(3 x 2, stride 5) of MPI_INT; 24 bytes, lb 0, extent 48, not committed)"
    );
    assert_eq!(Datatype::resized(dt(MPI_INT), 0, 8, false).unwrap().to_string(), "resized(lb 0, extent 8) of MPI_INT");
}
