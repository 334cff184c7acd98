//! Signed addresses for replies by mail, such as `support+12-7-0a1b…@example.com` for ticket 12 and user 7.
//!
//! The signature prevents a sender from writing to another ticket. It does not prove who the sender is.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::model::id::{TicketId, UserId};
use crate::model::token::{TokenText, hex};

/// The number of bytes of the signature in an address. The local part of an address has at most 64 characters, and
/// only the server can check a guess.
const SIGNATURE_BYTES: usize = 12;

const PURPOSE: &str = "reply address";

/// The provider's address for replies: `support@example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailAddress {
    local: String,
    domain: String,
}

impl MailAddress {
    /// At most 20 characters before the `@`, so that a signed address fits into the limit of 64.
    pub const MAX_LOCAL_CHARS: usize = 20;

    pub fn parse(raw: &str) -> Option<Self> {
        let (local, domain) = raw.split_once('@')?;
        let is_local = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        let is_domain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
        let is_valid = (1..=Self::MAX_LOCAL_CHARS).contains(&local.len())
            && local.bytes().all(is_local)
            && (1..=200).contains(&domain.len())
            && domain.bytes().all(is_domain);
        is_valid.then(|| Self {
            local: local.to_ascii_lowercase(),
            domain: domain.to_ascii_lowercase(),
        })
    }

    pub fn domain(&self) -> &str {
        &self.domain
    }

    /// The text between `+` and `@` of a recipient; empty if the recipient is this address itself. `None` if the
    /// recipient is another address.
    pub fn extension_of<'a>(&self, recipient: &'a str) -> Option<&'a str> {
        let (local, domain) = recipient.trim_matches(['<', '>', ' ']).rsplit_once('@')?;
        if !domain.eq_ignore_ascii_case(&self.domain) {
            return None;
        }
        match local.split_once('+') {
            Some((base, extension)) if base.eq_ignore_ascii_case(&self.local) => Some(extension),
            None if local.eq_ignore_ascii_case(&self.local) => Some(""),
            _ => None,
        }
    }
}

impl MailAddress {
    /// The address with a text between `+` and `@`.
    pub fn with_extension(&self, extension: &str) -> String {
        format!("{}+{extension}@{}", self.local, self.domain)
    }
}

impl std::fmt::Display for MailAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}@{}", self.local, self.domain)
    }
}

/// The meaning of a recipient address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailTarget {
    /// A reply of this user to this ticket.
    Reply(TicketId, UserId),
    /// The provider's address without a signature: a new ticket.
    NewTicket,
    /// A signed address whose signature is wrong.
    Forged,
    /// An address that is not the provider's.
    Unknown,
}

/// The key that signs addresses. All nodes share it.
#[derive(Clone, Debug)]
pub struct ReplyKey(TokenText);

impl ReplyKey {
    pub fn new(key: TokenText) -> Self {
        Self(key)
    }

    /// The address for replies of a user to a ticket.
    pub fn sign(&self, address: &MailAddress, ticket: TicketId, user: UserId) -> String {
        let text = format!("{}-{}", ticket.0, user.0);
        let signature = self.signature(PURPOSE, &text);
        address.with_extension(&format!("{text}-{signature}"))
    }

    /// The meaning of a recipient. Mail servers can change the case of an address.
    pub fn target(&self, address: &MailAddress, recipient: &str) -> MailTarget {
        match address.extension_of(recipient) {
            None => MailTarget::Unknown,
            Some("") => MailTarget::NewTicket,
            Some(extension) => match self.verify(extension) {
                Some((ticket, user)) => MailTarget::Reply(ticket, user),
                None => MailTarget::Forged,
            },
        }
    }

    fn verify(&self, extension: &str) -> Option<(TicketId, UserId)> {
        let (text, signature) = extension.rsplit_once('-')?;
        if !self.is_signature(PURPOSE, text, signature) {
            return None;
        }
        let (ticket, user) = text.split_once('-')?;
        Some((TicketId(ticket.parse().ok()?), UserId(user.parse().ok()?)))
    }

    /// The signature of a text, in hexadecimal digits. A signature for one purpose is invalid for all others.
    pub fn signature(&self, purpose: &str, text: &str) -> String {
        hex(&self.mac(purpose, text).finalize().into_bytes()[..SIGNATURE_BYTES])
    }

    pub fn is_signature(&self, purpose: &str, text: &str, signature: &str) -> bool {
        // `verify_truncated_left` compares in constant time.
        signature_bytes(signature)
            .is_some_and(|bytes| self.mac(purpose, text).verify_truncated_left(&bytes).is_ok())
    }

    fn mac(&self, purpose: &str, text: &str) -> Hmac<Sha256> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.reveal().as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(purpose.as_bytes());
        mac.update(b" ");
        mac.update(text.as_bytes());
        mac
    }
}

fn signature_bytes(text: &str) -> Option<[u8; SIGNATURE_BYTES]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * SIGNATURE_BYTES || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut bytes = [0; SIGNATURE_BYTES];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_signed_address_names_a_ticket() {
        let address = MailAddress::parse("Support@Example.com").expect("an address");
        let key = ReplyKey::new(TokenText::from_bytes([7; 32]));
        let (ticket, user) = (TicketId(12), UserId(7));
        let signed = key.sign(&address, ticket, user);
        assert!(
            signed.starts_with("support+12-7-") && signed.ends_with("@example.com"),
            "{signed}"
        );
        let reply = MailTarget::Reply(ticket, user);
        assert_eq!(key.target(&address, &signed), reply);
        assert_eq!(
            key.target(&address, &format!("<{}>", signed.to_uppercase())),
            reply
        );
        assert_eq!(key.target(&address, "support@example.com"), MailTarget::NewTicket);
        for other in [
            "sales@example.com",
            "support@example.org",
            "support",
            "",
            "support+x@y@example.org",
        ] {
            assert_eq!(key.target(&address, other), MailTarget::Unknown, "{other}");
        }
        let other_key = ReplyKey::new(TokenText::from_bytes([8; 32]));
        assert_eq!(other_key.target(&address, &signed), MailTarget::Forged);
        for forged in [
            signed.replace("+12-", "+13-"),
            signed.replace("-7-", "-8-"),
            signed.replace("12-7-", "12-7-00"),
            signed.replace('@', "0@"),
            "support+12-7-@example.com".to_owned(),
            "support+12@example.com".to_owned(),
        ] {
            assert_eq!(key.target(&address, &forged), MailTarget::Forged, "{forged}");
        }
        let longest = key.sign(
            &MailAddress::parse(&format!("{}@example.com", "s".repeat(20))).expect("an address"),
            TicketId(99_999_999),
            UserId(9_999_999),
        );
        assert!(longest.find('@').is_some_and(|length| length <= 64), "{longest}");
    }

    #[test]
    fn a_configured_address_has_one_at_sign_and_plain_characters() {
        for bad in [
            "",
            "support",
            "@example.com",
            "a@",
            "a b@example.com",
            "a+b@example.com",
            "a@b@c",
        ] {
            assert_eq!(MailAddress::parse(bad), None, "{bad}");
        }
    }
}
