//! The cost of a request: CPU time, or with `GARTH_TEST_INSTRUCTIONS=1` the instructions that Callgrind
//! counts. Counting instructions takes many times as long and needs a release build; `CONTRIBUTING.md` has
//! the command.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::harness::{Folder, Server};

/// Requests per measurement of CPU time. Instructions vary little, so one request is enough for them.
const REQUESTS_PER_MEASUREMENT: u64 = 2;
/// Differences below these values are noise: 3 ms of CPU time, or the corresponding number of instructions.
const MIN_NANOS: u64 = 3_000_000;
const MIN_INSTRUCTIONS: u64 = 10_000_000;

pub struct Meter {
    process: u32,
    /// The dumps of Callgrind, if it counts instructions.
    dumps: Option<Dumps>,
}

/// The files into which Callgrind writes the instructions since the last dump.
struct Dumps {
    folder: PathBuf,
    total: Cell<u64>,
}

impl Meter {
    /// Starts a server whose requests can be measured.
    pub fn start(folder: &Folder) -> (Server, Self) {
        let mut command = folder.serve();
        let dumps = std::env::var_os("GARTH_TEST_INSTRUCTIONS").map(|_| Dumps {
            folder: folder.path("dumps"),
            total: Cell::new(0),
        });
        if let Some(dumps) = &dumps {
            command = under_callgrind(&command, &dumps.folder);
        }
        let server = Server::start(&mut command);
        let process = server.process.id();
        (server, Self { process, dumps })
    }

    /// The average cost of a request, in nanoseconds of CPU or in instructions.
    pub fn cost_of(&self, mut request: impl FnMut() -> io::Result<()>) -> u64 {
        let (before, requests) = match &self.dumps {
            // A dump is slow. Between two measurements the server executes only background work.
            Some(dumps) if dumps.total.get() > 0 => (dumps.total.get(), 1),
            Some(_) => (self.total(), 1),
            None => (self.total(), REQUESTS_PER_MEASUREMENT),
        };
        for _ in 0..requests {
            request().expect("the server responds");
        }
        (self.total() - before) / requests
    }

    /// The cost below which ratios are noise.
    pub fn min_cost(&self) -> u64 {
        match self.dumps {
            Some(_) => MIN_INSTRUCTIONS,
            None => MIN_NANOS,
        }
    }

    pub fn unit(&self) -> &'static str {
        match self.dumps {
            Some(_) => "instructions",
            None => "ns",
        }
    }

    fn total(&self) -> u64 {
        match &self.dumps {
            Some(dumps) => dumps.total_of(self.process),
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
}

impl Dumps {
    /// Adds the instructions since the last dump, and deletes the new dump.
    fn total_of(&self, process: u32) -> u64 {
        let control = Command::new("callgrind_control")
            .args(["--dump", &process.to_string()])
            .output()
            .expect("valgrind is installed");
        assert!(control.status.success(), "{control:?}");
        let mut total = self.total.get();
        for dump in std::fs::read_dir(&self.folder)
            .expect("the folder exists")
            .flatten()
        {
            let text = std::fs::read_to_string(dump.path()).expect("a readable dump");
            let count = text
                .lines()
                .find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<u64>().ok());
            // The file of the running program has no total yet.
            if let Some(count) = count {
                total += count;
                std::fs::remove_file(dump.path()).expect("a dump can be deleted");
            }
        }
        self.total.set(total);
        total
    }
}

fn under_callgrind(command: &Command, folder: &Path) -> Command {
    std::fs::create_dir_all(folder).expect("a folder for the dumps");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!(
        "--callgrind-out-file={}",
        folder.join("callgrind").display()
    ));
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
