//! A ticket on the desk: all that happened to it beside whose it is, and what one can do about it.

use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use maud::{Markup, html};

use super::desk::{self, QUEUE, address, claim as whose, priority};
use super::forms::{Field, SEEN, Sent, Typed};
use super::layout::{age, counted, done, pager, time};
use super::live;
use super::query::Query;
use super::session::{Answer, Visit};
use super::threads::{self, Message, Side, kind_in_words};
use super::vpcs::used_meter;
use crate::http::App;
use crate::http::attachments;
use crate::http::extract::At;
use crate::model::attachment::Attachment;
use crate::model::canned_reply::CannedReply;
use crate::model::history::{History, Step};
use crate::model::id::{AttachmentId, CannedReplyId, TicketId};
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::reply::ReplyText;
use crate::model::tag::Tag;
use crate::model::ticket::{DeskTicket, Priority, Status};
use crate::model::time::Time;
use crate::rules::addresses;
use crate::rules::agent::{Agent, Staff};
use crate::rules::desk::Mark;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Error};
use crate::store::{ReadTx, WriteTx};

/// How many steps are on a page.
const FEW: i64 = 200;

/// All that is on the page.
struct Seen {
    desk: DeskTicket,
    mark: Mark,
    history: Paged<History>,
    files: Vec<Attachment>,
    canned: Vec<CannedReply>,
    /// The canned reply that is looked at, as it would be sent.
    filled: Option<(CannedReplyId, String)>,
    colleagues: Vec<String>,
    /// Other tickets of the account that are open.
    others: Vec<DeskTicket>,
    now: Time,
}

/// What is asked for besides the ticket.
#[derive(Clone, Copy, Default)]
struct Asked {
    page: Option<i64>,
    canned: Option<CannedReplyId>,
}

/// What was typed on the page, and what came of it. A note is typed into a field of its own, so that it
/// cannot be sent as a reply.
#[derive(Default)]
struct Writing {
    reply: Typed,
    note: Typed,
    other: Typed,
    preview: bool,
}

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    query: Query,
) -> Answer {
    let asked = Asked {
        page: query.text("page").parse().ok(),
        canned: query.text("canned").parse().ok().map(CannedReplyId),
    };
    let seen = app
        .read(staff, move |tx, staff| look(tx, &staff.agent, id, asked))
        .await?;
    let mut writing = Writing::default();
    if let Some((_, text)) = seen.filled.as_ref().filter(|_| query.text("use") == "1") {
        writing.reply = Typed::proposed(&[("description", text)]);
    }
    Ok(draw(&app, visit, StatusCode::OK, &seen, writing))
}

fn look(tx: &mut ReadTx, agent: &Agent, id: TicketId, asked: Asked) -> rules::Result<Seen> {
    let desk = rules::desk::view(tx, id)?;
    let list = |page: i64, size: i64| ListRequest {
        page: Some(page.max(1).to_string()),
        page_size: Some(size.to_string()),
        ..ListRequest::default()
    };
    let mut history = rules::desk::history(tx, id, &list(asked.page.unwrap_or(1), FEW))?;
    if asked.page.is_none() && history.pages() > 1 {
        history = rules::desk::history(tx, id, &list(history.pages(), FEW))?;
    }
    let files = rules::desk::attachments(tx, id, &list(1, 500))?.items;
    let canned = rules::canned_replies::list(tx, &list(1, 500))?.items;
    let filled = asked
        .canned
        .and_then(|id| canned.iter().find(|reply| reply.id == id));
    let filled = filled.map(|reply| (reply.id, rules::canned_replies::fill(tx, agent, reply, &desk)));
    let object = |key: &str, value: Input| (key.to_owned(), value);
    let open = Input::Object(vec![object(
        "+neq",
        Input::Text(Status::Closed.word().to_owned()),
    )]);
    let its_others = Input::Object(vec![
        object("account_id", Input::Integer(desk.ticket.account.0)),
        object("status", open),
        object("id", Input::Object(vec![object("+neq", Input::Integer(id.0))])),
    ]);
    let others = ListRequest {
        filter: Some(Ok(its_others)),
        ..list(1, 25)
    };
    Ok(Seen {
        mark: rules::desk::mark(tx, agent, Some(id))?,
        colleagues: rules::viewers::others(tx, agent, id)?,
        others: rules::desk::list(tx, &others, None)?.items,
        now: tx.now(),
        desk,
        history,
        files,
        canned,
        filled,
    })
}

