//! A rank for the launcher's tests: joins its job through oxmpi-pmi and then does what its arguments say,
//! well or badly.
use oxmpi_pmi::{Control, Job};
use std::os::fd::AsFd;
use std::process::Command;
use std::time::Duration;

fn join() -> (Job, Control) {
    let mut job = match oxmpi_pmi::connect() {
        Ok(job) => job,
        Err(e) => {
            eprintln!("launch-test-rank: {}", e.message);
            std::process::exit(99);
        }
    };
    let control = job.control.take().expect("a rank has a control socket");
    control.hello(std::process::id() as i32).unwrap();
    (job, control)
}

fn wait_for_ever() -> ! {
    loop {
        std::thread::sleep(Duration::from_secs(3600));
    }
}

/// A line in one write, so that a reader in a hurry sees all of it.
fn say(text: String) {
    use std::io::Write;
    let mut out = std::io::stdout();
    out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush()).unwrap();
}

fn describe() {
    match oxmpi_pmi::connect() {
        Ok(j) => say(format!(
            "rank {} of {} local {} of {} app {:?} universe {:?} segment {} control {}",
            j.rank,
            j.size,
            j.local_rank,
            j.local_size,
            j.appnum,
            j.universe_size,
            j.segment.is_some(),
            j.control.is_some()
        )),
        Err(e) => {
            eprintln!("launch-test-rank: {}", e.message);
            std::process::exit(99);
        }
    }
}

fn main() {
    let args: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let number = |i: usize| args.get(i).and_then(|a| a.parse::<i32>().ok()).unwrap_or(0);
    let word = |i: usize| args.get(i).cloned().unwrap_or_default();
    match word(0).as_str() {
        "describe" => describe(),
        // Initialise, finalize, exit with a code.
        "good" => {
            let (_job, control) = join();
            control.finalized().unwrap();
            std::process::exit(number(1));
        }
        "sleep" => {
            let (job, _control) = join();
            say(format!("ready {} {}", job.rank, std::process::id()));
            wait_for_ever();
        }
        // Initialise; the rank named leaves with a code, the others sleep.
        "leave" => {
            let (job, _control) = join();
            if job.rank as i32 == number(1) {
                std::process::exit(number(2));
            }
            wait_for_ever();
        }
        "abort" => {
            let (job, control) = join();
            if job.rank as i32 == number(1) {
                control.abort(number(2), &word(3)).unwrap();
            }
            wait_for_ever();
        }
        "crash" => {
            let (job, _control) = join();
            if job.rank as i32 == number(1) {
                let me = std::process::id() as i32;
                // The Rust runtime has a SIGSEGV handler.
                oxmpi_sys::signal::set_default(number(2));
                oxmpi_sys::process::kill(me, number(2)).unwrap();
            }
            wait_for_ever();
        }
        "junk" => {
            let (_job, control) = join();
            oxmpi_sys::fd::send(control.as_fd(), word(1).as_bytes(), true).unwrap();
            wait_for_ever();
        }
        // An MPI process that starts another program which joins, or tries to.
        "parent" => {
            let (_job, control) = join();
            let status = Command::new(std::env::current_exe().unwrap()).arg("describe").status().unwrap();
            control.finalized().unwrap();
            std::process::exit(status.code().unwrap_or(1));
        }
        // Not an MPI process; its child gets no descriptors, as from Python's subprocess.
        "forgetful" => {
            let exe = std::env::current_exe().unwrap();
            let script = "exec 62>&- 63>&-; exec \"$0\" describe";
            let status = Command::new("bash").arg("-c").arg(script).arg(exe).status().unwrap();
            std::process::exit(status.code().unwrap_or(1));
        }
        "descriptors" => {
            let link = |n: &i32| std::fs::read_link(format!("/proc/self/fd/{n}"));
            let listing = |n: &i32| link(n).is_ok_and(|l| l.starts_with("/proc"));
            let mut open: Vec<i32> = std::fs::read_dir("/proc/self/fd")
                .unwrap()
                .filter_map(|e| e.unwrap().file_name().to_str()?.parse().ok())
                .filter(|n| link(n).is_ok() && !listing(n))
                .collect();
            open.sort_unstable();
            say(open.iter().map(i32::to_string).collect::<Vec<_>>().join(" "));
        }
        // Every argument and variable as it arrived.
        "show" => {
            use std::io::Write;
            use std::os::unix::ffi::OsStrExt;
            let mut out = Vec::new();
            for a in std::env::args_os().skip(2) {
                out.extend_from_slice(a.as_bytes());
                out.push(0);
            }
            out.extend_from_slice(std::env::var_os("OXTEST_VALUE").unwrap_or_default().as_bytes());
            std::io::stdout().write_all(&out).unwrap();
        }
        other => {
            eprintln!("launch-test-rank: {other:?} is not known");
            std::process::exit(98);
        }
    }
}
