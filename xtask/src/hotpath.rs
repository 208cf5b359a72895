//! Tests that guard the short paths: no system call in a ping-pong (`cargo xtask test syscalls`), and instruction counts
//! beside a checked-in table (`cargo xtask test counts`; `cargo xtask counts [--update]`).
//!
//! Both run C programs of tests/hotpath under a small tracer of their own, which needs ptrace and nothing else.
//! A count that grew fails; one that shrank asks for `--update`, so that the gain is kept.
use crate::install::{program, shared};
use crate::shell::{note, nothing_left, output, prefix, root, step, take_flag, target, watched};
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// How a test ended that may not be able to judge.
pub enum Verdict {
    Holds,
    /// The machine does not allow it; where CI runs, that is a failure.
    NotAllowed(String),
    /// The machine was too busy, or is too small.
    NotJudged(String),
}

fn table() -> PathBuf {
    root().join("bench/counts.tsv")
}

/// Growth that the compiler may cause elsewhere in the same function.
fn allowed(count: u64) -> u64 {
    count + count * 3 / 100 + 4
}

/// A program of tests/hotpath on 2 ranks under the tracer: what it prints.
fn traced(name: &str, limit: u64) -> Result<(Verdict, String)> {
    if !cfg!(target_arch = "x86_64") {
        return Ok((Verdict::NotJudged("the tracer is for x86-64".into()), String::new()));
    }
    let dir = target().join("test/hotpath");
    std::fs::create_dir_all(&dir)?;
    let source = |name: &str| root().join("tests/hotpath").join(format!("{name}.c"));
    output(Command::new("cc").args(["-O2", "-Wall", "-o"]).arg(dir.join("trace")).arg(source("trace")))?;
    let mut mpicc = Command::new(program(&prefix(), "mpicc"));
    output(mpicc.args(["-O2", "-Wall", "-o"]).arg(dir.join(name)).arg(source(name)))?;
    let board = dir.join(format!("board.{}", std::process::id()));
    let mut job = Command::new(program(&prefix(), "mpirun"));
    job.args(["--oversubscribe", "-n", "2"]).arg(dir.join("trace")).arg(dir.join(name)).arg(&board);
    let ended = watched(&mut job, Duration::from_secs(limit));
    let _ = std::fs::remove_file(&board);
    let ended = ended?;
    let last = || {
        let mut lines = ended.text.lines().filter(|l| !l.starts_with("mpirun:"));
        lines.next_back().unwrap_or_default().to_owned()
    };
    match ended.how.as_str() {
        "exit status: 77" => Ok((Verdict::NotAllowed(last()), ended.text)),
        "exit status: 78" => Ok((Verdict::NotJudged(last()), ended.text)),
        _ if ended.ok => Ok((Verdict::Holds, ended.text)),
        how => bail!("{name}: {how}\n{}", ended.text),
    }
}

/// Two ranks that answer one another at once make no system call.
pub fn no_system_calls() -> Result<Verdict> {
    let (verdict, text) = traced("syscalls", 120)?;
    text.lines().for_each(note);
    Ok(verdict)
}

type Counts = Vec<(String, u64)>;

fn parse(text: &str) -> Counts {
    let pair = |line: &str| {
        let (path, count) = line.split_once('\t')?;
        Some((path.to_owned(), count.trim().parse().ok()?))
    };
    text.lines().filter(|l| !l.starts_with('#')).filter_map(pair).collect()
}

/// The fewest of both for each path.
fn fewest(a: Counts, b: &Counts) -> Counts {
    let b: BTreeMap<_, _> = b.iter().cloned().collect();
    a.into_iter().map(|(path, n)| (path.clone(), b.get(&path).map_or(n, |m| n.min(*m)))).collect()
}

/// What is wrong with a measurement beside the table, one line for each path.
fn complaints(found: &Counts, wanted: &Counts) -> Vec<String> {
    let known: BTreeMap<_, _> = wanted.iter().cloned().collect();
    let measured: BTreeMap<_, _> = found.iter().cloned().collect();
    let mut wrong = vec![];
    for (path, n) in found {
        match known.get(path) {
            None => wrong.push(format!("{path}: {n} instructions; it is not in the table")),
            Some(m) if *n > allowed(*m) => wrong.push(format!("{path}: {n} instructions, {m} in the table")),
            Some(_) => {}
        }
    }
    for (path, _) in wanted.iter().filter(|w| !measured.contains_key(&w.0)) {
        wrong.push(format!("{path}: it is in the table and was not measured"));
    }
    wrong
}

