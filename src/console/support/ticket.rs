//! The page of a ticket for the users of its account: thread, replies, files, closing.

use axum::extract::{Request, State};
use axum::response::Response;
use maud::{Markup, html};

use crate::console::account::event_filter::url_of_object;
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::layout::{
    fragment, no_content, number, pagination, redirect_with_error, redirect_with_notice, time,
};
use crate::console::query::Query;
use crate::console::threads::{self, Message, MessageKind};
use crate::console::tickets::{LIST, side_name, url};
use crate::console::visit::Visit;
use crate::model::attachment::{Attachment, with_text_extension};
use crate::model::grant::Permission;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::page::Paged;
use crate::model::policy::Support;
use crate::model::reason::{Code, Reason};
use crate::model::received_mail::FoldedText;
use crate::model::reply::{Reply, ReplyText};
use crate::model::ticket::{Side, Status, Ticket};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::lists::ListRequest;
use crate::rules::submission::Submission;
use crate::rules::transitions::{self, TicketAction};
use crate::store::ReadTx;
use crate::web::App;
use crate::web::error::{Cause, cause_of, status_of};
use crate::web::extract::At;
use crate::web::{downloads, upload};

/// The number of replies per page.
const REPLIES_PER_PAGE: i64 = 100;
const REPLY_LABEL: &str = "Your reply";

/// The data of the page.
struct TicketPage {
    ticket: Ticket,
    replies: Paged<Reply>,
    /// The quoted texts of the user's own messages.
    folded: Vec<FoldedText>,
    /// The ID of the newest reply.
    newest: i64,
    files: Vec<Attachment>,
    /// The tickets that were merged into this ticket.
    merged: Vec<TicketId>,
    /// `None` if the ticket is closed.
    waits_for: Option<Side>,
    may_reply: bool,
    may_attach: bool,
    may_close: bool,
}

/// The state of the forms of the page.
#[derive(Default)]
struct Forms {
    reply: FormState,
    /// Whether the preview of the reply is shown.
    preview: bool,
    file: FormState,
}

impl Forms {
    /// The form that sets the status of the response.
    fn submitted_form(&self) -> &FormState {
        match self.file.errors.is_empty() {
            true => &self.reply,
            false => &self.file,
        }
    }
}

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TicketId>,
    query: Query,
) -> PageResult {
    let page = query.text("page").parse().ok();
    let mut forms = Forms::default();
    if let Some(message) = &visit.refused {
        let error = FieldError::on(
            threads::FILE_FIELD,
            Reason::new(Code::ChoiceInvalid, message.as_str()),
        );
        forms.file = FormState::with_errors(FormData::default(), vec![error]);
    }
    render(&app, &visit, caller, id, page, &forms).await
}

pub async fn reply(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TicketId>,
    data: FormData,
) -> PageResult {
    let mut forms = Forms::default();
    if data.text("act") == "preview" {
        forms.reply = FormState::with_errors(data, Vec::new());
        forms.preview = true;
        return render(&app, &visit, caller, id, None, &forms).await;
    }
    let (request, newest) = (data.request(data.object(&["description"])), data.newest_id());
    let replied = app
        .write(caller.clone(), move |tx, caller| {
            rules::replies::create_once(tx, caller, id, &request, newest)
        })
        .await;
    match replied {
        Ok(Submission::Created(_)) => Ok(redirect_with_notice(&url(id), "reply-sent")),
        Ok(Submission::Duplicate(_)) => Ok(redirect_with_notice(&url(id), "sent-already")),
        Err(error) => {
            forms.reply = forms::from_error(data, error)?;
            render(&app, &visit, caller, id, None, &forms).await
        }
    }
}

pub async fn close(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TicketId>,
    data: FormData,
) -> PageResult {
    let request = data.request(Vec::new());
    let closed = app
        .write(caller.clone(), move |tx, caller| {
            rules::tickets::close(tx, caller, id, &request)
        })
        .await;
    match closed {
        Ok(()) => Ok(redirect_with_notice(&url(id), "ticket-closed")),
        Err(error) => {
            // The page shows this error in the same alert as the errors of an upload.
            let forms = Forms {
                file: forms::from_error(FormData::default(), error)?,
                ..Forms::default()
            };
            render(&app, &visit, caller, id, None, &forms).await
        }
    }
}

