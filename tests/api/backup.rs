//! The tables that `garth backup` archives. `tests/process` and `tests/nodes` test the backup itself.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use garth::backup::create::{Destination, Origin, Source, create};
use garth::backup::restore::Restore;
use garth::backup::{Progress, temporary};
use garth::store::restore_target::TargetLocation;
use garth::store::{OTHER_TABLES, Schema, Store, TABLES};
use garth::web::Options;
use serde_json::json;

use crate::engine::{Engine, Home};
use crate::harness::{TestApp, User, context};
use crate::hosting::{Agent, add_host, create_instance, status_of};
use crate::rows::sorted;
use crate::upgrades::{FROZEN, schema_of};

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
    for rows in FROZEN.into_iter().skip(11) {
        let number = schema_of(rows);
        let (home, restored) = (Engine::chosen().empty_home(), Engine::chosen().empty_home());
        drop(
            home.open(&Schema::at(number), context())
                .expect("the store opens"),
        );
        home.run(rows).await;
        let store = home.open(&Schema::as_stored(), context());
        transfer(
            store.expect("a store of that schema opens"),
            &restored,
            Some(number),
        )
        .await;

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

/// The restored store has the hosts with their secrets, and the same desired state of each of them.
#[tokio::test(flavor = "multi_thread")]
async fn agents_continue_after_a_restore() {
    let app = TestApp::new().await;
    let (sam, ada) = (app.user("sam").staff().await, app.user("ada").await);
    ada.create_vpc("core", &["10.0.0.0/24"]).await;
    let agents = [add_host(&sam, 1, 1).await, add_host(&sam, 2, 1).await];
    for _ in &agents {
        create_instance(&ada, 1).await;
    }
    sam.put("/hosts/encryption/us-east", json!({"enabled": true}))
        .await;
    agents[0].report_key(1, 'a').await;
    agents[0].apply().await;
    sam.post("/hosts/2/drain", json!({})).await;
    let new = json!({"label": "rack-3", "region": "us-east", "underlay_address": "172.31.0.3"});
    sam.post("/hosts", new).await;
    let join_token = sam.post("/hosts/3/join-token", json!({})).await.json()["token"].clone();
    let states = [agents[0].state().await, agents[1].state().await];
    let hosts = sam.get("/hosts").await.json();
    let before = app.home().content().await;

    let home = Engine::chosen().empty_home();
    transfer(app.store.clone(), &home, None).await;

    let after = home.content().await;
    for table in [
        "host",
        "host_join_token",
        "host_credential",
        "host_report",
        "host_revision",
        "host_vpc",
        "host_key",
        "underlay_revision",
        "region_encryption",
        "placement",
        "port",
        "tunnel",
    ] {
        assert!(!before[table].is_empty(), "{table} has rows");
        let (found, expected) = (after[table].iter().cloned(), before[table].iter().cloned());
        assert_eq!(sorted(found), sorted(expected), "{table}");
    }
    let store = home.open(&Schema::current(), context());
    let restored = TestApp::with_store(
        store.expect("the store opens"),
        home,
        app.account,
        Options::default(),
    )
    .await;
    let token = |user: &User<'_>| user.token.clone().expect("a token");
    assert_eq!(
        restored.with_token(&token(&sam)).get("/hosts").await.json(),
        hosts
    );
    for (agent, state) in agents.iter().zip(states) {
        let user = restored.with_token(&token(&agent.user));
        assert_eq!(Agent { user, id: agent.id }.state().await, state);
    }
    let joined = restored
        .anonymous()
        .post("/agent/join", json!({"token": join_token}))
        .await;
    assert_eq!(joined.json()["label"], "rack-3");
    let ada = restored.with_token(&token(&ada));
    assert_eq!(status_of(&ada, 1).await, "running");
    assert_eq!(status_of(&ada, 2).await, "booting");
}

/// Writes an archive of a store, and restores it into an empty home.
async fn transfer(store: Store, home: &Home, schema: Option<i64>) {
    let source = Source {
        store,
        origin: Origin {
            engine: "sqlite",
            with_attachments: false,
        },
        open_files: Box::new(|| panic!("the archive has no files")),
    };
    let target = match home.database() {
        Some(database) => TargetLocation::Database(Box::new(database)),
        None => TargetLocation::Folder(home.folder.clone()),
    };
    let transfer = move || {
        let created = create(source, Archive(temporary::file()?), None, Arc::new(NoProgress))?;
        assert!(schema.is_none_or(|number| created.header.schema == number));
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
