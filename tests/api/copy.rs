//! The tables that `garth copy` copies. `tests/nodes` tests the copy itself.

use garth::store::TABLES;

use crate::harness::TestApp;

/// Tables that describe one store, that are rebuilt from other tables, or that are always empty.
const NOT_COPIED: [&str; 4] = ["due_work", "migration", "schema_compatibility", "ticket_text"];

/// If you create a table in a migration, add it to `TABLES` or to `NOT_COPIED`.
#[tokio::test]
async fn every_table_is_copied_or_excluded() {
    let app = TestApp::new().await;
    let existing = app
        .store
        .read(|tx| tx.tables())
        .await
        .expect("the store lists its tables");
    let mut expected: Vec<_> = TABLES.iter().map(|table| table.name).chain(NOT_COPIED).collect();
    expected.sort_unstable();
    assert_eq!(existing, expected);
}
