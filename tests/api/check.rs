//! `garth check`: the test violates every invariant in the database once, and the check finds the violation.

use std::collections::HashSet;

use garth::rules::Error;
use garth::store::Store;
use garth::store::check::{self, Finding};
use hyper::Method;
use serde_json::json;

use crate::engine::Engine;
use crate::harness::{TestApp, User};

/// For each invariant, statements that break it.
const BREAKS: &[(&str, &str)] = &[
    (
        "applied migrations match this build",
        "UPDATE migration SET checksum = 'x' WHERE number = 3",
    ),
    (
        "applied migrations match this build",
        "UPDATE migration SET name = 'other' WHERE number = 3",
    ),
    ("the indexes of the schema exist", "DROP INDEX vpc_label"),
    (
        ACCEPTED_VALUES,
        "UPDATE instance SET status = 'sleepy' WHERE id = 1",
    ),
    (
        ACCEPTED_VALUES,
        "UPDATE app_user SET email = 'nowhere' WHERE id = 1",
    ),
    (ACCEPTED_VALUES, "UPDATE vpc SET label = '' WHERE id = 1"),
    (ACCEPTED_VALUES, "UPDATE token SET scopes = 'all' WHERE id = 1"),
    (ACCEPTED_VALUES, "UPDATE ticket SET status = 'lost' WHERE id = 1"),
    (
        ACCEPTED_VALUES,
        "INSERT INTO saved_view (created_by, label, is_shared, filters, created) VALUES ('x', '', 1, '', 0)",
    ),
    (
        "saved views without an owner are shared",
        "INSERT INTO saved_view (created_by, label, is_shared, filters, created) VALUES ('x', 'x', 0, '', 0)",
    ),
    (
        "merged tickets are closed, and another ticket of the account continues them",
        "UPDATE ticket SET merged_into = 1 WHERE id = 1",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO mail_count (outcome, reason, messages, last_received) VALUES ('lost', 'x', 1, 0)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO mail_text (name, content) VALUES ('lost.closing', 'x')",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO mail_text (name, content) VALUES ('reply.closing', '')",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO outgoing_mail (kind, address, message_id, state, maybe_repeated, attempts, queued, sent)
         VALUES ('ticket', 'ada@example.com', 'x@example.com', 'lost', 0, 1, 0, 0)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO suppressed_address (address, status, since) VALUES ('nowhere', '550 5.1.1', 0)",
    ),
    (
        "a mail has a sending time if and only if it was sent",
        "INSERT INTO outgoing_mail (kind, address, message_id, state, maybe_repeated, attempts, queued)
         VALUES ('ticket', 'ada@example.com', 'x@example.com', 'sent', 0, 1, 0)",
    ),
    (
        "a mail that is not sent yet has a job",
        "INSERT INTO outgoing_mail (kind, address, message_id, state, maybe_repeated, attempts, queued)
         VALUES ('ticket', 'ada@example.com', 'x@example.com', 'queued', 0, 0, 0)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO ticket_tag (ticket, label) VALUES (1, 'Upper, case')",
    ),
    (
        ACCEPTED_VALUES,
        "UPDATE attachment SET file_key = '../escape' WHERE id = 1",
    ),
    ("ID sequences are not behind the IDs in use", RESET_SEQUENCE),
    (
        "every foreign key refers to an existing row",
        "UPDATE disk SET instance = 77 WHERE id = 1",
    ),
    (
        SUBNETS_DO_NOT_OVERLAP,
        "UPDATE subnet SET ipv4 = '10.0.0.0/23', last_address = last_address + 256 WHERE id = 1",
    ),
    (
        "stored first and last addresses match the range",
        "UPDATE subnet SET ipv4 = '10.9.0.0/24' WHERE id = 3",
    ),
    (
        "VPC interfaces have an address and a subnet of the same VPC",
        "UPDATE interface SET subnet = 3 WHERE id = 1",
    ),
    (
        "addresses are usable addresses of their subnet",
        "UPDATE interface SET address = address + 1000 WHERE id = 1",
    ),
    (
        "routed ranges are inside their subnet",
        "UPDATE interface_range SET subnet = 2",
    ),
    (
        "an address either belongs to one instance or is free",
        "DELETE FROM free_range WHERE subnet = 1",
    ),
    (
        "an address either belongs to one instance or is free",
        "UPDATE interface SET address = (SELECT address FROM interface WHERE id = 1) WHERE id = 2",
    ),
    (
        "IPv6 ranges of VPCs do not overlap",
        "INSERT INTO ipv6_prefix (first_address, last_address, account, released)
         SELECT substr(first_address, 1, 31) || '1', last_address, account, 0 FROM ipv6_prefix",
    ),
    (
        "VPCs have the IPv6 ranges that are reserved for them",
        "UPDATE vpc SET ipv6 = 'fd000000000000000000000000000000/052' WHERE ipv6 IS NOT NULL",
    ),
    (
        "an IPv6 range either has a VPC of its account or a time of release",
        "UPDATE ipv6_prefix SET released = 1",
    ),
    (
        "IPv6 ranges of subnets are inside the range of their VPC",
        "UPDATE subnet SET ipv6 = 'fd000000000000000000000000000000/056' WHERE ipv6 IS NOT NULL",
    ),
    (
        "IPv6 networks of interfaces are usable /64s of their subnet",
        "UPDATE interface_range6 SET first_address = substr(last_address, 1, 16) || '8000000000000000'",
    ),
    (
        "IPv6 networks belong to the subnet and the instance of their interface",
        "UPDATE interface_range6 SET instance = 1",
    ),
    (
        "VPC interfaces have IPv6 settings exactly if their subnet has an IPv6 range",
        "UPDATE interface SET ipv6_is_public = 0 WHERE id = 1",
    ),
    (
        "an IPv6 range of the pool either has a VPC or is free",
        "DELETE FROM pool_free_range6",
    ),
    (
        "an IPv6 range of a VPC either has a subnet or is free",
        "DELETE FROM vpc_free_range6",
    ),
    (
        "an IPv6 network of a subnet either has an instance or is free",
        "DELETE FROM free_range6",
    ),
    (
        "interfaces belong to the instance of their config",
        "UPDATE interface SET instance = 2 WHERE id = 1",
    ),
    (
        "routed ranges belong to the subnet and the instance of their interface",
        "UPDATE interface_range SET instance = 2",
    ),
    (
        "instances are in the region of their VPCs",
        "UPDATE instance SET region = 'eu-west' WHERE id = 1",
    ),
    (ACCEPTED_VALUES, "UPDATE port SET status = 'asleep'"),
    (
        ACCEPTED_VALUES,
        "UPDATE host SET underlay_address = 'here' WHERE id = 1",
    ),
    (
        "instances are on hosts of their region",
        "UPDATE host SET region = 'us-ord' WHERE id = 1",
    ),
    (
        "only instances that run or boot are on a host",
        "INSERT INTO placement (instance, host) VALUES (1, 1)",
    ),
    (
        "ports are on the host of their instance",
        "UPDATE port SET host = 2",
    ),
    (
        "ports belong to the instance and the VPC of their interface",
        "UPDATE port SET vpc = 1",
    ),
    (
        "active VPC interfaces of instances on hosts have ports",
        "DELETE FROM port",
    ),
    (
        "hosts have a revision for each VPC with ports, and no other",
        "INSERT INTO host_vpc (host, vpc, revision) VALUES (2, 1, 1)",
    ),
    (
        "the revision of a host is not behind its VPCs and ports",
        "UPDATE host_revision SET revision = 0",
    ),
    (
        "every subnet of a VPC with ports has a tunnel",
        "DELETE FROM tunnel",
    ),
    (
        "the traffic of instances is not negative",
        "UPDATE instance_traffic SET sent_bytes = -1",
    ),
    (
        "hosts have keys only of the generations of their region",
        "INSERT INTO host_key (host, generation, public_key, created) VALUES (1, 7, 'key', 1)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO region_encryption
             (region, is_enabled, key_days, generation, oldest_generation, rotated, updated)
         VALUES ('us-east', 1, 0, 1, 1, 1, 1)",
    ),
    (
        "secrets of hosts are stored as hashes",
        "UPDATE host_credential SET hash = 'secret'",
    ),
    (
        "an active interface belongs to the running config",
        "UPDATE interface SET active = 1 - active WHERE id = 1",
    ),
    (
        "the running and the last booted config belong to the instance",
        "UPDATE instance SET last_config = 77 WHERE id = 1",
    ),
    (
        "devices of configs are disks of the same instance",
        "UPDATE config SET devices = '77,,,,,,,' WHERE id = 1",
    ),
    (
        "1:1 NAT uses a public address of the same instance",
        "UPDATE interface SET nat_1_1 = 5 WHERE id = 1",
    ),
    (
        "additional addresses count against the limit of the instance's account",
        "UPDATE public_address SET additional_of = 2 WHERE instance = 1",
    ),
    (
        "instance.tags matches the rows in instance_tag",
        "UPDATE instance SET tags = '' WHERE id = 1",
    ),
    ("tags of instances exist in their account", "DELETE FROM tag"),
    (
        "tags that no user has created are in use",
        "INSERT INTO tag (account, label, is_permanent) VALUES (1, 'unused', 0)",
    ),
    ("tickets count their replies", "UPDATE ticket SET replies = 5"),
    ("tickets count their notes", "UPDATE ticket SET notes = 5"),
    (
        "a ticket has a closing time if and only if it is closed",
        "UPDATE ticket SET is_closed = 1",
    ),
    (
        "the history of a ticket refers to parts of the ticket",
        "UPDATE reply SET ticket = 2 WHERE id = 1",
    ),
    (SEARCH_INDEX, "DELETE FROM ticket_text"),
    (
        SEARCH_INDEX,
        "UPDATE reply SET description = 'Goodbye' WHERE id = 1",
    ),
    (
        SEARCH_INDEX,
        "INSERT INTO ticket_text (ticket, body) VALUES (77, 'words')",
    ),
    (
        "the disks of an instance fit the storage of its plan",
        "UPDATE disk SET size = 999999 WHERE id = 1",
    ),
    (
        "instances have a plan that exists",
        "UPDATE instance SET plan = 'g0-none' WHERE id = 1",
    ),
    (
        "attachments have a size, a hash and a verification time",
        "DELETE FROM attachment_check",
    ),
    (
        "a file is an attachment or an upload, not both",
        "INSERT INTO upload (file_key, begun) SELECT file_key, 0 FROM attachment",
    ),
    (
        "grants have a known permission",
        "INSERT INTO entity_grant (app_user, kind, entity, permission) VALUES (1, 'vpc', 1, 'all')",
    ),
    (
        "grants are on objects of the user's account",
        "INSERT INTO entity_grant (app_user, kind, entity, permission) VALUES (1, 'vpc', 2, 'read_only');
         UPDATE vpc SET account = 2 WHERE id = 2",
    ),
    (
        "staff have no account grants",
        "INSERT INTO global_grant (app_user, name) VALUES (2, 'add_vpcs')",
    ),
    (
        "exactly the members of staff have a role",
        "UPDATE app_user SET staff_role = NULL WHERE id = 2",
    ),
    (
        "exactly the members of staff have a role",
        "UPDATE app_user SET staff_role = 'support' WHERE id = 1",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO announcement (title, body, severity, starts, created, updated)
         VALUES ('x', 'x', 'dire', 0, 0, 0)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO catalog_region (name, label, country, capabilities, status, retired, updated)
         VALUES ('', 'x', 'us', '', 'ok', 0, 0)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO catalog_plan (name, label, class, memory, disk, transfer, vcpus, gpus, network_out, hourly, monthly,
             region_prices, retired, updated)
         VALUES ('x', 'x', 'standard', 1, 1, 1, 1, 0, 0, 0, 0, 'free us-east', 0, 0)",
    ),
    (
        "stored plans have no negative sizes and prices",
        "INSERT INTO catalog_plan (name, label, class, memory, disk, transfer, vcpus, gpus, network_out, hourly, monthly,
             region_prices, retired, updated)
         VALUES ('y', 'y', 'standard', 1, 1, 1, 1, 0, 0, -1, 0, '', 0, 0)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO branding (id, accent_color, support_links, updated) VALUES (1, '#ffffff', '', 0)",
    ),
    (
        ACCEPTED_VALUES,
        "INSERT INTO branding (id, support_links, updated) VALUES (1, 'javascript:x Help', 0)",
    ),
    (
        "the brand has one row, with complete images",
        "INSERT INTO branding (id, support_links, updated) VALUES (2, '', 0)",
    ),
    (
        "the brand has one row, with complete images",
        "INSERT INTO branding (id, support_links, logo_format, logo_hash, updated) VALUES (1, '', 'svg', 'x', 0)",
    ),
    (ACCEPTED_VALUES, "UPDATE account SET status = 'lost' WHERE id = 1"),
    (
        "staff authorize only OAuth clients of the provider",
        "INSERT INTO oauth_grant (client, app_user, scopes, created) SELECT id, 2, '*', 0 FROM oauth_client",
    ),
    (
        "OAuth tokens belong to the user of their authorization",
        "UPDATE token SET oauth_grant = 77 WHERE id = 1",
    ),
    (
        "tokens and passwords are stored as hashes",
        "UPDATE app_user SET password = 'secret' WHERE id = 1",
    ),
    (
        "quotas are not negative",
        "UPDATE account SET vpcs_per_region = -1",
    ),
    (
        "every account has a revision",
        "DELETE FROM account_revision WHERE account = 2",
    ),
    (
        "logged changes belong to revisions that exist",
        "UPDATE account_revision SET revision = 1 WHERE account = 1",
    ),
    (
        "events are in the order of their IDs",
        "UPDATE event SET created = created - 7200000000 WHERE id = 2",
    ),
    (
        "objects created within the retention of events have a creation event",
        "DELETE FROM event WHERE action = 'vpc_create'",
    ),
    (
        "stored counts match the number of rows",
        "UPDATE tally SET items = items + 1 WHERE collection = 'vpc' AND span = 256",
    ),
    (
        "stored counts match the number of rows",
        "DELETE FROM tally WHERE collection = 'attachment_bytes' AND span = 65536",
    ),
];

