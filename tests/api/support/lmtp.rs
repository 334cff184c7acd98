//! Messages that arrive by LMTP: the protocol, its limits, and the counts of messages.

use std::time::Duration;

use garth::files::Files;
use garth::mail::delivery::Delivery;
use garth::mail::lmtp::{Limits, LmtpAddress, LmtpSocket, Timeouts, serve};
use garth::model::bounce_address;
use garth::model::id::OutgoingMailId;
use garth::model::reply_address::MailAddress;
use garth::rules::{mail_counts, received_mails};
use garth::store::WriteTx;
use garth::uploads::Uploads;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::outgoing_mails;
use super::received_mails::{DESK, enable_mail, message, signed};
use crate::harness::TestApp;
use crate::rows::Row;
use crate::smtp_server::{Behavior, SmtpServer};

const ADA: &str = "ada@example.com";
const MAX_BYTES: usize = 30 * 1024 * 1024;

/// An LMTP server on the store of a test.
struct Server {
    address: String,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    async fn start(app: &TestApp) -> Self {
        Self::with(app, Limits::default()).await
    }

    async fn with(app: &TestApp, limits: Limits) -> Self {
        let uploads = Uploads {
            store: app.store.clone(),
            files: Files::open(None, app.folder()).expect("the attachment storage"),
            scanner: None,
        };
        let address = LmtpAddress::parse("127.0.0.1:0").expect("an address");
        let socket = LmtpSocket::bind(&address).await.expect("a free port");
        let address = socket.address().expect("an address").to_string();
        let (stop, stopping) = watch::channel(false);
        let task = tokio::spawn(serve(socket, uploads, limits, stopping));
        Self { address, stop, task }
    }

    async fn connect(&self) -> Client {
        let stream = TcpStream::connect(&self.address).await.expect("a connection");
        Client(BufReader::new(stream))
    }

    /// A client after the greeting and LHLO.
    async fn greeted(&self) -> Client {
        let mut client = self.connect().await;
        assert_eq!(client.reply().await, "220 desk.example.net LMTP server ready");
        client.send("LHLO mx.example.net\r\n").await;
        for expected in [
            "250-desk.example.net",
            "250-PIPELINING",
            "250-ENHANCEDSTATUSCODES",
            "250-8BITMIME",
            "250-SMTPUTF8",
            "250 SIZE 31457280",
        ] {
            assert_eq!(client.reply().await, expected);
        }
        client
    }
}

struct Client(BufReader<TcpStream>);

impl Client {
    async fn send(&mut self, text: &str) {
        self.0.write_all(text.as_bytes()).await.expect("sent");
    }

    /// The next line; empty if the server has closed the connection.
    async fn reply(&mut self) -> String {
        let mut line = String::new();
        let read = tokio::time::timeout(Duration::from_secs(60), self.0.read_line(&mut line));
        read.await.expect("a reply in time").expect("a reply");
        line.trim_end().to_owned()
    }

    async fn ask(&mut self, text: &str) -> String {
        self.send(text).await;
        self.reply().await
    }

    /// Sends the envelope and DATA, and expects success.
    async fn begin(&mut self, recipients: &[&str]) {
        assert_eq!(
            self.ask(&format!("MAIL FROM:<{ADA}>\r\n")).await,
            "250 2.1.0 sender ok"
        );
        for recipient in recipients {
            let reply = self.ask(&format!("RCPT TO:<{recipient}>\r\n")).await;
            assert_eq!(reply, "250 2.1.5 recipient ok");
        }
        assert!(self.ask("DATA\r\n").await.starts_with("354 "));
    }

    async fn deliver(&mut self, recipient: &str, message: &str) -> String {
        self.begin(&[recipient]).await;
        self.ask(&format!("{message}.\r\n")).await
    }
}

async fn counts(app: &TestApp) -> Vec<String> {
    let counts = app.store.read(mail_counts::list).await.expect("the counts");
    let line = |count: garth::model::mail_count::MailCount| {
        format!("{} {} {}", count.outcome.word(), count.reason, count.messages)
    };
    counts.into_iter().map(line).collect()
}

