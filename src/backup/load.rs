//! The second pass of a restore: writes the rows and the files of an archive.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use anyhow::{Context, anyhow, ensure};
use tokio::runtime::Handle;

use super::format::{Header, TableHeader};
use super::reader::Visitor;
use super::verify::FileKeys;
use super::{rows, temporary};
use crate::files::{Files, Spooled};
use crate::store::transfer::{self, TableChecksum};
use crate::store::{Store, StoreError, TABLES, Table};

/// Writes the rows of an archive to an empty store with the same schema, and its files to the attachment storage.
pub struct Loader<'a> {
    pub store: &'a Store,
    /// `None` if files are not restored.
    pub files: Option<FileLoader<'a>>,
    columns: BTreeMap<String, Vec<String>>,
    pub sums: BTreeMap<&'static str, TableChecksum>,
}

impl<'a> Loader<'a> {
    pub fn new(store: &'a Store, files: Option<FileLoader<'a>>) -> Self {
        Self {
            store,
            files,
            columns: BTreeMap::new(),
            sums: BTreeMap::new(),
        }
    }

    /// Compares the tables of the archive with those of the store.
    fn compare_tables(&self, archived: &[TableHeader]) -> anyhow::Result<()> {
        let described = self.store.read_once(|tx| {
            let mut described = Vec::new();
            for table in transfer::tables(tx)? {
                described.push(TableHeader {
                    name: table.name.to_owned(),
                    columns: transfer::columns(tx, table)?,
                });
            }
            Ok::<_, StoreError>(described)
        });
        let sorted = |mut tables: Vec<TableHeader>| {
            tables.sort_by(|left, right| left.name.cmp(&right.name));
            tables
        };
        let described = sorted(Handle::current().block_on(described)?);
        ensure!(
            described == sorted(archived.to_vec()),
            "the tables of the archive differ from the tables of its schema: restore it with the Garth that wrote it"
        );
        Ok(())
    }
}

impl Visitor for Loader<'_> {
    fn header(&mut self, header: &Header) -> anyhow::Result<()> {
        self.compare_tables(&header.tables)?;
        Handle::current().block_on(self.store.write(transfer::clear))?;
        for table in &header.tables {
            self.columns.insert(table.name.clone(), table.columns.clone());
        }
        Ok(())
    }

    fn rows(&mut self, name: &str, lines: &[u8]) -> anyhow::Result<()> {
        let table = find_table(name)?;
        let columns = self.columns.get(name).cloned().unwrap_or_default();
        let rows = rows::parse(lines, columns.len())?;
        let sum = self.sums.entry(table.name).or_default();
        rows.iter().for_each(|row| sum.add(row));
        let insert = self
            .store
            .write(move |tx| transfer::insert(tx, table, &columns, &rows));
        let inserted = Handle::current().block_on(insert);
        inserted.with_context(|| format!("cannot restore the table {name}"))
    }

    fn attachment(&mut self, sha256: &str, size: u64, content: &mut dyn Read) -> anyhow::Result<()> {
        match &mut self.files {
            Some(files) => files.store(sha256, size, content),
            None => Ok(()),
        }
    }
}

pub fn find_table(name: &str) -> anyhow::Result<&'static Table> {
    let table = TABLES.iter().find(|table| table.name == name);
    table.with_context(|| format!("the archive has the unknown table {name}"))
}

/// Stores the files of attachments under their keys.
pub struct FileLoader<'a> {
    pub files: &'a Files,
    pub file_keys: &'a FileKeys,
    pub stored: u64,
}

impl FileLoader<'_> {
    fn store(&mut self, sha256: &str, size: u64, content: &mut dyn Read) -> anyhow::Result<()> {
        let Some(keys) = self.file_keys.get(sha256) else {
            return Ok(());
        };
        if let [key] = keys.as_slice() {
            return self.put(key, sha256, size, content);
        }
        let mut copy = temporary::file()?;
        std::io::copy(content, &mut copy).context("cannot write a temporary file")?;
        for key in keys {
            copy.rewind()?;
            self.put(key, sha256, size, &mut copy)?;
        }
        Ok(())
    }

    fn put(&mut self, key: &str, sha256: &str, size: u64, content: &mut dyn Read) -> anyhow::Result<()> {
        let spooled = self.spool(content)?;
        ensure!(
            spooled.sha256 == sha256 && spooled.size == size,
            "the archive is damaged: the attachment {sha256} differs from its hash"
        );
        let failed = |cause| anyhow!("the attachment storage failed: {cause}");
        let put = self.files.put(key, &spooled);
        Handle::current().block_on(put).map_err(failed)?;
        self.stored += 1;
        Ok(())
    }

    fn spool(&self, content: &mut dyn Read) -> anyhow::Result<Spooled> {
        const BUFFER_BYTES: usize = 256 * 1024;
        let failed = |cause| anyhow!("the spool failed: {cause}");
        let runtime = Handle::current();
        let mut spool = runtime.block_on(self.files.spool()).map_err(failed)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = content.read(&mut buffer).context("cannot read the archive")?;
            if read == 0 {
                return runtime.block_on(spool.finish()).map_err(failed);
            }
            runtime.block_on(spool.write(&buffer[..read])).map_err(failed)?;
        }
    }
}

/// Restores only the files of a base.
impl Visitor for FileLoader<'_> {
    fn attachment(&mut self, sha256: &str, size: u64, content: &mut dyn Read) -> anyhow::Result<()> {
        self.store(sha256, size, content)
    }
}
