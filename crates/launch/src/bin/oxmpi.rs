//! `oxmpi`: tells about this installation; everything is in the library.
fn main() -> std::process::ExitCode {
    oxmpi_launch::info::main()
}
