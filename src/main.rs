//! The binary: all it does is run the command line.

#![forbid(unsafe_code)]

// Decision 0022.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    match garth::cli::run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("garth: {error:#}");
            std::process::ExitCode::FAILURE
        }
    }
}
