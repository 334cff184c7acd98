//! Upgrades stores of every schema so far, stored as text in `tests/upgrade`: the data is preserved, tallies
//! match a count, and the API serves the store.

use std::collections::BTreeMap;

use garth::model::id::AccountId;
use garth::store::{Schema, checksum_of};
use garth::web::Options;
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::harness::{TestApp, User, context};
use crate::rows::{Content, Row, sorted};

pub const FROZEN: [&str; 34] = [
    include_str!("../upgrade/0001.sql"),
    include_str!("../upgrade/0002.sql"),
    include_str!("../upgrade/0003.sql"),
    include_str!("../upgrade/0004.sql"),
    include_str!("../upgrade/0005.sql"),
    include_str!("../upgrade/0006.sql"),
    include_str!("../upgrade/0007.sql"),
    include_str!("../upgrade/0008.sql"),
    include_str!("../upgrade/0009.sql"),
    include_str!("../upgrade/0010.sql"),
    include_str!("../upgrade/0011.sql"),
    include_str!("../upgrade/0012.sql"),
    include_str!("../upgrade/0013.sql"),
    include_str!("../upgrade/0014.sql"),
    include_str!("../upgrade/0015.sql"),
    include_str!("../upgrade/0016.sql"),
    include_str!("../upgrade/0017.sql"),
    include_str!("../upgrade/0018.sql"),
    include_str!("../upgrade/0019.sql"),
    include_str!("../upgrade/0020.sql"),
    include_str!("../upgrade/0021.sql"),
    include_str!("../upgrade/0022.sql"),
    include_str!("../upgrade/0023.sql"),
    include_str!("../upgrade/0024.sql"),
    include_str!("../upgrade/0025.sql"),
    include_str!("../upgrade/0026.sql"),
    include_str!("../upgrade/0027.sql"),
    include_str!("../upgrade/0028.sql"),
    include_str!("../upgrade/0029.sql"),
    include_str!("../upgrade/0030.sql"),
    include_str!("../upgrade/0031.sql"),
    include_str!("../upgrade/0032.sql"),
    include_str!("../upgrade/0033.sql"),
    include_str!("../upgrade/0034.sql"),
];

/// The tables that migrations fill. They are checked separately.
const FILLED: [&str; 8] = [
    "instance_tag",
    "tag",
    "job",
    "tally",
    "free_range",
    "attachment_check",
    "schema_compatibility",
    "account_revision",
];

#[tokio::test]
async fn a_store_of_every_schema_is_upgraded_without_losing_data() {
    for rows in FROZEN {
        let number = schema_of(rows);
        let home = Engine::chosen().empty_home();
        drop(
            home.open(&Schema::at(number), context())
                .expect("a store of that schema opens"),
        );
        assert_eq!(recorded(rows), checksums(number), "migrations up to {number}");
        home.run(rows).await;
        // Migration 15 derives other tables from this column.
        if (2..15).contains(&number) {
            home.run("UPDATE instance SET tags = 'prod\nblue green\nüñï' WHERE id = 2;")
                .await;
        }
        // Migration 29 renames a value of a filter, but not the same words in a search.
        if (27..29).contains(&number) {
            home.run("UPDATE saved_view SET filters = 'q claim nobody\nclaim nobody\n' WHERE id = 2;")
                .await;
        }
        let before = home.content().await;

        let store = home
            .open(&Schema::current(), context())
            .expect("the store is upgraded");

        let after = home.content().await;
        compare(number, &before, &after);
        assert_derived_data(number, &after);
        assert_eq!(
            tallies(&after),
            counted(&after),
            "tallies of a store of schema {number}"
        );
        let app = TestApp::with_store(store, home, AccountId(1), Options::default()).await;
        assert_served(number, &app).await;
    }
}

