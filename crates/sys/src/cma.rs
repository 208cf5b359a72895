//! Cross memory attach: one copy between our memory and another process's (process_vm_readv, process_vm_writev).
use std::io;

/// One run of our own memory.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub struct Run(libc::iovec);

// SAFETY: a run is an address and a length; whoever uses it answers for the memory.
unsafe impl Send for Run {}

impl Run {
    pub fn new(at: *mut u8, len: usize) -> Run {
        Run(libc::iovec { iov_base: at.cast(), iov_len: len })
    }
    #[inline]
    pub fn at(&self) -> *mut u8 {
        self.0.iov_base.cast()
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.0.iov_len
    }
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Which way the bytes go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// From the peer to us.
    Pull,
    /// From us to the peer.
    Push,
}

/// Runs that the kernel takes in one call.
pub const RUNS: usize = 1024;

/// Copies between the runs of `local`, one after the other, and the bytes at `remote` in process `pid`. EPERM, ESRCH, ENOSYS and
/// EFAULT come back as errors; what the kernel leaves over is continued (`local` is used up on the way).
///
/// # Safety
/// The runs are valid for writes (pull) or reads (push). (`remote` needs no promise: the kernel checks it.)
pub unsafe fn transfer(way: Way, pid: i32, mut remote: u64, mut local: &mut [Run]) -> io::Result<()> {
    while let Some(first) = local.first() {
        if first.is_empty() {
            local = &mut local[1..];
            continue;
        }
        let now = local.len().min(RUNS);
        let len: usize = local[..now].iter().map(Run::len).sum();
        let there = libc::iovec { iov_base: remote as usize as *mut libc::c_void, iov_len: len };
        let here = local.as_ptr() as *const libc::iovec;
        // SAFETY: `here` are `now` runs of the caller's memory (`Run` is an iovec); the kernel validates `there`.
        let n = unsafe {
            match way {
                Way::Pull => libc::process_vm_readv(pid, here, now as _, &there, 1, 0),
                Way::Push => libc::process_vm_writev(pid, here, now as _, &there, 1, 0),
            }
        };
        let mut n = match n {
            -1 => {
                let e = io::Error::last_os_error();
                if e.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(e);
            }
            0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            n => n as usize,
        };
        remote += n as u64;
        while n > 0 {
            let run = local[0];
            if n < run.len() {
                local[0] = Run::new(run.at().wrapping_add(n), run.len() - n);
                break;
            }
            n -= run.len();
            local = &mut local[1..];
        }
    }
    Ok(())
}

/// The name of an errno that single copy can meet, for messages.
pub fn errno_name(errno: i32) -> String {
    match errno {
        libc::EPERM => "EPERM".into(),
        libc::EACCES => "EACCES".into(),
        libc::ENOSYS => "ENOSYS".into(),
        libc::ESRCH => "ESRCH".into(),
        libc::EFAULT => "EFAULT".into(),
        libc::ENOMEM => "ENOMEM".into(),
        libc::EINVAL => "EINVAL".into(),
        libc::ENODEV => "ENODEV".into(),
        libc::ENOENT => "ENOENT".into(),
        n => format!("errno {n}"),
    }
}

pub const EFAULT: i32 = libc::EFAULT;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_any_number_go_both_ways() {
        let mut far: Vec<u8> = (0..6000).map(|i| i as u8).collect();
        let mut near = vec![0u8; 12_000];
        let runs = |near: &mut Vec<u8>| -> Vec<Run> {
            (0..3000).map(|i| Run::new(near.as_mut_ptr().wrapping_add(i * 4), if i % 7 == 0 { 0 } else { 2 })).collect()
        };
        let mut local = runs(&mut near);
        let total: usize = local.iter().map(Run::len).sum();
        // SAFETY: the runs lie in `near`.
        unsafe { transfer(Way::Pull, crate::pid(), far.as_ptr() as u64, &mut local) }.unwrap();
        let got: Vec<u8> = (0..3000).filter(|i| i % 7 != 0).flat_map(|i| near[i * 4..i * 4 + 2].to_vec()).collect();
        assert_eq!(got, far[..total]);
        far.fill(0);
        let mut local = runs(&mut near);
        // SAFETY: as above.
        unsafe { transfer(Way::Push, crate::pid(), far.as_mut_ptr() as u64, &mut local) }.unwrap();
        assert_eq!(got, far[..total]);
    }

    #[test]
    fn a_bad_address_is_an_error() {
        let mut byte = 0u8;
        // SAFETY: one byte of ours.
        let e = unsafe { transfer(Way::Pull, crate::pid(), 8, &mut [Run::new(&mut byte, 1)]) }.unwrap_err();
        assert_eq!(e.raw_os_error(), Some(EFAULT));
    }
}
