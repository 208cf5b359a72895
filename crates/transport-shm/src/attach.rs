//! A peer's memory through the kernel modules XPMEM and KNEM, where a system has them.
//!
//! **XPMEM.** What we keep of a peer are [`WINDOW`]s of its address space, attached when they are first needed: whole and aligned, whatever is
//! mapped there, so that there is no bookkeeping of intervals; at most [`WINDOWS`], of which the one unused for longest goes. Nothing has to
//! tell us when the peer unmaps or reuses memory: the module takes such pages out of every attachment before the owner's system call
//! ends, and our next touch finds what is there then, or nothing. (Others, who keep attachments of exact intervals, hook munmap and the like
//! to drop them; that misses system calls that do not go through the hooked function, and guards against something that the module
//! has seen to.) What is not there, or a peer that died in the middle, is EFAULT, as `sys::fault` copies.
//!
//! **KNEM.** A region for each message, dropped with it: `sys::knem` says why none is kept. As a region is pinned when it is made, it
//! costs as much as the copy that it saves for small messages; it is for systems that refuse everything else.
//!
//! Both are opened at most once a process. A device that is not there, or a module that refuses, is a sentence.
use oxmpi_sys::cma::{Run, Way};
use oxmpi_sys::fault::Copier;
use oxmpi_sys::{knem, xpmem};
use std::io;
use std::sync::Arc;

/// Bytes of a peer's address space that are attached together: many enough that few windows hold what a program sends from.
pub const WINDOW: u64 = 1 << 30;

/// Windows that are kept of one peer.
pub const WINDOWS: usize = 64;

/// This process's XPMEM.
pub struct Xpmem {
    device: Arc<xpmem::Device>,
    segment: xpmem::Segment,
}

impl Xpmem {
    /// Opens the device and lets peers of the same user attach; or says why that cannot be.
    pub fn open() -> Result<Xpmem, String> {
        let device = xpmem::Device::open().map_err(|e| said(xpmem::DEVICE, &e))?;
        let segment = device.share_all().map_err(|e| said("sharing memory by XPMEM", &e))?;
        Ok(Xpmem { device, segment })
    }

    /// What peers need to attach. Never 0.
    pub fn segid(&self) -> u64 {
        self.segment.id() as u64
    }

    /// The memory of the peer that published `segid`. A peer that is gone is an error here or at the first copy.
    pub fn peer(&self, segid: u64) -> io::Result<PeerMemory> {
        Ok(PeerMemory { permit: self.device.permit(segid as i64)?, windows: Recent::default() })
    }
}

/// A peer's memory, by XPMEM.
pub struct PeerMemory {
    permit: Arc<xpmem::Permit>,
    windows: Recent<xpmem::Attachment>,
}

impl PeerMemory {
    /// Copies between the runs of `local`, one after the other, and the peer's memory from `remote` on. EFAULT: something is not there on
    /// the peer's side, or the peer has died; what has been copied is not known then.
    ///
    /// # Safety
    /// The runs are valid for writes (pull) or reads (push), and are no memory of attachments.
    pub unsafe fn copy(&mut self, way: Way, remote: u64, local: &[Run]) -> io::Result<()> {
        let copier = Copier::now();
        let mut at = remote;
        for run in local {
            let (mut near, mut left) = (run.at(), run.len());
            while left > 0 {
                let number = at / WINDOW;
                let (far, room) = self.reach(at)?;
                let n = left.min(room);
                // SAFETY: the near side is the caller's promise; the far side is attached for `room` bytes, and the attachment lives in
                // `windows`, which nothing changes meanwhile.
                if let Err(e) = unsafe { copier.copy(way, far, near, n) } {
                    self.windows.forget(number);
                    return Err(e);
                }
                near = near.wrapping_add(n);
                at += n as u64;
                left -= n;
            }
        }
        Ok(())
    }

    /// Where `at` is attached, and for how many bytes from there.
    fn reach(&mut self, at: u64) -> io::Result<(*mut u8, usize)> {
        let number = at / WINDOW;
        let start = number * WINDOW;
        // Nothing can be mapped from END on: like any other address where nothing is.
        let len = xpmem::END.saturating_sub(start).min(WINDOW);
        let offset = at - start;
        if offset >= len {
            return Err(io::Error::from_raw_os_error(oxmpi_sys::cma::EFAULT));
        }
        let permit = &self.permit;
        let window = self.windows.get(number, || permit.attach(start, len as usize))?;
        Ok((window.at().wrapping_add(offset as usize), (len - offset) as usize))
    }

