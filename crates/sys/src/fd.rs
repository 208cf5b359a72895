//! Descriptors: pipes, socket pairs, inheritance across exec, what a descriptor refers to, and reads and
//! writes that never block a launcher.
//!
//! Invariants: everything created here is CLOEXEC; a descriptor reaches another program only when it is
//! named in [`crate::process::Spawn`].
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Mutex;

fn check(r: libc::c_int) -> io::Result<libc::c_int> {
    if r < 0 { Err(io::Error::last_os_error()) } else { Ok(r) }
}

fn check_len(r: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(r).map_err(|_| io::Error::last_os_error())
}

/// (read end, write end).
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: `fds` has room for two descriptors.
    check(unsafe { libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC) })?;
    // SAFETY: the kernel just gave us both.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// A connected pair of Unix sockets that keep message boundaries.
pub fn seqpacket_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: `fds` has room for two descriptors.
    check(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0, fds.as_mut_ptr()) })?;
    // SAFETY: the kernel just gave us both.
    Ok(unsafe { (OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])) })
}

/// Asks the kernel to stamp every message received on `fd` with the sender's process id.
pub fn receive_credentials(fd: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: `on` is a valid int for the length given.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PASSCRED,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// True when `fd` is a Unix socket of type SOCK_SEQPACKET.
pub fn is_seqpacket(fd: BorrowedFd<'_>) -> bool {
    let option = |name| {
        let mut value: libc::c_int = 0;
        let mut len = size_of::<libc::c_int>() as libc::socklen_t;
        // SAFETY: `value` and `len` are valid out pointers.
        let r =
            unsafe { libc::getsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut len) };
        (r == 0).then_some(value)
    };
    option(libc::SO_DOMAIN) == Some(libc::AF_UNIX) && option(libc::SO_TYPE) == Some(libc::SOCK_SEQPACKET)
}

/// Sends one message; a vanished peer is an error, not a signal.
pub fn send(fd: BorrowedFd<'_>, bytes: &[u8], wait: bool) -> io::Result<usize> {
    let flags = libc::MSG_NOSIGNAL | if wait { 0 } else { libc::MSG_DONTWAIT };
    // SAFETY: `bytes` is readable for its length.
    check_len(unsafe { libc::send(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), flags) })
}

/// One received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Bytes of the message that fitted; 0 is also what the end of the stream looks like.
    pub len: usize,
    /// The message was longer than the buffer.
    pub truncated: bool,
    /// The sender as the kernel saw it, where [`receive_credentials`] is on.
    pub sender: Option<i32>,
}

/// Takes one message without waiting. Descriptors that a peer attaches are closed unseen.
pub fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<Received> {
    #[repr(align(8))]
    struct Ancillary([u8; 64]);
    let mut ancillary = Ancillary([0; 64]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: an all-zero msghdr is valid; the fields that matter are set below.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = ancillary.0.as_mut_ptr().cast();
    header.msg_controllen = ancillary.0.len() as _;
    let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
    // SAFETY: header points at live buffers of the stated lengths.
    let len = check_len(unsafe { libc::recvmsg(fd.as_raw_fd(), &raw mut header, flags) })?;
    let mut sender = None;
    // SAFETY: the kernel filled `header`; CMSG_* walk only inside msg_controllen, and each payload is read
    // unaligned and only when the message is long enough for it.
    unsafe {
        let mut message = libc::CMSG_FIRSTHDR(&raw const header);
        while !message.is_null() {
            let payload = ((*message).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
            let data = libc::CMSG_DATA(message);
            match ((*message).cmsg_level, (*message).cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) if payload >= size_of::<libc::ucred>() => {
                    sender = Some(data.cast::<libc::ucred>().read_unaligned().pid);
                }
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
                    for i in 0..payload / size_of::<libc::c_int>() {
                        libc::close(data.cast::<libc::c_int>().add(i).read_unaligned());
                    }
                }
                _ => {}
            }
            message = libc::CMSG_NXTHDR(&raw const header, message);
        }
    }
    Ok(Received { len, truncated: header.msg_flags & libc::MSG_TRUNC != 0, sender: sender.filter(|p| *p > 0) })
}

pub fn read(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: `buffer` is writable for its length.
    check_len(unsafe { libc::read(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len()) })
}

pub fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: `bytes` is readable for its length.
    check_len(unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
}

/// Sets O_NONBLOCK on the open file behind `fd`: only for one that nobody outside this job shares.
pub fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: fcntl on a borrowed descriptor.
    let flags = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })?;
    // SAFETY: as above.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) }).map(drop)
}

pub fn set_cloexec(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: fcntl on a borrowed descriptor.
    check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) }).map(drop)
}