#[tokio::test]
async fn each_recipient_has_its_reply_and_messages_are_counted_by_reason() {
    let app = TestApp::with(enable_mail).await;
    let (ada, server) = (app.user("ada").await, Server::start(&app).await);
    ada.open_ticket("Help").await;
    let to_ticket = signed(&app, 1, 1).await;
    let forged = to_ticket.replace("+1-", "+2-");
    let mut client = server.greeted().await;

    // One write with all commands (PIPELINING).
    let commands = format!(
        "MAIL FROM:<{ADA}> SIZE=300 BODY=8BITMIME SMTPUTF8\r\nRCPT TO:<{to_ticket}>\r\nRCPT TO:<sales@example.net>\r\n\
         RCPT TO:<{forged}>\r\nRCPT TO:<{DESK}>\r\nDATA\r\n"
    );
    client.send(&commands).await;
    for code in [
        "250 2.1.0",
        "250 2.1.5",
        "550 5.1.1",
        "550 5.1.1",
        "250 2.1.5",
        "354",
    ] {
        let reply = client.reply().await;
        assert!(reply.starts_with(code), "{reply}");
        assert!(!reply.contains('@'), "{reply}");
    }
    let mail = message(ADA, "1@example.com", "It is slow.\r\n..dots\r\n");
    client.send(&format!("{mail}.\r\n")).await;
    assert_eq!([client.reply().await, client.reply().await], ["250 2.0.0 ok"; 2]);

    // The other outcomes.
    let stranger = message("eve@example.com", "2@example.com", "Hello");
    assert_eq!(client.deliver(DESK, &stranger).await, "250 2.0.0 ok");
    let refused = client.deliver(&to_ticket, &stranger).await;
    assert_eq!(refused, "550 5.7.1 the sender has no permission");
    assert!(client.deliver(DESK, "\r\n").await.starts_with("554 5.6.0 "));
    ada.post("/support/tickets/1/close", json!({})).await;
    let late = message(ADA, "3@example.com", "Hello");
    assert_eq!(
        client.deliver(&to_ticket, &late).await,
        "550 5.2.1 the ticket is closed"
    );
    assert_eq!(client.ask("QUIT\r\n").await, "221 2.0.0 goodbye");
    assert_eq!(client.reply().await, "");

    let replies = ada.get("/support/tickets/1/replies").await.json();
    assert_eq!(replies["results"], 1);
    assert_eq!(replies["data"][0]["description"], "It is slow.\n.dots");
    assert_eq!(
        counts(&app).await,
        [
            "accepted reply 1",
            "dropped duplicate 1",
            "dropped stranger 1",
            "refused address_invalid 1",
            "refused address_unknown 1",
            "refused no_header 1",
            "refused sender_differs 1",
            "refused ticket_closed 1",
        ]
    );
}

#[tokio::test]
async fn commands_in_a_message_are_text() {
    let app = TestApp::with(enable_mail).await;
    let (ada, server) = (app.user("ada").await, Server::start(&app).await);
    let mut client = server.greeted().await;
    let smuggled = message(ADA, "2@example.com", "Smuggled");
    for (number, end) in ["\n.\n", "\n.\r\n", "\r\n.\n", "\r.\r", "\r\n.\r\r\n", "\n.\r"]
        .iter()
        .enumerate()
    {
        let text = format!("First.{end}MAIL FROM:<{ADA}>\r\nRCPT TO:<{DESK}>\r\nDATA\r\n{smuggled}");
        let first = message(ADA, &format!("first-{number}@example.com"), &text);
        assert_eq!(client.deliver(DESK, &first).await, "250 2.0.0 ok", "{end:?}");
        assert_eq!(client.ask("NOOP\r\n").await, "250 2.0.0 ok", "{end:?}");
    }
    let tickets = ada.get("/support/tickets").await.json();
    assert_eq!(tickets["results"], 6);
    for ticket in tickets["data"].as_array().expect("tickets") {
        let text = ticket["description"].as_str().expect("a text");
        assert!(text.starts_with("First.") && text.contains("Smuggled"), "{text}");
    }
}