const SUBNETS_DO_NOT_OVERLAP: &str = "subnets of a VPC do not overlap";
const SEARCH_INDEX: &str = "the search index matches the texts of tickets";
const ACCEPTED_VALUES: &str = "every row has values that Garth accepts";
const ROWS_ARE_READABLE: &str = "every row can be read and has values of the right types";
/// `BREAKS` uses this name for the statement that differs between the engines.
const RESET_SEQUENCE: &str = "reset the sequence";

#[tokio::test]
async fn a_store_in_use_has_no_findings() {
    let app = filled().await;
    assert_eq!(findings(&app).await, []);
}

#[tokio::test]
async fn every_invariant_is_checked() {
    let mut app = filled().await;
    let mut broken: HashSet<&str> = HashSet::new();
    for (invariant, sql) in BREAKS {
        // If an earlier statement has already broken this invariant, start with a new store.
        if broken.contains(invariant) {
            app = filled().await;
        }
        let sql = match (*sql, Engine::chosen()) {
            (RESET_SEQUENCE, Engine::Embedded) => "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'vpc'",
            (RESET_SEQUENCE, _) => "SELECT setval('vpc_id_seq', 1)",
            (sql, _) => sql,
        };
        if Engine::chosen() == Engine::Postgres && *invariant == SUBNETS_DO_NOT_OVERLAP {
            let constraint = "ALTER TABLE subnet DROP CONSTRAINT subnet_no_overlap";
            app.home().damage(constraint).await;
        }
        app.home().damage(sql).await;
        let found = findings(&app).await;
        broken = found.iter().map(|finding| finding.invariant).collect();
        assert!(broken.contains(invariant), "{invariant}: {sql}\n{found:#?}");
    }
    // PostgreSQL enforces the types of columns.
    if Engine::chosen() == Engine::Embedded {
        let app = filled().await;
        app.home()
            .damage("UPDATE vpc SET created = 'noon' WHERE id = 1")
            .await;
        let found = findings(&app).await;
        assert!(
            found.iter().any(|finding| finding.invariant == ROWS_ARE_READABLE),
            "{found:#?}"
        );
    }
    let tested: Vec<_> = BREAKS.iter().map(|(invariant, _)| *invariant).collect();
    for invariant in check::invariants() {
        let is_tested = tested.contains(&invariant.name) || invariant.name == ROWS_ARE_READABLE;
        assert!(is_tested, "no test breaks \"{}\"", invariant.name);
    }
}