/// Attaches a file. The console's script gets only the error text. A browser without JavaScript is redirected
/// to the ticket, because the URL of the form contains the form token and must not remain in the address bar.
pub async fn attach(
    State(app): State<App>,
    caller: Caller,
    At(id): At<TicketId>,
    request: Request,
) -> PageResult {
    let is_script = request.headers().contains_key("hx-request");
    let received = upload::receive_attachment(app, caller.into(), id, request, with_text_extension).await;
    let error = match received {
        Ok(()) if is_script => return Ok(no_content()),
        Ok(()) => return Ok(redirect_with_notice(&url(id), "file-attached")),
        Err(error) => error,
    };
    let (status, cause) = (status_of(&error), cause_of(&error));
    let errors = threads::file_errors(error)?;
    let reasons: Vec<_> = errors.iter().map(|error| error.reason.as_str()).collect();
    let reasons = reasons.join(". ");
    let mut response = match is_script {
        true => fragment(&html! { (reasons) }),
        false => redirect_with_error(&url(id), &reasons),
    };
    if is_script {
        *response.status_mut() = status;
    }
    if let Some(cause) = cause {
        response.extensions_mut().insert(Cause(cause));
    }
    Ok(response)
}

pub async fn download(
    State(app): State<App>,
    caller: Caller,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
) -> PageResult {
    let file = app
        .read(caller, move |tx, caller| {
            rules::attachments::view(tx, caller, ticket, id)
        })
        .await?;
    Ok(downloads::send(&app, &file).await?)
}

/// An image for display in the page.
pub async fn image(
    State(app): State<App>,
    caller: Caller,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
) -> PageResult {
    let file = app
        .read(caller, move |tx, caller| {
            rules::attachments::view(tx, caller, ticket, id)
        })
        .await?;
    Ok(downloads::send_image(&app, &file).await?)
}

async fn render(
    app: &App,
    visit: &Visit,
    caller: Caller,
    id: TicketId,
    page: Option<i64>,
    forms: &Forms,
) -> PageResult {
    let ticket_page = app
        .read(caller, move |tx, caller| load(tx, caller, id, page))
        .await?;
    Ok(render_page(app, visit, &ticket_page, forms))
}

fn load(tx: &mut ReadTx, caller: &Caller, id: TicketId, page: Option<i64>) -> rules::Result<TicketPage> {
    let ticket = rules::tickets::view(tx, caller, id)?;
    // Show the last page, unless the query selects another page.
    let last = (ticket.replies + REPLIES_PER_PAGE - 1).max(REPLIES_PER_PAGE) / REPLIES_PER_PAGE;
    let list = ListRequest::first(REPLIES_PER_PAGE).at(page.unwrap_or(last));
    let replies = rules::replies::list(tx, caller, id, &list)?;
    let shown: Vec<_> = replies.items.iter().map(|reply| reply.id).collect();
    let folded = rules::received_mails::folded_for(tx, caller, id, &shown)?;
    let newest = rules::replies::newest(tx, id)?;
    let files = rules::attachments::list(tx, caller, id, &ListRequest::full_page())?.items;
    let may_write = rules::tickets::load_for(tx, caller, id, Permission::ReadWrite).is_ok();
    let support = &tx.policy().support;
    let may = |action| may_write && transitions::after(&ticket, action, tx.now(), support).is_ok();
    let is_full = own_files(&files) as i64 >= support.attachments_per_ticket;
    Ok(TicketPage {
        may_reply: may(TicketAction::CustomerReply),
        may_attach: may(TicketAction::CustomerAttach) && !is_full,
        may_close: may(TicketAction::CustomerClose) && ticket.status != Status::Closed,
        waits_for: rules::tickets::sides(tx, std::slice::from_ref(&ticket))?
            .get(&id)
            .copied(),
        ticket,
        replies,
        folded,
        newest,
        files,
        merged: rules::merges::sources(tx, id)?,
    })
}

/// The number of files by users of the account. Those of the provider do not count toward the limit.
fn own_files(files: &[Attachment]) -> usize {
    files.iter().filter(|file| !file.from_staff).count()
}