#[tokio::test]
async fn invalid_commands_are_refused() {
    let app = TestApp::with(enable_mail).await;
    let server = Server::start(&app).await;
    let mut client = server.connect().await;
    client.reply().await;
    for (command, code) in [
        (format!("MAIL FROM:<{ADA}>\r\n"), "503 5.5.1"),
        ("EHLO mx.example.net\r\n".to_owned(), "500 5.5.1"),
        ("HELO mx.example.net\r\n".to_owned(), "500 5.5.1"),
        ("LHLO\r\n".to_owned(), "501 5.5.4"),
        ("BDAT 3 LAST\r\n".to_owned(), "502 5.5.1"),
        ("AUTH PLAIN AGEAYg==\r\n".to_owned(), "502 5.5.1"),
        ("FROB\r\n".to_owned(), "500 5.5.1"),
        ("NOOP\n".to_owned(), "500 5.5.2"),
        (format!("NOOP {}\r\n", "a".repeat(3000)), "500 5.5.2"),
        ("NOOP\r\n".to_owned(), "250 2.0.0"),
        (format!("VRFY {ADA}\r\n"), "252 2.5.0"),
    ] {
        let reply = client.ask(&command).await;
        assert!(reply.starts_with(code), "{command}: {reply}");
    }
    let mut client = server.greeted().await;
    for (command, code) in [
        (format!("RCPT TO:<{DESK}>\r\n"), "503 5.5.1"),
        ("DATA\r\n".to_owned(), "503 5.5.1"),
        (
            format!("MAIL FROM:<{ADA}> SIZE={}\r\n", MAX_BYTES + 1),
            "552 5.3.4",
        ),
        (format!("MAIL FROM:<{ADA}> BODY=BINARYMIME\r\n"), "555 5.5.4"),
        (format!("MAIL FROM:<{ADA}> FROB=1\r\n"), "555 5.5.4"),
        ("MAIL FROM:<>\r\n".to_owned(), "250 2.1.0"),
        ("MAIL FROM:<>\r\n".to_owned(), "503 5.5.1"),
        ("DATA\r\n".to_owned(), "503 5.5.1"),
        ("RCPT TO:<a@b@c>\r\n".to_owned(), "5"),
        ("RSET\r\n".to_owned(), "250 2.0.0"),
        (format!("RCPT TO:<{DESK}>\r\n"), "503 5.5.1"),
    ] {
        let reply = client.ask(&command).await;
        assert!(reply.starts_with(code), "{command}: {reply}");
    }
    let last = loop {
        let reply = client.ask("FROB\r\n").await;
        if !reply.starts_with("500 ") {
            break reply;
        }
    };
    assert_eq!(last, "421 4.7.0 too many errors");
    assert_eq!(client.reply().await, "");
    assert_eq!(counts(&app).await, ["refused too_large 1"]);
}

#[tokio::test]
async fn a_message_has_a_maximum_size_and_number_of_recipients() {
    let app = TestApp::with(enable_mail).await;
    let (ada, server) = (app.user("ada").await, Server::start(&app).await);
    let mut client = server.greeted().await;
    let line = format!("{}\r\n", "a".repeat(998));
    let large = message(ADA, "1@example.com", &line.repeat(MAX_BYTES / 1000 + 1));
    assert_eq!(client.deliver(DESK, &large).await, "552 5.3.4 message too large");
    assert_eq!(
        client.ask(&format!("MAIL FROM:<{ADA}>\r\n")).await,
        "250 2.1.0 sender ok"
    );
    for number in 0..=100 {
        let reply = client.ask(&format!("RCPT TO:<{DESK}>\r\n")).await;
        let expected = if number < 100 { "250 2.1.5" } else { "452 4.5.3" };
        assert!(reply.starts_with(expected), "{number}: {reply}");
    }
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 0);
}

fn short(idle_ms: u64, message_ms: u64) -> Limits {
    Limits {
        timeouts: Timeouts {
            idle: Duration::from_millis(idle_ms),
            message: Duration::from_millis(message_ms),
            shutdown: Duration::from_secs(30),
        },
        ..Limits::default()
    }
}

