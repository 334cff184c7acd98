//! The first pass of a restore: verifies an archive completely, before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read, Seek};

use anyhow::{Context, anyhow, bail, ensure};

use super::format::{Header, MissingFile};
use super::reader::{self, Contents, NoVisitor, Visitor};
use super::{Progress, rows};
use crate::model::attachment::is_storage_key;
use crate::store::value::Value;
use crate::store::{Schema, TABLES};

const ATTACHMENT_TABLE: &str = "attachment";

/// The keys under which the files of attachments are stored, by the hash of their content.
pub type FileKeys = BTreeMap<String, Vec<String>>;

/// A verified archive.
#[derive(Debug)]
pub struct Verified {
    pub contents: Contents,
    pub file_keys: FileKeys,
}

/// Verifies an archive, and its base if it has one.
pub fn verify(
    archive: &mut File,
    base: Option<&mut File>,
    progress: &dyn Progress,
) -> anyhow::Result<Verified> {
    progress.begin("verifying the archive", archive.metadata()?.len());
    let mut verifier = Verifier::default();
    let contents = read_file(archive, &mut verifier, progress)?;
    verifier.check_rows(&contents)?;
    let verified = Verified {
        contents,
        file_keys: verifier.file_keys,
    };
    match base {
        Some(base) => verified.check_base(base, progress)?,
        None => verified.require_no_base()?,
    }
    verified.require_all_files()?;
    Ok(verified)
}

/// Verifies an archive that is used only as the base of another one.
pub fn verify_base(base: &mut File, progress: &dyn Progress) -> anyhow::Result<Contents> {
    progress.begin("verifying the base", base.metadata()?.len());
    read_file(base, &mut NoVisitor, progress).context("--base")
}

/// Reads an archive from its beginning.
pub fn read_file(
    file: &mut File,
    visitor: &mut dyn Visitor,
    progress: &dyn Progress,
) -> anyhow::Result<Contents> {
    file.rewind().context("cannot read the archive")?;
    reader::read(Counted { file, progress }, visitor)
}

/// Reports the bytes that are read.
struct Counted<'a> {
    file: &'a mut File,
    progress: &'a dyn Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}

impl Verified {
    pub fn missing(&self) -> &[MissingFile] {
        &self.contents.manifest.missing
    }

    fn check_base(&self, base: &mut File, progress: &dyn Progress) -> anyhow::Result<()> {
        let Some(needed) = &self.contents.manifest.base else {
            bail!("the archive has all its attachments: omit --base");
        };
        let found = verify_base(base, progress)?;
        ensure!(
            found.identity == needed.archive,
            "--base is the archive {}, but the archive {} is required",
            found.identity,
            needed.archive
        );
        let contained = found.manifest.contained_attachments();
        let lacks = needed
            .attachments
            .iter()
            .find(|file| !contained.contains(file.sha256.as_str()));
        match lacks {
            None => Ok(()),
            Some(file) => Err(anyhow!("--base does not contain the attachment {}", file.sha256)),
        }
    }

    fn require_no_base(&self) -> anyhow::Result<()> {
        match &self.contents.manifest.base {
            None => Ok(()),
            Some(base) => Err(anyhow!(
                "the archive is incremental: specify the archive {} with --base",
                base.archive
            )),
        }
    }

    /// Every attachment must be in the archive, in its base, or in the list of missing files.
    fn require_all_files(&self) -> anyhow::Result<()> {
        if !self.contents.header.with_attachments {
            return Ok(());
        }
        let manifest = &self.contents.manifest;
        let mut known: BTreeSet<&str> = manifest.contained_attachments();
        let in_base = manifest.base.iter().flat_map(|base| &base.attachments);
        known.extend(in_base.map(|file| file.sha256.as_str()));
        known.extend(manifest.missing.iter().map(|file| file.sha256.as_str()));
        match self
            .file_keys
            .keys()
            .find(|sha256| !known.contains(sha256.as_str()))
        {
            None => Ok(()),
            Some(sha256) => Err(anyhow!(
                "the archive is damaged: the attachment {sha256} is missing"
            )),
        }
    }
}

#[derive(Default)]
struct Verifier {
    columns: BTreeMap<String, Vec<String>>,
    rows: BTreeMap<String, u64>,
    file_keys: FileKeys,
}

impl Visitor for Verifier {
    fn header(&mut self, header: &Header) -> anyhow::Result<()> {
        let supported = Schema::current().newest();
        ensure!(
            header.schema <= supported,
            "the archive has schema {}, but this build has schema {supported}: use Garth {} or later",
            header.schema,
            header.garth
        );
        for table in &header.tables {
            let is_known = TABLES.iter().any(|known| known.name == table.name);
            ensure!(is_known, "the archive has the unknown table {}", table.name);
            self.columns.insert(table.name.clone(), table.columns.clone());
        }
        Ok(())
    }

    fn rows(&mut self, table: &str, lines: &[u8]) -> anyhow::Result<()> {
        let columns = self.columns.get(table);
        let columns =
            columns.with_context(|| format!("the archive is damaged: {table} is not in the header"))?;
        let rows = rows::parse(lines, columns.len())
            .with_context(|| format!("the archive is damaged: table {table}"))?;
        *self.rows.entry(table.to_owned()).or_default() += rows.len() as u64;
        if table == ATTACHMENT_TABLE {
            let column = |name: &str| columns.iter().position(|column| column == name);
            let (sha256, key) = (column("sha256"), column("file_key"));
            for row in &rows {
                let text = |at: Option<usize>| at.and_then(|at| row.get(at)).and_then(Value::as_text);
                let (sha256, key) = text(sha256)
                    .zip(text(key))
                    .context("the archive is damaged: an attachment has no file")?;
                // A damaged row: the check of the restored store reports it.
                if is_storage_key(key) {
                    let keys = self.file_keys.entry(sha256.to_owned()).or_default();
                    keys.push(key.to_owned());
                }
            }
        }
        Ok(())
    }
}

impl Verifier {
    /// Compares the numbers of rows with the manifest.
    fn check_rows(&self, contents: &Contents) -> anyhow::Result<()> {
        for table in &contents.header.tables {
            let mut tables = contents.manifest.tables.iter();
            let summary = tables.find(|summary| summary.name == table.name);
            let found = self.rows.get(&table.name).copied().unwrap_or_default();
            ensure!(
                summary.is_some_and(|summary| summary.rows == found),
                "the archive is damaged: the number of rows of table {} differs from the manifest",
                table.name
            );
        }
        Ok(())
    }
}
