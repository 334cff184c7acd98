//! Decodes the text of a message after DATA (RFC 5321, section 4.5.2).
//!
//! Only CRLF, a dot and CRLF end the text. Other line ends are part of it. A server that also accepts a bare LF can be
//! made to read commands out of a message ("SMTP smuggling").

use memchr::memchr;

/// The text of a message, as far as it has arrived.
#[derive(Debug)]
pub struct MessageData {
    state: State,
    content: Vec<u8>,
    max_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// After CRLF, or before the first byte.
    LineStart,
    Text,
    /// After CR.
    Cr,
    /// After a dot at the start of a line.
    Dot,
    /// After a dot at the start of a line, and CR.
    DotCr,
    Complete,
}

impl MessageData {
    /// Stores at most one byte more than `max_bytes`, so that a message that is too large is recognized.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            state: State::LineStart,
            content: Vec::new(),
            max_bytes,
        }
    }

    /// Decodes bytes up to the end of the text. Returns the number of bytes that belong to the text and its end.
    pub fn decode(&mut self, bytes: &[u8]) -> usize {
        let mut at = 0;
        while at < bytes.len() && self.state != State::Complete {
            if self.state == State::Text {
                let length = memchr(b'\r', &bytes[at..]).unwrap_or(bytes.len() - at);
                self.store(&bytes[at..at + length]);
                at += length;
                if at == bytes.len() {
                    break;
                }
            }
            self.decode_byte(bytes[at]);
            at += 1;
        }
        at
    }

    fn decode_byte(&mut self, byte: u8) {
        self.state = match (self.state, byte) {
            (State::LineStart, b'.') => return self.state = State::Dot,
            (State::Dot, b'\r') => return self.state = State::DotCr,
            (State::DotCr, b'\n') => return self.state = State::Complete,
            // The dot was added by the sender. It is dropped, and the CR after it is text.
            (State::DotCr, _) => {
                self.store(b"\r");
                self.state = State::Cr;
                return self.decode_byte(byte);
            }
            (State::Cr, b'\n') => State::LineStart,
            (_, b'\r') => State::Cr,
            _ => State::Text,
        };
        self.store(&[byte]);
    }

    fn store(&mut self, bytes: &[u8]) {
        let free = (self.max_bytes + 1).saturating_sub(self.content.len());
        self.content.extend_from_slice(&bytes[..bytes.len().min(free)]);
    }

    pub fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    pub fn into_content(self) -> Vec<u8> {
        self.content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes in chunks of a length. Returns the content, whether it is complete, and the rest.
    fn decode(input: &[u8], chunk: usize) -> (String, bool, usize) {
        let mut data = MessageData::new(1000);
        let mut used = 0;
        for part in input.chunks(chunk) {
            used += data.decode(part);
        }
        let is_complete = data.is_complete();
        (
            String::from_utf8(data.into_content()).expect("text"),
            is_complete,
            input.len() - used,
        )
    }

    #[test]
    fn only_a_dot_between_two_crlf_ends_the_text() {
        for (input, content, is_complete, rest) in [
            ("a\r\n.\r\nQUIT\r\n", "a\r\n", true, 6),
            (".\r\n", "", true, 0),
            ("..\r\n...x\r\n.\r\n", ".\r\n..x\r\n", true, 0),
            (".a\r\n.\r\n", "a\r\n", true, 0),
            ("a\n.\nb\r\n.\r\n", "a\n.\nb\r\n", true, 0),
            ("a\n.\r\nb\r\n.\r\n", "a\n.\r\nb\r\n", true, 0),
            ("a\r\n.\nb\r\n.\r\n", "a\r\n\nb\r\n", true, 0),
            ("a\r.\r\nb\r\n.\r\n", "a\r.\r\nb\r\n", true, 0),
            ("a\r\n.\rb\r\n.\r\n", "a\r\n\rb\r\n", true, 0),
            ("a\r\n.\r\r\n.\r\n", "a\r\n\r\r\n", true, 0),
            ("a\r\r\n.\r\n", "a\r\r\n", true, 0),
            ("a\r\n.\r", "a\r\n", false, 0),
        ] {
            for chunk in 1..=input.len() {
                let expected = (content.to_owned(), is_complete, rest);
                assert_eq!(decode(input.as_bytes(), chunk), expected, "{input:?} by {chunk}");
            }
        }
    }

    #[test]
    fn a_message_that_is_too_large_is_not_stored() {
        let mut data = MessageData::new(3);
        data.decode(b"abcdef\r\n.\r\n");
        assert!(data.is_complete());
        assert_eq!(data.into_content(), b"abcd");
    }
}
