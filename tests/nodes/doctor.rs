//! `garth doctor` on PostgreSQL: settings of the database server that put data at risk.

use std::time::{Duration, Instant};

use crate::harness::Nodes;
use crate::postgres::Postgres;

#[test]
fn unsafe_settings_of_the_database_server_are_found() {
    let safe = Postgres::with("doctor-safe", &["fsync=on"]);
    let nodes = Nodes::start("doctor-safe", &safe.url());
    assert_eq!(nodes.run("doctor"), "no problems found\n");
    drop(nodes);

    let settings = [
        "full_page_writes=off",
        "synchronous_commit=off",
        "max_connections=36",
    ];
    let postgres = Postgres::with("doctor-unsafe", &settings);
    let nodes = Nodes::start("doctor-unsafe", &postgres.url());
    // The nodes open their connections one after another.
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut found = examine(&nodes, &postgres);
    while !found.contains("database connections are in use") && Instant::now() < deadline {
        found = examine(&nodes, &postgres);
    }
    for problem in [
        "fsync is off",
        "full_page_writes is off",
        "synchronous_commit is off",
        "database connections are in use",
    ] {
        assert!(found.contains(problem), "{problem}: {found}");
    }
}

fn examine(nodes: &Nodes, postgres: &Postgres) -> String {
    let mut doctor = nodes.folder.garth("doctor --json");
    let output = doctor
        .env("GARTH_DATABASE", postgres.url())
        .output()
        .expect("garth runs");
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
