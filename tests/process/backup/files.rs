//! Attachments in archives: incremental archives, and files that are missing or damaged.

use super::{SMALL, assert_restored, back_up, content, restore, run, server_with};
use crate::damaged_files::{execute_sql, flip_a_bit, is_local};
use crate::harness::Folder;

#[test]
fn an_incremental_archive_needs_its_base() {
    let (folder, target) = (Folder::new("backup-base"), Folder::new("backup-base-restored"));
    let server = server_with(&folder, SMALL);
    let full = back_up(&folder, "full");
    content::upload(&mut server.client(), 1, 100, &[b'n'; 10_000]);
    let expected = content::read(&mut server.client());
    let incremental = folder.path("incremental");
    let output = run(folder
        .garth_with_files("backup --json --base full")
        .arg(&incremental));
    assert_eq!(output.code, Some(0), "{output:?}");
    let summary: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(
        (&summary["attachments"], &summary["base_attachments"]),
        (&1.into(), &5.into())
    );
    let size = |path| std::fs::metadata(path).expect("an archive").len();
    assert!(size(&incremental) < size(&full));
    drop(server);

    let without = restore(&target, &incremental);
    assert_eq!(without.code, Some(1), "{without:?}");
    assert!(without.stderr.contains("incremental") && without.stderr.contains("--base"));
    let other = run(target
        .garth_with_files("restore --base")
        .args([&incremental, &incremental]));
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(other.stderr.contains("is required"), "{other:?}");
    let needless = run(target.garth_with_files("restore --base").args([&full, &full]));
    assert!(needless.stderr.contains("omit --base"), "{needless:?}");

    let restored = run(target
        .garth_with_files("restore --base")
        .args([&full, &incremental]));

    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_restored(&target, &expected);
    // An archive on top of an incremental one stores the files that its base only names.
    let third = folder.path("third");
    let output = run(folder
        .garth_with_files("backup --json --base incremental")
        .arg(&third));
    let summary: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(
        (&summary["attachments"], &summary["base_attachments"]),
        (&5.into(), &1.into())
    );
}

#[test]
fn backup_and_restore_count_attachments_with_the_same_content_alike() {
    let (folder, target) = (Folder::new("backup-count"), Folder::new("backup-count-restored"));
    let server = server_with(&folder, SMALL);
    for number in 100..103 {
        content::upload(&mut server.client(), 1, number, b"the same content");
    }
    let archive = folder.path("archive");
    let counted = |output: crate::process::ProcessOutput| {
        assert_eq!(output.code, Some(0), "{output:?}");
        let summary: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
        summary["attachments"].as_u64().expect("a number")
    };
    let archived = counted(run(folder.garth_with_files("backup --json").arg(&archive)));
    let restored = counted(run(target.garth_with_files("restore --json").arg(&archive)));
    assert_eq!((archived, restored), (8, 8));
}

#[test]
fn missing_and_damaged_files_are_reported_and_the_rest_is_archived() {
    if !is_local() {
        return;
    }
    let (folder, target) = (
        Folder::new("backup-missing"),
        Folder::new("backup-missing-restored"),
    );
    let server = server_with(&folder, SMALL);
    let file_of = |id: i64| {
        let store = rusqlite::Connection::open(folder.data().join("garth.db")).expect("the store");
        let sql = "SELECT file_key FROM attachment WHERE id = ?1";
        let key: String = store.query_row(sql, [id], |row| row.get(0)).expect("a row");
        folder.data().join("attachments").join(key)
    };
    // Attachment 1 has the same content as attachment 2, so the archive has its content.
    for id in [1, 3] {
        std::fs::remove_file(file_of(id)).expect("the file exists");
    }
    flip_a_bit(&file_of(4));

    let output = run(&mut folder.garth_with_files("backup archive"));

    assert_eq!(output.code, Some(1), "{output:?}");
    let line =
        |id: i64, problem: &str| format!("attachment {id} of ticket 1 is not in the archive: {problem}");
    assert!(
        output.stderr.contains(&line(3, "its file is missing")),
        "{output:?}"
    );
    assert!(
        output.stderr.contains(&line(4, "content differs from the hash")),
        "{output:?}"
    );
    assert_eq!(output.stderr.lines().count(), 2, "{output:?}");
    drop(server);
    let restored = restore(&target, &folder.path("archive"));
    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_eq!(restored.stderr.matches("has no file").count(), 2, "{restored:?}");
    let server = target.start();
    for (id, status) in [(1, 200), (2, 200), (3, 503), (4, 503), (5, 200)] {
        let path = format!("/v4/support/tickets/1/attachments/{id}");
        assert_eq!(server.client().get(&path).status, status, "{path}");
    }
}

#[test]
fn values_of_the_wrong_type_are_reported() {
    let folder = Folder::new("backup-mistyped");
    drop(server_with(&folder, SMALL));
    execute_sql(&folder, "UPDATE vpc SET description = x'00ff' WHERE id = 1");

    let output = run(&mut folder.garth_with_files("backup archive"));

    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("table vpc"), "{output:?}");
}

/// A storage key from a damaged row must not become a path outside of the storage.
#[test]
fn an_invalid_storage_key_is_neither_read_nor_written() {
    if !is_local() {
        return;
    }
    let (folder, target) = (Folder::new("backup-key"), Folder::new("backup-key-restored"));
    server_with(&folder, SMALL).stop();
    execute_sql(&folder, "UPDATE attachment SET file_key = '../../escape' || id");
    let archive = folder.path("archive");
    let output = run(folder.garth_with_files("backup").arg(&archive));
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(output.stderr.contains("attachment 1 of ticket"), "{output:?}");

    let refused = restore(&target, &archive);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("invalid storage key"), "{refused:?}");
    let accepted = run(target.garth_with_files("restore --accept-findings").arg(&archive));
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert!(!target.path("escape1").exists() && !target.path("../escape1").exists());
}
