//! A copy that comes back with EFAULT where far memory turns out to be gone, instead of a SIGBUS that ends the program.
//!
//! Memory that belongs to another process (an XPMEM attachment) can go at any time: its owner unmaps it or dies. There are two ways to
//! touch it all the same:
//!
//! - *direct*: one `rep movsb`, and a handler for SIGBUS that knows the address of that one instruction and lets it end early. Any other
//!   SIGBUS goes to whoever handled it before. Taken while the handler is still ours and this thread does not block the signal.
//! - *by the kernel*: process_vm_writev or process_vm_readv on ourselves, with the far memory as the local side: the kernel reaches it as
//!   it does any argument of a system call, and reports EFAULT. (As the remote side it would always be EFAULT: such mappings have no
//!   pages that the kernel could pin.) Always right, about as slow as a copy from another process. The only way on other processors
//!   than x86_64.
//!
//! Known gap: a program that replaces the handler, or blocks SIGBUS, from another thread between the look at both and the copy.
use crate::cma::{Run, Way, transfer};
use std::io;

/// How far memory is touched from now on; look again for the next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copier {
    direct: bool,
}

impl Copier {
    pub fn now() -> Copier {
        Copier { direct: direct::ready() }
    }

    /// True when no system call is needed for a copy.
    pub fn is_direct(self) -> bool {
        self.direct
    }

    /// Copies `len` bytes from `far` to `near` (pull) or back (push). EFAULT: part of `far` is not there; how much has been copied is
    /// then not known.
    ///
    /// # Safety
    /// `near` is valid for writes (pull) or reads (push) of `len` bytes and does not overlap `far`. `far` lies in an address range that
    /// is set aside for far memory: what is mapped there belongs to nobody in this program, and there may be nothing.
    pub unsafe fn copy(self, way: Way, far: *mut u8, near: *mut u8, len: usize) -> io::Result<()> {
        if self.direct {
            let (to, from) = match way {
                Way::Pull => (near, far),
                Way::Push => (far, near),
            };
            // SAFETY: the caller's promise; a fault at the far side ends the copy early.
            return match unsafe { direct::copy(to, from, len) } {
                0 => Ok(()),
                _ => Err(io::Error::from_raw_os_error(libc::EFAULT)),
            };
        }
        let other = match way {
            Way::Pull => Way::Push,
            Way::Push => Way::Pull,
        };
        // SAFETY: the kernel checks the far side, given as local, and the near side, given as remote, is the caller's promise.
        unsafe { transfer(other, crate::pid(), near as u64, &mut [Run::new(far, len)]) }
    }
}

#[cfg(target_arch = "x86_64")]
mod direct {
    use std::io;
    use std::sync::OnceLock;

    std::arch::global_asm!(
        ".pushsection .text.oxmpi_copy_or_stop,\"ax\",@progbits",
        ".globl oxmpi_copy_or_stop",
        ".hidden oxmpi_copy_or_stop",
        ".type oxmpi_copy_or_stop,@function",
        ".globl oxmpi_copy_or_stop_at",
        ".hidden oxmpi_copy_or_stop_at",
        "oxmpi_copy_or_stop:",
        ".cfi_startproc",
        "mov rcx, rdx",
        "oxmpi_copy_or_stop_at:",
        "rep movsb",
        "mov rax, rcx",
        "ret",
        ".cfi_endproc",
        ".size oxmpi_copy_or_stop, . - oxmpi_copy_or_stop",
        ".popsection",
    );

    unsafe extern "C" {
        /// Returns how many bytes it did not copy.
        fn oxmpi_copy_or_stop(to: *mut u8, from: *const u8, len: usize) -> usize;
        /// The instruction that may fault.
        static oxmpi_copy_or_stop_at: u8;
    }

    /// Length of `rep movsb`.
    const LENGTH: i64 = 2;

    /// Who handled SIGBUS before us.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// # Safety
    /// as [`super::Copier::copy`].
    pub unsafe fn copy(to: *mut u8, from: *const u8, len: usize) -> usize {
        // SAFETY: the caller's promise; `ready` has installed the handler.
        unsafe { oxmpi_copy_or_stop(to, from, len) }
    }

