//! OAuth clients, redirect URIs and PKCE challenges.

use std::net::{Ipv4Addr, Ipv6Addr};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use sha2::{Digest, Sha256};

use crate::model::id::AccountId;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::Line;
use crate::model::time::Time;

/// The label of a client: one line without invisible characters. Users read it before they authorize the
/// client.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ClientLabel(Line<512>);

impl ClientLabel {
    /// The maximum number of characters that a page shows.
    const MAX_SHOWN_CHARS: usize = 64;

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let line = Line::parse(raw)?;
        match raw.chars().any(is_invisible) {
            false => Ok(Self(line)),
            true => {
                let text = "Must not contain invisible characters or bidirectional control characters";
                Err(vec![Reason::new(Code::ControlCharacters, text)])
            }
        }
    }

    /// The label from a database row, if it is valid. Early builds allowed invisible characters; `quoted` omits them.
    pub fn checked(raw: String) -> Option<Self> {
        Line::checked(raw).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The label for a page: truncated and in quotation marks, so that it cannot be mistaken for
    /// Garth's own text.
    pub fn quoted(&self) -> String {
        let mut visible = self.as_str().chars().filter(|c| !is_invisible(*c));
        let shown: String = visible.by_ref().take(Self::MAX_SHOWN_CHARS).collect();
        let more = if visible.next().is_some() { "…" } else { "" };
        format!("“{shown}{more}”")
    }
}

/// Whether a character has no visible shape: controls, direction marks, joiners, fillers and tags.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OauthClient {
    /// 20 hexadecimal digits.
    pub id: String,
    /// `None` for a client of the provider.
    pub account: Option<AccountId>,
    pub label: ClientLabel,
    pub redirect_uri: RedirectUri,
    /// The hash of the client's secret.
    pub secret: String,
    /// Whether the client cannot keep a secret, like an application in a browser.
    pub public: bool,
    pub status: String,
    pub created: Time,
}

impl OauthClient {
    /// Whether a text has the form of a client's ID: 20 lower-case hexadecimal digits.
    pub fn is_id(raw: &str) -> bool {
        let is_hex_digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
        raw.len() == 20 && raw.bytes().all(is_hex_digit)
    }

    /// Whether the client can use a redirect URI. The URI must be equal to the registered URI. A public
    /// client can also add `returnTo` to the registered URI, as the web app of the public service does.
    pub fn may_redirect_to(&self, uri: &RedirectUri) -> bool {
        let registered = &self.redirect_uri;
        registered.is_same(uri) || (self.public && registered.is_same_with_return_to(uri))
    }

    /// Whether the client can get codes and tokens.
    pub fn is_active(&self) -> bool {
        self.status == "active"
    }
}

/// Parameters that the server adds to the redirect URI. A registered URI must not have them.
const RESERVED_PARAMETERS: [&str; 6] = [
    "code",
    "state",
    "error",
    "error_description",
    "iss",
    "access_token",
];

/// A redirect URI: absolute, `http` or `https`, without a fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedirectUri(String);

impl RedirectUri {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        match uri_error(raw) {
            None => Ok(Self(raw.to_owned())),
            Some(text) => Err(vec![Reason::new(Code::RedirectUriInvalid, text)]),
        }
    }

    /// Parses a redirect URI to register: `http` is only allowed for loopback addresses (RFC 9700, 2.6).
    pub fn register(raw: &str) -> Result<Self, Reasons> {
        let uri = Self::parse(raw)?;
        if uri.0.starts_with("http://") && !uri.is_loopback() {
            let text = "Must begin with https://; http:// is only for localhost, 127.0.0.0/8 and [::1]";
            return Err(vec![Reason::new(Code::RedirectUriInvalid, text)]);
        }
        Ok(uri)
    }

    /// The URI from a database row, if it is valid. Early builds allowed queries and ports that `parse`
    /// refuses today. A client can use such a URI until a user changes it.
    pub fn checked(raw: String) -> Option<Self> {
        is_address(&raw).then_some(Self(raw))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        origin_of(&self.0)
    }

    /// Whether the host is a loopback address, where any local program can listen.
    pub fn is_loopback(&self) -> bool {
        is_loopback_origin(self.origin())
    }

    /// Whether a URL has the same origin. All loopback origins count as the same origin.
    pub fn has_same_origin(&self, url: &str) -> bool {
        let origin = origin_of(url);
        let same = self.origin().eq_ignore_ascii_case(origin);
        same || (self.is_loopback() && is_loopback_origin(origin))
    }

    /// Whether two URIs are equal, character by character. For `http` loopback URIs, the port is ignored,
    /// because a local program listens on any free port (RFC 8252, 7.3).
    fn is_same(&self, uri: &RedirectUri) -> bool {
        self.0 == uri.0
            || self
                .without_port()
                .is_some_and(|parts| Some(parts) == uri.without_port())
    }

    /// The parts before and after the port of an `http` loopback URI; `None` for other URIs.
    fn without_port(&self) -> Option<(&str, &str)> {
        let origin = self.origin();
        if !self.is_loopback() || !origin.starts_with("http://") {
            return None;
        }
        let host = &origin["http://".len()..];
        Some((split_port(host).0, &self.0[origin.len()..]))
    }

    /// Whether `uri` is this URI with the query parameter `returnTo`, which must be a path on the client's
    /// site.
    fn is_same_with_return_to(&self, uri: &RedirectUri) -> bool {
        let Some((address, path)) = uri.0.split_once("?returnTo=/") else {
            return false;
        };
        !path.starts_with('/') && self.is_same(&Self(address.to_owned()))
    }
}

