//! Memory that MPI gives to the program (MPI-5.0 9.2), and pointers written through `void *` arguments.
//!
//! Blocks large enough for it lie in the job's shared memory, where the other ranks of the node copy from and to them directly.
use crate::world;
use oxmpi_base::args::Buf;
use oxmpi_base::consts::*;
use oxmpi_base::{Error, Result, bail, handle};
use oxmpi_transport_shm::heap::Block;
use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::sync::Mutex;

/// A block given out.
enum Memory {
    /// Of this process alone.
    Own(Layout),
    /// Freed when it is dropped.
    Shared(#[allow(dead_code)] Block),
}

/// Blocks given out, by address.
static BLOCKS: Mutex<Option<HashMap<usize, Memory>>> = Mutex::new(None);

/// Smaller blocks are copied through the rings anyway.
const SHARED_MIN: usize = 16 * 1024;
/// Alignment of shared blocks.
const PAGE: usize = 4096;

fn shared(size: usize, align: usize) -> Option<Block> {
    if size < SHARED_MIN || align > PAGE {
        return None;
    }
    let heap = world::engine().ok()?.enter(|s| s.heap())?;
    heap.allocate(size).ok()
}

/// Stores a pointer where a `void *` argument that is really a `void **` points.
pub fn store_pointer(to: Buf, value: usize) -> Result<()> {
    if to.addr() == 0 {
        return Err(Error::arg("the argument for a returned pointer is null; pass the address of a pointer variable"));
    }
    // SAFETY: the standard documents this argument as the address of a pointer; it is not null.
    unsafe { (to.0 as *mut usize).write_unaligned(value) };
    Ok(())
}

/// MPI-5.0 9.2; the info keys `mpi_minimum_memory_alignment` is honoured, others are accepted.
pub fn alloc_mem(size: i64, info: handle::Info, baseptr: Buf) -> Result<()> {
    let size = usize::try_from(size).map_err(|_| Error::arg(format!("size is {size}; it must not be negative")))?;
    let mut align = 64;
    if let Some(i) = crate::info::optional(info)?
        && let Some(v) = i.get_str("mpi_minimum_memory_alignment")
    {
        let bad = || {
            Error::new(MPI_ERR_INFO_VALUE, format!("mpi_minimum_memory_alignment is {v:?}; a power of two is expected"))
        };
        align = v.parse::<usize>().ok().filter(|a| a.is_power_of_two()).ok_or_else(bad)?.max(64);
    }
    if size == 0 {
        return store_pointer(baseptr, 0);
    }
    if let Some(block) = shared(size, align) {
        let at = block.base().as_ptr() as usize;
        let mut blocks = BLOCKS.lock().unwrap_or_else(|e| e.into_inner());
        blocks.get_or_insert_default().insert(at, Memory::Shared(block));
        return store_pointer(baseptr, at);
    }
    let none = || Error::new(MPI_ERR_NO_MEM, format!("no memory for {size} bytes"));
    let layout = Layout::from_size_align(size, align).map_err(|_| none())?;
    // SAFETY: the size is not zero.
    let p = unsafe { alloc(layout) };
    if p.is_null() {
        return Err(none());
    }
    let mut blocks = BLOCKS.lock().unwrap_or_else(|e| e.into_inner());
    blocks.get_or_insert_default().insert(p as usize, Memory::Own(layout));
    store_pointer(baseptr, p as usize)
}

pub fn free_mem(base: Buf) -> Result<()> {
    if base.addr() == 0 {
        return Ok(());
    }
    let mut blocks = BLOCKS.lock().unwrap_or_else(|e| e.into_inner());
    let Some(memory) = blocks.as_mut().and_then(|b| b.remove(&base.addr())) else {
        bail!(MPI_ERR_BASE, "{:p} was not given out by MPI_Alloc_mem, or was freed already", base.0);
    };
    drop(blocks);
    if let Memory::Own(layout) = memory {
        // SAFETY: given out by `alloc` with this layout and removed from the list just now.
        unsafe { dealloc(base.as_mut_ptr(), layout) };
    }
    Ok(())
}
