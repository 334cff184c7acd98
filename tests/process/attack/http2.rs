//! HTTP/2 clients that accept no data and keep the connection alive.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::bystander::assert_healthy;
use crate::harness::Folder;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const ACK: u8 = 1;
const END_STREAM_AND_HEADERS: u8 = 5;
/// INITIAL_WINDOW_SIZE = 0: no byte of a body may be sent.
const NO_WINDOW: [u8; 6] = [0, 4, 0, 0, 0, 0];
/// Maximum time without progress, and the margin for a busy machine.
const MAX_STALL: Duration = Duration::from_secs(30);
const MARGIN: Duration = Duration::from_secs(30);

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short frame");
    [&[0, 0, length, kind, flags, 0, 0, 0, stream], payload].concat()
}

/// `GET /v4/regions` in HPACK: two indexed fields, and two literal fields.
fn request() -> Vec<u8> {
    let (path, authority) = (b"/v4/regions", b"localhost");
    let fields = [
        &[0x82, 0x86, 0x04, path.len() as u8],
        &path[..],
        &[0x01, authority.len() as u8],
        authority,
    ]
    .concat();
    frame(HEADERS, END_STREAM_AND_HEADERS, 1, &fields)
}

/// Responds to every ping until the server closes the connection.
fn keep_alive(mut stream: &TcpStream) -> io::Result<()> {
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let mut payload = vec![0; usize::from(head[1]) << 8 | usize::from(head[2])];
        stream.read_exact(&mut payload)?;
        match (head[3], head[4] & ACK) {
            (PING, 0) => stream.write_all(&frame(PING, ACK, 0, &payload))?,
            (SETTINGS, 0) => stream.write_all(&frame(SETTINGS, ACK, 0, &[]))?,
            _ => {}
        }
    }
}

#[test]
fn http2_client_with_a_zero_window_is_disconnected() {
    let folder = Folder::new("attack-http2");
    let server = folder.start();
    let mut stream = TcpStream::connect(server.address).expect("the server accepts connections");
    stream
        .set_read_timeout(Some(MAX_STALL + MARGIN))
        .expect("a timeout can be set");
    let opening = [PREFACE, &frame(SETTINGS, 0, 0, &NO_WINDOW), &request()].concat();
    stream.write_all(&opening).expect("the request can be sent");

    let since = Instant::now();
    let error = keep_alive(&stream).expect_err("the server closes the connection");

    assert_ne!(
        error.kind(),
        io::ErrorKind::WouldBlock,
        "the connection is still open"
    );
    assert!(
        since.elapsed() >= MAX_STALL - Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    assert_healthy(&server);
}