pub async fn claim(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    let take_over = ("take_over".to_owned(), Input::Bool(sent.has("take_over")));
    let request = sent.request(vec![take_over]);
    act(
        &app,
        visit,
        staff,
        (id, request, "ticket-claimed"),
        rules::desk::claim,
        |wrong| with_other(sent, wrong),
    )
    .await
}

pub async fn release(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(Vec::new());
    act(
        &app,
        visit,
        staff,
        (id, request, "ticket-released"),
        rules::desk::release,
        |wrong| with_other(sent, wrong),
    )
    .await
}

pub async fn change(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    let mut object = sent.filled(&["priority"]);
    if sent.has("may_close") {
        object.push((
            "closable".to_owned(),
            Input::Bool(sent.text("may_close") == "yes"),
        ));
    }
    let request = sent.request(object);
    act(
        &app,
        visit,
        staff,
        (id, request, "ticket-changed"),
        rules::desk::update,
        |wrong| with_other(sent, wrong),
    )
    .await
}

pub async fn close(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(Vec::new());
    act(
        &app,
        visit,
        staff,
        (id, request, "ticket-closed"),
        rules::desk::close,
        |wrong| with_other(sent, wrong),
    )
    .await
}

pub async fn reopen(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(Vec::new());
    act(
        &app,
        visit,
        staff,
        (id, request, "ticket-reopened"),
        rules::desk::reopen,
        |wrong| with_other(sent, wrong),
    )
    .await
}

pub async fn reply(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    if sent.text("act") == "preview" {
        let writing = Writing {
            reply: Typed::refused(sent, Vec::new()),
            preview: true,
            ..Writing::default()
        };
        return again(&app, visit, staff, id, StatusCode::OK, writing).await;
    }
    let object = match sent.text("canned_reply_id").parse() {
        Ok(canned) => vec![("canned_reply_id".to_owned(), Input::Integer(canned))],
        Err(_) => sent.object(&["description"]),
    };
    let request = sent.request(object);
    act(
        &app,
        visit,
        staff,
        (id, request, "reply-sent"),
        rules::desk::reply,
        |wrong| Writing {
            reply: wrong_in(sent, wrong),
            ..Writing::default()
        },
    )
    .await
}

pub async fn note(
    State(app): State<App>,
    visit: Visit,
    staff: Staff,
    At(id): At<TicketId>,
    sent: Sent,
) -> Answer {
    if sent.text("act") == "preview" {
        let writing = Writing {
            note: Typed::refused(sent, Vec::new()),
            preview: true,
            ..Writing::default()
        };
        return again(&app, visit, staff, id, StatusCode::OK, writing).await;
    }
    let text = sent.object(&["note"]).into_iter();
    let request = sent.request(text.map(|(_, text)| ("description".to_owned(), text)).collect());
    act(
        &app,
        visit,
        staff,
        (id, request, "note-saved"),
        rules::desk::note,
        |wrong| {
            let mut note = wrong_in(sent, wrong);
            for wrong in &mut note.wrong {
                let on_text = wrong.field.as_deref() == Some("description");
                wrong.field = if on_text {
                    Some("note".to_owned())
                } else {
                    wrong.field.take()
                };
            }
            Writing {
                note,
                ..Writing::default()
            }
        },
    )
    .await
}

fn wrong_in(sent: Sent, error: Error) -> Typed {
    match error {
        Error::Refused(wrong) => Typed::refused(sent, wrong),
        _ => Typed::stale(sent),
    }
}

fn with_other(sent: Sent, error: Error) -> Writing {
    Writing {
        other: wrong_in(sent, error),
        ..Writing::default()
    }
}

