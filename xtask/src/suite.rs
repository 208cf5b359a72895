//! `cargo xtask suite NAME`: the suites of others, and the long tests of our own.
//!
//! - `mpi4py [--np N] [--under mpich] [--timeout S] [FILE...]`: mpi4py's test files, each on 1, 2 and 4 ranks.
//! - `mpich [...] [AREA|AREA/PROGRAM...]`: MPICH's test programs; see `mpich.rs`.
//! - `conformance [--under mpich|impi] [--jobs N] [NAME...]`: tests/conformance on our library or a peer's (`conformance.rs`).
//! - `abi-swap`: one binary on our library and on that of the mpich wheel, and the other way round.
//! - `faults [--times N]`: the launcher's fault tests, repeated.
//! - `kmod --module PATH.ko [--timeout S]`: XPMEM or KNEM in a virtual machine; see `kmod.rs`.
//! - `downgrade`: messages while the system refuses something (`crate::downgrade`).
//! - `large`: messages and counts beyond 2^31; takes 7 GiB of memory.
//! - `proptest [--cases N]`: random datatypes against a naive packer, 10^5 cases of each property.
//! - `handoffs [--count N]`: wake-ups under stress, 10^8 hand-offs if no number is given.
use crate::install::{program, shared};
use crate::python::Venv;
use crate::shell::{
    cargo, note, nothing_left, output, prefix, root, run, step, take_flag, take_value, target, watched,
};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What `suite mpi4py` runs when no file is named; `*` stands for anything.
const FILES: [&str; 19] = [
    "test_p2p_*",
    "test_msgspec",
    "test_cco_buf",
    "test_cco_vec",
    "test_cco_obj",
    "test_cco_ngh_*",
    "test_cco_pr_ngh_*",
    "test_comm",
    "test_comm_topo",
    "test_group",
    "test_info",
    "test_errhandler",
    "test_attributes",
    "test_status",
    "test_request",
    "test_pack",
    "test_op",
    "test_datatype",
    "test_environ",
];

pub fn run_command(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    if args.is_empty() {
        bail!(
            "which suite: mpi4py, mpich, conformance, abi-swap, faults, downgrade, handoffs, large, proptest or kmod?"
        );
    }
    match args.remove(0).as_str() {
        "mpi4py" => mpi4py(args),
        "mpich" => crate::mpich::run_command(args),
        "conformance" => crate::conformance::run_command(args),
        "abi-swap" => {
            nothing_left(&args)?;
            shared()?;
            abi_swap()
        }
        "faults" => faults(args),
        "kmod" => crate::kmod::run_command(args),
        "downgrade" => {
            nothing_left(&args)?;
            shared()?;
            step("Messages while the system refuses something");
            crate::downgrade::suite()
        }
        "handoffs" => {
            let count = take_value(&mut args, "--count")?.unwrap_or_else(|| "100000000".into());
            nothing_left(&args)?;
            let count = count.parse().context("--count takes a number")?;
            step(format!("{count} hand-offs through rings and doorbells"));
            crate::downgrade::handoffs(count)
        }
        "large" => {
            nothing_left(&args)?;
            shared()?;
            step("Messages and counts beyond 2^31");
            crate::test::program_of_conformance("type_big", &[("OXMPI_TEST_LARGE", "1")])
        }
        "proptest" => {
            let cases = take_value(&mut args, "--cases")?.unwrap_or_else(|| "100000".into());
            nothing_left(&args)?;
            let _: u32 = cases.parse().context("--cases takes a number")?;
            step(format!("{cases} random datatypes for each property"));
            run(cargo()
                .args(["test", "--release", "--package", "oxmpi-datatype", "--test", "typemap"])
                .env("OXMPI_TEST_CASES", cases))
        }
        other => bail!(
            "there is no suite {other}; there are mpi4py, mpich, conformance, abi-swap, faults, downgrade, handoffs, large, proptest and kmod"
        ),
    }
}

/// An MPI to run programs under.
pub struct Mpi {
    pub name: &'static str,
    pub mpicc: PathBuf,
    pub header: PathBuf,
    pub lib: PathBuf,
    launch: PathBuf,
    options: &'static [&'static str],
    pub venv: Venv,
}

impl Mpi {
    /// Ours, with the Python environment that goes with it.
    pub fn ours() -> Result<Mpi> {
        let prefix = prefix();
        Ok(Mpi {
            name: "oxmpi",
            mpicc: program(&prefix, "mpicc"),
            header: prefix.join("include/mpi.h"),
            lib: prefix.join("lib"),
            launch: program(&prefix, "mpirun"),
            options: &["--oversubscribe"],
            venv: Venv::named("oxmpi")?,
        })
    }

