//! Cross memory attach: one copy from another process's memory (process_vm_readv).
use std::io;

/// Copies `len` bytes at `remote` in process `pid` to `local`. EPERM, ESRCH, ENOSYS and EFAULT come back
/// as errors; a short read by the kernel is continued.
///
/// # Safety
/// `local` is valid for writes of `len` bytes. (`remote` needs no promise: the kernel checks it.)
pub unsafe fn read(pid: i32, remote: u64, local: *mut u8, len: usize) -> io::Result<()> {
    let mut done = 0;
    while done < len {
        let here = libc::iovec { iov_base: local.wrapping_add(done) as *mut libc::c_void, iov_len: len - done };
        let there = libc::iovec { iov_base: (remote as usize + done) as *mut libc::c_void, iov_len: len - done };
        // SAFETY: `here` lies within the caller's buffer; the kernel validates `there`.
        let n = unsafe { libc::process_vm_readv(pid, &here, 1, &there, 1, 0) };
        match n {
            -1 => {
                let e = io::Error::last_os_error();
                if e.kind() != io::ErrorKind::Interrupted {
                    return Err(e);
                }
            }
            0 => return Err(io::Error::from_raw_os_error(libc::EFAULT)),
            n => done += n as usize,
        }
    }
    Ok(())
}
