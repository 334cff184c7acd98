//! The boxes for replies to the customer and for internal notes.
//!
//! Both boxes are in one form, so that a browser without JavaScript does not lose the text of one box when it
//! submits the other.

use maud::{Markup, html};

use super::history::{step_anchor, step_text};
use super::ticket_page::{Filled, Forms, TicketPage};
use crate::console::desk::{account_name, url};
use crate::console::forms::Field;
use crate::console::visit::Visit;
use crate::console::{markdown, threads};
use crate::model::account::status::AccountStatus;
use crate::model::history::{History, HistoryStep};
use crate::model::policy::Support;
use crate::model::ticket::Status;

/// The hidden field with the last step of the history that the page shows.
pub const SINCE_FIELD: &str = "since";
/// The fields of the boxes. A note has a separate field, so that it cannot be sent as a reply.
pub const REPLY_FIELD: &str = "description";
pub const NOTE_FIELD: &str = "note";
/// The field with the canned reply to preview.
pub const CANNED_FIELD: &str = "canned";
/// The field with the canned reply to insert into the box.
pub const INSERT_FIELD: &str = "use";
/// The field of the button that also closes the ticket.
pub const CLOSE_FIELD: &str = "close";
/// The field with the canned reply to send as is.
pub const SEND_CANNED_FIELD: &str = "canned_reply_id";
/// The field with the canned reply to send as is, before the ticket is closed.
pub const SEND_CANNED_CLOSE_FIELD: &str = "canned_reply_close";

/// The form that reopens the ticket, with the unsent text.
pub const REOPEN_FORM: &str = "reopen";

/// The encoding of a form with files. The other buttons send the form without the files.
const FILES_ENCODING: &str = "multipart/form-data";

pub fn closed_notice(visit: &Visit, page: &TicketPage, forms: &Forms) -> Markup {
    let unsent = forms.compose.data.text(REPLY_FIELD);
    let files = &forms.unsent_files;
    let (hint, files_hint) = match page.desk.ticket.merged_into {
        Some(target) => (
            html! { "You cannot edit the text here, because the ticket was merged. Copy it into a reply to " a href=(url(target)) { "ticket " (target) } "." },
            "Select them again in the other ticket.",
        ),
        None => (
            html! { "Your text is preserved. Reopen the ticket to send it. Until then, you can only copy it, because the ticket is closed." },
            "Reopen the ticket, then select them again.",
        ),
    };
    html! {
        @if !forms.is_note { (forms.compose.alert_with_labels(&[("description", "Reply")])) }
        div .card.closed {
            @if let Some(target) = page.desk.ticket.merged_into {
                p { "This ticket was merged into " a href=(url(target)) { "ticket " (target) } ". Reply there. You can still write internal notes." }
            } @else {
            p { "This ticket is closed. Reopen it to reply or to assign it. You can still write internal notes." }
            form #(REOPEN_FORM) method="post" novalidate action=(format!("{}/reopen", url(page.desk.ticket.id))) {
                (visit.form_token())
                // The page after reopening shows the text in the box.
                @if !unsent.is_empty() { input type="hidden" name=(REPLY_FIELD) value=(unsent); }
                @for name in files { input type="hidden" name=(threads::FILE_FIELD) value=(name); }
                button type="submit" { "Reopen" }
            }
            }
        }
        // The console's script shows the draft of a reply here, if a colleague closed the ticket meanwhile.
        div .card hidden[unsent.is_empty() && files.is_empty()] data-unsent=(reply_draft(page)) {
            (threads::unsent_text(unsent, &hint))
            (threads::unsent_files(files, files_hint))
        }
    }
}

/// The key of the draft of a reply.
fn reply_draft(page: &TicketPage) -> String {
    format!("desk-reply-{}", page.desk.ticket.id)
}

/// The two boxes, one open and one collapsed.
pub fn compose(visit: &Visit, page: &TicketPage, forms: &Forms, support: &Support) -> Markup {
    let ticket = &page.desk.ticket;
    let ticket_url = url(ticket.id);
    let is_closed = ticket.status == Status::Closed;
    let is_note = forms.is_note || is_closed;
    let (reply_url, note_url) = (format!("{ticket_url}/replies"), format!("{ticket_url}/notes"));
    // Without `max_chars`, because the browser would cut a longer text without a message.
    let reply = Field {
        name: REPLY_FIELD,
        label: "Reply",
        ..Field::default()
    };
    let note = Field {
        name: NOTE_FIELD,
        label: "Note",
        ..reply
    };
    let shows_preview = |field: &str| forms.preview == Some(field);
    let files_hint = match accepts_files(page, support) {
        true => "Select them again before you send the reply.",
        false => "The ticket has the maximum number of files.",
    };
    html! {
        // Only the server validates the form, because a browser would require text in both boxes.
        form .compose method="post" novalidate action=(if is_closed { &note_url } else { &reply_url }) data-closed[is_closed] {
            (visit.form_token())
            (updates(page, &ticket_url))
            span #since { input type="hidden" name=(SINCE_FIELD) value=(page.newest); }
            // Next to a note, the field for files is collapsed.
            @if is_note && !is_closed { (threads::unsent_files(&forms.unsent_files, files_hint)) }
            @if !is_closed {
                details .reply name="compose" open[!is_note] {
                    summary data-key="r" { span .what { "Reply to customer" } span .who-reads { "visible to users of " (account_name(&page.desk)) } }
                    @if page.desk.account_status != AccountStatus::Active {
                        p .warning { "The account is " (page.desk.account_status.word()) ". Its users cannot read replies." }
                    }
                    @if !is_note { (forms.compose.alert_with_labels(&[("description", "Reply"), (threads::FILE_FIELD, "Files")])) }
                    (canned_reply_picker(page, &ticket_url, &reply_url))
                    div #reply data-draft=(reply_draft(page)) {
                        (threads::markdown_editor(&forms.compose, reply, 8, shows_preview(REPLY_FIELD)))
                        (files_field(page, forms, support))
                        @if !is_note { (threads::unsent_files(&forms.unsent_files, files_hint)) }
                        div .actions {
                            button .main type="submit" formenctype=(FILES_ENCODING) { "Send reply to customer" }
                            button type="submit" formenctype=(FILES_ENCODING) name=(CLOSE_FIELD) value="yes" { "Send and close" }
                            (threads::preview_button(REPLY_FIELD, &reply_url))
                        }
                    }
                }
            }
            details .note name="compose" open[is_note] {
                summary data-key="n" { span .what { "Internal note" } span .who-reads { "visible to staff only" } }
                @if forms.is_note { (forms.compose.alert()) }
                div #note data-draft=(format!("desk-note-{}", ticket.id)) {
                    (threads::markdown_editor(&forms.compose, note, 5, shows_preview(NOTE_FIELD)))
                    div .actions {
                        button type="submit" formaction=(note_url) { "Save internal note" }
                        (threads::preview_button(NOTE_FIELD, &note_url))
                    }
                }
            }
        }
    }
}

