//! A ticket, as its account sees it: the thread, replies, files, closing.

use axum::extract::{Request, State};
use axum::response::Response;
use maud::{Markup, html};

use crate::console::error_page::Answer;
use crate::console::forms::{self, Field, Sent, Typed};
use crate::console::layout::{done, fragment, nothing, number, pager, refused, size, time};
use crate::console::query::Query;
use crate::console::threads::{self, Message, Side};
use crate::console::tickets::{LIST, address};
use crate::console::visit::Visit;
use crate::model::attachment::Attachment;
use crate::model::grant::Permission;
use crate::model::id::{AttachmentId, TicketId};
use crate::model::page::Paged;
use crate::model::policy::Support;
use crate::model::reason::{Code, Reason};
use crate::model::reply::{Reply, ReplyText};
use crate::model::ticket::{Status, Ticket};
use crate::rules::caller::Caller;
use crate::rules::error::{BodyFault, FieldError, FilesFault};
use crate::rules::lists::ListRequest;
use crate::rules::once::Once;
use crate::rules::transitions::{self, Act};
use crate::rules::{self, Error};
use crate::store::ReadTx;
use crate::web::App;
use crate::web::error::status_of;
use crate::web::extract::At;
use crate::web::{downloads, upload};

/// How many replies are on a page.
const FEW: i64 = 100;
const REPLY: &str = "Your reply";
/// The field in which a file is chosen.
const FILE: &str = "file";

/// All that is on the page.
struct Seen {
    ticket: Ticket,
    replies: Paged<Reply>,
    newest: i64,
    files: Vec<Attachment>,
    may_reply: bool,
    may_attach: bool,
    may_close: bool,
}

/// What was typed on the page, and what came of it.
#[derive(Default)]
struct Writing {
    reply: Typed,
    preview: bool,
    file: Typed,
}

