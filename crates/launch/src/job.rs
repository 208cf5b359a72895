//! A job ready to be started: hosts chosen, ranks mapped, programs found, environments built. Everything
//! that can be refused is refused here, before a process exists.
use crate::cli::{Options, Program, Tag};
use crate::hosts::{self, Trouble};
use crate::map::{self, Host, Map, Request};
use crate::{Failure, exit};
use oxmpi_base::config::sources;
use oxmpi_mpi::config::REGISTRY;
use oxmpi_pmi::env;
use oxmpi_sys::{fd, process};
use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A program with everything that its ranks share.
#[derive(Debug)]
pub struct Runnable {
    pub path: CString,
    pub argv: Vec<CString>,
    /// `NAME=VALUE`, without the variables of a rank.
    pub env: Vec<CString>,
    pub directory: Option<CString>,
}

#[derive(Debug)]
pub struct Job {
    pub id: u64,
    pub this_host: String,
    pub hosts: Vec<Host>,
    pub map: Map,
    pub programs: Vec<Runnable>,
    pub universe_size: usize,
    pub segment: Option<OwnedFd>,
    pub tag: Tag,
    pub stdin: Option<usize>,
    pub timeout: Option<Duration>,
}

impl From<Trouble> for Failure {
    fn from(t: Trouble) -> Failure {
        Failure { code: t.code, text: t.text }
    }
}

impl Job {
    pub fn prepare(options: &Options) -> Result<Job, Failure> {
        let this_host = oxmpi_sys::hostname();
        let mut files = Vec::new();
        for file in &options.hostfiles {
            let text = std::fs::read_to_string(file).map_err(|e| Failure {
                code: exit::HOSTFILE,
                text: format!("hostfile {}: {e}", Path::new(file).display()),
            })?;
            files.push((file.to_string_lossy().into_owned(), text));
        }
        let hosts = hosts::resolve(&options.hosts, &files, options.hardware_threads, &this_host)?;
        let counts: Vec<Option<usize>> = options.programs.iter().map(|p| p.ranks).collect();
        let request = Request { programs: &counts, policy: options.policy, oversubscribe: options.oversubscribe };
        let map = map::map(&hosts, &request).map_err(|r| Failure { code: exit::MAP, text: r.to_string() })?;
        let size = map.places.len();
        if let Some(rank) = options.stdin.filter(|r| *r >= size) {
            return Err(Failure { code: exit::USAGE, text: format!("--stdin {rank}: the job has {size} ranks") });
        }
        let programs = options.programs.iter().map(|p| runnable(p, &options.set)).collect::<Result<Vec<_>, _>>()?;
        let slots: usize = hosts.iter().map(|h| h.slots).sum();
        let id = process::random_u64().map_err(|e| Failure::system("random numbers", e))?;
        Ok(Job {
            id,
            this_host,
            universe_size: slots.max(size),
            hosts,
            map,
            programs,
            segment: None,
            tag: options.tag,
            stdin: options.stdin,
            timeout: options.timeout,
        })
    }

    pub fn size(&self) -> usize {
        self.map.places.len()
    }

    /// Makes the shared memory of this host's ranks.
    pub fn make_segment(&mut self) -> Result<(), Failure> {
        let size = self.size();
        let own = hosts::own_slots(true, Path::new("/")).0;
        let segment = oxmpi_transport_shm::segment::create(size, size > own)
            .map_err(|e| Failure::system("the shared memory of the job", e))?;
        self.segment = Some(segment);
        Ok(())
    }

    /// The map for a reader.
    pub fn show_map(&self) -> String {
        let mut out = format!("map of job {:016x}: {} ranks on {} host(s)\n", self.id, self.size(), self.hosts.len());
        for (h, host) in self.hosts.iter().enumerate() {
            let cap = host.cap.map_or_else(String::new, |c| format!(", at most {c} ranks"));
            out.push_str(&format!("  {}: {} slots ({}){cap}\n", host.name, host.slots, host.source));
            for (rank, place) in self.map.places.iter().enumerate().filter(|(_, p)| p.host == h) {
                let program = self.programs.get(place.program).map(|p| p.path.to_string_lossy());
                out.push_str(&format!("    rank {rank}: {}\n", program.unwrap_or_default()));
            }
        }
        out
    }

    /// The variables of one rank.
    pub fn rank_env(&self, rank: usize, segment: env::Named, control: env::Named) -> Vec<CString> {
        let place = self.map.places[rank];
        let on_host = |p: &&map::Place| p.host == place.host;
        let local_rank = self.map.places[..rank].iter().filter(on_host).count();
        let local_size = self.map.places.iter().filter(on_host).count();
        // The ranks of a program follow each other.
        let same_program = |p: &&map::Place| p.program == place.program;
        let app_first = self.map.places[..rank].iter().filter(|p| !same_program(p)).count();
        let app_size = self.map.places.iter().filter(same_program).count();
        let pairs: [(&str, String); 11] = [
            (env::RANK, rank.to_string()),
            (env::SIZE, self.size().to_string()),
            (env::LOCAL_RANK, local_rank.to_string()),
            (env::LOCAL_SIZE, local_size.to_string()),
            (env::APPNUM, place.program.to_string()),
            (env::APP_FIRST, app_first.to_string()),
            (env::APP_SIZE, app_size.to_string()),
            (env::UNIVERSE_SIZE, self.universe_size.to_string()),
            (env::JOBID, self.id.to_string()),
            (env::SEGMENT_FD, segment.to_string()),
            (env::CONTROL_FD, control.to_string()),
        ];
        pairs.iter().filter_map(|(name, value)| CString::new(format!("{name}={value}")).ok()).collect()
    }
}

