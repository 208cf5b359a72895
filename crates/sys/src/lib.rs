//! The operating system: the only crate that calls libc.
//!
//! Everything here returns `std::io::Result` and hands out owned descriptors and mappings, so that
//! what a process holds goes away with it. Linux only.
pub mod affinity;
pub mod cgroup;
pub mod clock;
pub mod cma;
pub mod fault;
pub mod fd;
pub mod futex;
pub mod knem;
pub mod membarrier;
pub mod memory;
pub mod pidfd;
pub mod poll;
pub mod process;
pub mod signal;
pub mod topology;
pub mod xpmem;

/// This process's id.
pub fn pid() -> i32 {
    // SAFETY: getpid has no preconditions.
    unsafe { libc::getpid() }
}

/// The name of this host, as uname gives it.
pub fn hostname() -> String {
    // SAFETY: an all-zero utsname is valid storage for uname.
    let mut u: libc::utsname = unsafe { std::mem::zeroed() };
    // SAFETY: `u` is a valid out pointer.
    if unsafe { libc::uname(&mut u) } != 0 {
        return "unknown-host".into();
    }
    let bytes: Vec<u8> = u.nodename.iter().take_while(|c| **c != 0).map(|c| *c as u8).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Lets another runnable thread have the processor.
#[inline]
pub fn yield_now() {
    // SAFETY: sched_yield has no preconditions.
    unsafe { libc::sched_yield() };
}
