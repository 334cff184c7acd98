//! Replaces secrets by placeholders, before anything is written.
//!
//! A value is secret because of the name of its field, because of its shape, or because it is equal to such a value of
//! an earlier exchange: an error text can repeat a password.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::placeholder;
use super::secret_fields::{is_secret, is_secret_parameter};

/// Shorter secrets are masked only in their fields. In other texts, they could be parts of words.
const MIN_CHARS_IN_TEXT: usize = 6;
/// Shorter tokens are masked only after `Bearer`. In other texts, they could be numbers or names.
const MIN_SHORT_TOKEN_CHARS: usize = 3;
/// The tokens of the interface have 64 hexadecimal digits.
const MIN_HEX_DIGITS: usize = 60;
/// A text after `Bearer` with fewer characters is a word, not a token.
const MIN_TOKEN_CHARS: usize = 12;
/// A JSON Web Token begins with the encoded `{"`.
const JSON_WEB_TOKEN: &str = "eyJ";
const MIN_JSON_WEB_TOKEN_CHARS: usize = 30;
const PREFIXES: [&str; 1] = ["whsec_"];
const PRIVATE_KEY: &str = "PRIVATE KEY-----";

#[derive(Default)]
pub struct Masker {
    /// The numbers of the placeholders.
    numbers: HashMap<String, usize>,
    /// The values of secret fields, longest first, which are masked in all texts.
    known: Vec<String>,
    /// Shorter tokens, which are masked in texts only as complete words.
    short_tokens: HashSet<String>,
}

impl Masker {
    /// The placeholder of a secret.
    pub fn placeholder(&mut self, secret: &str) -> String {
        let next = self.numbers.len() + 1;
        let number = self.numbers.entry(secret.to_owned()).or_insert(next);
        placeholder::text(*number)
    }

    /// Masks the secret in all texts from now on.
    pub fn learn(&mut self, secret: &str) {
        let is_long = secret.chars().count() >= MIN_CHARS_IN_TEXT;
        if is_long && !self.known.iter().any(|known| known == secret) {
            self.known.push(secret.to_owned());
            self.known.sort_by_key(|known| std::cmp::Reverse(known.len()));
        }
    }

    /// Learns the secrets of a JSON document.
    pub fn learn_json(&mut self, value: &Value) {
        for_each_secret(value, false, &mut |secret| self.learn(secret));
    }

    /// Learns the secrets of a query or a form.
    pub fn learn_pairs(&mut self, pairs: &[(String, String)]) {
        for (name, value) in pairs {
            if is_secret_parameter(name) {
                self.learn(value);
            }
        }
    }

    /// The header `Authorization` without its secret: `Bearer <secret 1>`.
    pub fn authorization(&mut self, value: &str) -> String {
        match value.split_once(' ') {
            Some((scheme, secret)) => {
                self.learn(secret);
                if (MIN_SHORT_TOKEN_CHARS..MIN_CHARS_IN_TEXT).contains(&secret.chars().count()) {
                    self.short_tokens.insert(secret.to_owned());
                }
                format!("{scheme} {}", self.placeholder(secret))
            }
            None => self.placeholder(value),
        }
    }

    pub fn json(&mut self, value: &mut Value) {
        self.json_field(value, false);
    }

    fn json_field(&mut self, value: &mut Value, in_secret: bool) {
        match value {
            Value::String(text) if in_secret && !text.is_empty() => *text = self.placeholder(text),
            Value::String(text) => *text = self.text(text),
            Value::Number(number) if in_secret => {
                let number = number.to_string();
                *value = Value::String(self.placeholder(&number));
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.json_field(item, in_secret)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.json_field(field, in_secret || is_secret(name));
                }
            }
            _ => {}
        }
    }

    pub fn pairs(&mut self, pairs: &mut [(String, String)]) {
        for (name, value) in pairs {
            *name = self.text(name);
            *value = match is_secret_parameter(name) {
                true if !value.is_empty() => self.placeholder(value),
                _ => self.text(value),
            };
        }
    }

    /// Masks known secrets and texts with the shape of a secret.
    pub fn text(&mut self, text: &str) -> String {
        if text.contains(PRIVATE_KEY) {
            return self.placeholder(text);
        }
        let mut masked = text.to_owned();
        for index in 0..self.known.len() {
            if masked.contains(&self.known[index]) {
                let secret = self.known[index].clone();
                let placeholder = self.placeholder(&secret);
                masked = masked.replace(&secret, &placeholder);
            }
        }
        self.shapes(&masked)
    }

    fn shapes(&mut self, text: &str) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if let Some(introduction) = introduction(&masked) {
                let end = introduction.end_of_secret(rest);
                let secret = &rest[..end];
                let is_known = !secret.is_empty() && self.numbers.contains_key(secret);
                if is_known || introduction.is_followed_by(secret) {
                    masked.push_str(&self.placeholder(secret));
                    rest = &rest[end..];
                    continue;
                }
            }
            let length = rest.find(ends_word).unwrap_or(rest.len());
            // A dot can be the end of a sentence.
            let length = rest[..length].trim_end_matches('.').len();
            if length == 0 {
                masked.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            let (word, after) = rest.split_at(length);
            match has_secret_shape(word) || self.short_tokens.contains(word) {
                true => masked.push_str(&self.placeholder(word)),
                false => masked.push_str(word),
            }
            rest = after;
        }
        masked
    }
}

