//! Whatever is killed, and however a rank leaves: the right exit code, the victim named, and nothing left.
//!
//! `OXMPI_XTASK_FAULT_ROUNDS` sets how often each case is repeated (3 without it); `OXMPI_XTASK_STRICT_TIMES=1` turns the
//! target times into assertions (for a quiet machine).
mod common;
use common::*;
use std::time::{Duration, Instant};

fn rounds() -> usize {
    std::env::var("OXMPI_XTASK_FAULT_ROUNDS").ok().and_then(|v| v.parse().ok()).unwrap_or(3)
}

/// Prints the times of a case, and checks them where that is asked for.
fn within(what: &str, limit: Duration, times: &mut [Duration]) {
    times.sort();
    let (Some(median), Some(worst)) = (times.get(times.len() / 2), times.last()) else { return };
    println!("{what}: {} times, median {median:?}, worst {worst:?}", times.len());
    if std::env::var_os("OXMPI_XTASK_STRICT_TIMES").is_some() {
        assert!(*worst <= limit, "{what}: {worst:?} is more than {limit:?}");
    }
}

/// What ranks may be: a program, MPI processes, wrappers around either, and makers of processes that try to
/// get away.
struct Kind {
    name: &'static str,
    args: &'static [&'static str],
    /// What the ranks themselves are called.
    rank: &'static str,
    /// Which processes must be there before something is killed.
    leaves: &'static str,
    leaves_each: usize,
    /// Processes that only a living launcher can find.
    escapes: bool,
}

const KINDS: &[Kind] = &[
    Kind { name: "plain", args: &["sleep", "1000"], rank: "sleep", leaves: "sleep", leaves_each: 1, escapes: false },
    Kind {
        name: "mpi",
        args: &["@", "sleep"],
        rank: "launch-test-ran",
        leaves: "launch-test-ran",
        leaves_each: 1,
        escapes: false,
    },
    Kind {
        name: "wrapped mpi",
        args: &["sh", "-c", "\"$0\" sleep; exit $?", RANK],
        rank: "sh",
        leaves: "launch-test-ran",
        leaves_each: 1,
        escapes: false,
    },
    Kind {
        name: "wrapped",
        args: &["sh", "-c", "sleep 1000; exit $?"],
        rank: "sh",
        leaves: "sleep",
        leaves_each: 1,
        escapes: true,
    },
    Kind {
        name: "detached",
        args: &["sh", "-c", "setsid sh -c 'sleep 1000 & sleep 1000' & exec sleep 1000"],
        rank: "sleep",
        leaves: "sleep",
        leaves_each: 3,
        escapes: true,
    },
    Kind {
        name: "deaf",
        args: &["sh", "-c", "trap '' TERM INT HUP; sleep 1000 & sleep 1000; sleep 1000"],
        rank: "sh",
        leaves: "sleep",
        leaves_each: 2,
        escapes: true,
    },
];

/// A running job of three such ranks.
fn start(kind: &Kind) -> (Started, Vec<i32>) {
    let mut args = vec!["--oversubscribe", "-n", "3"];
    args.extend(kind.args);
    let job = mpirun(&args).start();
    let ranks = job.ranks(3, kind.rank);
    job.named(3 * kind.leaves_each, kind.leaves);
    if kind.name.ends_with("mpi") {
        // Wait for MPI_Init: three lines on standard output.
        use std::io::{BufRead, BufReader};
        let mut job = job;
        let out = job.child.stdout.take().unwrap();
        assert_eq!(BufReader::new(out).lines().take(3).count(), 3);
        return (job, ranks);
    }
    (job, ranks)
}

#[test]
fn a_killed_rank() {
    for kind in KINDS {
        let mut times = Vec::new();
        for round in 0..rounds() {
            let (job, ranks) = start(kind);
            let victim = ranks[round % 3];
            let killed = Instant::now();
            kill(victim, 9);
            let o = job.finish();
            times.push(killed.elapsed());
            assert_eq!(o.code, 137, "{}: {}", kind.name, o.err);
            assert!(o.err.contains(&format!("(pid {victim} on")) || o.err.contains(&format!("behind pid {victim} on")));
            assert!(o.err.contains("was killed by signal 9 (SIGKILL)"), "{}", o.err);
            assert!(o.err.contains("ending the 2 ranks still running"), "{}", o.err);
            assert_eq!(o.err.lines().count(), 1, "{}", o.err);
        }
        within(&format!("kill -9 of a rank, {}", kind.name), Duration::from_millis(50), &mut times);
    }
}

