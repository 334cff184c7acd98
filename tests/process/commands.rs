//! Output and error messages of the commands.

use std::fs::File;

use serde_json::{Value, json};

use crate::connection::text;
use crate::harness::Folder;
use crate::process::{Process, ProcessOutput};

#[test]
fn commands_print_text_or_json() {
    let folder = Folder::new("commands");
    let server = folder.start();

    let account = folder.json("account create --email it@acme.example --company Acme");
    assert_eq!((&account["id"], &account["company"]), (&json!(2), &json!("Acme")));
    assert_eq!(folder.json("account list")[1]["email"], "it@acme.example");
    assert!(folder.run("account list").contains("Acme"));

    let ada = folder.json("user create --account 2 --username ada --email ada@acme.example --restricted");
    assert_eq!(
        (&ada["account_id"], &ada["restricted"]),
        (&json!(2), &json!(true))
    );
    let grace = folder.run("user create --staff --username grace --email grace@desk.example");
    assert_eq!(grace, "created user grace\n");
    let ada = folder.json("user grant ada --global add_vpc --account-access read_only");
    assert_eq!(
        (&ada["global"], &ada["account_access"]),
        (&json!(["add_vpcs"]), &json!("read_only"))
    );

    let printed = folder.run("token create --user ada --scopes vpc:read_write,events --label laptop");
    let token = printed.trim_end();
    assert_eq!(printed, format!("{token}\n"), "the token is printed alone");
    assert!(
        token.len() == 64 && token.bytes().all(|b| b.is_ascii_hexdigit()),
        "{printed}"
    );
    assert_eq!(server.client_with(token).get("/v4/vpcs").ok()["results"], 0);
    let listed = folder.json("token list --user ada");
    assert_eq!(listed[0]["label"], "laptop");
    assert_eq!(listed[0]["scopes"], "events:read_write vpc:read_write");
    let listed = folder.run("token list --user ada");
    assert!(listed.contains("laptop") && !listed.contains(token), "{listed}");
    assert!(listed.contains("never") && !listed.contains("2999"), "{listed}");

    let created = folder.json("user link ada");
    let link = text(&created["link"]);
    assert!(
        link.starts_with("/oauth/password/") && link.len() == 16 + 64,
        "{link}"
    );
    let own = format!("http://{}/oauth/password/", server.address);
    assert_eq!(created["url"], format!("http://{}{link}", server.address));
    assert!(folder.run("user link ada").starts_with(&own));
    let public = Process::spawn(
        folder
            .garth("user link ada")
            .env("GARTH_PUBLIC_URL", "https://garth.example/"),
    );
    let public = public.wait();
    assert!(
        public.stdout.starts_with("https://garth.example/oauth/password/"),
        "{public:?}"
    );
    let created = folder.run(
        "client create --label Web --redirect-uri https://web.example/cb --public --id 0123456789abcdef0123",
    );
    assert_eq!(
        created, "id      0123456789abcdef0123\n",
        "a public client has no secret"
    );
    let created = folder.json("client create --label Own --redirect-uri https://own.example/cb --account 2");
    assert_eq!(created["account_id"], 2);
    let clients = folder.json("client list");
    assert_eq!(
        (&clients[0]["account_id"], &clients[1]["secret"]),
        (&Value::Null, &json!("<REDACTED>"))
    );
    assert!(folder.run("client list").contains("https://web.example/cb"));

    let own = created["id"].as_str().expect("a client has an id");
    let secret = folder.run(&format!("client reset-secret {own}"));
    assert!(
        secret.len() == 65 && Some(secret.trim_end()) != created["secret"].as_str(),
        "{secret}"
    );
    assert_eq!(folder.json(&format!("client delete {own}")), json!({}));
    assert_eq!(folder.json("client list").as_array().map(Vec::len), Some(1));

    assert!(folder.run("user list").contains("grace@desk.example"));
    assert_eq!(folder.json("user list")[1]["username"], "ada");
    let ada = folder.json("user unrestrict ada");
    assert_eq!((&ada["restricted"], &ada["global"]), (&json!(false), &json!([])));
    assert_eq!(folder.run("user restrict ada"), "restricted ada\n");
    assert_eq!(folder.json("user apps ada"), json!([]));
    assert_eq!(server.client_with(token).get("/v4/vpcs").status, 200);
    assert_eq!(folder.run("user delete ada"), "deleted user ada\n");
    assert_eq!(server.client_with(token).get("/v4/vpcs").code(), "token_invalid");

    let (id, token) = folder.create_token("grace");
    assert_eq!(server.client_with(&token).get("/v4/vpcs").code(), "wrong_side");
    assert_eq!(
        folder.run(&format!("token revoke {id}")),
        format!("revoked token {id}\n")
    );
    assert_eq!(folder.json("token list --user grace"), json!([]));
}