#[tokio::test]
async fn a_disk_of_an_earlier_build_is_ready_and_fills_its_plan() {
    let home = Engine::chosen().empty_home();
    drop(home.open(&Schema::at(12), context()).expect("the store opens"));
    home.run(FROZEN[11]).await;
    home.run(
        "INSERT INTO disk (id, instance, label, size, created) VALUES
             (7, 1, 'Debian 12 Disk', 25600, 1717156801000000);
         UPDATE config SET devices = '7,,,,,,,' WHERE id = 1;",
    )
    .await;

    let store = home
        .open(&Schema::current(), context())
        .expect("the store is upgraded");

    let app = TestApp::with_store(store, home, AccountId(1), Options::default()).await;
    let admin = app.with_token(&"a1".repeat(32));
    let disk = json!({
        "id": 7, "status": "ready", "label": "Debian 12 Disk", "created": "2024-05-31T12:00:01",
        "updated": "2024-05-31T12:00:01", "filesystem": "ext4", "size": 25600, "disk_encryption": "disabled",
    });
    assert_eq!(admin.get("/linode/instances/1/disks").await.data(), [disk]);
    let config = admin.get("/linode/instances/1/configs/1").await.json();
    assert_eq!(config["devices"]["sda"]["disk_id"], 7);
    assert_eq!(admin.delete("/linode/instances/1/disks/7").await.status, 200);
}

/// The schema of a frozen store, from its first line.
pub fn schema_of(rows: &str) -> i64 {
    let words = rows.lines().next().unwrap_or_default().split(' ');
    let number = words.skip_while(|word| *word != "schema").nth(1);
    number
        .and_then(|number| number.parse().ok())
        .expect("the first line has the schema")
}

/// The migrations of a frozen store, from its first lines.
fn recorded(rows: &str) -> Vec<String> {
    let lines = rows.lines().skip(1).map_while(|line| line.strip_prefix("-- "));
    lines.map(str::to_owned).collect()
}

fn checksums(number: i64) -> Vec<String> {
    let schema = Schema::at(number);
    let line =
        |migration: &garth::store::Migration| format!("{:04} {}", migration.number, checksum_of(migration));
    schema.migrations().iter().map(line).collect()
}

/// Asserts that every row is preserved with equal values, and that no table has additional rows, except for
/// documented changes of migrations.
fn compare(number: i64, before: &Content, after: &Content) {
    let mut expected = before.clone();
    if number < 8 {
        end_grants_of_staff(&mut expected);
        expected.remove("login_failure");
    }
    if number < 29 {
        rename_filter_values(&mut expected);
    }
    // Migration 12: accounts and the staff have their own identity versions.
    expected.remove("identity_version");
    // Migration 10: pending power changes become jobs.
    if let Some(work) = expected.get_mut("due_work") {
        work.clear();
    }
    expected.remove("migration");
    // Each breaking migration raises the oldest schema.
    expected.remove("schema_compatibility");
    for (table, rows) in &expected {
        let now = after
            .get(table)
            .unwrap_or_else(|| panic!("schema {number}: no {table}"));
        let columns: Vec<_> = rows.first().into_iter().flat_map(BTreeMap::keys).collect();
        let known = |row: &Row| {
            let mut row = row.clone();
            row.retain(|column, _| columns.contains(&column));
            row
        };
        let now = sorted(now.iter().map(known));
        let was = sorted(rows.iter().cloned());
        if FILLED.contains(&table.as_str()) {
            let lost: Vec<_> = was.iter().filter(|row| !now.contains(row)).collect();
            assert!(lost.is_empty(), "schema {number}: {table} has lost {lost:?}");
        } else if columns.is_empty() {
            assert_eq!(after[table].len(), 0, "schema {number}: {table}");
        } else {
            assert_eq!(now, was, "schema {number}: {table}");
        }
    }
    for (table, rows) in after {
        let is_new = !expected.contains_key(table) && table != "migration";
        assert!(
            !is_new || rows.is_empty() || FILLED.contains(&table.as_str()),
            "schema {number}: {table} has {rows:?}"
        );
    }
}

/// Migration 8 ends authorizations of other clients by staff. Here this is grant 4, with token 14.
fn end_grants_of_staff(content: &mut Content) {
    let is = |row: &Row, column: &str, number: i64| row[column] == json!(number);
    if let Some(grants) = content.get_mut("oauth_grant") {
        grants.retain(|row| !is(row, "id", 4));
    }
    if let Some(tokens) = content.get_mut("refresh_token") {
        tokens.retain(|row| !is(row, "oauth_grant", 4));
    }
    for token in content.get_mut("token").into_iter().flatten() {
        if is(token, "id", 14) {
            token.insert("revoked".to_owned(), token["created"].clone());
        }
    }
}