/// Such an interface is inactive until the next boot.
#[tokio::test]
async fn an_interface_that_was_added_to_a_running_config_is_not_a_finding() {
    let app = filled().await;
    let ada = app.user("bea").await;
    assert_eq!(ada.post("/linode/instances/3/boot", json!({})).await.status, 200);
    let public = json!({"purpose": "public"});
    let added = ada.post("/linode/instances/3/configs/3/interfaces", public).await;
    assert_eq!(
        (added.status.as_u16(), &added.json()["active"]),
        (200, &json!(false))
    );
    assert_eq!(findings(&app).await, []);
}

#[tokio::test]
async fn a_value_that_the_model_refuses_is_named() {
    let app = filled().await;
    app.home()
        .damage("UPDATE instance SET status = 'sleepy' WHERE id = 2")
        .await;
    let found = findings(&app).await;
    let texts: Vec<_> = found
        .iter()
        .map(|finding| (finding.object.as_str(), finding.problem.as_str()))
        .collect();
    assert_eq!(
        texts,
        [(
            "table instance, row 2",
            "has a value in column status that Garth does not accept"
        )]
    );
}

#[tokio::test]
async fn a_long_list_of_findings_is_cut() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    for number in 0..103 {
        ada.create_vpc(&format!("vpc-{number}"), &[]).await;
    }
    app.home().damage("DELETE FROM event").await;
    let found = findings(&app).await;
    let creations = "objects created within the retention of events have a creation event";
    let listed: Vec<_> = found
        .iter()
        .filter(|finding| finding.invariant == creations)
        .collect();
    assert_eq!(listed.len(), 101);
    assert_eq!(listed[100].problem, "3 more findings are not listed");
}

