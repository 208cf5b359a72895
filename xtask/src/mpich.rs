//! `cargo xtask suite mpich [--jobs N] [--under mpich] [--lines N] [--timeout S] [--full] [AREA|AREA/PROGRAM...]`: the
//! test programs of MPICH, from Debian's source package, compiled with our `mpicc` and run under our `mpirun` as MPICH's lists of tests say.
//!
//! Every program passes or stands in `tests/suites/mpich.tsv` with the clause of MPI-5.0 that makes the test wrong here; that
//! holds for programs that do not compile, too. A line of the list whose test passes, or is not there, fails the suite. Several
//! tests run at once; those of `perf` and those that need much memory run alone at the end. Tests of random datatypes with very
//! many elements take a part of the datatypes; `--full` takes as many as MPICH's list says, and an hour.
//! Not run: lists for MPICH's own variables (`testlist.cvar`), for device memory (`testlist.gpu`), and tests that need more
//! memory than there is.
mod source;
mod testlist;
use crate::install::shared;
use crate::shell::{nothing_left, root, step, take_flag, take_value, target, watched};
use crate::suite::{Mpi, matches, tail};
use anyhow::{Context, Result, bail, ensure};
use source::Build;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use testlist::{Judge, Test};

/// The areas, each with its folders.
const AREAS: [(&str, &[&str]); 16] = [
    ("attr", &["attr"]),
    ("basic", &["basic"]),
    ("coll", &["coll"]),
    ("comm", &["comm"]),
    ("datatype", &["datatype"]),
    ("errhan", &["errhan"]),
    (
        "errors",
        &[
            "errors/attr",
            "errors/coll",
            "errors/comm",
            "errors/datatype",
            "errors/group",
            "errors/pt2pt",
            "errors/topo",
        ],
    ),
    ("group", &["group"]),
    ("info", &["info"]),
    ("init", &["init"]),
    ("mpi_t", &["mpi_t"]),
    ("pt2pt", &["pt2pt"]),
    ("part", &["part"]),
    ("perf", &["perf"]),
    (
        "threads",
        &[
            "threads/pt2pt",
            "threads/comm",
            "threads/init",
            "threads/mpi_t",
            "threads/coll",
            "threads/part",
            "threads/perf",
        ],
    ),
    ("topo", &["topo"]),
];

/// A test that needs more GB than this runs alone.
const MUCH_MEMORY: f64 = 2.0;

/// A test that is known not to pass gets no more seconds than this.
const LISTED_LIMIT: u64 = 15;

/// Tests of `perf` compare times, and whatever else the machine does can spoil one: they have this many tries.
const TRIES: usize = 5;

/// The column `why` of a test that is not even run: what it does is left to chance.
const UNDEFINED: &str = "undefined";

/// A line of `tests/suites/mpich.tsv`.
struct Listed {
    /// A program, or the title of a run with `*` for anything.
    run: String,
    why: String,
    clause: String,
}

impl Listed {
    fn names(&self, program: &str, title: &str) -> bool {
        if self.run.contains(' ') { matches(title, &self.run) } else { self.run == program }
    }
}

enum Outcome {
    Passed,
    Failed(String),
    NotCompiled(String),
    NotRun(String),
}

struct Ran {
    area: &'static str,
    program: String,
    title: String,
    outcome: Outcome,
    took: Duration,
}

