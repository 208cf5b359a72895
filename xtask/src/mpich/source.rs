//! MPICH's test programs: Debian's source package, configured and compiled with the `mpicc` of an installation. All of it under
//! `target/`; apt works with folders of its own there, so that the system's lists and sources stay as they are.
use super::testlist::programs;
use crate::shell::{has, output, run, show, step, target};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the programs of one implementation are built.
pub struct Build {
    source: PathBuf,
    dir: PathBuf,
    log: PathBuf,
}

/// The folder `test/mpi` of the package, unpacked.
fn source() -> Result<PathBuf> {
    let home = target().join("suite/mpich");
    let tests = home.join("source/test/mpi");
    if tests.join("configure").is_file() {
        return Ok(tests);
    }
    step("Getting Debian's source package mpich");
    let apt = home.join("apt");
    for dir in ["lists/partial", "cache/archives/partial", "state"] {
        std::fs::create_dir_all(apt.join(dir))?;
    }
    let list = apt.join("sources.list");
    let key = "/usr/share/keyrings/debian-archive-keyring.gpg";
    std::fs::write(&list, format!("deb-src [signed-by={key}] http://deb.debian.org/debian bookworm main\n"))?;
    let by_apt = |words: &[&str]| {
        let mut command = Command::new("apt-get");
        command.current_dir(&apt).arg("-q");
        let set = |name: &str, to: &Path| format!("-o{name}={}", to.display());
        command.arg(set("Dir::Etc::SourceList", &list)).arg("-oDir::Etc::SourceParts=/dev/null");
        command.arg(set("Dir::State", &apt.join("state"))).arg(set("Dir::State::Lists", &apt.join("lists")));
        command.arg(set("Dir::Cache", &apt.join("cache"))).args(["-oAPT::Sandbox::User=", "-oAcquire::Retries=3"]);
        run(command.args(words))
    };
    ensure!(has("apt-get"), "there is no apt-get here; this suite takes MPICH's tests from Debian's source package");
    by_apt(&["update"])?;
    by_apt(&["source", "--download-only", "mpich"])?;
    let archive = std::fs::read_dir(&apt)?
        .filter_map(|e| Some(e.ok()?.path()))
        .find(|p| p.to_string_lossy().contains(".orig.tar."))
        .context("apt-get source brought no .orig.tar")?;
    let unpacked = home.join("source.part");
    let _ = std::fs::remove_dir_all(&unpacked);
    std::fs::create_dir_all(&unpacked)?;
    let mut tar = Command::new("tar");
    tar.arg("-xf").arg(&archive).arg("-C").arg(&unpacked).args([
        "--strip-components=1",
        "--wildcards",
        "mpich*/test/mpi",
    ]);
    run(&mut tar).context("unpacking needs tar and xz (Debian: apt-get install xz-utils)")?;
    let _ = std::fs::remove_dir_all(home.join("source"));
    std::fs::rename(&unpacked, home.join("source"))?;
    ensure!(tests.join("configure").is_file(), "{} holds no test/mpi/configure", archive.display());
    Ok(tests)
}

