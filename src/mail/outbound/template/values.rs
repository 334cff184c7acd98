//! The values of placeholders that all mails have, and the texts of mails about users.

use crate::model::mail_template::{TemplateKind, TextName, fill_default};
use crate::rules::outgoing_mails::Draft;

/// The value of a placeholder; empty if it is unknown.
pub fn of_mail(draft: &Draft, name: &str) -> String {
    match name {
        "recipient.username" => draft.username.clone(),
        "brand.name" => draft.brand.name().to_owned(),
        _ => String::new(),
    }
}

/// The first paragraph of a mail about a user.
pub fn introduction(draft: &Draft, kind: TemplateKind) -> String {
    let value = |name: &str| of_mail(draft, name);
    let custom = draft.templates.fill(TextName::Introduction(kind), value);
    custom.unwrap_or_else(|| fill_default(kind.default_introduction(), value))
}

/// The last paragraph of a mail about a user.
pub fn closing(draft: &Draft, kind: TemplateKind) -> String {
    let value = |name: &str| of_mail(draft, name);
    let custom = draft.templates.fill(TextName::Closing(kind), value);
    custom.unwrap_or_else(|| fill_default(kind.default_closing().unwrap_or_default(), value))
}
