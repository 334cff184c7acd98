//! What is said on tickets, and what both sides write it with.

use maud::{Markup, html};

use crate::console::forms::{self, Field, Typed};
use crate::console::layout::{size, time};
use crate::console::markdown;
use crate::model::attachment::{Attachment, EXTENSIONS};
use crate::model::entity::{Entity, EntityKind};
use crate::model::policy::Support;
use crate::model::subject::SubjectKind;
use crate::model::ticket::{Status, Ticket};
use crate::model::time::Time;

/// On which side of a ticket something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Customer,
    Staff,
    /// Among the staff only.
    Note,
}

/// Something that somebody said.
pub struct Message<'a> {
    pub by: &'a str,
    pub side: Side,
    pub at: Time,
    pub text: &'a str,
    /// What the provider is called, for replies of its staff.
    pub provider: &'a str,
}

pub fn message(message: &Message) -> Markup {
    let class = match message.side {
        Side::Customer => "customer",
        Side::Staff => "staff",
        Side::Note => "note",
    };
    html! {
        article .message .(class) {
            header {
                (face(message.by))
                strong { (message.by) }
                @match message.side {
                    Side::Staff if message.by != message.provider => span .tag { (message.provider) },
                    Side::Staff => span .tag { "Provider" },
                    Side::Note => span .tag { "Internal note" },
                    Side::Customer => {},
                }
                span .when { (time(message.at)) }
            }
            div .md { (markdown::draw(message.text)) }
        }
    }
}

/// A letter in a circle: pictures of people would have to be asked for elsewhere.
pub fn face(name: &str) -> Markup {
    let first = name.chars().next().unwrap_or('?').to_uppercase().to_string();
    let colour = name.bytes().fold(0_usize, |sum, byte| sum + usize::from(byte)) % 6;
    html! { span .face .(format!("c{colour}")) aria-hidden="true" { (first) } }
}

pub fn status(status: Status) -> Markup {
    html! { span .tag .on[status == Status::Open] .new[status == Status::New] { (in_words(status)) } }
}

pub fn in_words(status: Status) -> &'static str {
    match status {
        Status::New => "New",
        Status::Open => "Open",
        Status::Closed => "Closed",
    }
}

/// What a ticket is about, as people call the kind of thing.
pub fn kind_in_words(kind: &str) -> &str {
    match kind {
        "vpc" => "VPC",
        "linode" => "Instance",
        "database" => "Database",
        "domain" => "Domain",
        "firewall" => "Firewall",
        "lkecluster" => "Kubernetes cluster",
        "longview" => "Longview client",
        "nodebalancer" => "NodeBalancer",
        "volume" => "Volume",
        "vlan" => "VLAN",
        other => other,
    }
}

/// What a ticket is about, with the address of its page if there is one.
pub fn about(entity: &Entity, address: Option<String>) -> Markup {
    html! {
        @match address {
            Some(address) => a href=(address) { (entity.label) },
            None => (entity.label),
        }
        " " span .quiet { (kind_in_words(entity.kind.word())) }
    }
}

/// The page of what a ticket is about, for its account.
pub fn address_of(entity: &Entity) -> Option<String> {
    (entity.kind == EntityKind::Subject(SubjectKind::Vpc)).then(|| format!("/vpcs/{}", entity.id))
}

/// A box to write in, with a preview below. `preview` is what was asked to be shown.
pub fn box_to_write(typed: &Typed, field: Field, rows: usize, preview: bool) -> Markup {
    html! {
        (forms::lines(typed, field, rows))
        p .hint.markdown-hint { "Markdown: **bold**, *italic*, `code`, lists, > quotes. Images are shown as links." }
        (preview_of(field.name, preview.then(|| typed.sent.text(field.name))))
    }
}

/// What was typed and cannot be sent any more, to be copied.
pub fn unsent(text: &str) -> Markup {
    html! {
        div .field {
            label for="unsent" { "Your unsent text" }
            textarea #unsent rows="6" readonly { "\n" (text) }
        }
    }
}

/// The place of a preview, empty or not.
pub fn preview_of(name: &str, text: Option<&str>) -> Markup {
    html! {
        div #(format!("{name}-preview")) aria-live="polite" {
            @if let Some(text) = text {
                div .preview {
                    p .quiet { "Preview" }
                    div .md { @if text.trim().is_empty() { p .quiet { "Nothing to preview" } } @else { (markdown::draw(text)) } }
                }
            }
        }
    }
}

/// The button that asks for a preview of a field, without and with script.
pub fn preview_button(name: &str, action: &str) -> Markup {
    let place = format!("#{name}-preview");
    html! {
        button type="submit" name="act" value="preview" formaction=(action) formnovalidate hx-post=(action) hx-target=(place) hx-select=(place)
            hx-swap="outerHTML" { "Preview" }
    }
}

/// Something that is asked for twice: the button opens a question, without any script.
pub fn confirm(label: &str, (danger, key): (bool, Option<&str>), question: &Markup) -> Markup {
    html! {
        details .confirm {
            summary .button .danger[danger] data-key=[key] { (label) }
            div .question { (question) }
        }
    }
}

/// The files of a ticket; `at` is the address of the ticket's page.
pub fn files(files: &[Attachment], at: &str) -> Markup {
    html! {
        @if !files.is_empty() {
            ul .files {
                @for file in files {
                    li {
                        a href=(format!("{at}/attachments/{}", file.id)) download { (file.name.as_str()) }
                        span .quiet { (size(file.size)) " · " (file.created_by) " · " (time(file.created)) }
                    }
                }
            }
        }
    }
}

/// What may be attached, told beforehand.
pub fn limits(support: &Support, there: usize) -> Markup {
    let left = (support.attachments_per_ticket - there as i64).max(0);
    html! {
        p .hint {
            "Up to " (size(support.attachment_max_bytes)) " per file, "
            @if there == 0 { (support.attachments_per_ticket) " files per ticket" } @else { (left) " more on this ticket" }
            ". Accepted types: " (EXTENSIONS.join(", ")) "."
        }
    }
}

/// Where files are dropped or chosen; our script sends them to `to`, if that is known yet.
pub fn drop_zone(support: &Support, there: usize, to: Option<&str>) -> Markup {
    let left = (support.attachments_per_ticket - there as i64).max(0);
    html! {
        div .drop data-drop data-to=[to] data-bytes=(support.attachment_max_bytes) data-most=(left) data-kinds=(EXTENSIONS.join(",")) {
            p .drop-here { "Drop files here, or " button type="button" .link data-choose { "choose files" } }
            input type="file" multiple hidden accept=(EXTENSIONS.join(",")) tabindex="-1" aria-label="Files";
            ul .queue aria-live="polite" {}
        }
    }
}

/// Who did what last to a ticket.
pub fn last_change(ticket: &Ticket) -> Markup {
    changed(ticket.updated, ticket.updated_by.as_deref())
}

pub fn changed(at: Time, by: Option<&str>) -> Markup {
    html! {
        (time(at))
        @if let Some(by) = by { " " span .quiet { "by " (by) } }
    }
}
