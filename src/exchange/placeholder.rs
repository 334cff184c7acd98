//! The text that stands for a secret in a recording: `<secret 3>`. Equal secrets of a recording have the same number.

const START: &str = "<secret ";
const END: char = '>';

pub fn text(number: usize) -> String {
    format!("{START}{number}{END}")
}

/// The first placeholder in a text: the text before it, the placeholder, and the text after it.
pub fn find(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(at) = text[from..].find(START) {
        let start = from + at;
        let number = &text[start + START.len()..];
        let digits = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        if digits > 0 && number[digits..].starts_with(END) {
            let end = start + START.len() + digits + END.len_utf8();
            return Some((&text[..start], &text[start..end], &text[end..]));
        }
        from = start + START.len();
    }
    None
}

/// Replaces all placeholders.
pub fn replace_all(text: &str, mut replacement: impl FnMut(&str) -> String) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, placeholder, after)) = find(rest) {
        replaced.push_str(before);
        replaced.push_str(&replacement(placeholder));
        rest = after;
    }
    replaced + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_found_among_similar_text() {
        assert_eq!(find("a <secret 12> b"), Some(("a ", "<secret 12>", " b")));
        assert_eq!(
            find("<secret x> <secret 1>"),
            Some(("<secret x> ", "<secret 1>", ""))
        );
        for other in ["", "<secret >", "<secret 1", "secret 1>"] {
            assert_eq!(find(other), None, "{other}");
        }
        assert_eq!(replace_all("<secret 1>-<secret 2>", |_| "x".to_owned()), "x-x");
    }
}
