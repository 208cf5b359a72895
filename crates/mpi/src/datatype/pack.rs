//! Addresses, pack and unpack (MPI-5.0 5.1.5, 5.2, 5.3). The packed form is the bytes in type map order,
//! without a header, so `MPI_Pack_size` is exact; the portable form, `external32`, is the `datatype` crate's.
//!
//! `unsafe` here: user buffers are handed to the cursor of the `datatype` crate, on the program's promise
//! that they are as large as count and datatype say.

use super::get_committed;
use crate::comm;
use oxmpi_base::args::{self, Buf, Out, OutCount, Str};
use oxmpi_base::consts::*;
use oxmpi_base::{Result, bail, handle};
use oxmpi_datatype::{Cursor, Datatype};

pub fn get_address(location: Buf, address: Out<i64>) -> Result<()> {
    address.set(location.addr() as i64)
}

pub fn aint_add(base: i64, disp: i64) -> i64 {
    base.wrapping_add(disp)
}

pub fn aint_diff(addr1: i64, addr2: i64) -> i64 {
    addr1.wrapping_sub(addr2)
}

/// A null pointer is MPI_BOTTOM, which only a type with absolute addresses goes with.
fn check_user_buffer(buf: Buf, bytes: u64, dt: &Datatype, what: &str) -> Result<()> {
    if bytes > 0 && (buf.is_in_place() || buf.addr() == 0 && dt.true_lb() == 0) {
        bail!(MPI_ERR_BUFFER, "{what} is {:#x}, where {bytes} bytes of {dt} cannot be", buf.addr());
    }
    Ok(())
}

/// Where `bytes` bytes at `position` of a packed buffer of `size` bytes are.
fn packed_at(packed: Buf, size: i64, position: i64, bytes: u64, what: &str) -> Result<*mut u8> {
    if size < 0 || position < 0 || position > size {
        bail!(MPI_ERR_ARG, "position is {position} and {what} has {size} bytes; 0 <= position <= size is needed");
    }
    if bytes > (size - position) as u64 {
        bail!(
            MPI_ERR_TRUNCATE,
            "{bytes} bytes at position {position} do not fit {what}, which has {size} bytes; MPI_Pack_size and MPI_Pack_external_size tell what is needed"
        );
    }
    if bytes > 0 && packed.addr() == 0 {
        bail!(MPI_ERR_BUFFER, "{what} is a null pointer");
    }
    Ok(packed.as_mut_ptr().wrapping_add(position as usize))
}

#[allow(clippy::too_many_arguments)] // the standard's list
pub fn pack(
    inbuf: Buf,
    incount: i64,
    datatype: handle::Datatype,
    outbuf: Buf,
    outsize: i64,
    position: OutCount,
    comm: handle::Comm,
    _large: bool,
) -> Result<()> {
    comm::get(comm)?;
    position.set(pack_at(inbuf, incount, datatype, outbuf, outsize, position.get()?)?)
}

/// Returns the position after the packed data.
fn pack_at(inbuf: Buf, incount: i64, dt: handle::Datatype, outbuf: Buf, outsize: i64, at: i64) -> Result<i64> {
    let (t, n) = (get_committed(dt)?, args::count(incount)?);
    let bytes = t.dt.pack_size(n)?;
    check_user_buffer(inbuf, bytes, &t.dt, "inbuf")?;
    let to = packed_at(outbuf, outsize, at, bytes, "outbuf")?;
    // SAFETY: the program promises `inbuf` for `incount` elements and `outbuf` for `outsize` bytes, of which
    // `bytes` from `to` on were checked to exist.
    let done = unsafe { Cursor::new(&t.dt, inbuf, n).pack_to(to, bytes as usize) };
    Ok(at + done as i64)
}

#[allow(clippy::too_many_arguments)] // the standard's list
pub fn unpack(
    inbuf: Buf,
    insize: i64,
    position: OutCount,
    outbuf: Buf,
    outcount: i64,
    datatype: handle::Datatype,
    comm: handle::Comm,
    _large: bool,
) -> Result<()> {
    comm::get(comm)?;
    position.set(unpack_at(inbuf, insize, position.get()?, outbuf, outcount, datatype)?)
}

