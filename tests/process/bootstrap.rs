//! The first start on an empty store: a token, shown once and not in a service's log, and a line to try it with.

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
    let console = format!("Console: http://{}/login\n", server.address);
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

/// A service's standard output goes to the journal, which others read.
#[test]
fn a_service_prints_no_token_and_a_command_makes_one() {
    let folder = Folder::new("service");
    let mut serve = folder.serve();
    let serve = serve
        .env_remove("GARTH_BOOTSTRAP_TOKEN")
        .env("JOURNAL_STREAM", "8:1");
    let server = Server::start(serve);
    let printed = server.process.printed();
    let is_secret = |word: &str| word.len() >= 64 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let words = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_secret);
    assert!(!words(&printed), "{printed}");

    let command = printed.lines().find(|line| line.contains("garth token create"));
    let command = command.and_then(|line| line.trim().strip_prefix("garth "));
    let command = command.unwrap_or_else(|| panic!("no command in {printed}"));
    assert_eq!(
        folder.json("token list --user admin"),
        serde_json::json!([]),
        "no token is made that no one can know"
    );
    let made = Process::spawn(folder.garth(command).env_remove("GARTH_DATA")).ended();
    assert_eq!(server.client_with(made.stdout.trim()).get("/v4/vpcs").status, 200);
    let ended = server.stop();
    assert!(!words(&ended.stdout) && !words(&ended.stderr), "{ended:?}");
}

#[test]
fn in_a_terminal_a_service_prints_the_token() {
    let folder = Folder::new("terminal");
    let mut serve = folder.serve();
    let serve = serve
        .env_remove("GARTH_BOOTSTRAP_TOKEN")
        .env("JOURNAL_STREAM", "8:1");
    let server = Server::start_in_terminal(serve);
    assert!(server.process.printed().contains("shown only once"));
}

#[test]
fn a_token_can_be_given_in_a_file() {
    let folder = Folder::new("token-file");
    let file = folder.write("bootstrap-token", &format!("{TOKEN}\n"));
    let mut serve = folder.serve();
    serve.env_remove("GARTH_BOOTSTRAP_TOKEN");
    serve.env("GARTH_BOOTSTRAP_TOKEN_FILE", &file);
    let server = Server::start(&mut serve);
    assert!(!server.process.printed().contains(TOKEN));
    assert_eq!(server.client().get("/v4/vpcs").status, 200);
    assert_eq!(server.stop().code, Some(0));

    for (text, says) in [
        ("", "64 lower-case hexadecimal characters"),
        (&TOKEN.to_uppercase(), "64 lower-case hexadecimal characters"),
    ] {
        folder.write("bootstrap-token", text);
        let refused = Process::spawn(&mut serve).ended();
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(says), "{refused:?}");
        assert!(text.is_empty() || !refused.stderr.contains(text), "{refused:?}");
    }
    std::fs::remove_file(&file).expect("it was written");
    let refused = Process::spawn(&mut serve).ended();
    assert!(refused.stderr.contains("bootstrap-token"), "{refused:?}");
}

#[test]
fn the_help_lists_the_ways_to_give_a_token() {
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
