//! Creates an archive of a store and its attachments, while a server may be running.

use std::io::Write;
use std::sync::Arc;

use anyhow::Context;
use tokio::runtime::Handle;

use super::Progress;
use super::attachments::{FileWriter, WrittenFiles};
use super::format::{Base, Header, Manifest, TableSummary};
use super::reader::Contents;
use super::snapshot::{self, Snapshot};
use crate::files::Files;
use crate::store::Store;

pub use super::snapshot::Origin;

/// The place that an archive is written to.
pub trait Destination: Write + Send + 'static {
    /// The snapshot has ended: from here on, a slow destination does not delay the store.
    fn end_snapshot(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The store to archive.
pub struct Source {
    pub store: Store,
    pub origin: Origin,
    /// Opens the attachment storage. It is called only if the snapshot has attachments.
    pub open_files: Box<dyn FnOnce() -> anyhow::Result<Files> + Send>,
}

/// An archive that was written completely.
pub struct Created<D> {
    pub destination: D,
    /// The SHA-256 of the zstd frame.
    pub identity: String,
    pub bytes: u64,
    pub header: Header,
    pub tables: Vec<TableSummary>,
    pub mistyped: Vec<(String, i64)>,
    pub files: WrittenFiles,
}

/// Writes an archive. Blocks, so it must run on a thread for blocking work.
pub fn create<D: Destination>(
    source: Source,
    destination: D,
    base: Option<&Contents>,
    progress: Arc<dyn Progress>,
) -> anyhow::Result<Created<D>> {
    let (origin, rows_progress) = (source.origin, progress.clone());
    let reading = source
        .store
        .read_once(move |tx| snapshot::write(tx, destination, origin, &*rows_progress));
    let snapshot = Handle::current().block_on(reading);
    let Snapshot {
        mut writer,
        header,
        tables,
        mistyped,
        attachments,
    } = snapshot?;
    let released = writer.destination().end_snapshot();
    released.context("cannot write the archive")?;
    let files = match attachments.is_empty() {
        true => WrittenFiles::default(),
        false => {
            let files = (source.open_files)()?;
            let file_writer = FileWriter {
                store: &source.store,
                files: &files,
                base: base.map_or_else(Default::default, |base| base.manifest.contained_attachments()),
                progress: &*progress,
            };
            file_writer.write_all(&attachments, &mut writer)?
        }
    };
    let manifest = Manifest {
        members: Vec::new(),
        tables: tables.clone(),
        base: base.filter(|_| !files.in_base.is_empty()).map(|base| Base {
            archive: base.identity.clone(),
            attachments: files.in_base.clone(),
        }),
        missing: files.missing.clone(),
    };
    let written = writer.finish(manifest)?;
    Ok(Created {
        destination: written.out,
        identity: written.identity,
        bytes: written.bytes,
        header,
        tables,
        mistyped,
        files,
    })
}
