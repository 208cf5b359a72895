//! A descriptor for a process: it becomes readable when that process ends, also where it is nobody's child
//! here, and it never means a later process with the same number.
use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Opens process `pid`. ESRCH: it is gone already. ENOSYS: a kernel before 5.3.
pub fn open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: integer arguments only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor, CLOEXEC as all pidfds.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn readable_once_the_process_has_ended() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let fd = open(child.id() as i32).unwrap();
        assert!(!crate::fd::ready(fd.as_fd(), false, 0));
        child.kill().unwrap();
        assert!(crate::fd::ready(fd.as_fd(), false, 30_000));
        child.wait().unwrap();
    }
}
