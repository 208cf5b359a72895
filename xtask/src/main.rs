//! `cargo xtask COMMAND`: everything that is not compiling one crate.
mod abi_check;
mod bench;
mod codegen;
mod conformance;
mod demo;
mod downgrade;
mod errors;
mod hotpath;
mod install;
mod kmod;
mod layers;
mod mpich;
mod python;
mod shell;
mod suite;
mod test;

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = args.get(1..).unwrap_or_default();
    let done = match args.first().map(String::as_str) {
        Some("bench") => bench::run(rest),
        Some("codegen") => codegen::run(rest),
        Some("counts") => hotpath::run_command(rest),
        Some("demo") => demo::run(rest),
        Some("install") => install::run_command(rest),
        Some("layers") => layers::run(rest),
        Some("suite") => suite::run_command(rest),
        Some("test") => test::run(rest),
        other => {
            eprintln!("xtask: {} is not a command", other.unwrap_or("(nothing)"));
            eprintln!(
                "usage: cargo xtask bench|codegen [--check]|counts [--update]|demo|install --prefix DIR|layers|suite NAME|test"
            );
            return std::process::ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("xtask: {e:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