    /// MPICH from PyPI, by its standard ABI.
    pub fn mpich() -> Result<Mpi> {
        let venv = Venv::named("mpich")?;
        venv.install("mpich")?;
        Ok(Mpi {
            name: "mpich",
            mpicc: venv.program("mpicc_abi"),
            header: venv.dir().join("include/mpi_abi.h"),
            lib: venv.dir().join("lib"),
            launch: venv.program("mpiexec"),
            options: &[],
            venv,
        })
    }

    /// `mpirun -n RANKS`.
    pub fn launch(&self, ranks: usize) -> Command {
        let mut command = Command::new(&self.launch);
        command.args(self.options).arg("-n").arg(ranks.to_string());
        command
    }
}

// ---- mpi4py ----

/// What became of one test, the worst over all ranks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Passed,
    Skipped,
    Excused,
    Failed,
    Error,
}

impl Outcome {
    fn parse(word: &str) -> Option<Outcome> {
        Some(match word {
            "passed" => Outcome::Passed,
            "skipped" => Outcome::Skipped,
            "excused" => Outcome::Excused,
            "failed" => Outcome::Failed,
            "error" => Outcome::Error,
            _ => return None,
        })
    }
}

#[derive(Default)]
struct Counts {
    of: [usize; 5],
    seconds: f64,
}

impl Counts {
    fn bad(&self) -> usize {
        self.of[Outcome::Failed as usize] + self.of[Outcome::Error as usize]
    }
    fn row(&self) -> String {
        let [passed, skipped, excused, failed, errors] = self.of;
        format!("{passed:>7} {failed:>7} {errors:>7} {skipped:>8} {excused:>8} {:>8.1}", self.seconds)
    }
}

/// One file at one number of ranks.
struct Ran {
    ranks: usize,
    counts: Counts,
    /// Test and message of each failure.
    bad: Vec<(String, String)>,
}

fn mpi4py(mut args: Vec<String>) -> Result<()> {
    let ranks = match take_value(&mut args, "--np")? {
        None => vec![1, 2, 4],
        Some(list) => list
            .split(',')
            .map(|n| n.parse().with_context(|| format!("--np {n} is not a number")))
            .collect::<Result<Vec<usize>>>()?,
    };
    let seconds = take_value(&mut args, "--timeout")?.unwrap_or_else(|| "300".into());
    let limit = Duration::from_secs(seconds.parse().context("--timeout takes seconds")?);
    let verbose = take_flag(&mut args, "--verbose");
    let mpi = match take_value(&mut args, "--under")?.as_deref() {
        None | Some("oxmpi") => {
            shared()?;
            Mpi::ours()?
        }
        Some("mpich") => Mpi::mpich()?,
        Some(other) => bail!("--under {other}: there are oxmpi and mpich"),
    };
    if let Some(odd) = args.iter().find(|a| a.starts_with('-')) {
        bail!("{odd} is not an argument of this command");
    }
    let ran = run_mpi4py(&mpi, &ranks, limit, &args)?;
    report(&mpi, &ran, verbose)
}

/// The default files on 1, 2 and 4 ranks: how many tests passed, and those that did not with their messages.
pub fn mpi4py_of_ours() -> Result<(usize, Vec<(String, String)>)> {
    let ran = run_mpi4py(&Mpi::ours()?, &[1, 2, 4], Duration::from_secs(300), &[])?;
    let passed = ran.iter().map(|r| r.counts.of[Outcome::Passed as usize]).sum();
    let named = |r: Ran| r.bad.into_iter().map(move |(test, why)| (format!("{test} on {} ranks", r.ranks), why));
    Ok((passed, ran.into_iter().flat_map(named).collect()))
}

fn run_mpi4py(mpi: &Mpi, ranks: &[usize], limit: Duration, patterns: &[String]) -> Result<Vec<Ran>> {
    step(format!("Building mpi4py against {}", mpi.name));
    mpi.venv.install("numpy")?;
    mpi.venv.install_mpi4py(&mpi.mpicc, &mpi.header)?;
    let tests = mpi.venv.mpi4py_source()?.join("test");
    let files = select(&tests, patterns)?;
    let work = target().join("suite/mpi4py").join(mpi.name);
    std::fs::create_dir_all(&work)?;
    let exceptions = work.join("exceptions");
    std::fs::write(&exceptions, excepted()?.join("\n"))?;
    step(format!("Running {} files of mpi4py's tests on {ranks:?} ranks of {}", files.len(), mpi.name));
    let head = format!("{:<28} {:>3}  passed  failed  errors  skipped  excused  seconds", "file", "np");
    println!("{head}");
    let mut all = Vec::new();
    for file in files {
        for &np in ranks {
            let ran = run_file(mpi, &tests, &work, &exceptions, &file, np, limit)?;
            println!("{file:<28} {np:>3} {}", ran.counts.row());
            all.push(ran);
        }
    }
    Ok(all)
}

