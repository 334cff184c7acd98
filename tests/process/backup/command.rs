//! Backups next to a server under load, and the options of both commands.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::content::{self, Load, TEN_THOUSAND};
use super::{SMALL, assert_restored, back_up, restore, run, server_with};
use crate::harness::Folder;
use crate::process::Process;

#[test]
fn ten_thousand_objects_are_equal_after_a_backup_under_load() {
    let (folder, target) = (Folder::new("backup-load"), Folder::new("backup-load-restored"));
    let server = server_with(&folder, TEN_THOUSAND);
    let expected = content::read(&mut server.client());
    assert!(
        content::count(&expected) > 10_000,
        "{}",
        content::count(&expected)
    );
    folder.run("account create --email load@example.com");
    folder.run("account quota 2 --vpcs-per-region 1000000");
    folder.run("user create --account 2 --username load --email load@example.com");
    let (_, token) = folder.create_token("load");
    let load = Load::start(server.client_with(&token));
    let archive = folder.path("archive");

    let expected_load = load.during(|| {
        back_up(&folder, "archive");
    });

    load.stop();
    assert_eq!(server.stop().code, Some(0));
    let restored = restore(&target, &archive);
    assert_eq!(restored.code, Some(0), "{restored:?}");
    let server = target.start();
    content::assert_equal(&content::read(&mut server.client()), &expected);
    content::assert_prefix(&server.client_with(&token).vpc_labels(), &expected_load);
    assert_eq!(server.stop().code, Some(0));
    target.assert_sound();
}

#[test]
fn a_file_is_private_and_replaced_only_with_force() {
    let folder = Folder::new("backup-file");
    let server = server_with(&folder, SMALL);
    let archive = back_up(&folder, "archive");
    let mode = std::fs::metadata(&archive)
        .expect("the file exists")
        .permissions();
    assert_eq!(mode.mode() & 0o7777, 0o600);
    let first = std::fs::read(&archive).expect("the file can be read");
    server.client().create_vpc("later");

    let refused = run(folder.garth_with_files("backup").arg(&archive));

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("already exists") && refused.stderr.contains("--force"));
    assert_eq!(std::fs::read(&archive).expect("the file can be read"), first);
    let forced = run(folder.garth_with_files("backup --force --json").arg(&archive));
    assert_eq!(forced.code, Some(0), "{forced:?}");
    assert_ne!(std::fs::read(&archive).expect("the file can be read"), first);
    let summary: Value = serde_json::from_str(&forced.stdout).expect("JSON");
    assert_eq!(
        (&summary["engine"], &summary["attachments"]),
        (&json!("sqlite"), &json!(5))
    );
    assert_eq!(
        summary["bytes"],
        json!(std::fs::metadata(&archive).expect("a file").len())
    );
    assert!(forced.stderr.is_empty(), "progress needs a terminal: {forced:?}");
    let leftover = std::fs::read_dir(folder.path(""))
        .expect("the folder exists")
        .flatten();
    let leftover = leftover.filter(|entry| entry.file_name().to_string_lossy().contains("partial"));
    assert_eq!(leftover.count(), 0);
}

#[test]
fn a_pipe_is_restored_and_a_terminal_is_refused() {
    let (folder, target) = (Folder::new("backup-pipe"), Folder::new("backup-pipe-restored"));
    let server = server_with(&folder, SMALL);
    let expected = content::read(&mut server.client());
    let archive = folder.path("archive");
    let mut backup = folder.garth_with_files("backup - --json");
    backup.stdout(std::fs::File::create(&archive).expect("a file"));
    let status = backup
        .stderr(std::process::Stdio::piped())
        .output()
        .expect("garth runs");
    assert!(status.status.success(), "{status:?}");
    assert!(String::from_utf8_lossy(&status.stderr).contains("\"rows\""));

    let mut command = target.garth_with_files("restore - --json");
    command.stdin(std::fs::File::open(&archive).expect("the archive"));
    let restored = run(&mut command);

    assert_eq!(restored.code, Some(0), "{restored:?}");
    let summary: Value = serde_json::from_str(&restored.stdout).expect("JSON");
    assert_eq!(summary["attachments"], json!(5));
    assert_restored(&target, &expected);
    let terminal = Process::spawn_in_terminal(&mut folder.garth_with_files("backup -")).wait();
    assert_eq!(terminal.code, Some(1));
    assert!(terminal.stderr.contains("terminal"), "{terminal:?}");
}

#[test]
fn tar_and_zstd_open_an_archive() {
    let folder = Folder::new("backup-tar");
    let server = server_with(&folder, SMALL);
    let archive = back_up(&folder, "archive");
    drop(server);
    let bytes = std::fs::read(&archive).expect("the archive");
    let mut tar = Vec::new();
    zstd::stream::copy_decode(bytes.as_slice(), &mut tar).expect("zstd skips the trailer");
    let mut tar = tar::Archive::new(tar.as_slice());
    let name = |entry: std::io::Result<tar::Entry<_>>| {
        let entry = entry.expect("an entry");
        let path = entry.path().expect("a path");
        path.to_string_lossy().into_owned()
    };
    let names: Vec<String> = tar.entries().expect("entries").map(name).collect();
    assert_eq!(names.first().map(String::as_str), Some("garth-backup.json"));
    assert_eq!(names.last().map(String::as_str), Some("manifest.json"));
    assert!(
        names.contains(&"tables/subnet/000001.jsonl".to_owned()),
        "{names:?}"
    );
    let files = names.iter().filter(|name| name.starts_with("attachments/"));
    assert_eq!(files.count(), 4, "equal files are stored once");
}

#[test]
fn a_backup_overwrites_neither_its_base_nor_its_store_nor_a_device() {
    let folder = Folder::new("backup-own-files");
    server_with(&folder, SMALL).stop();
    let full = back_up(&folder, "full");
    let link = folder.path("latest");
    std::os::unix::fs::symlink(&full, &link).expect("a link can be created");
    let before = std::fs::read(&full).expect("the file can be read");
    let store = folder.data().join("garth.db");
    let fifo = folder.path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.expect("mkfifo runs").success());
    for (target, base, expected) in [
        (&full, Some(&full), "is the base"),
        (&full, Some(&link), "is the base"),
        (&store, None, "in the data folder"),
        (&link, None, "not a regular file"),
        (&fifo, None, "not a regular file"),
    ] {
        let mut backup = folder.garth_with_files("backup --force");
        backup.arg(target);
        if let Some(base) = base {
            backup.arg("--base").arg(base);
        }
        let refused = run(&mut backup);
        assert_eq!(refused.code, Some(1), "{expected}: {refused:?}");
        assert!(refused.stderr.contains(expected), "{expected}: {refused:?}");
    }
    assert_eq!(std::fs::read(&full).expect("the file can be read"), before);
    folder.assert_sound();
}
