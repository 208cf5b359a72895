//! `mpicc`: the C compiler wrapper.
fn main() -> std::process::ExitCode {
    oxmpi_wrappers::main(oxmpi_wrappers::Language::C)
}
