//! Builds a message: its header fields, a text and an HTML part.

use std::time::{Duration, UNIX_EPOCH};

use lettre::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MessageBuilder, MultiPart};

use super::template;
use crate::mail::inbound::ORIGIN_FIELD;
use crate::model::time::Time;
use crate::rules::outgoing_mails::{Content, Draft, TicketContent};

/// The bytes of a mail; `None` if one of its addresses cannot be in a mail.
pub fn build(draft: &Draft) -> Option<Vec<u8>> {
    let name = draft.brand.name().to_owned();
    let from: Address = draft.policy.from.as_str().parse().ok()?;
    let rendered = template::render(draft);
    let mut builder = start(&draft.recipient, Mailbox::new(Some(name), from), draft.date)?
        .subject(rendered.subject)
        .message_id(Some(bracketed(&draft.message_id)));
    if let Content::Ticket(content) = &draft.content {
        builder = with_thread(builder, content)?;
    }
    let body = MultiPart::alternative_plain_html(rendered.text, rendered.html);
    Some(builder.multipart(body).ok()?.formatted())
}

/// Adds the fields of mails about a ticket.
fn with_thread(mut builder: MessageBuilder, content: &TicketContent) -> Option<MessageBuilder> {
    builder = builder.in_reply_to(bracketed(content.references.last()?));
    let references: Vec<_> = content.references.iter().map(|id| bracketed(id)).collect();
    builder = builder.references(references.join(" "));
    if let Some(reply_to) = &content.reply_to {
        builder = builder.reply_to(Mailbox::new(None, reply_to.parse().ok()?));
    }
    let one_click = "List-Unsubscribe=One-Click".to_owned();
    let builder = builder
        .raw_header(field(ORIGIN_FIELD, content.ticket.to_string()))
        .raw_header(field("List-Unsubscribe", bracketed(&content.unsubscribe_url)))
        .raw_header(field("List-Unsubscribe-Post", one_click));
    Some(builder)
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

fn bracketed(id: &str) -> String {
    format!("<{id}>")
}

fn field(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}