impl Writing {
    /// The form that was refused, if one was.
    fn decisive(&self) -> &Typed {
        match self.file.wrong.is_empty() {
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
) -> Answer {
    let page = query.text("page").parse().ok();
    let mut writing = Writing::default();
    if let Some(why) = &visit.refused {
        let wrong = FieldError::on(FILE, Reason::new(Code::ChoiceInvalid, why.as_str()));
        writing.file = Typed::refused(Sent::default(), vec![wrong]);
    }
    draw(&app, &visit, caller, id, page, &writing).await
}

pub async fn reply(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    let mut writing = Writing::default();
    if sent.text("act") == "preview" {
        writing.reply = Typed::refused(sent, Vec::new());
        writing.preview = true;
        return draw(&app, &visit, caller, id, None, &writing).await;
    }
    let (request, newest) = (sent.request(sent.object(&["description"])), sent.newest());
    let replied = app
        .write(caller.clone(), move |tx, caller| {
            rules::replies::create_once(tx, caller, id, &request, newest)
        })
        .await;
    match replied {
        Ok(Once::Made(_)) => Ok(done(&address(id), "reply-sent")),
        Ok(Once::Before(_)) => Ok(done(&address(id), "sent-already")),
        Err(error) => {
            writing.reply = forms::again(sent, error)?;
            draw(&app, &visit, caller, id, None, &writing).await
        }
    }
}

pub async fn close(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(Vec::new());
    let closed = app
        .write(caller.clone(), move |tx, caller| {
            rules::tickets::close(tx, caller, id, &request)
        })
        .await;
    match closed {
        Ok(()) => Ok(done(&address(id), "ticket-closed")),
        Err(error) => {
            let writing = Writing {
                file: forms::again(Sent::default(), error)?,
                ..Writing::default()
            };
            draw(&app, &visit, caller, id, None, &writing).await
        }
    }
}

/// Takes a file, as the API does. Our script asks for the reasons alone; a browser without it is sent to the page with
/// them, away from an address that has the form's proof in it.
pub async fn attach(
    State(app): State<App>,
    caller: Caller,
    At(id): At<TicketId>,
    request: Request,
) -> Answer {
    let by_script = request.headers().contains_key("hx-request");
    let taken = upload::receive_attachment(app, caller, id, request).await;
    let error = match taken {
        Ok(()) if by_script => return Ok(nothing()),
        Ok(()) => return Ok(done(&address(id), "file-attached")),
        Err(error) => error,
    };
    let status = status_of(&error);
    let wrong = in_the_way(error)?;
    let reasons: Vec<_> = wrong.iter().map(|wrong| wrong.reason.as_str()).collect();
    let reasons = reasons.join(". ");
    if !by_script {
        return Ok(refused(&address(id), &reasons));
    }
    let mut response = fragment(&html! { (reasons) });
    *response.status_mut() = status;
    Ok(response)
}

/// What is wrong with a file, for the field it was chosen in.
fn in_the_way(error: Error) -> Result<Vec<FieldError>, Error> {
    let on_file = |code, text: String| vec![FieldError::on(FILE, Reason::new(code, text))];
    match error {
        Error::Refused(wrong) => Ok(wrong),
        Error::Body(BodyFault::FileTooLarge { most }) => {
            let text = format!("The file is too large: at most {} are taken", size(most));
            Ok(on_file(Code::FileTooLarge, text))
        }
        Error::Files(FilesFault::Scanner(_)) => {
            let text = "Files cannot be checked for viruses just now, so none is taken. Try again later.";
            Ok(on_file(Code::ScanUnavailable, text.to_owned()))
        }
        other => Err(other),
    }
}

pub async fn download(
    State(app): State<App>,
    caller: Caller,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
) -> Answer {
    let file = app
        .read(caller, move |tx, caller| {
            rules::attachments::view(tx, caller, ticket, id)
        })
        .await?;
    Ok(downloads::send(&app, &file).await?)
}

async fn draw(
    app: &App,
    visit: &Visit,
    caller: Caller,
    id: TicketId,
    page: Option<i64>,
    writing: &Writing,
) -> Answer {
    let seen = app
        .read(caller, move |tx, caller| look(tx, caller, id, page))
        .await?;
    Ok(draw_page(app, visit, &seen, writing))
}

fn look(tx: &mut ReadTx, caller: &Caller, id: TicketId, page: Option<i64>) -> rules::Result<Seen> {
    let ticket = rules::tickets::view(tx, caller, id)?;
    // The newest replies, unless others are asked for.
    let last = (ticket.replies + FEW - 1).max(FEW) / FEW;
    let list = ListRequest::first(FEW).at(page.unwrap_or(last));
    let replies = rules::replies::list(tx, caller, id, &list)?;
    let newest = rules::replies::newest(tx, id)?;
    let files = rules::attachments::list(tx, caller, id, &ListRequest::full_page())?.items;
    let may_write = rules::tickets::load_for(tx, caller, id, Permission::ReadWrite).is_ok();
    let support = &tx.policy().support;
    let may = |act| may_write && transitions::after(&ticket, act, tx.now(), support).is_ok();
    let full = files.len() as i64 >= support.attachments_per_ticket;
    Ok(Seen {
        may_reply: may(Act::CustomerReply),
        may_attach: may(Act::CustomerAttach) && !full,
        may_close: may(Act::CustomerClose) && ticket.status != Status::Closed,
        ticket,
        replies,
        newest,
        files,
    })
}

fn draw_page(app: &App, visit: &Visit, seen: &Seen, writing: &Writing) -> Response {
    let support = &app.store().world().policy.support;
    let ticket = &seen.ticket;
    let here = address(ticket.id);
    let page = seen.replies.page.number;
    let live = if page == seen.replies.pages() {
        here.clone()
    } else {
        format!("{here}?page={page}")
    };
    let body = html! {
        // What others do to the ticket comes in here; what one is typing stays.
        div hx-get=(live) hx-trigger=(format!("garth:ticket-{} from:body", ticket.id)) hx-select="#thread" hx-target="#thread"
            hx-swap="outerHTML" hx-select-oob="#head,#files" {}
        (head(visit, seen, support))
        (writing.file.alert_calling(&[(FILE, "Attach a file")]))
        (writing.reply.alert_calling(&[("description", REPLY)]))
        (thread(seen, support))
        div #below .below data-closed[ticket.status == Status::Closed] {
            @if seen.may_reply { (reply_form(visit, seen, writing)) } @else { (cannot_reply(ticket, writing)) }
            section .card.attachments {
                h2 { "Files" }
                (files(seen, &here))
                @if seen.may_attach { (upload_form(visit, seen, support, writing)) }
            }
        }
    };
    visit.form_page(writing.decisive(), ticket.summary.as_str(), &[LIST], &body)
}

fn head(visit: &Visit, seen: &Seen, support: &Support) -> Markup {
    let ticket = &seen.ticket;
    let here = address(ticket.id);
    html! {
        div #head data-closed[ticket.status == Status::Closed] {
            div .title {
                h1 { (ticket.summary.as_str()) " " span .id { (ticket.id) } }
                div .actions {
                    @if seen.may_close {
                        (threads::confirm("Close ticket", (false, None), &html! {
                            p {
                                "Is it settled? "
                                @match support.reopen_days {
                                    Some(days) => { "If it is not after all, a reply within " (days) " days opens it again." }
                                    None => "Nobody can write to a closed ticket; for more you would open another one.",
                                }
                            }
                            form method="post" action=(format!("{here}/close")) {
                                (visit.form_token())
                                button .main type="submit" { "Close ticket " (ticket.id) }
                            }
                        }))
                    }
                }
            }
            dl .facts {
                div { dt { "Status" } dd { (threads::status(ticket.status)) } }
                @if let Some(entity) = &ticket.entity {
                    div { dt { "Regarding" } dd { (threads::about(entity, threads::address_of(entity))) } }
                }
                div { dt { "Opened" } dd { (time(ticket.opened)) " " span .quiet { "by " (ticket.opened_by) } } }
                @match ticket.closed {
                    Some(closed) => div { dt { "Closed" } dd { (time(closed)) @if let Some(by) = &ticket.updated_by { " " span .quiet { "by " (by) } } } },
                    None => div { dt { "Last change" } dd { (threads::last_change(ticket)) } },
                }
            }
        }
    }
}

