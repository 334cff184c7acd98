//! The values of the recording and the corresponding values of Garth: IDs, texts that a server chose, and secrets.

use std::collections::{HashMap, HashSet};

use super::placeholder;
use crate::model::token::hex;
use crate::store::context::RandomSource;

/// Unknown IDs are replaced by IDs above this one, so that they are not those of other objects.
const UNKNOWN_ID: i64 = 2_000_000_000;

/// An object: its kind and its ID.
type Object = (String, i64);

#[derive(Default)]
pub struct Bindings {
    ids: HashMap<Object, i64>,
    /// The objects of Garth that are bound.
    bound: HashSet<Object>,
    texts: HashMap<String, String>,
    secrets: HashMap<String, String>,
    /// Whether the token of the replay is bound.
    has_first_token: bool,
    /// Texts that the client sent, and so did not get from a server.
    sent: HashSet<String>,
    /// Objects of exchanges that were not repeated, with the numbers of these exchanges.
    lost: HashMap<Object, u64>,
    /// Objects that an exchange changed in the recording, but not on Garth, with the numbers of these exchanges.
    outdated: HashMap<Object, u64>,
}

impl Bindings {
    /// Binds an ID at its first occurrence. Returns whether Garth's ID is the corresponding one.
    pub fn bind_id(&mut self, kind: &str, recorded: i64, garth: i64) -> bool {
        if let Some(bound) = self.id(kind, recorded) {
            return bound == garth;
        }
        let is_new = self.bound.insert((kind.to_owned(), garth));
        if is_new {
            self.ids.insert((kind.to_owned(), recorded), garth);
            self.lost.remove(&(kind.to_owned(), recorded));
        }
        is_new
    }

    pub fn id(&self, kind: &str, recorded: i64) -> Option<i64> {
        self.ids.get(&(kind.to_owned(), recorded)).copied()
    }

    /// Whether an object of Garth corresponds to one of the recording.
    pub fn is_bound(&self, kind: &str, garth: i64) -> bool {
        self.bound.contains(&(kind.to_owned(), garth))
    }

    /// The ID of an object that does not exist, because the recorded service refused it.
    pub fn unknown_id(&self, kind: &str, recorded: i64) -> i64 {
        match self.is_bound(kind, recorded) {
            true => UNKNOWN_ID + recorded % 1_000_000,
            false => recorded,
        }
    }

    /// Records that an object does not exist on Garth, because its exchange was not repeated.
    pub fn lose(&mut self, kind: String, recorded: i64, sequence: u64) {
        let object = (kind, recorded);
        if !self.ids.contains_key(&object) {
            self.lost.entry(object).or_insert(sequence);
        }
    }

    /// The exchange that was not repeated, if an object depends on it.
    pub fn lost(&self, kind: &str, recorded: i64) -> Option<u64> {
        self.lost.get(&(kind.to_owned(), recorded)).copied()
    }

    /// Records that an exchange changed an object in the recording, and was not repeated.
    pub fn outdate(&mut self, kind: String, recorded: i64, sequence: u64) {
        self.outdated.entry((kind, recorded)).or_insert(sequence);
    }

    /// The exchange that was not repeated, if it changed an object.
    pub fn outdated(&self, kind: &str, recorded: i64) -> Option<u64> {
        self.outdated.get(&(kind.to_owned(), recorded)).copied()
    }

    /// Binds a text at its first occurrence. Returns whether Garth's text is the corresponding one.
    pub fn bind_text(&mut self, recorded: &str, garth: &str) -> bool {
        let bound = self.texts.entry(recorded.to_owned());
        bound.or_insert_with(|| garth.to_owned()) == garth
    }

    /// Binds a text to another one: the ETag of an object changes with the object.
    pub fn rebind_text(&mut self, recorded: &str, garth: &str) {
        self.texts.insert(recorded.to_owned(), garth.to_owned());
    }

    pub fn text(&self, recorded: &str) -> Option<&str> {
        self.texts.get(recorded).map(String::as_str)
    }

