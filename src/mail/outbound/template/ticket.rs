//! Mails about a ticket.

use maud::{Markup, html};

use super::frame::{self, Parts};
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
        text: text(content, &url),
        html: html! {
            @if let Some(omitted) = omitted(content) {
                p { (omitted) }
            }
            @for notice in &content.notices {
                (notice_html(content, notice))
            }
            (frame::link(&url, "View the ticket", accent))
        },
        accepts_replies: content.reply_to.is_some(),
        reason: reason(draft.kind, content.reply_to.is_some()),
        unsubscribe_url: Some(&content.unsubscribe_url),
    }
}

fn text(content: &TicketContent, url: &str) -> String {
    let mut text = String::new();
    if let Some(omitted) = omitted(content) {
        text.push_str(&format!("{omitted}\n\n"));
    }
    for notice in &content.notices {
        text.push_str(&format!("{}\n\n", headline(content, notice)));
        if let Some(body) = &notice.text {
            text.push_str(&format!("{}\n\n", body.trim_end()));
        }
    }
    text.push_str(&format!("View the ticket: {url}\n"));
    text
}

fn notice_html(content: &TicketContent, notice: &DraftNotice) -> Markup {
    html! {
        p style="margin:16px 0 4px;font-weight:bold" { (headline(content, notice)) }
        @if let Some(body) = &notice.text {
            div style="white-space:pre-wrap;overflow-wrap:anywhere" { (body.trim_end()) }
        }
    }
}

fn headline(content: &TicketContent, notice: &DraftNotice) -> String {
    let (author, ticket, summary) = (&notice.author, content.ticket, &content.summary);
    match notice.kind {
        NoticeKind::Opened => format!("{author} opened ticket #{ticket}: {summary}"),
        NoticeKind::Reply => format!("{author} replied to ticket #{ticket}: {summary}"),
        NoticeKind::Closed => format!("{author} closed ticket #{ticket}: {summary}"),
        NoticeKind::Reopened => format!("{author} reopened ticket #{ticket}: {summary}"),
        NoticeKind::Assigned => format!("{author} assigned ticket #{ticket} to you: {summary}"),
        // These notices are in mails about users.
        NoticeKind::TokenCreated
        | NoticeKind::PasswordChanged
        | NoticeKind::PasswordSetByLink
        | NoticeKind::NewDevice => String::new(),
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
