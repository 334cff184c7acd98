//! Parses messages that arrive by mail (decision 0032). These functions use no network, store or clock, and take linear
//! time.

mod automatic;
mod bounces;
mod boundaries;
mod flowed;
mod header_fields;
mod html_text;
mod prepared;
mod quote_phrases;
mod quotes;
mod sender;
mod structure;

use std::borrow::Cow;

use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};

use crate::model::received_mail::{Automatic, MailFile, ReceivedMail};

pub use automatic::ORIGIN_FIELD;

/// The maximum size of a message. The text of an attachment of 5 MiB has 7 MiB in Base64.
pub const MAX_MESSAGE_BYTES: usize = 30 * 1024 * 1024;
/// Files beyond this number are dropped.
const MAX_FILES: usize = 100;
/// A longer text is cut. It is far above the limit of a reply.
const MAX_TEXT_BYTES: usize = 1024 * 1024;
const MAX_MESSAGE_ID_BYTES: usize = 998;

/// The reason why a message cannot be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreadable {
    TooLarge,
    /// The parser would need too much time or memory.
    TooComplex,
    /// There are no header fields.
    NoHeader,
}

impl Unreadable {
    pub const fn word(self) -> &'static str {
        match self {
            Unreadable::TooLarge => "too_large",
            Unreadable::TooComplex => "too_complex",
            Unreadable::NoHeader => "no_header",
        }
    }
}

/// Parses a message. `authserv_id` is the name of the mail server whose verdict on the sender counts.
pub fn parse(
    raw: &[u8],
    authserv_id: &str,
    envelope_sender: Option<&str>,
) -> Result<ReceivedMail, Unreadable> {
    let prepared = prepare(raw)?;
    let message = MessageParser::default().parse(prepared.as_ref());
    let message = with_header(message)?;
    let (text, recovered) = body_of(&message);
    let split = quotes::split(&text);
    let (files, dropped_files) = files_of(&message, recovered);
    Ok(ReceivedMail {
        text: split.new,
        folded: split.folded,
        files,
        dropped_files,
        bounce: bounces::bounce_in(&message),
        ..header_of(&message, authserv_id, envelope_sender)
    })
}

/// Like `parse`, without the text and the files of a message that will have no effect: its sender is not verified, and
/// it is no report. Strangers can send such messages, so that they should cost little.
pub fn parse_effective(
    raw: &[u8],
    authserv_id: &str,
    envelope_sender: Option<&str>,
) -> Result<ReceivedMail, Unreadable> {
    let header = {
        let prepared = prepare(raw)?;
        let message = MessageParser::default().parse_headers(prepared.as_ref());
        header_of(&with_header(message)?, authserv_id, envelope_sender)
    };
    let is_verified = header.sender.as_ref().is_some_and(|sender| sender.is_verified);
    match is_verified || header.automatic == Some(Automatic::Bounce) {
        true => parse(raw, authserv_id, envelope_sender),
        false => Ok(header),
    }
}

fn prepare(raw: &[u8]) -> Result<Cow<'_, [u8]>, Unreadable> {
    match raw.len() > MAX_MESSAGE_BYTES {
        true => Err(Unreadable::TooLarge),
        false => prepared::prepare(raw),
    }
}

fn with_header(message: Option<Message<'_>>) -> Result<Message<'_>, Unreadable> {
    let message = message.filter(|message| !message.headers().is_empty());
    message.ok_or(Unreadable::NoHeader)
}

/// What the header of a message says.
fn header_of(message: &Message, authserv_id: &str, envelope_sender: Option<&str>) -> ReceivedMail {
    ReceivedMail {
        message_id: message_id(message),
        sender: sender::sender_of(message, authserv_id),
        subject: plain_line(message.subject().unwrap_or_default()),
        automatic: automatic::automatic_kind(message, envelope_sender),
        ..ReceivedMail::default()
    }
}

fn message_id(message: &Message) -> Option<String> {
    let id = message.message_id()?.trim();
    let is_valid = !id.is_empty() && id.len() <= MAX_MESSAGE_ID_BYTES && !id.chars().any(char::is_control);
    is_valid.then(|| id.to_owned())
}

/// The text of all body parts, and the part that became the text although the parser takes it for a file.
fn body_of<'a>(message: &'a Message<'a>) -> (String, Option<&'a MessagePart<'a>>) {
    let mut texts: Vec<String> = Vec::new();
    let mut bytes = 0;
    for part in message.text_bodies() {
        if bytes > MAX_TEXT_BYTES {
            break;
        }
        let text = plain_text(&part_text(part));
        let text = text.trim_matches('\n');
        if !text.trim().is_empty() {
            bytes += text.len();
            texts.push(text.to_owned());
        }
    }
    // A plain text that is blank stands next to an HTML text in the messages of some programs.
    if texts.is_empty() {
        let html = message
            .html_bodies()
            .filter(|part| matches!(part.body, PartType::Html(_)));
        texts = html.take(1).map(|part| plain_text(&part_text(part))).collect();
    }
    if texts.iter().all(|text| text.trim().is_empty())
        && let Some(part) = message.parts.iter().find(|part| is_broken_text(part))
    {
        let text = plain_text(&broken_text(part));
        return (text.trim_matches('\n').to_owned(), Some(part));
    }
    (texts.join("\n\n"), None)
}

