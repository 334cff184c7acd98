//! `If-None-Match`: the entity tags that a client already has (decision 0009).

use axum::http::{HeaderMap, HeaderValue, header};

/// The values of the `If-None-Match` headers of a request.
pub struct KnownTags(Vec<HeaderValue>);

impl KnownTags {
    /// `None` if the request has no `If-None-Match` header.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        headers.get(header::IF_NONE_MATCH)?;
        let lines = headers.get_all(header::IF_NONE_MATCH).into_iter();
        Some(Self(lines.cloned().collect()))
    }

    /// Whether the client has the representation with this tag, by weak comparison (RFC 9110, 8.8.3.2).
    pub fn contain(&self, tag: &str) -> bool {
        let opaque = tag.strip_prefix("W/").unwrap_or(tag);
        self.0.iter().any(|line| {
            let line = line.to_str().unwrap_or_default().trim();
            line == "*" || parse_list(line).is_some_and(|tags| tags.contains(&opaque))
        })
    }
}

/// The entity tags in a header value, with their quotes and without `W/`; `None` if the value is not a list of entity
/// tags.
fn parse_list(line: &str) -> Option<Vec<&str>> {
    let mut tags = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        if rest.is_empty() {
            return Some(tags);
        }
        let opaque = rest.strip_prefix("W/").unwrap_or(rest);
        let end = opaque.strip_prefix('"')?.find('"')? + 2;
        let (tag, remainder) = opaque.split_at(end);
        tags.push(tag);
        rest = remainder.trim_start_matches([' ', '\t']);
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contain(lines: &[&str], tag: &str) -> bool {
        let mut headers = HeaderMap::new();
        for line in lines {
            let line = HeaderValue::try_from(*line).expect("plain text");
            headers.append(header::IF_NONE_MATCH, line);
        }
        KnownTags::of(&headers).is_some_and(|known| known.contain(tag))
    }

    #[test]
    fn a_tag_is_known_if_the_list_contains_an_equal_tag() {
        for lines in [
            &["\"a\""][..],
            &["W/\"a\""],
            &["\"x\",\"a\""],
            &["\"x,y\" , W/\"a\" ,"],
            &["\"x\"", "\"a\""],
            &[" * "],
        ] {
            assert!(contain(lines, "\"a\""), "{lines:?}");
        }
        assert!(contain(&["\"a\""], "W/\"a\""));
    }

    #[test]
    fn a_different_tag_or_a_malformed_list_does_not_match() {
        for lines in [
            &[][..],
            &[""],
            &["a"],
            &["\"xa\""],
            &["\"ax\""],
            &["\"a"],
            &["w/\"a\""],
            &["\"a\" x"],
            &["\"a\"\"x\""],
            &["\"x\", *"],
            &["\"x,\"a\"\""],
        ] {
            assert!(!contain(lines, "\"a\""), "{lines:?}");
        }
    }
}
