//! Slow clients: request timeouts.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Reply};
use crate::harness::Folder;

/// The default timeouts of the server.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
const INCOMPLETE_HEAD: &str = "GET /v4/regions HTTP/1.1\r\nhost: gar";
const COMPLETE_HEAD: &str = "GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n";

/// Opens a connection and sends an incomplete request.
type Start = fn(SocketAddr) -> io::Result<Connection>;

#[test]
fn incomplete_headers_return_408_and_close_the_connection() {
    let folder = Folder::new("slow-head");
    let server = folder.start();
    let cases: [(&str, Start); 4] = [
        ("an incomplete head", |to| start(to, INCOMPLETE_HEAD)),
        ("one letter, which may start HTTP/2", |to| start(to, "P")),
        ("an incomplete head after a complete request", |to| {
            let mut connection = start(to, COMPLETE_HEAD)?;
            connection.reply_to("GET")?;
            connection.send(INCOMPLETE_HEAD)?;
            Ok(connection)
        }),
        ("a head sent letter by letter", send_letter_by_letter),
    ];
    let address = server.address;
    let waiting = cases.map(|(name, case)| (name, std::thread::spawn(move || wait(case(address)))));
    let mut failures = Vec::new();
    for (name, waiting) in waiting {
        match waiting.join().expect("the thread does not panic") {
            Ok((reply, took, true)) if is_about(HEADER_TIMEOUT, took) => assert_408(&reply, "header_timeout"),
            other => failures.push(format!("{name}: {other:?}")),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The response, the time until then, and whether the server closed the connection.
fn wait(started: io::Result<Connection>) -> io::Result<(Reply, Duration, bool)> {
    let since = Instant::now();
    let mut connection = started?;
    let reply = connection.reply_to("GET")?;
    Ok((reply, since.elapsed(), connection.is_closed()))
}

#[test]
fn silent_connection_is_closed_after_the_header_timeout() {
    let folder = Folder::new("silent");
    let server = folder.start();
    let since = Instant::now();
    let mut silent = Connection::open(server.address).expect("the server accepts connections");
    let mut idle = start(server.address, COMPLETE_HEAD).expect("the server accepts connections");
    assert_eq!(idle.reply_to("GET").expect("the server responds").status, 200);

    assert_eq!(
        silent.read_to_end().expect("the server closes the connection"),
        b""
    );
    let took = since.elapsed();
    assert!(is_about(HEADER_TIMEOUT, took), "{took:?}");

    // Between requests, a connection can be idle for longer.
    std::thread::sleep((HEADER_TIMEOUT + Duration::from_secs(2)).saturating_sub(since.elapsed()));
    idle.send(COMPLETE_HEAD).expect("the connection is still open");
    assert_eq!(idle.reply_to("GET").expect("the server responds").status, 200);
}

#[test]
fn incomplete_http2_preface_closes_the_connection() {
    let folder = Folder::new("slow-preface");
    let server = folder.start();
    let mut connection =
        start(server.address, "PRI * HTTP/2.0\r\n\r\n").expect("the server accepts connections");
    connection
        .read_to_end()
        .expect("the server closes the connection");
}

#[test]
fn incomplete_body_returns_408_and_closes_the_connection() {
    let folder = Folder::new("slow-body");
    let server = folder.start();
    let head = server
        .client()
        .head("POST", "/v4/vpcs", "content-length: 100\r\n");
    let started = Instant::now();
    let mut connection =
        start(server.address, &format!("{head}{{\"label\": ")).expect("the server accepts connections");
    let reply = connection.reply_to("POST").expect("the server responds");
    assert!(is_about(BODY_TIMEOUT, started.elapsed()));
    assert_408(&reply, "body_timeout");
    assert!(connection.is_closed());
    assert_eq!(server.client().vpc_labels(), Vec::<String>::new());
}

fn start(address: SocketAddr, text: &str) -> io::Result<Connection> {
    let mut connection = Connection::open(address)?;
    connection.send(text)?;
    Ok(connection)
}

/// Sends a letter every half second until the server closes the connection.
fn send_letter_by_letter(address: SocketAddr) -> io::Result<Connection> {
    let connection = start(address, INCOMPLETE_HEAD)?;
    let mut socket = connection.sender()?;
    std::thread::spawn(move || {
        while io::Write::write_all(&mut socket, b"t").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    Ok(connection)
}

/// Whether the time is close to the timeout, with a margin for a busy machine.
fn is_about(timeout: Duration, took: Duration) -> bool {
    (timeout - Duration::from_secs(1)..timeout * 2).contains(&took)
}

fn assert_408(reply: &Reply, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (408, code));
    assert_eq!(reply.header("connection"), Some("close"));
}