#[test]
fn a_killed_front() {
    for kind in KINDS {
        let mut times = Vec::new();
        for _ in 0..rounds() {
            let (job, _) = start(kind);
            kill(job.front(), 9);
            times.push(job.nothing_left());
            job.finish();
        }
        within(&format!("kill -9 of mpirun, {}", kind.name), Duration::from_millis(50), &mut times);
    }
}

#[test]
fn a_killed_warden() {
    for kind in KINDS {
        let mut times = Vec::new();
        for _ in 0..rounds() {
            let (job, _) = start(kind);
            let warden = job.warden();
            kill(warden, 9);
            times.push(job.nothing_left());
            let o = job.finish();
            assert_eq!(o.code, 137, "{}", o.err);
            assert!(o.err.contains(&format!("(pid {warden} on")), "{}", o.err);
        }
        within(&format!("kill -9 of the warden, {}", kind.name), Duration::from_millis(50), &mut times);
    }
}

#[test]
fn everything_killed_but_one_rank() {
    for kind in KINDS.iter().filter(|k| !k.escapes) {
        let mut times = Vec::new();
        for round in 0..rounds() {
            let (job, ranks) = start(kind);
            let spared = ranks[round % 3];
            let warden = job.warden();
            for pid in [job.front(), warden].into_iter().chain(ranks.into_iter().filter(|r| *r != spared)) {
                kill(pid, 9);
            }
            times.push(job.nothing_left());
            job.finish();
        }
        within(&format!("kill -9 of all but one rank, {}", kind.name), Duration::from_secs(1), &mut times);
    }
}

/// A stopped launcher is no reason for ranks to outlive it.
#[test]
fn killed_while_stopped() {
    for stopped in ["front", "warden", "both"] {
        for killed in ["front", "warden"] {
            let (job, _) = start(&KINDS[0]);
            let (front, warden) = (job.front(), job.warden());
            for (name, pid) in [("front", front), ("warden", warden)] {
                if stopped == "both" || stopped == name {
                    kill(pid, 19);
                    eventually("stopped", || (state(pid) == Some('T')).then_some(()));
                }
            }
            kill(if killed == "front" { front } else { warden }, 9);
            eventually("ranks gone", || job_sleeps(&job.mark).is_empty().then_some(()));
            kill(front, 18);
            job.nothing_left();
            job.finish();
        }
    }
}

/// Nor a reason for it not to hear that it should end.
#[test]
fn a_stopped_warden_hears_signals() {
    for signal in [15, 18] {
        let (job, _) = start(&KINDS[0]);
        let warden = job.warden();
        kill(warden, 19);
        eventually("stopped", || (state(warden) == Some('T')).then_some(()));
        kill(job.front(), signal);
        eventually("continued", || (state(warden) != Some('T')).then_some(()));
        kill(job.front(), 15);
        assert_eq!(job.finish().code, 143);
    }
}

fn job_sleeps(mark: &str) -> Vec<i32> {
    marked(mark).into_iter().filter(|p| command_of(*p) == "sleep").collect()
}

#[test]
fn signals_to_mpirun_end_the_job() {
    for kind in KINDS {
        // The deaf ones would take their whole grace each.
        for signal in [15, 2, 1, 3].into_iter().filter(|s| kind.name != "deaf" || *s == 15) {
            let (job, _) = start(kind);
            kill(job.front(), signal);
            let o = job.finish();
            assert_eq!(o.code, 128 + signal, "{}: {}", kind.name, o.err);
        }
    }
}

#[test]
fn a_second_signal_kills_at_once() {
    let (job, ranks) = start(&KINDS[5]);
    kill(job.front(), 15);
    let started = Instant::now();
    // Until it has counted as a second one; the grace is far longer.
    let killer = std::thread::spawn({
        let front = job.front();
        move || {
            while alive(front) && started.elapsed() < Duration::from_secs(1) {
                std::thread::sleep(Duration::from_millis(50));
                kill(front, 15);
            }
        }
    });
    let o = job.finish();
    killer.join().unwrap();
    assert_eq!(o.code, 143);
    assert!(ranks.iter().all(|r| !alive(*r)));
    if std::env::var_os("OXMPI_XTASK_STRICT_TIMES").is_some() {
        assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
    }
}

/// `timeout` signals mpirun and its whole group: that is one wish, and the ranks have their time.
#[test]
fn one_signal_to_the_whole_group_is_one_signal() {
    let script = "trap 'sleep 0.3; echo saved; exit 0' TERM; echo up; sleep 1000 & wait";
    let mut run = mpirun(&["-n", "1", "sh", "-c", script]);
    std::os::unix::process::CommandExt::process_group(&mut run.command, 0);
    let job = run.start();
    job.named(1, "sleep");
    oxmpi_sys::process::kill_group(job.front(), 15).unwrap();
    let o = job.finish();
    assert_eq!(o.code, 143);
    assert!(o.text().contains("saved"), "{} {}", o.text(), o.err);
}

