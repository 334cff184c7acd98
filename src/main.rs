//! The binary: runs the command line and prints its error.

#![forbid(unsafe_code)]

// Decision 0022.
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