impl Build {
    /// Configured for `mpicc`, unless it is already.
    pub fn of(name: &str, mpicc: &Path) -> Result<Build> {
        for tool in ["make", "cc"] {
            ensure!(has(tool), "{tool} is needed to build MPICH's tests (Debian: apt-get install build-essential)");
        }
        let source = source()?;
        let dir = target().join("suite/mpich/build").join(name);
        let log = target().join("suite/mpich/log").join(name);
        std::fs::create_dir_all(&log)?;
        let names = crate::shell::root().join("tests/suites/mpich_names.h");
        // Feature macros that the tests set for MPICH only, because its version of the standard was older than the features.
        let flags = format!("-include {} -DTEST_NEIGHB_COLL=1 -DTEST_HINDEXED_BLOCK=1", names.display());
        let mut configure = Command::new(source.join("configure"));
        configure
            .current_dir(&dir)
            .arg(format!("CC={}", mpicc.display()))
            .arg(format!("MPICC={}", mpicc.display()))
            .arg(format!("CPPFLAGS={flags}"))
            .args(["CFLAGS=-O1 -w", "CXX=no", "MPICXX=no", "FC=no", "F77=no", "MPIFC=no", "MPIF77=no"])
            .args(["--disable-fortran", "--disable-cxx", "--disable-romio", "--disable-shared", "--enable-strictmpi"])
            .args(["--enable-checkerrors", "--enable-perftest", "--enable-large-tests"])
            .stdin(Stdio::null());
        let (asked, stamp) = (show(&configure), dir.join("configured-with"));
        if std::fs::read_to_string(&stamp).ok().as_deref() != Some(&asked) {
            step(format!("Configuring MPICH's tests for {name}"));
            let _ = std::fs::remove_dir_all(&dir);
            std::fs::create_dir_all(&dir)?;
            let out = log.join("configure.log");
            let file = std::fs::File::create(&out)?;
            let status = configure.stdout(file.try_clone()?).stderr(file).status()?;
            ensure!(status.success(), "MPICH's configure ended with {status}; see {}", out.display());
            std::fs::write(&stamp, &asked)?;
        }
        Ok(Build { source, dir, log })
    }

    /// The libraries that all programs use.
    pub fn libraries(&self, jobs: usize) -> Result<()> {
        for part in ["dtpools", "util"] {
            let log = self.log.join(format!("{part}.log"));
            if !self.make(part, jobs, &[])?.write(&log)? {
                bail!("MPICH's {part} do not compile; see {}", log.display());
            }
        }
        Ok(())
    }

    /// The text of a list of tests in a folder; empty where there is none.
    pub fn list(&self, folder: &str, name: &str) -> String {
        let at = |root: &Path| std::fs::read_to_string(root.join(folder).join(name)).ok();
        at(&self.dir).or_else(|| at(&self.source)).unwrap_or_default()
    }

    /// All programs of a folder: those that its Makefile names.
    pub fn programs(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.source.join(folder).join("Makefile.am");
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("MPICH's tests have no {}", path.display()))?;
        Ok(programs(&text))
    }

    pub fn program(&self, program: &str) -> PathBuf {
        self.dir.join(program)
    }

    /// Compiles programs of a folder; of each that does not compile, the first errors.
    pub fn compile(&self, folder: &str, names: &BTreeSet<String>, jobs: usize) -> Result<Vec<(String, String)>> {
        let targets: Vec<&str> = names.iter().map(String::as_str).collect();
        let log = self.log.join(format!("{}.log", folder.replace('/', "-")));
        if self.make(folder, jobs, &targets)?.write(&log)? {
            return Ok(Vec::new());
        }
        let mut failed = Vec::new();
        for name in names {
            let made = self.make(folder, 1, &[name])?;
            if !made.ok {
                let telling = |l: &&str| l.contains("error:") || l.contains("undefined reference");
                let lines: Vec<_> = made.text.lines().filter(telling).take(2).map(str::trim).collect();
                failed.push((name.clone(), lines.join("\n")));
            }
        }
        Ok(failed)
    }

    fn make(&self, folder: &str, jobs: usize, targets: &[&str]) -> Result<Made> {
        let mut make = Command::new("make");
        make.current_dir(self.dir.join(folder)).args(["-k", "-s", &format!("-j{jobs}")]).args(targets);
        let out = make.stdin(Stdio::null()).output().context("cannot start make")?;
        let text = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
        Ok(Made { ok: out.status.success(), text })
    }
}

struct Made {
    ok: bool,
    text: String,
}

impl Made {
    fn write(&self, to: &Path) -> Result<bool> {
        std::fs::write(to, &self.text)?;
        Ok(self.ok)
    }
}

/// What `free` calls available, in GB.
pub fn memory_available() -> f64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / (1 << 20) as f64
}

/// How many processors this process may use.
pub fn processors() -> usize {
    let counted = output(&mut Command::new("nproc")).ok().and_then(|n| n.trim().parse().ok());
    counted.unwrap_or(1)
}
