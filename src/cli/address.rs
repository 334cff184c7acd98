//! The URL of a running server, published in its data folder for commands that print links.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::wake;

const FILE: &str = "serve.url";

/// The file with the server's URL, removed when the server ends.
pub struct Published(PathBuf);

impl Published {
    pub fn write(folder: &Path, url: &str) -> Self {
        let path = folder.join(FILE);
        // A server that was killed leaves its file behind, which may belong to another user.
        let _ = std::fs::remove_file(&path);
        if let Err(cause) = std::fs::write(&path, format!("{url}\n")) {
            tracing::warn!(%cause, "could not publish the server's url");
        }
        Self(path)
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The URL of the server that runs on this folder, if one does.
pub fn of_server(folder: &Path) -> Option<String> {
    // A server that was killed leaves its file behind.
    if !wake::poke(folder) {
        return None;
    }
    let url = std::fs::read_to_string(folder.join(FILE)).ok()?;
    let url = url.trim();
    (!url.is_empty()).then(|| url.to_owned())
}

/// The URL of an address to connect to. A server that listens on all addresses is on this machine, too.
pub fn url(scheme: &str, mut address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    format!("{scheme}://{address}")
}

#[cfg(test)]
mod tests {
    use super::url;

    #[test]
    fn a_server_on_all_addresses_is_reached_on_this_machine() {
        for (address, expected) in [
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://[::1]:80"),
            ("192.0.2.1:80", "http://192.0.2.1:80"),
        ] {
            assert_eq!(url("http", address.parse().unwrap()), expected);
        }
    }
}