/// Migration 29 renames the value of a filter of saved views.
fn rename_filter_values(content: &mut Content) {
    for view in content.get_mut("saved_view").into_iter().flatten() {
        let renamed = match view["filters"].as_str() {
            Some("claim nobody\npriority urgent\n") => "claim unassigned\npriority urgent\n",
            Some("q claim nobody\nclaim nobody\n") => "q claim nobody\nclaim unassigned\n",
            _ => continue,
        };
        view.insert("filters".to_owned(), json!(renamed));
    }
}

/// Checks the data that migrations derive.
fn assert_derived_data(number: i64, after: &Content) {
    for user in &after["app_user"] {
        // Migration 24: all staff become admins.
        let is_admin = user["staff_role"] == json!("admin");
        assert_eq!(user["account"].is_null(), is_admin, "{user:?}");
        assert_eq!(
            user["password"].is_null(),
            user["password_created"].is_null(),
            "{user:?}"
        );
    }
    for event in &after["event"] {
        let by_staff = event["username"] == json!("Support");
        assert_eq!(event["author"].is_null(), by_staff, "schema {number}: {event:?}");
    }
    if number == 1 {
        let free = after["free_range"].iter().map(|range| &range["first_address"]);
        let begins = after["subnet"]
            .iter()
            .map(|subnet| subnet["first_address"].as_i64());
        let begins: Vec<_> = begins
            .map(|first| json!(first.expect("an address") + 2))
            .collect();
        assert_eq!(sorted(free.cloned()), sorted(begins));
    }
    let mut tagged = Vec::new();
    for instance in &after["instance"] {
        let tags = instance["tags"].as_str().expect("a text").lines();
        tagged.extend(tags.map(|tag| (json!(tag), instance["id"].clone())));
    }
    let rows = after["instance_tag"].iter();
    let rows: Vec<_> = rows
        .map(|row| (row["label"].clone(), row["instance"].clone()))
        .collect();
    assert_eq!(sorted(rows), sorted(tagged), "schema {number}");
    let checked = after["attachment_check"].iter().map(|check| &check["attachment"]);
    let attached = after["attachment"].iter().map(|attachment| &attachment["id"]);
    assert_eq!(sorted(checked.cloned()), sorted(attached.cloned()));
    let oldest = after["schema_compatibility"]
        .iter()
        .map(|row| &row["oldest_schema"]);
    assert_eq!(oldest.collect::<Vec<_>>(), [&json!(29)]);
    let revisions = after["account_revision"].iter().map(|row| &row["account"]);
    let accounts = after["account"].iter().map(|account| account["id"].clone());
    assert_eq!(sorted(revisions.cloned()), sorted(accounts.chain([json!(0)])));
}

/// The recorded number of items in each range of each list: (owner, collection, span, bucket).
type Tallies = BTreeMap<(i64, String, i64, i64), i64>;

fn tallies(content: &Content) -> Tallies {
    let tally = |row: &Row| {
        let number = |column: &str| row[column].as_i64().expect("a number");
        let collection = row["collection"].as_str().expect("a string").to_owned();
        let key = (number("owner"), collection, number("span"), number("bucket"));
        (key, number("items"))
    };
    content["tally"].iter().map(tally).collect()
}

