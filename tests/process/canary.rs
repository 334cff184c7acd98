//! Every kind of secret there is, used for real, and then looked for wherever it must not be: in the
//! log at its most talkative, in the figures, in refusals, and in every file of the store.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::json;

use crate::client::Client;
use crate::connection::{Connection, Reply, text};
use crate::harness::{Folder, Server};
use crate::process::Process;
use crate::settings::free_address;

const FIRST_PASSWORD: &str = "first canary password 5b1f";
const PASSWORD: &str = "second canary password 77c0";
const WRONG: &str = "wrong canary password 0d4e";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

#[test]
fn no_secret_is_anywhere_in_clear() {
    let folder = Folder::new("canary");
    let metrics = free_address();
    let mut serve = folder.serve();
    let listen = metrics.to_string();
    serve.args([
        "--log",
        "debug",
        "--log-format",
        "json",
        "--metrics-listen",
        &listen,
    ]);
    let server = Server::start(&mut serve);
    let mut world = World::new(&folder, &server);

    world.set_passwords();
    world.get_tokens();
    world.do_it_wrong();

    let World {
        secrets, refusals, ..
    } = world;
    let names: Vec<_> = secrets.keys().copied().collect();
    let expected = [
        "access token",
        "client secret",
        "code",
        "device cookie",
        "first password",
        "form cookie",
        "form token",
        "link",
        "new access token",
        "new refresh token",
        "password",
        "personal token",
        "refresh token",
        "session cookie",
        "verifier",
        "wrong password",
    ];
    assert_eq!(names, expected, "every kind was there");
    let figures = Client::new(metrics, "").get("/metrics").text();
    let before = all_files(folder.data());
    let log = server.stop().stderr;
    let after = all_files(folder.data());
    assert!(
        log.contains("getOauthToken") && log.contains("/oauth/password/{link}"),
        "{log}"
    );
    assert!(figures.contains("logIn"), "{figures}");
    assert!(
        log.contains(r#""message":"log-in failed","name":""#),
        "a failed log-in is in the log: {log}"
    );
    let holds =
        |bytes: &[u8], secret: &str| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
    assert!(holds(&after, "admin@localhost"), "this is where things are kept");
    for (name, secret) in &secrets {
        assert!(
            secret.len() >= 20,
            "{name} is long enough to be found only where it is"
        );
        for (place, bytes) in [
            ("log", log.as_bytes()),
            ("figures", figures.as_bytes()),
            ("refusals", refusals.as_bytes()),
            ("store while it runs", &before),
            ("store", &after),
        ] {
            assert!(!holds(bytes, secret), "the {name} is in the {place}");
        }
    }
}

struct World<'a> {
    folder: &'a Folder,
    server: &'a Server,
    client: (String, String),
    secrets: BTreeMap<&'static str, String>,
    cookies: BTreeMap<String, String>,
    refusals: String,
}

impl<'a> World<'a> {
    fn new(folder: &'a Folder, server: &'a Server) -> Self {
        let made = folder.json("client create --label Canary --redirect-uri https://app.example/cb");
        let client = (text(&made["id"]), text(&made["secret"]));
        let listed = folder.run("client list");
        assert!(
            listed.contains(&client.0) && !listed.contains(&client.1),
            "{listed}"
        );
        Self {
            folder,
            server,
            secrets: BTreeMap::from([("client secret", client.1.clone())]),
            client,
            cookies: BTreeMap::new(),
            refusals: String::new(),
        }
    }

