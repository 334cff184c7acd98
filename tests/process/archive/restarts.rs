//! The archive of a server that is stopped, killed and started again.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::{Archived, under_load};
use crate::expected_state::random_below;
use crate::harness::Server;
use crate::process::{Process, eventually};

const KILLS: usize = 20;

fn name_of(generation: &Value) -> String {
    generation["generation"].as_str().expect("text").to_owned()
}

#[test]
fn a_generation_continues_after_a_stop_and_after_a_kill() {
    let archived = Archived::new("continue");
    let server = archived.start();
    server.client().create_vpc("first");
    assert_eq!(server.stop().code, Some(0));

    let mut server = archived.start();
    server.client().create_vpc("after-stop");
    server.process.kill();
    // Other commands open the store, too.
    let mut server = Server::start(&mut archived.serve());
    server.client().create_vpc("after-kill");
    archived
        .folder
        .run("account create --company Other --email other@example.com");
    server.client().create_vpc("after-command");
    archived.wait_until_archived();
    server.process.kill();
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");

    let generations = archived.generations();
    assert_eq!(generations.len(), 1, "{generations:?}");
    let restored = archived.restore("restored", None);
    let expected = ["first", "after-stop", "after-kill", "after-command"];
    assert_eq!(restored, expected.map(str::to_owned).into());
}

#[test]
fn a_write_without_the_server_begins_a_generation() {
    let archived = Archived::new("break");
    let server = archived.start();
    server.client().create_vpc("first");
    assert_eq!(server.stop().code, Some(0));
    let before = archived.generations();
    archived
        .folder
        .run("account create --company Other --email other@example.com");

    let server = archived.start();
    server.client().create_vpc("second");
    archived.wait_until_archived();
    assert_eq!(server.stop().code, Some(0));
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");

    let after = archived.generations();
    assert_eq!((before.len(), after.len()), (1, 2), "{after:?}");
    let restored = archived.restore("restored", None);
    assert_eq!(restored, ["first", "second"].map(str::to_owned).into());
    let mut accounts = archived.folder.garth("account list --json");
    accounts.env("GARTH_DATA", archived.folder.path("restored"));
    let listed = String::from_utf8(accounts.output().expect("it runs").stdout).expect("text");
    assert!(listed.contains("Other"), "{listed}");
    // The earlier generation can still be restored.
    let to = before[0]["to"].as_str().expect("text");
    assert_eq!(archived.restore("earlier", Some(to)), ["first".to_owned()].into());
    assert_ne!(name_of(&after[0]), name_of(&after[1]));
}

#[test]
fn no_archived_write_is_lost_by_kills() {
    let archived = Archived::new("kills");
    let mut written: BTreeSet<String> = BTreeSet::new();
    for kill in 0..KILLS {
        let mut server = Server::start(&mut archived.serve());
        let load = under_load(server.address, 3, kill * 3, || {
            std::thread::sleep(Duration::from_millis(random_below(700) as u64));
            server.process.kill();
        });
        written.extend(load.labels());
    }
    let server = archived.start();
    let stored: BTreeSet<String> = server.client().vpc_labels().into_iter().collect();
    assert!(
        written.is_subset(&stored),
        "acknowledged writes exist after a kill"
    );
    assert_eq!(server.stop().code, Some(0));
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");
    println!(
        "{KILLS} kills, {} writes, {} generations",
        stored.len(),
        archived.generations().len()
    );
    let restored = archived.restore("restored", None);
    let lost: Vec<_> = stored.difference(&restored).take(5).collect();
    assert!(
        restored == stored,
        "{} of {} restored, not {lost:?}",
        restored.len(),
        stored.len()
    );
}

#[test]
fn old_generations_are_deleted_after_the_retention() {
    let archived = Archived::new("retention");
    let server = archived.start();
    server.client().create_vpc("first");
    assert_eq!(server.stop().code, Some(0));
    let old = name_of(&archived.generations()[0]);
    archived
        .folder
        .run("account create --company Other --email other@example.com");

    let mut serve = archived.serve();
    serve.args(["--archive-retention", "2s"]);
    let server = Server::start(&mut serve);
    let mut number = 0;
    eventually("the old generation to be deleted", || {
        number += 1;
        server.client().create_vpc(&format!("v{number}"));
        std::thread::sleep(Duration::from_millis(200));
        let remaining = archived.generations();
        (!remaining.iter().any(|one| name_of(one) == old)).then_some(())
    });
    archived.wait_until_archived();
    assert_eq!(server.stop().code, Some(0));
    let restored = archived.restore("restored", None);
    assert_eq!(restored.len(), number + 1);
}

/// The folder can be on a disk that is not mounted.
#[test]
fn a_lost_archive_folder_prevents_the_start() {
    let archived = Archived::in_folder("lost");
    let server = archived.start();
    server.client().create_vpc("first");
    archived.wait_until_archived();
    assert_eq!(server.stop().code, Some(0));
    let elsewhere = archived.folder.path("elsewhere");
    std::fs::rename(&archived.archive, &elsewhere).expect("the folder can be renamed");

    let refused = Process::spawn(&mut archived.serve()).wait();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("mount the disk"), "{refused:?}");
    assert!(!archived.archive.exists());
    let mut doctor = archived.folder.garth("doctor");
    let found = Process::spawn(doctor.env("GARTH_ARCHIVE", &archived.archive)).wait();
    assert!(found.stdout.contains("was archived before"), "{found:?}");

    std::fs::rename(&elsewhere, &archived.archive).expect("the folder can be renamed");
    let server = archived.start();
    server.client().create_vpc("second");
    archived.wait_until_archived();
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(archived.generations().len(), 1);
}
