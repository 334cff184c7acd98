//! Commands with which the provider manages accounts and staff, next to a running server.

use serde_json::json;

use crate::harness::Folder;
use crate::process::Process;

#[test]
fn commands_change_roles_and_protect_the_last_admin() {
    let folder = Folder::new("roles");
    let server = folder.start();
    folder.run("user create --staff --username sam --email sam@desk.example");
    folder.run("user create --staff --role support --username noor --email noor@desk.example");
    let users = folder.json("user list");
    let role = |at: usize| [&users[at]["username"], &users[at]["role"]];
    assert_eq!(
        json!([role(0), role(1), role(2)]),
        json!([["admin", null], ["sam", "admin"], ["noor", "support"]])
    );
    assert!(folder.run("user list").contains("support"));
    let (_, token) = folder.create_token("noor");
    assert_eq!(
        server.client_with(&token).get("/v4/provider/jobs").code(),
        "role_missing"
    );

    assert_eq!(
        folder.run("user role noor operator"),
        "noor has the role operator\n"
    );

    assert_eq!(server.client_with(&token).get("/v4/provider/jobs").status, 200);
    assert_eq!(folder.json("user disable noor")["disabled"], true);
    assert_eq!(
        server.client_with(&token).get("/v4/provider/jobs").code(),
        "user_disabled"
    );
    assert_eq!(folder.run("user enable noor"), "enabled noor\n");
    for (arguments, expected) in [
        ("user role sam support", "sam is the last admin"),
        ("user disable sam", "sam is the last admin"),
        ("user delete sam", "sam is the last admin"),
        ("user role admin support", "not a member of the staff"),
        ("user role noor owner", "support, operator, admin"),
        (
            "user create --account 1 --role admin --username ada --email a@b.example",
            "cannot be used with",
        ),
    ] {
        let failed = Process::spawn(&mut folder.garth(arguments)).wait();
        assert_ne!(failed.code, Some(0), "{arguments}");
        assert!(failed.stderr.contains(expected), "{arguments}: {}", failed.stderr);
    }
}

#[test]
fn commands_suspend_reactivate_and_close_an_account() {
    let folder = Folder::new("suspension");
    let server = folder.start();
    let mut admin = server.client();
    let vpc = admin.create_vpc("core");

    assert_eq!(folder.run("account suspend 1"), "suspended account 1\n");

    assert_eq!(admin.get("/v4/vpcs").code(), "account_suspended");
    assert_eq!(folder.json("account list")[0]["status"], "suspended");
    let shown = folder.json("account show 1");
    assert_eq!(
        (&shown["status"], &shown["usage"]["vpcs"]),
        (&json!("suspended"), &json!(1))
    );
    assert!(folder.run("account show 1").contains("suspended"));
    assert_eq!(folder.json("account reactivate 1")["status"], "active");
    assert_eq!(admin.get("/v4/vpcs").status, 200);
    let changed = folder.json("account set 1 --company Renamed");
    assert_eq!(
        (&changed["company"], &changed["email"]),
        (&json!("Renamed"), &json!("admin@localhost"))
    );
    let refused = Process::spawn(&mut folder.garth("account close 1")).wait();
    assert!(
        refused
            .stderr
            .contains("The account has 1 VPC; a user of the account must delete it first"),
        "{}",
        refused.stderr
    );
    admin.delete(&format!("/v4/vpcs/{vpc}")).ok();
    assert_eq!(folder.run("account close 1"), "closed account 1\n");
    assert_eq!(admin.get("/v4/vpcs").code(), "account_closed");
}

#[test]
fn commands_list_the_networks_and_instances_of_an_account() {
    let folder = Folder::new("account-networks");
    let server = folder.start();
    let mut admin = server.client();
    let body =
        json!({"label": "core", "region": "us-east", "subnets": [{"label": "web", "ipv4": "10.0.0.0/24"}]});
    admin.post("/v4/vpcs", body).ok();
    let body = json!({"label": "web-1", "region": "us-east", "type": "g6-nanode-1",
        "interfaces": [{"purpose": "vpc", "subnet_id": 1, "ip_ranges": ["10.0.0.16/28"]}]});
    admin.post("/v4/linode/instances", body).ok();

    let vpcs = folder.json("account vpcs 1");
    assert_eq!(
        (&vpcs[0]["label"], &vpcs[0]["subnets"][0]["ipv4"]),
        (&json!("core"), &json!("10.0.0.0/24"))
    );
    assert!(folder.run("account vpcs 1").contains("web 10.0.0.0/24"));
    let instances = folder.json("account instances 1");
    assert_eq!(
        (&instances[0]["label"], &instances[0]["vpc_ipv4"]),
        (&json!("web-1"), &json!(["10.0.0.2", "10.0.0.16/28"]))
    );
    assert!(folder.run("account instances 1").contains("10.0.0.16/28"));
    assert_eq!(folder.json("account vpcs 1 --page 2"), json!([]));
    folder.run("account set 1 --company Renamed");
    let events = folder.json("account events 1");
    assert_eq!(
        (
            &events[0]["action"],
            &events[0]["username"],
            &events[0]["by_staff"]
        ),
        (&json!("account_update"), &json!("Support"), &json!(false))
    );
    assert_eq!(events[0]["changes"][0]["after"], "Renamed");
    assert!(folder.run("account events 1").contains("vpc_create"));
    assert_eq!(folder.json("account events 1 --page 2"), json!([]));
    for number in 0..100 {
        admin
            .post(
                "/v4/vpcs",
                json!({"label": format!("vpc-{number}"), "region": "us-west"}),
            )
            .ok();
    }
    for (arguments, hint) in [
        ("account vpcs 1", "page 1 of 2; --page shows another one"),
        ("account events 1 --page 2", "page 2 of 2;"),
    ] {
        let listed = Process::spawn(&mut folder.garth(arguments)).wait();
        assert!(listed.stderr.contains(hint), "{arguments}: {}", listed.stderr);
    }
    let missing = Process::spawn(&mut folder.garth("account vpcs 9")).wait();
    assert!(missing.stderr.contains("account 9: not found"), "{missing:?}");
}

