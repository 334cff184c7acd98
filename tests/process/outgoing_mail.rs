//! Mails that a server sends: kills between the commit and the result, `garth mail test`, and logs without content.

use std::process::Command;

use serde_json::{Value, json};

use crate::harness::{Folder, Server};
use crate::process::{Process, eventually};
use crate::smtp_server::{Behavior, SmtpServer};

const STAFF: &str = "grace@example.com";
const SUMMARY: &str = "Harbor cranes stand still";

fn with_mail<'a>(command: &'a mut Command, server: &SmtpServer) -> &'a mut Command {
    command
        .env("GARTH_MAIL_SMTP_URL", format!("smtp://{}", server.address))
        .env("GARTH_MAIL_FROM", "support@example.com")
        .env("GARTH_PUBLIC_URL", "https://garth.example.com")
}

fn start(folder: &Folder, mail: &SmtpServer) -> Server {
    Server::start(with_mail(&mut folder.serve(), mail))
}

/// Creates a member of staff, who gets a mail for each new ticket, and opens a ticket.
fn open_ticket(folder: &Folder, server: &Server) {
    folder.run(&format!(
        "user create --staff --role support --username grace --email {STAFF}"
    ));
    let body = json!({"summary": SUMMARY, "description": "Since noon."});
    server.client().post("/v4/support/tickets", body).ok();
}

fn mails(folder: &Folder) -> Value {
    folder.json("mail list 1")
}

fn message_id(content: &str) -> String {
    let line = content.lines().find(|line| line.starts_with("Message-ID: "));
    line.expect("a Message-ID").to_owned()
}

#[test]
fn a_kill_before_the_mail_is_sent_loses_nothing() {
    let folder = Folder::new("mail-kill-before");
    let mail = SmtpServer::start(Behavior::Hang);
    let mut server = start(&folder, &mail);
    open_ticket(&folder, &server);
    eventually("a connection", || (mail.connections() > 0).then_some(()));
    assert_eq!(mails(&folder)[0]["state"], "sending");
    server.process.kill();
    mail.set(Behavior::Accept);

    let server = start(&folder, &mail);
    eventually("the mail", || {
        (mails(&folder)[0]["state"] == "sent").then_some(())
    });
    assert_eq!(mail.mails().len(), 1);
    assert_eq!(mail.mails()[0].recipient, STAFF);
    let stopped = server.stop();
    assert_eq!(stopped.code, Some(0));
    for secret in [STAFF, SUMMARY, "Since noon"] {
        assert!(!stopped.stderr.contains(secret), "{}", stopped.stderr);
    }
    folder.assert_sound();
}

#[test]
fn a_kill_before_the_result_is_recorded_repeats_the_mail_and_marks_it() {
    let folder = Folder::new("mail-kill-after");
    let mail = SmtpServer::start(Behavior::HoldContent);
    let mut server = start(&folder, &mail);
    open_ticket(&folder, &server);
    eventually("the content", || (!mail.mails().is_empty()).then_some(()));
    server.process.kill();
    mail.set(Behavior::Accept);

    let server = start(&folder, &mail);
    eventually("the mail", || {
        (mails(&folder)[0]["state"] == "sent").then_some(())
    });
    let sent = mail.mails();
    assert_eq!(sent.len(), 2);
    assert_eq!(message_id(&sent[0].content), message_id(&sent[1].content));
    let listed = mails(&folder);
    assert_eq!(
        (&listed[0]["maybe_repeated"], &listed[0]["attempts"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(server.stop().code, Some(0));
    folder.assert_sound();
}

#[test]
fn a_test_mail_prints_each_step_or_advice() {
    let folder = Folder::new("mail-test");
    let mail = SmtpServer::start(Behavior::Accept);
    let test = |mail: &SmtpServer| {
        let mut command = folder.garth("mail test ada@example.org");
        Process::spawn(with_mail(&mut command, mail)).wait()
    };
    let sent = test(&mail);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let steps: Vec<_> = sent.stdout.lines().collect();
    let connected = format!("connected to {}", mail.address);
    assert_eq!(
        steps,
        [
            &connected,
            "sender accepted",
            "recipient accepted",
            "sending",
            "mail accepted"
        ]
    );
    assert_eq!(mail.mails()[0].recipient, "ada@example.org");

    mail.set(Behavior::RefuseRecipient(
        "554 5.7.1 relaying denied for ada@example.org",
    ));
    let refused = test(&mail);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("recipient refused: 554 5.7.1; check the address"),
        "{refused:?}"
    );
    let unset = Process::spawn(&mut folder.garth("mail test ada@example.org")).wait();
    assert!(unset.stderr.contains("mail.smtp_url: required"), "{unset:?}");
}

#[test]
fn invalid_settings_of_mail_prevent_the_start() {
    let folder = Folder::new("mail-invalid");
    let password = folder.write("password", "secret");
    let password = password.to_str().expect("a path");
    let url = ("GARTH_MAIL_SMTP_URL", "smtp://mx.example.com");
    let from = ("GARTH_MAIL_FROM", "support@example.com");
    let public_url = ("GARTH_PUBLIC_URL", "https://garth.example.com");
    let file = ("GARTH_MAIL_PASSWORD_FILE", password);
    for (variables, reason) in [
        (vec![url], "mail.from: required"),
        (vec![url, from], "public_url: required with mail.smtp_url"),
        (vec![from], "mail.smtp_url: required with mail.from"),
        (
            vec![url, from, public_url, file],
            "mail.smtp_url: must have a user",
        ),
        (
            vec![
                ("GARTH_MAIL_SMTP_URL", "smtp://u@mx.example.com"),
                from,
                public_url,
            ],
            "mail.password_file: required",
        ),
        (
            vec![
                ("GARTH_MAIL_SMTP_URL", "smtp://u:secret@mx.example.com"),
                from,
                public_url,
                file,
            ],
            "mail.smtp_url: must not have a password",
        ),
        (
            vec![
                ("GARTH_MAIL_SMTP_URL", "smtp://u@mx.example.com?starttls=off"),
                from,
                public_url,
                file,
            ],
            "the password would not be encrypted",
        ),
        (
            vec![("GARTH_MAIL_SMTP_URL", "mx.example.com"), from, public_url],
            "mail.smtp_url: must be a URL",
        ),
        (
            vec![url, ("GARTH_MAIL_FROM", "support"), public_url],
            "mail.from: must be an address",
        ),
    ] {
        let mut serve = folder.serve();
        let ran = Process::spawn(serve.envs(variables)).wait();
        assert_ne!(ran.code, Some(0), "{reason}");
        assert!(ran.stderr.contains(reason), "{reason}: {}", ran.stderr);
        assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
    }
}
