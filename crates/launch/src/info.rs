//! `oxmpi info`: the control variables with their values and where these come from, and what this machine offers, found by
//! trying.
//!
//! Values are what a program started here without mpirun would have. A mistake in the configuration is reported, and
//! the list is printed all the same, since it is what helps to mend it.
use oxmpi_base::config::Variable;
use oxmpi_base::config::sources;
use oxmpi_base::consts::*;
use oxmpi_mpi::config::{PARTS, REGISTRY, VARIABLES};
use oxmpi_sys::{affinity, cgroup, cma, membarrier, process, signal};
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

const HELP: &str = "\
Usage: oxmpi info [--format text|tsv] [NAME]...
Lists the control variables, or those named, each with its value, where the value comes from, what it may be and what it
does; without names also what this machine offers to MPI.

A variable is set by a line 'NAME = VALUE' in the configuration file, by OXMPI_NAME=VALUE in the environment, or by
mpirun --set NAME=VALUE; the last of these wins. The file is $OXMPI_CONFIG, else the first that exists of
$XDG_CONFIG_HOME/oxmpi.conf (~/.config/oxmpi.conf) and /etc/oxmpi.conf.

  oxmpi --version    the version
";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Tsv,
}

/// The whole program.
pub fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|a| a.to_string_lossy().into_owned()).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match words.as_slice() {
        ["--version" | "-V"] => Ok((format!("oxmpi {}\n", env!("CARGO_PKG_VERSION")), None)),
        ["--help" | "-h" | "help"] | ["info", "--help" | "-h"] => Ok((HELP.to_owned(), None)),
        ["info", rest @ ..] => info(rest),
        [] => Err(format!("what is wanted?\n{HELP}")),
        [other, ..] => Err(format!("there is no '{other}': the one command is info\n{HELP}")),
    };
    match answer {
        Ok((text, trouble)) => {
            let _a_reader_that_has_seen_enough = crate::show(&text);
            match trouble {
                Some(why) => complain(&why, 1),
                None => ExitCode::SUCCESS,
            }
        }
        Err(why) => complain(&why, crate::exit::USAGE),
    }
}

fn complain(why: &str, code: u8) -> ExitCode {
    use std::io::Write;
    let _stderr_may_be_closed = writeln!(std::io::stderr(), "oxmpi: {why}");
    ExitCode::from(code)
}

/// The text, and what is wrong with the configuration.
fn info(words: &[&str]) -> Result<(String, Option<String>), String> {
    let mut format = Format::Text;
    let mut names = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let value = match word.strip_prefix("--format") {
            Some("") => rest.next().copied(),
            Some(attached) => attached.strip_prefix('='),
            None if word.starts_with('-') => return Err(format!("{word} is not an option of info\n{HELP}")),
            None => {
                names.push(REGISTRY.named(word)?);
                continue;
            }
        };
        format = match value {
            Some("text") => Format::Text,
            Some("tsv") => Format::Tsv,
            _ => return Err("--format needs text or tsv".into()),
        };
    }
    let trouble = oxmpi_mpi::config::load().err().map(|e| e.message.into_owned());
    let text = match (format, names.is_empty()) {
        (Format::Text, true) => everything(),
        (Format::Text, false) => names.iter().map(|v| paragraph(v)).collect(),
        (Format::Tsv, all) => {
            let listed: Vec<&Variable> = if all { REGISTRY.variables().collect() } else { names };
            table(if all { system() } else { Vec::new() }, &listed)
        }
    };
    Ok((text, trouble))
}

fn everything() -> String {
    let mut out = format!(
        "oxmpi {} (MPI-{MPI_VERSION}.{MPI_SUBVERSION}, standard ABI {MPI_ABI_VERSION}.{MPI_ABI_SUBVERSION}, {}-linux)\n\n",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::ARCH
    );
    out.push_str("This machine\n");
    for Fact { name, value, why } in system() {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        out.push_str(&format!("  {name:<13} {value}{why}\n"));
    }
    for (part, variables) in PARTS.iter().zip(VARIABLES) {
        out.push_str(&format!("\n{} (control variables)\n\n", part.help));
        variables.iter().for_each(|v| out.push_str(&paragraph(v)));
    }
    out
}