/// Asserts at the end of a test that its store has no findings.
pub fn assert_sound(store: &Store) {
    let store = store.clone();
    let checking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(check_all(&store))
    });
    assert_eq!(checking.join().expect("the check ends"), []);
}

async fn findings(app: &TestApp) -> Vec<Finding> {
    app.omit_check();
    check_all(&app.store).await
}

async fn check_all(store: &Store) -> Vec<Finding> {
    let found = store.read_once(|tx| {
        let mut found = Vec::new();
        for invariant in check::invariants() {
            found.extend(invariant.check(tx)?);
        }
        Ok::<_, Error>(found)
    });
    found.await.expect("the store can be read")
}

/// A running instance on one of two hosts of another region.
async fn run_on_host(ada: &User<'_>, sam: &User<'_>) {
    let region = "us-west";
    let vpc = json!({"label": "far", "region": region, "subnets": [{"label": "web", "ipv4": "10.0.0.0/24"}]});
    assert_eq!(ada.post("/vpcs", vpc).await.status, 200);
    for number in 1..=2 {
        let address = format!("172.31.0.{number}");
        let host = json!({"label": format!("rack-{number}"), "region": region, "underlay_address": address});
        assert_eq!(sam.post("/hosts", host).await.status, 200);
    }
    let token = sam.post("/hosts/1/join-token", json!({})).await.json()["token"].clone();
    let joined = sam
        .app
        .anonymous()
        .post("/agent/join", json!({"token": token}))
        .await;
    let credential = joined.json()["credential"]
        .as_str()
        .expect("a credential")
        .to_owned();
    let agent = sam.app.with_token(&credential);
    let traffic = json!({"received_bytes": 9, "received_packets": 1, "sent_bytes": 9, "sent_packets": 1});
    let ports = json!([{"interface_id": 4, "status": "up", "traffic": traffic}]);
    let report = json!({"protocol": 1, "applied_revision": 99, "agent_version": "0.2.0", "ports": ports});
    assert_eq!(agent.post("/agent/status", report.clone()).await.status, 200);
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 5}]);
    let body = json!({"region": region, "type": "g6-nanode-1", "interfaces": interfaces, "booted": true});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    assert_eq!(agent.post("/agent/status", report).await.status, 200);
    assert_eq!(ada.get("/linode/instances/4").await.json()["status"], "running");
}

