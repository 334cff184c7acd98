//! The target of a restore: it must be empty, and it cannot be used before the restore has finished.

use super::{SMALL, assert_restored, back_up, content, restore, run, server_with};
use crate::damaged_files::{execute_sql, is_local};
use crate::harness::Folder;

#[test]
fn a_store_that_is_in_use_or_not_empty_is_refused() {
    let (folder, target) = (Folder::new("backup-used"), Folder::new("backup-used-restored"));
    drop(server_with(&folder, SMALL));
    let archive = back_up(&folder, "archive");
    let server = target.start();
    let vpc = server.client().create_vpc("untouched");

    let running = restore(&target, &archive);

    assert_eq!(running.code, Some(1), "{running:?}");
    assert!(
        running.stderr.contains("is in use by another garth process"),
        "{running:?}"
    );
    assert_eq!(server.client().get(&format!("/v4/vpcs/{vpc}")).status, 200);
    assert_eq!(server.stop().code, Some(0));
    let stopped = restore(&target, &archive);
    assert_eq!(stopped.code, Some(1), "{stopped:?}");
    assert!(
        stopped.stderr.contains("a Garth store with 1 accounts"),
        "{stopped:?}"
    );
    let server = target.start();
    assert_eq!(server.client().vpc_labels(), ["untouched"]);
}

/// Only root can write to the folder of another user, and the server of that user could not read the result. Without
/// root, only the unit test in `src/cli/data_folder.rs` covers the refusal.
#[test]
fn a_folder_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let (folder, target) = (Folder::new("backup-owner"), Folder::new("backup-owner-restored"));
    drop(server_with(&folder, SMALL));
    let archive = back_up(&folder, "archive");
    std::fs::create_dir_all(target.data()).expect("the folder can be created");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(target.data(), private).expect("the folder can be changed");
    std::os::unix::fs::chown(target.data(), Some(65534), None).expect("root can change the owner");

    let refused = restore(&target, &archive);

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("belongs to the user 65534"),
        "{refused:?}"
    );
    assert!(!target.data().join("garth.db").exists());
}

#[test]
fn other_files_and_tables_are_refused_and_not_changed() {
    if !is_local() {
        return;
    }
    let (folder, target) = (Folder::new("backup-other"), Folder::new("backup-other-restored"));
    drop(server_with(&folder, SMALL));
    let archive = back_up(&folder, "archive");
    let stray = target.data().join("attachments").join("stray");
    std::fs::create_dir_all(stray.parent().expect("a folder")).expect("the folder can be created");
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(target.data(), private).expect("the folder can be changed");
    std::fs::write(&stray, "of another store").expect("a file");

    let refused = restore(&target, &archive);

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("stray"), "{refused:?}");
    assert!(stray.exists() && !target.data().join("garth.db").exists());
    std::fs::remove_file(&stray).expect("the file exists");
    let notes = target.data().join("notes.txt");
    std::fs::write(&notes, "of another program").expect("a file");
    let refused = restore(&target, &archive);
    assert!(refused.stderr.contains("it has notes.txt"), "{refused:?}");
    assert!(notes.exists() && !target.data().join("garth.db").exists());
    std::fs::remove_file(&notes).expect("the file exists");
    let other = rusqlite::Connection::open(target.data().join("garth.db")).expect("a database");
    other
        .execute("CREATE TABLE recipe (name TEXT)", ())
        .expect("a table");
    drop(other);
    let refused = restore(&target, &archive);
    assert!(refused.stderr.contains("the table recipe"), "{refused:?}");
}

#[test]
fn an_unfinished_restore_cannot_be_used_and_can_be_started_again() {
    let (folder, target) = (
        Folder::new("backup-unfinished"),
        Folder::new("backup-unfinished-restored"),
    );
    let server = server_with(&folder, SMALL);
    let expected = content::read(&mut server.client());
    let archive = back_up(&folder, "archive");
    server.client().create_vpc("later");
    let other = back_up(&folder, "other");
    drop(server);
    let restored = run(target.garth_with_files("restore --json").arg(&archive));
    let restored: serde_json::Value = serde_json::from_str(&restored.stdout).expect("JSON");
    let identity = restored["archive"].as_str().expect("an identity");
    // The same state as after a crash before the last step.
    execute_sql(
        &target,
        "CREATE TABLE unfinished_restore (archive TEXT NOT NULL, begun BIGINT NOT NULL)",
    );
    execute_sql(
        &target,
        &format!("INSERT INTO unfinished_restore VALUES ('{identity}', 1)"),
    );

    for (command, code) in [("serve", 1), ("check", 2), ("account list", 1), ("backup b", 1)] {
        let refused = run(target
            .garth_with_files(command)
            .env("GARTH_LISTEN", "127.0.0.1:0"));
        assert_eq!(refused.code, Some(code), "{command}: {refused:?}");
        assert!(
            refused.stderr.contains("has not finished"),
            "{command}: {refused:?}"
        );
    }
    let refused = restore(&target, &other);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains(identity), "{refused:?}");

    let restored = restore(&target, &archive);

    assert_eq!(restored.code, Some(0), "{restored:?}");
    assert_restored(&target, &expected);
}

#[test]
fn a_store_with_problems_is_restored_only_on_request() {
    let (folder, target) = (
        Folder::new("backup-problems"),
        Folder::new("backup-problems-restored"),
    );
    drop(server_with(&folder, SMALL));
    execute_sql(
        &folder,
        "UPDATE tally SET items = items + 1 WHERE collection = 'vpc'",
    );
    let archive = back_up(&folder, "archive");

    let refused = restore(&target, &archive);

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("stored counts match"), "{refused:?}");
    assert!(
        refused.stderr.contains("its target is empty again"),
        "{refused:?}"
    );
    assert!(!target.data().join("garth.db").exists());
    assert!(target.stored_files().names().is_empty());
    let accepted = run(target.garth_with_files("restore --accept-findings").arg(&archive));
    assert_eq!(accepted.code, Some(0), "{accepted:?}");
    assert!(accepted.stderr.contains("stored counts match"), "{accepted:?}");
    drop(target.start());
}
