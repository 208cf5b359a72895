//! external32 (MPI-5.0 14.5.2), and predefined types found by their properties (19.1.9, 6.9.4).
use oxmpi_base::{args::Buf, consts::*, handle};
use oxmpi_datatype::{Datatype, all_predefined, check_reduce, reduce};

fn dt(h: handle::Datatype) -> &'static Datatype {
    Datatype::predefined(h).unwrap()
}

fn pack(t: &Datatype, mem: &mut [u8], count: usize) -> Vec<u8> {
    let mut out = vec![0xcc; t.external_size(count).unwrap() as usize];
    // SAFETY: the memory covers the type map.
    let n = unsafe { t.pack_external(Buf(mem.as_mut_ptr().cast()), count, &mut out) }.unwrap();
    assert_eq!(n, out.len());
    out
}

#[test]
fn numbers_are_big_endian_and_of_the_tables_size() {
    assert_eq!(pack(dt(MPI_INT), &mut (-2i32).to_ne_bytes(), 1), [0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(pack(dt(MPI_LONG), &mut (-2i64).to_ne_bytes(), 1), [0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(pack(dt(MPI_UNSIGNED_LONG), &mut 0xfffffffeu64.to_ne_bytes(), 1), [0xff, 0xff, 0xff, 0xfe]);
    assert_eq!(pack(dt(MPI_LONG_LONG), &mut 258i64.to_ne_bytes(), 1), [0, 0, 0, 0, 0, 0, 1, 2]);
    assert_eq!(pack(dt(MPI_WCHAR), &mut 0x20acu32.to_ne_bytes(), 1), [0x20, 0xac]);
    assert_eq!(pack(dt(MPI_DOUBLE), &mut 1f64.to_ne_bytes(), 1), [0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
    let mut z = [1f32.to_ne_bytes(), 2f32.to_ne_bytes()].concat();
    assert_eq!(pack(dt(MPI_COMPLEX), &mut z, 1), [0x3f, 0x80, 0, 0, 0x40, 0, 0, 0]);
    assert_eq!(pack(dt(MPI_PACKED), &mut [1, 2, 3], 3), [1, 2, 3]);
    // Pair types leave their padding out.
    let mut pair = [7f64.to_ne_bytes(), [3, 0, 0, 0, 9, 9, 9, 9]].concat();
    assert_eq!(pack(dt(MPI_DOUBLE_INT), &mut pair, 1), [0x40, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    for t in all_predefined() {
        let short = match t.predefined_handle().unwrap() {
            MPI_LONG | MPI_UNSIGNED_LONG => 4,
            MPI_WCHAR => 2,
            MPI_LONG_INT => 8,
            _ => t.size() as u64,
        };
        assert_eq!(t.external_size(3).unwrap(), 3 * short, "{t}");
    }
}

#[test]
fn every_type_comes_back() {
    // All types in one struct with gaps, so that pieces of every form follow one another; longer than a chunk.
    let types: Vec<Datatype> = all_predefined().cloned().collect();
    let mut at = 0;
    let displs: Vec<i64> = types.iter().map(|t| (at, at += t.extent() as i64 * 2 + 3).0).collect();
    let t = Datatype::structure(&vec![2; types.len()], &displs, &types, false).unwrap();
    let count = 7;
    // Small numbers of every width, valid in every format: zero but for a low byte.
    let mut mem = vec![0u8; t.extent() as usize * count];
    for i in 0..count {
        for (t0, d) in types.iter().zip(&displs) {
            mem[i * t.extent() as usize + *d as usize] = 1 + i as u8;
            assert!(t0.extent() > 0);
        }
    }
    let packed = pack(&t, &mut mem, count);
    let mut back = vec![0u8; mem.len()];
    // SAFETY: the memory covers the type map.
    let n = unsafe { t.unpack_external(Buf(back.as_mut_ptr().cast()), count, &packed) }.unwrap();
    assert_eq!(n, packed.len());
    assert!(back == mem);

    let column = Datatype::vector(5000, 1, 3, dt(MPI_LONG), false).unwrap();
    let mut mem: Vec<u8> = (0..15000i64).flat_map(|i| (i * 77 - 100).to_ne_bytes()).collect();
    let packed = pack(&column, &mut mem, 1);
    assert_eq!((packed.len(), &packed[4..8]), (20000, &(3 * 77 - 100i32).to_be_bytes()[..]));
    let mut back = vec![0u8; mem.len()];
    // SAFETY: the memory covers the type map.
    unsafe { column.unpack_external(Buf(back.as_mut_ptr().cast()), 1, &packed) }.unwrap();
    for i in 0..15000 {
        let want = if i % 3 == 0 { &mem[i * 8..i * 8 + 8] } else { &[0; 8] };
        assert_eq!(&back[i * 8..i * 8 + 8], want);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let base = |b: &mut [u8]| Buf(b.as_mut_ptr().cast());
    let mut big = (1i64 << 31).to_ne_bytes();
    // SAFETY: the memory covers the type map.
    let e = unsafe { dt(MPI_LONG).pack_external(base(&mut big), 1, &mut [0; 4]) }.unwrap_err();
    assert_eq!(e.class, MPI_ERR_CONVERSION);
    assert!(e.message.contains("2147483648"), "{e}");
    // SAFETY: the memory covers the type map.
    let e = unsafe { dt(MPI_INT).pack_external(base(&mut big), 2, &mut [0; 7]) }.unwrap_err();
    assert_eq!(e.class, MPI_ERR_TRUNCATE);
    // SAFETY: the memory covers the type map.
    let e = unsafe { dt(MPI_INT).unpack_external(base(&mut big), 2, &[0; 7]) }.unwrap_err();
    assert_eq!(e.class, MPI_ERR_TRUNCATE);
    assert_eq!(dt(MPI_INT).external_size(1 << 62).unwrap_err().class, MPI_ERR_COUNT);
}

#[test]
fn fortran_kinds() {
    let size = |t: Datatype| t.size();
    assert_eq!(size(Datatype::f90_real(6, 37).unwrap()), 4);
    assert_eq!(size(Datatype::f90_real(7, MPI_UNDEFINED).unwrap()), 8);
    assert_eq!(size(Datatype::f90_real(MPI_UNDEFINED, 308).unwrap()), 16);
    assert_eq!(size(Datatype::f90_complex(33, 4931).unwrap()), 32);
    assert_eq!([2, 4, 9, 18, 38].map(|r| size(Datatype::f90_integer(r).unwrap())), [1, 2, 4, 8, 16]);
    for e in [
        Datatype::f90_real(MPI_UNDEFINED, MPI_UNDEFINED),
        Datatype::f90_real(34, 1),
        Datatype::f90_complex(1, 4932),
        Datatype::f90_integer(39),
    ] {
        assert_eq!(e.unwrap_err().class, MPI_ERR_ARG);
    }
    let t = Datatype::f90_real(15, 307).unwrap();
    assert!(t.same(&Datatype::f90_real(15, 307).unwrap()) && !t.same(&Datatype::f90_real(15, 306).unwrap()));
    assert!(t.committed() && t.is_predefined() && t.predefined_handle().is_none());
    assert_eq!((t.envelope().combiner, &t.envelope().integers[..]), (MPI_COMBINER_F90_REAL, &[15, 307][..]));
    assert_eq!(t.describe(), "f90_real(15, 307)");
    assert!(check_reduce(MPI_SUM, &t).is_ok() && check_reduce(MPI_BAND, &t).is_err());
    let (a, mut b) = (2.5f64.to_ne_bytes(), 1.0f64.to_ne_bytes());
    // SAFETY: both hold one element.
    unsafe { reduce(MPI_SUM, &t, a.as_ptr(), b.as_mut_ptr(), 1) }.unwrap();
    assert_eq!(f64::from_ne_bytes(b), 3.5);
    assert!(!t.dup().is_predefined() && check_reduce(MPI_SUM, &t.dup()).is_err());
}

#[test]
fn types_by_class_and_size() {
    for (class, sizes) in [
        (MPI_TYPECLASS_REAL, vec![2, 4, 8, 16]),
        (MPI_TYPECLASS_INTEGER, vec![1, 2, 4, 8, 16]),
        (MPI_TYPECLASS_COMPLEX, vec![4, 8, 16, 32]),
    ] {
        for s in 0..40 {
            match Datatype::match_size(class, s) {
                Ok(t) => assert!(sizes.contains(&s) && t.size() == s as usize && t.predefined_handle().is_some()),
                Err(e) => assert!(!sizes.contains(&s) && e.class == MPI_ERR_ARG),
            }
        }
    }
    assert!(Datatype::match_size(0, 4).is_err());
}

#[test]
fn pairs_by_value_and_index() {
    let get = |v, x| Datatype::value_index(dt(v), dt(x));
    assert!(get(MPI_DOUBLE, MPI_INT).unwrap().same(dt(MPI_DOUBLE_INT)));
    assert!(get(MPI_REAL, MPI_REAL).unwrap().same(dt(MPI_2REAL)));
    let t = get(MPI_DOUBLE, MPI_UINT64_T).unwrap();
    assert!(t.same(&get(MPI_DOUBLE, MPI_UINT64_T).unwrap()) && t.is_predefined() && t.committed());
    assert_eq!((t.size(), t.extent(), t.envelope().combiner), (16, 16, MPI_COMBINER_VALUE_INDEX));
    assert_eq!(t.describe(), "value_index(MPI_DOUBLE, MPI_UINT64_T)");
    for (v, x) in [
        (MPI_CHAR, MPI_INT),
        (MPI_COMPLEX, MPI_INT),
        (MPI_DOUBLE, MPI_FLOAT),
        (MPI_INT, MPI_INT8_T),
        (MPI_2INT, MPI_INT),
    ] {
        assert!(get(v, x).is_none());
    }
    assert!(Datatype::value_index(&t, dt(MPI_INT)).is_none());
    let lay = |v: f64, i: u64| [v.to_ne_bytes(), i.to_ne_bytes()].concat();
    let (a, mut b) = (lay(1.0, 1 << 40), lay(1.0, (1 << 40) + 1));
    // SAFETY: both hold one element.
    unsafe { reduce(MPI_MINLOC, &t, a.as_ptr(), b.as_mut_ptr(), 1) }.unwrap();
    assert_eq!(a, b);
    // Every supported pair has its kernels.
    for v in all_predefined() {
        for x in all_predefined() {
            if let Some(t) = Datatype::value_index(v, x) {
                assert!(check_reduce(MPI_MAXLOC, &t).is_ok() && check_reduce(MPI_SUM, &t).is_err(), "{t}");
            }
        }
    }
}