#[test]
fn quota_command_shows_usage_and_resets_to_the_default() {
    let folder = Folder::new("quotas");
    let server = folder.start();
    let mut admin = server.client();
    admin.create_vpc("first");
    let two = json!([{"label": "a", "ipv4": "10.0.0.0/24"}, {"label": "b", "ipv4": "10.0.1.0/24"}]);
    let body = json!({"label": "second", "region": "us-mia", "subnets": two});
    admin.post("/v4/vpcs", body).ok();
    let ticket = admin.open_ticket();
    admin
        .upload(ticket, "a.txt", b"words")
        .expect("the server responds")
        .ok();

    let shown = folder.json("account quota 1");
    assert_eq!(
        shown,
        json!({
            "account_id": 1,
            "vpcs_per_region": {
                "limit": 1000, "default": 1000, "override": null, "used": {"us-east": 1, "us-mia": 1}
            },
            "subnets_per_vpc": {"limit": 1000, "default": 1000, "override": null, "used": 2},
            "attachment_bytes": {"limit": 10737418240_i64, "default": 10737418240_i64, "override": null, "used": 5},
        })
    );
    let changed = folder.json("account quota 1 --attachment-bytes 1000 --subnets-per-vpc 7");
    assert_eq!(changed["attachment_bytes"]["limit"], 1000);
    let changed = folder.json("account quota 1 --vpcs-per-region 1");
    assert_eq!(
        changed["attachment_bytes"]["override"], 1000,
        "other overrides are unchanged"
    );
    assert_eq!(changed["subnets_per_vpc"]["limit"], 7);
    let refused = admin.post("/v4/vpcs", json!({"label": "third", "region": "us-mia"}));
    assert_eq!(refused.code(), "quota_exceeded");

    let printed = folder.run("account quota 1 --vpcs-per-region default");
    let rows: Vec<Vec<&str>> = printed
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    for row in [
        vec!["QUOTA", "USED", "LIMIT", "DEFAULT"],
        vec!["vpcs_per_region", "(us-east)", "1", "1000", "1000"],
        vec!["vpcs_per_region", "(us-mia)", "1", "1000", "1000"],
        vec!["subnets_per_vpc", "2", "7", "1000"],
        vec!["attachment_bytes", "5", "1000", "10737418240"],
    ] {
        assert!(rows.contains(&row), "{row:?}: {printed}");
    }
    admin
        .post("/v4/vpcs", json!({"label": "third", "region": "us-mia"}))
        .ok();
    let reset = folder.json("account quota 1 --attachment-bytes default --subnets-per-vpc default");
    assert_eq!(reset["subnets_per_vpc"]["override"], Value::Null);
    assert_eq!(reset["attachment_bytes"]["limit"], 10737418240_i64);
}

#[test]
fn closed_output_pipe_is_not_an_error() {
    let folder = Folder::new("head");
    let _server = folder.start();
    let garth = env!("CARGO_BIN_EXE_garth");
    for arguments in [
        "openapi",
        "user list",
        "account list --json",
        "--help",
        "serve --help",
    ] {
        // Nothing reads the pipe when garth writes to it.
        let line = format!("{{ sleep 0.3; '{garth}' {arguments}; echo status $? >&2; }} | true");
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", &line]).env("GARTH_DATA", folder.data());
        let output = Process::spawn(shell).wait();
        assert_eq!(output.stderr, "status 0\n", "garth {arguments}");
    }
}