/// Calls `found` with the text of each value in a secret field.
fn for_each_secret(value: &Value, in_secret: bool, found: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) if in_secret => found(text),
        Value::Number(number) if in_secret => found(&number.to_string()),
        Value::Array(items) => items
            .iter()
            .for_each(|item| for_each_secret(item, in_secret, found)),
        Value::Object(fields) => {
            for (name, field) in fields {
                for_each_secret(field, in_secret || is_secret(name), found);
            }
        }
        _ => {}
    }
}

/// Text before a secret.
enum Introduction {
    /// `Bearer ` or `Basic `
    Scheme,
    /// `Authorization: Bearer `
    Header,
    /// `token=`
    Parameter,
    /// `"token": "`, with its quotation mark
    Quoted(char),
}

impl Introduction {
    /// The end of the text that can be secret.
    fn end_of_secret(&self, rest: &str) -> usize {
        let end = match self {
            Introduction::Quoted(mark) => rest.find(*mark),
            _ => rest.find(ends_introduced),
        };
        end.unwrap_or(rest.len())
    }

    fn is_followed_by(&self, text: &str) -> bool {
        match self {
            Introduction::Scheme => {
                text.len() >= MIN_TOKEN_CHARS && text.contains(|c: char| c.is_ascii_digit())
            }
            Introduction::Header | Introduction::Parameter | Introduction::Quoted(_) => !text.is_empty(),
        }
    }
}

/// The introduction at the end of a text.
fn introduction(before: &str) -> Option<Introduction> {
    if let Some(before) = before.strip_suffix('=') {
        let name = last_word(before);
        return is_secret_parameter(name).then_some(Introduction::Parameter);
    }
    if let Some(mark) = before.chars().next_back().filter(|mark| is_quotation_mark(*mark)) {
        let before = before[..before.len() - 1].trim_end_matches('\\').trim_end();
        let before = before.strip_suffix([':', '='])?.trim_end();
        let name = last_word(before.trim_end_matches(|c| is_quotation_mark(c) || c == '\\'));
        return is_secret(name).then_some(Introduction::Quoted(mark));
    }
    let before = before.strip_suffix(' ')?;
    let scheme = last_word(before);
    let is_scheme = ["bearer", "basic"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    if !is_scheme {
        return None;
    }
    let header = before[..before.len() - scheme.len()].trim_end();
    let header = header.trim_end_matches(is_quotation_mark).trim_end();
    let is_header = header.strip_suffix(':').is_some_and(|header| {
        let name = last_word(header.trim_end_matches(is_quotation_mark));
        name.eq_ignore_ascii_case("authorization")
    });
    match is_header {
        true => Some(Introduction::Header),
        false => Some(Introduction::Scheme),
    }
}

fn last_word(text: &str) -> &str {
    text.rsplit(ends_word).next().unwrap_or_default()
}

fn is_quotation_mark(letter: char) -> bool {
    matches!(letter, '"' | '\'')
}

fn ends_introduced(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '&' | '"' | '\'' | ';' | ',' | '<' | '>' | ')' | '#')
}

fn ends_word(letter: char) -> bool {
    !letter.is_ascii_alphanumeric() && !matches!(letter, '_' | '-' | '.')
}

