//! The subject, the text and the HTML of mails. The HTML has no scripts, images or external styles.

mod account;
mod frame;
mod ticket;
mod values;

use crate::rules::outgoing_mails::{Content, Draft};
pub use frame::Rendered;

pub fn render(draft: &Draft) -> Rendered {
    let accent = frame::accent(draft);
    let parts = match &draft.content {
        Content::Ticket(content) => ticket::parts(draft, content, &accent),
        Content::Account(content) => account::parts(draft, content, &accent),
    };
    frame::render(draft, &parts, &accent)
}
