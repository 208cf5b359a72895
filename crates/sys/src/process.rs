//! Processes: starting one with exactly the descriptors, environment and signal state it should have,
//! waiting, killing, and finding descendants.
//!
//! Invariants: a spawned child dies with the thread that started it (PR_SET_PDEATHSIG, checked against a
//! parent that died first) and leads a process group of its own.
//! Known gap: a child of a spawned child is only reached through [`descendants_except`], that is, through a
//! subreaper that is still alive.
use crate::signal::{self, SigSet};
use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Exited(i32),
    Killed(i32),
}

impl Ended {
    /// What a shell would show as `$?`.
    pub fn code(self) -> i32 {
        match self {
            Ended::Exited(c) => c,
            Ended::Killed(s) => 128 + s,
        }
    }
    fn from_status(status: libc::c_int) -> Ended {
        if libc::WIFSIGNALED(status) {
            Ended::Killed(libc::WTERMSIG(status))
        } else {
            Ended::Exited(libc::WEXITSTATUS(status))
        }
    }
}

/// What [`wait_any`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    Child(i32, Ended),
    NoneYet,
    NoChildren,
}

/// Reaps one child that has ended.
pub fn wait_any(block: bool) -> io::Result<Waited> {
    loop {
        let mut status = 0;
        // SAFETY: `status` is a valid out pointer.
        match unsafe { libc::waitpid(-1, &raw mut status, if block { 0 } else { libc::WNOHANG }) } {
            0 => return Ok(Waited::NoneYet),
            p if p > 0 => return Ok(Waited::Child(p, Ended::from_status(status))),
            _ => match io::Error::last_os_error() {
                e if e.raw_os_error() == Some(libc::ECHILD) => return Ok(Waited::NoChildren),
                e if e.kind() == io::ErrorKind::Interrupted => {}
                e => return Err(e),
            },
        }
    }
}

pub fn parent() -> i32 {
    // SAFETY: getppid has no preconditions.
    unsafe { libc::getppid() }
}

/// This process's group.
pub fn group() -> i32 {
    // SAFETY: getpgrp has no preconditions.
    unsafe { libc::getpgrp() }
}

