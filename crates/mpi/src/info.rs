//! Info objects (MPI-5.0 chapter 10) and `MPI_INFO_ENV` (11.2.2).
//!
//! Invariants: keys keep the order in which they were first set; a key has at most
//! `MPI_MAX_INFO_KEY - 1` bytes and a value at most `MPI_MAX_INFO_VAL - 1`; nothing here needs MPI to be
//! initialised, and every procedure is thread-safe at every thread level.
//!
//! Known gaps: `MPI_INFO_ENV` and what `MPI_Info_create_env` makes know the command line, the host, the
//! architecture and the working directory themselves; everything the launcher knows has to be passed to
//! [`bind_env`].

use crate::table::{Ref, Table};
use oxmpi_base::args::{Buf, Out, OutStr, Str};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_pmi::env;
use std::sync::{Arc, Mutex, MutexGuard};

const MAX_KEY: usize = MPI_MAX_INFO_KEY as usize - 1;
const MAX_VALUE: usize = MPI_MAX_INFO_VAL as usize - 1;

/// A key and its value.
pub type Pair = (Box<[u8]>, Box<[u8]>);

/// Ordered (key, value) pairs.
#[derive(Debug, Default)]
pub struct Info {
    pairs: Mutex<Vec<Pair>>,
    read_only: bool,
}

impl Info {
    pub fn new() -> Info {
        Info::default()
    }
    fn pairs(&self) -> MutexGuard<'_, Vec<Pair>> {
        self.pairs.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// A copy with the same order.
    pub fn duplicate(&self) -> Info {
        Info { pairs: Mutex::new(self.pairs().clone()), read_only: false }
    }
    pub fn get(&self, key: &[u8]) -> Option<Box<[u8]>> {
        self.pairs().iter().find(|p| &*p.0 == key).map(|p| p.1.clone())
    }
    /// The value of a key, if it is set and is UTF-8.
    pub fn get_str(&self, key: &str) -> Option<String> {
        self.get(key.as_bytes()).and_then(|v| String::from_utf8(v.into()).ok())
    }
    /// Adds a pair, or replaces the value of a key that exists.
    pub fn set(&self, key: &[u8], value: &[u8]) -> Result<()> {
        check_key(key)?;
        if value.len() > MAX_VALUE {
            bail!(
                MPI_ERR_INFO_VALUE,
                "the value of key '{}' has {} bytes; at most {MAX_VALUE} are allowed",
                text(key),
                value.len()
            );
        }
        self.check_writable()?;
        let mut pairs = self.pairs();
        match pairs.iter_mut().find(|p| &*p.0 == key) {
            Some(p) => p.1 = value.into(),
            None => pairs.push((key.into(), value.into())),
        }
        Ok(())
    }
    pub fn delete(&self, key: &[u8]) -> Result<()> {
        check_key(key)?;
        self.check_writable()?;
        let mut pairs = self.pairs();
        let Some(i) = pairs.iter().position(|p| &*p.0 == key) else {
            bail!(MPI_ERR_INFO_NOKEY, "the info object has no key '{}'", text(key));
        };
        pairs.remove(i);
        Ok(())
    }
    pub fn len(&self) -> usize {
        self.pairs().len()
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    pub fn nth_key(&self, n: usize) -> Option<Box<[u8]>> {
        self.pairs().get(n).map(|p| p.0.clone())
    }
    /// All pairs, as they are now.
    pub fn snapshot(&self) -> Vec<Pair> {
        self.pairs().clone()
    }
    fn check_writable(&self) -> Result<()> {
        if self.read_only {
            bail!(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed; MPI_Info_dup gives a copy that can");
        }
        Ok(())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().take(80).collect()
}

fn check_key(key: &[u8]) -> Result<()> {
    if key.is_empty() {
        bail!(MPI_ERR_INFO_KEY, "the info key is empty");
    }
    if key.len() > MAX_KEY {
        bail!(
            MPI_ERR_INFO_KEY,
            "the info key '{}...' has {} bytes; at most {MAX_KEY} are allowed",
            text(key),
            key.len()
        );
    }
    Ok(())
}

fn key_of<'a>(key: Str) -> Result<&'a [u8]> {
    if key.is_null() {
        bail!(MPI_ERR_INFO_KEY, "the info key is a null pointer");
    }
    let key = key.get()?.to_bytes();
    check_key(key)?;
    Ok(key)
}

static INFOS: Table<handle::Info, Info> = Table::new();

/// The info object of a handle, or MPI_ERR_INFO with the reason.
pub fn get(h: handle::Info) -> Result<Ref<'static, handle::Info, Info>> {
    INFOS.get(h)
}

/// As [`get`], for arguments that may be MPI_INFO_NULL.
pub fn optional(h: handle::Info) -> Result<Option<Ref<'static, handle::Info, Info>>> {
    if h == MPI_INFO_NULL { Ok(None) } else { get(h).map(Some) }
}

/// How many info objects the program holds.
pub fn live() -> usize {
    INFOS.live()
}

/// A new handle for `info`.
pub fn insert(info: Info) -> Result<handle::Info> {
    INFOS.insert(Arc::new(info))
}

/// What this process knows about how it was started (keys of MPI-5.0 11.2.2), then `known`, which wins.
/// Values that do not fit are left out.
pub fn env_info(known: &[(&str, &str)]) -> Info {
    use std::os::unix::ffi::OsStrExt;
    let info = Info::new();
    let put = |key: &str, value: &[u8]| {
        if !value.is_empty() {
            let _too_long_is_left_out = info.set(key.as_bytes(), value);
        }
    };
    let mut args = std::env::args_os();
    if let Some(command) = args.next() {
        put("command", command.as_bytes());
    }
    let rest: Vec<_> = args.collect();
    put("argv", &rest.iter().map(|a| a.as_bytes()).collect::<Vec<_>>().join(&b' '));
    if let Ok(host) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
        put("host", host.trim().as_bytes());
    }
    put("arch", std::env::consts::ARCH.as_bytes());
    if let Ok(dir) = std::env::current_dir() {
        put("wdir", dir.as_os_str().as_bytes());
    }
    for (k, v) in known {
        put(k, v.as_bytes());
    }
    info
}