/// The field for files, unless the ticket already has the maximum number of files by staff.
fn files_field(page: &TicketPage, forms: &Forms, support: &Support) -> Markup {
    let errors = forms.compose.errors_on(threads::FILE_FIELD);
    html! {
        @if accepts_files(page, support) {
            div .field .wrong[!errors.is_empty()] {
                label for="f-file" { "Files " span .optional { "optional" } }
                input #f-file type="file" name=(threads::FILE_FIELD) multiple accept=(threads::accepted_extensions())
                    aria-invalid=[(!errors.is_empty()).then_some("true")];
                @if !errors.is_empty() { p .reason { (errors.join(". ")) "." } }
                (threads::upload_limits(support, staff_files(page)))
            }
        }
    }
}

/// The number of files by staff.
fn staff_files(page: &TicketPage) -> usize {
    page.files.iter().filter(|file| file.from_staff).count()
}

fn accepts_files(page: &TicketPage, support: &Support) -> bool {
    (staff_files(page) as i64) < support.attachments_per_ticket
}

/// The updates since the page was opened, and the other viewers. Shown next to the boxes.
fn updates(page: &TicketPage, ticket_url: &str) -> Markup {
    let last_page_url = if page.is_last_page() { "" } else { ticket_url };
    let is_update = |step: &&History| step.step != HistoryStep::Download;
    let updates: Vec<_> = page.updates.iter().filter(is_update).collect();
    html! {
        div #arrived .arrived role="status" {
            @if !updates.is_empty() {
                p .present {
                    "New since you opened this page: "
                    @for (at, step) in updates.iter().enumerate() {
                        @if at > 0 { " · " }
                        a href=(format!("{last_page_url}#{}", step_anchor(step))) { (step.created_by) " " (step_text(step, None)) }
                    }
                }
            }
        }
        div #also-here { @if !page.colleagues.is_empty() { p .hint { "Also viewing: " (page.colleagues.join(", ")) } } }
    }
}

/// The selection of a canned reply, with its preview.
fn canned_reply_picker(page: &TicketPage, ticket_url: &str, reply_url: &str) -> Markup {
    let chosen = page.filled.as_ref().map(|filled| filled.id);
    html! {
        @if page.canned.is_empty() {
            p .hint { "Save common answers as " a href="/desk/canned-replies" { "canned replies" } "." }
        } @else {
            div .canned {
                label for="canned-choice" { "Canned reply" }
                select #canned-choice name=(CANNED_FIELD) hx-get=(ticket_url) hx-trigger="change" hx-target="#canned" hx-select="#canned" hx-swap="outerHTML" {
                    option value="" { "Choose…" }
                    @for reply in &page.canned { option value=(reply.id) selected[Some(reply.id) == chosen] { (reply.label.as_str()) } }
                }
                button type="submit" name="act" value="canned" formaction=(reply_url) { "Preview" }
            }
            div #canned aria-live="polite" {
                @if let Some(Filled { id, text, empty }) = &page.filled {
                    div .preview {
                        p .quiet { "Preview: not in your reply yet" }
                        div .md { (markdown::render(text)) }
                        @if !empty.is_empty() {
                            p .warning {
                                "No value on this ticket, so the text has a gap: "
                                @for (at, name) in empty.iter().enumerate() { @if at > 0 { ", " } code { "{{" (name) "}}" } }
                            }
                        }
                        div .actions {
                            button type="submit" name=(INSERT_FIELD) value=(id) formaction=(reply_url) data-insert="#f-description" data-text=(text) { "Insert into reply" }
                            button type="submit" name=(SEND_CANNED_FIELD) value=(id) formaction=(reply_url) { "Send to customer as is" }
                            button type="submit" name=(SEND_CANNED_CLOSE_FIELD) value=(id) formaction=(reply_url) { "Send as is and close" }
                        }
                    }
                }
            }
        }
    }
}
