//! Descriptions as paragraphs.

use maud::{Markup, html};

pub fn paragraphs(text: &str) -> Markup {
    html! {
        @for paragraph in text.split("\n\n").filter(|text| !text.is_empty()) { p { (paragraph) } }
    }
}