/// A server with at least one object of every kind.
async fn filled() -> TestApp {
    let app = TestApp::new().await;
    app.another_account().await;
    let ada = app.user("ada").await;
    let sam = app.user("sam").staff().await;
    ada.create_vpc("core", &["10.0.0.0/24", "10.0.1.0/24"]).await;
    ada.create_vpc("other", &["10.0.0.0/24"]).await;
    for label in ["web", "database"] {
        let range = if label == "web" {
            json!(["10.0.0.64/28"])
        } else {
            json!([])
        };
        let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ip_ranges": range}]);
        let body = json!({"label": label, "region": "us-east", "type": "g6-nanode-1", "image": "linode/debian12",
            "root_pass": "Gx7!kq2#Lm9p", "tags": ["blue"], "interfaces": interfaces, "booted": false});
        let created = ada.post("/linode/instances", body).await;
        assert_eq!(created.status, 200, "{}", created.reason());
    }
    let subnets = json!([{"label": "v6", "ipv4": "10.0.0.0/24", "ipv6": [{"range": "auto"}]}]);
    let dual = json!({"label": "dual", "region": "us-east", "ipv6": [{"range": "/52"}], "subnets": subnets});
    assert_eq!(ada.post("/vpcs", dual).await.status, 200);
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 4}]);
    let body = json!({"label": "dual", "region": "us-east", "type": "g6-nanode-1", "interfaces": interfaces});
    assert_eq!(ada.post("/linode/instances", body).await.status, 200);
    run_on_host(&ada, &sam).await;
    for _ in 0..2 {
        ada.open_ticket("Help").await;
    }
    ada.attach_file(1, "trace.txt", "10.0.0.1 *").await;
    for (path, user) in [
        ("/support/tickets/1/replies", &ada),
        ("/desk/tickets/1/notes", &sam),
    ] {
        let body = json!({"description": "Hello"});
        let sent = user.call(Method::POST, path).json(&body).send().await;
        assert_eq!(sent.status(), 200);
    }
    let client = json!({"label": "dashboard", "redirect_uri": "https://example.com/back"});
    let created = ada.post("/account/oauth-clients", client).await;
    assert_eq!(created.status, 200, "{}", created.reason());
    app
}