/// Whether a part that the parser takes for a file is a text: a multipart whose boundary is missing or does not occur,
/// or a text that does not end.
fn is_broken_text(part: &MessagePart) -> bool {
    let kind = part.content_type().map(|kind| kind.ctype());
    let is_multipart = kind.is_some_and(|kind| kind.eq_ignore_ascii_case("multipart"));
    let is_text = kind.is_none_or(|kind| kind.eq_ignore_ascii_case("text"));
    let is_file = part
        .content_disposition()
        .is_some_and(|kind| kind.is_attachment());
    match part.body {
        PartType::Multipart(_) | PartType::Message(_) => false,
        PartType::Text(_) | PartType::Html(_) => {
            is_multipart || (is_text && part.is_encoding_problem && !is_file)
        }
        PartType::Binary(_) | PartType::InlineBinary(_) => is_multipart,
    }
}

fn broken_text(part: &MessagePart) -> String {
    match &part.body {
        PartType::Binary(bytes) | PartType::InlineBinary(bytes) => {
            let end = bytes.len().min(MAX_TEXT_BYTES);
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        }
        PartType::Text(text) if part.is_content_type("text", "html") => html_text::html_to_text(cut(text)),
        _ => part_text(part),
    }
}

fn part_text(part: &MessagePart) -> String {
    match &part.body {
        PartType::Html(html) => html_text::html_to_text(cut(html)),
        PartType::Text(text) => {
            let attribute = |name: &str| part.content_type().and_then(|kind| kind.attribute(name));
            let is = |name: &str, value: &str| {
                attribute(name).is_some_and(|found| found.eq_ignore_ascii_case(value))
            };
            match is("format", "flowed") {
                true => flowed::join(cut(text), is("delsp", "yes")),
                false => cut(text).to_owned(),
            }
        }
        _ => String::new(),
    }
}

/// The first `MAX_TEXT_BYTES` of a text.
fn cut(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A text with `\n` as line break, and without control and zero-width characters.
fn plain_text(text: &str) -> String {
    let text = prepared::restore(text).replace("\r\n", "\n");
    let is_kept = |c: &char| match c {
        '\n' | '\t' => true,
        '\u{feff}' | '\u{200b}' => false,
        c => !c.is_control(),
    };
    text.chars()
        .map(|c| if c == '\r' { '\n' } else { c })
        .filter(is_kept)
        .collect()
}

/// A text as one line, without control characters.
fn plain_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// The files of a message, and the number of files that are dropped. `recovered` became the text.
fn files_of(message: &Message, recovered: Option<&MessagePart>) -> (Vec<MailFile>, usize) {
    let is_recovered = |part: &MessagePart| recovered.is_some_and(|text| std::ptr::eq(text, part));
    let files = message
        .attachments()
        .filter(|part| !is_signature_part(part) && !is_recovered(part));
    let (mut kept, mut dropped) = (Vec::new(), 0);
    for part in files {
        if kept.len() == MAX_FILES {
            dropped += 1;
            continue;
        }
        kept.push(MailFile {
            name: file_name(part),
            content: part.contents().to_vec(),
        });
    }
    (kept, dropped)
}

/// Whether a part only proves who wrote the message.
fn is_signature_part(part: &MessagePart) -> bool {
    [
        ("application", "pgp-signature"),
        ("application", "pgp-keys"),
        ("application", "pkcs7-signature"),
        ("application", "x-pkcs7-signature"),
    ]
    .iter()
    .any(|(kind, subtype)| part.is_content_type(kind, subtype))
}

/// The name of a file as sent, or one that fits its type.
fn file_name(part: &MessagePart) -> String {
    if let Some(name) = part
        .attachment_name()
        .map(plain_line)
        .filter(|name| !name.is_empty())
    {
        return name;
    }
    let kind = part.content_type();
    let subtype = kind
        .and_then(|kind| kind.subtype())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let kind = kind.map_or("", |kind| kind.ctype()).to_ascii_lowercase();
    match (kind.as_str(), subtype.as_str()) {
        ("image", "jpeg" | "png" | "gif" | "tiff") => format!("image.{subtype}"),
        ("application", "pdf") => "document.pdf".to_owned(),
        ("text", "calendar") => "invitation.ics".to_owned(),
        ("text", "html") => "text.html".to_owned(),
        ("text", _) => "text.txt".to_owned(),
        ("message", _) => "message.eml".to_owned(),
        _ => "file.bin".to_owned(),
    }
}

#[cfg(test)]
mod tests;