/// Makes this process the leader of a process group of its own.
pub fn leave_group() -> io::Result<()> {
    // SAFETY: setpgid takes no pointers.
    match unsafe { libc::setpgid(0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sends `signal` to one process. Zero and negative ids, which mean groups, are refused.
pub fn kill(pid: i32, signal: i32) -> io::Result<()> {
    if pid <= 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: kill has no memory preconditions.
    if unsafe { libc::kill(pid, signal) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sends `signal` to every process of `group`.
pub fn kill_group(group: i32, signal: i32) -> io::Result<()> {
    if group <= 1 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: kill has no memory preconditions.
    if unsafe { libc::kill(-group, signal) } == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Orphaned descendants become children of this process instead of init's.
pub fn become_subreaper() -> io::Result<()> {
    // SAFETY: prctl with integer arguments.
    if unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Asks for `signal` when this process's parent (the thread that forked it) dies. The caller checks
/// [`parent`] afterwards: it may have died already.
pub fn signal_on_parent_death(signal: i32) -> io::Result<()> {
    // SAFETY: prctl with integer arguments.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, signal as libc::c_ulong, 0, 0, 0) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Forks; the child runs `body` and ends with its result, without returning to the caller's code and
/// without running destructors. Refused when this process has more than one thread, since only one would
/// go on in the child.
pub fn fork_with(body: impl FnOnce() -> i32) -> io::Result<i32> {
    if std::fs::read_dir("/proc/self/task").is_ok_and(|d| d.count() > 1) {
        return Err(io::Error::other("fork of a process with several threads"));
    }
    // SAFETY: one thread (checked), so the child's copy of the heap is consistent.
    match unsafe { libc::fork() } {
        0 => {
            // A panic must not unwind into the parent's frames.
            let code = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(70);
            // SAFETY: ends this process.
            unsafe { libc::_exit(code) }
        }
        p if p > 0 => Ok(p),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A program to start.
pub struct Spawn<'a> {
    pub program: &'a CStr,
    pub argv: &'a [&'a CStr],
    pub env: &'a [&'a CStr],
    pub directory: Option<&'a CStr>,
    /// What becomes descriptors 0, 1 and 2; each must be numbered 3 or above.
    pub stdio: [BorrowedFd<'a>; 3],
    /// What the child gets besides, and under which number. No source may be numbered like any target.
    pub pass: &'a [(BorrowedFd<'a>, RawFd)],
    pub mask: &'a SigSet,
    /// Signals whose disposition goes back to the default.
    pub defaults: &'a [i32],
    /// (soft, hard) limit on descriptors for the child.
    pub descriptor_limit: (u64, u64),
}

/// Which step of starting a program failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Clone,
    Parent,
    Descriptors,
    Directory,
    Limit,
    Exec,
}

#[derive(Debug)]
pub struct SpawnError {
    pub step: Step,
    pub error: io::Error,
}

/// What the child reads and writes while the parent is suspended.
struct Plan {
    parent: libc::pid_t,
    program: *const libc::c_char,
    argv: *const *const libc::c_char,
    shell_argv: *const *const libc::c_char,
    env: *const *const libc::c_char,
    directory: *const libc::c_char,
    stdio: [RawFd; 3],
    pass: *const (RawFd, RawFd),
    pass_len: usize,
    mask: libc::sigset_t,
    defaults: *const libc::c_int,
    defaults_len: usize,
    limit: libc::rlimit,
    failed: Option<(Step, libc::c_int)>,
}

/// The child's side: runs on its own stack in the parent's memory while the parent waits, so it only makes
/// system calls and writes `plan.failed`.
extern "C" fn child(plan: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `plan` is the caller's Plan, which outlives this call because CLONE_VFORK suspends the caller;
    // all pointers in it are to memory of the caller's frame or borrows.
    let plan = unsafe { &mut *plan.cast::<Plan>() };
    // SAFETY: see prepare_and_exec; this child has its own descriptor table and signal dispositions.
    let step = unsafe { prepare_and_exec(plan) };
    plan.failed = Some((step, io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)));
    // SAFETY: ends the child without running anything of the parent's.
    unsafe { libc::_exit(127) }
}

/// Returns only on failure, with errno set.
///
/// # Safety
/// In a child made with CLONE_VM|CLONE_VFORK, with `plan` as [`Spawn::start`] builds it.
unsafe fn prepare_and_exec(plan: &Plan) -> Step {
    // SAFETY: system calls on this child's own state; pointers are valid as the caller promises.
    unsafe {
        if libc::setpgid(0, 0) != 0
            || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL as libc::c_ulong, 0, 0, 0) != 0
            || libc::getppid() != plan.parent
        {
            return Step::Parent;
        }
        for (to, from) in plan.stdio.iter().enumerate() {
            if libc::dup2(*from, to as RawFd) < 0 {
                return Step::Descriptors;
            }
        }
        for i in 0..plan.pass_len {
            let (from, to) = *plan.pass.add(i);
            if libc::dup2(from, to) < 0 {
                return Step::Descriptors;
            }
        }
        if !plan.directory.is_null() && libc::chdir(plan.directory) != 0 {
            return Step::Directory;
        }
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const plan.limit) != 0 {
            return Step::Limit;
        }
        for i in 0..plan.defaults_len {
            libc::signal(*plan.defaults.add(i), libc::SIG_DFL);
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const plan.mask, std::ptr::null_mut());
        libc::execve(plan.program, plan.argv, plan.env);
        if *libc::__errno_location() == libc::ENOEXEC {
            libc::execve(c"/bin/sh".as_ptr(), plan.shell_argv, plan.env);
        }
        Step::Exec
    }
}

fn pointers(strings: &[&CStr]) -> Vec<*const libc::c_char> {
    strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
}

impl Spawn<'_> {
    /// Starts the program and returns its process id once it runs; a failure says which step it was.
    /// A script without `#!` runs under /bin/sh, as execvp does it.
    pub fn start(&self) -> Result<i32, SpawnError> {
        let failed = |step, error| SpawnError { step, error };
        let invalid = |text: &str| failed(Step::Descriptors, io::Error::new(io::ErrorKind::InvalidInput, text));
        let pass: Vec<(RawFd, RawFd)> = self.pass.iter().map(|(f, to)| (f.as_raw_fd(), *to)).collect();
        let stdio = self.stdio.map(|f| f.as_raw_fd());
        let sources = || stdio.iter().copied().chain(pass.iter().map(|p| p.0));
        if sources().any(|s| s <= 2 || pass.iter().any(|p| p.1 == s)) {
            return Err(invalid("a source descriptor has the number of a target"));
        }
        let argv = pointers(self.argv);
        let mut shell = vec![c"sh", self.program];
        shell.extend(self.argv.iter().skip(1));
        let shell_argv = pointers(&shell);
        let env = pointers(self.env);
        let mut plan = Plan {
            parent: crate::pid(),
            program: self.program.as_ptr(),
            argv: argv.as_ptr(),
            shell_argv: shell_argv.as_ptr(),
            env: env.as_ptr(),
            directory: self.directory.map_or(std::ptr::null(), CStr::as_ptr),
            stdio,
            pass: pass.as_ptr(),
            pass_len: pass.len(),
            mask: self.mask.0,
            defaults: self.defaults.as_ptr(),
            defaults_len: self.defaults.len(),
            limit: libc::rlimit { rlim_cur: self.descriptor_limit.0, rlim_max: self.descriptor_limit.1 },
            failed: None,
        };
        let mut stack = vec![0u128; 4096]; // 64 KiB, aligned to 16
        let old = signal::set_mask(&SigSet::all()).map_err(|e| failed(Step::Clone, e))?;
        // SAFETY: the stack is ours and large enough for a few system calls; CLONE_VFORK suspends this thread
        // until the child has exec'ed or ended, so `plan` and what it points to outlive their use; all signals
        // are blocked and no handler exists, so nothing else runs in the shared memory.
        let pid = unsafe {
            libc::clone(
                child,
                stack.as_mut_ptr_range().end.cast(),
                libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
                (&raw mut plan).cast(),
            )
        };
        let clone_error = io::Error::last_os_error();
        signal::set_mask(&old).map_err(|e| failed(Step::Clone, e))?;
        if pid < 0 {
            return Err(failed(Step::Clone, clone_error));
        }
        // SAFETY: `plan` lives; the child wrote it through the pointer given to clone.
        if let Some((step, errno)) = unsafe { std::ptr::read_volatile(&raw const plan.failed) } {
            // SAFETY: reaps the child that just ended.
            unsafe { libc::waitpid(pid, std::ptr::null_mut(), 0) };
            return Err(failed(step, io::Error::from_raw_os_error(errno)));
        }
        Ok(pid)
    }
}

/// Every descendant of this process, zombies included, except `spare` and what is below those.
pub fn descendants_except(spare: &[i32]) -> Vec<i32> {
    let me = crate::pid();
    let Some(mut next) = children(me) else { return descendants_by_scan(me, spare) };
    let mut found = Vec::new();
    while let Some(pid) = next.pop() {
        if !spare.contains(&pid) {
            found.push(pid);
            next.extend(children(pid).unwrap_or_default());
        }
    }
    found
}

/// The children of this process.
pub fn own_children() -> Vec<i32> {
    let me = crate::pid();
    children(me).unwrap_or_else(|| {
        let mut all = descendants_by_scan(me, &[]);
        all.retain(|p| stat(*p).is_some_and(|s| s.parent == me));
        all
    })
}

/// Children as the kernel lists them per thread; None where it was built without that list.
fn children(pid: i32) -> Option<Vec<i32>> {
    let mut found = Vec::new();
    let mut known = false;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        if let Ok(list) = std::fs::read_to_string(task.path().join("children")) {
            known = true;
            found.extend(list.split_ascii_whitespace().filter_map(|p| p.parse::<i32>().ok()));
        }
    }
    known.then_some(found)
}

