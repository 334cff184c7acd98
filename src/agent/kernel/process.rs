//! Runs `ip`, `bridge` and `nft` in a namespace.
//!
//! A thread enters the namespace and starts the process there. Threads end after that, so no other work runs in the
//! namespace.

use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::agent::names::{Namespace, Prefix};

/// Why the kernel could not be read or changed.
pub type KernelError = String;

/// The folder with the names of namespaces.
pub const NAMESPACES: &str = "/run/netns";

/// Runs a closure in a namespace.
pub fn inside<T: Send>(
    prefix: &Prefix,
    namespace: Namespace,
    work: impl FnOnce() -> T + Send,
) -> Result<T, KernelError> {
    let Some(name) = namespace.name(prefix) else {
        return Ok(work());
    };
    let path = Path::new(NAMESPACES).join(&name);
    let entered = || -> io::Result<T> {
        let file = File::open(&path)?;
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
        Ok(work())
    };
    let result = thread::scope(|scope| scope.spawn(entered).join());
    let result = result.map_err(|_| format!("the work in namespace {name} panicked"))?;
    result.map_err(|error| format!("namespace {name} cannot be entered: {error}"))
}

/// A link, recognizable even if it was deleted and created again, alone or with its namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkIdentity {
    namespace: u64,
    pub index: u32,
}

impl LinkIdentity {
    /// The identity of a link in the namespace of the calling thread.
    pub fn read(name: &str) -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        Ok(Self {
            namespace: fs::metadata("/proc/thread-self/ns/net")?.ino(),
            index: rustix::net::netdevice::name_to_index(&socket, name)?,
        })
    }
}

/// Runs a command with text on standard input.
pub fn run(
    prefix: &Prefix,
    namespace: Namespace,
    command: &[&str],
    input: &str,
) -> Result<Output, KernelError> {
    inside(prefix, namespace, || start(command, input))?
        .map_err(|error| format!("{} failed: {error}", command[0]))
}

fn start(command: &[&str], input: &str) -> io::Result<Output> {
    let mut child = Command::new(program(command[0]))
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdin = child.stdin.take();
    thread::scope(|scope| {
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
        child.wait_with_output()
    })
}

/// Debian installs these programs outside of the search path of ordinary users.
fn program(name: &str) -> PathBuf {
    let folders = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
    let paths = folders.iter().map(|folder| Path::new(folder).join(name));
    paths
        .into_iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| name.into())
}

/// The first line that explains a failure.
pub fn reason(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("no message");
    line.trim().chars().take(300).collect()
}

/// The names of all namespaces of this machine.
pub fn namespace_names() -> Vec<String> {
    let entries = fs::read_dir(NAMESPACES).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}
