//! The process that the user started: it hands signals to the warden, stops and continues with the job, and
//! ends with the warden's exit code. Were the warden killed, it kills what is left and says so.
//!
//! Signals reach the warden as bytes on a socket, in order and each once, whether they came from the
//! terminal (which sends them to the warden too when standard input is a terminal; there they stay blocked) or
//! from `kill`. The end of that socket tells the warden that this process is gone.
use crate::job::Job;
use crate::{Failure, reap, say, warden};
use oxmpi_sys::process::{self, Ended, Waited};
use oxmpi_sys::signal::{self, SigSet};
use oxmpi_sys::{fd, pid};
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

/// Signals that end a job; each counts only when our parent did not have us ignore it.
pub const ENDING: [i32; 4] = [signal::INT, signal::TERM, signal::HUP, signal::QUIT];
/// Signals that are passed to the ranks.
pub const PASSED: [i32; 5] = [signal::TSTP, signal::CONT, signal::USR1, signal::USR2, signal::ALRM];

/// Runs the job; returns mpirun's exit code.
pub fn run(job: Job) -> Result<u8, Failure> {
    let system = |what: &'static str| move |e| Failure::system(what, e);
    fd::close_on_exec_from(3).map_err(system("cannot keep descriptors from the ranks"))?;
    process::become_subreaper().map_err(system("cannot become a subreaper"))?;
    // Children that came with us through exec are not ours to kill.
    let foreign = process::own_children();
    signal::set_default(signal::CHLD);
    let caught: Vec<i32> =
        ENDING.iter().chain(&PASSED).copied().filter(|s| !signal::is_ignored(*s)).chain([signal::CHLD]).collect();
    let set = SigSet::of(&caught);
    let original = signal::block(&set.with(&[signal::TTIN, signal::TTOU])).map_err(system("cannot block signals"))?;
    let (ours, theirs) = fd::seqpacket_pair().map_err(system("cannot make a socket pair"))?;
    let mut ours = Some(ours);
    let me = pid();
    let host = job.this_host.clone();
    let warden = process::fork_with(|| {
        drop(ours.take());
        i32::from(warden::run(job, theirs, me, &original))
    })
    .map_err(system("cannot fork"))?;
    // `job` and `theirs` went into the closure, which is gone in this process by now.
    if let Ok(null) = File::open("/dev/null") {
        // A reader that we are not must not keep the writer of our input waiting.
        let _ = fd::replace_standard(0, null.as_fd());
    }
    let ended = ours.and_then(|socket| serve(&set, &socket, warden));
    let left = reap::sweep(&foreign);
    if !left.is_empty() {
        say(&format!("these processes do not die, they hang in the kernel: {left:?}"));
    }
    if let Some(Ended::Killed(s)) = ended {
        let name = signal::name(s);
        say(&format!(
            "its second process (pid {warden} on {host}), the parent of all ranks, was killed by signal {s} \
             ({name}); every process of the job was killed"
        ));
    }
    Ok(ended.map_or(crate::exit::INTERNAL, |e| u8::try_from(e.code()).unwrap_or(crate::exit::INTERNAL)))
}

/// Until the warden ends.
fn serve(set: &SigSet, warden_socket: &OwnedFd, warden: i32) -> Option<Ended> {
    loop {
        match signal::wait(set) {
            Ok(signal::CHLD) => loop {
                match process::wait_any(false) {
                    Ok(Waited::Child(pid, ended)) if pid == warden => return Some(ended),
                    Ok(Waited::Child(..)) => {}
                    Ok(Waited::NoneYet) => break,
                    Ok(Waited::NoChildren) | Err(_) => return None,
                }
            },
            Ok(s) => {
                // It is never full of so few bytes, unless the warden hangs; then the signal is lost on it.
                let _ = fd::send(warden_socket.as_fd(), &[s as u8], false);
                if s == signal::CONT || ENDING.contains(&s) {
                    // It may have been stopped, by itself or with the group.
                    let _ = process::kill(warden, signal::CONT);
                }
                if s == signal::TSTP {
                    let _ = process::kill(pid(), signal::STOP);
                }
            }
            Err(_) => return None,
        }
    }
}
