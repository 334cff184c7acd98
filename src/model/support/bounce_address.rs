//! Signed addresses for reports on mails that could not be delivered, such as `support+b-5-0a1b…@example.com` for
//! mail 5. They are the senders in the envelopes of mails.

use super::reply_address::{MailAddress, ReplyKey};
use crate::model::id::OutgoingMailId;

const PURPOSE: &str = "bounce address";

/// The address for reports on a mail.
pub fn sign(key: &ReplyKey, address: &MailAddress, mail: OutgoingMailId) -> String {
    let signature = key.signature(PURPOSE, &mail.to_string());
    address.with_extension(&format!("b-{mail}-{signature}"))
}

/// The mail that a recipient address is about; `None` if it is another address, or if the signature is wrong.
pub fn verify(key: &ReplyKey, address: &MailAddress, recipient: &str) -> Option<OutgoingMailId> {
    let extension = address.extension_of(recipient)?;
    // Mail servers can change the case of an address.
    let rest = extension
        .strip_prefix("b-")
        .or_else(|| extension.strip_prefix("B-"))?;
    let (mail, signature) = rest.split_once('-')?;
    if !key.is_signature(PURPOSE, mail, signature) {
        return None;
    }
    mail.parse().ok().map(OutgoingMailId)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::reply_address::MailTarget;
    use crate::model::token::TokenText;

    #[test]
    fn only_a_signed_address_names_a_mail() {
        let address = MailAddress::parse("support@example.com").expect("an address");
        let key = ReplyKey::new(TokenText::from_bytes([7; 32]));
        let signed = sign(&key, &address, OutgoingMailId(12));
        assert!(signed.starts_with("support+b-12-"), "{signed}");
        let verified = |recipient: &str| verify(&key, &address, recipient);
        assert_eq!(verified(&signed), Some(OutgoingMailId(12)));
        assert_eq!(
            verified(&format!("<{}>", signed.to_uppercase())),
            Some(OutgoingMailId(12))
        );
        for other in [
            signed.replace("b-12-", "b-13-"),
            signed.replace("b-12-", "b-012-"),
            signed.replace("b-", ""),
            signed.replace('@', "0@"),
            signed.replace("example.com", "example.org"),
            "support+b-12@example.com".to_owned(),
            "support@example.com".to_owned(),
        ] {
            assert_eq!(verified(&other), None, "{other}");
        }
        let other_key = ReplyKey::new(TokenText::from_bytes([8; 32]));
        assert_eq!(verify(&other_key, &address, &signed), None);
        assert_eq!(
            key.target(&address, &signed),
            MailTarget::Forged,
            "it is no reply address"
        );
    }

    #[test]
    fn the_longest_address_has_at_most_64_characters_before_the_at_sign() {
        let address = MailAddress::parse(&format!("{}@example.com", "s".repeat(20))).expect("an address");
        let key = ReplyKey::new(TokenText::from_bytes([7; 32]));
        let signed = sign(&key, &address, OutgoingMailId(9_999_999_999));
        assert!(signed.find('@').is_some_and(|length| length <= 64), "{signed}");
    }
}
