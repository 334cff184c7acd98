//! The value of a `Host` header: a host and an optional port (RFC 9110, 7.2).

use std::net::Ipv6Addr;

/// Whether the value is valid. The server refuses invalid values (RFC 9112, 3.2), because a proxy in front of
/// the server may parse the same value as a different host.
pub fn is_valid(raw: &[u8]) -> bool {
    let Ok(raw) = std::str::from_utf8(raw) else {
        return false;
    };
    let (host, port) = split_port(raw);
    let is_valid_port = port.is_none_or(|port| port.is_empty() || is_port(port));
    is_valid_port && is_host(host)
}

/// The port, if there is one.
pub fn port(raw: &str) -> Option<u16> {
    split_port(raw).1.and_then(|port| port.parse().ok())
}

fn split_port(raw: &str) -> (&str, Option<&str>) {
    // The colons of an IPv6 address are inside brackets.
    let end = raw.rfind(']').map_or(0, |at| at + 1);
    match raw[end..].find(':') {
        Some(at) => (&raw[..end + at], Some(&raw[end + at + 1..])),
        None => (raw, None),
    }
}

fn is_port(raw: &str) -> bool {
    raw.bytes().all(|b| b.is_ascii_digit()) && raw.parse::<u16>().is_ok()
}

fn is_host(raw: &str) -> bool {
    match raw.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !raw.is_empty() && is_name(raw.as_bytes()),
    }
}

/// Whether a host is a `reg-name` (RFC 3986). Commas and semicolons are not allowed, because they delimit lists in
/// other headers.
fn is_name(mut raw: &[u8]) -> bool {
    while let Some((first, rest)) = raw.split_first() {
        raw = match first {
            b'%' => match rest {
                [a, b, rest @ ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => rest,
                _ => return false,
            },
            b'-' | b'.' | b'_' | b'~' => rest,
            plain if plain.is_ascii_alphanumeric() => rest,
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_or_an_address_with_an_optional_port() {
        for good in [
            "garth",
            "garth.example.:8080",
            "127.0.0.1:80",
            "[::1]",
            "[fd00::1]:65535",
            "garth:",
            "a%20b",
            "a_b~c-d",
        ] {
            assert!(is_valid(good.as_bytes()), "{good}");
        }
        for bad in [
            "", ":80", "a b", "a/b", "a?b", "a#b", "u@a", "a,b", "a:b", "a:65536", "a:+1", "a:1:2", "::1",
            "[::1", "::1]", "[x]", "a[::1]", "[::1]a", "a%2", "a%zz", "<a>", "ä", "a;b",
        ] {
            assert!(!is_valid(bad.as_bytes()), "{bad}");
        }
        assert!(!is_valid(b"\xff"));
    }

    #[test]
    fn the_port_follows_the_host() {
        assert_eq!(port("garth:81"), Some(81));
        assert_eq!(port("[::1]:81"), Some(81));
        for none in ["garth", "[::1]", "garth:", "garth:x", "garth:70000"] {
            assert_eq!(port(none), None, "{none}");
        }
    }
}
