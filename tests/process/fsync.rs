//! A disk that does not do as it is told: nobody hears "done" before it is, and a flush that fails
//! is the end of the server, not something to try again.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::json;

use crate::harness::{Folder, Server};
use crate::process::eventually;

/// How much each writer writes at most: more than the log holds before it is moved.
const ENOUGH: usize = 1000;

/// A server on a disk that takes orders.
pub struct Disk<'a>(&'a Folder);

impl<'a> Disk<'a> {
    pub fn new(folder: &'a Folder) -> Self {
        let source = folder.write("failing_disk.c", include_str!("failing_disk.c"));
        let mut cc = Command::new("cc");
        let built = cc
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(folder.path("disk.so"))
            .arg(source);
        assert!(built.status().expect("there is a C compiler").success());
        Self(folder)
    }

    pub fn start(&self) -> Server {
        Server::start(&mut self.serve())
    }

    /// `garth serve` on this disk.
    pub fn serve(&self) -> Command {
        let mut serve = roomy(self.0);
        serve.env("LD_PRELOAD", self.0.path("disk.so"));
        serve.env("DISK_ORDERS", self.0.path(""));
        serve
    }

    pub fn order(&self, name: &str) -> PathBuf {
        self.0.write(name, "")
    }
}

/// A server whose quota nobody fills before the log is full.
fn roomy(folder: &Folder) -> Command {
    let mut serve = folder.serve();
    serve.env("GARTH_QUOTA_VPCS_PER_REGION", "1000000");
    serve
}

#[test]
fn no_write_is_acknowledged_or_shown_before_the_disk_has_it() {
    let folder = Folder::new("held");
    let disk = Disk::new(&folder);
    let server = disk.start();
    server.client().creates_vpc("before");

    let hold = disk.order("hold");
    let (done, waiting) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut writer = server.client();
        scope.spawn(move || done.send(writer.creates_vpc("held-up")));
        eventually("the disk to be asked to flush", || {
            folder.path("held").exists().then_some(())
        });
        assert!(waiting.recv_timeout(Duration::from_millis(500)).is_err());
        assert_eq!(server.client().vpc_labels(), ["before"]);

        std::fs::remove_file(&hold).expect("an order can be taken back");
        eventually("the write to be acknowledged", || waiting.try_recv().ok());
        assert_eq!(server.client().vpc_labels(), ["before", "held-up"]);
    });
}

#[test]
fn a_failed_flush_stops_the_server_and_nothing_is_acknowledged_after_it() {
    ends_when_flushes("fail");
}

/// Moving the log into the database file happens after the commit, in nobody's request.
#[test]
fn a_failed_flush_of_the_database_file_stops_the_server_too() {
    ends_when_flushes("fail-db");
}

fn ends_when_flushes(failure: &str) {
    let folder = Folder::new(failure);
    let disk = Disk::new(&folder);
    let server = disk.start();
    let acknowledged = Mutex::new(Vec::new());
    let write = |writer: usize| {
        let mut client = server.client();
        for number in 0..ENOUGH {
            let label = format!("writer-{writer}-{number}");
            let doomed = folder.path("fail").exists();
            let subnet = |part| json!({"label": part, "ipv4": format!("10.0.{part}.0/24")});
            let subnets: Vec<_> = ["0", "1", "2"].map(subnet).into();
            let body = json!({"label": label, "region": "us-east", "subnets": subnets});
            match client.try_send("POST", "/v4/vpcs", Some(&body)) {
                Ok(reply) if reply.status == 200 => {
                    assert!(!doomed, "{label} was acknowledged by a disk that keeps nothing");
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
        disk.order(failure);
    });
    let ended = server.process.ended();
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("check the disk"), "{}", ended.stderr);

    std::fs::remove_file(folder.path(failure)).expect("an order can be taken back");
    let server = Server::start(&mut roomy(&folder));
    let there = server.client().vpc_labels();
    for label in acknowledged.into_inner().expect("no writer has panicked") {
        assert!(there.contains(&label), "{label} was acknowledged and is gone");
    }
    server.client().creates_vpc("afterwards");
}
