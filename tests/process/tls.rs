//! TLS, and proxies that are trusted.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{PATIENCE, Process, eventually};

/// A certificate for this machine, in two files.
struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    der: CertificateDer<'static>,
}

impl Certificate {
    fn new(folder: &Folder, name: &str) -> Self {
        let names = vec!["localhost".to_owned()];
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).expect("it can be made");
        Self {
            chain: folder.write(&format!("{name}.pem"), &cert.pem()),
            key: folder.write(&format!("{name}.key"), &signing_key.serialize_pem()),
            der: cert.der().clone(),
        }
    }

    /// Speaks TLS to a server that must prove itself with this certificate.
    fn connect(
        &self,
        address: SocketAddr,
        protocol: &[u8],
    ) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider has them")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![protocol.to_vec()];
        let name = ServerName::try_from("localhost").expect("a name");
        let mut connection = ClientConnection::new(Arc::new(config), name).expect("a connection");
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        connection.complete_io(&mut stream)?;
        Ok(StreamOwned::new(connection, stream))
    }

    /// The head and the body that a request is answered with.
    fn get(&self, address: SocketAddr, path: &str) -> std::io::Result<(String, Value)> {
        let mut stream = self.connect(address, b"http/1.1")?;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        Ok((head.to_owned(), serde_json::from_str(body).expect("JSON")))
    }
}

fn start(folder: &Folder, certificate: &Certificate) -> Server {
    let mut serve = folder.serve();
    serve.arg("--tls-cert").arg(&certificate.chain);
    serve.arg("--tls-key").arg(&certificate.key);
    Server::start(&mut serve)
}

#[test]
fn the_interface_is_served_through_tls() {
    let folder = Folder::new("tls");
    let certificate = Certificate::new(&folder, "one");
    let server = start(&folder, &certificate);
    assert!(
        server.process.printed().contains("https://"),
        "{}",
        server.process.printed()
    );

    let (head, vpcs) = certificate
        .get(server.address, "/v4/vpcs")
        .expect("it is answered");

    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(
        head.contains("strict-transport-security: max-age=31536000"),
        "{head}"
    );
    assert_eq!(vpcs["results"], 0);
    let path = "/.well-known/oauth-authorization-server";
    let (_, told) = certificate.get(server.address, path).expect("it is answered");
    assert_eq!(told["issuer"], "https://localhost");
    let stream = certificate.connect(server.address, b"h2").expect("a connection");
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
    drop(stream);

    // Somebody who does not speak TLS, or says nothing at all, keeps nobody up.
    let mut plain = Connection::open(server.address).expect("the port is open");
    plain
        .send("GET /v4/vpcs HTTP/1.1\r\nhost: x\r\n\r\n")
        .expect("it can be sent");
    let said = plain.end().unwrap_or_default();
    assert!(!said.starts_with(b"HTTP"), "{said:?}");
    let _silent = Connection::open(server.address).expect("the port is open");
    assert!(certificate.get(server.address, "/v4/vpcs").is_ok());
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn a_head_that_does_not_come_is_told_so_through_tls_too() {
    let folder = Folder::new("tls-slow");
    let certificate = Certificate::new(&folder, "one");
    let server = start(&folder, &certificate);
    let mut stream = certificate
        .connect(server.address, b"http/1.1")
        .expect("a connection");
    stream
        .write_all(b"GET /v4/vpcs HTTP/1.1\r\nhost:")
        .expect("it can be sent");
    let mut answer = Vec::new();
    // The connection is cut off after it, without the politeness of an end.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    assert!(
        answer.starts_with("HTTP/1.1 408") && answer.contains("header_timeout"),
        "{answer}"
    );
}

#[test]
fn a_certificate_is_read_anew_while_the_server_runs() {
    let folder = Folder::new("tls-renewed");
    let (old, new) = (Certificate::new(&folder, "one"), Certificate::new(&folder, "two"));
    let mut server = start(&folder, &old);
    let answers = |certificate: &Certificate, address| certificate.get(address, "/v4/vpcs").is_ok();
    let mut open = old.connect(server.address, b"http/1.1").expect("a connection");
    assert!(!answers(&new, server.address));

    std::fs::copy(&new.chain, &old.chain).expect("a copy");
    std::fs::copy(&new.key, &old.key).expect("a copy");
    assert!(answers(&old, server.address), "not before it is asked to");
    server.process.signal("HUP");

    eventually("the new certificate", || {
        answers(&new, server.address).then_some(())
    });
    assert!(!answers(&old, server.address));
    // Open connections are not affected.
    let head = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    open.write_all(head.as_bytes()).expect("it can be sent");
    let mut answer = String::new();
    open.read_to_string(&mut answer).expect("it is answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");

    // An invalid certificate is logged, and the valid one remains in use.
    std::fs::write(&old.chain, "nothing").expect("it can be written");
    server.process.signal("HUP");
    eventually("the log to say so", || {
        let log = server.process.logged();
        (log.contains("certificate reload failed") && log.contains("tls_cert")).then_some(())
    });
    assert!(server.process.is_running() && answers(&new, server.address));
}

