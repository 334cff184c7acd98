//! `garth agent tunnel`: WireGuard in user space, for one generation of keys.
//!
//! It reads packets from a TUN device, encrypts them, and sends them to other hosts, and the reverse. It is not a
//! part of the agent's process, so that packets flow while the agent restarts.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use boringtun::noise::{Tunn, TunnResult};
use boringtun::x25519::{PublicKey, StaticSecret};
use rustix::net::netdevice::name_to_index;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::UdpSocket;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_tun::{Tun, TunBuilder};

use super::files::{self, TunnelFile, TunnelPeer};
use super::{keys, processes};
use crate::agent::state_folder::StateFolder;

/// Keeps the state of firewalls between the hosts.
pub const KEEPALIVE_SECONDS: u16 = 25;
/// The age at which a session is replaced, so that a session is ready before the first packet. boringtun replaces only
/// sessions with packets. The host with the higher address waits longer, because one handshake is enough.
const REKEY_AGES: [Duration; 2] = [Duration::from_secs(120), Duration::from_secs(150)];
/// The agent holds the lock for a moment when it looks for the process.
const LOCK_ATTEMPTS: u32 = 5;
/// WireGuard rejects packets of older sessions.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(180);

/// How often timers run, and the process reads its configuration.
const TICK: Duration = Duration::from_millis(100);
const SOCKET_BUFFER_BYTES: usize = 4 << 20;
const MAX_PACKET_BYTES: usize = 65_535;
/// The headers of WireGuard, and the longest handshake message.
const OVERHEAD_BYTES: usize = 148;

/// Runs until the configuration is removed or the device is deleted.
pub async fn run(folder: StateFolder, generation: u32) -> io::Result<()> {
    let Some(_lock) = lock(&folder, generation).await? else {
        return Ok(());
    };
    let (Some(file), Some(key)) = (
        files::read(&folder, generation)?,
        keys::load(&folder, generation)?,
    ) else {
        return Ok(());
    };
    let tunnel = Arc::new(Tunnel {
        device: open_device(&file.device)?,
        socket: open_socket(file.listen)?,
        inner_address: file.inner_address,
        key,
        peers: RwLock::default(),
    });
    let sending = tokio::spawn(tunnel.clone().send_packets());
    let receiving = tokio::spawn(tunnel.clone().receive_packets());
    let ended = tokio::select! {
        ended = sending => ended.map_err(io::Error::other)?,
        ended = receiving => ended.map_err(io::Error::other)?,
        ended = tunnel.follow(&folder, generation, file) => ended,
    };
    // The agent removes the configuration first, and then the device.
    if ended.is_err() && matches!(files::read(&folder, generation), Ok(None)) {
        return Ok(());
    }
    if ended.is_err() {
        files::set_sessions(&folder, generation, &BTreeSet::new()).ok();
    }
    ended
}

/// The lock of the process; `None` if another process has it.
async fn lock(folder: &StateFolder, generation: u32) -> io::Result<Option<File>> {
    for _ in 0..LOCK_ATTEMPTS {
        if let Some(lock) = processes::try_lock(folder, generation)? {
            return Ok(Some(lock));
        }
        sleep(TICK).await;
    }
    Ok(None)
}

fn open_device(name: &str) -> io::Result<Tun> {
    let opened = TunBuilder::new().name(name).build();
    let devices = opened.map_err(|error| io::Error::other(format!("device {name}: {error}")))?;
    let missing = || io::Error::other(format!("device {name} was not opened"));
    devices.into_iter().next().ok_or_else(missing)
}

fn open_socket(listen: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(listen), Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(SOCKET_BUFFER_BYTES)?;
    socket.set_send_buffer_size(SOCKET_BUFFER_BYTES)?;
    socket.set_nonblocking(true)?;
    socket.bind(&listen.into())?;
    UdpSocket::from_std(socket.into())
}

