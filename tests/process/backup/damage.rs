//! Damaged archives: every byte is covered by a checksum, and nothing is written before the archive is verified.

use std::fs::File;
use std::io::Write;

use garth::backup::temporary;
use garth::backup::verify::verify;
use sha2::{Digest, Sha256};

use super::{SMALL, back_up, restore, server_with};
use crate::harness::Folder;

struct NoProgress;

impl garth::backup::Progress for NoProgress {
    fn begin(&self, _: &'static str, _: u64) {}
    fn advance(&self, _: u64) {}
}

/// Whether these bytes are a complete archive.
pub fn is_intact(bytes: &[u8]) -> bool {
    let mut file: File = temporary::file().expect("a temporary file");
    file.write_all(bytes).expect("the file can be written");
    verify(&mut file, None, &NoProgress).is_ok()
}

#[test]
fn every_changed_byte_and_every_truncation_is_found() {
    let folder = Folder::new("backup-damage");
    let server = server_with(&folder, SMALL);
    let archive = back_up(&folder, "archive");
    drop(server);
    let intact = std::fs::read(&archive).expect("the archive");
    assert!(is_intact(&intact));
    // The first and the last bytes, and a sample of the others.
    let step = (intact.len() / 800).max(1);
    let ends = |at: &usize| *at < 200 || *at + 200 > intact.len() || at.is_multiple_of(step);
    for at in (0..intact.len()).filter(ends) {
        let mut changed = intact.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(!is_intact(&changed), "byte {at} of {}", intact.len());
    }
    for length in (0..intact.len()).filter(ends) {
        assert!(
            !is_intact(&intact[..length]),
            "{length} bytes of {}",
            intact.len()
        );
    }
    for extra in [b"\0".as_slice(), b"x", &intact[intact.len() - 48..], &intact] {
        assert!(
            !is_intact(&[&intact, extra].concat()),
            "{} more bytes",
            extra.len()
        );
    }
}

#[test]
fn a_damaged_archive_writes_nothing() {
    let (folder, target) = (Folder::new("backup-flip"), Folder::new("backup-flip-restored"));
    let server = server_with(&folder, SMALL);
    let archive = back_up(&folder, "archive");
    drop(server);
    let mut bytes = std::fs::read(&archive).expect("the archive");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    std::fs::write(&archive, &bytes).expect("the archive can be written");

    let refused = restore(&target, &archive);

    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("the archive is damaged"), "{refused:?}");
    assert!(!target.data().join("garth.db").exists());
    assert!(target.stored_files().names().is_empty());
    for (content, expected) in [
        ("some text", "the file is not a Garth backup"),
        ("", "the file is empty"),
    ] {
        std::fs::write(&archive, content).expect("the archive can be written");
        let refused = restore(&target, &archive);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
        assert!(!refused.stderr.contains("damaged"), "{refused:?}");
    }
}

#[test]
fn an_archive_of_a_newer_schema_or_format_is_refused() {
    let (folder, target) = (Folder::new("backup-newer"), Folder::new("backup-newer-restored"));
    let server = server_with(&folder, SMALL);
    let archive = back_up(&folder, "archive");
    drop(server);
    let schema = garth::store::Schema::current().newest();
    let old = format!("\"schema\": {schema}");
    let newer = edited(&archive, &old, "\"schema\": 98");
    std::fs::write(folder.path("newer"), newer).expect("a file");
    let refused = restore(&target, &folder.path("newer"));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let expected = format!("the archive has schema 98, but this build has schema {schema}");
    assert!(refused.stderr.contains(&expected), "{refused:?}");
    std::fs::write(
        folder.path("format"),
        edited(&archive, "\"version\": 1", "\"version\": 2"),
    )
    .expect("a file");
    let refused = restore(&target, &folder.path("format"));
    assert!(refused.stderr.contains("format version 2"), "{refused:?}");
    assert!(!target.data().join("garth.db").exists());
}

/// A valid archive with another text of the same length in its header.
fn edited(archive: &std::path::Path, old: &str, new: &str) -> Vec<u8> {
    let bytes = std::fs::read(archive).expect("the archive");
    let mut tar = Vec::new();
    zstd::stream::copy_decode(bytes.as_slice(), &mut tar).expect("a zstd frame");
    let header = first_member(&tar);
    replace(&mut tar, old.as_bytes(), new.as_bytes());
    let hex = |bytes: &[u8]| -> String {
        let digits = Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<Vec<_>>();
        digits.concat()
    };
    let (before, after) = (hex(&header), hex(&first_member(&tar)));
    replace(&mut tar, before.as_bytes(), after.as_bytes());
    let mut frame = zstd::stream::encode_all(tar.as_slice(), 3).expect("zstd");
    let sum = Sha256::digest(&frame);
    frame.extend_from_slice(b"\x50\x2a\x4d\x18\x28\0\0\0GARTHSUM");
    frame.extend_from_slice(&sum);
    frame
}

fn first_member(tar: &[u8]) -> Vec<u8> {
    let mut archive = tar::Archive::new(tar);
    let mut entries = archive.entries().expect("entries");
    let mut first = entries.next().expect("a member").expect("a member");
    let mut content = Vec::new();
    std::io::copy(&mut first, &mut content).expect("the content");
    content
}

fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    assert_eq!(old.len(), new.len());
    let at = bytes.windows(old.len()).position(|window| window == old);
    let at = at.expect("the text exists");
    bytes[at..at + new.len()].copy_from_slice(new);
}