fn c_string(bytes: &OsStr) -> Result<CString, Failure> {
    CString::new(bytes.as_bytes())
        .map_err(|_| Failure { code: exit::USAGE, text: format!("{bytes:?} contains a zero byte") })
}

fn runnable(program: &Program, set: &[String]) -> Result<Runnable, Failure> {
    let mut vars = environment(program)?;
    configure(&mut vars, set).map_err(|text| Failure { code: exit::USAGE, text })?;
    let first = program.argv.first().map(OsString::as_os_str).unwrap_or_default();
    let path = locate(first, program.directory.as_deref(), vars.get(OsStr::new("PATH")).map(OsString::as_os_str))?;
    let mut env = Vec::with_capacity(vars.len());
    for (name, value) in &vars {
        let mut pair = name.clone();
        pair.push("=");
        pair.push(value);
        env.push(c_string(&pair)?);
    }
    Ok(Runnable {
        path: c_string(path.as_os_str())?,
        argv: program.argv.iter().map(|a| c_string(a)).collect::<Result<_, _>>()?,
        env,
        directory: program.directory.as_deref().map(c_string).transpose()?,
    })
}

/// mpirun's own environment, without the variables of a job around it, with what the command line sets,
/// and with our library findable.
fn environment(program: &Program) -> Result<BTreeMap<OsString, OsString>, Failure> {
    let mut vars: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for name in env::ALL {
        vars.remove(OsStr::new(name));
    }
    for (name, value) in &program.env {
        match value {
            Some(v) => {
                vars.insert(name.clone(), v.clone());
            }
            None if vars.contains_key(name) => {}
            None => {
                crate::say(&format!("-x {}: it is not set in mpirun's environment", Path::new(name).display()));
            }
        }
    }
    if let Some(lib) = own_library_directory() {
        let key = OsString::from("LD_LIBRARY_PATH");
        let mut value = lib.into_os_string();
        if let Some(old) = vars.get(&key).filter(|v| !v.is_empty()) {
            value.push(":");
            value.push(old);
        }
        vars.insert(key, value);
    }
    Ok(vars)
}

/// The control variables of a program's ranks, resolved and put into their environment, which is all that the ranks
/// look at.
fn configure(vars: &mut BTreeMap<OsString, OsString>, set: &[String]) -> Result<(), String> {
    let mut settings = match sources::config_file(|name| vars.get(OsStr::new(name)).cloned())? {
        Some((path, text)) => REGISTRY.from_file(&path, &text)?,
        None => Vec::new(),
    };
    settings.extend(REGISTRY.from_environment(vars.iter().map(|(n, v)| (n.as_os_str(), v.as_os_str())))?);
    settings.extend(REGISTRY.from_options(set)?);
    vars.extend(settings.iter().map(sources::Setting::pair));
    Ok(())
}

/// `../lib` beside the running mpirun, where it is that of an installation. A path with a colon cannot be
/// said in LD_LIBRARY_PATH.
fn own_library_directory() -> Option<PathBuf> {
    let lib = std::env::current_exe().ok()?.parent()?.parent()?.join("lib");
    (lib.join("libmpi_abi.so.1").exists() && !lib.as_os_str().as_bytes().contains(&b':')).then_some(lib)
}

/// The file to execute: a name with a slash as it is, any other along PATH.
fn locate(name: &OsStr, directory: Option<&OsStr>, path: Option<&OsStr>) -> Result<PathBuf, Failure> {
    if name.is_empty() {
        return Err(Failure { code: exit::NOT_FOUND, text: "the program's name is empty".into() });
    }
    if name.as_bytes().contains(&b'/') {
        return Ok(name.into());
    }
    let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
    let mut not_executable = None;
    for entry in path.as_bytes().split(|b| *b == b':') {
        let dir = Path::new(if entry.is_empty() { OsStr::new(".") } else { OsStr::from_bytes(entry) });
        let candidate = dir.join(name);
        // What the rank will see from its working directory.
        let seen = Path::new(directory.unwrap_or(OsStr::new("."))).join(&candidate);
        if !seen.is_file() {
            continue;
        }
        if fd::may_execute(&c_string(seen.as_os_str())?) {
            return Ok(candidate);
        }
        not_executable.get_or_insert(candidate);
    }
    let shown = Path::new(name).display();
    if let Some(file) = not_executable {
        let text = format!("program {shown}: {} is not executable by this user", file.display());
        return Err(Failure { code: exit::NOT_EXECUTABLE, text });
    }
    let here = Path::new(directory.unwrap_or(OsStr::new("."))).join(name);
    let hint =
        if here.is_file() { format!("; for the one in the working directory, say ./{shown}") } else { String::new() };
    let text = format!("program {shown} was not found in PATH ({}){hint}", Path::new(path).display());
    Err(Failure { code: exit::NOT_FOUND, text })
}
