//! Addresses, pack and unpack (MPI-5.0 5.1.5, 5.2). The packed form is the bytes in type map order,
//! without a header, so `MPI_Pack_size` is exact.
//!
//! `unsafe` here: user buffers are handed to the cursor of the `datatype` crate, on the program's promise
//! that they are as large as count and datatype say.

use super::get_committed;
use crate::comm;
use oxmpi_base::args::{self, Buf, Out, OutCount};
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
            "{bytes} bytes at position {position} do not fit {what}, which has {size} bytes; MPI_Pack_size tells what is needed"
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
    let (t, n, at) = (get_committed(datatype)?, args::count(incount)?, position.get()?);
    let bytes = t.dt.pack_size(n)?;
    check_user_buffer(inbuf, bytes, &t.dt, "inbuf")?;
    let to = packed_at(outbuf, outsize, at, bytes, "outbuf")?;
    // SAFETY: the program promises `inbuf` for `incount` elements and `outbuf` for `outsize` bytes, of which
    // `bytes` from `to` on were checked to exist.
    let done = unsafe { Cursor::new(&t.dt, inbuf, n).pack_to(to, bytes as usize) };
    position.set(at + done as i64)
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
    let (t, n, at) = (get_committed(datatype)?, args::count(outcount)?, position.get()?);
    let bytes = t.dt.pack_size(n)?;
    check_user_buffer(outbuf, bytes, &t.dt, "outbuf")?;
    let from = packed_at(inbuf, insize, at, bytes, "inbuf")?;
    // SAFETY: as in `pack`, the other way round.
    let done = unsafe { Cursor::new(&t.dt, outbuf, n).unpack_from(from, bytes as usize) };
    position.set(at + done as i64)
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