struct Tunnel {
    device: Tun,
    socket: UdpSocket,
    inner_address: Ipv6Addr,
    key: StaticSecret,
    peers: RwLock<Arc<Peers>>,
}

#[derive(Default)]
struct Peers {
    by_inner_address: HashMap<Ipv6Addr, Arc<Peer>>,
    by_address: HashMap<IpAddr, Arc<Peer>>,
}

struct Peer {
    facts: TunnelPeer,
    protocol: Mutex<Tunn>,
}

impl Peer {
    fn protocol(&self) -> MutexGuard<'_, Tunn> {
        self.protocol.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_session(&self) -> bool {
        let age = self.protocol().time_since_last_handshake();
        age.is_some_and(|age| age < SESSION_LIFETIME)
    }
}

impl Tunnel {
    fn peers(&self) -> Arc<Peers> {
        self.peers.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Encrypts the packets of the device.
    async fn send_packets(self: Arc<Self>) -> io::Result<()> {
        let mut packet = vec![0; MAX_PACKET_BYTES];
        let mut output = vec![0; MAX_PACKET_BYTES + OVERHEAD_BYTES];
        loop {
            let size = self.device.recv(&mut packet).await?;
            let packet = &packet[..size];
            let peers = self.peers();
            let target = addresses(packet).and_then(|(_, to)| peers.by_inner_address.get(&to));
            if let Some(peer) = target {
                let result = peer.protocol().encapsulate(packet, &mut output);
                self.send(peer, result).await;
            }
        }
    }

    /// Decrypts the datagrams of the other hosts.
    async fn receive_packets(self: Arc<Self>) -> io::Result<()> {
        let mut input = vec![0; MAX_PACKET_BYTES];
        let mut output = vec![0; MAX_PACKET_BYTES + OVERHEAD_BYTES];
        loop {
            let (size, from) = self.socket.recv_from(&mut input).await?;
            let peers = self.peers();
            let Some(peer) = peers.by_address.get(&from.ip()) else {
                continue;
            };
            let mut datagram = &input[..size];
            loop {
                let result = peer
                    .protocol()
                    .decapsulate(Some(from.ip()), datagram, &mut output);
                match result {
                    // The protocol may have more to send: packets that waited for a session.
                    TunnResult::WriteToNetwork(_) => {
                        self.send(peer, result).await;
                        datagram = &[];
                    }
                    TunnResult::WriteToTunnelV6(packet, _) if self.accepts(peer, packet) => {
                        // The device drops packets while it is down.
                        self.device.send(packet).await.ok();
                        break;
                    }
                    _ => break,
                }
            }
        }
    }

    /// A peer may send only from its own inner address to this host.
    fn accepts(&self, peer: &Peer, packet: &[u8]) -> bool {
        addresses(packet) == Some((peer.facts.inner_address, self.inner_address))
    }

    /// Sends a message of the protocol. A datagram that cannot be sent is lost, as in any network.
    async fn send(&self, peer: &Peer, result: TunnResult<'_>) {
        if let TunnResult::WriteToNetwork(datagram) = result {
            self.socket.send_to(datagram, peer.facts.endpoint).await.ok();
        }
    }

    /// Follows the configuration and runs the timers. Returns when the configuration was removed.
    async fn follow(&self, folder: &StateFolder, generation: u32, mut file: TunnelFile) -> io::Result<()> {
        self.set_peers(&file.peers).await;
        let device = name_to_index(&self.socket, &file.device)?;
        let mut sessions = None;
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // Reading from a deleted device waits without end. The agent creates it again.
            if name_to_index(&self.socket, &file.device) != Ok(device) {
                return Err(io::Error::other("the device was deleted"));
            }
            // A configuration that cannot be read changes nothing.
            match files::read(folder, generation) {
                Ok(None) => return Ok(()),
                Ok(Some(new)) if (new.listen, new.inner_address) != (file.listen, file.inner_address) => {
                    // The agent starts the process again.
                    return Err(io::Error::other("the addresses of this host have changed"));
                }
                Ok(Some(new)) if new != file => {
                    self.set_peers(&new.peers).await;
                    file = new;
                }
                _ => {}
            }
            let peers = self.peers();
            for peer in peers.by_address.values() {
                self.run_timers(peer).await;
            }
            let with_session = peers.by_address.values().filter(|peer| peer.has_session());
            let current: BTreeSet<i64> = with_session.map(|peer| peer.facts.host_id).collect();
            if sessions.as_ref() != Some(&current)
                && files::set_sessions(folder, generation, &current).is_ok()
            {
                sessions = Some(current);
            }
        }
    }