/// Makes MPI_INFO_ENV usable. Called at initialisation with what the launcher and the init call decided
/// (`maxprocs`, `soft`, ...). There is no `thread_level`: that is what was asked for before the program started, which nothing here can.
pub fn bind_env(known: &[(&str, &str)]) {
    let info = Info { read_only: true, ..env_info(known) };
    INFOS.bind(MPI_INFO_ENV, Arc::new(info));
}

/// How many ranks this job has, as far as that is known before the start.
fn job_size() -> Option<usize> {
    match crate::world::any_world() {
        Some(w) => Some(w.size),
        None => std::env::var(env::SIZE).ok().and_then(|n| env::decimal(&n)),
    }
}

fn give(out: Out<handle::Info>, make: impl FnOnce() -> Info) -> Result<()> {
    if out.is_null() {
        return out.set(MPI_INFO_NULL);
    }
    out.set(insert(make())?)
}

// ---- the procedures ----

pub fn info_create(info: Out<handle::Info>) -> Result<()> {
    give(info, Info::new)
}

/// The arguments of `main` are read from the process, so `argc` and `argv` may be 0 and null.
pub fn info_create_env(_argc: i32, _argv: Buf, info: Out<handle::Info>) -> Result<()> {
    give(info, || match INFOS.peek(MPI_INFO_ENV) {
        Some(known) => known.duplicate(),
        None => match job_size() {
            Some(n) => env_info(&[("maxprocs", &n.to_string())]),
            None => env_info(&[]),
        },
    })
}

pub fn info_delete(info: handle::Info, key: Str) -> Result<()> {
    get(info)?.delete(key_of(key)?)
}

pub fn info_dup(info: handle::Info, newinfo: Out<handle::Info>) -> Result<()> {
    let old = get(info)?;
    give(newinfo, || old.duplicate())
}