    /// Windows that are attached now.
    pub fn windows(&self) -> usize {
        self.windows.kept.len()
    }
}

/// A few things by number, the most recently used first.
struct Recent<T> {
    kept: Vec<(u64, T)>,
}

impl<T> Default for Recent<T> {
    fn default() -> Recent<T> {
        Recent { kept: Vec::new() }
    }
}

impl<T> Recent<T> {
    fn get(&mut self, number: u64, make: impl FnOnce() -> io::Result<T>) -> io::Result<&T> {
        match self.kept.iter().position(|(n, _)| *n == number) {
            Some(at) => self.kept[..=at].rotate_right(1),
            None => {
                // The old one goes first: address space may be what is short.
                self.kept.truncate(WINDOWS - 1);
                self.kept.insert(0, (number, make()?));
            }
        }
        Ok(&self.kept[0].1)
    }

    fn forget(&mut self, number: u64) {
        self.kept.retain(|(n, _)| *n != number);
    }
}

/// This process's KNEM.
pub struct Knem {
    device: Arc<knem::Device>,
}

/// Memory of ours that a peer reaches by KNEM until this is dropped.
pub struct Exposure {
    region: knem::Region,
}

impl Exposure {
    /// What the peer needs for [`Knem::copy`].
    pub fn cookie(&self) -> u64 {
        self.region.cookie()
    }
}

impl Knem {
    /// Opens the device; or says why that cannot be.
    pub fn open() -> Result<Knem, String> {
        Ok(Knem { device: knem::Device::open().map_err(|e| said(knem::DEVICE, &e))? })
    }

    /// Lets peers pull from these runs (at most `sys::cma::RUNS`), as one message.
    pub fn offer(&self, runs: &[Run]) -> io::Result<Exposure> {
        // SAFETY: a region for reading writes nothing.
        Ok(Exposure { region: unsafe { self.device.expose(runs, knem::Access::Read) }? })
    }

    /// Lets peers push into these runs. See the known gap in `sys::knem`: where there is a choice, the receiver pulls.
    ///
    /// # Safety
    /// Nothing else relies on the contents of the runs while the exposure lives.
    pub unsafe fn accept(&self, runs: &[Run]) -> io::Result<Exposure> {
        // SAFETY: the caller's promise.
        Ok(Exposure { region: unsafe { self.device.expose(runs, knem::Access::Write) }? })
    }

    /// Copies between the runs of `local` and what a peer exposed, from `offset` on; the peer said that this many bytes are there. EINVAL: the
    /// exposure is gone, perhaps with its owner.
    ///
    /// # Safety
    /// The runs are valid for writes (pull) or reads (push).
    pub unsafe fn copy(&self, way: Way, cookie: u64, offset: u64, local: &[Run]) -> io::Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.device.copy(way, cookie, offset, local) }
    }
}

/// `/dev/xpmem: No such file or directory`, without the number that std adds.
fn said(what: &str, e: &io::Error) -> String {
    let text = e.to_string();
    format!("{what}: {}", text.split(" (os error").next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn the_window_unused_for_longest_goes() {
        let made = Cell::new(0);
        let mut recent = Recent::default();
        let mut get = |n: u64| {
            let got = *recent.get(n, || Ok(made.replace(made.get() + 1) + 1)).unwrap();
            (got, recent.kept.len())
        };
        for n in 0..WINDOWS {
            assert_eq!(get(n as u64), (n + 1, n + 1));
        }
        assert_eq!(get(0).0, 1, "still there");
        assert_eq!(get(1000), (WINDOWS + 1, WINDOWS));
        assert_eq!(get(0).0, 1, "it was used after 1");
        assert_eq!(get(1).0, WINDOWS + 2, "that went");
    }

    #[test]
    fn a_window_that_cannot_be_made_leaves_the_others() {
        let mut recent = Recent::default();
        recent.get(1, || Ok(1)).unwrap();
        assert!(recent.get(2, || Err(io::ErrorKind::OutOfMemory.into())).is_err());
        assert_eq!(*recent.get(1, || unreachable!()).unwrap(), 1);
    }

    /// Where the modules are there, `examples/kmod.rs` is the test.
    #[test]
    fn a_device_that_is_not_there_is_a_sentence() {
        if !std::path::Path::new(xpmem::DEVICE).exists() {
            assert_eq!(Xpmem::open().err().unwrap(), "/dev/xpmem: No such file or directory");
        }
        if !std::path::Path::new(knem::DEVICE).exists() {
            assert_eq!(Knem::open().err().unwrap(), "/dev/knem: No such file or directory");
        }
    }
}
