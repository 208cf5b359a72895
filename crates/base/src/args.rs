//! Arguments as they arrive from C. The `abi` crate builds these views from raw pointers, one
//! `unsafe` conversion per argument; what the caller promised (that a non-null pointer is valid for
//! its documented length) is relied on here and nowhere else.
use crate::consts::*;
use crate::{Error, Result, bail};
use std::ffi::{CStr, c_char, c_void};

/// A communication buffer argument; MPI_BOTTOM (null) and MPI_IN_PLACE are values like any other.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buf(pub *mut c_void);

impl Buf {
    pub fn is_in_place(self) -> bool {
        self.0 as usize == MPI_IN_PLACE
    }
    pub fn addr(self) -> usize {
        self.0 as usize
    }
    pub fn as_ptr(self) -> *const u8 {
        self.0 as *const u8
    }
    pub fn as_mut_ptr(self) -> *mut u8 {
        self.0 as *mut u8
    }
    /// The same buffer `bytes` further on.
    pub fn offset(self, bytes: isize) -> Buf {
        Buf((self.0 as *mut u8).wrapping_offset(bytes) as *mut c_void)
    }
}

/// A function pointer argument: 0 and the small constants of the standard are told apart by value.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FnPtr(pub usize);

/// A scalar result `T *x`. Writing through null is MPI_ERR_ARG.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// # Safety
    /// `p` is null or valid for one read and write of `T` until the MPI call returns.
    pub unsafe fn new(p: *mut T) -> Self {
        Out(p)
    }
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    pub fn set(&self, v: T) -> Result<()> {
        if self.0.is_null() {
            bail!(MPI_ERR_ARG, "a result argument is a null pointer; pass the address of a variable");
        }
        // SAFETY: non-null, and `new`'s contract.
        unsafe { self.0.write_unaligned(v) };
        Ok(())
    }
    /// For `inout` arguments.
    pub fn get(&self) -> Result<T> {
        if self.0.is_null() {
            bail!(MPI_ERR_ARG, "an inout argument is a null pointer; pass the address of a variable");
        }
        // SAFETY: non-null, and `new`'s contract.
        Ok(unsafe { self.0.read_unaligned() })
    }
}

/// A scalar result that is `int *`, `MPI_Aint *` or `MPI_Count *` depending on the twin that was called.
#[derive(Clone, Copy)]
pub enum OutCount {
    Int(Out<i32>),
    Wide(Out<i64>),
}

impl OutCount {
    /// Stores `v`; where it does not fit an `int`, MPI_UNDEFINED is stored (MPI-5.0 5.1.5, 5.1.11).
    pub fn set(&self, v: i64) -> Result<()> {
        match self {
            OutCount::Int(o) => o.set(i32::try_from(v).unwrap_or(MPI_UNDEFINED)),
            OutCount::Wide(o) => o.set(v),
        }
    }
    /// Stores `v`; where it does not fit an `int`, MPI_ERR_VALUE_TOO_LARGE naming the `_c` twin.
    pub fn set_checked(&self, v: i64, what: &str) -> Result<()> {
        if let OutCount::Int(_) = self
            && i32::try_from(v).is_err()
        {
            bail!(MPI_ERR_VALUE_TOO_LARGE, "{what} is {v}, more than an int holds; call the _c form");
        }
        self.set(v)
    }
    pub fn get(&self) -> Result<i64> {
        match self {
            OutCount::Int(o) => o.get().map(i64::from),
            OutCount::Wide(o) => o.get(),
        }
    }
    pub fn is_null(&self) -> bool {
        match self {
            OutCount::Int(o) => o.is_null(),
            OutCount::Wide(o) => o.is_null(),
        }
    }
}

/// An input array of `int` or of a 64-bit type, by the twin that was called, read without a copy.
#[derive(Clone, Copy)]
pub enum Counts {
    Int(Arr<i32>),
    Wide(Arr<i64>),
}

