//! `garth demo`: creates a store with example data once, and serves it like any other store.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use crate::connection::{Connection, Reply};
use crate::harness::{Folder, Server};
use crate::process::{Process, eventually};

const DEMO: &str = "demo --listen 127.0.0.1:0";

#[test]
fn demo_is_created_once_and_has_example_data() {
    let folder = Folder::with_data("demo", "garth-demo");
    let mut command = folder.garth(DEMO);
    // Without a folder, the demo is created in the working directory.
    command.env_remove("GARTH_DATA");
    let server = Server::start(&mut command);
    let printed = eventually("the demo's users to be printed", || {
        let printed = server.process.stdout();
        printed.contains("/v4/vpcs\n").then_some(printed)
    });
    let password = after(&printed, "shown only once:\n\n    ");
    let token = after(&printed, "Authorization: Bearer ");
    for name in ["mara", "jonas", "elif", "accounting", "pia", "sam", "noor"] {
        assert!(printed.contains(&format!("    {name} ")), "{printed}");
        let (status, location) = log_in(&server, name, password);
        assert_eq!((status, location.as_str()), (303, "/"), "{name}");
    }
    assert_eq!(log_in(&server, "mara", "something else").0, 401);

    let mut mara = server.client_with(token);
    assert_eq!(mara.get("/v4/vpcs").ok()["results"], 4);
    assert_eq!(mara.get("/v4/linode/instances").ok()["results"], 17);
    let regions: std::collections::BTreeSet<_> = mara
        .all("/v4/vpcs")
        .iter()
        .map(|vpc| vpc["region"].as_str().expect("a region").to_owned())
        .collect();
    assert_eq!(regions.len(), 3);
    let tickets = mara.all("/v4/support/tickets");
    let has = |status: &str| tickets.iter().any(|ticket| ticket["status"] == status);
    assert!(has("new") && has("open") && has("closed"), "{tickets:?}");
    let with_files = tickets
        .iter()
        .find(|ticket| {
            ticket["attachments"]
                .as_array()
                .is_some_and(|files| files.len() == 2)
        })
        .expect("a ticket has files");
    let files = format!("/v4/support/tickets/{}/attachments", with_files["id"]);
    let file = mara.all(&files)[0]["id"].clone();
    let file = mara.get(&format!("{files}/{file}"));
    assert!(file.status == 200 && !file.body.is_empty(), "{}", file.status);
    assert!(mara.get("/v4/account/events").ok()["results"].as_i64() > Some(40));
    server.stop();

    // Neither the password nor the token is anywhere in the folder.
    assert_no_file_contains(folder.data(), password);
    assert_no_file_contains(folder.data(), token);

    // The second start uses the existing store.
    let mut again = Server::start(&mut folder.garth(DEMO));
    assert_eq!(again.client_with(token).get("/v4/vpcs").ok()["results"], 4);
    let printed = eventually("the demo's users to be printed", || {
        let printed = again.process.stdout();
        printed.contains("Using the existing demo").then_some(printed)
    });
    assert!(
        !printed.contains(password) && printed.contains("    mara "),
        "{printed}"
    );
    assert!(again.process.is_running());
    again.stop();

    // `--reset-passwords` replaces a lost password.
    let mut command = folder.garth(DEMO);
    let reset = Server::start(command.arg("--reset-passwords"));
    let printed = reset.process.stdout();
    let fresh = after(&printed, "shown only once:\n\n    ");
    assert_ne!(fresh, password);
    for name in ["mara", "noor"] {
        assert_eq!(log_in(&reset, name, fresh).0, 303, "{name}");
        assert_eq!(log_in(&reset, name, password).0, 401, "{name}");
    }
    assert_eq!(reset.client_with(token).get("/v4/vpcs").ok()["results"], 4);
    reset.stop();
    assert_no_file_contains(folder.data(), fresh);
}

#[test]
fn failed_demo_creates_nothing_and_the_next_shows_its_password() {
    let folder = Folder::with_data("demo-taken", "garth-demo");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("the listener is bound").to_string();

    let failed = Process::spawn(&mut folder.garth(&format!("demo --listen {address}"))).wait();
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(
        failed.stderr.contains(&address) && failed.stderr.contains("--listen"),
        "{failed:?}"
    );
    assert!(!folder.data().exists(), "a failed start leaves no folder");

    let server = Server::start(&mut folder.garth(DEMO));
    let printed = server.process.stdout();
    let password = after(&printed, "shown only once:\n\n    ");
    assert_eq!(log_in(&server, "mara", password).0, 303);
    server.stop();
}

