//! From the environment to a [`Job`].
use crate::Control;
use crate::env::{self, Named, decimal};
use oxmpi_base::consts::MPI_ERR_OTHER;
use oxmpi_base::{Error, Result};
use oxmpi_sys::fd::Kind;
use oxmpi_sys::{fd, memory, process, signal};
use std::ffi::OsString;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// This process's place in its job.
#[derive(Debug)]
pub struct Job {
    pub rank: usize,
    pub size: usize,
    pub local_rank: usize,
    pub local_size: usize,
    /// Which program of an MPMD command line; None for a singleton.
    pub appnum: Option<i32>,
    /// The ranks that run that program; None for a singleton.
    pub same_program: Option<Range<usize>>,
    /// MPI_UNIVERSE_SIZE, where the launcher knows it.
    pub universe_size: Option<usize>,
    pub job_id: u64,
    /// Shared memory of this host's ranks, sealed against shrinking; None for a singleton.
    pub segment: Option<OwnedFd>,
    /// The way back to `mpirun`; None for a singleton.
    pub control: Option<Control>,
}

impl Job {
    fn singleton() -> Job {
        Job {
            rank: 0,
            size: 1,
            local_rank: 0,
            local_size: 1,
            appnum: None,
            same_program: None,
            universe_size: None,
            job_id: u64::from(oxmpi_sys::pid().unsigned_abs()),
            segment: None,
            control: None,
        }
    }
}

/// Finds out which job this process belongs to. Call it once per process: the descriptors can be taken once.
pub fn connect() -> Result<Job> {
    let get = |name: &str| std::env::var_os(name);
    if env::ALL.iter().any(|name| get(name).is_some()) {
        return under_mpirun(&get);
    }
    match foreign_launcher(&get) {
        Some(who) => Err(other(format!(
            "{who}, which this library does not speak to: start the program with oxmpi's mpirun \
             (without it, every process would be a job of its own)"
        ))),
        None => Ok(Job::singleton()),
    }
}

fn other(message: String) -> Error {
    Error::new(MPI_ERR_OTHER, message)
}

type Lookup<'a> = &'a dyn Fn(&str) -> Option<OsString>;

fn text(get: Lookup<'_>, name: &str) -> Result<String> {
    let value = get(name)
        .ok_or_else(|| other(format!("{name} is not set, though other variables of oxmpi's mpirun are: {}", HINT)))?;
    value.into_string().map_err(|v| other(format!("{name} is {v:?}, which is not text: {HINT}")))
}

const HINT: &str = "start the program with oxmpi's mpirun, or unset every OXMPI_ variable to run it alone";

fn number<T: std::str::FromStr>(get: Lookup<'_>, name: &str) -> Result<T> {
    let value = text(get, name)?;
    decimal(&value).ok_or_else(|| other(format!("{name} is {value:?}, not a number in range: {HINT}")))
}

fn named(get: Lookup<'_>, name: &str) -> Result<Named> {
    let value = text(get, name)?;
    value.parse().map_err(|why| other(format!("{name} is {value:?}: {why}: {HINT}")))
}

/// A rank's numbers, checked against each other.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    rank: usize,
    size: usize,
    local_rank: usize,
    local_size: usize,
    appnum: i32,
    app_first: usize,
    app_size: usize,
    universe_size: usize,
    job_id: u64,
    segment: Named,
    control: Named,
}

fn place(get: Lookup<'_>) -> Result<Place> {
    let p = Place {
        rank: number(get, env::RANK)?,
        size: number(get, env::SIZE)?,
        local_rank: number(get, env::LOCAL_RANK)?,
        local_size: number(get, env::LOCAL_SIZE)?,
        appnum: number(get, env::APPNUM)?,
        app_first: number(get, env::APP_FIRST)?,
        app_size: number(get, env::APP_SIZE)?,
        universe_size: number(get, env::UNIVERSE_SIZE)?,
        job_id: number(get, env::JOBID)?,
        segment: named(get, env::SEGMENT_FD)?,
        control: named(get, env::CONTROL_FD)?,
    };
    let below = |name: &str, value: usize, of: &str, limit: usize| {
        if value < limit { Ok(()) } else { Err(other(format!("{name}={value} is not below {of}={limit}: {HINT}"))) }
    };
    below(env::SIZE, p.size, "the largest size plus one", i32::MAX as usize)?;
    below(env::RANK, p.rank, env::SIZE, p.size)?;
    below(env::LOCAL_RANK, p.local_rank, env::LOCAL_SIZE, p.local_size)?;
    below(env::LOCAL_SIZE, p.local_size, "OXMPI_SIZE plus one", p.size + 1)?;
    below(env::APP_SIZE, p.app_size, "OXMPI_SIZE plus one", p.size + 1)?;
    below(env::APP_FIRST, p.app_first, "OXMPI_SIZE - OXMPI_APP_SIZE plus one", p.size - p.app_size + 1)?;
    if !(p.app_first..p.app_first + p.app_size).contains(&p.rank) {
        return Err(other(format!(
            "{}={} is not among the {} ranks from {} on that {} and {} name: {HINT}",
            env::RANK,
            p.rank,
            p.app_size,
            p.app_first,
            env::APP_FIRST,
            env::APP_SIZE
        )));
    }
    if p.segment.number == p.control.number {
        return Err(other(format!("{} and {} name the same descriptor: {HINT}", env::SEGMENT_FD, env::CONTROL_FD)));
    }
    Ok(p)
}