impl Counts {
    /// Element `i`; the caller has checked `is_null` and that `i` is inside the documented length.
    #[inline]
    pub fn get(&self, i: usize) -> i64 {
        match self {
            Counts::Int(a) => a.at(i) as i64,
            Counts::Wide(a) => a.at(i),
        }
    }
    pub fn is_null(&self) -> bool {
        match self {
            Counts::Int(a) => a.is_null(),
            Counts::Wide(a) => a.is_null(),
        }
    }
    /// Both forms, as one vector.
    pub fn to_vec(&self, n: usize) -> Result<Vec<i64>> {
        if n > 0 && self.is_null() {
            bail!(MPI_ERR_ARG, "an array argument of {n} elements is a null pointer");
        }
        Ok((0..n).map(|i| self.get(i)).collect())
    }
}

/// An array argument whose length another argument gives. Null is allowed until it is looked at.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Arr<T>(*mut T);

impl<T: Copy> Arr<T> {
    /// # Safety
    /// `p` is null or valid, for the duration of the MPI call, for the length the standard documents.
    pub unsafe fn new(p: *const T) -> Self {
        Arr(p as *mut T)
    }
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    pub fn as_ptr(&self) -> *mut T {
        self.0
    }
    #[inline]
    pub fn at(&self, i: usize) -> T {
        debug_assert!(!self.0.is_null());
        // SAFETY: non-null (callers check once per call) and `new`'s contract on the length.
        unsafe { self.0.add(i).read_unaligned() }
    }
    #[inline]
    pub fn put(&self, i: usize, v: T) {
        debug_assert!(!self.0.is_null());
        // SAFETY: as for `at`; the argument is an output array.
        unsafe { self.0.add(i).write_unaligned(v) }
    }
    /// The first `n` elements; null with `n > 0` is MPI_ERR_ARG.
    pub fn slice<'a>(&self, n: usize) -> Result<&'a [T]> {
        if n == 0 {
            return Ok(&[]);
        }
        if self.0.is_null() {
            bail!(MPI_ERR_ARG, "an array argument of {n} elements is a null pointer");
        }
        // SAFETY: non-null, `new`'s contract; C arrays of T are aligned.
        Ok(unsafe { std::slice::from_raw_parts(self.0, n) })
    }
}

/// A `const char *` argument.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Str(*const c_char);

impl Str {
    /// # Safety
    /// `p` is null or a NUL-terminated string valid for the duration of the MPI call.
    pub unsafe fn new(p: *const c_char) -> Self {
        Str(p)
    }
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    pub fn get<'a>(&self) -> Result<&'a CStr> {
        if self.0.is_null() {
            bail!(MPI_ERR_ARG, "a string argument is a null pointer");
        }
        // SAFETY: non-null and `new`'s contract.
        Ok(unsafe { CStr::from_ptr(self.0) })
    }
}

/// A `char *` result.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct OutStr(*mut c_char);

impl OutStr {
    /// # Safety
    /// `p` is null or valid for the length the standard documents for the argument.
    pub unsafe fn new(p: *mut c_char) -> Self {
        OutStr(p)
    }
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    /// Writes at most `capacity - 1` bytes and a NUL; returns the bytes written without the NUL.
    pub fn write(&self, s: &[u8], capacity: usize) -> Result<usize> {
        if self.0.is_null() {
            bail!(MPI_ERR_ARG, "a string result argument is a null pointer");
        }
        if capacity == 0 {
            return Ok(0);
        }
        let n = s.len().min(capacity - 1);
        // SAFETY: non-null and `new`'s contract: `capacity` is the documented length.
        unsafe {
            std::ptr::copy_nonoverlapping(s.as_ptr(), self.0 as *mut u8, n);
            *self.0.add(n) = 0;
        }
        Ok(n)
    }
}

/// A checked non-negative count.
pub fn count(n: i64) -> Result<usize> {
    usize::try_from(n).map_err(|_| Error::new(MPI_ERR_COUNT, format!("count is {n}; a count must not be negative")))
}
