//! The fields of a form, as a browser sent them.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use maud::{Markup, html};

use crate::model::input::Input;
use crate::rules::request::{Expected, Request};
use crate::web::App;

/// The hidden field that says in which state a thing was when its form was drawn.
pub const SEEN: &str = "seen";

/// The hidden field that says what was the newest of its kind when a form was drawn that makes one more.
pub const NEWEST: &str = "newest";

/// That field, for what is meant to be sent once.
pub fn newest(id: i64) -> Markup {
    html! { input type="hidden" name=(NEWEST) value=(id); }
}

/// The fields of a form, as they were typed.
#[derive(Clone, Debug, Default)]
pub struct Sent(Vec<(String, String)>);

impl FromRequestParts<App> for Sent {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Sent>().cloned().unwrap_or_default())
    }
}

impl Sent {
    pub fn new(fields: Vec<(String, String)>) -> Self {
        Self(fields)
    }

    /// A field; nothing if it was not sent. Line ends are as the store has them.
    pub fn text(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.retain(|(key, _)| key != name);
        self.0.push((name.to_owned(), value.into()));
    }

    /// An object for a rule with these fields, as texts.
    pub fn object(&self, names: &[&str]) -> Vec<(String, Input)> {
        let field = |name: &&str| ((*name).to_owned(), self.input(name));
        names.iter().map(field).collect()
    }

    /// The same for a choice or a number: what was left empty is left out.
    pub fn filled(&self, names: &[&str]) -> Vec<(String, Input)> {
        let mut object = self.object(names);
        object.retain(|(_, value)| *value != Input::Text(String::new()));
        object
    }

    fn input(&self, name: &str) -> Input {
        Input::Text(self.text(name).replace("\r\n", "\n"))
    }

    /// How many rows of `list[0].name`, `list[1].name`, … there are.
    pub fn rows(&self, list: &str, names: &[&str]) -> usize {
        let there = |at: &usize| names.iter().any(|name| self.has(&format!("{list}[{at}].{name}")));
        (0..).take_while(there).count()
    }

    /// Those rows as a list for a rule.
    pub fn list(&self, list: &str, names: &[&str]) -> Input {
        let row = |at: usize| {
            let field = |name: &&str| ((*name).to_owned(), self.input(&format!("{list}[{at}].{name}")));
            Input::Object(names.iter().map(field).collect())
        };
        Input::List((0..self.rows(list, names)).map(row).collect())
    }

    /// Takes rows out in which nothing was typed, and one more if asked to; the rest move up.
    pub fn without_row(&mut self, list: &str, names: &[&str], leave_out: Option<usize>) {
        let field = |at: usize, name: &str| format!("{list}[{at}].{name}");
        let rows: Vec<Vec<String>> = (0..self.rows(list, names))
            .map(|at| {
                names
                    .iter()
                    .map(|name| self.text(&field(at, name)).to_owned())
                    .collect()
            })
            .collect();
        self.0.retain(|(key, _)| !key.starts_with(&format!("{list}[")));
        let kept = rows
            .into_iter()
            .enumerate()
            .filter(|(at, row)| Some(*at) != leave_out && row.iter().any(|value| !value.trim().is_empty()));
        for (at, (_, row)) in kept.enumerate() {
            for (name, value) in names.iter().zip(row) {
                self.0.push((field(at, name), value));
            }
        }
    }

    /// Whether a switch was on; one that is off is not sent at all.
    pub fn truth(&self, name: &str) -> (String, Input) {
        (name.to_owned(), Input::Bool(self.text(name) == "true"))
    }

    /// What was the newest when the form was drawn; if it does not say, nothing can have come after.
    pub fn newest(&self) -> i64 {
        self.text(NEWEST).parse().unwrap_or(i64::MAX)
    }

    /// What a rule is asked, for the state in which the page showed the thing.
    pub fn request(&self, object: Vec<(String, Input)>) -> Request {
        let seen = Some(self.text(SEEN)).filter(|seen| !seen.is_empty());
        Request {
            expected: seen.map(|seen| Expected::Tags(vec![seen.to_owned()])),
            body: Ok(Input::Object(object)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(pairs: &[(&str, &str)]) -> Sent {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Sent::new(pairs.iter().map(pair).collect())
    }

    #[test]
    fn rows_become_a_list_and_empty_ones_are_left_out() {
        let mut rows = sent(&[
            ("label", "core"),
            ("subnets[0].label", "a"),
            ("subnets[0].ipv4", "10.0.0.0/24"),
            ("subnets[1].label", " "),
            ("subnets[1].ipv4", ""),
            ("subnets[2].label", "c"),
            ("subnets[2].ipv4", ""),
        ]);
        rows.without_row("subnets", &["label", "ipv4"], None);
        assert_eq!(rows.rows("subnets", &["label", "ipv4"]), 2);
        assert_eq!((rows.text("subnets[1].label"), rows.text("label")), ("c", "core"));
        rows.without_row("subnets", &["label", "ipv4"], Some(0));
        let Input::List(list) = rows.list("subnets", &["label", "ipv4"]) else {
            panic!("not a list");
        };
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].get("label"), Some(&Input::Text("c".to_owned())));
    }
}