fn descendants_by_scan(me: i32, spare: &[i32]) -> Vec<i32> {
    let Ok(proc) = std::fs::read_dir("/proc") else { return Vec::new() };
    let mut pairs: Vec<(i32, i32)> = proc
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, stat(pid)?.parent)))
        .collect();
    let mut found = Vec::new();
    let mut parents = vec![me];
    while let Some(p) = parents.pop() {
        pairs.retain(|(pid, parent)| {
            if *parent == p && !spare.contains(pid) {
                found.push(*pid);
                parents.push(*pid);
            }
            *parent != p
        });
    }
    found
}

/// What /proc says about a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// 'R', 'S', 'D', 'Z', 'T', 't', ...
    pub state: char,
    pub parent: i32,
    pub threads: i32,
}

pub fn stat(pid: i32) -> Option<Stat> {
    let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything; the last ')' ends it.
    let after = bytes.iter().rposition(|b| *b == b')')? + 1;
    let rest = std::str::from_utf8(bytes.get(after..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
    })
}

/// Eight random bytes from the kernel.
pub fn random_u64() -> io::Result<u64> {
    let mut bytes = [0u8; 8];
    // SAFETY: `bytes` is writable for its length.
    let n = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if n == 8 { Ok(u64::from_ne_bytes(bytes)) } else { Err(io::Error::last_os_error()) }
}

