//! Connections that ask and do not read, and more of them than there are file descriptors.

use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::bystander::{is_healthy, is_not_disturbed, token_of_another_account};
use super::stalled_clients::{connect, large_vpc, readers};
use crate::connection::Connection;
use crate::harness::{Folder, Server};

const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// How long a client may take nothing.
const MAX_STALL: Duration = Duration::from_secs(30);

/// A server that begins with room for few open files, though more are allowed.
fn with_few_files(folder: &Folder) -> Command {
    let serve = folder.serve();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -Sn 128; exec \"$0\" \"$@\""]);
    command.arg(serve.get_program()).args(serve.get_args());
    for (name, value) in serve.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

#[test]
fn clients_that_do_not_read_stop_nobody_and_are_cut_off() {
    let folder = Folder::new("attack-stuck");
    let server = Server::start(&mut with_few_files(&folder));
    let token = token_of_another_account(&folder);
    let mut client = server.client();
    client.post("/v4/vpcs", large_vpc("large", 1_000)).ok();
    let head = client.head("GET", "/v4/vpcs/1", "");

    let since = Instant::now();
    // More connections than there were files at first; some of them ask for much and read nothing.
    let idle: Vec<_> = (0..300)
        .filter_map(|_| connect(server.address, ATTACKER).ok())
        .collect();
    let stuck = readers(&server, 30, &head, ATTACKER);
    assert_eq!((idle.len(), stuck.len()), (300, 30), "all of them are let in");
    is_not_disturbed(&server, &token, |stop: &AtomicBool| {
        while !stop.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    for stream in stuck {
        assert!(
            is_cut_off(&stream, since + 3 * MAX_STALL),
            "a stuck client is cut off"
        );
    }
    is_healthy(&server);
}

/// Whether the server ends a connection by itself. It must not be read from: that would be progress.
fn is_cut_off(stream: &TcpStream, by: Instant) -> bool {
    while Instant::now() < by {
        if is_closed_by_peer(stream) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Whether the other side has closed, as far as the system knows without reading.
fn is_closed_by_peer(stream: &TcpStream) -> bool {
    let local = stream.local_addr().expect("it has an address");
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the system lists its connections");
    let address = format!(":{:04X}", local.port());
    let state = table.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let own = words.next()?;
        words.next()?;
        (own.ends_with(&address) && own.starts_with("0200007F")).then(|| words.next())?
    });
    // Anything but ESTABLISHED: it has sent its end, or forgotten us.
    state != Some("01")
}

#[test]
fn at_most_as_many_connections_as_set_are_open_and_health_checks_get_in_above_that() {
    let folder = Folder::new("attack-many");
    let mut serve = folder.serve();
    serve.args([
        "--limits-connections",
        "40",
        "--limits-connections-per-address",
        "30",
    ]);
    let server = Server::start(&mut serve);
    let open = |from: Ipv4Addr, count: usize| -> Vec<TcpStream> {
        (0..count)
            .map(|_| connect(server.address, from).expect("the system takes it"))
            .collect()
    };

    let mut first = open(ATTACKER, 31);
    let above = first.last_mut().expect("there is one");
    above
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout can be set");
    let ended = above.read(&mut [0; 1]);
    assert!(
        matches!(&ended, Ok(0))
            || ended
                .as_ref()
                .is_err_and(|e| e.kind() == ErrorKind::ConnectionReset),
        "one address gets its share: {ended:?}"
    );
    let second = open(Ipv4Addr::new(127, 0, 0, 3), 10);
    is_healthy(&server);
    let refused = Connection::open(server.address).and_then(|mut connection| {
        connection.send("GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n")?;
        connection.reply_to("GET")
    });
    let refused = refused.expect("it is answered");
    assert_eq!((refused.status, refused.code().as_str()), (503, "overloaded"));
    assert_eq!(refused.header("connection"), Some("close"));
    assert!(refused.header("x-request-id").is_some());

    drop((first, second));
    crate::process::eventually("the connections to end", || {
        let reply = Connection::open(server.address).and_then(|mut connection| {
            connection.send("GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n")?;
            connection.reply_to("GET")
        });
        reply.ok().filter(|reply| reply.status == 200)
    });
}

#[test]
fn an_address_that_has_used_up_its_share_may_still_ask_for_health() {
    let folder = Folder::new("attack-share");
    let mut serve = folder.serve();
    serve.args(["--limits-connections-per-address", "3"]);
    let server = Server::start(&mut serve);
    let ask = |path: &str| {
        let mut connection = Connection::over(connect(server.address, ATTACKER)?)?;
        connection.send(format!("GET {path} HTTP/1.1\r\nhost: garth\r\n\r\n"))?;
        let reply = connection.reply_to("GET")?;
        Ok::<_, std::io::Error>((reply.status, connection.is_closed()))
    };
    let _held: Vec<_> = (0..3)
        .map(|_| {
            let stream = connect(server.address, ATTACKER).expect("the system takes it");
            let mut connection = Connection::over(stream).expect("it can be set up");
            connection
                .send("GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n")
                .expect("it can be sent");
            assert_eq!(connection.reply_to("GET").expect("it is answered").status, 200);
            connection
        })
        .collect();

    for path in ["/healthz", "/readyz"] {
        let (status, closed) = ask(path).expect("health is answered");
        assert_eq!(
            (status, closed),
            (200, true),
            "{path}: and the place is free again"
        );
    }
    let (status, _) = ask("/v4/regions").expect("it is answered");
    assert_eq!(status, 503);

    // The places are bounded: one address cannot take all of them from others.
    let silent: Vec<_> = (0..200)
        .map(|_| connect(server.address, ATTACKER).expect("the system takes it"))
        .collect();
    is_healthy(&server);
    drop(silent);
}

#[test]
fn refused_connections_are_in_the_log_once_and_their_end_too() {
    let folder = Folder::new("attack-logged");
    let mut serve = folder.serve();
    serve.args(["--limits-connections-per-address", "3"]);
    let server = Server::start(&mut serve);
    let held: Vec<_> = (0..3)
        .map(|_| connect(server.address, ATTACKER).expect("the system takes it"))
        .collect();
    for _ in 0..20 {
        let refused = connect(server.address, ATTACKER).and_then(Connection::over);
        let _ = refused.and_then(|mut connection| {
            connection.send("GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n")?;
            connection.end()
        });
    }
    drop(held);
    let lines = |message: &str| {
        let log = server.process.logged();
        let lines = log.lines().filter(|line| line.contains(message));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let begun = crate::process::eventually("a warning", || lines("connections refused").pop());
    assert!(
        begun.contains("WARN") && begun.contains("connections_per_address"),
        "{begun}"
    );
    assert_eq!(lines("connections refused").len(), 1);
    let ended = crate::process::eventually("the end", || lines("connections no longer refused").pop());
    assert!(ended.contains("INFO") && ended.contains("refused=20"), "{ended}");
}

#[test]
fn a_stop_ends_in_time_whatever_clients_do() {
    let folder = Folder::new("attack-stop");
    let server = folder.start();
    let mut client = server.client();
    client.post("/v4/vpcs", large_vpc("large", 1_000)).ok();
    let head = client.head("GET", "/v4/vpcs/1", "");
    let _stuck = readers(&server, 20, &head, ATTACKER);

    let since = Instant::now();
    let ended = server.stop();

    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert!(ended.code.is_some(), "{ended:?}");
}