/// `timeout -s KILL` and batch systems kill the whole group: the warden is not in it and clears up.
#[test]
fn the_whole_group_killed() {
    for kind in KINDS {
        let mut times = Vec::new();
        for _ in 0..rounds() {
            let mut args = vec!["--oversubscribe", "-n", "3"];
            args.extend(kind.args);
            let mut run = mpirun(&args);
            std::os::unix::process::CommandExt::process_group(&mut run.command, 0);
            let job = run.start();
            job.named(3 * kind.leaves_each, kind.leaves);
            oxmpi_sys::process::kill_group(job.front(), 9).unwrap();
            times.push(job.nothing_left());
            job.finish();
        }
        within(&format!("kill -9 of mpirun's group, {}", kind.name), Duration::from_millis(50), &mut times);
    }
}

/// Every ending signal to the group counts once, whatever it is.
#[test]
fn ending_signals_to_the_whole_group_count_once() {
    for (signal, name) in [(15, "TERM"), (2, "INT"), (1, "HUP")] {
        let script = format!("trap 'sleep 0.4; echo saved; exit 0' {name}; echo up; sleep 1000 & wait");
        let mut run = mpirun(&["-n", "1", "bash", "-c", &script]);
        std::os::unix::process::CommandExt::process_group(&mut run.command, 0);
        let job = run.start();
        job.named(1, "sleep");
        oxmpi_sys::process::kill_group(job.front(), signal).unwrap();
        let o = job.finish();
        assert_eq!(o.code, 128 + signal);
        assert!(o.text().contains("saved"), "{} {}", o.text(), o.err);
    }
}

#[test]
fn other_signals_reach_the_ranks() {
    for (name, number) in [("USR1", 10), ("USR2", 12), ("ALRM", 14)] {
        let script = format!("trap 'echo got {name}; kill %1; exit 0' {name}; sleep 1000 & echo up; wait");
        let job = mpirun(&["-n", "2", "bash", "-c", &script]).start();
        job.named(2, "sleep");
        let mut job = job;
        use std::io::{BufRead, BufReader};
        let mut out = BufReader::new(job.child.stdout.take().unwrap()).lines();
        for _ in 0..2 {
            assert_eq!(out.next().unwrap().unwrap(), "up");
        }
        kill(job.front(), number);
        for _ in 0..2 {
            assert_eq!(out.next().unwrap().unwrap(), format!("got {name}"));
        }
        assert_eq!(job.finish().code, 0);
    }
}

#[test]
fn stopping_and_continuing() {
    let (job, ranks) = start(&KINDS[0]);
    kill(job.front(), 20);
    for pid in ranks.iter().copied().chain([job.front()]) {
        eventually("stopped", || (state(pid) == Some('T')).then_some(()));
    }
    kill(job.front(), 18);
    for pid in ranks.iter().copied().chain([job.front()]) {
        eventually("continued", || (state(pid) != Some('T')).then_some(()));
    }
    kill(job.front(), 15);
    assert_eq!(job.finish().code, 143);
}

#[test]
fn ignored_signals_stay_ignored() {
    let mut run = mpirun(&["-n", "1", "sleep", "1000"]);
    let mut sh = std::process::Command::new("sh");
    sh.arg("-c").arg("trap '' HUP; exec \"$0\" \"$@\"").arg(run.command.get_program()).args(run.command.get_args());
    sh.env("OXTEST_MARK", run.mark.split_once('=').unwrap().1).env("TMPDIR", &run.tmp);
    sh.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    run.command = sh;
    let job = run.start();
    let ranks = job.ranks(1, "sleep");
    kill(job.front(), 1);
    kill(ranks[0], 1);
    kill(job.front(), 10);
    let o = job.finish();
    // SIGUSR1, sent after both SIGHUP, is what ended the rank.
    assert_eq!(o.code, 128 + 10, "{}", o.err);
}

#[test]
fn leaving_without_finalize() {
    for (code, want) in [("0", 1), ("4", 4)] {
        for wrapped in [false, true] {
            let script = format!("\"$0\" leave 1 {code}; exit $?");
            let plain = ["--oversubscribe", "-n", "3", "@", "leave", "1", code];
            let shell = ["--oversubscribe", "-n", "3", "sh", "-c", &script, "@"];
            let o = mpirun(if wrapped { &shell } else { &plain }).outcome();
            assert_eq!(o.code, want, "{}", o.err);
            assert!(o.err.contains("rank 1 (pid ") && o.err.contains("left after MPI_Init without"), "{}", o.err);
            assert_eq!(wrapped, o.err.contains(" behind pid "), "{}", o.err);
        }
    }
    // A wrapper that goes on does not hide it.
    let o = mpirun(&["-n", "1", "sh", "-c", "\"$0\" leave 0 0; sleep 1000", RANK]).outcome();
    assert_eq!(o.code, 1, "{}", o.err);
    assert!(o.err.contains("left after MPI_Init without"), "{}", o.err);
}

