//! The file name in the `Content-Disposition` header of a form part.

use axum::http::HeaderValue;

/// The file name that the client sent. A `filename` takes precedence over a `filename*`: RFC 7578 forbids
/// `filename*`, and a filter in front of the server may have checked only the `filename`.
pub fn sent_in(disposition: &HeaderValue) -> Option<String> {
    let text = std::str::from_utf8(disposition.as_bytes()).ok()?;
    let parameters = parameters(text);
    let find = |parameter: &str| {
        let mut found = parameters.iter().filter(|(name, _)| name == parameter);
        found.next().map(|(_, value)| value.as_str())
    };
    match find("filename") {
        // Browsers encode quotes and line breaks in a name this way.
        Some(plain) => {
            let plain = plain.replace("%22", "\"");
            Some(plain.replace("%0D", "\r").replace("%0A", "\n"))
        }
        None => find("filename*").and_then(decode_extended),
    }
}

/// The parameters after `form-data`, with lower-case names and unquoted values.
fn parameters(disposition: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = disposition.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, after_name)) = rest.split_once('=') {
        let name = name.trim_matches([';', ' ', '\t']).to_ascii_lowercase();
        let Some((value, after_value)) = value_at_start(after_name.trim_start()) else {
            break;
        };
        found.push((name, value));
        rest = after_value.split_once(';').map_or("", |(_, rest)| rest);
    }
    found
}

/// Splits a text into the value at its start and the remainder. The value may be quoted. Returns `None` if
/// the closing quote is missing.
fn value_at_start(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ' ']).unwrap_or(text.len());
        return Some((text[..end].to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut rest = quoted;
    loop {
        let at = rest.find('"')?;
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        // A backslash escapes only a quote. Other backslashes are part of the paths that some browsers send.
        match before.strip_suffix('\\') {
            Some(before) => {
                value.push_str(before);
                value.push('"');
                rest = after;
            }
            None => {
                value.push_str(before);
                return Some((value, after));
            }
        }
    }
}

/// Decodes `UTF-8''na%C3%AFve.txt`.
fn decode_extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_, encoded) = rest.split_once('\'')?;
    if !charset.eq_ignore_ascii_case("utf-8") {
        return None;
    }
    // Unlike in a query string, "+" is a literal character here.
    let query = format!("n={}", encoded.replace('+', "%2B").replace('&', "%26"));
    let (_, name) = form_urlencoded::parse(query.as_bytes()).next()?;
    (!name.contains('\u{fffd}')).then(|| name.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(rest: &str) -> Option<String> {
        let value = format!("form-data; name=\"file\"; {rest}");
        sent_in(&HeaderValue::try_from(value).expect("a header value"))
    }

    #[test]
    fn the_plain_name_has_precedence() {
        for (rest, expected) in [
            ("filename=\"a.txt\"", "a.txt"),
            ("FileName = \"a.txt\"", "a.txt"),
            ("filename=a.txt; x=y", "a.txt"),
            ("filename=\"a;b=c.txt\"", "a;b=c.txt"),
            ("filename=\"say \\\"hi\\\".txt\"", "say \"hi\".txt"),
            (r#"filename="C:\temp\a.txt""#, r"C:\temp\a.txt"),
            ("filename*=UTF-8''other.txt; filename=\"a.txt\"", "a.txt"),
            ("x=\"filename=b.txt\"; filename=a.txt", "a.txt"),
        ] {
            assert_eq!(name(rest).as_deref(), Some(expected), "{rest}");
        }
        for rest in [
            "",
            "x=y",
            "filename",
            "filename=\"a.txt",
            "filename=\"a.txt\\\"",
            "x=\"; filename=b.txt\"",
        ] {
            assert_eq!(name(rest), None, "{rest}");
        }
    }

    #[test]
    fn an_extended_name_is_used_if_there_is_no_plain_name() {
        assert_eq!(
            name("filename*=UTF-8''na%C3%AFve+1%262.txt"),
            Some("naïve+1&2.txt".to_owned())
        );
        assert_eq!(name("FileName*=utf-8'en'a.txt"), Some("a.txt".to_owned()));
        for rest in [
            "filename*=latin1''a.txt",
            "filename*=UTF-8''%ff.txt",
            "filename*=a.txt",
        ] {
            assert_eq!(name(rest), None, "{rest}");
        }
    }
}
