//! All control variables, and how this process gets their values.
//!
//! A rank takes them from its environment alone: `mpirun` has read the file, heard its `--set` options, checked all of it
//! and put the result there. A process without `mpirun` reads the file itself. Either happens once, at whatever comes
//! first of MPI_Init and MPI_T_init_thread; what is wrong is the error of that call.
use oxmpi_base::config::Variable;
use oxmpi_base::config::sources::{self, Registry};
use oxmpi_base::consts::MPI_ERR_OTHER;
use oxmpi_base::{Error, Result};
use oxmpi_pmi::env;
use std::sync::OnceLock;

/// A part of the library that has variables; MPI_T shows it as a category.
pub struct Part {
    pub name: &'static str,
    pub help: &'static str,
    /// The part that it belongs to.
    pub within: Option<&'static str>,
}

const fn part(name: &'static str, help: &'static str, within: Option<&'static str>) -> Part {
    Part { name, help, within }
}

/// The parts, in the order of [`VARIABLES`].
pub static PARTS: &[Part] = &[
    part("general", "What concerns the library as a whole", None),
    part("shm", "The ranks of one node: shared memory and single copy", None),
    part("pt2pt", "Point-to-point messages", None),
    part("coll", "Collective operations", None),
    part("paths", "Messages and bytes by the way they went", Some("pt2pt")),
    part("queues", "Receives and messages that wait for each other", Some("pt2pt")),
    part("waiting", "How this process waits", Some("general")),
    part("algorithms", "Algorithms of collective operations that go by messages", Some("coll")),
];

/// The variables of each part. A crate that declares some is added here and in [`PARTS`].
pub static VARIABLES: &[&[&Variable]] =
    &[OWN, oxmpi_transport_shm::VARIABLES, oxmpi_pt2pt::VARIABLES, oxmpi_coll::VARIABLES, &[], &[], &[], &[]];

static OWN: &[&Variable] =
    &[oxmpi_base::inform::VARIABLES[0], crate::errhan::INITIAL.variable(), crate::check::CHECK.variable()];

/// Environment variables with our prefix that are read elsewhere: the file's name, the wrappers, the project's own
/// commands and tests, and what packagers and modules set for an installation.
static OTHERS: &[&str] = &[
    sources::CONFIG,
    "OXMPI_CC",
    "OXMPI_CXX",
    "OXMPI_XTASK_",
    "OXMPI_TEST_",
    "OXMPI_DIR",
    "OXMPI_HOME",
    "OXMPI_ROOT",
    "OXMPI_VERSION",
];

/// Every name that means something.
pub const REGISTRY: Registry = Registry { groups: VARIABLES, others: &[&env::ALL, OTHERS] };

/// Sets the variables, the first time it is called.
pub fn load() -> Result<()> {
    static DONE: OnceLock<std::result::Result<(), String>> = OnceLock::new();
    DONE.get_or_init(read).clone().map_err(|why| Error::new(MPI_ERR_OTHER, why))
}

fn read() -> std::result::Result<(), String> {
    let mut settings = Vec::new();
    if std::env::var_os(env::RANK).is_none()
        && let Some((path, text)) = sources::config_file(|name| std::env::var_os(name))?
    {
        settings = REGISTRY.from_file(&path, &text)?;
    }
    let all: Vec<_> = std::env::vars_os().collect();
    settings.extend(REGISTRY.from_environment(all.iter().map(|(n, v)| (n.as_os_str(), v.as_os_str())))?);
    sources::apply(settings);
    Ok(())
}

/// What is not at its default, a line each: `NAME = VALUE (where from)`.
pub fn changed() -> String {
    let mut out = String::new();
    for v in REGISTRY.variables() {
        let (value, source) = (v.value(), v.source());
        if value != v.default() {
            out.push_str(&format!("{} = {} ({})\n", v.name, v.show(&value), source.of(v)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_variable_is_documented_and_has_a_name_of_its_own() {
        let mut names = HashSet::new();
        for v in REGISTRY.variables() {
            let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
            assert!(v.name.bytes().all(plain) && v.name.starts_with(|c: char| c.is_ascii_lowercase()), "{}", v.name);
            assert!(v.help().ends_with('.') && v.help().len() > 20, "{}: help '{}'", v.name, v.help());
            assert!(names.insert(v.name), "{} is declared twice", v.name);
            assert!(v.check(&v.default()).is_ok(), "{}", v.name);
            let environment = v.environment_name();
            let taken = REGISTRY.others.iter().flat_map(|g| g.iter()).any(|o| *o == environment);
            assert!(!taken, "{environment} has a meaning of its own");
        }
        assert_eq!(PARTS.len(), VARIABLES.len());
        for p in PARTS {
            assert!(p.within.is_none_or(|w| PARTS.iter().any(|q| q.name == w && q.within.is_none())), "{}", p.name);
        }
    }

    /// Runs in a process of its own: see the next tests.
    #[test]
    #[ignore = "initialises MPI"]
    fn child_of_the_next_tests() {
        use oxmpi_base::args::{Buf, Out};
        let null = std::ptr::null_mut();
        // SAFETY: null is allowed.
        match crate::env::init(unsafe { Out::new(null) }, Buf(std::ptr::null_mut())) {
            Err(e) => eprintln!("MPI_Init: {}", e.message),
            Ok(()) => crate::env::finalize().unwrap(),
        }
    }

    /// What a singleton with these variables prints on standard error.
    fn singleton(vars: &[(&str, &str)]) -> String {
        let args = ["--exact", "config::tests::child_of_the_next_tests", "--ignored", "--nocapture"];
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let out = child.args(args).env("OXMPI_CONFIG", "").envs(vars.iter().copied()).output().unwrap();
        assert!(out.status.success());
        String::from_utf8(out.stderr).unwrap()
    }

    #[test]
    fn a_mistake_is_the_error_of_mpi_init() {
        let err = singleton(&[("OXMPI_PT2PT_EGER_LIMIT", "4k")]);
        assert!(err.contains("MPI_Init: OXMPI_PT2PT_EGER_LIMIT in the environment"), "{err}");
        assert!(err.contains("nearest one is OXMPI_PT2PT_EAGER_LIMIT"), "{err}");
        let file = std::env::temp_dir().join(format!("oxmpi-singleton-{}", std::process::id()));
        std::fs::write(&file, "info = config\npt2pt_eager_limit = 5k\n\ncoll_bcast_tree_max = -1").unwrap();
        let name = file.to_str().unwrap();
        let err = singleton(&[("OXMPI_CONFIG", name)]);
        assert!(
            err.contains(&format!("MPI_Init: {name}:4: coll_bcast_tree_max = -1: the value is not a size")),
            "{err}"
        );
        // A rank looks at its environment alone; this one then finds that the rest of mpirun's variables are missing.
        let err = singleton(&[("OXMPI_CONFIG", name), ("OXMPI_RANK", "0")]);
        assert!(err.contains("MPI_Init: OXMPI_SIZE is not set"), "{err}");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn reports_are_printed() {
        let err = singleton(&[("OXMPI_INFO", "config,help"), ("OXMPI_PT2PT_EAGER_LIMIT", "4096")]);
        for line in [
            "oxmpi: rank 0: help: shm: ",
            "oxmpi: rank 0: config: pt2pt_eager_limit = 4k (OXMPI_PT2PT_EAGER_LIMIT)",
            "oxmpi: rank 0: config: info = help,config (OXMPI_INFO)",
        ] {
            assert!(err.contains(line), "{err}");
        }
        assert_eq!(singleton(&[]), "");
    }
}
