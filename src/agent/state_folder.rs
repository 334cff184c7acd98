//! The folder of an agent: its credential, the last desired state, and the record of rules. Survives a reboot.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::de::DeserializeOwned;

use super::credential::Credential;
use super::hook::PortDocument;
use crate::agent_protocol::HostState;

/// The lock of the agent that runs with the folder.
pub const AGENT_LOCK: &str = "agent.lock";
/// The file with the desired state.
pub const DESIRED_FILE: &str = "desired.json";
/// The file with the reason why the server cannot be used.
const PROBLEM_FILE: &str = "server-problem.json";
/// The file that exists while the server refuses the host.
const REFUSED_FILE: &str = "refused";

pub struct StateFolder(PathBuf);

impl StateFolder {
    pub fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Self(path.to_owned()))
    }

    /// The lock with this name; `None` if another process has it. It ends with the file.
    pub fn try_lock(&self, name: &str) -> io::Result<Option<File>> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600);
        let file = file.open(self.0.join(name))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(file)),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The last desired state; `None` before the first one.
    pub fn desired(&self) -> io::Result<Option<HostState>> {
        self.read(DESIRED_FILE)
    }

    fn read<T: DeserializeOwned>(&self, name: &str) -> io::Result<Option<T>> {
        let content = self.read_file(name)?;
        Ok(content.map(|text| serde_json::from_slice(&text)).transpose()?)
    }

    pub fn set_desired(&self, state: &HostState) -> io::Result<()> {
        self.replace(DESIRED_FILE, &serde_json::to_vec(state)?)
    }

    /// The credential of the host; `None` before the agent has joined.
    pub fn credential(&self) -> io::Result<Option<Credential>> {
        self.read("credential.json")
    }

    pub fn set_credential(&self, credential: &Credential) -> io::Result<()> {
        self.replace("credential.json", &serde_json::to_vec_pretty(credential)?)
    }

    /// Forgets the desired state, because it is that of another host, or nothing shall remain.
    pub fn forget_desired(&self) -> io::Result<()> {
        self.remove(DESIRED_FILE)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.0.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The report of the last pass, for `garth agent status`.
    pub fn set_status(&self, report: &[u8]) -> io::Result<()> {
        self.replace("status.json", report)
    }

    /// Removes the report, after everything was removed from the kernel.
    pub fn forget_status(&self) -> io::Result<()> {
        self.remove("status.json")
    }

    pub fn status(&self) -> io::Result<Vec<u8>> {
        fs::read(self.0.join("status.json"))
    }

    /// Stores why the server cannot be used, for `garth agent status`. `None` if it can.
    pub fn set_server_problem(&self, problem: Option<&str>) -> io::Result<()> {
        match problem {
            Some(problem) => self.replace(PROBLEM_FILE, &serde_json::to_vec(problem)?),
            None => self.remove(PROBLEM_FILE),
        }
    }

    pub fn server_problem(&self) -> io::Result<Option<String>> {
        self.read(PROBLEM_FILE)
    }

    /// Whether the last answer of the server was that it refuses the host.
    pub fn is_refused(&self) -> bool {
        self.0.join(REFUSED_FILE).exists()
    }

    pub fn set_refused(&self, is_refused: bool) -> io::Result<()> {
        match is_refused {
            true => self.replace(REFUSED_FILE, b""),
            false => self.remove(REFUSED_FILE),
        }
    }

    /// The ports for which the hook has succeeded.
    pub fn hooked_ports(&self) -> io::Result<Option<BTreeMap<i64, PortDocument>>> {
        self.read("hooks.json")
    }

    pub fn set_hooked_ports(&self, ports: &BTreeMap<i64, PortDocument>) -> io::Result<()> {
        self.replace("hooks.json", &serde_json::to_vec(ports)?)
    }

    pub fn record_file(&self) -> PathBuf {
        self.0.join("rules.json")
    }

    /// The content of a file; `None` if it does not exist.
    pub(super) fn read_file(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.0.join(name)) {
            Ok(content) => Ok(Some(content)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces a file so that a crash leaves the old or the new content. Only the owner can read it.
    pub(super) fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let temporary = self.0.join(format!("{name}.new"));
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&temporary)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(temporary, self.0.join(name))?;
        fs::File::open(&self.0)?.sync_all()
    }
}
