//! Three servers on one database, and clients of each.

use std::process::Command;

use serde_json::Value;

use crate::client::Client;
use crate::folder::{Folder, Server};
use crate::postgres::Postgres;

pub struct Nodes {
    pub folder: Folder,
    url: String,
    pub servers: Vec<Server>,
}

impl Nodes {
    pub fn start(test: &str, url: &str) -> Self {
        Self::start_with(test, url, |_| {})
    }

    /// Starts three nodes at the same time on a database that may be empty.
    pub fn start_with(test: &str, url: &str, change: impl Fn(&mut Command) + Sync) -> Self {
        let folder = Folder::new(test);
        let start = || {
            let mut serve = folder.serve();
            serve.env("GARTH_DATABASE", url).env("GARTH_LOG", "warn");
            change(&mut serve);
            Server::start(&mut serve)
        };
        let servers = std::thread::scope(|scope| {
            let starting: Vec<_> = (0..3).map(|_| scope.spawn(start)).collect();
            starting
                .into_iter()
                .map(|node| node.join().expect("a node starts"))
                .collect()
        });
        Self {
            folder,
            url: url.to_owned(),
            servers,
        }
    }

    /// A client of the first user for one of the nodes.
    pub fn client(&self, number: usize) -> Client {
        self.servers[number % self.servers.len()].client()
    }

    /// Runs `garth …` and returns its output.
    pub fn run(&self, arguments: &str) -> String {
        let mut command = self.folder.garth(arguments);
        let output = command
            .env("GARTH_DATABASE", &self.url)
            .output()
            .expect("garth runs");
        assert!(
            output.status.success(),
            "garth {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text")
    }

    /// Checks the integrity of the store.
    pub fn assert_sound(&self) {
        assert_eq!(self.run("check"), "no problems found\n");
    }

    pub fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.run(&format!("{arguments} --json"))).expect("--json prints JSON")
    }

    /// Runs a closure on many threads concurrently, each with a client of one of the nodes.
    pub fn run_concurrently<T: Send>(
        &self,
        clients: usize,
        work: impl Fn(usize, &mut Client) -> T + Sync,
    ) -> Vec<T> {
        let start = std::sync::Barrier::new(clients);
        std::thread::scope(|scope| {
            let spawn = |number| {
                let (start, work, mut client) = (&start, &work, self.client(number));
                scope.spawn(move || {
                    start.wait();
                    work(number, &mut client)
                })
            };
            let threads: Vec<_> = (0..clients).map(spawn).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("no client panics"))
                .collect()
        })
    }
}

/// A PostgreSQL server with three nodes.
pub fn three_nodes(test: &str) -> (Postgres, Nodes) {
    let postgres = Postgres::new(test);
    let nodes = Nodes::start(test, &postgres.url());
    (postgres, nodes)
}
