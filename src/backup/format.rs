//! The contents of an archive, except for rows and files: its header, its manifest and its trailer.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The value of `Header::format`.
pub const FORMAT: &str = "garth-backup";
/// The version of the format that this build writes, and the only one that it reads.
pub const VERSION: u32 = 1;

pub const HEADER_MEMBER: &str = "garth-backup.json";
pub const MANIFEST_MEMBER: &str = "manifest.json";
pub const TABLES_FOLDER: &str = "tables/";
pub const ATTACHMENTS_FOLDER: &str = "attachments/";

/// The trailer begins with this: the header of a skippable zstd frame of 40 bytes, and a tag. The SHA-256 of all bytes
/// before the trailer follows.
pub const TRAILER_START: [u8; 16] = *b"\x50\x2a\x4d\x18\x28\0\0\0GARTHSUM";
/// The size of the trailer in bytes.
pub const TRAILER_BYTES: usize = TRAILER_START.len() + 32;

/// The first member of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    pub format: String,
    pub version: u32,
    /// The version of Garth that wrote the archive.
    pub garth: String,
    /// The number of the store's newest migration.
    pub schema: i64,
    /// `sqlite` or `postgres`.
    pub engine: String,
    /// The time of the snapshot, in UTC.
    pub snapshot: String,
    /// Whether the archive contains or names the files of attachments.
    pub with_attachments: bool,
    /// The tables, each after the tables that it refers to.
    pub tables: Vec<TableHeader>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableHeader {
    pub name: String,
    /// The columns, in the order of the values in each row.
    pub columns: Vec<String>,
}

/// The last member of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// All members before the manifest, in order.
    pub members: Vec<Member>,
    pub tables: Vec<TableSummary>,
    /// The archive that contains further attachments.
    pub base: Option<Base>,
    /// The attachments whose files are not in any archive.
    pub missing: Vec<MissingFile>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub name: String,
    pub size: u64,
    pub sha256: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableSummary {
    pub name: String,
    pub rows: u64,
    /// The last ID that the table has generated; 0 if the table does not generate IDs.
    pub last_id: i64,
}

/// An earlier archive, and the attachments that a restore takes from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Base {
    /// The identity of the earlier archive.
    pub archive: String,
    pub attachments: Vec<StoredFile>,
}

/// The content of one or more attachments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StoredFile {
    pub sha256: String,
    pub size: u64,
}

/// An attachment whose file could not be archived.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingFile {
    pub attachment: i64,
    pub ticket: i64,
    pub sha256: String,
    pub reason: MissingReason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingReason {
    /// The attachment was deleted after the snapshot.
    Deleted,
    /// The attachment exists, but its file does not.
    Missing,
    /// The file differs from the upload.
    Damaged,
}

impl Manifest {
    /// The hashes of the attachments that the archive itself contains.
    pub fn contained_attachments(&self) -> BTreeSet<&str> {
        let names = self.members.iter().map(|member| member.name.as_str());
        names
            .filter_map(|name| name.strip_prefix(ATTACHMENTS_FOLDER))
            .collect()
    }
}
