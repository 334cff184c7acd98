//! Uses every kind of secret, then searches for them in the debug log, the metrics, the error responses and all files
//! of the store.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::json;

use crate::client::Client;
use crate::connection::{Connection, Reply, text};
use crate::harness::{Folder, Server};
use crate::process::Process;

const FIRST_PASSWORD: &str = "first canary password 5b1f";
const PASSWORD: &str = "second canary password 77c0";
const WRONG_PASSWORD: &str = "wrong canary password 0d4e";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

#[test]
fn no_secret_is_stored_or_logged_in_clear_text() {
    let folder = Folder::new("canary");
    let mut serve = folder.serve();
    serve.args(["--log", "debug", "--log-format", "json"]);
    let server = Server::start_with_metrics(&mut serve);
    let mut scenario = Scenario::new(&folder, &server);

    scenario.set_passwords();
    scenario.get_tokens();
    scenario.misuse_secrets();

    let Scenario { secrets, errors, .. } = scenario;
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
    assert_eq!(names, expected, "every kind of secret was used");
    let metrics_page = Client::new(server.metrics_address(), "").get("/metrics").text();
    let before = all_files(folder.data());
    let log = server.stop().stderr;
    let after = all_files(folder.data());
    assert!(
        log.contains("getOauthToken") && log.contains("/oauth/password/{link}"),
        "{log}"
    );
    assert!(metrics_page.contains("logIn"), "{metrics_page}");
    assert!(
        log.contains(r#""message":"log-in failed","name":""#),
        "a failed log-in is in the log: {log}"
    );
    let holds =
        |bytes: &[u8], secret: &str| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
    assert!(holds(&after, "admin@localhost"), "the files have the stored data");
    for (name, secret) in &secrets {
        assert!(secret.len() >= 20, "{name} is too short for a reliable search");
        for (location, bytes) in [
            ("log", log.as_bytes()),
            ("metrics", metrics_page.as_bytes()),
            ("errors", errors.as_bytes()),
            ("store while it runs", &before),
            ("store", &after),
        ] {
            assert!(!holds(bytes, secret), "the {name} is in the {location}");
        }
    }
}

struct Scenario<'a> {
    folder: &'a Folder,
    server: &'a Server,
    client: (String, String),
    secrets: BTreeMap<&'static str, String>,
    cookies: BTreeMap<String, String>,
    errors: String,
}

