//! `cargo xtask demo`: from the sources to pictures, in C, Python and (where libclang is there) Rust.
use crate::install::{program, shared};
use crate::shell::{cargo, note, nothing_left, output, prefix, root, run as sh, step, target};
use crate::suite::Mpi;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;

pub fn run(args: &[String]) -> Result<()> {
    nothing_left(args)?;
    shared()?;
    let out = target().join("demo");
    std::fs::create_dir_all(&out)?;
    let heat = heat(&out)?;
    let mandelbrot = python(&out)?;
    let rust = rust(&out)?;
    step("Done");
    note(format!("C:      the heat equation on 4 ranks, {heat}"));
    note(format!("Python: mpi4py from its source, {mandelbrot}"));
    note(format!("Rust:   {rust}"));
    Ok(())
}

fn mpirun(ranks: usize) -> Command {
    let mut command = Command::new(program(&prefix(), "mpirun"));
    command.args(["--oversubscribe", "-n", &ranks.to_string()]);
    command
}

/// Compiles and runs examples/heat.c, and holds the picture of 4 ranks against that of one.
fn heat(out: &Path) -> Result<String> {
    step("C: compiling examples/heat.c with the installed mpicc, and running it on 4 ranks");
    let binary = out.join("heat");
    let mut compile = Command::new(program(&prefix(), "mpicc"));
    sh(compile.args(["-O2", "-o"]).arg(&binary).arg(root().join("examples/heat.c")).arg("-lm"))?;
    let [four, one] = ["heat.png", "heat-of-one-rank.png"].map(|name| out.join(name));
    for picture in [&four, &one] {
        let _ = std::fs::remove_file(picture);
    }
    sh(mpirun(4).arg(&binary).arg(&four))?;
    step("C: the same plate on one rank, started without mpirun");
    sh(Command::new(&binary).arg(&one))?;
    let same = std::fs::read(&four).context("heat wrote no picture")? == std::fs::read(&one)?;
    ensure!(same, "{} and {} differ: the halo exchange is wrong", four.display(), one.display());
    note("the two pictures are the same, byte for byte");
    Ok(format!("picture in {}", four.display()))
}

fn python(out: &Path) -> Result<String> {
    step("Python: building mpi4py from its source with the installed mpicc");
    let mpi = Mpi::ours()?;
    mpi.venv.install_mpi4py(&mpi.mpicc, &mpi.header)?;
    step("Python: running examples/mandelbrot.py on 4 ranks");
    let picture = out.join("mandelbrot.png");
    sh(mpirun(4).arg(mpi.venv.program("python")).arg(root().join("examples/mandelbrot.py")).arg(&picture))?;
    Ok(format!("picture in {}", picture.display()))
}

/// Whether bindgen will find libclang: in LIBCLANG_PATH, beside LLVM's other libraries, or among the system's.
fn libclang() -> bool {
    if std::env::var_os("LIBCLANG_PATH").is_some() {
        return true;
    }
    let known = output(Command::new("/sbin/ldconfig").arg("-p")).unwrap_or_default();
    let mut names: Vec<String> = known.split_whitespace().map(str::to_owned).collect();
    let llvm = output(Command::new("llvm-config").arg("--libdir")).unwrap_or_default();
    if let Ok(dir) = std::fs::read_dir(llvm.trim()) {
        names.extend(dir.flatten().map(|e| e.file_name().to_string_lossy().into_owned()));
    }
    // libclang-cpp is another library.
    let fits = |n: &str| n.strip_prefix("libclang-").is_some_and(|v| v.starts_with(|c: char| c.is_ascii_digit()));
    names.iter().any(|n| n.starts_with("libclang.so") || fits(n))
}

/// Builds examples/rust (rsmpi) and runs it; without libclang, says so.
fn rust(out: &Path) -> Result<String> {
    if !libclang() {
        return Ok("skipped: rsmpi needs libclang to read mpi.h (Debian: apt-get install libclang-dev)".into());
    }
    step("Rust: building examples/rust, which uses rsmpi, and running it on 4 ranks");
    let build = out.join("rust");
    let mut path = std::ffi::OsString::from(prefix().join("bin"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut compile = cargo();
    compile.args(["build", "--manifest-path"]).arg(root().join("examples/rust/Cargo.toml"));
    compile.arg("--target-dir").arg(&build).env("PATH", path).env("MPICC", program(&prefix(), "mpicc"));
    sh(&mut compile)?;
    sh(mpirun(4).arg(build.join("debug/ring")))?;
    Ok("rsmpi's ring on 4 ranks".into())
}