/// The same tallies, computed by counting rows.
fn counted(content: &Content) -> Tallies {
    let mut counted = Tallies::new();
    let mut count = |collection: &str, owner: &Value, id: &Value, items: i64| {
        let (owner, id) = (owner.as_i64().expect("a number"), id.as_i64().expect("an id"));
        for span in [256, 65536] {
            let key = (owner, collection.to_owned(), span, id / span);
            *counted.entry(key).or_default() += items;
        }
    };
    for vpc in &content["vpc"] {
        count("vpc", &vpc["account"], &vpc["id"], 1);
        let region = vpc["region"].as_str().expect("a region");
        count(&format!("vpc:{region}"), &vpc["account"], &vpc["id"], 1);
    }
    for subnet in &content["subnet"] {
        count("vpc_subnet", &subnet["vpc"], &subnet["id"], 1);
    }
    for table in ["instance", "event"] {
        for row in &content[table] {
            count(table, &row["account"], &row["id"], 1);
        }
    }
    let mut accounts = BTreeMap::new();
    for ticket in &content["ticket"] {
        let closed = ticket["is_closed"] == json!(1);
        let collection = if closed { "ticket:closed" } else { "ticket:open" };
        count(collection, &ticket["account"], &ticket["id"], 1);
        accounts.insert(ticket["id"].to_string(), &ticket["account"]);
    }
    // Files of staff do not count toward the quota.
    let by_tenants = |row: &&Row| row.get("from_staff") != Some(&json!(1));
    for attachment in content["attachment"].iter().filter(by_tenants) {
        let account = accounts[&attachment["ticket"].to_string()];
        let bytes = attachment["size"].as_i64().expect("a size");
        count("attachment_bytes", account, &attachment["id"], bytes);
    }
    counted
}

/// Asserts that old tokens can list the data of their users, and that changes work.
async fn assert_served(number: i64, app: &TestApp) {
    let [admin, eve, grace, bob] = ["a1", "e2", "d3", "b4"].map(|pair| app.with_token(&pair.repeat(32)));
    assert_eq!(admin.get("/vpcs").await.ids(), [1, 300, 70000], "schema {number}");
    assert_eq!(eve.get("/vpcs").await.ids(), [70001]);
    assert_eq!(bob.get("/vpcs").await.ids(), [1]);
    let events = admin.get("/account/events?after=0&page_size=500").await.ids();
    assert_eq!(events.first(), Some(&1));
    assert!(events.len() >= 10, "{events:?}");
    if number >= 2 {
        assert_eq!(admin.get("/linode/instances").await.ids(), [1, 2]);
        assert_eq!(admin.get("/linode/instances/1/configs").await.ids(), [1]);
        assert_eq!(admin.count("/vpcs/1/ips").await, 3);
    }
    if number >= 3 {
        assert_eq!(admin.get("/support/tickets").await.ids(), [1, 300]);
        assert_eq!(eve.get("/support/tickets").await.ids(), [301]);
        assert_eq!(admin.get("/support/tickets/1/replies").await.ids(), [1, 2]);
        assert_eq!(grace.count("/desk/tickets").await, 3);
        // Upgrades take no permission from staff, and suspend no account.
        assert_eq!(grace.count("/provider/staff").await, 1);
        assert_eq!(grace.get("/provider/accounts/1").await.json()["status"], "active");
        assert_eq!(grace.get("/desk/tickets?q=invoice").await.ids(), [300]);
    }
    if number >= 4 {
        assert_eq!(admin.count("/account/oauth-clients").await, 1);
    }
    assert_details_served(number, &admin).await;
    if number >= 19 {
        assert_hosts_served(app, &grace).await;
    }
    if number >= 25 {
        assert_eq!(grace.get("/provider/announcements").await.ids(), [1, 2]);
    }
    let regions = grace.get("/provider/regions").await.data();
    let stored = regions.iter().filter(|region| region["source"] == "store");
    let stored: Vec<_> = stored.map(|region| region["id"].clone()).collect();
    if number >= 28 {
        assert_eq!(stored, ["us-east", "is-rkv"]);
        let plan = admin.get("/linode/types/g1-small").await.json();
        assert_eq!(plan["region_prices"][0]["monthly"], 12.0);
    } else {
        assert_eq!(stored, Vec::<Value>::new(), "schema {number}");
    }
    let branding = grace.get("/provider/branding").await.json();
    if number >= 26 {
        assert_eq!(branding["support_links"][1]["label"], "Write to us");
        let url = format!("/{}", branding["logo_url"].as_str().unwrap());
        let logo = app.anonymous().get(&url).await;
        assert_eq!(logo.header("content-type"), "image/svg+xml");
    } else {
        assert_eq!(branding["updated"], json!(null), "schema {number}");
    }
    let templates = grace.get("/provider/mail-templates").await.json();
    match number {
        33.. => assert_eq!(templates["signature"], "Harbor Lane Ltd\nSupport"),
        _ => assert_eq!(templates["signature"], json!(null), "schema {number}"),
    }
    let new = admin.create_vpc("new", &["10.0.0.0/24"]).await;
    assert_eq!(admin.get("/vpcs").await.ids(), [1, 300, 70000, new.0]);
    assert_eq!(
        admin
            .get("/account/events?after=0&page_size=500")
            .await
            .ids()
            .len(),
        events.len() + 2
    );
}