/// Each with its area.
type Tests = Vec<(&'static str, Test)>;

pub fn run_command(mut args: Vec<String>) -> Result<()> {
    let number = |value: Option<String>, name: &str| {
        value.map(|v| v.parse::<usize>().with_context(|| format!("{name} {v} is not a number"))).transpose()
    };
    let jobs = number(take_value(&mut args, "--jobs")?, "--jobs")?.unwrap_or_else(source::processors).max(1);
    let lines = number(take_value(&mut args, "--lines")?, "--lines")?.unwrap_or(12);
    let limit = number(take_value(&mut args, "--timeout")?, "--timeout")?;
    let full = take_flag(&mut args, "--full");
    let mpi = match take_value(&mut args, "--under")?.as_deref() {
        None | Some("oxmpi") => {
            shared()?;
            Mpi::ours()?
        }
        Some("mpich") => Mpi::mpich()?,
        Some(other) => bail!("--under {other}: there are oxmpi and mpich"),
    };
    let options: Vec<String> = args.iter().filter(|a| a.starts_with('-')).cloned().collect();
    nothing_left(&options)?;

    let build = Build::of(mpi.name, &mpi.mpicc)?;
    build.libraries(jobs)?;
    let list = list()?;
    let (mut ran, mut tests) = prepare(&build, &args, jobs, full)?;
    for (_, test) in &mut tests {
        let limit = limit.map_or(test.limit, |l| l as u64);
        let listed = list.iter().any(|l| l.names(&test.program, &test.title()));
        test.limit = if listed { limit.min(LISTED_LIMIT) } else { limit };
    }
    let undefined = |t: &Test| list.iter().any(|l| l.why == UNDEFINED && l.names(&t.program, &t.title()));
    let (skipped, tests): (Tests, Tests) = tests.into_iter().partition(|(_, test)| undefined(test));
    ran.extend(skipped.into_iter().map(|(area, test)| {
        let outcome = Outcome::NotRun("what it does is undefined; see tests/suites/mpich.tsv".into());
        Ran { area, title: test.title(), program: test.program, outcome, took: Duration::ZERO }
    }));
    let _ = std::fs::remove_dir_all(target().join("suite/mpich/run"));
    step(format!("Running {} tests of MPICH's on {}, {jobs} at once", tests.len(), mpi.name));
    let start = Instant::now();
    ran.extend(run_all(&mpi, &build, tests, jobs));
    ran.sort_by(|a, b| (a.area, &a.title).cmp(&(b.area, &b.title)));
    report(&mpi, &ran, &list, &args, lines, start.elapsed())
}

/// The list of tests that are wrong here.
fn list() -> Result<Vec<Listed>> {
    let path = root().join("tests/suites/mpich.tsv");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    let parsed = lines.map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
        [run, why, clause, reason] if !reason.is_empty() && !clause.is_empty() => {
            Ok(Listed { run: run.into(), why: why.into(), clause: clause.into() })
        }
        _ => bail!("{}: not four columns (run, why, clause, reason): {line}", path.display()),
    });
    parsed.collect()
}

/// Compiles what is asked for: what does not compile, and the tests to run.
fn prepare(build: &Build, asked: &[String], jobs: usize, full: bool) -> Result<(Vec<Ran>, Tests)> {
    step("Compiling MPICH's test programs");
    let (mut ran, mut tests) = (Vec::new(), Vec::new());
    let mut unknown: BTreeSet<&String> = asked.iter().collect();
    for (area, folders) in AREAS {
        for folder in folders {
            let mut here = testlist::parse(folder, &build.list(folder, "testlist"))?;
            let random = testlist::parse(folder, &build.list(folder, "testlist.dtp"))?;
            here.extend(random.into_iter().map(|t| if full { t } else { t.shortened() }));
            let listed: BTreeSet<_> = here.iter().map(|t| t.program.clone()).collect();
            let all = build.programs(folder)?.into_iter().map(|name| format!("{folder}/{name}"));
            here.extend(all.filter(|program| !listed.contains(program)).map(Test::unlisted));
            here.retain(|test| {
                let wanted = |a: &&String| *a == area || *a == folder || **a == test.program;
                unknown.retain(|a| !wanted(a));
                asked.is_empty() || asked.iter().any(|a| wanted(&a))
            });
            if here.is_empty() {
                continue;
            }
            let names = here.iter().filter_map(|t| Some(t.program.rsplit_once('/')?.1.to_owned())).collect();
            for (name, why) in build.compile(folder, &names, jobs)? {
                let program = format!("{folder}/{name}");
                here.retain(|t| t.program != program);
                let title = format!("{program} does not compile");
                ran.push(Ran { area, program, title, outcome: Outcome::NotCompiled(why), took: Duration::ZERO });
            }
            tests.extend(here.into_iter().map(|t| (area, t)));
        }
    }
    if let Some(first) = unknown.first() {
        let areas: Vec<_> = AREAS.iter().map(|a| a.0).collect();
        bail!("{first} is neither an area nor a program AREA/NAME; the areas are {}", areas.join(" "));
    }
    Ok((ran, tests))
}