#[test]
fn failed_command_prints_only_the_reason() {
    let folder = Folder::new("refusals");
    let server = folder.start();
    folder.run("user create --staff --username grace --email grace@desk.example");
    let mut failures = Vec::new();
    for (arguments, expected) in [
        (
            "user create --email a@b.example --username ada --account 99",
            "account 99: not found",
        ),
        (
            "user create --email a@b.example --username admin --account 1",
            "Username is taken",
        ),
        (
            "user create --email a@b.example --username a--b --account 1",
            "--username",
        ),
        ("user create --email a@b.example --username ada", "--account"),
        (
            "user create --email a@b.example --username ada --account 1 --staff",
            "--staff",
        ),
        ("user create --email ada --username ada --account 1", "--email"),
        ("user grant missing --global add_vpcs", "missing: not found"),
        (
            "user grant grace --global add_vpcs",
            "Staff users cannot have grants",
        ),
        ("user grant admin --global add_all", "--global"),
        ("user grant admin --vpc 99=read_write", "no VPC 99"),
        ("user grant admin --vpc 1=sometimes", "read_only or read_write"),
        (
            "user grant admin --global add_vpcs",
            "Grants are not available for unrestricted users",
        ),
        (
            "user grant admin --vpc 1=read_only --vpc 1=read_write",
            "vpc 1 is repeated",
        ),
        ("account create --email missing", "e-mail address"),
        ("account quota 99", "account 99"),
        ("account quota 99 --vpcs-per-region 5", "account 99"),
        (
            "account quota 1 --vpcs-per-region -5",
            "must be a whole number from 0 to 1000000, or \"default\"",
        ),
        (
            "account quota 1 --vpcs-per-region 99999999999999999999",
            "must be a whole number from 0 to",
        ),
        (
            "account quota 1 --attachment-bytes 1125899906842625",
            "must be a whole number from 0 to 1125899906842624",
        ),
        ("account quota 1 --vpcs-per-region usual", "default"),
        ("token create --user missing", "missing: not found"),
        ("token create --user admin --scopes vpcs:write", "vpcs:write"),
        ("token create --user admin --expiry soon", "soon"),
        ("token create --user admin --expiry 0s", "--expiry"),
        ("token create --user admin --expiry 12", "such as 45s"),
        ("token list --user missing", "missing: not found"),
        (
            "token list --user admin --data elsewhere",
            "no store in elsewhere",
        ),
        ("token revoke 99", "token 99: not found"),
        ("token revoke first", "must be an ID"),
        ("user delete missing", "missing: not found"),
        ("user restrict grace", "Staff users cannot have grants"),
        ("user apps missing", "missing: not found"),
        ("user apps admin --revoke 7", "application 7 of admin: not found"),
        ("client delete 0123", "client 0123: not found"),
        ("client reset-secret 0123", "0123: not found"),
    ] {
        let output = Process::spawn(&mut folder.garth(arguments)).wait();
        if !is_refusal(&output, expected) {
            failures.push(format!(
                "garth {arguments}: {expected:?} was expected: {output:?}"
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert_eq!(server.client().get("/v4/vpcs").status, 200);
}

#[test]
fn password_is_read_from_stdin_and_validated() {
    let folder = Folder::new("password");
    let _server = folder.start();
    let create = |username: &str, password: &str| {
        let typed = File::open(folder.write("typed", password)).expect("the file was just written");
        let user = "user create --account 1 --email a@b.example --password-stdin --username";
        Process::spawn(folder.garth(user).arg(username).stdin(typed)).wait()
    };
    assert_eq!(create("ada", "correct horse battery staple\n").code, Some(0));
    let refused = create("bob", "too-brief\n");
    assert!(
        is_refusal(&refused, "password: Must have at least 11 characters"),
        "{refused:?}"
    );
    assert!(!refused.stderr.contains("too-brief"), "{refused:?}");
}

fn is_refusal(output: &ProcessOutput, expected: &str) -> bool {
    matches!(output.code, Some(1..)) && output.stdout.is_empty() && output.stderr.contains(expected)
}

#[test]
fn manual_pages_and_completions_cover_every_command() {
    let folder = Folder::new("manual");
    let pages = folder.path("pages");
    folder.run(&format!("man {}", pages.display()));
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(&format!("completions {shell}"));
        for word in ["serve", "reset-secret", "database-password-file"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let help = folder.run("--help");
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names: Vec<_> = commands
        .filter_map(|line| {
            line.strip_prefix("  ")?
                .split(' ')
                .next()
                .filter(|name| !name.is_empty())
        })
        .collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names.iter().filter(|name| **name != "help") {
        let page = pages.join(format!("garth-{name}.1"));
        let text = std::fs::read_to_string(&page).unwrap_or_else(|cause| panic!("{name}: {cause}"));
        assert!(text.contains(".SH NAME"), "{name}: {text}");
    }
    assert!(pages.join("garth.1").exists() && pages.join("garth-user-create.1").exists());
}