#[test]
fn demo_prints_no_secrets_into_a_service_log() {
    let folder = Folder::with_data("demo-log", "garth-demo");
    let in_service = |arguments: &str| {
        let mut command = folder.garth(arguments);
        command.env("JOURNAL_STREAM", "8:1");
        command
    };
    let server = Server::start(&mut in_service(DEMO));
    let printed = server.process.stdout();
    let is_password = |word: &str| word.len() == 23 && word.matches('-').count() == 3;
    assert!(!printed.split_whitespace().any(is_password), "{printed}");
    assert!(!printed.contains("Bearer"), "{printed}");
    let command = printed.lines().find_map(|line| line.strip_prefix("    garth "));
    let command = command.unwrap_or_else(|| panic!("no command in {printed}"));
    let link = Process::spawn(folder.garth(command).env_remove("GARTH_DATA")).wait();
    assert!(link.stdout.contains("/oauth/password/"), "{link:?}");
    assert_eq!(server.stop().code, Some(0));

    let refused = Process::spawn(in_service(DEMO).arg("--reset-passwords")).wait();
    assert!(
        refused.stderr.contains("run the command in a terminal"),
        "{refused:?}"
    );
}

#[test]
fn demo_refuses_other_and_incomplete_stores() {
    let folder = Folder::new("demo-other-store");
    folder.start().stop();
    let before = fs::read(folder.data().join("garth.db")).expect("the store exists");
    let refused = Process::spawn(&mut folder.garth(DEMO)).wait();
    assert_ne!(refused.code, Some(0));
    assert!(refused.stderr.contains("is not a demo"), "{refused:?}");
    assert!(!folder.data().join("demo").exists());
    assert_eq!(
        fs::read(folder.data().join("garth.db")).expect("the store exists"),
        before
    );

    fs::write(folder.data().join("demo"), "begun\n").expect("the file can be written");
    let refused = Process::spawn(&mut folder.garth(DEMO)).wait();
    assert!(refused.stderr.contains("is incomplete"), "{refused:?}");
    let refused = Process::spawn(
        folder
            .garth(DEMO)
            .args(["--database", "postgres://x@127.0.0.1:1/x"]),
    )
    .wait();
    assert!(refused.stderr.contains("cannot use a database"), "{refused:?}");
}

/// The word after a prefix.
fn after<'a>(printed: &'a str, prefix: &str) -> &'a str {
    let rest = printed
        .split_once(prefix)
        .unwrap_or_else(|| panic!("no {prefix:?} in {printed}"))
        .1;
    rest.split([' ', '\n', '"']).next().expect("a word")
}

/// Logs in to the console; returns the status and the location header.
fn log_in(server: &Server, username: &str, password: &str) -> (u16, String) {
    let page = send_request(
        server,
        "GET /login HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\n\r\n",
        "GET",
    );
    let html = String::from_utf8_lossy(&page.body).into_owned();
    let form_token = after(&html, "name=\"form_token\" value=\"").to_owned();
    let cookie = page
        .header("set-cookie")
        .expect("a cookie")
        .split(';')
        .next()
        .expect("a pair")
        .to_owned();
    let form = format!(
        "form_token={form_token}&return_to=&username={username}&password={}",
        password.replace(' ', "+")
    );
    let request = format!(
        "POST /login HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\ncontent-type: \
         application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    let reply = send_request(server, &request, "POST");
    let location = reply.header("location").unwrap_or_default().to_owned();
    (reply.status, location)
}

fn send_request(server: &Server, request: &str, method: &str) -> Reply {
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection.send(request).expect("the request can be sent");
    connection.reply_to(method).expect("the server responds")
}

fn assert_no_file_contains(folder: &Path, secret: &str) {
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            assert_no_file_contains(&path, secret);
        } else if let Ok(bytes) = fs::read(&path) {
            count += 1;
            let found = bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes());
            assert!(!found, "{} contains a secret", path.display());
        }
    }
    assert!(
        count > 0 || !folder.ends_with("garth-demo"),
        "the folder has no files"
    );
}
