//! `cargo xtask test`: everything that CI runs, in the order in which it is cheapest to fail.
//!
//! `cargo xtask test STAGE...` runs only the stages that are named. The last line is `N passed, N failed`.
use crate::hotpath::Verdict;
use crate::install::{program, shared};
use crate::shell::{cargo, has, note, output, prefix, root, run as sh, show, step, target, watched};
use crate::suite::{Mpi, abi_swap, tail};
use anyhow::{Context, Result, bail, ensure};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Stage = (&'static str, fn(&mut Report) -> Result<()>);

/// Stages that look at the sources alone.
const SOURCES: [Stage; 5] =
    [("format", format), ("clippy", clippy), ("codegen", codegen), ("unit", unit), ("loom", loom)];

/// Stages that need an installation; the runner makes it once, before the first of them.
const INSTALLED: [Stage; 12] = [
    ("abi", abi),
    ("wrappers", wrappers),
    ("cmake", cmake),
    ("pmpi", pmpi),
    ("conformance", conformance),
    ("downgrade", downgrade),
    ("syscalls", syscalls),
    ("counts", counts),
    ("swap", swap),
    ("python", python),
    ("mpi4py", mpi4py),
    ("demo", demo),
];

/// What was checked, and what did not hold.
#[derive(Default)]
struct Report {
    passed: usize,
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl Report {
    /// Counts one check, and says how it went.
    fn check(&mut self, name: &str, outcome: Result<()>) {
        match outcome {
            Ok(()) => {
                println!("    ok      {name}");
                self.passed += 1;
            }
            Err(e) => self.fail(name, &format!("{e:#}")),
        }
    }
    fn fail(&mut self, name: &str, why: &str) {
        println!("    FAILED  {name}\n{}", indented(&tail(why, 40)));
        self.failed.push(name.to_owned());
    }
    fn skip(&mut self, name: &str, why: &str) {
        println!("    skipped {name}: {why}");
        self.skipped.push(format!("{name}: {why}"));
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|l| format!("            {l}")).collect::<Vec<_>>().join("\n")
}

pub fn run(args: &[String]) -> Result<()> {
    let names: Vec<_> = SOURCES.iter().chain(&INSTALLED).map(|s| s.0).collect();
    if let Some(odd) = args.iter().find(|a| !names.contains(&a.as_str())) {
        bail!("{odd} is not a stage; there are: {}", names.join(" "));
    }
    let wanted = |stage: &&Stage| args.is_empty() || args.iter().any(|a| a == stage.0);
    let start = Instant::now();
    let mut report = Report::default();
    let go = |report: &mut Report, (name, stage): &Stage| {
        step(format!("{name} (after {} s)", start.elapsed().as_secs()));
        if let Err(e) = stage(report) {
            report.fail(name, &format!("{e:#}"));
        }
    };
    SOURCES.iter().filter(wanted).for_each(|stage| go(&mut report, stage));
    let rest: Vec<_> = INSTALLED.iter().filter(wanted).collect();
    if !rest.is_empty() {
        let installed = shared();
        let there = installed.is_ok();
        report.check("install", installed);
        for stage in rest {
            if there {
                go(&mut report, stage);
            } else {
                report.skip(stage.0, "there is no installation to test");
            }
        }
    }
    step(format!("After {} s", start.elapsed().as_secs()));
    for skipped in &report.skipped {
        println!("skipped {skipped}");
    }
    for failed in &report.failed {
        println!("FAILED  {failed}");
    }
    println!("{} passed, {} failed", report.passed, report.failed.len());
    ensure!(report.failed.is_empty(), "{} checks failed", report.failed.len());
    Ok(())
}

// ---- the sources ----

fn cargo_has(subcommand: &str) -> bool {
    output(cargo().args([subcommand, "--version"])).is_ok()
}

fn format(report: &mut Report) -> Result<()> {
    if !cargo_has("fmt") {
        report.skip("cargo fmt", "rustfmt is not installed");
        return Ok(());
    }
    report.check("cargo fmt --check", output(cargo().args(["fmt", "--all", "--check"])).map(drop));
    Ok(())
}

fn clippy(report: &mut Report) -> Result<()> {
    if !cargo_has("clippy") {
        report.skip("cargo clippy", "clippy is not installed");
        return Ok(());
    }
    let mut clippy = cargo();
    clippy.args(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]);
    report.check("cargo clippy", sh(&mut clippy));
    Ok(())
}

fn codegen(report: &mut Report) -> Result<()> {
    report.check("codegen --check", crate::codegen::run(&["--check".to_owned()]));
    report.check("layers", crate::layers::run(&[]));
    report.check("mpi.h as C and C++", crate::abi_check::check_header());
    Ok(())
}

fn unit(report: &mut Report) -> Result<()> {
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]);
    cargo_test(report, &mut tests)
}