    /// A password from a terminal, and another by a link.
    fn set_passwords(&mut self) {
        let typed = File::open(self.folder.write("typed", FIRST_PASSWORD)).expect("it was just written");
        let mut set = self.folder.garth("user password admin --password-stdin");
        let ended = Process::spawn(set.stdin(typed)).ended();
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(0), "set the password of admin\n"),
            "{ended:?}"
        );
        self.keep("first password", FIRST_PASSWORD);
        let link = text(&self.folder.json("user link admin --expiry 5m")["link"]);
        self.keep("link", link.rsplit('/').next().unwrap_or_default());
        assert_eq!(self.get(&link).status, 200);
        // Where a log would tell of a path that nothing answers to.
        self.get(&format!("{link}/more"));
        self.send("PUT", &link, "");
        let fields = [("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(self.post(&link, &fields).status, 200);
        assert_eq!(self.post(&link, &fields).status, 404);
        self.keep("password", PASSWORD);
    }

    /// The whole way of a program to its tokens.
    fn get_tokens(&mut self) {
        let query = form(&[
            ("client_id", self.client.0.as_str()),
            ("response_type", "code"),
            ("scope", "*"),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
        ]);
        let page = self.get(&format!("/oauth/authorize?{query}"));
        let token = hidden(&page, "form_token");
        self.keep("form token", &token);
        self.keep("form cookie", &self.cookies["__Host-garth-form"].clone());
        let log_in = |password| {
            [
                ("form_token", token.clone()),
                ("return_to", query.clone()),
                ("username", "admin".to_owned()),
                ("password", password),
            ]
        };
        let wrong = log_in(WRONG.to_owned());
        assert_eq!(self.post("/oauth/login", &wrong).status, 401);
        self.keep("wrong password", WRONG);
        // Somebody's hand slips, and a password stands where the name belongs.
        let mut slipped = log_in(PASSWORD.to_owned());
        slipped[2].1 = PASSWORD.to_owned();
        let answer = self.send("POST", "/oauth/login", &form(&slipped));
        assert_eq!(answer.status, 401);
        assert_eq!(
            self.post("/oauth/login", &log_in(PASSWORD.to_owned())).status,
            303
        );
        self.keep("session cookie", &self.cookies["__Host-garth-session"].clone());
        self.keep("device cookie", &self.cookies["__Host-garth-device"].clone());
        let page = self.get(&format!("/oauth/authorize?{query}"));
        let fields = [
            ("form_token", hidden(&page, "form_token")),
            ("return_to", query),
            ("decision", "allow".to_owned()),
        ];
        let back = self.post("/oauth/authorize", &fields);
        let address = back.header("location").expect("it is sent back");
        let code = address.split_once("code=").expect("a code").1;
        let code = code.split('&').next().unwrap_or_default().to_owned();
        self.keep("code", &code);
        self.keep("verifier", VERIFIER);
        let given = self
            .ask_token(&[("code", &code), ("code_verifier", VERIFIER)])
            .ok();
        self.keep("access token", &text(&given["access_token"]));
        self.keep("refresh token", &text(&given["refresh_token"]));
        let refresh = text(&given["refresh_token"]);
        let next = self
            .ask_token(&[("grant_type", "refresh_token"), ("refresh_token", &refresh)])
            .ok();
        self.keep("new access token", &text(&next["access_token"]));
        self.keep("new refresh token", &text(&next["refresh_token"]));
        let mut program = self.server.client_with(&text(&next["access_token"]));
        let made = program
            .post("/v4/profile/tokens", json!({"label": "canary"}))
            .ok();
        self.keep("personal token", &text(&made["token"]));
    }

    /// Every secret once more, where it is of no use.
    fn do_it_wrong(&mut self) {
        for secret in self.secrets.clone().into_values() {
            let secret = secret.as_str();
            self.ask_token(&[("code", secret), ("code_verifier", secret)]);
            self.ask_token(&[("grant_type", "refresh_token"), ("refresh_token", secret)]);
            self.ask_token(&[("grant_type", secret)]);
            let fields = [
                ("client_id", secret),
                ("client_secret", secret),
                ("token", secret),
            ];
            self.post("/oauth/revoke", &fields);
            self.post("/oauth/token", &fields);
            self.post("/oauth/login", &[("form_token", secret), ("password", secret)]);
            self.post(
                "/oauth/authorize",
                &[("form_token", secret), ("return_to", secret)],
            );
            self.get(&format!(
                "/oauth/authorize?client_id={}",
                secret.replace(' ', "+")
            ));
            let reply = self.server.client_with(secret).get("/v4/profile");
            self.note(&reply);
            let mut broken = Connection::open(self.server.address).expect("the server accepts connections");
            let head = "POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 9999\r\n\r\n";
            broken
                .send(format!("{head}code={secret}"))
                .expect("it can be sent");
        }
        let _ = self.get("/logout");
    }

    fn keep(&mut self, name: &'static str, secret: &str) {
        self.secrets.insert(name, secret.to_owned());
    }

    fn ask_token(&mut self, fields: &[(&str, &str)]) -> Reply {
        let (id, secret) = self.client.clone();
        let mut all = vec![("client_id", id.as_str()), ("client_secret", &secret)];
        all.extend_from_slice(fields);
        self.post("/oauth/token", &all)
    }

    fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, "")
    }

    fn post<V: AsRef<str>>(&mut self, path: &str, fields: &[(&str, V)]) -> Reply {
        let reply = self.send("POST", path, &form(fields));
        // The log-in page repeats its own hidden fields; everything else must repeat nothing.
        if path != "/oauth/login" {
            self.note(&reply);
        }
        reply
    }

    fn note(&mut self, reply: &Reply) {
        if reply.status >= 400 {
            self.refusals += &reply.text();
        }
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> Reply {
        let cookies: Vec<_> = self
            .cookies
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncookie: {}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n",
            cookies.join("; "),
            body.len()
        );
        let reply = exchange(self.server.address, method, &format!("{head}{body}"));
        for (_, cookie) in reply.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let pair = cookie.split(';').next().unwrap_or_default();
            let (name, value) = pair.split_once('=').expect("a cookie has a value");
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        reply
    }
}

fn exchange(address: SocketAddr, method: &str, request: &str) -> Reply {
    let mut connection = Connection::open(address).expect("the server accepts connections");
    connection.send(request).expect("it can be sent");
    connection.reply_to(method).expect("it is answered")
}

fn form<V: AsRef<str>>(fields: &[(&str, V)]) -> String {
    let mut written = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        written.append_pair(name, value.as_ref());
    }
    written.finish()
}

fn hidden(page: &Reply, name: &str) -> String {
    let page = page.text();
    let mark = format!("name=\"{name}\" value=\"");
    let rest = page
        .split_once(&mark)
        .unwrap_or_else(|| panic!("no {name} in {page}"))
        .1;
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// What is in all files of a folder, one after the other.
fn all_files(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the store is there").flatten() {
        match entry.path().is_dir() {
            true => bytes.extend(all_files(&entry.path())),
            false => bytes.extend(std::fs::read(entry.path()).unwrap_or_default()),
        }
    }
    bytes
}