/// Writes out what C's stdout and stderr hold. A stream that another thread has locked is left alone: that thread may wait in it for ever, and so
/// would this one.
pub fn flush_stdio() {
    // SAFETY: the C library's streams, which nobody closes who still prints; the lock is held while one is flushed.
    unsafe {
        for stream in [stdout, stderr] {
            if !stream.is_null() && ftrylockfile(stream) == 0 {
                fflush_unlocked(stream);
                funlockfile(stream);
            }
        }
    }
}

unsafe extern "C" {
    static stdout: *mut libc::FILE;
    static stderr: *mut libc::FILE;
    fn ftrylockfile(stream: *mut libc::FILE) -> libc::c_int;
    fn funlockfile(stream: *mut libc::FILE);
    fn fflush_unlocked(stream: *mut libc::FILE) -> libc::c_int;
}

/// Ends the process at once: no exit handlers, which could wait for threads that will not come.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit has no preconditions.
    unsafe { libc::_exit(code) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_find_descendants_agree() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let id = child.id() as i32;
        assert!(descendants_except(&[]).contains(&id));
        assert!(descendants_by_scan(crate::pid(), &[]).contains(&id));
        assert!(own_children().contains(&id));
        assert!(!descendants_except(&[id]).contains(&id) && !descendants_by_scan(crate::pid(), &[id]).contains(&id));
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_locked_stream_is_not_waited_for() {
        let (locked, seen) = std::sync::mpsc::channel();
        let (over, end) = std::sync::mpsc::channel::<()>();
        let holder = std::thread::spawn(move || {
            // SAFETY: the C library's stream; this thread gives the lock back.
            let got = unsafe { ftrylockfile(stdout) };
            locked.send(got).unwrap();
            let _ = end.recv();
            // SAFETY: as above.
            unsafe { funlockfile(stdout) };
        });
        assert_eq!(seen.recv().unwrap(), 0);
        flush_stdio();
        drop(over);
        holder.join().unwrap();
    }

    #[test]
    fn own_stat() {
        let own = stat(crate::pid()).unwrap();
        assert_eq!(own.parent, parent());
        assert!(own.threads >= 1);
    }

    #[test]
    fn groups_and_init_are_never_killed() {
        assert!(kill(0, 0).is_err() && kill(-1, 0).is_err() && kill_group(1, 0).is_err() && kill_group(0, 0).is_err());
    }
}