fn paragraph(v: &Variable) -> String {
    let (value, default) = (v.show(&v.value()), v.show(&v.default()));
    let quoted = |text: &str| if text.is_empty() { "(nothing)".to_owned() } else { text.to_owned() };
    let mut out = format!("  {} = {} ({})\n", v.name, quoted(&value), v.source().of(v));
    out.push_str(&format!("      {}; default {}; {}\n", v.show_kind(), quoted(&default), v.environment_name()));
    let mut line = String::new();
    for word in v.help().split_whitespace() {
        if line.len() + word.len() > 90 {
            out.push_str(&format!("      {line}\n"));
            line.clear();
        }
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    out.push_str(&format!("      {line}\n\n"));
    out
}

fn table(facts: Vec<Fact>, variables: &[&Variable]) -> String {
    let mut out = "section\tname\tvalue\tdefault\tkind\tsource\thelp\n".to_owned();
    let mut row = |cells: [&str; 7]| {
        // A text may hold a tab.
        let cells = cells.map(|c| c.replace(['\t', '\n'], " "));
        out.push_str(&format!("{}\n", cells.join("\t")));
    };
    for f in &facts {
        row(["system", f.name, &f.value, "", "", "", &f.why]);
    }
    for v in variables {
        let (value, default) = (v.show(&v.value()), v.show(&v.default()));
        row(["variable", v.name, &value, &default, &v.show_kind(), &v.source().of(v), v.help()]);
    }
    out
}

/// Something that this machine offers, or not and why.
struct Fact {
    name: &'static str,
    value: String,
    why: String,
}

fn fact(name: &'static str, value: impl Into<String>, why: impl Into<String>) -> Fact {
    Fact { name, value: value.into(), why: why.into() }
}

fn system() -> Vec<Fact> {
    let root = Path::new("/");
    let mut all = vec![fact("version", env!("CARGO_PKG_VERSION"), "")];
    all.push(match affinity::allowed_cpus() {
        Ok(cpus) => fact(
            "cores",
            affinity::cores(&cpus, root).to_string(),
            format!("{} processors in the affinity mask", cpus.len()),
        ),
        Err(e) => fact("cores", "unknown", e.to_string()),
    });
    all.push(match cgroup::cpu_quota(root) {
        Some(q) => fact("cgroup quota", format!("{:.2} processors", q.cpus), q.file.display().to_string()),
        None => fact("cgroup quota", "none", ""),
    });
    all.push(cross_memory());
    all.push(device("XPMEM", "/dev/xpmem", "xpmem"));
    all.push(device("KNEM", "/dev/knem", "knem"));
    all.push(match membarrier::register() {
        Ok(()) => fact("membarrier", "yes", ""),
        Err(e) => fact("membarrier", "no", format!("{e}; senders fence for themselves, which costs a little")),
    });
    let file = match sources::config_file(|name| std::env::var_os(name)) {
        Ok(Some((path, _))) => fact("config file", path.display().to_string(), ""),
        Ok(None) if std::env::var_os(sources::CONFIG).is_some() => {
            fact("config file", "none", format!("{} is empty", sources::CONFIG))
        }
        Ok(None) => {
            let places = sources::candidates(|name| std::env::var_os(name));
            let places: Vec<String> = places.iter().map(|p| p.display().to_string()).collect();
            fact("config file", "none", format!("looked for {}", places.join(" and ")))
        }
        Err(why) => fact("config file", "unreadable", why),
    };
    all.push(file);
    all
}

/// Two processes, children of one as ranks are; one reads the other's memory.
fn cross_memory() -> Fact {
    static PROBE: AtomicU64 = AtomicU64::new(0);
    const NAME: &str = "CMA";
    let want = process::random_u64().unwrap_or(1) | 1;
    let probe = || -> std::io::Result<Option<i32>> {
        let owner = process::fork_with(|| {
            let _ = process::signal_on_parent_death(signal::KILL);
            PROBE.store(want, Relaxed);
            std::thread::sleep(Duration::from_secs(10));
            0
        })?;
        let reader = process::fork_with(|| {
            // The owner stores its value some time after it was forked.
            for _ in 0..1000 {
                let mut got = 0u64;
                let mut runs = [cma::Run::new((&raw mut got).cast(), 8)];
                // SAFETY: the run is `got`, eight writable bytes.
                let read = unsafe { cma::transfer(cma::Way::Pull, owner, PROBE.as_ptr() as u64, &mut runs) };
                match read {
                    Err(e) => return e.raw_os_error().filter(|e| (1..255).contains(e)).unwrap_or(255),
                    Ok(()) if got == want => return 0,
                    Ok(()) => std::thread::sleep(Duration::from_millis(1)),
                }
            }
            255
        });
        let mut code = None;
        if let Ok(reader) = reader {
            while let process::Waited::Child(pid, ended) = process::wait_any(true)? {
                if pid == reader {
                    code = Some(ended.code());
                    break;
                }
            }
        }
        let _ = process::kill(owner, signal::KILL);
        while let process::Waited::Child(..) = process::wait_any(true)? {}
        reader.map(|_| code)
    };
    match probe() {
        Ok(Some(0)) => fact(NAME, "yes", "one process read the memory of another"),
        Ok(Some(255) | None) => fact(NAME, "no", "a process read something else than another one had written"),
        Ok(Some(errno)) => {
            let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
            let yama = match scope.trim() {
                "" | "0" => String::new(),
                level => format!("; kernel.yama.ptrace_scope is {level}, 0 allows it"),
            };
            fact(NAME, "no", format!("process_vm_readv: {}{yama}", std::io::Error::from_raw_os_error(errno)))
        }
        Err(e) => fact(NAME, "unknown", format!("it could not be tried: {e}")),
    }
}

/// Whether a kernel module's device is there and opens.
fn device(name: &'static str, path: &str, module: &str) -> Fact {
    match std::fs::OpenOptions::new().read(true).write(true).open(path) {
        Ok(_) => fact(name, "yes", format!("{path} opens")),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            fact(name, "no", format!("there is no {path}; the kernel module {module} is not loaded"))
        }
        Err(e) => fact(name, "no", format!("{path}: {e}")),
    }
}
