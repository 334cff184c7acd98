//! Writes an archive: a tar in a zstd frame, and a trailer with the checksum of the frame.

use std::io::{Read, Write};

use anyhow::{Context, ensure};
use tar::{EntryType, Header as TarHeader};
use zstd::stream::write::Encoder;

use super::checksum::Hashing;
use super::format::{HEADER_MEMBER, Header, MANIFEST_MEMBER, Manifest, Member, TRAILER_START};

/// Compresses well, and still faster than most disks write.
const COMPRESSION_LEVEL: i32 = 3;

pub struct Writer<W: Write> {
    tar: tar::Builder<Encoder<'static, Hashing<W>>>,
    members: Vec<Member>,
    /// The time of the snapshot, in seconds since 1970.
    modified: u64,
}

/// A complete archive.
pub struct Written<W> {
    pub out: W,
    /// The SHA-256 of the zstd frame.
    pub identity: String,
    pub bytes: u64,
}

impl<W: Write> Writer<W> {
    pub fn begin(out: W, modified: u64, header: &Header) -> anyhow::Result<Self> {
        let mut encoder = Encoder::new(Hashing::new(out), COMPRESSION_LEVEL)?;
        encoder.include_checksum(true)?;
        let mut writer = Self {
            tar: tar::Builder::new(encoder),
            members: Vec::new(),
            modified,
        };
        writer.add_bytes(HEADER_MEMBER, &serde_json::to_vec_pretty(header)?)?;
        Ok(writer)
    }

    /// Adds a member. Returns its SHA-256.
    pub fn add(&mut self, name: &str, size: u64, content: impl Read) -> anyhow::Result<String> {
        let mut content = Hashing::new(content);
        self.append(name, size, &mut content)
            .context("cannot write the archive")?;
        ensure!(
            content.bytes == size,
            "{name} has {} bytes instead of {size}",
            content.bytes
        );
        let sha256 = content.sha256_hex();
        self.members.push(Member {
            name: name.to_owned(),
            size,
            sha256: sha256.clone(),
        });
        Ok(sha256)
    }

    pub fn add_bytes(&mut self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        self.add(name, content.len() as u64, content).map(drop)
    }

    /// The destination of the archive.
    pub fn destination(&mut self) -> &mut W {
        &mut self.tar.get_mut().get_mut().inner
    }

    /// Writes the manifest, with all members, and the trailer.
    pub fn finish(mut self, manifest: Manifest) -> anyhow::Result<Written<W>> {
        let members = std::mem::take(&mut self.members);
        let manifest = Manifest { members, ..manifest };
        self.add_bytes(MANIFEST_MEMBER, &serde_json::to_vec_pretty(&manifest)?)?;
        self.write_trailer().context("cannot write the archive")
    }

    fn append(&mut self, name: &str, size: u64, content: impl Read) -> std::io::Result<()> {
        let mut header = TarHeader::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(size);
        header.set_mode(0o600);
        header.set_mtime(self.modified);
        self.tar.append_data(&mut header, name, content)
    }

    fn write_trailer(self) -> std::io::Result<Written<W>> {
        let mut hashed = self.tar.into_inner()?.finish()?;
        let (sum, identity) = (hashed.sha256(), hashed.sha256_hex());
        hashed.inner.write_all(&TRAILER_START)?;
        hashed.inner.write_all(&sum)?;
        hashed.inner.flush()?;
        Ok(Written {
            bytes: hashed.bytes + (TRAILER_START.len() + sum.len()) as u64,
            out: hashed.inner,
            identity,
        })
    }
}
