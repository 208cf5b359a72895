//! Python for the demo, the mpi4py suite and the peers: virtual environments under `target/venv`, packages from PyPI.
use crate::shell::{has, note, output, run, step, target};
use anyhow::{Context, Result, bail};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

pub const MPI4PY: &str = "4.1.2";

/// Succeeds when Python can make virtual environments and compile extensions.
const PROBE: &str = "import ensurepip, os, sysconfig, venv
header = os.path.join(sysconfig.get_paths()['include'], 'Python.h')
raise SystemExit(0 if os.path.isfile(header) else 'there is no ' + header)";

/// Makes sure that there is a Python that can do what we need; on Debian, as root, by installing what is missing.
fn ensure_python() -> Result<()> {
    let probe = || output(Command::new("python3").args(["-c", PROBE]));
    let Err(reason) = probe() else { return Ok(()) };
    let packages = ["python3", "python3-venv", "python3-dev"];
    let by_hand = format!("apt-get update && apt-get install -y {}", packages.join(" "));
    let root = output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !root || !has("apt-get") {
        bail!("Python 3 with venv and its headers is needed ({reason:#}); on Debian, as root: {by_hand}");
    }
    note(format!("Python lacks venv or its headers: installing {}", packages.join(", ")));
    let apt = || {
        let mut command = Command::new("apt-get");
        command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq");
        command
    };
    run(apt().arg("update"))?;
    run(apt().args(["install", "-y", "--no-install-recommends"]).args(packages))?;
    probe().map(drop).with_context(|| format!("Python is still not usable after: {by_hand}"))
}

/// A virtual environment.
pub struct Venv {
    dir: PathBuf,
}

impl Venv {
    /// `target/venv/NAME`, made when it is not there or does not work.
    pub fn named(name: &str) -> Result<Venv> {
        let venv = Venv { dir: target().join("venv").join(name) };
        if output(Command::new(venv.program("python")).args(["-m", "pip", "--version"])).is_ok() {
            return Ok(venv);
        }
        ensure_python()?;
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv.dir))?;
        Ok(venv)
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.dir.join("bin").join(name)
    }

    fn pip(&self) -> Command {
        let mut pip = Command::new(self.program("python"));
        pip.args(["-m", "pip", "--disable-pip-version-check"]);
        pip.env("PIP_CACHE_DIR", target().join("pip"));
        pip
    }

    /// Installs a package unless it is there already.
    pub fn install(&self, package: &str) -> Result<()> {
        if output(self.pip().args(["show", "-q", package])).is_ok() {
            note(format!("{package} is already in {}", self.dir.display()));
            return Ok(());
        }
        run(self.pip().args(["install", "--quiet", package]))
    }

    pub fn version_of(&self, package: &str) -> String {
        let shown = output(self.pip().args(["show", package])).unwrap_or_default();
        shown.lines().find_map(|l| l.strip_prefix("Version: ")).unwrap_or("(unknown)").to_owned()
    }

    /// Builds mpi4py against the MPI of `mpicc`, again whenever that MPI's header changed.
    pub fn install_mpi4py(&self, mpicc: &Path, header: &Path) -> Result<()> {
        let text = std::fs::read(header).with_context(|| format!("cannot read {}", header.display()))?;
        let mut hash = DefaultHasher::new();
        (MPI4PY, mpicc, text).hash(&mut hash);
        let (stamp, content) = (self.dir.join("mpi4py.stamp"), format!("{:016x}\n", hash.finish()));
        if std::fs::read_to_string(&stamp).is_ok_and(|old| old == content) {
            note(format!("mpi4py {MPI4PY} is already in {}", self.dir.display()));
            return Ok(());
        }
        note("compiling mpi4py from its source, without optimisation: this takes about half a minute");
        // No cache: pip would hand out what it built against another MPI.
        run(self
            .pip()
            .args(["install", "--quiet", "--no-cache-dir", "--force-reinstall", "--no-deps", "--no-binary=mpi4py"])
            .arg(format!("mpi4py=={MPI4PY}"))
            .env("CFLAGS", "-O0")
            .env("MPICC", mpicc)
            .env("MPI4PY_BUILD_MPICC", mpicc))?;
        std::fs::write(&stamp, content)?;
        Ok(())
    }

    /// The unpacked source of mpi4py, which holds its tests.
    pub fn mpi4py_source(&self) -> Result<PathBuf> {
        let into = target().join("mpi4py");
        let source = into.join(format!("mpi4py-{MPI4PY}"));
        if source.join("test/main.py").is_file() {
            return Ok(source);
        }
        step(format!("Fetching the source of mpi4py {MPI4PY}"));
        std::fs::create_dir_all(&into)?;
        run(self
            .pip()
            .args(["download", "--quiet", "--no-deps", "--no-binary=mpi4py"])
            .arg(format!("mpi4py=={MPI4PY}"))
            .arg("--dest")
            .arg(&into))?;
        let archive = into.join(format!("mpi4py-{MPI4PY}.tar.gz"));
        run(Command::new("tar").arg("-xzf").arg(&archive).arg("-C").arg(&into))?;
        Ok(source)
    }
}
