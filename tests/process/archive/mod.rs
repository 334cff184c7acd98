//! The continuous archive: `garth serve --archive`, and `garth restore` from it.

mod bucket;
mod disk_loss;
mod faults;
mod log_size;
mod moments;
mod restarts;
mod settings;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use garth::store::context::Clock;
use serde_json::{Value, json};

use crate::client::Client;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{Process, ProcessOutput, eventually};

/// A data folder with attachments, its archive, and folders for restored stores.
struct Archived {
    folder: Folder,
    /// The folder of the archive, or the URL of its bucket.
    archive: PathBuf,
}

impl Archived {
    /// With `GARTH_TEST_ARCHIVE`, the archive is in a bucket.
    fn new(test: &str) -> Self {
        let folder = Folder::with_local_attachments(&format!("archive-{test}"));
        let archive = match std::env::var("GARTH_TEST_ARCHIVE") {
            Ok(url) => PathBuf::from(format!("{url}/{}-{test}", std::process::id())),
            Err(_) => folder.path("copies"),
        };
        Self { folder, archive }
    }

    /// With the archive in a folder, for tests that change its files.
    fn in_folder(test: &str) -> Self {
        let folder = Folder::with_local_attachments(&format!("archive-{test}"));
        let archive = folder.path("copies");
        Self { folder, archive }
    }

    fn serve(&self) -> Command {
        let mut serve = self.folder.serve();
        serve.arg("--archive").arg(&self.archive);
        serve.args([
            "--quota-vpcs-per-region",
            "1000000",
            "--log",
            "warn,garth::archiving=info",
        ]);
        serve
    }

    /// Starts the server, and waits until its state can be restored.
    fn start(&self) -> Server {
        let server = Server::start(&mut self.serve());
        eventually("a snapshot", || {
            let newest = self.generations().pop()?;
            // A generation is named after the time of its beginning, so that the newest is the last.
            let state = std::fs::read(self.folder.data().join("archive/state.json")).ok()?;
            let state: Value = serde_json::from_slice(&state).ok()?;
            (newest["generation"] == state["generation"]).then_some(())
        });
        server
    }

    /// The generations that can be restored.
    fn generations(&self) -> Vec<Value> {
        let output = Process::spawn(self.restore_command("unused").arg("--list").arg("--json")).wait();
        match output.code {
            Some(0) => serde_json::from_str(&output.stdout).expect("--json prints JSON"),
            // The folder of the archive does not exist yet.
            _ => Vec::new(),
        }
    }

    /// The time of the last write in the archive.
    fn archived_until(&self) -> i64 {
        let newest = self.generations().pop().expect("a generation");
        let to = newest["to"].as_str().and_then(garth::model::time::Time::parse);
        to.expect("a time").micros()
    }

    fn restore_command(&self, name: &str) -> Command {
        let mut command = self.folder.garth("restore");
        command.arg(&self.archive);
        command.env("GARTH_DATA", self.folder.path(name));
        command
    }

    /// Restores into a new folder.
    fn try_restore(&self, name: &str, at: Option<&str>) -> ProcessOutput {
        let mut command = self.restore_command(name);
        if let Some(at) = at {
            command.args(["--at", at]);
        }
        Process::spawn(&mut command).wait()
    }

    /// Restores into a new folder, checks the store, and returns the labels of its VPCs.
    fn restore(&self, name: &str, at: Option<&str>) -> BTreeSet<String> {
        let output = self.try_restore(name, at);
        assert_eq!(output.code, Some(0), "{output:?}");
        let mut check = self.folder.garth("check --attachments");
        check.env("GARTH_DATA", self.folder.path(name));
        let checked = Process::spawn(&mut check).wait();
        assert_eq!(checked.code, Some(0), "{checked:?}");
        self.labels(name)
    }

    /// The labels of the VPCs in a restored store.
    fn labels(&self, name: &str) -> BTreeSet<String> {
        let mut serve = self.folder.serve();
        serve.env("GARTH_DATA", self.folder.path(name));
        let server = Server::start(&mut serve);
        let labels = server.client().vpc_labels();
        assert_eq!(server.stop().code, Some(0));
        labels.into_iter().collect()
    }

    /// Waits until the archive has everything that was written so far.
    fn wait_until_archived(&self) {
        let now = now_micros();
        eventually("everything to be archived", || {
            std::thread::sleep(Duration::from_millis(100));
            let newest = self.generations().pop()?;
            let to = garth::model::time::Time::parse(newest["to"].as_str()?)?;
            // A segment or a heartbeat after this time shows that all earlier commits are archived.
            let pending = std::fs::read_dir(self.folder.data().join("archive")).ok()?;
            let mut names = pending.flatten().map(|entry| entry.file_name());
            let is_empty = !names.any(|name| name.to_string_lossy().ends_with(".segment"));
            (to.micros() >= now || is_empty && now_micros() > now + 2_000_000).then_some(())
        });
    }
}

/// A VPC whose creation was acknowledged.
struct Write {
    label: String,
    /// Microseconds since 1970.
    requested: i64,
    acknowledged: i64,
}

fn now_micros() -> i64 {
    Clock::System.now().micros()
}

/// Writers that create VPCs until they are stopped or the server is killed.
#[derive(Default)]
struct Load {
    writes: Mutex<Vec<Write>>,
    stop: AtomicBool,
}

impl Load {
    fn run(&self, mut client: Client, writer: usize) {
        for number in 0.. {
            if self.stop.load(Ordering::Relaxed) {
                return;
            }
            let label = format!("w{writer}-{number}");
            let body = json!({"label": label, "region": "us-east"});
            let requested = now_micros();
            let Ok(reply) = client.try_send("POST", "/v4/vpcs", Some(&body)) else {
                return;
            };
            assert_eq!(reply.status, 200, "{}", reply.text());
            let acknowledged = now_micros();
            let mut writes = self.writes.lock().expect("no writer panics");
            writes.push(Write {
                label,
                requested,
                acknowledged,
            });
        }
    }

    /// The time of the last acknowledged write.
    fn last_acknowledged(&self) -> i64 {
        let writes = self.writes.lock().expect("no writer panics");
        writes.iter().map(|write| write.acknowledged).max().unwrap_or(0)
    }

    fn labels(self) -> BTreeSet<String> {
        let writes = self.writes.into_inner().expect("no writer panics");
        writes.into_iter().map(|write| write.label).collect()
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `action` while several writers write, and then stops the writers.
fn under_load(address: SocketAddr, writers: usize, first_writer: usize, action: impl FnOnce()) -> Load {
    under_observed_load(address, writers, first_writer, |_| action())
}

/// Like `under_load`, with the writes so far.
fn under_observed_load(
    address: SocketAddr,
    writers: usize,
    first_writer: usize,
    action: impl FnOnce(&Load),
) -> Load {
    let load = Load::default();
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (client, load) = (Client::new(address, TOKEN), &load);
            scope.spawn(move || load.run(client, first_writer + writer));
        }
        // Also stops the writers if the action panics.
        let _stop = StopOnDrop(&load.stop);
        action(&load);
    });
    load
}
