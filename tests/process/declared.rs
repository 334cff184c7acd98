//! `garth export` and `garth apply`.

use std::fs::File;

use serde_json::{Value, json};

use crate::client::Client;
use crate::harness::Folder;
use crate::process::{Process, ProcessOutput};

/// A document with every kind of object and field.
const COMPANY: &str = include_str!("declared/company.yaml");

fn apply(folder: &Folder, document: &str, options: &str) -> ProcessOutput {
    let file = folder.write("document.yaml", document);
    let mut command = folder.garth("apply");
    command.arg(file).args(options.split_whitespace());
    Process::spawn(&mut command).wait()
}

/// Applies a document, which must succeed, and returns the output.
fn applied(folder: &Folder, document: &str, options: &str) -> String {
    let output = apply(folder, document, options);
    assert_eq!(output.code, Some(0), "{output:?}");
    output.stdout
}

/// Everything that a client can see, and the events.
fn state(client: &mut Client) -> Vec<Value> {
    let paths = [
        "/v4/vpcs",
        "/v4/linode/instances",
        "/v4/vpcs/ips",
        "/v4/account/users",
        "/v4/account/events",
        "/v4/tags",
    ];
    paths.iter().map(|path| client.get(path).ok()).collect()
}

#[test]
fn a_document_is_applied_once_next_to_a_running_server() {
    let folder = Folder::new("apply");
    let server = folder.start();
    let mut admin = server.client();
    let before = state(&mut admin);

    let dry = applied(&folder, COMPANY, "--dry-run");

    let lines = "+ vpc core\n+ subnet core/web\n+ subnet core/data\n+ vpc spare\n+ instance web-1\n+ instance db-1\n\
                 + instance idle\n+ user ada\n+ user elif\n";
    let summary = "dry run, nothing is changed: 9 to create, 0 to change, 0 to delete\n";
    assert_eq!(dry, format!("{lines}{summary}"));
    assert_eq!(state(&mut admin), before, "a dry run changes nothing");

    let output = apply(&folder, COMPANY, "");

    assert_eq!(output.stdout, format!("{lines}9 created, 0 changed, 0 deleted\n"));
    assert!(
        output
            .stderr
            .contains("Not in the document (--prune deletes them): user admin"),
        "{output:?}"
    );
    let vpcs = admin.get("/v4/vpcs").ok();
    assert_eq!(
        vpcs["data"][0]["description"],
        "Networks: \"core\" # 1\nsecond line é 漢"
    );
    assert_eq!(vpcs["data"][0]["subnets"][1]["ipv4"], "10.0.1.0/24");
    let addresses = admin.get("/v4/vpcs/ips").ok();
    assert_eq!(addresses["data"][0]["address"], "10.0.0.10");
    assert_eq!(
        addresses["data"][0]["nat_1_1"],
        admin.get("/v4/linode/instances/1").ok()["ipv4"][0]
    );
    let instance = admin.get("/v4/linode/instances/1").ok();
    assert_eq!(
        (&instance["status"], &instance["image"]),
        (&json!("running"), &json!("linode/debian12"))
    );
    let grants = admin.get("/v4/account/users/elif/grants").ok();
    assert_eq!(
        (&grants["global"]["add_vpcs"], &grants["global"]["account_access"]),
        (&json!(true), &json!("read_only"))
    );
    assert_eq!(grants["vpc"][0]["permissions"], "read_write");
    let events = admin.get("/v4/account/events").ok();
    let authors: Vec<_> = events["data"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|event| &event["username"])
        .collect();
    assert!(
        authors.iter().all(|author| **author == json!("Support")),
        "{authors:?}"
    );

    let after = state(&mut admin);
    assert_eq!(applied(&folder, COMPANY, ""), "nothing to change\n");
    assert_eq!(state(&mut admin), after, "a second run changes nothing");
    let file = File::open(folder.path("document.yaml")).expect("the document was written");
    let piped = Process::spawn(folder.garth("apply -").stdin(file)).wait();
    assert_eq!(
        (piped.code, piped.stdout.as_str()),
        (Some(0), "nothing to change\n")
    );
    let view: Value = serde_json::from_str(&applied(&folder, COMPANY, "--json")).expect("the output is JSON");
    assert_eq!(
        view,
        json!({"dry_run": false, "changes": [], "unlisted": [{"kind": "user", "name": "admin"}]})
    );
    drop(server);
    folder.assert_sound();
}