/// Does something to a ticket. If it is refused, or somebody else was faster, the page is drawn again
/// with what was typed.
async fn act<T: Send + 'static>(
    app: &App,
    visit: Visit,
    staff: Staff,
    (id, request, word): (TicketId, Request, &str),
    rule: fn(&mut WriteTx, &Agent, TicketId, &Request) -> rules::Result<T>,
    writing: impl FnOnce(Error) -> Writing,
) -> Answer {
    let done_so = app
        .write(staff.clone(), move |tx, staff| {
            rule(tx, &staff.agent, id, &request)
        })
        .await;
    let (status, error) = match done_so {
        Ok(_) => return Ok(done(&address(id), word)),
        Err(error @ Error::Refused(_)) => (StatusCode::BAD_REQUEST, error),
        Err(error @ Error::Stale) => (StatusCode::PRECONDITION_FAILED, error),
        Err(other) => return Err(other.into()),
    };
    again(app, visit, staff, id, status, writing(error)).await
}

async fn again(
    app: &App,
    visit: Visit,
    staff: Staff,
    id: TicketId,
    status: StatusCode,
    writing: Writing,
) -> Answer {
    let seen = app
        .read(staff, move |tx, staff| {
            look(tx, &staff.agent, id, Asked::default())
        })
        .await?;
    Ok(draw(app, visit, status, &seen, writing))
}

pub async fn download(
    State(app): State<App>,
    staff: Staff,
    At((ticket, id)): At<(TicketId, AttachmentId)>,
    method: Method,
) -> Answer {
    // Nobody here answers that a browser has it already, so every download is one.
    let nothing_known = HeaderMap::new();
    Ok(attachments::send_to_staff(app, staff, (ticket, id), &method, &nothing_known).await?)
}

fn draw(app: &App, mut visit: Visit, status: StatusCode, seen: &Seen, mut writing: Writing) -> Response {
    let ticket = &seen.desk.ticket;
    let here = address(ticket.id);
    visit.live = Some(live::desk_address(&seen.mark, Some(ticket.id)));
    let tag = Tag::of(&seen.desk).to_string();
    for typed in [&mut writing.reply, &mut writing.note] {
        typed.sent.set(SEEN, tag.clone());
    }
    let provider = app.store().world().policy.support.provider.as_str();
    let live = match seen.history.page.number == seen.history.pages() {
        true => here.clone(),
        false => format!("{here}?page={}", seen.history.page.number),
    };
    let body = html! {
        // What others do comes in here, and with it the state that one's own answer is meant for.
        div hx-get=(live) hx-trigger=(format!("garth:ticket-{} from:body", ticket.id)) hx-select="#thread" hx-target="#thread"
            hx-swap="outerHTML" hx-select-oob="#head,#context,#reply-seen,#note-seen" {}
        (head(&visit, seen))
        (writing.other.alert())
        div .sides {
            div .talk {
                (thread(seen, provider))
                @if ticket.status == Status::Closed { (closed(&visit, seen, &writing)) }
                (compose(&visit, seen, &writing))
            }
            (context(&visit, seen))
        }
    };
    visit.page_with(status, ticket.summary.as_str(), &[QUEUE], &body)
}

fn head(visit: &Visit, seen: &Seen) -> Markup {
    let (desk, ticket) = (&seen.desk, &seen.desk.ticket);
    html! {
        div #head {
            div .title {
                h1 { (priority(desk.priority)) (ticket.summary.as_str()) " " span .id { (ticket.id) } }
                (actions(visit, desk))
            }
            dl .facts {
                div { dt { "Status" } dd { (threads::status(ticket.status)) } }
                div { dt { "Whose" } dd { (whose(desk, &visit.username)) @if let Some(claim) = &desk.claim { " " span .quiet { "since " (time(claim.since)) } } } }
                div { dt { "Age" } dd { (age(ticket.opened, seen.now)) } }
                div { dt { "Last change" } dd { (threads::last_change(ticket)) } }
            }
            @if !seen.colleagues.is_empty() {
                p .present role="status" {
                    @for name in &seen.colleagues { (threads::face(name)) }
                    strong { (seen.colleagues.join(", ")) }
                    @if seen.colleagues.len() == 1 { " has this ticket open, too." } @else { " have this ticket open, too." }
                }
            }
        }
    }
}

