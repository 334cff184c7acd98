//! Recognizes messages that no person wrote: automatic replies, reports, bulk mail and loops.

use mail_parser::{Message, MimeHeaders};

use super::header_fields::{has_field, raw_value, raw_values};
use crate::model::received_mail::Automatic;

/// A message that has passed through more servers is in a loop.
const MAX_RECEIVED_FIELDS: usize = 50;
/// The header field of Garth's own messages.
pub const ORIGIN_FIELD: &str = "X-Garth-Ticket";

/// How a message shows that it is automatic. `envelope_sender` is empty for reports.
pub fn automatic_kind(message: &Message, envelope_sender: Option<&str>) -> Option<Automatic> {
    let is_loop = has_field(message, ORIGIN_FIELD)
        || raw_values(message, "Received").nth(MAX_RECEIVED_FIELDS).is_some();
    if is_loop {
        return Some(Automatic::Loop);
    }
    let has_no_return_path = envelope_sender.is_some_and(|sender| sender.trim_matches(['<', '>']).is_empty())
        || raw_value(message, "Return-Path").is_some_and(|path| path.replace([' ', '\t'], "") == "<>");
    if has_no_return_path || is_report(message) || is_from_mail_system(message) {
        return Some(Automatic::Bounce);
    }
    let submitted = raw_value(message, "Auto-Submitted").map(first_word);
    let is_auto_submitted = submitted.is_some_and(|word| word != "no")
        || [
            "X-Autoreply",
            "X-Autorespond",
            "X-Auto-Reply-From",
            "X-Mail-Autoreply",
        ]
        .iter()
        .any(|name| has_field(message, name))
        || precedence(message).as_deref() == Some("auto_reply");
    if is_auto_submitted {
        return Some(Automatic::AutoSubmitted);
    }
    let is_bulk = precedence(message).is_some_and(|word| matches!(word.as_str(), "bulk" | "list" | "junk"))
        || has_field(message, "List-Id")
        || has_field(message, "List-Post")
        || has_field(message, "Feedback-ID");
    is_bulk.then_some(Automatic::Bulk)
}

fn precedence(message: &Message) -> Option<String> {
    raw_value(message, "Precedence").map(first_word)
}

/// The first word of a value, in lower case.
fn first_word(value: &str) -> String {
    let end = value.find(|c: char| c.is_whitespace() || c == ';' || c == '(');
    value[..end.unwrap_or(value.len())].to_ascii_lowercase()
}

/// Whether the message is a report on another message: on its delivery or that it was read.
fn is_report(message: &Message) -> bool {
    message.is_content_type("multipart", "report")
}

fn is_from_mail_system(message: &Message) -> bool {
    let mut addresses = message.from().into_iter().flat_map(|from| from.iter());
    addresses.any(|address| {
        let local = address.address().and_then(|address| address.split('@').next());
        local.is_some_and(|local| {
            local.eq_ignore_ascii_case("mailer-daemon") || local.eq_ignore_ascii_case("postmaster")
        })
    })
}