#[test]
fn commands_record_the_events_of_users_and_quotas() {
    let folder = Folder::new("command-events");
    let _server = folder.start();
    folder.run("user create --account 1 --username bob --email bob@example.com");
    folder.run("user restrict bob");
    folder.run("user grant bob --global add_vpcs --account-access read_only");
    folder.run("user disable bob");
    folder.run("user disable bob");
    folder.run("user delete bob");
    folder.run("account quota 1 --vpcs-per-region 7");
    folder.run("account set 1 --email admin@localhost");

    let events = folder.json("account events 1");

    let listed: Vec<_> = events
        .as_array()
        .expect("a list")
        .iter()
        .map(|event| {
            let changes = event["changes"].as_array().expect("a list").iter();
            let changes: Vec<_> = changes
                .map(|change| format!("{}={}", change["field"], change["after"]).replace('"', ""))
                .collect();
            format!("{} {} {}", event["action"], event["username"], changes.join(",")).replace('"', "")
        })
        .collect();
    assert_eq!(
        listed[..6],
        [
            "account_update Support vpcs_per_region=7",
            "user_delete Support ",
            "user_update Support disabled=true",
            "user_update Support add_vpcs=true,account_access=read_only",
            "user_update Support restricted=true",
            "user_create Support ",
        ]
    );
}

#[test]
fn commands_change_no_closed_account() {
    let folder = Folder::new("closed-account");
    let _server = folder.start();
    folder.run("account create --email owner@example.com");
    folder.run("account close 2");
    for (arguments, expected) in [
        (
            "user create --account 2 --username late --email late@example.com",
            "The account is closed",
        ),
        ("account quota 2 --vpcs-per-region 3", "The account is closed"),
        ("account set 1", "--email"),
    ] {
        let failed = Process::spawn(&mut folder.garth(arguments)).wait();
        assert_ne!(failed.code, Some(0), "{arguments}");
        assert!(failed.stderr.contains(expected), "{arguments}: {}", failed.stderr);
    }
    let company = "x".repeat(129);
    let failed = Process::spawn(
        folder
            .garth("account create --email a@example.com --company")
            .arg(company),
    )
    .wait();
    assert!(failed.stderr.contains("128"), "{}", failed.stderr);
    assert_eq!(folder.json("account list").as_array().map(Vec::len), Some(2));
}

#[test]
fn a_number_is_the_id_of_a_host_and_not_a_label() {
    let folder = Folder::new("host-names");
    let _server = folder.start();
    folder.run("host add rack --region us-east --underlay 192.0.2.1");
    let number = "host add 77 --region us-east --underlay 192.0.2.3";
    let refused = Process::spawn(&mut folder.garth(number)).wait();
    assert!(refused.stderr.contains("must not be a number"), "{refused:?}");
    for name in ["1", "rack"] {
        assert_eq!(
            folder.json(&format!("host show {name}"))["label"],
            "rack",
            "{name}"
        );
    }
    let missing = Process::spawn(&mut folder.garth("trace 9 10.0.0.1")).wait();
    assert!(missing.stderr.contains("instance 9: not found"), "{missing:?}");
}

#[test]
fn a_command_exports_an_account() {
    let folder = Folder::new("account-export");
    let _server = folder.start();

    let exported = folder.json("account export 1");

    assert_eq!(
        (&exported["account"]["status"], &exported["tickets"]),
        (&json!("active"), &json!([]))
    );
    assert_eq!(exported["document"], folder.json("export"));
    let failed = Process::spawn(&mut folder.garth("account export 99")).wait();
    assert!(failed.stderr.contains("account 99"), "{}", failed.stderr);
}
