//! Uploads: memory usage, and incomplete uploads.

use std::io::Write;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::connection::Connection;
use crate::harness::{Folder, Server};
use crate::process::eventually;
use crate::uploads::{FORM, files_of, form};

const MIB: usize = 1024 * 1024;
const FILE_SIZE: usize = 5 * MIB;
const CONCURRENT_UPLOADS: usize = 64;

#[test]
fn concurrent_uploads_use_less_than_64_mib() {
    let folder = Folder::new("memory");
    let mut serve = folder.serve();
    serve.args(["--attachments-max-per-ticket", "1000"]);
    let server = Server::start(&mut serve);
    let ticket = server.client().open_ticket();
    let body = form("large.txt", &vec![b'x'; FILE_SIZE]);
    let idle = Memory::of(&server);

    let (halfway, done) = (Barrier::new(CONCURRENT_UPLOADS), AtomicUsize::new(0));
    let mut peak = idle;
    std::thread::scope(|scope| {
        for _ in 0..CONCURRENT_UPLOADS {
            scope.spawn(|| {
                let mut connection = start_upload(&server, ticket, body.len());
                let (half, rest) = body.split_at(body.len() / 2);
                connection.send(half).expect("half a file can be sent");
                // Now all uploads are in progress.
                halfway.wait();
                connection.send(rest).expect("the rest can be sent");
                let reply = connection.reply_to("POST").expect("the server responds");
                done.fetch_add(1, Ordering::Relaxed);
                reply.ok();
            });
        }
        eventually("all files to be attached", || {
            peak = peak.max(Memory::of(&server));
            (done.load(Ordering::Relaxed) == CONCURRENT_UPLOADS).then_some(())
        });
    });

    assert_eq!(server.client().attachments(ticket).len(), CONCURRENT_UPLOADS);
    let (anonymous, resident) = (peak.anonymous - idle.anonymous, peak.peak - idle.resident);
    println!(
        "{CONCURRENT_UPLOADS} concurrent uploads: anonymous memory +{anonymous} KiB, resident at most +{resident} KiB"
    );
    assert!(
        anonymous < 64 * 1024,
        "anonymous memory has grown by {anonymous} KiB"
    );
    assert!(
        resident < 64 * 1024,
        "resident memory has grown by {resident} KiB"
    );
}

/// The memory of a process, in KiB.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// Memory that is not backed by a file.
    anonymous: usize,
    resident: usize,
    /// The highest resident size since the start.
    peak: usize,
}

impl Memory {
    fn of(server: &Server) -> Self {
        let status = format!("/proc/{}/status", server.process.id());
        let status = std::fs::read_to_string(status).expect("the server runs");
        let size = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.expect("Linux reports the size").split_whitespace().nth(1);
            number.and_then(|number| number.parse().ok()).expect("a number")
        };
        Self {
            anonymous: size("RssAnon"),
            resident: size("VmRSS"),
            peak: size("VmHWM"),
        }
    }

    fn max(self, now: Self) -> Self {
        Self {
            anonymous: self.anonymous.max(now.anonymous),
            resident: self.resident.max(now.resident),
            peak: self.peak.max(now.peak),
        }
    }
}

/// Sends the head of a form and waits for `100 Continue`.
fn start_upload(server: &Server, ticket: i64, length: usize) -> Connection {
    let mut connection = send_head(server, ticket, length);
    assert_eq!(
        connection.head().expect("the server sends 100 Continue").status,
        100
    );
    connection
}

/// Sends the head of a form and does not read.
fn send_head(server: &Server, ticket: i64, length: usize) -> Connection {
    let extra = format!("content-type: {FORM}\r\ncontent-length: {length}\r\nexpect: 100-continue\r\n");
    let head = server.client().head("POST", &files_of(ticket), &extra);
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection.send(head).expect("the headers can be sent");
    connection
}