#[test]
fn an_export_restores_the_same_state_in_an_empty_store() {
    let (folder, copy) = (Folder::new("export"), Folder::new("export-copy"));
    let server = folder.start();
    applied(&folder, COMPANY, "");
    let mut admin = server.client();
    // The IPv6 range of the copy must be that of the document, not the lowest free one.
    admin
        .post(
            "/v4/vpcs",
            json!({"label": "a-dual", "region": "us-east", "ipv6": [{"range": "auto"}]}),
        )
        .ok();
    let elif = folder.run("token create --user elif");
    let exported = folder.run("export");
    assert_eq!(
        folder.run("export --account 1"),
        exported,
        "two exports are equal"
    );
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(folder.run("export"), exported, "a stopped server");
    assert!(
        !exported.contains(elif.trim()) && !exported.contains("pass"),
        "{exported}"
    );
    for expected in [
        "version: 1\nvpcs:\n  - label: a-dual\n",
        "nat_1_1: any",
        "      - range: \"fd67:6172::/52\"\n",
        "      - purpose: vlan\n        label: backup\n        ipam_address: \"10.9.0.1/24\"\n",
        "      global:\n        - add_linodes\n        - add_vpcs\n",
    ] {
        assert!(exported.contains(expected), "{expected}: {exported}");
    }
    let server = copy.start();
    assert_eq!(server.stop().code, Some(0));

    applied(&copy, &exported, "--prune");

    assert_eq!(copy.run("export"), exported);
    assert_eq!(applied(&copy, &exported, "--prune"), "nothing to change\n");
    let json = copy.run("export --format json");
    assert_eq!(copy.run("--json export"), json);
    assert_eq!(
        serde_json::from_str::<Value>(&json).expect("the export is JSON")["vpcs"][1]["label"],
        "core"
    );
    assert_eq!(applied(&copy, &json, ""), "nothing to change\n");
    copy.assert_sound();
}

#[test]
fn a_change_of_the_document_changes_only_what_differs() {
    let folder = Folder::new("apply-changes");
    let server = folder.start();
    applied(&folder, COMPANY, "");
    let changed = COMPANY
        .replace("label: core\n  region", "label: Core\n  region")
        .replace("- label: spare\n  region: us-mia\n", "")
        .replace("tags: [web, blue]", "tags: [green]")
        .replace("subnet: data\n", "subnet: data\n    ipv4: {vpc: 10.0.1.77}\n")
        .replace("elif@acme", "e@acme")
        .replace("    global: [add_linodes, add_vpc]\n", "")
        .replace(
            "    instances:\n    - label: db-1\n      permissions: read_only\n",
            "",
        )
        .replace("- label: idle\n  region: us-mia\n  type: g6-nanode-1\n", "");

    let output = applied(&folder, &changed, "");

    let expected = "~ vpc core: label\n~ instance web-1: tags\n~ instance db-1: interfaces\n~ user elif: email\n\
                    ~ user elif: grants\n0 created, 5 changed, 0 deleted\n";
    assert_eq!(output, expected);
    let mut admin = server.client();
    assert_eq!(admin.get("/v4/vpcs/1").ok()["label"], "Core");
    assert_eq!(admin.get("/v4/linode/instances/1").ok()["tags"], json!(["green"]));
    let ips = admin.get("/v4/vpcs/ips").ok();
    assert!(ips.to_string().contains("10.0.1.77"), "{ips}");
    let grants = admin.get("/v4/account/users/elif/grants").ok();
    assert_eq!(grants["global"]["add_linodes"], false);
    assert_eq!(grants["linode"][1]["permissions"], Value::Null);
    assert_eq!(grants["vpc"][0]["permissions"], "read_write");
    assert_eq!(
        admin.get("/v4/vpcs").ok()["results"],
        2,
        "nothing is deleted without --prune"
    );

    // Only the lists of the document are pruned.
    let networks = changed
        .split("users:")
        .next()
        .expect("a document has a beginning");
    let output = applied(&folder, networks, "--prune");

    assert_eq!(
        output,
        "- instance idle\n- vpc spare\n0 created, 0 changed, 2 deleted\n"
    );
    assert_eq!(admin.get("/v4/account/users").ok()["results"], 3);
    let output = applied(
        &folder,
        "users: [{username: admin, email: admin@localhost}]",
        "--prune",
    );
    assert_eq!(
        output,
        "- user ada\n- user elif\n0 created, 0 changed, 2 deleted\n"
    );
    assert_eq!(admin.get("/v4/vpcs").ok()["results"], 1);
    drop(server);
    folder.assert_sound();
}

