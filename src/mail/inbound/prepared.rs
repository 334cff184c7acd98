//! Prepares a message for the parser, so that every message takes linear time, a bounded stack and little memory.
//!
//! The parser nests without limit in messages inside messages, searches the rest of the message for each boundary that
//! does not exist, and joins the pieces of a header parameter in quadratic time. It needs some hundred bytes for each
//! part and for each header field, so that a message of short parts would need 50 times its size. Therefore attached
//! messages become files that are not parsed, and messages that would need too much are refused before the parser
//! reads them.

use std::borrow::Cow;
use std::ops::Range;

use super::Unreadable;
use super::boundaries::Boundaries;
use super::structure::Structure;

/// The maximum length of a header field that describes a part, with its continuation lines.
const MAX_CONTENT_FIELD_BYTES: usize = 16 * 1024;
/// The maximum number of boundary parameters, multiplied by the bytes that each can cause to be read.
const MAX_SEARCHED_BYTES: usize = 1 << 30;
/// The maximum number of positions at which a boundary can begin, multiplied by the longest boundary.
const MAX_COMPARED_BYTES: usize = 1 << 28;

/// The names of the fields with parameters. The parser ignores white space in names.
const CONTENT_FIELDS: [&[u8]; 2] = [b"content-type:", b"content-disposition:"];

/// Subtypes that the parser would parse as messages, and what replaces them. The replacements have two control
/// characters, which `restore` recognizes in texts.
const NESTING_SUBTYPES: [(&[u8], &[u8]); 3] = [
    (b"rfc822", b"rfc8\x01\x02"),
    (b"global", b"glob\x01\x02"),
    (b"digest", b"dige\x01\x02"),
];

/// The message in which no part is parsed as another message, and in which the last parts end with their boundaries.
pub fn prepare(raw: &[u8]) -> Result<Cow<'_, [u8]>, Unreadable> {
    let mut prepared = Cow::Borrowed(raw);
    let mut boundaries = Boundaries::default();
    let (mut declared, mut longest_field, mut done) = (0_usize, 0, 0);
    for start in content_values(raw) {
        let end = field_end(raw, start);
        // The end of a field is also that of the fields in its continuation lines.
        if end <= done {
            continue;
        }
        done = end;
        let value = &raw[start..end];
        longest_field = longest_field.max(value.len());
        if value.len() > MAX_CONTENT_FIELD_BYTES {
            return Err(Unreadable::TooComplex);
        }
        declared += boundaries.add_declared(value);
        if declared.saturating_mul(raw.len()) > MAX_SEARCHED_BYTES {
            return Err(Unreadable::TooComplex);
        }
        replace_subtypes(&mut prepared, start..end);
    }
    let dashes = raw.windows(2).filter(|pair| pair == b"--").count();
    let compared = dashes.saturating_mul(longest_field);
    if compared > MAX_COMPARED_BYTES || dashes.saturating_mul(boundaries.cost()) > MAX_SEARCHED_BYTES {
        return Err(Unreadable::TooComplex);
    }
    let structure = Structure::of(raw, &boundaries).ok_or(Unreadable::TooComplex)?;
    // Without the end of a part, the parser takes its text for a file, and does not decode it.
    for boundary in structure.open_boundaries() {
        let message = prepared.to_mut();
        message.extend_from_slice(b"\r\n--");
        message.extend_from_slice(boundary);
        message.extend_from_slice(b"--\r\n");
    }
    Ok(prepared)
}