impl<'a> Scenario<'a> {
    fn new(folder: &'a Folder, server: &'a Server) -> Self {
        let created = folder.json("client create --label Canary --redirect-uri https://app.example/cb");
        let client = (text(&created["id"]), text(&created["secret"]));
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
            errors: String::new(),
        }
    }

    /// Sets a password on the command line, and another with a link.
    fn set_passwords(&mut self) {
        let typed =
            File::open(self.folder.write("typed", FIRST_PASSWORD)).expect("the file was just written");
        let mut set = self.folder.garth("user password admin --password-stdin");
        let output = Process::spawn(set.stdin(typed)).wait();
        assert_eq!(
            (output.code, output.stdout.as_str()),
            (Some(0), "set the password of admin\n"),
            "{output:?}"
        );
        self.add_secret("first password", FIRST_PASSWORD);
        let link = text(&self.folder.json("user link admin --expiry 5m")["link"]);
        self.add_secret("link", link.rsplit('/').next().unwrap_or_default());
        assert_eq!(self.get(&link).status, 200);
        // The log might print an unknown path or an unknown method.
        self.get(&format!("{link}/more"));
        self.send("PUT", &link, "");
        let fields = [("password", PASSWORD), ("again", PASSWORD)];
        assert_eq!(self.post(&link, &fields).status, 200);
        assert_eq!(self.post(&link, &fields).status, 404);
        self.add_secret("password", PASSWORD);
    }

    /// The complete OAuth flow of a client.
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
        self.add_secret("form token", &token);
        self.add_secret("form cookie", &self.cookies["__Host-garth-form"].clone());
        let log_in = |password| {
            [
                ("form_token", token.clone()),
                ("return_to", query.clone()),
                ("username", "admin".to_owned()),
                ("password", password),
            ]
        };
        let wrong = log_in(WRONG_PASSWORD.to_owned());
        assert_eq!(self.post("/oauth/login", &wrong).status, 401);
        self.add_secret("wrong password", WRONG_PASSWORD);
        // A user types the password into the field for the username.
        let mut slipped = log_in(PASSWORD.to_owned());
        slipped[2].1 = PASSWORD.to_owned();
        let refused = self.send("POST", "/oauth/login", &form(&slipped));
        assert_eq!(refused.status, 401);
        assert_eq!(
            self.post("/oauth/login", &log_in(PASSWORD.to_owned())).status,
            303
        );
        self.add_secret("session cookie", &self.cookies["__Host-garth-session"].clone());
        self.add_secret("device cookie", &self.cookies["__Host-garth-device-1"].clone());
        let page = self.get(&format!("/oauth/authorize?{query}"));
        let fields = [
            ("form_token", hidden(&page, "form_token")),
            ("return_to", query),
            ("decision", "allow".to_owned()),
        ];
        let redirect = self.post("/oauth/authorize", &fields);
        let address = redirect.header("location").expect("a redirect");
        let code = address.split_once("code=").expect("a code").1;
        let code = code.split('&').next().unwrap_or_default().to_owned();
        self.add_secret("code", &code);
        self.add_secret("verifier", VERIFIER);
        let tokens = self
            .request_token(&[("code", &code), ("code_verifier", VERIFIER)])
            .ok();
        self.add_secret("access token", &text(&tokens["access_token"]));
        self.add_secret("refresh token", &text(&tokens["refresh_token"]));
        let refresh = text(&tokens["refresh_token"]);
        let next = self
            .request_token(&[("grant_type", "refresh_token"), ("refresh_token", &refresh)])
            .ok();
        self.add_secret("new access token", &text(&next["access_token"]));
        self.add_secret("new refresh token", &text(&next["refresh_token"]));
        let mut client = self.server.client_with(&text(&next["access_token"]));
        let created = client.post("/v4/profile/tokens", json!({"label": "canary"})).ok();
        self.add_secret("personal token", &text(&created["token"]));
    }

    /// Sends every secret again to operations for which it is not valid.
    fn misuse_secrets(&mut self) {
        for secret in self.secrets.clone().into_values() {
            let secret = secret.as_str();
            self.request_token(&[("code", secret), ("code_verifier", secret)]);
            self.request_token(&[("grant_type", "refresh_token"), ("refresh_token", secret)]);
            self.request_token(&[("grant_type", secret)]);
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
            self.record_error(&reply);
            let mut broken = Connection::open(self.server.address).expect("the server accepts connections");
            let head = "POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 9999\r\n\r\n";
            broken
                .send(format!("{head}code={secret}"))
                .expect("the request can be sent");
        }
        let _ = self.get("/logout");
    }

    fn add_secret(&mut self, name: &'static str, secret: &str) {
        self.secrets.insert(name, secret.to_owned());
    }

    fn request_token(&mut self, fields: &[(&str, &str)]) -> Reply {
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
        // The log-in page contains the hidden fields of the request again. No other response contains its
        // input.
        if path != "/oauth/login" {
            self.record_error(&reply);
        }
        reply
    }

    fn record_error(&mut self, reply: &Reply) {
        if reply.status >= 400 {
            self.errors += &reply.text();
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

pub fn exchange(address: SocketAddr, method: &str, request: &str) -> Reply {
    let mut connection = Connection::open(address).expect("the server accepts connections");
    connection.send(request).expect("the request can be sent");
    connection.reply_to(method).expect("the server responds")
}

pub fn form<V: AsRef<str>>(fields: &[(&str, V)]) -> String {
    let mut form = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        form.append_pair(name, value.as_ref());
    }
    form.finish()
}

pub fn hidden(page: &Reply, name: &str) -> String {
    let page = page.text();
    let prefix = format!("name=\"{name}\" value=\"");
    let rest = page
        .split_once(&prefix)
        .unwrap_or_else(|| panic!("no {name} in {page}"))
        .1;
    rest.split('"').next().unwrap_or_default().to_owned()
}

/// The content of all files below a folder.
pub fn all_files(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the store exists").flatten() {
        match entry.path().is_dir() {
            true => bytes.extend(all_files(&entry.path())),
            false => bytes.extend(std::fs::read(entry.path()).unwrap_or_default()),
        }
    }
    bytes
}