/// Sends pieces of a text with pauses, until the server replies. Returns the reply.
async fn trickle(client: &mut Client, piece: &str) -> String {
    let mut line = String::new();
    loop {
        let pause = Duration::from_millis(20);
        match tokio::time::timeout(pause, client.0.read_line(&mut line)).await {
            Ok(read) => {
                read.expect("a reply");
                return line.trim_end().to_owned();
            }
            // After the server has closed the connection, the reply is still to be read.
            Err(_) => drop(client.0.write_all(piece.as_bytes()).await),
        }
    }
}

#[tokio::test]
async fn clients_that_are_idle_or_slow_are_disconnected() {
    let app = TestApp::with(enable_mail).await;
    let timed_out = "421 4.4.2 timed out";
    let server = Server::with(&app, short(300, 60_000)).await;
    let mut idle = server.greeted().await;
    assert_eq!(idle.reply().await, timed_out);
    let mut byte_by_byte = server.greeted().await;
    assert_eq!(trickle(&mut byte_by_byte, "A").await, timed_out);
    let mut stalled = server.greeted().await;
    stalled.begin(&[DESK]).await;
    assert_eq!(stalled.ask("Subject: x\r\n").await, timed_out);

    let server = Server::with(&app, short(60_000, 500)).await;
    let mut slow = server.greeted().await;
    slow.begin(&[DESK]).await;
    assert_eq!(trickle(&mut slow, "a\r\n").await, timed_out);
}

#[tokio::test]
async fn the_number_of_connections_is_limited() {
    let app = TestApp::with(enable_mail).await;
    let limits = Limits {
        connections: 2,
        ..Limits::default()
    };
    let server = Server::with(&app, limits).await;
    let (first, second) = (server.greeted().await, server.greeted().await);
    let mut third = server.connect().await;
    assert_eq!(third.reply().await, "421 4.3.2 too many connections");
    drop(first);
    let greeting = loop {
        let greeting = server.connect().await.reply().await;
        if greeting.starts_with("220 ") {
            break greeting;
        }
    };
    assert!(greeting.ends_with("ready"));
    drop(second);
}

#[tokio::test]
async fn a_shutdown_completes_messages_in_progress_and_ends_other_connections() {
    let app = TestApp::with(enable_mail).await;
    let (ada, server) = (app.user("ada").await, Server::start(&app).await);
    let (mut idle, mut sending) = (server.greeted().await, server.greeted().await);
    sending.begin(&[DESK]).await;
    let mail = message(ADA, "1@example.com", "Hello");
    let (start, rest) = mail.split_at(40);
    sending.send(start).await;
    server.stop.send_replace(true);
    let end = "421 4.3.2 the server is shutting down";
    assert_eq!(idle.reply().await, end);
    assert_eq!(sending.ask(&format!("{rest}.\r\nNOOP\r\n")).await, "250 2.0.0 ok");
    assert_eq!(sending.reply().await, end);
    server.task.await.expect("a stopped server");
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 1);
}

#[tokio::test]
async fn the_mail_server_tries_again_if_the_store_fails() {
    let app = TestApp::with(enable_mail).await;
    app.omit_check();
    let server = Server::start(&app).await;
    let mut client = server.greeted().await;
    client.begin(&[DESK]).await;
    let damage = "UPDATE server_secret SET value = 'damaged' WHERE name = 'reply_address';";
    app.home().run(damage).await;
    let mail = message(ADA, "1@example.com", "Hello");
    assert_eq!(
        client.ask(&format!("{mail}.\r\n")).await,
        "451 4.3.0 try again later"
    );
    client.ask(&format!("MAIL FROM:<{ADA}>\r\n")).await;
    let reply = client.ask(&format!("RCPT TO:<{DESK}>\r\n")).await;
    assert_eq!(reply, "451 4.3.0 try again later");
    assert_eq!(counts(&app).await, ["deferred unavailable 1"]);
}

/// A report on a mail to an address.
fn report(action: &str, status: &str, recipient: &str) -> String {
    format!(
        "From: MAILER-DAEMON@mx.example.org\r\nSubject: Undelivered Mail\r\nMIME-Version: 1.0\r\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n\
         --b\r\n\r\nSorry.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\n\
         Reporting-MTA: dns; mx.example.org\r\n\r\n\
         Final-Recipient: rfc822; {recipient}\r\nAction: {action}\r\nStatus: {status}\r\n\r\n--b--\r\n"
    )
}

