//! `cargo xtask install --prefix DIR`: a tree that can be moved as a whole.
//!
//! ```text
//! bin/      mpirun mpiexec oxmpi mpicc mpicxx mpic++ mpiCC
//! lib/      libmpi_abi.so.1 libmpi_abi.so pkgconfig/{oxmpi,mpi,mpi-c,mpi-cxx}.pc
//! include/  mpi.h
//! ```
//! Nothing in it holds an absolute path: the wrappers look from their own executable, pkg-config from its file.
use crate::shell::{cargo, link, note, output, place, prefix, root, run, show, step, take_value, target};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

const SONAME: &str = "libmpi_abi.so.1";

pub fn run_command(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let prefix = take_value(&mut args, "--prefix")?.context("install needs --prefix DIR")?;
    crate::shell::nothing_left(&args)?;
    let prefix = std::path::absolute(Path::new(&prefix))?;
    install(&prefix)?;
    println!("\noxmpi {} is in {}", env!("CARGO_PKG_VERSION"), prefix.display());
    println!("try: {}/bin/mpicc program.c && {0}/bin/mpirun -n 2 ./a.out", prefix.display());
    Ok(())
}

/// The installation in `target/oxmpi` that the other commands use, built afresh. `OXMPI_XTASK_PREFIX=DIR` takes one that
/// is there already, without building.
pub fn shared() -> Result<()> {
    if std::env::var_os("OXMPI_XTASK_PREFIX").is_some() {
        step(format!("Using the installation in {}", prefix().display()));
        return Ok(());
    }
    install(&prefix())
}

/// Builds the release profile and lays the tree out in `prefix`.
pub fn install(prefix: &Path) -> Result<()> {
    step("Building the library, the launcher and the compiler wrappers (release profile)");
    let packages = ["oxmpi-abi", "oxmpi-launch", "oxmpi-wrappers"];
    let mut build = cargo();
    build.args(["build", "--release"]);
    for package in packages {
        build.args(["--package", package]);
    }
    run(&mut build)?;
    lay_out(prefix, &target().join("release"))
}

fn lay_out(prefix: &Path, built: &Path) -> Result<()> {
    step(format!("Installing into {}", prefix.display()));
    let [bin, lib, include] = ["bin", "lib", "include"].map(|d| prefix.join(d));
    let pkgconfig = lib.join("pkgconfig");
    for dir in [&bin, &lib, &include, &pkgconfig] {
        std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    for program in ["mpirun", "oxmpi", "mpicc", "mpicxx"] {
        copy(&built.join(program), &bin.join(program), 0o755)?;
    }
    for (name, to) in [("mpiexec", "mpirun"), ("mpic++", "mpicxx"), ("mpiCC", "mpicxx")] {
        link(&bin.join(name), to)?;
    }
    copy(&built.join("libmpi_abi.so"), &lib.join(SONAME), 0o755)?;
    link(&lib.join("libmpi_abi.so"), SONAME)?;
    copy(&root().join("include/mpi.h"), &include.join("mpi.h"), 0o644)?;
    for (name, text) in pkgconfig_files() {
        place(&pkgconfig.join(&name), text.as_bytes(), 0o644)?;
    }
    check(&lib.join(SONAME))?;
    note("bin: mpirun mpiexec oxmpi mpicc mpicxx mpic++ mpiCC");
    note("lib: libmpi_abi.so.1 libmpi_abi.so pkgconfig/{oxmpi,mpi,mpi-c,mpi-cxx}.pc");
    note("include: mpi.h");
    Ok(())
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    let bytes = std::fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
    place(to, &bytes, mode)
}

/// The linker wrote the name that programs will look for; anything else would be an installation that nothing finds.
fn check(library: &Path) -> Result<()> {
    let mut readelf = Command::new("readelf");
    readelf.arg("-d").arg(library);
    let Ok(dynamic) = output(&mut readelf) else {
        note(format!("not checked: the soname ({} did not run)", show(&readelf)));
        return Ok(());
    };
    if !dynamic.lines().any(|l| l.contains("(SONAME)") && l.contains(&format!("[{SONAME}]"))) {
        bail!("{} has no soname {SONAME}; crates/abi/build.rs sets it", library.display());
    }
    Ok(())
}

fn pkgconfig_files() -> Vec<(String, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let file = |name: &str, title: &str, description: &str| {
        let text = format!(
            "prefix=${{pcfiledir}}/../..\n\
             exec_prefix=${{prefix}}\n\
             bindir=${{exec_prefix}}/bin\n\
             libdir=${{exec_prefix}}/lib\n\
             includedir=${{prefix}}/include\n\
             \n\
             Name: {title}\n\
             Description: {description}\n\
             Version: {version}\n\
             Cflags: -I${{includedir}}\n\
             Libs: -L${{libdir}} -Xlinker -rpath=${{libdir}} -Wl,--enable-new-dtags -lmpi_abi\n"
        );
        (format!("{name}.pc"), text)
    };
    vec![
        file("oxmpi", "oxmpi", "oxmpi, an MPI with the MPI-5.0 standard ABI"),
        file("mpi", "mpi", "MPI by oxmpi"),
        file("mpi-c", "mpi-c", "MPI for C by oxmpi"),
        file("mpi-cxx", "mpi-cxx", "MPI for C++ by oxmpi"),
    ]
}

/// A program of the installation.
pub fn program(prefix: &Path, name: &str) -> PathBuf {
    prefix.join("bin").join(name)
}
