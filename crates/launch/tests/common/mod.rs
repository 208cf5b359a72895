//! Starting mpirun in tests, and finding what is left of a job by a mark in the environment of its processes.
#![allow(dead_code)]
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub const RANK: &str = env!("CARGO_BIN_EXE_launch-test-rank");
/// For whatever should take milliseconds, on a machine that does a hundred other things.
pub const LONG: Duration = Duration::from_secs(30);

/// A job with a mark of its own and a directory for its temporary files.
pub struct Run {
    pub command: Command,
    pub mark: String,
    pub tmp: PathBuf,
}

#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Outcome {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }
}

/// `mpirun ARGS`, where `@` stands for the test rank's path.
pub fn mpirun(args: &[&str]) -> Run {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mark = format!("OXTEST_MARK={}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let tmp = std::env::temp_dir().join(mark.replace("OXTEST_MARK=", "oxlaunch-test-"));
    std::fs::create_dir_all(&tmp).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpirun"));
    for a in args {
        command.arg(if *a == "@" { RANK } else { a });
    }
    command.env("OXTEST_MARK", mark.split_once('=').unwrap().1).env("TMPDIR", &tmp);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Run { command, mark, tmp }
}

impl Run {
    pub fn start(mut self) -> Started {
        let child = self.command.spawn().unwrap();
        Started { child, mark: self.mark.clone(), run: self }
    }
    /// Runs it to its end and checks that nothing is left.
    pub fn outcome(self) -> Outcome {
        self.start().finish()
    }
}

pub struct Started {
    pub child: Child,
    pub mark: String,
    run: Run,
}

/// Processes with a mark in their environment.
pub fn marked(mark: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|s| s.parse::<i32>().ok()) else { continue };
        let Ok(env) = std::fs::read(entry.path().join("environ")) else { continue };
        if env.split(|b| *b == 0).any(|v| v == mark.as_bytes()) {
            found.push(pid);
        }
    }
    found
}

/// Waits until `ready` gives something.
pub fn eventually<T>(what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + LONG;
    loop {
        if let Some(v) = ready() {
            return v;
        }
        assert!(Instant::now() < deadline, "timed out: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub fn children(pid: i32) -> Vec<i32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok())
        .filter(|p| oxmpi_sys::process::stat(*p).is_some_and(|s| s.parent == pid && s.state != 'Z'))
        .collect()
}

pub fn command_of(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned()
}

pub fn alive(pid: i32) -> bool {
    oxmpi_sys::process::stat(pid).is_some_and(|s| s.state != 'Z')
}

pub fn state(pid: i32) -> Option<char> {
    oxmpi_sys::process::stat(pid).map(|s| s.state)
}

pub fn kill(pid: i32, signal: i32) {
    let _ = oxmpi_sys::process::kill(pid, signal);
}

impl Started {
    pub fn front(&self) -> i32 {
        self.child.id() as i32
    }
    pub fn warden(&self) -> i32 {
        eventually("the warden", || children(self.front()).first().copied())
    }
    /// The warden's children, once there are `n` of them and each runs the program `name`.
    pub fn ranks(&self, n: usize, name: &str) -> Vec<i32> {
        let warden = self.warden();
        eventually("the ranks", || {
            let found = children(warden);
            (found.len() == n && found.iter().all(|p| command_of(*p) == name)).then_some(found)
        })
    }
    /// As many marked processes of that name as wanted.
    pub fn named(&self, n: usize, name: &str) -> Vec<i32> {
        eventually(name, || {
            let found: Vec<i32> = marked(&self.mark).into_iter().filter(|p| command_of(*p) == name).collect();
            (found.len() == n).then_some(found)
        })
    }
    /// Waits for the end, collects the output and checks that nothing is left.
    pub fn finish(mut self) -> Outcome {
        let mut out = self.child.stdout.take();
        let mut err = self.child.stderr.take();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(o) = out.as_mut() {
                o.read_to_end(&mut bytes).unwrap();
            }
            bytes
        });
        let mut text = Vec::new();
        let errors = std::thread::spawn(move || {
            if let Some(e) = err.as_mut() {
                e.read_to_end(&mut text).unwrap();
            }
            text
        });
        let deadline = Instant::now() + LONG * 4;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                let left = marked(&self.mark);
                self.child.kill().unwrap();
                panic!("mpirun does not end; its processes: {left:?}");
            }
            std::thread::sleep(Duration::from_micros(500));
        };
        let code = status.code().unwrap_or_else(|| -status.signal().unwrap());
        self.nothing_left();
        let out = reader.join().unwrap();
        let err = String::from_utf8_lossy(&errors.join().unwrap()).into_owned();
        Outcome { code, out, err }
    }

    /// Every process of the job goes, and no file stays; how long the processes took.
    pub fn nothing_left(&self) -> Duration {
        let started = Instant::now();
        let deadline = started + LONG;
        loop {
            let left = marked(&self.mark);
            if left.is_empty() {
                break;
            }
            let shown: Vec<_> = left.iter().map(|p| (*p, command_of(*p))).collect();
            assert!(Instant::now() < deadline, "left behind: {shown:?}");
            std::thread::sleep(Duration::from_micros(500));
        }
        let took = started.elapsed();
        for entry in std::fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
            assert!(!entry.file_name().as_bytes().windows(5).any(|w| w == b"oxmpi"), "{entry:?}");
        }
        let files: Vec<_> = std::fs::read_dir(&self.run.tmp).into_iter().flatten().flatten().collect();
        assert!(files.is_empty(), "{files:?}");
        took
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.tmp);
    }
}
