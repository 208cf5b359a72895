//! What needs no second process and no MPI_Init; tests/conformance/tools.c has the rest.
use super::*;
use crate::measures::MEASURES;
use oxmpi_base::args::{Arr, Buf};

fn out<T: Copy>(v: &mut T) -> Out<T> {
    // SAFETY: a live local.
    unsafe { Out::new(v) }
}
fn text(t: &std::ffi::CStr) -> Str {
    // SAFETY: a live string.
    unsafe { Str::new(t.as_ptr()) }
}
fn buf<T>(v: &mut T) -> Buf {
    Buf(v as *mut T as *mut _)
}
fn code(r: Result<()>) -> i32 {
    r.err().map_or(MPI_SUCCESS, |e| e.class)
}

/// One test, since the count of users is the process's.
#[test]
fn the_interface_without_mpi() {
    let (mut n, mut level) = (0, -1);
    assert_eq!(code(t_cvar_get_num(out(&mut n))), MPI_T_ERR_NOT_INITIALIZED);
    assert_eq!(code(t_finalize()), MPI_T_ERR_NOT_INITIALIZED);
    assert_eq!(code(t_init_thread(MPI_THREAD_SINGLE - 1, out(&mut level))), MPI_T_ERR_INVALID);
    t_init_thread(MPI_THREAD_SERIALIZED, out(&mut level)).unwrap();
    assert_eq!(level, MPI_THREAD_SERIALIZED);
    t_init_thread(MPI_THREAD_SINGLE, out(&mut level)).unwrap();
    t_finalize().unwrap();
    control_variables();
    performance_variables();
    lists();
    t_finalize().unwrap();
    assert_eq!(code(t_finalize()), MPI_T_ERR_NOT_INITIALIZED);
}

fn control_variables() {
    let (mut at, mut h, mut count) = (-1, 0, 0);
    t_cvar_get_index(text(c"pt2pt_eager_limit"), out(&mut at)).unwrap();
    assert_eq!(code(t_cvar_get_index(text(c"pt2pt_eager_limi"), out(&mut at))), MPI_T_ERR_INVALID_NAME);
    t_cvar_handle_alloc(at, Buf(std::ptr::null_mut()), out(&mut h), out(&mut count)).unwrap();
    assert_eq!(count, 1);
    let mut v = 0u64;
    t_cvar_read(h, buf(&mut v)).unwrap();
    let before = v;
    v = 5000;
    t_cvar_write(h, buf(&mut v)).unwrap();
    v = 0;
    assert_eq!(code(t_cvar_write(h, buf(&mut v))), MPI_T_ERR_INVALID, "0 is out of range");
    t_cvar_read(h, buf(&mut v)).unwrap();
    assert_eq!(v, 5000);
    v = before;
    t_cvar_write(h, buf(&mut v)).unwrap();
    assert_eq!(code(t_cvar_read(h, Buf(std::ptr::null_mut()))), MPI_T_ERR_INVALID);
    let stale = h;
    t_cvar_handle_free(out(&mut h)).unwrap();
    assert_eq!(h, MPI_T_CVAR_HANDLE_NULL);
    assert_eq!(code(t_cvar_read(stale, buf(&mut v))), MPI_T_ERR_INVALID_HANDLE);
    assert_eq!(code(t_cvar_handle_free(out(&mut h))), MPI_T_ERR_INVALID_HANDLE);

    t_cvar_get_index(text(c"info"), out(&mut at)).unwrap();
    t_cvar_handle_alloc(at, Buf(std::ptr::null_mut()), out(&mut h), out(&mut count)).unwrap();
    assert_eq!(count, 1024);
    let mut line = [0u8; 1024];
    line[..11].copy_from_slice(b"shm, config");
    t_cvar_write(h, buf(&mut line)).unwrap();
    t_cvar_read(h, buf(&mut line)).unwrap();
    assert_eq!(&line[..11], b"config,shm\0");
    let mut wrong = *b"nonsense\0";
    assert_eq!(code(t_cvar_write(h, buf(&mut wrong))), MPI_T_ERR_INVALID);
    let mut endless = [b'x'; 1024];
    assert_eq!(code(t_cvar_write(h, buf(&mut endless))), MPI_T_ERR_INVALID);
    t_cvar_write(h, buf(&mut [0u8; 1024])).unwrap();
    t_cvar_handle_free(out(&mut h)).unwrap();
}

