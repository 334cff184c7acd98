//! Splits the text of a reply into the new text and the part that is folded: the quoted message, the line that
//! introduces it, and the signature. Nothing is lost: the folded part is stored next to the reply.

use super::quote_phrases::{Introduction, introduction, is_device_signature, is_mail_header, is_separator};
use crate::model::received_mail::REPLY_MARKER;

/// An introduction such as "On Monday, Ada wrote:" can be split into this many lines.
const MAX_INTRODUCTION_LINES: usize = 4;
/// A signature after "--" without the space has at most this many lines.
const MAX_SIGNATURE_LINES: usize = 12;

/// The parts of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitText {
    pub new: String,
    pub folded: String,
}

pub fn split(text: &str) -> SplitText {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let end = quote_start(&lines);
    let (start, leading_end) = leading_quote(&lines[..end]);
    let end = signature_start(&lines[start..end], text) + start;
    let new = joined(&lines[start..end]);
    let has_quote = leading_end > 0 || quote_start(&lines) < lines.len();
    if new.is_empty() && has_quote {
        // The user wrote only between or below the quoted lines, or nothing at all.
        let all = joined(&lines);
        return SplitText {
            new: all,
            folded: String::new(),
        };
    }
    let folded = [joined(&lines[..leading_end]), joined(&lines[end..])];
    let folded: Vec<&str> = folded
        .iter()
        .map(String::as_str)
        .filter(|part| !part.is_empty())
        .collect();
    SplitText {
        new,
        folded: folded.join("\n\n"),
    }
}

fn joined(lines: &[&str]) -> String {
    let text = lines.join("\n");
    let first_line = text.len() - text.trim_start_matches(['\n', ' ', '\t']).len();
    let indent = text[..first_line].rfind('\n').map_or(0, |index| index + 1);
    text[indent..].trim_end().to_owned()
}

fn is_quoted(line: &str) -> bool {
    line.starts_with('>')
}

/// The index of the line at which the quoted message at the end of the text begins.
fn quote_start(lines: &[&str]) -> usize {
    let explicit = explicit_quote_start(lines);
    if explicit < lines.len() {
        return introduction_at_end(lines, last_content(&lines[..explicit])).min(explicit);
    }
    let is_content = |line: &&str| !line.is_empty() && !is_quoted(line);
    let after_last_content = |end: usize| {
        lines[..end]
            .iter()
            .rposition(is_content)
            .map_or(0, |index| index + 1)
    };
    // The signature below the last quote is not new text.
    let ends = [Some(lines.len()), trailing_signature(lines)];
    for end in ends.into_iter().flatten() {
        let last_new = after_last_content(end);
        if lines[last_new..end].iter().any(|line| is_quoted(line)) {
            return introduction_at_end(lines, last_new);
        }
    }
    lines.len()
}

/// The index of the signature at the end of these lines, if it begins with the standard separator.
fn trailing_signature(lines: &[&str]) -> Option<usize> {
    let from = lines.len().saturating_sub(MAX_SIGNATURE_LINES);
    let found = lines[from..].iter().rposition(|line| *line == "--");
    found.map(|index| from + index)
}

/// The index of the first line that begins a quoted message without `>`: a separator, the marker of Garth's own
/// messages, or a block of headers. The number of lines if there is none.
fn explicit_quote_start(lines: &[&str]) -> usize {
    for (index, line) in lines.iter().enumerate() {
        if is_separator(line) && (!line.starts_with('_') || has_headers(&lines[index + 1..])) {
            return index;
        }
        if line.contains(REPLY_MARKER) {
            return match is_quoted(line) {
                true => quoted_block_start(lines, index),
                false => index,
            };
        }
        let is_first_header = is_mail_header(line) && (index == 0 || lines[index - 1].is_empty());
        if is_first_header && has_headers(&lines[index..]) {
            return index;
        }
        if is_whole_introduction(lines, index) && follows_unmarked_quote(lines, index) {
            return index;
        }
    }
    lines.len()
}

/// The start of the block of quoted lines around `index`.
fn quoted_block_start(lines: &[&str], index: usize) -> usize {
    let is_outside = |line: &&str| !line.is_empty() && !is_quoted(line);
    lines[..index]
        .iter()
        .rposition(is_outside)
        .map_or(0, |last| last + 1)
}

fn last_content(lines: &[&str]) -> usize {
    lines
        .iter()
        .rposition(|line| !line.is_empty())
        .map_or(0, |index| index + 1)
}

/// Whether at least two of the next lines are headers of a message, such as "From:" and "Sent:".
fn has_headers(lines: &[&str]) -> bool {
    let next = lines.iter().filter(|line| !line.is_empty()).take(4);
    next.filter(|line| is_mail_header(line)).count() >= 2
}

fn is_whole_introduction(lines: &[&str], index: usize) -> bool {
    introduction(lines[index]).is_some() && (index == 0 || lines[index - 1].is_empty())
}

/// Whether the text after an introduction is a quote without `>`: it is the last paragraph block of the text, and an
/// address in angle brackets shows that a program wrote the introduction.
fn follows_unmarked_quote(lines: &[&str], index: usize) -> bool {
    let line = lines[index];
    let has_address = line.contains('<') && line.contains('@');
    let rest = lines[index + 1..].iter().filter(|line| !line.is_empty());
    has_address && !rest.clone().any(|line| is_quoted(line)) && rest.count() > 0
}

/// The index at which an introduction begins that ends at `end`; `end` if there is none.
fn introduction_at_end(lines: &[&str], end: usize) -> usize {
    let from = end.saturating_sub(MAX_INTRODUCTION_LINES);
    let mut found = end;
    for start in (from..end).rev() {
        if lines[start].is_empty() || is_quoted(lines[start]) {
            break;
        }
        match introduction(&lines[start..end].join(" ")) {
            Some(Introduction::Whole) => return start,
            // The line can be the end of an introduction that begins in an earlier line.
            Some(Introduction::End) if found == end => found = start,
            _ => {}
        }
    }
    found
}

/// For a reply below one quoted message: where the new text starts, and where the folded lines end. Both are 0 if the
/// text does not begin with a quote, or if the reply is between quoted lines.
fn leading_quote(lines: &[&str]) -> (usize, usize) {
    let Some(first_quoted) = lines.iter().position(|line| is_quoted(line)) else {
        return (0, 0);
    };
    let is_start = introduction_at_end(lines, last_content(&lines[..first_quoted])) == first_content(lines);
    let is_first = first_quoted == first_content(lines);
    let is_end = |line: &&str| !line.is_empty() && !is_quoted(line);
    let block_end = lines[first_quoted..].iter().position(is_end);
    match block_end {
        Some(length) if is_start || is_first => {
            let end = first_quoted + length;
            match lines[end..].iter().any(|line| is_quoted(line)) {
                true => (0, 0),
                false => (end, end),
            }
        }
        _ => (0, 0),
    }
}

fn first_content(lines: &[&str]) -> usize {
    lines.iter().position(|line| !line.is_empty()).unwrap_or(0)
}

/// The index at which the signature begins; the number of lines if there is none.
fn signature_start(lines: &[&str], text: &str) -> usize {
    let has_standard_separator = text.lines().any(|line| line.trim_end_matches('\r') == "-- ");
    if let Some(index) = lines.iter().rposition(|line| *line == "--") {
        let is_short = lines.len() - index - 1 <= MAX_SIGNATURE_LINES;
        if has_standard_separator || is_short {
            return index;
        }
    }
    let last = last_content(lines);
    match last.checked_sub(1) {
        Some(index) if is_device_signature(lines[index]) => index,
        _ => lines.len(),
    }
}
