//! The report for people (markdown) and the same figures for programs (TSV).
use super::plan::{GROUPS, with_size};
use super::{Kind, Row, Session, cores, median, ranks, targets};
use crate::shell::output;
use anyhow::Result;
use std::fmt::Write;
use std::process::Command;

fn figure(value: f64) -> String {
    match value {
        v if v >= 1000.0 => format!("{v:.0}"),
        v if v >= 100.0 => format!("{v:.1}"),
        v if v >= 10.0 => format!("{v:.2}"),
        v => format!("{v:.3}"),
    }
}

/// Where and how it was measured, in a line.
pub fn setting(session: &Session) -> String {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|l| l.strip_prefix("model name")).unwrap_or(": unknown processor");
    let kernel = output(Command::new("uname").arg("-r")).unwrap_or_default();
    format!(
        "One node, {} cores; {}; Linux {}; load average before {}; medians of {} alternating rounds",
        cores(),
        cpu.trim_start_matches(['\t', ' ', ':']),
        kernel.trim(),
        session.load,
        session.rounds
    )
}

pub fn markdown(session: &Session, name: &str) -> Result<String> {
    let mut text = String::new();
    writeln!(text, "# Benchmarks\n\n{}; {} minutes.", setting(session), session.took.as_secs().div_ceil(60))?;
    writeln!(text, "Made by `cargo xtask bench`; every figure with its spread is in [{name}.tsv]({name}.tsv).\n")?;
    writeln!(text, "![latency, bandwidth and collectives]({name}.svg)\n")?;
    if session.contenders.len() > 1 {
        summary(session, &mut text)?;
    }
    writeln!(text, "## How to read the tables\n")?;
    writeln!(
        text,
        "Jobs of more ranks than cores are oversubscribed. Absolute figures move with the machine and its other"
    )?;
    writeln!(
        text,
        "load: compare within a row. In brackets: the peer's figure over ours where lower is better (us, ms, MB),"
    )?;
    writeln!(
        text,
        "ours over the peer's where higher is; above 1 oxmpi is ahead. Each MPI runs as it comes, with its own"
    )?;
    writeln!(text, "defaults. How each figure is taken stands at the head of the programs in `bench/`; in short:")?;
    writeln!(
        text,
        "- latency: half a round trip, the same buffers every time. Fresh: the sender writes the whole buffer before it sends,"
    )?;
    writeln!(
        text,
        "  the receiver reads it; from the call of MPI_Send to the return of MPI_Recv, so that both are outside, and once"
    )?;
    writeln!(text, "  more as half a round trip that holds both.")?;
    writeln!(
        text,
        "- bandwidth, message rate: windows of 64 messages; both ways: the sum of both directions; fresh: as above,\n  with writing and reading in the time."
    )?;
    writeln!(
        text,
        "- collectives: until the call has ended on all ranks, many in a row; roots go round. The size is the vector of"
    )?;
    writeln!(text, "  bcast, reduce and allreduce, and one rank's block for the others.")?;
    writeln!(text, "- touched memory: what a rank alone has written, and its part of what it shares with others.\n")?;
    for (group, title) in GROUPS {
        let rows: Vec<&Row> = session.rows.iter().filter(|r| r.group == group).collect();
        if group == "raw"
            && let Some(raw) = median(&session.raw)
        {
            writeln!(
                text,
                "## {title}\n\nA cache line handed to another core, without any MPI: {} us.\n",
                figure(raw)
            )?;
        }
        if !rows.is_empty() {
            table(session, title, &rows, &mut text)?;
        }
    }
    failures(session, &mut text)?;
    Ok(text)
}