async fn report_address(app: &TestApp, mail: i64) -> String {
    let sign = move |tx: &mut WriteTx| {
        let address = MailAddress::parse(DESK).expect("an address");
        Ok::<_, garth::rules::Error>(bounce_address::sign(
            &received_mails::key(tx)?,
            &address,
            OutgoingMailId(mail),
        ))
    };
    app.store.write(sign).await.expect("an address")
}

/// The states of mails with their errors, and the suppressed addresses.
async fn outgoing(app: &TestApp) -> (Vec<String>, Vec<String>) {
    let content = app.home().content().await;
    let text = |row: &Row, column: &str| row[column].as_str().unwrap_or("-").to_owned();
    let mails = content["outgoing_mail"].iter();
    let mails = mails.map(|row| format!("{} {}", text(row, "state"), text(row, "error")));
    let suppressed = content["suppressed_address"].iter();
    let suppressed = suppressed.map(|row| format!("{} {}", text(row, "address"), text(row, "status")));
    let (mut mails, mut suppressed): (Vec<_>, Vec<_>) = (mails.collect(), suppressed.collect());
    mails.sort();
    suppressed.sort();
    (mails, suppressed)
}

#[tokio::test]
async fn only_a_report_to_the_signed_address_marks_a_mail_as_bounced() {
    let app = TestApp::with(enable_mail).await;
    let server = Server::start(&app).await;
    for (address, state, sent) in [
        ("Gone@example.com", "sent", "1"),
        ("full@example.com", "sent", "1"),
        ("late@example.com", "sent", "1"),
        ("other@example.com", "failed", "NULL"),
    ] {
        let insert = format!(
            "INSERT INTO outgoing_mail (kind, address, message_id, state, maybe_repeated, attempts, queued, sent)
             VALUES ('ticket', '{address}', 'x@example.com', '{state}', 0, 1, 0, {sent});"
        );
        app.home().run(&insert).await;
    }
    let mut client = server.greeted().await;
    for (mail, action, status, recipient) in [
        // The address in the report is not that of the mail, which can have been forwarded.
        (1, "failed", "5.1.1", "victim@example.com"),
        (2, "failed", "5.2.2", "full@example.com"),
        (3, "delayed", "4.4.1", "late@example.com"),
        (4, "failed", "5.1.1", "other@example.com"),
        (5, "failed", "5.1.1", "other@example.com"),
    ] {
        let to = report_address(&app, mail).await;
        let reply = client.deliver(&to, &report(action, status, recipient)).await;
        assert_eq!(reply, "250 2.0.0 ok", "{mail}");
    }
    let to = report_address(&app, 3).await;
    let vacation = format!(
        "Auto-Submitted: auto-replied\r\n{}",
        message(ADA, "1@example.com", "Away")
    );
    for mail in [
        vacation,
        message(ADA, "2@example.com", "A reply to the wrong address"),
    ] {
        assert_eq!(client.deliver(&to, &mail).await, "250 2.0.0 ok");
    }
    client.send("MAIL FROM:<>\r\n").await;
    client.reply().await;
    let forged = to.replace("+b-3-", "+b-2-");
    let reply = client.ask(&format!("RCPT TO:<{forged}>\r\n")).await;
    assert_eq!(reply, "550 5.1.1 no such address");
    assert_eq!(
        super::received_mails::send(&app, &forged, &report("failed", "5.1.1", "full@example.com")).await,
        Delivery::Dropped("bounce_forged")
    );

    let (mails, suppressed) = outgoing(&app).await;
    assert_eq!(mails, ["bounced 5.1.1", "bounced 5.2.2", "failed -", "sent -"]);
    assert_eq!(suppressed, ["gone@example.com 5.1.1", "other@example.com 5.1.1"]);
    assert_eq!(
        counts(&app).await,
        [
            "accepted bounce 3",
            "dropped automatic 1",
            "dropped bounce_forged 1",
            "dropped bounce_not_final 1",
            "dropped bounce_other 1",
            "dropped bounce_unknown 1",
            "refused address_invalid 1",
        ]
    );
}

