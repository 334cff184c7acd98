//! Checks that the request line and the headers of a request end with CRLF.
//!
//! The HTTP parser also accepts a bare LF, but a proxy in front of the server might not. The proxy and the
//! server could then disagree about where the headers end, which allows request smuggling. So the server
//! refuses a request with a bare LF in its headers.

use memchr::memchr;

#[derive(Default)]
pub struct HeadLines {
    /// The number of bytes of the current line that arrived in earlier reads.
    carried: usize,
    /// Whether the last of the carried bytes is CR.
    carried_return: bool,
    /// Whether a non-empty line has arrived. The next empty line then ends the headers.
    begun: bool,
    ended: bool,
}

impl HeadLines {
    /// Checks the next bytes. Returns false if a line ends with a bare LF. Ignores bytes after the headers.
    pub fn are_valid(&mut self, mut bytes: &[u8]) -> bool {
        while !self.ended {
            let Some(at) = memchr(b'\n', bytes) else {
                if let Some(last) = bytes.last() {
                    self.carried += bytes.len();
                    self.carried_return = *last == b'\r';
                }
                return true;
            };
            let ends_with_crlf = match at.checked_sub(1) {
                Some(before) => bytes[before] == b'\r',
                None => self.carried_return,
            };
            if !ends_with_crlf {
                return false;
            }
            let is_empty = self.carried + at == 1;
            self.ended = is_empty && self.begun;
            self.begun |= !is_empty;
            (self.carried, self.carried_return) = (0, false);
            bytes = &bytes[at + 1..];
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_line_feed_is_detected_across_reads_and_allowed_in_the_body() {
        for (head, is_valid) in [
            ("GET / HTTP/1.1\r\nhost: a\r\n\r\nbody\nbody\n", true),
            ("\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n\n", true),
            ("GET / HTTP/1.1\nhost: a\r\n\r\n", false),
            ("\r\nGET / HTTP/1.1\r\nhost: a\n\r\n", false),
            ("GET / HTTP/1.1\r\nhost: a\r\n\n", false),
            ("\nGET / HTTP/1.1\r\n\r\n", false),
        ] {
            for cut in 0..=head.len() {
                let mut lines = HeadLines::default();
                let (first, second) = head.as_bytes().split_at(cut);
                assert_eq!(
                    lines.are_valid(first) && lines.are_valid(second),
                    is_valid,
                    "{head:?} cut at {cut}"
                );
            }
        }
    }
}