fn rustc() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    output(Command::new(rustc).arg("--version")).unwrap_or_default().trim().to_owned()
}

/// Compares with the table. What seems to have grown is measured again: a busy machine can only add.
pub fn counts() -> Result<Verdict> {
    let text = std::fs::read_to_string(table()).with_context(|| format!("cannot read {}", table().display()))?;
    let wanted = parse(&text);
    ensure!(!wanted.is_empty(), "{} holds no counts", table().display());
    let mut found: Option<Counts> = None;
    for _ in 0..3 {
        let (verdict, printed) = traced("counts", 240)?;
        if !matches!(verdict, Verdict::Holds) {
            return Ok(verdict);
        }
        let now = parse(&printed);
        let all = found.map_or(now.clone(), |before| fewest(now, &before));
        let good = complaints(&all, &wanted).is_empty();
        found = Some(all);
        if good {
            break;
        }
    }
    let found = found.unwrap_or_default();
    let known: BTreeMap<_, _> = wanted.iter().cloned().collect();
    let mut shorter = false;
    for (path, n) in &found {
        let before = known.get(path).copied();
        shorter |= before.is_some_and(|m| allowed(*n) < m);
        note(format!("{path:<36} {n:>7}  (table: {})", before.map_or("-".into(), |m| m.to_string())));
    }
    let wrong = complaints(&found, &wanted);
    let made = text.lines().find_map(|l| l.strip_prefix("# compiler: ")).unwrap_or("unknown");
    ensure!(
        wrong.is_empty(),
        "{}\nWhere that is meant, `cargo xtask counts --update` writes bench/counts.tsv. The table was made with {made}; this \
         is {}.",
        wrong.join("\n"),
        rustc()
    );
    if shorter {
        note("shorter paths than in the table: `cargo xtask counts --update` keeps what was won");
    }
    Ok(Verdict::Holds)
}

fn update() -> Result<()> {
    let mut found: Option<Counts> = None;
    for _ in 0..2 {
        match traced("counts", 240)? {
            (Verdict::Holds, printed) => {
                let now = parse(&printed);
                found = Some(found.map_or(now.clone(), |before| fewest(now, &before)));
            }
            (Verdict::NotAllowed(why) | Verdict::NotJudged(why), _) => bail!("nothing was counted: {why}"),
        }
    }
    let mut text = String::from(
        "# Instructions of one call on rank 0 of two, release profile, x86-64, counted by single steps (tests/hotpath/counts.c).\n\
         # `cargo xtask test counts` fails where a path takes more than 3 % and 4 instructions above this table.\n\
         # `cargo xtask counts --update` writes it.\n",
    );
    writeln!(text, "# compiler: {}", rustc())?;
    for (path, n) in found.unwrap_or_default() {
        writeln!(text, "{path}\t{n}")?;
        note(format!("{path:<36} {n:>7}"));
    }
    std::fs::write(table(), text)?;
    println!("written to {}", table().display());
    Ok(())
}

pub fn run_command(args: &[String]) -> Result<()> {
    let mut args = args.to_vec();
    let write = take_flag(&mut args, "--update");
    nothing_left(&args)?;
    shared()?;
    step("Counting instructions");
    if write {
        return update();
    }
    match counts()? {
        Verdict::Holds => Ok(()),
        Verdict::NotAllowed(why) | Verdict::NotJudged(why) => bail!("nothing was counted: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[(&str, u64)]) -> Counts {
        pairs.iter().map(|(p, n)| ((*p).to_owned(), *n)).collect()
    }

    #[test]
    fn growth_new_paths_and_lost_paths_are_named() {
        let table = of(&[("a", 100), ("b", 1000), ("c", 10)]);
        assert!(complaints(&of(&[("a", 107), ("b", 1034), ("c", 2)]), &table).is_empty());
        let wrong = complaints(&of(&[("a", 108), ("b", 1035), ("d", 5)]), &table);
        assert_eq!(wrong.len(), 4);
        assert!(wrong[0].contains("a: 108") && wrong[2].contains("not in the table") && wrong[3].starts_with("c:"));
    }

    #[test]
    fn comments_and_other_output_are_no_counts() {
        assert_eq!(parse("# x\t1\nwarning\nMPI_Send 8 B\t432\n"), of(&[("MPI_Send 8 B", 432)]));
        assert_eq!(fewest(of(&[("a", 3), ("b", 1)]), &of(&[("a", 2), ("b", 4)])), of(&[("a", 2), ("b", 1)]));
    }
}