#[tokio::test]
async fn loops_bombs_and_automatic_messages_have_no_effect() {
    let app = TestApp::with(enable_mail).await;
    let (ada, server) = (app.user("ada").await, Server::start(&app).await);
    let mut client = server.greeted().await;
    let plain = message(ADA, "1@example.com", "Hello");
    let bomb = format!("X: {}\r\n{plain}", "a".repeat(100_000));
    for (head, expected) in [
        ("X-Garth-Ticket: 1\r\n".to_owned(), "dropped loop 1"),
        ("Received: from a by b\r\n".repeat(51), "dropped loop 2"),
        (
            "Auto-Submitted: auto-generated\r\n".to_owned(),
            "dropped automatic 1",
        ),
        ("X-Autoreply: yes\r\n".to_owned(), "dropped automatic 2"),
        ("Precedence: auto_reply\r\n".to_owned(), "dropped automatic 3"),
        ("Precedence: bulk\r\n".to_owned(), "dropped bulk 1"),
        ("List-Id: <a.example.com>\r\n".to_owned(), "dropped bulk 2"),
        ("Return-Path: <>\r\n".to_owned(), "dropped bounce 1"),
    ] {
        assert_eq!(
            client.deliver(DESK, &format!("{head}{plain}")).await,
            "250 2.0.0 ok"
        );
        let counts = counts(&app).await;
        assert!(counts.contains(&expected.to_owned()), "{head}: {counts:?}");
    }
    // The null sender of the envelope.
    client.ask("MAIL FROM:<>\r\n").await;
    client.ask(&format!("RCPT TO:<{DESK}>\r\n")).await;
    client.ask("DATA\r\n").await;
    assert_eq!(client.ask(&format!("{plain}.\r\n")).await, "250 2.0.0 ok");
    // Parts inside each other.
    let nested: String = (0..30_000)
        .map(|n| format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"))
        .collect();
    let refused = client
        .deliver(DESK, &format!("MIME-Version: 1.0\r\n{nested}"))
        .await;
    assert!(refused.starts_with("554 5.6.0"), "{refused}");
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 0);
    // A long field is no reason to refuse a message, and neither is a Received field.
    let accepted = client
        .deliver(DESK, &format!("{}{bomb}", "Received: from a by b\r\n".repeat(50)))
        .await;
    assert_eq!(accepted, "250 2.0.0 ok");
    assert_eq!(ada.get("/support/tickets").await.json()["results"], 1);
    assert!(counts(&app).await.contains(&"dropped bounce 2".to_owned()));
}

#[tokio::test]
async fn a_mail_of_garth_that_a_server_sends_back_is_dropped() {
    let app = TestApp::with(outgoing_mails::enable_mail).await;
    let (ada, sam) = (app.user("ada").await, app.user("sam").staff().await);
    ada.open_ticket("Help").await;
    outgoing_mails::reply(&sam, "Is it slow?").await;
    let smtp = SmtpServer::start(Behavior::Accept);
    outgoing_mails::send_due(&app, &smtp).await;
    let mails = smtp.mails();
    let sent = outgoing_mails::to(&mails, ADA);
    let id = sent[0].message_id().expect("a Message-ID");
    let server = Server::start(&app).await;
    let (mut client, to_ticket) = (server.greeted().await, signed(&app, 1, 1).await);
    // A server has replaced the sender, and has removed the header fields that show the origin. Another Message-ID of
    // the same domain is no reason to drop a message.
    for (id, replies) in [
        (id.to_owned(), 1),
        (id.to_uppercase().replace("MAIL-", "mail-"), 1),
        (id.replace("mail-", "mail-x"), 2),
        (id.replace("@example.net", "@example.org"), 3),
    ] {
        let returned = message(ADA, &id, "Is it slow?");
        assert_eq!(client.deliver(&to_ticket, &returned).await, "250 2.0.0 ok");
        assert_eq!(ada.count("/support/tickets/1/replies").await, replies, "{id}");
    }
    assert_eq!(counts(&app).await, ["accepted reply 2", "dropped loop 2"]);
}