fn actions(visit: &Visit, desk: &DeskTicket) -> Markup {
    let here = address(desk.ticket.id);
    let post = |path: &str, button: Markup| {
        html! { form method="post" action=(format!("{here}/{path}")) { (visit.form_token()) (button) } }
    };
    html! {
        div .actions {
            @match &desk.claim {
                _ if desk.ticket.status == Status::Closed => {},
                None => (post("claim", html! { button .main type="submit" data-key="c" { "Claim" } })),
                Some(claim) if claim.username == visit.username => (post("release", html! { button type="submit" { "Give back" } })),
                Some(claim) => (threads::confirm("Take over", (false, Some("c")), &html! {
                    p { strong { (claim.username) } " has taken this ticket. Take it over only if you have agreed on it." }
                    (post("claim", html! { input type="hidden" name="take_over" value="yes"; button .main type="submit" { "Take over from " (claim.username) } }))
                })),
            }
            @if desk.ticket.status == Status::Closed {
                (post("reopen", html! { button type="submit" { "Reopen" } }))
            } @else {
                (threads::confirm("Close", (false, None), &html! {
                    p { "The customer is told that the ticket is closed." }
                    (post("close", html! { button .main type="submit" { "Close ticket " (desk.ticket.id) } }))
                }))
            }
        }
    }
}

fn thread(seen: &Seen, provider: &str) -> Markup {
    let ticket = &seen.desk.ticket;
    let opener = match &seen.desk.customer {
        Some(customer) => customer.username.as_str(),
        None => ticket.opened_by.as_str(),
    };
    let by_provider = ticket.opener.is_none() && ticket.opened_by == provider;
    html! {
        div #thread .thread aria-label="What happened" {
            @if seen.history.page.number == 1 {
                (threads::message(&Message {
                    by: opener, side: if by_provider { Side::Staff } else { Side::Customer }, at: ticket.opened,
                    text: ticket.description.as_str(), provider,
                }))
            }
            @for step in &seen.history.items { (draw_step(step, ticket.id, provider)) }
            (pager(&seen.history, &address(ticket.id)))
        }
    }
}

/// A step of the history: words as a message, deeds on a line.
fn draw_step(step: &History, ticket: TicketId, provider: &str) -> Markup {
    if let Some(text) = &step.description {
        let side = match (step.note, step.from_staff) {
            (Some(_), _) => Side::Note,
            (None, true) => Side::Staff,
            (None, false) => Side::Customer,
        };
        return threads::message(&Message {
            by: &step.created_by,
            side,
            at: step.created,
            text,
            provider,
        });
    }
    let (before, after) = (
        step.before.as_deref().unwrap_or("–"),
        step.after.as_deref().unwrap_or("–"),
    );
    let file = step
        .attachment
        .map(|id| format!("{}/attachments/{id}", address(ticket)));
    html! {
        p .step {
            strong { (step.created_by) } " "
            @match step.step {
                Step::Opened => "opened the ticket",
                Step::Reply | Step::Note => "wrote",
                Step::Claim if step.before.is_some() => { "took the ticket over from " (before) }
                Step::Claim => "claimed the ticket",
                Step::Release => "gave the ticket back",
                Step::Close => "closed the ticket",
                Step::Reopen => "reopened the ticket",
                Step::Closable if after == "true" => "let the customer close it",
                Step::Closable => "kept the customer from closing it",
                Step::Priority => { "set the priority from " (before) " to " (after) }
                Step::Attachment => { "attached " @if let Some(file) = file { a href=(file) download { (after) } } }
                Step::AttachmentRefused => { "tried to attach " em { (after) } ", which the scanner refused" }
                Step::Download => { "downloaded " em { (after) } }
            }
            " · " (time(step.created))
        }
    }
}

fn closed(visit: &Visit, seen: &Seen, writing: &Writing) -> Markup {
    let typed = writing.reply.sent.text("description");
    html! {
        (writing.reply.alert())
        div .card.closed {
            p { "This ticket is closed. Reopen it to answer; notes can be written all the same." }
            form method="post" action=(format!("{}/reopen", address(seen.desk.ticket.id))) {
                (visit.form_token())
                button type="submit" { "Reopen" }
            }
        }
        @if !typed.is_empty() { div .card { (threads::unsent(typed)) } }
    }
}

