//! `cargo xtask bench [--peers|--ours] [--quick] [--rounds N] [--only NAME]`: bench/*.c under our mpirun, and with `--peers`
//! side by side under Open MPI, MPICH and Intel MPI from PyPI.
//!
//! MPICH and Intel MPI run the very binary that our mpicc made, on their own `libmpi_abi.so.1`; Open MPI has no standard
//! ABI, so its own mpicc compiles the same source. Runs alternate: every round runs each program once under each MPI,
//! starting with another one each time. A figure is the median over the rounds; ratios are of medians of one session.
//!
//! `--quick` takes fewer sizes, two rounds and less time for each figure. Only a run of everything replaces what is in
//! `bench/results`; others leave their tables in `target/bench/results`.
mod contenders;
mod plan;
mod plot;
mod report;
mod targets;

use crate::install::shared;
use crate::shell::{note, nothing_left, root, step, take_flag, take_value, target};
use anyhow::{Context, Result, ensure};
use contenders::{Contender, Ended, ended_after};
use plan::{Plan, Run};
use std::process::Command;
use std::time::{Duration, Instant};

/// One figure of one program on so many ranks, for every contender and round.
struct Row {
    group: &'static str,
    run: usize,
    name: String,
    bytes: Option<u64>,
    ranks: usize,
    unit: String,
    /// By contender.
    values: Vec<Vec<f64>>,
}

impl Row {
    /// Whether more is better.
    fn rate(&self) -> bool {
        self.unit.ends_with("/s")
    }
    fn median(&self, contender: usize) -> Option<f64> {
        median(&self.values[contender])
    }
    /// The best median of the peers.
    fn best_peer(&self) -> Option<f64> {
        let peers = (1..self.values.len()).filter_map(|c| self.median(c));
        peers.reduce(|a, b| if (a > b) == self.rate() { a } else { b })
    }
}

/// A run that brought no figures, or not all.
struct Failure {
    run: usize,
    contender: usize,
    kind: Kind,
    why: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Failed,
    TimedOut,
    /// It would need more memory than there is.
    NotTried,
}

/// Everything that was measured.
struct Session {
    plan: Plan,
    contenders: Vec<Contender>,
    rounds: usize,
    rows: Vec<Row>,
    /// The hand-over of a cache line beside it, in microseconds, by round.
    raw: Vec<f64>,
    failures: Vec<Failure>,
    /// The machine's load average just before, which should be near 0.
    load: String,
    took: Duration,
}

pub fn run(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let peers = take_flag(&mut args, "--peers");
    ensure!(!(take_flag(&mut args, "--ours") && peers), "--ours and --peers exclude one another");
    let quick = take_flag(&mut args, "--quick");
    let rounds = take_value(&mut args, "--rounds")?;
    let rounds: usize = rounds.unwrap_or_else(|| if quick { "2" } else { "5" }.into()).parse().context("--rounds")?;
    let only = take_value(&mut args, "--only")?;
    nothing_left(&args)?;
    ensure!(rounds > 0, "--rounds takes at least 1");
    let plan = Plan::new(quick, only.as_deref())?;
    shared()?;
    let contenders = contenders::all(peers)?;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default().to_owned();
    let (rows, raw, failures) = (vec![], vec![], vec![]);
    let mut session = Session { plan, contenders, rounds, rows, raw, failures, load, took: Duration::ZERO };
    session.measure()?;

    let kept = if quick || only.is_some() { target().join("bench/results") } else { root().join("bench/results") };
    std::fs::create_dir_all(&kept)?;
    let name = if peers { "peers" } else { "oxmpi" };
    let text = report::markdown(&session, name)?;
    println!("\n{text}");
    for (ending, content) in [("md", text), ("tsv", report::tsv(&session)?), ("svg", plot::svg(&session)?)] {
        let file = kept.join(format!("{name}.{ending}"));
        std::fs::write(&file, content).with_context(|| format!("cannot write {}", file.display()))?;
        println!("written to {}", file.display());
    }
    let ours = session.failures.iter().filter(|f| f.contender == 0).count();
    ensure!(ours == 0, "{ours} runs of oxmpi failed; the report names them");
    Ok(())
}

