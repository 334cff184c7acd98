//! TLS and trusted proxies.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::client::Client;
use crate::connection::Connection;
use crate::harness::{Folder, Server, TOKEN};
use crate::process::{Process, WAIT_TIMEOUT, eventually};

/// A certificate for localhost, in two files.
struct Certificate {
    chain: PathBuf,
    key: PathBuf,
    der: CertificateDer<'static>,
}

impl Certificate {
    fn new(folder: &Folder, name: &str) -> Self {
        let names = vec!["localhost".to_owned()];
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed(names).expect("a certificate can be created");
        Self {
            chain: folder.write(&format!("{name}.pem"), &cert.pem()),
            key: folder.write(&format!("{name}.key"), &signing_key.serialize_pem()),
            der: cert.der().clone(),
        }
    }

    /// Opens a TLS connection to a server with this certificate.
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
        stream.set_read_timeout(Some(WAIT_TIMEOUT))?;
        connection.complete_io(&mut stream)?;
        Ok(StreamOwned::new(connection, stream))
    }

    /// The head and the body of the response.
    fn get(&self, address: SocketAddr, path: &str) -> std::io::Result<(String, Value)> {
        let mut stream = self.connect(address, b"http/1.1")?;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {TOKEN}\r\n\r\n"
        );
        stream.write_all(head.as_bytes())?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
        Ok((head.to_owned(), serde_json::from_str(body).expect("JSON")))
    }
}

fn start(folder: &Folder, certificate: &Certificate) -> Server {
    let mut serve = folder.serve();
    serve.arg("--tls-cert").arg(&certificate.chain);
    serve.arg("--tls-key").arg(&certificate.key);
    Server::start(&mut serve)
}

/// A certificate that expires at the end of a year.
fn expiring(folder: &Folder, year: i32) -> Certificate {
    let names = vec!["localhost".to_owned()];
    let mut parameters = rcgen::CertificateParams::new(names).expect("a name");
    parameters.not_after = rcgen::date_time_ymd(year, 12, 31);
    let key = rcgen::KeyPair::generate().expect("a key");
    let certificate = parameters.self_signed(&key).expect("a certificate");
    Certificate {
        chain: folder.write("expiring.pem", &certificate.pem()),
        key: folder.write("expiring.key", &key.serialize_pem()),
        der: certificate.der().clone(),
    }
}

#[test]
fn the_expiry_of_the_certificate_is_a_metric_that_follows_a_reload() {
    let folder = Folder::new("tls-expiry");
    let certificate = expiring(&folder, 2030);
    let mut serve = folder.serve();
    serve.arg("--tls-cert").arg(&certificate.chain);
    serve.arg("--tls-key").arg(&certificate.key);
    let server = Server::start_with_metrics(&mut serve);
    let expiry = || {
        let page = Client::new(server.metrics_address(), TOKEN)
            .get("/metrics")
            .text()
            .to_owned();
        let name = "garth_tls_certificate_expiry_timestamp_seconds ";
        let mut lines = page.lines();
        lines.find_map(|line| line.strip_prefix(name)).map(str::to_owned)
    };
    // 2030-12-31 and 2031-12-31.
    assert_eq!(expiry().as_deref(), Some("1924905600"));
    expiring(&folder, 2031);
    server.process.signal("HUP");
    eventually("the expiry of the new certificate", || {
        (expiry().as_deref() == Some("1956441600")).then_some(())
    });
}