/// Two boxes that look nothing like each other, of which one is open.
fn compose(visit: &Visit, seen: &Seen, writing: &Writing) -> Markup {
    let ticket = &seen.desk.ticket;
    let here = address(ticket.id);
    let noting = writing.note.sent.has("note") || ticket.status == Status::Closed;
    let reader = match &seen.desk.customer {
        Some(customer) => customer.username.as_str(),
        None => desk::account_name(&seen.desk),
    };
    let (reply_to, note_to) = (format!("{here}/replies"), format!("{here}/notes"));
    let reply = Field {
        name: "description",
        label: "Reply",
        most: Some(ReplyText::MAX),
        ..Field::default()
    };
    let note = Field {
        name: "note",
        label: "Note",
        ..reply
    };
    html! {
        div .compose {
            @if ticket.status != Status::Closed {
                details .reply name="compose" open[!noting] {
                    summary data-key="r" { span .what { "Reply to customer" } span .who-reads { (reader) " will read this" } }
                    (writing.reply.alert())
                    (canned(seen, visit))
                    form #reply method="post" action=(reply_to) data-draft=(format!("desk-reply-{}", ticket.id)) {
                        (visit.form_token())
                        span #reply-seen { (writing.reply.seen()) }
                        (threads::box_to_write(&writing.reply, reply, 8, writing.preview && !noting))
                        div .actions {
                            button .main type="submit" { "Send reply to customer" }
                            (threads::preview_button("description", &reply_to))
                        }
                    }
                }
            }
            details .note name="compose" open[noting] {
                summary data-key="n" { span .what { "Internal note" } span .who-reads { "only staff will read this" } }
                (writing.note.alert())
                form #note method="post" action=(note_to) data-draft=(format!("desk-note-{}", ticket.id)) {
                    (visit.form_token())
                    span #note-seen { (writing.note.seen()) }
                    (threads::box_to_write(&writing.note, note, 5, writing.preview && noting))
                    div .actions {
                        button type="submit" { "Save internal note" }
                        (threads::preview_button("note", &note_to))
                    }
                }
            }
        }
    }
}

