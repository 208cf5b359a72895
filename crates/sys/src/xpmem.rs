//! XPMEM: mapping another process's memory, by a kernel module that speaks through /dev/xpmem.
//!
//! The module's rules that this file rests on (read in its source, shown in `cargo xtask suite kmod`):
//!
//! - A *segment* is what a process shares, here its whole address space; a *permit* is the right to attach to one; an *attachment* maps a
//!   part of it, page by page as it is touched, whatever is mapped there or not. All end with their process.
//! - When the owner unmaps, remaps or discards memory, or copies a page on write after fork, the module takes those pages out of all
//!   attachments; the next touch finds what is there then. So an attachment never shows what used to be at an address.
//! - Touching what is not there, or anything once the owner is dead, is SIGBUS: only [`crate::fault`] may touch an attachment.
//! - Unmapping a part of an attachment by munmap kills the process; it ends by [`Attachment`]'s drop.
//! - The kernel cannot pin pages of an attachment: it cannot be the remote side of process_vm_readv.
//!
//! Known gap: the module takes the close of any descriptor of /dev/xpmem for the end of everything that this process has with it.
//! So there is one [`Device`] a process, which stays open; a program that uses XPMEM beside MPI and closes its own takes ours along.
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

pub const DEVICE: &str = "/dev/xpmem";

/// Where attachable addresses end.
#[cfg(target_arch = "x86_64")]
pub const END: u64 = (1 << 47) - 4096;
#[cfg(not(target_arch = "x86_64"))]
pub const END: u64 = 1 << 48;

const MAKE: libc::c_ulong = command(1);
const REMOVE: libc::c_ulong = command(2);
const GET: libc::c_ulong = command(3);
const RELEASE: libc::c_ulong = command(4);
const ATTACH: libc::c_ulong = command(5);
const DETACH: libc::c_ulong = command(6);

/// A command without size or direction.
const fn command(number: u8) -> libc::c_ulong {
    (b'x' as libc::c_ulong) << 8 | number as libc::c_ulong
}

/// The only kind of permission there is: mode bits, checked against the owner's user and group.
const PERMIT_MODE: libc::c_int = 1;
const READ_WRITE: libc::c_int = 2;

#[repr(C)]
struct Make {
    address: u64,
    size: usize,
    permit_type: libc::c_int,
    permit_value: u64,
    segment: i64,
}

#[repr(C)]
struct Get {
    segment: i64,
    flags: libc::c_int,
    permit_type: libc::c_int,
    /// Must be 0: the mode is the owner's to say.
    permit_value: u64,
    permit: i64,
}

#[repr(C)]
struct Attach {
    permit: i64,
    offset: libc::off_t,
    size: usize,
    address: u64,
    descriptor: libc::c_int,
    flags: libc::c_int,
}

const _: () = assert!(size_of::<Make>() == 40 && size_of::<Get>() == 32 && size_of::<Attach>() == 40);

/// The open device.
pub struct Device(OwnedFd);

impl Device {
    pub fn open() -> io::Result<Arc<Device>> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(DEVICE)?;
        Ok(Arc::new(Device(file.into())))
    }

    /// `argument` must be the struct that `command` takes.
    fn ask<T>(&self, command: libc::c_ulong, argument: &mut T) -> io::Result<()> {
        // SAFETY: the argument is a live struct of this command's layout (each caller pairs them), which the module reads and writes.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), command as _, std::ptr::from_mut(argument)) } {
            r if r < 0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Lets processes of the same user attach to this one's whole memory, until the segment is dropped.
    pub fn share_all(self: &Arc<Self>) -> io::Result<Segment> {
        let mut make = Make { address: 0, size: usize::MAX, permit_type: PERMIT_MODE, permit_value: 0o600, segment: 0 };
        self.ask(MAKE, &mut make)?;
        Ok(Segment { device: self.clone(), id: make.segment })
    }

    /// The right to attach to the segment `id` of another process.
    pub fn permit(self: &Arc<Self>, id: i64) -> io::Result<Arc<Permit>> {
        let mut get = Get { segment: id, flags: READ_WRITE, permit_type: PERMIT_MODE, permit_value: 0, permit: 0 };
        self.ask(GET, &mut get)?;
        Ok(Arc::new(Permit { device: self.clone(), id: get.permit }))
    }
}

/// What this process shares.
pub struct Segment {
    device: Arc<Device>,
    id: i64,
}

impl Segment {
    /// What another process needs for [`Device::permit`]; no secret, as the mode decides.
    pub fn id(&self) -> i64 {
        self.id
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        let _ = self.device.ask(REMOVE, &mut self.id);
    }
}

/// The right to attach to one segment.
pub struct Permit {
    device: Arc<Device>,
    id: i64,
}

impl Permit {
    /// Maps `len` bytes at `offset` of the segment (both multiples of the page size). Nothing is touched, and nothing need be there.
    pub fn attach(self: &Arc<Self>, offset: u64, len: usize) -> io::Result<Attachment> {
        let offset = libc::off_t::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))?;
        let mut attach = Attach { permit: self.id, offset, size: len, address: 0, descriptor: -1, flags: 0 };
        self.device.ask(ATTACH, &mut attach)?;
        Ok(Attachment { permit: self.clone(), at: attach.address, len })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let _ = self.device.ask(RELEASE, &mut self.id);
    }
}

/// A mapping of a part of another process's memory. To be touched through [`crate::fault`] only.
pub struct Attachment {
    permit: Arc<Permit>,
    at: u64,
    len: usize,
}

impl Attachment {
    pub fn at(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.at as usize)
    }
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let _ = self.permit.device.ask(DETACH, &mut self.at);
    }
}