fn thread(seen: &Seen, support: &Support) -> Markup {
    let ticket = &seen.ticket;
    let provider = support.provider.as_str();
    let side = |staff: bool| if staff { Side::Staff } else { Side::Customer };
    html! {
        div #thread .thread aria-label="Conversation" {
            @if seen.replies.page.number == 1 {
                (threads::message(&Message {
                    by: &ticket.opened_by, side: side(ticket.opener.is_none() && ticket.opened_by == provider), at: ticket.opened,
                    text: ticket.description.as_str(), provider,
                }))
            } @else {
                p .quiet { (number(seen.replies.page.offset().unsigned_abs())) " earlier replies are on the pages before." }
            }
            @for reply in &seen.replies.items {
                (threads::message(&Message {
                    by: &reply.created_by, side: side(reply.from_staff), at: reply.created, text: reply.description.as_str(), provider,
                }))
            }
            (pager(&seen.replies, &address(ticket.id)))
        }
    }
}

fn reply_form(visit: &Visit, seen: &Seen, writing: &Writing) -> Markup {
    let action = format!("{}/replies", address(seen.ticket.id));
    let field = Field {
        name: "description",
        label: REPLY,
        most: Some(ReplyText::MAX),
        hint: if seen.ticket.status == Status::Closed {
            "This reply opens the ticket again."
        } else {
            ""
        },
        ..Field::default()
    };
    html! {
        form #reply .card.write method="post" action=(action) data-draft=(format!("reply-{}", seen.ticket.id)) {
            (visit.form_token())
            (forms::newest(seen.newest))
            (threads::box_to_write(&writing.reply, field, 6, writing.preview))
            div .actions {
                button .main type="submit" { "Send reply" }
                (threads::preview_button("description", &action))
            }
        }
    }
}

fn cannot_reply(ticket: &Ticket, writing: &Writing) -> Markup {
    let typed = writing.reply.sent.text("description");
    html! {
        div .card.quiet {
            @if ticket.status == Status::Closed {
                p { "This ticket is closed. " a href="/tickets/new" { "Open another one" } " if there is more to say." }
            } @else {
                p { "You may read this ticket, but not write to it. Ask whoever manages your account." }
            }
            @if !typed.is_empty() { (threads::unsent(typed)) }
        }
    }
}

fn files(seen: &Seen, here: &str) -> Markup {
    html! {
        div #files {
            @if seen.files.is_empty() { p .quiet { "No files yet." } }
            (threads::files(&seen.files, here))
        }
    }
}

fn upload_form(visit: &Visit, seen: &Seen, support: &Support, writing: &Writing) -> Markup {
    let to = format!(
        "{}/attachments?form_token={}",
        address(seen.ticket.id),
        visit.proof
    );
    let wrong = writing.file.reasons(FILE);
    html! {
        (threads::drop_zone(support, seen.files.len(), Some(&to)))
        form .no-script method="post" action=(to) enctype="multipart/form-data" {
            div .field .wrong[!wrong.is_empty()] {
                label for="f-file" { "Attach a file" }
                input #f-file type="file" name="file" required aria-invalid=[(!wrong.is_empty()).then_some("true")]
                    aria-describedby=[(!wrong.is_empty()).then_some("f-file-wrong")];
                @if !wrong.is_empty() { p #f-file-wrong .reason { (wrong.join(". ")) } }
            }
            button type="submit" { "Attach" }
        }
        (threads::limits(support, seen.files.len()))
    }
}
