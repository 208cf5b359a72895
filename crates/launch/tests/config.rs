//! Control variables: `--set`, the environment and the file, resolved before any rank starts; `oxmpi info`.
mod common;
use common::*;
use std::process::Command;

const SHOW: &str = "echo $OXMPI_RANK: $OXMPI_PT2PT_EAGER_LIMIT $OXMPI_COLL_BCAST_TREE_MAX $OXMPI_INFO";

fn job(options: &[&str], config: &str) -> Run {
    let mut args = options.to_vec();
    args.extend(["--oversubscribe", "-n", "2", "sh", "-c", SHOW]);
    with_file(mpirun(&args), config)
}

/// Beside the job's own directory, which has to stay empty.
fn with_file(mut run: Run, config: &str) -> Run {
    let file = run.tmp.with_extension("conf");
    std::fs::write(&file, config).unwrap();
    run.command.env("OXMPI_CONFIG", &file);
    run
}

fn outcome(run: Run) -> Outcome {
    let file = run.tmp.with_extension("conf");
    let o = run.outcome();
    std::fs::remove_file(file).unwrap();
    o
}

fn lines(o: &Outcome) -> Vec<String> {
    let mut lines: Vec<String> = o.text().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The job fails with exit code 2, starts nothing, and says all of `parts`.
fn refused(run: Run, parts: &[&str]) {
    let o = outcome(run);
    assert_eq!((o.code, o.text().as_str()), (2, ""), "{}", o.err);
    for part in parts {
        assert!(o.err.contains(part), "'{part}' is not in: {}", o.err);
    }
}

#[test]
fn every_rank_gets_what_is_set() {
    let o = outcome(job(&["--set", "pt2pt_eager_limit=64k", "--set=coll_bcast_tree_max=1M"], ""));
    assert_eq!((o.code, o.err.as_str()), (0, ""));
    assert_eq!(lines(&o), ["0: 64k 1M", "1: 64k 1M"]);
    let o = outcome(job(&["--set", "pt2pt_eager_limit=64k", "--set", "pt2pt_eager_limit=131072"], ""));
    assert_eq!(lines(&o), ["0: 128k", "1: 128k"], "the last one counts, in the shortest form");
}

#[test]
fn the_option_is_stronger_than_the_environment_than_the_file() {
    let file = "pt2pt_eager_limit = 5k\ncoll_bcast_tree_max = 6k # six\ninfo = config\n";
    assert_eq!(lines(&outcome(job(&[], file)))[0], "0: 5k 6k config");
    let mut run = job(&[], file);
    run.command.env("OXMPI_PT2PT_EAGER_LIMIT", "7k");
    assert_eq!(lines(&outcome(run))[0], "0: 7k 6k config");
    let mut run = job(&["--set", "pt2pt_eager_limit=8k"], file);
    run.command.env("OXMPI_PT2PT_EAGER_LIMIT", "7k");
    assert_eq!(lines(&outcome(run))[0], "0: 8k 6k config");
    // -x is the environment of one program.
    let show = ["sh", "-c", SHOW];
    let mut args = vec!["-n", "1", "-x", "OXMPI_PT2PT_EAGER_LIMIT=9k"];
    args.extend(show);
    args.extend([":", "-n", "1"]);
    args.extend(show);
    let o = outcome(with_file(mpirun(&args), file));
    assert_eq!(lines(&o), ["0: 9k 6k config", "1: 5k 6k config"], "{}", o.err);
}

#[test]
fn mistakes_are_told_before_anything_starts() {
    let file = |text: &str| job(&[], text);
    refused(job(&["--set", "eager_limit=1"], ""), &["--set eager_limit=1", "nearest one is pt2pt_eager_limit"]);
    refused(job(&["--set", "pt2pt_eager_limit=1"], ""), &["out of range", "at least 4k, at most 1M"]);
    refused(job(&["--set", "pt2pt_eager_limit"], ""), &["not of the form NAME=VALUE"]);
    refused(file("\npt2pt_eager_limt = 5k\n"), &[".conf:2: ", "nearest one is pt2pt_eager_limit"]);
    refused(file("pt2pt_eager_limit = much\n"), &[".conf:1: ", "is not a size"]);
    let mut run = job(&[], "");
    run.command.env("OXMPI_PT2PT_EGER_LIMIT", "1");
    refused(run, &["OXMPI_PT2PT_EGER_LIMIT in the environment", "nearest one is OXMPI_PT2PT_EAGER_LIMIT"]);
    let mut run = job(&[], "");
    run.command.env("OXMPI_INFO", "shn");
    refused(run, &["OXMPI_INFO=shn in the environment", "nearest is shm"]);
    refused(job(&["-x", "OXMPI_PT2PT_EAGER_LIMIT=-"], ""), &["OXMPI_PT2PT_EAGER_LIMIT=- in the environment"]);
    let mut run = job(&[], "");
    run.command.env("OXMPI_CONFIG", "/nonexistent/oxmpi.conf");
    refused(run, &["OXMPI_CONFIG=/nonexistent/oxmpi.conf: No such file"]);
}

fn info(args: &[&str], vars: &[(&str, &str)]) -> (i32, String, String) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_oxmpi"));
    let o = c.args(args).env("OXMPI_CONFIG", "").envs(vars.iter().copied()).output().unwrap();
    let text = |b: Vec<u8>| String::from_utf8(b).unwrap();
    (o.status.code().unwrap(), text(o.stdout), text(o.stderr))
}

