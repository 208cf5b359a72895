//! Datatypes (MPI-5.0 chapter 5): type maps, flattening, pack and unpack, reduction kernels.
//! SIGNATURES FIRST: bodies arrive with the datatype branch.
#![allow(unused)]
use oxmpi_base::{Result, args::Buf, handle};

/// A datatype: cheap to clone, immutable but for its committed flag.
#[derive(Clone, Debug)]
pub struct Datatype(std::sync::Arc<()>);

impl Datatype {
    /// The predefined type of this handle value (MPI_INT, MPI_2INT, MPI_PACKED, ...).
    pub fn predefined(h: handle::Datatype) -> Option<&'static Datatype> { todo!() }
    /// Some(handle) exactly for predefined types.
    pub fn predefined_handle(&self) -> Option<handle::Datatype> { todo!() }
    /// Bytes of data in one element.
    pub fn size(&self) -> usize { todo!() }
    pub fn lb(&self) -> isize { todo!() }
    pub fn extent(&self) -> isize { todo!() }
    pub fn true_lb(&self) -> isize { todo!() }
    pub fn true_extent(&self) -> isize { todo!() }
    /// `Some(offset)`: `count` elements are one gap-free ascending run of `count*size` bytes that starts at `buf+offset`,
    /// for any count. One load on the hot path.
    pub fn dense(&self) -> Option<isize> { todo!() }
    pub fn committed(&self) -> bool { todo!() }
    pub fn commit(&self) { todo!() }
}

/// A position in the packed stream of `count` elements at `base`.
pub struct Cursor { _p: () }
impl Cursor {
    pub fn new(dt: &Datatype, base: Buf, count: usize) -> Cursor { todo!() }
    /// Bytes in the whole stream, and bytes before the cursor.
    pub fn total(&self) -> u64 { todo!() }
    pub fn position(&self) -> u64 { todo!() }
    pub fn seek(&mut self, position: u64) { todo!() }
    /// Copies the next `min(out.len(), remaining)` bytes out of the user's memory; returns how many.
    /// # Safety
    /// `base` as given to `new` is valid for reads over the type map of `count` elements.
    pub unsafe fn pack(&mut self, out: &mut [u8]) -> usize { todo!() }
    /// # Safety
    /// as `pack`, for writes.
    pub unsafe fn unpack(&mut self, data: &[u8]) -> usize { todo!() }
}

/// Local typed copy: the packed stream of the source is unpacked into the destination, up to the shorter one; returns the bytes copied.
/// # Safety
/// both buffers are valid for their type maps; they do not overlap.
pub unsafe fn copy(src: Buf, scount: usize, stype: &Datatype, dst: Buf, rcount: usize, rtype: &Datatype) -> u64 { todo!() }

/// `inout[i] = op(in[i], inout[i])` for a predefined operation on a predefined type; MPI_ERR_OP where 6.9.2 does not allow the pair.
/// # Safety
/// both pointers are valid for `count` elements (no alignment is assumed).
pub unsafe fn reduce(op: handle::Op, dt: &Datatype, input: *const u8, inout: *mut u8, count: usize) -> Result<()> { todo!() }
