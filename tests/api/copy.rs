//! The tables that `garth copy` copies. `tests/nodes` tests the copy itself.

use garth::store::TABLES;

use crate::harness::TestApp;

/// A migration that creates a table must add it to the list.
#[tokio::test]
async fn every_table_is_copied() {
    let app = TestApp::new().await;
    let there = app
        .store
        .read(|tx| tx.tables())
        .await
        .expect("the store lists its tables");
    let mut copied: Vec<String> = TABLES.iter().map(|table| table.name.to_owned()).collect();
    copied.extend(["migration", "schema_compatibility", "ticket_text"].map(str::to_owned));
    copied.sort();
    assert_eq!(there, copied);
}
