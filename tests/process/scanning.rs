//! The malware scanner of the provider: refused files and scan failures store nothing.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::client::Client;
use crate::connection::text;
use crate::harness::{Folder, Server, TOKEN};

/// Rejects files with `EICAR`, fails on files with `PUZZLE` or `CRASH`, and records its arguments and
/// environment.
const SCANNER: &str = r#"#!/bin/sh
{ echo "$0 $*"; env; } >> "$(dirname "$0")/started"
grep -q EICAR "$1" && exit 1
grep -q PUZZLE "$1" && exit 2
grep -q CRASH "$1" && kill -9 $$
exit 0
"#;

fn scanner(folder: &Folder) -> String {
    let script = folder.write("scanner", SCANNER);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&script, executable).expect("the mode can be set");
    script.display().to_string()
}

fn start(folder: &Folder, command: &str) -> Server {
    let mut serve = folder.serve();
    serve.args(["--attachments-scan-command", command]);
    Server::start(&mut serve)
}

/// The history of the first ticket: action, user and new value.
fn history(folder: &Folder, server: &Server) -> Vec<(String, String, Value)> {
    folder.run("user create --staff --username agent --email agent@example.com");
    let (_, token) = folder.create_token("agent");
    let steps = server.client_with(&token).all("/v4/desk/tickets/1/history");
    let step = |mut step: Value| {
        (
            text(&step["action"]),
            text(&step["created_by"]),
            step["after"].take(),
        )
    };
    steps.into_iter().map(step).collect()
}

fn assert_stored_files(folder: &Folder, client: &mut Client, names: &[&str]) {
    let attached = client.attachments(1);
    let listed: Vec<_> = attached.iter().map(|file| text(&file["name"])).collect();
    assert_eq!(listed, names);
    for file in &attached {
        client.download(1, file);
    }
    folder.wait_until_swept();
    assert_eq!(folder.stored_files().names().len(), names.len());
}

#[test]
fn file_refused_by_the_scanner_is_not_stored_and_recorded_for_staff() {
    let folder = Folder::new("scan");
    let server = start(&folder, &scanner(&folder));
    let mut client = server.client();
    let ticket = client.open_ticket();
    client
        .upload(ticket, "good.txt", b"words")
        .expect("the server responds")
        .ok();

    let refused = client
        .upload(ticket, "bad.txt", b"X5O!P%@AP EICAR")
        .expect("the server responds");

    assert_eq!((refused.status, refused.code().as_str()), (400, "file_refused"));
    assert_eq!(refused.json()["errors"][0]["field"], "file");
    assert_stored_files(&folder, &mut client, &["good.txt"]);
    for file in crate::stored_files::files_in(folder.data()) {
        let bytes = std::fs::read(folder.data().join(&file)).unwrap_or_default();
        assert!(
            !bytes.windows(5).any(|word| word == b"EICAR"),
            "{file} contains the refused file"
        );
    }
    let tenant = client.get("/v4/account/events?after=0").text();
    assert!(!tenant.contains("bad.txt"), "{tenant}");
    let step = |action: &str, after: Value| (action.to_owned(), "admin".to_owned(), after);
    let expected = [
        step("opened", Value::Null),
        step("attachment", "good.txt".into()),
        step("attachment_refused", "bad.txt".into()),
    ];
    let history = history(&folder, &server);
    assert_eq!(history[0].0, "opened");
    assert_eq!(history[1..], expected[1..]);
}

#[test]
fn scan_failure_refuses_the_file() {
    let folder = Folder::new("no-scan");
    let scanner = scanner(&folder);
    let nowhere = folder.path("nowhere").display().to_string();
    let not_a_program = folder.write("words", "words").display().to_string();
    for (command, content) in [
        (&scanner, "PUZZLE"),
        (&scanner, "CRASH"),
        (&nowhere, "words"),
        (&not_a_program, "words"),
    ] {
        let server = start(&folder, command);
        let mut client = server.client();
        let ticket = client.open_ticket();

        let reply = client
            .upload(ticket, "a.txt", content.as_bytes())
            .expect("the server responds");

        assert_eq!(
            (reply.status, reply.code().as_str()),
            (503, "scan_unavailable"),
            "{command} {content}"
        );
        assert!(reply.header("retry-after").is_some());
        assert!(!reply.text().contains(command), "{}", reply.text());
        assert_stored_files(&folder, &mut client, &[]);
        let log = server.stop().stderr;
        assert!(log.contains("the scanner: "), "{log}");
    }
}

#[test]
fn scan_failures_are_counted() {
    let folder = Folder::new("scan-count");
    let mut serve = folder.serve();
    serve.args(["--attachments-scan-command", &scanner(&folder)]);
    let server = Server::start_with_metrics(&mut serve);
    let failed = || {
        let page = Client::new(server.metrics_address(), TOKEN)
            .get("/metrics")
            .text()
            .to_owned();
        let mut lines = page.lines();
        let count = lines.find_map(|line| line.strip_prefix("garth_attachment_scans_failed_total "));
        count.map(str::to_owned)
    };
    assert_eq!(failed().as_deref(), Some("0"));
    let ticket = server.client().open_ticket();
    for content in ["clean", "PUZZLE", "EICAR", "CRASH"] {
        let uploaded = server.client().upload(ticket, "a.txt", content.as_bytes());
        uploaded.expect("the server responds");
    }
    assert_eq!(failed().as_deref(), Some("2"), "a refused file is no failure");
}

#[test]
fn scanner_gets_the_file_and_none_of_the_server_secrets() {
    let folder = Folder::new("scan-env");
    let scanner = scanner(&folder);
    let mut serve = folder.serve();
    serve.args([
        "--attachments-scan-command",
        &format!("{scanner} {{}} --for garth"),
    ]);
    serve
        .env("AWS_SESSION_TOKEN", "s3cr3t")
        .env("GARTH_PROVIDER_NAME", "Support");
    serve.env("PASSWORD", "s3cr3t");
    let server = Server::start(&mut serve);
    let mut client = server.client();
    let ticket = client.open_ticket();

    client
        .upload(ticket, "$(reboot).txt", b"words")
        .expect("the server responds")
        .ok();

    let started = std::fs::read_to_string(folder.path("started")).expect("the scanner was started");
    let (command, environment) = started.split_once('\n').expect("a first line");
    let spool = folder.data().join("spool");
    assert!(
        command.starts_with(&format!("{scanner} {}/", spool.display())),
        "{command}"
    );
    assert!(
        command.ends_with(" --for garth") && !command.contains("reboot"),
        "{command}"
    );
    for secret in ["GARTH_", "AWS_", "PASSWORD", "s3cr3t", TOKEN] {
        assert!(!environment.contains(secret), "{environment}");
    }
    assert!(environment.contains("PATH="), "{environment}");
}
