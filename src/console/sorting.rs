//! The sort order of a list, which links in the header of its table choose.

use maud::{Markup, html};

use super::query::Query;

/// The parameter in the URL: a field, with a minus sign for the descending order.
pub const PARAMETER: &str = "sort";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sorting {
    pub field: &'static str,
    pub descending: bool,
    /// The field that the list is sorted by without a parameter.
    default: &'static str,
}

impl Sorting {
    /// Reads the order. An unknown field means the first of the fields.
    pub fn read(query: &Query, fields: &[&'static str]) -> Self {
        let raw = query.text(PARAMETER);
        let (name, descending) = raw.strip_prefix('-').map_or((raw, false), |name| (name, true));
        let default = fields.first().copied().unwrap_or_default();
        match fields.iter().find(|field| **field == name) {
            Some(field) => Self {
                field,
                descending,
                default,
            },
            None => Self {
                field: default,
                descending: false,
                default,
            },
        }
    }

    /// The value of the parameter; empty for the default order.
    pub fn parameter(self) -> String {
        match (self.descending, self.field == self.default) {
            (true, _) => format!("-{}", self.field),
            (false, true) => String::new(),
            (false, false) => self.field.to_owned(),
        }
    }

    /// The order after a click on the header of a column.
    fn after_click(self, field: &'static str) -> Self {
        Self {
            field,
            descending: self.field == field && !self.descending,
            ..self
        }
    }

    /// The header of a column. `url` is the URL of the list for the value of the parameter.
    pub fn header(self, label: &str, field: &'static str, url: impl Fn(&str) -> String) -> Markup {
        self.header_cell(label, field, false, url)
    }

    /// The header of a column of numbers.
    pub fn number_header(self, label: &str, field: &'static str, url: impl Fn(&str) -> String) -> Markup {
        self.header_cell(label, field, true, url)
    }

    fn header_cell(
        self,
        label: &str,
        field: &'static str,
        is_number: bool,
        url: impl Fn(&str) -> String,
    ) -> Markup {
        let is_current = self.field == field;
        let (direction, arrow) = match self.descending {
            true => ("descending", "↓"),
            false => ("ascending", "↑"),
        };
        html! {
            th scope="col" .number[is_number] aria-sort=[is_current.then_some(direction)] {
                a .sort href=(url(&self.after_click(field).parameter())) {
                    (label) @if is_current { " " span aria-hidden="true" { (arrow) } }
                }
            }
        }
    }
}