    /// Whether a fault in `copy` would come back to us now.
    pub fn ready() -> bool {
        // The handler reads BEFORE, so it goes in after that is set, and once.
        static IN: OnceLock<bool> = OnceLock::new();
        let installed = *IN.get_or_init(|| match current() {
            Ok(before) => BEFORE.set(before).is_ok() && install().is_ok(),
            Err(_) => false,
        });
        installed && current().is_ok_and(|a| a.sa_sigaction == address()) && !blocked()
    }

    fn address() -> usize {
        on_sigbus as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) as usize
    }

    fn current() -> io::Result<libc::sigaction> {
        // SAFETY: an all-zero sigaction is valid storage.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: `action` is a valid out pointer; nothing is changed.
        match unsafe { libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut action) } {
            0 => Ok(action),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn install() -> io::Result<()> {
        // SAFETY: an all-zero sigaction is valid: no flags, no handler, an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = address();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
        // SAFETY: the handler is async-signal-safe and hands on what is not ours.
        match unsafe { libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn blocked() -> bool {
        // SAFETY: an all-zero set is valid storage.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: with no new set the mask is only read into `set`, which is valid.
        unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) != 0
                || libc::sigismember(&raw const set, libc::SIGBUS) != 0
        }
    }

    extern "C" fn on_sigbus(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel hands a valid siginfo and ucontext to a handler with SA_SIGINFO.
        unsafe {
            let rip = &raw mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize];
            let at = &raw const oxmpi_copy_or_stop_at as i64;
            // ADRERR alone: memory that is not there. A memory error of the machine is no business of ours.
            if (*info).si_code == libc::BUS_ADRERR && *rip == at {
                *rip = at + LENGTH;
                return;
            }
            pass_on(signal, info, context);
        }
    }

    /// # Safety
    /// only as part of a handler, with what it was given.
    unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let Some(before) = BEFORE.get() else { return };
        // SAFETY: `before` is what the kernel said was the action for this signal, and is called the way its flags ask for. The default
        // action comes from the kernel: a fault happens again on return, a sent signal is sent again.
        unsafe {
            let sent = (*info).si_code <= 0;
            match before.sa_sigaction {
                libc::SIG_IGN if sent => {}
                libc::SIG_DFL | libc::SIG_IGN => {
                    let mut action: libc::sigaction = std::mem::zeroed();
                    action.sa_sigaction = libc::SIG_DFL;
                    libc::sigaction(signal, &raw const action, std::ptr::null_mut());
                    if sent {
                        libc::raise(signal);
                    }
                }
                handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
                    type Full = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
                    std::mem::transmute::<usize, Full>(handler)(signal, info, context);
                }
                handler => std::mem::transmute::<usize, extern "C" fn(libc::c_int)>(handler)(signal),
            }
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod direct {
    /// # Safety
    /// is never called.
    pub unsafe fn copy(_to: *mut u8, _from: *const u8, len: usize) -> usize {
        len
    }
    pub fn ready() -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
    use std::sync::Mutex;

    /// SIGBUS belongs to the whole process.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    const PAGE: usize = 4096;

    /// Eight pages of which the last four are gone: reaching for them is SIGBUS, as with an attachment that its owner unmapped.
    fn half_gone() -> crate::memory::Mapping {
        // SAFETY: a plain call; the descriptor is ours alone.
        let fd = unsafe { OwnedFd::from_raw_fd(libc::memfd_create(c"half".as_ptr(), libc::MFD_CLOEXEC)) };
        // SAFETY: a plain call on a descriptor of ours.
        assert_eq!(unsafe { libc::ftruncate(fd.as_raw_fd(), 8 * PAGE as i64) }, 0);
        let map = crate::memory::Mapping::shared(fd.as_fd(), 0, 8 * PAGE).unwrap();
        for i in 0..8 * PAGE {
            // SAFETY: within the mapping.
            unsafe { map.base().as_ptr().add(i).write(i as u8 ^ (i >> 8) as u8) };
        }
        // SAFETY: as above.
        assert_eq!(unsafe { libc::ftruncate(fd.as_raw_fd(), 4 * PAGE as i64) }, 0);
        map
    }

    fn both_ways(copier: Copier) {
        let map = half_gone();
        let far = map.base().as_ptr();
        let mut near = vec![0u8; 8 * PAGE];
        let efault = |r: io::Result<()>| assert_eq!(r.unwrap_err().raw_os_error(), Some(libc::EFAULT));
        // SAFETY: all ranges lie in `near` and in the mapping, which nothing else uses.
        unsafe {
            copier.copy(Way::Pull, far.add(3), near.as_mut_ptr(), 4 * PAGE - 3).unwrap();
            assert!((3..4 * PAGE).all(|i| near[i - 3] == i as u8 ^ (i >> 8) as u8));
            efault(copier.copy(Way::Pull, far, near.as_mut_ptr(), 8 * PAGE));
            efault(copier.copy(Way::Pull, far.add(5 * PAGE), near.as_mut_ptr(), 1));
            near.fill(0x5a);
            copier.copy(Way::Push, far, near.as_mut_ptr(), 4 * PAGE).unwrap();
            assert_eq!(far.add(4 * PAGE - 1).read(), 0x5a);
            efault(copier.copy(Way::Push, far, near.as_mut_ptr(), 4 * PAGE + 1));
            copier.copy(Way::Push, far.add(7 * PAGE), near.as_mut_ptr(), 0).unwrap();
        }
    }

    #[test]
    fn what_is_gone_is_an_error_either_way() {
        let _one = ONE_AT_A_TIME.lock().unwrap();
        assert_eq!(Copier::now().is_direct(), cfg!(target_arch = "x86_64"));
        both_ways(Copier::now());
        both_ways(Copier { direct: false });
    }

    #[test]
    fn a_thread_that_blocks_the_signal_lets_the_kernel_copy() {
        let _one = ONE_AT_A_TIME.lock().unwrap();
        let before = crate::signal::block(&crate::signal::SigSet::all()).unwrap();
        let copier = Copier::now();
        assert!(!copier.is_direct());
        both_ways(copier);
        crate::signal::set_mask(&before).unwrap();
    }

    #[test]
    fn a_program_with_its_own_handler_keeps_it() {
        extern "C" fn theirs(_: libc::c_int) {}
        let _one = ONE_AT_A_TIME.lock().unwrap();
        Copier::now();
        // SAFETY: an all-zero sigaction is valid; both calls only change who handles SIGBUS, and put it back.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let mut ours: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = theirs as extern "C" fn(libc::c_int) as usize;
            assert_eq!(libc::sigaction(libc::SIGBUS, &raw const action, &raw mut ours), 0);
            let copier = Copier::now();
            assert!(!copier.is_direct());
            both_ways(copier);
            assert_eq!(libc::sigaction(libc::SIGBUS, &raw const ours, &raw mut action), 0);
            assert_eq!(action.sa_sigaction, theirs as extern "C" fn(libc::c_int) as usize);
        }
    }

    /// A SIGBUS that is not ours does what it would do without us; in processes of their own, as the first look at the handler counts.
    #[test]
    fn other_faults_go_to_whom_they_belong() {
        extern "C" fn theirs(_: libc::c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
            // SAFETY: ends this process at once.
            unsafe { libc::_exit(7) }
        }
        const WHAT: &str = "OXMPI_TEST_FAULT";
        if let Ok(what) = std::env::var(WHAT) {
            // SAFETY: an all-zero sigaction is valid; the read is of a page that is not there, as intended.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                if what.contains("theirs") {
                    action.sa_flags = libc::SA_SIGINFO;
                    action.sa_sigaction = theirs as *const () as usize;
                }
                assert_eq!(libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()), 0);
                Copier::now();
                if what.contains("sent") {
                    libc::raise(libc::SIGBUS);
                } else {
                    std::hint::black_box(half_gone().base().as_ptr().add(6 * PAGE).read_volatile());
                }
            }
            return;
        }
        for (what, signal, code) in [
            ("default fault", Some(libc::SIGBUS), None),
            ("default sent", Some(libc::SIGBUS), None),
            ("theirs fault", None, Some(7)),
            ("theirs sent", None, Some(7)),
        ] {
            use std::os::unix::process::ExitStatusExt;
            let status = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "fault::tests::other_faults_go_to_whom_they_belong"])
                .env(WHAT, what)
                .stdout(std::process::Stdio::null())
                .status()
                .unwrap();
            assert_eq!((status.signal(), status.code()), (signal, code), "{what}");
        }
    }
}
