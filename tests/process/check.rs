//! `garth check`: its findings, output and exit codes. `tests/api/check.rs` breaks every invariant of the store.

use std::os::unix::fs::FileExt;

use serde_json::json;

use crate::damaged_files::{execute_sql, flip_a_bit, is_local, stored_file};
use crate::harness::Folder;
use crate::process::{Process, ProcessOutput};

#[test]
fn a_store_in_use_has_no_problems() {
    let folder = Folder::new("check-sound");
    let server = folder.start();
    let mut client = server.client();
    client.create_vpc("core");
    let ticket = client.open_ticket();
    let upload = client.upload(ticket, "a.txt", b"some text");
    upload.expect("the server responds").ok();

    assert_eq!(folder.run("check --attachments"), "no problems found\n");
    assert_eq!(folder.json("check"), json!([]));
    server.stop();
    assert_eq!(folder.run("check"), "no problems found\n");
}

#[test]
fn problems_are_listed_with_exit_code_1() {
    let folder = Folder::new("check-problems");
    let server = folder.start();
    let vpc = server.client().create_vpc("core");
    execute_sql(
        &folder,
        "UPDATE tally SET items = items + 1 WHERE collection = 'vpc'",
    );

    let found = check(&folder, "--json");

    assert_eq!(found.code, Some(1), "{found:?}");
    let listed: serde_json::Value = serde_json::from_str(&found.stdout).expect("JSON");
    let expected = json!({"check": "stored counts match the number of rows", "object": "count of vpc for owner 1",
        "problem": "IDs 0 to 255: actual count minus stored count is -1"});
    assert_eq!(listed[0], expected);
    let shown = check(&folder, "");
    assert!(
        shown.stdout.contains("CHECK") && shown.stdout.contains("count of vpc for owner 1"),
        "{shown:?}"
    );
    assert!(vpc > 0);
}

#[test]
fn problems_of_files_are_found() {
    if !is_local() {
        return;
    }
    let folder = Folder::new("check-files");
    let server = folder.start();
    let mut client = server.client();
    let ticket = client.open_ticket();
    let upload = client.upload(ticket, "a.txt", b"some text");
    upload.expect("the server responds").ok();
    let file = stored_file(&folder);

    flip_a_bit(&file);
    assert_eq!(
        check(&folder, "").code,
        Some(0),
        "contents are read only on request"
    );
    let damaged = check(&folder, "--attachments");
    assert_eq!(damaged.code, Some(1));
    assert!(
        damaged.stdout.contains("content differs from the hash"),
        "{damaged:?}"
    );

    std::fs::write(&file, b"short").expect("the file can be written");
    let shorter = check(&folder, "");
    assert!(shorter.stdout.contains("has 5 bytes instead of 9"), "{shorter:?}");

    let stray = file.with_file_name("stray");
    std::fs::rename(&file, &stray).expect("the file can be renamed");
    let found = check(&folder, "").stdout;
    assert!(found.contains("its file is missing"), "{found}");
    assert!(
        found.contains("file stray") && found.contains("neither an attachment nor an upload"),
        "{found}"
    );
}

#[test]
fn a_store_that_cannot_be_read_is_exit_code_2() {
    let folder = Folder::new("check-unreadable");
    let missing = check(&folder, "");
    assert_eq!(missing.code, Some(2), "{missing:?}");
    assert!(missing.stderr.contains("there is no store"), "{missing:?}");
    folder.start().stop();
    std::fs::write(
        folder.data().join("garth.db"),
        "not a database, but a text".repeat(100),
    )
    .expect("writable");
    assert_eq!(check(&folder, "").code, Some(2));
}

