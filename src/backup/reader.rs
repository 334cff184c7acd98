//! Reads an archive and verifies every byte of it.
//!
//! A visitor receives the members while they are read. The archive is verified only when `read` returns: until then,
//! the visitor must not rely on the content.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use anyhow::{Context, anyhow, bail, ensure};
use zstd::stream::read::Decoder;

use super::checksum::Hashing;
use super::format::{
    ATTACHMENTS_FOLDER, FORMAT, HEADER_MEMBER, Header, MANIFEST_MEMBER, Manifest, Member, TABLES_FOLDER,
    TRAILER_BYTES, TRAILER_START, VERSION,
};
use crate::model::token::hex;

/// The maximum size of a part of a table, which is held in memory.
const MAX_CHUNK_BYTES: u64 = 256 * 1024 * 1024;
/// The maximum size of the header and of the manifest.
const MAX_DOCUMENT_BYTES: u64 = 4 * 1024 * 1024 * 1024;

/// The first bytes of a zstd frame.
const FRAME_START: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const NOT_A_BACKUP: &str = "the file is not a Garth backup: specify an archive of `garth backup`";

/// Receives the members of an archive, in order.
pub trait Visitor {
    fn header(&mut self, _header: &Header) -> anyhow::Result<()> {
        Ok(())
    }
    /// Some rows of a table, as lines of JSON.
    fn rows(&mut self, _table: &str, _lines: &[u8]) -> anyhow::Result<()> {
        Ok(())
    }
    fn attachment(&mut self, _sha256: &str, _size: u64, _content: &mut dyn Read) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Ignores all members.
pub struct NoVisitor;

impl Visitor for NoVisitor {}

/// The header, the manifest and the identity of a verified archive.
#[derive(Clone, Debug)]
pub struct Contents {
    pub header: Header,
    pub manifest: Manifest,
    /// The SHA-256 of the zstd frame.
    pub identity: String,
}

/// Reads an archive to its end.
pub fn read(source: impl Read, visitor: &mut dyn Visitor) -> anyhow::Result<Contents> {
    let mut buffered = BufReader::with_capacity(256 * 1024, source);
    let start = buffered.fill_buf().context("cannot read the archive")?;
    ensure!(
        !start.is_empty(),
        "the file is empty: specify an archive of `garth backup`"
    );
    ensure!(has_frame(start), NOT_A_BACKUP);
    let mut decoder = Decoder::with_buffer(Hashing::new(buffered))
        .context("cannot read the archive")?
        .single_frame();
    let (header, manifest) = read_members(&mut decoder, visitor)?;
    read_padding(&mut decoder)?;
    let hashed = decoder.finish();
    let sum = hashed.sha256();
    read_trailer(hashed.inner, &sum)?;
    Ok(Contents {
        header,
        manifest,
        identity: hex(&sum),
    })
}

/// Whether a file begins like an archive, as far as it exists.
fn has_frame(start: &[u8]) -> bool {
    let length = start.len().min(FRAME_START.len());
    start[..length] == FRAME_START[..length]
}

fn read_members(source: &mut dyn Read, visitor: &mut dyn Visitor) -> anyhow::Result<(Header, Manifest)> {
    let mut tar = tar::Archive::new(source);
    let mut entries = tar.entries().map_err(damaged)?;
    let (mut header, mut members) = (None, Vec::new());
    loop {
        let Some(entry) = entries.next() else {
            bail!(damaged_text("its manifest is missing"));
        };
        let mut entry = entry.map_err(damaged)?;
        let name = member_name(&entry)?;
        let size = entry.size();
        if name == MANIFEST_MEMBER {
            let manifest: Manifest = parse(&read_all(&mut entry, size, MAX_DOCUMENT_BYTES)?)?;
            ensure!(
                manifest.members == members,
                damaged_text("a member differs from the manifest")
            );
            ensure!(
                entries.next().is_none(),
                damaged_text("a member follows the manifest")
            );
            let header = header.ok_or_else(|| anyhow!(damaged_text("its header is missing")))?;
            return Ok((header, manifest));
        }
        let mut content = Hashing::new(&mut entry);
        if header.is_none() {
            ensure!(name == HEADER_MEMBER, NOT_A_BACKUP);
            let parsed = parse_header(&read_all(&mut content, size, MAX_DOCUMENT_BYTES)?)?;
            visitor.header(&parsed)?;
            header = Some(parsed);
        } else {
            visit(visitor, &name, size, &mut content)?;
        }
        std::io::copy(&mut content, &mut std::io::sink()).map_err(damaged)?;
        ensure!(content.bytes == size, damaged_text("a member is incomplete"));
        let sha256 = content.sha256_hex();
        if let Some(expected) = name.strip_prefix(ATTACHMENTS_FOLDER) {
            ensure!(
                sha256 == expected,
                damaged_text("an attachment differs from its name")
            );
        }
        members.push(Member { name, size, sha256 });
    }
}

fn visit(visitor: &mut dyn Visitor, name: &str, size: u64, content: &mut dyn Read) -> anyhow::Result<()> {
    if let Some(sha256) = name.strip_prefix(ATTACHMENTS_FOLDER) {
        return visitor.attachment(sha256, size, content);
    }
    let table = name
        .strip_prefix(TABLES_FOLDER)
        .and_then(|rest| rest.split_once('/'));
    match table {
        Some((table, _)) => visitor.rows(table, &read_all(content, size, MAX_CHUNK_BYTES)?),
        None => Err(anyhow!(damaged_text(&format!(
            "it has the unknown member {name}"
        )))),
    }
}

fn member_name<R: Read>(entry: &tar::Entry<R>) -> anyhow::Result<String> {
    let is_file = entry.header().entry_type().is_file();
    let name = String::from_utf8(entry.path_bytes().into_owned());
    match name {
        Ok(name) if is_file => Ok(name),
        _ => Err(anyhow!(damaged_text("a member is not a file"))),
    }
}

fn read_all(content: &mut dyn Read, size: u64, max: u64) -> anyhow::Result<Vec<u8>> {
    ensure!(size <= max, damaged_text("a member is too large"));
    let mut bytes = Vec::new();
    content.take(size).read_to_end(&mut bytes).map_err(damaged)?;
    Ok(bytes)
}

fn parse_header(bytes: &[u8]) -> anyhow::Result<Header> {
    #[derive(serde::Deserialize)]
    struct Version {
        format: String,
        version: u32,
    }
    let found: Version = parse(bytes)?;
    ensure!(found.format == FORMAT, NOT_A_BACKUP);
    ensure!(
        found.version == VERSION,
        "the archive has format version {}, but this build reads version {VERSION}: use a newer Garth",
        found.version
    );
    parse(bytes)
}

fn parse<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(bytes).map_err(|cause| damaged(std::io::Error::other(cause)))
}

