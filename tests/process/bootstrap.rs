//! The first start on an empty store: a token, shown once, and a line to try it with.

use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Folder, Server, TOKEN};
use crate::process::Process;

#[test]
fn the_first_start_prints_a_token_and_a_line_that_works_as_printed() {
    let folder = Folder::new("first");
    let server = Server::start(folder.serve().env_remove("GARTH_BOOTSTRAP_TOKEN"));
    let printed = server.process.printed();
    let token = printed.lines().map(str::trim).find(|line| line.len() == 64);
    let token = token.unwrap_or_else(|| panic!("no token in {printed}"));
    assert_eq!(server.client_with(token).get("/v4/vpcs").status, 200);
    assert_eq!(answer_to_printed_line(&printed)["results"], 0);
    // How to get into the console is printed, too, and the command works as printed.
    let console = format!("The console is at http://{}/login.", server.address);
    assert!(printed.contains(&console), "{printed}");
    let command = printed.lines().find_map(|line| line.strip_prefix("    garth "));
    let command = command.unwrap_or_else(|| panic!("no command in {printed}"));
    let mut link = folder.garth(command);
    let link = Process::spawn(link.env_remove("GARTH_DATA")).ended();
    let url = format!("http://{}", server.address);
    let path = link.stdout.trim().strip_prefix(&url);
    let path = path.unwrap_or_else(|| panic!("no address of the server in {link:?}"));
    assert_eq!(server.client().get(path).status, 200);

    assert_eq!(server.stop().code, Some(0));
    let again = Server::start(folder.serve().env_remove("GARTH_BOOTSTRAP_TOKEN"));
    let printed = again.process.printed();
    assert!(!printed.contains(token) && !printed.contains("curl"), "{printed}");
    assert_eq!(printed.lines().count(), 2, "nothing is shown twice: {printed}");
    assert_eq!(again.client_with(token).get("/v4/vpcs").status, 200);
}

#[test]
fn a_token_that_was_given_is_used_and_not_printed() {
    let folder = Folder::new("given");
    let server = folder.start();
    let printed = server.process.printed();
    assert!(!printed.contains(TOKEN), "{printed}");
    assert_eq!(answer_to_printed_line(&printed)["results"], 0);

    // A store that has users takes no other token this way.
    assert_eq!(server.stop().code, Some(0));
    let other = TOKEN.replace('0', "f");
    let again = Server::start(folder.serve().env("GARTH_BOOTSTRAP_TOKEN", &other));
    assert_eq!(again.client_with(&other).get("/v4/vpcs").status, 401);
    assert_eq!(again.client().get("/v4/vpcs").status, 200);
}

#[test]
fn a_first_start_that_fails_does_not_use_up_the_token() {
    let folder = Folder::new("taken");
    let taken = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = taken.local_addr().expect("it is bound").to_string();
    let mut serve = folder.serve();
    serve.env_remove("GARTH_BOOTSTRAP_TOKEN");

    let failed = Process::spawn(serve.env("GARTH_LISTEN", &address)).ended();
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.stderr.contains(&address), "{failed:?}");

    let server = Server::start(serve.env("GARTH_LISTEN", "127.0.0.1:0"));
    let printed = server.process.printed();
    assert!(printed.contains("curl "), "the token was never shown: {printed}");
}

/// Runs the line as someone would who copies it into a shell.
fn answer_to_printed_line(printed: &str) -> Value {
    let line = printed
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("curl "));
    let line = line.unwrap_or_else(|| panic!("no line to try in {printed}"));
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", line]).env("GARTH_BOOTSTRAP_TOKEN", TOKEN);
    let answer = shell.output().expect("there is a shell").stdout;
    serde_json::from_slice(&answer).unwrap_or_else(|e| panic!("{line}: {e}: is there a curl?"))
}