fn is_open(what: Named, kind: Kind) -> bool {
    fd::identity(what.number).is_ok_and(|i| i.inode == what.inode && i.kind == kind)
}

fn under_mpirun(get: Lookup<'_>) -> Result<Job> {
    let p = place(get)?;
    if !is_open(p.control, Kind::Socket) {
        return without_descriptors(&p);
    }
    if !is_open(p.segment, Kind::File) {
        return Err(other(format!(
            "{}={}: that descriptor is not the shared memory that mpirun made; something closed or replaced it \
             before MPI_Init: pass descriptors {} and {} on unchanged",
            env::SEGMENT_FD,
            p.segment,
            p.segment.number,
            p.control.number
        )));
    }
    let take = |name: &str, what: Named| {
        fd::take_inherited(what.number, what.inode).map_err(|e| other(format!("{name}={what} cannot be taken: {e}")))
    };
    let control = take(env::CONTROL_FD, p.control)?;
    let segment = take(env::SEGMENT_FD, p.segment)?;
    memory::sealed_len(segment.as_fd()).map_err(|e| other(format!("{}={}: {e}", env::SEGMENT_FD, p.segment)))?;
    if !fd::is_seqpacket(control.as_fd()) {
        return Err(other(format!("{}={} is not a SOCK_SEQPACKET Unix socket", env::CONTROL_FD, p.control)));
    }
    die_with_parent();
    Ok(Job {
        rank: p.rank,
        size: p.size,
        local_rank: p.local_rank,
        local_size: p.local_size,
        appnum: Some(p.appnum),
        same_program: Some(p.app_first..p.app_first + p.app_size),
        universe_size: Some(p.universe_size),
        job_id: p.job_id,
        segment: Some(segment),
        control: Some(Control::new(control)),
    })
}

/// A rank behind a wrapper (a shell, a profiler) is not mpirun's child: it arms its own death with its
/// parent's. The kernel means the thread that forked us, so a parent with several threads is left out:
/// there the end of a worker thread would kill a healthy rank. mpirun finds such ranks as descendants.
fn die_with_parent() {
    if process::stat(process::parent()).is_some_and(|p| p.threads == 1) {
        let _ = process::signal_on_parent_death(signal::KILL);
    }
}

/// The variables are there, the descriptors are not: a child of a rank, or a rank behind a wrapper that
/// closed them. The nearest ancestor that holds one of them tells: a rank keeps the control socket CLOEXEC
/// from MPI_Init on, a wrapper got it inheritable, and mpirun itself holds only the segment.
fn without_descriptors(p: &Place) -> Result<Job> {
    let lost = |who: String| {
        Err(other(format!(
            "this is rank {} of {}, but {who} did not pass on descriptors {} and {} to it: let them through (in Python: \
             subprocess with close_fds=False), or unset the OXMPI_ variables to run the program alone",
            p.rank, p.size, p.segment.number, p.control.number
        )))
    };
    let mut pid = oxmpi_sys::pid();
    for _ in 0..4096 {
        match process::stat(pid) {
            Some(s) if s.parent > 1 => pid = s.parent,
            _ => break,
        }
        match holds(pid, p) {
            Some(Held::Taken) => return Ok(Job::singleton()),
            Some(Held::Inheritable) => {
                let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                return lost(format!("its wrapper, process {pid} ({}),", name.trim()));
            }
            Some(Held::Launcher) => return lost("a wrapper between it and mpirun".into()),
            None => {}
        }
    }
    // Nobody above holds them: the job is over and its variables were left in an environment.
    Ok(Job::singleton())
}

enum Held {
    /// The control socket, CLOEXEC: MPI_Init took it in that process.
    Taken,
    /// The control socket, inheritable: a program that only passes it through.
    Inheritable,
    /// The segment without the socket.
    Launcher,
}

/// What process `pid` holds of this rank's two descriptors.
fn holds(pid: i32, p: &Place) -> Option<Held> {
    let socket = format!("socket:[{}]", p.control.inode);
    let mut launcher = None;
    for entry in std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten() {
        let Ok(link) = std::fs::read_link(entry.path()) else { continue };
        if link.as_os_str() == socket.as_str() {
            let info = Path::new("/proc").join(pid.to_string()).join("fdinfo").join(entry.file_name());
            let info = std::fs::read_to_string(info).ok()?;
            let flags = info.lines().find_map(|l| l.strip_prefix("flags:"))?;
            let flags = u32::from_str_radix(flags.trim(), 8).ok()?;
            const O_CLOEXEC: u32 = 0o2000000;
            return Some(if flags & O_CLOEXEC != 0 { Held::Taken } else { Held::Inheritable });
        }
        let memory = link.as_os_str().as_bytes().starts_with(b"/memfd:");
        if memory && std::fs::metadata(entry.path()).is_ok_and(|m| m.ino() == p.segment.inode) {
            launcher = Some(Held::Launcher);
        }
    }
    launcher
}