fn performance_variables() {
    let (mut s, mut other, mut at, mut h, mut count) = (0, 0, -1, 0, 0);
    t_pvar_session_create(out(&mut s)).unwrap();
    t_pvar_session_create(out(&mut other)).unwrap();
    t_pvar_get_index(text(c"errors_raised"), MPI_T_PVAR_CLASS_COUNTER, out(&mut at)).unwrap();
    let wrong_class = t_pvar_get_index(text(c"errors_raised"), MPI_T_PVAR_CLASS_LEVEL, out(&mut at));
    assert_eq!(code(wrong_class), MPI_T_ERR_INVALID_NAME);
    let null = Buf(std::ptr::null_mut());
    t_pvar_handle_alloc(s, at, null, out(&mut h), out(&mut count)).unwrap();
    assert_eq!(count, 1);
    assert_eq!(code(t_pvar_start(other, h)), MPI_T_ERR_INVALID_HANDLE, "the handle is of another session");
    assert_eq!(code(t_pvar_start(h, h)), MPI_T_ERR_INVALID_SESSION);
    let mut v = 99u64;
    t_pvar_read(s, h, buf(&mut v)).unwrap();
    assert_eq!(v, 0, "a stopped handle counts nothing");
    // Other tests raise errors at the same time: what is written here is far above them.
    v = 1 << 40;
    t_pvar_write(s, h, buf(&mut v)).unwrap();
    t_pvar_start(s, MPI_T_PVAR_ALL_HANDLES).unwrap();
    crate::errhan::raise(crate::errhan::ErrObject::File(MPI_FILE_NULL), Error::new(MPI_ERR_FILE, "x"));
    t_pvar_stop(s, h).unwrap();
    t_pvar_read(s, h, buf(&mut v)).unwrap();
    assert!(v > 1 << 40 && v < (1 << 40) + 1000, "{v}");
    let mut again = 0u64;
    t_pvar_readreset(s, h, buf(&mut again)).unwrap();
    assert_eq!(again, v);
    t_pvar_read(s, h, buf(&mut v)).unwrap();
    assert_eq!(v, 0);
    assert_eq!(code(t_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, buf(&mut v))), MPI_T_ERR_INVALID_HANDLE);

    let mut t = 0;
    t_pvar_get_index(text(c"configuration"), MPI_T_PVAR_CLASS_GENERIC, out(&mut at)).unwrap();
    t_pvar_handle_alloc(s, at, null, out(&mut t), out(&mut count)).unwrap();
    let mut room = vec![1u8; count as usize];
    t_pvar_read(s, t, Buf(room.as_mut_ptr().cast())).unwrap();
    assert!(room.contains(&0));
    assert_eq!(code(t_pvar_start(s, t)), MPI_T_ERR_PVAR_NO_STARTSTOP);
    assert_eq!(code(t_pvar_reset(s, t)), MPI_T_ERR_PVAR_NO_WRITE);
    assert_eq!(code(t_pvar_write(s, t, buf(&mut v))), MPI_T_ERR_PVAR_NO_WRITE);
    assert_eq!(code(t_pvar_readreset(s, t, buf(&mut v))), MPI_T_ERR_PVAR_NO_ATOMIC);
    t_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES).unwrap();
    t_pvar_handle_free(s, out(&mut t)).unwrap();
    assert_eq!(t, MPI_T_PVAR_HANDLE_NULL);
    t_pvar_get_index(text(c"pending_operations"), MPI_T_PVAR_CLASS_LEVEL, out(&mut at)).unwrap();
    let early = t_pvar_handle_alloc(s, at, null, out(&mut t), out(&mut count));
    assert_eq!(code(early), MPI_T_ERR_NOT_ACCESSIBLE, "MPI does not run");
    let stale = s;
    t_pvar_session_free(out(&mut s)).unwrap();
    assert_eq!(s, MPI_T_PVAR_SESSION_NULL);
    assert_eq!(code(t_pvar_read(stale, h, buf(&mut v))), MPI_T_ERR_INVALID_SESSION);
    t_pvar_session_free(out(&mut other)).unwrap();
}

/// Every variable is in exactly one category.
fn lists() {
    let (mut parts, mut n) = (0, 0);
    t_category_get_num(out(&mut parts)).unwrap();
    t_cvar_get_num(out(&mut n)).unwrap();
    let mut all = Vec::new();
    for p in 0..parts {
        let mut indices = [-1i32; 256];
        // SAFETY: an array of as many elements as the call is told.
        t_category_get_cvars(p, 256, unsafe { Arr::new(indices.as_mut_ptr()) }).unwrap();
        all.extend(indices.into_iter().take_while(|i| *i >= 0));
    }
    assert_eq!(all, (0..n).collect::<Vec<i32>>());
    t_pvar_get_num(out(&mut n)).unwrap();
    assert_eq!(n as usize, MEASURES.iter().map(|m| m.len()).sum::<usize>());
    // SAFETY: null is allowed.
    let none = unsafe { Arr::new(std::ptr::null()) };
    assert_eq!(code(t_category_get_cvars(0, 1, none)), MPI_T_ERR_INVALID);
    assert_eq!(code(t_category_get_cvars(parts, 1, none)), MPI_T_ERR_INVALID_INDEX);
    assert_eq!(code(t_category_get_cvars(-1, 1, none)), MPI_T_ERR_INVALID_INDEX);
}

#[test]
fn strings_are_cut_and_measured() {
    let shown = |text: &str, mut length: i32| {
        let mut room = [b'?'; 8];
        // SAFETY: eight bytes, and no case says that there are more.
        let buffer = unsafe { OutStr::new(room.as_mut_ptr().cast()) };
        give_string(buffer, out(&mut length), text).unwrap();
        (room, length)
    };
    assert_eq!(shown("abcdef", 8), (*b"abcdef\0?", 7));
    assert_eq!(shown("abcdef", 4), (*b"abc\0????", 7));
    assert_eq!(shown("aéb", 3), (*b"a\0??????", 5), "half a character is no character");
    assert_eq!(shown("abc", 0), (*b"????????", 4));
    let mut room = [b'?'; 8];
    // SAFETY: eight bytes; null is allowed.
    let (buffer, nowhere) = unsafe { (OutStr::new(room.as_mut_ptr().cast()), Out::new(std::ptr::null_mut())) };
    give_string(buffer, nowhere, "xyz").unwrap();
    assert_eq!(room, *b"????????");
}