/// Choosing a canned reply, and what it would say.
fn canned(seen: &Seen, visit: &Visit) -> Markup {
    let here = address(seen.desk.ticket.id);
    let chosen = seen.filled.as_ref().map(|(id, _)| *id);
    html! {
        @if seen.canned.is_empty() {
            p .hint { "Answers you give often can be kept as " a href="/desk/canned-replies" { "canned replies" } "." }
        } @else {
            form .canned method="get" action=(here) hx-get=(here) hx-target="#canned" hx-select="#canned" hx-swap="outerHTML"
                hx-trigger="submit, change from:#canned-choice" {
                label for="canned-choice" { "Canned reply" }
                select #canned-choice name="canned" {
                    option value="" { "Choose…" }
                    @for reply in &seen.canned { option value=(reply.id) selected[Some(reply.id) == chosen] { (reply.label.as_str()) } }
                }
                button type="submit" { "Preview" }
            }
            div #canned aria-live="polite" {
                @if let Some((id, text)) = &seen.filled {
                    div .preview {
                        p .quiet { "The customer would read:" }
                        div .md { (super::markdown::draw(text)) }
                        div .actions {
                            a .button href=(format!("{here}?canned={id}&use=1#reply")) data-insert="#f-description" data-text=(text) { "Put into the reply" }
                            form method="post" action=(format!("{here}/replies")) {
                                (visit.form_token())
                                input type="hidden" name=(SEEN) value=(Tag::of(&seen.desk).to_string());
                                input type="hidden" name="canned_reply_id" value=(id);
                                button type="submit" { "Send to customer as it is" }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn context(visit: &Visit, seen: &Seen) -> Markup {
    let (desk, ticket) = (&seen.desk, &seen.desk.ticket);
    html! {
        aside #context .context aria-label="Customer" {
            section .card {
                h2 { "Customer" }
                dl {
                    dt { "Account" } dd { a href=(format!("/desk?account={}&status=all", ticket.account)) { (desk::account_name(desk)) } " " span .id { (ticket.account) } }
                    dt { "Contact" } dd { (desk.email) }
                    dt { "Opened by" }
                    dd {
                        @match &desk.customer {
                            Some(customer) => { (customer.username) @if customer.restricted { " " span .tag { "restricted" } } br; (customer.email) }
                            None => { (ticket.opened_by) }
                        }
                    }
                }
            }
            section .card {
                h2 { "Regarding" }
                @match &ticket.entity {
                    None if desk.managed_issue => p { "A managed service." },
                    None => p .quiet { "Nothing in particular." },
                    Some(entity) => {
                        p { strong { (entity.label) } " " span .id { (entity.id) } br; span .quiet { (kind_in_words(&entity.kind)) } }
                        @if entity.kind == "vpc" { p { a href=(format!("{}/vpc", address(ticket.id))) { "Its subnets and addresses" } } }
                    }
                }
            }
            @if !seen.files.is_empty() {
                section .card { h2 { "Files" } (threads::files(&seen.files, &address(ticket.id))) p .hint { "Each download is in the history." } }
            }
            section .card {
                h2 { "Handling" }
                (handling(visit, desk))
            }
            section .card {
                h2 { "Other open tickets" }
                @if seen.others.is_empty() { p .quiet { "None." } } @else {
                    ul .plain {
                        @for other in &seen.others {
                            li { a href=(address(other.ticket.id)) { (other.ticket.summary.as_str()) } " " span .id { (other.ticket.id) } " " span .quiet.small { (age(other.ticket.updated, seen.now)) } }
                        }
                    }
                }
                p { a href=(format!("/desk/tickets/new?account_id={}", ticket.account)) { "Open a ticket for this customer" } }
            }
        }
    }
}

fn handling(visit: &Visit, desk: &DeskTicket) -> Markup {
    html! {
        form .handling method="post" action=(format!("{}/change", address(desk.ticket.id))) {
            (visit.form_token())
            label for="by-priority" { "Priority" }
            select #by-priority name="priority" {
                @for word in Priority::WORDS { option value=(word) selected[word == desk.priority.word()] { (word) } }
            }
            @if desk.ticket.status != Status::Closed {
                label for="may-close" { "The customer may close it" }
                select #may-close name="may_close" {
                    option value="yes" selected[desk.ticket.may_close] { "yes" }
                    option value="no" selected[!desk.ticket.may_close] { "no" }
                }
            }
            button type="submit" { "Save" }
        }
    }
}

/// The VPC that a ticket is about: its subnets, how full they are, and what is on them.
pub async fn vpc(State(app): State<App>, visit: Visit, staff: Staff, At(id): At<TicketId>) -> Answer {
    let (vpc, used) = app
        .read(staff, move |tx, _| {
            let vpc = rules::desk::vpc(tx, id)?;
            let used = addresses::used_in_subnets(tx, &vpc.subnets)?;
            Ok((vpc, used))
        })
        .await?;
    let body = html! {
        h1 { (vpc.label.as_str()) " " span .id { (vpc.id) } }
        dl .facts {
            div { dt { "Region" } dd { (vpc.region.0) } }
            div { dt { "Created" } dd { (time(vpc.created)) } }
            div { dt { "Changed" } dd { (time(vpc.updated)) } }
        }
        @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
        p .count { (counted(vpc.subnets.len(), "subnet", "subnets")) }
        @if !vpc.subnets.is_empty() {
            table .list {
                thead { tr { th scope="col" { "Subnet" } th scope="col" { "Range" } th scope="col" { "Addresses in use" } th scope="col" { "Instances" } } }
                tbody {
                    @for (subnet, used) in vpc.subnets.iter().zip(&used) {
                        tr {
                            th scope="row" { (subnet.label.as_str()) " " span .id { (subnet.id) } }
                            td data-label="Range" { code { (subnet.ipv4) } }
                            td data-label="In use" { (used_meter(*used)) }
                            td data-label="Instances" { span {
                                @if subnet.uses.is_empty() { span .quiet { "–" } }
                                @for (at, found) in subnet.uses.iter().enumerate() {
                                    @if at > 0 { ", " }
                                    (found.instance_label) " " span .id { (found.instance) } @if !found.active { " " span .quiet { "(not active)" } }
                                }
                            } }
                        }
                    }
                }
            }
        }
    };
    let ticket = format!("Ticket {id}");
    let way = [desk::QUEUE, (ticket.as_str(), &address(id))];
    Ok(visit.page(vpc.label.as_str(), &way, &body))
}
