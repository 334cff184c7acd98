//! Builds a message: its header fields, a text and an HTML part.

use std::time::{Duration, UNIX_EPOCH};

use lettre::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MessageBuilder, MultiPart};

use super::template;
use crate::mail::inbound::ORIGIN_FIELD;
use crate::model::time::Time;
use crate::rules::outgoing_mails::Draft;

/// The bytes of a mail; `None` if one of its addresses cannot be in a mail.
pub fn build(draft: &Draft) -> Option<Vec<u8>> {
    let name = draft.brand.name().to_owned();
    let from: Address = draft.policy.from.as_str().parse().ok()?;
    let mut builder = start(&draft.recipient, Mailbox::new(Some(name), from), draft.date)?
        .subject(subject(draft))
        .message_id(Some(bracketed(&draft.message_id)));
    let root = draft.references.last()?;
    builder = builder.in_reply_to(bracketed(root));
    let references: Vec<_> = draft.references.iter().map(|id| bracketed(id)).collect();
    builder = builder.references(references.join(" "));
    if let Some(reply_to) = &draft.reply_to {
        builder = builder.reply_to(Mailbox::new(None, reply_to.parse().ok()?));
    }
    let unsubscribe = format!("<{}>", draft.unsubscribe_url);
    let message = builder
        .raw_header(field(ORIGIN_FIELD, draft.ticket.to_string()))
        .raw_header(field("List-Unsubscribe", unsubscribe))
        .raw_header(field(
            "List-Unsubscribe-Post",
            "List-Unsubscribe=One-Click".to_owned(),
        ))
        .multipart(MultiPart::alternative_plain_html(
            template::text(draft),
            template::html(draft),
        ));
    Some(message.ok()?.formatted())
}

/// The message of `garth mail test`.
pub fn test(from: &str, recipient: &str, date: Time) -> Option<Vec<u8>> {
    let from = Mailbox::new(None, from.parse().ok()?);
    let text = "Garth can send mail with these settings.\r\n".to_owned();
    let message = start(recipient, from, date)?.subject("Test of Garth").body(text);
    Some(message.ok()?.formatted())
}

fn start(recipient: &str, from: Mailbox, date: Time) -> Option<MessageBuilder> {
    let seconds = u64::try_from(date.seconds()).ok()?;
    let builder = Message::builder()
        .from(from)
        .to(Mailbox::new(None, recipient.parse().ok()?))
        .date(UNIX_EPOCH + Duration::from_secs(seconds))
        .raw_header(field("Auto-Submitted", "auto-generated".to_owned()));
    Some(builder)
}

/// `[Garth #12] Summary`, the same for all mails about the ticket.
pub fn subject(draft: &Draft) -> String {
    let brand = draft.brand.name();
    let prefix = draft.policy.subject_prefix.as_deref().unwrap_or(brand);
    format!("[{prefix} #{}] {}", draft.ticket, draft.summary)
}

fn bracketed(id: &str) -> String {
    format!("<{id}>")
}

fn field(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}