/// The positions after the names of fields with parameters, at all places where the parser could find them: at the
/// start of a line or after a boundary, with white space in the name.
fn content_values(raw: &[u8]) -> impl Iterator<Item = usize> {
    let mut matched = [0_usize; CONTENT_FIELDS.len()];
    raw.iter().enumerate().filter_map(move |(at, byte)| {
        let mut is_found = false;
        for (name, matched) in CONTENT_FIELDS.iter().zip(&mut matched) {
            *matched = match byte.to_ascii_lowercase() {
                b'\n' => 0,
                byte if byte.is_ascii_whitespace() => *matched,
                byte if byte == name[*matched] => *matched + 1,
                // Only the first byte of a name is a C.
                byte => usize::from(byte == b'c'),
            };
            if *matched == name.len() {
                (*matched, is_found) = (0, true);
            }
        }
        is_found.then_some(at + 1)
    })
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

fn replace_subtypes(prepared: &mut Cow<[u8]>, range: Range<usize>) {
    for (subtype, replacement) in NESTING_SUBTYPES {
        for at in range.start..range.end.saturating_sub(subtype.len() - 1) {
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
            "Con tent -Type : message/rfc822\n",
            "::Content-Type: message/rfc822\n",
            "x\n Content-Type: message/rfc822\n",
            "--bContent-Type: message/rfc822\n",
            "Content-Content-Type: message/rfc822\n",
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

    const MULTIPART: &str = "From: a@example.com\nContent-Type: multipart/mixed; boundary=b\n\n";

    fn is_refused(message: &str) -> bool {
        prepare(message.as_bytes()) == Err(Unreadable::TooComplex)
    }

    #[test]
    fn messages_that_would_need_much_memory_are_refused() {
        let parts = |count: usize| format!("{MULTIPART}{}", "--b\n\nx\n".repeat(count));
        assert!(!is_refused(&parts(1000)));
        assert!(is_refused(&parts(1001)));
        let in_one_line = format!("{MULTIPART}{}", "--b".repeat(1001));
        assert!(is_refused(&in_one_line));
        for declared in [
            "boundary*0=b",
            "boundary=\"\\b\"",
            "\"boundary\"=b",
            "boundary=(x)b",
        ] {
            let message = parts(5000).replace("boundary=b", declared);
            assert!(is_refused(&message), "{declared}");
        }

        let fields = |count: usize| format!("{}\nText\n", "A: b\n".repeat(count));
        assert!(!is_refused(&fields(1000)));
        assert!(is_refused(&fields(1001)));
        let of_parts = |count: usize| {
            let part = format!("--b\n{}\nx\n", "A: b\n".repeat(count));
            format!("{MULTIPART}{}", part.repeat(100))
        };
        assert!(!is_refused(&of_parts(90)));
        assert!(is_refused(&of_parts(110)));

        let addresses = |bytes: usize| format!("To: {}\n\nText\n", "a@b,".repeat(bytes / 4));
        assert!(!is_refused(&addresses(1000 * 1024)));
        assert!(is_refused(&addresses(1025 * 1024)));
        let in_a_part = format!("{MULTIPART}--b\n{}", addresses(1025 * 1024));
        assert!(is_refused(&in_a_part));
    }

    #[test]
    fn long_texts_with_dashes_are_not_refused() {
        let signatures = format!("{MULTIPART}--b\n\n{}--b--\n", "-- \nAda\n--\n".repeat(50_000));
        assert!(!is_refused(&signatures));
        let table = format!(
            "{MULTIPART}--b\n\n{}--b--\n",
            "------------------\n".repeat(50_000)
        );
        assert!(!is_refused(&table));
    }

    #[test]
    fn multiparts_that_do_not_end_are_closed_from_the_innermost() {
        let closed = |message: &str| {
            let prepared = prepare(message.as_bytes()).expect("a message");
            let added = prepared.strip_prefix(message.as_bytes()).expect("the same start");
            String::from_utf8(added.to_vec()).expect("a text")
        };
        let head = "Content-Type: multipart/mixed; boundary=\"a\"\n\n--a\n\
                    Content-Type: multipart/alternative; boundary=b\n\n--b\n\nText\n";
        assert_eq!(closed(head), "\r\n--b--\r\n\r\n--a--\r\n");
        assert_eq!(closed(&format!("{head}--b--\n")), "\r\n--a--\r\n");
        assert_eq!(closed(&format!("{head}--a--\n")), "");
        assert_eq!(closed(&format!("{head}--b-- \r\n--a--\r\n")), "");
    }
}
