//! Mails that a server sends: kills between the commit and the result, `garth mail test`, TLS, and logs without content.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};

use crate::harness::{Folder, Server};
use crate::process::{Process, ProcessOutput, eventually};
use crate::smtp_server::{Behavior, Encryption, Protection, SmtpServer};

const STAFF: &str = "grace@example.com";
const SUMMARY: &str = "Harbor cranes stand still";

pub fn with_mail<'a>(command: &'a mut Command, server: &SmtpServer) -> &'a mut Command {
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
    assert_eq!(mail.mails()[0].sender, "support@example.com");
    let content = &mail.mails()[0].content;
    assert!(message_id(content).ends_with("@example.com>"), "{content}");
    assert!(content.contains("MIME-Version: 1.0\r\n"), "{content}");

    // The sender has the form of those of mails about tickets.
    let mut command = folder.garth("mail test ada@example.org");
    command
        .env("GARTH_MAIL_REPLY_ADDRESS", "desk@example.org")
        .env("GARTH_MAIL_AUTHSERV_ID", "mx.example.org");
    let signed = Process::spawn(with_mail(&mut command, &mail)).wait();
    assert_eq!(signed.code, Some(0), "{signed:?}");
    let sender = mail.mails()[1].sender.clone();
    let is_signed = sender.starts_with("desk+b-0-") && sender.ends_with("@example.org");
    assert!(
        is_signed && sender.len() == "desk+b-0-@example.org".len() + 24,
        "{sender}"
    );

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

/// The password that the mail servers of these tests accept.
const PASSWORD: &str = "correct horse";

/// Starts a mail server that requires TLS and a log-in. Returns it with the file of its certificate.
fn protected(folder: &Folder, encryption: Encryption) -> (SmtpServer, PathBuf) {
    let names = vec!["127.0.0.1".to_owned()];
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).expect("a certificate");
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .expect("the key fits the certificate");
    let server = SmtpServer::start_protected(Protection {
        encryption,
        tls: Arc::new(tls),
        login: ("garth", PASSWORD),
    });
    (server, folder.write("mail.pem", &cert.pem()))
}

fn mail_test(folder: &Folder, url: &str, password: &str, certificate: &Path) -> ProcessOutput {
    let password = folder.write("mail-password", password);
    let mut command = folder.garth("mail test ada@example.org");
    command
        .env("GARTH_MAIL_SMTP_URL", url)
        .env("GARTH_MAIL_FROM", "support@example.com")
        .env("GARTH_PUBLIC_URL", "https://garth.example.com")
        .env("GARTH_MAIL_PASSWORD_FILE", password)
        .env("SSL_CERT_FILE", certificate);
    Process::spawn(&mut command).wait()
}

#[test]
fn a_mail_is_sent_over_tls_and_after_a_log_in() {
    let folder = Folder::new("mail-tls");
    for (encryption, scheme, query) in [
        (Encryption::Tls, "smtps", ""),
        (Encryption::StartTls, "smtp", "?starttls=on"),
    ] {
        let (server, certificate) = protected(&folder, encryption);
        let url = format!("{scheme}://garth@{}{query}", server.address);
        let sent = mail_test(&folder, &url, PASSWORD, &certificate);
        assert_eq!(sent.code, Some(0), "{encryption:?}: {sent:?}");
        let steps: Vec<_> = sent.stdout.lines().skip(1).take(2).collect();
        assert_eq!(
            steps,
            ["encrypted with TLS, certificate verified", "logged in"],
            "{encryption:?}"
        );
        assert!(server.mails()[0].is_protected, "{encryption:?}");

        let wrong = mail_test(&folder, &url, "wrong", &certificate);
        assert_eq!(wrong.code, Some(1), "{wrong:?}");
        assert!(wrong.stderr.contains("cannot log in: 535 5.7.8;"), "{wrong:?}");
        let (_, other) = protected(&folder, encryption);
        let untrusted = mail_test(&folder, &url, PASSWORD, &other);
        assert_eq!(untrusted.code, Some(1), "{untrusted:?}");
        assert!(untrusted.stderr.contains("tls_failed"), "{untrusted:?}");
        assert_eq!(
            (server.mails().len(), server.passwords()),
            (1, 2),
            "{encryption:?}"
        );
    }
}

#[test]
fn a_log_in_that_needs_starttls_names_the_setting() {
    let folder = Folder::new("mail-log-in-starttls");
    let (server, certificate) = protected(&folder, Encryption::StartTls);
    // STARTTLS is not required on a loopback address.
    let url = format!("smtp://garth@{}", server.address);
    let refused = mail_test(&folder, &url, PASSWORD, &certificate);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("cannot log in: not_supported;") && refused.stderr.contains("?starttls=on"),
        "{refused:?}"
    );
    assert_eq!((server.mails().len(), server.passwords()), (0, 0));
}

#[test]
fn nothing_is_sent_if_the_server_does_not_offer_starttls() {
    let folder = Folder::new("mail-no-starttls");
    let server = SmtpServer::start(Behavior::Accept);
    let url = format!("smtp://garth@{}?starttls=on", server.address);
    let refused = mail_test(&folder, &url, PASSWORD, &folder.write("none.pem", ""));
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused
            .stderr
            .contains("cannot encrypt the connection: no_starttls"),
        "{refused:?}"
    );
    assert_eq!((server.mails().len(), server.passwords()), (0, 0));
}

#[test]
fn the_doctor_connects_to_the_mail_server() {
    let folder = Folder::new("mail-doctor");
    let (server, certificate) = protected(&folder, Encryption::Tls);
    let doctor = |password: &str| {
        let file = folder.write("mail-password", password);
        set_permissions(&file, Permissions::from_mode(0o600)).expect("the owner can change the mode");
        let mut doctor = folder.garth("doctor --json");
        doctor
            .env("GARTH_LISTEN", "127.0.0.1:0")
            .env("GARTH_MAIL_SMTP_URL", format!("smtps://garth@{}", server.address))
            .env("GARTH_MAIL_FROM", "support@example.com")
            .env("GARTH_PUBLIC_URL", "https://garth.example.com")
            .env("GARTH_MAIL_PASSWORD_FILE", file)
            .env("SSL_CERT_FILE", &certificate);
        let advice = Process::spawn(&mut doctor).wait().stdout;
        let advice: Vec<Value> = serde_json::from_str(&advice).expect("JSON");
        let about_mail = advice.into_iter().filter(|advice| advice["area"] == "mail");
        about_mail
            .map(|advice| advice["problem"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(doctor(PASSWORD), [json!(null); 0]);
    assert_eq!(doctor("wrong"), [json!("cannot log in: 535 5.7.8")]);
    assert!(server.mails().is_empty(), "the command sends nothing");
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
