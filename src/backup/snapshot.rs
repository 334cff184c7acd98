//! Writes the tables of a store, from one snapshot.

use super::Progress;
use super::create::Destination;
use super::format::{FORMAT, Header, TABLES_FOLDER, TableHeader, TableSummary, VERSION};
use super::rows;
use super::writer::Writer;
use crate::model::attachment::Attachment;
use crate::store::{ReadTx, Table, attachments, transfer};

/// The size at which a part of a table becomes a member.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;
/// The table of uploads in progress. Their files are not in the snapshot, so their rows are omitted.
const UPLOADS: &str = "upload";

/// The properties of the store that the header records.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// `sqlite` or `postgres`.
    pub engine: &'static str,
    pub with_attachments: bool,
}

/// The written tables, and the rows that the rest of the archive needs.
pub struct Snapshot<D: Destination> {
    pub writer: Writer<D>,
    pub header: Header,
    pub tables: Vec<TableSummary>,
    /// Tables with values that could not be archived, and the number of rows with such values.
    pub mistyped: Vec<(String, i64)>,
    pub attachments: Vec<Attachment>,
}

pub fn write<D: Destination>(
    tx: &mut ReadTx,
    destination: D,
    origin: Origin,
    progress: &dyn Progress,
) -> anyhow::Result<Snapshot<D>> {
    // The first query determines the snapshot. The snapshot has all commits before this time.
    let now = tx.now();
    let schema = transfer::schema(tx)?;
    let tables = transfer::tables(tx)?;
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        garth: env!("CARGO_PKG_VERSION").to_owned(),
        schema,
        engine: origin.engine.to_owned(),
        snapshot: format!("{now}Z"),
        with_attachments: origin.with_attachments,
        tables: describe(tx, &tables)?,
    };
    let modified = u64::try_from(now.seconds()).unwrap_or_default();
    let mut writer = Writer::begin(destination, modified, &header)?;
    // An estimate, because counting the rows of a large database can exceed the timeout of a statement.
    let mut total = 0;
    for table in &tables {
        total += transfer::last_id(tx, table)?.unsigned_abs();
    }
    progress.begin("rows", total);
    let (mut summaries, mut mistyped) = (Vec::new(), Vec::new());
    for table in tables {
        summaries.push(write_table(tx, table, &mut writer, progress)?);
        let rows = transfer::mistyped_rows(tx, table)?;
        if rows > 0 {
            mistyped.push((table.name.to_owned(), rows));
        }
    }
    let attachments = match origin.with_attachments {
        true => attachments::all(tx)?,
        false => Vec::new(),
    };
    Ok(Snapshot {
        writer,
        header,
        tables: summaries,
        mistyped,
        attachments,
    })
}

fn describe(tx: &mut ReadTx, tables: &[&Table]) -> anyhow::Result<Vec<TableHeader>> {
    let mut described = Vec::new();
    for table in tables {
        described.push(TableHeader {
            name: table.name.to_owned(),
            columns: transfer::columns(tx, table)?,
        });
    }
    Ok(described)
}

fn write_table<D: Destination>(
    tx: &mut ReadTx,
    table: &Table,
    writer: &mut Writer<D>,
    progress: &dyn Progress,
) -> anyhow::Result<TableSummary> {
    let mut summary = TableSummary {
        name: table.name.to_owned(),
        rows: 0,
        last_id: transfer::last_id(tx, table)?,
    };
    if table.name == UPLOADS {
        return Ok(summary);
    }
    let (mut lines, mut chunk) = (Vec::new(), 1);
    let mut flush = |lines: &mut Vec<u8>| {
        let name = format!("{TABLES_FOLDER}{}/{chunk:06}.jsonl", table.name);
        writer.add_bytes(&name, lines)?;
        lines.clear();
        chunk += 1;
        Ok::<_, anyhow::Error>(())
    };
    transfer::each_batch(tx, table, |batch| {
        for row in &batch {
            rows::write(row, &mut lines)?;
            if lines.len() >= CHUNK_BYTES {
                flush(&mut lines)?;
            }
        }
        summary.rows += batch.len() as u64;
        if table.has_sequence {
            progress.advance(batch.len() as u64);
        }
        Ok::<_, anyhow::Error>(())
    })?;
    progress.advance(summary.last_id.unsigned_abs().saturating_sub(summary.rows));
    if !lines.is_empty() {
        flush(&mut lines)?;
    }
    Ok(summary)
}