/// Who says that this is one process of several, when it is not mpirun.
fn foreign_launcher(get: Lookup<'_>) -> Option<String> {
    let count = |name: &str| get(name).and_then(|v| v.into_string().ok()).and_then(|v| v.trim().parse::<u64>().ok());
    let several = |name: &str| count(name).filter(|n| *n > 1);
    let alone = count("OMPI_COMM_WORLD_SIZE") == Some(1) || count("SLURM_STEP_NUM_TASKS") == Some(1);
    if let Some(n) = several("OMPI_COMM_WORLD_SIZE") {
        return Some(format!("Open MPI's launcher started this process as one of {n} (OMPI_COMM_WORLD_SIZE)"));
    }
    if let (Some(_), Some(n)) = (get("SLURM_PROCID"), several("SLURM_STEP_NUM_TASKS")) {
        return Some(format!("Slurm's srun started this process as one of {n} tasks (SLURM_STEP_NUM_TASKS)"));
    }
    if let Some(n) = several("PMI_SIZE") {
        return Some(format!(
            "a PMI launcher (MPICH's mpiexec, for one) started this process as one of {n} (PMI_SIZE)"
        ));
    }
    if get("PMIX_RANK").is_some() && !alone {
        return Some("a PMIx launcher (prterun, for one) started this process (PMIX_RANK)".into());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
        |name| pairs.iter().rev().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v))
    }

    const GOOD: [(&str, &str); 11] = [
        (env::RANK, "1"),
        (env::SIZE, "4"),
        (env::LOCAL_RANK, "1"),
        (env::LOCAL_SIZE, "4"),
        (env::APPNUM, "0"),
        (env::APP_FIRST, "1"),
        (env::APP_SIZE, "3"),
        (env::UNIVERSE_SIZE, "8"),
        (env::JOBID, "18446744073709551615"),
        (env::SEGMENT_FD, "62:1001"),
        (env::CONTROL_FD, "63:1002"),
    ];

    #[test]
    fn a_good_environment() {
        let p = place(&with(&GOOD)).unwrap();
        assert_eq!((p.rank, p.size, p.job_id), (1, 4, u64::MAX));
        assert_eq!(p.control, Named { number: 63, inode: 1002 });
    }

    #[test]
    fn each_malformed_variable_is_named() {
        for name in env::ALL {
            for value in ["", "x", "-1", " 1", "1 ", "+1", "99999999999999999999999", "1:2:3", "63:", "0:5", ":"] {
                let mut pairs = GOOD.to_vec();
                pairs.push((name, value));
                let e = place(&with(&pairs)).unwrap_err();
                assert!(e.message.contains(name), "{name}={value}: {}", e.message);
            }
            let missing: Vec<_> = GOOD.iter().copied().filter(|(n, _)| *n != name).collect();
            assert!(place(&with(&missing)).unwrap_err().message.contains(name));
        }
    }

    #[test]
    fn numbers_must_fit_together() {
        for bad in [
            (env::RANK, "4"),
            (env::LOCAL_RANK, "4"),
            (env::LOCAL_SIZE, "5"),
            (env::SIZE, "0"),
            (env::SIZE, "2147483648"),
            (env::APP_FIRST, "2"),
            (env::APP_SIZE, "4"),
            (env::APP_SIZE, "0"),
            (env::SEGMENT_FD, "63:1"),
        ] {
            let mut pairs = GOOD.to_vec();
            pairs.push(bad);
            assert!(place(&with(&pairs)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn other_launchers_are_recognised() {
        let several: [&[(&str, &str)]; 4] = [
            &[("PMI_SIZE", "2"), ("PMI_RANK", "0")],
            &[("PMIX_RANK", "0")],
            &[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "2")],
            &[("OMPI_COMM_WORLD_SIZE", "2"), ("PMIX_RANK", "1")],
        ];
        for s in several {
            assert!(foreign_launcher(&with(s)).is_some(), "{s:?}");
        }
        let single: [&[(&str, &str)]; 5] = [
            &[],
            &[("PMI_SIZE", "1")],
            &[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1"), ("PMIX_RANK", "0")],
            &[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")],
            &[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")],
        ];
        for s in single {
            assert_eq!(foreign_launcher(&with(s)), None, "{s:?}");
        }
    }

    #[test]
    fn stale_variables_with_nobody_holding_the_socket_mean_a_singleton() {
        let p = place(&with(&GOOD)).unwrap();
        assert_eq!(without_descriptors(&p).unwrap().size, 1);
    }
}