    async fn run_timers(&self, peer: &Peer) {
        let mut output = [0; OVERHEAD_BYTES];
        let result = peer.protocol().update_timers(&mut output);
        if matches!(result, TunnResult::Err(_)) {
            // The other host did not respond for a long time. Try it again.
            self.start_handshake(peer).await;
        } else {
            self.send(peer, result).await;
            if self.is_rekey_due(peer) {
                self.start_handshake(peer).await;
            }
        }
    }

    fn is_rekey_due(&self, peer: &Peer) -> bool {
        let limit = REKEY_AGES[usize::from(self.inner_address > peer.facts.inner_address)];
        let age = peer.protocol().time_since_last_handshake();
        age.is_some_and(|age| age >= limit)
    }

    async fn start_handshake(&self, peer: &Peer) {
        let mut output = [0; OVERHEAD_BYTES];
        let result = peer.protocol().format_handshake_initiation(&mut output, false);
        self.send(peer, result).await;
    }

    /// Replaces the peers. Those that do not change keep their sessions. The others begin a handshake immediately: that
    /// of the host that was configured later succeeds.
    async fn set_peers(&self, wanted: &[TunnelPeer]) {
        let old = self.peers();
        let mut new = Peers::default();
        let mut added = Vec::new();
        for (index, facts) in (1..).zip(wanted) {
            let known = old.by_inner_address.get(&facts.inner_address);
            let peer = match known.filter(|peer| peer.facts == *facts) {
                Some(peer) => peer.clone(),
                None => {
                    let Some(key) = keys::bytes(&facts.public_key) else {
                        continue;
                    };
                    let keepalive = Some(KEEPALIVE_SECONDS);
                    let protocol = Tunn::new(
                        self.key.clone(),
                        PublicKey::from(key),
                        None,
                        keepalive,
                        index,
                        None,
                    );
                    let peer = Arc::new(Peer {
                        facts: facts.clone(),
                        protocol: Mutex::new(protocol),
                    });
                    added.push(peer.clone());
                    peer
                }
            };
            new.by_inner_address.insert(facts.inner_address, peer.clone());
            new.by_address.insert(facts.endpoint.ip(), peer);
        }
        *self.peers.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        for peer in added {
            self.start_handshake(&peer).await;
        }
    }
}

/// The source and the destination of an IPv6 packet.
fn addresses(packet: &[u8]) -> Option<(Ipv6Addr, Ipv6Addr)> {
    let is_ipv6 = packet.first().is_some_and(|byte| byte >> 4 == 6);
    let read = |at: usize| <[u8; 16]>::try_from(packet.get(at..at + 16)?).ok();
    let (source, destination) = (read(8)?, read(24)?);
    is_ipv6.then(|| (source.into(), destination.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_complete_ipv6_headers_have_addresses() {
        let mut packet = [0; 40];
        packet[0] = 0x60;
        packet[23] = 1;
        packet[39] = 2;
        let expected = ("::1".parse().unwrap(), "::2".parse().unwrap());
        assert_eq!(addresses(&packet), Some(expected));
        assert_eq!(addresses(&packet[..39]), None);
        assert_eq!(addresses(&[]), None);
        packet[0] = 0x45;
        assert_eq!(addresses(&packet), None);
    }
}