/// Reads the end of the tar, which has only zeros, to the end of the frame.
fn read_padding(decoder: &mut dyn Read) -> anyhow::Result<()> {
    let mut buffer = [0; 8192];
    loop {
        match decoder.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) if buffer[..read].iter().all(|byte| *byte == 0) => {}
            Ok(_) => bail!(damaged_text("data follows its last member")),
            Err(cause) if cause.kind() == ErrorKind::Interrupted => {}
            Err(cause) => return Err(damaged(cause)),
        }
    }
}

fn read_trailer(mut source: impl BufRead, sum: &[u8; 32]) -> anyhow::Result<()> {
    let mut trailer = [0; TRAILER_BYTES];
    source.read_exact(&mut trailer).map_err(damaged)?;
    let is_intact = trailer.starts_with(&TRAILER_START) && trailer.ends_with(sum);
    ensure!(is_intact, damaged_text("its checksum does not match"));
    let rest = source.fill_buf().map_err(damaged)?;
    ensure!(rest.is_empty(), damaged_text("data follows its end"));
    Ok(())
}

fn damaged(cause: std::io::Error) -> anyhow::Error {
    match cause.kind() {
        ErrorKind::UnexpectedEof => anyhow!(damaged_text("its end is missing")),
        _ => anyhow!(damaged_text(&cause.to_string())),
    }
}

fn damaged_text(cause: &str) -> String {
    format!("the archive is damaged: {cause}. Use another archive")
}
