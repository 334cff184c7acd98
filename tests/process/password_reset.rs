//! A forgotten password: from the page over the mail to the new password, without secrets in the store and in the log.

use std::collections::BTreeMap;

use mail_parser::MessageParser;

use crate::canary::{all_files, exchange, form, hidden};
use crate::connection::Reply;
use crate::harness::{Folder, Server};
use crate::outgoing_mail::with_mail;
use crate::process::eventually;
use crate::smtp_server::{Behavior, SmtpServer};

const ADDRESS: &str = "ada-private@example.com";
const PASSWORD: &str = "a password that was reset 31c5";
const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// A browser with cookies.
struct Visitor<'a> {
    server: &'a Server,
    cookies: BTreeMap<String, String>,
}

impl<'a> Visitor<'a> {
    fn new(server: &'a Server) -> Self {
        Self {
            server,
            cookies: BTreeMap::new(),
        }
    }

    fn send(&mut self, method: &str, path: &str, fields: &[(&str, &str)]) -> Reply {
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let body = form(fields);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: {FIREFOX}\r\ncookie: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            cookies.join("; "),
            body.len()
        );
        let reply = exchange(self.server.address, method, &request);
        for (_, cookie) in reply.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let pair = cookie.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        reply
    }

    fn log_in(&mut self, password: &str) -> u16 {
        let page = self.send("GET", "/login", &[]);
        let token = hidden(&page, "form_token");
        let fields = [
            ("form_token", token.as_str()),
            ("return_to", ""),
            ("username", "ada"),
            ("password", password),
        ];
        self.send("POST", "/login", &fields).status
    }
}

/// The texts of the mails that the server has received.
fn texts(mail: &SmtpServer) -> Vec<String> {
    let text = |content: &str| {
        let message = MessageParser::default()
            .parse(content.as_bytes())
            .expect("a message");
        message.body_text(0).expect("a text").into_owned()
    };
    mail.mails().iter().map(|mail| text(&mail.content)).collect()
}

#[test]
fn a_forgotten_password_is_replaced_with_a_link_from_a_mail() {
    let folder = Folder::new("password-reset");
    let mail = SmtpServer::start(Behavior::Accept);
    let mut serve = folder.serve();
    serve.args(["--log", "debug", "--log-format", "json"]);
    let server = Server::start(with_mail(&mut serve, &mail));
    folder.run(&format!(
        "user create --account 1 --username ada --email {ADDRESS}"
    ));

    let mut visitor = Visitor::new(&server);
    let page = visitor.send("GET", "/login", &[]);
    assert!(
        page.text().contains("href=\"forgot/password\""),
        "{}",
        page.text()
    );
    let page = visitor.send("GET", "/forgot/password", &[]);
    let token = hidden(&page, "form_token");
    let fields = [("form_token", token.as_str()), ("username", ADDRESS)];
    assert_eq!(visitor.send("POST", "/forgot/password", &fields).status, 200);
    let text = eventually("the mail", || texts(&mail).first().cloned());
    let start = "https://garth.example.com/oauth/password/";
    let at = text.find(start).expect("a link") + start.len();
    let secret = text[at..].split_whitespace().next().expect("a link").to_owned();
    assert_eq!(secret.len(), 64);
    let while_sent = all_files(folder.data());

    let path = format!("/oauth/password/{secret}");
    assert_eq!(visitor.send("GET", &path, &[]).status, 200);
    let fields = [("password", PASSWORD), ("again", PASSWORD)];
    assert_eq!(visitor.send("POST", &path, &fields).status, 200);
    assert_eq!(visitor.send("POST", &path, &fields).status, 404);
    assert_eq!(visitor.log_in(PASSWORD), 303);
    // Another browser is a new device.
    assert_eq!(Visitor::new(&server).log_in(PASSWORD), 303);
    let notices = eventually("the notices", || {
        Some(texts(&mail)).filter(|texts| texts.len() == 3)
    });
    assert!(notices[1].contains("Client: 127.0.0.1, Firefox"), "{notices:?}");
    assert!(notices[2].contains("Client: 127.0.0.1, Firefox"), "{notices:?}");

    let stopped = server.stop();
    assert_eq!(stopped.code, Some(0));
    let log = stopped.stderr;
    assert!(
        log.contains("requestPasswordReset") && log.contains("/oauth/password/{link}"),
        "{log}"
    );
    for hidden in [&secret, ADDRESS, PASSWORD] {
        assert!(!log.contains(hidden), "{hidden} is in the log: {log}");
    }
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|part| part == text.as_bytes());
    let after = all_files(folder.data());
    assert!(holds(&after, ADDRESS), "the files have the stored data");
    for bytes in [&while_sent, &after] {
        assert!(!holds(bytes, &secret), "the link is in the store");
    }
    folder.assert_sound();
}
