//! Clients that do not read, and more connections than file descriptors.

use std::io::{ErrorKind, Read};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::bystander::{assert_healthy, assert_undisturbed, token_of_another_account};
use super::stalled_clients::{connect, large_vpc, stalled_clients};
use crate::connection::Connection;
use crate::harness::{Folder, Server};

const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);
/// Maximum time without progress before the server closes the connection.
const MAX_STALL: Duration = Duration::from_secs(30);

/// A server with a low soft limit for open files.
fn with_low_file_limit(folder: &Folder) -> Command {
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
fn stalled_clients_are_disconnected_and_do_not_block_others() {
    let folder = Folder::new("attack-stalled");
    let server = Server::start(&mut with_low_file_limit(&folder));
    let token = token_of_another_account(&folder);
    let mut client = server.client();
    client.post("/v4/vpcs", large_vpc("large", 1_000)).ok();
    let head = client.head("GET", "/v4/vpcs/1", "");

    let since = Instant::now();
    // More connections than the soft limit. Some request large responses and do not read.
    let idle: Vec<_> = (0..300)
        .filter_map(|_| connect(server.address, ATTACKER).ok())
        .collect();
    let stalled = stalled_clients(&server, 30, &head, ATTACKER);
    assert_eq!(
        (idle.len(), stalled.len()),
        (300, 30),
        "all connections are accepted"
    );
    assert_undisturbed(&server, &token, |stop: &AtomicBool| {
        while !stop.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    for stream in stalled {
        assert!(
            is_disconnected(&stream, since + 3 * MAX_STALL),
            "a stalled client is disconnected"
        );
    }
    assert_healthy(&server);
}

/// Whether the server closes the connection. The test does not read, because that would count as progress.
fn is_disconnected(stream: &TcpStream, by: Instant) -> bool {
    while Instant::now() < by {
        if is_closed_by_peer(stream) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}

/// Whether the server has closed the connection, according to the kernel.
fn is_closed_by_peer(stream: &TcpStream) -> bool {
    let local = stream.local_addr().expect("the socket has an address");
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the system lists its connections");
    let port = format!(":{:04X}", local.port());
    let state = table.lines().skip(1).find_map(|line| {
        let mut columns = line.split_whitespace().skip(1);
        let local_address = columns.next()?;
        columns.next()?;
        (local_address.ends_with(&port) && local_address.starts_with("0200007F")).then(|| columns.next())?
    });
    // In any state other than ESTABLISHED, the server has sent FIN or RST.
    state != Some("01")
}

#[test]
fn connection_limits_hold_and_health_checks_are_exempt() {
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
            .map(|_| connect(server.address, from).expect("the kernel accepts the connection"))
            .collect()
    };

    let mut first = open(ATTACKER, 31);
    let excess = first.last_mut().expect("a connection");
    excess
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout can be set");
    let result = excess.read(&mut [0; 1]);
    assert!(
        matches!(&result, Ok(0))
            || result
                .as_ref()
                .is_err_and(|e| e.kind() == ErrorKind::ConnectionReset),
        "the limit of one address holds: {result:?}"
    );
    let second = open(Ipv4Addr::new(127, 0, 0, 3), 10);
    assert_healthy(&server);
    let refused = Connection::open(server.address).and_then(|mut connection| {
        connection.send("GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n")?;
        connection.reply_to("GET")
    });
    let refused = refused.expect("the server responds");
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
fn health_checks_work_above_the_limit_of_an_address() {
    let folder = Folder::new("attack-share");
    let mut serve = folder.serve();
    serve.args(["--limits-connections-per-address", "3"]);
    let server = Server::start(&mut serve);
    let request = |path: &str| {
        let mut connection = Connection::over(connect(server.address, ATTACKER)?)?;
        connection.send(format!("GET {path} HTTP/1.1\r\nhost: garth\r\n\r\n"))?;
        let reply = connection.reply_to("GET")?;
        Ok::<_, std::io::Error>((reply.status, connection.is_closed()))
    };
    let _held: Vec<_> = (0..3)
        .map(|_| {
            let stream = connect(server.address, ATTACKER).expect("the kernel accepts the connection");
            let mut connection = Connection::over(stream).expect("a connection");
            connection
                .send("GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n")
                .expect("the request can be sent");
            assert_eq!(
                connection.reply_to("GET").expect("the server responds").status,
                200
            );
            connection
        })
        .collect();

    for path in ["/healthz", "/readyz"] {
        let (status, closed) = request(path).expect("the health check responds");
        assert_eq!((status, closed), (200, true), "{path}: the slot is free again");
    }
    let (status, _) = request("/v4/regions").expect("the server responds");
    assert_eq!(status, 503);

    // The slots for health checks are limited, but one address cannot use all of them.
    let silent: Vec<_> = (0..200)
        .map(|_| connect(server.address, ATTACKER).expect("the kernel accepts the connection"))
        .collect();
    assert_healthy(&server);
    drop(silent);
}

#[test]
fn refused_connections_are_logged_once_with_their_end() {
    let folder = Folder::new("attack-logged");
    let mut serve = folder.serve();
    serve.args(["--limits-connections-per-address", "3"]);
    let server = Server::start(&mut serve);
    let connections: Vec<_> = (0..3)
        .map(|_| connect(server.address, ATTACKER).expect("the kernel accepts the connection"))
        .collect();
    for _ in 0..20 {
        let refused = connect(server.address, ATTACKER).and_then(Connection::over);
        let _ = refused.and_then(|mut connection| {
            connection.send("GET /v4/regions HTTP/1.1\r\nhost: garth\r\n\r\n")?;
            connection.read_to_end()
        });
    }
    drop(connections);
    let lines = |message: &str| {
        let log = server.process.stderr();
        let lines = log.lines().filter(|line| line.contains(message));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let warning = crate::process::eventually("a warning", || lines("connections refused").pop());
    assert!(
        warning.contains("WARN") && warning.contains("connections_per_address"),
        "{warning}"
    );
    assert_eq!(lines("connections refused").len(), 1);
    let recovery = crate::process::eventually("the end of the refusals", || {
        lines("connections no longer refused").pop()
    });
    assert!(
        recovery.contains("INFO") && recovery.contains("refused=20"),
        "{recovery}"
    );
}

#[test]
fn stalled_clients_do_not_delay_shutdown() {
    let folder = Folder::new("attack-stop");
    let server = folder.start();
    let mut client = server.client();
    client.post("/v4/vpcs", large_vpc("large", 1_000)).ok();
    let head = client.head("GET", "/v4/vpcs/1", "");
    let _stalled = stalled_clients(&server, 20, &head, ATTACKER);

    let since = Instant::now();
    let output = server.stop();

    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert!(output.code.is_some(), "{output:?}");
}