/// A PKCE challenge: the SHA-256 of a verifier that the client sends with the code (RFC 7636, `S256`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge(String);

impl Challenge {
    /// Parses a challenge: 43 characters of base64url, which encode 32 bytes.
    pub fn parse(raw: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(raw).ok()?;
        (bytes.len() == 32).then(|| Self(raw.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the challenge for `verifier`.
    pub fn matches(&self, verifier: &str) -> bool {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
        let is_verifier = (43..=128).contains(&verifier.len()) && verifier.bytes().all(is_allowed);
        is_verifier && BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())) == self.0
    }
}

/// Scheme, host and port of a URL.
fn origin_of(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?']).map_or(url.len(), |at| host + at);
    &url[..end]
}

/// Whether the host of an origin is a loopback address, which other machines cannot reach.
pub fn is_loopback_origin(origin: &str) -> bool {
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    let (host, _) = split_port(host);
    let is_loopback = |address: Ipv4Addr| address.is_loopback();
    matches!(host, "localhost" | "[::1]") || host.parse().is_ok_and(is_loopback)
}

/// Whether a text is an absolute URI in ASCII with a host. Every build has required at least this.
fn is_address(raw: &str) -> bool {
    let rest = raw.strip_prefix("https://").or(raw.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty()) && raw.bytes().all(|b| matches!(b, b'!'..=b'~'))
}

/// The error message for a URI; `None` if the URI is valid.
fn uri_error(raw: &str) -> Option<String> {
    let Some(rest) = raw.strip_prefix("https://").or(raw.strip_prefix("http://")) else {
        return Some("Must begin with https:// or http://".to_owned());
    };
    if raw.len() > 2048 {
        return Some("Must be at most 2048 characters".to_owned());
    }
    if raw.contains('#') {
        return Some("Must not have a fragment".to_owned());
    }
    let is_allowed = |b: u8| matches!(b, b'!'..=b'~') && b != b'\\';
    if !raw.bytes().all(is_allowed) {
        return Some("Must be ASCII without spaces and backslashes".to_owned());
    }
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.contains('@') {
        return Some("Must not contain a username or password".to_owned());
    }
    let (host, port) = split_port(authority);
    if !is_host(host) {
        return Some("Must contain a host name or address".to_owned());
    }
    if port.is_some_and(|port| !is_port(port)) {
        return Some("The port must be a number from 1 to 65535 without leading zeros".to_owned());
    }
    let query = rest.split_once('?').map_or("", |(_, query)| query);
    let reserved =
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| RESERVED_PARAMETERS.contains(&&**name));
    reserved.map(|(name, _)| format!("The query must not contain {name}; the server adds it to the redirect"))
}

/// Splits a host from its port. The colons of an IPv6 address are inside brackets.
fn split_port(host: &str) -> (&str, Option<&str>) {
    let host_end = host.rfind(']').map_or(0, |at| at + 1);
    match host[host_end..].find(':') {
        Some(at) => (&host[..host_end + at], Some(&host[host_end + at + 1..])),
        None => (host, None),
    }
}

fn is_port(raw: &str) -> bool {
    let has_only_digits = raw.bytes().all(|b| b.is_ascii_digit());
    has_only_digits && !raw.starts_with('0') && raw.parse::<u16>().is_ok()
}

/// Whether a text is a host name or address. Other characters could change the meaning of headers that contain the
/// origin.
fn is_host(raw: &str) -> bool {
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    match raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !raw.is_empty() && raw.bytes().all(is_allowed),
    }
}

#[cfg(test)]
mod tests {
    use super::{Challenge, ClientLabel, RedirectUri};

    #[test]
    fn a_label_has_no_invisible_characters_and_is_truncated() {
        for bad in [
            "Web\u{202e}ppa",
            "a\u{200b}b",
            "\u{3164}",
            "x\u{e0041}",
            "two\nlines",
        ] {
            assert!(ClientLabel::parse(bad).is_err(), "{bad:?}");
        }
        assert_eq!(ClientLabel::parse("Größe 1").unwrap().quoted(), "“Größe 1”");
        let long = ClientLabel::parse(&"x".repeat(512)).unwrap().quoted();
        assert_eq!(long, format!("“{}…”", "x".repeat(64)));
        let early = ClientLabel::checked("a\u{202e}b".to_owned()).unwrap();
        assert_eq!(early.quoted(), "“ab”");
    }

