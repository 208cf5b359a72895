//! Killing whatever is left of a job.
//!
//! The caller is a subreaper, so every process that a rank started, detached or not, is its descendant or
//! becomes one when its parent dies.
use oxmpi_sys::process::{self, Waited};
use oxmpi_sys::signal;
use std::time::{Duration, Instant};

/// How long a process that was sent SIGKILL may take before it is given up (it hangs in the kernel then).
const PATIENCE: Duration = Duration::from_secs(5);

/// Kills all descendants of this process, except those below `spare`, until none is left. Returns the ids of
/// those that would not die.
pub fn sweep(spare: &[i32]) -> Vec<i32> {
    let started = Instant::now();
    let mut pause = Duration::from_micros(100);
    loop {
        loop {
            match process::wait_any(false) {
                Ok(Waited::Child(..)) => {}
                Ok(Waited::NoneYet) => break,
                Ok(Waited::NoChildren) | Err(_) => return Vec::new(),
            }
        }
        let left = process::descendants_except(spare);
        if left.is_empty() || started.elapsed() > PATIENCE {
            return left;
        }
        for pid in left {
            let _ = process::kill(pid, signal::KILL);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}
