//! Builds a message: its header fields, a text and an HTML part.

use std::time::{Duration, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lettre::Address;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, Message, MessageBuilder, MultiPart, SinglePart};

use super::template;
use crate::mail::inbound::ORIGIN_FIELD;
use crate::model::time::Time;
use crate::rules::outgoing_mails::{Content, Draft, TicketContent};

/// The text of an encoded word has 52 characters of Base64, so that its line has less than 76.
const MAX_WORD_BYTES: usize = 39;

/// The bytes of a mail; `None` if one of its addresses cannot be in a mail.
pub fn build(draft: &Draft) -> Option<Vec<u8>> {
    let name = draft.brand.name().to_owned();
    let from: Address = draft.policy.from.as_str().parse().ok()?;
    let rendered = template::render(draft);
    let mut builder = start(&draft.recipient, Mailbox::new(Some(name), from), draft.date)?
        .raw_header(subject(rendered.subject))
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
pub fn test(from: &str, recipient: &str, message_id: &str, date: Time) -> Option<Vec<u8>> {
    let from = Mailbox::new(None, from.parse().ok()?);
    let text = "Garth can send mail with these settings.\r\n".to_owned();
    let message = start(recipient, from, date)?
        .subject("Test of Garth")
        .message_id(Some(bracketed(message_id)))
        .singlepart(SinglePart::plain(text));
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

/// The field `Subject`. A text that looks like an encoded word (RFC 2047) is encoded, because mail programs would
/// decode it, and it can contain line breaks then.
fn subject(text: String) -> HeaderValue {
    let name = HeaderName::new_from_ascii_str("Subject");
    match text.contains("=?") {
        true => {
            let encoded = encoded_words(&text);
            HeaderValue::dangerous_new_pre_encoded(name, text, encoded)
        }
        false => HeaderValue::new(name, text),
    }
}

/// A text as encoded words, one in each line.
fn encoded_words(text: &str) -> String {
    let mut words = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
        let end = ends.take_while(|end| *end <= MAX_WORD_BYTES).last();
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        words.push(format!("=?utf-8?B?{}?=", STANDARD.encode(word)));
        rest = after;
    }
    words.join("\r\n ")
}

fn bracketed(id: &str) -> String {
    format!("<{id}>")
}

fn field(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_that_looks_like_an_encoded_word_is_encoded() {
        let attack = "=?utf-8?q?hello=0D=0ABcc:x@y?=";
        let long = format!("[Garth #1] {attack} {}", "ä".repeat(200));
        for text in [attack, "[=?utf-8?q?x?= #1] Help", &long] {
            let written = Message::builder()
                .raw_header(subject(text.to_owned()))
                .from("a@example.com".parse().expect("an address"))
                .to("b@example.com".parse().expect("an address"))
                .body(String::new())
                .expect("a message")
                .formatted();
            let raw = String::from_utf8(written.clone()).expect("a text");
            assert!(raw.lines().all(|line| line.len() <= 76), "{raw}");
            assert!(!raw.contains("=0D"), "{raw}");
            let parsed = mail_parser::MessageParser::default()
                .parse(&written)
                .expect("a message");
            assert_eq!(parsed.subject(), Some(text));
        }
        let plain = subject("Help = more?".to_owned());
        assert_eq!(plain, field("Subject", "Help = more?".to_owned()));
    }
}