#[test]
fn info_shows_values_and_sources() {
    let (code, out, err) = info(&["info"], &[("OXMPI_PT2PT_EAGER_LIMIT", "8192")]);
    assert_eq!((code, err.as_str()), (0, ""));
    for part in [
        "pt2pt_eager_limit = 8k (OXMPI_PT2PT_EAGER_LIMIT)",
        "size 4k..1M; default 32k",
        "coll_bcast_tree_max = 16k (default)",
        "info = (nothing) (default)",
        "\n  CMA ",
        "\n  XPMEM ",
        "\n  KNEM ",
        "\n  membarrier ",
        "\n  cores ",
        "\n  cgroup quota ",
    ] {
        assert!(out.contains(part), "'{part}' is not in: {out}");
    }
    let dir = std::env::temp_dir().join(format!("oxmpi-info-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let file = dir.join("c");
    std::fs::write(&file, "coll_bcast_tree_max = 1G\n").unwrap();
    let file = file.to_str().unwrap();
    let (code, out, _) = info(&["info", "--format", "tsv", "coll_bcast_tree_max"], &[("OXMPI_CONFIG", file)]);
    let rows: Vec<Vec<&str>> = out.lines().map(|l| l.split('\t').collect()).collect();
    assert_eq!((code, rows.len()), (0, 2));
    assert_eq!(rows[0], ["section", "name", "value", "default", "kind", "source", "help"]);
    assert_eq!(rows[1][..6], ["variable", "coll_bcast_tree_max", "1G", "16k", "size 0..1G", &format!("{file}:1")]);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn info_helps_to_mend_a_mistake() {
    let (code, out, err) = info(&["info"], &[("OXMPI_PT2PT", "1")]);
    assert_eq!(code, 1);
    assert!(out.contains("pt2pt_eager_limit = 32k (default)"), "{out}");
    assert!(err.contains("OXMPI_PT2PT in the environment"), "{err}");
    let (code, _, err) = info(&["info", "eager_limit"], &[]);
    assert!(code == 2 && err.contains("nearest one is pt2pt_eager_limit"), "{err}");
    assert_eq!(info(&["info", "--format", "xml"], &[]).0, 2);
    assert_eq!(info(&["inof"], &[]).0, 2);
    assert_eq!(info(&[], &[]).0, 2);
    assert!(info(&["--help"], &[]).1.contains("mpirun --set NAME=VALUE"));
}
