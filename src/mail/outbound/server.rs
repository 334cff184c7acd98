//! The mail server that sends mails, from its URL.

use std::net::IpAddr;
use std::time::Duration;

use crate::model::token::Secret;

/// RFC 5321 suggests minutes for most commands. A job waits for an answer at most this long, and then tries again.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// How the connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encryption {
    /// TLS from the start.
    Tls,
    /// The connection must be upgraded to TLS before a mail or a password is sent.
    StartTls,
    None,
}

#[derive(Clone, Debug)]
pub struct SmtpServer {
    pub host: String,
    pub port: u16,
    pub encryption: Encryption,
    /// The user and the password.
    pub login: Option<(String, Secret)>,
    /// The limit for each step of a delivery.
    pub timeout: Duration,
}

/// A URL of a mail server, without the password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmtpUrl {
    pub host: String,
    pub port: u16,
    pub encryption: Encryption,
    pub user: Option<String>,
}

impl SmtpUrl {
    /// Parses `smtp://user@host:port` or `smtps://user@host:port`. With `smtp`, STARTTLS is required, except for a
    /// loopback address or with `?starttls=off`.
    pub fn parse(raw: &str) -> Option<Self> {
        let (scheme, rest) = raw.split_once("://")?;
        let (rest, has_starttls) = match rest.split_once('?') {
            None => (rest, true),
            Some((rest, "starttls=off")) => (rest, false),
            Some(_) => return None,
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        // The name of a user can be an address.
        let (user, server) = match rest.rsplit_once('@') {
            None => (None, rest),
            Some((user, server)) => (Some(percent_decoded(user)?), server),
        };
        let (host, port) = split_port(server)?;
        let (default_port, encryption) = match scheme {
            "smtps" if has_starttls => (465, Encryption::Tls),
            "smtp" if !has_starttls || is_loopback(host) => (25, Encryption::None),
            "smtp" => (587, Encryption::StartTls),
            _ => return None,
        };
        let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '_');
        let is_valid = !host.is_empty()
            && host.chars().all(is_host)
            && user
                .as_ref()
                .is_none_or(|user| !user.is_empty() && !user.chars().any(char::is_control));
        is_valid.then(|| Self {
            host: host.to_owned(),
            port: port.unwrap_or(default_port),
            encryption,
            user,
        })
    }

    /// Whether a password would be sent without encryption to another machine.
    pub fn exposes_password(&self) -> bool {
        self.encryption == Encryption::None && self.user.is_some() && !is_loopback(&self.host)
    }

    pub fn with_password(self, password: Option<Secret>) -> SmtpServer {
        SmtpServer {
            host: self.host,
            port: self.port,
            encryption: self.encryption,
            login: self.user.zip(password),
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// The host, without the brackets of an IPv6 address, and the port.
fn split_port(server: &str) -> Option<(&str, Option<u16>)> {
    if let Some(rest) = server.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return match rest.strip_prefix(':') {
            Some(port) => Some((host, Some(parse_port(port)?))),
            None => rest.is_empty().then_some((host, None)),
        };
    }
    match server.split_once(':') {
        Some((host, port)) => Some((host, Some(parse_port(port)?))),
        None => Some((server, None)),
    }
}

fn parse_port(raw: &str) -> Option<u16> {
    raw.parse().ok().filter(|port| *port != 0)
}

fn percent_decoded(raw: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = raw;
    while let Some((before, after)) = rest.split_once('%') {
        bytes.extend(before.as_bytes());
        bytes.push(u8::from_str_radix(after.get(..2)?, 16).ok()?);
        rest = after.get(2..)?;
    }
    bytes.extend(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_and_defaults_for_the_rest() {
        let parsed = |raw: &str| {
            let url = SmtpUrl::parse(raw).unwrap_or_else(|| panic!("{raw}"));
            let user = url.user.unwrap_or_default();
            (url.host, url.port, url.encryption, user)
        };
        for (raw, host, port, encryption, user) in [
            (
                "smtp://mx.example.com",
                "mx.example.com",
                587,
                Encryption::StartTls,
                "",
            ),
            (
                "smtp://u@mx.example.com:25/",
                "mx.example.com",
                25,
                Encryption::StartTls,
                "u",
            ),
            (
                "smtps://a%40b@mx.example.com",
                "mx.example.com",
                465,
                Encryption::Tls,
                "a@b",
            ),
            (
                "smtps://a@b@mx.example.com",
                "mx.example.com",
                465,
                Encryption::Tls,
                "a@b",
            ),
            ("smtp://127.0.0.1", "127.0.0.1", 25, Encryption::None, ""),
            ("smtp://[::1]:2525", "::1", 2525, Encryption::None, ""),
            (
                "smtp://[2001:db8::1]",
                "2001:db8::1",
                587,
                Encryption::StartTls,
                "",
            ),
            (
                "smtp://relay:1025?starttls=off",
                "relay",
                1025,
                Encryption::None,
                "",
            ),
        ] {
            assert_eq!(
                parsed(raw),
                (host.to_owned(), port, encryption, user.to_owned()),
                "{raw}"
            );
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for raw in [
            "",
            "mx.example.com",
            "http://mx.example.com",
            "smtp://",
            "smtp://:25",
            "smtp://@mx.example.com",
            "smtp://mx.example.com:0",
            "smtp://mx.example.com:99999",
            "smtp://mx.example.com?tls=no",
            "smtps://mx.example.com?starttls=off",
            "smtp://mx example.com",
            "smtp://%zz@mx.example.com",
        ] {
            assert_eq!(SmtpUrl::parse(raw), None, "{raw}");
        }
    }
}
