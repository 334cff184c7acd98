//! `garth serve --test-control` and `--chaos`: only on loopback addresses, with a warning, and across restarts.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::Process;
use crate::uploads::FORM;

#[test]
fn a_server_that_others_can_reach_does_not_start_with_test_control_or_chaos() {
    let folder = Folder::new("test-control-address");
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:8080"] {
        for (variable, value, setting) in [
            ("GARTH_TEST_CONTROL", "true", "test_control"),
            ("GARTH_CHAOS", "light", "chaos"),
        ] {
            let mut serve = folder.serve();
            serve.env("GARTH_LISTEN", address).env(variable, value);
            let output = Process::spawn(&mut serve).wait();
            assert_eq!(output.code, Some(1), "{address}: {output:?}");
            let expected = format!("{setting}: allowed only if the server listens on a loopback address");
            assert!(output.stderr.contains(&expected), "{output:?}");
        }
    }
    assert!(!folder.data().exists());
    for chaos in ["", "medium", "light-x"] {
        let output = Process::spawn(folder.serve().args(["--chaos", chaos])).wait();
        assert_eq!(output.code, Some(1), "{output:?}");
        assert!(
            output.stderr.contains("chaos: must be light, heavy or a seed"),
            "{output:?}"
        );
    }
}

#[test]
fn test_control_is_off_by_default_and_no_request_enables_it() {
    let folder = Folder::new("test-control-off");
    let server = Server::start(folder.serve().env("GARTH_TEST_CONTROL", "false"));
    let mut client = server.client();
    client.create_vpc("core");
    for path in [
        "/_test/reset?test_control=true",
        "/_test/settings",
        "/v4/_test/reset",
    ] {
        assert_eq!(
            client.post(path, json!({"test_control": true})).status,
            404,
            "{path}"
        );
    }
    assert_eq!(client.vpc_labels(), ["core"]);
    assert!(!server.stop().stderr.contains("test control"));
}

/// The text of a random token is not stored.
#[test]
fn a_reset_keeps_the_token_of_the_first_start_even_after_restarts() {
    let folder = Folder::new("test-control-token");
    let serve = || {
        let mut serve = folder.serve();
        serve.env_remove("GARTH_BOOTSTRAP_TOKEN");
        serve
    };
    let server = Server::start(&mut serve());
    let printed = server.process.stdout();
    let token = printed
        .lines()
        .map(str::trim)
        .find(|line| line.len() == 64)
        .expect("a token")
        .to_owned();
    server.stop();

    for _ in 0..2 {
        let server = Server::start(serve().arg("--test-control"));
        assert!(
            server
                .process
                .stdout()
                .contains("\nTest control: http://127.0.0.1:")
        );
        let mut client = server.client_with(&token);
        client.create_vpc("core");
        let stream = server.stream(&token);
        assert_eq!(client.post("/_test/reset", json!({})).status, 200);
        drop(stream);
        assert!(client.vpc_labels().is_empty());
        assert_eq!(client.create_vpc("again"), 1);
        let output = server.stop();
        assert_eq!(output.code, Some(0), "{output:?}");
        assert!(output.stderr.contains("test control enabled"), "{output:?}");
        folder.assert_sound();
    }
    let left: Vec<_> = folder
        .data()
        .read_dir()
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert!(!left.iter().any(|name| name == "empty-store"), "{left:?}");
}

#[test]
fn a_restore_survives_a_restart_and_the_store_remains_sound() {
    let folder = Folder::new("test-control-restore");
    let server = Server::start(folder.serve().arg("--test-control"));
    let mut client = server.client();
    client.create_vpc("first");
    assert_eq!(
        client.post("/_test/snapshots", json!({"name": "one"})).status,
        200
    );
    client.create_vpc("second");
    assert_eq!(client.post("/_test/snapshots/one/restore", json!({})).status, 200);
    server.stop();
    folder.assert_sound();

    let server = folder.start();
    assert_eq!(server.client().vpc_labels(), ["first"]);
}

/// The number of kills, all with the same store.
const KILLS: u32 = 12;