fn has_secret_shape(word: &str) -> bool {
    let is_hex_part =
        |part: &str| part.len() >= MIN_HEX_DIGITS && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_hex = word.split(['.', '_', '-']).any(is_hex_part);
    let is_json_web_token = word.starts_with(JSON_WEB_TOKEN) && word.len() >= MIN_JSON_WEB_TOKEN_CHARS;
    is_hex || is_json_web_token || PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const TOKEN: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

    fn masked(mut value: Value) -> Value {
        let mut masker = Masker::default();
        masker.learn_json(&value);
        masker.json(&mut value);
        value
    }

    #[test]
    fn values_of_secret_fields_are_masked_at_every_depth() {
        let body = json!({
            "label": "core", "token": "abc", "tfa_code": 123456, "token_type": "bearer", "password": null,
            "users": [{"name": "ada", "password": "correct horse"}],
            "stackscript_data": {"admin": {"name": "root", "list": ["x", 5, true]}},
            "again": "the password correct horse is too weak",
        });
        let expected = json!({
            "label": "core", "token": "<secret 1>", "tfa_code": "<secret 2>", "token_type": "bearer",
            "password": null,
            "users": [{"name": "ada", "password": "<secret 3>"}],
            "stackscript_data": {"admin": {"name": "<secret 4>", "list": ["<secret 5>", "<secret 6>", true]}},
            "again": "the password <secret 3> is too weak",
        });
        assert_eq!(masked(body), expected);
    }

    #[test]
    fn texts_with_the_shape_of_a_secret_are_masked() {
        let mut masker = Masker::default();
        for (text, expected) in [
            (format!("token {TOKEN}."), "token <secret 1>."),
            (format!("/x?token={TOKEN}&page=1"), "/x?token=<secret 1>&page=1"),
            ("password=abc".to_owned(), "password=<secret 2>"),
            ("Bearer abc123def456".to_owned(), "Bearer <secret 3>"),
            (
                "not \"Authorization: Bearer abc\"".to_owned(),
                "not \"Authorization: Bearer <secret 2>\"",
            ),
            (
                "near {\"root_pass\": \"abc\",}".to_owned(),
                "near {\"root_pass\": \"<secret 2>\",}",
            ),
            ("whsec_abc".to_owned(), "<secret 4>"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc".to_owned(), "<secret 5>"),
            (
                "the Bearer token is missing".to_owned(),
                "the Bearer token is missing",
            ),
            ("Basic authentication".to_owned(), "Basic authentication"),
            (format!("id-{TOKEN}.json"), "<secret 6>"),
            (
                "f47ac10b-58cc-4372-a567-0e02b2c3d479".to_owned(),
                "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            ),
        ] {
            assert_eq!(masker.text(&text), expected, "{text}");
        }
    }

    #[test]
    fn a_short_token_is_masked_as_a_word_and_after_bearer() {
        let mut masker = Masker::default();
        assert_eq!(masker.authorization("Bearer tok"), "Bearer <secret 1>");
        assert_eq!(masker.authorization("Bearer x"), "Bearer <secret 2>");
        let masked = masker.text("tok, token, x, Bearer tok and Bearer x");
        assert_eq!(
            masked,
            "<secret 1>, token, x, Bearer <secret 1> and Bearer <secret 2>"
        );
    }

    #[test]
    fn equal_secrets_have_the_same_placeholder() {
        let mut masker = Masker::default();
        assert_eq!(
            masker.authorization(&format!("Bearer {TOKEN}")),
            "Bearer <secret 1>"
        );
        let mut created = json!({"token": TOKEN, "other": "x"});
        masker.json(&mut created);
        assert_eq!(created, json!({"token": "<secret 1>", "other": "x"}));
        let mut pairs = vec![
            ("code".to_owned(), "abcd".to_owned()),
            ("page".to_owned(), "1".to_owned()),
        ];
        masker.pairs(&mut pairs);
        assert_eq!(pairs[0].1, "<secret 2>");
        assert_eq!(pairs[1].1, "1");
    }

    /// A document in which a secret can be at any place.
    fn document(secret: String) -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(json!("plain")),
            Just(json!(7)),
            Just(json!(format!("before {secret} after"))),
            Just(json!({"root_pass": secret.clone()})),
            Just(json!({"nested": {"client_secret": [secret.clone()]}})),
            Just(json!({"url": format!("/path?token={secret}&page=1")})),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::btree_map("[a-z]{1,8}", inner, 0..4)
                    .prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_secret_remains_in_a_document(
            (secret, document) in "[A-Za-z0-9!/+%\"]{6,40}[0-9]{4}Q"
                .prop_flat_map(|secret| (Just(secret.clone()), document(secret))),
        ) {
            let mut value = json!({"password": secret, "document": document});
            let mut masker = Masker::default();
            masker.learn_json(&value);
            masker.json(&mut value);
            let mut found = false;
            for_each_text(&value, &mut |text| found |= text.contains(&secret));
            prop_assert!(!found, "{value}");
        }

        #[test]
        fn documents_without_secrets_are_not_changed(
            label in "[a-zA-Z0-9 .:/_-]{0,40}", number in any::<i64>(),
        ) {
            let value = json!({"label": label, "data": [{"id": number, "description": label}]});
            prop_assert_eq!(masked(value.clone()), value);
        }
    }

    fn for_each_text(value: &Value, found: &mut impl FnMut(&str)) {
        match value {
            Value::String(text) => found(text),
            Value::Array(items) => items.iter().for_each(|item| for_each_text(item, found)),
            Value::Object(fields) => fields.values().for_each(|field| for_each_text(field, found)),
            _ => {}
        }
    }
}
