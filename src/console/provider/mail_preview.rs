//! The preview of a mail: its subject, its text and its HTML part.

use maud::{Markup, html};

use crate::mail::outbound::template::Rendered;

/// The HTML part is in a frame without scripts, forms and access to the page.
pub fn preview(rendered: &Rendered) -> Markup {
    html! {
        dl .facts { dt { "Subject" } dd { (rendered.subject) } }
        div .mail-previews {
            section aria-labelledby="text-part" {
                h3 #text-part { "Text part" }
                pre .mail-text tabindex="0" aria-labelledby="text-part" { (rendered.text.replace("\r\n", "\n")) }
            }
            section aria-labelledby="html-part" {
                h3 #html-part { "HTML part" }
                iframe .mail-html title="HTML part of the mail" sandbox="" srcdoc=(rendered.html) {}
            }
        }
    }
}
