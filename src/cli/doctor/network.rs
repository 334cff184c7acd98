//! Addresses and URLs.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::advice::Advice;
use crate::cli::data_folder;
use crate::cli::listeners::DEFAULT_LISTEN;
use crate::cli::settings::Settings;
use crate::cli::store_args::StoreArgs;
use crate::store::context::Clock;
use crate::web::tls::expiry;

/// A certificate should be renewed this number of days before it expires.
const RENEWAL_DAYS: i64 = 14;
const DAY_SECONDS: i64 = 24 * 60 * 60;

pub fn examine(args: &StoreArgs, settings: &Settings) -> Vec<Advice> {
    let mut advice = examine_addresses(args, settings);
    let is_public = settings.listen.is_some_and(|listen| !listen.ip().is_loopback());
    let has_proxy = settings
        .trusted_proxies
        .as_ref()
        .is_some_and(|proxies| !proxies.is_empty());
    if is_public && settings.tls_cert.is_none() && !has_proxy {
        advice.push(Advice::new(
            "listen",
            "passwords and tokens cross the network without encryption",
            "set tls_cert and tls_key, or listen on 127.0.0.1 behind a proxy with TLS and set trusted_proxies",
        ));
    }
    if let Some(chain) = &settings.tls_cert {
        advice.extend(examine_certificate(chain));
    }
    if has_proxy && settings.public_url.is_none() {
        advice.push(Advice::new(
            "public_url",
            "links in responses and redirects depend on the Host header that the proxy sends",
            "set public_url to the URL that users open",
        ));
    }
    advice.extend(examine_test_mode(settings));
    let is_plain = |url: &String| url.starts_with("http://");
    if settings.tls_cert.is_some() && settings.public_url.as_ref().is_some_and(is_plain) {
        advice.push(Advice::new(
            "public_url",
            "begins with http://, but the server uses TLS",
            "let public_url begin with https://",
        ));
    }
    if settings
        .metrics_listen
        .is_some_and(|listen| !listen.ip().is_loopback())
    {
        advice.push(Advice::new(
            "metrics_listen",
            "the metrics are readable by everyone who can reach this address",
            "listen on 127.0.0.1 or on a private network, or block the port with a firewall",
        ));
    }
    advice
}

/// Finds settings that are only for tests.
fn examine_test_mode(settings: &Settings) -> Vec<Advice> {
    let mut advice = Vec::new();
    if settings.test_control == Some(true) {
        advice.push(Advice::new(
            "test_control",
            "every program on this machine can delete all data, set the clock and inject faults, without a token",
            "remove test_control, unless this server is only for tests",
        ));
    }
    if settings.chaos.is_some() {
        advice.push(Advice::new(
            "chaos",
            "the server delays requests, fails them and drops connections on purpose",
            "remove chaos, unless this server is only for tests",
        ));
    }
    advice
}

/// Finds addresses on which the server cannot listen. While a server is running, it uses the addresses itself.
fn examine_addresses(args: &StoreArgs, settings: &Settings) -> Vec<Advice> {
    let is_running = data_folder::locking_process(&args.folder(settings))
        .is_some_and(|process| Path::new(&format!("/proc/{process}")).exists());
    // Nodes of a shared database do not lock their folder, so one of them may be running.
    let may_be_running = is_running || !matches!(args.database(settings), Ok(None));
    let api = settings.listen.unwrap_or(DEFAULT_LISTEN.into());
    let addresses = [("listen", Some(api)), ("metrics_listen", settings.metrics_listen)];
    let examine = |(setting, address): (&'static str, Option<SocketAddr>)| {
        let address = address?;
        let cause = TcpListener::bind(address).err()?;
        match cause.kind() {
            ErrorKind::AddrInUse if may_be_running => None,
            ErrorKind::AddrInUse => Some(Advice::new(
                setting,
                format!("another program uses {address}"),
                "stop the other program, or choose another address; if garth.socket holds the address, start the server",
            )),
            // A running server has a capability that this process does not have.
            ErrorKind::PermissionDenied if may_be_running => None,
            ErrorKind::PermissionDenied => Some(Advice::new(
                setting,
                format!("this user cannot listen on {address}"),
                "use a port above 1023, or grant the capability CAP_NET_BIND_SERVICE (systemd: AmbientCapabilities); if the \
                 unit of the server grants it, ignore this",
            )),
            _ => Some(Advice::new(
                setting,
                format!("cannot listen on {address}: {cause}"),
                "choose an address of this machine, or 0.0.0.0 or [::] for all of its addresses",
            )),
        }
    };
    addresses.into_iter().filter_map(examine).collect()
}

/// Finds a certificate that has expired or soon will. A file that is not a certificate prevents the start of the
/// server, so the validation of the settings reports it.
fn examine_certificate(chain: &Path) -> Option<Advice> {
    let first = CertificateDer::pem_file_iter(chain).ok()?.next()?.ok()?;
    let expiry = expiry(&first)?.micros() / 1_000_000;
    let seconds_left = expiry.saturating_sub(Clock::System.now().micros() / 1_000_000);
    let days_left = seconds_left.div_euclid(DAY_SECONDS);
    let problem = match days_left {
        ..0 => "the certificate has expired".to_owned(),
        0..RENEWAL_DAYS => format!("the certificate expires in {days_left} days"),
        _ => return None,
    };
    let fix = "renew the certificate, then send SIGHUP to the server (systemctl reload garth)";
    Some(Advice::new("tls_cert", problem, fix))
}