/// A further descriptor, numbered `lowest` or above, for the same open file.
pub fn duplicate_above(fd: BorrowedFd<'_>, lowest: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: fcntl on a borrowed descriptor.
    let new = check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, lowest) })?;
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(new) })
}

/// Makes number `standard` (0, 1 or 2) refer to what `fd` refers to.
pub fn replace_standard(standard: RawFd, fd: BorrowedFd<'_>) -> io::Result<()> {
    assert!((0..=2).contains(&standard));
    // SAFETY: numbers 0 to 2 are owned by nobody in particular; replacing them cannot close an OwnedFd.
    check(unsafe { libc::dup2(fd.as_raw_fd(), standard) }).map(drop)
}

/// The open file behind `fd` again, as a description of its own that does not block; O_NONBLOCK set on `fd`
/// itself would reach every process that shares it, the user's shell included.
pub fn reopen_for_writing(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::OpenOptions::new()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(format!("/proc/self/fd/{}", fd.as_raw_fd()))
        .map(OwnedFd::from)
}

/// Takes over descriptor `number`, left open by the program that executed this one, provided that it is
/// still the object with inode `inode`; marks it CLOEXEC. Works once per number.
pub fn take_inherited(number: RawFd, inode: u64) -> io::Result<OwnedFd> {
    static TAKEN: Mutex<Vec<RawFd>> = Mutex::new(Vec::new());
    let mut taken = TAKEN.lock().unwrap_or_else(|e| e.into_inner());
    if number <= 2 || taken.contains(&number) || identity(number)?.inode != inode {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    taken.push(number);
    // SAFETY: the number is open and still names what the program before us left there (the inode says so),
    // which nothing in this program can have opened; and it is handed out once.
    let fd = unsafe { OwnedFd::from_raw_fd(number) };
    set_cloexec(fd.as_fd())?;
    Ok(fd)
}

/// Marks every descriptor from `first` up CLOEXEC, also those that our own parent forgot to.
pub fn close_on_exec_from(first: RawFd) -> io::Result<()> {
    // SAFETY: only sets flags.
    let r = unsafe {
        libc::syscall(libc::SYS_close_range, first as libc::c_uint, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
    };
    if r == 0 {
        return Ok(());
    }
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|s| s.parse::<RawFd>().ok());
        if let Some(n) = number.filter(|n| *n >= first) {
            // SAFETY: only sets a flag; a number that was closed meanwhile yields EBADF.
            unsafe { libc::fcntl(n, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// What kind of object a descriptor names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Pipe,
    Socket,
    Terminal,
    Device,
    Other,
}

/// Which object a descriptor names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub kind: Kind,
    pub device: u64,
    pub inode: u64,
}

/// What the descriptor numbered `number` names; EBADF when it is not open.
pub fn identity(number: RawFd) -> io::Result<Identity> {
    // SAFETY: an all-zero stat is valid storage.
    let mut st: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `st` is a valid out pointer; any number may be asked about.
    check(unsafe { libc::fstat(number, &raw mut st) })?;
    let kind = match st.st_mode & libc::S_IFMT {
        libc::S_IFREG | libc::S_IFBLK => Kind::File,
        libc::S_IFIFO => Kind::Pipe,
        libc::S_IFSOCK => Kind::Socket,
        // SAFETY: any number may be asked about.
        libc::S_IFCHR if unsafe { libc::isatty(number) } == 1 => Kind::Terminal,
        libc::S_IFCHR => Kind::Device,
        _ => Kind::Other,
    };
    Ok(Identity { kind, device: st.st_dev, inode: st.st_ino })
}

/// Waits up to `timeout_ms` until `fd` takes (`writing`) or has bytes; true when it does, or reports an error.
pub fn ready(fd: BorrowedFd<'_>, writing: bool, timeout_ms: i32) -> bool {
    let events = if writing { libc::POLLOUT } else { libc::POLLIN };
    let mut entry = libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
    // SAFETY: one valid entry.
    (unsafe { libc::poll(&raw mut entry, 1, timeout_ms) }) > 0
}

/// The process group in the foreground of the terminal behind `fd`.
pub fn foreground_group(fd: BorrowedFd<'_>) -> io::Result<i32> {
    // SAFETY: any descriptor may be asked about.
    check(unsafe { libc::tcgetpgrp(fd.as_raw_fd()) })
}

/// (soft, hard) limit on the number of open descriptors.
pub fn descriptor_limit() -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid out pointer.
    check(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) })?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

pub fn set_descriptor_limit(soft: u64, hard: u64) -> io::Result<()> {
    let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
    // SAFETY: `limit` is valid.
    check(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }).map(drop)
}

/// True when the program behind `path` may be executed by this process.
pub fn may_execute(path: &CStr) -> bool {
    // SAFETY: `path` is a valid C string.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}