    #[test]
    fn a_challenge_matches_only_its_verifier() {
        // From RFC 7636, appendix B.
        let challenge = Challenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap();
        assert!(challenge.matches("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert!(!challenge.matches("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl"));
        assert!(!challenge.matches("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
        for bad in ["", "plain", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM="] {
            assert!(Challenge::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn only_absolute_uris_are_accepted() {
        for good in [
            "https://app.example/oauth/callback",
            "http://localhost:4567",
            "http://[::1]:1/x?y=z",
            "https://a:65535/?encoded=1&codes=2",
            "https://a/cb?returnTo=/x?state=1",
        ] {
            assert!(RedirectUri::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/callback",
            "javascript:alert(1)",
            "https://",
            "https:///x",
            "https://a@b/",
            "https://a/#x",
            "https://a/ b",
            "https://a\\b/",
            "ftp://a/",
            "https://a/\n",
            "//a/b",
            "https://a;script-src/",
            "https://a'b/",
            "http://[",
            "http://[x]/",
            "http://[:::]/",
            "http://a[::1]/",
            "https://a:b/",
            "https://a:70000/",
            "https://a:+1/",
            "https://a:/",
            "https://a:0/",
            "https://a:080/",
            "https://a:65536/",
            "https://a:8x/",
            "https://a:1:2/",
            "https://a/?error=1",
            "https://a/?x=1&iss=2",
            "https://a/?%61ccess_token",
        ] {
            assert!(RedirectUri::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn uris_are_compared_exactly() {
        let same = |registered: &str, uri: &str| {
            let parse = |raw: &str| RedirectUri::parse(raw).unwrap();
            parse(registered).is_same(&parse(uri))
        };
        let registered = "https://app.example/oauth/callback";
        assert!(same(registered, registered));
        for other in [
            "https://app.example/oauth/callback/",
            "https://app.example/oauth/callback?",
            "https://app.example/oauth/callback?x=1",
            "https://app.example/oauth/callback?returnTo=/vpcs",
            "https://app.example/oauth/callback/../x",
            "https://app.example.evil/oauth/callback",
            "http://app.example/oauth/callback",
            "https://app.example:443/oauth/callback",
            "https://App.example/oauth/callback",
            "https://app.example/oauth",
        ] {
            assert!(!same(registered, other), "{other}");
            assert!(!same(other, registered), "{other}");
        }
        for (registered, uri, expected) in [
            ("http://127.0.0.1/cb", "http://127.0.0.1:4567/cb", true),
            ("http://localhost:1", "http://localhost:65535", true),
            ("http://[::1]:1/cb?x=1", "http://[::1]/cb?x=1", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:4567/cb?x=1", false),
            ("http://127.0.0.1/cb", "http://127.0.0.2/cb", false),
            ("http://localhost/cb", "http://127.0.0.1/cb", false),
            ("https://localhost/cb", "https://localhost:1/cb", false),
            (
                "http://127.evil.example/cb",
                "http://127.evil.example:1/cb",
                false,
            ),
        ] {
            assert_eq!(same(registered, uri), expected, "{registered} {uri}");
        }
    }

    #[test]
    fn return_to_must_be_a_path() {
        let registered = RedirectUri::parse("https://app.example/cb").unwrap();
        let allowed = |raw: &str| registered.is_same_with_return_to(&RedirectUri::parse(raw).unwrap());
        for good in ["/vpcs", "/", "/support/tickets?dialogOpen=true", "/vpcs?a=1&b=2"] {
            assert!(
                allowed(&format!("https://app.example/cb?returnTo={good}")),
                "{good}"
            );
        }
        for bad in [
            "https://app.example/cb",
            "https://app.example/cb?returnTo=https://evil.example",
            "https://app.example/cb?returnTo=//evil.example",
            "https://app.example/cb?x=1&returnTo=/",
            "https://app.example/cb/?returnTo=/",
            "https://app.evil/cb?returnTo=/",
        ] {
            assert!(!allowed(bad), "{bad}");
        }
    }

    #[test]
    fn http_is_only_allowed_for_loopback_addresses() {
        for good in [
            "https://app.example/cb",
            "http://localhost:4567/cb",
            "http://127.1.2.3/cb",
            "http://[::1]/cb",
        ] {
            assert!(RedirectUri::register(good).is_ok(), "{good}");
        }
        for bad in [
            "http://app.example/cb",
            "http://127.evil.example/cb",
            "http://localhost.evil.example/cb",
            "http://10.0.0.1/cb",
            "http://[::2]/cb",
        ] {
            assert!(RedirectUri::register(bad).is_err(), "{bad}");
        }
    }
}
