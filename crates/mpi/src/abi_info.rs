//! The ABI chapter's inquiries (MPI-5.0 chapter 20). Handles are converted to and from integers in the
//! `abi` crate, since the value is the integer.
//!
//! What the Fortran compiler's types look like is not this library's to know: a Fortran binding tells it
//! once (MPI_Abi_set_fortran_info, MPI_Abi_set_fortran_booleans) and others ask. Setting a second time is
//! MPI_ERR_ABI. Everything works before MPI_Init and after MPI_Finalize, from any thread.
//!
//! Known gaps: sizes that are set are kept and reported, but MPI_INTEGER, MPI_REAL and MPI_LOGICAL stay
//! four bytes wide; other sizes are refused.

use crate::callback;
use crate::info::{self, Info};
use oxmpi_base::args::{Buf, Out};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use std::sync::Mutex;

/// Size of a LOGICAL, its true and its false, as bytes.
struct Booleans {
    size: usize,
    yes: [u8; 16],
    no: [u8; 16],
}

static FORTRAN_INFO: Mutex<Option<Info>> = Mutex::new(None);
static BOOLEANS: Mutex<Option<Booleans>> = Mutex::new(None);

pub fn abi_get_version(abi_major: Out<i32>, abi_minor: Out<i32>) -> Result<()> {
    abi_major.set(MPI_ABI_VERSION)?;
    abi_minor.set(MPI_ABI_SUBVERSION)
}

/// Sizes of the three integer types the ABI leaves to the platform.
pub fn abi_get_info(info: Out<handle::Info>) -> Result<()> {
    if info.is_null() {
        return info.set(MPI_INFO_NULL);
    }
    let i = Info::new();
    for key in ["mpi_aint_size", "mpi_count_size", "mpi_offset_size"] {
        i.set(key.as_bytes(), b"8")?;
    }
    info.set(info::insert(i)?)
}

/// MPI_INFO_NULL while nothing has been set.
pub fn abi_get_fortran_info(info: Out<handle::Info>) -> Result<()> {
    if info.is_null() {
        return info.set(MPI_INFO_NULL);
    }
    let copy = FORTRAN_INFO.lock().unwrap_or_else(|e| e.into_inner()).as_ref().map(Info::duplicate);
    info.set(match copy {
        Some(copy) => info::insert(copy)?,
        None => MPI_INFO_NULL,
    })
}

pub fn abi_set_fortran_info(info: handle::Info) -> Result<()> {
    let new = info::get(info)?.duplicate();
    for (key, expected) in
        [("mpi_logical_size", 4), ("mpi_integer_size", 4), ("mpi_real_size", 4), ("mpi_double_precision_size", 8)]
    {
        if let Some(v) = new.get_str(key)
            && v.parse() != Ok(expected)
        {
            bail!(MPI_ERR_ABI, "{key} is {v}; oxmpi supports Fortran compilers where it is {expected}");
        }
    }
    let mut slot = FORTRAN_INFO.lock().unwrap_or_else(|e| e.into_inner());
    if slot.is_some() {
        bail!(MPI_ERR_ABI, "the Fortran info has been set already; it can be set once");
    }
    *slot = Some(new);
    Ok(())
}

fn logical_bytes(size: i32) -> Result<usize> {
    match size {
        1 | 2 | 4 | 8 | 16 => Ok(size as usize),
        _ => bail!(MPI_ERR_ARG, "logical_size is {size}; a LOGICAL has 1, 2, 4, 8 or 16 bytes"),
    }
}

/// `is_set` is false, and nothing else is written, while nothing has been set for this size.
pub fn abi_get_fortran_booleans(
    logical_size: i32,
    logical_true: Buf,
    logical_false: Buf,
    is_set: Out<i32>,
) -> Result<()> {
    let size = logical_bytes(logical_size)?;
    let slot = BOOLEANS.lock().unwrap_or_else(|e| e.into_inner());
    let known = slot.as_ref().filter(|b| b.size == size);
    is_set.set(known.is_some() as i32)?;
    if let Some(b) = known {
        callback::store_bytes(logical_true, &b.yes[..size])?;
        callback::store_bytes(logical_false, &b.no[..size])?;
    }
    Ok(())
}

pub fn abi_set_fortran_booleans(logical_size: i32, logical_true: Buf, logical_false: Buf) -> Result<()> {
    let size = logical_bytes(logical_size)?;
    let mut b = Booleans { size, yes: [0; 16], no: [0; 16] };
    callback::load_bytes(logical_true, &mut b.yes[..size])?;
    callback::load_bytes(logical_false, &mut b.no[..size])?;
    let mut slot = BOOLEANS.lock().unwrap_or_else(|e| e.into_inner());
    if slot.is_some() {
        bail!(MPI_ERR_ABI, "the Fortran booleans have been set already; they can be set once");
    }
    *slot = Some(b);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn out<T: Copy>(v: &mut T) -> Out<T> {
        // SAFETY: a live local.
        unsafe { Out::new(v) }
    }
    fn buf<T>(v: &mut T) -> Buf {
        Buf(v as *mut T as *mut _)
    }

    #[test]
    fn version_and_sizes() {
        let (mut major, mut minor, mut h) = (0, 9, MPI_INFO_NULL);
        abi_get_version(out(&mut major), out(&mut minor)).unwrap();
        assert_eq!((major, minor), (1, 0));
        abi_get_info(out(&mut h)).unwrap();
        assert_eq!(info::get(h).unwrap().get_str("mpi_count_size").unwrap(), "8");
    }

    #[test]
    fn what_fortran_tells_is_told_once() {
        let mut h = MPI_INFO_ENV;
        abi_get_fortran_info(out(&mut h)).unwrap();
        assert_eq!(h, MPI_INFO_NULL);
        let i = Info::new();
        i.set(b"mpi_integer_size", b"8").unwrap();
        let mine = info::insert(i).unwrap();
        assert_eq!(abi_set_fortran_info(mine).unwrap_err().class, MPI_ERR_ABI);
        info::get(mine).unwrap().set(b"mpi_integer_size", b"4").unwrap();
        abi_set_fortran_info(mine).unwrap();
        assert_eq!(abi_set_fortran_info(mine).unwrap_err().class, MPI_ERR_ABI);
        abi_get_fortran_info(out(&mut h)).unwrap();
        assert_eq!(info::get(h).unwrap().get_str("mpi_integer_size").unwrap(), "4");

        let (mut yes, mut no, mut set) = (0i32, 5i32, 7);
        abi_get_fortran_booleans(4, buf(&mut yes), buf(&mut no), out(&mut set)).unwrap();
        assert_eq!((yes, no, set), (0, 5, 0));
        let (mut t, mut f) = (1i32, 0i32);
        abi_set_fortran_booleans(4, buf(&mut t), buf(&mut f)).unwrap();
        abi_get_fortran_booleans(4, buf(&mut yes), buf(&mut no), out(&mut set)).unwrap();
        assert_eq!((yes, no, set), (1, 0, 1));
        abi_get_fortran_booleans(8, buf(&mut yes), buf(&mut no), out(&mut set)).unwrap();
        assert_eq!(set, 0);
        assert_eq!(abi_set_fortran_booleans(4, buf(&mut t), buf(&mut f)).unwrap_err().class, MPI_ERR_ABI);
        assert_eq!(abi_set_fortran_booleans(3, buf(&mut t), buf(&mut f)).unwrap_err().class, MPI_ERR_ARG);
    }
}
