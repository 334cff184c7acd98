//! Backups and restores that are killed at random moments.

use std::time::{Duration, Instant};

use super::damage::is_intact;
use super::{SMALL, assert_restored, back_up, content, restore, server_with};
use crate::harness::Folder;
use crate::process::{Process, eventually};

const KILLS: u32 = 15;

/// A delay in microseconds, different in each round and up to `max`.
fn delay(round: u32, max: Duration) -> Duration {
    let random = u64::from(round).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
    Duration::from_micros(random % u64::try_from(max.as_micros()).unwrap_or(u64::MAX).max(1))
}

/// The files of backups that did not end.
fn partial_files(folder: &Folder) -> Vec<String> {
    let entries = std::fs::read_dir(folder.path("")).expect("the folder exists");
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.contains("partial")).collect()
}

#[test]
fn a_backup_that_is_terminated_deletes_its_partial_file() {
    let folder = Folder::new("backup-term");
    let server = server_with(&folder, SMALL);
    let archive = folder.path("archive");
    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let mut backup = Process::spawn(folder.garth_with_files("backup").arg(&archive));
        // The signal arrives while the file exists.
        eventually("the partial file", || {
            assert!(backup.is_running(), "the backup ended before the signal");
            (!partial_files(&folder).is_empty()).then_some(())
        });
        backup.signal(signal);
        let output = backup.wait();
        assert!(output.code == Some(code), "{signal}: {output:?}");
        assert!(output.stderr.contains("backup stopped"), "{output:?}");
        assert_eq!(partial_files(&folder), [""; 0], "{output:?}");
        assert!(!archive.exists());
    }
    drop(server);
}

#[test]
fn a_killed_backup_leaves_no_archive_and_a_sound_store() {
    let (folder, target) = (Folder::new("backup-kill"), Folder::new("backup-kill-restored"));
    let server = server_with(&folder, SMALL);
    let started = Instant::now();
    back_up(&folder, "measured");
    let duration = started.elapsed();
    let archive = folder.path("archive");
    let mut completed = 0;
    for round in 0..KILLS {
        let mut backup = Process::spawn(folder.garth_with_files("backup").arg(&archive));
        std::thread::sleep(delay(round, duration));
        backup.kill();
        if archive.exists() {
            completed += 1;
            let bytes = std::fs::read(&archive).expect("the archive can be read");
            assert!(is_intact(&bytes), "an archive with its final name is complete");
            std::fs::remove_file(&archive).expect("the archive exists");
        }
    }
    assert!(completed < KILLS, "some backups were killed before their end");
    server.client().create_vpc("after-the-kills");
    let expected = content::read(&mut server.client());
    folder.assert_sound();

    let archive = back_up(&folder, "archive");

    assert_eq!(
        partial_files(&folder),
        [""; 0],
        "the next backup deletes abandoned files"
    );
    drop(server);
    let restored = restore(&target, &archive);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_restored(&target, &expected);
}

#[test]
fn a_killed_restore_can_be_started_again() {
    let (folder, target) = (Folder::new("restore-kill"), Folder::new("restore-kill-restored"));
    let server = server_with(&folder, SMALL);
    let expected = content::read(&mut server.client());
    let archive = back_up(&folder, "archive");
    drop(server);
    let measured = Folder::new("restore-kill-measured");
    let started = Instant::now();
    assert_eq!(restore(&measured, &archive).code, Some(0));
    let duration = started.elapsed();
    let (mut unfinished, mut empty) = (0, 0);
    for round in 0..KILLS {
        let mut restore = Process::spawn(target.garth_with_files("restore").arg(&archive));
        std::thread::sleep(delay(round, duration));
        restore.kill();
        let check = Process::spawn(&mut target.garth_with_files("check")).wait();
        if check.stderr.contains("has not finished") {
            unfinished += 1;
        } else if check.code == Some(0) {
            assert_restored(&target, &expected);
            for name in ["data", "data/attachments"] {
                let _ = std::fs::remove_dir_all(target.path(name));
            }
            if !target.stored_files().names().is_empty() {
                return;
            }
        } else {
            empty += 1;
            let is_empty =
                check.stderr.contains("there is no store") || check.stderr.contains("none of Garth's tables");
            assert!(check.code == Some(2) && is_empty, "{check:?}");
        }
    }
    assert!(
        unfinished + empty > 0,
        "some restores were killed before their end"
    );

    let restored = restore(&target, &archive);

    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_restored(&target, &expected);
}
