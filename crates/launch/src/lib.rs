//! `mpirun`: starts the ranks of a job on this machine, carries their input and output, and sees to it that
//! nothing is left, however the job ends.
//!
//! Two processes run it. The *front* is the one that the user started: it reads the command line, forks the
//! *warden*, hands signals on, and ends with the warden's exit code ([`front`]). The warden is the parent of
//! all ranks and does everything else ([`warden`]). Either outlives the other's death by SIGKILL just long
//! enough to kill every process of the job: the ranks die with the warden (PR_SET_PDEATHSIG), their
//! descendants are found because both are subreapers ([`reap`]).
//!
//! Invariants: no file, no name in any name space, no listening socket; what a rank inherits is descriptors
//! 0, 1, 2, the segment and its control socket; the launcher never blocks on a reader of its output; memory
//! is bounded whatever the ranks write.
//!
//! Standard: MPI-5.0 11.5 (portable process startup with mpiexec).
//! Known gaps: one host; no binding; no resource managers; with front *and* warden killed at once by
//! SIGKILL (a SIGKILL for the process group does that only at a terminal), a process that a rank started and
//! that knows nothing of MPI lives on.
pub mod cli;
pub mod front;
pub mod hosts;
pub mod info;
pub mod input;
pub mod job;
pub mod map;
pub mod output;
pub mod reap;
pub mod warden;

use std::process::ExitCode;

/// Exit codes of mpirun's own; all others come from the ranks.
pub mod exit {
    /// A rank left after MPI_Init and before MPI_Finalize, with exit code 0.
    pub const NO_FINALIZE: u8 = 1;
    pub const USAGE: u8 = 2;
    /// The ranks do not fit the slots.
    pub const MAP: u8 = 65;
    /// A hostfile or host list that cannot be read.
    pub const HOSTFILE: u8 = 66;
    /// Understood, but not in this version.
    pub const UNAVAILABLE: u8 = 69;
    /// A bug in mpirun.
    pub const INTERNAL: u8 = 70;
    /// The system refused something.
    pub const SYSTEM: u8 = 71;
    pub const TIMEOUT: u8 = 124;
    pub const NOT_EXECUTABLE: u8 = 126;
    pub const NOT_FOUND: u8 = 127;
}

/// Why nothing was started.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    pub text: String,
}

impl Failure {
    pub fn system(what: &str, e: std::io::Error) -> Failure {
        Failure { code: exit::SYSTEM, text: format!("{what}: {e}") }
    }
}

/// A line on standard error. eprintln! panics where that cannot be written, and the exit code would be lost.
pub fn say(text: &str) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "mpirun: {text}");
}

/// The whole program.
pub fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    match run(&arguments) {
        Ok(code) => ExitCode::from(code),
        Err(f) => {
            say(&f.text);
            ExitCode::from(f.code)
        }
    }
}

fn run(arguments: &[std::ffi::OsString]) -> Result<u8, Failure> {
    let options = match cli::parse(arguments) {
        Ok(cli::Command::Run(options)) => options,
        Ok(cli::Command::Help) => return show(&cli::help()),
        Ok(cli::Command::Version) => {
            return show(&format!("mpirun (oxmpi) {}\n", env!("CARGO_PKG_VERSION")));
        }
        Err(cli::Usage(text)) => return Err(Failure { code: exit::USAGE, text }),
    };
    let mut job = job::Job::prepare(&options)?;
    if options.display_map {
        show(&job.show_map())?;
    }
    if !options.launch {
        return Ok(0);
    }
    job.make_segment()?;
    front::run(job)
}

/// Prints without the panic that println! has for a closed pipe.
fn show(text: &str) -> Result<u8, Failure> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()) {
        Ok(()) => Ok(0),
        Err(e) => Err(Failure::system("standard output", e)),
    }
}