/// Asserts that the API returns the data of the columns and tables that migrations 13 to 18 add.
async fn assert_details_served(number: i64, admin: &User<'_>) {
    if number >= 13 {
        let instance = admin.get("/linode/instances/1").await.json();
        assert_eq!(instance["alerts"]["cpu"], 60, "schema {number}");
        assert_eq!(instance["maintenance_policy"], "linode/power_off_on");
        let disks = admin.get("/linode/instances/1/disks").await.data();
        let disks: Vec<_> = disks
            .iter()
            .map(|disk| [&disk["filesystem"], &disk["disk_encryption"], &disk["updated"]])
            .collect();
        assert_eq!(
            json!(disks),
            json!([
                ["ext4", "enabled", "2024-05-31T12:00:02"],
                ["swap", "enabled", "2024-05-31T12:00:01"],
            ]),
            "a disk without a change has the time of its creation"
        );
    }
    if number >= 14 {
        let ipv4 = admin.get("/linode/instances/1").await.json()["ipv4"].clone();
        assert_eq!(ipv4, json!(["192.0.2.2", "192.0.2.4", "192.168.128.1"]));
        let named = admin.get("/networking/ips/192.0.2.2").await.json();
        assert_eq!(named["rdns"], "web.example.com");
    }
    if number >= 15 {
        let tags = admin.get("/tags").await.data();
        assert_eq!(
            json!(tags),
            json!([{"label": "prod"}, {"label": "unused"}, {"label": "üñï"}])
        );
        assert_eq!(admin.count("/tags/prod").await, 2);
        assert_eq!(admin.get("/profile/sshkeys").await.ids(), [1]);
        assert_eq!(admin.get("/account/logins").await.ids(), [1, 2]);
    }
    if number >= 16 {
        let account = admin.get("/account").await.json();
        assert_eq!(
            (&account["email"], &account["city"]),
            (&json!("ada@example.com"), &json!("London"))
        );
        assert_eq!(
            admin.get("/account/settings").await.json()["network_helper"],
            false
        );
    }
    if number >= 18 {
        let vpc = admin.get("/vpcs/1").await.json();
        assert_eq!(vpc["ipv6"], json!([{"range": "fd67:6172::/52"}]));
        assert_eq!(vpc["subnets"][0]["ipv6"], json!([{"range": "fd67:6172::/62"}]));
        let networks = admin.get("/vpcs/ipv6s").await.data();
        let networks: Vec<_> = networks.iter().map(|record| &record["ipv6_range"]).collect();
        assert_eq!(networks, ["fd67:6172:0:1::/64", "fd67:6172:0:2::/64"]);
    }
}

/// Asserts that staff see the hosts of migration 19, and that the secrets of their agents are valid.
async fn assert_hosts_served(app: &TestApp, staff: &User<'_>) {
    let hosts = staff.get("/hosts").await.data();
    let hosts: Vec<_> = hosts
        .iter()
        .map(|host| [&host["label"], &host["status"], &host["instances"]])
        .collect();
    assert_eq!(
        json!(hosts),
        json!([["rack-1", "offline", 1], ["rack-2", "draining", 0]])
    );
    let warnings = &staff.get("/hosts/1").await.json()["warnings"];
    assert_eq!(
        *warnings,
        json!(["the MTU of the underlay is 9000", "a second problem"])
    );
    let agent = app.with_token(&format!("garth_host_{}", "c5".repeat(32)));
    let report = json!({"protocol": 1, "applied_revision": 3, "agent_version": "0.2.0"});
    assert_eq!(agent.post("/agent/status", report).await.status, 200);
    let token = format!("garth_join_{}", "7a".repeat(32));
    let joined = app.anonymous().post("/agent/join", json!({"token": token})).await;
    assert_eq!(joined.json()["label"], "rack-2");
}
