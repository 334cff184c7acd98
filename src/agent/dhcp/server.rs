//! The sockets of the DHCP servers: one thread for each subnet with ports, in the namespace of its VPC.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

use super::message::ClientMessage;
use super::{answer, target};
use crate::agent::kernel::{LinkIdentity, inside};
use crate::agent::names::{self, Namespace, Prefix};
use crate::agent_protocol::{HostState, HostWarning, WarningCode};

const SERVER_PORT: u16 = 67;
const CLIENT_PORT: u16 = 68;
/// How long a stopped server may take to notice it.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(500);
const MAX_MESSAGE_BYTES: usize = 1500;

/// The running servers of a host.
#[derive(Default)]
pub struct DhcpServers {
    /// The state that all servers answer from.
    state: Arc<RwLock<Option<HostState>>>,
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

impl DhcpServers {
    /// Starts and stops servers so that they match the state. Returns the subnets without a server, with the reason.
    pub fn update(&mut self, prefix: &Prefix, state: &HostState) -> Vec<HostWarning> {
        if let Ok(mut current) = self.state.write() {
            *current = Some(state.clone());
        }
        let mut wanted = Vec::new();
        for vpc in &state.vpcs {
            let has_port = |subnet: i64| {
                vpc.ports
                    .iter()
                    .any(|port| port.subnet_id == subnet && port.ipv4.is_some())
            };
            let subnets = vpc
                .subnets
                .iter()
                .filter(|subnet| subnet.ipv4.is_some() && has_port(subnet.id));
            wanted.extend(subnets.map(|subnet| (vpc.id, subnet.id)));
        }
        self.running.retain(|key, _| wanted.contains(key));
        let mut failures = Vec::new();
        for key in wanted {
            if let Err(error) = self.start(prefix, key) {
                self.running.remove(&key);
                failures.push(HostWarning {
                    code: WarningCode::DhcpFailed,
                    ids: vec![key.1],
                    text: format!("DHCP in subnet {}: {error}", key.1),
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
        let (state, stopped) = (self.state.clone(), stop.clone());
        let serve = move || serve(&socket, key, &state, &stopped);
        let spawned = thread::Builder::new()
            .name(format!("dhcp {}", key.1))
            .spawn(serve);
        spawned.map_err(|error| error.to_string())?;
        self.running.insert(key, Running { bridge, stop });
        Ok(())
    }
}

/// A socket that receives the broadcasts of a bridge; `None` if it is still the same bridge.
fn open(bridge: &str, current: Option<LinkIdentity>) -> io::Result<Option<(UdpSocket, LinkIdentity)>> {
    let identity = LinkIdentity::read(bridge)?;
    if current == Some(identity) {
        return Ok(None);
    }
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    // A server that was stopped may still have its socket.
    socket.set_reuse_address(true)?;
    socket.set_broadcast(true)?;
    socket.bind_device(Some(bridge.as_bytes()))?;
    socket.set_read_timeout(Some(STOP_POLL_INTERVAL))?;
    socket.bind(&SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, SERVER_PORT).into())?;
    Ok(Some((socket.into(), identity)))
}

fn serve(socket: &UdpSocket, key: (i64, i64), state: &RwLock<Option<HostState>>, stop: &AtomicBool) {
    let mut buffer = [0; MAX_MESSAGE_BYTES];
    while !stop.load(Ordering::Relaxed) {
        let Ok((length, _)) = socket.recv_from(&mut buffer) else {
            continue;
        };
        let Some(request) = ClientMessage::parse(&buffer[..length]) else {
            continue;
        };
        let Ok(state) = state.read() else { return };
        let answered = state
            .as_ref()
            .and_then(|state| answer(state, key.0, key.1, &request));
        drop(state);
        let Some(answered) = answered else { continue };
        let to = SocketAddrV4::new(target(&request, &answered), CLIENT_PORT);
        if let Err(error) = socket.send_to(&answered.encode(&request), to) {
            tracing::warn!(subnet = key.1, error = %error, "DHCP answer not sent");
        }
    }
}
