//! The binary: runs the command and prints the error if the command fails.

#![forbid(unsafe_code)]

// Decision 0022 explains why the binary uses mimalloc.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(
    clippy::print_stderr,
    reason = "the process has no other way to report its error"
)]
fn main() -> std::process::ExitCode {
    match garth::cli::run() {
        Ok(exit_code) => exit_code,
        Err(failure) => {
            eprintln!("garth: {:#}", failure.error);
            failure.exit_code
        }
    }
}
