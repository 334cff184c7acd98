//! Common elements of ticket pages: messages, the Markdown editor, attachments.

use maud::{Markup, html};

pub use crate::console::forms::FILE_FIELD;
use crate::console::forms::{self, Field, FormState};
use crate::console::layout::{size, time};
use crate::console::markdown;
use crate::model::attachment::{Attachment, EXTENSIONS, TEXT_EXTENSIONS};
use crate::model::entity::{Entity, EntityKind};
use crate::model::policy::Support;
use crate::model::reason::{Code, Reason};
use crate::model::reply::ReplyText;
use crate::model::subject::SubjectKind;
use crate::model::ticket::{Status, Ticket};
use crate::model::time::Time;
use crate::rules::Error;
use crate::rules::error::{BodyFault, FieldError, FilesFault};

/// The kind of a message: a message of the customer, a reply of staff, or a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    Customer,
    Staff,
    /// A note that only staff can see.
    Note,
}

/// A message of a ticket.
pub struct Message<'a> {
    pub by: &'a str,
    pub kind: MessageKind,
    pub at: Time,
    pub text: &'a str,
    /// The quoted text and the signature of a message that arrived by mail.
    pub folded: Option<&'a str>,
    /// The name of the provider, for replies of its staff.
    pub provider: &'a str,
}

pub fn message(message: &Message) -> Markup {
    let class = match message.kind {
        MessageKind::Customer => "customer",
        MessageKind::Staff => "staff",
        MessageKind::Note => "note",
    };
    html! {
        article .message .(class) {
            header {
                (avatar(message.by))
                strong { (message.by) }
                @match message.kind {
                    MessageKind::Staff if message.by != message.provider => span .tag { (message.provider) },
                    MessageKind::Staff => span .tag { "Provider" },
                    MessageKind::Note => span .tag { "Internal note" },
                    MessageKind::Customer => {},
                }
                span .when { (time(message.at)) }
            }
            div .md { (markdown::render(message.text)) }
            @if let Some(folded) = message.folded {
                details .folded {
                    summary { "Quoted text" }
                    pre tabindex="0" { (folded) }
                }
            }
        }
    }
}

/// The avatar of a user: the first letter of the name in a circle.
pub fn avatar(name: &str) -> Markup {
    let first = name.chars().next().unwrap_or('?').to_uppercase().to_string();
    let color = name.bytes().fold(0_usize, |sum, byte| sum + usize::from(byte)) % 6;
    html! { span .face .(format!("c{color}")) aria-hidden="true" { (first) } }
}

pub fn status_tag(status: Status) -> Markup {
    html! { span .tag .on[status == Status::Open] .new[status == Status::New] { (status_label(status)) } }
}

pub fn status_label(status: Status) -> &'static str {
    match status {
        Status::New => "New",
        Status::Open => "Open",
        Status::Closed => "Closed",
    }
}

/// The label for the kind of an entity.
pub fn kind_label(kind: &str) -> &str {
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

/// The entity of a ticket, with a link to its page if there is one.
pub fn entity_link(entity: &Entity, url: Option<String>) -> Markup {
    html! {
        @match url {
            Some(url) => a href=(url) { (entity.label) },
            None => (entity.label),
        }
        " " span .quiet { (kind_label(entity.kind.word())) }
    }
}

/// The URL of an entity's page, for the users of its account.
pub fn entity_url(entity: &Entity) -> Option<String> {
    match entity.kind {
        EntityKind::Subject(SubjectKind::Vpc) => Some(format!("/vpcs/{}", entity.id)),
        EntityKind::Subject(SubjectKind::Linode) => Some(format!("/instances/{}", entity.id)),
        _ => None,
    }
}

/// A text box for Markdown. If `shows_preview` is true, the preview is shown below it.
pub fn markdown_editor(form_state: &FormState, field: Field, rows: usize, shows_preview: bool) -> Markup {
    html! {
        (forms::textarea(form_state, field, rows))
        p .hint.markdown-hint { "Markdown: **bold**, *italic*, `code`, lists, > quotes, | tables |. Images are shown as links." }
        (preview_of(field.name, shows_preview.then(|| form_state.data.text(field.name))))
    }
}

/// A text that can no longer be sent, for the user to copy. `hint` says why, and what to do.
pub fn unsent_text(text: &str, hint: &Markup) -> Markup {
    html! {
        div .field {
            label for="unsent" { "Your unsent text" }
            p #unsent-hint .hint { (hint) }
            textarea #unsent rows="6" readonly aria-describedby="unsent-hint" { "\n" (text) }
        }
        // The console's script shows the button if the browser has a clipboard API.
        div .actions { button type="button" data-copy="unsent" hidden { "Copy text" } }
    }
}

/// The files that a form had, but that were not attached. The console's script adds the names of a draft.
pub fn unsent_files(names: &[String], hint: &str) -> Markup {
    html! {
        p .warning.unsent-files hidden[names.is_empty()] { "Files that were not attached: " strong { (names.join(", ")) } ". " (hint) }
    }
}

/// The preview of a field. It is empty if `text` is `None`.
pub fn preview_of(name: &str, text: Option<&str>) -> Markup {
    let preview = |text: &str| match text.chars().count() {
        _ if text.trim().is_empty() => html! { p .quiet { "Nothing to preview" } },
        // A text that cannot be sent is not rendered.
        count if count > ReplyText::MAX => {
            html! { p .quiet { "The text is too long. It can have at most " (ReplyText::MAX) " characters." } }
        }
        _ => markdown::render(text),
    };
    html! {
        div #(format!("{name}-preview")) aria-live="polite" {
            @if let Some(text) = text {
                div .preview {
                    p .quiet { "Preview" }
                    div .md { (preview(text)) }
                }
            }
        }
    }
}

