//! Prepares a message for the parser, so that every message takes linear time and a bounded stack.
//!
//! The parser nests without limit in messages inside messages, searches the rest of the message for each boundary that
//! does not exist, and joins the pieces of a header parameter in quadratic time. Therefore attached messages become
//! files that are not parsed, and messages that would take too long are refused.

use std::borrow::Cow;

use super::Unreadable;

/// The maximum length of a header field that describes a part, with its continuation lines.
const MAX_CONTENT_FIELD_BYTES: usize = 16 * 1024;
/// The maximum number of boundary parameters, multiplied by the bytes that each can cause to be read.
const MAX_SEARCHED_BYTES: usize = 1 << 30;
/// The maximum number of positions at which a boundary can begin, multiplied by the longest boundary.
const MAX_COMPARED_BYTES: usize = 1 << 28;

/// Subtypes that the parser would parse as messages, and what replaces them. The replacements have two control
/// characters, which `restore` recognizes in texts.
const NESTING_SUBTYPES: [(&[u8], &[u8]); 3] = [
    (b"rfc822", b"rfc8\x01\x02"),
    (b"global", b"glob\x01\x02"),
    (b"digest", b"dige\x01\x02"),
];

/// The message in which no part is parsed as another message.
pub fn prepare(raw: &[u8]) -> Result<Cow<'_, [u8]>, Unreadable> {
    let mut prepared = Cow::Borrowed(raw);
    let (mut boundaries, mut longest_field) = (0_usize, 0);
    let mut start = 0;
    while start < raw.len() {
        let end = field_end(raw, start);
        let field = &raw[start..end];
        if starts_with_content(field) {
            longest_field = longest_field.max(field.len());
            if field.len() > MAX_CONTENT_FIELD_BYTES {
                return Err(Unreadable::TooComplex);
            }
            boundaries += count(field, b"boundary");
            replace_subtypes(&mut prepared, start, end);
        }
        start = end;
    }
    let dashes = raw.windows(2).filter(|pair| pair == b"--").count();
    let searched = boundaries.saturating_mul(raw.len());
    let compared = dashes.saturating_mul(longest_field);
    match searched > MAX_SEARCHED_BYTES || compared > MAX_COMPARED_BYTES {
        true => Err(Unreadable::TooComplex),
        false => Ok(prepared),
    }
}

/// The end of the line at `start`, with its continuation lines.
fn field_end(raw: &[u8], start: usize) -> usize {
    let mut end = start;
    loop {
        end = memchr::memchr(b'\n', &raw[end..]).map_or(raw.len(), |index| end + index + 1);
        if !matches!(raw.get(end), Some(b' ' | b'\t')) {
            return end;
        }
    }
}

fn starts_with_content(field: &[u8]) -> bool {
    let begin = field
        .iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .unwrap_or(0);
    let name = field.get(begin..begin + 8);
    name.is_some_and(|name| name.eq_ignore_ascii_case(b"content-"))
}

fn count(field: &[u8], word: &[u8]) -> usize {
    field
        .windows(word.len())
        .filter(|window| window.eq_ignore_ascii_case(word))
        .count()
}

fn replace_subtypes(prepared: &mut Cow<[u8]>, start: usize, end: usize) {
    for (subtype, replacement) in NESTING_SUBTYPES {
        for at in start..end.saturating_sub(subtype.len() - 1) {
            if prepared[at..at + subtype.len()].eq_ignore_ascii_case(subtype) {
                prepared.to_mut()[at..at + subtype.len()].copy_from_slice(replacement);
            }
        }
    }
}

/// A text in which replaced subtypes have their names again. Their case is lost.
pub fn restore(text: &str) -> Cow<'_, str> {
    if !text.contains("\u{1}\u{2}") {
        return Cow::Borrowed(text);
    }
    let text = text.replace("rfc8\u{1}\u{2}", "rfc822");
    let text = text.replace("glob\u{1}\u{2}", "global");
    Cow::Owned(text.replace("dige\u{1}\u{2}", "digest"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attached_messages_are_replaced_wherever_the_parser_could_find_them() {
        for field in [
            "Content-Type: message/rfc822\n",
            "content-type:\r\n\tMESSAGE / RFC822\r\n",
            "CONTENT-TYPE: message/(comment)\n global; x=y\n",
            "Content-Type: multipart/digest; boundary=x\n",
        ] {
            let prepared = prepare(field.as_bytes()).expect("a prepared message");
            let text = String::from_utf8(prepared.to_vec()).expect("a text");
            assert!(text.contains("\u{1}\u{2}"), "{field}");
            assert_eq!(restore(&text).to_lowercase(), field.to_lowercase());
        }
        let other = "Subject: message/rfc822\n\nglobal digest of rfc822\n";
        assert!(matches!(prepare(other.as_bytes()), Ok(Cow::Borrowed(_))));
    }

    #[test]
    fn messages_that_take_too_long_are_refused() {
        let long = format!("Content-Type: x/y;{}\n", " a*1=b;\n".repeat(5000));
        assert_eq!(prepare(long.as_bytes()), Err(Unreadable::TooComplex));
        let searches = "--b\nContent-Type: multipart/mixed; boundary=none\n\n".repeat(10_000);
        assert_eq!(prepare(searches.as_bytes()), Err(Unreadable::TooComplex));
        let dashes = |count: usize| {
            let boundary = "-".repeat(10_000);
            format!(
                "Content-Type: multipart/mixed; boundary={boundary}\n\n{}",
                "-".repeat(count)
            )
        };
        assert!(prepare(dashes(10_000).as_bytes()).is_ok());
        assert!(prepare(dashes(20_000).as_bytes()).is_err());
    }
}