/// The procedures that spec/exceptions lists.
pub fn excepted() -> Result<Vec<String>> {
    let mut names = Vec::new();
    let Ok(dir) = std::fs::read_dir(root().join("spec/exceptions")) else { return Ok(names) };
    for entry in dir {
        let text = std::fs::read_to_string(entry?.path())?;
        let lines = text.lines().filter(|l| !l.starts_with('#'));
        names.extend(lines.filter_map(|l| l.split('\t').next()).filter(|n| !n.is_empty()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// The modules that the patterns name, in order; a pattern that names none is an error.
fn select(tests: &Path, patterns: &[String]) -> Result<Vec<String>> {
    let mut there = Vec::new();
    for entry in std::fs::read_dir(tests)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        there.extend(name.strip_suffix(".py").filter(|n| n.starts_with("test_")).map(str::to_owned));
    }
    there.sort();
    let default: Vec<String> = FILES.iter().map(|f| (*f).to_owned()).collect();
    let mut chosen = Vec::new();
    for pattern in if patterns.is_empty() { &default } else { patterns } {
        let wanted = pattern.strip_suffix(".py").unwrap_or(pattern);
        let found: Vec<_> = there.iter().filter(|name| matches(name, wanted)).cloned().collect();
        if found.is_empty() {
            bail!("no test file of mpi4py is called {pattern}; there are: {}", there.join(" "));
        }
        chosen.extend(found);
    }
    let mut seen = std::collections::BTreeSet::new();
    chosen.retain(|name| seen.insert(name.clone()));
    Ok(chosen)
}

/// Whether a name fits a pattern in which `*` stands for anything.
pub fn matches(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((before, after)) => {
            name.strip_prefix(before).is_some_and(|rest| (0..=rest.len()).any(|at| matches(&rest[at..], after)))
        }
    }
}

fn run_file(
    mpi: &Mpi,
    tests: &Path,
    work: &Path,
    exceptions: &Path,
    file: &str,
    ranks: usize,
    limit: Duration,
) -> Result<Ran> {
    let out = work.join(format!("{file}.{ranks}"));
    let _ = std::fs::remove_dir_all(&out);
    std::fs::create_dir_all(&out)?;
    let mut command = mpi.launch(ranks);
    command
        .arg(mpi.venv.program("python"))
        .arg(root().join("xtask/src/suite_mpi4py.py"))
        .args([tests, &out, exceptions])
        .arg(file)
        .current_dir(&out);
    let ended = watched(&mut command, limit)?;
    std::fs::write(out.join("output"), &ended.text)?;

    let mut worst: BTreeMap<String, (Outcome, String)> = BTreeMap::new();
    let mut unfinished = Vec::new();
    for rank in 0..ranks {
        let text = std::fs::read_to_string(out.join(format!("{rank}.tsv"))).unwrap_or_default();
        let mut current = None;
        let mut complete = false;
        for line in text.lines() {
            let mut fields = line.splitn(3, '\t').map(str::to_owned);
            let [what, test, message] = std::array::from_fn(|_| fields.next().unwrap_or_default());
            match (what.as_str(), Outcome::parse(&what)) {
                ("start", _) => current = Some(test),
                ("end", _) => complete = true,
                (_, Some(outcome)) => {
                    let entry = worst.entry(test).or_insert((outcome, String::new()));
                    if outcome >= entry.0 {
                        *entry = (outcome, message.replace("\\n", "\n"));
                    }
                    if outcome == Outcome::Passed || outcome == Outcome::Skipped {
                        current = None;
                    }
                }
                _ => {}
            }
        }
        if !complete {
            unfinished.push(format!("rank {rank} in {}", current.as_deref().unwrap_or("no test")));
        }
    }
    let mut ran = Ran { ranks, counts: Counts::default(), bad: Vec::new() };
    ran.counts.seconds = ended.took.as_secs_f64();
    for (test, (outcome, message)) in worst {
        ran.counts.of[outcome as usize] += 1;
        if outcome >= Outcome::Failed {
            ran.bad.push((test, message));
        }
    }
    if !ended.ok && (ran.bad.is_empty() || !unfinished.is_empty()) {
        ran.counts.of[Outcome::Error as usize] += 1;
        let message = format!("{}\n{}\n{}", ended.how, unfinished.join("\n"), tail(&ended.text, 15));
        ran.bad.push((format!("{file} as a whole"), message));
    } else if !unfinished.is_empty() {
        ran.counts.of[Outcome::Error as usize] += 1;
        ran.bad.push((format!("{file} as a whole"), format!("exit status 0, yet {}", unfinished.join(", "))));
    }
    Ok(ran)
}

pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<_> = text.trim_end().lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

fn report(mpi: &Mpi, ran: &[Ran], verbose: bool) -> Result<()> {
    let mut total = Counts::default();
    for one in ran {
        for (sum, n) in total.of.iter_mut().zip(one.counts.of) {
            *sum += n;
        }
        total.seconds += one.counts.seconds;
    }
    println!("{:<28} {:>3} {}", "all", "", total.row());
    // A test that fails in the same way on several numbers of ranks is told once.
    let mut told: Vec<(&str, String, Vec<String>)> = Vec::new();
    for one in ran {
        for (test, message) in &one.bad {
            let shown = if verbose { message.trim_end().to_owned() } else { tail(message, 3) };
            match told.iter_mut().find(|(t, m, _)| t == test && *m == shown) {
                Some((_, _, ranks)) => ranks.push(one.ranks.to_string()),
                None => told.push((test, shown, vec![one.ranks.to_string()])),
            }
        }
    }
    for (test, shown, ranks) in &told {
        println!("\n{test} on {} ranks:\n{shown}", ranks.join(", "));
    }
    if total.of[Outcome::Excused as usize] > 0 {
        println!("\nexcused: raised MPI_ERR_UNSUPPORTED_OPERATION in a procedure that spec/exceptions lists");
    }
    let passed = total.of[Outcome::Passed as usize];
    println!("\n{passed} passed, {} failed", total.bad());
    if total.bad() > 0 {
        bail!("mpi4py's tests under {} failed; what they printed is in {}", mpi.name, target().join("suite").display());
    }
    Ok(())
}

// ---- abi-swap ----

/// Builds tests/abi/swap.c with our wrapper and with MPICH's, and runs both binaries on both libraries.
pub fn abi_swap() -> Result<()> {
    step("Swapping libraries under one binary: ours and the mpich wheel's libmpi_abi.so.1");
    let mpis = [Mpi::ours()?, Mpi::mpich()?];
    let work = target().join("suite/abi-swap");
    std::fs::create_dir_all(&work)?;
    for built in &mpis {
        let binary = work.join(format!("swap-{}", built.name));
        run(Command::new(&built.mpicc).arg("-o").arg(&binary).arg(root().join("tests/abi/swap.c")))?;
        for under in &mpis {
            let mut command = under.launch(2);
            command.arg(&binary).env("LD_LIBRARY_PATH", &under.lib);
            let ended = watched(&mut command, Duration::from_secs(60))?;
            let version = ended.text.lines().find_map(|l| l.strip_prefix("library: ")).unwrap_or("").to_owned();
            let right = version.to_lowercase().contains(under.name);
            if !ended.ok || !right || !ended.text.contains("swap: ok") {
                bail!("built with {}, run on {} ({version}): {}\n{}", built.name, under.name, ended.how, ended.text);
            }
            note(format!("built with {}, run on {}: ok ({version})", built.name, under.name));
        }
    }
    Ok(())
}

// ---- faults ----

fn faults(mut args: Vec<String>) -> Result<()> {
    let times = take_value(&mut args, "--times")?.unwrap_or_else(|| "10".into());
    let times: u32 = times.parse().context("--times takes a number")?;
    nothing_left(&args)?;
    shared()?;
    step(format!("The launcher's fault tests, each {times} times"));
    let names = output(Command::new("ls").arg(root().join("crates/launch/tests"))).unwrap_or_default();
    let faults: Vec<_> = names.lines().filter_map(|n| n.strip_suffix(".rs")).filter(|n| n.contains("fault")).collect();
    if faults.is_empty() {
        bail!("crates/launch/tests has no file whose name contains 'fault'");
    }
    let mut test = cargo();
    test.args(["test", "--package", "oxmpi-launch", "--release"]);
    for name in faults {
        test.args(["--test", name]);
    }
    test.env("OXMPI_XTASK_FAULT_ROUNDS", times.to_string());
    run(&mut test)
}
