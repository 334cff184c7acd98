//! Files on their way in, as only the real program can show: how much memory they take, and what is
//! left of those that never arrive.

use std::io::Write;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::connection::Connection;
use crate::harness::{Folder, Server};
use crate::process::eventually;
use crate::uploads::{FORM, files_of, form};

const MIB: usize = 1024 * 1024;
const FILE: usize = 5 * MIB;
const AT_ONCE: usize = 64;

#[test]
fn sixty_four_files_of_five_mebibytes_at_once_take_less_than_sixty_four_mebibytes() {
    let folder = Folder::new("memory");
    let mut serve = folder.serve();
    serve.args(["--attachments-max-per-ticket", "1000"]);
    let server = Server::start(&mut serve);
    let ticket = server.client().opens_ticket();
    let body = form("large.txt", &vec![b'x'; FILE]);
    let idle = Memory::of(&server);

    let (halfway, done) = (Barrier::new(AT_ONCE), AtomicUsize::new(0));
    let mut most = idle;
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let mut connection = begin(&server, ticket, body.len());
                let (half, rest) = body.split_at(body.len() / 2);
                connection.send(half).expect("half a file can be sent");
                // Now all of them are under way.
                halfway.wait();
                connection.send(rest).expect("the rest can be sent");
                let reply = connection.reply_to("POST").expect("it is answered");
                done.fetch_add(1, Ordering::Relaxed);
                reply.ok();
            });
        }
        eventually("all files to be attached", || {
            most = most.or_more(Memory::of(&server));
            (done.load(Ordering::Relaxed) == AT_ONCE).then_some(())
        });
    });

    assert_eq!(server.client().attached(ticket).len(), AT_ONCE);
    let (own, all) = (most.anonymous - idle.anonymous, most.peak - idle.resident);
    println!("{AT_ONCE} uploads at once: own memory +{own} KiB, resident at most +{all} KiB");
    assert!(own < 64 * 1024, "its own memory has grown by {own} KiB");
    assert!(all < 64 * 1024, "all of its memory has grown by {all} KiB");
}

/// Kibibytes of a process.
#[derive(Clone, Copy, Debug)]
struct Memory {
    /// What is no file's.
    anonymous: usize,
    resident: usize,
    /// The most that was ever resident, even if nobody looked.
    peak: usize,
}

impl Memory {
    fn of(server: &Server) -> Self {
        let status = format!("/proc/{}/status", server.process.id());
        let status = std::fs::read_to_string(status).expect("the server runs");
        let figure = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let words = line.expect("Linux tells this").split_whitespace().nth(1);
            words.and_then(|figure| figure.parse().ok()).expect("a figure")
        };
        Self {
            anonymous: figure("RssAnon"),
            resident: figure("VmRSS"),
            peak: figure("VmHWM"),
        }
    }

    fn or_more(self, now: Self) -> Self {
        Self {
            anonymous: self.anonymous.max(now.anonymous),
            resident: self.resident.max(now.resident),
            peak: self.peak.max(now.peak),
        }
    }
}

/// Sends the head of a form, which the server has begun to read when this returns.
fn begin(server: &Server, ticket: i64, length: usize) -> Connection {
    let mut connection = announce(server, ticket, length);
    assert_eq!(connection.head().expect("it asks for the body").status, 100);
    connection
}

/// Sends the head of a form, and does not listen.
fn announce(server: &Server, ticket: i64, length: usize) -> Connection {
    let extra = format!("content-type: {FORM}\r\ncontent-length: {length}\r\nexpect: 100-continue\r\n");
    let head = server.client().head("POST", &files_of(ticket), &extra);
    let mut connection = Connection::open(server.address).expect("the server accepts connections");
    connection.send(head).expect("a head can be sent");
    connection
}

#[test]
fn a_client_that_dies_in_the_middle_leaves_nothing() {
    let folder = Folder::new("dying");
    let server = folder.start();
    let ticket = server.client().opens_ticket();
    let body = form("half.txt", &vec![b'x'; 2 * MIB]);
    let all_but_the_end = body.len() - "--\r\n".len();

    for (part, reset) in [
        (MIB, false),
        (MIB, true),
        (body.len() - 100, true),
        (all_but_the_end, false),
        (all_but_the_end, true),
    ] {
        // Whoever closes with something unread resets the connection.
        let mut connection = match reset {
            true => announce(&server, ticket, body.len()),
            false => begin(&server, ticket, body.len()),
        };
        connection.send(&body[..part]).expect("a part can be sent");
        eventually("the file to come in", || {
            (!folder.spooled().is_empty()).then_some(())
        });
        drop(connection);
        eventually("the file to be gone", || {
            folder.spooled().is_empty().then_some(())
        });
    }

    folder.waits_until_swept();
    assert_eq!(server.client().attached(ticket).len(), 0);
    assert_eq!(folder.kept().names().len(), 0);
}

