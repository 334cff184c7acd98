//! Mail for the desk, by `garth mail receive` and by LMTP, with a running server.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::Command;

use serde_json::json;

use crate::harness::{Folder, Server};
use crate::process::{Process, ProcessOutput};

const DESK: &str = "support@desk.example.net";
const SENDER: &str = "ada@example.com";
const AUTHSERV_ID: &str = "mx.example.net";

fn message(authentication: &str, text: &str) -> String {
    format!(
        "Authentication-Results: {AUTHSERV_ID}; {authentication}\r\nFrom: Ada <{SENDER}>\r\nSubject: It is slow\r\n\
         Message-ID: <1@example.com>\r\n\r\n{text}\r\n"
    )
}

fn receive(folder: &Folder, recipient: &str) -> Command {
    let mut command = folder.garth_with_files("mail receive");
    command
        .env("RECIPIENT", recipient)
        .env("SENDER", SENDER)
        .env("GARTH_MAIL_REPLY_ADDRESS", DESK)
        .env("GARTH_MAIL_AUTHSERV_ID", AUTHSERV_ID);
    command
}

fn deliver(folder: &Folder, command: &mut Command, message: &str) -> ProcessOutput {
    let message = folder.write("message", message);
    Process::spawn(command.stdin(File::open(message).expect("the file exists"))).wait()
}

#[test]
fn a_message_opens_a_ticket_and_other_messages_get_the_code_of_their_reason() {
    let folder = Folder::new("mail");
    let server = folder.start();
    folder.run(&format!(
        "user create --account 1 --username ada --email {SENDER}"
    ));
    let (_, token) = folder.create_token("ada");
    let mut ada = server.client_with(&token);
    let verified = message("dmarc=pass header.from=example.com", "Since noon.");
    let large = message(
        "dmarc=pass header.from=example.com",
        &"a longer line of text\r\n".repeat(1_400_000),
    );
    for (what, recipient, message, code) in [
        ("not verified", DESK, &message("dmarc=fail", "Forged."), 0),
        ("another address", "sales@desk.example.net", &verified, 67),
        ("empty", DESK, &String::new(), 65),
        ("too large", DESK, &large, 65),
        ("verified", DESK, &verified, 0),
        ("the same again", DESK, &verified, 0),
    ] {
        let delivered = deliver(&folder, &mut receive(&folder, recipient), message);
        assert_eq!(delivered.code, Some(code), "{what}: {delivered:?}");
        assert_eq!(delivered.stdout, "", "{what}");
        for secret in [SENDER, "Since noon", "It is slow"] {
            assert!(!delivered.stderr.contains(secret), "{what}: {}", delivered.stderr);
        }
    }
    let tickets = ada.get("/v4/support/tickets").ok();
    assert_eq!(tickets["results"], 1);
    let ticket = &tickets["data"][0];
    assert_eq!(
        (&ticket["summary"], &ticket["description"], &ticket["opened_by"]),
        (&json!("It is slow"), &json!("Since noon."), &json!("ada"))
    );
}

/// The mail server must try again, because an operator can correct these.
#[test]
fn a_missing_setting_or_store_does_not_lose_a_message() {
    let folder = Folder::new("mail-settings");
    let verified = message("dmarc=pass header.from=example.com", "Since noon.");
    let missing = deliver(&folder, &mut receive(&folder, DESK), &verified);
    assert_eq!(missing.code, Some(75), "{missing:?}");
    drop(folder.start());
    let mut without_address = receive(&folder, DESK);
    without_address.env_remove("GARTH_MAIL_REPLY_ADDRESS");
    without_address.env_remove("GARTH_MAIL_AUTHSERV_ID");
    let unset = deliver(&folder, &mut without_address, &verified);
    assert_eq!(unset.code, Some(75), "{unset:?}");
    assert!(unset.stderr.contains("mail.reply_address"), "{unset:?}");
}