#[test]
fn api_is_served_over_tls() {
    let folder = Folder::new("tls");
    let certificate = Certificate::new(&folder, "one");
    let server = start(&folder, &certificate);
    assert!(
        server.process.stdout().contains("https://"),
        "{}",
        server.process.stdout()
    );

    let (head, vpcs) = certificate
        .get(server.address, "/v4/vpcs")
        .expect("the server responds");

    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(
        head.contains("strict-transport-security: max-age=31536000"),
        "{head}"
    );
    assert_eq!(vpcs["results"], 0);
    let path = "/.well-known/oauth-authorization-server";
    let (_, metadata) = certificate
        .get(server.address, path)
        .expect("the server responds");
    assert_eq!(metadata["issuer"], "https://localhost");
    let stream = certificate.connect(server.address, b"h2").expect("a connection");
    assert_eq!(stream.conn.alpn_protocol(), Some(&b"h2"[..]));
    drop(stream);

    // Plain HTTP and silent connections do not block other clients.
    let mut plain = Connection::open(server.address).expect("the port is open");
    plain
        .send("GET /v4/vpcs HTTP/1.1\r\nhost: x\r\n\r\n")
        .expect("the request can be sent");
    let received = plain.read_to_end().unwrap_or_default();
    assert!(!received.starts_with(b"HTTP"), "{received:?}");
    let _silent = Connection::open(server.address).expect("the port is open");
    assert!(certificate.get(server.address, "/v4/vpcs").is_ok());
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn incomplete_headers_return_408_over_tls() {
    let folder = Folder::new("tls-slow");
    let certificate = Certificate::new(&folder, "one");
    let server = start(&folder, &certificate);
    let mut stream = certificate
        .connect(server.address, b"http/1.1")
        .expect("a connection");
    stream
        .write_all(b"GET /v4/vpcs HTTP/1.1\r\nhost:")
        .expect("the request can be sent");
    let mut response = Vec::new();
    // The server closes the connection without a TLS close_notify.
    let _ = stream.read_to_end(&mut response);
    let response = String::from_utf8_lossy(&response);
    assert!(
        response.starts_with("HTTP/1.1 408") && response.contains("header_timeout"),
        "{response}"
    );
}

#[test]
fn sighup_reloads_the_certificate() {
    let folder = Folder::new("tls-renewed");
    let (old, new) = (Certificate::new(&folder, "one"), Certificate::new(&folder, "two"));
    let mut server = start(&folder, &old);
    let accepts = |certificate: &Certificate, address| certificate.get(address, "/v4/vpcs").is_ok();
    let mut open = old.connect(server.address, b"http/1.1").expect("a connection");
    assert!(!accepts(&new, server.address));

    std::fs::copy(&new.chain, &old.chain).expect("a copy");
    std::fs::copy(&new.key, &old.key).expect("a copy");
    assert!(
        accepts(&old, server.address),
        "the old certificate is used until the signal"
    );
    server.process.signal("HUP");

    eventually("the new certificate", || {
        accepts(&new, server.address).then_some(())
    });
    assert!(!accepts(&old, server.address));
    // Open connections are not affected.
    let head = "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    open.write_all(head.as_bytes()).expect("the request can be sent");
    let mut response = String::new();
    open.read_to_string(&mut response).expect("the server responds");
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");

    // An invalid certificate is logged, and the valid certificate remains in use.
    std::fs::write(&old.chain, "nothing").expect("the file can be written");
    server.process.signal("HUP");
    eventually("the log message", || {
        let log = server.process.stderr();
        (log.contains("certificate reload failed") && log.contains("tls_cert")).then_some(())
    });
    assert!(server.process.is_running() && accepts(&new, server.address));
}

#[test]
fn sighup_is_ignored_without_a_certificate() {
    let folder = Folder::new("hup");
    let server = folder.start();
    server.process.signal("HUP");
    eventually("the log message", || {
        server
            .process
            .stderr()
            .contains("certificate reload ignored")
            .then_some(())
    });
    server.client().get("/v4/vpcs").ok();
}

#[test]
fn invalid_certificate_prevents_the_start() {
    let folder = Folder::new("tls-invalid");
    let (one, two) = (Certificate::new(&folder, "one"), Certificate::new(&folder, "two"));
    let empty = folder.write("empty.pem", "");
    let missing = folder.path("missing.pem");
    for (chain, key, expected) in [
        (Some(&one.chain), None, "tls_key (--tls-key): required"),
        (None, Some(&one.key), "tls_cert (--tls-cert): required"),
        (Some(&missing), Some(&one.key), "missing.pem"),
        (Some(&one.chain), Some(&missing), "missing.pem"),
        (Some(&empty), Some(&one.key), "tls_cert: there is no certificate"),
        (Some(&one.chain), Some(&empty), "tls_key: reading the private key"),
        (Some(&one.chain), Some(&two.key), "does not match the certificate"),
    ] {
        let mut serve = folder.serve();
        for (name, file) in [("GARTH_TLS_CERT", chain), ("GARTH_TLS_KEY", key)] {
            if let Some(file) = file {
                serve.env(name, file);
            }
        }
        let output = Process::spawn(&mut serve).wait();
        assert_eq!(output.code, Some(1), "{expected}: {output:?}");
        assert!(output.stderr.contains(expected), "{expected}: {}", output.stderr);
    }
    assert!(!folder.data().exists(), "no store is created");
}

/// RFC 6797, 7.2.
#[test]
fn plain_http_has_no_strict_transport_security() {
    for (trusted, is_secured) in [("127.0.0.1", true), ("192.0.2.1", false)] {
        let folder = Folder::new("hsts");
        let mut serve = folder.serve();
        let server = Server::start(serve.args(["--trusted-proxies", trusted]));
        let has_hsts = |path: &str, proto: &str| {
            let head =
                format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-proto: {proto}\r\n\r\n");
            let mut connection = Connection::open(server.address).expect("the server accepts connections");
            connection.send(head).expect("the request can be sent");
            let reply = connection.reply_to("GET").expect("the server responds");
            reply.header("strict-transport-security").is_some()
        };
        for path in [
            "/v4/regions",
            "/v4/nowhere",
            "/login",
            "/healthz",
            "/not http\r\n",
        ] {
            assert!(!has_hsts(path, "http"), "{path}");
        }
        for path in ["/v4/regions", "/v4/nowhere", "/login"] {
            assert_eq!(has_hsts(path, "https"), is_secured, "{path} {trusted}");
        }
    }
}

#[test]
fn forwarded_headers_are_accepted_from_trusted_proxies_only() {
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
        let status = |origin: &str| {
            let body = "client_id=x";
            let head = format!(
                "POST /oauth/token HTTP/1.1\r\nhost: garth\r\nx-forwarded-for: {origin}\r\n\
                 content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let mut connection = Connection::open(server.address).expect("the server accepts connections");
            connection.send(head).expect("the request can be sent");
            connection.reply_to("POST").expect("the server responds").status
        };
        assert_eq!(status("203.0.113.1"), statuses[0]);
        for _ in 0..59 {
            status("203.0.113.1");
        }
        assert_eq!(
            status("1.1.1.1, 203.0.113.1"),
            statuses[1],
            "earlier addresses in the header are ignored"
        );
        assert_eq!(status("203.0.113.2"), statuses[2]);
        let mut connection = Connection::open(server.address).expect("the server accepts connections");
        let path = "/.well-known/oauth-authorization-server";
        let head = format!("GET {path} HTTP/1.1\r\nhost: garth\r\nx-forwarded-proto: https\r\n\r\n");
        connection.send(head).expect("the request can be sent");
        assert_eq!(
            connection.reply_to("GET").expect("the server responds").json()["issuer"],
            issuer
        );
    }
}

#[test]
fn an_agent_joins_over_tls_only_if_it_trusts_the_certificate_of_the_server() {
    let folder = Folder::new("tls-agent");
    let (certificate, other) = (
        Certificate::new(&folder, "server"),
        Certificate::new(&folder, "other"),
    );
    let server = start(&folder, &certificate);
    let token = folder.run("host add rack-1 --region us-east --underlay 192.0.2.1");
    let port = server.address.port();
    let join = |trusted: Option<&Certificate>| {
        let mut command = folder.garth("agent join --state agent");
        command.args(["--server", &format!("https://localhost:{port}")]);
        command.args(["--token", token.trim()]);
        if let Some(trusted) = trusted {
            command.arg("--certificate").arg(&trusted.chain);
        }
        Process::spawn(&mut command).wait()
    };

    for trusted in [None, Some(&other)] {
        let refused = join(trusted);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains("certificate"), "{refused:?}");
        assert!(!folder.path("agent/credential.json").exists());
    }
    let joined = join(Some(&certificate));
    assert_eq!(joined.code, Some(0), "{joined:?}");
    let stored = std::fs::read_to_string(folder.path("agent/credential.json")).expect("a credential");
    let stored: Value = serde_json::from_str(&stored).expect("JSON");
    let pem = std::fs::read_to_string(&certificate.chain).expect("a certificate");
    assert_eq!(
        stored["certificate"], pem,
        "the agent trusts only this certificate"
    );
    let used = join(Some(&certificate));
    assert!(used.stderr.contains("the token is not valid"), "{used:?}");
}