#[test]
fn a_signal_to_read_anew_does_not_end_a_server_without_a_certificate() {
    let folder = Folder::new("hup");
    let server = folder.start();
    server.process.signal("HUP");
    eventually("the log to say so", || {
        server
            .process
            .logged()
            .contains("certificate reload ignored")
            .then_some(())
    });
    server.client().get("/v4/vpcs").ok();
}

#[test]
fn a_certificate_that_is_no_good_stops_the_start_and_is_named() {
    let folder = Folder::new("tls-wrong");
    let (one, two) = (Certificate::new(&folder, "one"), Certificate::new(&folder, "two"));
    let empty = folder.write("empty.pem", "");
    let missing = folder.path("missing.pem");
    for (chain, key, says) in [
        (Some(&one.chain), None, "tls_key: required"),
        (None, Some(&one.key), "tls_cert: required"),
        (Some(&missing), Some(&one.key), "missing.pem"),
        (Some(&one.chain), Some(&missing), "missing.pem"),
        (Some(&empty), Some(&one.key), "tls_cert: there is no certificate"),
        (Some(&one.chain), Some(&empty), "tls_key: reading the private key"),
        (
            Some(&one.chain),
            Some(&two.key),
            "does not go with the certificate",
        ),
    ] {
        let mut serve = folder.serve();
        for (name, file) in [("GARTH_TLS_CERT", chain), ("GARTH_TLS_KEY", key)] {
            if let Some(file) = file {
                serve.env(name, file);
            }
        }
        let ended = Process::spawn(&mut serve).ended();
        assert_eq!(ended.code, Some(1), "{says}: {ended:?}");
        assert!(ended.stderr.contains(says), "{says}: {}", ended.stderr);
    }
    assert!(!folder.data().exists(), "no store is made before all is clear");
}

/// RFC 6797, 7.2.
#[test]
fn over_plain_http_no_browser_is_sent_to_https() {
    for (trusted, is_secured) in [("127.0.0.1", true), ("192.0.2.1", false)] {
        let folder = Folder::new("hsts");
        let mut serve = folder.serve();
        let server = Server::start(serve.args(["--trusted-proxies", trusted]));
        let has_it = |path: &str, proto: &str| {
            let head =
                format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-proto: {proto}\r\n\r\n");
            let mut connection = Connection::open(server.address).expect("the server accepts connections");
            connection.send(head).expect("it can be sent");
            let reply = connection.reply_to("GET").expect("it is answered");
            reply.header("strict-transport-security").is_some()
        };
        for path in [
            "/v4/regions",
            "/v4/nowhere",
            "/login",
            "/healthz",
            "/not http\r\n",
        ] {
            assert!(!has_it(path, "http"), "{path}");
        }
        for path in ["/v4/regions", "/v4/nowhere", "/login"] {
            assert_eq!(has_it(path, "https"), is_secured, "{path} {trusted}");
        }
    }
}

#[test]
fn a_trusted_proxy_says_where_requests_come_from_and_nobody_else_does() {
    for (trusted, statuses, issuer) in [
        (
            "10.0.0.0/8, 127.0.0.1".replace(' ', ""),
            [401, 429, 401],
            "https://garth",
        ),
        ("192.0.2.1".to_owned(), [401, 429, 429], "http://garth"),
    ] {
        let folder = Folder::new("proxies");
        let mut serve = folder.serve();
        serve.args(["--trusted-proxies", &trusted, "--rate-limit-enabled", "true"]);
        let server = Server::start(&mut serve);
        let ask = |origin: &str| {
            let body = "client_id=x";
            let head = format!(
                "POST /oauth/token HTTP/1.1\r\nhost: garth\r\nx-forwarded-for: {origin}\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut connection = Connection::open(server.address).expect("the server accepts connections");
            connection.send(head).expect("it can be sent");
            connection.reply_to("POST").expect("it is answered").status
        };
        assert_eq!(ask("203.0.113.1"), statuses[0]);
        for _ in 0..59 {
            ask("203.0.113.1");
        }
        assert_eq!(
            ask("1.1.1.1, 203.0.113.1"),
            statuses[1],
            "it can say what it likes before"
        );
        assert_eq!(ask("203.0.113.2"), statuses[2]);
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        let path = "/.well-known/oauth-authorization-server";
        let head = format!("GET {path} HTTP/1.1\r\nhost: garth\r\nx-forwarded-proto: https\r\n\r\n");
        connection.send(head).expect("it can be sent");
        assert_eq!(
            connection.reply_to("GET").expect("it is answered").json()["issuer"],
            issuer
        );
    }
}
