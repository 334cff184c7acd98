//! Mails about a user: invitations, links for a new password, and security notices.

use maud::html;

use super::frame::{self, Parts};
use super::values;
use crate::model::mail_template::TemplateKind;
use crate::model::outgoing_mail::NoticeKind;
use crate::model::time::Time;
use crate::model::token::TokenText;
use crate::rules::account_mails::AccountContent;
use crate::rules::outgoing_mails::Draft;

const REASON: &str =
    "You get this mail because it is about your user. Mails about your user cannot be switched off.";

/// The texts of a mail: a title, paragraphs, and a link after them.
struct Texts {
    title: &'static str,
    paragraphs: Vec<String>,
    label: &'static str,
    url: String,
}

pub fn parts(draft: &Draft, content: &AccountContent, accent: &str) -> Parts<'static> {
    let texts = match content {
        AccountContent::Invitation { link } => invitation(draft, link),
        AccountContent::Reset { link } => reset(draft, link),
        AccountContent::Security { kind, detail, at } => security(draft, *kind, detail, *at),
    };
    let paragraphs = texts.paragraphs.join("\n\n");
    Parts {
        subject: format!("[{}] {}", frame::subject_prefix(draft), texts.title),
        title: texts.title.to_owned(),
        text: format!("{paragraphs}\n\n{}: {}\n\n", texts.label, texts.url),
        html: html! {
            @for paragraph in &texts.paragraphs {
                (frame::paragraph("0 0 12px", paragraph))
            }
            (frame::link(&texts.url, texts.label, accent))
        },
        signature: None,
        accepts_replies: false,
        reason: REASON,
        unsubscribe_url: None,
    }
}

fn invitation(draft: &Draft, link: &TokenText) -> Texts {
    Texts {
        title: "Choose your password",
        paragraphs: vec![
            values::introduction(draft, TemplateKind::Invitation),
            "Choose a password to log in. The link works once and expires after three days.".to_owned(),
            values::closing(draft, TemplateKind::Invitation),
        ],
        label: "Choose a password",
        url: link_url(draft, link),
    }
}

fn reset(draft: &Draft, link: &TokenText) -> Texts {
    Texts {
        title: "Choose a new password",
        paragraphs: vec![
            values::introduction(draft, TemplateKind::Reset),
            "If this was you, choose a new password. The link works once and expires after one hour."
                .to_owned(),
            values::closing(draft, TemplateKind::Reset),
        ],
        label: "Choose a new password",
        url: link_url(draft, link),
    }
}

fn security(draft: &Draft, kind: NoticeKind, detail: &str, at: Time) -> Texts {
    let (title, detail_label) = match kind {
        NoticeKind::TokenCreated => ("New personal token", "Label"),
        NoticeKind::PasswordSetByLink => ("Your password was set with a link", "Client"),
        NoticeKind::NewDevice => ("Log-in on a new device", "Client"),
        _ => ("Your password was changed", "Client"),
    };
    let time = at.to_string().replace('T', " ");
    let mut facts = format!("Username: {}\nTime: {time} UTC", draft.username);
    if !detail.is_empty() {
        facts.push_str(&format!("\n{detail_label}: {detail}"));
    }
    let advice = match kind {
        NoticeKind::TokenCreated => {
            "If this was not you, revoke the token, set a new password, and contact your provider."
        }
        _ => {
            "If this was not you, set a new password now, which ends all sessions. Then revoke the personal tokens \
             that you do not know, and contact your provider."
        }
    };
    Texts {
        title,
        paragraphs: vec![
            facts,
            "If this was you, there is nothing to do.".to_owned(),
            advice.to_owned(),
        ],
        label: "Set a new password",
        url: format!("{}/forgot/password", draft.policy.public_url),
    }
}

fn link_url(draft: &Draft, link: &TokenText) -> String {
    format!("{}/oauth/password/{}", draft.policy.public_url, link.reveal())
}