#[test]
fn a_refused_document_changes_nothing_and_names_the_place() {
    let folder = Folder::new("apply-refused");
    let server = folder.start();
    let mut admin = server.client();
    applied(&folder, COMPANY, "");
    let before = state(&mut admin);
    let cases = [
        // The first VPC could be created.
        (
            "vpcs: [{label: new, region: us-east}, {label: core, region: us-east, subnets: [{label: web, \
             ipv4: 10.0.0.0/24}, {label: over, ipv4: 10.0.0.128/25}]}]",
            "vpcs[1].subnets[1].ipv4: overlaps 10.0.0.0/24 (web)",
        ),
        (
            "vpcs: [{label: new, region: us-east, subnets: [{label: a, ipv4: 10.0.0.0/24}, {label: b, ipv4: 8.8.8.0/24}]}]",
            "vpcs[0].subnets[1].ipv4: ",
        ),
        (
            "vpcs: [{label: a b, region: us-east}]",
            "vpcs[0].label: Must only use ASCII letters",
        ),
        (
            "vpcs: [{label: new, region: moon}]",
            "vpcs[0].region: region is not valid",
        ),
        (
            "vpcs: [{label: new, region: us-east, ipv6: [{range: 'fd67:6172::/52'}]}]",
            "vpcs[0].ipv6[0].range: overlaps the IPv6 range of another VPC",
        ),
        (
            "vpcs: [{label: new, region: us-east, ipv6: [{range: 'fd99::/52'}]}]",
            "vpcs[0].ipv6[0].range: Must be inside fd67:6172::/32",
        ),
        (
            "vpcs: [{label: core, region: us-mia}]",
            "vpcs[0].region: is us-east and cannot be changed",
        ),
        (
            "instances: [{label: i, region: us-mia, type: g6-nanode-1, interfaces: [{purpose: vpc, vpc: core, subnet: web}]}]",
            "instances[0].interfaces[0].subnet: The VPC is in us-east and the instance in us-mia",
        ),
        (
            "instances: [{label: i, region: us-east, type: g6-nanode-1, interfaces: [{purpose: vpc, vpc: core, \
             subnet: web, ipv4: {vpc: 10.0.0.10}}]}]",
            "instances[0].interfaces[0].ipv4.vpc: ",
        ),
        (
            "instances: [{label: web-1, region: us-east, type: g6-nanode-1, interfaces: []}]",
            "instances[0]: The interface is active because web-1 is running",
        ),
        (
            "users: [{username: elif, email: none}]",
            "users[0].email: Must be an e-mail address",
        ),
        (
            "users: [{username: elif, email: elif@acme.example, grants: {vpcs: [{label: spare, permissions: all}]}}]",
            "users[0].grants.vpcs[0].permissions: Must be read_only or read_write",
        ),
        (
            "users: [{username: elif, email: elif@acme.example, grants: {global: [add_vpcs, add_all]}}]",
            "users[0].grants.global[1]: ",
        ),
        (
            "vpcs: [{label: new, region: us-east, subnet: []}]",
            "vpcs[0].subnet: unknown key; did you mean subnets?",
        ),
        ("vpcs: [{label: new}]", "vpcs[0].region: is required"),
        ("vpcs: [", "line 1"),
        (
            "instances: [{label: web-1, region: us-east, type: g6-nanode-1, tags: [zebra, x]}]",
            "instances[0].tags[1]: ",
        ),
        (
            "users: [{username: admin, email: admin@localhost, restricted: true}, {username: ada, \
             email: ada@acme.example, restricted: true}]",
            "users: the account would have no unrestricted user",
        ),
    ];
    for (document, expected) in cases {
        for options in ["", "--dry-run"] {
            let output = apply(&folder, document, options);
            assert_eq!(
                (output.code, output.stdout.as_str()),
                (Some(1), ""),
                "{document}: {output:?}"
            );
            assert!(output.stderr.contains(expected), "{document}: {}", output.stderr);
        }
        assert_eq!(state(&mut admin), before, "{document}");
    }
    let repeated = apply(&folder, "vpcs: []\nvpcs: []", "");
    assert!(
        repeated.stderr.contains("a key is used twice: vpcs"),
        "{repeated:?}"
    );
    assert!(!repeated.stderr.contains("Options"), "{repeated:?}");
    let printed = apply(&folder, "vpcs: [{label: new}]", "--json");
    let errors: Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let expected = json!({"errors": [{"field": "vpcs[0].region", "reason": "is required"}]});
    assert_eq!((printed.code, errors), (Some(1), expected));
    let last = "users: [{username: elif, email: elif@acme.example}]";
    let last = apply(&folder, last, "--prune");
    assert!(
        last.stderr
            .contains("users: the account would have no unrestricted user"),
        "{last:?}"
    );
    assert_eq!(state(&mut admin), before);
    let pruned = apply(&folder, "vpcs: []", "--prune");
    assert!(
        pruned
            .stderr
            .contains("vpcs: cannot delete the VPC core: Subnet web is in use by instance 1 (web-1)"),
        "{pruned:?}"
    );
    assert_eq!(state(&mut admin), before);
}