#[test]
fn aborted_upload_leaves_nothing() {
    let folder = Folder::new("dying");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let body = form("half.txt", &vec![b'x'; 2 * MIB]);
    let incomplete = body.len() - "--\r\n".len();

    for (part, reset) in [
        (MIB, false),
        (MIB, true),
        (body.len() - 100, true),
        (incomplete, false),
        (incomplete, true),
    ] {
        // Closing a socket with unread data resets the connection.
        let mut connection = match reset {
            true => send_head(&server, ticket, body.len()),
            false => start_upload(&server, ticket, body.len()),
        };
        connection.send(&body[..part]).expect("a part can be sent");
        eventually("the file to arrive", || {
            (!folder.spooled().is_empty()).then_some(())
        });
        drop(connection);
        eventually("the file to be removed", || {
            folder.spooled().is_empty().then_some(())
        });
    }

    folder.wait_until_swept();
    assert_eq!(server.client().attachments(ticket).len(), 0);
    assert_eq!(folder.stored_files().names().len(), 0);
}

#[test]
fn complete_upload_is_attached_after_client_disconnects() {
    let folder = Folder::new("disconnected");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let content = vec![b'x'; MIB];
    let body = form("complete.txt", &content);
    let connection = start_upload(&server, ticket, body.len());
    let mut sender = connection.sender().expect("the socket can be cloned");
    sender.write_all(&body).expect("the request can be sent");
    eventually("the upload to be recorded", || {
        let is_recorded = !folder.keys("upload").is_empty() || !folder.keys("attachment").is_empty();
        is_recorded.then_some(())
    });
    drop((sender, connection));

    let files = eventually("the file to be listed", || {
        let files = server.client().attachments(ticket);
        (!files.is_empty()).then_some(files)
    });
    assert_eq!(server.client().download(ticket, &files[0]), content);
    folder.wait_until_swept();
}

#[test]
fn stalled_upload_times_out() {
    let folder = Folder::new("stalled");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let body = form("slow.txt", &vec![b'x'; MIB]);
    let mut connection = start_upload(&server, ticket, body.len());
    connection
        .send(&body[..MIB / 2])
        .expect("half of the file can be sent");
    eventually("the file to arrive", || {
        (!folder.spooled().is_empty()).then_some(())
    });

    let reply = connection.reply_to("POST").expect("the server responds");

    assert_eq!((reply.status, reply.code().as_str()), (408, "body_timeout"));
    assert!(connection.is_closed());
    folder.wait_until_swept();
    assert_eq!(server.client().attachments(ticket).len(), 0);
}

/// The client receives the error, not just a closed connection.
#[test]
fn invalid_form_gets_an_error_while_the_client_is_sending() {
    let folder = Folder::new("still-sending");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let large = vec![b'x'; FILE_SIZE];
    let bad_head = [b"--edge\r\nno colon\r\n\r\n", &large[..]].concat();
    let no_head = [b"--edge\r\nX: ", &large[..]].concat();
    let after_the_end = [form("a.txt", b"words"), large.clone()].concat();
    for (name, body, status) in [
        ("a bad head", &bad_head, 400),
        ("a head that does not end", &no_head, 400),
        ("no form at all", &large, 400),
        ("data after the end", &after_the_end, 200),
    ] {
        for _ in 0..5 {
            let result = server
                .client()
                .try_send_bytes("POST", &files_of(ticket), FORM, body);
            let reply = result.unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(reply.status, status, "{name}: {}", reply.text());
        }
    }
}

/// The server does not write the preamble of a form and the heads of its parts to the spool.
#[test]
fn long_preambles_and_part_heads_use_no_memory() {
    let folder = Folder::new("preamble");
    let server = folder.start();
    let ticket = server.client().open_ticket();
    let preamble = vec![b'x'; FILE_SIZE];
    let head = [b"--edge\r\nX: ", &preamble[..]].concat();
    let idle = Memory::of(&server);
    std::thread::scope(|scope| {
        for _ in 0..CONCURRENT_UPLOADS / 2 {
            for body in [&preamble, &head] {
                let mut client = server.client();
                scope.spawn(move || {
                    let refused = client.try_send_bytes("POST", &files_of(ticket), FORM, body);
                    let refused = refused.expect("the server responds");
                    assert_eq!(
                        (refused.status, refused.code().as_str()),
                        (400, "multipart_invalid")
                    );
                });
            }
        }
    });
    let grown = Memory::of(&server).peak - idle.resident;
    println!("{CONCURRENT_UPLOADS} forms with long preambles: resident at most +{grown} KiB");
    assert!(grown < 64 * 1024, "memory has grown by {grown} KiB");
}