/// First the tests that run beside others, then those that run alone.
fn run_all(mpi: &Mpi, build: &Build, tests: Tests, jobs: usize) -> Vec<Ran> {
    let (alone, together): (Vec<_>, Vec<_>) =
        tests.into_iter().partition(|(area, test)| *area == "perf" || test.memory > MUCH_MEMORY);
    let done = Mutex::new(Vec::new());
    for (tests, jobs) in [(together, jobs), (alone, 1)] {
        let queue = Mutex::new(tests.into_iter().enumerate());
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    loop {
                        let next = queue.lock().expect("no test panics").next();
                        let Some((index, (area, test))) = next else { break };
                        let (mut outcome, mut took) = run_one(mpi, build, &test, index);
                        let more = if area == "perf" { TRIES - 1 } else { 0 };
                        for _ in 0..more {
                            if matches!(outcome, Outcome::Failed(_)) {
                                (outcome, took) = run_one(mpi, build, &test, index);
                            }
                        }
                        let ran = Ran { area, title: test.title(), program: test.program, outcome, took };
                        if let Outcome::Failed(_) = ran.outcome {
                            println!("    not passed: {}", ran.title);
                        }
                        done.lock().expect("no test panics").push(ran);
                    }
                });
            }
        });
    }
    done.into_inner().expect("no test panics")
}

fn run_one(mpi: &Mpi, build: &Build, test: &Test, index: usize) -> (Outcome, Duration) {
    let there = source::memory_available();
    if test.memory * 1.2 > there {
        let why = format!("needs {} GB of memory, and {there:.1} GB are available", test.memory);
        return (Outcome::NotRun(why), Duration::ZERO);
    }
    let folder: PathBuf = target().join(format!("suite/mpich/run/{}/{index}", test.program));
    let _ = std::fs::remove_dir_all(&folder);
    if let Err(e) = std::fs::create_dir_all(&folder) {
        return (Outcome::Failed(format!("cannot make {}: {e}", folder.display())), Duration::ZERO);
    }
    let mut command = mpi.launch(test.ranks);
    // One of those that have to fail does so by the launcher's own limit.
    let limit = if test.judge == Judge::Fails { test.limit + 10 } else { test.limit };
    if mpi.name == "oxmpi" && test.judge == Judge::Fails {
        command.args(["--timeout", &test.limit.to_string()]);
    } else {
        command.env("MPIEXEC_TIMEOUT", test.limit.to_string());
    }
    command.arg(build.program(&test.program)).args(&test.args).envs(test.env.iter().cloned()).current_dir(&folder);
    let ended = match watched(&mut command, Duration::from_secs(limit)) {
        Ok(ended) => ended,
        Err(e) => return (Outcome::Failed(format!("{e:#}")), Duration::ZERO),
    };
    let _ = std::fs::write(folder.join("output"), &ended.text);
    let no_errors = ended.text.lines().any(|l| l.trim().eq_ignore_ascii_case("no errors"));
    let other = ended.text.lines().any(|l| !["no errors", "test passed"].contains(&l.trim().to_lowercase().as_str()));
    let in_time = !ended.how.starts_with("no end") && !ended.how.contains("left processes");
    let passed = match test.judge {
        Judge::NoErrors => ended.ok && no_errors && !other,
        Judge::Fails => !ended.ok && in_time,
        Judge::FailsWithNoErrors => !ended.ok && in_time && no_errors,
        Judge::Succeeds => ended.ok,
    };
    let outcome = if passed {
        Outcome::Passed
    } else {
        let wanted = match test.judge {
            Judge::NoErrors if ended.ok => "; it should have printed \"No Errors\" and nothing else",
            Judge::NoErrors | Judge::Succeeds => "",
            Judge::Fails | Judge::FailsWithNoErrors => "; it should have failed in time",
        };
        Outcome::Failed(format!("{}{wanted}\n{}", ended.how, ended.text))
    };
    (outcome, ended.took)
}