#[test]
fn a_kill_during_a_restore_leaves_the_state_before_or_after_it() {
    let folder = Folder::new("test-control-kill");
    let labels = |prefix: &str| -> Vec<String> { (10..60).map(|n| format!("{prefix}-{n}")).collect() };
    let (copied, current) = (labels("copied"), labels("current"));
    let mut duration = Duration::ZERO;
    for kill in 0..=KILLS {
        let mut serve = folder.serve();
        serve.args(["--test-control", "--quota-vpcs-per-region", "100"]);
        let mut server = Server::start(&mut serve);
        let mut client = server.client();
        client.post("/_test/reset", json!({})).ok();
        for label in &copied {
            client.create_vpc(label);
        }
        client.post("/_test/snapshots", json!({"name": "copied"})).ok();
        client.post("/_test/reset", json!({})).ok();
        for label in &current {
            client.create_vpc(label);
        }
        let started = Instant::now();
        let restore = std::thread::spawn(move || {
            client.try_send("POST", "/_test/snapshots/copied/restore", None::<&Value>)
        });
        if kill == 0 {
            // The kills are distributed over the time of a restore that is not killed, and some time after it.
            restore.join().expect("no panic").expect("a response").ok();
            duration = started.elapsed() * 3 / 2;
            assert_eq!(server.client().vpc_labels(), copied);
            continue;
        }
        std::thread::sleep(duration * kill / KILLS);
        server.process.kill();
        let is_complete = restore.join().expect("no panic").is_ok();

        let found = folder.start().client().vpc_labels();
        let expected = match found.first() {
            Some(label) if label.starts_with("current") => &current,
            _ => &copied,
        };
        assert_eq!(found, *expected);
        assert!(!is_complete || found == copied, "an acknowledged restore is lost");
        folder.assert_sound();
    }
}

#[test]
fn a_body_that_is_not_complete_does_not_delay_a_restore() {
    let folder = Folder::new("test-control-half-sent");
    let server = Server::start(folder.serve().arg("--test-control"));
    let mut client = server.client();
    let started = Instant::now();
    for path in ["/v4/vpcs", "/v4/support/tickets/1/attachments"] {
        let mut half_sent = Connection::open(server.address).expect("the server accepts connections");
        let kind = match path {
            "/v4/vpcs" => "application/json",
            _ => FORM,
        };
        client.open_ticket();
        let extra = format!("content-length: 1000\r\ncontent-type: {kind}\r\n");
        half_sent
            .send(client.head("POST", path, &extra))
            .expect("the head is sent");
        half_sent
            .send("{\"label\": ")
            .expect("a part of the body is sent");
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(client.post("/_test/reset", json!({})).status, 200);
        assert_eq!(half_sent.head().expect("a response").status, 400, "{path}");
    }
    assert!(
        started.elapsed() < Duration::from_secs(8),
        "{:?}",
        started.elapsed()
    );
    assert!(client.vpc_labels().is_empty());
}

#[test]
fn a_printed_seed_repeats_the_faults() {
    let first = Folder::new("chaos-first");
    let server = Server::start(first.serve().args(["--chaos", "light"]));
    let printed = server.process.stdout();
    let seed = printed
        .lines()
        .find_map(|line| line.strip_prefix("Chaos: repeat these faults with --chaos "))
        .expect("the seed is printed")
        .to_owned();
    let expected = outcomes(&mut server.client());
    assert_eq!(
        server.client().get("/_test/clock").status,
        404,
        "chaos alone has no test control"
    );
    let stderr = server.stop().stderr;
    assert!(
        stderr.contains("chaos enabled") && stderr.contains(&seed),
        "{stderr}"
    );

    let second = Folder::new("chaos-second");
    let server = Server::start(second.serve().args(["--chaos", &seed]));
    assert_eq!(outcomes(&mut server.client()), expected);
    assert!(expected.iter().any(|outcome| outcome != "200"), "{expected:?}");
}

#[test]
fn chaos_alone_does_not_create_an_empty_store() {
    let folder = Folder::new("chaos-store");
    folder.start().stop();
    // A file at the path of the empty store, so that the store cannot be created.
    std::fs::write(folder.data().join("empty-store"), "").expect("a file can be written");
    let server = Server::start(folder.serve().args(["--chaos", "light-1"]));
    assert_eq!(server.stop().code, Some(0));
    let output = Process::spawn(folder.serve().arg("--test-control")).wait();
    assert_eq!(output.code, Some(1), "{output:?}");
    assert!(
        output.stderr.contains("cannot create an empty store"),
        "{output:?}"
    );
}

/// The outcomes of some requests: the status, or `dropped`.
fn outcomes(client: &mut Client) -> Vec<String> {
    let mut outcomes = Vec::new();
    for _ in 0..250 {
        let reply = client.try_send("GET", "/v4/vpcs", None::<&Value>);
        outcomes.push(reply.map_or("dropped".to_owned(), |reply| reply.status.to_string()));
    }
    outcomes
}

#[test]
fn the_settings_file_enables_test_control() {
    let folder = Folder::new("test-control-file");
    let file = folder.write("garth.toml", "test_control = true\nchaos = \"light-3\"\n");
    let server = Server::start(folder.serve().arg("--config").arg(file));
    assert!(server.process.stdout().contains("--chaos light-3\n"));
    assert_eq!(
        server.client_with(TOKEN).get("/_test/clock").ok()["frozen"],
        false
    );
}