    /// Remembers a text that the client sent.
    pub fn add_sent(&mut self, text: &str) {
        self.sent.insert(text.to_owned());
    }

    pub fn is_sent(&self, text: &str) -> bool {
        self.sent.contains(text)
    }

    pub fn bind_secret(&mut self, placeholder: &str, secret: &str) {
        self.secrets.insert(placeholder.to_owned(), secret.to_owned());
    }

    pub fn secret(&self, placeholder: &str) -> Option<&str> {
        self.secrets.get(placeholder).map(String::as_str)
    }

    /// Binds the token of the replay.
    pub fn bind_first_token(&mut self, placeholder: &str, token: &str) {
        self.has_first_token = true;
        self.bind_secret(placeholder, token);
    }

    pub fn has_first_token(&self) -> bool {
        self.has_first_token
    }

    /// Replaces placeholders by the secrets of the replay. A secret that the client chose gets a random value.
    pub fn reveal(&mut self, text: &str) -> String {
        placeholder::replace_all(text, |placeholder| {
            let secret = self.secrets.entry(placeholder.to_owned());
            // Passwords need letters of both cases, digits and other characters.
            let random = || format!("Aa1-{}", hex(&RandomSource::System.bytes()[..16]));
            secret.or_insert_with(random).clone()
        })
    }

    /// Whether two texts differ only in corresponding IDs: `linode57` and `linode1`.
    pub fn differ_in_ids(&self, recorded: &str, garth: &str) -> bool {
        let (recorded, garth) = (numbers_and_words(recorded), numbers_and_words(garth));
        let is_equal =
            |(recorded, garth): (&&str, &&str)| recorded == garth || self.correspond(recorded, garth);
        recorded.len() == garth.len() && recorded.iter().zip(&garth).all(is_equal)
    }

    fn correspond(&self, recorded: &str, garth: &str) -> bool {
        let (Ok(recorded), Ok(garth)) = (recorded.parse::<i64>(), garth.parse::<i64>()) else {
            return false;
        };
        let mut ids = self.ids.iter();
        ids.any(|((_, id), bound)| *id == recorded && *bound == garth)
    }
}

/// Splits a text into digits and other characters.
fn numbers_and_words(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_number = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != is_number);
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        parts.push(part);
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_bound_at_its_first_occurrence() {
        let mut bindings = Bindings::default();
        assert!(bindings.bind_id("vpc", 57, 1));
        assert!(bindings.bind_id("vpc", 57, 1));
        assert!(!bindings.bind_id("vpc", 57, 2), "another object");
        assert!(!bindings.bind_id("vpc", 58, 1), "the object of another ID");
        assert!(bindings.bind_id("subnet", 57, 3), "another kind");
        assert_eq!(bindings.id("vpc", 57), Some(1));
        assert_eq!(bindings.id("vpc", 58), None);
        assert_ne!(bindings.unknown_id("vpc", 1), 1);
        assert_eq!(bindings.unknown_id("vpc", 9), 9);
    }

    #[test]
    fn texts_can_differ_in_bound_ids_only() {
        let mut bindings = Bindings::default();
        bindings.bind_id("instance", 57, 1);
        assert!(bindings.differ_in_ids("/v4/linode/instances/57", "/v4/linode/instances/1"));
        assert!(bindings.differ_in_ids("linode57", "linode1"));
        assert!(!bindings.differ_in_ids("linode58", "linode1"));
        assert!(!bindings.differ_in_ids("host57", "linode1"));
        assert!(!bindings.differ_in_ids("57 of 57", "1 of 2"));
    }

    #[test]
    fn a_secret_that_the_client_chose_gets_one_random_value() {
        let mut bindings = Bindings::default();
        bindings.bind_secret("<secret 1>", "known");
        assert_eq!(bindings.reveal("x <secret 1>"), "x known");
        let first = bindings.reveal("<secret 2>");
        assert!(first.len() > 12 && first != "<secret 2>");
        assert_eq!(bindings.reveal("<secret 2>"), first);
    }
}
