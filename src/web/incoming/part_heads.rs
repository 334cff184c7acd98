//! Removes control characters from the part headers of a multipart form before it is parsed.
//!
//! The multipart parser refuses headers with control characters, but file names in these headers sometimes
//! contain them. Garth uses file names for display only, so it removes the control characters. It does not
//! change the content of parts.

use bytes::{Bytes, BytesMut};

/// A state machine over the bytes of a form.
pub struct PartHeads {
    /// A line break, two dashes and the boundary.
    delimiter: Vec<u8>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the first part or in the content of a part. The number counts the delimiter bytes matched so far.
    Content(usize),
    /// In the headers of a part. The number counts the bytes of `END_OF_HEAD` matched so far.
    Head(usize),
}

const END_OF_HEAD: &[u8] = b"\r\n\r\n";

impl PartHeads {
    pub fn new(boundary: &str) -> Self {
        Self {
            delimiter: [b"\r\n--", boundary.as_bytes()].concat(),
            // The first delimiter has no line break before it.
            state: State::Content(2),
        }
    }

    /// Removes the control characters in part headers from the next bytes of the form.
    pub fn without_controls(&mut self, bytes: Bytes) -> Bytes {
        let mut output: Option<BytesMut> = None;
        let mut at = 0;
        while at < bytes.len() {
            if self.state == State::Content(0) {
                // Only a line break can start a delimiter.
                let next = bytes[at..].iter().position(|byte| *byte == b'\r');
                let next = next.map_or(bytes.len(), |found| at + found);
                if let Some(output) = &mut output {
                    output.extend_from_slice(&bytes[at..next]);
                }
                at = next;
                if at == bytes.len() {
                    break;
                }
            }
            let byte = bytes[at];
            if matches!(self.state, State::Head(_)) && is_removed(byte) {
                output.get_or_insert_with(|| BytesMut::from(&bytes[..at]));
            } else {
                self.state = self.next_state(byte);
                if let Some(output) = &mut output {
                    output.extend_from_slice(&[byte]);
                }
            }
            at += 1;
        }
        output.map_or(bytes, BytesMut::freeze)
    }

    fn next_state(&self, byte: u8) -> State {
        match self.state {
            State::Content(matched) => match step(&self.delimiter, matched, byte) {
                all if all == self.delimiter.len() => State::Head(0),
                matched => State::Content(matched),
            },
            State::Head(matched) => match step(END_OF_HEAD, matched, byte) {
                all if all == END_OF_HEAD.len() => State::Content(0),
                matched => State::Head(matched),
            },
        }
    }
}

/// The number of bytes of `pattern` that match after the next byte, if `matched` bytes matched before it.
/// Both patterns begin with a carriage return, so after a mismatch only a carriage return can begin a new
/// match.
fn step(pattern: &[u8], matched: usize, byte: u8) -> usize {
    match byte {
        _ if pattern.get(matched) == Some(&byte) => matched + 1,
        b'\r' => 1,
        _ => 0,
    }
}

/// Whether a byte is a control character that headers cannot contain. Line breaks and tabs are allowed.
fn is_removed(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\r' | b'\n' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_removed_from_heads_across_chunks() {
        let form = b"--edge\r\nName: a\x01b\x7f\r\n\r\n\x01\x02\r\n--ed\x01\r\n\r\n--edge\r\nX: \x1by\r\n\r\n\0\r\n--edge--\r\n";
        let expected =
            b"--edge\r\nName: ab\r\n\r\n\x01\x02\r\n--ed\x01\r\n\r\n--edge\r\nX: y\r\n\r\n\0\r\n--edge--\r\n";
        for size in 1..=form.len() {
            let mut heads = PartHeads::new("edge");
            let mut output = Vec::new();
            for chunk in form.chunks(size) {
                output.extend_from_slice(&heads.without_controls(Bytes::copy_from_slice(chunk)));
            }
            assert_eq!(output, expected, "in chunks of {size}");
        }
    }

    #[test]
    fn bytes_without_control_characters_are_not_copied() {
        let form = Bytes::from_static(b"--edge\r\nName: ab\r\n\r\n\x01\r\n--edge--\r\n");
        let output = PartHeads::new("edge").without_controls(form.clone());
        assert_eq!(output.as_ptr(), form.as_ptr());
    }
}
