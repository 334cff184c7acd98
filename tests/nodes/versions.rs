//! Nodes of adjacent versions on one database: the newer node migrates it while the older nodes serve
//! requests.
//!
//! The older version is the binary. The newer version is the same code with one more migration. So the
//! schemas differ like those of two releases, and the nodes of both versions run the compatibility check.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use garth::api;
use garth::cli::{Settings, policy_of};
use garth::console;
use garth::files::Files;
use garth::store::context::{Clock, RandomSource};
use garth::store::{Database, Migration, Schema, Store, StoreContext};
use garth::web::{App, Options, server};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use crate::client::Client;
use crate::connection::{number, text};
use crate::folder::{Folder, Server, TOKEN};
use crate::harness::Nodes;
use crate::postgres::Postgres;
use crate::process::{Process, eventually};

const ADDITIVE: Migration = Migration {
    number: 9001,
    name: "additive",
    sql: "ALTER TABLE vpc ADD COLUMN color TEXT;
ALTER TABLE event ADD COLUMN weight BIGINT NOT NULL DEFAULT 1;
CREATE TABLE example (id {identity}, vpc BIGINT NOT NULL REFERENCES vpc (id));
CREATE INDEX vpc_color ON vpc (account, color);
",
};

const BREAKING: Migration = Migration {
    number: 9002,
    name: "breaking",
    sql: "UPDATE schema_compatibility SET oldest_schema = 9002;\n",
};

/// A node of a newer version, in this process.
struct NewerNode {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    _runtime: Runtime,
}

impl NewerNode {
    fn start(folder: &Folder, url: &str, schema: &Schema) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let context = StoreContext {
            clock: Clock::System,
            random: RandomSource::System,
            policy: policy_of(&quotas()).expect("the settings are valid").into(),
        };
        let store =
            Store::open_shared_with(&Database::at(url), schema, context).expect("the store is migrated");
        let (stop, stopping) = watch::channel(false);
        let files = Files::open(None, &folder.path("newer")).expect("the attachment storage");
        let address = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let address = listener.local_addr().expect("an address");
            let app = App::new(store, files, Options::default(), stopping.clone());
            let router = api::router(&app).merge(console::router(&app));
            tokio::spawn(server::serve(listener, app, router, stopping));
            address
        });
        Self {
            address,
            stop,
            _runtime: runtime,
        }
    }

    fn client(&self, token: &str) -> Client {
        Client::new(self.address, token)
    }
}

impl Drop for NewerNode {
    fn drop(&mut self) {
        self.stop.send_replace(true);
    }
}

/// Stops the writers, even if an assertion fails.
struct FinishOnDrop<'a>(&'a AtomicBool);

impl Drop for FinishOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn quotas() -> Settings {
    let mut settings = Settings::default();
    settings.quota.vpcs_per_region = Some(100_000);
    settings
}

#[test]
fn a_newer_node_migrates_while_older_ones_keep_serving() {
    let postgres = Postgres::new("versions");
    let url = postgres.url();
    let nodes = Nodes::start_with("versions", &url, |serve| {
        serve.env("GARTH_QUOTA_VPCS_PER_REGION", "100000");
    });
    let is_finished = AtomicBool::new(false);
    let (newer, restarted) = std::thread::scope(|scope| {
        let _end = FinishOnDrop(&is_finished);
        for writer in 0..4 {
            let (mut client, is_finished) = (nodes.client(writer), &is_finished);
            scope.spawn(move || {
                let mut write = 0;
                while !is_finished.load(Ordering::SeqCst) {
                    // `create_vpc` panics if the request fails.
                    let vpc = client.create_vpc(&format!("w-{writer}-{write}"));
                    client.get(&format!("/v4/vpcs/{vpc}")).ok();
                    write += 1;
                }
                assert!(write > 3, "writer {writer} wrote {write} times");
            });
        }
        std::thread::sleep(std::time::Duration::from_millis(500));
        let newer = NewerNode::start(&nodes.folder, &url, &Schema::current().with(ADDITIVE));
        let mut client = newer.client(TOKEN);
        for write in 0..10 {
            client.create_vpc(&format!("newer-{write}"));
        }
        let mut serve = nodes.folder.serve();
        let restarted = Server::start(serve.env("GARTH_DATABASE", &url));
        for write in 0..10 {
            restarted.client().create_vpc(&format!("restarted-{write}"));
        }
        (newer, restarted)
    });

    let labels = newer.client(TOKEN).vpc_labels();
    assert_eq!(restarted.client().vpc_labels(), labels);
    assert_eq!(nodes.client(1).vpc_labels(), labels);
    let rows = postgres.query("SELECT count(*) FROM vpc WHERE color IS NULL");
    assert_eq!(rows, labels.len().to_string());

    // A revocation on an older node takes effect on a newer one, and vice versa.
    let created = nodes.json("token create --user admin");
    let (id, token) = (number(&created["id"]), text(&created["token"]));
    assert_eq!(newer.client(&token).get("/v4/vpcs").status, 200);
    nodes.run(&format!("token revoke {id}"));
    assert_eq!(newer.client(&token).get("/v4/vpcs").status, 401);
    let created = newer
        .client(TOKEN)
        .post("/v4/profile/tokens", json!({"label": "x", "scopes": "*"}));
    let created = created.ok();
    let (id, token) = (number(&created["id"]), text(&created["token"]));
    assert_eq!(nodes.servers[0].client_with(&token).get("/v4/vpcs").status, 200);
    newer
        .client(TOKEN)
        .delete(&format!("/v4/profile/tokens/{id}"))
        .ok();
    assert_eq!(nodes.servers[0].client_with(&token).get("/v4/vpcs").status, 401);

    // An older build would omit values that it does not know.
    let copied = format!("copy --from {url} --to {}", nodes.folder.path("copied").display());
    let refused = Process::spawn(&mut nodes.folder.garth(&copied)).wait();
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("supports only schemas up to"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_node_with_an_incompatible_schema_is_not_ready_and_does_not_restart() {
    let postgres = Postgres::new("outdated");
    let url = postgres.url();
    let folder = Folder::new("outdated");
    let serve = || {
        let mut serve = folder.serve();
        serve.env("GARTH_DATABASE", &url);
        serve
    };
    let older = Server::start(&mut serve());
    assert_eq!(older.client().get("/readyz").status, 200);

    let schema = Schema::current().with(ADDITIVE).with(BREAKING);
    let newer = NewerNode::start(&folder, &url, &schema);

    assert_eq!(newer.client(TOKEN).get("/readyz").status, 200);
    eventually("the older node to notice", || {
        let reply = older.client().get("/readyz");
        (reply.status == 503).then_some(())
    });
    let refused = Process::spawn(&mut serve()).wait();
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.stderr.contains("last used by a newer Garth") && refused.stderr.contains("9002"),
        "{}",
        refused.stderr
    );
}

/// A statement of a migration can take an hour. Other statements end after 15 seconds.
#[test]
fn a_slow_migration_completes() {
    let postgres = Postgres::new("slow-migration");
    let slow = Migration {
        number: 9001,
        name: "slow",
        sql: "CREATE TABLE example AS SELECT 1 AS id FROM pg_sleep(21);\n",
    };
    let folder = Folder::new("slow-migration");

    let _node = NewerNode::start(&folder, &postgres.url(), &Schema::current().with(slow));

    assert_eq!(postgres.query("SELECT count(*) FROM example"), "1");
}
