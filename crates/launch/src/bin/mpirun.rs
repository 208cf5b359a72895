//! `mpirun`, also installed as `mpiexec`; everything is in the library.
fn main() -> std::process::ExitCode {
    oxmpi_launch::main()
}