pub fn info_free(info: Out<handle::Info>) -> Result<()> {
    INFOS.remove(info.get()?)?;
    info.set(MPI_INFO_NULL)
}

/// Deprecated in MPI-4.0: cuts the value to `valuelen` bytes without telling.
pub fn info_get(info: handle::Info, key: Str, valuelen: i32, value: OutStr, flag: Out<i32>) -> Result<()> {
    let (info, key) = (get(info)?, key_of(key)?);
    let Ok(valuelen) = usize::try_from(valuelen) else {
        bail!(MPI_ERR_ARG, "valuelen is {valuelen}; it must not be negative");
    };
    let found = info.get(key);
    flag.set(found.is_some() as i32)?;
    if let Some(v) = found {
        value.write(&v, valuelen + 1)?;
    }
    Ok(())
}

pub fn info_get_nkeys(info: handle::Info, nkeys: Out<i32>) -> Result<()> {
    nkeys.set(get(info)?.len() as i32)
}

pub fn info_get_nthkey(info: handle::Info, n: i32, key: OutStr) -> Result<()> {
    let info = get(info)?;
    let Some(k) = usize::try_from(n).ok().and_then(|n| info.nth_key(n)) else {
        bail!(MPI_ERR_ARG, "there is no key number {n}: the info object has {} keys, counted from 0", info.len());
    };
    key.write(&k, MPI_MAX_INFO_KEY as usize).map(drop)
}

/// `buflen` counts the terminating NUL both ways; a `buflen` of 0 only asks for the length.
pub fn info_get_string(info: handle::Info, key: Str, buflen: Out<i32>, value: OutStr, flag: Out<i32>) -> Result<()> {
    let (info, key) = (get(info)?, key_of(key)?);
    let Ok(capacity) = usize::try_from(buflen.get()?) else {
        bail!(MPI_ERR_ARG, "buflen is {}; it must not be negative", buflen.get()?);
    };
    let found = info.get(key);
    flag.set(found.is_some() as i32)?;
    if let Some(v) = found {
        if capacity > 0 {
            value.write(&v, capacity)?;
        }
        buflen.set(v.len() as i32 + 1)?;
    }
    Ok(())
}

/// Deprecated in MPI-4.0: the length does not count the terminating NUL.
pub fn info_get_valuelen(info: handle::Info, key: Str, valuelen: Out<i32>, flag: Out<i32>) -> Result<()> {
    let (info, key) = (get(info)?, key_of(key)?);
    let found = info.get(key);
    flag.set(found.is_some() as i32)?;
    match found {
        Some(v) => valuelen.set(v.len() as i32),
        None => Ok(()),
    }
}