fn render_page(app: &App, visit: &Visit, ticket_page: &TicketPage, forms: &Forms) -> Response {
    let policy = app.store().policy();
    let support = &policy.support;
    let ticket = &ticket_page.ticket;
    let ticket_url = url(ticket.id);
    let page = ticket_page.replies.page.number;
    let reload_url = if page == ticket_page.replies.pages() {
        ticket_url.clone()
    } else {
        format!("{ticket_url}?page={page}")
    };
    let body = html! {
        // htmx loads the updates by other users, and preserves the text that the user is typing.
        div hx-get=(reload_url) hx-trigger=(format!("garth:ticket-{} from:body", ticket.id)) hx-select="#thread" hx-target="#thread"
            hx-swap="outerHTML" hx-select-oob="#head,#files" {}
        (head(visit, ticket_page, support))
        (forms.file.alert_with_labels(&[(threads::FILE_FIELD, "Attach a file")]))
        (forms.reply.alert_with_labels(&[("description", REPLY_LABEL)]))
        (thread(ticket_page, support))
        div #below .below data-closed[ticket.status == Status::Closed] {
            @if ticket_page.may_reply { (reply_form(visit, ticket_page, forms)) } @else { (reply_unavailable(ticket, forms)) }
            section .card.attachments {
                h2 { "Files" }
                (files(ticket_page, &ticket_url))
                @if ticket_page.may_attach { (upload_form(visit, ticket_page, support, forms)) }
            }
        }
    };
    visit.form_page(forms.submitted_form(), ticket.summary.as_str(), &[LIST], &body)
}

fn head(visit: &Visit, ticket_page: &TicketPage, support: &Support) -> Markup {
    let ticket = &ticket_page.ticket;
    let ticket_url = url(ticket.id);
    html! {
        div #head data-closed[ticket.status == Status::Closed] {
            div .title {
                h1 { (ticket.summary.as_str()) " " span .id { (ticket.id) } }
                div .actions {
                    a .button href=(url_of_object("ticket", ticket.id.0)) { "Activity" }
                    @if ticket_page.may_close {
                        (threads::confirmation("Close ticket", (false, None), &html! {
                            p {
                                "Close this ticket? "
                                @match support.reopen_days {
                                    Some(days) => { "You can reopen it with a reply within " (days) " days." }
                                    None => "You cannot reply to a closed ticket.",
                                }
                            }
                            form method="post" novalidate action=(format!("{ticket_url}/close")) {
                                (visit.form_token())
                                button .main type="submit" { "Close ticket " (ticket.id) }
                            }
                        }))
                    }
                }
            }
            dl .facts {
                div { dt { "Status" } dd { (threads::status_tag(ticket.status)) } }
                @if let Some(side) = ticket_page.waits_for {
                    div { dt { "Waiting for" } dd { (side_name(side, &support.provider)) } }
                }
                @if let Some(entity) = &ticket.entity {
                    div { dt { "Regarding" } dd { (threads::entity_link(entity, threads::entity_url(entity))) } }
                }
                @if let Some(target) = ticket.merged_into { div { dt { "Merged into" } dd { a href=(url(target)) { "ticket " (target) } } } }
                @if !ticket_page.merged.is_empty() {
                    div { dt { "Merged tickets" } dd { @for source in &ticket_page.merged { a href=(url(*source)) { (source) } " " } } }
                }
                div { dt { "Opened" } dd { (time(ticket.opened)) " " span .quiet { "by " (ticket.opened_by) } } }
                @match ticket.closed {
                    Some(closed) => div { dt { "Closed" } dd { (time(closed)) @if let Some(by) = &ticket.updated_by { " " span .quiet { "by " (by) } } } },
                    None => div { dt { "Last updated" } dd { (threads::last_updated(ticket)) } },
                }
            }
        }
    }
}