fn loom(report: &mut Report) -> Result<()> {
    if !root().join("crates/ring/tests/loom.rs").is_file() {
        report.skip("loom", "crates/ring has no tests/loom.rs");
        return Ok(());
    }
    let mut tests = cargo();
    tests
        .args(["test", "--package", "oxmpi-ring", "--release", "--test", "loom", "--target-dir"])
        .arg(target().join("loom"))
        .env("RUSTFLAGS", "--cfg loom")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_PANIC", "unwind");
    cargo_test(report, &mut tests)
}

/// Runs `cargo test`, passes its output on, and counts the tests of every binary.
fn cargo_test(report: &mut Report, command: &mut Command) -> Result<()> {
    note(format!("$ {}", show(command)));
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn().context("cannot start cargo")?;
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let before = report.failed.len();
    let mut ended = 0;
    for line in BufReader::new(reader).lines() {
        let line = line?;
        // A thousand lines that say ok would bury the one that does not.
        let dull = line.is_empty() || (line.starts_with("test ") && line.ends_with(" ... ok"));
        if !dull {
            println!("    {line}");
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            ended += 1;
            report.passed += number_before(result, " passed");
        } else if let Some(name) = line.strip_prefix("test ").and_then(|l| l.strip_suffix(" ... FAILED")) {
            report.failed.push(name.to_owned());
        }
    }
    let status = child.wait()?;
    if !status.success() && report.failed.len() == before {
        bail!("{} ended with {status} after {ended} test binaries", show(command));
    }
    Ok(())
}

fn number_before(text: &str, word: &str) -> usize {
    let digits = text.split(word).next().unwrap_or_default();
    digits.rsplit(|c: char| !c.is_ascii_digit()).next().and_then(|d| d.parse().ok()).unwrap_or(0)
}

// ---- the installation ----

fn library() -> PathBuf {
    prefix().join("lib/libmpi_abi.so.1")
}

fn abi(report: &mut Report) -> Result<()> {
    report
        .check("symbols, soname and needed libraries of libmpi_abi.so.1", crate::abi_check::check_library(&library()));
    report.check("tests/abi/calls.c", crate::abi_check::check_calls(&library()));
    Ok(())
}

/// A folder of this run's own.
fn scratch(name: &str) -> Result<PathBuf> {
    let dir = target().join("test").join(name);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir)?;
    Ok(dir)
}