#[test]
fn what_was_sent_whole_is_attached_even_if_nobody_waits_for_the_answer() {
    let folder = Folder::new("gone");
    let server = folder.start();
    let ticket = server.client().opens_ticket();
    let content = vec![b'x'; MIB];
    let body = form("whole.txt", &content);
    let connection = begin(&server, ticket, body.len());
    let mut sender = connection.sender().expect("a second hand");
    sender.write_all(&body).expect("it can be sent");
    eventually("the file to be attached or on its way", || {
        let begun = !folder.keys("upload").is_empty() || !folder.keys("attachment").is_empty();
        begun.then_some(())
    });
    drop((sender, connection));

    let files = eventually("the file to be listed", || {
        let files = server.client().attached(ticket);
        (!files.is_empty()).then_some(files)
    });
    assert_eq!(server.client().downloads(ticket, &files[0]), content);
    folder.waits_until_swept();
}

#[test]
fn a_file_that_never_ends_coming_is_given_up() {
    let folder = Folder::new("stalled");
    let server = folder.start();
    let ticket = server.client().opens_ticket();
    let body = form("slow.txt", &vec![b'x'; MIB]);
    let mut connection = begin(&server, ticket, body.len());
    connection.send(&body[..MIB / 2]).expect("half of it can be sent");
    eventually("the file to come in", || {
        (!folder.spooled().is_empty()).then_some(())
    });

    let reply = connection.reply_to("POST").expect("it is told");

    assert_eq!((reply.status, reply.code().as_str()), (408, "body_timeout"));
    assert!(connection.is_closed());
    folder.waits_until_swept();
    assert_eq!(server.client().attached(ticket).len(), 0);
}

/// Whoever is in the middle of sending learns what is wrong, and not only that nobody listens.
#[test]
fn a_form_that_is_refused_early_is_answered_to_a_client_that_is_still_sending() {
    let folder = Folder::new("still-sending");
    let server = folder.start();
    let ticket = server.client().opens_ticket();
    let large = vec![b'x'; FILE];
    let bad_head = [b"--edge\r\nno colon\r\n\r\n", &large[..]].concat();
    let no_head = [b"--edge\r\nX: ", &large[..]].concat();
    let behind_the_end = [form("a.txt", b"words"), large.clone()].concat();
    for (what, body, status) in [
        ("a bad head", &bad_head, 400),
        ("a head that does not end", &no_head, 400),
        ("no form at all", &large, 400),
        ("something behind the end", &behind_the_end, 200),
    ] {
        for _ in 0..5 {
            let answered = server
                .client()
                .try_send_bytes("POST", &files_of(ticket), FORM, body);
            let reply = answered.unwrap_or_else(|e| panic!("{what}: {e}"));
            assert_eq!(reply.status, status, "{what}: {}", reply.text());
        }
    }
}

/// What stands before the parts of a form, and at their heads, is not content that could be put aside.
#[test]
fn forms_that_never_come_to_the_point_take_no_memory() {
    let folder = Folder::new("pointless");
    let server = folder.start();
    let ticket = server.client().opens_ticket();
    let preamble = vec![b'x'; FILE];
    let head = [b"--edge\r\nX: ", &preamble[..]].concat();
    let idle = Memory::of(&server);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE / 2 {
            for body in [&preamble, &head] {
                let mut client = server.client();
                scope.spawn(move || {
                    let refused = client.try_send_bytes("POST", &files_of(ticket), FORM, body);
                    let refused = refused.expect("it is answered");
                    assert_eq!(
                        (refused.status, refused.code().as_str()),
                        (400, "multipart_invalid")
                    );
                });
            }
        }
    });
    let grown = Memory::of(&server).peak - idle.resident;
    println!("{AT_ONCE} forms without a point: resident at most +{grown} KiB");
    assert!(grown < 64 * 1024, "memory has grown by {grown} KiB");
}