/// Either order: the rank without MPI ends first, or after the other's MPI_Init.
#[test]
fn some_ranks_without_mpi() {
    for (first, second) in [("true", "sleep 0.3; exec \"$0\" sleep"), ("sleep 0.3", "exec \"$0\" sleep")] {
        let args = ["-n", "1", "sh", "-c", second, "@", ":", "-n", "1", "sh", "-c", first];
        let o = mpirun(&args).outcome();
        assert_eq!(o.code, 1, "{}", o.err);
        let part = "rank 1 ended without calling MPI_Init while rank 0 did; the job cannot go on";
        assert!(o.err.contains(part), "{}", o.err);
    }
    // All at once: what they said is read before it is judged.
    for _ in 0..rounds() {
        let o = mpirun(&["--oversubscribe", "-n", "8", "@", "good"]).outcome();
        assert_eq!((o.code, o.err.as_str()), (0, ""));
    }
}

#[test]
fn aborting() {
    for (code, want) in [("3", 3), ("0", 1), ("256", 1), ("-1", 255)] {
        let o = mpirun(&["--oversubscribe", "-n", "3", "@", "abort", "2", code, "no more"]).outcome();
        assert_eq!(o.code, want, "{}", o.err);
        assert!(o.err.contains("rank 2 (pid "), "{}", o.err);
        assert!(o.err.contains(&format!("called MPI_Abort with code {code}: no more")), "{}", o.err);
    }
}

#[test]
fn crashing() {
    for (signal, name) in [("11", "SIGSEGV"), ("6", "SIGABRT"), ("9", "SIGKILL")] {
        let o = mpirun(&["--oversubscribe", "-n", "3", "@", "crash", "1", signal]).outcome();
        assert_eq!(o.code, 128 + signal.parse::<i32>().unwrap(), "{}", o.err);
        assert!(o.err.contains("rank 1 (pid ") && o.err.contains(name), "{}", o.err);
    }
}

#[test]
fn the_control_socket_trusts_nobody() {
    for junk in ["x", "OX\u{1}\u{7}aaaa", "a message that is far too long for its kind"] {
        let o = mpirun(&["-n", "1", "@", "junk", junk]).outcome();
        assert_eq!(o.code, 1);
        assert!(o.err.contains("sent a message that cannot be read"), "{}", o.err);
    }
    let o = mpirun(&["-n", "1", "@", "junk", ""]).outcome();
    assert!(o.code == 1 && o.err.contains("sent a message that cannot be read"), "{}", o.err);
    let o = mpirun(&["-n", "1", "sh", "-c", "\"$0\" good; \"$0\" good", RANK]).outcome();
    assert!(o.code != 0 && o.err.contains("a rank is one MPI process"), "{}", o.err);
}

#[test]
fn background_processes_end_with_the_job() {
    let o = mpirun(&["-n", "2", "sh", "-c", "sleep 1000 & setsid sleep 1000 & echo done"]).outcome();
    assert_eq!((o.code, o.text().as_str(), o.err.as_str()), (0, "done\ndone\n", ""));
}

#[test]
fn processes_that_were_there_before_are_left_alone() {
    let mut run = mpirun(&["-n", "1", "true"]);
    let mut sh = std::process::Command::new("sh");
    sh.arg("-c").arg("sleep 1000 >/dev/null 2>&1 & echo $!; exec \"$0\" \"$@\"");
    sh.arg(run.command.get_program()).args(run.command.get_args());
    sh.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    run.command = sh;
    let o = run.outcome();
    let before: i32 = o.text().trim().parse().unwrap();
    assert!(o.code == 0 && alive(before));
    kill(before, 9);
}

#[test]
fn a_timeout_tells_who_was_still_running() {
    let o = mpirun(&["--timeout", "0.5", "-n", "1", "true", ":", "-n", "1", "sleep", "1000"]).outcome();
    assert_eq!(o.code, 124);
    assert!(o.err.contains("did not end within 0.5 s"), "{}", o.err);
    assert!(o.err.contains("1 of 2 ranks were still running") && o.err.contains("rank 1 (pid "), "{}", o.err);
    assert!(o.err.contains("sleeping, MPI not initialised"), "{}", o.err);
}
