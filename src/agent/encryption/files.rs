//! The files of the tunnels in the folder of the agent, one set for each generation of keys.
//!
//! The agent writes `tunnel-N.json` and the private key. The process of the tunnel follows `tunnel-N.json`, ends when the
//! file is removed, and writes its sessions to `tunnel-N.sessions`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{Ipv6Addr, SocketAddr};

use serde::{Deserialize, Serialize};

use super::keys;
use crate::agent::state_folder::StateFolder;

/// The configuration of a tunnel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunnelFile {
    pub device: String,
    pub listen: SocketAddr,
    /// The address of this host inside of the encrypted network.
    pub inner_address: Ipv6Addr,
    pub peers: Vec<TunnelPeer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunnelPeer {
    pub host_id: i64,
    pub inner_address: Ipv6Addr,
    pub endpoint: SocketAddr,
    pub public_key: String,
}

fn file_name(generation: u32) -> String {
    format!("tunnel-{generation}.json")
}

fn sessions_name(generation: u32) -> String {
    format!("tunnel-{generation}.sessions")
}

/// The file that the process of a tunnel locks.
pub fn lock_name(generation: u32) -> String {
    format!("tunnel-{generation}.lock")
}

/// The configuration of a tunnel; `None` if the tunnel must end.
pub fn read(folder: &StateFolder, generation: u32) -> io::Result<Option<TunnelFile>> {
    let text = folder.read_file(&file_name(generation))?;
    Ok(text.map(|text| serde_json::from_slice(&text)).transpose()?)
}

/// Writes the configuration, unless it is the same.
pub fn write(folder: &StateFolder, generation: u32, file: &TunnelFile) -> io::Result<()> {
    if read(folder, generation).ok().flatten().as_ref() == Some(file) {
        return Ok(());
    }
    folder.replace(&file_name(generation), &serde_json::to_vec(file)?)
}

/// The hosts with which the tunnel has a session.
pub fn sessions(folder: &StateFolder, generation: u32) -> BTreeSet<i64> {
    let text = folder.read_file(&sessions_name(generation)).ok().flatten();
    text.and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

pub fn set_sessions(folder: &StateFolder, generation: u32, hosts: &BTreeSet<i64>) -> io::Result<()> {
    folder.replace(&sessions_name(generation), &serde_json::to_vec(hosts)?)
}

/// Removes the files of all other generations, with their keys.
pub fn remove_others(folder: &StateFolder, generations: &[u32]) -> io::Result<()> {
    for entry in fs::read_dir(folder.path())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if generation_of(&name).is_some_and(|generation| !generations.contains(&generation)) {
            match fs::remove_file(entry.path()) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The generation that a file belongs to.
fn generation_of(name: &str) -> Option<u32> {
    let key = name
        .strip_prefix(keys::FILE_PREFIX)
        .and_then(|rest| rest.strip_suffix(keys::FILE_SUFFIX));
    let tunnel = name.strip_prefix("tunnel-").and_then(|rest| {
        let (number, suffix) = rest.split_once('.')?;
        matches!(suffix, "json" | "sessions" | "lock").then_some(number)
    });
    key.or(tunnel)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_tunnels_have_a_generation() {
        for (name, generation) in [
            ("tunnel-3.json", Some(3)),
            ("tunnel-3.sessions", Some(3)),
            ("tunnel-12.lock", Some(12)),
            ("wireguard-7.key", Some(7)),
            ("tunnel-3.json.new", None),
            ("wireguard-x.key", None),
            ("desired.json", None),
            ("credential.json", None),
        ] {
            assert_eq!(generation_of(name), generation, "{name}");
        }
    }
}