const HELLO: &str = "#include <mpi.h>\n#include <stdio.h>\nint main(int argc, char **argv) {\n\
    char text[MPI_MAX_LIBRARY_VERSION_STRING]; int n, rank;\n\
    MPI_Get_library_version(text, &n); MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
    printf(\"hello from %d\\n\", rank); return MPI_Finalize();\n}\n";

fn expect(what: &str, got: &str, want: &str) -> Result<()> {
    ensure!(got.trim_end() == want, "{what} answers\n{got}instead of\n{want}");
    Ok(())
}

/// The installation, moved to a path with spaces, still compiles and runs.
fn wrappers(report: &mut Report) -> Result<()> {
    let dir = scratch("wrappers")?;
    let moved = dir.join("a moved prefix");
    sh(Command::new("cp").arg("-a").arg(prefix()).arg(&moved))?;
    let moved = moved.canonicalize()?;
    let (include, lib) = (moved.join("include"), moved.join("lib"));
    let (include, lib) = (include.display(), lib.display());
    for (source, text) in [("hello.c", HELLO), ("hello.cc", HELLO)] {
        std::fs::write(dir.join(source), text)?;
    }
    for (wrapper, variable, option) in [
        ("mpicc", "OXMPI_CC", "-cc"),
        ("mpicxx", "OXMPI_CXX", "-cxx"),
        ("mpic++", "OXMPI_CXX", "-cxx"),
        ("mpiCC", "OXMPI_CXX", "-cxx"),
    ] {
        let general = variable.strip_prefix("OX").unwrap_or(variable);
        let call = |args: &[&str]| {
            let mut command = Command::new(program(&moved, wrapper));
            command.args(args).current_dir(&dir);
            command.env_remove(variable).env_remove(general);
            command
        };
        let named = format!("{option}=comp");
        let compile = format!("-I\"{include}\"");
        let link = format!("-L\"{lib}\" -Wl,-rpath -Wl,\"{lib}\" -Wl,--enable-new-dtags -lmpi_abi");
        let forms: [(&[&str], String); 4] = [
            (&["-show", "-showme", "--showme"], format!("comp {compile} {link}")),
            (&["-compile-info", "-compile_info", "-show-compile-info"], format!("comp {compile}")),
            (&["-link-info", "-link_info", "-show-link-info"], format!("comp {link}")),
            (&["-showme:command", "--showme:command"], "comp".into()),
        ];
        let parts = [
            ("compile", compile.clone()),
            ("link", link.clone()),
            ("incdirs", format!("\"{include}\"")),
            ("libdirs", format!("\"{lib}\"")),
            ("libs", "mpi_abi".into()),
        ];
        let answers = || -> Result<()> {
            for (words, want) in &forms {
                for word in *words {
                    expect(word, &output(&mut call(&[&named, word]))?, want)?;
                }
            }
            for (part, want) in &parts {
                for dashes in ["-", "--"] {
                    let word = format!("{dashes}showme:{part}");
                    expect(&word, &output(&mut call(&[&word]))?, want)?;
                }
            }
            let version = output(&mut call(&["-showme:version"]))?;
            ensure!(version.contains(env!("CARGO_PKG_VERSION")), "-showme:version answers {version}");
            Ok(())
        };
        report.check(&format!("{wrapper}: what it answers"), answers());
        let overrides = || -> Result<()> {
            let first = |command: &mut Command| output(command).map(|s| s.split(' ').next().unwrap_or("").to_owned());
            expect(general, &first(call(&["-show"]).env(general, "one"))?, "one")?;
            expect(variable, &first(call(&["-show"]).env(general, "one").env(variable, "two"))?, "two")?;
            expect(option, &first(call(&[&named, "-show"]).env(variable, "two"))?, "comp")
        };
        report.check(&format!("{wrapper}: {option}=, {variable}, {general}"), overrides());
        let source = if wrapper == "mpicc" { "hello.c" } else { "hello.cc" };
        let builds = || -> Result<()> {
            output(&mut call(&["--version"]))?;
            output(&mut call(&["-c", source, "-o", "hello.o"]))?;
            output(&mut call(&["hello.o", "-o", "hello"]))?;
            let dynamic = output(Command::new("readelf").arg("-d").arg(dir.join("hello")))?;
            let has = |tag: &str, value: &str| dynamic.lines().any(|l| l.contains(tag) && l.contains(value));
            ensure!(has("(RUNPATH)", &format!("[{lib}]")), "no RUNPATH to {lib}:\n{dynamic}");
            ensure!(has("(NEEDED)", "[libmpi_abi.so.1]"), "libmpi_abi.so.1 is not needed:\n{dynamic}");
            // The command that -show prints, run by a shell, does the same.
            let shown = output(&mut call(&["-show", source, "-o", "shown"]))?;
            output(Command::new("sh").args(["-c", &shown]).current_dir(&dir))?;
            for binary in ["hello", "shown"] {
                let mut job = Command::new(program(&moved, "mpirun"));
                job.args(["--oversubscribe", "-n", "2"]).arg(dir.join(binary));
                let ended = watched(&mut job, Duration::from_secs(60))?;
                let lines = ended.text.lines().filter(|l| l.starts_with("hello from")).count();
                ensure!(ended.ok && lines == 2, "{binary} on 2 ranks: {}\n{}", ended.how, ended.text);
            }
            Ok(())
        };
        report.check(&format!("{wrapper}: compiles, links and runs from a path with spaces"), builds());
    }
    if !has("pkg-config") {
        report.skip("pkg-config", "it is not installed");
        return Ok(());
    }
    for package in ["oxmpi", "mpi", "mpi-c", "mpi-cxx"] {
        let builds = || -> Result<()> {
            let path = moved.join("lib/pkgconfig");
            let flags =
                output(Command::new("pkg-config").args(["--cflags", "--libs", package]).env("PKG_CONFIG_PATH", path))?;
            let line = format!("cc hello.c -o with-pkg-config {}", flags.trim());
            output(Command::new("sh").args(["-c", &line]).current_dir(&dir)).with_context(|| line.clone())?;
            let mut job = Command::new(program(&moved, "mpiexec"));
            let ended = watched(job.args(["-n", "1"]).arg(dir.join("with-pkg-config")), Duration::from_secs(60))?;
            ensure!(ended.ok, "{}\n{}", ended.how, ended.text);
            Ok(())
        };
        report.check(&format!("pkg-config {package}"), builds());
    }
    Ok(())
}

fn cmake(report: &mut Report) -> Result<()> {
    if !has("cmake") {
        report.skip("CMake's FindMPI", "cmake is not installed");
        return Ok(());
    }
    let dir = scratch("cmake")?;
    std::fs::write(dir.join("hello.c"), HELLO)?;
    std::fs::write(dir.join("hello.cc"), HELLO)?;
    let lists = "cmake_minimum_required(VERSION 3.16)\nproject(hello C CXX)\nset(MPI_DETERMINE_LIBRARY_VERSION TRUE)\n\
        find_package(MPI REQUIRED COMPONENTS C CXX)\nmessage(STATUS \"library: ${MPI_C_LIBRARY_VERSION_STRING}\")\n\
        add_executable(hello hello.c)\ntarget_link_libraries(hello MPI::MPI_C)\n\
        add_executable(hello++ hello.cc)\ntarget_link_libraries(hello++ MPI::MPI_CXX)\n";
    std::fs::write(dir.join("CMakeLists.txt"), lists)?;
    // Found by MPI_HOME, and by the wrapper as the project's compiler.
    for (name, extra) in [
        ("MPI_HOME", vec![format!("-DMPI_HOME={}", prefix().display())]),
        (
            "CMAKE_C_COMPILER=mpicc",
            vec![
                format!("-DCMAKE_C_COMPILER={}", program(&prefix(), "mpicc").display()),
                format!("-DCMAKE_CXX_COMPILER={}", program(&prefix(), "mpicxx").display()),
            ],
        ),
    ] {
        let build = dir.join(name.replace('=', "-"));
        let builds = || -> Result<()> {
            output(Command::new("cmake").arg("-S").arg(&dir).arg("-B").arg(&build).args(&extra))?;
            output(Command::new("cmake").arg("--build").arg(&build))?;
            for binary in ["hello", "hello++"] {
                let mut job = Command::new(program(&prefix(), "mpirun"));
                job.args(["--oversubscribe", "-n", "2"]).arg(build.join(binary));
                let ended = watched(&mut job, Duration::from_secs(60))?;
                ensure!(ended.ok, "{binary}: {}\n{}", ended.how, ended.text);
            }
            Ok(())
        };
        report.check(&format!("CMake's FindMPI by {name}"), builds());
    }
    Ok(())
}

// ---- programs ----

fn mpicc() -> Command {
    Command::new(program(&prefix(), "mpicc"))
}

/// A profiling tool in front of the library: by link order from an object and from an archive, and by LD_PRELOAD.
fn pmpi(report: &mut Report) -> Result<()> {
    let dir = scratch("pmpi")?;
    let [tool, main] = ["count.c", "program.c"].map(|f| root().join("tests/pmpi").join(f));
    let build = || -> Result<()> {
        let at = |name: &str| dir.join(name);
        output(mpicc().arg("-o").arg(at("plain")).arg(&main))?;
        output(mpicc().arg("-o").arg(at("object")).args([&main, &tool]))?;
        output(mpicc().arg("-c").arg("-o").arg(at("count.o")).arg(&tool))?;
        output(Command::new("ar").arg("rcs").args([at("libcount.a"), at("count.o")]))?;
        output(mpicc().arg("-o").arg(at("archive")).arg(&main).arg("-L").arg(&dir).arg("-lcount"))?;
        output(mpicc().args(["-shared", "-fPIC", "-o"]).arg(at("count.so")).arg(&tool))?;
        Ok(())
    };
    build()?;
    for (binary, preload) in [("object", false), ("archive", false), ("plain", true)] {
        for ranks in [1usize, 3] {
            let runs = || -> Result<()> {
                let mut job = Command::new(program(&prefix(), "mpirun"));
                job.args(["--oversubscribe", "-n", &ranks.to_string()]);
                if preload {
                    job.arg("env").arg(format!("LD_PRELOAD={}", dir.join("count.so").display()));
                }
                let ended = watched(job.arg(dir.join(binary)), Duration::from_secs(60))?;
                let want = format!("pmpi: {ranks} ranks, {} sends, {} allreduces", 5 * (ranks - 1), 3 * ranks);
                ensure!(ended.ok, "{}\n{}", ended.how, ended.text);
                ensure!(ended.text.contains(&want), "not in the output: {want}\n{}", ended.text);
                Ok(())
            };
            let how = if preload { "LD_PRELOAD" } else { binary };
            report.check(&format!("profiling tool by {how}, {ranks} ranks"), runs());
        }
    }
    Ok(())
}

/// The C programs of tests/conformance (and tests/abi/swap.c), each on the ranks that its first line names:
/// `/* ranks: 1 2 4 */`, also `timeout: SECONDS` on that line, and `singleton` to run it without a launcher too. Exit status 77 says that a test does not apply here.
fn conformance(report: &mut Report) -> Result<()> {
    let dir = scratch("conformance")?;
    let mut sources = vec![root().join("tests/abi/swap.c")];
    let folder = root().join("tests/conformance");
    match std::fs::read_dir(&folder) {
        Ok(entries) => {
            for entry in entries {
                sources.push(entry?.path());
            }
        }
        Err(e) => report.skip("tests/conformance", &e.to_string()),
    }
    sources.retain(|s| s.extension().is_some_and(|e| e == "c"));
    sources.sort();
    for source in sources {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (mut ranks, limit) = match first_line(&source) {
            Ok(plan) => plan,
            Err(e) => {
                report.fail(&name, &format!("{e:#}"));
                continue;
            }
        };
        let binary = dir.join(&name);
        let mut compile = mpicc();
        compile.args(["-std=gnu11", "-O1", "-g", "-Wall", "-pthread", "-o"]).arg(&binary).arg(&source).arg("-lm");
        compile.arg(format!("-I{}", folder.display()));
        if let Err(e) = output(&mut compile) {
            report.fail(&name, &format!("{e:#}"));
            continue;
        }
        if alone(&source)? {
            ranks.push(0);
        }
        for n in ranks {
            let seconds = limit.as_secs().to_string();
            let mut job = Command::new(if n > 0 { program(&prefix(), "mpirun") } else { binary.clone() });
            if n > 0 {
                job.args(["--oversubscribe", "--timeout", &seconds, "-n", &n.to_string()]).arg(&binary);
            }
            let ended = watched(job.current_dir(&dir), limit + Duration::from_secs(10))?;
            let on = if n > 0 { format!("on {n} ranks") } else { "without a launcher".into() };
            let title = format!("{name} {on} ({:.1} s)", ended.took.as_secs_f64());
            if ended.how == "exit status: 77" {
                report.skip(&title, tail(&ended.text, 1).as_str());
            } else if ended.ok {
                report.check(&title, Ok(()));
            } else {
                report.fail(&title, &format!("{}\n{}", ended.how, tail(&ended.text, 30)));
            }
        }
    }
    Ok(())
}

/// Messages while the system refuses something, and a short run of the hand-offs.
fn downgrade(report: &mut Report) -> Result<()> {
    use crate::downgrade::{Verdict, cases, handoffs};
    cases(false, |name, verdict| match verdict {
        Ok(Verdict::Skipped(why)) => report.skip(name, &why),
        other => report.check(name, other.map(drop)),
    })?;
    report.check("100000 hand-offs", handoffs(100_000));
    Ok(())
}

/// The short paths, in system calls and in instructions.
fn syscalls(report: &mut Report) -> Result<()> {
    hotpath(report, "no system call in a ping-pong on free cores", crate::hotpath::no_system_calls())
}

fn counts(report: &mut Report) -> Result<()> {
    hotpath(report, "instruction counts beside bench/counts.tsv", crate::hotpath::counts())
}

fn hotpath(report: &mut Report, name: &str, outcome: Result<Verdict>) -> Result<()> {
    match outcome {
        Ok(Verdict::NotJudged(why)) => report.skip(name, &why),
        Ok(Verdict::NotAllowed(why)) if std::env::var_os("CI").is_none() => report.skip(name, &why),
        Ok(Verdict::NotAllowed(why)) => report.fail(name, &why),
        Ok(Verdict::Holds) => report.check(name, Ok(())),
        Err(e) => report.check(name, Err(e)),
    }
    Ok(())
}

/// Whether the program is also to run without a launcher: `singleton` on its first line.
fn alone(source: &Path) -> Result<bool> {
    Ok(std::fs::read_to_string(source)?.lines().next().is_some_and(|l| l.contains("singleton")))
}

fn first_line(source: &Path) -> Result<(Vec<usize>, Duration)> {
    let text = std::fs::read_to_string(source)?;
    let line = text.lines().next().unwrap_or_default();
    let after = |key: &str| -> Vec<usize> {
        let rest = line.split(key).nth(1).unwrap_or_default();
        rest.split_whitespace().map_while(|w| w.trim_end_matches(',').parse().ok()).collect()
    };
    let ranks = after("ranks:");
    ensure!(!ranks.is_empty(), "its first line does not say on how many ranks it runs: /* ranks: 1 2 4 */");
    let seconds = after("timeout:").first().copied().unwrap_or(120);
    Ok((ranks, Duration::from_secs(seconds as u64)))
}

// ---- what comes from PyPI ----

/// Whether the registry answers; without a network these stages have nothing to run.
fn pypi() -> Option<String> {
    let venv = match crate::python::Venv::named("mpich") {
        Ok(venv) => venv,
        Err(e) => return Some(format!("{e:#}")),
    };
    venv.install("mpich").err().map(|e| format!("{e:#}"))
}

fn swap(report: &mut Report) -> Result<()> {
    // In CI there is a network: what cannot be fetched is a failure there.
    if let Some(why) = pypi().filter(|_| std::env::var_os("CI").is_none()) {
        report.skip("library swap", &why);
        return Ok(());
    }
    report.check("library swap with the mpich wheel", abi_swap());
    Ok(())
}

/// mpi4py, built from its source against our wrapper: its own benchmark of the basics on 2 ranks.
fn python(report: &mut Report) -> Result<()> {
    let mpi = Mpi::ours()?;
    let built = mpi.venv.install_mpi4py(&mpi.mpicc, &mpi.header);
    if built.is_err() && std::env::var_os("CI").is_none() && pypi().is_some() {
        report.skip("mpi4py", "PyPI does not answer");
        return Ok(());
    }
    let works = built.is_ok();
    report.check("mpi4py builds from its source", built);
    if works {
        for (module, ranks) in [("helloworld", 2usize), ("ringtest", 3)] {
            let mut job = mpi.launch(ranks);
            job.arg(mpi.venv.program("python")).args(["-m", "mpi4py.bench", module]);
            let runs = || -> Result<()> {
                let ended = watched(&mut job, Duration::from_secs(120))?;
                ensure!(ended.ok, "{}\n{}", ended.how, ended.text);
                let greetings = ended.text.matches("Hello, World!").count();
                ensure!(module != "helloworld" || greetings == ranks, "{greetings} greetings:\n{}", ended.text);
                Ok(())
            };
            let mut runs = runs;
            report.check(&format!("mpi4py.bench {module} on {ranks} ranks"), runs());
        }
    }
    Ok(())
}

/// mpi4py's own tests.
fn mpi4py(report: &mut Report) -> Result<()> {
    if let Some(why) = pypi().filter(|_| std::env::var_os("CI").is_none()) {
        report.skip("mpi4py's tests", &why);
        return Ok(());
    }
    let (passed, bad) = crate::suite::mpi4py_of_ours()?;
    report.passed += passed;
    for (test, why) in bad {
        report.fail(&test, &why);
    }
    Ok(())
}

/// The examples, as `cargo xtask demo` runs them.
fn demo(report: &mut Report) -> Result<()> {
    if let Some(why) = pypi().filter(|_| std::env::var_os("CI").is_none()) {
        report.skip("demo", &why);
        return Ok(());
    }
    report.check("demo", crate::demo::run(&[]));
    Ok(())
}