/// Returns the position after the data that was unpacked.
fn unpack_at(inbuf: Buf, insize: i64, at: i64, outbuf: Buf, outcount: i64, dt: handle::Datatype) -> Result<i64> {
    let (t, n) = (get_committed(dt)?, args::count(outcount)?);
    let bytes = t.dt.pack_size(n)?;
    check_user_buffer(outbuf, bytes, &t.dt, "outbuf")?;
    let from = packed_at(inbuf, insize, at, bytes, "inbuf")?;
    // SAFETY: as in `pack_at`, the other way round.
    let done = unsafe { Cursor::new(&t.dt, outbuf, n).unpack_from(from, bytes as usize) };
    Ok(at + done as i64)
}

pub fn pack_size(
    incount: i64,
    datatype: handle::Datatype,
    comm: handle::Comm,
    size: OutCount,
    _large: bool,
) -> Result<()> {
    comm::get(comm)?;
    let bytes = get_committed(datatype)?.dt.pack_size(args::count(incount)?)?;
    size.set_checked(bytes as i64, "the pack size")
}

// ---- external32 ----

/// MPI-5.0 5.3: there is one representation.
fn is_external32(datarep: Str) -> Result<()> {
    let name = datarep.get()?;
    if name != c"external32" {
        bail!(
            MPI_ERR_UNSUPPORTED_DATAREP,
            "the data representation is '{}'; only 'external32' can be packed",
            name.to_string_lossy()
        );
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)] // the standard's list
pub fn pack_external(
    datarep: Str,
    inbuf: Buf,
    incount: i64,
    datatype: handle::Datatype,
    outbuf: Buf,
    outsize: i64,
    position: OutCount,
    _large: bool,
) -> Result<()> {
    is_external32(datarep)?;
    let (t, n, at) = (get_committed(datatype)?, args::count(incount)?, position.get()?);
    let bytes = t.dt.external_size(n)?;
    check_user_buffer(inbuf, bytes, &t.dt, "inbuf")?;
    let to = packed_at(outbuf, outsize, at, bytes, "outbuf")?;
    if bytes > 0 {
        // SAFETY: `packed_at` found these bytes inside the buffer that the program promises; not null, as there are some.
        let out = unsafe { std::slice::from_raw_parts_mut(to, bytes as usize) };
        // SAFETY: the program promises `inbuf` for `incount` elements.
        unsafe { t.dt.pack_external(inbuf, n, out)? };
    }
    position.set_checked(at + bytes as i64, "the position after the packed data")
}

#[allow(clippy::too_many_arguments)] // the standard's list
pub fn unpack_external(
    datarep: Str,
    inbuf: Buf,
    insize: i64,
    position: OutCount,
    outbuf: Buf,
    outcount: i64,
    datatype: handle::Datatype,
    _large: bool,
) -> Result<()> {
    is_external32(datarep)?;
    let (t, n, at) = (get_committed(datatype)?, args::count(outcount)?, position.get()?);
    let bytes = t.dt.external_size(n)?;
    check_user_buffer(outbuf, bytes, &t.dt, "outbuf")?;
    let from = packed_at(inbuf, insize, at, bytes, "inbuf")?;
    if bytes > 0 {
        // SAFETY: as in `pack_external`, the other way round.
        let data = unsafe { std::slice::from_raw_parts(from, bytes as usize) };
        // SAFETY: the program promises `outbuf` for `outcount` elements.
        unsafe { t.dt.unpack_external(outbuf, n, data)? };
    }
    position.set_checked(at + bytes as i64, "the position after the unpacked data")
}

