//! Signals taken as data: a process that blocks them reads them one by one, with no handler anywhere.
//!
//! Invariant: nothing here installs a handler, so a child made by [`crate::process::Spawn`] has none to lose.
use std::borrow::Cow;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

pub use libc::{
    SIGABRT as ABRT, SIGALRM as ALRM, SIGCHLD as CHLD, SIGCONT as CONT, SIGHUP as HUP, SIGINT as INT, SIGKILL as KILL,
    SIGPIPE as PIPE, SIGQUIT as QUIT, SIGSEGV as SEGV, SIGSTOP as STOP, SIGTERM as TERM, SIGTSTP as TSTP,
    SIGTTIN as TTIN, SIGTTOU as TTOU, SIGUSR1 as USR1, SIGUSR2 as USR2,
};

/// A set of signals.
#[derive(Clone, Copy)]
pub struct SigSet(pub(crate) libc::sigset_t);

impl SigSet {
    pub fn of(signals: &[i32]) -> SigSet {
        // SAFETY: sigemptyset initialises the zeroed storage.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: `set` is a valid set.
        unsafe { libc::sigemptyset(&raw mut set) };
        for s in signals {
            // SAFETY: as above; an invalid number only yields EINVAL.
            unsafe { libc::sigaddset(&raw mut set, *s) };
        }
        SigSet(set)
    }
    /// This set and `signals`.
    pub fn with(&self, signals: &[i32]) -> SigSet {
        let mut set = *self;
        for s in signals {
            // SAFETY: `set` is a valid set; an invalid number only yields EINVAL.
            unsafe { libc::sigaddset(&raw mut set.0, *s) };
        }
        set
    }
    pub fn all() -> SigSet {
        let mut set = SigSet::of(&[]);
        // SAFETY: `set` is a valid set.
        unsafe { libc::sigfillset(&raw mut set.0) };
        set
    }
}

fn mask(how: libc::c_int, set: &SigSet) -> io::Result<SigSet> {
    let mut old = SigSet::of(&[]);
    // SAFETY: both sets are valid.
    match unsafe { libc::pthread_sigmask(how, &raw const set.0, &raw mut old.0) } {
        0 => Ok(old),
        e => Err(io::Error::from_raw_os_error(e)),
    }
}

/// Adds `set` to the signals that this thread blocks; returns what it blocked before.
pub fn block(set: &SigSet) -> io::Result<SigSet> {
    mask(libc::SIG_BLOCK, set)
}

/// Blocks exactly `set`.
pub fn set_mask(set: &SigSet) -> io::Result<SigSet> {
    mask(libc::SIG_SETMASK, set)
}

/// True when whoever started this process told it to ignore `signal` (nohup, a shell's `&`).
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: an all-zero sigaction is valid storage.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: `action` is a valid out pointer; nothing is changed.
    (unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut action) }) == 0 && action.sa_sigaction == libc::SIG_IGN
}

/// Waits for one of `set`, which must be blocked.
pub fn wait(set: &SigSet) -> io::Result<i32> {
    loop {
        // SAFETY: `set` is valid; no details are asked for.
        let r = unsafe { libc::sigwaitinfo(&raw const set.0, std::ptr::null_mut()) };
        if r > 0 {
            return Ok(r);
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

/// A descriptor from which blocked signals are read.
#[derive(Debug)]
pub struct SignalFd(OwnedFd);

impl SignalFd {
    pub fn new(set: &SigSet) -> io::Result<SignalFd> {
        // SAFETY: `set` is valid.
        let fd = unsafe { libc::signalfd(-1, &raw const set.0, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just gave us this descriptor.
        Ok(SignalFd(unsafe { OwnedFd::from_raw_fd(fd) }))
    }
    /// The next pending signal.
    pub fn take(&self) -> Option<i32> {
        // SAFETY: an all-zero record is valid storage.
        let mut info: libc::signalfd_siginfo = unsafe { std::mem::zeroed() };
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: `info` is writable for `size` bytes.
        let n = unsafe { libc::read(self.0.as_raw_fd(), (&raw mut info).cast(), size) };
        (n == size as isize).then_some(info.ssi_signo as i32)
    }
}

impl AsFd for SignalFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// "SIGKILL" for 9, "SIGRTMIN+3" and the like for real-time signals.
pub fn name(signal: i32) -> Cow<'static, str> {
    let known = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGILL => "SIGILL",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        libc::SIGBUS => "SIGBUS",
        libc::SIGFPE => "SIGFPE",
        libc::SIGKILL => "SIGKILL",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSTKFLT => "SIGSTKFLT",
        libc::SIGCHLD => "SIGCHLD",
        libc::SIGCONT => "SIGCONT",
        libc::SIGSTOP => "SIGSTOP",
        libc::SIGTSTP => "SIGTSTP",
        libc::SIGTTIN => "SIGTTIN",
        libc::SIGTTOU => "SIGTTOU",
        libc::SIGURG => "SIGURG",
        libc::SIGXCPU => "SIGXCPU",
        libc::SIGXFSZ => "SIGXFSZ",
        libc::SIGVTALRM => "SIGVTALRM",
        libc::SIGPROF => "SIGPROF",
        libc::SIGWINCH => "SIGWINCH",
        libc::SIGIO => "SIGIO",
        libc::SIGPWR => "SIGPWR",
        libc::SIGSYS => "SIGSYS",
        s if s >= libc::SIGRTMIN() => return format!("SIGRTMIN+{}", s - libc::SIGRTMIN()).into(),
        s => return format!("signal {s}").into(),
    };
    known.into()
}

/// Gives `signal` its default disposition.
pub fn set_default(signal: i32) {
    // SAFETY: SIG_DFL is no handler.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}
