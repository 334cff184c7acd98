//! The fields of a submitted form.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use maud::{Markup, html};

use crate::model::input::Input;
use crate::rules::request::{Expected, Request};
use crate::web::App;

/// The hidden field with the version (`EntityTag`) of the resource when the form was rendered.
pub const VERSION_FIELD: &str = "version";

/// The hidden field with the highest ID when the form was rendered. Rules use it to detect duplicate
/// submissions.
pub const NEWEST_ID_FIELD: &str = "newest";

pub fn newest_id_field(id: i64) -> Markup {
    html! { input type="hidden" name=(NEWEST_ID_FIELD) value=(id); }
}

/// The submitted fields of a form, as text. If a field was submitted several times, only its first value counts.
#[derive(Clone, Debug, Default)]
pub struct FormData(HashMap<String, String>);

impl FromRequestParts<App> for FormData {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<FormData>().cloned().unwrap_or_default())
    }
}

impl FormData {
    pub fn new(fields: Vec<(String, String)>) -> Self {
        // In a map, the last of several values remains.
        Self(fields.into_iter().rev().collect())
    }

    /// The value of a field; empty if the field was not submitted.
    pub fn text(&self, name: &str) -> &str {
        self.get(name).unwrap_or_default()
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names of the submitted fields that start with a prefix, in alphabetical order.
    pub fn names_with_prefix(&self, prefix: &str) -> Vec<&str> {
        let mut names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        names.retain(|name| name.starts_with(prefix));
        names.sort_unstable();
        names
    }

    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// The named fields as an object for a rule, with text values.
    pub fn object(&self, names: &[&str]) -> Vec<(String, Input)> {
        let field = |name: &&str| ((*name).to_owned(), self.input(name));
        names.iter().map(field).collect()
    }

    /// Like `object`, but without empty fields. For choices and numbers.
    pub fn non_empty(&self, names: &[&str]) -> Vec<(String, Input)> {
        let mut object = self.object(names);
        object.retain(|(_, value)| *value != Input::Text(String::new()));
        object
    }

    fn input(&self, name: &str) -> Input {
        Input::Text(self.text(name).replace("\r\n", "\n"))
    }

    /// The number of rows `list[0].name`, `list[1].name`, ….
    pub fn row_count(&self, list: &str, names: &[&str]) -> usize {
        let exists = |at: &usize| names.iter().any(|name| self.has(&format!("{list}[{at}].{name}")));
        (0..).take_while(exists).count()
    }

    /// The rows as a list for a rule.
    pub fn list(&self, list: &str, names: &[&str]) -> Input {
        let row = |at: usize| {
            let field = |name: &&str| ((*name).to_owned(), self.input(&format!("{list}[{at}].{name}")));
            Input::Object(names.iter().map(field).collect())
        };
        Input::List((0..self.row_count(list, names)).map(row).collect())
    }

    /// Removes empty rows and the row `removed`; the remaining rows are renumbered.
    pub fn remove_rows(&mut self, list: &str, names: &[&str], removed: Option<usize>) {
        let field = |at: usize, name: &str| format!("{list}[{at}].{name}");
        let rows: Vec<Vec<String>> = (0..self.row_count(list, names))
            .map(|at| {
                names
                    .iter()
                    .map(|name| self.text(&field(at, name)).to_owned())
                    .collect()
            })
            .collect();
        let prefix = format!("{list}[");
        self.0.retain(|key, _| !key.starts_with(&prefix));
        let remaining = rows
            .into_iter()
            .enumerate()
            .filter(|(at, row)| Some(*at) != removed && row.iter().any(|value| !value.trim().is_empty()));
        for (at, (_, row)) in remaining.enumerate() {
            for (name, value) in names.iter().zip(row) {
                self.0.insert(field(at, name), value);
            }
        }
    }

    /// The value of a checkbox. Browsers do not submit an unchecked checkbox.
    pub fn checkbox(&self, name: &str) -> (String, Input) {
        (name.to_owned(), Input::Bool(self.text(name) == "true"))
    }

    /// The highest ID when the form was rendered. Without the field, no resource counts as newer than the
    /// form.
    pub fn newest_id(&self) -> i64 {
        self.text(NEWEST_ID_FIELD).parse().unwrap_or(i64::MAX)
    }

    /// A request to a rule that expects the version of the resource that the page showed.
    pub fn request(&self, object: Vec<(String, Input)>) -> Request {
        self.request_with_version(VERSION_FIELD, object)
    }

    /// Like `request`, with the version in another hidden field, for a page of several resources.
    pub fn request_with_version(&self, field: &str, object: Vec<(String, Input)>) -> Request {
        let version = Some(self.text(field)).filter(|version| !version.is_empty());
        Request {
            expected: version.map(|version| Expected::Tags(vec![version.to_owned()])),
            body: Ok(Input::Object(object)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form_data(pairs: &[(&str, &str)]) -> FormData {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        FormData::new(pairs.iter().map(pair).collect())
    }

    #[test]
    fn rows_become_a_list_without_empty_rows() {
        let mut rows = form_data(&[
            ("label", "core"),
            ("subnets[0].label", "a"),
            ("subnets[0].ipv4", "10.0.0.0/24"),
            ("subnets[1].label", " "),
            ("subnets[1].ipv4", ""),
            ("subnets[2].label", "c"),
            ("subnets[2].ipv4", ""),
        ]);
        rows.remove_rows("subnets", &["label", "ipv4"], None);
        assert_eq!(rows.row_count("subnets", &["label", "ipv4"]), 2);
        assert_eq!((rows.text("subnets[1].label"), rows.text("label")), ("c", "core"));
        rows.remove_rows("subnets", &["label", "ipv4"], Some(0));
        let Input::List(list) = rows.list("subnets", &["label", "ipv4"]) else {
            panic!("not a list");
        };
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].get("label"), Some(&Input::Text("c".to_owned())));
    }
}
