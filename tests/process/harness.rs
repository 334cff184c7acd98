//! Running the real binary: a folder for each test, servers in it, and commands beside them.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::client::{Client, Stream};
use crate::connection::{number, text};
use crate::process::{Ended, Process, eventually};
use crate::stored_files::{Kept, place_of};

/// The token that the first user of every test's store has.
pub const TOKEN: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A folder of a test's own, gone when the test ends.
pub struct Folder {
    root: PathBuf,
    data: PathBuf,
    /// Where attachments are kept, if not in the data folder.
    attachments: Option<String>,
}

impl Folder {
    pub fn new(test: &str) -> Self {
        Self::with_data(test, "data")
    }

    /// The same with the store somewhere else in it.
    pub fn with_data(test: &str, data: &str) -> Self {
        let root = std::env::temp_dir().join(format!("garth-{}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).expect("a temporary folder can be made");
        let data = root.join(data);
        let attachments = place_of(&format!("{}-{test}", std::process::id()));
        Self {
            root,
            data,
            attachments,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Where the store is.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// What lies where attachments are kept.
    pub fn kept(&self) -> Kept {
        Kept::new(self.attachments.clone(), &self.data)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a temporary file can be written");
        path
    }

    /// `garth …` on this folder's store, untouched by the settings of whoever runs the tests.
    pub fn garth(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_garth"));
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GARTH_") {
                command.env_remove(name);
            }
        }
        command.args(words.split_whitespace()).stdin(Stdio::null());
        command.current_dir(&self.root).env("GARTH_DATA", &self.data);
        command
    }

    /// `garth serve` on a free port of this machine only.
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

    /// Runs `garth …` to its end, which must be a good one; what it printed.
    pub fn run(&self, words: &str) -> String {
        let ended = Process::spawn(&mut self.garth(words)).ended();
        assert!(ended.code == Some(0), "garth {words}: {ended:?}");
        ended.stdout
    }

    /// What `garth … --json` printed.
    pub fn json(&self, words: &str) -> Value {
        let printed = self.run(&format!("{words} --json"));
        serde_json::from_str(&printed).expect("--json prints JSON")
    }

    /// Makes a token for a user, or as the words after its name say; its id and its text.
    pub fn make_token(&self, user: &str) -> (i64, String) {
        let made = self.json(&format!("token create --user {user}"));
        (number(&made["id"]), text(&made["token"]))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// A server that has said where it listens.
pub struct Server {
    pub process: Process,
    pub address: SocketAddr,
}

impl Server {
    pub fn start(command: &mut Command) -> Self {
        Self::wait_for(Process::spawn(command))
    }

    /// The same with a terminal as its standard output.
    pub fn start_in_terminal(command: &mut Command) -> Self {
        Self::wait_for(Process::spawn_in_terminal(command))
    }

    fn wait_for(mut process: Process) -> Self {
        let address = eventually("the server to listen", || {
            let address = address_in(&process.printed());
            assert!(address.is_some() || process.is_running(), "{}", process.logged());
            address
        });
        Self { process, address }
    }

    /// Speaks for the first user.
    pub fn client(&self) -> Client {
        self.client_with(TOKEN)
    }

    pub fn client_with(&self, token: &str) -> Client {
        Client::new(self.address, token)
    }

    /// Follows the account's events.
    pub fn stream(&self, token: &str) -> Stream {
        self.client_with(token).stream()
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(self) -> Ended {
        self.process.signal("TERM");
        self.process.ended()
    }
}

fn address_in(printed: &str) -> Option<SocketAddr> {
    let line = printed.split_once('\n')?.0;
    let rest = line.strip_prefix("Garth is listening on http")?;
    let rest = rest.trim_start_matches('s').strip_prefix("://")?;
    rest.split_whitespace().next()?.parse().ok()
}