#[test]
fn the_account_must_be_chosen_if_there_are_several() {
    let folder = Folder::new("apply-accounts");
    let server = folder.start();
    folder.run("account create --email it@acme.example --company Acme");
    for command in ["export", "apply -"] {
        let refused = Process::spawn(&mut folder.garth(command)).wait();
        assert_eq!(refused.code, Some(1));
        for expected in [
            "choose one with --account",
            "--account 1  admin@localhost",
            "--account 2  Acme, it@acme.example",
        ] {
            assert!(refused.stderr.contains(expected), "{command}: {}", refused.stderr);
        }
    }
    let unknown = apply(&folder, COMPANY, "--account 7");
    assert!(
        unknown.code == Some(1) && unknown.stderr.contains("account 7: not found"),
        "{unknown:?}"
    );

    // The account has no users.
    let output = applied(&folder, COMPANY, "--account 2");

    assert!(output.contains("9 created"), "{output}");
    assert_eq!(server.client().get("/v4/vpcs").ok()["results"], 0);
    let (_, token) = folder.create_token("ada");
    assert_eq!(server.client_with(&token).get("/v4/vpcs").ok()["results"], 2);
    let taken = apply(
        &folder,
        "users: [{username: Ada, email: x@y.example}]",
        "--account 1",
    );
    assert!(
        taken.stderr.contains("users[0].username: Username is taken"),
        "{taken:?}"
    );
    folder.run("account suspend 2");
    assert_eq!(applied(&folder, COMPANY, "--account 2"), "nothing to change\n");
    applied(&folder, "{vpcs: [], instances: []}", "--account 2 --prune");
    folder.run("account close 2");
    let closed = apply(&folder, COMPANY, "--account 2");
    assert!(
        closed.stderr.contains("account of the user is closed"),
        "{closed:?}"
    );
    assert_eq!(
        applied(&folder, "vpcs: []", ""),
        "nothing to change\n",
        "only one account is open"
    );
}

