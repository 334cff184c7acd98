//! Texts that a server chooses: times, addresses and random identifiers. They differ between two servers.

use std::net::IpAddr;

/// Fields with the name of a user, which the recording does not create.
const USER_FIELDS: [&str; 6] = [
    "assignee",
    "closed_by",
    "created_by",
    "opened_by",
    "updated_by",
    "username",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Time,
    /// An address or a range, with its family and the length of its prefix.
    Address {
        is_ipv4: bool,
        prefix: Option<u8>,
    },
    /// A UUID, a hash or a hardware address, with its length.
    Identifier(usize),
}

/// The shape of a text; `None` for any other text.
pub fn shape(text: &str) -> Option<Shape> {
    if is_time(text) {
        return Some(Shape::Time);
    }
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix.parse().ok())),
        None => (text, None),
    };
    if let Ok(address) = address.parse::<IpAddr>() {
        let prefix = match prefix {
            Some(prefix) => Some(prefix?),
            None => None,
        };
        return Some(Shape::Address {
            is_ipv4: address.is_ipv4(),
            prefix,
        });
    }
    is_identifier(text).then_some(Shape::Identifier(text.len()))
}

/// Whether the field has the name of a user.
pub fn is_user_field(name: &str) -> bool {
    USER_FIELDS.contains(&name)
}

/// `2024-06-01T12:00:00`, with or without a fraction and a zone.
fn is_time(text: &str) -> bool {
    const PATTERN: &[u8; 19] = b"0000-00-00T00:00:00";
    let bytes = text.as_bytes();
    let matches = |(byte, expected): (&u8, &u8)| match expected {
        b'0' => byte.is_ascii_digit(),
        separator => byte == separator,
    };
    bytes.len() >= PATTERN.len() && bytes.iter().zip(PATTERN).all(matches)
}

/// Hexadecimal digits with dashes or colons, long enough to be random, and with a digit.
fn is_identifier(text: &str) -> bool {
    const MIN_DIGITS: usize = 12;
    let digits = text.bytes().filter(u8::is_ascii_hexdigit).count();
    let is_allowed = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b'-' | b':');
    digits >= MIN_DIGITS && text.bytes().all(is_allowed) && text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_recognized() {
        for (text, expected) in [
            ("2024-06-01T12:00:00", Some(Shape::Time)),
            ("2024-06-01T12:00:00Z", Some(Shape::Time)),
            (
                "f47ac10b-58cc-4372-a567-0e02b2c3d479",
                Some(Shape::Identifier(36)),
            ),
            ("f2:3c:91:00:00:01", Some(Shape::Identifier(17))),
            ("us-east", None),
            ("linode12", None),
            ("2024-06-01", None),
            ("10.0.0.0/x", None),
            ("deadbeef", None),
            ("", None),
        ] {
            assert_eq!(shape(text), expected, "{text}");
        }
        let address = |is_ipv4, prefix| Some(Shape::Address { is_ipv4, prefix });
        assert_eq!(shape("10.0.0.2"), address(true, None));
        assert_eq!(shape("10.0.0.0/24"), address(true, Some(24)));
        assert_eq!(shape("fd00::1/64"), address(false, Some(64)));
    }
}
