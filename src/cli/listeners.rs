//! The sockets on which a server accepts connections.

use std::io::ErrorKind;
use std::net::SocketAddr;

use anyhow::{Context, anyhow};
use listenfd::ListenFd;
use tokio::net::TcpListener;

use super::settings::Settings;

pub const DEFAULT_LISTEN: ([u8; 4], u16) = ([127, 0, 0, 1], 8080);

pub struct Listeners {
    pub api: TcpListener,
    pub metrics: Option<TcpListener>,
}

impl Listeners {
    /// Uses the socket that systemd passes, if there is one, and binds the others. systemd keeps its socket open
    /// while the server restarts, so that clients wait instead of being refused.
    pub async fn bind(settings: &Settings) -> anyhow::Result<Self> {
        let api = match inherited()? {
            Some(listener) => listener,
            None => bind(settings.listen.unwrap_or(DEFAULT_LISTEN.into()), "listen").await?,
        };
        let metrics = match settings.metrics_listen {
            Some(address) => Some(bind(address, "metrics-listen").await?),
            None => None,
        };
        Ok(Self { api, metrics })
    }
}

/// The socket that the service manager passes to this process.
fn inherited() -> anyhow::Result<Option<TcpListener>> {
    let passed = ListenFd::from_env().take_tcp_listener(0);
    let Some(listener) = passed.context("the socket unit must have one TCP socket (ListenStream=)")? else {
        return Ok(None);
    };
    listener.set_nonblocking(true)?;
    Ok(Some(TcpListener::from_std(listener)?))
}

async fn bind(address: SocketAddr, option: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| {
        let remedy = match error.kind() {
            ErrorKind::PermissionDenied => {
                "use a port above 1023, or grant the capability CAP_NET_BIND_SERVICE"
            }
            ErrorKind::AddrInUse => "stop the other program, or choose another address",
            _ => "choose another address",
        };
        anyhow!("cannot listen on {address}: {error}: {remedy} (--{option})")
    })
}