pub fn info_set(info: handle::Info, key: Str, value: Str) -> Result<()> {
    let (info, key) = (get(info)?, key_of(key)?);
    if value.is_null() {
        bail!(MPI_ERR_INFO_VALUE, "the value for key '{}' is a null pointer", text(key));
    }
    info.set(key, value.get()?.to_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{CStr, CString, c_char};

    fn out<T: Copy>(v: &mut T) -> Out<T> {
        // SAFETY: a live local.
        unsafe { Out::new(v) }
    }
    fn s(c: &CStr) -> Str {
        // SAFETY: a live C string.
        unsafe { Str::new(c.as_ptr()) }
    }
    fn ostr(b: &mut [u8]) -> OutStr {
        // SAFETY: a live buffer; the tests pass its length.
        unsafe { OutStr::new(b.as_mut_ptr() as *mut c_char) }
    }
    fn made() -> handle::Info {
        let mut h = MPI_INFO_NULL;
        info_create(out(&mut h)).unwrap();
        h
    }

    #[test]
    fn keys_keep_their_order() {
        let h = made();
        for (k, v) in [(c"b", c"1"), (c"a", c"2"), (c"c", c"3"), (c"a", c"22")] {
            info_set(h, s(k), s(v)).unwrap();
        }
        info_delete(h, s(c"b")).unwrap();
        let mut n = 0;
        info_get_nkeys(h, out(&mut n)).unwrap();
        assert_eq!(n, 2);
        let mut key = [0u8; 256];
        info_get_nthkey(h, 1, ostr(&mut key)).unwrap();
        assert_eq!(&key[..2], b"c\0");
        assert_eq!(info_get_nthkey(h, 2, ostr(&mut key)).unwrap_err().class, MPI_ERR_ARG);
        assert_eq!(info_delete(h, s(c"b")).unwrap_err().class, MPI_ERR_INFO_NOKEY);
        let mut copy = MPI_INFO_NULL;
        info_dup(h, out(&mut copy)).unwrap();
        info_delete(h, s(c"a")).unwrap();
        assert_eq!(&*get(copy).unwrap().get(b"a").unwrap(), b"22");
    }

    #[test]
    fn get_string_tells_the_length_with_the_nul() {
        let h = made();
        info_set(h, s(c"k"), s(c"hello")).unwrap();
        let (mut flag, mut len) = (0, 0);
        // SAFETY: null is allowed.
        let null = unsafe { OutStr::new(std::ptr::null_mut()) };
        info_get_string(h, s(c"k"), out(&mut len), null, out(&mut flag)).unwrap();
        assert_eq!((flag, len), (1, 6));
        let mut buf = [b'x'; 8];
        len = 3;
        info_get_string(h, s(c"k"), out(&mut len), ostr(&mut buf), out(&mut flag)).unwrap();
        assert_eq!((len, &buf[..4]), (6, &b"he\0x"[..]));
        len = 8;
        info_get_string(h, s(c"none"), out(&mut len), ostr(&mut buf), out(&mut flag)).unwrap();
        assert_eq!((flag, len, buf[0]), (0, 8, b'h'));
        info_get(h, s(c"k"), 2, ostr(&mut buf), out(&mut flag)).unwrap();
        assert_eq!((flag, &buf[..3]), (1, &b"he\0"[..]));
        info_get_valuelen(h, s(c"k"), out(&mut len), out(&mut flag)).unwrap();
        assert_eq!(len, 5);
    }

    #[test]
    fn limits() {
        let h = made();
        let long = CString::new(vec![b'k'; 256]).unwrap();
        assert_eq!(info_set(h, s(&long), s(c"v")).unwrap_err().class, MPI_ERR_INFO_KEY);
        assert_eq!(info_set(h, s(c""), s(c"v")).unwrap_err().class, MPI_ERR_INFO_KEY);
        let key = CString::new(vec![b'k'; 255]).unwrap();
        info_set(h, s(&key), s(c"v")).unwrap();
        let long = CString::new(vec![b'v'; 1024]).unwrap();
        assert_eq!(info_set(h, s(c"k"), s(&long)).unwrap_err().class, MPI_ERR_INFO_VALUE);
        let mut h2 = h;
        info_free(out(&mut h2)).unwrap();
        assert_eq!(h2, MPI_INFO_NULL);
        assert_eq!(info_free(out(&mut h2)).unwrap_err().class, MPI_ERR_INFO);
        assert_eq!(info_set(h, s(c"k"), s(c"v")).unwrap_err().class, MPI_ERR_INFO);
    }

    #[test]
    fn env_is_read_only() {
        bind_env(&[("maxprocs", "4"), ("thread_level", "MPI_THREAD_MULTIPLE")]);
        let env = get(MPI_INFO_ENV).unwrap();
        assert_eq!(env.get_str("maxprocs").unwrap(), "4");
        assert!(env.get_str("command").is_some() && env.get_str("wdir").is_some());
        assert!(info_set(MPI_INFO_ENV, s(c"k"), s(c"v")).is_err());
        let mut h = MPI_INFO_ENV;
        assert!(info_free(out(&mut h)).is_err());
        info_create_env(0, Buf(std::ptr::null_mut()), out(&mut h)).unwrap();
        info_set(h, s(c"k"), s(c"v")).unwrap();
    }
}
