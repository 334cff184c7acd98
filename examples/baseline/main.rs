//! The baselines of the benchmarks, and other Rust helpers for them; `bench/run` starts this program.
//!
//! One program, so that it is linked once. `fixed` and `rows` are servers with only the connection stack, and the
//! connection stack with JSON. `ungrouped` is Garth with a store that commits each write alone. `raw` is not a server:
//! it writes the same rows as a create. `fill` and `fill-subnet` create stores with many rows and exit. `open-loop`
//! sends more requests than the server can answer. `instructions` runs one code path, for Callgrind.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "it measures with the system clock and prints the results"
)]

mod fill;
mod fill_subnet;
mod fixed;
mod instructions;
mod open_loop;
mod raw;
mod rows;
mod setup;
mod ungrouped;

use clap::Parser;

// The same allocator as Garth.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Baselines and helpers for the benchmarks. Servers run until they are stopped.
#[derive(Parser)]
enum Baseline {
    Fixed(fixed::Fixed),
    Rows(rows::Rows),
    Ungrouped(ungrouped::Ungrouped),
    Raw(raw::Raw),
    FillSubnet(fill_subnet::FillSubnet),
    Fill(fill::Fill),
    OpenLoop(open_loop::OpenLoop),
    Instructions(instructions::Instructions),
}

fn main() -> anyhow::Result<()> {
    // Like `garth serve --log warn`.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_writer(std::io::stderr)
        .init();
    let command = Baseline::parse();
    // The counted code must not move between threads.
    let mut runtime = match command {
        Baseline::Instructions(_) => tokio::runtime::Builder::new_current_thread(),
        _ => tokio::runtime::Builder::new_multi_thread(),
    };
    runtime.enable_all().build()?.block_on(async {
        match command {
            Baseline::Fixed(fixed) => fixed.run().await,
            Baseline::Rows(rows) => rows.run().await,
            Baseline::Ungrouped(ungrouped) => ungrouped.run().await,
            Baseline::Raw(raw) => raw.run().await,
            Baseline::FillSubnet(fill_subnet) => fill_subnet.run().await,
            Baseline::Fill(fill) => fill.run().await,
            Baseline::OpenLoop(open_loop) => open_loop.run().await,
            Baseline::Instructions(instructions) => instructions.run().await,
        }
    })
}
