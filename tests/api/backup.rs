//! The tables that `garth backup` archives. `tests/process` and `tests/nodes` test the backup itself.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use garth::backup::create::{Destination, Origin, Source, create};
use garth::backup::restore::Restore;
use garth::backup::{Progress, temporary};
use garth::store::restore_target::TargetLocation;
use garth::store::{OTHER_TABLES, Schema, TABLES};

use crate::engine::Engine;
use crate::harness::{TestApp, context};
use crate::rows::sorted;
use crate::upgrades::FROZEN;

/// If you create a table in a migration, add it to `TABLES` or to `OTHER_TABLES`.
#[tokio::test]
async fn every_table_is_archived_or_excluded() {
    let app = TestApp::new().await;
    let existing = app
        .store
        .read(|tx| tx.tables())
        .await
        .expect("the store lists its tables");
    let archived = TABLES.iter().map(|table| table.name);
    let mut expected: Vec<_> = archived.chain(OTHER_TABLES).collect();
    expected.sort_unstable();
    assert_eq!(existing, expected);
}

/// Both stores have the same rows: the store that was upgraded, and the store that was restored from a backup of the
/// older schema.
#[tokio::test(flavor = "multi_thread")]
async fn an_archive_of_an_older_schema_is_restored_and_upgraded() {
    for number in 12..=i64::try_from(FROZEN.len()).expect("a number") {
        let (home, restored) = (Engine::chosen().empty_home(), Engine::chosen().empty_home());
        drop(
            home.open(&Schema::at(number), context())
                .expect("the store opens"),
        );
        home.run(FROZEN[usize::try_from(number - 1).expect("an index")])
            .await;
        let store = home.open(&Schema::as_stored(), context());
        let source = Source {
            store: store.expect("a store of that schema opens"),
            origin: Origin {
                engine: "sqlite",
                with_attachments: false,
            },
            open_files: Box::new(|| panic!("the archive has no files")),
        };
        let target = match restored.database() {
            Some(database) => TargetLocation::Database(Box::new(database)),
            None => TargetLocation::Folder(restored.folder.clone()),
        };

        let transfer = move || {
            let created = create(source, Archive(temporary::file()?), None, Arc::new(NoProgress))?;
            assert_eq!(created.header.schema, number);
            let restore = Restore {
                archive: created.destination.0,
                base: None,
                target,
                schema: Schema::current(),
                context: Box::new(context),
                open_files: Box::new(|| panic!("the archive has no files")),
                accept_findings: true,
                progress: Arc::new(NoProgress),
            };
            restore.run()
        };
        let run = tokio::task::spawn_blocking(transfer).await;
        run.expect("no panic").expect("the archive is restored");

        drop(
            home.open(&Schema::current(), context())
                .expect("the store is upgraded"),
        );
        let (mut expected, mut found) = (home.content().await, restored.content().await);
        for content in [&mut expected, &mut found] {
            // Uploads in progress are not archived, and the search index is built again.
            for table in ["migration", "upload", "ticket_text"] {
                content.remove(table);
            }
        }
        for (table, rows) in &expected {
            let (rows, found) = (sorted(rows.iter().cloned()), sorted(found[table].iter().cloned()));
            assert_eq!(found, rows, "schema {number}: {table}");
        }
    }
}

struct Archive(File);

impl Write for Archive {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl Destination for Archive {}

struct NoProgress;

impl Progress for NoProgress {
    fn begin(&self, _: &'static str, _: u64) {}
    fn advance(&self, _: u64) {}
}
