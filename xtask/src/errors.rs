//! Jobs of which a part ends through an error handler, and jobs that begin with another one: `cargo xtask test errors`.
//!
//! Each case runs tests/faults/errors.c under our mpirun, and knows the job's exit status, what has to be said, and what must not.
use crate::install::program;
use crate::shell::{output, prefix, root, target, watched};
use anyhow::{Result, ensure};
use std::process::Command;
use std::time::Duration;

struct Case {
    name: &'static str,
    ranks: usize,
    /// Of mpirun.
    options: &'static [&'static str],
    args: &'static [&'static str],
    exit: i32,
    said: &'static [&'static str],
    not_said: &'static [&'static str],
}

/// MPI_ERR_TAG, which is what the program's wrong sends give.
const TAG: i32 = 4;
const GO_ON: &str = "aborted 2 of 4 ranks with code 4 (MPI_ERRORS_ABORT): [0, 1]; the other 2 go on";
const BOTH: [&str; 3] = [GO_ON, "survivor 2 ok", "survivor 3 ok"];
const NOBODY_ELSE: &[&str] = &["not so", "survivor 0", "survivor 1"];

const fn case(
    name: &'static str,
    ranks: usize,
    args: &'static [&'static str],
    exit: i32,
    said: &'static [&'static str],
) -> Case {
    Case { name, ranks, options: &[], args, exit, said, not_said: NOBODY_ELSE }
}

const CASES: [Case; 17] = [
    case("half of the ranks abort, the others are in a collective", 4, &["part", "collective"], TAG, &BOTH),
    case("half of the ranks abort, the others receive", 4, &["part", "messages"], TAG, &BOTH),
    case("half of the ranks abort before anybody has sent", 4, &["part", "early"], TAG, &BOTH),
    case("half of the ranks abort, and no collective succeeds", 4, &["part", "garbage"], TAG, &BOTH),
    case("half of the ranks abort, and nobody hangs in a constructor", 4, &["part", "constructors"], TAG, &BOTH),
    Case {
        not_said: &["not so", "survivor 0"],
        ..case(
            "a rank aborts for which others wait to make a communicator of a group",
            3,
            &["meeting"],
            TAG,
            &["aborted 1 of 3", "survivor 1 ok", "survivor 2 ok"],
        )
    },
    case("MPI_ERRORS_ABORT of an intercommunicator", 4, &["groups"], TAG, &["ends the 2 processes", BOTH[1], BOTH[2]]),
    case("MPI_Abort while a thread holds stdout", 2, &["locked", "abort"], TAG, &["called MPI_Abort with code 4"]),
    case(
        "a fatal error while a thread holds stdout",
        2,
        &["locked", "fatal"],
        TAG,
        &["MPI_ERRORS_ARE_FATAL ends the job"],
    ),
    Case {
        not_said: &["not so", "survivor 0"],
        ..case(
            "MPI_ERRORS_ABORT of MPI_COMM_SELF",
            3,
            &["self"],
            TAG,
            &["aborted 1 of 3", "survivor 1 ok", "survivor 2 ok"],
        )
    },
    case(
        "MPI_ERRORS_ABORT of MPI_COMM_WORLD",
        3,
        &["world"],
        TAG,
        &["ends the 3 processes", "called MPI_Abort with code 4"],
    ),
    case("a rank is killed in a collective", 3, &["killed"], 128 + 9, &["rank 1", "was killed by signal 9"]),
    case(
        "the initial error handler, if nobody says anything",
        2,
        &["initial", "mpi_errors_are_fatal"],
        0,
        &["initial 1 ok"],
    ),
    Case {
        options: &["--initial-errhandler", "mpi_errors_return"],
        ..case(
            "mpirun --initial-errhandler mpi_errors_return",
            2,
            &["initial", "mpi_errors_return"],
            0,
            &["initial 0 ok", "initial 1 ok"],
        )
    },
    Case {
        options: &["--set", "initial_errhandler=mpi_errors_abort"],
        ..case(
            "mpirun --set initial_errhandler=mpi_errors_abort",
            2,
            &["initial", "mpi_errors_abort"],
            0,
            &["initial 1 ok"],
        )
    },
    Case {
        options: &["--initial-errhandler", "mpi_errors_vanish"],
        ..case(
            "an error handler that does not exist",
            2,
            &["initial", "x"],
            2,
            &["--initial-errhandler mpi_errors_vanish"],
        )
    },
    Case {
        options: &["--set", "check_arguments=false"],
        ..case("argument checks switched off", 2, &["unchecked"], 0, &["unchecked 0 ok", "unchecked 1 ok"])
    },
];

/// Runs the cases; `tell` hears of each how it ended.
pub fn cases(mut tell: impl FnMut(&str, Result<()>)) -> Result<()> {
    let dir = target().join("test/errors");
    std::fs::create_dir_all(&dir)?;
    let binary = dir.join("errors");
    let mut compile = Command::new(program(&prefix(), "mpicc"));
    compile.args(["-std=gnu11", "-O2", "-g", "-Wall", "-o"]).arg(&binary);
    output(compile.arg(root().join("tests/faults/errors.c")))?;
    for case in &CASES {
        let mut job = Command::new(program(&prefix(), "mpirun"));
        job.args(["--oversubscribe", "--timeout", "60", "-n", &case.ranks.to_string()]).args(case.options);
        let ended = watched(job.arg(&binary).args(case.args), Duration::from_secs(70))?;
        let judge = || {
            ensure!(
                ended.how == format!("exit status: {}", case.exit),
                "{}, not {}\n{}",
                ended.how,
                case.exit,
                ended.text
            );
            for said in case.said {
                ensure!(ended.text.contains(said), "nobody says: {said}\n{}", ended.text);
            }
            for not_said in case.not_said {
                ensure!(!ended.text.contains(not_said), "somebody says: {not_said}\n{}", ended.text);
            }
            Ok(())
        };
        tell(case.name, judge());
    }
    Ok(())
}