impl Session {
    fn measure(&mut self) -> Result<()> {
        let start = Instant::now();
        for round in 0..self.rounds {
            step(format!("Round {} of {} (after {} s)", round + 1, self.rounds, start.elapsed().as_secs()));
            for run in 0..self.plan.runs.len() {
                if self.plan.runs[run].program == "raw" {
                    self.raw()?;
                    continue;
                }
                // Memory does not vary from run to run, and hundreds of ranks of a peer can take a minute.
                if self.plan.runs[run].program == "memory" && round > 0 {
                    continue;
                }
                for turn in 0..self.contenders.len() {
                    self.one(run, (turn + round) % self.contenders.len())?;
                }
            }
        }
        self.took = start.elapsed();
        Ok(())
    }

    fn raw(&mut self) -> Result<()> {
        let mut command = Command::new(contenders::binaries_of_ours().join("raw"));
        let ended = ended_after(command.env("BENCH_MS", self.plan.milliseconds()), Duration::from_secs(20))?;
        match figures(&ended.text).next() {
            Some((_, _, value, _)) if ended.ok => {
                note(format!("no MPI     a cache line handed over: {:.0} ns", value * 1000.0));
                self.raw.push(value);
            }
            _ => note(format!("no MPI     {}: {}", ended.how, ended.text.trim())),
        }
        Ok(())
    }

    fn one(&mut self, run: usize, contender: usize) -> Result<()> {
        if self.failures.iter().any(|f| f.run == run && f.contender == contender && f.kind != Kind::Failed) {
            return Ok(());
        }
        if let Some(why) = self.too_large(run, contender) {
            note(format!("{:<10} {}: {why}", self.contenders[contender].name, self.plan.runs[run].title()));
            self.failures.push(Failure { run, contender, kind: Kind::NotTried, why });
            return Ok(());
        }
        let (plan, who) = (&self.plan.runs[run], &self.contenders[contender]);
        let before = Instant::now();
        let (mut found, ended) = match plan.program {
            "empty" => start_and_end(who, plan)?,
            _ => {
                let mut command = who.command(plan);
                let ended = ended_after(command.env("BENCH_MS", self.plan.milliseconds()), plan.limit)?;
                (figures(&ended.text).collect::<Vec<_>>(), ended)
            }
        };
        // Without a figure nothing was measured, whatever the exit status says.
        let ok = ended.ok && !found.is_empty();
        let how = if ok { String::new() } else { format!(", {}", ended.how) };
        let title = plan.title();
        note(format!(
            "{:<10} {title}: {} figures in {:.1} s{how}",
            who.name,
            found.len(),
            before.elapsed().as_secs_f64()
        ));
        if !ok {
            let last = ended.text.lines().rev().find(|l| !l.trim().is_empty() && figures(l).next().is_none());
            let why = format!("{}{}", ended.how, last.map(|l| format!(" ({})", l.trim())).unwrap_or_default());
            let kind = if ended.timed_out { Kind::TimedOut } else { Kind::Failed };
            self.failures.push(Failure { run, contender, kind, why });
        }
        let (group, ranks) = (plan.group, plan.ranks);
        for (name, bytes, value, unit) in found.drain(..) {
            let same = |r: &Row| r.name == name && r.bytes == bytes && r.ranks == ranks;
            let at = self.rows.iter().position(same).unwrap_or_else(|| {
                let values = vec![vec![]; self.contenders.len()];
                self.rows.push(Row { group, run, name: name.clone(), bytes, ranks, unit, values });
                self.rows.len() - 1
            });
            self.rows[at].values[contender].push(value);
        }
        Ok(())
    }

