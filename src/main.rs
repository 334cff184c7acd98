//! The binary: all it does is run the command line.

#![forbid(unsafe_code)]

// Decision 0022.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[expect(clippy::print_stderr, reason = "there is no other place for the last error")]
fn main() -> std::process::ExitCode {
    match garth::cli::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("garth: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
