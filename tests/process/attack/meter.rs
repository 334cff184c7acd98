//! The cost of a request: CPU time, or with `GARTH_TEST_INSTRUCTIONS=1` the instructions that Callgrind counts. The
//! second takes many times as long and needs a release build; `CONTRIBUTING.md` has the command.

use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::harness::{Folder, Server};

/// Requests per measurement.
const REQUESTS_PER_MEASUREMENT: u64 = 2;
/// Differences below this are noise: 3 ms of CPU, or about as many instructions.
const MIN_NANOS: u64 = 3_000_000;
const MIN_INSTRUCTIONS: u64 = 10_000_000;

pub struct Meter {
    process: u32,
    /// Where Callgrind writes its counts, if it counts.
    counts: Option<PathBuf>,
}

impl Meter {
    /// Starts a server whose requests can be measured.
    pub fn start(folder: &Folder) -> (Server, Self) {
        let mut command = folder.serve();
        let counts = std::env::var_os("GARTH_TEST_INSTRUCTIONS").map(|_| folder.path("callgrind"));
        if let Some(counts) = &counts {
            command = under_callgrind(&command, counts);
        }
        let server = Server::start(&mut command);
        let process = server.process.id();
        (server, Self { process, counts })
    }

    /// The average cost of a request, in nanoseconds of CPU or in instructions.
    pub fn cost_of(&self, mut request: impl FnMut() -> io::Result<()>) -> u64 {
        let before = self.total();
        for _ in 0..REQUESTS_PER_MEASUREMENT {
            request().expect("the server responds");
        }
        (self.total() - before) / REQUESTS_PER_MEASUREMENT
    }

    /// The cost below which ratios are noise.
    pub fn min_cost(&self) -> u64 {
        match self.counts {
            Some(_) => MIN_INSTRUCTIONS,
            None => MIN_NANOS,
        }
    }

    pub fn unit(&self) -> &'static str {
        match self.counts {
            Some(_) => "instructions",
            None => "ns",
        }
    }

    fn total(&self) -> u64 {
        match &self.counts {
            Some(counts) => self.instructions(counts),
            None => self.nanos(),
        }
    }

    fn nanos(&self) -> u64 {
        let tasks = format!("/proc/{}/task", self.process);
        let tasks = std::fs::read_dir(tasks).expect("the server runs");
        let nanos = tasks.flatten().filter_map(|task| {
            let schedule = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            schedule.split(' ').next()?.parse::<u64>().ok()
        });
        nanos.sum()
    }

    /// Each dump has the instructions since the one before.
    fn instructions(&self, counts: &std::path::Path) -> u64 {
        let dump = Command::new("callgrind_control")
            .args(["--dump", &self.process.to_string()])
            .output()
            .expect("valgrind is installed");
        assert!(dump.status.success(), "{dump:?}");
        let dumps = std::fs::read_dir(counts.parent().expect("a folder")).expect("the folder exists");
        let totals = dumps.flatten().filter_map(|file| {
            let is_dump = file.file_name().to_string_lossy().starts_with("callgrind.");
            let text = is_dump.then(|| std::fs::read_to_string(file.path()).ok())??;
            let total = text.lines().find_map(|line| line.strip_prefix("totals: "))?;
            total.trim().parse::<u64>().ok()
        });
        totals.sum()
    }
}

fn under_callgrind(command: &Command, counts: &std::path::Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", counts.display()));
    valgrind.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => valgrind.env(name, value),
            None => valgrind.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        valgrind.current_dir(folder);
    }
    valgrind.stdin(std::process::Stdio::null());
    valgrind
}