#[test]
fn the_interfaces_are_those_of_the_booted_config() {
    let folder = Folder::new("apply-configs");
    let server = folder.start();
    let mut admin = server.client();
    let document = "
vpcs: [{label: core, region: us-east, subnets: [{label: web, ipv4: 10.0.0.0/24}, {label: old, ipv4: 10.0.1.0/24}]}]
instances:
- {label: one, region: us-east, type: g6-nanode-1, interfaces: [{purpose: vpc, vpc: core, subnet: old}]}
- {label: two, region: us-east, type: g6-nanode-1}
";
    let document = document
        .replace("label: one", "label: one-1")
        .replace("label: two", "label: two-2");
    applied(&folder, &document, "");
    let interfaces = json!([{"purpose": "vpc", "subnet_id": 1, "ipv4": {"vpc": "10.0.0.77"}}]);
    let body = json!({"label": "other", "interfaces": interfaces});
    let config = admin.post("/v4/linode/instances/1/configs", body).ok()["id"].clone();
    let exported = folder.run("export");
    assert!(
        exported.contains("10.0.1.2") && !exported.contains("10.0.0.77"),
        "{exported}"
    );
    admin
        .post("/v4/linode/instances/1/boot", json!({"config_id": config}))
        .ok();
    let exported = folder.run("export");
    assert!(
        !exported.contains("10.0.1.2") && exported.contains("10.0.0.77"),
        "{exported}"
    );
    admin.post("/v4/linode/instances/1/shutdown", json!({})).ok();

    // The instance without a config gets one. The other config still uses the subnet that is not listed.
    let changed = document
        .replace(", {label: old, ipv4: 10.0.1.0/24}", "")
        .replace("subnet: old", "subnet: web")
        .replace(
            "label: two-2, region: us-east,",
            "label: two-2, region: us-east, interfaces: [{purpose: public}],",
        );
    let refused = apply(&folder, &changed, "--prune");
    assert!(
        refused
            .stderr
            .contains("vpcs[0].subnets: cannot delete the subnet old: Subnet old is in use"),
        "{refused:?}"
    );
    admin.delete("/v4/linode/instances/1/configs/1").ok();
    let output = applied(&folder, &changed, "--prune");
    assert_eq!(
        output,
        "- subnet core/old\n~ instance two-2: interfaces\n0 created, 1 changed, 1 deleted\n"
    );
    let configs = admin.get("/v4/linode/instances/2/configs").ok();
    assert_eq!(configs["data"][0]["interfaces"][0]["purpose"], "public");
    assert_eq!(applied(&folder, &changed, "--prune"), "nothing to change\n");
}

#[test]
fn lists_longer_than_a_page_are_compared_completely() {
    let folder = Folder::new("apply-pages");
    let server = folder.start();
    let item =
        |kind: &str, at: usize, fields: &str| format!("- {{label: {kind}-{at}, region: us-east{fields}}}\n");
    let vpcs: String = (0..501).map(|at| item("vpc", at, "")).collect();
    let instances: String = (0..501)
        .map(|at| item("instance", at, ", type: g6-nanode-1"))
        .collect();
    let document = format!("vpcs:\n{vpcs}instances:\n{instances}");
    assert!(applied(&folder, &document, "").ends_with("1002 created, 0 changed, 0 deleted\n"));

    assert_eq!(applied(&folder, &document, "--prune"), "nothing to change\n");

    let exported: Value =
        serde_json::from_str(&folder.run("export --format json")).expect("the export is JSON");
    let length = |name: &str| exported[name].as_array().map(Vec::len);
    assert_eq!((length("vpcs"), length("instances")), (Some(501), Some(501)));
    drop(server);
}

#[test]
fn a_pruned_vpc_is_listed_with_its_subnets() {
    let folder = Folder::new("apply-pruned-subnets");
    let _server = folder.start();
    let vpc = "vpcs: [{label: core, region: us-east, subnets: [{label: web, ipv4: 10.0.0.0/24}]}]";
    applied(&folder, vpc, "");
    assert_eq!(
        applied(&folder, "vpcs: []", "--prune"),
        "- vpc core\n- subnet core/web\n0 created, 0 changed, 2 deleted\n"
    );
}
