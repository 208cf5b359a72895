//! membarrier: lets a process that is about to sleep pay for the fence that its senders then need not have.
use std::io;

fn call(cmd: i32) -> io::Result<i32> {
    // SAFETY: membarrier takes two integers and touches no memory of ours.
    let r = unsafe { libc::syscall(libc::SYS_membarrier, cmd, 0u32, 0i32) };
    if r < 0 { Err(io::Error::last_os_error()) } else { Ok(r as i32) }
}

/// Registers this process as a receiver of [`global`] barriers. Without it others' barriers do not reach it.
pub fn register() -> io::Result<()> {
    call(libc::MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED).map(|_| ())
}

/// A full fence on every running thread of every registered process.
pub fn global() -> io::Result<()> {
    call(libc::MEMBARRIER_CMD_GLOBAL_EXPEDITED).map(|_| ())
}

/// A full fence on every running thread of this process.
pub fn own_threads() -> io::Result<()> {
    call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)?;
    call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED).map(|_| ())
}
