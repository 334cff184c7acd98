//! `kill -9` in the middle of uploads: what was acknowledged is there, whatever is listed is whole,
//! and nothing is left of the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::client::Client;
use crate::connection::text;
use crate::expected_state::dice;
use crate::harness::{Folder, Server};
use crate::process::eventually;

/// How often the server is killed, on one and the same store.
const KILLS: usize = 30;
const SENDERS: usize = 6;

#[test]
fn killing_the_server_in_a_storm_of_uploads_loses_none_and_leaves_no_rest() {
    let folder = Folder::new("storm");
    let mut senders: Vec<Sender> = (0..SENDERS).map(Sender::new).collect();
    let mut looked_at = BTreeSet::new();
    let (mut acknowledged, mut listed) = (0, 0);

    for kill in 0..=KILLS {
        let mut serve = folder.serve();
        serve.args(["--attachments-max-per-ticket", "10000"]);
        let mut server = Server::start(&mut serve);
        if kill == 0 {
            senders
                .iter_mut()
                .for_each(|sender| sender.ticket = server.client().opens_ticket());
        }
        // From the first moment, while what the last life left is still being swept.
        storm(&mut senders, &mut server, 3 + dice(4), false);
        for sender in &mut senders {
            sender.settle(&mut server.client(), &mut looked_at);
        }
        folder.waits_until_swept();
        if kill < KILLS {
            storm(&mut senders, &mut server, 1 + dice(12), true);
        } else {
            // Some of all that was ever sent, once more.
            looked_at.retain(|_| dice(8) > 0);
            for sender in &mut senders {
                acknowledged += sender.sent.values().filter(|known| **known).count();
                listed += sender.settle(&mut server.client(), &mut looked_at);
            }
            assert_eq!(server.stop().code, Some(0));
        }
    }
    println!("{KILLS} kills: {acknowledged} uploads acknowledged, {listed} listed");
    assert!(acknowledged > 3 * KILLS);
}

/// Has everybody send file after file until enough were acknowledged; then the server is killed, or
/// they stop.
fn storm(senders: &mut [Sender], server: &mut Server, enough: usize, kill: bool) {
    let (acknowledged, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for sender in senders {
            let mut client = server.client();
            let (acknowledged, stop) = (&acknowledged, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) && sender.send(&mut client) {
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        eventually("uploads to be acknowledged", || {
            (acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
        });
        if kill {
            std::thread::sleep(Duration::from_micros(dice(20_000) as u64));
            server.process.kill();
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Somebody with a ticket, who knows what was sent to it over all lives of the server.
struct Sender {
    number: usize,
    ticket: i64,
    /// By name; true if it was acknowledged, or found to be there.
    sent: BTreeMap<String, bool>,
}

impl Sender {
    fn new(number: usize) -> Self {
        Self {
            number,
            ticket: 0,
            sent: BTreeMap::new(),
        }
    }

    /// Sends one more file; false if the server went away meanwhile.
    fn send(&mut self, client: &mut Client) -> bool {
        let size = [10, 5_000, 50_000, 300_000][dice(4)] + dice(1000);
        let name = format!("{}-{}-{size}.txt", self.number, self.sent.len());
        self.sent.insert(name.clone(), false);
        let Ok(reply) = client.attaches(self.ticket, &name, &content(&name)) else {
            return false;
        };
        reply.ok();
        self.sent.insert(name, true);
        true
    }

    /// Compares what is listed with what was sent, and looks at each file that is new; how many.
    fn settle(&mut self, client: &mut Client, looked_at: &mut BTreeSet<(i64, String)>) -> usize {
        let files = client.attached(self.ticket);
        let names: Vec<_> = files.iter().map(|file| text(&file["name"])).collect();
        let missing: Vec<_> = self
            .sent
            .iter()
            .filter(|(name, known)| **known && !names.contains(name))
            .collect();
        assert!(missing.is_empty(), "acknowledged, but gone: {missing:?}");
        let mut once = BTreeSet::new();
        for (file, name) in files.iter().zip(names) {
            assert!(once.insert(name.clone()), "{name} is there twice");
            let known = self.sent.get_mut(&name);
            *known.unwrap_or_else(|| panic!("nobody sent {name}")) = true;
            if looked_at.insert((self.ticket, name.clone())) {
                assert!(
                    client.downloads(self.ticket, file) == content(&name),
                    "{name} is another"
                );
            }
        }
        files.len()
    }
}

/// What a file of this name has in it: as many letters as the name says, unlike any other's.
fn content(name: &str) -> Vec<u8> {
    let size = name.trim_end_matches(".txt").rsplit('-').next();
    let size = size.and_then(|size| size.parse().ok()).expect("a size");
    name.bytes().cycle().take(size).collect()
}
