use super::*;
use crate::attr;
use oxmpi_base::args::{Arr, Buf, Counts, FnPtr};
use std::ffi::c_char;

fn out<T: Copy>(v: &mut T) -> Out<T> {
    // SAFETY: a live local.
    unsafe { Out::new(v) }
}
fn arr<T: Copy>(v: &mut [T]) -> Arr<T> {
    // SAFETY: a live local.
    unsafe { Arr::new(v.as_mut_ptr()) }
}
fn class<T>(r: Result<T>) -> i32 {
    r.err().map_or(MPI_SUCCESS, |e| e.class)
}

fn vector() -> handle::Datatype {
    let mut h = MPI_DATATYPE_NULL;
    type_vector(3, 2, 4, MPI_INT, out(&mut h), false).unwrap();
    h
}

#[test]
fn life_of_a_type() {
    let mut h = vector();
    let e = get_committed(h).map(drop).unwrap_err();
    assert!(e.class == MPI_ERR_TYPE && e.message.contains("not committed"), "{e}");
    type_commit(out(&mut h)).unwrap();
    assert_eq!(get_committed(h).unwrap().dt.size(), 24);
    let (mut size, mut lb, mut extent) = (0i32, 0i64, 0i64);
    type_size(h, OutCount::Int(out(&mut size)), false).unwrap();
    type_get_extent_x(h, out(&mut lb), out(&mut extent)).unwrap();
    assert_eq!((size, lb, extent), (24, 0, 40));
    let stale = h;
    type_free(out(&mut h)).unwrap();
    assert_eq!(h, MPI_DATATYPE_NULL);
    assert_eq!(class(get(stale)), MPI_ERR_TYPE);
    h = MPI_INT;
    assert_eq!(class(type_free(out(&mut h))), MPI_ERR_TYPE);
    assert_eq!(class(type_size(MPI_DATATYPE_NULL, OutCount::Int(out(&mut size)), false)), MPI_ERR_TYPE);
    assert_eq!(class(type_contiguous(-1, MPI_INT, out(&mut h), false)), MPI_ERR_COUNT);
}

#[test]
fn names() {
    let name_of = |h| {
        let (mut buf, mut n) = ([1u8; 128], 0);
        // SAFETY: a live buffer of MPI_MAX_OBJECT_NAME bytes.
        type_get_name(h, unsafe { OutStr::new(buf.as_mut_ptr() as *mut c_char) }, out(&mut n)).unwrap();
        String::from_utf8(buf[..n as usize].to_vec()).unwrap()
    };
    assert_eq!(name_of(MPI_DOUBLE_INT), "MPI_DOUBLE_INT");
    let h = vector();
    assert_eq!(name_of(h), "");
    // SAFETY: a C string.
    type_set_name(h, unsafe { Str::new(c"row".as_ptr()) }).unwrap();
    assert_eq!(name_of(h), "row");
    assert!(get_committed(h).map(drop).unwrap_err().message.contains("'row'"));
}

#[test]
fn envelope_and_contents() {
    let (mut h, v) = (MPI_DATATYPE_NULL, vector());
    let (mut lengths, mut displs, mut types) = ([1i32, 2], [0i64, 64], [MPI_DOUBLE, v]);
    let (l, d) = (Counts::Int(arr(&mut lengths)), Counts::Wide(arr(&mut displs)));
    type_create_struct(2, l, d, arr(&mut types), out(&mut h), false).unwrap();
    let (mut ni, mut na, mut nd, mut combiner) = (0i32, 0i32, 0i32, 0);
    // SAFETY: null is allowed.
    let none = OutCount::Int(unsafe { Out::new(std::ptr::null_mut()) });
    let (i, a, t) = (OutCount::Int(out(&mut ni)), OutCount::Int(out(&mut na)), OutCount::Int(out(&mut nd)));
    type_get_envelope(h, i, a, none, t, out(&mut combiner), false).unwrap();
    assert_eq!((ni, na, nd, combiner), (3, 2, 2, MPI_COMBINER_STRUCT));
    let (mut ints, mut addrs, mut dts) = ([0i32; 3], [0i64; 2], [MPI_DATATYPE_NULL; 2]);
    let nowhere = arr::<i64>(&mut []);
    let contents = |ints: &mut [i32], addrs: &mut [i64], dts: &mut [handle::Datatype], room| {
        type_get_contents(h, room, 2, 0, 2, arr(ints), arr(addrs), nowhere, arr(dts), false)
    };
    assert_eq!(class(contents(&mut ints, &mut addrs, &mut dts, 2)), MPI_ERR_ARG);
    contents(&mut ints, &mut addrs, &mut dts, 3).unwrap();
    assert_eq!((ints, addrs, dts[0]), ([2, 1, 2], [0, 64], MPI_DOUBLE));
    assert!(dts[1] != v && get(dts[1]).unwrap().dt.same(&get(v).unwrap().dt));
    type_free(out(&mut dts[1])).unwrap();
    assert_eq!(get(v).unwrap().dt.size(), 24);
    let named = type_get_contents(MPI_INT, 0, 0, 0, 0, arr(&mut []), nowhere, nowhere, arr(&mut []), false);
    assert_eq!(class(named), MPI_ERR_TYPE);
    // made large: only the _c form decodes it
    type_contiguous(5, MPI_INT, out(&mut h), true).unwrap();
    let (i, a, t) = (OutCount::Int(out(&mut ni)), OutCount::Int(out(&mut na)), OutCount::Int(out(&mut nd)));
    assert_eq!(class(type_get_envelope(h, i, a, none, t, out(&mut combiner), false)), MPI_ERR_TYPE);
}