/// A damaged page of one table does not prevent the check of the others.
#[test]
fn a_damaged_page_is_reported_and_the_other_tables_are_checked() {
    let folder = Folder::new("check-page");
    let server = folder.start();
    let mut client = server.client();
    client.create_vpc("core");
    client.open_ticket();
    server.stop();
    execute_sql(&folder, "DELETE FROM ticket_text_content");
    let index = check(&folder, "").stdout;
    assert!(index.contains("inverted index for FTS5"), "{index}");
    assert!(index.contains("is not in the search index"), "{index}");
    execute_sql(&folder, "UPDATE account SET vpcs_per_region = -1");
    for table in ["attachment", "event", "reply"] {
        overwrite_root_page(&folder, table);
    }

    let found = check(&folder, "--json");

    assert_eq!(found.code, Some(1), "{found:?}");
    let listed: Vec<serde_json::Value> = serde_json::from_str(&found.stdout).expect("JSON");
    let has = |check: &str, object: &str, problem: &str| {
        listed.iter().any(|finding| {
            let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
            text("check") == check && text("object") == object && text("problem").contains(problem)
        })
    };
    let intact = "the database file is intact";
    let lines = listed.iter().filter(|finding| finding["check"] == intact).count();
    assert!(lines >= 3, "each line of the check by SQLite: {}", found.stdout);
    let readable = "every row can be read and has values of the right types";
    for table in ["attachment", "event", "reply"] {
        assert!(
            has(readable, &format!("table {table}"), "malformed"),
            "{}",
            found.stdout
        );
    }
    let last = has("quotas are not negative", "account 1", "");
    assert!(last, "the check continues: {}", found.stdout);
    let files = "the files of attachments can be checked";
    assert!(has(files, "attachments", "malformed"), "{}", found.stdout);

    overwrite_root_page(&folder, "migration");
    let unopened = check(&folder, "");
    assert_eq!(unopened.code, Some(1), "{unopened:?}");
    assert!(unopened.stdout.contains("cannot be opened"), "{unopened:?}");
}

/// Overwrites the first page of a table, as a failing disk does.
fn overwrite_root_page(folder: &Folder, table: &str) {
    let file = folder.data().join("garth.db");
    let store = rusqlite::Connection::open(&file).expect("the file is a database");
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: i64 = store.query_row(sql, [table], |row| row.get(0)).expect("a table");
    store
        .pragma_update(None, "wal_checkpoint", "truncate")
        .expect("the log can be emptied");
    drop(store);
    let opened = std::fs::OpenOptions::new().write(true).open(&file);
    let damaged = opened.expect("the file can be written");
    damaged
        .write_all_at(&[0xff; 4096], (page.unsigned_abs() - 1) * 4096)
        .expect("the page can be written");
}

#[test]
fn a_store_of_an_older_version_is_refused_and_not_changed() {
    let folder = Folder::new("check-older");
    folder.start().stop();
    execute_sql(
        &folder,
        "DELETE FROM migration WHERE number = (SELECT max(number) FROM migration)",
    );

    let refused = check(&folder, "");

    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("to upgrade the store"), "{refused:?}");
    execute_sql(&folder, "DELETE FROM migration");
    execute_sql(&folder, "DROP TABLE migration");
    let refused = check(&folder, "");
    assert!(
        refused.code == Some(2) && refused.stderr.contains("none of Garth's tables"),
        "{refused:?}"
    );
}

#[test]
fn a_missing_table_and_a_missing_folder_are_named() {
    let folder = Folder::new("check-missing");
    folder.start().stop();
    execute_sql(&folder, "DROP TABLE vlan");
    let found = check(&folder, "");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(
        found.stdout.contains("table vlan") && found.stdout.contains("is missing"),
        "{found:?}"
    );

    let nowhere = folder.path("nowhere");
    let mut command = folder.garth("check");
    let found = Process::spawn(command.env("GARTH_ATTACHMENTS_URL", &nowhere)).wait();
    assert!(
        found.code == Some(2) && found.stderr.contains("nowhere is not a folder: mount the disk"),
        "{found:?}"
    );
    assert!(!nowhere.exists(), "the check creates no folders");
}

/// `garth copy` refuses its own source, and says so.
#[test]
fn a_copy_to_the_source_is_refused() {
    let folder = Folder::new("copy-same");
    folder.start().stop();
    let refused = Process::spawn(&mut folder.garth("copy --from data --to ./data")).wait();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("name the same store"), "{refused:?}");
}

fn check(folder: &Folder, options: &str) -> ProcessOutput {
    Process::spawn(&mut folder.garth(&format!("check {options}"))).wait()
}