fn thread(ticket_page: &TicketPage, support: &Support) -> Markup {
    let ticket = &ticket_page.ticket;
    let (provider, folded) = (support.provider.as_str(), &ticket_page.folded[..]);
    let kind = |staff: bool| {
        if staff {
            MessageKind::Staff
        } else {
            MessageKind::Customer
        }
    };
    html! {
        div #thread .thread aria-label="Conversation" {
            @if ticket_page.replies.page.number == 1 {
                (threads::message(&Message {
                    by: &ticket.opened_by, kind: kind(ticket.opener.is_none() && ticket.opened_by == provider), at: ticket.opened,
                    text: ticket.description.as_str(), folded: FoldedText::find(folded, None), provider,
                }))
            } @else {
                p .quiet { (number(ticket_page.replies.page.offset().unsigned_abs())) " earlier replies are on previous pages." }
            }
            @for reply in &ticket_page.replies.items {
                (threads::message(&Message {
                    by: &reply.created_by, kind: kind(reply.from_staff), at: reply.created, text: reply.description.as_str(),
                    folded: FoldedText::find(folded, Some(reply.id)), provider,
                }))
            }
            (pagination(&ticket_page.replies, &url(ticket.id)))
        }
    }
}

fn reply_form(visit: &Visit, ticket_page: &TicketPage, forms: &Forms) -> Markup {
    let action = format!("{}/replies", url(ticket_page.ticket.id));
    let field = Field {
        name: "description",
        label: REPLY_LABEL,
        max_chars: Some(ReplyText::MAX),
        hint: if ticket_page.ticket.status == Status::Closed {
            "Your reply reopens the ticket."
        } else {
            ""
        },
        ..Field::default()
    };
    html! {
        form #reply .card.write method="post" novalidate action=(action) data-draft=(reply_draft(&ticket_page.ticket)) {
            (visit.form_token())
            (forms::newest_id_field(ticket_page.newest))
            (threads::markdown_editor(&forms.reply, field, 6, forms.preview))
            div .actions {
                button .main type="submit" { "Send reply" }
                (threads::preview_button("description", &action))
            }
        }
    }
}

/// The key of the draft of a reply.
fn reply_draft(ticket: &Ticket) -> String {
    format!("reply-{}", ticket.id)
}

fn reply_unavailable(ticket: &Ticket, forms: &Forms) -> Markup {
    let unsent = forms.reply.data.text("description");
    let hint = match (ticket.merged_into, ticket.status) {
        (Some(target), _) => {
            html! { "You cannot edit the text here, because the ticket was merged. Copy it into a reply to " a href=(url(target)) { "ticket " (target) } "." }
        }
        (None, Status::Closed) => {
            html! { "You cannot edit the text here, because the ticket is closed and you cannot reopen it. Copy it into a new ticket." }
        }
        (None, _) => {
            html! { "You cannot send the text, because you have read-only access. You can copy it." }
        }
    };
    html! {
        div .card.quiet {
            @if let Some(target) = ticket.merged_into {
                p { "This ticket was merged into " a href=(url(target)) { "ticket " (target) } ". The conversation continues there." }
            } @else if ticket.status == Status::Closed {
                p { "This ticket is closed. " a href="/tickets/new" { "Open a new ticket" } " if you need more help." }
            } @else {
                p { "You have read-only access to this ticket." }
            }
            // The console's script shows the draft of a reply here.
            div hidden[unsent.is_empty()] data-unsent=(reply_draft(ticket)) { (threads::unsent_text(unsent, &hint)) }
        }
    }
}

fn files(ticket_page: &TicketPage, ticket_url: &str) -> Markup {
    html! {
        div #files {
            @if ticket_page.files.is_empty() { p .quiet { "No files yet." } }
            (threads::files(&ticket_page.files, ticket_url))
        }
    }
}

fn upload_form(visit: &Visit, ticket_page: &TicketPage, support: &Support, forms: &Forms) -> Markup {
    let upload_url = format!(
        "{}/attachments?form_token={}",
        url(ticket_page.ticket.id),
        visit.csrf_token
    );
    let errors = forms.file.errors_on(threads::FILE_FIELD);
    html! {
        (threads::drop_zone(support, own_files(&ticket_page.files), Some(&upload_url)))
        form .no-script method="post" novalidate action=(upload_url) enctype="multipart/form-data" {
            div .field .wrong[!errors.is_empty()] {
                label for="f-file" { "Attach a file" }
                input #f-file type="file" name="file" required aria-invalid=[(!errors.is_empty()).then_some("true")]
                    aria-describedby=[(!errors.is_empty()).then_some("f-file-wrong")];
                @if !errors.is_empty() { p #f-file-wrong .reason { (errors.join(". ")) ". Select the file again." } }
            }
            button type="submit" { "Attach" }
        }
        (threads::upload_limits(support, own_files(&ticket_page.files)))
    }
}
