//! WireGuard in the kernel, configured with `wg`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::time::SystemTime;

use boringtun::x25519::StaticSecret;

use super::files::TunnelFile;
use super::{keys, tunnel};
use crate::agent::kernel::{reason, run};
use crate::agent::names::{Namespace, Prefix};
use crate::agent_protocol::Encryption;

/// Whether the kernel has WireGuard or can load it, and the program `wg` exists. Changes nothing.
pub fn is_available(prefix: &Prefix) -> bool {
    let succeeds = |command: &[&str]| {
        let output = run(prefix, Namespace::Host, command, "");
        output.is_ok_and(|output| output.status.success())
    };
    let is_in_kernel = || {
        Path::new("/sys/module/wireguard").exists()
            || succeeds(&["modprobe", "--dry-run", "--quiet", "wireguard"])
    };
    succeeds(&["wg", "--version"]) && is_in_kernel()
}

/// Gives a device its key and its peers. Sessions with peers that do not change continue.
pub fn configure(prefix: &Prefix, key: &StaticSecret, file: &TunnelFile) -> Result<(), String> {
    let command = ["wg", "syncconf", &file.device, "/dev/stdin"];
    let output = run(prefix, Namespace::Host, &command, &text(key, file))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("wg syncconf {}: {}", file.device, reason(&output.stderr))),
    }
}

fn text(key: &StaticSecret, file: &TunnelFile) -> String {
    let mut text = format!(
        "[Interface]\nPrivateKey = {}\nListenPort = {}\n",
        keys::private_key(key),
        file.listen.port()
    );
    for peer in &file.peers {
        let _ = write!(
            text,
            "[Peer]\nPublicKey = {}\nAllowedIPs = {}/128\nEndpoint = {}\nPersistentKeepalive = {}\n",
            peer.public_key,
            peer.inner_address,
            peer.endpoint,
            tunnel::KEEPALIVE_SECONDS
        );
    }
    text
}

/// The hosts with which the device of a generation has a session.
pub fn sessions(prefix: &Prefix, encryption: &Encryption, generation: u32) -> BTreeSet<i64> {
    let device = prefix.tunnel(generation);
    let output = run(
        prefix,
        Namespace::Host,
        &["wg", "show", &device, "latest-handshakes"],
        "",
    );
    let output = output.map(|output| output.stdout).unwrap_or_default();
    #[expect(
        clippy::disallowed_methods,
        reason = "the kernel reports handshakes in system time"
    )]
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map(|now| now.as_secs()).unwrap_or_default();
    let text = String::from_utf8_lossy(&output);
    let recent = text.lines().filter_map(|line| {
        let (key, time) = line.split_once('\t')?;
        let age = now.saturating_sub(time.trim().parse().ok()?);
        (age < tunnel::SESSION_LIFETIME.as_secs()).then_some(key)
    });
    let recent: BTreeSet<&str> = recent.collect();
    let has_session = |key: Option<&str>| key.is_some_and(|key| recent.contains(key));
    let peers = encryption.peers.iter();
    peers
        .filter(|peer| has_session(peer.key(generation)))
        .map(|peer| peer.host_id)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::encryption::files::TunnelPeer;

    #[test]
    fn a_tunnel_accepts_only_the_inner_address_of_each_peer() {
        let file = TunnelFile {
            device: "garth-w1".to_owned(),
            listen: "192.0.2.1:51821".parse().unwrap(),
            inner_address: "fdc4:9b1e:72d0::1".parse().unwrap(),
            peers: vec![TunnelPeer {
                host_id: 2,
                inner_address: "fdc4:9b1e:72d0::2".parse().unwrap(),
                endpoint: "192.0.2.2:51821".parse().unwrap(),
                public_key: "HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=".to_owned(),
            }],
        };
        let key = StaticSecret::from([1; 32]);
        let expected = "[Interface]\nPrivateKey = AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\nListenPort = 51821\n\
            [Peer]\nPublicKey = HIgo9xNzJMWLKASShiTqIybxZ0U3wGLiUeJ1PKf8ykw=\nAllowedIPs = fdc4:9b1e:72d0::2/128\n\
            Endpoint = 192.0.2.2:51821\nPersistentKeepalive = 25\n";
        assert_eq!(text(&key, &file), expected);
    }
}
