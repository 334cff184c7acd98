//! Runs the `garth` binary: a folder for each test, servers that use it, and commands.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::client::{Client, Stream};
use crate::connection::{number, text};
use crate::process::{Process, ProcessOutput, eventually};
use crate::stored_files::{StoredFiles, attachments_url};

/// The token of the first user in the store of each test.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The folder of one test. It is deleted when the test ends.
pub struct Folder {
    root: PathBuf,
    data: PathBuf,
    /// The URL of the attachment storage, if it is not in the data folder.
    attachments: Option<String>,
}

impl Folder {
    pub fn new(test: &str) -> Self {
        Self::with_data(test, "data")
    }

    /// Like `new`, with the attachments in the data folder, also if those of other tests are in a bucket.
    pub fn with_local_attachments(test: &str) -> Self {
        let mut folder = Self::new(test);
        folder.attachments = None;
        folder
    }

    /// Like `new`, with another path of the data folder.
    pub fn with_data(test: &str, data: &str) -> Self {
        let root = std::env::temp_dir().join(format!("garth-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).expect("a temporary folder can be created");
        let data = root.join(data);
        let attachments = attachments_url(&format!("{}-{test}", std::process::id()));
        Self {
            root,
            data,
            attachments,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The stored files of attachments.
    pub fn stored_files(&self) -> StoredFiles {
        StoredFiles::new(self.attachments.clone(), &self.data)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a temporary file can be written");
        path
    }

    /// `garth …` on this folder's store, without the `GARTH_` variables of the test run.
    pub fn garth(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garth"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GARTH_") {
                command.env_remove(name);
            }
        }
        command.args(arguments.split_whitespace()).stdin(Stdio::null());
        command.current_dir(&self.root).env("GARTH_DATA", &self.data);
        command
    }

    /// `garth …` with the attachment storage of this folder's server.
    pub fn garth_with_files(&self, arguments: &str) -> Command {
        let mut command = self.garth(arguments);
        if let Some(attachments) = &self.attachments {
            command.env("GARTH_ATTACHMENTS", attachments);
        }
        command
    }

    /// `garth serve` on a free port of 127.0.0.1.
    pub fn serve(&self) -> Command {
        let mut command = self.garth("serve");
        command.env("GARTH_LISTEN", "127.0.0.1:0");
        command.env("GARTH_BOOTSTRAP_TOKEN", TOKEN);
        if let Some(attachments) = &self.attachments {
            command.args(["--attachments", attachments]);
        }
        command
    }

    pub fn start(&self) -> Server {
        Server::start(&mut self.serve())
    }

    /// Runs `garth …`, which must succeed, and returns its standard output.
    pub fn run(&self, arguments: &str) -> String {
        let output = Process::spawn(&mut self.garth(arguments)).wait();
        assert!(output.code == Some(0), "garth {arguments}: {output:?}");
        output.stdout
    }

    /// Checks the store and the contents of its attachments.
    pub fn assert_sound(&self) {
        let output = Process::spawn(&mut self.garth_with_files("check --attachments")).wait();
        assert!(output.code == Some(0), "{output:?}");
    }

    /// The output of `garth … --json`.
    pub fn json(&self, arguments: &str) -> Value {
        let printed = self.run(&format!("{arguments} --json"));
        serde_json::from_str(&printed).expect("--json prints JSON")
    }

    /// Creates a token. `user` is a username, which further options may follow. Returns the ID and the text
    /// of the token.
    pub fn create_token(&self, user: &str) -> (i64, String) {
        let created = self.json(&format!("token create --user {user}"));
        (number(&created["id"]), text(&created["token"]))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// A server that has printed its address.
pub struct Server {
    pub process: Process,
    pub address: SocketAddr,
}

impl Server {
    pub fn start(command: &mut Command) -> Self {
        Self::wait_for(Process::spawn(command))
    }

    /// Like `start`, with metrics on a free port of 127.0.0.1.
    pub fn start_with_metrics(command: &mut Command) -> Self {
        Self::start(command.env("GARTH_METRICS_LISTEN", "127.0.0.1:0"))
    }

    /// The address of the metrics, which the server prints.
    pub fn metrics_address(&self) -> SocketAddr {
        eventually("the address of the metrics", || {
            let printed = self.process.stdout();
            let rest = printed.split_once("Metrics: http://")?.1;
            rest.split_once("/metrics\n")?.0.parse().ok()
        })
    }

    /// Like `start`, with a terminal as the standard output.
    pub fn start_in_terminal(command: &mut Command) -> Self {
        Self::wait_for(Process::spawn_in_terminal(command))
    }

    fn wait_for(mut process: Process) -> Self {
        let address = eventually("the server to listen", || {
            let address = address_in(&process.stdout());
            assert!(address.is_some() || process.is_running(), "{}", process.stderr());
            address
        });
        Self { process, address }
    }

    /// A client with the token of the first user.
    pub fn client(&self) -> Client {
        self.client_with(TOKEN)
    }

    pub fn client_with(&self, token: &str) -> Client {
        Client::new(self.address, token)
    }

    /// Opens the event stream of the account.
    pub fn stream(&self, token: &str) -> Stream {
        self.client_with(token).stream()
    }

    /// Sends SIGTERM and waits until the process exits.
    pub fn stop(self) -> ProcessOutput {
        self.process.signal("TERM");
        self.process.wait()
    }
}

fn address_in(printed: &str) -> Option<SocketAddr> {
    let line = printed.split_once('\n')?.0;
    let rest = line.strip_prefix("Garth is listening on http")?;
    let rest = rest.trim_start_matches('s').strip_prefix("://")?;
    rest.split_whitespace().next()?.parse().ok()
}
