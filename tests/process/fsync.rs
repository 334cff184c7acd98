//! Disk failures: no write is acknowledged before fsync; a failed fsync stops the server.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Folder, Server};
use crate::process::eventually;

/// Maximum number of writes of each writer: more than the log holds before a checkpoint.
const MAX_WRITES: usize = 1000;

/// A disk into which tests can inject faults (`failing_disk.c`).
pub struct Disk<'a>(&'a Folder);

impl<'a> Disk<'a> {
    pub fn new(folder: &'a Folder) -> Self {
        let source = folder.write("failing_disk.c", include_str!("failing_disk.c"));
        let mut cc = Command::new("cc");
        let built = cc
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(folder.path("disk.so"))
            .arg(source);
        assert!(built.status().expect("a C compiler is installed").success());
        Self(folder)
    }

    pub fn start(&self) -> Server {
        Server::start(&mut self.serve())
    }

    /// `garth serve` with this disk.
    pub fn serve(&self) -> Command {
        let mut serve = with_large_quota(self.0);
        serve.env("LD_PRELOAD", self.0.path("disk.so"));
        serve.env("DISK_FAULTS", self.0.path(""));
        serve
    }

    pub fn inject(&self, fault: &str) -> PathBuf {
        self.0.write(fault, "")
    }
}

/// A server with a quota that the writers do not reach.
fn with_large_quota(folder: &Folder) -> Command {
    let mut serve = folder.serve();
    serve.env("GARTH_QUOTA_VPCS_PER_REGION", "1000000");
    serve
}

#[test]
fn writes_are_acknowledged_and_visible_after_fsync() {
    let folder = Folder::new("held");
    let disk = Disk::new(&folder);
    let server = disk.start();
    server.client().create_vpc("before");

    let hold = disk.inject("hold");
    let (done, waiting) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut writer = server.client();
        scope.spawn(move || done.send(writer.create_vpc("held-up")));
        eventually("the fsync call", || folder.path("held").exists().then_some(()));
        assert!(waiting.recv_timeout(Duration::from_millis(500)).is_err());
        assert_eq!(server.client().vpc_labels(), ["before"]);

        std::fs::remove_file(&hold).expect("the fault can be removed");
        eventually("the write to be acknowledged", || waiting.try_recv().ok());
        assert_eq!(server.client().vpc_labels(), ["before", "held-up"]);
    });
}

#[test]
fn failed_fsync_stops_the_server_without_acknowledgment() {
    assert_stops_on("fail");
}

/// A checkpoint copies the log into the database file after the commit, outside of any request.
#[test]
fn failed_fsync_of_the_database_file_stops_the_server() {
    assert_stops_on("fail-db");
}

fn assert_stops_on(failure: &str) {
    let folder = Folder::new(failure);
    let disk = Disk::new(&folder);
    let server = disk.start();
    let acknowledged = Mutex::new(Vec::new());
    let write = |writer: usize| {
        let mut client = server.client();
        for number in 0..MAX_WRITES {
            let label = format!("writer-{writer}-{number}");
            let is_failing = folder.path("fail").exists();
            let subnet = |part| json!({"label": part, "ipv4": format!("10.0.{part}.0/24")});
            let subnets: Vec<_> = ["0", "1", "2"].map(subnet).into();
            let body = json!({"label": label, "region": "us-east", "subnets": subnets});
            match client.try_send("POST", "/v4/vpcs", Some(&body)) {
                Ok(reply) if reply.status == 200 => {
                    assert!(!is_failing, "{label} was acknowledged without fsync");
                    acknowledged.lock().expect("no writer has panicked").push(label);
                }
                Ok(reply) => assert_eq!(reply.status, 503, "{}", reply.text()),
                Err(_) => return,
            }
        }
    };

    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || write(writer));
        }
        eventually("writes to be acknowledged", || {
            (acknowledged.lock().expect("no writer has panicked").len() >= 40).then_some(())
        });
        disk.inject(failure);
    });
    let output = server.process.wait();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("check the disk"), "{}", output.stderr);

    std::fs::remove_file(folder.path(failure)).expect("the fault can be removed");
    let server = Server::start(&mut with_large_quota(&folder));
    let labels = server.client().vpc_labels();
    for label in acknowledged.into_inner().expect("no writer has panicked") {
        assert!(labels.contains(&label), "{label} was acknowledged and is missing");
    }
    server.client().create_vpc("afterwards");
    folder.assert_sound();
}
