//! `garth check` on PostgreSQL: statements that take long.

use crate::harness::Nodes;
use crate::postgres::Postgres;

/// A statement of the server ends after 15 seconds, but the check of a large table takes longer.
#[test]
fn a_check_can_take_longer_than_a_statement_of_the_server() {
    let postgres = Postgres::with("check-slow", &[]);
    let nodes = Nodes::start("check-slow", &postgres.url());
    nodes.assert_sound();
    // Only the check of values reads the description, so only one statement is slow.
    postgres.query(
        "INSERT INTO canned_reply (label, description, created, updated) VALUES ('hello', 'Hello', 0, 0);
         ALTER TABLE canned_reply RENAME TO slow_reply;
         CREATE VIEW canned_reply AS SELECT id, label,
             description || left(CAST(pg_sleep(21) AS TEXT), 0) AS description, created, updated FROM slow_reply",
    );

    let mut check = nodes.folder.garth("check --json");
    let output = check.env("GARTH_DATABASE", postgres.url()).output();
    let output = output.expect("garth runs");

    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let objects: Vec<_> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|finding| (&finding["object"], &finding["problem"]))
        .collect();
    assert_eq!(
        objects,
        [(&"table canned_reply".into(), &"is missing".into())],
        "a view is not a table, and everything else was checked"
    );
}
