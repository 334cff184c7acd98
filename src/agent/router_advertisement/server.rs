//! The sockets that send advertisements: one thread for each subnet with prefixes, in the namespace of its VPC.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, Protocol, Socket, Type};

use super::advertisements;
use super::message::is_solicitation;
use crate::agent::kernel::{LinkIdentity, inside};
use crate::agent::names::{self, Namespace, Prefix};
use crate::agent::retry_delay::jittered;
use crate::agent_protocol::{HostState, HostWarning, WarningCode};

/// The longest time between advertisements to an instance that does not solicit them.
const MAX_INTERVAL: Duration = Duration::from_secs(600);
/// The time until the second advertisement to a new instance, which may have missed the first one.
const INITIAL_INTERVAL: Duration = Duration::from_secs(16);
/// The shortest time between advertisements to all instances of a subnet.
const MIN_INTERVAL: Duration = Duration::from_secs(3);
/// How long a thread may take to notice a new state, or that it must stop.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Receivers drop messages that a router has forwarded: these have a smaller hop limit.
const HOP_LIMIT: u32 = 255;
const ALL_ROUTERS: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);
const MAX_MESSAGE_BYTES: usize = 1500;

/// The state that all threads of a host send.
type SharedState = Arc<RwLock<Option<Arc<HostState>>>>;

#[derive(Default)]
pub struct RouterAdvertisers {
    state: SharedState,
    running: BTreeMap<(i64, i64), Running>,
}

struct Running {
    /// A bridge that was deleted and created again needs a new socket. The old one keeps the old namespace in use.
    bridge: LinkIdentity,
    stop: Arc<AtomicBool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

impl RouterAdvertisers {
    /// Starts and stops threads so that they match the state. Returns the subnets without one, with the reason.
    pub fn update(&mut self, prefix: &Prefix, state: &HostState) -> Vec<HostWarning> {
        let mut current = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if current.as_deref() != Some(state) {
            *current = Some(Arc::new(state.clone()));
        }
        drop(current);
        let mut wanted = Vec::new();
        for vpc in &state.vpcs {
            let has_prefix = |subnet: i64| {
                let mut ports = vpc.ports.iter();
                ports.any(|port| port.subnet_id == subnet && port.slaac.is_some())
            };
            let subnets = vpc.subnets.iter().filter(|subnet| has_prefix(subnet.id));
            wanted.extend(subnets.map(|subnet| (vpc.id, subnet.id)));
        }
        self.running.retain(|key, _| wanted.contains(key));
        let mut failures = Vec::new();
        for key in wanted {
            if let Err(error) = self.start(prefix, key) {
                self.running.remove(&key);
                failures.push(HostWarning {
                    code: WarningCode::RouterAdvertisementsFailed,
                    ids: vec![key.1],
                    text: format!("router advertisements in subnet {}: {error}", key.1),
                });
            }
        }
        failures
    }

    fn start(&mut self, prefix: &Prefix, key: (i64, i64)) -> Result<(), String> {
        let bridge = names::bridge(key.1);
        let current = self.running.get(&key).map(|running| running.bridge);
        let opened = inside(prefix, Namespace::Vpc(key.0), || open(&bridge, current))?;
        let Some((socket, bridge)) = opened.map_err(|error| error.to_string())? else {
            return Ok(());
        };
        let stop = Arc::new(AtomicBool::new(false));
        let advertiser = Advertiser {
            socket,
            index: bridge.index,
            key,
            state: self.state.clone(),
            stop: stop.clone(),
        };
        let spawned = thread::Builder::new()
            .name(format!("router {}", key.1))
            .spawn(move || advertiser.serve());
        spawned.map_err(|error| error.to_string())?;
        self.running.insert(key, Running { bridge, stop });
        Ok(())
    }
}

/// A raw socket for the ICMPv6 messages of a bridge; `None` if it is still the same bridge. `UdpSocket` is the type
/// of the standard library for sending datagrams: the calls are the same for a raw socket, with port 0.
fn open(bridge: &str, current: Option<LinkIdentity>) -> io::Result<Option<(UdpSocket, LinkIdentity)>> {
    let identity = LinkIdentity::read(bridge)?;
    if current == Some(identity) {
        return Ok(None);
    }
    let socket = Socket::new(Domain::IPV6, Type::RAW, Some(Protocol::ICMPV6))?;
    socket.bind_device(Some(bridge.as_bytes()))?;
    socket.set_unicast_hops_v6(HOP_LIMIT)?;
    socket.set_read_timeout(Some(POLL_INTERVAL))?;
    socket.join_multicast_v6(&ALL_ROUTERS, identity.index)?;
    Ok(Some((socket.into(), identity)))
}

struct Advertiser {
    socket: UdpSocket,
    index: u32,
    key: (i64, i64),
    state: SharedState,
    stop: Arc<AtomicBool>,
}

impl Advertiser {
    fn serve(&self) {
        let mut buffer = [0; MAX_MESSAGE_BYTES];
        let mut known: Option<Arc<HostState>> = None;
        let mut messages: BTreeMap<Ipv6Addr, Vec<u8>> = BTreeMap::new();
        let mut last_round = Instant::now();
        let mut next_round = last_round + INITIAL_INTERVAL;
        while !self.stop.load(Ordering::Relaxed) {
            let state = self.state.read().unwrap_or_else(PoisonError::into_inner).clone();
            if !is_same(known.as_ref(), state.as_ref()) {
                let current = state
                    .iter()
                    .flat_map(|state| advertisements(state, self.key.0, self.key.1));
                let current: BTreeMap<_, _> = current.collect();
                // A new or changed port learns its settings immediately.
                for (target, message) in &current {
                    if messages.get(target) != Some(message) {
                        self.send(*target, message);
                    }
                }
                (messages, known) = (current, state);
            }
            if Instant::now() >= next_round {
                for (target, message) in &messages {
                    self.send(*target, message);
                }
                last_round = Instant::now();
                next_round = last_round + jittered(MAX_INTERVAL);
            }
            let Ok((length, SocketAddr::V6(source))) = self.socket.recv_from(&mut buffer) else {
                continue;
            };
            if !is_solicitation(&buffer[..length]) {
                continue;
            }
            match messages.get(source.ip()) {
                Some(message) => self.send(*source.ip(), message),
                // The instance has no address yet, so the answer is sent to all instances of the subnet.
                None if source.ip().is_unspecified() => {
                    next_round = next_round.min(last_round + MIN_INTERVAL)
                }
                None => {}
            }
        }
    }

    fn send(&self, target: Ipv6Addr, message: &[u8]) {
        let target = SocketAddrV6::new(target, 0, 0, self.index);
        if let Err(error) = self.socket.send_to(message, target) {
            tracing::warn!(subnet = self.key.1, error = %error, "router advertisement not sent");
        }
    }
}

fn is_same(one: Option<&Arc<HostState>>, other: Option<&Arc<HostState>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}