#[test]
fn types_by_size_and_pairs() {
    let mut h = MPI_DATATYPE_NULL;
    for (class, size, want) in [
        (MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8),
        (MPI_TYPECLASS_REAL, 4, MPI_REAL4),
        (MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16),
    ] {
        type_match_size(class, size, out(&mut h)).unwrap();
        assert_eq!(h, want);
    }
    assert_eq!(class(type_match_size(MPI_TYPECLASS_REAL, 3, out(&mut h))), MPI_ERR_ARG);
    assert_eq!(class(type_match_size(0, 4, out(&mut h))), MPI_ERR_ARG);
    type_get_value_index(MPI_DOUBLE, MPI_INT, out(&mut h)).unwrap();
    assert_eq!(h, MPI_DOUBLE_INT);
    type_get_value_index(MPI_DOUBLE, MPI_LONG, out(&mut h)).unwrap();
    assert_eq!(h, MPI_DATATYPE_NULL);
}

#[test]
fn attributes_follow_a_duplicate() {
    let (mut k, mut dup, v) = (0, MPI_DATATYPE_NULL, vector());
    attr::type_create_keyval(FnPtr(MPI_TYPE_DUP_FN), FnPtr(0), out(&mut k), 0).unwrap();
    attr::type_set_attr(v, k, 77).unwrap();
    type_dup(v, out(&mut dup)).unwrap();
    let (mut value, mut flag) = (0usize, 0);
    attr::type_get_attr(dup, k, Buf(&raw mut value as *mut _), out(&mut flag)).unwrap();
    assert_eq!((value, flag), (77, 1));
    attr::type_delete_attr(dup, k).unwrap();
    attr::type_get_attr(dup, k, Buf(&raw mut value as *mut _), out(&mut flag)).unwrap();
    assert_eq!(flag, 0);
    attr::type_set_attr(MPI_INT, k, 5).unwrap();
    attr::type_delete_attr(MPI_INT, k).unwrap();
}

#[test]
fn addresses() {
    let mut a = 0;
    let x = 5u8;
    get_address(Buf(&raw const x as *mut _), out(&mut a)).unwrap();
    assert_eq!(a, &raw const x as i64);
    assert_eq!(aint_diff(aint_add(a, 10), a), 10);
}

/// MPI-5.0 19.1.9: one handle for equal arguments; predefined, so it is committed and cannot be freed.
#[test]
fn fortran_kinds() {
    let (mut a, mut b, mut c) = (MPI_DATATYPE_NULL, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL);
    type_create_f90_real(15, 300, out(&mut a)).unwrap();
    type_create_f90_real(15, 300, out(&mut b)).unwrap();
    type_create_f90_real(14, MPI_UNDEFINED, out(&mut c)).unwrap();
    assert!(a == b && a != c && a != MPI_REAL8);
    assert_eq!(get_committed(a).unwrap().dt.size(), 8);
    assert_eq!(class(type_free(out(&mut b))), MPI_ERR_TYPE);
    assert!(get(a).is_ok());
    type_create_f90_complex(6, 30, out(&mut b)).unwrap();
    assert_eq!(get(b).unwrap().dt.size(), 8);
    type_create_f90_integer(9, out(&mut b)).unwrap();
    assert_eq!(get(b).unwrap().dt.size(), 4);
    assert_eq!(class(type_create_f90_integer(99, out(&mut b))), MPI_ERR_ARG);

    let (mut n, mut combiner) = ([0i32; 4], 0);
    let [i, d, l, t] = &mut n;
    let counts = [i, d, l, t].map(|v| OutCount::Int(out(v)));
    type_get_envelope(a, counts[0], counts[1], counts[2], counts[3], out(&mut combiner), false).unwrap();
    assert_eq!((combiner, n), (MPI_COMBINER_F90_REAL, [2, 0, 0, 0]));
    let mut args = [0i32; 2];
    let (none64, none) = (arr::<i64>(&mut []), arr::<handle::Datatype>(&mut []));
    type_get_contents(a, 2, 0, 0, 0, arr(&mut args), none64, none64, none, false).unwrap();
    assert_eq!(args, [15, 300]);

    // As a component it comes back under its one handle; a duplicate is an ordinary type.
    let (mut many, mut part) = (MPI_DATATYPE_NULL, [MPI_DATATYPE_NULL]);
    type_contiguous(3, a, out(&mut many), false).unwrap();
    type_get_contents(many, 1, 0, 0, 1, arr(&mut args), none64, none64, arr(&mut part), false).unwrap();
    assert_eq!(part[0], a);
    type_dup(a, out(&mut b)).unwrap();
    type_free(out(&mut b)).unwrap();
}
