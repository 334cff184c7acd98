//! The sockets on which a server accepts connections.

use std::fmt::Display;
use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

use anyhow::{Context, anyhow, ensure};
use listenfd::ListenFd;
use tokio::net::TcpListener;

use super::settings::Settings;
use crate::mail::lmtp::{LmtpAddress, LmtpSocket};

pub const DEFAULT_LISTEN: ([u8; 4], u16) = ([127, 0, 0, 1], 8080);

pub struct Listeners {
    pub api: TcpListener,
    pub metrics: Option<TcpListener>,
    pub lmtp: Option<LmtpSocket>,
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
        let lmtp = match lmtp_address(settings)? {
            Some(address) => Some(bind_lmtp(&address).await?),
            None => None,
        };
        Ok(Self { api, metrics, lmtp })
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
    TcpListener::bind(address)
        .await
        .map_err(|error| describe(&error, &address, option))
}

/// The address of the LMTP listener; `None` if the server has none.
pub fn lmtp_address(settings: &Settings) -> anyhow::Result<Option<LmtpAddress>> {
    let mail = &settings.mail;
    let Some(text) = mail.lmtp_listen.as_deref().filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let address = LmtpAddress::parse(text).with_context(|| {
        format!(
            "mail.lmtp_listen: must be an address such as 127.0.0.1:2424 or unix:/run/garth/lmtp, not {text}"
        )
    })?;
    ensure!(
        address.is_local() || mail.lmtp_allow_network == Some(true),
        "mail.lmtp_listen: {text} is not a loopback address, and LMTP has no authentication: use 127.0.0.1, [::1] or a \
         Unix socket, or set mail.lmtp_allow_network"
    );
    ensure!(
        mail.reply_address
            .as_deref()
            .is_some_and(|address| !address.is_empty()),
        "mail.reply_address: required with mail.lmtp_listen"
    );
    Ok(Some(address))
}

async fn bind_lmtp(address: &LmtpAddress) -> anyhow::Result<LmtpSocket> {
    LmtpSocket::bind(address)
        .await
        .map_err(|error| describe(&error, address, "mail-lmtp-listen"))
}

fn describe(error: &Error, address: &impl Display, option: &str) -> anyhow::Error {
    let remedy = match error.kind() {
        ErrorKind::PermissionDenied => "use a port above 1023, or grant the capability CAP_NET_BIND_SERVICE",
        ErrorKind::AddrInUse => "stop the other program, or choose another address",
        _ => "choose another address",
    };
    anyhow!("cannot listen on {address}: {error}: {remedy} (--{option})")
}
