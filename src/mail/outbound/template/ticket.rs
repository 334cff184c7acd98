//! Mails about a ticket.

use maud::{Markup, html};

use super::frame::{self, Parts};
use super::values;
use crate::model::mail_template::{TemplateKind, TextName, fill_default};
use crate::model::outgoing_mail::{MailKind, NoticeKind};
use crate::rules::outgoing_mails::{Draft, DraftNotice, TicketContent};

pub fn parts<'a>(draft: &Draft, content: &'a TicketContent, accent: &str) -> Parts<'a> {
    let url = ticket_url(draft, content);
    Parts {
        // The same for all mails about the ticket.
        subject: format!(
            "[{} #{}] {}",
            frame::subject_prefix(draft),
            content.ticket,
            content.summary
        ),
        title: format!("#{} {}", content.ticket, content.summary),
        text: text(draft, content, &url),
        html: html! {
            @if let Some(omitted) = omitted(content) {
                p { (omitted) }
            }
            @for notice in &content.notices {
                (notice_html(draft, content, notice))
            }
            @if let Some(closing) = closing(draft, content) { (frame::paragraph("16px 0 0", &closing)) }
            (frame::link(&url, "View the ticket", accent))
        },
        signature: draft
            .templates
            .fill(TextName::Signature, |name| values::of_mail(draft, name)),
        accepts_replies: content.reply_to.is_some(),
        reason: reason(draft.kind, content.reply_to.is_some()),
        unsubscribe_url: Some(&content.unsubscribe_url),
    }
}

fn text(draft: &Draft, content: &TicketContent, url: &str) -> String {
    let mut text = String::new();
    if let Some(omitted) = omitted(content) {
        text.push_str(&format!("{omitted}\n\n"));
    }
    for notice in &content.notices {
        let (introduction, _) = introduction(draft, content, notice);
        text.push_str(&format!("{introduction}\n\n"));
        if let Some(body) = &notice.text {
            text.push_str(&format!("{}\n\n", body.trim_end()));
        }
    }
    if let Some(closing) = closing(draft, content) {
        text.push_str(&format!("{closing}\n\n"));
    }
    text.push_str(&format!("View the ticket: {url}\n"));
    text
}

fn notice_html(draft: &Draft, content: &TicketContent, notice: &DraftNotice) -> Markup {
    let (introduction, is_default) = introduction(draft, content, notice);
    html! {
        @match is_default {
            true => p style="margin:16px 0 4px;font-weight:bold" { (introduction) },
            false => (frame::paragraph("16px 0 12px", &introduction)),
        }
        @if let Some(body) = &notice.text {
            div style="white-space:pre-wrap;overflow-wrap:anywhere" { (body.trim_end()) }
        }
    }
}

/// The text before a notice, and whether it is the default.
fn introduction(draft: &Draft, content: &TicketContent, notice: &DraftNotice) -> (String, bool) {
    let (Some(default), custom) = (default_kind(notice.kind), template_kind(draft, notice.kind)) else {
        return (String::new(), true);
    };
    let value = |name: &str| value(draft, content, notice, name);
    let filled = custom.and_then(|kind| draft.templates.fill(TextName::Introduction(kind), value));
    match filled {
        Some(text) => (text, false),
        None => (fill_default(default.default_introduction(), value), true),
    }
}

/// The text after the notices, which belongs to the last one.
fn closing(draft: &Draft, content: &TicketContent) -> Option<String> {
    let notice = content.notices.last()?;
    let kind = template_kind(draft, notice.kind)?;
    let value = |name: &str| value(draft, content, notice, name);
    draft.templates.fill(TextName::Closing(kind), value)
}

/// The template of a notice. Mails to staff about replies, closing and reopening always have the default texts.
fn template_kind(draft: &Draft, notice: NoticeKind) -> Option<TemplateKind> {
    match (draft.kind, notice) {
        (MailKind::Desk, NoticeKind::Opened) => Some(TemplateKind::NewTicket),
        (MailKind::Desk, NoticeKind::Reply | NoticeKind::Closed | NoticeKind::Reopened) => None,
        _ => default_kind(notice),
    }
}

/// The template that has the default text of a notice; `None` for notices of mails about users.
fn default_kind(notice: NoticeKind) -> Option<TemplateKind> {
    match notice {
        NoticeKind::Opened => Some(TemplateKind::Opened),
        NoticeKind::Reply => Some(TemplateKind::Reply),
        NoticeKind::Closed => Some(TemplateKind::Closed),
        NoticeKind::Reopened => Some(TemplateKind::Reopened),
        NoticeKind::Assigned => Some(TemplateKind::Assigned),
        NoticeKind::TokenCreated
        | NoticeKind::PasswordChanged
        | NoticeKind::PasswordSetByLink
        | NoticeKind::NewDevice => None,
    }
}

/// The value of a placeholder.
fn value(draft: &Draft, content: &TicketContent, notice: &DraftNotice, name: &str) -> String {
    match name {
        "ticket.id" => content.ticket.to_string(),
        "ticket.summary" => content.summary.clone(),
        "account.company" => content.company.clone(),
        "author.name" => notice.author.clone(),
        _ => values::of_mail(draft, name),
    }
}

fn omitted(content: &TicketContent) -> Option<String> {
    match content.omitted {
        0 => None,
        count => Some(format!("{count} earlier changes are not in this mail.")),
    }
}

fn ticket_url(draft: &Draft, content: &TicketContent) -> String {
    let path = match draft.kind {
        MailKind::Desk => "/desk/tickets",
        _ => "/tickets",
    };
    format!("{}{path}/{}", draft.policy.public_url, content.ticket)
}

/// Why the recipient gets the mail, and how to answer.
fn reason(kind: MailKind, accepts_replies: bool) -> &'static str {
    match (kind, accepts_replies) {
        (MailKind::Desk, true) => "Reply to this mail to answer the customer. You chose to get such mails.",
        (MailKind::Desk, false) => "Replies to this mail are not read. You chose to get such mails.",
        (_, true) => "Reply to this mail to answer. You get it because you take part in this ticket.",
        (_, false) => "Replies to this mail are not read. You get it because you take part in this ticket.",
    }
}
