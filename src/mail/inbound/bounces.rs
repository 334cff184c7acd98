//! Reports on messages that could not be delivered (RFC 3464).

use mail_parser::{Message, MimeHeaders};

use crate::model::received_mail::Bounce;

/// The first recipient that a report names as failed.
pub fn bounce_in(message: &Message) -> Option<Bounce> {
    if !message.is_content_type("multipart", "report") {
        return None;
    }
    let mut reports = message.parts.iter().filter(|part| {
        part.is_content_type("message", "delivery-status")
            || part.is_content_type("message", "glob\u{1}\u{2}-delivery-status")
    });
    let report = reports.next()?;
    let text = String::from_utf8_lossy(report.contents()).replace("\r\n", "\n");
    text.split("\n\n").find_map(read_recipient)
}

/// Reads the fields of one recipient.
fn read_recipient(group: &str) -> Option<Bounce> {
    let field = |name: &str| {
        let mut fields = group.lines().filter_map(|line| line.split_once(':'));
        fields
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.trim())
    };
    let (_, recipient) = field("Final-Recipient")?.split_once(';')?;
    let recipient = recipient.trim().trim_matches(['<', '>']).to_lowercase();
    let is_failure = field("Action").is_some_and(|action| action.eq_ignore_ascii_case("failed"));
    let status = field("Status").unwrap_or_default();
    // 5.2.2 is a full mailbox and 5.7 a refusal of this message: another message can be accepted.
    let is_permanent =
        status.starts_with("5.") && !status.starts_with("5.2.2") && !status.starts_with("5.7.");
    (is_failure && recipient.contains('@')).then(|| Bounce {
        recipient,
        is_permanent,
        status: enhanced_status(status),
    })
}

/// The status of a field without a comment; empty if it is malformed.
fn enhanced_status(field: &str) -> String {
    let status = field.split_whitespace().next().unwrap_or_default();
    let is_number =
        |part: &str| (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_valid = status.split('.').count() == 3 && status.split('.').all(is_number);
    if is_valid {
        status.to_owned()
    } else {
        String::new()
    }
}