    /// Hundreds of ranks of a peer that takes tens of megabytes for each can bring a machine down: whether they would not
    /// fit, with room for what grows with the ranks, by what it took for fewer.
    fn too_large(&self, run: usize, contender: usize) -> Option<String> {
        let plan = &self.plan.runs[run];
        if plan.program != "memory" || contender == 0 {
            return None;
        }
        let fewer = self.rows.iter().filter(|r| r.group == "memory" && r.ranks < plan.ranks);
        let a_rank = fewer.filter_map(|r| r.median(contender)).reduce(f64::max)?;
        let (needed, free) = (3.0 * a_rank * plan.ranks as f64, available_memory()?);
        (needed > free).then(|| format!("not tried: it might take {needed:.0} MB, and {free:.0} MB are free"))
    }

    fn row(&self, name: &str, bytes: Option<u64>, ranks: usize) -> Option<&Row> {
        self.rows.iter().find(|r| r.name == name && r.bytes == bytes && r.ranks == ranks)
    }
}

type Figure = (String, Option<u64>, f64, String);

/// The lines NAME, BYTES, VALUE, UNIT of a program's output.
fn figures(text: &str) -> impl Iterator<Item = Figure> + '_ {
    text.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let (name, bytes) = (fields.next()?, fields.next()?);
        let (value, unit) = (fields.next()?.trim().parse().ok()?, fields.next()?.trim());
        Some((name.to_owned(), bytes.parse().ok(), value, unit.to_owned()))
    })
}

/// Jobs that do nothing, one after the other until 0.3 s have passed but at most 5: the median, seen from outside.
fn start_and_end(who: &Contender, plan: &Run) -> Result<(Vec<Figure>, Ended)> {
    let (mut times, start) = (vec![], Instant::now());
    loop {
        let ended = ended_after(&mut who.command(plan), plan.limit)?;
        if !ended.ok {
            return Ok((vec![], ended));
        }
        times.push(ended.took.as_secs_f64() * 1e3);
        if times.len() == 5 || start.elapsed() > Duration::from_millis(300) {
            let value = median(&times).unwrap_or_default();
            return Ok((vec![("start and end a job".into(), None, value, "ms".into())], ended));
        }
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 1 => Some(sorted[half]),
        _ => Some((sorted[half - 1] + sorted[half]) / 2.0),
    }
}

/// In megabytes.
fn available_memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

fn ranks(n: usize) -> String {
    if n == 1 { "1 rank".into() } else { format!("{n} ranks") }
}

fn amount(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b if b >= 1 << 10 => format!("{} KiB", b >> 10),
        b => format!("{b} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn what_does_not_fit_is_not_tried() {
        let plan = Plan::new(false, Some("memory")).unwrap();
        let large = plan.runs.iter().position(|r| r.ranks == 256).unwrap();
        let row = |peer: f64| Row {
            group: "memory",
            run: 0,
            name: "private dirty memory of a rank".into(),
            bytes: None,
            ranks: 32,
            unit: "MB".into(),
            values: vec![vec![1e9], vec![peer]],
        };
        let session = |peer| Session {
            plan: Plan::new(false, Some("memory")).unwrap(),
            contenders: vec![],
            rounds: 1,
            rows: vec![row(peer)],
            raw: vec![],
            failures: vec![],
            load: String::new(),
            took: Duration::ZERO,
        };
        assert!(session(1e9).too_large(large, 1).is_some());
        assert!(session(0.001).too_large(large, 1).is_none());
        assert!(session(1e9).too_large(large, 0).is_none(), "ours is always tried");
        assert!(session(1e9).too_large(0, 1).is_none(), "what it was measured with fits");
    }

    #[test]
    fn lines_of_a_program() {
        let text = "warning: something\nlatency\t8\t0.2\tus\nbarrier\t-\t1e+03\tus\nnot\ta\tfigure\n";
        let found: Vec<_> = figures(text).collect();
        assert_eq!(found[0], ("latency".into(), Some(8), 0.2, "us".into()));
        assert_eq!(found[1], ("barrier".into(), None, 1000.0, "us".into()));
        assert_eq!(found.len(), 2);
    }
}
