//! Splits the bytes of a connection into command lines.

use bytes::{Buf, BytesMut};
use memchr::memchr;

/// The maximum length of a command line, with its CRLF. RFC 5321 and its extensions need about 1,100 bytes.
pub const MAX_LINE_BYTES: usize = 2048;

/// A line of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandLine {
    /// Without its line end.
    Line(Vec<u8>),
    TooLong,
    /// The line has a bare CR or LF, or a NUL.
    Malformed,
}

/// The unread bytes of a connection.
#[derive(Debug, Default)]
pub struct CommandLines {
    buffer: BytesMut,
    /// Whether the start of the current line was discarded, because the line is too long.
    is_discarding: bool,
}

impl CommandLines {
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete line.
    pub fn next_line(&mut self) -> Option<CommandLine> {
        let Some(end) = memchr(b'\n', &self.buffer) else {
            if self.buffer.len() > MAX_LINE_BYTES {
                self.buffer.clear();
                self.is_discarding = true;
            }
            return None;
        };
        let line = self.buffer.split_to(end + 1);
        if std::mem::take(&mut self.is_discarding) || line.len() > MAX_LINE_BYTES {
            return Some(CommandLine::TooLong);
        }
        // A bare LF ends the line too, so that the client does not wait. The line is not executed.
        let content = match line.strip_suffix(b"\r\n") {
            Some(content) if !content.iter().any(|byte| matches!(byte, b'\r' | 0)) => content,
            _ => return Some(CommandLine::Malformed),
        };
        Some(CommandLine::Line(content.to_vec()))
    }

    /// Passes the unread bytes to a function, which returns the number of bytes that it has used.
    pub fn take_with(&mut self, take: impl FnOnce(&[u8]) -> usize) {
        let used = take(&self.buffer);
        self.buffer.advance(used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_crlf_and_has_a_limited_length() {
        let mut lines = CommandLines::default();
        lines.push(b"NOOP\r\nDATA\nA\rB\r\nQU");
        let found: Vec<_> = std::iter::from_fn(|| lines.next_line()).collect();
        let noop = CommandLine::Line(b"NOOP".to_vec());
        assert_eq!(
            found,
            [noop.clone(), CommandLine::Malformed, CommandLine::Malformed]
        );
        lines.push(b"IT\r\n");
        assert_eq!(lines.next_line(), Some(CommandLine::Line(b"QUIT".to_vec())));
        for _ in 0..10 {
            lines.push(&[b'a'; 1000]);
            assert_eq!(lines.next_line(), None);
        }
        lines.push(b"\r\nNOOP\r\n");
        assert_eq!(lines.next_line(), Some(CommandLine::TooLong));
        assert_eq!(lines.next_line(), Some(noop));
    }
}
