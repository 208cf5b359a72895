//! KNEM: copies between processes by a kernel module that speaks through /dev/knem.
//!
//! The module's rules that this file rests on (read in its source, shown in `cargo xtask suite kmod`):
//!
//! - A *region* pins the pages that lie behind some runs of memory when it is made, and has a *cookie*. Whoever has the cookie and runs
//!   as the same user copies between the region and own memory, the directions given to the region permitting.
//! - A region goes on meaning those pages whatever becomes of the addresses: after munmap and mmap it still yields the old bytes. So
//!   a region is made for one message and dropped with it. (Keeping regions would need to hear of every munmap, mremap, madvise and fork in
//!   time: no interposition hears of all of them, and userfaultfd, which does, may be forbidden.)
//! - The end of the owner takes its cookies away; a copy that is under way ends well, as it holds the pages.
//!
//! Known gap: when the owner of a region made for writing forks and then writes into one of its pages itself, it gets a page of its own and
//! what peers write goes elsewhere (seen in the guest). A region for reading has no such gap, as its owner leaves the bytes alone: so
//! where there is a choice, the receiver pulls.
use crate::cma::{RUNS, Run, Way};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

pub const DEVICE: &str = "/dev/knem";

/// The oldest version of the interface with the commands below as they are here.
const VERSION: u32 = 0xd;
/// Flags (of copies) by which the module completes a copy later than the call.
const LATER: u32 = 1 << 1 | 1 << 2 | 1 << 3;

const GET_INFO: libc::c_ulong = command(WRITE, 0x10, size_of::<Info>());
const CREATE_REGION: libc::c_ulong = command(WRITE | READ, 0x21, size_of::<CreateRegion>());
const DESTROY_REGION: libc::c_ulong = command(READ, 0x22, size_of::<u64>());
const INLINE_COPY: libc::c_ulong = command(READ, 0x33, size_of::<InlineCopy>());

/// Directions in a command's number, as the caller sees them (x86, arm64, riscv).
const WRITE: u32 = 1;
const READ: u32 = 2;

const fn command(direction: u32, number: u8, size: usize) -> libc::c_ulong {
    (direction as libc::c_ulong) << 30
        | (size as libc::c_ulong) << 16
        | (b'K' as libc::c_ulong) << 8
        | number as libc::c_ulong
}

#[repr(C)]
#[derive(Default)]
struct Info {
    version: u32,
    features: u32,
    ignored_flags: u32,
    forced_flags: u32,
}

/// The module's runs are an address and a length of eight bytes each: on 64 bits, [`Run`].
const _: () = assert!(size_of::<Run>() == 16);

#[repr(C)]
struct CreateRegion {
    runs: u64,
    count: u32,
    flags: u32,
    protection: u32,
    pad: u32,
    cookie: u64,
}

#[repr(C)]
struct InlineCopy {
    runs: u64,
    count: u32,
    write: u32,
    cookie: u64,
    offset: u64,
    flags: u32,
    status: u32,
    status_index: u32,
    pad: u32,
}

const _: () = assert!(size_of::<CreateRegion>() == 32 && size_of::<InlineCopy>() == 48);

const SUCCESS: u32 = 1;

/// What peers may do with a region.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    Read,
    Write,
}

/// The open device.
pub struct Device(OwnedFd);

impl Device {
    /// Opens the device and checks that the module speaks our version and copies when it is asked to.
    pub fn open() -> io::Result<Arc<Device>> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(DEVICE)?;
        let device = Device(file.into());
        let mut info = Info::default();
        device.ask(GET_INFO, &mut info)?;
        if info.version < VERSION {
            let e = format!("the module's interface has version {:#x}, we need {VERSION:#x}", info.version);
            return Err(io::Error::new(io::ErrorKind::Unsupported, e));
        }
        if info.forced_flags & LATER != 0 {
            let e = format!(
                "the module was loaded with forceflags={:#x}: copies would end later than they are asked for",
                info.forced_flags
            );
            return Err(io::Error::new(io::ErrorKind::Unsupported, e));
        }
        Ok(Arc::new(device))
    }

    /// `argument` must be the struct that `command` takes.
    fn ask<T>(&self, command: libc::c_ulong, argument: &mut T) -> io::Result<()> {
        // SAFETY: the argument is a live struct of this command's layout (each caller pairs them), which the module reads and writes.
        match unsafe { libc::ioctl(self.0.as_raw_fd(), command as _, std::ptr::from_mut(argument)) } {
            r if r < 0 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// A region of these runs, one after the other, until it is dropped. At most [`RUNS`] runs. (The kernel checks the addresses; that peers
    /// then read or write there is what the caller asks for.)
    ///
    /// # Safety
    /// For [`Access::Write`]: as long as the region lives, nothing else relies on the contents of the runs.
    pub unsafe fn expose(self: &Arc<Self>, runs: &[Run], access: Access) -> io::Result<Region> {
        if runs.len() > RUNS {
            return Err(io::Error::from_raw_os_error(libc::E2BIG));
        }
        let protection = match access {
            Access::Read => libc::PROT_READ,
            Access::Write => libc::PROT_WRITE,
        };
        let mut create = CreateRegion {
            runs: runs.as_ptr() as u64,
            count: runs.len() as u32,
            flags: 0,
            protection: protection as u32,
            pad: 0,
            cookie: 0,
        };
        self.ask(CREATE_REGION, &mut create)?;
        Ok(Region { device: self.clone(), cookie: create.cookie })
    }

    /// Copies between `local`, one run after the other, and the region of another process from `offset` on: from it (pull) or into it
    /// (push). The region must hold that many bytes from there, which its owner said: the module stops at its end without a word.
    ///
    /// # Safety
    /// The runs are valid for writes (pull) or reads (push).
    pub unsafe fn copy(&self, way: Way, cookie: u64, mut offset: u64, local: &[Run]) -> io::Result<()> {
        for runs in local.chunks(RUNS) {
            let mut copy = InlineCopy {
                runs: runs.as_ptr() as u64,
                count: runs.len() as u32,
                write: (way == Way::Push) as u32,
                cookie,
                offset,
                flags: 0,
                status: 0,
                status_index: 0,
                pad: 0,
            };
            self.ask(INLINE_COPY, &mut copy)?;
            if copy.status != SUCCESS {
                return Err(io::Error::from_raw_os_error(libc::EFAULT));
            }
            offset += runs.iter().map(|r| r.len() as u64).sum::<u64>();
        }
        Ok(())
    }
}

/// Memory of ours that peers may copy from or into.
pub struct Region {
    device: Arc<Device>,
    cookie: u64,
}

impl Region {
    /// What a peer needs for [`Device::copy`].
    pub fn cookie(&self) -> u64 {
        self.cookie
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        let _ = self.device.ask(DESTROY_REGION, &mut self.cookie);
    }
}
