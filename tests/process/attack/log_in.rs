//! Many concurrent password guesses, for existing and unknown users, from many addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rusqlite::OpenFlags;

use crate::connection::{Connection, Reply};
use crate::harness::{Folder, Server};
use crate::process::{Process, eventually};

/// The maximum number of records of the only user: 100 successful and 100 failed log-ins.
const MAX_LOGIN_RECORDS: i64 = 200;
pub(super) const PASSWORD: &str = "correct horse battery staple";
/// More than the queue for password hashing holds, for one address and in total.
const ATTACKERS: usize = 120;
/// 127.0.0.2 to 127.0.0.201.
const ADDRESSES: usize = 200;
const KIB_PER_MIB: u64 = 1024;

#[test]
fn correct_password_works_during_many_guesses() {
    let folder = Folder::new("attack-log-in");
    let server = folder.start();
    set_password(&folder);
    // A browser at one of the addresses of the attackers.
    let mut known = Browser::new(server.address, 2);
    assert_eq!(known.log_in("admin", PASSWORD).status, 303);
    let (rows, resident) = (rows(&folder), resident(&server));

    let stop = AtomicBool::new(false);
    let (guesses, statuses) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for attacker in 0..ATTACKERS {
            let (guesses, statuses, stop, address) = (&guesses, &statuses, &stop, server.address);
            scope.spawn(move || {
                let mut browser = Browser::new(address, 2);
                while !stop.load(Ordering::SeqCst) {
                    let number = guesses.fetch_add(1, Ordering::SeqCst);
                    browser.at = (number % ADDRESSES) as u8 + 2;
                    let unknown = format!("name-{number}");
                    let name = if attacker % 2 == 0 { "admin" } else { &unknown };
                    let status = browser.log_in(name, "wrong password").status;
                    *statuses
                        .lock()
                        .expect("no thread panicked")
                        .entry(status)
                        .or_insert(0) += 1;
                }
            });
        }
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            eventually("many guesses", || {
                (guesses.load(Ordering::SeqCst) > 600).then_some(())
            });
            for _ in 0..5 {
                let started = Instant::now();
                assert_eq!(get(server.address, "/healthz").status, 200);
                assert!(
                    started.elapsed() < Duration::from_secs(1),
                    "the health check is fast"
                );
                let mut fresh = Browser::new(server.address, 1);
                assert_eq!(fresh.log_in("admin", PASSWORD).status, 303, "a fresh device");
                known.session = None;
                assert_eq!(known.log_in("admin", PASSWORD).status, 303, "a known device");
            }
        }));
        stop.store(true, Ordering::SeqCst);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });

    let statuses = statuses.into_inner().expect("no thread panicked");
    let kinds: BTreeSet<u16> = statuses.keys().copied().collect();
    assert!(
        kinds.is_subset(&BTreeSet::from([401, 429, 503])) && kinds.contains(&401),
        "{statuses:?}"
    );
    // Each log-in during the attack creates a session.
    let after = self::rows(&folder);
    assert_eq!(after - rows, 10, "no guess leaves a row: {statuses:?}");
    let recorded = login_records(&folder);
    assert!(recorded <= MAX_LOGIN_RECORDS, "{recorded} log-ins are recorded");
    let grown = self::resident(&server).saturating_sub(resident);
    assert!(grown < 96 * KIB_PER_MIB, "memory has grown by {grown} KiB");
    assert_eq!(server.stop().code, Some(0));
}

pub(super) fn set_password(folder: &Folder) {
    let typed = File::open(folder.write("typed", PASSWORD)).expect("the file was just written");
    let mut set = folder.garth("user password admin --password-stdin");
    assert_eq!(Process::spawn(set.stdin(typed)).wait().code, Some(0));
}

/// The number of recorded log-ins, successful and failed.
fn login_records(folder: &Folder) -> i64 {
    let count = open_store(folder).query_row("SELECT count(*) FROM login_record", [], |row| row.get(0));
    count.expect("SQL")
}

fn open_store(folder: &Folder) -> rusqlite::Connection {
    let path = folder.data().join("garth.db");
    let store = rusqlite::Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    store.expect("the store exists")
}

/// The rows of all tables together, except recorded log-ins.
fn rows(folder: &Folder) -> i64 {
    let store = open_store(folder);
    let sql = "SELECT name FROM sqlite_schema
         WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'login_record'";
    let mut tables = store.prepare(sql).expect("SQL");
    let tables = tables.query_map([], |row| row.get::<_, String>(0)).expect("SQL");
    let count = |table: String| {
        let sql = format!("SELECT count(*) FROM \"{table}\"");
        store
            .query_row(&sql, [], |row| row.get::<_, i64>(0))
            .expect("SQL")
    };
    tables.map(|table| count(table.expect("a name"))).sum()
}

/// The server's resident memory in KiB.
fn resident(server: &Server) -> u64 {
    let path = format!("/proc/{}/status", server.process.id());
    let status = std::fs::read_to_string(path).expect("the server runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let size = line
        .and_then(|line| line.split_whitespace().next())
        .expect("a number");
    size.parse().expect("a number")
}

/// A browser at 127.0.0.`at`.
pub(super) struct Browser {
    server: SocketAddr,
    at: u8,
    /// The cookie and the token of the log-in form.
    form: Option<(String, String)>,
    pub(super) session: Option<String>,
    device: Option<String>,
}

impl Browser {
    pub(super) fn new(server: SocketAddr, at: u8) -> Self {
        Self {
            server,
            at,
            form: None,
            session: None,
            device: None,
        }
    }

    pub(super) fn log_in(&mut self, username: &str, password: &str) -> Reply {
        let (cookie, token) = self.form.get_or_insert_with(|| form(self.server)).clone();
        let device = self.device.as_deref().unwrap_or_default();
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.extend_pairs([
            ("form_token", token.as_str()),
            ("return_to", ""),
            ("username", username),
            ("password", password),
        ]);
        let body = form.finish();
        let request = format!(
            "POST /login HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}; {device}\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let reply = exchange(self.server, self.at, "POST", &request);
        for (_, cookie) in reply.headers.iter().filter(|(name, _)| name == "set-cookie") {
            let pair = cookie.split(';').next().unwrap_or_default().to_owned();
            match pair.starts_with("__Host-garth-device") {
                true => self.device = Some(pair),
                false => self.session = Some(pair),
            }
        }
        reply
    }
}

fn form(server: SocketAddr) -> (String, String) {
    let page = get(server, "/login");
    let cookie = page.header("set-cookie").expect("the form has a cookie");
    let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
    let text = page.text();
    let token = text
        .split_once("name=\"form_token\" value=\"")
        .expect("a token")
        .1;
    (cookie, token.split('"').next().unwrap_or_default().to_owned())
}

fn get(server: SocketAddr, path: &str) -> Reply {
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    exchange(server, 1, "GET", &request)
}

fn exchange(server: SocketAddr, at: u8, method: &str, request: &str) -> Reply {
    let stream = connect(server, Ipv4Addr::new(127, 0, 0, at));
    let mut connection = Connection::over(stream).expect("a connection");
    connection.send(request).expect("the request can be sent");
    connection.reply_to(method).expect("the server responds")
}

/// A connection from a loopback address.
fn connect(server: SocketAddr, from: Ipv4Addr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let stream = runtime.expect("a runtime").block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((from, 0)))?;
        socket.connect(server).await?.into_std()
    });
    let stream = stream.expect("the server accepts connections");
    stream.set_nonblocking(false).expect("a socket can block");
    stream
}
