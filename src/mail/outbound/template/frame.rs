//! What all mails have: the brand, the accent color, the reason why the recipient gets the mail, and the footer.

use maud::{DOCTYPE, Markup, html};

use crate::model::received_mail::REPLY_MARKER;
use crate::rules::outgoing_mails::Draft;

/// The accent color of Garth, for providers without a brand.
const DEFAULT_ACCENT: &str = "#1757c2";

/// A mail without its header fields.
pub struct Rendered {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// The parts of a mail inside the frame.
pub struct Parts<'a> {
    pub subject: String,
    pub title: String,
    /// Ends with a line break.
    pub text: String,
    pub html: Markup,
    /// Between the content and the reason.
    pub signature: Option<String>,
    /// Whether the recipient can reply above a marker.
    pub accepts_replies: bool,
    /// Why the recipient gets the mail, and how to answer.
    pub reason: &'static str,
    pub unsubscribe_url: Option<&'a str>,
}

pub fn accent(draft: &Draft) -> String {
    let accent = draft.brand.accent_color.map(|color| color.light().accent);
    accent.unwrap_or_else(|| DEFAULT_ACCENT.to_owned())
}

/// The word in square brackets at the start of subjects.
pub fn subject_prefix(draft: &Draft) -> &str {
    let brand = draft.brand.name();
    draft.policy.subject_prefix.as_deref().unwrap_or(brand)
}

pub fn render(draft: &Draft, parts: &Parts, accent: &str) -> Rendered {
    Rendered {
        subject: parts.subject.clone(),
        text: text(draft, parts),
        html: html(draft, parts, accent),
    }
}

fn text(draft: &Draft, parts: &Parts) -> String {
    let mut text = String::new();
    if parts.accepts_replies {
        text.push_str(&format!("-- {REPLY_MARKER} --\n\n"));
    }
    text.push_str(&parts.text);
    if let Some(signature) = &parts.signature {
        text.push_str(&format!("\n{signature}\n\n"));
    }
    text.push_str(&format!("{}\n", parts.reason));
    if let Some(url) = parts.unsubscribe_url {
        text.push_str(&format!("Stop these mails: {url}\n"));
    }
    if let Some(footer) = &draft.brand.footer {
        text.push_str(&format!("\n{}\n", footer.as_str()));
    }
    text.replace('\n', "\r\n")
}

fn html(draft: &Draft, parts: &Parts, accent: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (parts.subject) }
            }
            body style="margin:0;padding:24px;background:#f4f5f7;color:#1d2129;font:15px/1.5 sans-serif" {
                @if parts.accepts_replies {
                    p style="margin:0 0 12px;color:#6b7280;font-size:12px" { "-- " (REPLY_MARKER) " --" }
                }
                div style={ "max-width:640px;background:#ffffff;border-radius:6px;border-top:4px solid " (accent) } {
                    div style="padding:20px 24px" {
                        p style={ "margin:0 0 4px;font-weight:bold;color:" (accent) } { (draft.brand.name()) }
                        h1 style="margin:0 0 16px;font-size:18px" { (parts.title) }
                        (parts.html)
                        @if let Some(signature) = &parts.signature { (paragraph("20px 0 0", signature)) }
                    }
                }
                (footer(draft, parts))
            }
        }
    };
    page.into_string()
}

fn footer(draft: &Draft, parts: &Parts) -> Markup {
    html! {
        div style="max-width:640px;padding:12px 24px;color:#6b7280;font-size:12px" {
            p style="margin:0" {
                (parts.reason)
                @if let Some(url) = parts.unsubscribe_url {
                    " " a href=(url) style="color:#6b7280" { "Stop these mails" }
                }
            }
            @if let Some(footer) = &draft.brand.footer {
                p style="margin:8px 0 0;white-space:pre-wrap" { (footer.as_str()) }
            }
        }
    }
}

/// A paragraph that keeps its line breaks.
pub fn paragraph(margin: &str, text: &str) -> Markup {
    html! {
        p style={ "margin:" (margin) ";white-space:pre-wrap;overflow-wrap:anywhere" } { (text) }
    }
}

/// A link at the end of the content.
pub fn link(url: &str, label: &str, accent: &str) -> Markup {
    html! {
        p style="margin:20px 0 0" {
            a href=(url) style={ "color:" (accent) } { (label) }
        }
    }
}
