//! Damaged and missing segments, and an archive that is unreachable for a while.

use std::path::PathBuf;
use std::time::Duration;

use super::{Archived, under_load};
use crate::damaged_files::flip_a_bit;
use crate::process::{Process, eventually};
use crate::stored_files::files_in;

/// The paths of all segments, in their order.
fn segments(archived: &Archived) -> Vec<PathBuf> {
    let files = files_in(&archived.archive).into_iter();
    let segments = files.filter(|file| file.ends_with(".segment"));
    segments.map(|file| archived.archive.join(file)).collect()
}

/// The time after `--at` in a message.
fn suggested_time(message: &str) -> String {
    let (_, time) = message.rsplit_once("--at ").expect("the message suggests a time");
    time.split_whitespace().next().expect("a time").to_owned()
}

#[test]
fn a_damaged_or_missing_segment_is_named_and_earlier_moments_can_be_restored() {
    let archived = Archived::in_folder("damage");
    let server = archived.start();
    for number in 0..8 {
        server.client().create_vpc(&format!("v{number}"));
        std::thread::sleep(Duration::from_millis(600));
    }
    archived.wait_until_archived();
    assert_eq!(server.stop().code, Some(0));
    let all = segments(&archived);
    let damaged = &all[all.len() - 3];
    let name = damaged.file_stem().expect("a name").to_string_lossy();
    let order: u64 = name.parse().expect("a number");
    let intact = std::fs::read(damaged).expect("the segment can be read");

    for problem in ["is damaged", "is missing"] {
        match problem {
            "is damaged" => flip_a_bit(damaged),
            _ => std::fs::remove_file(damaged).expect("the segment can be deleted"),
        }
        let output = archived.try_restore("refused", None);
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains(&format!("segment {order} of generation")),
            "{output:?}"
        );
        assert!(output.stderr.contains(problem), "{output:?}");
        let name = problem.replace(' ', "-");
        let restored = archived.restore(&name, Some(&suggested_time(&output.stderr)));
        assert!((1..8).contains(&restored.len()), "{restored:?}");
    }
    let missing = archived.generations()[0]["missing_segment"].as_u64();
    assert_eq!(missing, Some(order));
    std::fs::write(damaged, intact).expect("the segment can be written");
    assert_eq!(archived.restore("intact", None).len(), 8);
}

#[test]
fn a_server_serves_while_its_archive_is_unreachable_and_catches_up() {
    let archived = Archived::in_folder("outage");
    let mut server = archived.start();
    let moved = archived.archive.with_extension("moved");
    std::fs::rename(&archived.archive, &moved).expect("the folder can be renamed");
    let load = under_load(server.address, 4, 0, || {
        std::thread::sleep(Duration::from_secs(5))
    });
    let written = load.labels();
    assert!(written.len() > 50, "the server stopped serving");
    eventually("the failure to be logged", || {
        server
            .process
            .stderr()
            .contains("archive upload failed")
            .then_some(())
    });
    let mut doctor = archived.folder.garth("doctor");
    doctor.env("GARTH_ARCHIVE", &archived.archive);
    let advice = Process::spawn(&mut doctor).wait();
    assert!(advice.stdout.contains("the archive is behind"), "{advice:?}");
    assert!(
        !archived.archive.exists(),
        "an unmounted folder must not be created"
    );

    std::fs::rename(&moved, &archived.archive).expect("the folder can be renamed");
    eventually("the archive to catch up", || {
        server
            .process
            .stderr()
            .contains("archive reachable again")
            .then_some(())
    });
    server.process.kill();
    std::fs::remove_dir_all(archived.folder.data()).expect("the data folder can be deleted");
    let restored = archived.restore("restored", None);
    assert_eq!(restored, written);
}

#[test]
fn a_restore_that_is_killed_can_be_started_again() {
    let archived = Archived::new("restore-kill");
    let server = archived.start();
    under_load(server.address, 4, 0, || {
        std::thread::sleep(Duration::from_secs(2))
    });
    let stored = server.client().vpc_labels().len();
    assert_eq!(server.stop().code, Some(0));
    for millis in [5, 20, 40, 80, 120, 200] {
        let mut process = Process::spawn(&mut archived.restore_command("restored"));
        std::thread::sleep(Duration::from_millis(millis));
        process.kill();
        if archived.folder.path("restored/garth.db").exists() {
            break;
        }
    }
    let target = archived.folder.path("restored");
    if target.join("garth.db").exists() {
        std::fs::remove_dir_all(&target).expect("the folder can be deleted");
    }
    assert_eq!(archived.restore("restored", None).len(), stored);
}