#[test]
fn a_server_receives_messages_by_lmtp_and_both_ways_in_are_counted() {
    let folder = Folder::new("mail-lmtp");
    let socket = folder.path("lmtp");
    let mut serve = folder.serve();
    serve
        .env("GARTH_MAIL_REPLY_ADDRESS", DESK)
        .env("GARTH_MAIL_AUTHSERV_ID", AUTHSERV_ID)
        .env("GARTH_MAIL_LMTP_LISTEN", format!("unix:{}", socket.display()));
    // A socket of a server that was killed does not prevent the start.
    Server::start(&mut serve).process.kill();
    assert!(socket.exists());
    let server = Server::start_with_metrics(&mut serve);
    folder.run(&format!(
        "user create --account 1 --username ada --email {SENDER}"
    ));
    let message = message("dmarc=pass header.from=example.com", "Since noon.");
    let mut client = UnixStream::connect(&socket).expect("a connection");
    let commands =
        format!("LHLO x\r\nMAIL FROM:<{SENDER}>\r\nRCPT TO:<{DESK}>\r\nDATA\r\n{message}.\r\nQUIT\r\n");
    client.write_all(commands.as_bytes()).expect("sent");
    let replies: Vec<String> = BufReader::new(&client).lines().map_while(Result::ok).collect();
    assert_eq!(
        replies[replies.len() - 2..],
        ["250 2.0.0 ok", "221 2.0.0 goodbye"],
        "{replies:?}"
    );
    let delivered = deliver(&folder, &mut receive(&folder, DESK), &message);
    assert_eq!(delivered.code, Some(0), "{delivered:?}");

    let counts = folder.json("mail status");
    let shown = |index: usize| {
        (
            &counts[index]["outcome"],
            &counts[index]["reason"],
            &counts[index]["messages"],
        )
    };
    assert_eq!(shown(0), (&json!("accepted"), &json!("ticket"), &json!(1)));
    assert_eq!(shown(1), (&json!("dropped"), &json!("duplicate"), &json!(1)));
    let stopped = server.stop();
    for secret in [SENDER, "Since noon", "It is slow"] {
        assert!(!stopped.stderr.contains(secret), "{}", stopped.stderr);
    }
    assert!(!socket.exists());
}

#[test]
fn lmtp_is_not_offered_to_other_machines_unless_permitted() {
    let folder = Folder::new("mail-lmtp-settings");
    for (address, desk, message) in [
        ("0.0.0.0:0", DESK, "mail.lmtp_allow_network"),
        ("127.0.0.1", DESK, "mail.lmtp_listen: must be"),
        ("127.0.0.1:0", "", "mail.reply_address: required"),
    ] {
        let mut serve = folder.serve();
        serve.env("GARTH_MAIL_LMTP_LISTEN", address);
        if !desk.is_empty() {
            serve.env("GARTH_MAIL_REPLY_ADDRESS", desk);
            serve.env("GARTH_MAIL_AUTHSERV_ID", AUTHSERV_ID);
        }
        let refused = Process::spawn(&mut serve).wait();
        assert_ne!(refused.code, Some(0), "{address}");
        assert!(refused.stderr.contains(message), "{address}: {}", refused.stderr);

        let mut doctor = folder.garth("doctor --json");
        doctor
            .env("GARTH_LISTEN", "127.0.0.1:0")
            .env("GARTH_MAIL_LMTP_LISTEN", address);
        if !desk.is_empty() {
            doctor.env("GARTH_MAIL_REPLY_ADDRESS", desk);
            doctor.env("GARTH_MAIL_AUTHSERV_ID", AUTHSERV_ID);
        }
        let found = Process::spawn(&mut doctor).wait();
        assert_eq!(found.code, Some(1), "{address}: {found:?}");
        assert!(found.stdout.contains(message), "{address}: {found:?}");
    }
    let mut permitted = folder.serve();
    permitted
        .env("GARTH_MAIL_LMTP_LISTEN", "0.0.0.0:0")
        .env("GARTH_MAIL_LMTP_ALLOW_NETWORK", "true")
        .env("GARTH_MAIL_REPLY_ADDRESS", DESK)
        .env("GARTH_MAIL_AUTHSERV_ID", AUTHSERV_ID);
    drop(Server::start(&mut permitted));
}
