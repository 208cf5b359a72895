//! A wrapper that is named as its own compiler neither runs itself for ever nor needs its messages read.
use std::process::{Command, Output};

const MPICC: &str = env!("CARGO_BIN_EXE_mpicc");

fn mpicc(args: &[&str], vars: &[(&str, &str)]) -> Output {
    let dir = std::path::Path::new(MPICC).parent().unwrap();
    let path = std::env::join_paths(
        [dir.to_owned()].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let mut command = Command::new(MPICC);
    command.args(args).env("PATH", path.unwrap());
    for name in ["OXMPI_CC", "MPI_CC"] {
        command.env_remove(name);
    }
    command.envs(vars.iter().copied()).output().unwrap()
}

#[test]
fn mpi_cc_that_names_the_wrapper_is_passed_over() {
    for value in ["mpicc", MPICC, "ccache mpicc"] {
        let o = mpicc(&["-show"], &[("MPI_CC", value)]);
        let text = String::from_utf8_lossy(&o.stdout).into_owned();
        assert!(o.status.success() && !text.contains("mpicc "), "{value}: {text}");
    }
    let o = mpicc(&["-show"], &[("MPI_CC", "my-cc -m64")]);
    assert!(String::from_utf8_lossy(&o.stdout).starts_with("my-cc -m64 "));
}

#[test]
fn what_is_meant_for_us_alone_must_not_name_us() {
    for (args, vars) in [(&["-show"][..], &[("OXMPI_CC", "mpicc")][..]), (&["-cc=mpicc", "-show"], &[])] {
        let o = mpicc(args, vars);
        let text = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(o.status.code() == Some(1) && text.contains("is this wrapper itself"), "{text}");
    }
}

#[test]
fn answers_that_cannot_be_written_are_a_failure() {
    let full = || std::fs::File::options().write(true).open("/dev/full").unwrap();
    let status = Command::new(MPICC).arg("-show").stdout(full()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}
