//! Programs that act for users who have let them.

use std::net::Ipv6Addr;

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use sha2::{Digest, Sha256};

use super::id::AccountId;
use super::reason::{Code, Reason, Reasons};
use super::text::Line;
use super::time::Time;

pub type ClientLabel = Line<512>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OauthClient {
    /// 20 hexadecimal digits.
    pub id: String,
    /// `None` for the provider's own.
    pub account: Option<AccountId>,
    pub label: ClientLabel,
    pub redirect_uri: RedirectUri,
    /// The hash of its secret.
    pub secret: String,
    /// Whether it can keep no secret, like a program in a browser.
    pub public: bool,
    pub status: String,
    pub created: Time,
}

impl OauthClient {
    /// Whether it may be given anything.
    pub fn is_active(&self) -> bool {
        self.status == "active"
    }
}

/// Where a browser is sent back to: absolute, `http` or `https`, without a fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RedirectUri(String);

impl RedirectUri {
    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let rest = raw.strip_prefix("https://").or(raw.strip_prefix("http://"));
        let host = rest.map(|rest| rest.split(['/', '?']).next().unwrap_or_default());
        let plain = raw.len() <= 2048
            && raw
                .bytes()
                .all(|b| matches!(b, b'!'..=b'~') && b != b'#' && b != b'\\');
        match host {
            Some(host) if plain && is_host(host) => Ok(Self(raw.to_owned())),
            _ => {
                let text = "Must be an absolute http or https address without a fragment";
                Err(vec![Reason::new(Code::RedirectUriInvalid, text)])
            }
        }
    }

    /// For an address that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Scheme, host and port.
    pub fn origin(&self) -> &str {
        let host = self.0.find("://").map_or(0, |at| at + 3);
        let end = self.0[host..]
            .find(['/', '?'])
            .map_or(self.0.len(), |at| host + at);
        &self.0[..end]
    }

    /// Whether a browser may be sent there: the same address to the letter, but for what comes after
    /// its `?`, and for the port where a program on the user's own machine listens.
    pub fn covers(&self, wanted: &RedirectUri) -> bool {
        self.plain() == wanted.plain()
    }

    fn plain(&self) -> String {
        let address = self.0.split('?').next().unwrap_or_default();
        for own in ["http://localhost", "http://127.0.0.1", "http://[::1]"] {
            let port = address.strip_prefix(own).and_then(|rest| rest.strip_prefix(':'));
            if let Some(rest) = port {
                let path = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                return format!("{own}{path}");
            }
        }
        address.to_owned()
    }
}

/// What a code can be asked for with, so that only whoever asked can use it: the SHA-256 of a verifier
/// that is told later (RFC 7636, `S256`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge(String);

impl Challenge {
    /// 43 characters of base64url: 32 bytes.
    pub fn parse(raw: &str) -> Option<Self> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(raw).ok()?;
        (bytes.len() == 32).then(|| Self(raw.to_owned()))
    }

    /// For a challenge that was parsed before it was stored.
    pub fn stored(raw: String) -> Self {
        Self(raw)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it was made from this verifier.
    pub fn is_met_by(&self, verifier: &str) -> bool {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
        let whole = (43..=128).contains(&verifier.len()) && verifier.bytes().all(plain);
        whole && BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes())) == self.0
    }
}

/// Whether it is a host and perhaps a port: no user's name, and nothing that means something in a
/// header that the origin is put into.
fn is_host(raw: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
    let (known, port) = match raw.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => (address.parse::<Ipv6Addr>().is_ok(), port),
        None => {
            let (name, port) = raw.split_at(raw.find(':').unwrap_or(raw.len()));
            (!name.is_empty() && name.bytes().all(plain), port)
        }
    };
    let digits = |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
    known && (port.is_empty() || port.strip_prefix(':').is_some_and(digits))
}

#[cfg(test)]
mod tests {
    use super::{Challenge, RedirectUri};

    #[test]
    fn a_challenge_is_met_by_its_verifier_alone() {
        // From RFC 7636, appendix B.
        let challenge = Challenge::parse("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").unwrap();
        assert!(challenge.is_met_by("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert!(!challenge.is_met_by("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXl"));
        assert!(!challenge.is_met_by("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
        for bad in ["", "plain", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM="] {
            assert!(Challenge::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn only_absolute_addresses_without_tricks_are_taken() {
        for good in [
            "https://app.example/oauth/callback",
            "http://localhost:4567",
            "http://[::1]:1/x?y=z",
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
        ] {
            assert!(RedirectUri::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_address_covers_itself_with_any_query_and_nothing_else() {
        let registered = RedirectUri::parse("https://app.example/oauth/callback").unwrap();
        let covers = |raw: &str| registered.covers(&RedirectUri::parse(raw).unwrap());
        assert!(covers("https://app.example/oauth/callback"));
        assert!(covers("https://app.example/oauth/callback?returnTo=/vpcs?x=1"));
        for other in [
            "https://app.example/oauth/callback/",
            "https://app.example/oauth/callback/../x",
            "https://app.example.evil/oauth/callback",
            "http://app.example/oauth/callback",
            "https://app.example:444/oauth/callback",
            "https://app.example/oauth",
        ] {
            assert!(!covers(other), "{other}");
        }
    }
}
