//! `garth mail receive`, as a mail server runs it, with a running server.

use std::fs::File;
use std::process::Command;

use serde_json::json;

use crate::harness::Folder;
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
