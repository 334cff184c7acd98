//! `kill -9` in the middle of the work: what was acknowledged is there, nothing is there by halves,
//! and the events tell exactly what happened.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::client::Client;
use crate::connection::{number, text};
use crate::expected_state::{Counts, Ledger, Vpc, dice};
use crate::harness::{Folder, Server};
use crate::process::{Process, eventually};

/// How often the server is killed, on one and the same store.
const KILLS: usize = 30;
const WRITERS: usize = 6;

#[test]
fn killing_the_server_loses_nothing_acknowledged_and_leaves_nothing_by_halves() {
    let folder = Folder::new("crash");
    let mut ledgers: Vec<Ledger> = (0..WRITERS).map(Ledger::new).collect();
    let mut history = History::default();

    for kill in 1..=KILLS {
        if kill % 5 == 0 {
            kill_while_it_starts(&folder);
        }
        let mut server = folder.start();
        check(&mut server.client(), &mut ledgers, &mut history);
        kill_under_load(&mut server, &mut ledgers);
    }

    let server = folder.start();
    check(&mut server.client(), &mut ledgers, &mut history);
    let mut told_anew = History::default();
    told_anew.read_on(&mut server.client());
    assert!(
        told_anew == history,
        "events have changed since they were first read"
    );
    assert_eq!(server.stop().code, Some(0));
    assert_sound(&folder);
}

/// Has every writer write without a pause, and kills the server at a random moment of that.
fn kill_under_load(server: &mut Server, ledgers: &mut [Ledger]) {
    let acknowledged = AtomicUsize::new(0);
    let enough = 1 + dice(1000);
    std::thread::scope(|scope| {
        let mut writers = Vec::new();
        for ledger in ledgers {
            let (mut client, acknowledged) = (server.client(), &acknowledged);
            writers.push(scope.spawn(move || {
                while ledger.write(&mut client) {
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                }
            }));
        }
        eventually("writes to be acknowledged", || {
            assert!(
                !writers.iter().any(|writer| writer.is_finished()),
                "a writer gave up"
            );
            (acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
        });
        std::thread::sleep(Duration::from_micros(dice(10_000) as u64));
        server.process.kill();
    });
}

/// A start is a write too: it migrates, recovers the log and makes the first account.
fn kill_while_it_starts(folder: &Folder) {
    let mut process = Process::spawn(&mut folder.serve());
    std::thread::sleep(Duration::from_millis(dice(80) as u64));
    process.kill();
}

/// Compares what the writers know with what the store tells.
fn check(client: &mut Client, ledgers: &mut [Ledger], history: &mut History) {
    let vpcs = client.all("/v4/vpcs");
    let there: BTreeMap<i64, Vpc> = vpcs
        .iter()
        .map(|vpc| (number(&vpc["id"]), Vpc::read(vpc)))
        .collect();
    ledgers.iter_mut().for_each(|ledger| ledger.settle(&there));

    let kept: BTreeMap<i64, Vpc> = ledgers.iter().flat_map(Ledger::kept).collect();
    assert_same("VPCs", &kept, &there);

    history.read_on(client);
    let told: Counts = ledgers.iter().flat_map(Ledger::events).collect();
    assert_same("events", &told, &history.counts);
}

fn assert_same<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    what: &str,
    known: &BTreeMap<K, V>,
    found: &BTreeMap<K, V>,
) {
    let missing: Vec<_> = known
        .iter()
        .filter(|(key, value)| found.get(key) != Some(value))
        .collect();
    let unknown: Vec<_> = found
        .iter()
        .filter(|(key, value)| known.get(key) != Some(value))
        .collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "{what}: missing {missing:?}; not accounted for {unknown:?}"
    );
}

/// All events so far, read as a client would that remembers the last id it saw.
#[derive(Default, PartialEq)]
struct History {
    last: i64,
    counts: Counts,
}

impl History {
    fn read_on(&mut self, client: &mut Client) {
        loop {
            let path = format!("/v4/account/events?page_size=500&after={}", self.last);
            let list = client.get(&path).ok();
            let events = list["data"].as_array().expect("data is a list");
            for event in events {
                let id = number(&event["id"]);
                assert!(id > self.last, "event {id} comes after {}", self.last);
                self.last = id;
                let done = (text(&event["action"]), number(&event["entity"]["id"]));
                *self.counts.entry(done).or_default() += 1;
            }
            if events.is_empty() {
                return;
            }
        }
    }
}

/// Nothing is broken below what the interface shows.
fn assert_sound(folder: &Folder) {
    let store = rusqlite::Connection::open(folder.data().join("garth.db")).expect("the store is there");
    let one = |sql| {
        store
            .query_row(sql, (), |row| row.get::<_, String>(0))
            .expect("SQLite answers")
    };
    assert_eq!(one("PRAGMA integrity_check"), "ok");
    let orphans = one("SELECT CAST(count(*) AS TEXT) FROM pragma_foreign_key_check");
    assert_eq!(orphans, "0", "rows belong to nothing");
}
