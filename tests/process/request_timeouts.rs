//! Clients that begin and do not go on: they are told so in time, and let go.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Reply};
use crate::harness::Folder;

/// How long the server waits for a head, and for a body, if nothing else is said.
const HEAD: Duration = Duration::from_secs(10);
const BODY: Duration = Duration::from_secs(30);
const HALF: &str = "GET /v4/regions HTTP/1.1\r\nhost: gar";
const WHOLE: &str = "GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n";

/// Opens a connection and does not finish what it begins to say.
type Begin = fn(SocketAddr) -> io::Result<Connection>;

#[test]
fn a_head_that_never_ends_is_answered_with_408_and_a_close() {
    let folder = Folder::new("slow-head");
    let server = folder.start();
    let cases: [(&str, Begin); 4] = [
        ("half a head", |to| begin(to, HALF)),
        ("one letter, which HTTP/2 begins with too", |to| begin(to, "P")),
        ("half a head after a whole request", |to| {
            let mut connection = begin(to, WHOLE)?;
            connection.reply_to("GET")?;
            connection.send(HALF)?;
            Ok(connection)
        }),
        ("a head that comes letter by letter", dribble),
    ];
    let address = server.address;
    let waiting = cases.map(|(what, case)| (what, std::thread::spawn(move || wait(case(address)))));
    let mut wrong = Vec::new();
    for (what, waiting) in waiting {
        match waiting.join().expect("waiting does not panic") {
            Ok((reply, took, true)) if is_about(HEAD, took) => assert_408(&reply, "header_timeout"),
            other => wrong.push(format!("{what}: {other:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The answer, how long it took, and whether the connection was closed behind it.
fn wait(begun: io::Result<Connection>) -> io::Result<(Reply, Duration, bool)> {
    let since = Instant::now();
    let mut connection = begun?;
    let reply = connection.reply_to("GET")?;
    Ok((reply, since.elapsed(), connection.is_closed()))
}

#[test]
fn a_connection_that_sends_nothing_ends_with_the_header_timeout() {
    let folder = Folder::new("silent");
    let server = folder.start();
    let since = Instant::now();
    let mut silent = Connection::open(server.address).expect("it is accepted");
    let mut kept = begin(server.address, WHOLE).expect("it is accepted");
    assert_eq!(kept.reply_to("GET").expect("it is answered").status, 200);

    assert_eq!(silent.end().expect("the server closes it"), b"");
    let took = since.elapsed();
    assert!(is_about(HEAD, took), "{took:?}");

    // Between requests a connection may be idle for longer.
    std::thread::sleep((HEAD + Duration::from_secs(2)).saturating_sub(since.elapsed()));
    kept.send(WHOLE).expect("it is still open");
    assert_eq!(kept.reply_to("GET").expect("it is answered").status, 200);
}

#[test]
fn an_http2_connection_that_never_begins_is_let_go() {
    let folder = Folder::new("slow-preface");
    let server = folder.start();
    let mut connection = begin(server.address, "PRI * HTTP/2.0\r\n\r\n").expect("it is accepted");
    connection.end().expect("the server closes it");
}

#[test]
fn a_body_that_never_ends_is_answered_with_408_and_a_close() {
    let folder = Folder::new("slow-body");
    let server = folder.start();
    let head = server
        .client()
        .head("POST", "/v4/vpcs", "content-length: 100\r\n");
    let begun = Instant::now();
    let mut connection = begin(server.address, &format!("{head}{{\"label\": ")).expect("it is accepted");
    let reply = connection.reply_to("POST").expect("it is told");
    assert!(is_about(BODY, begun.elapsed()));
    assert_408(&reply, "body_timeout");
    assert!(connection.is_closed());
    assert_eq!(server.client().vpc_labels(), Vec::<String>::new());
}

fn begin(address: SocketAddr, text: &str) -> io::Result<Connection> {
    let mut connection = Connection::open(address)?;
    connection.send(text)?;
    Ok(connection)
}

/// Sends a letter now and then, for as long as the server listens.
fn dribble(address: SocketAddr) -> io::Result<Connection> {
    let connection = begin(address, HALF)?;
    let mut other_end = connection.sender()?;
    std::thread::spawn(move || {
        while io::Write::write_all(&mut other_end, b"t").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    Ok(connection)
}

/// Not before its time, and not long after it, even on a machine that has much else to do.
fn is_about(patience: Duration, took: Duration) -> bool {
    (patience - Duration::from_secs(1)..patience * 2).contains(&took)
}

fn assert_408(reply: &Reply, code: &str) {
    assert_eq!((reply.status, reply.code().as_str()), (408, code));
    assert_eq!(reply.header("connection"), Some("close"));
}
