//! `kill -9` during uploads: acknowledged files exist, listed files are complete, and incomplete files are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::client::Client;
use crate::connection::text;
use crate::expected_state::random_below;
use crate::harness::{Folder, Server};
use crate::process::eventually;

/// The number of kills, all with the same store.
const KILLS: usize = 30;
const UPLOADERS: usize = 6;

#[test]
fn kill_during_uploads_loses_no_acknowledged_file() {
    let folder = Folder::new("upload-crash");
    let mut uploaders: Vec<Uploader> = (0..UPLOADERS).map(Uploader::new).collect();
    let mut verified = BTreeSet::new();
    let (mut acknowledged, mut listed) = (0, 0);

    for kill in 0..=KILLS {
        let mut serve = folder.serve();
        serve.args(["--attachments-max-per-ticket", "10000"]);
        let mut server = Server::start(&mut serve);
        if kill == 0 {
            uploaders
                .iter_mut()
                .for_each(|uploader| uploader.ticket = server.client().open_ticket());
        }
        // The uploads begin immediately, while the sweep removes files of the previous process.
        upload_until(&mut uploaders, &mut server, 3 + random_below(4), false);
        for uploader in &mut uploaders {
            uploader.reconcile(&mut server.client(), &mut verified);
        }
        folder.wait_until_swept();
        if kill < KILLS {
            upload_until(&mut uploaders, &mut server, 1 + random_below(12), true);
        } else {
            // Verify a sample of all files again.
            verified.retain(|_| random_below(8) > 0);
            for uploader in &mut uploaders {
                acknowledged += uploader.sent.values().filter(|known| **known).count();
                listed += uploader.reconcile(&mut server.client(), &mut verified);
            }
            assert_eq!(server.stop().code, Some(0));
        }
    }
    folder.assert_sound();
    println!("{KILLS} kills: {acknowledged} uploads acknowledged, {listed} listed");
    assert!(acknowledged > 3 * KILLS);
}

/// All uploaders send files until enough are acknowledged. Then the server is killed, or they stop.
fn upload_until(uploaders: &mut [Uploader], server: &mut Server, enough: usize, kill: bool) {
    let (acknowledged, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for uploader in uploaders {
            let mut client = server.client();
            let (acknowledged, stop) = (&acknowledged, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) && uploader.send(&mut client) {
                    acknowledged.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        eventually("uploads to be acknowledged", || {
            (acknowledged.load(Ordering::Relaxed) >= enough).then_some(())
        });
        if kill {
            std::thread::sleep(Duration::from_micros(random_below(20_000) as u64));
            server.process.kill();
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// Uploads files to one ticket and records them, across restarts of the server.
struct Uploader {
    number: usize,
    ticket: i64,
    /// The sent files by name. The value is true if the file was acknowledged, or found in the list.
    sent: BTreeMap<String, bool>,
}

impl Uploader {
    fn new(number: usize) -> Self {
        Self {
            number,
            ticket: 0,
            sent: BTreeMap::new(),
        }
    }

    /// Uploads one more file. Returns false if the server was killed meanwhile.
    fn send(&mut self, client: &mut Client) -> bool {
        let size = [10, 5_000, 50_000, 300_000][random_below(4)] + random_below(1000);
        let name = format!("{}-{}-{size}.txt", self.number, self.sent.len());
        self.sent.insert(name.clone(), false);
        let Ok(reply) = client.upload(self.ticket, &name, &content(&name)) else {
            return false;
        };
        reply.ok();
        self.sent.insert(name, true);
        true
    }

    /// Compares the list with the uploads and downloads each new file. Returns the number of listed files.
    fn reconcile(&mut self, client: &mut Client, verified: &mut BTreeSet<(i64, String)>) -> usize {
        let files = client.attachments(self.ticket);
        let names: Vec<_> = files.iter().map(|file| text(&file["name"])).collect();
        let missing: Vec<_> = self
            .sent
            .iter()
            .filter(|(name, known)| **known && !names.contains(name))
            .collect();
        assert!(missing.is_empty(), "acknowledged, but missing: {missing:?}");
        let mut unique = BTreeSet::new();
        for (file, name) in files.iter().zip(names) {
            assert!(unique.insert(name.clone()), "{name} is listed twice");
            let known = self.sent.get_mut(&name);
            *known.unwrap_or_else(|| panic!("{name} was never uploaded")) = true;
            if verified.insert((self.ticket, name.clone())) {
                assert!(
                    client.download(self.ticket, file) == content(&name),
                    "{name} has other content"
                );
            }
        }
        files.len()
    }
}

/// The content of a file: unique, with the size that is part of its name.
fn content(name: &str) -> Vec<u8> {
    let size = name.trim_end_matches(".txt").rsplit('-').next();
    let size = size.and_then(|size| size.parse().ok()).expect("a size");
    name.bytes().cycle().take(size).collect()
}
