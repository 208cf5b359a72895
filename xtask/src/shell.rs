//! Running other programs, and saying what is done.
use anyhow::{Context, Result, bail};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The repository's root: where this crate's folder lies.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository").to_owned()
}

/// Where everything that is built goes.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => std::path::absolute(&dir).unwrap_or_else(|_| dir.into()),
        None => root().join("target"),
    }
}

/// The installation that demo, test, suite and bench share.
pub fn prefix() -> PathBuf {
    std::env::var_os("OXMPI_XTASK_PREFIX").map_or_else(|| target().join("oxmpi"), PathBuf::from)
}

/// Announces a step.
pub fn step(what: impl std::fmt::Display) {
    println!("\n==> {what}");
}

/// Says one thing within a step.
pub fn note(what: impl std::fmt::Display) {
    println!("    {what}");
}

/// The cargo that runs us.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The command as a person would type it.
pub fn show(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|w| {
            let w = w.to_string_lossy();
            if w.is_empty() || w.contains(|c: char| c.is_whitespace() || "\"'$&|<>()".contains(c)) {
                format!("'{}'", w.replace('\'', "'\\''"))
            } else {
                w.into_owned()
            }
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// Prints the command, runs it with our streams, and fails when it does.
pub fn run(command: &mut Command) -> Result<()> {
    note(format!("$ {}", show(command)));
    let status = command.status().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if !status.success() {
        bail!("{} ended with {status}", show(command));
    }
    Ok(())
}

/// What a command prints on its standard output; its standard error is shown when it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let out = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if !out.status.success() {
        bail!("{} ended with {}\n{}", show(command), out.status, String::from_utf8_lossy(&out.stderr).trim_end());
    }
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}

/// How a watched command ended.
pub struct Ended {
    pub ok: bool,
    /// In words: `exit status: 1`, `signal: 9 (SIGKILL)`, `no end after 60 s`.
    pub how: String,
    /// Standard output and standard error, as they came.
    pub text: String,
    pub took: Duration,
}

/// Runs a command in a process group of its own with its output collected, and kills the group after `limit`.
pub fn watched(command: &mut Command, limit: Duration) -> Result<Ended> {
    let (mut reader, writer) = std::io::pipe()?;
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    // The command holds our ends of the pipe: without them, the reader sees the end when the last process is gone.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let pump = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = reader.read_to_end(&mut text);
        text
    });
    let mut timed_out = false;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit && !timed_out {
            timed_out = true;
            // SIGTERM first: a launcher takes its ranks along, also those in process groups of their own.
            signal_group(child.id(), "TERM");
        }
        if start.elapsed() > limit + Duration::from_secs(5) {
            signal_group(child.id(), "KILL");
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let took = start.elapsed();
    // Someone who outlives the command may still hold the pipe; do not wait for it for ever.
    let patience = Instant::now();
    while !pump.is_finished() && patience.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let left = !pump.is_finished();
    if left {
        signal_group(child.id(), "KILL");
        std::thread::sleep(Duration::from_millis(200));
    }
    let text = if pump.is_finished() { pump.join().unwrap_or_default() } else { Vec::new() };
    let mut how = if timed_out { format!("no end after {} s", limit.as_secs()) } else { status.to_string() };
    if left {
        how += ", and left processes behind";
    }
    let ok = status.success() && !timed_out && !left;
    Ok(Ended { ok, how, text: String::from_utf8_lossy(&text).into_owned(), took })
}

fn signal_group(id: u32, signal: &str) {
    let _ = Command::new("kill").arg(format!("-{signal}")).arg("--").arg(format!("-{id}")).status();
}

/// Whether a program is on PATH.
pub fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
}

/// The value of `--name VALUE` or `--name=VALUE`, taken out of `args`.
pub fn take_value(args: &mut Vec<String>, name: &str) -> Result<Option<String>> {
    if let Some(at) = args.iter().position(|a| a == name) {
        if at + 1 >= args.len() {
            bail!("{name} needs a value");
        }
        args.remove(at);
        return Ok(Some(args.remove(at)));
    }
    let at = args.iter().position(|a| a.strip_prefix(name).is_some_and(|rest| rest.starts_with('=')));
    Ok(at.map(|at| args.remove(at)[name.len() + 1..].to_owned()))
}

/// Whether the flag was given, taken out of `args`.
pub fn take_flag(args: &mut Vec<String>, name: &str) -> bool {
    let before = args.len();
    args.retain(|a| a != name);
    args.len() != before
}

/// Refuses what nobody took.
pub fn nothing_left(args: &[String]) -> Result<()> {
    match args.first() {
        Some(first) => bail!("{first} is not an argument of this command"),
        None => Ok(()),
    }
}

/// Writes a file under a name of its own first, so that programs that run keep the old one.
pub fn place(to: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = to.with_file_name(name);
    let write = || -> std::io::Result<()> {
        std::fs::write(&fresh, bytes)?;
        std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(mode))?;
        std::fs::rename(&fresh, to)
    };
    write().with_context(|| format!("cannot write {}", to.display()))
}

/// A symbolic link in the place of whatever has that name.
pub fn link(to: &Path, content: impl AsRef<OsStr>) -> Result<()> {
    let _ = std::fs::remove_file(to);
    std::os::unix::fs::symlink(content.as_ref(), to).with_context(|| format!("cannot link {}", to.display()))
}
