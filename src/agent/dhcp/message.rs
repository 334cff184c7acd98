//! DHCP messages (RFC 2131): reading those of clients, writing those of a server.

use std::net::Ipv4Addr;

use crate::agent_protocol::{IpRange, MacAddress};

/// The length of a message without options.
const HEADER_BYTES: usize = 240;
const MAGIC_COOKIE: [u8; 4] = [99, 130, 83, 99];
/// Some clients ignore shorter messages (RFC 1542, section 2.1).
const MIN_MESSAGE_BYTES: usize = 300;

pub const DISCOVER: u8 = 1;
pub const OFFER: u8 = 2;
pub const REQUEST: u8 = 3;
pub const ACK: u8 = 5;
pub const NAK: u8 = 6;
pub const INFORM: u8 = 8;

/// A message of a client, as far as the server uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientMessage {
    pub kind: u8,
    pub transaction: [u8; 4],
    pub wants_broadcast: bool,
    pub client_address: Ipv4Addr,
    pub mac: MacAddress,
    pub requested_address: Option<Ipv4Addr>,
    pub server: Option<Ipv4Addr>,
}

impl ClientMessage {
    /// `None` if the data is no message of an Ethernet client, or came through a relay.
    pub fn parse(data: &[u8]) -> Option<Self> {
        let header = data.get(..HEADER_BYTES)?;
        let is_request = header[..3] == [1, 1, 6];
        let is_direct = header[24..28] == [0; 4];
        if !is_request || !is_direct || header[236..] != MAGIC_COOKIE {
            return None;
        }
        let mut message = Self {
            kind: 0,
            transaction: array(header, 4)?,
            wants_broadcast: header[10] & 0x80 != 0,
            client_address: array(header, 12)?.into(),
            mac: MacAddress(array(header, 28)?),
            requested_address: None,
            server: None,
        };
        let mut rest = &data[HEADER_BYTES..];
        while let [code, after @ ..] = rest {
            rest = match code {
                0 => after,
                255 => break,
                _ => {
                    let (length, after) = after.split_first()?;
                    let (value, after) = after.split_at_checked(usize::from(*length))?;
                    match (code, value.len()) {
                        (53, 1) => message.kind = value[0],
                        (50, 4) => message.requested_address = array(value, 0).map(Ipv4Addr::from),
                        (54, 4) => message.server = array(value, 0).map(Ipv4Addr::from),
                        _ => {}
                    }
                    after
                }
            };
        }
        Some(message)
    }
}

fn array<const N: usize>(data: &[u8], from: usize) -> Option<[u8; N]> {
    data.get(from..from + N)?.try_into().ok()
}

/// A message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMessage {
    pub kind: u8,
    pub server: Ipv4Addr,
    /// `None` in a NAK and in the response to INFORM.
    pub address: Option<Ipv4Addr>,
    pub lease_seconds: Option<u32>,
    /// `None` in a NAK.
    pub network: Option<NetworkOptions>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkOptions {
    pub prefix: u8,
    pub mtu: u16,
    pub routes: Vec<(IpRange, Ipv4Addr)>,
    pub resolvers: Vec<Ipv4Addr>,
}

impl ServerMessage {
    /// The bytes of the response to a message.
    pub fn encode(&self, request: &ClientMessage) -> Vec<u8> {
        let mut data = vec![0; HEADER_BYTES];
        data[..4].copy_from_slice(&[2, 1, 6, 0]);
        data[4..8].copy_from_slice(&request.transaction);
        data[10] = if request.wants_broadcast { 0x80 } else { 0 };
        data[12..16].copy_from_slice(&request.client_address.octets());
        data[16..20].copy_from_slice(&self.address.unwrap_or(Ipv4Addr::UNSPECIFIED).octets());
        data[28..34].copy_from_slice(&request.mac.0);
        data[236..240].copy_from_slice(&MAGIC_COOKIE);
        add_option(&mut data, 53, &[self.kind]);
        add_option(&mut data, 54, &self.server.octets());
        if let Some(seconds) = self.lease_seconds {
            add_option(&mut data, 51, &seconds.to_be_bytes());
        }
        if let Some(network) = &self.network {
            network.encode(&mut data);
        }
        data.push(255);
        data.resize(data.len().max(MIN_MESSAGE_BYTES), 0);
        data
    }
}

impl NetworkOptions {
    fn encode(&self, data: &mut Vec<u8>) {
        let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
        add_option(data, 1, &mask.to_be_bytes());
        let default = self.routes.iter().find(|(range, _)| range.prefix() == 0);
        if let Some((_, gateway)) = default {
            add_option(data, 3, &gateway.octets());
        }
        let resolvers: Vec<u8> = self.resolvers.iter().flat_map(Ipv4Addr::octets).collect();
        add_option(data, 6, &resolvers);
        add_option(data, 26, &self.mtu.to_be_bytes());
        // RFC 3442: the prefix, the significant bytes of the range, and the gateway. It replaces option 3.
        let mut routes = Vec::new();
        for (range, gateway) in &self.routes {
            let std::net::IpAddr::V4(address) = range.address() else {
                continue;
            };
            let bytes = usize::from(range.prefix().div_ceil(8));
            routes.push(range.prefix());
            routes.extend(&address.octets()[..bytes]);
            routes.extend(gateway.octets());
        }
        add_option(data, 121, &routes);
    }
}

/// Adds an option with a value. A long value is split (RFC 3396).
fn add_option(data: &mut Vec<u8>, code: u8, value: &[u8]) {
    for part in value.chunks(255) {
        data.push(code);
        data.push(u8::try_from(part.len()).unwrap_or(u8::MAX));
        data.extend(part);
    }
}
