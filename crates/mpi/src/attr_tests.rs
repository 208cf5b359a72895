use super::*;
use std::cell::RefCell;
use std::ffi::c_int;

fn out<T: Copy>(v: &mut T) -> Out<T> {
    // SAFETY: a live local.
    unsafe { Out::new(v) }
}

thread_local! {
    /// (what, keyval, value, extra) of each callback.
    static CALLS: RefCell<Vec<(&'static str, i32, usize, usize)>> = const { RefCell::new(Vec::new()) };
}

fn calls() -> Vec<(&'static str, i32, usize, usize)> {
    CALLS.take()
}

/// Copies even values plus one, refuses odd ones; 66 is an error.
extern "C" fn copy(_: usize, k: c_int, extra: usize, v: usize, new: *mut usize, flag: *mut c_int) -> c_int {
    CALLS.with_borrow_mut(|c| c.push(("copy", k, v, extra)));
    // SAFETY: the library passes two live pointers.
    unsafe {
        *flag = (v & 1 == 0) as c_int;
        *new = v + 1;
    }
    if v == 66 { MPI_ERR_OTHER } else { MPI_SUCCESS }
}

extern "C" fn delete(_: usize, k: c_int, v: usize, extra: usize) -> c_int {
    CALLS.with_borrow_mut(|c| c.push(("delete", k, v, extra)));
    if v == 99 { MPI_ERR_INTERN } else { MPI_SUCCESS }
}

fn keyval(extra: usize) -> i32 {
    let (c, d) = (FnPtr(copy as *const () as usize), FnPtr(delete as *const () as usize));
    let mut k = 0;
    comm_create_keyval(c, d, out(&mut k), extra).unwrap();
    k
}

const COMM: handle::Comm = MPI_COMM_WORLD;

#[test]
fn set_replaces_and_delete_deletes() {
    let (set, k) = (AttrSet::new(), keyval(7));
    assert_eq!(set.get(Kind::Comm, k).unwrap(), None);
    set.set(COMM, k, 10).unwrap();
    assert_eq!(set.get(Kind::Comm, k).unwrap(), Some(10));
    assert!(calls().is_empty());
    set.set(COMM, k, 11).unwrap();
    assert_eq!(calls(), [("delete", k, 10, 7)]);
    set.delete(COMM, k).unwrap();
    assert_eq!(calls(), [("delete", k, 11, 7)]);
    assert_eq!(set.get(Kind::Comm, k).unwrap(), None);
    set.delete(COMM, k).unwrap();
    assert!(calls().is_empty());
}

#[test]
fn a_failing_delete_keeps_the_attribute() {
    let (set, k) = (AttrSet::new(), keyval(0));
    set.set(COMM, k, 99).unwrap();
    assert_eq!(set.delete(COMM, k).unwrap_err().class, MPI_ERR_INTERN);
    assert_eq!(set.set(COMM, k, 1).unwrap_err().class, MPI_ERR_INTERN);
    assert_eq!(set.delete_all(COMM).unwrap_err().class, MPI_ERR_INTERN);
    assert_eq!(set.get(Kind::Comm, k).unwrap(), Some(99));
    calls();
}

static AGAIN: AttrSet = AttrSet::new();

/// Sets the attribute that is being deleted again, and deletes it once more; 99 is an error.
extern "C" fn set_again(_: usize, k: c_int, v: usize, extra: usize) -> c_int {
    CALLS.with_borrow_mut(|c| c.push(("delete", k, v, extra)));
    assert_eq!(AGAIN.get(Kind::Comm, k).unwrap(), Some(v), "until the callback agrees");
    AGAIN.delete(COMM, k).unwrap();
    if v % 10 == 9 {
        AGAIN.set(COMM, k, v + 1).unwrap();
        assert_eq!(AGAIN.get(Kind::Comm, k).unwrap(), Some(v + 1));
    }
    if v == 99 { MPI_ERR_INTERN } else { MPI_SUCCESS }
}

#[test]
fn a_delete_callback_can_set_again() {
    let mut k = 0;
    let d = FnPtr(set_again as *const () as usize);
    comm_create_keyval(FnPtr(MPI_COMM_NULL_COPY_FN), d, out(&mut k), 0).unwrap();
    let deleted = || calls().into_iter().map(|c| c.2).collect::<Vec<usize>>();
    AGAIN.set(COMM, k, 9).unwrap();
    AGAIN.delete(COMM, k).unwrap();
    assert_eq!((AGAIN.get(Kind::Comm, k).unwrap(), deleted()), (Some(10), vec![9]));
    AGAIN.set(COMM, k, 19).unwrap();
    AGAIN.set(COMM, k, 99).unwrap();
    assert_eq!((AGAIN.get(Kind::Comm, k).unwrap(), deleted()), (Some(99), vec![10, 19, 20]));
    assert_eq!(AGAIN.delete(COMM, k).unwrap_err().class, MPI_ERR_INTERN);
    assert_eq!((AGAIN.get(Kind::Comm, k).unwrap(), deleted()), (Some(100), vec![99]));
    AGAIN.set(COMM, k, 29).unwrap();
    AGAIN.delete_all(COMM).unwrap();
    assert_eq!((AGAIN.get(Kind::Comm, k).unwrap(), deleted()), (None, vec![100, 29, 30]));
}

const VALUES: usize = 4096;
static SHARED: AttrSet = AttrSet::new();
/// What each value is: 0 set, 1 deleted; tens are copies under way.
static STATE: [AtomicI32; 2 * VALUES] = [const { AtomicI32::new(0) }; 2 * VALUES];

extern "C" fn delete_once(_: usize, _: c_int, v: usize, _: usize) -> c_int {
    if STATE[v].fetch_add(1, Relaxed) == 0 { MPI_SUCCESS } else { MPI_ERR_INTERN }
}

extern "C" fn copy_live(_: usize, _: c_int, _: usize, v: usize, _: *mut usize, flag: *mut c_int) -> c_int {
    let before = STATE[v].fetch_add(10, Relaxed);
    std::thread::yield_now();
    let after = STATE[v].fetch_sub(10, Relaxed);
    // SAFETY: the library passes a live pointer.
    unsafe { *flag = 0 };
    if before % 10 == 0 && after % 10 == 0 { MPI_SUCCESS } else { MPI_ERR_INTERN }
}

#[test]
fn threads_delete_each_value_once() {
    let mut k = 0;
    let (c, d) = (FnPtr(copy_live as *const () as usize), FnPtr(delete_once as *const () as usize));
    comm_create_keyval(c, d, out(&mut k), 0).unwrap();
    std::thread::scope(|s| {
        for first in [0, VALUES] {
            s.spawn(move || (first..first + VALUES).for_each(|v| SHARED.set(COMM, k, v).unwrap()));
        }
        s.spawn(|| (0..VALUES).for_each(|_| SHARED.copy_all(COMM, &AttrSet::new()).unwrap()));
        s.spawn(|| (0..VALUES).for_each(|_| SHARED.delete(COMM, k).unwrap()));
    });
    SHARED.delete_all(COMM).unwrap();
    assert!(STATE.iter().all(|s| s.load(Relaxed) == 1));
}

#[test]
fn copies_in_order_and_deletes_in_reverse() {
    let set = AttrSet::new();
    let ks: Vec<i32> = (0..3).map(|_| keyval(1)).collect();
    let (mut null, mut dup) = (0, 0);
    comm_create_keyval(FnPtr(MPI_COMM_NULL_COPY_FN), FnPtr(MPI_COMM_NULL_DELETE_FN), out(&mut null), 0).unwrap();
    comm_create_keyval(FnPtr(MPI_COMM_DUP_FN), FnPtr(MPI_COMM_NULL_DELETE_FN), out(&mut dup), 0).unwrap();
    for (k, v) in [(ks[2], 20), (null, 5), (ks[0], 31), (dup, 6), (ks[1], 40)] {
        set.set(COMM, k, v).unwrap();
    }
    let new = AttrSet::new();
    set.copy_all(COMM, &new).unwrap();
    assert_eq!(calls(), [("copy", ks[2], 20, 1), ("copy", ks[0], 31, 1), ("copy", ks[1], 40, 1)]);
    assert_eq!(new.get(Kind::Comm, ks[2]).unwrap(), Some(21));
    assert_eq!(new.get(Kind::Comm, ks[0]).unwrap(), None); // the callback said no
    assert_eq!(new.get(Kind::Comm, null).unwrap(), None);
    assert_eq!(new.get(Kind::Comm, dup).unwrap(), Some(6));
    set.delete_all(COMM).unwrap();
    assert_eq!(calls(), [("delete", ks[1], 40, 1), ("delete", ks[0], 31, 1), ("delete", ks[2], 20, 1)]);
    assert_eq!(set.get(Kind::Comm, dup).unwrap(), None);
}

#[test]
fn a_failing_copy_stops() {
    let (set, a, b) = (AttrSet::new(), keyval(0), keyval(0));
    set.set(COMM, a, 66).unwrap();
    set.set(COMM, b, 2).unwrap();
    let e = set.copy_all(COMM, &AttrSet::new()).unwrap_err();
    assert_eq!(e.class, MPI_ERR_OTHER);
    assert_eq!(calls().len(), 1);
}

#[test]
fn a_freed_keyval_lives_in_its_attributes() {
    let (set, other, k) = (AttrSet::new(), AttrSet::new(), keyval(0));
    set.set(COMM, k, 2).unwrap();
    let mut freed = k;
    comm_free_keyval(out(&mut freed)).unwrap();
    assert_eq!(freed, MPI_KEYVAL_INVALID);
    assert_eq!(set.get(Kind::Comm, k).unwrap(), Some(2));
    let e = other.set(COMM, k, 2).unwrap_err();
    assert!(e.class == MPI_ERR_KEYVAL && e.message.contains("freed"), "{e}");
    set.delete(COMM, k).unwrap();
    assert_eq!(calls().len(), 1);
    assert!(set.get(Kind::Comm, k).is_err());
    freed = k;
    assert_eq!(comm_free_keyval(out(&mut freed)).unwrap_err().class, MPI_ERR_KEYVAL);
}

#[test]
fn keyvals_that_are_refused() {
    let set = AttrSet::new();
    let say = |k| {
        let e = set.set(COMM, k, 0).unwrap_err();
        assert_eq!(e.class, MPI_ERR_KEYVAL);
        e.message.to_string()
    };
    assert!(say(MPI_KEYVAL_INVALID).contains("MPI_KEYVAL_INVALID"));
    assert!(say(MPI_TAG_UB).contains("MPI_TAG_UB is predefined"));
    assert!(say(12345).contains("not a keyval"));
    let mut k = 0;
    type_create_keyval(FnPtr(0), FnPtr(0), out(&mut k), 0).unwrap();
    assert!(say(k).contains("MPI_Datatype"));
    assert_eq!(win_free_keyval(out(&mut k)).unwrap_err().class, MPI_ERR_KEYVAL);
    type_free_keyval(out(&mut k)).unwrap();
}

#[test]
fn predefined_attributes_are_pointers_to_ints() {
    set_predefined(MPI_APPNUM, MPI_UNDEFINED);
    assert_eq!(predefined_pointer(MPI_APPNUM), Some(None));
    set_predefined(MPI_APPNUM, 3);
    let p = predefined_pointer(MPI_APPNUM).unwrap().unwrap() as *const i32;
    // SAFETY: the address of a static.
    assert_eq!(unsafe { *p }, 3);
    assert_eq!(predefined_value(MPI_HOST), Some(MPI_PROC_NULL));
    assert_eq!(predefined_pointer(MPI_WIN_BASE), None);

    let (mut value, mut flag) = (0usize, 0);
    answer(Some(5), Buf(&raw mut value as *mut _), out(&mut flag)).unwrap();
    assert_eq!((value, flag), (5, 1));
    answer(None, Buf(std::ptr::null_mut()), out(&mut flag)).unwrap();
    assert_eq!(flag, 0);
}
