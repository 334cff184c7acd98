//! The text and the HTML of a mail about a ticket. The HTML has no scripts, images or external styles.

use maud::{DOCTYPE, Markup, html};

use crate::model::outgoing_mail::{MailKind, NoticeKind};
use crate::model::received_mail::REPLY_MARKER;
use crate::rules::outgoing_mails::{Draft, DraftNotice};

/// The accent color of Garth, for providers without a brand.
const DEFAULT_ACCENT: &str = "#1757c2";

pub fn text(draft: &Draft) -> String {
    let mut text = String::new();
    if draft.reply_to.is_some() {
        text.push_str(&format!("-- {REPLY_MARKER} --\n\n"));
    }
    if let Some(omitted) = omitted(draft) {
        text.push_str(&format!("{omitted}\n\n"));
    }
    for notice in &draft.notices {
        text.push_str(&format!("{}\n\n", headline(draft, notice)));
        if let Some(body) = &notice.text {
            text.push_str(&format!("{}\n\n", body.trim_end()));
        }
    }
    text.push_str(&format!("View the ticket: {}\n", ticket_url(draft)));
    text.push_str(&format!(
        "{}\nStop these mails: {}\n",
        reason(draft),
        draft.unsubscribe_url
    ));
    if let Some(footer) = &draft.brand.footer {
        text.push_str(&format!("\n{}\n", footer.as_str()));
    }
    text.replace('\n', "\r\n")
}

pub fn html(draft: &Draft) -> String {
    let accent = draft.brand.accent_color.map(|color| color.light().accent);
    let accent = accent.unwrap_or_else(|| DEFAULT_ACCENT.to_owned());
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (super::message::subject(draft)) }
            }
            body style="margin:0;padding:24px;background:#f4f5f7;color:#1d2129;font:15px/1.5 sans-serif" {
                @if draft.reply_to.is_some() {
                    p style="margin:0 0 12px;color:#6b7280;font-size:12px" { "-- " (REPLY_MARKER) " --" }
                }
                div style={ "max-width:640px;background:#ffffff;border-radius:6px;border-top:4px solid " (accent) } {
                    div style="padding:20px 24px" {
                        p style={ "margin:0 0 4px;font-weight:bold;color:" (accent) } { (draft.brand.name()) }
                        h1 style="margin:0 0 16px;font-size:18px" { "#" (draft.ticket) " " (draft.summary) }
                        @if let Some(omitted) = omitted(draft) {
                            p { (omitted) }
                        }
                        @for notice in &draft.notices {
                            (notice_html(draft, notice))
                        }
                        p style="margin:20px 0 0" {
                            a href=(ticket_url(draft)) style={ "color:" (accent) } { "View the ticket" }
                        }
                    }
                }
                (footer_html(draft))
            }
        }
    };
    page.into_string()
}

fn notice_html(draft: &Draft, notice: &DraftNotice) -> Markup {
    html! {
        p style="margin:16px 0 4px;font-weight:bold" { (headline(draft, notice)) }
        @if let Some(body) = &notice.text {
            div style="white-space:pre-wrap;overflow-wrap:anywhere" { (body.trim_end()) }
        }
    }
}

fn footer_html(draft: &Draft) -> Markup {
    html! {
        div style="max-width:640px;padding:12px 24px;color:#6b7280;font-size:12px" {
            p style="margin:0" {
                (reason(draft)) " "
                a href=(draft.unsubscribe_url) style="color:#6b7280" { "Stop these mails" }
            }
            @if let Some(footer) = &draft.brand.footer {
                p style="margin:8px 0 0;white-space:pre-wrap" { (footer.as_str()) }
            }
        }
    }
}

fn headline(draft: &Draft, notice: &DraftNotice) -> String {
    let (author, ticket, summary) = (&notice.author, draft.ticket, &draft.summary);
    match notice.kind {
        NoticeKind::Opened => format!("{author} opened ticket #{ticket}: {summary}"),
        NoticeKind::Reply => format!("{author} replied to ticket #{ticket}: {summary}"),
        NoticeKind::Closed => format!("{author} closed ticket #{ticket}: {summary}"),
        NoticeKind::Reopened => format!("{author} reopened ticket #{ticket}: {summary}"),
        NoticeKind::Assigned => format!("{author} assigned ticket #{ticket} to you: {summary}"),
    }
}

fn omitted(draft: &Draft) -> Option<String> {
    match draft.omitted {
        0 => None,
        count => Some(format!("{count} earlier changes are not in this mail.")),
    }
}

fn ticket_url(draft: &Draft) -> String {
    let path = match draft.kind {
        MailKind::Ticket => "/tickets",
        MailKind::Desk => "/desk/tickets",
    };
    format!("{}{path}/{}", draft.policy.public_url, draft.ticket)
}

/// Why the recipient gets the mail, and how to answer.
fn reason(draft: &Draft) -> &'static str {
    match (draft.kind, draft.reply_to.is_some()) {
        (MailKind::Ticket, true) => {
            "Reply to this mail to answer. You get it because you take part in this ticket."
        }
        (MailKind::Ticket, false) => {
            "Replies to this mail are not read. You get it because you take part in this ticket."
        }
        (MailKind::Desk, true) => "Reply to this mail to answer the customer. You chose to get such mails.",
        (MailKind::Desk, false) => "Replies to this mail are not read. You chose to get such mails.",
    }
}
