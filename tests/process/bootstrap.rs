//! The first start on an empty store prints a token once, with a command to try it. In a service, whose
//! output is a log, it prints no token.

use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Folder, Server, TOKEN};
use crate::process::Process;

#[test]
fn first_start_prints_a_token_and_a_working_command() {
    let folder = Folder::new("first");
    let server = Server::start(folder.serve().env_remove("GARTH_BOOTSTRAP_TOKEN"));
    let printed = server.process.stdout();
    let token = printed.lines().map(str::trim).find(|line| line.len() == 64);
    let token = token.unwrap_or_else(|| panic!("no token in {printed}"));
    assert_eq!(server.client_with(token).get("/v4/vpcs").status, 200);
    assert_eq!(run_printed_curl(&printed)["results"], 0);
    // The URL of the console and a working command for a password link are printed, too.
    let console = format!("Console: http://{}/login\n", server.address);
    assert!(printed.contains(&console), "{printed}");
    let command = printed.lines().find_map(|line| line.strip_prefix("    garth "));
    let command = command.unwrap_or_else(|| panic!("no command in {printed}"));
    let mut link = folder.garth(command);
    let link = Process::spawn(link.env_remove("GARTH_DATA")).wait();
    let url = format!("http://{}", server.address);
    let path = link.stdout.trim().strip_prefix(&url);
    let path = path.unwrap_or_else(|| panic!("no URL of the server in {link:?}"));
    assert_eq!(server.client().get(path).status, 200);

    assert_eq!(server.stop().code, Some(0));
    let again = Server::start(folder.serve().env_remove("GARTH_BOOTSTRAP_TOKEN"));
    let printed = again.process.stdout();
    assert!(!printed.contains(token) && !printed.contains("curl"), "{printed}");
    assert_eq!(
        printed.lines().count(),
        2,
        "the second start prints no token: {printed}"
    );
    assert_eq!(again.client_with(token).get("/v4/vpcs").status, 200);
}

/// The standard output of a service goes to the journal, which other users can read.
#[test]
fn service_prints_no_token_but_the_command_that_creates_one() {
    let folder = Folder::new("service");
    let mut serve = folder.serve();
    let serve = serve
        .env_remove("GARTH_BOOTSTRAP_TOKEN")
        .env("JOURNAL_STREAM", "8:1");
    let server = Server::start(serve);
    let printed = server.process.stdout();
    let is_secret = |word: &str| word.len() >= 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let has_secret = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_secret);
    assert!(!has_secret(&printed), "{printed}");

    let command = printed.lines().find(|line| line.contains("garth token create"));
    let command = command.and_then(|line| line.trim().strip_prefix("garth "));
    let command = command.unwrap_or_else(|| panic!("no command in {printed}"));
    assert_eq!(
        folder.json("token list --user admin"),
        serde_json::json!([]),
        "no token is created that is never shown"
    );
    let created = Process::spawn(folder.garth(command).env_remove("GARTH_DATA")).wait();
    assert_eq!(
        server.client_with(created.stdout.trim()).get("/v4/vpcs").status,
        200
    );
    let output = server.stop();
    assert!(
        !has_secret(&output.stdout) && !has_secret(&output.stderr),
        "{output:?}"
    );
}

#[test]
fn service_in_a_terminal_prints_the_token() {
    let folder = Folder::new("terminal");
    let mut serve = folder.serve();
    let serve = serve
        .env_remove("GARTH_BOOTSTRAP_TOKEN")
        .env("JOURNAL_STREAM", "8:1");
    let server = Server::start_in_terminal(serve);
    assert!(server.process.stdout().contains("shown only once"));
}

#[test]
fn bootstrap_token_can_be_read_from_a_file() {
    let folder = Folder::new("token-file");
    let file = folder.write("bootstrap-token", &format!("{TOKEN}\n"));
    let mut serve = folder.serve();
    serve.env_remove("GARTH_BOOTSTRAP_TOKEN");
    serve.env("GARTH_BOOTSTRAP_TOKEN_FILE", &file);
    let server = Server::start(&mut serve);
    assert!(!server.process.stdout().contains(TOKEN));
    assert_eq!(server.client().get("/v4/vpcs").status, 200);
    assert_eq!(server.stop().code, Some(0));

    for (text, expected) in [
        ("", "64 lower-case hexadecimal characters"),
        (&TOKEN.to_uppercase(), "64 lower-case hexadecimal characters"),
    ] {
        folder.write("bootstrap-token", text);
        let refused = Process::spawn(&mut serve).wait();
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(expected), "{refused:?}");
        assert!(text.is_empty() || !refused.stderr.contains(text), "{refused:?}");
    }
    std::fs::remove_file(&file).expect("the file exists");
    let refused = Process::spawn(&mut serve).wait();
    assert!(refused.stderr.contains("bootstrap-token"), "{refused:?}");
}

#[test]
fn help_lists_the_bootstrap_token_settings() {
    let folder = Folder::new("token-help");
    let help = folder.run("serve --help");
    for word in [
        "--bootstrap-token-file",
        "GARTH_BOOTSTRAP_TOKEN_FILE",
        "GARTH_BOOTSTRAP_TOKEN ",
    ] {
        assert!(help.replace('\n', " ").contains(word), "{word}: {help}");
    }
}

#[test]
fn configured_token_is_used_and_not_printed() {
    let folder = Folder::new("configured");
    let server = folder.start();
    let printed = server.process.stdout();
    assert!(!printed.contains(TOKEN), "{printed}");
    assert_eq!(run_printed_curl(&printed)["results"], 0);

    // A store that has users ignores another bootstrap token.
    assert_eq!(server.stop().code, Some(0));
    let other = TOKEN.replace('0', "f");
    let again = Server::start(folder.serve().env("GARTH_BOOTSTRAP_TOKEN", &other));
    assert_eq!(again.client_with(&other).get("/v4/vpcs").status, 401);
    assert_eq!(again.client().get("/v4/vpcs").status, 200);
}

#[test]
fn failed_first_start_does_not_create_the_token() {
    let folder = Folder::new("taken");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("the listener is bound").to_string();
    let mut serve = folder.serve();
    serve.env_remove("GARTH_BOOTSTRAP_TOKEN");

    let failed = Process::spawn(serve.env("GARTH_LISTEN", &address)).wait();
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.stderr.contains(&address), "{failed:?}");

    let server = Server::start(serve.env("GARTH_LISTEN", "127.0.0.1:0"));
    let printed = server.process.stdout();
    assert!(printed.contains("curl "), "the token was never shown: {printed}");
}

/// Runs the printed curl command in a shell.
fn run_printed_curl(printed: &str) -> Value {
    let line = printed
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("curl "));
    let line = line.unwrap_or_else(|| panic!("no curl command in {printed}"));
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", line]).env("GARTH_BOOTSTRAP_TOKEN", TOKEN);
    let output = shell.output().expect("a shell is installed").stdout;
    serde_json::from_slice(&output).unwrap_or_else(|e| panic!("{line}: {e}: is curl installed?"))
}
