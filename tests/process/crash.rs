//! `kill -9` under load: acknowledged writes exist, no partial writes, and one event for each change.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::client::Client;
use crate::connection::{number, text};
use crate::expected_state::{Counts, ExpectedState, Vpc, random_below};
use crate::harness::{Folder, Server};
use crate::process::{Process, eventually};

/// The number of kills, all with the same store.
const KILLS: usize = 30;
const WRITERS: usize = 6;

#[test]
fn kill_loses_no_acknowledged_write_and_leaves_no_partial_write() {
    let folder = Folder::new("crash");
    let mut states: Vec<ExpectedState> = (0..WRITERS).map(ExpectedState::new).collect();
    let mut history = History::default();

    for kill in 1..=KILLS {
        if kill % 5 == 0 {
            kill_during_start(&folder);
        }
        let mut server = folder.start();
        check(&mut server.client(), &mut states, &mut history);
        kill_under_load(&mut server, &mut states);
    }

    let server = folder.start();
    check(&mut server.client(), &mut states, &mut history);
    let mut reread = History::default();
    reread.read_new(&mut server.client());
    assert!(reread == history, "old events have changed");
    assert_eq!(server.stop().code, Some(0));
    folder.assert_sound();
}

/// All writers write without a pause until the server is killed at a random moment.
fn kill_under_load(server: &mut Server, states: &mut [ExpectedState]) {
    let acknowledged = AtomicUsize::new(0);
    let enough = 1 + random_below(1000);
    std::thread::scope(|scope| {
        let mut writers = Vec::new();
        for state in states {
            let (mut client, acknowledged) = (server.client(), &acknowledged);
            writers.push(scope.spawn(move || {
                while state.write(&mut client) {
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        eventually("writes to be acknowledged", || {
            assert!(
                !writers.iter().any(|writer| writer.is_finished()),
                "a writer failed"
            );
            (acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
        });
        std::thread::sleep(Duration::from_micros(random_below(10_000) as u64));
        server.process.kill();
    });
}

/// The server also writes while it starts: it migrates, recovers the log and creates the first account.
fn kill_during_start(folder: &Folder) {
    let mut process = Process::spawn(&mut folder.serve());
    std::thread::sleep(Duration::from_millis(random_below(80) as u64));
    process.kill();
}

/// Compares the expected state of the writers with the store.
fn check(client: &mut Client, states: &mut [ExpectedState], history: &mut History) {
    let vpcs = client.all("/v4/vpcs");
    let stored: BTreeMap<i64, Vpc> = vpcs
        .iter()
        .map(|vpc| (number(&vpc["id"]), Vpc::read(vpc)))
        .collect();
    states.iter_mut().for_each(|state| state.reconcile(&stored));

    let expected: BTreeMap<i64, Vpc> = states.iter().flat_map(ExpectedState::vpcs).collect();
    assert_same("VPCs", &expected, &stored);

    history.read_new(client);
    let expected: Counts = states.iter().flat_map(ExpectedState::events).collect();
    assert_same("events", &expected, &history.counts);
}

fn assert_same<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    what: &str,
    expected: &BTreeMap<K, V>,
    found: &BTreeMap<K, V>,
) {
    let missing: Vec<_> = expected
        .iter()
        .filter(|(key, value)| found.get(key) != Some(value))
        .collect();
    let unexpected: Vec<_> = found
        .iter()
        .filter(|(key, value)| expected.get(key) != Some(value))
        .collect();
    assert!(
        missing.is_empty() && unexpected.is_empty(),
        "{what}: missing {missing:?}; unexpected {unexpected:?}"
    );
}

/// All events so far, read by a client that remembers the last event ID.
#[derive(Default, PartialEq)]
struct History {
    last: i64,
    counts: Counts,
}

impl History {
    fn read_new(&mut self, client: &mut Client) {
        loop {
            let path = format!("/v4/account/events?page_size=500&after={}", self.last);
            let list = client.get(&path).ok();
            let events = list["data"].as_array().expect("data is a list");
            for event in events {
                let id = number(&event["id"]);
                assert!(id > self.last, "event {id} follows {}", self.last);
                self.last = id;
                let key = (text(&event["action"]), number(&event["entity"]["id"]));
                *self.counts.entry(key).or_default() += 1;
            }
            if events.is_empty() {
                return;
            }
        }
    }
}
