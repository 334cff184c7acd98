//! Counts what the parser will build from a message, before it builds anything.

use super::boundaries::Boundaries;

/// The maximum number of lines that begin or end a part.
const MAX_DELIMITERS: usize = 1000;
/// The maximum number of fields in the header of the message.
const MAX_TOP_FIELDS: usize = 1000;
/// The maximum number of lines in the headers of the message and of all parts.
const MAX_HEADER_LINES: usize = 10_000;
/// The maximum size of the headers of the message and of all parts together. An address needs some ten times its size.
const MAX_HEADER_BYTES: usize = 1024 * 1024;

/// The counts of a message, up to the current line.
#[derive(Debug, Default)]
pub struct Structure<'a> {
    delimiters: usize,
    top_fields: usize,
    header_lines: usize,
    header_bytes: usize,
    /// The boundaries of the multiparts that have begun, from the outermost to the innermost.
    open: Vec<&'a [u8]>,
}

impl<'a> Structure<'a> {
    /// Counts a message; `None` if it exceeds a limit.
    pub fn of(raw: &'a [u8], boundaries: &Boundaries) -> Option<Self> {
        let mut structure = Self::default();
        let (mut is_top, mut is_header) = (true, true);
        for line in raw.split_inclusive(|byte| *byte == b'\n') {
            let delimiters = boundaries.count_in(line);
            if delimiters > 0 {
                // The rest of the line can be a header field.
                (is_top, is_header) = (false, true);
                structure.add_delimiters(line, delimiters, boundaries);
            } else if is_header && is_end_of_header(line) {
                (is_top, is_header) = (false, false);
            }
            if is_header {
                structure.header_lines += 1;
                structure.header_bytes += line.len();
                structure.top_fields +=
                    usize::from(is_top && !line.starts_with(b" ") && !line.starts_with(b"\t"));
            }
            if structure.is_too_complex() {
                return None;
            }
        }
        Some(structure)
    }

    fn add_delimiters(&mut self, line: &'a [u8], count: usize, boundaries: &Boundaries) {
        self.delimiters += count;
        let Some((boundary, is_last)) = boundaries.delimiter(line) else {
            return;
        };
        match (self.open.iter().position(|open| *open == boundary), is_last) {
            (Some(at), true) => self.open.truncate(at),
            (Some(at), false) => self.open.truncate(at + 1),
            (None, false) => self.open.push(boundary),
            (None, true) => {}
        }
    }

    fn is_too_complex(&self) -> bool {
        self.delimiters > MAX_DELIMITERS
            || self.top_fields > MAX_TOP_FIELDS
            || self.header_lines > MAX_HEADER_LINES
            || self.header_bytes > MAX_HEADER_BYTES
    }

    /// The boundaries of the multiparts that do not end, from the innermost to the outermost.
    pub fn open_boundaries(&self) -> impl Iterator<Item = &'a [u8]> {
        self.open.iter().rev().copied()
    }
}

/// Whether a line ends a header. A blank line that begins with a space continues the field before it.
fn is_end_of_header(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() && !line.starts_with(b" ") && !line.starts_with(b"\t")
}
