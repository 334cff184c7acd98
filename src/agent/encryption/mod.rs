//! Encryption between hosts: the keys of this host, and a WireGuard tunnel for each generation of keys (decision 0033).
//!
//! `sessions` decides with which generation packets are sent. `tunnel` is the program that encrypts if the kernel does
//! not.

mod files;
mod keys;
mod processes;
mod sessions;
pub mod tunnel;
mod wireguard;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

pub use files::{TunnelFile, TunnelPeer};
pub use sessions::Sessions;

use super::encrypted_layout::{Implementation, Tunnels, port_of};
use super::names::Prefix;
use super::state_folder::StateFolder;
use crate::agent_protocol::{
    Encryption, EncryptionReport, GenerationKey, HostState, HostWarning, WarningCode, inner_address,
};

/// How often the agent reads the sessions of the kernel, which needs a process.
const KERNEL_INTERVAL: Duration = Duration::from_secs(2);

fn failed(text: String) -> HostWarning {
    HostWarning::new(WarningCode::EncryptedTunnelFailed, text)
}

/// The tunnels of this host.
pub struct EncryptedTunnels {
    prefix: Prefix,
    folder: Arc<StateFolder>,
    implementation: OnceLock<Implementation>,
    /// The last sessions that `have_sessions_changed` has read.
    observed: Mutex<Option<(Instant, Sessions)>>,
    /// The generations whose processes this agent has started or found.
    running: Mutex<BTreeSet<u32>>,
}

impl EncryptedTunnels {
    pub fn new(prefix: Prefix, folder: Arc<StateFolder>) -> Self {
        Self {
            prefix,
            folder,
            implementation: OnceLock::new(),
            observed: Mutex::default(),
            running: Mutex::default(),
        }
    }

    fn implementation(&self) -> Implementation {
        let detect = || match wireguard::is_available(&self.prefix) {
            true => Implementation::Kernel,
            false => Implementation::UserSpace,
        };
        *self.implementation.get_or_init(detect)
    }

    /// The current sessions; none without encryption. Changes nothing.
    pub fn sessions(&self, state: &HostState) -> Sessions {
        let encryption = state.underlay.encryption.as_ref();
        encryption.map_or_else(Sessions::default, |encryption| self.read(encryption))
    }

    /// What the layout needs to know.
    pub fn facts(&self, state: &HostState, sessions: &Sessions) -> Tunnels {
        let Some(encryption) = &state.underlay.encryption else {
            return Tunnels::default();
        };
        Tunnels {
            implementation: self.implementation(),
            generations: sessions.generations(encryption),
        }
    }

    /// Whether sessions have begun or ended since the last call.
    pub fn have_sessions_changed(&self, state: &HostState) -> bool {
        let Some(encryption) = &state.underlay.encryption else {
            return false;
        };
        let mut observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = |at: Instant| at.elapsed() < KERNEL_INTERVAL;
        let is_kernel = self.implementation() == Implementation::Kernel;
        if is_kernel && observed.as_ref().is_some_and(|(at, _)| is_recent(*at)) {
            return false;
        }
        let sessions = self.read(encryption);
        let is_same = observed.as_ref().is_some_and(|(_, last)| *last == sessions);
        *observed = Some((Instant::now(), sessions));
        !is_same
    }

    fn read(&self, encryption: &Encryption) -> Sessions {
        let of_generation = |generation: &u32| {
            let hosts = match self.implementation() {
                Implementation::Kernel => wireguard::sessions(&self.prefix, encryption, *generation),
                Implementation::UserSpace if processes::is_running(&self.folder, *generation) => {
                    files::sessions(&self.folder, *generation)
                }
                Implementation::UserSpace => Default::default(),
            };
            (*generation, hosts)
        };
        Sessions(encryption.generations.iter().map(of_generation).collect())
    }

    /// Ends the keys and processes of generations that the desired state does not have. Returns the problems.
    pub fn remove_others(&self, state: &HostState) -> Vec<HostWarning> {
        let encryption = state.underlay.encryption.as_ref();
        let generations = encryption.map_or(&[][..], |encryption| &encryption.generations);
        let removed = files::remove_others(&self.folder, generations);
        Vec::from_iter(
            removed
                .err()
                .map(|error| failed(format!("tunnel files: {error}"))),
        )
    }

    /// Makes the tunnels match the desired state, after their links exist. Returns the problems.
    pub fn update(&self, state: &HostState) -> Vec<HostWarning> {
        let Some(encryption) = &state.underlay.encryption else {
            return Vec::new();
        };
        let generations = encryption.generations.iter();
        let updated = generations.map(|generation| self.update_generation(state, encryption, *generation));
        updated.filter_map(Result::err).map(failed).collect()
    }

    fn update_generation(
        &self,
        state: &HostState,
        encryption: &Encryption,
        generation: u32,
    ) -> Result<(), String> {
        let file_error = |error: std::io::Error| format!("tunnel files: {error}");
        let key = keys::load_or_create(&self.folder, generation).map_err(file_error)?;
        let port = port_of(generation);
        let peers = encryption.peers.iter().filter_map(|peer| {
            Some(TunnelPeer {
                host_id: peer.host_id,
                inner_address: peer.inner_address(),
                endpoint: SocketAddr::new(peer.address, port),
                public_key: peer.key(generation)?.to_owned(),
            })
        });
        let file = TunnelFile {
            device: self.prefix.tunnel(generation),
            listen: SocketAddr::new(state.underlay.address, port),
            inner_address: inner_address(state.host_id),
            peers: peers.collect(),
        };
        match self.implementation() {
            Implementation::Kernel => wireguard::configure(&self.prefix, &key, &file),
            Implementation::UserSpace => {
                files::write(&self.folder, generation, &file).map_err(file_error)?;
                self.ensure_process(generation)
            }
        }
    }

    /// Starts the process of a tunnel, unless it runs. An unexpected end is a problem, because packets were lost.
    fn ensure_process(&self, generation: u32) -> Result<(), String> {
        let is_started = processes::start(&self.folder, generation)
            .map_err(|error| format!("garth agent tunnel: {error}"))?;
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let was_running = !running.insert(generation);
        match is_started && was_running {
            true => Err(format!(
                "the process of the encrypted tunnel of generation {generation} ended, and was started again"
            )),
            false => Ok(()),
        }
    }

    /// Ends all tunnels, for `garth agent purge`.
    pub fn remove(&self) -> std::io::Result<()> {
        files::remove_others(&self.folder, &[])
    }

    /// The report of a pass that has laid out the kernel for these sessions. `is_applied` is false if that failed:
    /// packets may still be sent with an older generation.
    pub fn report(
        &self,
        state: &HostState,
        sessions: &Sessions,
        is_applied: bool,
        clear_text_packets: u64,
    ) -> Option<EncryptionReport> {
        let encryption = state.underlay.encryption.as_ref()?;
        let public_key = |generation: &u32| {
            let key = keys::load(&self.folder, *generation).ok().flatten()?;
            Some(GenerationKey {
                generation: *generation,
                public_key: keys::public_key(&key),
            })
        };
        let settled = sessions.settled_generation(encryption);
        Some(EncryptionReport {
            implementation: self.implementation().word().to_owned(),
            keys: encryption.generations.iter().filter_map(public_key).collect(),
            settled_generation: settled.filter(|_| is_applied),
            unreachable_peers: sessions.unreachable_peers(encryption),
            clear_text_packets,
        })
    }
}