fn summary(session: &Session, text: &mut String) -> Result<()> {
    writeln!(text, "## What it shall reach\n\nRatios are ours over the best peer's.\n")?;
    writeln!(text, "| | wanted | measured | |\n|---|---|---|---|")?;
    for v in targets::verdicts(session) {
        let reached = match v.reached {
            Some(true) => "reached",
            Some(false) => "**not reached**",
            None => "figures are missing",
        };
        writeln!(text, "| {} | {} | {} | {reached} |", v.what, v.wanted, v.measured)?;
    }
    writeln!(
        text,
        "\nThat the hot path makes no system call and does not grow is tested: `cargo xtask test syscalls counts`.\n"
    )?;
    Ok(())
}

fn table(session: &Session, title: &str, rows: &[&Row], text: &mut String) -> Result<()> {
    write!(text, "## {title}\n\n| |")?;
    for c in &session.contenders {
        write!(text, " {} {} |", c.name, c.version)?;
    }
    writeln!(text, "\n|---|{}", "---|".repeat(session.contenders.len()))?;
    for row in rows {
        write!(text, "| {}, {}, {} |", with_size(&row.name, row.bytes), ranks(row.ranks), row.unit)?;
        for c in 0..session.contenders.len() {
            write!(text, " {} |", cell(session, row, c))?;
        }
        writeln!(text)?;
    }
    writeln!(text)?;
    Ok(())
}

fn cell(session: &Session, row: &Row, contender: usize) -> String {
    let Some(value) = row.median(contender) else {
        let failed = session.failures.iter().find(|f| f.run == row.run && f.contender == contender);
        let word = |kind| match kind {
            Kind::Failed => "failed",
            Kind::TimedOut => "timed out",
            Kind::NotTried => "not tried",
        };
        return failed.map_or("-", |f| word(f.kind)).into();
    };
    match ratio(row, contender) {
        Some(ratio) => format!("{} ({ratio:.2})", figure(value)),
        None => figure(value),
    }
}

/// How far oxmpi is ahead of a peer.
fn ratio(row: &Row, contender: usize) -> Option<f64> {
    let (ours, value) = (row.median(0)?, row.median(contender)?);
    (contender != 0).then_some(if row.rate() { ours / value } else { value / ours })
}

fn failures(session: &Session, text: &mut String) -> Result<()> {
    if session.failures.is_empty() {
        return Ok(());
    }
    writeln!(text, "## Runs that failed\n\nOne that timed out was not repeated in later rounds.\n")?;
    for f in &session.failures {
        let run = &session.plan.runs[f.run];
        writeln!(text, "- {}, {}: {}", session.contenders[f.contender].name, run.title(), f.why.replace('\n', " "))?;
    }
    Ok(())
}

/// One line for each figure and MPI.
pub fn tsv(session: &Session) -> Result<String> {
    let mut text = String::new();
    writeln!(text, "# {}", setting(session))?;
    writeln!(text, "# ahead: peer/ours where lower is better, ours/peer where higher is")?;
    writeln!(text, "group\tname\tbytes\tranks\tunit\tmpi\tversion\trounds\tmedian\tmin\tmax\tahead")?;
    let spread = |values: &[f64]| {
        let min = values.iter().copied().fold(f64::INFINITY, f64::min);
        let max = values.iter().copied().fold(0.0, f64::max);
        match median(values) {
            Some(m) => format!("{}\t{m:.5}\t{min:.5}\t{max:.5}", values.len()),
            None => "0\t-\t-\t-".into(),
        }
    };
    if !session.raw.is_empty() {
        writeln!(text, "raw\tcache line handed over\t-\t2\tus\tnone\t-\t{}\t-", spread(&session.raw))?;
    }
    for row in &session.rows {
        let bytes = row.bytes.map_or("-".into(), |b| b.to_string());
        for (c, who) in session.contenders.iter().enumerate() {
            let ahead = ratio(row, c).map_or("-".into(), |r| format!("{r:.3}"));
            write!(text, "{}\t{}\t{bytes}\t{}\t{}\t", row.group, row.name, row.ranks, row.unit)?;
            writeln!(text, "{}\t{}\t{}\t{ahead}", who.name, who.version, spread(&row.values[c]))?;
        }
    }
    Ok(text)
}