/// What became of the tests of an area.
#[derive(Default)]
struct Counts {
    passed: usize,
    listed: usize,
    failed: usize,
    not_compiled: usize,
    not_run: usize,
    seconds: f64,
}

impl Counts {
    fn row(&self) -> String {
        let Counts { passed, listed, failed, not_compiled, not_run, seconds } = self;
        format!("{passed:>7} {failed:>7} {listed:>7} {not_compiled:>13} {not_run:>8} {seconds:>8.1}")
    }
}

fn report(mpi: &Mpi, ran: &[Ran], list: &[Listed], asked: &[String], lines: usize, took: Duration) -> Result<()> {
    let mut areas: BTreeMap<&str, Counts> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut total = Counts::default();
    let mut bad: Vec<(&str, String)> = Vec::new();
    let mut met = vec![false; list.len()];
    for one in ran {
        let entry = list.iter().position(|l| l.names(&one.program, &one.title));
        if let Some(at) = entry {
            met[at] = true;
        }
        for counts in [areas.entry(one.area).or_default(), &mut total] {
            counts.seconds += one.took.as_secs_f64();
            match &one.outcome {
                Outcome::Passed => counts.passed += 1,
                Outcome::NotRun(_) => counts.not_run += 1,
                Outcome::NotCompiled(_) if entry.is_some() => counts.not_compiled += 1,
                Outcome::Failed(_) if entry.is_some() => counts.listed += 1,
                Outcome::Failed(_) | Outcome::NotCompiled(_) => counts.failed += 1,
            }
        }
        match (&one.outcome, entry) {
            (Outcome::Passed, Some(at)) => {
                let Listed { run, why, clause } = &list[at];
                bad.push((&one.title, format!("passes, and is listed as {run} ({why}, {clause}): a stale line")));
            }
            (Outcome::Failed(_) | Outcome::NotCompiled(_), Some(at)) => *kinds.entry(&list[at].why).or_default() += 1,
            (Outcome::Failed(text), None) => bad.push((&one.title, tail(text, lines))),
            (Outcome::NotCompiled(why), None) => bad.push((&one.title, why.clone())),
            (Outcome::NotRun(why), _) => println!("    not run: {}: {why}", one.title),
            (Outcome::Passed, None) => {}
        }
    }
    if asked.is_empty() {
        let unmet = list.iter().zip(&met).filter(|(_, met)| !**met).map(|(l, _)| &l.run);
        bad.extend(unmet.map(|run| (run.as_str(), "no such test: a stale line".to_owned())));
    }
    for (title, text) in &bad {
        println!("\n{title}:\n{text}");
    }
    println!("\n{:<9}  passed  failed  listed  not compiled  not run  seconds", "area");
    for (area, counts) in &areas {
        println!("{area:<9} {}", counts.row());
    }
    println!("{:<9} {}", "all", total.row());
    let kinds: Vec<_> = kinds.iter().map(|(why, n)| format!("{n} {why}")).collect();
    println!("\nlisted in tests/suites/mpich.tsv: {}", kinds.join(", "));
    println!("{} passed, {} failed, in {} s", total.passed, bad.len(), took.as_secs());
    if !bad.is_empty() {
        let at = target().join("suite/mpich/run");
        bail!("MPICH's tests under {} failed; what they printed is in {}", mpi.name, at.display());
    }
    ensure!(total.passed > 0, "no test was run");
    Ok(())
}
