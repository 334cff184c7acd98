//! A PostgreSQL server per test, from Debian's packages, which the test can stop, kill and replicate.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use crate::process::eventually;

pub struct Postgres {
    folder: PathBuf,
    pub port: u16,
    process: Option<Child>,
    settings: Vec<String>,
}

impl Postgres {
    /// Starts a new server. Acknowledged writes survive a crash of the server, but not of the machine.
    pub fn new(test: &str) -> Self {
        Self::with(test, &[])
    }

    pub fn with(test: &str, settings: &[&str]) -> Self {
        let mut server = Self::in_folder(test, settings);
        let mut init = server.program("initdb");
        init.args([
            "--auth=trust",
            "--username=garth",
            "--no-sync",
            "--locale=C",
            "--encoding=UTF8",
        ]);
        run_successfully(init.arg("--pgdata").arg(server.data()));
        server.start();
        server
    }

    /// A server with TLS for `localhost`. The user `owner` needs a password. Returns the CA certificate file,
    /// too.
    pub fn with_password(test: &str) -> (Self, PathBuf) {
        let mut server = Self::new(test);
        server.query("CREATE ROLE owner LOGIN SUPERUSER PASSWORD 'open sesame'");
        server.stop_immediately();
        let script = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \\
                -keyout ca.key -out ca.crt -subj /CN=test-authority
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout data/server.key \\
                -out server.csr -subj /CN=localhost
            printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE' >extensions
            openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 \\
                -extfile extensions -out data/server.crt
            chmod 600 data/server.key
            printf 'host all owner all scram-sha-256\nhost all garth all trust\n' >data/pg_hba.conf";
        let mut shell = server.as_owner(Path::new("sh"));
        run_successfully(shell.args(["-ec", script]));
        server.settings.push("ssl=on".to_owned());
        server.start();
        let certificate = server.folder.join("ca.crt");
        (server, certificate)
    }

    /// A replica of this server.
    pub fn replica(&self, test: &str) -> Self {
        let mut replica = Self::in_folder(test, &[]);
        let mut copy = self.program("pg_basebackup");
        copy.args([
            "--write-recovery-conf",
            "--checkpoint=fast",
            "--no-sync",
            "--host=127.0.0.1",
            "--username=garth",
        ]);
        run_successfully(
            copy.arg(format!("--port={}", self.port))
                .arg("--pgdata")
                .arg(replica.data()),
        );
        replica.start();
        replica
    }

    fn in_folder(test: &str, settings: &[&str]) -> Self {
        let folder = std::env::temp_dir().join(format!("garth-{}-{test}-postgres", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a temporary folder can be created");
        if is_root() {
            run_successfully(Command::new("chown").arg("postgres").arg(&folder));
        }
        Self {
            folder,
            port: free_port(),
            process: None,
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
        }
    }

    pub fn url(&self) -> String {
        format!("postgres://garth@127.0.0.1:{}/postgres", self.port)
    }

    pub fn start(&mut self) {
        let mut server = self.program("postgres");
        server
            .arg("-D")
            .arg(self.data())
            .arg("-p")
            .arg(self.port.to_string());
        server.arg("-k").arg(&self.folder);
        for setting in [
            "listen_addresses=127.0.0.1",
            "max_connections=100",
            "fsync=off",
            "log_min_messages=fatal",
        ] {
            server.arg("-c").arg(setting);
        }
        for setting in &self.settings {
            server.arg("-c").arg(setting);
        }
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log())
            .expect("a log");
        server.stdout(Stdio::null()).stderr(log);
        self.process = Some(server.spawn().expect("the server can be started"));
        eventually("PostgreSQL to accept connections", || {
            let mut check = self.program("pg_isready");
            let check = check
                .args(["-q", "-h", "127.0.0.1", "-p"])
                .arg(self.port.to_string());
            check.status().expect("pg_isready runs").success().then_some(())
        });
    }

    /// `pg_ctl stop -m immediate`: without a checkpoint.
    pub fn stop_immediately(&mut self) {
        self.stop_with("QUIT");
    }

    /// `kill -9` of the server; its child processes exit by themselves.
    pub fn kill(&mut self) {
        self.stop_with("KILL");
    }

    pub fn promote(&self) {
        let mut promote = self.program("pg_ctl");
        run_successfully(promote.args(["promote", "--wait", "--pgdata"]).arg(self.data()));
    }

    /// Runs a query; one line per row.
    pub fn query(&self, sql: &str) -> String {
        let mut psql = self.program("psql");
        let output = psql
            .args(["-X", "-q", "-t", "-A", "-c", sql])
            .arg(self.url())
            .output()
            .expect("psql runs");
        assert!(
            output.status.success(),
            "{sql}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// Suspends every process of the server, as if the machine hangs.
    pub fn freeze(&self) {
        self.signal_all("STOP");
    }

    pub fn thaw(&self) {
        self.signal_all("CONT");
    }

    fn signal_all(&self, signal: &str) {
        let Some(process) = &self.process else { return };
        let id = process.id().to_string();
        let listed = Command::new("ps").args(["-o", "pid=", "--ppid", &id]).output();
        let listed = listed.expect("ps runs").stdout;
        let listed = String::from_utf8_lossy(&listed).into_owned();
        for id in std::iter::once(id.as_str()).chain(listed.split_whitespace()) {
            // A process may have exited in the meantime.
            let _ = Command::new("kill").args([&format!("-{signal}"), id]).output();
        }
    }

    fn stop_with(&mut self, signal: &str) {
        self.thaw();
        let Some(mut process) = self.process.take() else {
            return;
        };
        run_successfully(
            Command::new("kill")
                .arg(format!("-{signal}"))
                .arg(process.id().to_string()),
        );
        process.wait().expect("a child can be waited for");
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// A PostgreSQL program, run as a user that may run a server.
    fn program(&self, name: &str) -> Command {
        self.as_owner(&programs().join(name))
    }

    fn as_owner(&self, program: &Path) -> Command {
        let mut command = match is_root() {
            false => Command::new(program),
            true => {
                let mut command = Command::new("setpriv");
                command
                    .args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"])
                    .arg(program);
                command
            }
        };
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop_with("QUIT");
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn programs() -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten();
    let programs = versions
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists());
    let newest = programs.max_by_key(|bin| version_of(bin));
    newest.expect("PostgreSQL is installed (apt-get install postgresql)")
}

fn version_of(bin: &Path) -> u32 {
    let version = bin
        .parent()
        .and_then(Path::file_name)
        .and_then(|name| name.to_str());
    version.and_then(|version| version.parse().ok()).unwrap_or(0)
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id runs");
    id.stdout == b"0\n"
}

fn run_successfully(command: &mut Command) {
    let output = command.output().expect("the program can be started");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A free port that no connection of another test takes while the server is down: the kernel takes the source ports of
/// connections from a range above 32768.
fn free_port() -> u16 {
    const PORTS: u16 = 12_000;
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Other processes start elsewhere.
    let start = std::process::id() as u16 % PORTS;
    let ports = (0..PORTS).map(|_| 20_000 + (start + NEXT.fetch_add(1, Ordering::Relaxed)) % PORTS);
    let mut free = ports.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().expect("a free port")
}