/// The preview button of a field. It works with and without JavaScript.
pub fn preview_button(name: &str, action: &str) -> Markup {
    let target = format!("#{name}-preview");
    html! {
        button type="submit" name="act" value="preview" formaction=(action) formnovalidate hx-post=(action) hx-target=(target) hx-select=(target)
            hx-swap="outerHTML" { "Preview" }
    }
}

/// A button that opens a confirmation, without JavaScript. `danger` marks an action that cannot be undone.
/// `key` is the keyboard shortcut.
pub fn confirmation(label: &str, (danger, key): (bool, Option<&str>), question: &Markup) -> Markup {
    html! {
        details .confirm {
            summary .button .danger[danger] data-key=[key] { (label) }
            div .question { (question) }
        }
    }
}

/// The files of a ticket, with thumbnails of images. `ticket_url` is the URL of its page.
pub fn files(files: &[Attachment], ticket_url: &str) -> Markup {
    html! {
        @if !files.is_empty() {
            ul .files {
                @for file in files {
                    @let url = format!("{ticket_url}/attachments/{}", file.id);
                    li {
                        @let name = file.name.as_str();
                        @let image_url = format!("{url}/image");
                        @if file.is_image() {
                            a href=(image_url) target="_blank" rel="noopener" { img src=(image_url) alt="" loading="lazy" decoding="async"; (name) }
                            " " a .small href=(url) download aria-label=(format!("Download {name}")) { "Download" }
                        } @else {
                            a href=(url) download { (name) }
                        }
                        span .quiet { (size(file.size)) " · " (file.created_by) " · " (time(file.created)) }
                    }
                }
            }
        }
    }
}

/// The limits for attachments. `attached` is the number of files that the ticket already has.
pub fn upload_limits(support: &Support, attached: usize) -> Markup {
    let remaining = (support.attachments_per_ticket - attached as i64).max(0);
    html! {
        p .hint {
            "Up to " (size(support.attachment_max_bytes)) " per file, "
            @if attached == 0 { (support.attachments_per_ticket) " files per ticket" } @else { (remaining) " more on this ticket" }
            ". Accepted types: " (EXTENSIONS.join(", ")) ". Logs and other text files, such as .log, are accepted, too: Garth adds .txt to their names. For captures and archives, write a link."
        }
    }
}

/// The drop zone for files. The console's script uploads the files to `upload_url`, which is `None` for a new
/// ticket.
pub fn drop_zone(support: &Support, attached: usize, upload_url: Option<&str>) -> Markup {
    let remaining = (support.attachments_per_ticket - attached as i64).max(0);
    html! {
        div .drop data-drop data-to=[upload_url] data-bytes=(support.attachment_max_bytes) data-most=(remaining) data-kinds=(accepted_extensions()) {
            p .drop-here { "Drop files here, or " button type="button" .link data-choose { "choose files" } }
            input type="file" multiple hidden accept=(accepted_extensions()) tabindex="-1" aria-label="Files";
            ul .queue aria-live="polite" {}
        }
    }
}

/// When a ticket was last updated, and by whom.
pub fn last_updated(ticket: &Ticket) -> Markup {
    time_and_user(ticket.updated, ticket.updated_by.as_deref())
}

pub fn time_and_user(at: Time, by: Option<&str>) -> Markup {
    html! {
        (time(at))
        @if let Some(by) = by { " " span .quiet { "by " (by) } }
    }
}

/// The errors of an upload, for the file field.
pub fn file_errors(error: Error) -> Result<Vec<FieldError>, Error> {
    let on_file = |code, text: String| vec![FieldError::on(FILE_FIELD, Reason::new(code, text))];
    match error {
        Error::Refused(errors) => Ok(errors),
        Error::Body(BodyFault::FileTooLarge { max_bytes }) => {
            let text = format!("The file is too large. The maximum is {}", size(max_bytes));
            Ok(on_file(Code::FileTooLarge, text))
        }
        Error::Files(FilesFault::Scanner(_)) => {
            let text = "The virus scanner is unavailable, so files cannot be attached. Try again later.";
            Ok(on_file(Code::ScanUnavailable, text.to_owned()))
        }
        other => Err(other),
    }
}

/// The extensions of the files that users can select.
pub fn accepted_extensions() -> String {
    [&EXTENSIONS[..], &TEXT_EXTENSIONS].concat().join(",")
}