pub fn pack_external_size(
    datarep: Str,
    incount: i64,
    datatype: handle::Datatype,
    size: OutCount,
    _large: bool,
) -> Result<()> {
    is_external32(datarep)?;
    let bytes = get_committed(datatype)?.dt.external_size(args::count(incount)?)?;
    size.set_checked(bytes as i64, "the pack size")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::{type_commit, type_vector};

    fn buf<T>(v: &mut [T]) -> Buf {
        Buf(v.as_mut_ptr() as *mut _)
    }

    #[test]
    fn there_and_back() {
        let mut column = MPI_DATATYPE_NULL;
        // SAFETY: a live local, twice.
        let out = unsafe { Out::new(&mut column) };
        type_vector(3, 1, 2, MPI_INT, out, false).unwrap();
        let (mut a, mut packed) = ([1, 2, 3, 4, 5, 6], [0u8; 20]);
        let e = pack_at(buf(&mut a), 1, column, buf(&mut packed), 20, 0).unwrap_err();
        assert_eq!(e.class, MPI_ERR_TYPE);
        type_commit(out).unwrap();
        let p = pack_at(buf(&mut a), 1, column, buf(&mut packed), 20, 0).unwrap();
        let p = pack_at(buf(&mut a[1..]), 1, MPI_INT, buf(&mut packed), 20, p).unwrap();
        assert_eq!(p, 16);
        let mut b = [0; 4];
        assert_eq!(unpack_at(buf(&mut packed), 16, 0, buf(&mut b), 4, MPI_INT).unwrap(), 16);
        assert_eq!(b, [1, 3, 5, 2]);
    }

    #[test]
    fn refusals() {
        let (mut a, mut packed) = ([1, 2], [0u8; 8]);
        let mut class = |inbuf: Option<Buf>, count, outsize, at| {
            let inbuf = inbuf.unwrap_or(buf(&mut a));
            pack_at(inbuf, count, MPI_INT, buf(&mut packed), outsize, at).map_or_else(|e| e.class, |_| MPI_SUCCESS)
        };
        assert_eq!(class(None, 2, 8, 0), MPI_SUCCESS);
        assert_eq!(class(None, 2, 8, 4), MPI_ERR_TRUNCATE);
        assert_eq!(class(None, 1, 8, 9), MPI_ERR_ARG);
        assert_eq!(class(None, -1, 8, 0), MPI_ERR_COUNT);
        assert_eq!(class(Some(Buf(std::ptr::null_mut())), 1, 8, 0), MPI_ERR_BUFFER);
        assert_eq!(class(Some(Buf(std::ptr::null_mut())), 0, 8, 8), MPI_SUCCESS);
    }

    #[test]
    fn external32() {
        // SAFETY: C strings.
        let (rep, native) = unsafe { (Str::new(c"external32".as_ptr()), Str::new(c"native".as_ptr())) };
        let (mut a, mut packed, mut b) = ([1i64, -2], [0u8; 12], [0i64; 2]);
        let mut at = 1i64;
        // SAFETY: a live local.
        let position = OutCount::Wide(unsafe { Out::new(&mut at) });
        pack_external_size(rep, 2, MPI_LONG, position, true).unwrap();
        assert_eq!(position.get().unwrap(), 8);
        position.set(1).unwrap();
        pack_external(rep, buf(&mut a), 2, MPI_LONG, buf(&mut packed), 12, position, true).unwrap();
        assert_eq!((position.get().unwrap(), &packed[1..9]), (9, &[0, 0, 0, 1, 255, 255, 255, 254][..]));
        position.set(1).unwrap();
        unpack_external(rep, buf(&mut packed), 9, position, buf(&mut b), 2, MPI_LONG, true).unwrap();
        assert_eq!((position.get().unwrap(), b), (9, [1, -2]));
        let e = unpack_external(rep, buf(&mut packed), 9, position, buf(&mut b), 1, MPI_LONG, true).unwrap_err();
        assert_eq!(e.class, MPI_ERR_TRUNCATE);
        let e = pack_external_size(native, 2, MPI_LONG, position, true).unwrap_err();
        assert_eq!(e.class, MPI_ERR_UNSUPPORTED_DATAREP);
    }
}
