//! The URL of a running server, stored in its data folder for commands that print links.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use super::server_notification;

const FILE: &str = "serve.url";

/// The file with the server's URL, removed when the server stops.
pub struct UrlFile(PathBuf);

impl UrlFile {
    pub fn write(folder: &Path, url: &str) -> Self {
        let path = folder.join(FILE);
        // A killed server leaves its file behind, which may belong to another user.
        let _ = std::fs::remove_file(&path);
        if let Err(cause) = std::fs::write(&path, format!("{url}\n")) {
            tracing::warn!(error = %cause, "server url file not written");
        }
        Self(path)
    }
}

impl Drop for UrlFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The URL of the server that is running on this folder, if any.
pub fn of_server(folder: &Path) -> Option<String> {
    // A killed server leaves its file behind.
    if !server_notification::send(folder) {
        return None;
    }
    let url = std::fs::read_to_string(folder.join(FILE)).ok()?;
    let url = url.trim();
    (!url.is_empty()).then(|| url.to_owned())
}

/// The URL at which a listener can be reached from this machine. The unspecified address is replaced by loopback.
pub fn of_listener(scheme: &str, mut address: SocketAddr) -> String {
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
    use super::of_listener;

    #[test]
    fn the_unspecified_address_is_replaced_by_loopback() {
        for (address, expected) in [
            ("0.0.0.0:80", "http://127.0.0.1:80"),
            ("[::]:80", "http://[::1]:80"),
            ("192.0.2.1:80", "http://192.0.2.1:80"),
        ] {
            assert_eq!(of_listener("http", address.parse().unwrap()), expected);
        }
    }
}
